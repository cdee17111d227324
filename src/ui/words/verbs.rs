//! What the page says of what is done with turns from their menus, in both languages.

use super::{spent, told};
use crate::domain::{Failure, FailureKind, too_long};
use crate::ui::keymap::{self, Command};
use crate::ui::locale::{said, word, words};

words! {
    other_models: "Ask another model", "换个模型回复";
    quote: "Quote", "引用";
    quote_in_message: "Quote in your message", "引用到你的消息";
    what_is_big: "What is big?", "哪些内容占用多？";
    quoted: "Quoted in your message.", "已引用到你的消息。";
}

/// A row of the menu beside "Try again".
pub fn retry_with_model(name: &str) -> String {
    said!("Try again with {name}", "用 {name} 重试")
}

/// Why a reply failed, with the numbers where the provider told them.
pub fn failure(failure: &Failure) -> String {
    let is_too_long = failure.kind == FailureKind::ContextTooLong;
    let tokens = failure.detail.as_deref().filter(|_| is_too_long).and_then(too_long::tokens);
    let Some((used, most)) = tokens else { return told::told(&failure.message).into_owned() };
    let (used, most) = (spent::short(used), spent::short(most));
    said!("Too long for this model ({used} of {most} tokens).", "超出模型上下文长度（{used} / {most} token）。")
}

/// Said when a passage of a reply was selected: what the keys do with it.
pub fn selected() -> String {
    let keys = keymap::told(Command::Quote);
    if keys.is_empty() {
        return word("Selected. It can be quoted.", "已选中，可以引用。").to_owned();
    }
    said!("Selected. {keys} quotes it in your message.", "已选中。按 {keys} 引用到你的消息。")
}
