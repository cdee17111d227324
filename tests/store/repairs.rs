//! Repairs: rows are rebuilt from a readable journal, a journal goes into quarantine only where it is damaged itself,
//! an interrupted repair is finished by the next, and quarantined values are deleted with the row that they belong
//! to.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, SqlitePool};
use turnleaf::domain::{ChatId, Content, Turn, TurnId, UserId};
use turnleaf_service::Service;
use turnleaf_service::accounts::Actor;
use turnleaf_service::documents::change::{DocumentTextSource, NewDocumentRequest};
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_store::Db;
use turnleaf_store::database::readable::is_placeholder;
use turnleaf_store::fsck::{self, CheckMode, repair};
use uuid::Uuid;

use crate::damage::{drop_checks, reply_of, send_and_wait, sql, start_service, wait_until_ended};
use crate::damage_values::{nested_json, open_unchecked, sqlite_columns};
use crate::databases::{empty_sqlite, noon, test_databases};
use crate::domain_fixtures::next_time;

/// Damages rows as a disk would: constraints and foreign keys are off.
async fn damage(db: &Db, text: String) {
    let whole = match db {
        Db::Sqlite { .. } => format!(
            "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; {text}; \
             PRAGMA ignore_check_constraints = OFF; PRAGMA foreign_keys = ON"
        ),
        Db::Postgres { .. } => {
            format!("SET session_replication_role = replica; {text}; RESET session_replication_role")
        }
    };
    sql(db, whole).await;
}

fn literal(db: &Db, id: Uuid) -> String {
    if db.path().is_some() { format!("X'{}'", id.simple()) } else { format!("'{id}'") }
}

async fn count(db: &Db, text: String) -> i64 {
    match db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(writer).await.unwrap(),
    }
}

/// Returns the lines of a turn's journal.
async fn lines(db: &Db, turn: TurnId) -> Vec<(i64, String)> {
    let text = format!("SELECT seq, event FROM turn_events WHERE turn_id = {} ORDER BY seq", literal(db, turn.uuid()));
    match db {
        Db::Sqlite { writer, .. } => sqlx::query_as(AssertSqlSafe(text)).fetch_all(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_as(AssertSqlSafe(text)).fetch_all(writer).await.unwrap(),
    }
}

/// Creates a chat with a finished reply, and the service that ran it.
async fn create_reply(db: &Db, dir: &std::path::Path) -> (Service, UserId, ChatId, Turn) {
    if let Db::Postgres { writer, .. } = db {
        drop_checks(writer).await;
    }
    let (service, owner) = start_service(db, dir).await.unwrap();
    let chat = send_and_wait(&service, owner, "a question").await;
    let reply = reply_of(&service, owner, chat).await;
    (service, owner, chat, reply)
}

#[tokio::test]
async fn damaged_row_with_sound_journal_is_rebuilt_and_journal_stays() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (service, owner, chat, before) = create_reply(db, fresh.dir.path()).await;
        let journal = lines(db, before.id).await;
        assert!(!journal.is_empty());
        let reply = literal(db, before.id.uuid());
        for text in [
            format!(
                "UPDATE turn_blocks SET content = '{{\"type\":', state = 'none' WHERE turn_id = {reply} AND seq = 0"
            ),
            format!("UPDATE turn_blocks SET content = '[]', author = 'none' WHERE turn_id = {reply} AND seq = 1"),
            format!("UPDATE turns SET status = 'none' WHERE id = {reply}"),
        ] {
            damage(db, text).await;
        }
        let repairs = repair::repair(db, next_time()).await.unwrap();
        assert_eq!(repairs.len(), 5, "{repairs:#?}");
        let is_rebuilt =
            |one: &repair::ValueRepair| one.outcome.as_ref().is_ok_and(|done| done.change.contains("rebuilt"));
        assert!(repairs.iter().all(is_rebuilt), "{repairs:#?}");
        assert_eq!(reply_of(&service, owner, chat).await, before, "nothing is lost");
        assert_eq!(lines(db, before.id).await, journal);
        let kept = repair::list_quarantined(db).await.unwrap();
        assert_eq!(kept.len(), 5);
        assert!(kept.iter().all(|value| value.table_name != "turn_events"), "{kept:#?}");
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), []);
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

