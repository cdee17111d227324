//! What the page "Trash" says.

use crate::domain::{DeletionKind, Role, limits};
use crate::ui::words::UNTITLED;
use crate::ui::words::trash::messages;

pub use crate::ui::words::TRASH;
pub const NOTHING: &str = "Nothing is here. What you delete is kept for 30 days.";
pub const RESTORE: &str = "Restore";
pub const PURGE: &str = "Delete for ever…";
pub const EMPTY: &str = "Empty Trash…";
pub const PURGE_SURE: &str = "Delete for ever";
pub const KEEP: &str = "Keep it";
pub const EMPTY_TITLE: &str = "Empty Trash?";
pub const EMPTY_SURE: &str = "Empty Trash for ever";
pub const EMPTY_WHAT: &str = "Everything in Trash goes for ever, with its costs in Usage. This cannot be undone.";
pub const PURGED: &str = "Deleted for ever.";
pub const EMPTIED: &str = "Trash is empty.";
pub const OLDER: &str = "Older";
pub const NEWEST: &str = "Newest";
pub const CHAT_IS_DELETED: &str = "Its chat was deleted later: restore that first.";

pub fn lead() -> String {
    format!(
        "What you delete is kept here for {} days and can come back exactly as it was. Then it goes for ever.",
        limits::TRASH_KEPT.num_days()
    )
}

/// What kind of thing it was.
pub fn kind(kind: DeletionKind, role: Option<Role>) -> &'static str {
    match (kind, role) {
        (DeletionKind::Chat, _) => "Chat",
        (DeletionKind::Branch, _) => "Branch",
        (DeletionKind::Prune, _) => "All other branches",
        (DeletionKind::Turn, Some(Role::Assistant)) => "Reply",
        (DeletionKind::Turn, _) => "Message",
    }
}

/// The thing's name. A pruned one is named by what was kept.
pub fn title(of: DeletionKind, title: &str) -> String {
    let title = if title.trim().is_empty() { UNTITLED } else { title };
    if of == DeletionKind::Prune { format!("beside “{title}”") } else { title.to_owned() }
}

pub fn in_chat(title: &str) -> String {
    format!("in “{}”", if title.trim().is_empty() { UNTITLED } else { title })
}

pub fn counts(turns: u64, branches: u64) -> String {
    let branches = match branches {
        0 => return messages(turns),
        1 => "1 branch".to_owned(),
        count => format!("{count} branches"),
    };
    format!("{}, {branches}", messages(turns))
}

pub fn days_left(days: i64) -> String {
    match days {
        ..1 => "goes today".into(),
        1 => "1 day left".into(),
        days => format!("{days} days left"),
    }
}

pub fn purge_title(title: &str) -> String {
    format!("Delete “{title}” for ever?")
}

pub fn purge_what(counts: &str) -> String {
    format!(
        "{counts} go for ever, with their costs in Usage and with what was deleted below them before. This cannot be undone."
    )
}

/// Of a turn with what is below it; `all` counts the turn itself.
pub fn delete_title(all: u64) -> String {
    format!("Delete {}?", messages(all))
}

/// The turn by its first words.
pub fn delete_what(all: u64, first_words: &str) -> String {
    format!(
        "“{first_words}” goes with {} below it, on all branches. It is kept in Trash for {} days.",
        messages(all.saturating_sub(1)),
        limits::TRASH_KEPT.num_days()
    )
}

pub fn not_restored(why: &str) -> String {
    let mut letters = why.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("Not restored. {first}{}.", letters.as_str())
}
