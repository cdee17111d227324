//! All that a person has here, to be counted and deleted.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::rows::to_unsigned;
use turnleaf_domain::{ChatId, DocumentId, UserId};

sql! {
    COUNTS = "SELECT (SELECT COUNT(*) FROM chats c WHERE c.owner_id = $1), \
        (SELECT COUNT(*) FROM documents d WHERE d.owner_id = $1), \
        (SELECT COUNT(*) FROM uploads u WHERE u.owner_id = $1)";
    CHATS = "SELECT id FROM chats WHERE owner_id = $1 AND deleted_at IS NULL \
        ORDER BY updated_at DESC, id DESC LIMIT $2";
    DOCUMENTS = "SELECT id FROM documents WHERE owner_id = $1 AND deleted_at IS NULL \
        ORDER BY updated_at DESC, id DESC LIMIT $2";
    FORGET_UPLOADS = "DELETE FROM uploads WHERE owner_id = $1";
    DOOM_HIDDEN = "UPDATE deletions SET purging_since = $2 WHERE owner_id = $1 AND purging_since > $2";
}

/// How much there is, what is in Trash included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InventoryCounts {
    pub chats: u64,
    pub documents: u64,
    /// Files and images that were brought.
    pub files: u64,
}

/// Counts what an owner has.
pub async fn count(db: &Db, owner: UserId) -> Result<InventoryCounts, StoreError> {
    let (chats, documents, files): (i64, i64, i64) =
        with_pool!(db, |pool| sqlx::query_as(COUNTS).bind(owner.uuid()).fetch_one(pool).await?);
    Ok(InventoryCounts { chats: to_unsigned(chats), documents: to_unsigned(documents), files: to_unsigned(files) })
}

/// Some of an owner's chats that are not in Trash; none when there is none.
pub async fn list_chats(db: &Db, owner: UserId, most: u32) -> Result<Vec<ChatId>, StoreError> {
    let ids: Vec<Uuid> = with_pool!(db, |pool| {
        sqlx::query_scalar(CHATS).bind(owner.uuid()).bind(i64::from(most)).fetch_all(pool).await?
    });
    Ok(ids.into_iter().map(ChatId::from).collect())
}

/// The same of documents.
pub async fn list_documents(db: &Db, owner: UserId, most: u32) -> Result<Vec<DocumentId>, StoreError> {
    let ids: Vec<Uuid> = with_pool!(db, |pool| {
        sqlx::query_scalar(DOCUMENTS).bind(owner.uuid()).bind(i64::from(most)).fetch_all(pool).await?
    });
    Ok(ids.into_iter().map(DocumentId::from).collect())
}

/// Forgets what an owner brought and under which name. The bytes go when nothing names them any more.
pub async fn delete_uploads(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(FORGET_UPLOADS).bind(owner.uuid()).execute(conn).await?.rows_affected()))
}

/// From now on what an owner has that came in only in part goes for ever; nothing spares it any more. Gives how much.
pub async fn schedule_purge_of_hidden(tx: &mut Tx, owner: UserId, now: DateTime<Utc>) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| {
        sqlx::query(DOOM_HIDDEN).bind(owner.uuid()).bind(now).execute(conn).await?.rows_affected()
    }))
}
