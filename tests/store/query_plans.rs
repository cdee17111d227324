//! Query plans of SQLite: no statement that a request waits for may scan a whole growing table, or all rows of an
//! owner when it is about a few. Covers the statements by name and, as they are composed at run time, those of the
//! walkthrough and of a path with many forks.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::{AssertSqlSafe, SqlitePool};
use tracing_subscriber::filter::LevelFilter;
use turnleaf::domain::limits;
use turnleaf_store::Db;

use crate::databases::{empty_sqlite, noon};
use crate::{paths, walkthrough};

/// Tables that grow with every message, response or file.
const GROWING: [&str; 18] = [
    "block_blobs",
    "block_documents",
    "blob_forms",
    "blobs",
    "branches",
    "chats",
    "document_versions",
    "documents",
    "exchanges",
    "generation_chunks",
    "generation_requests",
    "generations",
    "ledger",
    "turn_blocks",
    "turn_events",
    "turns",
    "uploads",
    "view_calls",
];

/// Partial indexes of few rows: unfinished work and pending deletions.
const OF_FEW: [&str; 4] = ["turns_unfinished", "turns_uncounted", "grafts_running", "deletions_purging"];

/// Named statements that may scan a table or an owner's rows, with the reason.
const MAY_LOOK_THROUGH: [(&str, &str, &str); 24] = [
    ("branches/branch", "MODELS", "the models of all chats are asked for"),
    ("branches/ends", "LAST_USED", "ends at the first that fit"),
    ("chats/listing", "BROWSE", "ends at the first that fit"),
    ("chats/listing", "LIST", "ends at the first that fit"),
    ("chats/listing", "NEWEST", "ends at the first that fit"),
    ("deletions/purge", "DELETE_BLOBS", "by age, at rest; what is older than the table of names is asked last"),
    ("documents/purge", "ANY_OF", "all of them are meant"),
    ("documents/read", "DELETED", "the deleted ones of an owner"),
    ("documents/uploads", "FORGET", "at rest"),
    ("documents/uploads", "USED", "all that an owner keeps is counted"),
    ("transfer/archive", "ALL_DOCUMENTS", "everything is exported"),
    ("transfer/archive", "CHATS", "everything is exported"),
    ("transfer/inventory", "CHATS", "ends at the first that fit, and all of them go"),
    ("transfer/inventory", "COUNTS", "all that an owner has is counted, where it is to be deleted"),
    ("transfer/inventory", "DOCUMENTS", "all of them go"),
    ("transfer/inventory", "FORGET_UPLOADS", "all of them are meant"),
    ("turns/events", "DELETE_OLD", "events are kept for a while only"),
    ("turns/generations/raw", "UNPACKED", "the pieces are of responses that run or just ended"),
    ("usage/ledger", "ANONYMIZE", "all of an account are meant"),
    ("usage/storage", "COUNTED", "all that an owner keeps is counted, and for a while holds"),
    ("usage/storage", "DOCUMENTS", "all that an owner keeps is counted, and for a while holds"),
    ("usage/storage", "FILES", "all that an owner keeps is counted, and for a while holds"),
    ("usage/storage", "JOURNAL", "events are kept for a while only"),
    ("usage/storage", "PIECES", "the pieces are of responses that run or just ended"),
];

/// The prefix of the statements with which `fsck` reads all values of a table.
const SCAN_OF_THE_CHECKER: &str = "SELECT /* all values */ ";
/// A statement of `fsck` at the end of the walkthrough; it reads everything.
const OF_THE_CHECKER: &str = "SELECT id, depth FROM turns WHERE depth >= $1";

/// Returns the full scans in the plan of a statement: per alias, the lines of the plan.
async fn full_scans(db: &SqlitePool, text: &str) -> Vec<String> {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {text}"));
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain).fetch_all(db).await.unwrap();
    let tables = aliases(text);
    let is_growing = |alias: &str| tables.get(alias).is_some_and(|table| GROWING.contains(table));
    let looks = |line: &str| {
        let mut words = line.split(' ');
        let kind = words.next();
        let alias = words.next().unwrap_or_default();
        let is_of_few = OF_FEW.iter().any(|index| line.ends_with(index));
        is_growing(alias) && !is_of_few && (kind == Some("SCAN") || line.ends_with("(owner_id=?)"))
    };
    plan.into_iter().map(|(.., line)| line).filter(|line| looks(line)).collect()
}

/// Returns the statement with each list as long as for a page of turns, because SQLite plans short lists differently.
fn with_long_lists(text: &str) -> String {
    const BEFORE: &str = " IN (";
    let mut parts = text.split(BEFORE);
    let mut long = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        long.push_str(BEFORE);
        match part.split_once(')').filter(|(list, _)| list.split(", ").all(|one| one == "?")) {
            Some((_, rest)) => long.extend([&"?, ".repeat(limits::PAGE_MAX as usize), "?)", rest]),
            None => long.push_str(part),
        }
    }
    long
}

