//! Taking in: chats from an archive of our own and from what other programs hand out. The file is read on a thread of
//! its own, one conversation at a time; each becomes a chat in one transaction, or is left out and told. The same file
//! taken in again adds nothing. Nothing is sent anywhere.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tempfile::TempPath;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Service, ServiceError};
use files::Files;
use incoming::IncomingConversation;
use jobs::Taken;
use key::Key;
use reading::{Read, Reading};
use report::STOPPED;
use turnleaf_domain::{ImportId, ImportedFrom, UserId};
use turnleaf_interchange::archive::Item;
use turnleaf_interchange::{Conversation, Format, What};

mod archived;
mod arriving;
mod choice;
mod differences;
mod filed;
mod files;
mod fitting;
mod incoming;
pub mod jobs;
mod key;
pub mod legacy;
mod onward;
mod plant;
mod reading;
mod redrawn;
mod report;
mod rows;
mod standing;
mod told;

pub use fitting::DISK_IS_LOW;
pub use jobs::{ImportJob, ImportJobs, ImportPlace};
pub use legacy::LegacyImport;
pub use report::{Import, ImportReport, ImportedChat, ImportedTable, Outcome};
pub use told::{format_name, formats, parse_format, parse_schema, schemas};
pub use turnleaf_interchange::Format as ImportFormat;

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
        import: Import,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
    ) -> Result<ImportReport, ServiceError> {
        let mut report = ImportReport::of(&import);
        self.import_until(&import, &mut report, progress, &CancellationToken::new()).await?;
        Ok(report)
    }

    /// The same until `stop` is cancelled; the report has what came in, whatever ends it.
    async fn import_until(
        &self,
        import: &Import,
        report: &mut ImportReport,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
        stop: &CancellationToken,
    ) -> Result<(), ServiceError> {
        let now = self.clock().now();
        let mut reading = Reading::begin(import, self.import_jobs_kept().scratch(), stop.child_token());
        // A reader may be within something long: nobody waits for that.
        while let Some(read) = stop.run_until_cancelled(reading.next()).await {
            (report.read_bytes, report.total_bytes) = reading.so_far().unzip();
            let Some(read) = read else {
                (report.read_bytes, report.total_bytes) = (None, None);
                report.stopped = reading.ended().await;
                return Ok(());
            };
            match read {
                Read::Format(format) => report.format = Some(format_name(format)),
                Read::Finding(finding) => {
                    report.tell(&finding);
                    // A file of the archive that is not read is no conversation, nor is a message of one.
                    let place = &finding.place;
                    let is_conversation = !place.conversation.is_empty() && place.message.is_empty();
                    if finding.what == What::LeftOut && is_conversation {
                        report.conversations += 1;
                        report.left_out += 1;
                    }
                }
                Read::Conversation(format, conversation) => {
                    self.import_conversation(import, format, *conversation, now, report).await?;
                }
                Read::Archived(item) => self.import_archived(import, item, now, report).await?,
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
        report.stopped = Some(STOPPED.to_owned());
        Ok(())
    }

    async fn import_conversation(
        &self,
        import: &Import,
        format: Format,
        conversation: Conversation,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let key = Key::of(import.owner, format_name(format), &conversation.source_id);
        if let Some(outcome) = self.standing_of(import.owner, key.id("chat").into()).await? {
            if outcome == Outcome::Known {
                return self.import_onward(import, (&key, format), &conversation, now, report).await;
            }
            let title = conversation.title.clone();
            report.stood(key.id("chat").into(), title, outcome);
            return Ok(());
        }
        let bytes = conversation.byte_count();
        let told = ImportedChat {
            id: None,
            title: conversation.title.clone(),
            turns: 0,
            branches: 0,
            outcome: Outcome::LeftOut,
        };
        if !self.new_chat_fits(import.owner, bytes, told, report).await? {
            return Ok(());
        }
        let (owner, provider) = (import.owner, told::provider_of(format));
        let incoming = IncomingConversation { owner, key: &key, provider, conversation: &conversation, now };
        let Files { contents, documents } = self.files_of(import, &incoming, &|_| true, report).await?;
        let mut findings = Vec::new();
        let mut chat = incoming.grow(contents, &mut findings);
        findings.iter().for_each(|finding| report.tell(finding));
        chat.imported_from = Some(ImportedFrom {
            format: format_name(format).to_owned(),
            file: differences::short(&import.name),
            imported_at: now,
            differences: report.apart.of(&conversation.source_id),
        });
        self.plant(import, chat, &documents, now, report).await?;
        self.came_in(import, conversation.words_byte_count(), report).await;
        Ok(())
    }

    async fn import_archived(
        &self,
        import: &Import,
        item: Item,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        match item {
            Item::Document(document) => self.plant_document(import, *document, now, report).await,
            Item::Blob(blob) => self.plant_blob(import, blob, now, report).await,
            Item::Chat(chat) => self.import_filed(import, *chat, now, report).await,
        }
    }

    /// A place for a file to take in, before any of it is read.
    ///
    /// # Errors
    /// `import_running` while another import of the owner's is not over, or its file on its way; `deletion_running`
    /// while everything is deleted.
    pub fn import_place(&self, owner: UserId) -> Result<ImportPlace, ServiceError> {
        self.import_jobs_kept().place(owner, Taken::File)
    }

    /// The same, to keep files from coming in while everything is deleted.
    pub(crate) fn deletion_place(&self, owner: UserId) -> Result<ImportPlace, ServiceError> {
        self.import_jobs_kept().place(owner, Taken::Deletion)
    }

    /// Forgets this owner's imports that are over, and what was told of their chats.
    pub(crate) fn forget_imports(&self, owner: UserId) {
        self.import_jobs_kept().forget(owner);
    }

    /// Begins to take a file in, and gives the name under which that can be looked at. The file is removed at its end.
    ///
    /// # Errors
    /// `import_running` while another import of the owner's is not over: two of the same file would race.
    pub fn begin_import(&self, import: Import, file: TempPath) -> Result<ImportId, ServiceError> {
        let running = self.import_jobs_kept().begin(&import, file, self.clock().now())?;
        let (id, jobs, stop) = (running.id, running.jobs.clone(), running.stop.clone());
        let service = self.clone();
        tokio::spawn(async move {
            // Whole: of a field alone the task would have a copy.
            let mut running = running;
            let mut shown: Option<Instant> = None;
            let mut progress = |report: &ImportReport| {
                if shown.is_none_or(|at| at.elapsed() >= SHOWN_EVERY) {
                    jobs.show(id, report);
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
        self.import_jobs_kept().find(owner, id).ok_or(ServiceError::NotFound)
    }

    /// The imports of this owner's since the server started, the newest first.
    pub fn import_jobs(&self, owner: UserId) -> Vec<ImportJob> {
        self.import_jobs_kept().of_owner(owner)
    }

    /// Ends an import behind the conversation that it is at. What came in stays.
    pub fn stop_import(&self, owner: UserId, id: ImportId) -> Result<(), ServiceError> {
        self.import_job(owner, id)?;
        self.import_jobs_kept().stop(id);
        Ok(())
    }

    /// Ends all imports, for good: the server goes down.
    pub fn stop_imports(&self) {
        self.import_jobs_kept().stop_all();
    }
}
