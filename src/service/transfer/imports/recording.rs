//! The record of an import: its state and report, and what it creates, each stored in the transaction that creates it.
//! A dry run has no record.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::time::Instant;

use super::report::ImportReport;
use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, DocumentId, ImportId, MessageCode, UserId, limits};
use turnleaf_store::transfer::imports::{self, ImportedTurns};
use turnleaf_store::{StoreError, Tx};

/// Returns the report as it is stored.
fn stored_report(report: &ImportReport) -> Value {
    serde_json::to_value(report.shortened()).unwrap_or_default()
}

/// Reads a stored report. Members that the version which wrote it did not have get their default.
pub(super) fn read_report(stored: Value) -> ImportReport {
    let mut members = serde_json::to_value(ImportReport::default()).unwrap_or_default();
    if let (Value::Object(members), Value::Object(stored)) = (&mut members, stored) {
        members.extend(stored);
    }
    serde_json::from_value(members).unwrap_or_default()
}

/// Reads the stored report of an interrupted import, with the reason why it ended.
pub(super) fn interrupted_report(stored: Value) -> ImportReport {
    let mut report = read_report(stored);
    if report.stopped.is_none() {
        report.stop(MessageCode::ImportInterrupted);
    }
    report
}

/// Marks a running import, whose stored report this is, as interrupted; returns false if it no longer runs.
pub(super) async fn interrupt(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    report: Value,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    imports::interrupt(tx, owner, id, &stored_report(&interrupted_report(report)), now).await
}

/// Records that an import begins.
pub(super) async fn insert(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    report: &ImportReport,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    imports::insert(tx, owner, id, &stored_report(report), now).await
}

/// Records how the import of this report ended.
pub(super) async fn finish(
    tx: &mut Tx,
    owner: UserId,
    report: &ImportReport,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let Some(id) = report.recorded else { return Ok(()) };
    imports::finish(tx, owner, id, (report.end_state(), &stored_report(report)), now).await
}

/// Assigns a new chat, whose last turn has this ord, to the record.
pub(super) async fn record_new_chat(
    tx: &mut Tx,
    owner: UserId,
    recorded: Option<ImportId>,
    (chat_id, last_ord): (ChatId, i64),
) -> Result<(), StoreError> {
    match recorded {
        Some(id) => imports::record_turns(tx, owner, id, &ImportedTurns { chat_id, ords: 0..=last_ord.max(0) }).await,
        None => Ok(()),
    }
}

/// Assigns a new document to the record, after its last version.
pub(super) async fn record_document(
    tx: &mut Tx,
    owner: UserId,
    recorded: Option<ImportId>,
    document: DocumentId,
) -> Result<(), StoreError> {
    match recorded {
        Some(id) => imports::record_document(tx, owner, id, document).await,
        None => Ok(()),
    }
}

impl Service {
    /// Records the import of this report under an id, unless it is a dry run.
    pub(super) async fn begin_record(
        &self,
        owner: UserId,
        id: ImportId,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        if report.dry_run {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        insert(&mut tx, owner, id, report, self.clock().now()).await?;
        tx.commit().await?;
        report.recorded = Some(id);
        Ok(())
    }

    /// Records how the import of this report ended.
    pub(super) async fn end_record(&self, owner: UserId, report: &ImportReport) -> Result<(), ServiceError> {
        if report.recorded.is_none() {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        finish(&mut tx, owner, report, self.clock().now()).await?;
        Ok(tx.commit().await?)
    }

    /// Stores the report of a running import if it was not stored for a while: an interruption leaves its counts, and
    /// it is a sign of life of an import on the command line. A failure only delays it.
    pub(super) async fn store_progress(&self, owner: UserId, report: &ImportReport, stored_at: &mut Instant) {
        let Some(id) = report.recorded.filter(|_| stored_at.elapsed() >= limits::IMPORT_REPORT_STORED_EVERY) else {
            return;
        };
        let stored = async {
            let mut tx = self.db().begin().await?;
            imports::store_report(&mut tx, owner, id, &stored_report(report), self.clock().now()).await?;
            tx.commit().await
        };
        if let Err(error) = stored.await {
            tracing::warn!(%error, "the progress of an import could not be stored");
        }
        *stored_at = Instant::now();
    }

    /// Marks the imports that a previous server process left unfinished. Returns their number.
    pub async fn interrupt_unfinished_imports(&self) -> Result<u64, StoreError> {
        let mut tx = self.db().begin().await?;
        let (mut interrupted, now) = (0, self.clock().now());
        for (owner, id, report) in imports::list_running(&mut tx).await? {
            interrupted += u64::from(interrupt(&mut tx, owner, id, report, now).await?);
        }
        tx.commit().await?;
        Ok(interrupted)
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
