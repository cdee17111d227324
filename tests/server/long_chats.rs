//! Chats that exceed the memory limits of an import: with so many replies that the manifests of their requests exceed
//! the limit for an untrusted file, and with responses of many megabytes. Also a chat that is continued during its
//! export, and imports in chunks.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use turnleaf::domain::turns::context::{ManifestEntry, ReplayMode, ReplayReason, RequestManifest};
use turnleaf::domain::*;
use turnleaf_interchange::archive::{ArchivedBytes, ArchivedGeneration};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_run::purge::purge_scheduled;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::ImportRequest;
use turnleaf_store::deletions::{self, purge};
use turnleaf_store::documents::blobs;
use turnleaf_store::documents::uploads::{self, NewUpload, UploadKind};
use turnleaf_store::transfer::archive;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, StoreError, Tx, branches, chats};
use uuid::Uuid;

use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};
use crate::fake_file_reader::PNG;
use crate::interchange::{IdNormalizer, complete_calls, export_archive, import_file, replies};
use crate::test_server::TestServer;

/// Each request names all turns before it, so the manifests of 540 replies hold two million values. An archive of
/// 1,500 replies can be imported too, but takes a debug build more than two and a half minutes.
const REPLIES: usize = 560;

/// Inserts a chat with one branch directly into the database.
struct PathPlanter {
    owner: UserId,
    tx: Tx,
    branch: Branch,
    turns: Vec<Turn>,
}

impl PathPlanter {
    async fn start_chat(instance: &TestServer) -> Self {
        let mut tx = instance.db.begin().await.unwrap();
        let of = chat(instance.owner);
        chats::insert(&mut tx, &of).await.unwrap();
        let branch = branch(of.id);
        branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
        chats::set_default_branch(&mut tx, of.id, branch.id).await.unwrap();
        Self { owner: instance.owner, tx, branch, turns: Vec::new() }
    }

    /// Adds a turn with one block.
    async fn add_turn(&mut self, role: Role, content: Content) -> Turn {
        let ord =
            chats::allocate_ord(&mut self.tx, self.owner, self.branch.chat_id, next_time()).await.unwrap().unwrap();
        let last = self.turns.last();
        let mut grown = turn(&self.branch, next_id(), last, ord, role);
        grown.exchange_id = match last.filter(|_| role == Role::Assistant) {
            Some(question) => question.exchange_id,
            None => {
                let of = exchange(&self.branch, grown.id, None);
                exchanges::insert(&mut self.tx, self.owner, &of, None).await.unwrap();
                of.id
            }
        };
        let author = if role == Role::Assistant { Author::Assistant } else { Author::User };
        if role == Role::Assistant {
            (grown.status, grown.started_at, grown.completed_at) =
                (TurnStatus::Complete, Some(next_time()), Some(next_time()));
        }
        grown.blocks = vec![block(&grown, 0, author, BlockState::Done, content)];
        turns::insert(&mut self.tx, &grown).await.unwrap();
        let (on, head) = (self.branch.id, self.branch.head_turn_id);
        assert!(branches::set_head(&mut self.tx, on, head, grown.id).await.unwrap());
        self.branch.head_turn_id = Some(grown.id);
        self.turns.push(grown.clone());
        grown
    }

    /// Adds a message and a reply of one call, whose manifest names all earlier turns.
    async fn add_exchange(&mut self, number: usize, raw: Vec<u8>) {
        self.add_turn(Role::User, Content::text(format!("Question {number}"))).await;
        let entry = |(at, turn): (usize, &Turn)| ManifestEntry {
            turn_id: turn.id,
            mode: if at % 2 == 0 { ReplayMode::Canonical } else { ReplayMode::Raw },
            reason: if at % 2 == 0 { ReplayReason::FromBlocks } else { ReplayReason::SameLock },
            blocks_sent: 1,
            blocks_omitted: 0,
            approx_tokens: 9,
            repair: None,
            attachments: Vec::new(),
        };
        let manifest =
            RequestManifest { turns: self.turns.iter().enumerate().map(entry).collect(), ..Default::default() };
        let reply = self.add_turn(Role::Assistant, Content::text(format!("Answer {number}"))).await;
        let call = ArchivedGeneration {
            id: next_id(),
            turn_id: reply.id,
            step: 0,
            provider: "demo".into(),
            api: Some("openai_chat".into()),
            model_requested: "scripted".into(),
            model_returned: None,
            request: ArchivedBytes(format!("{{\"n\":{number}}}").into_bytes()),
            request_manifest: serde_json::to_value(manifest).unwrap(),
            raw_kind: "sse_events".into(),
            raw_complete: true,
            raw: Some(ArchivedBytes(raw)),
            status: "complete".into(),
            stop_reason: None,
            usage: Usage::default(),
            cost_micros: None,
            cost_basis: None,
            price_version: None,
            error: None,
            first_token_at: None,
            started_at: next_time(),
            ended_at: Some(next_time()),
        };
        archive::insert_generation(&mut self.tx, &call).await.unwrap();
    }

