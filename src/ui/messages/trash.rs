//! Messages about deleting a part of a chat, in both languages.

use super::amounts::number;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};

define_messages! {
    delete_version_and_below: "Delete this version and everything below", "删除此版本及其下的全部内容";
    is_deleted: "Deleted.", "已删除。";
    restored: "Restored.", "已恢复。";
}

/// The number of turns as people call them.
pub fn messages(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 message", "{many} messages"; "{many} 条消息")
}

/// The label of the menu item; `all` counts the version itself.
pub fn delete_version(all: u64) -> String {
    if all <= 1 {
        return localized_word("Delete this version", "删除此版本").to_owned();
    }
    let below = messages(all - 1);
    message!("Delete this version and {below} below", "删除此版本及其下的 {below}")
}

/// Everything except the path to a turn and its descendants.
pub fn delete_others(others: u64) -> String {
    let others = messages(others);
    message!("Delete all other branches ({others})", "删除所有其他分支（{others}）")
}

/// The toast with Undo.
pub fn deleted(count: u64) -> String {
    let messages = messages(count);
    message!("Deleted {messages}.", "已删除 {messages}。")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delete_count_is_stated_before_and_after() {
        assert_eq!(delete_version(1), "Delete this version");
        assert_eq!(delete_version(2), "Delete this version and 1 message below");
        assert_eq!(delete_version(7), "Delete this version and 6 messages below");
        assert_eq!(deleted(1_234), "Deleted 1,234 messages.");
    }
}
