//! Descriptions of the built-in tools for people. The tools describe themselves to models in English.

use std::borrow::Cow;

use crate::ui::locale::localized_sentence;

/// Returns the description of a built-in tool; that of another tool stays as it is.
pub fn tool_description<'t>(tool: &str, english: &'t str) -> Cow<'t, str> {
    let chinese = match tool {
        "current_time" => "给出当前的日期和时间：UTC、服务器所在时区，以及所要求的其他时区偏移。",
        "calculator" => {
            "精确计算：任意大小的数、分数、乘方、开方、函数（sin、ln、log10）、进制、日期以及单位换算（“5 km/h to m/s”、“30 °C to °F”）。"
        }
        "fetch_page" => "获取互联网上的一个网页，给出其标题和正文。需要登录、脚本或位于本地网络的网页无法获取。",
        "search_web" => "用搜索引擎搜索互联网，给出网页的标题、地址、摘要和日期。可以接着获取某个网页的全文。",
        "search_chats" => "在你的其他对话中查找词语并给出所在位置：包含所有词语的地方，较新的优先。",
        _ => return Cow::Borrowed(english),
    };
    Cow::Owned(localized_sentence(|| english.to_owned(), || chinese.to_owned()))
}
