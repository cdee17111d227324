//! Readers and housekeeping with a damaged row in the database: searches, drafts, usage, trusted tools and files skip
//! it, and each housekeeping step does what it can.

use turnleaf::domain::*;
use turnleaf_service::Service;
use turnleaf_store::accounts::audit::{self, AuditSelection};
use turnleaf_store::accounts::{
    access_rules, api_tokens, group_mappings, groups, identities, identity_groups, invites, passkeys, second_factors,
    sessions, users,
};
use turnleaf_store::chats::drafts::{self, Draft};
use turnleaf_store::chats::{self};
use turnleaf_store::documents::blobs;
use turnleaf_store::documents::uploads::{self, NewUpload, UploadKind};
use turnleaf_store::search::{MatchPage, MatchedItem, SearchFilter, SearchKind, TextQuery, backfill, find_items};
use turnleaf_store::shares::branch_shares;
use turnleaf_store::tools::server_policies;
use turnleaf_store::tools::trusted_tools::{self, TrustedTool};
use turnleaf_store::transfer::{archive, imports};
use turnleaf_store::turns::generations::raw;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::usage::budgets;
use turnleaf_store::usage::ledger::{self, SpenderGrouping};
use turnleaf_store::usage::spending::{self, SpendingGrouping};
use turnleaf_store::{Db, StoreError, branches};
use uuid::Uuid;

use crate::damage::{drop_checks, sql, start_service};
use crate::databases::test_databases;
use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};
use crate::walkthrough;

/// The sha256 of the file that [`seed_reader_rows`] stores; only its form matters.
const SHA256: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
/// A SQLite TEXT value that is not UTF-8.
const NO_TEXT: &str = "CAST(X'ff00fe' AS TEXT)";

/// Adds a row to those tables that [`read_all`] reads and that have none.
pub async fn seed_reader_rows(db: &Db, owner: UserId) {
    let mut tx = db.begin().await.unwrap();
    let tool = |server: &str| TrustedTool { server: server.into(), tool: "read".into(), schema_hash: "00".into() };
    trusted_tools::pin(&mut tx, owner, &tool("files")).await.unwrap();
    trusted_tools::pin(&mut tx, owner, &tool("web")).await.unwrap();
    blobs::insert_unreferenced(&mut tx, SHA256, "image/png", b"test", next_time()).await.unwrap();
    let upload = NewUpload {
        id: next_id(),
        owner_id: owner,
        sha256: SHA256,
        name: "a.png",
        kind: UploadKind::Image,
        size: Some((3, 2)),
    };
    uploads::put(&mut tx, &upload, next_time()).await.unwrap();
    tx.commit().await.unwrap();
}

