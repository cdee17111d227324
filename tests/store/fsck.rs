//! `fsck` finds every corruption that is planted here, names the broken invariant, and finds nothing in a database
//! that the store itself has written.

use crate::walkthrough;
use std::str::FromStr;
use std::time::Duration;

use crate::databases::{TestDatabase, test_databases};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use turnleaf_store::database::claim::ClaimGate;
use turnleaf_store::database::sqlite_readers::SqliteReaders;
use turnleaf_store::database::write_queue::WriteQueue;
use turnleaf_store::fsck::{self, CheckMode, FsckFinding};
use turnleaf_store::search::queue;
use turnleaf_store::{Db, TimeLimits};

/// (broken invariant, table of the finding, statement that plants it). `$reply` is the finished reply, `$first` the
/// message that it answers.
const PLANTED: &[(&str, &str, &str)] = &[
    ("I1", "turns", "UPDATE turns SET prev_turn_id = chat_id WHERE id = $reply"),
    ("I1", "turns", "UPDATE turns SET depth = depth + 5 WHERE id = $reply"),
    ("I1", "turns", "UPDATE turns SET depth = 2, prev_turn_id = $reply WHERE id = $first"),
    ("I1", "turns", "UPDATE chats SET next_ord = 1000; UPDATE turns SET ord = 900 WHERE id = $first"),
    ("I1", "turns", "UPDATE turns SET ord = 999 WHERE id = $reply"),
    ("R2", "turns", "UPDATE turns SET depth = 60000 WHERE id = $reply"),
    ("I2", "turns", "UPDATE turns SET status = 'streaming', completed_at = NULL WHERE id = $reply"),
    ("R5", "turns", "UPDATE turns SET status = 'streaming', completed_at = NULL WHERE id = $reply"),
    ("I3", "generations", "UPDATE generations SET provider = 'other'"),
    ("I3", "generations", "UPDATE generations SET model_requested = 'other'"),
    ("I3", "turns", "UPDATE turns SET provider_used = 'other' WHERE id = $reply"),
    ("I4", "turns", "UPDATE branches SET fork_turn_id = NULL WHERE fork_turn_id IS NOT NULL"),
    ("I4", "turns", "UPDATE turns SET branch_id = (SELECT branch_id FROM turns WHERE id = $reply) WHERE ord IN (3, 5)"),
    ("I4", "turns", "UPDATE turns SET branch_id = id WHERE id = $reply"),
    ("I4", "branches", "UPDATE branches SET head_turn_id = NULL WHERE origin = 'root'"),
    ("I4", "branches", "UPDATE branches SET head_turn_id = $first WHERE origin = 'root'"),
    ("I4", "branches", "UPDATE branches SET head_turn_id = chat_id WHERE origin = 'root'"),
    ("I4", "chats", "UPDATE chats SET default_branch_id = id"),
    ("I5", "turn_blocks", "UPDATE turn_blocks SET chat_seq = chat_seq + 100000000"),
    ("I5", "turn_blocks", "UPDATE turn_blocks SET chat_id = id WHERE turn_id = $reply AND seq = 0"),
    ("I6", "turn_blocks", "UPDATE turn_blocks SET state = 'open' WHERE turn_id = $reply AND block_type = 'text'"),
    ("I6", "turn_blocks", "UPDATE turn_blocks SET block_type = 'x:odd' WHERE turn_id = $reply AND seq = 0"),
    (
        "I6",
        "turn_blocks",
        "UPDATE turn_blocks SET block_type = 'thinking', content = '{\"type\":\"thinking\",\"thinking\":\"?\"}' \
         WHERE turn_id = $first AND seq = 0",
    ),
    (
        "I7",
        "turn_blocks",
        "UPDATE turn_blocks SET content = REPLACE(content, '\"status\":\"done\"', '\"status\":\"running\"') \
         WHERE block_type = 'tool_use'",
    ),
    ("I7", "turn_blocks", "UPDATE turn_blocks SET parent_block_id = NULL WHERE block_type = 'tool_result'"),
    ("R6", "turn_blocks", "DELETE FROM turn_blocks WHERE block_type = 'tool_result'"),
    ("R4", "turn_blocks", "UPDATE turn_blocks SET seq = 7 WHERE turn_id = $reply AND seq = 3"),
    ("R4", "turn_events", "DELETE FROM turn_events WHERE turn_id = $reply AND seq = 2"),
    (
        "R4",
        "turn_events",
        "DELETE FROM turn_events WHERE turn_id = $reply AND seq = (SELECT last_event_seq FROM turns WHERE id = $reply)",
    ),
    ("R4", "turn_events", "UPDATE turns SET last_event_seq = 400 WHERE id = $reply"),
    ("search", "turns", "DELETE FROM search_entries WHERE item_id = $reply"),
    ("search", "turns", "UPDATE search_entries SET digest = digest - 1 WHERE item_id = $reply"),
    ("search", "turns", "DELETE FROM search_words"),
    ("search", "turns", "UPDATE turns SET content_text = 'something else' WHERE id = $reply"),
    ("search", "chats", "UPDATE chats SET title = 'another one'"),
    (
        "search",
        "search_entries",
        "INSERT INTO search_entries (kind, item_id, owner_id, digest, parts) \
         SELECT 'turn', default_branch_id, owner_id, 0, 1 FROM chats WHERE default_branch_id IS NOT NULL LIMIT 1",
    ),
    ("R4", "turn_events", "INSERT INTO turn_events (turn_id, seq, event) SELECT id, 1, '{}' FROM chats"),
    (
        "R7",
        "turn_blocks",
        "UPDATE turn_blocks SET content = REPLACE(content, 'A tree', 'A bush') WHERE turn_id = $reply",
    ),
    ("R7", "turn_blocks", "UPDATE turn_blocks SET content = REPLACE(content, '1000.0', '1000') WHERE turn_id = $reply"),
    ("R7", "turns", "DELETE FROM turn_blocks WHERE turn_id = $reply AND seq = 3"),
    ("R7", "turns", "UPDATE turns SET model_used = 'other' WHERE id = $reply"),
    ("R7", "turns", "UPDATE turns SET status = 'cancelled' WHERE id = $reply"),
    (
        "R7",
        "turn_events",
        "UPDATE turn_events SET event = REPLACE(event, '\"state\":\"done\"', '\"state\":\"open\"') WHERE turn_id = $reply",
    ),
    (
        "storage",
        "turn_events",
        "UPDATE turn_events SET event = '{\"type\":\"block_end\"}' WHERE turn_id = $reply AND seq = 3",
    ),
    ("storage", "turn_events", "UPDATE turn_events SET event = 'not JSON' WHERE turn_id = $reply AND seq = 3"),
    (
        "R8",
        "turn_blocks",
        "UPDATE turn_blocks SET content = '{\"type\":\"text\",\"text\":\"a\\u0000b\"}' WHERE turn_id = $first AND seq = 0",
    ),
    ("R7", "turns", "DELETE FROM turn_blocks WHERE turn_id = $reply"),
    ("I8", "turns", "UPDATE exchanges SET user_turn_id = NULL"),
    ("I8", "turns", "UPDATE turns SET exchange_id = id WHERE id = $first"),
    (
        "I8",
        "exchanges",
        "DROP INDEX turns_one_reply; \
         UPDATE turns SET exchange_id = (SELECT exchange_id FROM turns WHERE id = $reply) WHERE role = 'assistant'",
    ),
    ("R3", "turns", "UPDATE turns SET role = 'user' WHERE id = $reply"),
    ("R5", "turns", "UPDATE turns SET status = 'error' WHERE id = $reply"),
    ("R5", "generations", "UPDATE generations SET status = 'running', ended_at = NULL WHERE step = 0"),
    (
        "I9",
        "generations",
        "UPDATE generations SET raw_sha256 = (SELECT raw_sha256 FROM generations WHERE step = 1) WHERE step = 0",
    ),
    (
        "storage",
        "generations",
        "UPDATE generations SET raw_response = (SELECT body FROM generation_requests q WHERE q.generation_id = generations.id) WHERE step = 0",
    ),
    ("storage", "generations", "UPDATE generations SET raw_bytes = raw_bytes - 1 WHERE step = 0"),
    ("I9", "generations", "DELETE FROM generation_requests"),
    (
        "I9",
        "generation_requests",
        "UPDATE generation_requests SET body_head = 1000000, base_id = (SELECT id FROM generations WHERE step = 0) \
         WHERE generation_id = (SELECT id FROM generations WHERE step = 1)",
    ),
    ("I9", "generation_requests", "UPDATE generation_requests SET base_id = generation_id"),
    ("storage", "generation_requests", "UPDATE generation_requests SET manifest = SUBSTR(manifest, 2)"),
    (
        "I9",
        "generation_chunks",
        "INSERT INTO generation_chunks (generation_id, n, bytes) SELECT id, 0, (SELECT body FROM generation_requests q WHERE q.generation_id = generations.id) FROM generations WHERE step = 0",
    ),
    (
        "I9",
        "generation_chunks",
        "UPDATE generations SET raw_response = NULL, raw_sha256 = NULL, raw_bytes = NULL; \
         INSERT INTO generation_chunks (generation_id, n, bytes) SELECT id, 3, (SELECT body FROM generation_requests q WHERE q.generation_id = generations.id) FROM generations",
    ),
    ("I10", "turns", "UPDATE turns SET content_text = 'another text' WHERE id = $first"),
    ("I11", "turns", "UPDATE turns SET input_tokens = 99 WHERE id = $reply"),
    ("I11", "turns", "UPDATE turns SET reasoning_tokens = 0 WHERE id = $reply"),
    ("I11", "generations", "UPDATE generations SET turn_id = id WHERE step = 0"),
    ("I13", "turns", "UPDATE turns SET deleted_at = created_at, deletion_id = id WHERE id = $reply"),
    ("I13", "turns", "UPDATE chats SET deleted_at = created_at, deletion_id = id"),
    ("I13", "chats", "UPDATE chats SET deleted_at = created_at, deletion_id = id"),
    ("I13", "branches", "UPDATE branches SET deleted_at = created_at, deletion_id = id WHERE origin = 'root'"),
    ("I13", "turns", "UPDATE branches SET deleted_at = created_at, deletion_id = id WHERE origin = 'root'"),
    ("I13", "branches", "UPDATE turns SET deleted_at = created_at, deletion_id = id WHERE id = $reply"),
    (
        "I13",
        "turns",
        "UPDATE turns SET deleted_at = created_at, deletion_id = id, status = 'streaming', completed_at = NULL \
         WHERE id = $reply",
    ),
    (
        "I13",
        "deletions",
        "INSERT INTO deletions (id, owner_id, chat_id, kind, root_id, title, turns, branches, created_at) \
         SELECT id, owner_id, id, 'turn', id, '', 0, 0, created_at FROM chats",
    ),
    (
        "I4",
        "turns",
        "UPDATE turns SET branch_id = (SELECT branch_id FROM turns WHERE id = $reply), deleted_at = created_at, \
         deletion_id = id WHERE ord = 3",
    ),
    ("R9", "chats", "UPDATE chats SET last_viewed_turn_id = id"),
    (
        "R10",
        "turn_blocks",
        "UPDATE turn_blocks SET block_type = 'image', content = \
        '{\"type\":\"image\",\"blob\":\"00\",\"mime\":\"image/png\",\"alt\":\"\"}' WHERE turn_id = $first AND seq = 0",
    ),
    ("R15", "exchanges", "UPDATE exchanges SET owner_id = id"),
    ("R15", "chats", "UPDATE chats SET project_id = id"),
    ("R15", "grafts", "UPDATE grafts SET owner_id = id"),
    ("R15", "grafts", "UPDATE grafts SET branch_id = id"),
    ("I14", "grafts", "UPDATE grafts SET exchange_id = id"),
    (
        "R15",
        "queued_messages",
        "INSERT INTO queued_messages (id, owner_id, chat_id, after_turn_id, ord, request, created_at, updated_at) \
         SELECT c.id, c.id, c.id, $reply, 0, '{}', c.created_at, c.created_at FROM chats c ORDER BY c.id LIMIT 1",
    ),
    (
        "R15",
        "queued_messages",
        "INSERT INTO queued_messages (id, owner_id, chat_id, after_turn_id, ord, request, created_at, updated_at) \
         SELECT c.id, c.owner_id, c.id, c.id, 0, '{}', c.created_at, c.created_at FROM chats c ORDER BY c.id LIMIT 1",
    ),
    ("R15", "unread_replies", "UPDATE unread_replies SET chat_id = turn_id"),
    ("R15", "unread_replies", "UPDATE unread_replies SET owner_id = chat_id"),
    ("R15", "title_requests", "UPDATE title_requests SET chat_id = turn_id"),
    ("R15", "title_requests", "UPDATE title_requests SET owner_id = chat_id"),
    ("R15", "title_requests", "UPDATE title_requests SET turn_id = owner_id"),
    ("I9", "title_requests", "UPDATE title_requests SET body_sha256 = raw_sha256 WHERE raw_sha256 IS NOT NULL"),
    ("I9", "title_requests", "UPDATE title_requests SET raw_sha256 = body_sha256 WHERE raw_sha256 IS NOT NULL"),
    ("R15", "shares", "UPDATE shares SET chat_id = leaf_id"),
    ("R15", "shares", "UPDATE shares SET owner_id = chat_id"),
    ("R15", "shares", "UPDATE shares SET leaf_id = owner_id"),
    ("I9", "shares", "UPDATE shares SET snapshot_sha256 = hash"),
    ("I9", "shares", "UPDATE shares SET turns_sha256 = hash"),
    ("R10", "share_blobs", "UPDATE share_blobs SET sha256 = '00'"),
    ("R10", "share_blobs", "UPDATE share_blobs SET share_id = (SELECT owner_id FROM shares ORDER BY id LIMIT 1)"),
    ("R15", "branch_shares", "UPDATE branch_shares SET branch_id = owner_id"),
    ("R15", "branch_shares", "UPDATE branch_shares SET owner_id = branch_id"),
    ("R15", "drafts", "UPDATE drafts SET owner_id = chat_id WHERE chat_id IS NOT NULL"),
    ("R15", "drafts", "UPDATE drafts SET chat_id = owner_id WHERE chat_id IS NOT NULL"),
    ("R15", "import_reports", "INSERT INTO import_reports (import_id, report) SELECT id, 'null' FROM chats LIMIT 1"),
    ("R15", "import_chats", "UPDATE imports SET owner_id = id"),
    ("R15", "import_chats", "UPDATE import_chats SET chat_id = import_id"),
    ("R15", "import_documents", "UPDATE import_documents SET document_id = import_id"),
    (
        "R15",
        "import_deletions",
        "INSERT INTO import_deletions (deletion_id, import_id) SELECT id, id FROM chats LIMIT 1",
    ),
];

