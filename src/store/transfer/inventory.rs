//! Inventory of an owner's data, to count and to delete it.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::rows::to_unsigned;
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

/// Counts of an owner's data, including Trash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InventoryCounts {
    pub chats: u64,
    pub documents: u64,
    /// Uploaded files and images.
    pub files: u64,
}

/// Counts the data of an owner.
pub async fn count(db: &Db, owner: UserId) -> Result<InventoryCounts, StoreError> {
    let (chats, documents, files): (i64, i64, i64) =
        with_pool!(db, |pool| sqlx::query_as(COUNTS).bind(owner.uuid()).fetch_one(pool).await?);
    Ok(InventoryCounts { chats: to_unsigned(chats), documents: to_unsigned(documents), files: to_unsigned(files) })
}

/// Returns some of an owner's chats that are not in Trash; empty if there are none.
pub async fn list_chats(db: &Db, owner: UserId, most: u32) -> Result<Vec<ChatId>, StoreError> {
    let ids: Vec<Uuid> = with_pool!(db, |pool| {
        sqlx::query_scalar(CHATS).bind(owner.uuid()).bind(i64::from(most)).fetch_all(pool).await?
    });
    Ok(ids.into_iter().map(ChatId::from).collect())
}

/// Returns some of an owner's documents that are not in Trash; empty if there are none.
pub async fn list_documents(db: &Db, owner: UserId, most: u32) -> Result<Vec<DocumentId>, StoreError> {
    let ids: Vec<Uuid> = with_pool!(db, |pool| {
        sqlx::query_scalar(DOCUMENTS).bind(owner.uuid()).bind(i64::from(most)).fetch_all(pool).await?
    });
    Ok(ids.into_iter().map(DocumentId::from).collect())
}

/// Deletes the upload records of an owner. The bytes are purged once nothing references them.
pub async fn delete_uploads(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(FORGET_UPLOADS).bind(owner.uuid()).execute(conn).await?.rows_affected()))
}

/// Schedules the purge of an owner's incomplete imports; their leases can no longer be renewed. Returns their number.
pub async fn schedule_purge_of_hidden(tx: &mut Tx, owner: UserId, now: DateTime<Utc>) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| {
        sqlx::query(DOOM_HIDDEN).bind(owner.uuid()).bind(now).execute(conn).await?.rows_affected()
    }))
}
