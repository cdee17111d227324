//! Messages of the page "Trash", in both languages.

use crate::domain::{DeletionKind, Role, limits};
use crate::ui::locale::{define_messages, join_list, localized_word, message, plural_message};
use crate::ui::messages::branches::branch_name;
use crate::ui::messages::trash::messages;
use crate::ui::messages::tree::branch_count;
use crate::ui::messages::untitled;

pub use crate::ui::messages::trash;

define_messages! {
    nothing: "Trash is empty. Deleted items are kept here for 30 days.", "回收站是空的。删除的内容会在这里保留 30 天。";
    restore: "Restore", "恢复";
    purge: "Delete permanently…", "永久删除…";
    empty: "Empty Trash…", "清空回收站…";
    purge_sure: "Delete permanently", "永久删除";
    keep: "Cancel", "取消";
    empty_title: "Empty Trash?", "清空回收站？";
    empty_sure: "Empty Trash", "清空回收站";
    empty_description: "Everything in Trash is deleted permanently, including its costs in Usage. This cannot be \
        undone.", "回收站中的所有内容将被永久删除，用量中的相应费用也一并清除。此操作无法撤销。";
    purged: "Deleted permanently.", "已永久删除。";
    emptied: "Trash is empty.", "回收站已清空。";
    chat_deleted: "Chat moved to Trash. You can restore it as it was.", "对话已移到回收站，可原样恢复。";
    not_there: "It is no longer in Trash.", "它已不在回收站中。";
    older: "Older", "更早";
    newest: "Newest", "最新";
    chat_is_deleted: "Its chat was deleted later. Restore the chat first.", "所属对话随后也被删除，请先恢复该对话。";
}

pub fn lead() -> String {
    let days = limits::TRASH_KEPT.num_days();
    message!(
        "Deleted items stay here for {days} days. Until then you can restore them exactly as they were; after that \
        they are deleted permanently.",
        "你删除的内容会在这里保留 {days} 天，期间可原样恢复，之后将永久删除。"
    )
}

/// Returns the kind of a deleted item.
pub fn deletion_kind(kind: DeletionKind, role: Option<Role>) -> &'static str {
    match (kind, role) {
        (DeletionKind::Chat, _) => localized_word("Chat", "对话"),
        (DeletionKind::Branch, _) => localized_word("Branch", "分支"),
        (DeletionKind::Prune, _) => localized_word("Branches", "分支"),
        (DeletionKind::Turn, Some(Role::Assistant)) => localized_word("Reply", "回复"),
        (DeletionKind::Turn, _) => localized_word("Message", "消息"),
    }
}

/// Returns the name of a deleted item. A pruned chat is named by the path that was kept.
pub fn deletion_title(of: DeletionKind, title: &str) -> String {
    let title = named(title);
    match of {
        DeletionKind::Prune => message!("all except {title}", "除 {title} 外的全部"),
        DeletionKind::Branch => branch_name(title),
        DeletionKind::Chat | DeletionKind::Turn => title.to_owned(),
    }
}

pub fn in_chat(title: &str) -> String {
    let title = named(title);
    message!("in “{title}”", "位于“{title}”")
}

fn named(title: &str) -> &str {
    if title.trim().is_empty() { untitled() } else { title }
}

pub fn counts(turns: u64, branches: u64) -> String {
    match branches {
        0 => messages(turns),
        count => join_list(&[messages(turns), branch_count(count as usize)]),
    }
}

pub fn days_left(days: i64) -> String {
    match days {
        ..1 => localized_word("will be deleted today", "今天将被删除").to_owned(),
        days => plural_message!(days; "1 day left", "{days} days left"; "剩余 {days} 天"),
    }
}

pub fn purge_title(title: &str) -> String {
    message!("Delete “{title}” permanently?", "永久删除“{title}”？")
}

pub fn purge_description(counts: &str) -> String {
    message!(
        "Permanently deletes {counts}, their costs in Usage, and anything deleted below them earlier. This cannot be \
        undone.",
        "{counts}将被永久删除，用量中的相应费用和先前在其下删除的内容也一并清除。此操作无法撤销。"
    )
}

/// Returns the title for deleting a turn with its descendants; `all` counts the turn itself.
pub fn delete_title(all: u64) -> String {
    let messages = messages(all);
    message!("Delete {messages}?", "删除 {messages}？")
}

/// Describes the deletion of a turn, which is named by its first words.
pub fn delete_description(all: u64, first_words: &str) -> String {
    let (below, days) = (messages(all.saturating_sub(1)), limits::TRASH_KEPT.num_days());
    if all <= 1 {
        return message!(
            "Moves “{first_words}” to Trash. You can restore it for {days} days.",
            "“{first_words}”将移到回收站，并保留 {days} 天。"
        );
    }
    message!(
        "Moves “{first_words}” and {below} below it to Trash, on all branches. You can restore them for {days} days.",
        "“{first_words}”及其下的 {below}将从所有分支中删除，并在回收站保留 {days} 天。"
    )
}

pub fn not_restored(why: &str) -> String {
    let why = super::to_sentence(why);
    message!("Could not restore. {why}", "无法恢复。{why}")
}