/// Calls every reader of lists and sums, and checks that the undamaged chat is found.
pub async fn read_all(
    db: &Db,
    service: &Service,
    owner: UserId,
    (sound_chat, words): (ChatId, &str),
) -> Result<(), String> {
    let text = |reader: &'static str| move |error: StoreError| format!("{reader}: {error}");
    let page = search(db, owner, words).await.map_err(text("search"))?;
    if !page.hits.iter().any(|hit| matches!(hit, MatchedItem::Turn(turn) if turn.chat_id == sound_chat)) {
        return Err("search: the message of the other chat is missing".into());
    }
    for grouping in [
        SpendingGrouping::Day,
        SpendingGrouping::Model,
        SpendingGrouping::Provider,
        SpendingGrouping::Token,
        SpendingGrouping::Chat,
        SpendingGrouping::Branch(sound_chat),
    ] {
        let sums = spending::sums(db, owner, all_times(), grouping).await.map_err(text("usage"))?;
        if sums.is_empty() {
            return Err(format!("usage: no sum by {grouping:?}"));
        }
    }
    let begin = chrono::DateTime::UNIX_EPOCH;
    users::list_accounts(db, 100).await.map_err(text("accounts"))?;
    users::page(db, ("", ""), 100).await.map_err(text("page of accounts"))?;
    users::names(db, &[owner]).await.map_err(text("names of accounts"))?;
    groups::names(db, 100).await.map_err(text("names of groups"))?;
    groups::memberships_of(db, &[owner]).await.map_err(text("groups of accounts"))?;
    for user in users::list(db).await.map_err(text("users"))? {
        api_tokens::list(db, user).await.map_err(text("API tokens"))?;
        for session in sessions::list(db, user, begin, begin).await.map_err(text("sessions"))? {
            sessions::password_at(db, user, session.id).await.map_err(text("time of a password"))?;
        }
        second_factors::find(db, user).await.map_err(text("second factor"))?;
        second_factors::count_codes(db, user).await.map_err(text("recovery codes"))?;
        identities::list(db, user).await.map_err(text("identities"))?;
        passkeys::list(db, user).await.map_err(text("passkeys"))?;
        passkeys::credential_ids(db, user).await.map_err(text("credentials of passkeys"))?;
        branch_shares::list(db, user, None, 100).await.map_err(text("live shares"))?;
        branch_shares::received(db, user, 100).await.map_err(text("branches that are shared with an account"))?;
    }
    for grouping in [SpenderGrouping::Account, SpenderGrouping::Group] {
        ledger::sums_by_spender(db, grouping, all_times(), 100).await.map_err(text("usage of accounts"))?;
    }
    ledger::spent(db, owner, (begin, begin)).await.map_err(text("spending of an account"))?;
    budgets::list_for_account(db, owner).await.map_err(text("budgets of an account"))?;
    budgets::list_all(db).await.map_err(text("budgets"))?;
    invites::list_open(db, begin, 100).await.map_err(text("invitations"))?;
    audit::list(db, &AuditSelection::default(), 100).await.map_err(text("audit log"))?;
    for group in groups::list(db, 100).await.map_err(text("groups"))? {
        groups::list_some(db, &[group.id]).await.map_err(text("some groups"))?;
        groups::members(db, group.id, 100).await.map_err(text("members of a group"))?;
        group_mappings::list(db, group.id).await.map_err(text("mappings of a group"))?;
    }
    groups::all_members(db).await.map_err(text("members of all groups"))?;
    identity_groups::names(db, 100).await.map_err(text("groups elsewhere"))?;
    access_rules::list(db).await.map_err(text("access rules"))?;
    trusted_tools::list(db, owner).await.map_err(text("trusted tools"))?;
    server_policies::list(db, owner).await.map_err(text("policies of servers"))?;
    for import in imports::list(db, owner, 10).await.map_err(text("imports"))? {
        imports::undo::list_turns(db, owner, import.id).await.map_err(text("chats of an import"))?;
        imports::find(db, owner, import.id).await.map_err(text("report of an import"))?;
        imports::kept::list_chats(db, owner, import.id, 10).await.map_err(text("kept chats of an import"))?;
        imports::kept::list_documents(db, owner, import.id, 10).await.map_err(text("kept documents of an import"))?;
        imports::undo::list_documents_to_undo(db, owner, import.id, UndoScope::Changed)
            .await
            .map_err(text("documents of an import"))?;
    }
    branches::ends::last_used_locks(db, owner, 10).await.map_err(text("models used"))?;
    blobs::find(db, owner, SHA256).await.map_err(text("file"))?;
    blobs::image_forms(db, SHA256).await.map_err(text("forms of a file"))?;
    blobs::find_type_and_size(db, owner, SHA256).await.map_err(text("length of a file"))?;
    drafts::find(db, owner, None).await.map_err(text("draft"))?;
    for chat in service.list_chats(owner, 100).await.map_err(|error| format!("chats: {error}"))? {
        drafts::find(db, owner, Some(chat.id)).await.map_err(text("draft of a chat"))?;
        drafts::rev(db, owner, Some(chat.id)).await.map_err(text("revision of a draft"))?;
        branches::ends::lineages(db, owner, chat.id).await.map_err(text("ends of branches"))?;
        archive::list_attached_ids(db, owner, chat.id, &mut Vec::new()).await.map_err(text("files of a chat"))?;
    }
    Ok(())
}