    async fn image(&mut self, bytes: &[u8]) -> Content {
        let bytes = [PNG, bytes].concat();
        let blob = sha256(&bytes);
        blobs::insert_unreferenced(&mut self.tx, &blob, "image/png", &bytes, next_time()).await.unwrap();
        let kind = UploadKind::Image;
        let upload =
            NewUpload { id: next_id(), owner_id: self.owner, sha256: &blob, name: "a.png", kind, size: Some((1, 1)) };
        uploads::put(&mut self.tx, &upload, next_time()).await.unwrap();
        Content::Image { blob, mime: "image/png".into(), alt: String::new() }
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Asserts that two archives hold the same chat. The calls are compared one by one, because all of them are too large
/// to be parsed at once.
fn assert_same(one: &[u8], other: &[u8]) {
    let read = |archive: &[u8]| {
        let mut chat = serde_json::from_slice::<Value>(archive).unwrap()["chats"][0].take();
        let calls = chat["generations"].take();
        let mut naming = IdNormalizer::default();
        let chat = naming.normalize(chat);
        (chat, complete_calls(calls).map(move |call| naming.normalize(call)))
    };
    let ((one, its_calls), (other, other_calls)) = (read(one), read(other));
    assert!(one == other, "it is not the same chat");
    assert!(its_calls.eq(other_calls), "its calls are others");
}

/// Exports a chat, imports it into another server and exports it from there. Returns the length of the first archive.
async fn assert_round_trip(instance: TestServer, chat: ChatId, replies: u64) -> usize {
    let archive = export_archive(&instance, ExportScope::Chat(chat)).await;
    instance.close().await;
    let target = TestServer::new(crate::interchange::replies(1)).await;
    let report = import_file(&target, "long.json", &archive, false).await;
    assert_eq!((report.imported, report.turns, report.stopped), (1, 2 * replies, None), "{:?}", report.findings);
    assert_eq!(report.findings, []);
    let again = export_archive(&target, ExportScope::Chat(report.chats[0].id.unwrap())).await;
    assert_same(&again, &archive);
    target.check_invariants().await;
    target.close().await;
    archive.len()
}

#[tokio::test]
async fn chat_with_very_many_replies_round_trips_with_all_manifests() {
    let instance = TestServer::new(replies(1)).await;
    let mut path = PathPlanter::start_chat(&instance).await;
    for number in 0..REPLIES {
        path.add_exchange(number, format!("data: {number}\n\n").into_bytes()).await;
    }
    let chat = path.branch.chat_id;
    path.tx.commit().await.unwrap();
    let length = assert_round_trip(instance, chat, REPLIES as u64).await;
    // Without deltas, each manifest would name 550 turns on average, in 170 bytes each.
    assert!(length < 20_480 * REPLIES, "{} bytes for each reply", length / REPLIES);
}

#[tokio::test]
async fn chat_with_very_long_responses_round_trips() {
    let instance = TestServer::new(replies(1)).await;
    let mut path = PathPlanter::start_chat(&instance).await;
    // The response is no text: base64 in JSON makes it a third longer.
    let raw = [0xff, 0, 1, b'"'].repeat((50 << 20) / 4);
    for number in 0..2 {
        path.add_exchange(number, raw.clone()).await;
    }
    let chat = path.branch.chat_id;
    path.tx.commit().await.unwrap();
    let archive = export_archive(&instance, ExportScope::Chat(chat)).await;
    instance.close().await;
    let target = TestServer::new(replies(1)).await;
    let report = import_file(&target, "long.json", &archive, false).await;
    drop(archive);
    assert_eq!((report.imported, report.turns, report.stopped), (1, 4, None), "{:?}", report.findings);
    let path = target.service.path(target.owner, report.chats[0].id.unwrap(), None, 10).await.unwrap();
    for reply in path.turns.iter().filter(|turn| turn.role == Role::Assistant) {
        let mut damages = Vec::new();
        let calls = archive::generations(&target.db, target.owner, reply.id, &mut damages).await.unwrap();
        assert_eq!(calls.len(), 1);
        let imported =
            archive::raw_response(&target.db, target.owner, calls[0].id, &mut damages).await.unwrap().unwrap();
        assert!(imported.0 == raw, "{} bytes are not those that came", imported.0.len());
    }
    target.check_invariants().await;
    target.close().await;
}

#[tokio::test]
async fn chat_continued_during_export_is_exported_as_it_was() {
    for instance in TestServer::on_every_database(|| replies(1)).await {
        let mut path = PathPlanter::start_chat(&instance).await;
        for number in 0..3_u8 {
            // The images are large enough to block a writer whose output is not read.
            let image = path.image(&vec![number; 600_000]).await;
            path.add_turn(Role::User, image).await;
            path.add_turn(Role::Assistant, Content::text("I see")).await;
        }
        path.tx.commit().await.unwrap();
        let (send, mut receive) = mpsc::channel(1);
        let (service, owner, chat) = (instance.service.clone(), instance.owner, path.branch.chat_id);
        let writing = tokio::spawn(async move { service.export_archive(owner, ExportScope::Chat(chat), &send).await });
        let mut archive = receive.recv().await.unwrap().to_vec();
        path.tx = instance.db.begin().await.unwrap();
        let late = path.image(b"late").await;
        let late = path.add_turn(Role::User, late).await;
        path.tx.commit().await.unwrap();
        while let Some(piece) = receive.recv().await {
            archive.extend_from_slice(&piece);
        }
        writing.await.unwrap().unwrap();
        let archive: Value = serde_json::from_slice(&archive).unwrap();
        let turns = archive["chats"][0]["turns"].as_array().unwrap();
        assert_eq!(turns.len(), 6);
        assert!(turns.iter().all(|turn| turn["id"] != json!(late.id)));
        assert_eq!(archive["chats"][0]["branches"][0]["head_turn_id"], turns[5]["id"]);
        let names = archive["blobs"].as_array().unwrap().iter().map(|blob| blob["sha256"].as_str().unwrap());
        let names: Vec<&str> = names.collect();
        for block in turns.iter().flat_map(|turn| turn["blocks"].as_array().unwrap()) {
            assert!(block["type"] != "image" || names.contains(&block["blob"].as_str().unwrap()), "{block}");
        }
        // The next export includes the new turn.
        let next: Value = serde_json::from_slice(&export_archive(&instance, ExportScope::Chat(chat)).await).unwrap();
        assert_eq!(next["chats"][0]["turns"].as_array().map(Vec::len), Some(7));
        instance.close().await;
    }
}

/// Returns the number of rows of a table.
async fn count(instance: &TestServer, table: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"));
    match &instance.db {
        Db::Sqlite { readers, .. } => sqlx::query_scalar(sql).fetch_one(readers).await.unwrap(),
        Db::Postgres { readers, .. } => sqlx::query_scalar(sql).fetch_one(readers).await.unwrap(),
    }
}

/// Asserts that the incomplete chat is visible nowhere.
async fn assert_empty(instance: &TestServer) {
    let all: Value = serde_json::from_slice(&export_archive(instance, ExportScope::Everything).await).unwrap();
    assert_eq!(all["chats"], json!([]));
    assert_eq!(chats::list(&instance.db, instance.owner, 9).await.unwrap(), []);
    assert_eq!(deletions::list(&instance.db, instance.owner, None, 9).await.unwrap(), []);
    instance.check_invariants().await;
}

const SQLITE_REFUSES: &str = "CREATE TRIGGER refuses BEFORE INSERT ON turns WHEN NEW.ord = 450 \
    BEGIN INSERT INTO users SELECT * FROM users LIMIT 1; END";
const SQLITE_ACCEPTS: &str = "DROP TRIGGER refuses";
const POSTGRES_REFUSES: &str = "CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    IF NEW.ord = 450 THEN INSERT INTO users SELECT * FROM users LIMIT 1; END IF; RETURN NEW; END $$; \
    CREATE TRIGGER refuses BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION refuses()";
const POSTGRES_ACCEPTS: &str = "DROP TRIGGER refuses ON turns";
/// Simulates an importer that stalls for longer than its lease.
const SQLITE_LAPSES: &str = "CREATE TRIGGER lapses BEFORE INSERT ON turns WHEN NEW.ord = 450 \
    BEGIN UPDATE deletions SET purging_since = created_at; END";
const SQLITE_LASTS: &str = "DROP TRIGGER lapses";
const POSTGRES_LAPSES: &str = "CREATE FUNCTION lapses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    IF NEW.ord = 450 THEN UPDATE deletions SET purging_since = created_at; END IF; RETURN NEW; END $$; \
    CREATE TRIGGER lapses BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION lapses()";
const POSTGRES_LASTS: &str = "DROP TRIGGER lapses ON turns";

#[tokio::test]
async fn chunked_import_is_visible_completely_or_not_at_all() {
    const REPLIES: usize = 300;
    let source = TestServer::new(replies(1)).await;
    let mut path = PathPlanter::start_chat(&source).await;
    for number in 0..REPLIES {
        path.add_exchange(number, b"data: 1\n\n".to_vec()).await;
    }
    let chat = path.branch.chat_id;
    path.tx.commit().await.unwrap();
    let archive = export_archive(&source, ExportScope::Chat(chat)).await;
    source.close().await;
    for instance in TestServer::on_every_database(|| replies(1)).await {
        let is_sqlite = matches!(instance.db, Db::Sqlite { .. });
        // The import ends in the middle, as if the server had been killed.
        let file = instance.dir.path().join("killed.json");
        std::fs::write(&file, &archive).unwrap();
        let import = ImportRequest {
            owner: instance.owner,
            file,
            name: "killed.json".into(),
            format: None,
            options: Default::default(),
            dry_run: false,
        };
        let begun = async {
            while count(&instance, "turns").await < 400 {
                tokio::task::yield_now().await;
            }
        };
        let mut progress = |_: &_| true;
        tokio::select! {
            biased;
            () = begun => {}
            over = instance.service.import(import, &mut progress) => panic!("it was not stopped: {over:?}"),
        }
        assert_eq!(count(&instance, "chats").await, 1);
        assert_empty(&instance).await;
        // The lease still protects the incomplete chat, because another process may be importing it.
        let report = import_file(&instance, "again.json", &archive, false).await;
        assert_eq!((report.conversations, report.imported, report.left_out), (1, 0, 1));
        assert!(report.findings[0].text.contains("another import of it is running"), "{report:#?}");
        purge_scheduled(&instance.db, SystemClock.now()).await.unwrap();
        assert!(count(&instance, "turns").await >= 400, "it is spared for a while");
        purge_scheduled(&instance.db, SystemClock.now() + TimeDelta::minutes(3)).await.unwrap();
        for table in ["chats", "turns", "turn_blocks", "branches", "exchanges", "generations", "deletions"] {
            assert_eq!(count(&instance, table).await, 0, "{table}");
        }
        // A row of a later chunk is refused.
        instance.sql(if is_sqlite { SQLITE_REFUSES } else { POSTGRES_REFUSES }).await;
        let report = import_file(&instance, "refused.json", &archive, false).await;
        assert_eq!((report.imported, report.left_out, count(&instance, "chats").await), (0, 1, 0), "{report:#?}");
        assert_eq!((count(&instance, "turns").await, count(&instance, "deletions").await), (0, 0));
        instance.sql(if is_sqlite { SQLITE_ACCEPTS } else { POSTGRES_ACCEPTS }).await;
        // The lease has lapsed, so the chat may be purged.
        instance.sql(if is_sqlite { SQLITE_LAPSES } else { POSTGRES_LAPSES }).await;
        let report = import_file(&instance, "stalled.json", &archive, false).await;
        assert_eq!((report.imported, report.left_out, report.stopped.as_ref()), (0, 1, None), "{report:#?}");
        assert!(report.findings[0].text.contains("interrupted for too long"), "{report:#?}");
        for table in ["chats", "turns", "deletions"] {
            assert_eq!(count(&instance, table).await, 0, "{table}");
        }
        instance.sql(if is_sqlite { SQLITE_LASTS } else { POSTGRES_LASTS }).await;
        // A complete import succeeds.
        let report = import_file(&instance, "whole.json", &archive, false).await;
        assert_eq!((report.imported, report.turns, report.findings.as_slice()), (1, 2 * REPLIES as u64, [].as_slice()));
        let again = export_archive(&instance, ExportScope::Chat(report.chats[0].id.unwrap())).await;
        // The archives are compared as values, because PostgreSQL reorders the keys of JSON.
        let values = crate::interchange::without_ids;
        assert!(values(&again) == values(&archive), "it is not the same chat");
        assert_eq!(count(&instance, "deletions").await, 0);
        instance.check_invariants().await;
        instance.close().await;
    }
}

const SQLITE_KEEPS: &str = "CREATE TRIGGER keeps BEFORE DELETE ON deletions WHEN OLD.title <> '' \
    BEGIN SELECT RAISE(ABORT, 'it is kept'); END";
const SQLITE_GIVES: &str = "DROP TRIGGER keeps";
const POSTGRES_KEEPS: &str = "CREATE FUNCTION keeps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    RAISE EXCEPTION 'it is kept'; END $$; CREATE TRIGGER keeps BEFORE DELETE ON deletions FOR EACH ROW \
    WHEN (OLD.title <> '') EXECUTE FUNCTION keeps()";
const POSTGRES_GIVES: &str = "DROP TRIGGER keeps ON deletions";

#[tokio::test]
async fn interrupted_long_chat_is_purged_despite_earlier_failure() {
    for instance in TestServer::on_every_database(|| replies(1)).await {
        let is_sqlite = matches!(instance.db, Db::Sqlite { .. });
        let mut kept = PathPlanter::start_chat(&instance).await;
        kept.add_turn(Role::User, Content::text("Words")).await;
        kept.tx.commit().await.unwrap();
        instance.service.delete_chat(instance.owner, kept.branch.chat_id).await.unwrap();
        // The chain of turns is deeper than SQLite lets one deletion cascade.
        let mut path = PathPlanter::start_chat(&instance).await;
        for _ in 0..600 {
            path.add_turn(Role::User, Content::text("Question")).await;
            path.add_turn(Role::Assistant, Content::text("Answer")).await;
        }
        let (chat, deletion) = (path.branch.chat_id, DeletionId::from(Uuid::max()));
        let begun = SystemClock.now();
        let from = begun + TimeDelta::minutes(2);
        purge::hide_incoming(&mut path.tx, instance.owner, chat, deletion, (begun, from)).await.unwrap();
        path.tx.commit().await.unwrap();
        let is_over = |spared: Result<(), StoreError>| matches!(spared, Err(StoreError::Gone(purge::INCOMING_CHAT)));
        let mut tx = instance.db.begin().await.unwrap();
        let later = from + TimeDelta::minutes(2);
        assert!(is_over(purge::renew_lease(&mut tx, deletion, (from, later)).await));
        assert!(is_over(purge::reveal_incoming(&mut tx, chat, deletion, from).await));
        assert_eq!(purge::schedule_purge_of_trash(&mut tx, instance.owner, SystemClock.now()).await.unwrap(), 1);
        tx.commit().await.unwrap();
        let doomed = purge::list_due(&instance.db, from).await.unwrap();
        assert_eq!(doomed.iter().map(|of| of.chat_id).collect::<Vec<_>>(), [kept.branch.chat_id, chat]);
        // Once the purge has begun, the lease cannot be renewed, not even with a clock that is behind.
        let mut tx = instance.db.begin().await.unwrap();
        purge::renew_lease(&mut tx, deletion, (begun, from)).await.unwrap();
        assert!(!purge::claim_purge(&mut tx, doomed[1], begun).await.unwrap());
        assert!(purge::claim_purge(&mut tx, doomed[1], from).await.unwrap());
        assert!(is_over(purge::renew_lease(&mut tx, deletion, (begun, from)).await));
        assert!(is_over(purge::reveal_incoming(&mut tx, chat, deletion, begun).await));
        tx.commit().await.unwrap();

        instance.sql(if is_sqlite { SQLITE_KEEPS } else { POSTGRES_KEEPS }).await;
        let failed = purge_scheduled(&instance.db, from).await;
        assert!(failed.is_err(), "the deletion is not reported as done");
        let left =
            [count(&instance, "chats").await, count(&instance, "turns").await, count(&instance, "deletions").await];
        assert_eq!(left, [1, 0, 1], "{failed:?}");
        instance.sql(if is_sqlite { SQLITE_GIVES } else { POSTGRES_GIVES }).await;
        purge_scheduled(&instance.db, from).await.unwrap();
        assert_eq!((count(&instance, "chats").await, count(&instance, "deletions").await), (0, 0));
        instance.check_invariants().await;
        instance.close().await;
    }
}
