//! Messages about connecting a provider: on a new server's first page, and on the page "Providers".

use crate::ui::locale::{define_messages, message, plural_message};

define_messages! {
    name: "Name", "名称";
    address: "Address", "地址";
    address_hint: "What the API's paths hang on. It usually ends in /v1.", "API 路径的前缀，通常以 /v1 结尾。";
    key: "API key", "API 密钥";
    key_hint: "Stored sealed on this server; never shown again. A local server often needs none.", "加密保存在此服务器上，不会再次显示。本地服务器通常不需要密钥。";
    key_kept: "Stored sealed on this server; never shown again.", "加密保存在此服务器上，不会再次显示。";
    /// Of a key that is being typed.
    show: "Show", "显示";
    where_keys: "Where do I get a key?", "在哪里获取密钥？";
    new_tab: "(opens a new tab)", "（在新标签页中打开）";
    test_and_save: "Test and save", "测试并保存";
    testing: "Testing…", "正在测试…";
    key_first: "Enter the key first.", "请先输入密钥。";
    address_first: "Enter the address first.", "请先输入地址。";
    not_reached: "This server was not reached. Try again in a moment.", "没有连接到此服务器，请稍后重试。";
    dismiss: "Do not show this again", "不再显示";
    all_fields: "All fields", "全部字段";
}

/// The success of a connection test: the number of models, and whether it was made `with_key`.
pub fn works(name: &str, with_key: bool, models: usize) -> String {
    let found = plural_message!(models; "1 model found", "{models} models found"; "找到 {models} 个模型");
    match with_key {
        true => message!("{name}: the key works · {found}", "{name}：密钥有效 · {found}"),
        false => message!("{name} answers · {found}", "{name} 有响应 · {found}"),
    }
}

/// The failure of a connection test.
pub fn failed(name: &str, sentence: &str) -> String {
    message!("{name}: {sentence}", "{name}：{sentence}")
}