fn all_times() -> (chrono::DateTime<chrono::Utc>, chrono::DateTime<chrono::Utc>) {
    (chrono::DateTime::UNIX_EPOCH, next_time() + chrono::TimeDelta::days(365))
}

async fn search(db: &Db, owner: UserId, words: &str) -> Result<MatchPage, StoreError> {
    let (query, kinds) = (TextQuery::new(words).unwrap(), [SearchKind::Chat, SearchKind::Document, SearchKind::Turn]);
    let found = find_items(db, owner, (&query, &SearchFilter::default(), &kinds), None, 100).await?;
    Ok(found.expect("the cursor is none"))
}

/// Formats an id as a literal of this database.
fn literal(db: &Db, id: Uuid) -> String {
    if db.path().is_some() { format!("X'{}'", id.simple()) } else { format!("'{id}'") }
}

/// Writes damaged values without the CHECK constraints of the schema.
async fn damage(db: &Db, statements: &[String]) {
    match db {
        Db::Sqlite { .. } => sql(db, "PRAGMA ignore_check_constraints = ON".into()).await,
        Db::Postgres { writer, .. } => drop_checks(writer).await,
    }
    for text in statements {
        sql(db, text.clone()).await;
    }
    if db.path().is_some() {
        sql(db, "PRAGMA ignore_check_constraints = OFF".into()).await;
    }
}

/// Makes the database refuse writes to this column of this row.
async fn refuse_writes(db: &Db, table: &str, (key, id): (&str, Uuid), column: &str) {
    let id = literal(db, id);
    let text = match db {
        Db::Sqlite { .. } => format!(
            "CREATE TRIGGER refused_{table}_insert BEFORE INSERT ON {table} WHEN NEW.{key} = {id} \
             BEGIN SELECT RAISE(ABORT, 'refused'); END; \
             CREATE TRIGGER refused_{table}_update BEFORE UPDATE OF {column} ON {table} WHEN NEW.{key} = {id} \
             BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ),
        Db::Postgres { .. } => {
            format!("ALTER TABLE {table} ADD CONSTRAINT refused CHECK ({key} <> {id} OR {column} IS NULL) NOT VALID")
        }
    };
    sql(db, text).await;
}

/// Creates a chat with this title and one message.
async fn create_chat(db: &Db, owner: UserId, title: &str, words: &str) -> (ChatId, BranchId, TurnId) {
    let chat = Chat { title: title.into(), ..chat(owner) };
    let branch = branch(chat.id);
    let mut tx = db.begin().await.unwrap();
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap().unwrap();
    let mut message = turn(&branch, next_id(), None, ord, Role::User);
    let exchange = exchange(&branch, message.id, None);
    message.exchange_id = exchange.id;
    message.blocks = vec![block(&message, 0, Author::User, BlockState::Done, Content::text(words))];
    exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
    turns::insert(&mut tx, &message).await.unwrap();
    tx.commit().await.unwrap();
    (chat.id, branch.id, message.id)
}

async fn create_owner(db: &Db) -> UserId {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    tx.commit().await.unwrap();
    owner
}

#[tokio::test]
async fn search_index_skips_rows_that_cannot_be_indexed_and_is_done() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let owner = create_owner(db).await;
        let mut all = Vec::new();
        for n in 0..4 {
            all.push(create_chat(db, owner, &format!("heron {n}"), &format!("egret {n}")).await);
        }
        backfill::reset(db).await.unwrap();
        refuse_writes(db, "search_entries", ("item_id", all[1].0.uuid()), "item_id").await;
        if db.path().is_some() {
            let turn = literal(db, all[2].2.uuid());
            damage(db, &[format!("UPDATE turns SET content_text = {NO_TEXT} WHERE id = {turn}")]).await;
        }
        let mut steps = 0;
        while backfill::index_batch(db).await.unwrap() {
            steps += 1;
            assert!(steps < 20, "the index is never done");
        }
        let chats = search(db, owner, "heron").await.unwrap();
        assert!(chats.is_indexed);
        assert_eq!(chats.hits.len(), 3, "{:?}", chats.hits);
        let turns = search(db, owner, "egret").await.unwrap();
        assert_eq!(turns.hits.len(), if db.path().is_some() { 3 } else { 4 }, "{:?}", turns.hits);
        fresh.close().await;
    }
}

