//! Messages of the server pages in both languages, besides those shared with the application (`ui::messages`).

pub mod accounts;
pub mod api_reference;
pub mod budgets;
pub mod built_in_tools;
pub mod chats;
pub mod compare;
pub mod conversion_notes;
pub mod delete_all;
pub mod documents;
pub mod error_page;
pub mod external_link;
pub mod import;
pub mod insert;
pub mod notifications;
pub mod offline;
pub mod preferences;
pub mod preview;
pub mod projects;
pub mod providers;
pub mod rights;
pub mod search;
pub mod sent_request;
pub mod shares;
pub mod title_suggestion;
pub mod tool_call;
pub mod tool_import;
pub mod tool_sign_in;
pub mod tools;
pub mod transfer;
pub mod trash;
pub mod tree;
pub mod usage;
pub mod web_search;

use crate::domain::text::excerpt::capitalize;
use crate::ui::locale::{Locale, define_messages, locale, message};
use crate::ui::messages::amounts::number;
use crate::ui::messages::branches::branch_name;
pub use crate::ui::messages::provider_connect::show;

pub const API: &str = "API";

define_messages! {
    back: "Chats", "对话";
    skip: "Skip to content", "跳到内容";
    places: "Chats and files", "对话和文件";
    providers_title: "Providers", "服务商";
    usage_title: "Usage", "用量";
    optional: "optional", "可选";
    choose_file: "Choose file", "选择文件";
    choose_files: "Choose files", "选择文件";
    no_file_chosen: "No file chosen", "未选择文件";
}

// The settings of a chat.
pub use crate::ui::messages::{chat_settings, tree::back_to_chat};

pub const TOP_P: &str = "Top p";
pub const TOP_K: &str = "Top k";

define_messages! {
    attachments_included: "Selected attachments will be sent:", "勾选的附件会一并发送：";
    system_prompt: "System prompt", "系统提示词";
    system_prompt_hint: "Instructions the model receives before the first message. Each branch keeps the prompt it \
        started with; changes apply to new branches, including retries.", "模型在第一条消息之前收到的指令。每个分支沿用其开始时的提示词；修改只对新分支生效，包括重试产生的分支。";
    next_chat_hint: "Applies to the next chat you start. Later chats use the default settings.",
        "用于你接下来新建的对话。之后的新对话使用默认设置。";
    instructions: "Instructions for new chats", "新对话的指令";
    instructions_hint: "Instructions every model receives before the first message.", "每个模型在第一条消息之前收到的指令。";
    instructions_description: "Used as the system prompt of every new chat. Saved on the server, so they apply in all \
        your browsers.", "每个新对话都以此作为系统提示词。内容保存在服务器上，适用于你的所有浏览器。";
    no_prompt: "(none)", "（无）";
    parameters: "Parameters", "参数";
    parameters_hint: "Leave empty to use the model's defaults. Parameters the model does not support are not sent, \
        and the reply says so.", "留空则使用模型的默认值。模型不支持的参数不会发送，回复中会注明。";
    temperature: "Temperature", "温度";
    max_tokens: "Maximum reply length (tokens)", "回复长度上限（token）";
    stops: "Stop sequences", "停止序列";
    stops_hint: "One per line. The reply stops when the model is about to write one of them.",
        "每行一个。模型将要写出其中之一时，回复即结束。";
    thinking_usual: "Same as the message box", "以输入框中的选择为准";
    thinking_budget: "Token budget", "指定 token 预算";
    budget: "Thinking budget (tokens)", "思考预算（token）";
    budget_missing: "Enter a number of tokens.", "请填写 token 数。";
    not_taken: "not supported by this model", "此模型不支持";
    not_while_thinking: "not available with thinking on", "思考时不可用";
    not_a_number: "Enter a valid number.", "请填写有效的数字。";
    policy: "Earlier reasoning", "先前的思考过程";
    policy_hint: "For models that sign their reasoning. Applies from the next request.", "适用于会为思考过程签名的模型，从下一次请求起生效。";
    policy_exact: "Send signatures and text", "发回签名和文字";
    policy_signatures: "Send signatures only, without the reasoning", "仅发回签名，不含思考过程";
    policy_omit: "Not sent (set automatically)", "不发回（自动设置）";
    save: "Save", "保存";
    saved: "Saved.", "已保存。";
    save_failed: "Not saved: the server rejected the change. Try again in a moment.", "未保存：服务器没有接受更改，请稍后重试。";
    delete_chat: "Delete this chat", "删除此对话";
    delete_chat_hint: "The chat moves to Trash with all its branches. You can restore it for 30 days.",
        "对话及其所有分支会移到回收站，30 天内可以恢复。";
    invalid_fields: "Not saved. Check the highlighted fields.", "尚未保存，请检查有误的字段。";

    // Text search in a chat.
    find_hint: "Finds exact text on this branch, ignoring case.", "在此分支中逐字查找，不区分大小写。";
    find_results: "Results", "结果";
    found_nothing: "No messages found.", "没有找到消息。";
    found_one: "1 message found.", "找到 1 条消息。";
    found_in_part: "The search timed out before it covered the whole chat.", "搜索超时，未能查完整个对话。";
}

pub fn keeps_prompt(branch: &str) -> String {
    let branch = branch_name(branch);
    message!("Branch “{branch}” keeps the prompt it started with", "分支“{branch}”沿用开始时的提示词")
}

pub fn keeps_instructions(branch: &str) -> String {
    let branch = branch_name(branch);
    message!("Branch “{branch}” sends these instructions from tool servers", "分支“{branch}”发送的工具服务器使用说明")
}

pub fn about_parameters(model: &str) -> String {
    let hint = parameters_hint();
    message!("{hint} Limits shown are for {model}.", "{hint}以下范围适用于 {model}。")
}

pub fn bounds_while_thinking(bounds: &str) -> String {
    message!("{bounds} with thinking on", "思考时 {bounds}")
}

pub fn branch_settings_title(branch: &str) -> String {
    let branch = branch_name(branch);
    message!("Branch “{branch}”", "分支“{branch}”")
}

pub fn turns_found(total: u32) -> String {
    let total = number(total.into());
    message!("{total} messages found, newest first.", "找到 {total} 条消息，最新的在前。")
}

pub fn newest_turns_found(total: u32, shown: usize) -> String {
    let (total, shown) = (number(total.into()), number(shown as u64));
    message!("{total} messages found; showing the newest {shown}.", "找到 {total} 条消息，显示最新的 {shown} 条。")
}

/// Formats words that are also used inside a sentence as a sentence of their own. They may be available in English
/// only.
fn to_sentence(words: &str) -> String {
    let stop = if locale() == Locale::Chinese && !words.is_ascii() { "。" } else { "." };
    format!("{}{stop}", capitalize(words.trim_end_matches(['.', '。'])))
}
