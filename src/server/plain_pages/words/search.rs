//! What the page of the search says.

pub const TITLE: &str = "Search";
pub const WORDS: &str = "Words to look for";
pub const HINT: &str =
    "In everything that was said, on all branches. Signs mean themselves; capitals and accents do not matter.";
pub const SEARCH: &str = "Search";
pub const IN: &str = "Look in";
pub const IN_ALL: &str = "Everything";
pub const IN_CHATS: &str = "Titles of chats";
pub const IN_DOCUMENTS: &str = "Documents";
pub const IN_TURNS: &str = "Messages and replies";
pub const SAID_BY: &str = "Said by";
pub const SAID_BY_ANYBODY: &str = "Anybody";
pub const SAID_BY_ME: &str = "Me";
pub const SAID_BY_MODEL: &str = "The model";
pub const MODEL: &str = "Model";
pub const MODEL_ANY: &str = "Any";
pub const SINCE: &str = "From this day on";
pub const UNTIL: &str = "Up to this day";
pub const NARROW: &str = "Narrow it down";
pub const RECENT: &str = "Recent chats";
pub const CHATS: &str = "Chats";
pub const DOCUMENTS: &str = "Documents";
pub const TURNS: &str = "Messages and replies";
pub const MORE_CHATS: &str = "More chats";
pub const MORE_DOCUMENTS: &str = "More documents";
pub const MORE: &str = "More";
pub const FIRST: &str = "Back to the best";
pub const ALL_CHATS: &str = "Look in all chats";
pub const ALL_BRANCHES: &str = "Look on all branches";
pub const IN_PART: &str = "There was no time to look through everything.";
pub const INDEXING: &str = "Older messages are still being indexed; more may be found in a while.";

pub fn nothing(words: &str) -> String {
    format!("Nothing for “{words}”.")
}

pub fn in_chat(title: &str) -> String {
    format!("Only in the chat “{title}”")
}
