//! Messages of the search page, in both languages.

use crate::ui::locale::{define_messages, message};

define_messages! {
    title: "Search", "搜索";
    words: "Words to look for", "要查找的文字";
    hint: "In everything that was said, on all branches. Capitals and accents do not matter; every other sign is searched for as it is.", "在所有分支的全部内容中查找。符号按原样匹配，不区分大小写和重音。";
    search: "Search", "搜索";
    look_in: "Look in", "查找范围";
    in_all: "Everything", "全部";
    in_chats: "Titles of chats", "对话标题";
    in_documents: "Documents", "文档";
    in_turns: "Messages and replies", "消息和回复";
    said_by: "Said by", "发言者";
    said_by_anybody: "Anybody", "不限";
    said_by_me: "Me", "我";
    said_by_model: "The model", "模型";
    model: "Model", "模型";
    model_any: "Any", "不限";
    since: "From this day on", "起始日期";
    until: "Up to this day", "截止日期";
    narrow: "Narrow it down", "缩小范围";
    recent: "Recent chats", "最近的对话";
    chats: "Chats", "对话";
    documents: "Documents", "文档";
    turns: "Messages and replies", "消息和回复";
    more_chats: "More chats", "更多对话";
    more_documents: "More documents", "更多文档";
    more: "More", "更多";
    first: "Back to the best", "返回最佳结果";
    all_chats: "Look in all chats", "在所有对话中查找";
    all_branches: "Look on all branches", "在所有分支中查找";
    in_part: "There was no time to look through everything.", "时间有限，未能查完全部内容。";
    indexing: "Older messages are still being indexed; more may be found in a while.", "更早的消息仍在建立索引，稍后可能会找到更多。";
}

pub fn nothing_found(words: &str) -> String {
    message!("Nothing for “{words}”.", "没有找到“{words}”。")
}

pub fn in_chat(title: &str) -> String {
    message!("Only in the chat “{title}”", "仅在对话“{title}”中")
}
