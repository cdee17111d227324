//! What the palette says.

pub const NAME: &str = "Search and commands";
pub const BOX: &str = "Search chats, messages, documents, commands";
pub const RESULTS: &str = "Results";
pub const SEARCHING: &str = "Searching…";
pub const OFFLINE: &str = "Offline: only commands can be found at the moment.";
pub const INDEXING: &str = "Older messages are still being indexed.";

pub const RECENT: &str = "Recent chats";
pub const COMMANDS: &str = "Commands";
pub const CHATS: &str = "Chats";
pub const MESSAGES: &str = "Messages";
pub const DOCUMENTS: &str = "Documents";
pub const SETTINGS: &str = "Settings";
pub const MORE: &str = "More";

pub const NEW_CHAT: &str = "New chat";
pub const STOP: &str = "Stop the reply";
pub const SIDEBAR: &str = "Show or hide the list of chats";
pub const TREE: &str = "Show or hide the tree of this chat";
pub const ALL_DOCUMENTS: &str = "Documents";
pub const NEW_DOCUMENT: &str = "New document";
pub const SHORTCUTS: &str = "Keyboard shortcuts";
pub const THEME_SYSTEM: &str = "Theme: as the system";
pub const THEME_LIGHT: &str = "Theme: light";
pub const THEME_DARK: &str = "Theme: dark";
pub const CHAT_SETTINGS: &str = "Settings of this chat";
pub const CHAT_TOOLS: &str = "Tools of this chat";
pub const PROVIDERS: &str = "Providers and models";
pub const TOOLS: &str = "Tools and servers";
pub const USAGE: &str = "Usage and cost";
pub const TRASH: &str = "Trash";
pub const API: &str = "HTTP API";

/// The row that leads to the page of the search.
pub fn search_all(words: &str) -> String {
    format!("Search everything for “{words}”")
}

pub fn nothing(words: &str) -> String {
    format!("Nothing for “{words}”.")
}

pub fn results(count: usize) -> String {
    if count == 1 { "1 result".to_owned() } else { format!("{count} results") }
}
