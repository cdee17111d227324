//! The slot of an owner: an upload, an undo or the deletion of everything holds it, so that no import runs meanwhile.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::PoisonError;

use tempfile::{NamedTempFile, TempDir};

use super::slot_use::{ImportSlotUse, import_running};
use super::{ImportJobs, is_running};
use crate::ServiceError;
use turnleaf_domain::UserId;

/// The slot of an owner, for one upload or for the deletion of everything. While it is held, the owner has no other
/// slot and no running import.
pub struct ImportSlot {
    owner: UserId,
    jobs: ImportJobs,
}

impl ImportSlot {
    /// Creates an empty file, which is removed when dropped.
    pub fn new_file(&self) -> io::Result<NamedTempFile> {
        match &self.jobs.0.folder {
            Some(folder) => NamedTempFile::new_in(folder),
            None => NamedTempFile::new(),
        }
    }

    /// Creates an empty folder, which is removed when dropped.
    pub fn new_folder(&self) -> io::Result<TempDir> {
        match &self.jobs.0.folder {
            Some(folder) => TempDir::new_in(folder),
            None => TempDir::new(),
        }
    }
}

impl Drop for ImportSlot {
    fn drop(&mut self) {
        self.jobs.with_taken(|taken| taken.remove(&self.owner));
    }
}

impl ImportJobs {
    /// Acquires the slot of an owner.
    pub(crate) fn acquire_slot(&self, owner: UserId, of: ImportSlotUse) -> Result<ImportSlot, ServiceError> {
        self.with_taken(|taken| match taken.entry(owner) {
            Entry::Vacant(free) => {
                free.insert(of);
                Ok(())
            }
            Entry::Occupied(taken) => Err(taken.get().conflict()),
        })?;
        // Dropping it releases the slot that was just acquired.
        let place = ImportSlot { owner, jobs: self.clone() };
        if self.with_jobs(|all| is_running(all, owner)) { Err(import_running()) } else { Ok(place) }
    }

    /// Fails while the slot is held. The caller may hold the lock of the jobs: acquiring a slot releases its own lock
    /// before it takes that one.
    pub(super) fn check_slot(&self, owner: UserId) -> Result<(), ServiceError> {
        self.with_taken(|taken| taken.get(&owner).map_or(Ok(()), |of| Err(of.conflict())))
    }

    fn with_taken<T>(&self, act: impl FnOnce(&mut HashMap<UserId, ImportSlotUse>) -> T) -> T {
        act(&mut self.0.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
