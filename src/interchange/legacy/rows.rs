//! A row of any of the tables, and how many there are of each kind.

use uuid::Uuid;

use super::{Field, Kind};
use crate::bounds;
use crate::notes::Notes;
use crate::report::What;

/// A row of any of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The conversation it is in; empty where it leads to none. Rows of one conversation come together.
    pub conversation: String,
    pub kind: Kind,
    /// Its values, in the order of [`Field::ALL`], as the bytes of their text.
    pub values: [Option<Vec<u8>>; Field::ALL.len()],
}

impl Row {
    /// A value as text: what is no text is put right, what is too long is cut, and both are told.
    pub(super) fn text(&self, field: Field, notes: &mut Notes) -> Option<String> {
        let bytes = self.values[field as usize].as_deref()?;
        let cut = &bytes[..bytes.len().min(bounds::CELL_BYTES)];
        // A character that was cut through is none.
        let cut = match std::str::from_utf8(cut) {
            Err(why) if why.error_len().is_none() && cut.len() < bytes.len() => &cut[..why.valid_up_to()],
            _ => cut,
        };
        if cut.len() < bytes.len() {
            let text = format!("a value longer than {} bytes was cut", bounds::CELL_BYTES);
            notes.add(What::Lost, &self.place(), text);
        }
        let text = String::from_utf8_lossy(cut);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.add(What::PutRight, &self.place(), "text that is not UTF-8 was read as far as it is");
        }
        Some(text.into_owned())
    }

    /// The id of a row, or of the row that it names: a GUID is written the same however the database keeps it.
    pub(super) fn id(&self, field: Field) -> Option<String> {
        let text = String::from_utf8_lossy(self.values[field as usize].as_deref()?);
        let text = text.trim();
        let id = Uuid::parse_str(text).map_or_else(|_| text.to_owned(), |id| id.hyphenated().to_string());
        Some(id).filter(|id| !id.is_empty())
    }

    /// How it is called in findings.
    pub(super) fn place(&self) -> String {
        let id = self.id(Field::Id).unwrap_or_default();
        format!("{} {}", self.kind.word(), shown(&id)).trim_end().to_owned()
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.iter().flatten().map(Vec::len).sum()
    }
}

/// An id as it is shown: a strange one may be of any length.
pub(super) fn shown(id: &str) -> String {
    id.chars().take(80).collect()
}

/// How many rows of a table were read, and how many of them are not in what came out of it. Each of those is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub read: u64,
    pub left_out: u64,
}
