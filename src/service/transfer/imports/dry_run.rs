//! A dry run keeps count of the rows that the import would have stored so far: later parts of the file refer to them as if
//! they were there.

use std::collections::HashSet;

use turnleaf_domain::DocumentId;

/// Blobs and documents, and what they take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DryRunTally {
    blobs: HashSet<String>,
    documents: HashSet<DocumentId>,
    bytes: u64,
}

impl DryRunTally {
    /// What all of it takes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn has_blob(&self, sha256: &str) -> bool {
        self.blobs.contains(sha256)
    }

    pub fn has_document(&self, id: DocumentId) -> bool {
        self.documents.contains(&id)
    }

    pub fn add_blob(&mut self, sha256: String, bytes: u64) {
        if self.blobs.insert(sha256) {
            self.bytes += bytes;
        }
    }

    pub fn add_chat(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    pub fn add_document(&mut self, id: DocumentId, bytes: u64) {
        if self.documents.insert(id) {
            self.bytes += bytes;
        }
    }
}
