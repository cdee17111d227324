//! Queued messages: what a person wants to be sent after a reply, in order. A message that was sent keeps its row, with
//! the turn that it became instead of its content.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{storable_text, to_bigint, to_unsigned};
use turnleaf_domain::{ChatId, CodedMessage, QueuedMessageId, TurnId, UserId};

const TABLE: &str = "queued_messages";

/// The queued messages of an owner whose reply and chat are not in Trash.
macro_rules! of_owner {
    () => {
        "SELECT q.id, q.chat_id, q.after_turn_id, q.ord, q.request, q.refusal, q.turn_id, q.created_at, q.updated_at \
         FROM queued_messages q JOIN chats c ON c.id = q.chat_id JOIN turns t ON t.id = q.after_turn_id \
         WHERE q.owner_id = $1 AND c.deleted_at IS NULL AND t.deleted_at IS NULL"
    };
}

sql! {
    INSERT = "INSERT INTO queued_messages (id, owner_id, chat_id, after_turn_id, ord, request, refusal, turn_id, \
        created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, NULL, NULL, $7, $7)";
    FIND = concat!(of_owner!(), " AND q.id = $2");
    LIST = concat!(of_owner!(), " AND q.after_turn_id = $2 AND q.turn_id IS NULL ORDER BY q.ord, q.id");
    /// Of every queue the first message, if nothing prevents it from being sent. Disabled accounts send nothing.
    DUE = "SELECT q.owner_id, q.id FROM queued_messages q JOIN turns t ON t.id = q.after_turn_id \
        JOIN chats c ON c.id = q.chat_id JOIN users u ON u.id = q.owner_id \
        WHERE u.disabled_at IS NULL AND q.turn_id IS NULL AND q.refusal IS NULL AND t.status = 'complete' AND t.deleted_at IS NULL \
        AND c.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM queued_messages p \
            WHERE p.after_turn_id = q.after_turn_id AND p.turn_id IS NULL \
            AND (p.ord < q.ord OR (p.ord = q.ord AND p.id < q.id))) \
        ORDER BY q.created_at, q.id LIMIT $1";
    ANY_WAITING = "SELECT id FROM queued_messages WHERE turn_id IS NULL LIMIT 1";
    SET_REQUEST = "UPDATE queued_messages SET request = $3, refusal = NULL, updated_at = $4 \
        WHERE owner_id = $1 AND id = $2 AND turn_id IS NULL";
    SET_ORD = "UPDATE queued_messages SET ord = $3, updated_at = $4 WHERE owner_id = $1 AND id = $2 AND turn_id IS NULL";
    /// Only if it is still the message that was refused.
    REFUSE = "UPDATE queued_messages SET refusal = $4 \
        WHERE owner_id = $1 AND id = $2 AND request = $3 AND turn_id IS NULL";
    /// Of every queue of an owner the first message, behind which the others wait.
    HOLD = "UPDATE queued_messages SET refusal = $2 WHERE owner_id = $1 AND turn_id IS NULL AND refusal IS NULL \
        AND NOT EXISTS (SELECT 1 FROM queued_messages p \
            WHERE p.after_turn_id = queued_messages.after_turn_id AND p.turn_id IS NULL \
            AND (p.ord < queued_messages.ord OR (p.ord = queued_messages.ord AND p.id < queued_messages.id)))";
    DELETE = "DELETE FROM queued_messages WHERE owner_id = $1 AND id = $2 AND turn_id IS NULL";
    MARK_SENT = "UPDATE queued_messages SET turn_id = $3, request = NULL, refusal = NULL, updated_at = $4 \
        WHERE owner_id = $1 AND id = $2 AND turn_id IS NULL";
    FOLLOW = "UPDATE queued_messages SET after_turn_id = $3 \
        WHERE owner_id = $1 AND after_turn_id = $2 AND turn_id IS NULL";
}

/// A queued message as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredQueuedMessage {
    pub id: QueuedMessageId,
    pub chat_id: ChatId,
    /// The reply after which it is sent.
    pub after_turn_id: TurnId,
    /// Its order among the messages after the same reply.
    pub ord: u64,
    /// The request as JSON; `None` once it was sent, empty if it cannot be read.
    pub request: Option<String>,
    /// Why it could not be sent.
    pub refusal: Option<CodedMessage>,
    /// The message that it became.
    pub turn_id: Option<TurnId>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

struct QueuedMessageRow {
    id: Uuid,
    chat_id: Uuid,
    after_turn_id: Uuid,
    ord: i64,
    request: Lossy<Option<String>>,
    refusal: Lossy<Option<String>>,
    turn_id: Option<Uuid>,
    created_at: Lossy<DateTime<Utc>>,
    updated_at: Lossy<DateTime<Utc>>,
}
from_row!(QueuedMessageRow { id, chat_id, after_turn_id, ord, request, refusal, turn_id, created_at, updated_at });

impl QueuedMessageRow {
    /// Unreadable values count as empty, so that the message can still be edited or cancelled.
    fn into_message(self) -> StoredQueuedMessage {
        let id = self.id;
        let request = self.request.unwrap_or_default(TABLE, "request", id);
        let refusal = self.refusal.unwrap_or_default(TABLE, "refusal", id);
        let refusal = refusal.map(|text| serde_json::from_str(&text).unwrap_or_else(|_| CodedMessage::uncoded(text)));
        StoredQueuedMessage {
            id: id.into(),
            chat_id: self.chat_id.into(),
            after_turn_id: self.after_turn_id.into(),
            ord: to_unsigned(self.ord),
            request: if self.turn_id.is_none() { Some(request.unwrap_or_default()) } else { None },
            refusal,
            turn_id: self.turn_id.map(TurnId::from),
            created_at: self.created_at.unwrap_or_default(TABLE, "created_at", id),
            updated_at: self.updated_at.unwrap_or_default(TABLE, "updated_at", id),
        }
    }
}

