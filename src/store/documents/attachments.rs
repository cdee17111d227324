//! References from blocks of messages to blobs and documents. They are written with the blocks, in the same
//! transaction, so that referenced data is kept and its uses are counted.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use turnleaf_domain::documents::attachment::DOCUMENT_REF_TYPE;
use turnleaf_domain::{Block, BlockId, Content, DocumentId, UserId};

sql! {
    NAME_BLOB = "INSERT INTO block_blobs (block_id, sha256) SELECT k.id, b.sha256 FROM turn_blocks k CROSS JOIN blobs b \
        WHERE k.id = $1 AND b.sha256 = $2 ON CONFLICT (block_id, sha256) DO NOTHING";
    /// A document that was permanently deleted is referenced by the block content only.
    NAME_DOCUMENT = "INSERT INTO block_documents (block_id, document_id, version_timestamp) \
        SELECT k.id, v.document_id, v.version_timestamp FROM turn_blocks k CROSS JOIN document_versions v \
        WHERE k.id = $1 AND v.document_id = $2 AND v.version_timestamp = $3 ON CONFLICT (block_id, document_id) DO NOTHING";
    /// Conditions on owner and documents follow.
    NEWEST = "SELECT d.id, v.version_timestamp FROM documents d JOIN document_versions v ON v.document_id = d.id \
        AND v.version_timestamp = (SELECT MAX(n.version_timestamp) FROM document_versions n WHERE n.document_id = d.id) ";
    /// Conditions on owner and blocks follow.
    KEPT = "SELECT r.block_id FROM block_blobs r JOIN blobs o ON o.sha256 = r.sha256 \
        JOIN turn_blocks k ON k.id = r.block_id JOIN chats c ON c.id = k.chat_id ";
}

/// Stores the references of these blocks. The blocks are stored before; the caller has checked that their targets
/// belong to the owner.
///
/// # Errors
/// `Gone` for an image that is no longer stored, because a day has passed since it was looked up.
pub async fn insert_references(tx: &mut Tx, blocks: &[Block]) -> Result<(), StoreError> {
    for block in blocks {
        match &block.content {
            Content::Image { blob, .. } => in_tx!(&mut *tx, |conn| {
                let named = sqlx::query(NAME_BLOB).bind(block.id.uuid()).bind(blob).execute(conn).await?;
                if named.rows_affected() == 0 {
                    return Err(StoreError::Gone("the image"));
                }
            }),
            Content::Reference { ref_id, ref_type, version_timestamp }
            | Content::PartialReference { ref_id, ref_type, version_timestamp, .. }
                if ref_type == DOCUMENT_REF_TYPE =>
            {
                let (Ok(document), Some(version)) = (ref_id.parse::<DocumentId>(), version_timestamp) else { continue };
                tx.defer(NAME_DOCUMENT).bind(block.id.uuid()).bind(document.uuid()).bind(*version).run().await?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the newest versions of those of these documents that belong to this owner and are not in Trash.
pub async fn newest_document_versions(
    db: &Db,
    owner: UserId,
    documents: &[DocumentId],
) -> Result<HashMap<DocumentId, DateTime<Utc>>, StoreError> {
    if documents.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(Uuid, DateTime<Utc>)> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(NEWEST);
        query.push("WHERE d.deleted_at IS NULL AND d.owner_id = ").push_bind(owner.uuid()).push(" AND d.id IN (");
        let mut list = query.separated(", ");
        for document in documents {
            list.push_bind(document.uuid());
        }
        query.push(")");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    Ok(rows.into_iter().map(|(id, newest)| (id.into(), newest)).collect())
}

/// Returns those of these blocks of this owner whose images are stored.
pub async fn blocks_with_stored_images(
    db: &Db,
    owner: UserId,
    blocks: &[BlockId],
) -> Result<HashSet<BlockId>, StoreError> {
    if blocks.is_empty() {
        return Ok(HashSet::new());
    }
    let rows: Vec<(Uuid,)> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(KEPT);
        query.push("WHERE o.bytes IS NOT NULL AND c.owner_id = ").push_bind(owner.uuid()).push(" AND r.block_id IN (");
        let mut list = query.separated(", ");
        for block in blocks {
            list.push_bind(block.uuid());
        }
        query.push(")");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    Ok(rows.into_iter().map(|(id,)| id.into()).collect())
}