/// Moves the bodies of ended generations back into chunks, as a crash leaves them.
async fn unpack_all(db: &Db) -> Vec<GenerationId> {
    sql(db, "UPDATE generations SET raw_response = NULL, raw_sha256 = NULL, raw_bytes = NULL".into()).await;
    sql(db, "DELETE FROM generation_chunks".into()).await;
    let bytes = if db.path().is_some() { "CAST('data: x' AS BLOB)" } else { "convert_to('data: x', 'UTF8')" };
    let pieces = format!(
        "INSERT INTO generation_chunks (generation_id, n, bytes) SELECT id, 0, {bytes} FROM generations \
         WHERE status <> 'running'"
    );
    sql(db, pieces).await;
    sql(db, "UPDATE turns SET stored_bytes = NULL".into()).await;
    raw::list_unpacked(db, 100).await.unwrap()
}

async fn count(db: &Db, text: &'static str) -> i64 {
    match db {
        Db::Sqlite { readers, .. } => sqlx::query_scalar(text).fetch_one(readers).await.unwrap(),
        Db::Postgres { readers, .. } => sqlx::query_scalar(text).fetch_one(readers).await.unwrap(),
    }
}

const PACKED: &str = "SELECT COUNT(*) FROM generations WHERE raw_response IS NOT NULL";
const IN_PIECES: &str = "SELECT COUNT(*) FROM generation_chunks";
const UNCOUNTED: &str = "SELECT COUNT(*) FROM turns WHERE stored_bytes IS NULL AND completed_at IS NOT NULL";