/// The first ended block does not depend on later lines.
#[tokio::test]
async fn damaged_block_is_rebuilt_from_its_own_lines_where_lines_of_others_are_damaged() {
    for fresh in test_databases().await {
        for line_damage in ["event = '[]'", "event = '{\"type\":\"block_delta\"}'", "seq = seq + 1000"] {
            let db = &fresh.db;
            let (service, owner, chat, before) = create_reply(db, fresh.dir.path()).await;
            let reply = literal(db, before.id.uuid());
            let first = &before.blocks[0];
            let journal = lines(db, before.id).await;
            let ends =
                |(_, event): &&(i64, String)| event.contains("block_end") && event.contains(&first.id.to_string());
            let (end, _) = journal.iter().rfind(ends).unwrap();
            assert!(before.blocks.len() > 1, "another block follows");
            let line = format!("turn_id = {reply} AND seq = {}", end + 2);
            damage(db, format!("UPDATE turn_events SET {line_damage} WHERE {line}")).await;
            damage(db, format!("UPDATE turn_blocks SET content = '{{\"type\":' WHERE turn_id = {reply} AND seq = 0"))
                .await;
            repair::repair(db, next_time()).await.unwrap();
            let after = reply_of(&service, owner, chat).await;
            assert_eq!(after, before, "{line_damage}: nothing is lost");
            assert_eq!(lines(db, before.id).await, [], "the journal no longer gives its rows");
            assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), []);
            service.supervisor().toolbox().shut_down().await;
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn turn_text_stays_when_blocks_and_journal_are_lost() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (service, _, _, before) = create_reply(db, fresh.dir.path()).await;
        let reply = literal(db, before.id.uuid());
        let has_text = format!("SELECT COUNT(*) FROM turns WHERE id = {reply} AND content_text <> ''");
        assert_eq!(count(db, has_text.clone()).await, 1);
        damage(db, format!("DELETE FROM turn_events WHERE turn_id = {reply}")).await;
        damage(db, format!("UPDATE turn_blocks SET content = '{{\"type\":' WHERE turn_id = {reply}")).await;
        repair::repair(db, next_time()).await.unwrap();
        assert_eq!(count(db, has_text).await, 1, "the last copy of the text");
        assert!(fsck::check(db, CheckMode::Stopped).await.unwrap().iter().all(|finding| finding.invariant != "I10"));
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn damaged_turn_text_is_rebuilt_from_remaining_blocks() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (service, _, _, before) = create_reply(db, fresh.dir.path()).await;
        let reply = literal(db, before.id.uuid());
        let count_of_text = |text: &str| {
            format!("SELECT COUNT(*) FROM turns WHERE id = {reply} AND content_text = '{}'", text.replace('\'', "''"))
        };
        let text = before.content_text();
        assert_eq!((text.is_empty(), count(db, count_of_text(&text)).await), (false, 1));
        damage(db, format!("DELETE FROM turn_events WHERE turn_id = {reply}")).await;
        let is_thinking = "block_type = 'thinking'";
        damage(db, format!("UPDATE turn_blocks SET content = '{{' WHERE turn_id = {reply} AND {is_thinking}")).await;
        // A TEXT value of PostgreSQL is always readable.
        let is_file = db.path().is_some();
        if is_file {
            let no_text = "CAST(X'61ff62' AS TEXT)";
            damage(db, format!("UPDATE turns SET content_text = {no_text} WHERE id = {reply}")).await;
        }
        let repairs = repair::repair(db, next_time()).await.unwrap();
        assert!(repairs.iter().all(|one| one.outcome.is_ok()), "{repairs:#?}");
        let kept = repair::list_quarantined(db).await.unwrap();
        assert_eq!(kept.iter().any(|value| value.bytes == b"a\xffb"), is_file, "{kept:#?}");
        assert_eq!(count(db, count_of_text(&text)).await, 1, "the text of the blocks that can be read");
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), []);
        assert_eq!(repair::repair(db, next_time()).await.unwrap(), []);
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn turn_whose_block_contains_nul_is_repaired_and_its_text_is_in_line() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (service, _, _, before) = create_reply(db, fresh.dir.path()).await;
        let reply = literal(db, before.id.uuid());
        damage(db, format!("DELETE FROM turn_events WHERE turn_id = {reply}")).await;
        let content = r#"{"type":"text","text":"a\u0000b"}"#;
        for text in [
            format!(
                "UPDATE turn_blocks SET content = '{content}', block_type = 'text' WHERE turn_id = {reply} AND seq = 0"
            ),
            format!("UPDATE turn_blocks SET metadata = '{{' WHERE turn_id = {reply} AND seq = 0"),
        ] {
            damage(db, text).await;
        }
        let repairs = repair::repair(db, next_time()).await.unwrap();
        assert!(!repairs.is_empty() && repairs.iter().all(|one| one.outcome.is_ok()), "{repairs:#?}");
        let with_placeholder =
            format!("SELECT COUNT(*) FROM turns WHERE id = {reply} AND content_text LIKE '%a\u{2400}b%'");
        assert_eq!(count(db, with_placeholder).await, 1);
        let findings = fsck::check(db, CheckMode::Stopped).await.unwrap();
        // The replacement character in the block is reported as a finding of its own.
        let is_derived_text = |finding: &fsck::FsckFinding| finding.invariant == "R8";
        assert!(findings.iter().all(is_derived_text), "{findings:#?}");
        assert_eq!(repair::repair(db, next_time()).await.unwrap(), []);
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn damaged_journal_is_quarantined_entry_by_entry() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (service, owner, chat, before) = create_reply(db, fresh.dir.path()).await;
        let mut journal = lines(db, before.id).await;
        let reply = literal(db, before.id.uuid());
        damage(
            db,
            format!("UPDATE turn_events SET event = '{}' WHERE turn_id = {reply} AND seq = 2", nested_json(127)),
        )
        .await;
        journal[1].1 = nested_json(127);
        let repairs = repair::repair(db, next_time()).await.unwrap();
        assert_eq!(repairs.len(), 2, "the damaged line, and the others: {repairs:#?}");
        let kept = repair::list_quarantined(db).await.unwrap();
        let mut kept: Vec<(i64, String)> = kept
            .into_iter()
            .map(|value| {
                assert_eq!((value.table_name.as_str(), value.column_name.as_str()), ("turn_events", "event"));
                let seq = value.row_key.rsplit(' ').next().unwrap().parse().unwrap();
                (seq, String::from_utf8(value.bytes).unwrap())
            })
            .collect();
        kept.sort();
        assert_eq!(kept, journal, "every line, byte for byte");
        assert_eq!(lines(db, before.id).await, []);
        assert_eq!(reply_of(&service, owner, chat).await, before);
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), []);
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn entries_without_turn_or_after_ending_are_quarantined() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (service, owner, chat, before) = create_reply(db, fresh.dir.path()).await;
        let journal = lines(db, before.id).await;
        let (reply, nobody) = (literal(db, before.id.uuid()), Uuid::from_u128(0x0bad));
        for (turn, seq, event) in [
            (reply.as_str(), before.last_event_seq + 1, "behind the end"),
            (&literal(db, nobody), 1, "of no turn"),
            (&literal(db, nobody), 2, "of no turn either"),
        ] {
            damage(
                db,
                format!(
                    "INSERT INTO turn_events (turn_id, seq, event) VALUES ({turn}, {seq}, '{{\"type\":\"{event}\"}}')"
                ),
            )
            .await;
        }
        assert_ne!(fsck::check(db, CheckMode::Stopped).await.unwrap(), []);
        let repairs = repair::repair(db, next_time()).await.unwrap();
        assert!(repairs.len() == 2 && repairs.iter().all(|one| one.outcome.is_ok()), "{repairs:#?}");
        let kept = repair::list_quarantined(db).await.unwrap();
        for event in ["behind the end", "of no turn", "of no turn either"] {
            let bytes = format!("{{\"type\":\"{event}\"}}").into_bytes();
            assert!(kept.iter().any(|value| value.bytes == bytes), "{event}: {kept:#?}");
        }
        assert_eq!(lines(db, before.id).await, journal);
        assert_eq!(reply_of(&service, owner, chat).await, before);
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), []);
        assert_eq!(repair::repair(db, next_time()).await.unwrap(), []);
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

