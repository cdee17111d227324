//! A row of the palette: its text, its action, and its group.

use crate::ui::messages::palette as words;

/// Text in pieces; the flag says whether a piece is highlighted.
pub type PaletteText = Vec<(String, bool)>;

/// The groups in display order.
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

/// The action of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryAction {
    /// Opens a page of the application.
    OpenPage(String),
    /// Opens a server-rendered page.
    OpenServerPage(String),
    Run(PaletteCommand),
}

/// A command that does not navigate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteCommand {
    Stop,
    Sidebar,
    Tree,
    /// Finds in the chat on screen.
    Find,
    Rename,
    Shortcuts,
    /// Chooses a value of the theme.
    Theme(&'static str),
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaletteEntry {
    pub group: PaletteGroup,
    /// Unique within its group.
    pub key: String,
    pub icon: &'static str,
    pub title: PaletteText,
    /// Below the title: the text around a hit.
    pub excerpt: PaletteText,
    /// The location, or the keyboard shortcut.
    pub place: String,
    pub action: EntryAction,
}
