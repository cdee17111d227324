//! The last resort of an ending: the row of a turn alone, where what else belongs to an ending is refused.

use sqlx::types::Json;
use sqlx::{AssertSqlSafe, Connection};

use crate::db::Db;
use crate::error::StoreError;
use crate::rows::{content_text_column, to_bigint};
use turnleaf_domain::Turn;

/// Followed by other columns of the row, and by [`OF_RUNNING`].
const END_ROW: &str = "UPDATE turns SET role = 'assistant', status = $2, error = $3, completed_at = $4, \
    last_event_seq = $5, content_text = $6";
const OF_RUNNING: &str = " WHERE id = $1 AND status IN ('pending', 'streaming', 'waiting_subagents')";
/// The columns that an ending does not write, each as its own type: an index or a rule is of that.
const OTHERS: &str = "SELECT name, type FROM pragma_table_info('turns') WHERE name NOT IN \
    ('id', 'role', 'status', 'error', 'completed_at', 'last_event_seq', 'content_text')";

macro_rules! end_on {
    ($on:expr, $turn:expr, $text:expr) => {{
        let query = sqlx::query(AssertSqlSafe($text)).bind($turn.id.uuid()).bind($turn.status.as_str());
        let query = query.bind($turn.error.as_ref().map(Json)).bind($turn.completed_at);
        let query = query.bind(to_bigint($turn.last_event_seq)).bind(content_text_column(&$turn.content_text()));
        query.execute($on).await?.rows_affected()
    }};
}

/// Ends a turn whose row breaks the rules of its table, as a damaged file can have it: values out of bounds stay, and those
/// of another type than their column become the nearest of its own. What belongs to the ending beside the row is stored
/// already. False when it had an ending already.
///
/// # Errors
/// `Inconsistent` when `turn` is not at its end.
pub async fn force_end(db: &Db, turn: &Turn) -> Result<bool, StoreError> {
    super::check_ended(turn)?;
    let changed = match db {
        Db::Sqlite { writer, .. } => {
            // Not the pool's any more: whatever becomes of this one, the next connection keeps the rules.
            let mut conn = writer.acquire().await?.detach();
            for pragma in ["PRAGMA ignore_check_constraints = ON", "PRAGMA foreign_keys = OFF"] {
                sqlx::query(pragma).execute(&mut conn).await?;
            }
            let others: Vec<(String, String)> = sqlx::query_as(OTHERS).fetch_all(&mut conn).await?;
            let others: String = others.iter().map(|(name, of)| format!(", {name} = CAST({name} AS {of})")).collect();
            let changed = end_on!(&mut conn, turn, format!("{END_ROW}{others}{OF_RUNNING}"));
            conn.close().await?;
            changed
        }
        Db::Postgres { .. } => {
            let mut tx = db.begin().await?;
            db.fence(&mut tx).await?;
            let changed = in_tx!(&mut tx, |conn| end_on!(conn, turn, format!("{END_ROW}{OF_RUNNING}")));
            tx.commit().await?;
            changed
        }
    };
    Ok(changed > 0)
}
