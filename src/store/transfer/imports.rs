//! Recorded imports: their state and report, and what each of them created.

use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{parse_word, to_json, to_unsigned, to_word};
use turnleaf_domain::{ChatId, DocumentId, ImportCreations, ImportId, ImportState, UserId, limits};

pub mod kept;
pub mod undo;

const TABLE: &str = "imports";
/// The members of a report that a summary does not have.
const LISTS: [&str; 3] = ["chats", "findings", "tables"];

/// A recorded import with the counts of what is not in Trash. They are read chat by chat, because an import may have
/// created thousands.
macro_rules! with_counts {
    ($report:literal) => {
        concat!(
            "SELECT i.id, i.state, ",
            $report,
            " AS report, i.started_at, i.reported_at, i.ended_at, i.undone_at, \
         (SELECT COUNT(DISTINCT m.chat_id) FROM import_chats m JOIN chats c ON c.id = m.chat_id \
            WHERE m.import_id = i.id AND m.first_ord = 0 AND c.deleted_at IS NULL) AS chats, \
         (SELECT COUNT(DISTINCT m.chat_id) FROM import_chats m JOIN chats c ON c.id = m.chat_id \
            WHERE m.import_id = i.id AND m.first_ord > 0 AND c.deleted_at IS NULL AND NOT EXISTS ( \
                SELECT 1 FROM import_chats n WHERE n.import_id = m.import_id AND n.chat_id = m.chat_id \
                AND n.first_ord = 0) AND EXISTS ( \
                SELECT 1 FROM turns t WHERE t.chat_id = m.chat_id AND t.ord BETWEEN m.first_ord AND m.last_ord \
                AND t.deleted_at IS NULL)) AS extended_chats, \
         (SELECT COUNT(*) FROM import_documents m JOIN documents d ON d.id = m.document_id \
            WHERE m.import_id = i.id AND d.deleted_at IS NULL) AS documents, \
         (SELECT COUNT(*) FROM import_deletions m JOIN deletions d ON d.id = m.deletion_id \
            WHERE m.import_id = i.id AND d.purging_since IS NULL) AS deletions, \
         (SELECT COUNT(*) FROM import_documents m JOIN documents d ON d.id = m.document_id \
            WHERE m.import_id = i.id AND d.deletion_id = m.deletion_id) AS deleted_documents \
         FROM imports i WHERE i.owner_id = $1"
        )
    };
}

/// True if something is in Trash because the import `$import` was undone, or waits there to be purged.
macro_rules! has_deletions {
    ($import:literal) => {
        concat!(
            "(EXISTS (SELECT 1 FROM import_deletions m WHERE m.import_id = ",
            $import,
            ") OR EXISTS (SELECT 1 FROM import_documents m JOIN documents d ON d.id = m.document_id \
                WHERE m.import_id = ",
            $import,
            " AND d.deletion_id = m.deletion_id))"
        )
    };
}

