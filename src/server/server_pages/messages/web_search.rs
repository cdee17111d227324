//! Messages of the web search on the page "Tools", in both languages.

pub use super::providers::{
    address, key, key_again, key_keeps, key_state, locked_by, network, network_hint, test_and_save,
};
use crate::ui::locale::{define_messages, localized_word};

define_messages! {
    title: "Web search", "网页搜索";
    lead: "The engine of the tool “Web search”, for models that have no search of their own. Queries go to this engine. \
        The tool asks you before each search unless you set otherwise above.", "工具“网页搜索”所用的搜索引擎，供自身没有搜索功能的模型使用。查询会发送给该引擎。除非你在上方另有设定，每次搜索前都会先征得你的同意。";
    engine: "Search engine", "搜索引擎";
    address_hint: "For SearXNG: the address of your instance, which must allow JSON in search.formats of its \
        settings.yml. Leave empty for Brave Search and Tavily.", "对于 \
        SearXNG：你的实例的地址，其 settings.yml 的 search.formats 须包含 json。对于 Brave Search 和 Tavily 请留空。";
    key_hint: "For Brave Search and Tavily. Encrypted on this server.", "用于 Brave Search 和 Tavily。在此服务器上加密保存。";
    remove: "Remove", "移除";
    try_it: "Try it", "试一下";
    trying: "Searching…", "正在搜索…";
}

/// Returns the engines in the order of the menu.
pub fn engines() -> [(&'static str, &'static str); 3] {
    [
        ("searxng", localized_word("SearXNG (your own instance)", "SearXNG（自己的实例）")),
        ("brave", localized_word("Brave Search (API key)", "Brave Search（API 密钥）")),
        ("tavily", localized_word("Tavily (API key)", "Tavily（API 密钥）")),
    ]
}

/// Returns the word for the status of the search.
pub fn search_state(state: &str) -> &'static str {
    match state {
        "working" => localized_word("Working", "正常"),
        "failing" => localized_word("Failing", "异常"),
        "key_unreadable" => localized_word("API key cannot be decrypted", "API 密钥无法解密"),
        "off" => localized_word("Not set up", "未设置"),
        _ => localized_word("Not tested", "未测试"),
    }
}