const REPLY: &str = "(SELECT id FROM turns WHERE ord = 2)";
const FIRST: &str = "(SELECT id FROM turns WHERE ord = 1)";

const QUEUE_PATIENCE: Duration = Duration::from_secs(10);

/// Opens the database through one connection without foreign keys, so that a corruption is visible to the checker in
/// its transaction and can be rolled back.
async fn open_unchecked(fresh: &TestDatabase) -> Db {
    if fresh.db.path().is_some() {
        let options = SqliteConnectOptions::from_str(&fresh.url).unwrap().foreign_keys(false);
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.unwrap();
        let path = fresh.db.path().unwrap().to_owned();
        let readers = SqliteReaders::of_shared_pool(pool.clone());
        Db::Sqlite { writer: pool, readers, queue: WriteQueue::new(1, QUEUE_PATIENCE), path }
    } else {
        let pool = PgPoolOptions::new().max_connections(1).connect(&fresh.url).await.unwrap();
        let db = Db::Postgres {
            writer: pool.clone(),
            readers: pool,
            queue: WriteQueue::new(1, QUEUE_PATIENCE),
            limits: TimeLimits::COMMAND,
            claim: ClaimGate::default(),
        };
        run(&db, "SET session_replication_role = replica").await;
        db
    }
}

async fn run(db: &Db, text: &str) {
    let text = AssertSqlSafe(text.replace("$reply", REPLY).replace("$first", FIRST));
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
    }
}

