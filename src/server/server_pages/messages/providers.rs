//! Messages of the page "Providers", in both languages.

pub use super::saved;
use std::ops::RangeInclusive;

use crate::domain::{InvalidField, limits};
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
pub use crate::ui::messages::provider_connect::{
    address, address_hint, key, key_hint, name, new_tab, test_and_save, testing, where_keys,
};
use crate::ui::messages::server_messages::localize_server_message;

pub const API: &str = "API";

define_messages! {
    lead: "Where models come from. Keys are stored sealed on this server and are never shown again.", "模型的来源。密钥加密保存在此服务器上，不会再次显示。";
    none_yet: "No provider is connected yet. Add one to chat with a model.", "尚未连接服务商。添加一个，即可与模型对话。";
    add: "Add a provider", "添加服务商";
    other: "Other server", "其他服务器";
    local: "on this machine", "在本机";
    address_clears: "Changing the address clears the key, unless you enter one with it.", "更改地址会清除密钥，除非同时填写密钥。";
    new_key: "New key", "新密钥";
    key_keeps: "Leave it empty to keep the key that is set.", "留空则保留现有密钥。";
    key_again: "Enter the key again: a page never holds it.", "请再次输入密钥：页面从不保留密钥。";
    key_set: "Key set", "已设置密钥";
    key_not_set: "No key set", "未设置密钥";
    ends_in: "ends in", "末尾为";
    set_key: "Set a key", "设置密钥";
    replace_key: "Replace the key", "更换密钥";
    remove_key: "Remove the key", "移除密钥";
    save_key: "Save the key", "保存密钥";
    network: "Local network", "本地网络";
    network_hint: "The server may be on this machine or in the local network. Without this, only addresses of the open internet are connected to.", "服务器可以在本机或本地网络中。不勾选时，只连接公共互联网上的地址。";
    local_yes: "allowed", "允许";
    local_no: "not allowed, open internet only", "不允许，仅限公共互联网";
    keeps_responses: "The provider keeps the conversation", "由服务商保存对话";
    keeps_responses_hint: "For Responses: a message goes on from the last response there, and only what is new is sent. It costs the same, and what is deleted here stays there as long as the provider keeps it.", "适用于 Responses：消息接续服务商处的上一个响应，只发送新增内容。费用不变；在此处删除的内容，会在服务商处留存到其清除为止。";
    keeps_responses_yes: "yes", "是";
    retries: "Tried again", "重试次数";
    silence_short: "Silence that is waited for", "无响应等待时间";
    silence: "Silence that is waited for, in seconds", "无响应等待时间（秒）";
    advanced: "Advanced", "高级";
    dialect: "Dialect", "接口方言";
    dialect_hint: "For Chat Completions: the server's kind, such as vllm, llamacpp or openrouter. Empty goes by the address.", "适用于 Chat Completions：服务器的类型，如 vllm、llamacpp 或 openrouter。留空则根据地址判断。";
    headers: "Extra headers", "额外请求头";
    headers_hint: "One a line, as Name: value. They are sealed like the key.", "每行一个，格式为 Name: value。与密钥一样加密保存。";
    no_headers: "Remove all extra headers", "移除所有额外请求头";
    models_named: "Models", "模型";
    models_named_hint: "One a line. Empty asks the provider for its list.", "每行一个。留空则向服务商获取列表。";
    default_model: "Default model", "默认模型";
    default_model_hint: "The first in the menu of this provider.", "此服务商菜单中的第一个。";
    test: "Test", "测试";
    edit: "Edit", "编辑";
    switch_off: "Switch off", "停用";
    switch_on: "Switch on", "启用";
    remove: "Remove…", "移除…";
    checked: "Checked", "检查于";
    find_model: "Find a model", "查找模型";
    find: "Find", "查找";
    models_hint: "Ticked models are in the menus. A chat that uses a hidden one goes on with it.", "勾选的模型会出现在菜单中。正在使用隐藏模型的对话会继续使用它。";
    models_locked: "The default is what new chats get.", "新对话使用默认模型。";
    save_models: "Save models", "保存模型";
    default: "Default for new chats", "新对话的默认模型";
}

