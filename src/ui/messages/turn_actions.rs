//! Messages of the turn menus, in both languages.

use super::{amounts, stored_codes};
use crate::domain::providers::context_overflow;
use crate::domain::{Failure, FailureKind};
use crate::ui::keymap::{self, KeyCommand};
use crate::ui::locale::{define_messages, localized_word, message};

define_messages! {
    other_models: "Retry with another model", "换个模型回复";
    quote: "Quote", "引用";
    quote_in_message: "Quote in your message", "引用到你的消息";
    context_usage: "Show context usage", "查看上下文占用";
    quoted: "Quoted in your message.", "已引用到你的消息。";
}

/// The reason of a failed reply, with the numbers that the provider reported.
pub fn failure(failure: &Failure) -> String {
    let is_too_long = failure.kind == FailureKind::ContextTooLong;
    let tokens = failure.detail.as_deref().filter(|_| is_too_long).and_then(context_overflow::parse_token_counts);
    let Some((used, most)) = tokens else {
        return stored_codes::failure_sentence(failure);
    };
    let (used, most) = (amounts::short_count(used), amounts::short_count(most));
    message!(
        "Too long for this model ({used} tokens, the limit is {most}).",
        "超出模型上下文长度（{used} / {most} token）。"
    )
}

/// The announcement of a selected passage, with the keys that quote it.
pub fn selected() -> String {
    let keys = keymap::key_hint(KeyCommand::Quote);
    if keys.is_empty() {
        return localized_word("Text selected. You can quote it.", "已选中文字，可以引用。").to_owned();
    }
    message!("Text selected. Press {keys} to quote it in your message.", "已选中文字。按 {keys} 引用到你的消息。")
}
