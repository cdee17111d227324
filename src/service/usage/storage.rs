//! Admission of what makes an installation grow: a bound on the free space of the disk, and a quota for each person.
//!
//! New replies, uploads, documents, copies and imports ask here before they begin; what runs already is never refused, so
//! a reply ends whole. Both bounds can change while the server runs, and both let through again by themselves.

use serde::Serialize;

pub use bounds::{FreeSpace, FreeSpaceProbe, StorageLimits, StorageRefusal};

use crate::{Service, ServiceError};
use turnleaf_domain::{UserId, limits};
use turnleaf_store::storage::{self, StoredBytes};

pub(crate) mod bounds;
pub(crate) mod spooled;

/// What somebody keeps and may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct StorageUse {
    /// The sum of the others.
    pub used_bytes: u64,
    /// Chats, with requests, raw responses and journals.
    pub chats_bytes: u64,
    pub files_bytes: u64,
    pub documents_bytes: u64,
    /// Files that wait to be imported.
    pub waiting_bytes: u64,
    /// What may be kept in all; null where there is no quota.
    pub quota_bytes: Option<u64>,
}

/// Whether files that wait to be imported count: an import does not stand in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitingFiles {
    Counts,
    IsLeftOut,
}

impl Service {
    /// What somebody keeps.
    pub async fn storage_use(&self, owner: UserId) -> Result<StorageUse, ServiceError> {
        let stored = storage::measure(self.db(), owner).await?;
        let waiting_bytes = self.import_job_registry().waiting_bytes().await;
        let StoredBytes { chats, files, documents } = stored;
        Ok(StorageUse {
            used_bytes: stored.total().saturating_add(waiting_bytes),
            chats_bytes: chats,
            files_bytes: files,
            documents_bytes: documents,
            waiting_bytes,
            quota_bytes: self.storage().quota_bytes(),
        })
    }

    /// Whether the installation and this person's share of it may grow by so many bytes.
    ///
    /// # Errors
    /// `Storage`, with what there is too little of.
    pub async fn check_growth(&self, owner: UserId, bytes: u64) -> Result<(), ServiceError> {
        self.check(owner, bytes, WaitingFiles::Counts).await
    }

    /// The same for what an import brings, whose own file is not counted.
    pub(crate) async fn check_imported_growth(&self, owner: UserId, bytes: u64) -> Result<(), ServiceError> {
        self.check(owner, bytes, WaitingFiles::IsLeftOut).await
    }

    /// Counts what was stored since the last measurement, so that many small things do not pass one by one.
    pub(crate) async fn note_growth(&self, owner: UserId, bytes: u64) {
        self.storage().measured().add(owner, bytes).await;
    }

    /// What was purged makes room at once.
    pub(crate) fn note_purge(&self) {
        self.storage().measured().clear();
    }

    async fn check(&self, owner: UserId, bytes: u64, waiting: WaitingFiles) -> Result<(), ServiceError> {
        let limits = self.storage();
        if !limits.has_free_disk(bytes.saturating_add(self.spooled().unwritten_bytes())).await {
            return Err(StorageRefusal::DiskLow.into());
        }
        let Some(quota_bytes) = limits.quota_bytes() else { return Ok(()) };
        // Nobody is refused for long for what they had a moment ago. An import adds what it brings to the number, and one
        // with many chats that do not fit does not measure for each.
        let (waiting, refused_for) = match waiting {
            WaitingFiles::Counts => (self.import_job_registry().waiting_bytes().await, limits::STORAGE_REFUSED_FOR),
            WaitingFiles::IsLeftOut => (0, limits::STORAGE_MEASURED_FOR),
        };
        let growth = waiting.saturating_add(self.spooled().owner_bytes(owner)).saturating_add(bytes);
        let fits = |used: u64| used < quota_bytes && used.saturating_add(growth) <= quota_bytes;
        let measure = async || Ok::<_, ServiceError>(storage::measure(self.db(), owner).await?.total());
        let fits = limits.measured().check(owner, refused_for, fits, measure).await?;
        if fits { Ok(()) } else { Err(StorageRefusal::QuotaReached { quota_bytes }.into()) }
    }
}
