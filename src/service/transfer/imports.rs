//! Imports: chats from Turnleaf archives and from exports of other programs. The file is parsed on a thread of its
//! own, one conversation at a time; each becomes a chat in one transaction, or is skipped and reported. Imports are
//! idempotent: the same file adds nothing a second time. Nothing is sent anywhere.

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::{Service, ServiceError};
use files::ConversationFiles;
use incoming::IncomingConversation;
use jobs::ImportSlotUse;
use reader_thread::{ImportReader, ImportSurroundings, ReadItem};
use turnleaf_domain::{ImportOrigin, MessageCode, UserId, limits};
use turnleaf_interchange::archive::ArchiveItem;
use turnleaf_interchange::{Conversation, IssueKind};
use turnleaf_platform::ids;

mod archived_files;
mod background;
mod chunked_insert;
mod continued_replies;
mod differences;
mod existing_chat;
mod files;
mod folder;
mod format_names;
mod history;
mod import_key;
mod incoming;
mod incremental;
mod job;
pub mod jobs;
pub mod legacy;
mod persist;
mod projects;
mod reader_thread;
mod recording;
mod redrawn_images;
mod report;
mod reversal;
mod room;
mod rows;
mod spool;
mod spooled_chat;
mod stop_reasons;
mod tool_choice;
mod undo;

pub use format_names::{format_name, formats, parse_format, parse_schema, schemas};
pub(crate) use import_key::ImportKey;
pub use job::{ImportJob, ImportSummary};
pub use jobs::{ImportJobs, ImportSlot};
pub use legacy::LegacyImport;
pub use report::{ImportExtent, ImportOutcome, ImportReport, ImportRequest, ImportedChat, ImportedTable};
pub use reversal::{ImportReversal, ImportReversalKind, KeptChat, KeptCreations, KeptDocument, ReversalFailure};
pub(crate) use rows::insert_chat;
pub use spool::SpooledImport;
pub use turnleaf_interchange::{ImportFormat, InvalidMessageKeys, MessageKeys, ReadOptions};

impl Service {
    /// Imports a file. `progress` is called after each conversation, and returns false to stop.
    ///
    /// # Errors
    /// Database errors. Problems of the file are in the report.
    pub fn import<'a>(
        &'a self,
        import: ImportRequest,
        progress: &'a mut (dyn FnMut(&ImportReport) -> bool + Send),
    ) -> BoxFuture<'a, Result<ImportReport, ServiceError>> {
        // The body is in a box, or every crate that polls it would compile it again (`docs/performance.md`).
        Box::pin(async move {
            let mut report = ImportReport::new(&import);
            self.begin_record(import.owner, ids::mint(), &mut report).await?;
            let imported = self.import_until(&import, &mut report, progress, &CancellationToken::new()).await;
            if imported.is_err() {
                report.stop(MessageCode::ImportCrashed);
            }
            let recorded = self.end_record(import.owner, &report).await;
            // The first error is the cause.
            imported?;
            recorded?;
            Ok(report)
        })
    }

    /// Imports until `stop` is cancelled; the report contains everything imported, however it ends.
    async fn import_until(
        &self,
        import: &ImportRequest,
        report: &mut ImportReport,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
        stop: &CancellationToken,
    ) -> Result<(), ServiceError> {
        let now = self.clock().now();
        let (registry, owner) = (self.supervisor().shared_registry(), import.owner);
        let surroundings = ImportSurroundings {
            scratch: self.import_job_registry().scratch_files(),
            default_lock: registry.default_lock(owner),
            default_model: Box::new(move |provider| registry.default_model(owner, provider)),
        };
        let mut reading = ImportReader::start(import, surroundings, stop.child_token());
        let mut stored_at = Instant::now();
        // The reader thread may be inside a long step, so cancellation and the sign of life do not wait for it.
        while let Some(read) =
            stop.run_until_cancelled(timeout(limits::IMPORT_REPORT_STORED_EVERY, reading.next())).await
        {
            let Ok(read) = read else {
                self.store_progress(import.owner, report, &mut stored_at).await;
                continue;
            };
            (report.read_bytes, report.total_bytes) = reading.progress().unzip();
            let Some(read) = read else {
                (report.read_bytes, report.total_bytes) = (None, None);
                if let Some(reason) = reading.finish().await {
                    report.stop(reason);
                }
                return Ok(());
            };
            match read {
                ReadItem::Format(format) => report.format = Some(format_name(format)),
                ReadItem::Finding(finding) => {
                    report.add_finding(&finding);
                    // A skipped archive file is not a conversation, and neither is a skipped message.
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
            self.store_progress(import.owner, report, &mut stored_at).await;
            if report.stopped.is_some() {
                (report.read_bytes, report.total_bytes) = (None, None);
                return Ok(());
            }
        }
        (report.read_bytes, report.total_bytes) = (None, None);
        report.stop(MessageCode::ImportStopped);
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
        let entry = ImportedChat {
            id: None,
            title: conversation.title.clone(),
            turns: 0,
            branches: 0,
            outcome: ImportOutcome::LeftOut,
        };
        if !self.has_new_chat_room(import.owner, bytes, entry, report).await? {
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
            ArchiveItem::Project(project) => self.import_project(import, *project, now, report).await,
            ArchiveItem::Chat(chat) => self.import_spooled_chat(import, *chat, now, report).await,
        }
    }

    /// Acquires the import slot of an owner, before any of the file is read.
    ///
    /// # Errors
    /// `import_running` while another import or upload of the owner runs, or one is undone or restored;
    /// `deletion_running` while everything is being deleted.
    pub fn import_slot(&self, owner: UserId) -> Result<ImportSlot, ServiceError> {
        self.import_job_registry().acquire_slot(owner, ImportSlotUse::File)
    }

    /// Acquires the import slot for an undo or a restoring, so that no import adds to the chats meanwhile.
    fn reversal_slot(&self, owner: UserId) -> Result<ImportSlot, ServiceError> {
        self.import_job_registry().acquire_slot(owner, ImportSlotUse::Reversal)
    }

    /// Acquires the import slot for a deletion, so that no import can start meanwhile.
    pub(crate) fn deletion_slot(&self, owner: UserId) -> Result<ImportSlot, ServiceError> {
        self.import_job_registry().acquire_slot(owner, ImportSlotUse::Deletion)
    }

    /// Forgets the finished imports of an owner with their reports.
    pub(crate) fn forget_imports(&self, owner: UserId) {
        self.import_job_registry().forget_finished(owner);
        self.import_job_registry().forget_reversal(owner);
    }
}