/// Returns all rows of a file as SQL literals, without the ids of the quarantine.
async fn rows(pool: &SqlitePool) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for (table, columns) in sqlite_columns(pool).await {
        let shown = columns.iter().filter(|(name, _)| table != "quarantine" || name != "id");
        let shown = shown.map(|(name, _)| format!("quote(\"{name}\")")).collect::<Vec<_>>().join(" || ', ' || ");
        let text = format!("SELECT {shown} FROM \"{table}\" ORDER BY 1");
        all.insert(table, sqlx::query_scalar(AssertSqlSafe(text)).fetch_all(pool).await.unwrap());
    }
    all
}

#[tokio::test]
async fn repair_interrupted_anywhere_is_finished_by_next_one() {
    let whole = empty_sqlite().await;
    whole.db.migrate(None, noon()).await.unwrap();
    let (service, owner, chat, reply) = create_reply(&whole.db, whole.dir.path()).await;
    send_and_wait(&service, owner, "another chat").await;
    service.supervisor().toolbox().shut_down().await;
    let (of_reply, of_chat) = (literal(&whole.db, reply.id.uuid()), literal(&whole.db, chat.uuid()));
    for text in [
        format!(
            "UPDATE turn_blocks SET content = '[]' WHERE turn_id = {of_reply} \
             AND block_type IN ('text', 'thinking')"
        ),
        format!("UPDATE turn_blocks SET content = '[]' WHERE turn_id NOT IN ({of_reply}) AND seq = 0"),
        format!("UPDATE turn_events SET event = 'none' WHERE turn_id = {of_reply} AND seq IN (2, 3)"),
        format!("UPDATE turns SET status = 'none', content_text = 'out of line' WHERE id = {of_reply}"),
        format!("UPDATE chats SET title = CAST(X'61ff62' AS TEXT) WHERE id = {of_chat}"),
        "INSERT INTO turn_events (turn_id, seq, event) VALUES (randomblob(16), 1, '{}')".to_owned(),
    ] {
        damage(&whole.db, text).await;
    }
    let file = whole.db.path().unwrap().to_owned();
    whole.db.close().await;
    let mut finished = None;
    for steps in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("turnleaf.db");
        std::fs::copy(&file, &copy).unwrap();
        let pool = open_unchecked(&copy).await;
        let stop = format!(
            "CREATE TRIGGER stop BEFORE INSERT ON quarantine WHEN (SELECT COUNT(*) FROM quarantine) >= {steps} \
             BEGIN SELECT RAISE(ABORT, 'stopped'); END"
        );
        sqlx::raw_sql(AssertSqlSafe(stop)).execute(&pool).await.unwrap();
        pool.close().await;
        let db = Db::open(&format!("sqlite://{}", copy.display())).await.unwrap();
        let is_stopped = repair::repair(&db, noon()).await.is_err();
        sql(&db, "DROP TRIGGER stop".into()).await;
        repair::repair(&db, noon()).await.unwrap();
        assert_eq!(fsck::check(&db, CheckMode::Stopped).await.unwrap(), [], "after {steps} steps");
        let Db::Sqlite { writer, .. } = &db else { unreachable!() };
        let rows = rows(writer).await;
        match &finished {
            // A different order of the steps would move a value twice, or not at all.
            Some(finished) => assert_eq!(&rows, finished, "after {steps} steps"),
            None => finished = Some(rows),
        }
        db.close().await;
        if !is_stopped {
            assert!(steps > 8, "{steps}");
            return;
        }
    }
}