pub fn retries_hint() -> String {
    let (least, most) = bounds(&limits::PROVIDER_RETRIES);
    let usual = limits::ATTEMPTS - 1;
    message!(
        "How often a request that nothing came of is sent again: {least} to {most}. Empty is as usual, {usual}.",
        "请求没有任何结果时重新发送的次数：{least} 到 {most}。留空则为默认的 {usual} 次。"
    )
}

pub fn silence_hint() -> String {
    let (least, most) = bounds(&limits::PROVIDER_SILENCE_SECONDS);
    let (first, between) = (limits::FIRST_BYTE.as_secs(), limits::IDLE_BYTES.as_secs());
    message!(
        "Before the first word and between any two: {least} to {most}. Empty is as usual, {first} and {between}. A model that thinks may be silent longer.",
        "第一个字之前以及任意两次输出之间：{least} 到 {most}。留空则为默认的 {first} 和 {between}。思考中的模型可以更久没有输出。"
    )
}

fn bounds(range: &RangeInclusive<u32>) -> (u32, u32) {
    (*range.start(), *range.end())
}

/// Returns the number of retries in words, for a connection with a setting of its own.
pub fn tried_again(times: u32) -> String {
    plural_message!(times; "once", "{times} times"; "{times} 次")
}

pub fn seconds(seconds: u32) -> String {
    plural_message!(seconds; "1 second", "{seconds} seconds"; "{seconds} 秒")
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
        "key_refused" => localized_word("Key refused", "密钥被拒绝"),
        "wrong_address" => localized_word("Wrong address", "地址有误"),
        "unreachable" => localized_word("Unreachable", "无法连接"),
        "failing" => localized_word("Failing", "异常"),
        "off" => localized_word("Off", "已停用"),
        "key_unreadable" => localized_word("Key cannot be opened", "密钥无法解密"),
        _ => localized_word("Not tested", "未测试"),
    }
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
        "the configuration file" => localized_word(
            "Set by the configuration file. It can only be changed there.",
            "由配置文件设置，只能在那里更改。",
        )
        .to_owned(),
        by => message!("Set by {by}. It can only be changed there.", "由 {by} 设置，只能在那里更改。"),
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
        "{name} and its key are removed. Chats that use it stay and can be read; they can go on with another model.",
        "{name} 及其密钥将被移除。使用它的对话会保留并可阅读，也可以换用其他模型继续。"
    )
}

pub fn remove_button(name: &str) -> String {
    message!("Remove {name}", "移除 {name}")
}

pub fn headers_kept(names: &str) -> String {
    message!(
        "Set: {names}. Leave it empty to keep them; lines here replace them all, one a line, as Name: value.",
        "已设置：{names}。留空则保留；在此填写的内容会替换全部请求头，每行一个，格式为 Name: value。"
    )
}

pub fn models(count: usize, hidden: usize) -> String {
    match hidden {
        0 => message!("Models ({count})", "模型（{count}）"),
        hidden => message!("Models ({count}, {hidden} hidden)", "模型（{count}，隐藏 {hidden}）"),
    }
}

pub fn more_models(rest: usize) -> String {
    message!("And {rest} more. Find them by name.", "还有 {rest} 个，可按名称查找。")
}

pub fn no_model(search: &str) -> String {
    message!("No model has “{search}” in its name.", "没有名称中含“{search}”的模型。")
}

/// Returns the error of a field as a sentence.
pub fn error_sentence(error: &InvalidField) -> String {
    super::to_sentence(&localize_server_message(&error.reason))
}

define_messages! {
    found_unused: "Found on this machine: use it? Any program here can listen at this address, so its models cannot be chosen until you allow it.", "在本机发现：要使用它吗？本机任何程序都可能在此地址监听，因此在你同意之前无法选择它的模型。";
    use_found: "Use it", "使用";
    stop_found: "Stop using it", "停止使用";
    found: "Found on this machine by itself. Add it below to change how it is used.", "在本机自动发现。如需更改其用法，请在下方添加。";
    removed: "Removed.", "已移除。";
    key_removed: "Saved. The key was removed.", "已保存，密钥已移除。";
    key_cleared: "Saved. The address changed, so the key was cleared. Enter it again.", "已保存。地址已更改，密钥已清除，请重新输入。";
}

/// Returns the status of a connection after a test or a change.
pub fn test_result(name: &str, sentence: &str) -> String {
    let sentence = localize_server_message(sentence);
    message!("{name}: {sentence}", "{name}：{sentence}")
}