sql! {
    INSERT = "INSERT INTO imports (id, owner_id, state, summary, started_at, reported_at) \
        VALUES ($1, $2, 'running', $3, $4, $4)";
    /// The oldest ones beyond the number that is kept. One with items in Trash stays, because Trash lists these as one.
    FORGET_OLD = concat!("DELETE FROM imports WHERE owner_id = $1 AND state <> 'running' AND id < ( \
        SELECT n.id FROM imports n WHERE n.owner_id = $1 ORDER BY n.id DESC LIMIT 1 OFFSET $2) \
        AND NOT ", has_deletions!("imports.id"));
    FORGET = "DELETE FROM imports WHERE owner_id = $1 AND id = $2 AND state <> 'running'";
    FORGET_ALL = "DELETE FROM imports WHERE owner_id = $1";
    /// Imports of earlier versions have their report as their summary.
    STORE_REPORT = "INSERT INTO import_reports (import_id, report) SELECT i.id, $3 FROM imports i \
        WHERE i.owner_id = $1 AND i.id = $2 ON CONFLICT (import_id) DO UPDATE SET report = excluded.report";
    FINISH = "UPDATE imports SET state = $3, summary = $4, reported_at = $5, ended_at = $5 \
        WHERE owner_id = $1 AND id = $2 AND state <> 'undone'";
    SUMMARIZE = "UPDATE imports SET summary = $3, reported_at = $4 WHERE owner_id = $1 AND id = $2 AND state = 'running'";
    RUNNING = "SELECT i.owner_id, i.id, COALESCE(r.report, i.summary) AS report FROM imports i \
        LEFT JOIN import_reports r ON r.import_id = i.id WHERE i.state = 'running'";
    INTERRUPT = "UPDATE imports SET state = 'interrupted', summary = $3, ended_at = $4 \
        WHERE owner_id = $1 AND id = $2 AND state = 'running'";
    FIND = concat!(with_counts!("COALESCE((SELECT r.report FROM import_reports r WHERE r.import_id = i.id), i.summary)"),
        " AND i.id = $2");
    /// Ids are ordered by time.
    LIST = concat!(with_counts!("i.summary"), " ORDER BY i.id DESC LIMIT $2");
    /// Without a limit, because Trash does not list their items otherwise.
    LIST_UNDONE = concat!(with_counts!("i.summary"), " AND ", has_deletions!("i.id"), " ORDER BY i.id DESC");
    ENDS = "SELECT i.ended_at, i.undone_at FROM imports i WHERE i.owner_id = $1 AND i.state <> 'running' \
        ORDER BY i.id DESC LIMIT $2";
    ADD_CHAT = "INSERT INTO import_chats (import_id, chat_id, first_ord, last_ord) \
        SELECT i.id, c.id, $4, $5 FROM imports i JOIN chats c ON c.owner_id = i.owner_id \
        WHERE i.owner_id = $1 AND i.id = $2 AND c.id = $3 ON CONFLICT DO NOTHING";
    ADD_DOCUMENT = "INSERT INTO import_documents (import_id, document_id, versions, title) \
        SELECT i.id, d.id, (SELECT COUNT(*) FROM document_versions v WHERE v.document_id = d.id), d.title \
        FROM imports i JOIN documents d ON d.owner_id = i.owner_id \
        WHERE i.owner_id = $1 AND i.id = $2 AND d.id = $3 ON CONFLICT DO NOTHING";
}

/// A recorded import.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredImport {
    pub id: ImportId,
    /// `Interrupted` if it cannot be read.
    pub state: ImportState,
    /// The report as it was stored, in lists without its own lists; null if it cannot be read.
    pub report: Value,
    pub started_at: DateTime<Utc>,
    /// The time at which the report was last stored.
    pub reported_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub undone_at: Option<DateTime<Utc>>,
    /// The rows that it created and that are not in Trash.
    pub present: ImportCreations,
    /// The number of chats, messages with those below them, and documents that are in Trash because the import was
    /// undone.
    pub in_trash: u64,
}

struct ImportRow {
    id: Uuid,
    state: Lossy<String>,
    report: Lossy<String>,
    started_at: Lossy<DateTime<Utc>>,
    reported_at: Lossy<DateTime<Utc>>,
    ended_at: Lossy<Option<DateTime<Utc>>>,
    undone_at: Lossy<Option<DateTime<Utc>>>,
    chats: i64,
    extended_chats: i64,
    documents: i64,
    deletions: i64,
    deleted_documents: i64,
}
from_row!(ImportRow {
    id,
    state,
    report,
    started_at,
    reported_at,
    ended_at,
    undone_at,
    chats,
    extended_chats,
    documents,
    deletions,
    deleted_documents,
});

