//! Checks the references of a turn's blocks: an image is stored, and what a message references is recorded in the
//! reference tables.

use crate::database::db::Db;
use crate::database::error::StoreError;
use turnleaf_domain::{Content, DocumentId, Role, Turn};

use super::bodies;
use super::finding::{FsckFinding, finding};

sql! {
    BLOB_IS_NAMED = "SELECT COUNT(*) FROM block_blobs WHERE block_id = $1 AND sha256 = $2";
    /// A permanently deleted document leaves only the block that references it.
    DOCUMENT_IS_THERE = "SELECT COUNT(*) FROM documents WHERE id = $1";
    DOCUMENT_IS_NAMED = "SELECT COUNT(*) FROM block_documents WHERE block_id = $1 AND document_id = $2";
}

pub(super) async fn check_turn(db: &Db, turn: &Turn, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    for block in &turn.blocks {
        let problem = match &block.content {
            Content::Image { blob, .. } if !bodies::has_blob(db, blob).await? => "the image it shows is not stored",
            Content::Image { blob, .. } if turn.role == Role::User => {
                let named: i64 = with_pool!(db, |pool| {
                    sqlx::query_scalar(BLOB_IS_NAMED).bind(block.id.uuid()).bind(blob).fetch_one(pool).await?
                });
                if named > 0 {
                    continue;
                }
                "its image reference is missing, so the image may be deleted"
            }
            Content::Reference { ref_id, .. } | Content::PartialReference { ref_id, .. } => {
                let Ok(document) = ref_id.parse::<DocumentId>() else { continue };
                let (existing, named): (i64, i64) = with_pool!(db, |pool| {
                    let existing = sqlx::query_scalar(DOCUMENT_IS_THERE).bind(document.uuid()).fetch_one(pool).await?;
                    let named = sqlx::query_scalar(DOCUMENT_IS_NAMED).bind(block.id.uuid()).bind(document.uuid());
                    (existing, named.fetch_one(pool).await?)
                });
                if existing == 0 || named > 0 {
                    continue;
                }
                "its document reference is missing"
            }
            _ => continue,
        };
        findings.push(finding("R10", "turn_blocks", block.id, problem));
    }
    Ok(())
}
