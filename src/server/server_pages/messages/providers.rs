//! Messages of the page "Providers", in both languages.

pub use super::saved;
use std::ops::RangeInclusive;

use crate::domain::{CodedMessage, InvalidField, MessageCode, limits};
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;
pub use crate::ui::messages::provider_connect::{
    address, address_hint, key, key_hint, name, new_tab, test_and_save, testing, where_keys,
};
use turnleaf_service::providers::ProviderKeyView;

pub const API: &str = "API";

define_messages! {
    lead: "Where models come from. API keys are encrypted on this server and never shown again.",
        "模型的来源。API 密钥加密保存在此服务器上，不会再次显示。";
    none_yet: "No provider is connected yet. Add one to chat with a model.", "尚未连接服务商。添加一个，即可与模型对话。";
    add: "Add provider", "添加服务商";
    other: "Other server", "其他服务器";
    local: "on this machine", "在本机";
    address_clears: "Changing the address deletes the API key unless you enter one with it.", "更改地址会删除 API 密钥，除非同时填写。";
    new_key: "New API key", "新 API 密钥";
    key_keeps: "Leave empty to keep the current key.", "留空则保留现有密钥。";
    key_again: "Enter the API key again. It is never sent back to the browser.", "请重新输入 API 密钥：已保存的密钥不会回传到浏览器。";
    key_set: "API key set", "已设置 API 密钥";
    key_not_set: "No API key", "未设置 API 密钥";
    ends_in: "ends in", "末尾为";
    set_key: "Set API key", "设置 API 密钥";
    replace_key: "Replace API key", "更换 API 密钥";
    remove_key: "Remove API key", "移除 API 密钥";
    save_key: "Save API key", "保存 API 密钥";
    network: "Local network", "本地网络";
    network_hint: "The server can be on this machine or on the local network. If off, Turnleaf only connects to \
        public internet addresses.", "服务器可以在本机或本地网络中。不勾选时，只连接公共互联网上的地址。";
    on_network: "This is on my local network", "它在我的本地网络中";
    on_network_hint: "On this machine or the local network. Otherwise Turnleaf connects to public internet addresses only.",
        "在本机或本地网络中。不勾选时，只连接公共互联网上的地址。";
    demo: "Demo", "演示";
    demo_hint: "Scripted replies that need no provider. Hidden from the menus while other models are available.",
        "预先写好的回复，不需要服务商。有其他模型可用时，菜单中不显示它。";
    show_demo: "Show in menus", "在菜单中显示";
    hide_demo: "Hide from menus", "从菜单中隐藏";
    local_yes: "Allowed", "允许";
    local_no: "Not allowed, public internet only", "不允许，仅限公共互联网";
    keeps_responses: "Provider stores the conversation", "由服务商保存对话";
    keeps_responses_hint: "For the Responses API: each message continues from the provider's last response and sends \
        only new content. The cost is the same. What you delete here stays at the provider until it expires there.", "适用于 \
        Responses API：每条消息接续服务商处的上一个响应，只发送新增内容。费用不变。在此处删除的内容会在服务商处保留到过期为止。";
    keeps_responses_yes: "yes", "是";
    retries: "Retries", "重试次数";
    silence_short: "Response timeout", "响应超时";
    silence: "Response timeout (seconds)", "响应超时（秒）";
    advanced: "Advanced", "高级";
    dialect: "Server type", "服务器类型";
    dialect_hint: "For Chat Completions, such as vllm, llamacpp or openrouter. Leave empty to detect \
        it from the address.", "适用于 \
        Chat Completions，如 vllm、llamacpp 或 openrouter。留空则根据地址判断。";
    headers: "Extra headers", "额外请求头";
    headers_hint: "One per line, as Name: value. Encrypted like the API key.", "每行一个，格式为 Name: value。与 API 密钥一样加密保存。";
    no_headers: "Remove all extra headers", "移除所有额外请求头";
    models_named: "Models", "模型";
    models_named_hint: "One per line. Leave empty to use the provider's list.", "每行一个。留空则向服务商获取列表。";
    default_model: "Default model", "默认模型";
    default_model_hint: "Listed first for this provider.", "在此服务商的列表中排在最前。";
    test: "Test", "测试";
    edit: "Edit", "编辑";
    switch_off: "Disable", "停用";
    switch_on: "Enable", "启用";
    remove: "Remove…", "移除…";
    checked: "Checked", "检查于";
    find_model: "Find a model", "查找模型";
    find: "Find", "查找";
    models_hint: "Selected models appear in menus. Chats that already use a hidden model keep it.",
        "勾选的模型会出现在菜单中。正在使用隐藏模型的对话会继续使用它。";
    models_locked: "New chats use the default model.", "新对话使用默认模型。";
    save_models: "Save models", "保存模型";
    default: "Default for new chats", "新对话的默认模型";
}

