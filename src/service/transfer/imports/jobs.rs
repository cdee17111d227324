//! Import jobs started from the page or the API: they run in the background, and can be listed and stopped. Jobs are
//! not stored: what was imported before the server stopped stays, and importing the same file again adds the rest.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use tempfile::{NamedTempFile, SpooledTempFile, TempPath};
use tokio_util::sync::CancellationToken;

use super::report::{IMPORT_CRASHED, ImportReport, ImportRequest};
use crate::ServiceError;
use turnleaf_domain::{ImportId, MessageCode, UserId};
use turnleaf_platform::ids;
use turnleaf_platform::storage_dir::StorageDir;
use turnleaf_platform::tasks;

/// The number of bytes of a spool that stay in memory.
const SHORT: usize = 4 << 20;
/// The number of finished imports that are remembered.
const REMEMBERED: usize = 20;
/// The maximum time of a transaction that stores a chunk of a chat.
const PIECE_TIME: Duration = Duration::from_millis(200);

/// An import job.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ImportJob {
    pub id: ImportId,
    pub is_over: bool,
    pub started_at: DateTime<Utc>,
    pub report: ImportReport,
}

struct JobEntry {
    owner: UserId,
    stop: CancellationToken,
    seen: ImportJob,
}

/// The purpose for which an owner's slot is held.
#[derive(Debug, Clone, Copy)]
pub(super) enum ImportSlotUse {
    /// An upload or import of a file.
    File,
    /// The deletion of everything.
    Deletion,
}

/// The import jobs of this process.
#[derive(Clone, Default)]
pub struct ImportJobs(Arc<ImportJobsInner>);

#[derive(Default)]
struct ImportJobsInner {
    jobs: Mutex<VecDeque<JobEntry>>,
    /// The owners whose slot is held, with its purpose.
    taken: Mutex<HashMap<UserId, ImportSlotUse>>,
    /// The folder of scratch files; `None` uses the system's temporary folder.
    folder: Option<PathBuf>,
    /// Overrides [`PIECE_TIME`].
    piece_time: Option<Duration>,
    /// Stops all jobs.
    stop: CancellationToken,
}

