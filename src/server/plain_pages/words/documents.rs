//! What the pages of documents say.

use crate::domain::limits;

pub const DOCUMENTS: &str = "Documents";
pub const LEAD: &str = "Texts that messages can name, all of them or some lines. Every change keeps the version before, so a message goes on saying what it said.";
pub const NOTHING: &str =
    "Nothing is here yet. Write a document or upload files: text, Markdown, code, HTML, PDF, Word, Excel, CSV.";
pub const LIST: &str = "All documents";
pub const NEW: &str = "New document";
pub const NEW_TITLE: &str = "New document";
pub const UPLOAD: &str = "Upload files";
pub const UPLOAD_VERSION: &str = "Upload a new version";
pub const FILES: &str = "Files";
pub const FILE: &str = "File";
pub const ENCODING: &str = "Encoding of text files";
pub const ENCODING_AUTO: &str = "Tell by the file";
pub const UPLOADED: &str = "Uploaded";
pub const CAME_OF_IT: &str = "What came of the files";
pub const NO_FILE: &str = "Choose a file first.";
pub const IS_IMAGE: &str = "an image is kept for a day; attach it to a message";
pub const TOO_MANY_FILES: &str = "The form has too many files; the rest was not read.";
pub const TITLE: &str = "Title";
pub const TEXT: &str = "Text";
pub const TEXT_HINT: &str = "Markdown.";
pub const PREVIEW: &str = "Preview";
pub const SAVE: &str = "Save";
pub const SAVED: &str = "Saved.";
pub const CREATED: &str = "The document is made.";
pub const RESTORED: &str = "It is back.";
pub const VERSION_RESTORED: &str = "That version is the newest again.";
pub const UNCHANGED_OR_SAVED: &str = "Saved. The same words make no new version.";
pub const EDIT: &str = "Edit";
pub const DOWNLOAD: &str = "Download the original";
pub const DELETE: &str = "Delete";
pub const DELETE_SURE: &str = "Delete";
pub const KEEP: &str = "Keep it";
pub const VERSION: &str = "Version";
pub const VERSIONS: &str = "Versions";
pub const NEWEST: &str = "newest";
pub const SHOW: &str = "Show";
pub const COMPARE: &str = "Compare versions";
pub const OLDER_ONE: &str = "Older";
pub const NEWER_ONE: &str = "Newer";
pub const MAKE_NEWEST: &str = "Make this the newest version";
pub const OLD_VERSION: &str = "This is an older version.";
pub const QUOTE: &str = "Quote lines in a chat";
pub const QUOTE_HINT: &str = "The lines are attached to the chat's next message, as this version has them.";
pub const FIRST_LINE: &str = "From line";
pub const LAST_LINE: &str = "To line";
pub const CHAT: &str = "Chat";
pub const NEW_CHAT: &str = "A new chat";
pub const DO_QUOTE: &str = "Quote in chat";
pub const SELECTED: &str = "Selected text";
pub const COPY_LINK: &str = "Copy link";
pub const NO_LINES: &str = "There is nothing on these lines.";
pub const LINES_HINT: &str = "Both are numbers of lines.";
pub const USED: &str = "Used in";
pub const NOTES: &str = "What reading the file says";
pub const CONTENT: &str = "Text with line numbers";
pub const EMPTY: &str = "The document is empty.";
pub const EARLIER_LINES: &str = "Earlier lines";
pub const LATER_LINES: &str = "Later lines";
pub const BACK: &str = "Back to the document";
pub const BACK_TO_LIST: &str = "All documents";
pub const OLDER: &str = "Older";
pub const FIRST_PAGE: &str = "Newest";
pub const TOO_LONG: &str = "This document is too long to be edited here. Upload a new version of the file.";
pub const CHANGED: &str = "It was changed meanwhile. Your words are below; saving again replaces what is there now.";
pub const SAME: &str = "The two versions are the same.";
pub const IN_TRASH: &str = "Documents";
pub const PURGE: &str = "Delete for ever…";
pub const PURGE_SURE: &str = "Delete for ever";
pub const RESTORE: &str = "Restore";
pub const PURGE_WHAT: &str =
    "All versions go for ever. Messages that name it stay and say that it was deleted. This cannot be undone.";

/// A size for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

pub fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

pub fn used_in(chats: u64) -> String {
    match chats {
        0 => "not used yet".to_owned(),
        1 => "used in 1 chat".to_owned(),
        count => format!("used in {count} chats"),
    }
}

pub fn edit_title(title: &str) -> String {
    format!("Edit “{title}”")
}

pub fn delete_title(title: &str) -> String {
    format!("Delete “{title}”?")
}

pub fn delete_what() -> String {
    let days = limits::TRASH_KEPT.num_days();
    format!("It goes to Trash, where it is kept for {days} days. Messages that name it say so meanwhile.")
}

pub fn purge_title(title: &str) -> String {
    format!("Delete “{title}” for ever?")
}

pub fn files_hint() -> String {
    format!("At most {} MiB each, {} MiB together.", limits::UPLOAD_BYTES >> 20, limits::TURN_UPLOAD_BYTES >> 20)
}

pub fn file_failed(name: &str, why: &str) -> String {
    format!("{name}: {why}")
}

/// Counted from the oldest.
pub fn version(number: usize) -> String {
    format!("Version {number}")
}
