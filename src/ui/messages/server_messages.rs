//! Errors of requests and texts of built-in tools, in the reader's language. The server sends whole sentences
//! (`ui::locale::coded_messages`); only what the browser finds out by itself is told here.

use std::borrow::Cow;

use crate::api::error::ApiError;
use crate::ui::locale::{Locale, locale, localized_sentence};
use message_pattern::{MessagePattern, translate};
use server_pages::SERVER_PAGE_MESSAGES;

/// The states of providers and tool servers (`registry::check`, the views of the service).
const STATES: &[MessagePattern] = &[
    ("{!} Did you mean {}?", "{!}你是否想用 {}？"),
    ("Working, but no models are listed.", "正常，但没有列出模型。"),
    ("Working · {} models", "正常 · {} 个模型"),
    ("Working · {} model", "正常 · {} 个模型"),
    ("Working · {} responds, but there is no model list", "正常 · {} 有响应，但没有模型列表"),
    ("Working", "正常"),
    ("{} did not respond within {} seconds.", "{} 在 {} 秒内没有响应。"),
    ("An API key is required, but none is set.", "需要 API 密钥，但尚未设置。"),
    ("No model list found at this address ({}): {}.", "此地址没有模型列表（{}）：{}。"),
    ("No model list found at this address ({}).", "此地址没有模型列表（{}）。"),
    ("It redirects to another address ({}): {}.", "它重定向到其他地址（{}）：{}。"),
    ("It redirects to another address ({}).", "它重定向到其他地址（{}）。"),
    ("It rejected the API key ({}): {}.", "它拒绝了 API 密钥（{}）：{}。"),
    ("It rejected the API key ({}).", "它拒绝了 API 密钥（{}）。"),
    ("It responded, but not with a model list: {}.", "它有响应，但返回的不是模型列表：{}。"),
    ("It responded, but not with a model list.", "它有响应，但返回的不是模型列表。"),
    ("It answered with status {}: {}.", "它返回的状态为 {}：{}。"),
    ("It answered with status {}.", "它返回的状态为 {}。"),
    ("The API key cannot be sent: {}.", "无法发送 API 密钥：{}。"),
    ("The API key cannot be sent.", "无法发送 API 密钥。"),
    ("Could not connect: {}.", "无法连接：{}。"),
    ("Could not connect.", "无法连接。"),
    ("Not tested yet.", "尚未测试。"),
    ("Disabled.", "已停用。"),
    ("Starting.", "正在启动。"),
    ("Working.", "正常。"),
    ("Not responding.", "没有响应。"),
    ("Not started yet.", "尚未启动。"),
    ("The address changed, so the headers were deleted.", "地址已更改，请求头已清除。"),
];