impl ImportJobs {
    /// Keeps scratch files in this folder, which belongs to the server alone. Files of an earlier run are removed.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Self::in_shared_folder(folder)
    }

    /// Keeps scratch files in this folder without removing any, for a command that runs beside a server.
    pub fn in_shared_folder(folder: &Path) -> io::Result<Self> {
        let folder = Some(StorageDir::open(folder)?.path().to_owned());
        Ok(Self(Arc::new(ImportJobsInner { folder, ..ImportJobsInner::default() })))
    }

    /// Overrides the maximum time of a transaction that stores a chunk of a chat.
    pub fn with_piece_time(self, time: Duration) -> Self {
        Self(Arc::new(ImportJobsInner {
            piece_time: Some(time),
            folder: self.0.folder.clone(),
            ..ImportJobsInner::default()
        }))
    }

    pub(super) fn piece_time(&self) -> Duration {
        self.0.piece_time.unwrap_or(PIECE_TIME)
    }

    /// Returns the factory of scratch files.
    pub(crate) fn scratch_files(&self) -> ImportScratch {
        ImportScratch(self.0.folder.clone())
    }

    /// Returns the bytes of the files in the folder, arriving or waiting. Without a folder there are no uploads.
    pub(crate) async fn waiting_bytes(&self) -> u64 {
        let Some(folder) = self.0.folder.clone() else { return 0 };
        let length = |entry: io::Result<std::fs::DirEntry>| entry.ok()?.metadata().ok().map(|file| file.len());
        let sum = move || std::fs::read_dir(folder).into_iter().flatten().filter_map(length).sum::<u64>();
        tasks::spawn_blocking(sum).await.unwrap_or(0)
    }

    fn with_jobs<T>(&self, act: impl FnOnce(&mut VecDeque<JobEntry>) -> T) -> T {
        act(&mut self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_taken<T>(&self, act: impl FnOnce(&mut HashMap<UserId, ImportSlotUse>) -> T) -> T {
        act(&mut self.0.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn acquire_slot(&self, owner: UserId, of: ImportSlotUse) -> Result<ImportSlot, ServiceError> {
        self.with_taken(|taken| match taken.entry(owner) {
            Entry::Vacant(free) => {
                free.insert(of);
                Ok(())
            }
            Entry::Occupied(taken) => Err(match taken.get() {
                ImportSlotUse::File => import_running(),
                ImportSlotUse::Deletion => ServiceError::conflict("deletion_running", MessageCode::DeletionRunning),
            }),
        })?;
        // Dropping it releases the slot that was just acquired.
        let place = ImportSlot { owner, jobs: self.clone() };
        if self.with_jobs(|all| is_running(all, owner)) { Err(import_running()) } else { Ok(place) }
    }

    /// Registers an import job, unless another one of its owner runs: two imports of the same file would race.
    pub(super) fn start(
        &self,
        import: &ImportRequest,
        file: TempPath,
        started_at: DateTime<Utc>,
    ) -> Result<RunningImport, ServiceError> {
        let id = ids::mint::<ImportId>();
        let stop = self.0.stop.child_token();
        let report = ImportReport::new(import);
        let seen = ImportJob { id, is_over: false, started_at, report: report.clone() };
        self.with_jobs(|all| {
            if is_running(all, import.owner) {
                return Err(import_running());
            }
            if all.len() == REMEMBERED {
                all.pop_front();
            }
            all.push_back(JobEntry { owner: import.owner, stop: stop.clone(), seen });
            Ok(())
        })?;
        Ok(RunningImport { jobs: self.clone(), id, stop, file: Some(file), report, has_ended: false })
    }

    /// Publishes the report of a running import.
    pub(super) fn update_report(&self, id: ImportId, report: &ImportReport) {
        let report = report.clone();
        self.update_job(id, |job| job.seen.report = report);
    }

    /// Returns an import of this owner.
    pub(super) fn find(&self, owner: UserId, id: ImportId) -> Option<ImportJob> {
        self.with_jobs(|jobs| {
            jobs.iter().find(|job| job.owner == owner && job.seen.id == id).map(|job| job.seen.clone())
        })
    }

    /// Returns the imports of this owner, newest first.
    pub(super) fn owner_jobs(&self, owner: UserId) -> Vec<ImportJob> {
        self.with_jobs(|jobs| jobs.iter().rev().filter(|job| job.owner == owner).map(|job| job.seen.clone()).collect())
    }

    /// Forgets the finished imports of this owner.
    pub(super) fn forget_finished(&self, owner: UserId) {
        self.with_jobs(|jobs| jobs.retain(|job| job.owner != owner || !job.seen.is_over));
    }

    /// Stops an import after its current conversation.
    pub(super) fn stop(&self, id: ImportId) {
        self.update_job(id, |job| job.stop.cancel());
    }

    /// Stops all imports permanently.
    pub(super) fn stop_all(&self) {
        self.0.stop.cancel();
    }

    fn update_job(&self, id: ImportId, act: impl FnOnce(&mut JobEntry)) {
        self.with_jobs(|jobs| jobs.iter_mut().find(|job| job.seen.id == id).map(act));
    }
}

/// The factory of unnamed scratch files, which disappear however the program ends.
#[derive(Debug, Clone)]
pub(crate) struct ImportScratch(Option<PathBuf>);

impl ImportScratch {
    /// Creates an empty file.
    pub fn new_file(&self) -> io::Result<File> {
        match &self.0 {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        }
    }

    /// Creates a spool that is in memory while it is short.
    pub fn new_spool(&self) -> SpooledTempFile {
        match &self.0 {
            Some(folder) => tempfile::spooled_tempfile_in(SHORT, folder),
            None => tempfile::spooled_tempfile(SHORT),
        }
    }
}

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
}

impl Drop for ImportSlot {
    fn drop(&mut self) {
        self.jobs.with_taken(|taken| taken.remove(&self.owner));
    }
}

/// A running import. Dropping it marks the job as over.
pub(super) struct RunningImport {
    pub jobs: ImportJobs,
    pub id: ImportId,
    /// Cancelled when the import is stopped.
    pub stop: CancellationToken,
    file: Option<TempPath>,
    pub report: ImportReport,
    /// True when the import ended regularly.
    pub has_ended: bool,
}

impl Drop for RunningImport {
    fn drop(&mut self) {
        // The file is removed before the job is reported as over.
        drop(self.file.take());
        let mut report = std::mem::take(&mut self.report);
        if !self.has_ended {
            report.stopped = Some(IMPORT_CRASHED.to_owned());
        }
        self.jobs.update_job(self.id, |job| (job.seen.is_over, job.seen.report) = (true, report));
    }
}

fn is_running(jobs: &VecDeque<JobEntry>, owner: UserId) -> bool {
    jobs.iter().any(|job| job.owner == owner && !job.seen.is_over)
}

fn import_running() -> ServiceError {
    ServiceError::conflict("import_running", MessageCode::ImportRunning)
}
