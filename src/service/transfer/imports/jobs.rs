//! Import jobs started from the page or the API: they run in the background, and can be listed and stopped. A preview
//! is a dry run that keeps its file for a while, so that it can be imported without another upload. Jobs live in this
//! process; what an import creates is recorded in the database ([`super::recording`]).

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

pub use self::slot::ImportSlot;
pub(super) use self::slot_use::ImportSlotUse;
use self::slot_use::import_running;
use super::job::{ImportJob, ImportSummary};
use super::report::{ImportReport, ImportRequest};
use super::reversal::Reversals;
use super::spool::{ImportScratch, SpooledImport, spooled_bytes};
use crate::ServiceError;
use turnleaf_domain::{ImportCreations, ImportId, ImportState, MessageCode, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::storage_dir::StorageDir;
use turnleaf_platform::tasks;

pub(super) mod reversals;
mod slot;
mod slot_use;

/// The number of finished imports that are remembered.
const REMEMBERED: usize = 20;
/// The maximum time of a transaction that stores a chunk of a chat.
const PIECE_TIME: Duration = Duration::from_millis(200);

struct JobEntry {
    owner: UserId,
    stop: CancellationToken,
    seen: ImportJob,
    /// The file of a preview, with how to read it.
    kept: Option<KeptFile>,
    /// A preview that was cancelled: it is found by its id, and not listed.
    is_cancelled: bool,
}

/// The file of a preview.
struct KeptFile {
    file: SpooledImport,
    request: ImportRequest,
}

impl JobEntry {
    /// Removes the file of a preview.
    fn discard_file(&mut self) {
        self.kept = None;
        self.seen.importable_until = None;
    }
}

/// The start of an import from its preview.
pub(super) enum PreviewStart {
    /// It was started before.
    Earlier(ImportId),
    New(Box<(RunningImport, ImportRequest)>),
}

/// The import jobs of this process.
#[derive(Clone, Default)]
pub struct ImportJobs(Arc<ImportJobsInner>);

#[derive(Default)]
struct ImportJobsInner {
    jobs: Mutex<VecDeque<JobEntry>>,
    /// The owners whose slot is held, with its purpose.
    taken: Mutex<HashMap<UserId, ImportSlotUse>>,
    reversals: Reversals,
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
        ImportScratch::in_folder(self.0.folder.clone())
    }

    /// Returns the bytes of the files in the folder, arriving or waiting. Without a folder there are no uploads.
    pub(crate) async fn waiting_bytes(&self) -> u64 {
        let Some(folder) = self.0.folder.clone() else { return 0 };
        tasks::spawn_blocking(move || spooled_bytes(&folder)).await.unwrap_or(0)
    }

    fn with_jobs<T>(&self, act: impl FnOnce(&mut VecDeque<JobEntry>) -> T) -> T {
        act(&mut self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Registers an import job, unless another one of its owner runs: two imports of the same file would race. With
    /// `keeps_file` it is a preview, which replaces the one that the owner had.
    pub(super) fn start(
        &self,
        import: &ImportRequest,
        file: SpooledImport,
        started_at: DateTime<Utc>,
        keeps_file: bool,
    ) -> Result<RunningImport, ServiceError> {
        self.with_jobs(|all| {
            let mut running = self.register(all, import, started_at)?;
            all.iter_mut().filter(|job| job.owner == import.owner).for_each(JobEntry::discard_file);
            running.file = Some(file);
            running.keeps = keeps_file.then(|| import.clone());
            Ok(running)
        })
    }

    /// Registers the import of a preview.
    ///
    /// # Errors
    /// `NotFound` for an unknown job; conflicts while the preview or another import runs, while the slot is held, and
    /// when the file is gone.
    pub(super) fn start_preview_import(
        &self,
        owner: UserId,
        preview: ImportId,
        now: DateTime<Utc>,
    ) -> Result<PreviewStart, ServiceError> {
        self.with_jobs(|all| {
            let entry = all.iter_mut().find(|job| job.owner == owner && job.seen.id == preview);
            let entry = entry.ok_or(ServiceError::NotFound)?;
            if let Some(earlier) = entry.seen.import_id {
                return Ok(PreviewStart::Earlier(earlier));
            }
            self.check_slot(owner)?;
            if !entry.seen.is_over {
                return Err(ServiceError::conflict("preview_running", MessageCode::PreviewRunning));
            }
            if entry.seen.importable_until.is_none_or(|until| until <= now) {
                entry.discard_file();
            }
            let expected = entry.seen.report.conversations;
            let kept = entry.kept.as_ref().map(|kept| ImportRequest { dry_run: false, ..kept.request.clone() });
            let expired = || ServiceError::conflict("preview_expired", MessageCode::PreviewExpired);
            let request = kept.ok_or_else(expired)?;
            let mut running = self.register(all, &request, now)?;
            running.report.expected_conversations = Some(expected);
            // The registry forgets no job with a file.
            if let Some(entry) = all.iter_mut().find(|job| job.seen.id == preview) {
                running.file = entry.kept.take().map(|kept| kept.file);
                entry.seen.importable_until = None;
                entry.seen.import_id = Some(running.id);
            }
            Ok(PreviewStart::New(Box::new((running, request))))
        })
    }

    fn register(
        &self,
        all: &mut VecDeque<JobEntry>,
        import: &ImportRequest,
        started_at: DateTime<Utc>,
    ) -> Result<RunningImport, ServiceError> {
        if is_running(all, import.owner) {
            return Err(import_running());
        }
        let (id, stop, report) = (ids::mint::<ImportId>(), self.0.stop.child_token(), ImportReport::new(import));
        let seen = ImportJob {
            id,
            is_over: false,
            state: ImportState::Running,
            started_at,
            ended_at: None,
            undone_at: None,
            importable_until: None,
            import_id: None,
            present: ImportCreations::default(),
            in_trash: 0,
            reversal: None,
            kept: None,
            report: report.clone(),
        };
        if all.len() >= REMEMBERED
            && let Some(oldest) = all.iter().position(|job| job.seen.is_over && job.kept.is_none())
        {
            all.remove(oldest);
        }
        all.push_back(JobEntry { owner: import.owner, stop: stop.clone(), seen, kept: None, is_cancelled: false });
        Ok(RunningImport { jobs: self.clone(), id, stop, file: None, keeps: None, report, ended_at: None })
    }

    /// Removes the file of a preview whose time is over.
    pub(super) fn expire_preview(&self, id: ImportId) {
        self.update_job(id, JobEntry::discard_file);
    }

    /// Removes the file of a finished preview, which is no longer listed; does nothing for other jobs.
    pub(super) fn cancel_preview(&self, id: ImportId) {
        self.update_job(id, |job| {
            job.is_cancelled |= job.kept.is_some();
            job.discard_file();
        });
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

    /// Returns the imports of this owner without their reports, newest first.
    pub(super) fn owner_summaries(&self, owner: UserId) -> Vec<ImportSummary> {
        let is_listed = |job: &&JobEntry| job.owner == owner && !job.is_cancelled;
        self.with_jobs(|jobs| jobs.iter().rev().filter(is_listed).map(|job| job.seen.summary()).collect())
    }

    /// Returns the imports of this owner, newest first.
    pub(super) fn owner_jobs(&self, owner: UserId) -> Vec<ImportJob> {
        let is_listed = |job: &&JobEntry| job.owner == owner && !job.is_cancelled;
        self.with_jobs(|jobs| jobs.iter().rev().filter(is_listed).map(|job| job.seen.clone()).collect())
    }

    /// Forgets the finished imports of this owner.
    pub(super) fn forget_finished(&self, owner: UserId) {
        self.with_jobs(|jobs| jobs.retain(|job| job.owner != owner || !job.seen.is_over));
    }

    /// Forgets a job that is over.
    pub(super) fn forget(&self, owner: UserId, id: ImportId) {
        self.with_jobs(|jobs| jobs.retain(|job| job.owner != owner || job.seen.id != id || !job.seen.is_over));
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

/// A running import. Dropping it marks the job as over.
pub(super) struct RunningImport {
    pub jobs: ImportJobs,
    pub id: ImportId,
    /// Cancelled when the import is stopped.
    pub stop: CancellationToken,
    file: Option<SpooledImport>,
    /// For a preview: how its file is to be read again.
    keeps: Option<ImportRequest>,
    pub report: ImportReport,
    /// The time at which the import ended regularly.
    pub ended_at: Option<DateTime<Utc>>,
}

impl Drop for RunningImport {
    fn drop(&mut self) {
        let (mut report, file) = (std::mem::take(&mut self.report), self.file.take());
        if self.ended_at.is_none() {
            report.stop(MessageCode::ImportCrashed);
        }
        // A preview that was stopped, or found nothing, has nothing to import.
        let is_useful = report.stopped.is_none() || report.imported + report.known > 0;
        let ended_at = self.ended_at.filter(|_| is_useful && !self.stop.is_cancelled());
        let keeps = self.keeps.take().filter(|_| ended_at.is_some());
        let kept = file.zip(keeps).map(|(file, request)| KeptFile { file, request });
        // A file that is not kept was removed before the job is reported as over.
        self.jobs.update_job(self.id, |job| {
            let until = ended_at.map(|ended| ended + limits::IMPORT_PREVIEW_KEPT);
            job.seen.importable_until = until.filter(|_| kept.is_some());
            job.kept = kept;
            job.seen.state = report.end_state();
            (job.seen.is_over, job.seen.report) = (true, report);
        });
    }
}

fn is_running(jobs: &VecDeque<JobEntry>, owner: UserId) -> bool {
    jobs.iter().any(|job| job.owner == owner && !job.seen.is_over)
}
