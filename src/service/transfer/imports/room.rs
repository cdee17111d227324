//! Storage bounds of imports: chats are imported completely or not at all, and those without room are counted and
//! reported.

use super::report::{ImportOutcome, ImportReport, ImportRequest, ImportedChat};
use crate::usage::storage::bounds::StorageRefusal;
use crate::{Service, ServiceError};
use turnleaf_domain::{MessageCode, UserId};
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation};

impl Service {
    /// Checks whether this many bytes of a conversation fit. A conversation that does not fit is reported; a full
    /// disk also ends the import.
    pub(super) async fn has_import_room(
        &self,
        owner: UserId,
        bytes: u64,
        conversation: &str,
        report: &mut ImportReport,
    ) -> Result<bool, ServiceError> {
        let refusal = match self.check_imported_growth(owner, report.tally.bytes() + bytes).await {
            Ok(()) => return Ok(true),
            Err(ServiceError::Storage(refusal)) => refusal,
            Err(error) => return Err(error),
        };
        if refusal == StorageRefusal::DiskLow {
            report.stop(MessageCode::ImportDiskLow);
        }
        report.did_not_fit += 1;
        let place = IssueLocation { conversation: conversation.to_owned(), ..IssueLocation::default() };
        report.add_finding(&ImportIssue { kind: IssueKind::LeftOut, location: place, text: refusal.to_string() });
        Ok(false)
    }

    /// Checks the room for a new chat, and reports it as left out if there is none.
    pub(super) async fn has_new_chat_room(
        &self,
        owner: UserId,
        bytes: u64,
        entry: ImportedChat,
        report: &mut ImportReport,
    ) -> Result<bool, ServiceError> {
        let fits = self.has_import_room(owner, bytes, &entry.title, report).await?;
        if !fits {
            report.add_chat(ImportedChat { id: None, outcome: ImportOutcome::LeftOut, ..entry });
        }
        Ok(fits)
    }

    /// Counts the bytes that were imported, or would have been.
    pub(super) async fn count_imported(&self, import: &ImportRequest, bytes: u64, report: &mut ImportReport) {
        if import.dry_run {
            report.tally.add_chat(bytes);
        } else {
            self.note_growth(import.owner, bytes).await;
        }
    }
}