#[tokio::test]
async fn housekeeping_packs_all_bodies_except_refused_one() {
    for fresh in test_databases().await {
        walkthrough::start_walkthrough(&fresh.db).await;
        let db = &fresh.db;
        let (service, _) = start_service(db, fresh.dir.path()).await.unwrap();
        let unpacked = unpack_all(db).await;
        assert!(unpacked.len() > 1, "{unpacked:?}");
        refuse_writes(db, "generations", ("id", unpacked[0].uuid()), "raw_response").await;
        for _ in 0..2 {
            service.supervisor().run_maintenance().await.unwrap();
            assert_eq!(count(db, PACKED).await, unpacked.len() as i64 - 1);
            assert_eq!(count(db, IN_PIECES).await, 1, "its pieces are kept");
            assert_eq!(raw::list_unpacked(db, 100).await.unwrap(), [], "it is not tried again");
        }
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn housekeeping_continues_after_failed_step() {
    for fresh in test_databases().await {
        walkthrough::start_walkthrough(&fresh.db).await;
        let db = &fresh.db;
        let (service, _) = start_service(db, fresh.dir.path()).await.unwrap();
        let unpacked = unpack_all(db).await;
        sql(db, "DROP TABLE search_progress".into()).await;
        assert!(service.supervisor().run_maintenance().await.is_err(), "the failed step is reported");
        assert_eq!(count(db, PACKED).await, unpacked.len() as i64);
        assert_eq!(count(db, UNCOUNTED).await, 0);
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn search_leaves_out_rows_that_cannot_be_read() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let owner = create_owner(db).await;
        let mut all = Vec::new();
        for n in 0..4 {
            all.push(create_chat(db, owner, &format!("heron {n}"), "egret").await);
        }
        let turn = |n: usize| literal(db, all[n].2.uuid());
        let mut statements = vec![format!("UPDATE turns SET role = 'robot' WHERE id = {}", turn(0))];
        if db.path().is_some() {
            let branch = literal(db, all[1].1.uuid());
            statements.push(format!("UPDATE branches SET name = {NO_TEXT} WHERE id = {branch}"));
            let chat = literal(db, all[2].0.uuid());
            statements.push(format!("UPDATE chats SET title = {NO_TEXT} WHERE id = {chat}"));
        }
        damage(db, &statements).await;
        let turns = search(db, owner, "egret").await.unwrap();
        let found =
            |n: usize| turns.hits.iter().any(|hit| matches!(hit, MatchedItem::Turn(hit) if hit.turn_id == all[n].2));
        assert!(!found(0) && found(3), "{turns:?}");
        let chats = search(db, owner, "heron").await.unwrap();
        assert_eq!(chats.hits.len(), if db.path().is_some() { 3 } else { 4 }, "{chats:?}");
        fresh.close().await;
    }
}

#[tokio::test]
async fn drafts_sums_pins_and_files_are_read_beside_damaged_values() {
    let fresh = crate::databases::empty_sqlite().await;
    let db = &fresh.db;
    db.migrate(None, next_time()).await.unwrap();
    let story = walkthrough::start_walkthrough(db).await;
    let owner = story.owner();
    seed_reader_rows(db, owner).await;
    let before = spending::sums(db, owner, all_times(), SpendingGrouping::Chat).await.unwrap();
    let (chat, ..) = create_chat(db, owner, "heron", "egret").await;
    let draft = Draft { text: "half a sentence".into(), ..Draft::default() };
    let mut tx = db.begin().await.unwrap();
    drafts::put(&mut tx, owner, Some(chat), &draft, next_time()).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    let of_chat = format!("WHERE chat_id = {}", literal(db, chat.uuid()));
    damage(
        db,
        &[
            format!("UPDATE drafts SET provider = {NO_TEXT}, model = 'm' {of_chat}"),
            format!("UPDATE drafts SET attachments = {NO_TEXT} {of_chat}"),
            format!("UPDATE chats SET title = {NO_TEXT}"),
            format!("UPDATE ledger SET provider = {NO_TEXT}"),
            format!("UPDATE trusted_tools SET schema_hash = {NO_TEXT} WHERE server = 'files'"),
            format!("UPDATE blobs SET mime = {NO_TEXT} WHERE sha256 = '{SHA256}'"),
        ],
    )
    .await;
    let read = drafts::find(db, owner, Some(chat)).await.unwrap().unwrap();
    assert_eq!((read.text.as_str(), read.lock, read.rev), ("half a sentence", None, 1));

    // The usage is counted without a name.
    let after = spending::sums(db, owner, all_times(), SpendingGrouping::Chat).await.unwrap();
    let spent = |sums: &[spending::SpendingSum]| spending::SpendingSum::total(sums);
    assert_eq!(spent(&after), spent(&before));
    assert!(after.iter().all(|sum| sum.title.is_none()), "{after:?}");
    let by_provider = spending::sums(db, owner, all_times(), SpendingGrouping::Provider).await.unwrap();
    assert_eq!(spent(&by_provider), spent(&before));

    // An unreadable pin counts as a changed tool.
    let pins = trusted_tools::list(db, owner).await.unwrap();
    let hash = |server: &str| pins.iter().find(|pin| pin.server == server).map(|pin| pin.schema_hash.as_str());
    assert_eq!((hash("files"), hash("web")), (Some(""), Some("00")));
    let file = blobs::find(db, owner, SHA256).await.unwrap().unwrap();
    assert_eq!((file.mime.as_str(), file.bytes.as_ref()), ("application/octet-stream", b"test".as_slice()));
    fresh.close().await;
}