/// A message to queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewQueuedMessage<'a> {
    pub id: QueuedMessageId,
    pub chat_id: ChatId,
    pub after_turn_id: TurnId,
    pub ord: u64,
    /// The request as JSON.
    pub request: &'a str,
}

/// Stores a queued message. The caller has found the reply and its chat by their owner.
pub async fn insert(
    tx: &mut Tx,
    owner: UserId,
    new: &NewQueuedMessage<'_>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let request = storable_text(new.request, "the request")?;
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(new.id.uuid())
            .bind(owner.uuid())
            .bind(new.chat_id.uuid())
            .bind(new.after_turn_id.uuid())
            .bind(to_bigint(new.ord))
            .bind(request)
            .bind(now)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns a queued message of this owner, also one that was sent.
pub async fn find(db: &Db, owner: UserId, id: QueuedMessageId) -> Result<Option<StoredQueuedMessage>, StoreError> {
    let row: Option<Readable<QueuedMessageRow>> =
        with_pool!(db, |pool| { sqlx::query_as(FIND).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await? });
    Ok(keep_readable(row.into_iter().collect(), TABLE).pop().map(QueuedMessageRow::into_message))
}

/// Returns the messages that wait behind a reply, in order.
pub async fn list(db: &Db, owner: UserId, after: TurnId) -> Result<Vec<StoredQueuedMessage>, StoreError> {
    let rows: Vec<Readable<QueuedMessageRow>> =
        with_pool!(db, |pool| { sqlx::query_as(LIST).bind(owner.uuid()).bind(after.uuid()).fetch_all(pool).await? });
    Ok(keep_readable(rows, TABLE).into_iter().map(QueuedMessageRow::into_message).collect())
}

struct DueRow {
    owner_id: Uuid,
    id: Uuid,
}
from_row!(DueRow { owner_id, id });

/// Returns the messages of all owners that can be sent now, at most one of each queue.
pub async fn list_due(db: &Db, most: u32) -> Result<Vec<(UserId, QueuedMessageId)>, StoreError> {
    let rows: Vec<Readable<DueRow>> =
        with_pool!(db, |pool| sqlx::query_as(DUE).bind(i64::from(most)).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(|row| (row.owner_id.into(), row.id.into())).collect())
}

/// Returns whether any owner has a message that was not sent, due or not, in Trash or not.
pub async fn is_any_waiting(db: &Db) -> Result<bool, StoreError> {
    let found: Option<Uuid> = with_pool!(db, |pool| sqlx::query_scalar(ANY_WAITING).fetch_optional(pool).await?);
    Ok(found.is_some())
}

/// Replaces the request and clears the refusal. Returns false if the message was sent or cancelled meanwhile.
pub async fn set_request(
    tx: &mut Tx,
    owner: UserId,
    id: QueuedMessageId,
    request: &str,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let request = storable_text(request, "the request")?;
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_REQUEST)
            .bind(owner.uuid())
            .bind(id.uuid())
            .bind(request)
            .bind(now)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}

/// Sets the order of a message. Returns false if it was sent or cancelled meanwhile.
pub async fn set_ord(
    tx: &mut Tx,
    owner: UserId,
    id: QueuedMessageId,
    ord: u64,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_ORD)
            .bind(owner.uuid())
            .bind(id.uuid())
            .bind(to_bigint(ord))
            .bind(now)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}

/// Records why this request of a message could not be sent. Returns false if it is another request by now.
pub async fn refuse(
    tx: &mut Tx,
    owner: UserId,
    id: QueuedMessageId,
    request: &str,
    reason: &CodedMessage,
) -> Result<bool, StoreError> {
    let reason = serde_json::to_string(reason).unwrap_or_default();
    let changed = in_tx!(tx, |conn| {
        sqlx::query(REFUSE)
            .bind(owner.uuid())
            .bind(id.uuid())
            .bind(request)
            .bind(reason)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}

/// Holds all queues of an owner: for this reason nothing of them is sent by itself any more.
pub async fn hold_all(tx: &mut Tx, owner: UserId, reason: &CodedMessage) -> Result<(), StoreError> {
    let reason = serde_json::to_string(reason).unwrap_or_default();
    in_tx!(tx, |conn| {
        sqlx::query(HOLD).bind(owner.uuid()).bind(reason).execute(conn).await?;
    });
    Ok(())
}

/// Deletes a message that was not sent. Returns false if there is none.
pub async fn delete(tx: &mut Tx, owner: UserId, id: QueuedMessageId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}

/// Records that a message was sent, in the transaction that stores `turn`. Returns false if it was sent or cancelled
/// meanwhile: then the transaction must not be committed.
pub async fn mark_sent(
    tx: &mut Tx,
    owner: UserId,
    id: QueuedMessageId,
    turn: TurnId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(MARK_SENT)
            .bind(owner.uuid())
            .bind(id.uuid())
            .bind(turn.uuid())
            .bind(now)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}

/// Moves the messages that wait behind one reply behind another, which continues the path or replaces the reply. A
/// deferred write.
pub async fn follow(tx: &mut Tx, owner: UserId, from: TurnId, to: TurnId) -> Result<(), StoreError> {
    tx.defer(FOLLOW).bind(owner.uuid()).bind(from.uuid()).bind(to.uuid()).run().await.map(drop)
}
