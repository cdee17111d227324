//! What the page says about deleting a part of a chat.

use super::transcript::number;

pub const DELETE_VERSION: &str = "Delete this version and what is below it";
pub const RESTORED: &str = "Restored.";

/// A number of turns, in words for people.
pub fn messages(count: u64) -> String {
    if count == 1 { "1 message".into() } else { format!("{} messages", number(count)) }
}

/// The menu's row; `all` counts the version itself.
pub fn delete_version(all: u64) -> String {
    match all {
        ..=1 => "Delete this version".into(),
        all => format!("Delete this version and {} below", messages(all - 1)),
    }
}

/// Everything but the way to a turn and what is below it.
pub fn delete_others(others: u64) -> String {
    format!("Delete all other branches ({})", messages(others))
}

/// The note with Undo.
pub fn deleted(count: u64) -> String {
    format!("Deleted {}.", messages(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_said_before_and_after() {
        assert_eq!(delete_version(1), "Delete this version");
        assert_eq!(delete_version(2), "Delete this version and 1 message below");
        assert_eq!(delete_version(7), "Delete this version and 6 messages below");
        assert_eq!(deleted(1_234), "Deleted 1\u{202f}234 messages.");
    }
}
