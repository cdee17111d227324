//! An import with its report, and its summary for lists.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::report::ImportReport;
use super::reversal::{ImportReversal, KeptCreations};
use turnleaf_domain::{ImportCreations, ImportId, ImportState};

/// An import, a preview of one, or a dry run.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ImportJob {
    pub id: ImportId,
    pub is_over: bool,
    pub state: ImportState,
    pub started_at: DateTime<Utc>,
    /// The end of an import; null while it runs, and for a dry run.
    pub ended_at: Option<DateTime<Utc>>,
    /// The time at which the import was undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<DateTime<Utc>>,
    /// For a preview: the time until which it can be imported. Absent once its file is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importable_until: Option<DateTime<Utc>>,
    /// For a preview: the import that was started from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import_id: Option<ImportId>,
    /// The items that the import created and that are not in Trash; counted after its end.
    pub present: ImportCreations,
    /// The number of items that are in Trash because the import was undone, and can be restored.
    pub in_trash: u64,
    /// The newest undo or restoring, until the server restarts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversal: Option<ImportReversal>,
    /// For an undone import: its items that are not in Trash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptCreations>,
    pub report: ImportReport,
}

/// An import in a list, without its chats and differences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportSummary {
    pub id: ImportId,
    pub is_over: bool,
    pub state: ImportState,
    /// True for previews and dry runs.
    pub dry_run: bool,
    pub name: String,
    /// Null if the format is not known.
    pub format: Option<&'static str>,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub undone_at: Option<DateTime<Utc>>,
    /// For a preview: the time until which it can be imported.
    pub importable_until: Option<DateTime<Utc>>,
    pub conversations: u64,
    /// Number of conversations of the file, if a preview has counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_conversations: Option<u64>,
    pub imported: u64,
    pub known: u64,
    pub left_out: u64,
    /// The items that the import created and that are not in Trash; counted after its end.
    pub present: ImportCreations,
    /// The number of items that are in Trash because the import was undone, and can be restored.
    pub in_trash: u64,
    /// The reason why the file could not be read further, in English.
    pub stopped: Option<String>,
    /// True while it is being undone or restored.
    pub is_reversing: bool,
}

impl ImportJob {
    /// Returns the import without its report.
    pub fn summary(&self) -> ImportSummary {
        let report = &self.report;
        ImportSummary {
            id: self.id,
            is_over: self.is_over,
            state: self.state,
            dry_run: report.dry_run,
            name: report.name.clone(),
            format: report.format,
            started_at: self.started_at,
            ended_at: self.ended_at,
            undone_at: self.undone_at,
            importable_until: self.importable_until,
            conversations: report.conversations,
            expected_conversations: report.expected_conversations,
            imported: report.imported,
            known: report.known,
            left_out: report.left_out,
            present: self.present,
            in_trash: self.in_trash,
            stopped: report.stopped.clone(),
            is_reversing: self.is_reversing(),
        }
    }

    /// Returns whether it is being undone or restored.
    pub fn is_reversing(&self) -> bool {
        self.reversal.as_ref().is_some_and(|reversal| !reversal.is_over)
    }

    /// Returns whether undoing the rest, which an undo kept, would move something to Trash.
    pub fn can_undo_rest(&self) -> bool {
        self.kept.as_ref().is_some_and(KeptCreations::can_undo) && !self.is_reversing()
    }
}

impl ImportSummary {
    /// Returns whether something was read or imported. An import that was interrupted may have no counts although it
    /// created something.
    pub fn has_begun(&self) -> bool {
        self.has_counts() || !self.present.is_empty() || self.in_trash > 0
    }

    /// Returns whether the counts are meaningful: the file was read at least in part, or to its end.
    pub fn has_counts(&self) -> bool {
        self.conversations > 0 || self.stopped.is_none()
    }

    /// Returns whether undoing would move something to Trash.
    pub fn can_undo(&self) -> bool {
        self.is_over && self.state.can_undo() && !self.present.is_empty() && !self.is_reversing
    }

    /// Returns whether an undo or a restoring ended before it did everything, with the server for example: the import
    /// is not undone, and a part of it is in Trash.
    pub fn is_partly_in_trash(&self) -> bool {
        self.is_over && self.state.can_undo() && self.in_trash > 0 && !self.is_reversing
    }

    /// Returns whether there is something to restore.
    pub fn can_restore(&self) -> bool {
        self.in_trash > 0 && !self.is_reversing
    }
}