impl ImportRow {
    /// Unreadable values count as unknown, so that the import can still be undone.
    fn into_import(self) -> StoredImport {
        let id = self.id;
        let state = parse_word(self.state.unwrap_or_default(TABLE, "state", id), TABLE, "state", id);
        let report = self.report.unwrap_or_default(TABLE, "report", id);
        StoredImport {
            id: id.into(),
            state: state.unwrap_or(ImportState::Interrupted),
            report: serde_json::from_str(&report).unwrap_or_default(),
            started_at: self.started_at.unwrap_or_default(TABLE, "started_at", id),
            reported_at: self.reported_at.unwrap_or_default(TABLE, "reported_at", id),
            ended_at: self.ended_at.unwrap_or_default(TABLE, "ended_at", id),
            undone_at: self.undone_at.unwrap_or_default(TABLE, "undone_at", id),
            present: ImportCreations {
                chats: to_unsigned(self.chats),
                extended_chats: to_unsigned(self.extended_chats),
                documents: to_unsigned(self.documents),
            },
            in_trash: to_unsigned(self.deletions) + to_unsigned(self.deleted_documents),
        }
    }
}

/// When an import ended, and when it was undone.
type ImportEnd = (Lossy<Option<DateTime<Utc>>>, Lossy<Option<DateTime<Utc>>>);

/// The turns of a chat that an import created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedTurns {
    pub chat_id: ChatId,
    /// Their ords; they start at 0 if the import created the chat.
    pub ords: RangeInclusive<i64>,
}

impl ImportedTurns {
    /// Returns whether the import created the chat.
    pub fn is_whole_chat(&self) -> bool {
        *self.ords.start() == 0
    }
}

/// Records that an import begins, and forgets the oldest ones beyond [`limits::IMPORTS_KEPT`].
pub async fn insert(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    report: &Value,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let summary = to_summary(report)?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(id.uuid()).bind(owner.uuid()).bind(summary).bind(now);
        query.execute(&mut *conn).await?;
        let kept = i64::from(limits::IMPORTS_KEPT) - 1;
        sqlx::query(FORGET_OLD).bind(owner.uuid()).bind(kept).execute(&mut *conn).await?;
    });
    write_report(tx, owner, id, report).await
}

/// Records how an import ended.
pub async fn finish(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    (state, report): (ImportState, &Value),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let summary = to_summary(report)?;
    let finished = in_tx!(tx, |conn| {
        let query = sqlx::query(FINISH).bind(owner.uuid()).bind(id.uuid()).bind(to_word(state)).bind(summary);
        query.bind(now).execute(conn).await?.rows_affected()
    });
    if finished == 0 { Ok(()) } else { write_report(tx, owner, id, report).await }
}

