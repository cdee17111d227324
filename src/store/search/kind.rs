//! The kinds of searchable items.

/// The kind of a searchable item, in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchKind {
    /// A chat, by its title.
    Chat,
    /// A document, by its title and its newest text.
    Document,
    /// A message or a reply, on any branch.
    Turn,
}

impl SearchKind {
    pub const ALL: [Self; 3] = [Self::Chat, Self::Document, Self::Turn];

    /// Returns its name in the tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Document => "document",
            Self::Turn => "turn",
        }
    }

    /// Returns the table of its rows.
    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Chat => "chats",
            Self::Document => "documents",
            Self::Turn => "turns",
        }
    }
}
