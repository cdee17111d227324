//! Bytes that blocks name: read by who may read the block, for as long as it is not deleted. Writing them is the
//! journal's.

use bytes::Bytes;

use crate::domain::UserId;
use crate::server::store::db::Db;
use crate::server::store::error::StoreError;

sql! {
    FIND = "SELECT o.mime, o.bytes FROM blobs o WHERE o.sha256 = $2 AND o.bytes IS NOT NULL AND EXISTS ( \
        SELECT 1 FROM block_blobs r JOIN turn_blocks b ON b.id = r.block_id JOIN turns t ON t.id = b.turn_id \
        JOIN chats c ON c.id = b.chat_id WHERE r.sha256 = o.sha256 AND c.owner_id = $1 \
        AND t.deleted_at IS NULL AND c.deleted_at IS NULL)";
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
