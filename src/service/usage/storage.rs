//! Admission of growth: a bound on the free space of the disk, and a quota for each person.
//!
//! New replies, uploads, documents, copies and imports are checked before they begin. Running work is never refused, so
//! a reply is always completed. Both bounds can change while the server runs, and both admit again by themselves once
//! there is room.

use serde::Serialize;

pub use bounds::{FreeSpace, FreeSpaceProbe, StorageLimits, StorageRefusal};

use crate::{Service, ServiceError};
use turnleaf_domain::{UserId, limits};
use turnleaf_store::usage::storage::{self, StoredBytes};

pub(crate) mod bounds;
pub(crate) mod spooled;

/// The storage that a person uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct StorageUse {
    /// The sum of the other values.
    pub used_bytes: u64,
    /// Chats, with requests, raw responses and journals.
    pub chats_bytes: u64,
    pub files_bytes: u64,
    pub documents_bytes: u64,
    /// Files that wait to be imported.
    pub waiting_bytes: u64,
    /// Maximum of `used_bytes`; null without a quota.
    pub quota_bytes: Option<u64>,
}

/// The treatment of files that wait to be imported: an import leaves them out, because it must not be refused because
/// of its own file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitingFiles {
    Counts,
    IsLeftOut,
}

impl Service {
    /// Returns the storage that a person uses.
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

    /// Checks whether the installation and this person's usage may grow by this many bytes.
    ///
    /// # Errors
    /// `Storage`, with the exceeded bound.
    pub async fn check_growth(&self, owner: UserId, bytes: u64) -> Result<(), ServiceError> {
        self.check(owner, bytes, WaitingFiles::Counts).await
    }

    /// Checks the growth by an import, whose own file is not counted.
    pub(crate) async fn check_imported_growth(&self, owner: UserId, bytes: u64) -> Result<(), ServiceError> {
        self.check(owner, bytes, WaitingFiles::IsLeftOut).await
    }

    /// Adds stored bytes to the last measurement, so that many small writes cannot pass between measurements.
    pub(crate) async fn note_growth(&self, owner: UserId, bytes: u64) {
        self.storage().measured().add(owner, bytes).await;
    }

    /// Clears the measurements, because a purge makes room at once.
    pub(crate) fn note_purge(&self) {
        self.storage().measured().clear();
    }

    async fn check(&self, owner: UserId, bytes: u64, waiting: WaitingFiles) -> Result<(), ServiceError> {
        let limits = self.storage();
        if !limits.has_free_disk(bytes.saturating_add(self.spooled().unwritten_bytes())).await {
            return Err(StorageRefusal::DiskLow.into());
        }
        let Some(quota_bytes) = limits.quota_bytes() else { return Ok(()) };
        // A refusal is cached only briefly, because the person may have deleted something. Imports add their growth
        // to the measurement themselves, so one with many chats that do not fit does not measure for each.
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
