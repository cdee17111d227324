//! Messages of the page of a tool call that waits for an answer, in both languages.

use crate::ui::locale::{define_messages, plural_message};

define_messages! {
    title: "Tool call", "工具调用";
    arguments: "Arguments as JSON", "JSON 参数";
    arguments_hint: "You can change them before allowing the call. The chat keeps both versions, and the model is told \
        which arguments were used.", "允许调用之前可以修改参数。对话会保留两个版本，并告知模型实际使用的参数。";
    schema: "Parameters of this tool", "此工具的参数";
    check_arguments: "Nothing was run. Correct the arguments.", "尚未运行。请改正参数。";
    all_title: "All tools of this server", "此服务器的所有工具";
    all_hint: "The tools it lists now, as they are described now, will run in every chat, with any arguments, without \
        asking you. Tools with a permission of their own keep it. New and changed tools will ask. You can undo this in \
        Settings.", "它目前列出且说明未改动的工具，将在所有对话中以任何参数直接运行，不再询问你。已单独设置权限的工具保持不变；新增或有改动的工具会询问。可在“设置”中撤销。";
    confirm_all: "I trust this server with everything it can do", "我信任此服务器，允许它做它能做的一切";
    allow_all: "Allow all its tools", "允许它的所有工具";
    confirm_first: "Nothing was allowed. Confirm that you trust the server.", "尚未允许。请先确认你信任此服务器。";
    tool_gone: "This tool is no longer available, so the call will be refused.", "此工具已不可用，调用会被拒绝。";
}

/// The heading of the list of tools of a server.
pub fn tools(count: usize, server: &str) -> String {
    plural_message!(count; "1 tool of {server}", "{count} tools of {server}"; "{server} 的 {count} 个工具")
}

/// Says that hidden characters of the arguments are written as escapes.
pub fn hidden(count: u32) -> String {
    plural_message!(
        count; "1 hidden character is written as its code, such as \\u200b.",
        "{count} hidden characters are written as their codes, such as \\u200b.";
        "{count} 个隐藏字符以编码显示，如 \\u200b。"
    )
}
