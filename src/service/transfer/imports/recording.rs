//! The record of an import: its state and report, and what it creates, each stored in the transaction that creates it.
//! A dry run has no record.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::report::ImportReport;
use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, DocumentId, ImportId, ImportState, UserId};
use turnleaf_store::imports::{self, ImportedTurns};
use turnleaf_store::{StoreError, Tx};

/// Returns the report as it is stored.
fn stored_report(report: &ImportReport) -> Value {
    serde_json::to_value(report.shortened()).unwrap_or_default()
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
    let state = if report.stopped.is_some() { ImportState::Stopped } else { ImportState::Finished };
    imports::finish(tx, owner, id, (state, &stored_report(report)), now).await
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

    /// Marks the imports that a previous server process left unfinished. Returns their number.
    pub async fn interrupt_unfinished_imports(&self) -> Result<u64, StoreError> {
        let mut tx = self.db().begin().await?;
        let interrupted = imports::interrupt_running(&mut tx, self.clock().now()).await?;
        tx.commit().await?;
        Ok(interrupted)
    }
}