pub fn retries_hint() -> String {
    let (least, most) = bounds(&limits::PROVIDER_RETRIES);
    let usual = limits::ATTEMPTS - 1;
    message!(
        "How many times to resend a request that got no response: {least} to {most}. Leave empty for the default, \
        {usual}.",
        "请求没有得到响应时重新发送的次数：{least} 到 {most}。留空则为默认的 {usual} 次。"
    )
}

pub fn silence_hint() -> String {
    let (least, most) = bounds(&limits::PROVIDER_SILENCE_SECONDS);
    let (first, between) = (limits::FIRST_BYTE.as_secs(), limits::IDLE_BYTES.as_secs());
    message!(
        "Time to wait for the first output, and between outputs: {least} to {most}. Leave empty for the defaults, \
        {first} and {between}. Reasoning models may take longer.",
        "等待首次输出以及两次输出之间的时间：{least} 到 {most}。留空则为默认的 {first} 和 {between}。思考中的模型可能需要更久。"
    )
}

fn bounds(range: &RangeInclusive<u32>) -> (u32, u32) {
    (*range.start(), *range.end())
}

/// Returns the number of retries in words, for a connection with a setting of its own.
pub fn tried_again(times: u32) -> String {
    plural_message!(times; "once", "{times} times"; "{times} 次")
}

/// Returns the APIs in the order of the menu.
pub fn apis() -> [(&'static str, &'static str); 5] {
    [
        (
            "openai_chat",
            localized_word("Chat Completions (OpenAI and most servers)", "Chat Completions（OpenAI 和大多数服务器）"),
        ),
        ("openai_responses", localized_word("Responses (OpenAI)", "Responses（OpenAI）")),
        ("anthropic", localized_word("Messages (Anthropic)", "Messages（Anthropic）")),
        ("gemini", "Gemini"),
        ("ollama", "Ollama"),
    ]
}

/// Returns the display name of an API.
pub fn api_name(api: &str) -> &str {
    apis().into_iter().find(|(known, _)| *known == api).map_or(api, |(_, name)| name)
}

/// Returns the word for the status of a connection.
pub fn connection_state(state: &str) -> &'static str {
    match state {
        "working" => localized_word("Working", "正常"),
        "key_refused" => localized_word("API key rejected", "API 密钥被拒绝"),
        "wrong_address" => localized_word("Wrong address", "地址有误"),
        "unreachable" => localized_word("Unreachable", "无法连接"),
        "failing" => localized_word("Failing", "异常"),
        "off" => localized_word("Disabled", "已停用"),
        "key_unreadable" => localized_word("API key cannot be decrypted", "API 密钥无法解密"),
        _ => localized_word("Not tested", "未测试"),
    }
}

/// Returns whether an API key is set, with its ending if that may be shown.
pub fn key_state(key: &ProviderKeyView) -> String {
    match (key.set, &key.ends_in) {
        (false, _) => key_not_set().to_owned(),
        (true, None) => key_set().to_owned(),
        (true, Some(ending)) => format!("{} · {} {ending}", key_set(), ends_in()),
    }
}

/// Returns what the status of a connection or a tool server says beyond its word, which the card shows beside the name.
pub fn status_detail(status: &CodedMessage) -> Option<String> {
    Some(match status.code {
        MessageCode::Working
        | MessageCode::NotTested
        | MessageCode::SwitchedOff
        | MessageCode::ServerStarting
        | MessageCode::ServerWorking
        | MessageCode::ServerFailed
        | MessageCode::ServerNotStarted => return None,
        MessageCode::WorkingWithoutModels => localized_word("No models are listed.", "没有列出模型。").to_owned(),
        MessageCode::WorkingWithOneModel => localized_word("1 model", "1 个模型").to_owned(),
        MessageCode::WorkingWithModels => {
            let models = number(status.args.get("models")?.parse().ok()?);
            message!("{models} models", "{models} 个模型")
        }
        MessageCode::SearchWorks => {
            let results = status.args.get("results")?;
            message!("Results of the test: {results}.", "测试得到的结果数：{results}。")
        }
        MessageCode::WorkingWithoutList => {
            let model = status.args.get("model")?;
            message!("{model} responds, but there is no model list.", "{model} 有响应，但没有模型列表。")
        }
        _ => status_sentence(status),
    })
}

