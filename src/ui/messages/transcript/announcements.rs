//! Announcements (docs/reference/ux.md 12).

use crate::ui::keymap::{KeyCommand, Keymap};
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::amounts;

define_messages! {
    thinking: "Assistant is thinking.", "助手正在思考。";
    answering: "Assistant is replying.", "助手正在回复。";
}

pub fn still_running(is_thinking: bool, seconds: u64) -> String {
    if is_thinking {
        message!("Still thinking, {seconds} seconds.", "仍在思考，已 {seconds} 秒。")
    } else {
        message!("Still replying, {seconds} seconds.", "仍在回复，已 {seconds} 秒。")
    }
}

pub fn using(tool: &str) -> String {
    message!("Using {tool}.", "正在使用 {tool}。")
}

/// An approval question; `keys` is the shortcut to it, or empty.
pub fn asks_permission(tool: &str, keys: &str) -> String {
    if keys.is_empty() {
        return message!("{tool} needs your approval.", "{tool} 请求许可。");
    }
    message!("{tool} needs your approval. Press {keys} to review.", "{tool} 请求许可，按 {keys} 查看。")
}

/// A question of a tool server; `keys` is the shortcut to it, or empty.
pub fn asks_user(server: &str, keys: &str) -> String {
    if keys.is_empty() {
        return message!("{server} has a question for you.", "{server} 向你提问。");
    }
    message!("{server} has a question for you. Press {keys} to answer.", "{server} 向你提问，按 {keys} 回答。")
}

pub fn paused(reason: &str, keys: &str) -> String {
    if keys.is_empty() {
        return reason.to_owned();
    }
    message!("{reason} Press {keys} to review.", "{reason}按 {keys} 查看。")
}

pub fn reply(text: &str) -> String {
    message!("Reply: {text}", "回复：{text}")
}

/// Returns the spoken form of the keys that lead from the message box to the last reply.
pub fn keys_to_read() -> Option<String> {
    let keys = Keymap::from_page().chord(KeyCommand::TurnBefore).filter(|keys| !keys.is_bare())?;
    Some(keys.to_string().replace('↑', localized_word("Up", "上")))
}

/// A complete reply; `read_by` are the keys that lead to it from the reader's position.
pub fn complete(words: usize, read_by: Option<&str>) -> String {
    let many = amounts::number(words as u64);
    let Some(keys) = read_by else {
        return plural_message!(words; "Reply complete, 1 word.", "Reply complete, {many} words."; "回复完成，共 {many} 字。");
    };
    plural_message!(words; "Reply complete, 1 word. Press {keys} to read.", "Reply complete, {many} words. Press \
        {keys} to read."; "回复完成，共 {many} 字，按 {keys} 阅读。")
}

pub fn failed(title: &str) -> String {
    message!("Reply failed: {title}", "回复失败：{title}")
}

pub fn version(number: usize, of: usize, followed_by: u64) -> String {
    if followed_by == 0 {
        return message!("Version {number} of {of}.", "第 {number} 版，共 {of} 版。");
    }
    let many = amounts::number(followed_by);
    plural_message!(followed_by; "Version {number} of {of}, followed by 1 message.", "Version {number} of {of}, followed by {many} messages."; "第 {number} 版，共 {of} 版，其后有 {many} 条消息。")
}
