//! The kinds of things that can be found.

/// What can be found, in the order in which it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchKind {
    /// A chat, by its title.
    Chat,
    /// A document, by its title and its newest text.
    Document,
    /// A message or a reply, on whatever branch.
    Turn,
}

impl SearchKind {
    pub const ALL: [Self; 3] = [Self::Chat, Self::Document, Self::Turn];

    /// As the tables have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Document => "document",
            Self::Turn => "turn",
        }
    }

    /// The table of its rows.
    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Chat => "chats",
            Self::Document => "documents",
            Self::Turn => "turns",
        }
    }
}
