//! Messages about connecting a provider: on a new server's first page, and on the page "Providers".

use crate::ui::locale::{define_messages, message, plural_message};
use crate::ui::messages::amounts::number;

define_messages! {
    name: "Name", "名称";
    address: "Address", "地址";
    address_hint: "API base URL. It usually ends in /v1.", "API 的基础地址，通常以 /v1 结尾。";
    key: "API key", "API 密钥";
    key_hint: "Encrypted on this server and never shown again. Local servers often need no key.",
        "加密保存在此服务器上，不会再次显示。本地服务器通常不需要密钥。";
    key_kept: "Encrypted on this server and never shown again.", "加密保存在此服务器上，不会再次显示。";
    /// Of a key that is being typed.
    show: "Show", "显示";
    where_keys: "Get an API key", "获取 API 密钥";
    new_tab: "(opens in a new tab)", "（在新标签页中打开）";
    test_and_save: "Test and save", "测试并保存";
    testing: "Testing…", "正在测试…";
    key_first: "Enter an API key first.", "请先输入 API 密钥。";
    address_first: "Enter an address first.", "请先输入地址。";
    not_reached: "Could not reach the Turnleaf server. Try again in a moment.", "无法连接 Turnleaf 服务器，请稍后重试。";
    dismiss: "Don't show again", "不再显示";
    all_fields: "All fields", "全部字段";
}

/// The success of a connection test: the number of models, and whether it was made `with_key`.
pub fn works(name: &str, with_key: bool, models: usize) -> String {
    let many = number(models as u64);
    let found = plural_message!(models; "1 model found", "{many} models found"; "找到 {many} 个模型");
    match with_key {
        true => message!("{name}: API key works · {found}", "{name}：API 密钥有效 · {found}"),
        false => message!("Connected to {name} · {found}", "已连接 {name} · {found}"),
    }
}

/// The failure of a connection test.
pub fn failed(name: &str, sentence: &str) -> String {
    message!("{name}: {sentence}", "{name}：{sentence}")
}