/// Requirements on fields that people may see on a page, and problems of requests.
const REASONS: &[MessagePattern] = &[
    ("must be {!} for this model while it thinks", "此模型开启思考时必须为 {!}"),
    ("must be {!} for this model", "此模型必须为 {!}"),
    ("must be between {} and {}", "必须在 {} 与 {} 之间"),
    ("must be at most {} characters", "最多 {} 个字符"),
    ("must be at most {} words", "最多 {} 个词"),
    ("must be at least {}", "至少为 {}"),
    ("at most {} characters", "最多 {} 个字符"),
    ("at most {} images", "最多 {} 张图片"),
    ("at most {} for this model", "此模型最多 {} 个"),
    ("a budget must be {!} tokens for this model", "此模型的思考预算必须为 {!} token"),
    ("a budget must be below max_tokens ({})", "思考预算必须小于 max_tokens（{}）"),
    ("between {} and {}", "{} 至 {}"),
    ("at least {}", "不小于 {}"),
    ("is missing", "缺少此项"),
    ("is required", "需要填写"),
    ("is too long", "太长了"),
    ("must not be empty", "不能为空"),
    ("must not contain NUL", "不能包含 NUL 字符"),
    ("must not contain control characters", "不能包含控制字符"),
    ("the message is empty", "消息为空"),
    ("is not a URL", "不是有效的网址"),
    ("each line must be like Name: value", "每行应为“名称: 值”的形式"),
    ("provider `{}` already exists", "服务商 `{}` 已存在"),
    ("server `{}` already exists", "服务器 `{}` 已存在"),
    ("cannot be changed: chats use it", "不能更改：已有对话在使用它"),
    ("cannot be changed: its tool names contain it", "不能更改：它的工具名称包含此标识"),
    ("must be a date such as {}", "必须是有效的日期，例如 {}"),
    ("a period can have at most {} days", "时间段最多 {} 天"),
    ("must not be after the end of the period", "不能晚于时间段的结束日期"),
    ("a document needs a title", "文档需要标题"),
    ("this file is not an image; attach it as a document", "此文件不是图片，请将其作为文档添加"),
    ("an image has no text; attach it to a message instead", "图片没有文字，请将其添加到消息中"),
    ("its chat was also deleted; restore that first", "所属对话也已删除，请先恢复该对话"),
    ("its parent was deleted later (“{}”); restore that first", "它的上级“{}”随后被删除，请先恢复该内容"),
    ("its parent is being permanently deleted, so it cannot be restored", "它的上级正在被永久删除，无法恢复"),
    ("the file is empty", "文件是空的"),
    ("{} is not supported", "不支持此类文件：{}"),
    ("the image is too large: at most {}", "图片太大：最多 {}"),
    ("the text encoding is unknown; choose one", "文字编码未知，请选择一种"),
    ("the uncompressed file is larger than {}", "文件解压后超过 {}"),
    ("the text is too long: at most {}", "文字太长：最多 {}"),
    ("the file is damaged: {}", "文件已损坏：{}"),
    ("the file contains no text", "文件中没有文字"),
    ("the file took too much time or memory to read", "读取文件所需的时间或内存超出限制"),
    ("the file could not be read", "无法读取文件"),
    ("{} is too large: at most {}", "{} 太大：最多 {}"),
    (
        "your storage limit of {} GiB for files and documents is reached; permanently delete some first",
        "文件和文档的存储上限为 {} GiB，现已用满；请先永久删除一些",
    ),
    ("The database is busy. Try again in a moment.", "数据库正忙，请稍后重试。"),
    ("the reply before this message is still being generated", "此消息之前的回复仍在生成"),
    ("{} is not available; choose another model", "{} 不可用，请选择其他模型"),
    ("a message can have at most {} versions", "一条消息最多有 {} 个版本"),
    ("this reply does not belong to a message", "此回复没有对应的消息"),
    ("this reply is still being generated", "此回复仍在生成"),
    ("a chat can have at most {} branches", "一个对话最多有 {} 个分支"),
    ("a chat can have at most {} messages", "一个对话最多有 {} 条消息"),
    ("a reply below did not stop in time; try again", "下方的回复未能及时停止，请重试"),
    ("this branch was changed at the same time; reload and try again", "此分支刚刚有了新内容，请重新加载后重试"),
    ("this request is no longer open", "此请求已失效"),
    ("this request has changed; review it again", "此请求已变化，请重新查看"),
    ("the document has changed in the meantime", "文档在此期间已被更改"),
    ("must contain only ASCII letters, digits, and symbols, without spaces", "只能是 ASCII 字母、数字和符号，不含空格"),
    ("must be {} characters on one line", "必须是一行 {} 个字符"),
    ("Sign in first.", "请先登录。"),
    ("This does not exist or is not yours.", "它不存在或不属于你。"),
    ("Too many requests. Try again in {} s.", "请求太多，请在 {} 秒后重试。"),
    ("This is too large.", "内容太大。"),
    ("Something went wrong on this server. Reference: {}", "服务器出错了。编号：{}"),
    ("Could not reach the server.", "无法连接服务器。"),
    ("This page is out of date. Reload it.", "此页面已过时，请重新加载。"),
];

/// Turnleaf's own tools, which describe themselves to models in English.
const TOOLS: &[MessagePattern] = &[
    ("Current time", "当前时间"),
    (
        "Gives the date and the time now, in UTC, in the server's time zone, and at another offset from UTC if asked.",
        "给出当前的日期和时间：UTC、服务器所在时区，以及所要求的其他时区偏移。",
    ),
    ("Calculator", "计算器"),
    (
        "Calculates exactly: arithmetic with numbers of any size, fractions, powers, roots, functions (sin, ln, log10), bases, dates, and units with conversions (\"5 km/h to m/s\", \"30 °C to °F\"). Give one expression.",
        "精确计算：任意大小的数、分数、乘方、开方、函数（sin、ln、log10）、进制、日期以及单位换算（“5 km/h to m/s”、“30 °C to °F”）。",
    ),
    ("Web page", "网页"),
    (
        "Fetches one page of the open internet and gives its title and its main text. Pages that need a sign-in, a script or a local network cannot be fetched.",
        "获取互联网上的一个网页，给出其标题和正文。需要登录、脚本或位于本地网络的网页无法获取。",
    ),
    ("Search in your chats", "在你的对话中搜索"),
    (
        "Looks for words in the user's other chats and gives where they stand: places that have every word, the best of the newest first.",
        "在你的其他对话中查找词语并给出所在位置：包含所有词语的地方，较新的优先。",
    ),
];

