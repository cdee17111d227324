//! Tool choices of chats. Chats that are older than this choice have no row and offer no tools. Descriptions of
//! client tools are returned byte for byte, which the column type of PostgreSQL would not do by itself.

use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::deferred_write::ChangedRows;
use crate::database::error::StoreError;
use crate::database::readable::{Damage, Lossy, Readable, RowReader, keep_decoded, keep_readable};
use crate::database::rows::{from_json, to_json};
use turnleaf_domain::tools::tool::ToolChoice;
use turnleaf_domain::{ChatId, UserId};

sql! {
    PUT = "INSERT INTO chat_tools (chat_id, choice) SELECT id, $3 FROM chats \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL \
        ON CONFLICT (chat_id) DO UPDATE SET choice = excluded.choice";
    FIND = "SELECT t.chat_id, t.choice FROM chat_tools t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL";
}

const TABLE: &str = "chat_tools";

/// Sets the tool choice of an owner's chat. Returns false if the owner has no such chat.
pub async fn put(tx: &mut Tx, owner: UserId, chat: ChatId, choice: &ToolChoice) -> Result<bool, StoreError> {
    let changed = defer_put(tx, owner, chat, choice).await?;
    Ok(tx.rows_affected(changed).await? > 0)
}

/// Works like [`put`], as a deferred write that changes one row if the owner has such a chat.
pub async fn defer_put(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    choice: &ToolChoice,
) -> Result<ChangedRows, StoreError> {
    let choice = to_json(choice, "chat_tools", "choice")?;
    tx.defer(PUT).bind(owner.uuid()).bind(chat.uuid()).bind(Json(choice)).run().await
}

/// Returns the tool choice of an owner's chat.
pub async fn find(db: &Db, owner: UserId, chat: ChatId) -> Result<Option<ToolChoice>, StoreError> {
    let row: Option<Readable<(Uuid, Json<String>)>> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?);
    let rows = keep_readable(row.into_iter().collect(), TABLE).into_iter();
    Ok(keep_decoded(rows.map(|(id, Json(text))| from_json(&text, TABLE, "choice", id)), TABLE).pop())
}

/// Works like [`find`], and records unreadable values.
pub async fn find_with_damages(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    damages: &mut Vec<Damage>,
) -> Result<Option<ToolChoice>, StoreError> {
    let row: Option<(Lossy<Uuid>, Lossy<Json<String>>)> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?);
    let mut reader = RowReader { table: TABLE, id: chat.uuid(), damages };
    let choice = row.and_then(|(_, choice)| reader.value("choice", choice));
    Ok(choice.and_then(|Json(text)| reader.json("choice", &text)))
}
