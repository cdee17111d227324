//! Taking in: chats from an archive of our own and from what other programs hand out. The file is read on a thread of
//! its own, one conversation at a time; each becomes a chat in one transaction, or is left out and told. The same file
//! taken in again adds nothing. Nothing is sent anywhere.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Service, ServiceError};
use differences::Apart;
use dry_run::DryRunTally;
use files::Files;
use reading::{Read, Reading};
use redrawn::Redrawn;
use turnleaf_domain::{ChatId, Difference, ImportedFrom, UserId};
use turnleaf_interchange::archive::Item;
use turnleaf_interchange::{Conversation, Finding, Format, What};

mod archived;
mod arriving;
mod choice;
mod differences;
mod dry_run;
mod filed;
mod files;
mod fitting;
pub mod jobs;
pub mod legacy;
mod onward;
mod plant;
mod reading;
mod redrawn;
mod standing;
mod told;

pub use jobs::{ImportJob, ImportJobs, ImportPlace};
pub use legacy::{ImportedTable, LegacyImport};
pub use told::{format_name, formats, parse_format, parse_schema, schemas};
pub use turnleaf_interchange::Format as ImportFormat;

/// Chats and findings that are told one by one; the rest is told as numbers.
const TOLD: usize = 2_000;
/// Why an import ended before its file did.
const STOPPED: &str = "it was stopped";
const BROKE_DOWN: &str = "the server could not go on; try again";

/// What is taken in.
#[derive(Debug, Clone)]
pub struct Import {
    pub owner: UserId,
    /// The file, which stays as it is.
    pub file: PathBuf,
    /// How it is called in what is told.
    pub name: String,
    /// Known by its content where it is not said.
    pub format: Option<Format>,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
}

/// What came of an import, and while it runs what has come of it so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportReport {
    pub name: String,
    /// None as long as it is not known.
    pub format: Option<&'static str>,
    pub dry_run: bool,
    /// Conversations that were read: the sum of those that were taken in, that were here, and that were left out.
    pub conversations: u64,
    pub imported: u64,
    /// They are here already, or in Trash; some of them grew.
    pub known: u64,
    pub left_out: u64,
    /// Conversations for which the quota or the disk had no room; those that were not here are left out.
    pub did_not_fit: u64,
    /// Messages and replies of what was taken in.
    pub turns: u64,
    pub branches: u64,
    pub files: u64,
    pub documents: u64,
    /// How many findings there are of each kind.
    pub lost: u64,
    pub put_right: u64,
    pub chats: Vec<ImportedChat>,
    /// What a person should know.
    pub findings: Vec<Difference>,
    /// Where a database was read: its tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<ImportedTable>,
    /// While it runs: how many bytes of the file are read, and of how many, where that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Why the file could not be read on; what was taken in before stays.
    pub stopped: Option<String>,
    /// What is told of the chat that is at work.
    #[serde(skip)]
    #[schema(ignore)]
    apart: Apart,
    /// Filled by a dry run alone.
    #[serde(skip)]
    #[schema(ignore)]
    tally: DryRunTally,
    /// Images of an archive that were drawn again.
    #[serde(skip)]
    #[schema(ignore)]
    redrawn: Redrawn,
}

/// A chat of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportedChat {
    /// None where nothing was stored.
    pub id: Option<ChatId>,
    pub title: String,
    pub turns: u64,
    pub branches: u64,
    pub outcome: Outcome,
}

/// What became of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Imported,
    /// It is here already.
    Known,
    /// It is here already, and what it has more where it comes from was added to it.
    Grown,
    InTrash,
    LeftOut,
}

impl ImportReport {
    /// Of an import that has not begun.
    fn of(import: &Import) -> Self {
        Self { name: import.name.clone(), dry_run: import.dry_run, ..Self::default() }
    }

    fn tell(&mut self, finding: &Finding) {
        match finding.what {
            // Of conversations, or of messages of them.
            What::LeftOut => {}
            What::PutRight => self.put_right += 1,
            What::Lost => self.lost += 1,
        }
        self.apart.tell(finding);
        if self.findings.len() < TOLD {
            self.findings.push(differences::difference(finding));
        }
    }

    fn add(&mut self, chat: ImportedChat) {
        self.conversations += 1;
        self.apart.next();
        match chat.outcome {
            Outcome::Imported => {
                self.imported += 1;
                self.turns += chat.turns;
                self.branches += chat.branches;
            }
            Outcome::Grown => {
                self.known += 1;
                self.turns += chat.turns;
                self.branches += chat.branches;
            }
            Outcome::Known | Outcome::InTrash => self.known += 1,
            Outcome::LeftOut => self.left_out += 1,
        }
        if self.chats.len() < TOLD {
            self.chats.push(chat);
        }
    }
}

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
        let key = plant::Key::of(import.owner, format_name(format), &conversation.source_id);
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
        let Files { contents, documents } = self.files_of(import, &key, &conversation, &|_| true, now, report).await?;
        let mut findings = Vec::new();
        let provider = told::provider_of(format);
        let mut chat = plant::grown(import.owner, &key, provider, &conversation, contents, now, &mut findings);
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
}
