//! Imports as their owner sees them: those of this process with their progress, and the recorded ones.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use super::jobs::ImportJob;
use super::report::ImportReport;
use crate::{Service, ServiceError};
use turnleaf_domain::{ImportCreations, ImportId, ImportState, MessageCode, UserId, limits};
use turnleaf_store::imports::{self, StoredImport};

/// An import in a list, without its chats and differences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportSummary {
    pub id: ImportId,
    pub is_over: bool,
    pub state: ImportState,
    /// True for previews and dry runs.
    pub dry_run: bool,
    pub name: String,
    /// Null if the format is not known.
    pub format: Option<&'static str>,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub undone_at: Option<DateTime<Utc>>,
    /// For a preview: the time until which it can be imported.
    pub importable_until: Option<DateTime<Utc>>,
    pub conversations: u64,
    pub imported: u64,
    pub known: u64,
    pub left_out: u64,
    /// What the import created and is not in Trash; counted after its end.
    pub present: ImportCreations,
    /// The number of items that are in Trash because the import was undone, and can be restored.
    pub in_trash: u64,
}

impl From<&ImportJob> for ImportSummary {
    fn from(job: &ImportJob) -> Self {
        let report = &job.report;
        Self {
            id: job.id,
            is_over: job.is_over,
            state: job.state,
            dry_run: report.dry_run,
            name: report.name.clone(),
            format: report.format,
            started_at: job.started_at,
            ended_at: job.ended_at,
            undone_at: job.undone_at,
            importable_until: job.importable_until,
            conversations: report.conversations,
            imported: report.imported,
            known: report.known,
            left_out: report.left_out,
            present: job.present,
            in_trash: job.in_trash,
        }
    }
}

/// Reads a stored report. Members that the version which wrote it did not have get their default.
fn read_report(stored: Value) -> ImportReport {
    let mut members = serde_json::to_value(ImportReport::default()).unwrap_or_default();
    if let (Value::Object(members), Value::Object(stored)) = (&mut members, stored) {
        members.extend(stored);
    }
    serde_json::from_value(members).unwrap_or_default()
}

/// Returns a recorded import as a job.
fn recorded_job(stored: StoredImport) -> ImportJob {
    let mut report = read_report(stored.report);
    // The report of an import that did not end is the one from its start.
    if stored.state == ImportState::Interrupted && report.stopped.is_none() {
        report.stop(MessageCode::ImportInterrupted);
    }
    ImportJob {
        id: stored.id,
        is_over: stored.state != ImportState::Running,
        state: stored.state,
        started_at: stored.started_at,
        ended_at: stored.ended_at,
        undone_at: stored.undone_at,
        importable_until: None,
        import_id: None,
        present: stored.present,
        in_trash: stored.in_trash,
        report,
    }
}

impl Service {
    /// Returns an import, a preview or a dry run of this owner. Its report is complete while this process knows it,
    /// and lists [`limits::IMPORT_REPORT_LISTED`] chats and differences afterwards.
    pub async fn find_import(&self, owner: UserId, id: ImportId) -> Result<ImportJob, ServiceError> {
        let job = self.import_job_registry().find(owner, id);
        match job {
            Some(job) if !job.is_over || job.report.dry_run => Ok(job),
            job => {
                let recorded = imports::find(self.db(), owner, id).await?.map(recorded_job);
                match (recorded, job) {
                    (Some(recorded), Some(job)) => Ok(ImportJob { report: job.report, ..recorded }),
                    (Some(recorded), None) => Ok(recorded),
                    (None, Some(job)) => Ok(job),
                    (None, None) => Err(ServiceError::NotFound),
                }
            }
        }
    }

    /// Returns the imports of this owner, newest first, and before them the previews and dry runs of this process.
    pub async fn list_imports(&self, owner: UserId) -> Result<Vec<ImportJob>, ServiceError> {
        let mut jobs = self.import_job_registry().owner_jobs(owner);
        let recorded = imports::list(self.db(), owner, limits::IMPORTS_KEPT).await?;
        // Jobs that could not be recorded are kept, too.
        jobs.retain(|job| !job.is_over || !recorded.iter().any(|stored| stored.id == job.id));
        let is_shown = |stored: &StoredImport| !jobs.iter().any(|job| job.id == stored.id);
        let recorded: Vec<ImportJob> = recorded.into_iter().filter(is_shown).map(recorded_job).collect();
        jobs.extend(recorded);
        jobs.sort_by_key(|job| std::cmp::Reverse(job.id));
        Ok(jobs)
    }

    /// Forgets an import with its report, which contains titles of chats. What it created stays, and can no longer be
    /// undone together; what is in Trash is listed there one by one.
    ///
    /// # Errors
    /// `import_running` while it runs.
    pub async fn forget_import(&self, owner: UserId, id: ImportId) -> Result<(), ServiceError> {
        if !self.find_import(owner, id).await?.is_over {
            return Err(ServiceError::conflict("import_running", MessageCode::ImportRunning));
        }
        let mut tx = self.db().begin().await?;
        imports::delete(&mut tx, owner, id).await?;
        tx.commit().await?;
        self.import_job_registry().forget(owner, id);
        Ok(())
    }

    /// Returns the imports whose undoing can be reverted, because what they created is in Trash.
    pub async fn list_undone_imports(&self, owner: UserId) -> Result<Vec<ImportJob>, ServiceError> {
        let recorded = imports::list(self.db(), owner, limits::IMPORTS_KEPT).await?;
        Ok(recorded.into_iter().filter(|stored| stored.in_trash > 0).map(recorded_job).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::{ImportDifference, ImportDifferenceKind};

    #[test]
    fn stored_report_is_read_also_from_other_versions() {
        let mut report = ImportReport { name: "a.json".to_owned(), format: Some("chatgpt"), ..ImportReport::default() };
        report.findings = vec![ImportDifference::new(ImportDifferenceKind::Lost, "a".to_owned(), "b".to_owned())];
        report.stop(MessageCode::ImportNewerVersion.with("version", 9));
        assert_eq!(read_report(serde_json::to_value(&report).unwrap()), report);
        let reason = report.stop_reason().unwrap();
        assert_eq!(reason, MessageCode::ImportNewerVersion.with("version", 9));
        let other = read_report(json!({ "name": "b.json", "format": "unheard-of", "more": 1 }));
        assert_eq!((other.name.as_str(), other.format), ("b.json", None));
        assert_eq!(read_report(json!("damaged")), ImportReport::default());
    }
}
