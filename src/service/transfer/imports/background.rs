//! Imports and previews in the background: start, import of a preview, stop.

use std::time::Duration;

use tokio::time::Instant;

use super::job::ImportJob;
use super::jobs::{PreviewStart, RunningImport};
use super::report::{ImportReport, ImportRequest};
use super::spool::SpooledImport;
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountChange, ImportId, MessageCode, UserId, limits};

/// The minimum interval between progress updates: a report of thousands of issues is not copied for each of them.
const SHOWN_EVERY: Duration = Duration::from_millis(250);

impl Service {
    /// Starts an import in the background and returns its id. The file is removed when the import ends.
    ///
    /// # Errors
    /// `import_running` while another import of the owner runs: two imports of the same file would race.
    pub fn start_import(
        &self,
        import: ImportRequest,
        file: impl Into<SpooledImport>,
    ) -> Result<ImportId, ServiceError> {
        let running = self.import_job_registry().start(&import, file.into(), self.clock().now(), false)?;
        let id = running.id;
        tokio::spawn(self.clone().run_import(import, running));
        Ok(id)
    }

    /// Starts a preview in the background and returns its id: a dry run that keeps the file for
    /// [`limits::IMPORT_PREVIEW_KEPT`], or until the next upload of the owner, so that
    /// [`Self::import_preview`] can import it.
    ///
    /// # Errors
    /// `import_running` while another import of the owner runs.
    pub fn start_preview(
        &self,
        import: ImportRequest,
        file: impl Into<SpooledImport>,
    ) -> Result<ImportId, ServiceError> {
        let import = ImportRequest { dry_run: true, ..import };
        let running = self.import_job_registry().start(&import, file.into(), self.clock().now(), true)?;
        let (id, jobs, service) = (running.id, running.jobs.clone(), self.clone());
        tokio::spawn(async move {
            service.run_import(import, running).await;
            tokio::time::sleep(limits::IMPORT_PREVIEW_KEPT).await;
            jobs.expire_preview(id);
        });
        Ok(id)
    }

    /// Starts the import of a previewed file and returns its id; a repeated call returns the same one.
    ///
    /// # Errors
    /// `NotFound` if the owner has no such preview, `not_a_preview` for an import, `preview_running`, `preview_expired`
    /// when its file is gone, and `import_running` or `deletion_running` while the slot of the owner is held.
    pub async fn import_preview(&self, owner: UserId, preview: ImportId) -> Result<ImportId, ServiceError> {
        if self.find_import(owner, preview).await?.report.dry_run {
            return self.import_preview_job(owner, preview);
        }
        Err(ServiceError::conflict("not_a_preview", MessageCode::NotAPreview))
    }

    fn import_preview_job(&self, owner: UserId, preview: ImportId) -> Result<ImportId, ServiceError> {
        match self.import_job_registry().start_preview_import(owner, preview, self.clock().now())? {
            PreviewStart::Earlier(id) => Ok(id),
            PreviewStart::New(started) => {
                let (running, import) = *started;
                let id = running.id;
                tokio::spawn(self.clone().run_import(import, running));
                Ok(id)
            }
        }
    }

    async fn run_import(self, import: ImportRequest, mut running: RunningImport) {
        let (id, jobs, stop) = (running.id, running.jobs.clone(), running.stop.clone());
        let (changes, owner, imports_chats) = (self.supervisor().changes(), import.owner, !import.dry_run);
        let mut shown: Option<Instant> = None;
        let mut progress = |report: &ImportReport| {
            if shown.is_none_or(|at| at.elapsed() >= SHOWN_EVERY) {
                jobs.update_report(id, report);
                if imports_chats {
                    changes.publish(owner, AccountChange::ChatListChanged);
                }
                shown = Some(Instant::now());
            }
            true
        };
        let report = &mut running.report;
        let imported = match self.begin_record(import.owner, id, report).await {
            Ok(()) => self.import_until(&import, report, &mut progress, &stop).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &imported {
            tracing::error!(%error, "an import broke off");
            report.stop(MessageCode::ImportCrashed);
        }
        // The job is over only after this, so that whoever waits for it finds the record complete.
        if let Err(error) = self.end_record(import.owner, report).await {
            tracing::error!(%error, "the end of an import could not be recorded");
        }
        running.ended_at = imported.is_ok().then(|| self.clock().now());
        drop(running);
        if imports_chats {
            changes.publish_all(owner, [AccountChange::ChatListChanged, AccountChange::NotificationsChanged]);
        }
        self.supervisor().index_soon();
    }

    /// Returns a job of this process.
    pub fn import_job(&self, owner: UserId, id: ImportId) -> Result<ImportJob, ServiceError> {
        self.import_job_registry().find(owner, id).ok_or(ServiceError::NotFound)
    }

    /// Returns the jobs of this process, newest first.
    pub fn import_jobs(&self, owner: UserId) -> Vec<ImportJob> {
        self.import_job_registry().owner_jobs(owner)
    }

    /// Stops an import after its current conversation; imported chats stay. The file of a finished preview is removed,
    /// and it is no longer listed.
    pub async fn stop_import(&self, owner: UserId, id: ImportId) -> Result<(), ServiceError> {
        if self.find_import(owner, id).await?.is_over {
            self.import_job_registry().cancel_preview(id);
        } else {
            self.import_job_registry().stop(id);
        }
        Ok(())
    }

    /// Stops all imports permanently, because the server shuts down.
    pub fn stop_imports(&self) {
        self.import_job_registry().stop_all();
    }
}
