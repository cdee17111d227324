//! Requests and reports of imports.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use super::differences::{PendingDifferences, to_difference};
use super::format_names::stored_format_name;
use super::redrawn_images::RedrawnImages;
use turnleaf_domain::{
    ChatId, CodedMessage, DocumentId, ImportDifference, ImportDifferenceKind, ImportId, ImportState, MessageCode,
    UserId, limits,
};
use turnleaf_interchange::{ImportFormat, ImportIssue, IssueKind, ReadOptions};

/// The number of chats, and of issues of each kind, that are listed; the others are only counted.
const LISTED: usize = 2_000;

/// The name of a format. By its own name serde does not take it for text that is borrowed from the input.
type FormatName = &'static str;

/// The request for an import.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    pub owner: UserId,
    /// The file, which is not changed.
    pub file: PathBuf,
    /// The name of the file in the report.
    pub name: String,
    /// `None` detects the format from the content.
    pub format: Option<ImportFormat>,
    /// The options for reading the file, in addition to its format.
    pub options: ReadOptions,
    /// Dry run: report what would be imported and store nothing.
    pub dry_run: bool,
}

/// The result of an import, or its progress while it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportReport {
    pub name: String,
    /// Null until the format is detected.
    #[serde(deserialize_with = "known_format")]
    #[schema(value_type = Option<String>)]
    pub format: Option<FormatName>,
    pub dry_run: bool,
    /// Number of conversations that were read: imported, already known, and left out.
    pub conversations: u64,
    /// Number of conversations of the file, if a preview has counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_conversations: Option<u64>,
    pub imported: u64,
    /// Number of conversations that already exist here or in Trash, including those that were updated.
    pub known: u64,
    /// Number of these that are in Trash, where nothing is added to them.
    pub in_trash: u64,
    pub left_out: u64,
    /// Number of conversations without room in the quota or on the disk; new ones among them are left out.
    pub did_not_fit: u64,
    /// Number of imported messages and replies.
    pub turns: u64,
    pub branches: u64,
    pub files: u64,
    pub documents: u64,
    /// Number of findings of this kind; `put_right` counts corrections.
    pub lost: u64,
    pub put_right: u64,
    /// The first chats of the file.
    pub chats: Vec<ImportedChat>,
    /// The number of all chats; more than `chats` has if the list is cut.
    pub chats_total: u64,
    /// The first differences of each kind from the source that a person should know.
    pub findings: Vec<ImportDifference>,
    /// The number of all differences; more than `findings` has if the list is cut.
    pub findings_total: u64,
    /// Tables of a database import.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<ImportedTable>,
    /// While it runs: the bytes of the file that are read, if known; `total_bytes` is its length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// The reason why the file could not be read further, in English; chats imported before stay.
    pub stopped: Option<String>,
    /// The code of that reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_code: Option<String>,
    /// The arguments of the code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stopped_args: BTreeMap<String, String>,
    /// The number of files and conversations that are left out although they have content.
    #[serde(skip)]
    #[schema(ignore)]
    pub skipped: u64,
    /// The differences of the current conversation.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) apart: PendingDifferences,
    /// The tally of a dry run; otherwise empty.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) tally: DryRunTally,
    /// The images of an archive whose hash changed.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) redrawn: RedrawnImages,
    /// The record of the import, to which it assigns what it creates; none in a dry run.
    #[serde(skip)]
    #[schema(ignore)]
    pub recorded: Option<ImportId>,
}

/// Reads the name of a format; one that this version does not know is none.
fn known_format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FormatName>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.as_deref().and_then(stored_format_name))
}

/// The rows of a table: those that were read, and those of them that were left out, each of which is reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportedTable {
    pub name: String,
    pub rows: u64,
    pub left_out: u64,
}

/// A chat of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportedChat {
    /// Null when nothing was stored.
    pub id: Option<ChatId>,
    pub title: String,
    pub turns: u64,
    pub branches: u64,
    pub outcome: ImportOutcome,
}

/// The part of a file that is here after its import; the rest is in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportExtent {
    Everything,
    Part,
    Nothing,
}

/// The outcome for one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    Imported,
    /// It already exists.
    Known,
    /// It already exists, and new messages of its source were added.
    Grown,
    InTrash,
    LeftOut,
}

impl ImportReport {
    /// Creates the report of an import that has not begun.
    pub(super) fn new(import: &ImportRequest) -> Self {
        Self { name: import.name.clone(), dry_run: import.dry_run, ..Self::default() }
    }

    /// Ends the import before the end of its file.
    pub(super) fn stop(&mut self, reason: impl Into<CodedMessage>) {
        let reason = reason.into();
        self.stopped = Some(reason.to_string());
        self.stopped_code = (!reason.is_uncoded()).then(|| reason.code.code().to_owned());
        self.stopped_args = reason.args;
    }

    /// Returns the reason why the file could not be read further, with its code.
    pub fn stop_reason(&self) -> Option<CodedMessage> {
        let text = self.stopped.as_ref()?;
        Some(CodedMessage::from_parts(self.stopped_code.as_deref(), &self.stopped_args, text))
    }

    /// Returns the state of an import that ended with this report.
    pub(super) fn end_state(&self) -> ImportState {
        match (&self.stopped, self.stopped_code.as_deref()) {
            (None, _) => ImportState::Finished,
            (Some(_), Some(code)) if code == MessageCode::ImportInterrupted.code() => ImportState::Interrupted,
            (Some(_), _) => ImportState::Stopped,
        }
    }