/// Localizes an English sentence of the server.
pub fn localize_server_message(english: &str) -> Cow<'_, str> {
    if locale() == Locale::English {
        return Cow::Borrowed(english);
    }
    translate_known(english, false)
        .map_or(Cow::Borrowed(english), |chinese| Cow::Owned(chinese_or_pseudo(english, chinese)))
}

/// Localizes the description of one of Turnleaf's own tools. Not for foreign tools: theirs are shown as they are.
pub fn localize_tool_description(english: &str) -> Cow<'_, str> {
    let known = TOOLS.iter().find(|(known, _)| *known == english).filter(|_| locale() != Locale::English);
    known.map_or(Cow::Borrowed(english), |(_, chinese)| Cow::Owned(chinese_or_pseudo(english, (*chinese).to_owned())))
}

/// Returns the Chinese sentence; the pseudo-locale has the same sentences as Chinese.
fn chinese_or_pseudo(english: &str, chinese: String) -> String {
    localized_sentence(|| english.to_owned(), || chinese)
}

/// Returns an error as a sentence.
pub fn problem(error: &ApiError) -> String {
    let word = match error {
        ApiError::Invalid { field, reason } => return label_with_value(field, reason),
        ApiError::Conflict { message, .. } | ApiError::Unavailable { message } => return message.clone(),
        ApiError::TooMany { retry_after_s } => {
            return message!(
                "Too many requests. Try again in {retry_after_s} s.",
                "请求太多，请在 {retry_after_s} 秒后重试。"
            );
        }
        ApiError::Internal { reference } => {
            return message!(
                "Something went wrong on this server. Reference: {reference}",
                "服务器出错了。编号：{reference}"
            );
        }
        ApiError::Unauthenticated => localized_word("Sign in first.", "请先登录。"),
        ApiError::NotFound => {
            localized_word("It does not exist, or you do not have access to it.", "此内容不存在，或你无权访问。")
        }
        ApiError::TooLarge => localized_word("This is too large.", "内容太大。"),
        ApiError::Unreachable => localized_word("Could not reach the server.", "无法连接服务器。"),
        ApiError::Outdated => localized_word("This page is out of date. Reload it.", "此页面已过时，请重新加载。"),
    };
    word.to_owned()
}

/// Returns the title of a built-in tool; that of another tool stays as it is.
pub fn tool_title<'t>(tool: &str, title: &'t str) -> Cow<'t, str> {
    Cow::Borrowed(match tool {
        "current_time" => localized_word("Current time", "当前时间"),
        "calculator" => localized_word("Calculator", "计算器"),
        "fetch_page" => localized_word("Web page", "网页"),
        "search_chats" => localized_word("Search in your chats", "在你的对话中搜索"),
        _ => title,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, with_locale};

    #[test]
    fn problem_is_sentence_of_the_language() {
        for (error, english, chinese) in [
            (ApiError::Unreachable, "Could not reach the server.", "无法连接服务器。"),
            (
                ApiError::TooMany { retry_after_s: 7 },
                "Too many requests. Try again in 7 s.",
                "请求太多，请在 7 秒后重试。",
            ),
            (ApiError::Conflict { code: "x".into(), message: "As sent.".into() }, "As sent.", "As sent."),
        ] {
            let both = [Locale::English, Locale::Chinese].map(|locale| with_locale(locale, || problem(&error)));
            assert_eq!(both, [english, chinese]);
        }
        let invalid = ApiError::Invalid { field: "title".into(), reason: "不能为空".into() };
        assert_eq!(with_locale(Locale::Chinese, || problem(&invalid)), "title：不能为空");
    }

    #[test]
    fn only_built_in_tools_have_localized_titles() {
        let title = |tool| with_locale(Locale::Chinese, || tool_title(tool, "Calculator").into_owned());
        assert_eq!((title("calculator"), title("sum")), ("计算器".to_owned(), "Calculator".to_owned()));
    }
}
