//! Whether what an import brings has room: chats come in whole or not at all, and what does not fit is counted and told.

use super::report::{Import, ImportReport, ImportedChat, Outcome};
use crate::usage::storage::bounds::StorageRefusal;
use crate::{Service, ServiceError};
use turnleaf_domain::UserId;
use turnleaf_interchange::{Finding, Place, What};

/// Why an import ended for which the disk has no room.
pub const DISK_IS_LOW: &str = "the server's disk is almost full";

impl Service {
    /// Whether so many bytes of this conversation fit beside what is here. What does not is told; a disk without room ends
    /// the import as well.
    pub(super) async fn fits(
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
        let place = Place { conversation: conversation.to_owned(), ..Place::default() };
        report.tell(&Finding { what: What::LeftOut, place, text: refusal.to_string() });
        Ok(false)
    }

    /// The same of a chat that is not here yet: it is told as left out.
    pub(super) async fn new_chat_fits(
        &self,
        owner: UserId,
        bytes: u64,
        told: ImportedChat,
        report: &mut ImportReport,
    ) -> Result<bool, ServiceError> {
        let fits = self.fits(owner, bytes, &told.title, report).await?;
        if !fits {
            report.add(ImportedChat { id: None, outcome: Outcome::LeftOut, ..told });
        }
        Ok(fits)
    }

    /// Counts what came in, or would have.
    pub(super) async fn came_in(&self, import: &Import, bytes: u64, report: &mut ImportReport) {
        if import.dry_run {
            report.tally.add_chat(bytes);
        } else {
            self.note_growth(import.owner, bytes).await;
        }
    }
}