/// Returns whether the text is a prefix that is completed at run time; its full form is checked in the walkthrough.
fn is_beginning(text: &str) -> bool {
    text.ends_with(' ')
}

/// Returns the tables of a statement by alias.
fn aliases(text: &str) -> BTreeMap<&str, &str> {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || "(),".contains(c)).filter(|w| !w.is_empty()).collect();
    let mut found = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        if !matches!(*word, "FROM" | "JOIN" | "UPDATE" | "INTO") {
            continue;
        }
        let Some(table) = words.get(at + 1) else { continue };
        let alias = words.get(at + 2).filter(|next| next.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        found.insert(*alias.unwrap_or(table), *table);
        found.insert(*table, *table);
    }
    found
}

/// Collects the statements from the log of sqlx.
#[derive(Clone, Default)]
struct StatementLog(Arc<Mutex<Vec<u8>>>);

impl io::Write for StatementLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StatementLog {
    /// Returns each statement once.
    fn statements(&self) -> BTreeSet<String> {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let script = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            // Other tests run at the same time, also on PostgreSQL.
            line["threadName"].as_str().filter(|name| name.starts_with("sqlx-sqlite"))?;
            let fields = &line["fields"];
            let whole = fields["db.statement"].as_str().filter(|text| !text.is_empty());
            let text = whole.or_else(|| fields["summary"].as_str()).unwrap_or_default();
            Some(text.trim().trim_end_matches(';').to_owned())
        };
        // A script of deferred writes has one statement after the other.
        let statements = |script: String| script.split(";\n").map(with_long_lists).collect::<Vec<String>>();
        let is_explained = |text: &String| {
            ["SELECT", "WITH", "UPDATE", "DELETE", "INSERT"].iter().any(|word| text.starts_with(word))
                && !text.contains("VALUES (")
        };
        log.lines().filter_map(script).flat_map(statements).filter(is_explained).collect()
    }
}

#[tokio::test]
async fn no_request_statement_scans_full_table() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    let Db::Sqlite { writer, .. } = &fresh.db else { unreachable!("made as one") };

    let mut found = Vec::new();
    let mut looked_through = BTreeSet::new();
    for (file, name, text) in turnleaf_store::statements().into_iter().filter(|(file, ..)| !file.starts_with("fsck")) {
        if is_beginning(text) {
            continue;
        }
        let lines = full_scans(writer, text).await;
        if lines.is_empty() {
            continue;
        }
        if MAY_LOOK_THROUGH.iter().any(|(in_file, of, _)| (*in_file, *of) == (file, name)) {
            looked_through.insert((file, name));
        } else {
            found.push(format!("{file} {name}: {lines:?}"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    for (file, name, _) in MAY_LOOK_THROUGH {
        assert!(looked_through.contains(&(file, name)), "{file} {name} looks through nothing any more");
    }
    fresh.close().await;
}

#[tokio::test]
async fn page_of_accounts_follows_index_of_names() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    let Db::Sqlite { writer, .. } = &fresh.db else { unreachable!("made as one") };
    let page =
        turnleaf_store::statements().into_iter().find(|(file, name, _)| (*file, *name) == ("accounts/users", "PAGE"));
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", page.unwrap().2));
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain).fetch_all(writer).await.unwrap();
    let of_accounts: Vec<&str> =
        plan.iter().map(|(.., line)| line.as_str()).filter(|line| line.contains(" u ")).collect();
    assert_eq!(of_accounts.len(), 2, "{plan:?}");
    assert!(of_accounts.iter().all(|line| line.starts_with("SEARCH u USING INDEX users_name_key")), "{plan:?}");
    fresh.close().await;
}

#[tokio::test]
async fn no_statement_of_chat_walkthrough_scans_full_table() {
    let log = StatementLog::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_thread_names(true)
        .with_max_level(LevelFilter::DEBUG)
        .with_writer(move || writer.clone())
        .finish();
    // Statements are selected by the threads that run them, so a global subscriber is enough.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    log.0.lock().unwrap().clear();
    walkthrough::run_walkthrough(&fresh.db).await;
    paths::check_many_forks(&fresh.db).await;
    let statements = log.statements();
    assert!(statements.len() > 60, "{}", statements.len());
    let Db::Sqlite { writer, .. } = &fresh.db else { unreachable!("made as one") };
    let known = turnleaf_store::statements();
    let mut found = Vec::new();
    for text in &statements {
        if text == OF_THE_CHECKER
            || text.starts_with(SCAN_OF_THE_CHECKER)
            || known.iter().any(|(.., known)| known == text && !is_beginning(known))
        {
            continue;
        }
        let lines = full_scans(writer, text).await;
        if !lines.is_empty() {
            found.push(format!("{text}: {lines:?}"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    fresh.close().await;
}
