//! Messages about selected text on a document's page, in both languages.

use crate::domain::text::excerpt::capitalize;
use crate::ui::keymap::{KeyCommand, key_hint};
use crate::ui::locale::{define_messages, message};
use crate::ui::messages::amounts::line_range;

define_messages! {
    select_first: "Select some text first.", "请先选中一些文字。";
    link_copied: "Link copied.", "链接已复制。";
    not_reached: "Could not reach the server. Your selection is kept; try again.", "无法连接服务器。选中的内容已保留，请重试。";
    quoting: "Quoting…", "正在引用…";
}

/// The announcement of a selection, with the keys that quote it.
pub fn selected(first: u64, last: u64, chat: &str) -> String {
    let (lines, keys) = (selected_range((first, last)), key_hint(KeyCommand::Quote));
    if keys.is_empty() {
        return message!("{lines} selected. Press Tab for actions.", "已选中{lines}。按 Tab 查看可用操作。");
    }
    message!(
        "{lines} selected. Press {keys} to quote in {chat}, or Tab for more actions.",
        "已选中{lines}。按 {keys} 引用到“{chat}”，按 Tab 查看其他操作。"
    )
}

/// The reason why a quote failed; without one the server was not reached.
pub fn refused(reason: Option<&str>) -> String {
    reason.map_or_else(|| not_reached().to_owned(), str::to_owned)
}

/// The selected line range, at the start of a sentence: "Lines 3–9".
pub fn selected_range(lines: (u64, u64)) -> String {
    capitalize(&line_range(lines))
}
