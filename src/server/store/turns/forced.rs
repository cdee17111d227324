//! The last resort of an ending: the row of a turn alone, where what else belongs to an ending is refused.

use sqlx::Connection;
use sqlx::types::Json;

use crate::domain::Turn;
use crate::server::store::db::Db;
use crate::server::store::error::StoreError;
use crate::server::store::rows::inconsistent;

sql! {
    END_ROW = "UPDATE turns SET role = 'assistant', status = $2, error = $3, completed_at = $4 \
        WHERE id = $1 AND status IN ('pending', 'streaming', 'waiting_subagents')";
}

macro_rules! end_on {
    ($on:expr, $turn:expr) => {{
        let query = sqlx::query(END_ROW).bind($turn.id.uuid()).bind($turn.status.as_str());
        query.bind($turn.error.as_ref().map(Json)).bind($turn.completed_at).execute($on).await?.rows_affected()
    }};
}

/// Ends a turn whose row breaks the rules of its table, as a damaged file can have it; everything else of it stays as it
/// is stored. False when it had an ending already.
///
/// # Errors
/// `Inconsistent` when `turn` is not at its end.
pub async fn end_row(db: &Db, turn: &Turn) -> Result<bool, StoreError> {
    if !turn.status.is_terminal() || turn.completed_at.is_none() {
        return Err(inconsistent("turns", "status", turn.id, "only a turn at its end can be finished"));
    }
    let changed = match db {
        Db::Sqlite { writer, .. } => {
            // Not the pool's any more: whatever becomes of this one, the next connection keeps the rules.
            let mut conn = writer.acquire().await?.detach();
            sqlx::query("PRAGMA ignore_check_constraints = ON").execute(&mut conn).await?;
            let changed = end_on!(&mut conn, turn);
            conn.close().await?;
            changed
        }
        Db::Postgres { .. } => {
            let mut tx = db.begin().await?;
            db.fence(&mut tx).await?;
            let changed = in_tx!(&mut tx, |conn| end_on!(conn, turn));
            tx.commit().await?;
            changed
        }
    };
    Ok(changed > 0)
}
