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
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{BROKE_DOWN, Import, ImportReport};
use crate::{Service, ServiceError};
use turnleaf_domain::{ImportId, UserId};
use turnleaf_platform::ids;
use turnleaf_platform::storage_dir::StorageDir;
use turnleaf_platform::tasks;

/// What waits is in memory up to so many bytes.
const SHORT: usize = 4 << 20;
/// Imports that are remembered after their end.
const REMEMBERED: usize = 20;
/// How often at most what came of an import so far is shown anew: a report of thousands of findings is not copied for
/// each of them.
const SHOWN_EVERY: Duration = Duration::from_millis(250);

/// An import as somebody looks at it.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ImportJob {
    pub id: ImportId,
    pub is_over: bool,
    pub started_at: DateTime<Utc>,
    pub report: ImportReport,
}

struct Job {
    owner: UserId,
    stop: CancellationToken,
    seen: ImportJob,
}

/// What has an owner's place.
#[derive(Debug, Clone, Copy)]
enum Taken {
    /// A file that is on its way.
    File,
    /// The deletion of everything.
    Deletion,
}

/// The imports of this process.
#[derive(Clone, Default)]
pub struct ImportJobs(Arc<All>);

#[derive(Default)]
struct All {
    jobs: Mutex<VecDeque<Job>>,
    /// Whose place is taken, and by what.
    taken: Mutex<HashMap<UserId, Taken>>,
    /// Where files lie until they are read; where the system has such files if nobody said.
    folder: Option<PathBuf>,
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
        Self::beside(folder)
    }

    /// The same for a command that works beside a server, or where none runs: what lies there stays.
    pub fn beside(folder: &Path) -> io::Result<Self> {
        let folder = Some(StorageDir::open(folder)?.path().to_owned());
        Ok(Self(Arc::new(All { folder, ..All::default() })))
    }

    /// Where something may lie until it is read again.
    pub(crate) fn scratch(&self) -> Scratch {
        Scratch(self.0.folder.clone())
    }

    /// The bytes of the files that lie in the folder, arriving or waiting. Where there is no folder, nobody uploads.
    pub(crate) async fn waiting_bytes(&self) -> u64 {
        let Some(folder) = self.0.folder.clone() else { return 0 };
        let length = |entry: io::Result<std::fs::DirEntry>| entry.ok()?.metadata().ok().map(|file| file.len());
        let sum = move || std::fs::read_dir(folder).into_iter().flatten().filter_map(length).sum::<u64>();
        tasks::spawn_blocking(sum).await.unwrap_or(0)
    }

    fn with<T>(&self, act: impl FnOnce(&mut VecDeque<Job>) -> T) -> T {
        act(&mut self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn taken<T>(&self, act: impl FnOnce(&mut HashMap<UserId, Taken>) -> T) -> T {
        act(&mut self.0.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn place(&self, owner: UserId, of: Taken) -> Result<ImportPlace, ServiceError> {
        self.taken(|taken| match taken.entry(owner) {
            Entry::Vacant(free) => {
                free.insert(of);
                Ok(())
            }
            Entry::Occupied(taken) => Err(match taken.get() {
                Taken::File => another_runs(),
                Taken::Deletion => ServiceError::conflict("deletion_running", "everything is being deleted already"),
            }),
        })?;
        // Let go, it gives the owner's place back: it is made of one that was free.
        let place = ImportPlace { owner, jobs: self.clone() };
        if self.with(|all| is_running(all, owner)) { Err(another_runs()) } else { Ok(place) }
    }

    fn change(&self, id: ImportId, act: impl FnOnce(&mut Job)) {
        self.with(|jobs| jobs.iter_mut().find(|job| job.seen.id == id).map(act));
    }
}

/// Where files without a name are made: whatever ends the program, they are gone with it.
#[derive(Debug, Clone)]
pub(crate) struct Scratch(Option<PathBuf>);

impl Scratch {
    /// An empty file.
    pub fn file(&self) -> io::Result<File> {
        match &self.0 {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        }
    }

    /// One that is in memory as long as it is short.
    pub fn short(&self) -> SpooledTempFile {
        match &self.0 {
            Some(folder) => tempfile::spooled_tempfile_in(SHORT, folder),
            None => tempfile::spooled_tempfile(SHORT),
        }
    }
}

/// A place for one file that is on its way, or for what keeps any from coming. Whoever has it has no other one, and no
/// import that runs.
pub struct ImportPlace {
    owner: UserId,
    jobs: ImportJobs,
}

impl ImportPlace {
    /// An empty file, removed when it is let go.
    pub fn file(&self) -> io::Result<NamedTempFile> {
        match &self.jobs.0.folder {
            Some(folder) => NamedTempFile::new_in(folder),
            None => NamedTempFile::new(),
        }
    }
}

impl Drop for ImportPlace {
    fn drop(&mut self) {
        self.jobs.taken(|taken| taken.remove(&self.owner));
    }
}

/// An import at work. However it is let go, it is over then.
struct Running {
    jobs: ImportJobs,
    id: ImportId,
    file: Option<TempPath>,
    report: ImportReport,
    /// It came to an end of its own.
    has_ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The file is gone before anybody hears that it is over.
        drop(self.file.take());
        let mut report = std::mem::take(&mut self.report);
        if !self.has_ended {
            report.stopped = Some(BROKE_DOWN.to_owned());
        }
        self.jobs.change(self.id, |job| (job.seen.is_over, job.seen.report) = (true, report));
    }
}

impl Service {
    /// A place for a file to take in, before any of it is read.
    ///
    /// # Errors
    /// `import_running` while another import of the owner's is not over, or its file on its way; `deletion_running`
    /// while everything is deleted.
    pub fn import_place(&self, owner: UserId) -> Result<ImportPlace, ServiceError> {
        self.import_jobs_kept().place(owner, Taken::File)
    }

    /// The same, to keep files from coming in while everything is deleted.
    pub(crate) fn deletion_place(&self, owner: UserId) -> Result<ImportPlace, ServiceError> {
        self.import_jobs_kept().place(owner, Taken::Deletion)
    }

    /// Forgets this owner's imports that are over, and what was told of their chats.
    pub(crate) fn forget_imports(&self, owner: UserId) {
        self.import_jobs_kept().with(|jobs| jobs.retain(|job| job.owner != owner || !job.seen.is_over));
    }

    /// Begins to take a file in, and gives the name under which that can be looked at. The file is removed at its end.
    ///
    /// # Errors
    /// `import_running` while another import of the owner's is not over: two of the same file would race.
    pub fn begin_import(&self, import: Import, file: TempPath) -> Result<ImportId, ServiceError> {
        let id = ids::mint::<ImportId>();
        let jobs = self.import_jobs_kept().clone();
        let stop = jobs.0.stop.child_token();
        let report = ImportReport::of(&import);
        let seen = ImportJob { id, is_over: false, started_at: self.clock().now(), report: report.clone() };
        jobs.with(|all| {
            if is_running(all, import.owner) {
                return Err(another_runs());
            }
            if all.len() == REMEMBERED {
                all.pop_front();
            }
            all.push_back(Job { owner: import.owner, stop: stop.clone(), seen });
            Ok(())
        })?;
        let service = self.clone();
        let running = Running { jobs: jobs.clone(), id, file: Some(file), report, has_ended: false };
        tokio::spawn(async move {
            let mut running = running;
            let mut shown: Option<Instant> = None;
            let mut progress = |report: &ImportReport| {
                if shown.is_none_or(|at| at.elapsed() >= SHOWN_EVERY) {
                    let report = report.clone();
                    jobs.change(id, |job| job.seen.report = report);
                    shown = Some(Instant::now());
                }
                true
            };
            match service.import_until(&import, &mut running.report, &mut progress, &stop).await {
                Ok(()) => running.has_ended = true,
                Err(error) => tracing::error!(%error, "an import broke off"),
            }
        });
        Ok(id)
    }

    /// An import of this owner's.
    pub fn import_job(&self, owner: UserId, id: ImportId) -> Result<ImportJob, ServiceError> {
        let found = |jobs: &mut VecDeque<Job>| {
            jobs.iter().find(|job| job.owner == owner && job.seen.id == id).map(|job| job.seen.clone())
        };
        self.import_jobs_kept().with(found).ok_or(ServiceError::NotFound)
    }

    /// The imports of this owner's since the server started, the newest first.
    pub fn import_jobs(&self, owner: UserId) -> Vec<ImportJob> {
        self.import_jobs_kept()
            .with(|jobs| jobs.iter().rev().filter(|job| job.owner == owner).map(|job| job.seen.clone()).collect())
    }

    /// Ends an import behind the conversation that it is at. What came in stays.
    pub fn stop_import(&self, owner: UserId, id: ImportId) -> Result<(), ServiceError> {
        self.import_job(owner, id)?;
        self.import_jobs_kept().change(id, |job| job.stop.cancel());
        Ok(())
    }

    /// Ends all imports, for good: the server goes down.
    pub fn stop_imports(&self) {
        self.import_jobs_kept().0.stop.cancel();
    }
}

fn is_running(jobs: &VecDeque<Job>, owner: UserId) -> bool {
    jobs.iter().any(|job| job.owner == owner && !job.seen.is_over)
}

fn another_runs() -> ServiceError {
    ServiceError::conflict("import_running", "another import is not over yet")
}
