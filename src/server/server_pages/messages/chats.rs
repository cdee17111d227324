//! Messages of the page of all chats and its bulk actions, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};

define_messages! {
    filter: "Part of the title", "标题包含";
    show: "Show", "显示";
    show_all: "Show all", "显示全部";
    in_list: "In the list", "列表中";
    in_archive: "Archive", "归档";
    archive_hint: "The list leaves these chats out. The search finds them, and a new message brings a chat back.", "这些对话不显示在列表中，但仍可搜索到；发送新消息后会回到列表。";
    nothing: "No chats here.", "这里没有对话。";
    nothing_chosen: "Nothing was chosen.", "没有选择任何对话。";
    choose_all: "Choose all on this page", "选择本页全部";
    choose_none: "Choose none", "取消选择";
    pin: "Pin", "置顶";
    unpin: "Unpin", "取消置顶";
    archive: "Archive", "归档";
    unarchive: "Bring back to the list", "移回列表";
    delete: "Delete", "删除";
    older: "Older chats", "更早的对话";
    newest: "The newest", "最新的";
    pinned: "pinned", "已置顶";
    draft: "draft", "草稿";
    to_trash: "To Trash, where they can be brought back", "前往回收站，可在那里恢复";
    to_archive: "To the archive", "前往归档";
    list_position: "In the list of chats", "在对话列表中";
    list_position_hint: "A pinned chat stands before the others. The list leaves out what is archived; a new message brings it back.", "置顶的对话排在最前；归档的对话不显示在列表中，发送新消息后会回到列表。";
}

/// Returns the label of a chat's checkbox.
pub fn choose_chat(title: &str) -> String {
    message!("Choose “{title}”", "选择“{title}”")
}

pub fn pinned_result(count: usize) -> String {
    plural_message!(count; "Pinned 1 chat.", "Pinned {count} chats."; "已置顶 {count} 个对话。")
}

pub fn unpinned_result(count: usize) -> String {
    plural_message!(count; "1 chat is no longer pinned.", "{count} chats are no longer pinned."; "已取消置顶 {count} 个对话。")
}

pub fn archived_result(count: usize) -> String {
    plural_message!(count; "Archived 1 chat.", "Archived {count} chats."; "已归档 {count} 个对话。")
}

pub fn unarchived_result(count: usize) -> String {
    plural_message!(count; "1 chat is back in the list.", "{count} chats are back in the list."; "已将 {count} 个对话移回列表。")
}

pub fn deleted_result(count: usize) -> String {
    plural_message!(count; "1 chat is in Trash.", "{count} chats are in Trash."; "已将 {count} 个对话移到回收站。")
}
