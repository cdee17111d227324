//! Whether what an import brings has room: chats come in whole or not at all, and what does not fit is counted and told.

use super::report::{ImportOutcome, ImportReport, ImportRequest, ImportedChat};
use crate::usage::storage::bounds::StorageRefusal;
use crate::{Service, ServiceError};
use turnleaf_domain::UserId;
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation};

/// Why an import ended for which the disk has no room.
pub const DISK_IS_LOW: &str = "the server's disk is almost full";

impl Service {
    /// Whether so many bytes of this conversation fit beside what is here. What does not is told; a disk without room ends
    /// the import as well.
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
            report.stopped = Some(DISK_IS_LOW.to_owned());
        }
        report.did_not_fit += 1;
        let place = IssueLocation { conversation: conversation.to_owned(), ..IssueLocation::default() };
        report.add_finding(&ImportIssue { kind: IssueKind::LeftOut, location: place, text: refusal.to_string() });
        Ok(false)
    }

    /// The same of a chat that is not here yet: it is told as left out.
    pub(super) async fn has_new_chat_room(
        &self,
        owner: UserId,
        bytes: u64,
        told: ImportedChat,
        report: &mut ImportReport,
    ) -> Result<bool, ServiceError> {
        let fits = self.has_import_room(owner, bytes, &told.title, report).await?;
        if !fits {
            report.add_chat(ImportedChat { id: None, outcome: ImportOutcome::LeftOut, ..told });
        }
        Ok(fits)
    }

    /// Counts what came in, or would have.
    pub(super) async fn count_imported(&self, import: &ImportRequest, bytes: u64, report: &mut ImportReport) {
        if import.dry_run {
            report.tally.add_chat(bytes);
        } else {
            self.note_growth(import.owner, bytes).await;
        }
    }
}
