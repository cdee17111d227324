//! Deterministic ids of imported objects.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use turnleaf_domain::UserId;

/// The key from which the ids of an imported chat are derived: its owner and its id in the source. The same
/// conversation is the same chat for one person, and a different chat for another.
pub(crate) struct ImportKey(Sha256);

impl ImportKey {
    pub fn new(owner: UserId, source: &str, id: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [owner.uuid().as_bytes().as_slice(), source.as_bytes(), id.as_bytes()] {
            // Lengths are hashed, too, so that no two lists of parts have the same bytes.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash)
    }

    /// Returns the id of a part, of the UUID version that marks imported ids
    /// ([`ids::is_imported`](turnleaf_platform::ids::is_imported)).
    pub fn part_id(&self, part: &str) -> Uuid {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.0.clone().chain_update(part).finalize()[..16]);
        Uuid::new_v8(bytes)
    }
}

/// Returns the id of an object of an archive.
pub(super) fn imported_id(owner: UserId, old: Uuid) -> Uuid {
    ImportKey::new(owner, "turnleaf", "").part_id(&old.hyphenated().to_string())
}
