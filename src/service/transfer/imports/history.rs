//! Imports as their owner sees them: those of this process with their progress, and the recorded ones.

use super::job::{ImportJob, ImportSummary};
use super::recording::{self, interrupted_report, read_report};
use super::reversal::{KeptChat, KeptCreations, KeptDocument};
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountChange, ImportId, ImportState, MessageCode, UserId, limits};
use turnleaf_store::transfer::imports::{self, StoredImport};

/// Returns a recorded import as a job. One that is recorded as running although it does not run was interrupted.
fn recorded_job(stored: StoredImport, is_running: bool) -> ImportJob {
    let state = match stored.state {
        ImportState::Running if !is_running => ImportState::Interrupted,
        state => state,
    };
    let report = match state {
        ImportState::Interrupted => interrupted_report(stored.report),
        _ => read_report(stored.report),
    };
    ImportJob {
        id: stored.id,
        is_over: state != ImportState::Running,
        state,
        started_at: stored.started_at,
        ended_at: stored.ended_at,
        undone_at: stored.undone_at,
        importable_until: None,
        import_id: None,
        present: stored.present,
        in_trash: stored.in_trash,
        reversal: None,
        kept: None,
        report,
    }
}

impl Service {
    /// Returns whether a recorded import runs: in this process, or, if this process does not know it, on the command
    /// line beside the server, which stores its report regularly.
    fn is_import_running(&self, owner: UserId, stored: &StoredImport) -> bool {
        stored.state == ImportState::Running
            && match self.import_job_registry().find(owner, stored.id) {
                Some(job) => !job.is_over,
                None => self.clock().now() - stored.reported_at < limits::IMPORT_SILENCE,
            }
    }

    fn recorded_import(&self, owner: UserId, stored: StoredImport) -> ImportJob {
        let is_running = self.is_import_running(owner, &stored);
        let reversal = self.import_job_registry().reversal(owner, stored.id);
        ImportJob { reversal, ..recorded_job(stored, is_running) }
    }

    /// Returns a recorded import that does not run. One whose process ended without recording it is marked as
    /// interrupted. The caller holds the owner's slot.
    ///
    /// # Errors
    /// `NotFound` if the owner has no such record, `import_running` while it runs.
    pub(super) async fn ended_import(&self, owner: UserId, id: ImportId) -> Result<StoredImport, ServiceError> {
        let stored = imports::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if stored.state != ImportState::Running {
            return Ok(stored);
        }
        if self.is_import_running(owner, &stored) {
            return Err(ServiceError::conflict("import_running", MessageCode::ImportRunning));
        }
        let mut tx = self.db().begin().await?;
        recording::interrupt(&mut tx, owner, id, stored.report, self.clock().now()).await?;
        tx.commit().await?;
        imports::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns an import, a preview or a dry run of this owner. Its report is complete while this process knows it,
    /// and lists [`limits::IMPORT_REPORT_LISTED`] chats and differences afterwards.
    pub async fn find_import(&self, owner: UserId, id: ImportId) -> Result<ImportJob, ServiceError> {
        let job = self.import_job_registry().find(owner, id);
        // Before the record, so that the end of a reversal is never seen without its result.
        let reversal = self.import_job_registry().reversal(owner, id);
        match job {
            Some(job) if !job.is_over || job.report.dry_run => Ok(job),
            job => {
                let recorded = imports::find(self.db(), owner, id).await?;
                let recorded = recorded.map(|stored| ImportJob { reversal, ..self.recorded_import(owner, stored) });
                let mut found = match (recorded, job) {
                    (Some(recorded), Some(job)) => ImportJob { report: job.report, ..recorded },
                    (Some(recorded), None) => recorded,
                    (None, Some(job)) => job,
                    (None, None) => return Err(ServiceError::NotFound),
                };
                if found.state == ImportState::Undone && !found.present.is_empty() {
                    found.kept = Some(self.kept_creations(owner, id).await?);
                }
                Ok(found)
            }
        }
    }

    async fn kept_creations(&self, owner: UserId, id: ImportId) -> Result<KeptCreations, ServiceError> {
        let chats = imports::kept::list_chats(self.db(), owner, id, limits::IMPORT_KEPT_LISTED).await?;
        let documents = imports::kept::list_documents(self.db(), owner, id, limits::IMPORT_KEPT_LISTED).await?;
        Ok(KeptCreations {
            chats: chats.into_iter().map(|chat| KeptChat { id: chat.id, title: chat.title }).collect(),
            documents: documents
                .into_iter()
                .map(|document| KeptDocument { id: document.id, title: document.title, is_used: document.is_used })
                .collect(),
        })
    }

    /// Returns the imports of this owner without their reports, newest first, with the previews and dry runs of this
    /// process.
    pub async fn list_imports(&self, owner: UserId) -> Result<Vec<ImportSummary>, ServiceError> {
        let mut listed = self.import_job_registry().owner_summaries(owner);
        let recorded = imports::list(self.db(), owner, limits::IMPORTS_KEPT).await?;
        // Jobs that could not be recorded are kept, too.
        listed.retain(|job| !job.is_over || !recorded.iter().any(|stored| stored.id == job.id));
        let is_new = |stored: &StoredImport| !listed.iter().any(|job| job.id == stored.id);
        let recorded: Vec<ImportSummary> =
            recorded.into_iter().filter(is_new).map(|stored| self.recorded_import(owner, stored).summary()).collect();
        listed.extend(recorded);
        listed.sort_by_key(|import| std::cmp::Reverse(import.id));
        Ok(listed)
    }

    /// Forgets an import with its report, which contains titles of chats. What it created stays, and can no longer be
    /// undone together; what is in Trash is listed there one by one.
    ///
    /// # Errors
    /// `import_running` while it runs, or is being undone or restored.
    pub async fn forget_import(&self, owner: UserId, id: ImportId) -> Result<(), ServiceError> {
        let job = self.find_import(owner, id).await?;
        if !job.is_over {
            return Err(ServiceError::conflict("import_running", MessageCode::ImportRunning));
        }
        // While the slot is held, the import is not being undone or restored. A preview has no record.
        let _slot = if job.report.dry_run { None } else { Some(self.import_slot(owner)?) };
        match self.ended_import(owner, id).await {
            // It could not be recorded.
            Ok(_) | Err(ServiceError::NotFound) => {}
            Err(error) => return Err(error),
        }
        let mut tx = self.db().begin().await?;
        imports::delete(&mut tx, owner, id).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::NotificationsChanged);
        self.import_job_registry().forget(owner, id);
        if self.import_job_registry().reversal(owner, id).is_some() {
            self.import_job_registry().forget_reversal(owner);
        }
        Ok(())
    }

    /// Returns the imports whose undoing can be reverted, because what they created is in Trash.
    pub async fn list_undone_imports(&self, owner: UserId) -> Result<Vec<ImportSummary>, ServiceError> {
        let recorded = imports::list_undone(self.db(), owner).await?.into_iter();
        let summary = |stored| self.recorded_import(owner, stored).summary();
        Ok(recorded.filter(|stored| stored.in_trash > 0).map(summary).collect())
    }
}
