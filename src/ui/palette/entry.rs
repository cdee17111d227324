//! A row of the palette: what it says and does, and the groups in which rows stand.

use crate::ui::words::palette as words;

/// Text in pieces, each with whether it is marked.
pub type Pieces = Vec<(String, bool)>;

/// In the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Recent,
    Commands,
    Chats,
    Messages,
    Documents,
    Settings,
    More,
}

impl Group {
    pub fn name(self) -> &'static str {
        match self {
            Self::Recent => words::recent(),
            Self::Commands => words::commands(),
            Self::Chats => words::chats(),
            Self::Messages => words::messages(),
            Self::Documents => words::documents(),
            Self::Settings => words::settings(),
            Self::More => words::more(),
        }
    }
}

/// What a row does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// Leads to a page of the application.
    Open(String),
    /// Leads to a page that the server draws.
    Leave(String),
    Do(Command),
}

/// What can be done without going anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Stop,
    Sidebar,
    Tree,
    /// Of the chat on screen.
    Find,
    Rename,
    Shortcuts,
    /// One of the theme's values.
    Theme(&'static str),
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub group: Group,
    /// What it is told apart by within its group.
    pub key: String,
    pub icon: &'static str,
    pub title: Pieces,
    /// Below the title: the words around a hit.
    pub excerpt: Pieces,
    /// Where it is, or the keys that do the same.
    pub place: String,
    pub does: Does,
}
