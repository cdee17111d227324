//! The ids of what comes in.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use turnleaf_domain::UserId;

/// What the ids of a chat that comes in are made of: whose it is and what it was called where it comes from. So the same
/// conversation is the same chat for the same person, and another one for somebody else.
pub(super) struct ImportKey(Sha256);

impl ImportKey {
    pub fn new(owner: UserId, source: &str, id: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [owner.uuid().as_bytes().as_slice(), source.as_bytes(), id.as_bytes()] {
            // With their lengths, so that no two lists of parts are the same bytes.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash)
    }

    /// The id of a part of it, of the version that says that it was imported ([`ids::is_imported`](turnleaf_platform::ids::is_imported)).
    pub fn part_id(&self, part: &str) -> Uuid {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.0.clone().chain_update(part).finalize()[..16]);
        Uuid::new_v8(bytes)
    }
}

/// The id that something of an archive gets.
pub(super) fn imported_id(owner: UserId, old: Uuid) -> Uuid {
    ImportKey::new(owner, "turnleaf", "").part_id(&old.hyphenated().to_string())
}
