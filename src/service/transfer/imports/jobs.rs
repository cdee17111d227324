//! Imports that somebody began on the page or over the API: they go on by themselves, and can be looked at and stopped.
//! They are not stored: what came in before the server stopped stays, and the same file taken in again adds the rest.

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
use turnleaf_domain::{ImportId, UserId};
use turnleaf_platform::ids;
use turnleaf_platform::storage_dir::StorageDir;
use turnleaf_platform::tasks;

/// What waits is in memory up to so many bytes.
const SHORT: usize = 4 << 20;
/// Imports that are remembered after their end.
const REMEMBERED: usize = 20;
/// How long a transaction may take that stores a piece of a chat.
const PIECE_TIME: Duration = Duration::from_millis(200);

/// An import as somebody looks at it.
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

/// What has an owner's place.
#[derive(Debug, Clone, Copy)]
pub(super) enum ImportSlotUse {
    /// A file that is on its way.
    File,
    /// The deletion of everything.
    Deletion,
}

/// The imports of this process.
#[derive(Clone, Default)]
pub struct ImportJobs(Arc<ImportJobsInner>);

#[derive(Default)]
struct ImportJobsInner {
    jobs: Mutex<VecDeque<JobEntry>>,
    /// Whose place is taken, and by what.
    taken: Mutex<HashMap<UserId, ImportSlotUse>>,
    /// Where files lie until they are read; where the system has such files if nobody said.
    folder: Option<PathBuf>,
    /// Another bound than [`PIECE_TIME`].
    piece_time: Option<Duration>,
    /// Stops them all.
    stop: CancellationToken,
}

impl ImportJobs {
    /// Files to take in lie in this folder of the program's own. What an earlier run of the server left there is gone.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Self::in_shared_folder(folder)
    }

    /// The same for a command that works beside a server, or where none runs: what lies there stays.
    pub fn in_shared_folder(folder: &Path) -> io::Result<Self> {
        let folder = Some(StorageDir::open(folder)?.path().to_owned());
        Ok(Self(Arc::new(ImportJobsInner { folder, ..ImportJobsInner::default() })))
    }

    /// The same with another bound on the time of a transaction that stores a piece of a chat.
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

    /// Where something may lie until it is read again.
    pub(crate) fn scratch_files(&self) -> ImportScratch {
        ImportScratch(self.0.folder.clone())
    }

    /// The bytes of the files that lie in the folder, arriving or waiting. Where there is no folder, nobody uploads.
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
                ImportSlotUse::Deletion => {
                    ServiceError::conflict("deletion_running", "everything is being deleted already")
                }
            }),
        })?;
        // Let go, it gives the owner's place back: it is made of one that was free.
        let place = ImportSlot { owner, jobs: self.clone() };
        if self.with_jobs(|all| is_running(all, owner)) { Err(import_running()) } else { Ok(place) }
    }

    /// An import of this file begins, unless another one of its owner's is not over: two of the same file would race.
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

    /// Shows what has come of an import so far.
    pub(super) fn update_report(&self, id: ImportId, report: &ImportReport) {
        let report = report.clone();
        self.update_job(id, |job| job.seen.report = report);
    }

    /// An import of this owner's.
    pub(super) fn find(&self, owner: UserId, id: ImportId) -> Option<ImportJob> {
        self.with_jobs(|jobs| {
            jobs.iter().find(|job| job.owner == owner && job.seen.id == id).map(|job| job.seen.clone())
        })
    }

    /// Those of this owner's, the newest first.
    pub(super) fn owner_jobs(&self, owner: UserId) -> Vec<ImportJob> {
        self.with_jobs(|jobs| jobs.iter().rev().filter(|job| job.owner == owner).map(|job| job.seen.clone()).collect())
    }

    /// Forgets those of this owner's that are over.
    pub(super) fn forget_finished(&self, owner: UserId) {
        self.with_jobs(|jobs| jobs.retain(|job| job.owner != owner || !job.seen.is_over));
    }

    /// Ends one behind the conversation that it is at.
    pub(super) fn stop(&self, id: ImportId) {
        self.update_job(id, |job| job.stop.cancel());
    }

    /// Ends all of them, for good.
    pub(super) fn stop_all(&self) {
        self.0.stop.cancel();
    }

    fn update_job(&self, id: ImportId, act: impl FnOnce(&mut JobEntry)) {
        self.with_jobs(|jobs| jobs.iter_mut().find(|job| job.seen.id == id).map(act));
    }
}

/// Where files without a name are made: whatever ends the program, they are gone with it.
#[derive(Debug, Clone)]
pub(crate) struct ImportScratch(Option<PathBuf>);

impl ImportScratch {
    /// An empty file.
    pub fn new_file(&self) -> io::Result<File> {
        match &self.0 {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        }
    }

    /// One that is in memory as long as it is short.
    pub fn new_spool(&self) -> SpooledTempFile {
        match &self.0 {
            Some(folder) => tempfile::spooled_tempfile_in(SHORT, folder),
            None => tempfile::spooled_tempfile(SHORT),
        }
    }
}

/// A place for one file that is on its way, or for what keeps any from coming. Whoever has it has no other one, and no
/// import that runs.
pub struct ImportSlot {
    owner: UserId,
    jobs: ImportJobs,
}

impl ImportSlot {
    /// An empty file, removed when it is let go.
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

/// An import at work. However it is let go, it is over then.
pub(super) struct RunningImport {
    pub jobs: ImportJobs,
    pub id: ImportId,
    /// Cancelled when somebody says that it is enough.
    pub stop: CancellationToken,
    file: Option<TempPath>,
    pub report: ImportReport,
    /// It came to an end of its own.
    pub has_ended: bool,
}

impl Drop for RunningImport {
    fn drop(&mut self) {
        // The file is gone before anybody hears that it is over.
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
    ServiceError::conflict("import_running", "another import is not over yet")
}
