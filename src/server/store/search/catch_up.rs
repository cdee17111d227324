//! Indexing what is older than the index, or was indexed by older rules: some rows at a time, in the order of their ids,
//! so that a stop in between leaves fewer to do. What is written meanwhile indexes itself.

use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::domain::limits;
use crate::server::store::db::Db;
use crate::server::store::error::StoreError;
use crate::server::store::search::Kind;
use crate::server::store::search::index::{self, Age};
use crate::server::store::search::keys::RULES;

sql! {
    UNDONE = "SELECT kind, rules, after_id FROM search_progress WHERE NOT is_done OR rules <> $1 ORDER BY kind LIMIT 1";
    CHATS = "SELECT id FROM chats WHERE id > $1 ORDER BY id LIMIT $2";
    DOCUMENTS = "SELECT id FROM documents WHERE id > $1 ORDER BY id LIMIT $2";
    TURNS = "SELECT id FROM turns WHERE id > $1 AND content_text <> '' ORDER BY id LIMIT $2";
    ADVANCE = "UPDATE search_progress SET rules = $2, after_id = $3, is_done = $4 WHERE kind = $1";
}

/// Indexes some more; false when there is nothing left to index.
pub async fn step(db: &Db) -> Result<bool, StoreError> {
    let mut tx = db.begin().await?;
    let undone: Option<(String, i64, Uuid)> =
        in_tx!(&mut tx, |conn| sqlx::query_as(UNDONE).bind(RULES).fetch_optional(conn).await?);
    let Some((word, rules, after)) = undone else { return Ok(false) };
    let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.as_str() == word) else { return Ok(false) };
    // Other rules: from the beginning.
    let after = if rules == RULES { after } else { Uuid::nil() };
    let text = match kind {
        Kind::Chat => CHATS,
        Kind::Document => DOCUMENTS,
        Kind::Turn => TURNS,
    };
    // A document may be as large as very many turns.
    let some = if kind == Kind::Document { 1 } else { i64::from(limits::SEARCH_STEP) };
    let ids: Vec<Uuid> =
        in_tx!(&mut tx, |conn| sqlx::query_scalar(text).bind(after).bind(some).fetch_all(conn).await?);
    for id in &ids {
        index::item(&mut tx, kind, *id, Age::Old).await?;
    }
    let is_done = i64::try_from(ids.len()).is_ok_and(|n| n < some);
    let reached = ids.last().copied().unwrap_or(after);
    in_tx!(&mut tx, |conn| {
        let query = sqlx::query(ADVANCE).bind(kind.as_str()).bind(RULES).bind(reached).bind(is_done);
        query.execute(conn).await?;
    });
    tx.commit().await?;
    Ok(true)
}

/// Forgets everything that is indexed, so that [`step`] makes it anew.
pub async fn begin_again(db: &Db) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    in_tx!(&mut tx, |conn| {
        QueryBuilder::new("DELETE FROM search_entries").build().execute(&mut *conn).await?;
        for kind in Kind::ALL {
            let query = sqlx::query(ADVANCE).bind(kind.as_str()).bind(RULES).bind(Uuid::nil()).bind(false);
            query.execute(&mut *conn).await?;
        }
    });
    tx.commit().await
}
