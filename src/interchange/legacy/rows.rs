//! A row of any table, and row counts.

use uuid::Uuid;

use super::{LegacyField, LegacyRowKind};
use crate::bounds;
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// A row of any table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegacyRow {
    /// The conversation of the row; empty if it belongs to none. Rows of one conversation are consecutive.
    pub conversation: String,
    pub kind: LegacyRowKind,
    /// The order in which its table got the rows, if the database keeps it.
    pub position: Option<i64>,
    /// Its values in the order of [`LegacyField::ALL`], as the bytes of their text.
    pub values: [Option<Vec<u8>>; LegacyField::ALL.len()],
}

impl LegacyRow {
    /// Reads a value as text. Invalid text is repaired, a long value is truncated, and both are reported.
    pub(super) fn text(&self, field: LegacyField, notes: &mut ConversationNotes) -> Option<String> {
        let bytes = self.values[field as usize].as_deref()?;
        let cut = &bytes[..bytes.len().min(bounds::CELL_BYTES)];
        // A character at the cut is dropped.
        let cut = match std::str::from_utf8(cut) {
            Err(error) if error.error_len().is_none() && cut.len() < bytes.len() => &cut[..error.valid_up_to()],
            _ => cut,
        };
        if cut.len() < bytes.len() {
            let text = format!("a value longer than {} bytes was truncated", bounds::CELL_BYTES);
            notes.add(IssueKind::Lost, &self.label(), text);
        }
        let text = String::from_utf8_lossy(cut);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.add(
                IssueKind::PutRight,
                &self.label(),
                "text that is not UTF-8 was read up to the first invalid \
                byte",
            );
        }
        Some(text.into_owned())
    }

    /// Reads the id of a row, or of a row that it names. GUIDs are normalized, because databases store them in
    /// several forms.
    pub(super) fn id(&self, field: LegacyField) -> Option<String> {
        let text = String::from_utf8_lossy(self.values[field as usize].as_deref()?);
        let text = text.trim();
        let id = Uuid::parse_str(text).map_or_else(|_| text.to_owned(), |id| id.hyphenated().to_string());
        Some(id).filter(|id| !id.is_empty())
    }

    /// Returns the name of the row in issues.
    pub(super) fn label(&self) -> String {
        let id = self.id(LegacyField::Id).unwrap_or_default();
        format!("{} {}", self.kind.label(), shortened_id(&id)).trim_end().to_owned()
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.iter().flatten().map(Vec::len).sum()
    }
}

/// Shortens an id for display, because a foreign id may have any length.
pub(super) fn shortened_id(id: &str) -> String {
    id.chars().take(80).collect()
}

/// The number of rows that were read from a table, and of those that are left out of the result. Each of the latter
/// is reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCount {
    pub read: u64,
    pub left_out: u64,
}
