//! What a document's page says about selected text.

pub const SELECT_FIRST: &str = "Select some text first.";
pub const LINK_COPIED: &str = "Link copied.";
pub const NOT_REACHED: &str = "The server could not be reached. The selection is kept; try again.";
pub const QUOTING: &str = "Quoting…";

/// Which lines something is on.
pub fn lines(first: u64, last: u64) -> String {
    if first == last { format!("Line {first}") } else { format!("Lines {first}–{last}") }
}

/// Said when something was selected: what the keys do with it.
pub fn selected(first: u64, last: u64, chat: &str) -> String {
    format!("{} selected. Ctrl+Shift+L quotes it in {chat}; Tab leads to what else can be done.", lines(first, last))
}
