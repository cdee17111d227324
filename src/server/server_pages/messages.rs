//! Messages of the server pages in both languages, besides those shared with the application (`ui::messages`).

pub mod api_reference;
pub mod chats;
pub mod compare;
pub mod delete_all;
pub mod documents;
pub mod error_page;
pub mod external_link;
pub mod offline;
pub mod preferences;
pub mod providers;
pub mod search;
pub mod sent_request;
pub mod tools;
pub mod transfer;
pub mod trash;
pub mod tree;
pub mod usage;

use crate::domain::excerpt::capitalize;
use crate::ui::locale::{Locale, define_messages, locale, message};
pub use crate::ui::messages::provider_connect::show;

pub const API: &str = "API";

define_messages! {
    back: "Chats", "对话";
    skip: "Skip to the content", "跳到内容";
    providers_title: "Providers", "服务商";
    usage_title: "Usage", "用量";
    optional: "optional", "可选";
}

// The settings of a chat.
pub use crate::ui::messages::{chat_settings, tree::back_to_chat};

pub const TOP_P: &str = "Top p";
pub const TOP_K: &str = "Top k";

define_messages! {
    attachments_included: "What is ticked goes along:", "勾选的附件会一并发送：";
    system_prompt: "System prompt", "系统提示词";
    system_prompt_hint: "What every model is told before the first message. A branch keeps the prompt it began with; a changed one is for new branches, Try again included.", "每个模型在第一条消息之前收到的内容。分支沿用开始时的提示词；修改后只对新分支生效，包括重试产生的分支。";
    next_chat_hint: "For the chat that your next message begins. Later new chats begin as usual again.", "用于你的下一条消息所新建的对话。之后的新对话恢复为通常设置。";
    instructions: "Instructions for new chats", "新对话的指令";
    instructions_hint: "What every model is told before the first message.", "每个模型在第一条消息之前收到的内容。";
    instructions_description: "Every new chat begins with these as its system prompt. They are kept on the server, for all your browsers.", "每个新对话都以此作为系统提示词开始。内容保存在服务器上，适用于你的所有浏览器。";
    no_prompt: "(none)", "（无）";
    parameters: "Parameters", "参数";
    parameters_hint: "Empty means the model's own. What a model does not take is not sent, and the reply says so.", "留空则使用模型的默认值。模型不支持的参数不会发送，回复中会注明。";
    temperature: "Temperature", "温度";
    max_tokens: "Longest reply, in tokens", "回复长度上限（token）";
    stops: "Stop sequences", "停止序列";
    stops_hint: "One a line. The reply ends where the model would write one.", "每行一个。模型将要写出其中之一时，回复即结束。";
    thinking_usual: "As the composer says", "以输入框中的选择为准";
    thinking_budget: "A budget of tokens", "指定 token 预算";
    budget: "Thinking budget, in tokens", "思考预算（token）";
    budget_missing: "Give the number of tokens.", "请填写 token 数。";
    not_taken: "not taken by this model", "此模型不支持";
    not_while_thinking: "not while it thinks", "思考时不可用";
    not_a_number: "This is not a number that fits here.", "请填写有效的数字。";
    policy: "Earlier reasoning", "先前的思考过程";
    policy_hint: "For models that sign their reasoning. It is for the requests from now on.", "适用于会为思考过程签名的模型，从下一次请求起生效。";
    policy_exact: "Goes back with its text", "连同文字一起发回";
    policy_signatures: "Only signatures: the model's reasoning is not shown", "仅发回签名，不含思考过程";
    policy_omit: "Stays behind (chosen by a repair)", "不发回（由自动修复选定）";
    save: "Save", "保存";
    saved: "Saved.", "已保存。";
    save_failed: "Not saved: the server did not take it. Change it again in a moment.", "未保存：服务器没有接受。请稍后重新修改。";
    delete_chat: "Delete this chat", "删除此对话";
    delete_chat_hint: "It goes to Trash with all its branches and can be brought back for 30 days.", "对话及其所有分支会移到回收站，30 天内可以恢复。";
    invalid_fields: "Nothing was saved yet: some fields need another look.", "尚未保存，请检查有误的字段。";

    // Text search in a chat.
    find_hint: "Letter for letter, in any case, in all of this chat's path.", "逐字匹配，不区分大小写，在此对话的整条路径中查找。";
    find_results: "What was found", "找到的内容";
    found_nothing: "No turn says this.", "没有消息包含这些内容。";
    found_one: "One turn says this.", "1 条消息包含这些内容。";
    found_in_part: "There was no time to look through all of the chat.", "时间有限，未能查完整个对话。";
}

pub fn keeps_prompt(branch: &str) -> String {
    message!("The branch “{branch}” keeps the prompt it began with", "分支“{branch}”沿用开始时的提示词")
}

pub fn about_parameters(model: &str) -> String {
    let hint = parameters_hint();
    message!("{hint} The bounds below are those of {model}.", "{hint}以下范围适用于 {model}。")
}

pub fn bounds_while_thinking(bounds: &str) -> String {
    message!("{bounds} while it thinks", "思考时 {bounds}")
}

pub fn branch_settings_title(branch: &str) -> String {
    message!("The branch “{branch}”", "分支“{branch}”")
}

pub fn turns_found(total: u32) -> String {
    message!("{total} messages say this, the newest first.", "{total} 条消息包含这些内容，最新的在前。")
}

pub fn newest_turns_found(total: u32, shown: usize) -> String {
    message!(
        "{total} messages say this; these are the newest {shown}.",
        "{total} 条消息包含这些内容，以下是最新的 {shown} 条。"
    )
}

/// Formats words that are also used inside a sentence as a sentence of their own. They may be available in English
/// only.
fn to_sentence(words: &str) -> String {
    let stop = if locale() == Locale::Chinese && !words.is_ascii() { "。" } else { "." };
    format!("{}{stop}", capitalize(words.trim_end_matches(['.', '。'])))
}
