//! Backfill of the search index: indexes rows that are older than the index or were indexed by older rules, in
//! batches ordered by id, so that an interruption leaves fewer to do. New rows are indexed when they are written.

use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::search::index::{self, IndexAge};
use crate::search::keys::RULES_VERSION;
use crate::search::{SearchKind, word_index};
use turnleaf_domain::limits;

sql! {
    UNDONE = "SELECT kind, rules, after_id FROM search_progress WHERE NOT is_done OR rules <> $1 ORDER BY kind LIMIT 1";
    CHATS = "SELECT id FROM chats WHERE id > $1 ORDER BY id LIMIT $2";
    DOCUMENTS = "SELECT id FROM documents WHERE id > $1 ORDER BY id LIMIT $2";
    TURNS = "SELECT id FROM turns WHERE id > $1 AND content_text <> '' ORDER BY id LIMIT $2";
    ADVANCE = "UPDATE search_progress SET rules = $2, after_id = $3, is_done = $4 WHERE kind = $1";
}

/// Indexes another batch; returns false when nothing is left.
pub async fn index_batch(db: &Db) -> Result<bool, StoreError> {
    let mut tx = db.begin().await?;
    let undone: Option<(String, i64, Lossy<Uuid>)> =
        in_tx!(&mut tx, |conn| sqlx::query_as(UNDONE).bind(RULES_VERSION).fetch_optional(conn).await?);
    let Some((word, rules, after)) = undone else { return Ok(false) };
    let Some(kind) = SearchKind::ALL.into_iter().find(|kind| kind.as_str() == word) else { return Ok(false) };
    word_index::wait_for_deletions(&mut tx).await?;
    // Other rules or an unreadable position restart the backfill.
    let after = if rules == RULES_VERSION { after.into_result().unwrap_or_default() } else { Uuid::nil() };
    let text = match kind {
        SearchKind::Chat => CHATS,
        SearchKind::Document => DOCUMENTS,
        SearchKind::Turn => TURNS,
    };
    let some = i64::from(limits::SEARCH_STEP);
    let rows: Vec<Readable<(Uuid,)>> =
        in_tx!(&mut tx, |conn| sqlx::query_as(text).bind(after).bind(some).fetch_all(conn).await?);
    let is_last = i64::try_from(rows.len()).is_ok_and(|n| n < some);
    let mut ids = keep_readable(rows, kind.table());
    let found = ids.len();
    if kind == SearchKind::Document {
        // One document may be as large as very many turns.
        ids.truncate(1);
    }
    for (id,) in &ids {
        index_unless_damaged(&mut tx, kind, *id).await?;
    }
    // Without a readable id there is no position to continue from.
    let is_done = (is_last && ids.len() == found) || ids.is_empty();
    let reached = ids.last().map_or(after, |(id,)| *id);
    in_tx!(&mut tx, |conn| {
        let query = sqlx::query(ADVANCE).bind(kind.as_str()).bind(RULES_VERSION).bind(reached).bind(is_done);
        query.execute(conn).await?;
    });
    tx.commit().await?;
    Ok(true)
}

/// Indexes one row. A row that cannot be read or indexed is logged and skipped, so that it does not block the others.
async fn index_unless_damaged(tx: &mut Tx, kind: SearchKind, id: Uuid) -> Result<(), StoreError> {
    tx.savepoint().await?;
    match index::index_item(tx, kind, id, IndexAge::Old).await {
        Err(error) if !error.is_database_wide() => {
            tracing::error!(table = kind.table(), %id, %error, "a row is left out of the index of the search");
            tx.rollback_to_savepoint().await
        }
        indexed => {
            indexed?;
            tx.release_savepoint().await
        }
    }
}

/// Clears the whole index, so that [`index_batch`] rebuilds it, with what waits in the queue.
pub async fn reset(db: &Db) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    in_tx!(&mut tx, |conn| {
        QueryBuilder::new("DELETE FROM search_entries").build().execute(&mut *conn).await?;
        QueryBuilder::new("DELETE FROM search_queue").build().execute(&mut *conn).await?;
        for kind in SearchKind::ALL {
            let query = sqlx::query(ADVANCE).bind(kind.as_str()).bind(RULES_VERSION).bind(Uuid::nil()).bind(false);
            query.execute(&mut *conn).await?;
        }
    });
    tx.commit().await
}
