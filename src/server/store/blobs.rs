//! Blobs: bytes that stand in no row of a block, by their sha256, and which blocks name them.

use std::collections::HashSet;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::domain::{BlockId, UserId};
use crate::server::store::db::{Db, Tx};
use crate::server::store::error::StoreError;
use crate::server::store::rows::plain;

sql! {
    // Also where it is there already: what is named again is not what a purge may take for forgotten.
    PUT = "INSERT INTO blobs (sha256, mime, byte_count, bytes, created_at) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (sha256) DO UPDATE SET created_at = excluded.created_at";
    FIND = "SELECT o.mime, o.bytes FROM blobs o WHERE o.sha256 = $2 AND o.bytes IS NOT NULL AND EXISTS ( \
        SELECT 1 FROM block_blobs r JOIN turn_blocks b ON b.id = r.block_id JOIN turns t ON t.id = b.turn_id \
        JOIN chats c ON c.id = b.chat_id WHERE r.sha256 = o.sha256 AND c.owner_id = $1 \
        AND t.deleted_at IS NULL AND c.deleted_at IS NULL)";
    NAME = "INSERT INTO block_blobs (block_id, sha256) VALUES ($1, $2) ON CONFLICT (block_id, sha256) DO NOTHING";
}

/// A blob to store, with the block that names it. The block is stored before, in the same transaction.
#[derive(Debug, Clone, Copy)]
pub struct BlobOf<'a> {
    pub block: BlockId,
    /// Of its bytes, in lower-case hex.
    pub sha256: &'a str,
    pub mime: &'a str,
    pub bytes: &'a [u8],
}

/// Stores blobs that are not there yet, and that these blocks name them.
pub async fn put(tx: &mut Tx, blobs: &[BlobOf<'_>], now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut seen = HashSet::new();
    for blob in blobs {
        let mime = plain(blob.mime, "the type of a blob")?;
        let is_new = seen.insert(blob.sha256);
        in_tx!(&mut *tx, |conn| {
            if is_new {
                sqlx::query(PUT)
                    .bind(blob.sha256)
                    .bind(mime)
                    .bind(i64::try_from(blob.bytes.len()).unwrap_or(i64::MAX))
                    .bind(blob.bytes)
                    .bind(now)
                    .execute(&mut *conn)
                    .await?;
            }
            sqlx::query(NAME).bind(blob.block.uuid()).bind(blob.sha256).execute(&mut *conn).await?;
        });
    }
    Ok(())
}

/// Bytes with what whoever brought them called them, which is to be believed by nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlob {
    pub mime: String,
    pub bytes: Bytes,
}

/// The bytes of this hash, if a block that is not deleted names them in a chat of this owner.
pub async fn find(db: &Db, owner: UserId, sha256: &str) -> Result<Option<StoredBlob>, StoreError> {
    let row: Option<(String, Vec<u8>)> =
        on!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(sha256).fetch_optional(pool).await?);
    Ok(row.map(|(mime, bytes)| StoredBlob { mime, bytes: bytes.into() }))
}
