//! What is to be taken in, and what came of it.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Serialize;

use super::differences::{PendingDifferences, to_difference};
use super::redrawn_images::RedrawnImages;
use turnleaf_domain::{ChatId, DocumentId, ImportDifference, UserId};
use turnleaf_interchange::{ImportFormat, ImportIssue, IssueKind};

/// Chats and findings that are told one by one; the rest is told as numbers.
const TOLD: usize = 2_000;
/// Why an import ended before its file did.
pub(super) const IMPORT_STOPPED: &str = "it was stopped";
pub(super) const IMPORT_CRASHED: &str = "the server could not go on; try again";

/// What is taken in.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    pub owner: UserId,
    /// The file, which stays as it is.
    pub file: PathBuf,
    /// How it is called in what is told.
    pub name: String,
    /// Known by its content where it is not said.
    pub format: Option<ImportFormat>,
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
    pub findings: Vec<ImportDifference>,
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
    pub(super) apart: PendingDifferences,
    /// Filled by a dry run alone.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) tally: DryRunTally,
    /// Images of an archive that were drawn again.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) redrawn: RedrawnImages,
}

/// The rows of a table: those that were read, and those of them that did not come in, each of which is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportedTable {
    pub name: String,
    pub rows: u64,
    pub left_out: u64,
}

/// A chat of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportedChat {
    /// None where nothing was stored.
    pub id: Option<ChatId>,
    pub title: String,
    pub turns: u64,
    pub branches: u64,
    pub outcome: ImportOutcome,
}

/// What became of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
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
    pub(super) fn new(import: &ImportRequest) -> Self {
        Self { name: import.name.clone(), dry_run: import.dry_run, ..Self::default() }
    }

    pub(super) fn add_finding(&mut self, finding: &ImportIssue) {
        match finding.kind {
            // Of conversations, or of messages of them.
            IssueKind::LeftOut => {}
            IssueKind::PutRight => self.put_right += 1,
            IssueKind::Lost => self.lost += 1,
        }
        self.apart.add(finding);
        if self.findings.len() < TOLD {
            self.findings.push(to_difference(finding));
        }
    }

    pub(super) fn add_chat(&mut self, chat: ImportedChat) {
        self.conversations += 1;
        self.apart.start_next();
        match chat.outcome {
            ImportOutcome::Imported => {
                self.imported += 1;
                self.turns += chat.turns;
                self.branches += chat.branches;
            }
            ImportOutcome::Grown => {
                self.known += 1;
                self.turns += chat.turns;
                self.branches += chat.branches;
            }
            ImportOutcome::Known | ImportOutcome::InTrash => self.known += 1,
            ImportOutcome::LeftOut => self.left_out += 1,
        }
        if self.chats.len() < TOLD {
            self.chats.push(chat);
        }
    }
}

/// The rows that a dry run would have stored so far, blobs and documents, and what they take: later parts of the file refer
/// to them as if they were there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DryRunTally {
    blobs: HashSet<String>,
    documents: HashSet<DocumentId>,
    bytes: u64,
}

impl DryRunTally {
    /// What all of it takes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn has_blob(&self, sha256: &str) -> bool {
        self.blobs.contains(sha256)
    }

    pub fn has_document(&self, id: DocumentId) -> bool {
        self.documents.contains(&id)
    }

    pub fn add_blob(&mut self, sha256: String, bytes: u64) {
        if self.blobs.insert(sha256) {
            self.bytes += bytes;
        }
    }

    pub fn add_chat(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    pub fn add_document(&mut self, id: DocumentId, bytes: u64) {
        if self.documents.insert(id) {
            self.bytes += bytes;
        }
    }
}
