//! Purge of documents: permanently deletes them with their versions and the references to them. The messages stay;
//! their references then point to nothing.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::Tx;
use crate::database::error::StoreError;
use turnleaf_domain::{DocumentId, UserId};

sql! {
    OLD = "SELECT id FROM documents WHERE deleted_at < $1 ORDER BY id LIMIT 1";
    ANY_OF = "SELECT id FROM documents WHERE owner_id = $1 AND deleted_at IS NOT NULL ORDER BY id LIMIT 1";
    ONE = "SELECT id FROM documents WHERE owner_id = $1 AND id = $2 AND deleted_at IS NOT NULL";
    DELETE = "DELETE FROM documents WHERE id = $1 AND deleted_at IS NOT NULL";
}

/// A selection of documents in Trash to purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentPurgeTarget {
    /// Documents of any owner that were moved to Trash before this moment.
    TrashedBefore(DateTime<Utc>),
    /// Any document of this owner.
    OwnedBy(UserId),
    One(UserId, DocumentId),
}

/// Deletes one matching document; returns false if there is none. Each document is a transaction of its own, which is
/// bounded, because a document is.
pub async fn delete_one(tx: &mut Tx, of: DocumentPurgeTarget) -> Result<bool, StoreError> {
    let found: Option<Uuid> = in_tx!(&mut *tx, |conn| match of {
        DocumentPurgeTarget::TrashedBefore(moment) => sqlx::query_scalar(OLD).bind(moment).fetch_optional(conn).await?,
        DocumentPurgeTarget::OwnedBy(owner) =>
            sqlx::query_scalar(ANY_OF).bind(owner.uuid()).fetch_optional(conn).await?,
        DocumentPurgeTarget::One(owner, id) => {
            sqlx::query_scalar(ONE).bind(owner.uuid()).bind(id.uuid()).fetch_optional(conn).await?
        }
    });
    let Some(id) = found else { return Ok(false) };
    let gone = in_tx!(tx, |conn| sqlx::query(DELETE).bind(id).execute(conn).await?.rows_affected());
    Ok(gone > 0)
}
