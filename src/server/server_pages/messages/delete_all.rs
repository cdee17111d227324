//! Messages of the page that deletes everything, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};
use crate::ui::messages::amounts::number;

define_messages! {
    title: "Delete everything", "删除全部内容";
    description: "Permanently deletes all your chats, documents and files. Connections and settings are kept.",
        "永久删除你的所有对话、文档和文件。已连接的服务和设置会保留。";
    open: "Delete everything…", "删除全部内容…";
    deleted_items: "What is deleted", "将删除的内容";
    projects: "Projects, with their instructions", "项目及其指令";
    usage: "Their usage and costs, drafts, and everything in Trash", "其用量和费用、草稿，以及回收站中的内容";
    permanence: "This skips Trash and cannot be undone. Replies being generated are stopped. Files are removed from \
        disk within a day.", "这些内容不会进入回收站，此操作无法撤销。正在生成的回复会停止。文件会在一天内从磁盘清除。";
    kept_items: "Providers and their API keys, tool servers and your settings are kept; you are signed out of tool \
        servers. Exports and backups are not affected.", "服务商及其 \
        API 密钥、工具服务器和你的设置会保留，但会退出工具服务器的登录。导出的文件和备份不受影响。";
    export_first: "Export first", "先导出";
    label: "Confirm", "确认";
    /// The word that must be typed to confirm.
    confirmation_word: "delete", "删除";
    button: "Delete everything permanently", "永久删除全部内容";
    deleting: "Deleting…", "正在删除…";
    nothing_deleted: "Nothing was deleted.", "未删除任何内容。";
    broke_off: "Not everything was deleted. Try again.", "未能全部删除，请重试。";
    being_deleted: "Everything is already being deleted. Reload this page in a moment to see what is left.",
        "正在删除全部内容，请稍后重新加载此页面查看剩余内容。";
    deleted: "Everything was deleted.", "已删除全部内容。";
}

pub fn typing_instruction() -> String {
    let word = confirmation_word();
    message!("Type “{word}” to confirm.", "请输入“{word}”以确认。")
}

pub fn word_not_typed() -> String {
    let word = confirmation_word();
    message!("You did not type “{word}”.", "输入的内容不是“{word}”。")
}

pub fn nothing_deleted_because(reason: &str) -> String {
    message!("Nothing was deleted: {reason}.", "未删除任何内容：{reason}。")
}

pub fn not_all_deleted(reason: &str) -> String {
    message!(
        "Some items could not be deleted: {reason}. The rest was deleted.",
        "未能全部删除：{reason}。其余内容已删除。"
    )
}

pub fn chats(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 chat, with all its branches", "{many} chats, with all their branches"; "{many} 个对话，包括所有分支")
}

pub fn documents(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 document, with its versions", "{many} documents, with their versions"; "{many} 篇文档，包括各个版本")
}

pub fn files(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 file or image", "{many} files and images"; "{many} 个文件和图片")
}
