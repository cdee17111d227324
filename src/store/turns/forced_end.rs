//! The forced end of a turn, a last resort: ends its row alone, if the database refuses the rest of the ending.

use sqlx::types::Json;
use sqlx::{AssertSqlSafe, Connection};

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::rows::{content_text_column, to_bigint};
use turnleaf_domain::Turn;

/// Other columns of the row and [`OF_RUNNING`] follow.
const END_ROW: &str = "UPDATE turns SET role = 'assistant', status = $2, error = $3, completed_at = $4, \
    last_event_seq = $5, content_text = $6";
const OF_RUNNING: &str = " WHERE id = $1 AND status IN ('pending', 'streaming', 'waiting_subagents')";
/// The columns that an ending does not write, each with its type, to which an index or a constraint refers.
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

/// Ends a turn whose row violates constraints of its table, as in a damaged file: values out of bounds stay, and
/// those of another type than their column are cast to it. The other rows of the ending are stored already. Returns
/// false if it had an ending already.
///
/// # Errors
/// `Inconsistent` when `turn` is not at its end.
pub async fn force_end(db: &Db, turn: &Turn) -> Result<bool, StoreError> {
    super::write::check_ended(turn)?;
    let changed = match db {
        Db::Sqlite { writer, .. } => {
            // The connection is detached from the pool, so that the next one enforces the constraints again.
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
