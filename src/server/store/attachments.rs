//! Which blobs and documents the blocks of a message name. Written with the blocks, in their transaction: what is named is
//! kept, and counted where it is used.

use crate::domain::attachment::DOCUMENT;
use crate::domain::{Block, Content, DocumentId};
use crate::server::store::db::Tx;
use crate::server::store::error::StoreError;

sql! {
    NAME_BLOB = "INSERT INTO block_blobs (block_id, sha256) SELECT k.id, b.sha256 FROM turn_blocks k CROSS JOIN blobs b \
        WHERE k.id = $1 AND b.sha256 = $2 ON CONFLICT (block_id, sha256) DO NOTHING";
    /// A document that was deleted for ever stays named in the block alone.
    NAME_DOCUMENT = "INSERT INTO block_documents (block_id, document_id, version_timestamp) \
        SELECT k.id, v.document_id, v.version_timestamp FROM turn_blocks k CROSS JOIN document_versions v \
        WHERE k.id = $1 AND v.document_id = $2 AND v.version_timestamp = $3 ON CONFLICT (block_id, document_id) DO NOTHING";
}

/// Stores what these blocks name. They are stored before; that what they name is their owner's was seen to.
///
/// # Errors
/// `Gone` for an image that is not stored any more: a day passed since it was looked for.
pub async fn name(tx: &mut Tx, blocks: &[Block]) -> Result<(), StoreError> {
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
                if ref_type == DOCUMENT =>
            {
                let (Ok(document), Some(version)) = (ref_id.parse::<DocumentId>(), version_timestamp) else { continue };
                in_tx!(&mut *tx, |conn| {
                    let query = sqlx::query(NAME_DOCUMENT).bind(block.id.uuid()).bind(document.uuid());
                    query.bind(version).execute(conn).await?;
                });
            }
            _ => {}
        }
    }
    Ok(())
}