/// Returns a status as a sentence of its own. The problem of a tool server is a part of one.
pub fn status_sentence(status: &CodedMessage) -> String {
    super::to_sentence(&coded_sentence(status))
}

/// Returns a relative time from a number of seconds.
pub fn time_ago(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        ..10 => localized_word("just now", "刚刚").to_owned(),
        10..60 => plural_message!(seconds; "1 second ago", "{seconds} seconds ago"; "{seconds} 秒前"),
        60..3_600 => plural_message!(minutes; "1 minute ago", "{minutes} minutes ago"; "{minutes} 分钟前"),
        3_600..86_400 => plural_message!(hours; "1 hour ago", "{hours} hours ago"; "{hours} 小时前"),
        _ => plural_message!(days; "1 day ago", "{days} days ago"; "{days} 天前"),
    }
}

/// Returns the sentence that names a variable, or the configuration file, as the origin of a locked connection.
pub fn locked_by(by: &str) -> String {
    match by {
        "the configuration file" => {
            localized_word("Set in the configuration file. Change it there.", "由配置文件设置，请在配置文件中更改。")
                .to_owned()
        }
        by => message!("Set by {by}. Change it there.", "由 {by} 设置，只能在那里更改。"),
    }
}

pub fn use_address(address: &str) -> String {
    message!("Use {address}", "改用 {address}")
}

pub fn edit_title(name: &str) -> String {
    message!("Edit {name}", "编辑 {name}")
}

pub fn remove_description(name: &str) -> String {
    message!(
        "Removes {name} and its API key. Chats that use it stay readable and can continue with another model.",
        "{name} 及其 API 密钥将被移除。使用它的对话仍可阅读，也可以换用其他模型继续。"
    )
}

pub fn remove_button(name: &str) -> String {
    message!("Remove {name}", "移除 {name}")
}

pub fn headers_kept(names: &str) -> String {
    message!(
        "Set: {names}. Leave empty to keep them. Lines here replace all of them; one per line, as Name: value.",
        "已设置：{names}。留空则保留；在此填写的内容会替换全部请求头，每行一个，格式为 Name: value。"
    )
}

pub fn models(count: usize, hidden: usize) -> String {
    let (count, many_hidden) = (number(count as u64), number(hidden as u64));
    match hidden {
        0 => message!("Models ({count})", "模型（{count}）"),
        _ => message!("Models ({count}, {many_hidden} hidden)", "模型（{count}，隐藏 {many_hidden}）"),
    }
}

pub fn more_models(rest: usize) -> String {
    let rest = number(rest as u64);
    message!("{rest} more. Search by name.", "还有 {rest} 个，可按名称查找。")
}

pub fn no_model(search: &str) -> String {
    message!("No models match “{search}”.", "没有名称中含“{search}”的模型。")
}

/// Returns the error of a field as a sentence.
pub fn error_sentence(error: &InvalidField) -> String {
    super::to_sentence(&coded_sentence(&error.reason))
}

define_messages! {
    found_unused: "Found on this machine. Use it? Any program here can listen at this address, so its models are \
        unavailable until you allow it.", "在本机发现。要使用它吗？本机任何程序都可能在此地址监听，因此在你允许之前无法选择它的模型。";
    use_found: "Use it", "使用";
    stop_found: "Stop using it", "停止使用";
    found: "Found automatically on this machine. Add it below to change its settings.", "在本机自动发现。如需更改其设置，请在下方添加。";
    removed: "Removed.", "已移除。";
    key_removed: "Saved. The API key was removed.", "已保存，API 密钥已移除。";
    key_cleared: "Saved. The address changed, so the API key was deleted. Enter it again.",
        "已保存。地址已更改，因此 API 密钥已删除，请重新输入。";
}

/// Returns the status of a connection after a test or a change.
pub fn test_result(name: &str, sentence: &str) -> String {
    message!("{name}: {sentence}", "{name}：{sentence}")
}
