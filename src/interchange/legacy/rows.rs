//! A row of any of the tables, and how many there are of each kind.

use uuid::Uuid;

use super::{LegacyField, LegacyRowKind};
use crate::bounds;
use crate::notes::ConversationNotes;
use crate::report::IssueKind;

/// A row of any of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegacyRow {
    /// The conversation it is in; empty where it leads to none. Rows of one conversation come together.
    pub conversation: String,
    pub kind: LegacyRowKind,
    /// Its values, in the order of [`Field::ALL`], as the bytes of their text.
    pub values: [Option<Vec<u8>>; LegacyField::ALL.len()],
}

impl LegacyRow {
    /// A value as text: what is no text is put right, what is too long is cut, and both are told.
    pub(super) fn text(&self, field: LegacyField, notes: &mut ConversationNotes) -> Option<String> {
        let bytes = self.values[field as usize].as_deref()?;
        let cut = &bytes[..bytes.len().min(bounds::CELL_BYTES)];
        // A character that was cut through is none.
        let cut = match std::str::from_utf8(cut) {
            Err(why) if why.error_len().is_none() && cut.len() < bytes.len() => &cut[..why.valid_up_to()],
            _ => cut,
        };
        if cut.len() < bytes.len() {
            let text = format!("a value longer than {} bytes was cut", bounds::CELL_BYTES);
            notes.add(IssueKind::Lost, &self.label(), text);
        }
        let text = String::from_utf8_lossy(cut);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.add(IssueKind::PutRight, &self.label(), "text that is not UTF-8 was read as far as it is");
        }
        Some(text.into_owned())
    }

    /// The id of a row, or of the row that it names: a GUID is written the same however the database keeps it.
    pub(super) fn id(&self, field: LegacyField) -> Option<String> {
        let text = String::from_utf8_lossy(self.values[field as usize].as_deref()?);
        let text = text.trim();
        let id = Uuid::parse_str(text).map_or_else(|_| text.to_owned(), |id| id.hyphenated().to_string());
        Some(id).filter(|id| !id.is_empty())
    }

    /// How it is called in findings.
    pub(super) fn label(&self) -> String {
        let id = self.id(LegacyField::Id).unwrap_or_default();
        format!("{} {}", self.kind.label(), shortened_id(&id)).trim_end().to_owned()
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.iter().flatten().map(Vec::len).sum()
    }
}

/// An id as it is shown: a strange one may be of any length.
pub(super) fn shortened_id(id: &str) -> String {
    id.chars().take(80).collect()
}

/// How many rows of a table were read, and how many of them are not in what came out of it. Each of those is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCount {
    pub read: u64,
    pub left_out: u64,
}
