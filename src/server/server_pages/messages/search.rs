//! Messages of the search page, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};

define_messages! {
    title: "Search", "搜索";
    words: "Search for", "要搜索的文字";
    hint: "Searches all messages on all branches. Case and accents are ignored; other characters match exactly.",
        "在所有分支的全部消息中搜索。不区分大小写和重音，其他字符按原样匹配。";
    search: "Search", "搜索";
    look_in: "Search in", "搜索范围";
    in_all: "Everything", "全部";
    in_chats: "Chat titles", "对话标题";
    in_documents: "Documents", "文档";
    in_turns: "Messages and replies", "消息和回复";
    author_label: "From", "发言者";
    any_author: "Anyone", "不限";
    author_me: "Me", "我";
    author_model: "The model", "模型";
    model: "Model", "模型";
    model_any: "Any", "不限";
    since: "From date", "起始日期";
    until: "To date", "截止日期";
    narrow: "Filters", "筛选";
    recent: "Recent chats", "最近的对话";
    chats: "Chats", "对话";
    documents: "Documents", "文档";
    turns: "Messages and replies", "消息和回复";
    more_chats: "More chats", "更多对话";
    more_documents: "More documents", "更多文档";
    more: "More", "更多";
    first: "Back to top results", "返回最佳结果";
    all_chats: "Search all chats", "在所有对话中搜索";
    all_branches: "Search all branches", "在所有分支中搜索";
    in_part: "The search timed out before it covered everything.", "搜索超时，未能查完全部内容。";
    indexing: "Older messages are still being indexed. Search again later for more results.", "更早的消息仍在建立索引，请稍后再搜索。";
}

pub fn count(results: usize) -> String {
    plural_message!(results; "1 result.", "{results} results."; "{results} 条结果。")
}

/// The number of results on the first page of more.
pub fn best(results: usize) -> String {
    plural_message!(results; "The best result; there are more.", "The {results} best results; there are more."; "最佳的 {results} 条结果，还有更多。")
}

pub fn nothing_found(words: &str) -> String {
    message!("No results for “{words}”.", "没有找到“{words}”。")
}

pub fn in_chat(title: &str) -> String {
    message!("Only in chat “{title}”", "仅在对话“{title}”中")
}