    /// Returns the number of all differences of this kind, also of those that are not listed.
    pub fn differences_of_kind(&self, kind: ImportDifferenceKind) -> u64 {
        match kind {
            ImportDifferenceKind::Lost => self.lost,
            ImportDifferenceKind::PutRight => self.put_right,
            ImportDifferenceKind::LeftOut => self.findings_total.saturating_sub(self.lost + self.put_right),
        }
    }

    /// Returns the report as it is stored: with the first chats and the first differences of each kind.
    pub(super) fn shortened(&self) -> Self {
        let mut report = self.clone();
        report.chats.truncate(limits::IMPORT_REPORT_LISTED);
        let mut listed: HashMap<ImportDifferenceKind, usize> = HashMap::new();
        report.findings.retain(|finding| {
            let count = listed.entry(finding.kind).or_default();
            *count += 1;
            *count <= limits::IMPORT_REPORT_LISTED
        });
        report
    }

    pub(super) fn add_finding(&mut self, finding: &ImportIssue) {
        match finding.kind {
            // Skipped conversations are counted elsewhere, too.
            IssueKind::LeftOut => {
                let is_of_message = !finding.location.message.is_empty();
                self.skipped += u64::from(!is_of_message && !finding.is_without_loss());
            }
            IssueKind::PutRight => self.put_right += 1,
            IssueKind::Lost => self.lost += 1,
        }
        self.findings_total += 1;
        self.apart.add(finding);
        // Each kind has its own bound, so that many of one kind do not hide all of another.
        if self.differences_of_kind(finding.kind) <= LISTED as u64 {
            self.findings.push(to_difference(finding));
        }
    }

    /// Returns whether the whole file was read, and everything in it exists here already.
    pub fn is_all_known(&self) -> bool {
        let is_whole = self.stopped.is_none() && self.left_out + self.did_not_fit + self.in_trash == 0;
        is_whole && self.known > 0 && self.imported + self.turns + self.documents == 0
    }

    /// Returns how much of the file is here now.
    pub fn extent(&self) -> ImportExtent {
        let is_cut = self.stopped.is_some() || self.did_not_fit > 0 || self.skipped + self.skipped_rows() > 0;
        let is_any = self.imported + self.known + self.documents + self.files > 0;
        match (is_cut, is_any) {
            (false, _) => ImportExtent::Everything,
            (true, true) => ImportExtent::Part,
            (true, false) => ImportExtent::Nothing,
        }
    }

    /// Returns the number of a database's rows that were left out.
    pub fn skipped_rows(&self) -> u64 {
        self.tables.iter().map(|table| table.left_out).sum()
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
            ImportOutcome::Known => self.known += 1,
            ImportOutcome::InTrash => {
                self.known += 1;
                self.in_trash += 1;
            }
            ImportOutcome::LeftOut => self.left_out += 1,
        }
        self.chats_total += 1;
        if self.chats.len() < LISTED {
            self.chats.push(chat);
        }
    }
}

/// The blobs, documents and bytes that a dry run would have stored so far: later parts of the file refer to them as
/// if they existed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DryRunTally {
    blobs: HashSet<String>,
    documents: HashSet<DocumentId>,
    bytes: u64,
}

impl DryRunTally {
    /// Returns the bytes of all of them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_interchange::IssueLocation;

    #[test]
    fn many_differences_of_one_kind_do_not_hide_another() {
        let mut report = ImportReport::default();
        let kinds = [(IssueKind::PutRight, LISTED + 5), (IssueKind::Lost, 3), (IssueKind::LeftOut, 2)];
        for (kind, count) in kinds {
            for _ in 0..count {
                let location = IssueLocation { conversation: "a".into(), ..IssueLocation::default() };
                report.add_finding(&ImportIssue { kind, location, text: "b".into() });
            }
        }
        let listed = |report: &ImportReport, kind| report.findings.iter().filter(|one| one.kind == kind).count();
        let of_kinds = |report: &ImportReport| kinds.map(|(kind, _)| listed(report, kind));
        assert_eq!(of_kinds(&report), [LISTED, 3, 2]);
        assert_eq!(of_kinds(&report.shortened()), [limits::IMPORT_REPORT_LISTED, 3, 2]);
        assert_eq!(report.findings_total, LISTED as u64 + 10);
    }

    #[test]
    fn all_is_known_only_if_nothing_is_new_or_missing() {
        let known = ImportReport { known: 2, ..ImportReport::default() };
        assert!(known.is_all_known());
        let stopped = Some("it was stopped".to_owned());
        let others = [
            ImportReport::default(),
            ImportReport { turns: 1, ..known.clone() },
            ImportReport { documents: 1, ..known.clone() },
            ImportReport { in_trash: 1, ..known.clone() },
            ImportReport { left_out: 1, ..known.clone() },
            ImportReport { did_not_fit: 1, ..known.clone() },
            ImportReport { stopped, ..known },
        ];
        assert!(others.iter().all(|report| !report.is_all_known()));
    }

    #[test]
    fn import_without_some_rows_is_partial() {
        let table = |left_out| ImportedTable { name: "messages".into(), rows: 9, left_out };
        let report =
            |left_out| ImportReport { imported: 1, tables: vec![table(0), table(left_out)], ..Default::default() };
        assert_eq!(report(0).extent(), ImportExtent::Everything);
        assert_eq!(report(2).extent(), ImportExtent::Part);
        assert_eq!(report(2).skipped_rows(), 2);
    }

    #[test]
    fn end_state_follows_from_reason() {
        let mut report = ImportReport::default();
        assert_eq!(report.end_state(), ImportState::Finished);
        report.stop(MessageCode::ImportStopped);
        assert_eq!(report.end_state(), ImportState::Stopped);
        report.stop(MessageCode::ImportInterrupted);
        assert_eq!(report.end_state(), ImportState::Interrupted);
    }
}