#[tokio::test]
async fn every_planted_corruption_is_found() {
    for fresh in test_databases().await {
        walkthrough::start_walkthrough(&fresh.db).await;
        assert!(queue::index_all(&fresh.db, 10).await.unwrap(), "what is queued is not checked");
        let db = open_unchecked(&fresh).await;
        assert_eq!(fsck::check(&db, CheckMode::Stopped).await.unwrap(), Vec::new());
        let mut missed = Vec::new();
        for (invariant, table, planted) in PLANTED {
            run(&db, "BEGIN").await;
            run(&db, planted).await;
            let findings = fsck::check(&db, CheckMode::Stopped).await.unwrap();
            run(&db, "ROLLBACK").await;
            let names_it = |finding: &FsckFinding| {
                finding.invariant == *invariant && finding.table == *table && !finding.id.is_empty()
            };
            if !findings.iter().any(names_it) {
                missed.push(format!("{invariant} {table}: {planted}\n    found: {findings:?}"));
            }
        }
        assert!(missed.is_empty(), "{}:\n{}", fresh.url, missed.join("\n"));
        assert_eq!(fsck::check(&db, CheckMode::Stopped).await.unwrap(), Vec::new(), "all was taken back");
        db.close().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn lock_cannot_be_changed_by_direct_sql() {
    for fresh in test_databases().await {
        walkthrough::start_walkthrough(&fresh.db).await;
        let mut tx = fresh.db.begin().await.unwrap();
        let text = "UPDATE branches SET model = 'other'";
        let result = match &mut tx {
            turnleaf_store::Tx::Sqlite(tx) => sqlx::query(text).execute(&mut **tx).await.map(drop),
            turnleaf_store::Tx::Postgres(tx) => sqlx::query(text).execute(&mut **tx).await.map(drop),
        };
        assert!(result.unwrap_err().to_string().contains("keeps its provider and model"));
        drop(tx);
        fresh.close().await;
    }
}
