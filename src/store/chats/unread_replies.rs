//! Unread replies: those that ended and were not read since. Deleted ones keep their row, so that they return from
//! Trash as they went.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable, time_of_id};
use crate::database::rows::parse_word;
use turnleaf_domain::{ChatId, TurnId, TurnStatus, UserId};

const TABLE: &str = "unread_replies";

sql! {
    /// A damaged owner does not keep a reply from ending. A repeated ending finds none running: the reply may have been
    /// read since the first.
    PUT = "INSERT INTO unread_replies (owner_id, chat_id, turn_id) \
        SELECT o.id, c.id, t.id FROM turns t JOIN chats c ON c.id = t.chat_id JOIN users o ON o.id = c.owner_id \
        WHERE t.id = $1 AND t.status IN ('pending', 'streaming', 'waiting_subagents') \
        ON CONFLICT DO NOTHING";
    /// The newest ended reply of a chat.
    PUT_NEWEST = "INSERT INTO unread_replies (owner_id, chat_id, turn_id) \
        SELECT c.owner_id, c.id, t.id FROM chats c JOIN turns t ON t.chat_id = c.id \
        WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL AND t.ord = (SELECT MAX(r.ord) FROM turns r \
            WHERE r.chat_id = $2 AND r.role = 'assistant' AND r.deleted_at IS NULL \
            AND r.status IN ('complete', 'cancelled', 'error')) \
        ON CONFLICT DO NOTHING";
    DELETE_OF_CHAT = "DELETE FROM unread_replies WHERE owner_id = $1 AND chat_id = $2";
    DELETE_ALL = "DELETE FROM unread_replies WHERE owner_id = $1";
    OF_CHAT = "SELECT u.chat_id FROM unread_replies u WHERE u.owner_id = $1 AND u.chat_id = $2 AND EXISTS \
        (SELECT 1 FROM turns t WHERE t.id = u.turn_id AND t.deleted_at IS NULL) LIMIT 1";
    /// Pages poll it, so it reads nothing but what is unread.
    CHATS = "SELECT DISTINCT u.chat_id FROM unread_replies u WHERE u.owner_id = $1 AND EXISTS \
        (SELECT 1 FROM turns t JOIN chats c ON c.id = t.chat_id \
            WHERE t.id = u.turn_id AND t.deleted_at IS NULL AND c.deleted_at IS NULL) \
        ORDER BY u.chat_id DESC LIMIT $2";
    LIST = "SELECT t.id, t.chat_id, c.title, t.status, t.completed_at \
        FROM unread_replies u JOIN turns t ON t.id = u.turn_id JOIN chats c ON c.id = t.chat_id \
        WHERE u.owner_id = $1 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        ORDER BY t.completed_at DESC, t.id DESC LIMIT $2";
}

/// A reply that ended and was not read since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadReply {
    pub turn_id: TurnId,
    pub chat_id: ChatId,
    pub chat_title: String,
    pub status: TurnStatus,
    pub ended_at: DateTime<Utc>,
}

struct UnreadRow {
    id: Uuid,
    chat_id: Uuid,
    title: Lossy<String>,
    status: Lossy<String>,
    completed_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(UnreadRow { id, chat_id, title, status, completed_at });

impl From<UnreadRow> for UnreadReply {
    /// An unreadable status counts as that of a failed reply, which the page of the chat explains.
    fn from(row: UnreadRow) -> Self {
        let status = row.status.unwrap_or_default("turns", "status", row.id);
        let ended_at = row.completed_at.unwrap_or_default("turns", "completed_at", row.id);
        Self {
            turn_id: row.id.into(),
            chat_id: row.chat_id.into(),
            chat_title: row.title.unwrap_or_default("chats", "title", row.chat_id),
            status: parse_word(status, "turns", "status", row.id).unwrap_or(TurnStatus::Error),
            ended_at: ended_at.unwrap_or_else(|| time_of_id(row.id)),
        }
    }
}

/// Marks a running reply as unread, before the same transaction ends it. It is a deferred write.
pub(crate) async fn defer_put(tx: &mut Tx, reply: TurnId) -> Result<(), StoreError> {
    tx.defer(PUT).bind(reply.uuid()).run().await?;
    Ok(())
}

/// Marks the newest ended reply of a chat as unread; a chat without finished replies stays as it is.
pub async fn put_newest(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(PUT_NEWEST).bind(owner.uuid()).bind(chat.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Marks all replies of a chat as read.
pub async fn delete_of_chat(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_OF_CHAT).bind(owner.uuid()).bind(chat.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Marks all replies of an owner as read.
pub async fn delete_all(tx: &mut Tx, owner: UserId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_ALL).bind(owner.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Returns whether a chat has an unread reply.
pub async fn is_chat_unread(db: &Db, owner: UserId, chat: ChatId) -> Result<bool, StoreError> {
    let found: Option<Uuid> = with_pool!(db, |pool| sqlx::query_scalar(OF_CHAT)
        .bind(owner.uuid())
        .bind(chat.uuid())
        .fetch_optional(pool)
        .await?);
    Ok(found.is_some())
}

/// Returns the chats with unread replies, the last created first.
pub async fn list_chats(db: &Db, owner: UserId, limit: u32) -> Result<Vec<ChatId>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(CHATS).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(|(chat,)| chat.into()).collect())
}

/// Returns the unread replies, the last ended first.
pub async fn list(db: &Db, owner: UserId, limit: u32) -> Result<Vec<UnreadReply>, StoreError> {
    let rows: Vec<Readable<UnreadRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(UnreadReply::from).collect())
}
