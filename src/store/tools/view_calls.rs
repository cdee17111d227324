//! Calls of tools by views of tool servers. A call is stored before its tool runs, and goes with the block whose result
//! the view shows.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_readable};
use crate::database::rows::{content_text_column, parse_word, storable_text, to_word};
use turnleaf_domain::tools::view_call::{ViewCall, ViewCallEnd};
use turnleaf_domain::{BlockId, UserId, ViewCallId};

sql! {
    BEGIN = "INSERT INTO view_calls (id, owner_id, block_id, tool, arguments, began_at) \
        SELECT $1, c.owner_id, k.id, $4, $5, $6 FROM turn_blocks k JOIN turns t ON t.id = k.turn_id \
            JOIN chats c ON c.id = t.chat_id \
        WHERE k.id = $3 AND c.owner_id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
            AND (SELECT COUNT(*) FROM view_calls v WHERE v.block_id = $3) < $7";
    END = "UPDATE view_calls SET outcome = $3, result = $4, ended_at = $5 \
        WHERE owner_id = $1 AND id = $2 AND ended_at IS NULL";
    OF_BLOCK = "SELECT id, tool, arguments, began_at, outcome, result, ended_at FROM view_calls \
        WHERE owner_id = $1 AND block_id = $2 ORDER BY id";
}

const TABLE: &str = "view_calls";

/// A call that begins.
#[derive(Debug, Clone, Copy)]
pub struct NewViewCall<'a> {
    pub id: ViewCallId,
    pub block: BlockId,
    pub tool: &'a str,
    /// JSON.
    pub arguments: &'a str,
    pub began_at: DateTime<Utc>,
}

type CallRow = (Uuid, String, String, DateTime<Utc>, Option<String>, Option<String>, Option<DateTime<Utc>>);

fn read((id, tool, arguments, began_at, outcome, result, ended_at): CallRow) -> ViewCall {
    let outcome = outcome.and_then(|word| parse_word(word, TABLE, "outcome", id).ok());
    let end = outcome.zip(ended_at);
    let end = end.map(|(outcome, at)| ViewCallEnd { outcome, result: result.unwrap_or_default(), at });
    ViewCall { id: id.into(), tool, arguments, began_at, end }
}

/// Stores a call that begins. Returns false if the owner has no such block, or if its view has made `at_most` calls.
pub async fn begin(tx: &mut Tx, owner: UserId, call: NewViewCall<'_>, at_most: u32) -> Result<bool, StoreError> {
    let (tool, arguments) = (storable_text(call.tool, "the tool")?, storable_text(call.arguments, "the arguments")?);
    let stored = in_tx!(tx, |conn| {
        let query = sqlx::query(BEGIN).bind(call.id.uuid()).bind(owner.uuid()).bind(call.block.uuid());
        let query = query.bind(tool).bind(arguments).bind(call.began_at).bind(i64::from(at_most));
        query.execute(conn).await?.rows_affected()
    });
    Ok(stored > 0)
}

/// Stores the end of a call. The first end counts.
pub async fn end(tx: &mut Tx, owner: UserId, id: ViewCallId, end: &ViewCallEnd) -> Result<(), StoreError> {
    let result = content_text_column(&end.result);
    in_tx!(tx, |conn| {
        let query = sqlx::query(END).bind(owner.uuid()).bind(id.uuid()).bind(to_word(end.outcome));
        query.bind(result).bind(end.at).execute(conn).await?;
    });
    Ok(())
}

/// Returns the calls of the view of this block's result, oldest first.
pub async fn list_of_block(db: &Db, owner: UserId, block: BlockId) -> Result<Vec<ViewCall>, StoreError> {
    let rows: Vec<Readable<CallRow>> = with_pool!(db, |pool| {
        sqlx::query_as(OF_BLOCK).bind(owner.uuid()).bind(block.uuid()).fetch_all(pool).await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(read).collect())
}
