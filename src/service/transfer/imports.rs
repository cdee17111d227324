//! Taking in: chats from an archive of our own and from what other programs hand out. The file is read on a thread of
//! its own, one conversation at a time; each becomes a chat in one transaction, or is left out and told. The same file
//! taken in again adds nothing. Nothing is sent anywhere.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tempfile::TempPath;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Service, ServiceError};
use files::ConversationFiles;
use import_key::ImportKey;
use incoming::IncomingConversation;
use jobs::ImportSlotUse;
use reader_thread::{ImportReader, ReadItem};
use report::IMPORT_STOPPED;
use turnleaf_domain::{ImportId, ImportOrigin, UserId};
use turnleaf_interchange::archive::ArchiveItem;
use turnleaf_interchange::{Conversation, IssueKind};

mod archived_files;
mod chunked_insert;
mod differences;
mod existing_chat;
mod files;
mod format_names;
mod import_key;
mod incoming;
mod incremental;
pub mod jobs;
pub mod legacy;
mod persist;
mod reader_thread;
mod redrawn_images;
mod report;
mod room;
mod rows;
mod spooled_chat;
mod tool_choice;

pub use format_names::{format_name, formats, parse_format, parse_schema, schemas};
pub use jobs::{ImportJob, ImportJobs, ImportSlot};
pub use legacy::LegacyImport;
pub use report::{ImportOutcome, ImportReport, ImportRequest, ImportedChat, ImportedTable};
pub use room::DISK_IS_LOW;
pub use turnleaf_interchange::ImportFormat;

/// How often at most what came of an import so far is shown anew: a report of thousands of findings is not copied for
/// each of them.
const SHOWN_EVERY: Duration = Duration::from_millis(250);

impl Service {
    /// Takes a file in. `progress` is told after each conversation, and may say that it is enough.
    ///
    /// # Errors
    /// When the database fails. What is wrong with the file stands in the report.
    pub async fn import(
        &self,
        import: ImportRequest,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
    ) -> Result<ImportReport, ServiceError> {
        let mut report = ImportReport::new(&import);
        self.import_until(&import, &mut report, progress, &CancellationToken::new()).await?;
        Ok(report)
    }

    /// The same until `stop` is cancelled; the report has what came in, whatever ends it.
    async fn import_until(
        &self,
        import: &ImportRequest,
        report: &mut ImportReport,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
        stop: &CancellationToken,
    ) -> Result<(), ServiceError> {
        let now = self.clock().now();
        let mut reading = ImportReader::start(import, self.import_job_registry().scratch_files(), stop.child_token());
        // A reader may be within something long: nobody waits for that.
        while let Some(read) = stop.run_until_cancelled(reading.next()).await {
            (report.read_bytes, report.total_bytes) = reading.progress().unzip();
            let Some(read) = read else {
                (report.read_bytes, report.total_bytes) = (None, None);
                report.stopped = reading.finish().await;
                return Ok(());
            };
            match read {
                ReadItem::Format(format) => report.format = Some(format_name(format)),
                ReadItem::Finding(finding) => {
                    report.add_finding(&finding);
                    // A file of the archive that is not read is no conversation, nor is a message of one.
                    let place = &finding.location;
                    let is_conversation = !place.conversation.is_empty() && place.message.is_empty();
                    if finding.kind == IssueKind::LeftOut && is_conversation {
                        report.conversations += 1;
                        report.left_out += 1;
                    }
                }
                ReadItem::Conversation(format, conversation) => {
                    self.import_conversation(import, format, *conversation, now, report).await?;
                }
                ReadItem::Archived(item) => self.import_archived(import, item, now, report).await?,
            }
            if !progress(report) {
                break;
            }
            if report.stopped.is_some() {
                (report.read_bytes, report.total_bytes) = (None, None);
                return Ok(());
            }
        }
        (report.read_bytes, report.total_bytes) = (None, None);
        report.stopped = Some(IMPORT_STOPPED.to_owned());
        Ok(())
    }