#[tokio::test]
async fn quarantined_rows_are_deleted_with_their_owner() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (service, owner, chat, reply) = create_reply(db, fresh.dir.path()).await;
        let content = vec![MessageBlock::Text { text: "more".into() }];
        let more = TurnRequest { chat_id: Some(chat), content, ..TurnRequest::default() };
        let more = service.start_turn(owner, more).await.unwrap();
        wait_until_ended(&service, owner, more.assistant_turn.id).await;
        let other = send_and_wait(&service, owner, "another chat").await;
        let document = NewDocumentRequest {
            title: Some("Plan".into()),
            kind: Some("text/markdown".into()),
            source: DocumentTextSource::Text("# Plan".into()),
            client_request_id: None,
        };
        let document = service.create_document(owner, document).await.unwrap().value;
        sql(db, "DELETE FROM turn_events".into()).await;
        let block_of = |turn: TurnId| {
            format!("UPDATE turn_blocks SET content = '[]' WHERE turn_id = {} AND seq = 0", literal(db, turn.uuid()))
        };
        let other_reply = reply_of(&service, owner, other).await.id;
        for text in [
            block_of(reply.id),
            block_of(more.assistant_turn.id),
            block_of(other_reply),
            format!(
                "UPDATE document_versions SET notes = '{{' WHERE document_id = {}",
                literal(db, document.id.uuid())
            ),
            format!(
                "INSERT INTO settings (owner_id, key, value, updated_at) SELECT owner_id, 'look', '{}', created_at \
                 FROM chats WHERE id = {}",
                nested_json(200),
                literal(db, chat.uuid())
            ),
        ] {
            damage(db, text).await;
        }
        let repairs = repair::repair(db, next_time()).await.unwrap();
        assert!(repairs.iter().all(|one| one.outcome.is_ok()), "{repairs:#?}");
        let left = || async { repair::list_quarantined(db).await.unwrap().len() };
        let all = left().await;
        assert_eq!(all, 5, "{repairs:#?}");
        let after = service.turn(owner, reply.id).await.unwrap();
        let is_notice = |content: &Content| is_placeholder(content);
        assert!(after.blocks.iter().any(|block| is_notice(&block.content)));
        let unowned = "SELECT COUNT(*) FROM quarantine WHERE owner_id IS NULL";
        assert_eq!(count(db, unowned.to_owned()).await, 0);

        // The quarantined values stay while the turn is in Trash and are deleted with it permanently.
        service.delete_turn(owner, more.user_turn.id).await.unwrap();
        assert_eq!(left().await, all);
        service.empty_trash(owner).await.unwrap();
        service.supervisor().run_maintenance().await.unwrap();
        assert_eq!(left().await, all - 1, "with the turn");
        service.delete_chat(owner, chat).await.unwrap();
        service.empty_trash(owner).await.unwrap();
        service.supervisor().run_maintenance().await.unwrap();
        assert_eq!(left().await, all - 2, "with the chat");
        service.delete_document(owner, document.id).await.unwrap();
        service.empty_trash(owner).await.unwrap();
        service.supervisor().run_maintenance().await.unwrap();
        assert_eq!(left().await, all - 3, "with the document");
        service.delete_everything(owner, Actor::default()).await.unwrap();
        service.supervisor().run_maintenance().await.unwrap();
        assert_eq!(left().await, 0, "with everything");
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}
