//! Errors of requests and texts of built-in tools, in the reader's language. The server sends whole sentences
//! (`ui::locale::coded_messages`); only failures that the browser itself detects have their texts here.

use std::borrow::Cow;

use crate::api::error::ApiError;
use crate::ui::locale::{label_with_value, localized_word, message};

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
        "search_web" => localized_word("Web search", "网页搜索"),
        "search_chats" => localized_word("Search in your chats", "在你的对话中搜索"),
        "tool_search" => localized_word("Tool search", "工具搜索"),
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