    async fn import_conversation(
        &self,
        import: &ImportRequest,
        format: ImportFormat,
        conversation: Conversation,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let key = ImportKey::new(import.owner, format_name(format), &conversation.source_id);
        if let Some(outcome) = self.existing_chat_outcome(import.owner, key.part_id("chat").into()).await? {
            if outcome == ImportOutcome::Known {
                return self.extend_existing_chat(import, (&key, format), &conversation, now, report).await;
            }
            let title = conversation.title.clone();
            report.report_existing(key.part_id("chat").into(), title, outcome);
            return Ok(());
        }
        let bytes = conversation.byte_count();
        let told = ImportedChat {
            id: None,
            title: conversation.title.clone(),
            turns: 0,
            branches: 0,
            outcome: ImportOutcome::LeftOut,
        };
        if !self.has_new_chat_room(import.owner, bytes, told, report).await? {
            return Ok(());
        }
        let (owner, provider) = (import.owner, format_names::format_provider(format));
        let incoming = IncomingConversation { owner, key: &key, provider, conversation: &conversation, now };
        let ConversationFiles { contents, documents } = self.import_files(import, &incoming, &|_| true, report).await?;
        let mut findings = Vec::new();
        let mut chat = incoming.build_chat(contents, &mut findings);
        findings.iter().for_each(|finding| report.add_finding(finding));
        chat.imported_from = Some(ImportOrigin {
            format: format_name(format).to_owned(),
            file: differences::shorten(&import.name),
            imported_at: now,
            differences: report.apart.differences_of(&conversation.source_id),
        });
        self.persist_chat(import, chat, &documents, now, report).await?;
        self.count_imported(import, conversation.text_byte_count(), report).await;
        Ok(())
    }

    async fn import_archived(
        &self,
        import: &ImportRequest,
        item: ArchiveItem,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        match item {
            ArchiveItem::Document(document) => self.import_document(import, *document, now, report).await,
            ArchiveItem::Blob(blob) => self.import_blob(import, blob, now, report).await,
            ArchiveItem::Chat(chat) => self.import_spooled_chat(import, *chat, now, report).await,
        }
    }

    /// A place for a file to take in, before any of it is read.
    ///
    /// # Errors
    /// `import_running` while another import of the owner's is not over, or its file on its way; `deletion_running`
    /// while everything is deleted.
    pub fn import_slot(&self, owner: UserId) -> Result<ImportSlot, ServiceError> {
        self.import_job_registry().acquire_slot(owner, ImportSlotUse::File)
    }

    /// The same, to keep files from coming in while everything is deleted.
    pub(crate) fn deletion_slot(&self, owner: UserId) -> Result<ImportSlot, ServiceError> {
        self.import_job_registry().acquire_slot(owner, ImportSlotUse::Deletion)
    }

    /// Forgets this owner's imports that are over, and what was told of their chats.
    pub(crate) fn forget_imports(&self, owner: UserId) {
        self.import_job_registry().forget_finished(owner);
    }

    /// Begins to take a file in, and gives the name under which that can be looked at. The file is removed at its end.
    ///
    /// # Errors
    /// `import_running` while another import of the owner's is not over: two of the same file would race.
    pub fn start_import(&self, import: ImportRequest, file: TempPath) -> Result<ImportId, ServiceError> {
        let running = self.import_job_registry().start(&import, file, self.clock().now())?;
        let (id, jobs, stop) = (running.id, running.jobs.clone(), running.stop.clone());
        let service = self.clone();
        tokio::spawn(async move {
            // Whole: of a field alone the task would have a copy.
            let mut running = running;
            let mut shown: Option<Instant> = None;
            let mut progress = |report: &ImportReport| {
                if shown.is_none_or(|at| at.elapsed() >= SHOWN_EVERY) {
                    jobs.update_report(id, report);
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
        self.import_job_registry().find(owner, id).ok_or(ServiceError::NotFound)
    }

    /// The imports of this owner's since the server started, the newest first.
    pub fn import_jobs(&self, owner: UserId) -> Vec<ImportJob> {
        self.import_job_registry().owner_jobs(owner)
    }

    /// Ends an import behind the conversation that it is at. What came in stays.
    pub fn stop_import(&self, owner: UserId, id: ImportId) -> Result<(), ServiceError> {
        self.import_job(owner, id)?;
        self.import_job_registry().stop(id);
        Ok(())
    }

    /// Ends all imports, for good: the server goes down.
    pub fn stop_imports(&self) {
        self.import_job_registry().stop_all();
    }
}
