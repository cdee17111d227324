//! Bytes that stand in no row of a turn: what of a tool's result was too long, its images and its files.

use crate::{Service, ServiceError};
use turnleaf_domain::UserId;
use turnleaf_store::blobs;

pub use turnleaf_store::blobs::StoredBlob;

impl Service {
    /// The bytes of this hash (64 hex digits in lower case), as long as a turn of the owner's that is not deleted names
    /// them.
    pub async fn blob(&self, owner: UserId, sha256: &str) -> Result<StoredBlob, ServiceError> {
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if !is_hash {
            return Err(ServiceError::NotFound);
        }
        blobs::find(self.db(), owner, sha256).await?.ok_or(ServiceError::NotFound)
    }
}
