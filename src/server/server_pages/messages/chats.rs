//! Messages of the page of all chats and its bulk actions, in both languages.

use crate::ui::locale::{define_messages, localized_word, message, plural_message};

define_messages! {
    filter: "Title contains", "标题包含";
    show: "Show", "显示";
    in_list: "In the list", "列表中";
    in_archive: "Archive", "归档";
    archive_hint: "Archived chats are hidden from the list but still searchable. A new message returns a chat to the \
        list.", "这些对话不显示在列表中，但仍可搜索到；发送新消息后会回到列表。";
    nothing: "No chats here.", "这里没有对话。";
    nothing_chosen: "No chats selected.", "没有选择任何对话。";
    choose_all: "Select all on this page", "选择本页全部";
    choose_none: "Clear selection", "取消选择";
    pin: "Pin", "置顶";
    unpin: "Unpin", "取消置顶";
    archive: "Archive", "归档";
    unarchive: "Unarchive", "取消归档";
    mark_read: "Mark as read", "标为已读";
    delete: "Delete", "删除";
    older: "Older chats", "更早的对话";
    newest: "Newest", "最新的";
    pinned: "pinned", "已置顶";
    draft: "draft", "草稿";
    to_trash: "Go to Trash", "前往回收站";
    to_archive: "Go to Archive", "前往归档";
    list_position: "In the chat list", "在对话列表中";
    list_position_hint: "Pinned chats come first. Archived chats are hidden from the list until you send a new \
        message.", "置顶的对话排在最前；归档的对话不显示在列表中，发送新消息后会回到列表。";
}

pub fn count(chats: usize) -> String {
    plural_message!(chats; "1 chat", "{chats} chats"; "{chats} 个对话")
}

/// The number of chats on this page of a longer list.
pub fn shown(chats: usize) -> String {
    plural_message!(chats; "1 chat on this page", "{chats} chats on this page"; "本页 {chats} 个对话")
}

pub fn no_titles(part: &str) -> String {
    message!("No chat titles contain “{part}”.", "没有标题包含“{part}”的对话。")
}

/// Returns what stands before and behind the number of selected chats, which the style sheet counts.
pub fn chosen() -> (&'static str, &'static str) {
    (localized_word("", "已选择 "), localized_word(" selected", " 个对话"))
}

/// Returns the label of a chat's checkbox.
pub fn choose_chat(title: &str) -> String {
    message!("Select “{title}”", "选择“{title}”")
}

pub fn pinned_result(count: usize) -> String {
    plural_message!(count; "Pinned 1 chat.", "Pinned {count} chats."; "已置顶 {count} 个对话。")
}

pub fn unpinned_result(count: usize) -> String {
    plural_message!(count; "Unpinned 1 chat.", "Unpinned {count} chats."; "已取消置顶 {count} 个对话。")
}

pub fn archived_result(count: usize) -> String {
    plural_message!(count; "Archived 1 chat.", "Archived {count} chats."; "已归档 {count} 个对话。")
}

pub fn unarchived_result(count: usize) -> String {
    plural_message!(count; "Unarchived 1 chat.", "Unarchived {count} chats."; "已取消归档 {count} 个对话。")
}

pub fn moved_result(count: usize) -> String {
    plural_message!(count; "Moved 1 chat.", "Moved {count} chats."; "已移动 {count} 个对话。")
}

pub fn read_result(count: usize) -> String {
    plural_message!(count; "Marked 1 chat as read.", "Marked {count} chats as read."; "已将 {count} 个对话标为已读。")
}

pub fn unread_result(count: usize) -> String {
    plural_message!(count; "Marked 1 chat as unread.", "Marked {count} chats as unread."; "已将 {count} 个对话标为未读。")
}

pub fn deleted_result(count: usize) -> String {
    plural_message!(count; "Moved 1 chat to Trash.", "Moved {count} chats to Trash."; "已将 {count} 个对话移到回收站。")
}
