//! A row of the palette: what it says and does, and the groups in which rows stand.

use crate::ui::messages::palette as words;

/// Text in pieces, each with whether it is marked.
pub type PaletteText = Vec<(String, bool)>;

/// In the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaletteGroup {
    Recent,
    Commands,
    Chats,
    Messages,
    Documents,
    Settings,
    More,
}

impl PaletteGroup {
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
pub enum EntryAction {
    /// Leads to a page of the application.
    OpenPage(String),
    /// Leads to a page that the server draws.
    OpenServerPage(String),
    Run(PaletteCommand),
}

/// What can be done without going anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteCommand {
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
pub struct PaletteEntry {
    pub group: PaletteGroup,
    /// What it is told apart by within its group.
    pub key: String,
    pub icon: &'static str,
    pub title: PaletteText,
    /// Below the title: the words around a hit.
    pub excerpt: PaletteText,
    /// Where it is, or the keys that do the same.
    pub place: String,
    pub action: EntryAction,
}