/// Stores the report of a running import.
pub async fn store_report(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    report: &Value,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let summary = to_summary(report)?;
    let stored = in_tx!(tx, |conn| {
        let query = sqlx::query(SUMMARIZE).bind(owner.uuid()).bind(id.uuid()).bind(summary).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    if stored == 0 { Ok(()) } else { write_report(tx, owner, id, report).await }
}

/// Returns the report without its lists, as it is stored.
fn to_summary(report: &Value) -> Result<String, StoreError> {
    match report {
        Value::Object(members) => {
            let is_counted = |name: &str| !LISTS.contains(&name);
            let summary: Map<String, Value> = members
                .iter()
                .filter(|(name, _)| is_counted(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            to_json(&Value::Object(summary), TABLE, "summary")
        }
        other => to_json(other, TABLE, "summary"),
    }
}

async fn write_report(tx: &mut Tx, owner: UserId, id: ImportId, report: &Value) -> Result<(), StoreError> {
    let report = to_json(report, "import_reports", "report")?;
    in_tx!(tx, |conn| {
        sqlx::query(STORE_REPORT).bind(owner.uuid()).bind(id.uuid()).bind(report).execute(conn).await?;
    });
    Ok(())
}

/// Returns the running imports of all owners with their reports, for the start of the server.
pub async fn list_running(tx: &mut Tx) -> Result<Vec<(UserId, ImportId, Value)>, StoreError> {
    let rows: Vec<Readable<(Uuid, Uuid, Lossy<String>)>> =
        in_tx!(tx, |conn| sqlx::query_as(RUNNING).fetch_all(conn).await?);
    let running = keep_readable(rows, TABLE).into_iter().map(|(owner, id, report)| {
        let report = report.unwrap_or_default(TABLE, "report", id);
        (owner.into(), id.into(), serde_json::from_str(&report).unwrap_or_default())
    });
    Ok(running.collect())
}

/// Marks a running import as interrupted, with its report; returns false if the owner has no such running import.
pub async fn interrupt(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    report: &Value,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let summary = to_summary(report)?;
    let marked = in_tx!(tx, |conn| {
        let query = sqlx::query(INTERRUPT).bind(owner.uuid()).bind(id.uuid()).bind(summary).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    if marked > 0 {
        write_report(tx, owner, id, report).await?;
    }
    Ok(marked > 0)
}

/// Returns an import of this owner.
pub async fn find(db: &Db, owner: UserId, id: ImportId) -> Result<Option<StoredImport>, StoreError> {
    let row: Option<ImportRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await?);
    Ok(row.map(ImportRow::into_import))
}

/// Returns the imports of this owner with the summaries of their reports, newest first.
pub async fn list(db: &Db, owner: UserId, limit: u32) -> Result<Vec<StoredImport>, StoreError> {
    let rows: Vec<Readable<ImportRow>> = with_pool!(db, |pool| {
        sqlx::query_as(LIST).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(ImportRow::into_import).collect())
}

/// Returns when the last imports of this owner ended or were undone.
pub async fn list_ends(db: &Db, owner: UserId, limit: u32) -> Result<Vec<DateTime<Utc>>, StoreError> {
    let rows: Vec<ImportEnd> = with_pool!(db, |pool| {
        sqlx::query_as(ENDS).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    let end = |(ended, undone): ImportEnd| {
        let undone = undone.unwrap_or_default(TABLE, "undone_at", owner.uuid());
        undone.or(ended.unwrap_or_default(TABLE, "ended_at", owner.uuid()))
    };
    Ok(rows.into_iter().filter_map(end).collect())
}

/// Returns the imports of this owner of which something is in Trash because they were undone, with the summaries of
/// their reports, newest first.
pub async fn list_undone(db: &Db, owner: UserId) -> Result<Vec<StoredImport>, StoreError> {
    let rows: Vec<Readable<ImportRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST_UNDONE).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(ImportRow::into_import).collect())
}

/// Forgets an ended import with its report; returns false if the owner has none. What it created stays.
pub async fn delete(tx: &mut Tx, owner: UserId, id: ImportId) -> Result<bool, StoreError> {
    let forgotten = in_tx!(tx, |conn| {
        sqlx::query(FORGET).bind(owner.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(forgotten > 0)
}

/// Forgets all imports of an owner. What they created stays.
pub async fn delete_all(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(FORGET_ALL).bind(owner.uuid()).execute(conn).await?.rows_affected()))
}

/// Records turns of a chat that an import created, in the transaction that stores them. For a new chat the ords start
/// at 0.
pub async fn record_turns(tx: &mut Tx, owner: UserId, id: ImportId, turns: &ImportedTurns) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(ADD_CHAT).bind(owner.uuid()).bind(id.uuid()).bind(turns.chat_id.uuid());
        query.bind(*turns.ords.start()).bind(*turns.ords.end()).execute(conn).await?;
    });
    Ok(())
}

/// Records a document that an import created, after its last version.
pub async fn record_document(tx: &mut Tx, owner: UserId, id: ImportId, document: DocumentId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(ADD_DOCUMENT).bind(owner.uuid()).bind(id.uuid()).bind(document.uuid());
        query.execute(conn).await?;
    });
    Ok(())
}
