//! Translation of the server's English sentences: why a reply failed, what happened to a request, what a field must
//! be. Programs read these, too, so they are stored and sent in one language, and recognized here by their pattern.
//! Unknown sentences stay as they are.

mod message_pattern;
mod server_pages;

use std::borrow::Cow;

use crate::api::error::ApiError;
use crate::domain::DroppedParam;
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
    ("It failed too many times. Fix it, then restart it.", "多次失败。请修复后重新启动。"),
    ("Not started yet.", "尚未启动。"),
    ("The address changed, so the headers were deleted.", "地址已更改，请求头已清除。"),
];

/// Reasons of failed replies (`domain::FailureKind::sentence`). A longer pattern precedes one that would also match
/// it.
const FAILURES: &[MessagePattern] = &[
    ("Could not reach {}.", "无法连接 {}。"),
    ("The key for {} was refused.", "{} 拒绝了 API 密钥。"),
    ("Your account at {} has no quota left.", "你的 {} 账户额度已用尽。"),
    ("{} is limiting requests.", "{} 正在限制请求。"),
    ("{} is overloaded. The reply up to here is kept.", "{} 过载，已收到的部分已保存。"),
    ("{} failed while answering.", "{} 在生成回复时出错。"),
    ("{} refused the request.", "{} 拒绝了请求。"),
    ("{} does not have this model.", "{} 没有这个模型。"),
    ("This conversation is too long for the model.", "对话超出了模型的上下文长度。"),
    ("The provider stopped this reply.", "服务商中止了此回复。"),
    ("The connection to {} broke off.", "与 {} 的连接中断。"),
    ("{} sent nothing for {} s.", "{} 已 {} 秒无响应。"),
    ("{} sent nothing for too long.", "{} 长时间无响应。"),
    ("{} sent something that is not a reply.", "{} 返回了无效的响应。"),
    ("Reached a limit set on this server.", "回复达到了此服务器设置的限制。"),
    ("The server restarted while answering.", "生成此回复时服务器重启了。"),
    ("The server's disk is full.", "服务器磁盘已满。"),
    ("Something went wrong on this server.", "服务器出错了。"),
];

/// Reasons of repeated approval questions about a tool (`service::tools::toolbox`).
const ASKS: &[MessagePattern] = &[
    ("Its description changed since this chat got it.", "它的说明在此对话启用它之后已更改。"),
    ("Its description changed since you allowed it.", "它的说明在你允许之后已更改。"),
    (
        "Its description is not the one that the configuration file was taken to trust.",
        "它的说明与配置文件所信任的不一致。",
    ),
    (
        "The chat holds text that you did not write, which may be what asks for this.",
        "此对话含有不是你写的文字，可能是它在要求这样做。",
    ),
    (
        "The chat holds text that you did not write, and no message of yours names {}.",
        "此对话含有不是你写的文字，而你的消息都没有提到 {}。",
    ),
];

/// Notices on requests (`domain::Notice::sentence`), and reasons of waiting replies (`domain::user_input_wait`).
const NOTICES: &[MessagePattern] = &[
    ("Earlier reasoning was left out, because the provider refused it.", "服务商拒绝了此前的思考过程，已将其省略。"),
    (
        "Earlier reasoning was left out and tools were summed up, because the provider refused them.",
        "服务商拒绝了此前的思考过程和工具调用，已省略思考过程并概述工具调用。",
    ),
    ("The request was sent again in the form that the provider asked for.", "已按服务商要求的格式重新发送请求。"),
    (
        "The provider left earlier reasoning out, because the conversation before it has changed.",
        "由于之前的对话有变动，服务商省略了此前的思考过程。",
    ),
    (
        "The whole conversation was sent again, because the provider did not have it any more.",
        "服务商已不再保存此对话，因此重新发送了全部内容。",
    ),
    ("The images were told in words, because the provider refused them.", "服务商拒绝了图片，已改用文字描述。"),
    ("The images were told in words, because this model does not take images.", "此模型不支持图片，已改用文字描述。"),
    ("The reply reached the model's length limit.", "回复已达到模型的长度上限。"),
    (
        "The conversation has filled what the model can read; the reply ends here.",
        "对话已达到模型的上下文上限，回复到此为止。",
    ),
    ("A content filter of the provider ended the reply here.", "服务商的内容过滤器在此处终止了回复。"),
    ("The model declined to go on.", "模型拒绝继续回复。"),
    ("Paused after asking for tools {} times.", "已进行 {} 轮工具调用，现已暂停。"),
    ("Paused because the same call was made again and again.", "因模型反复进行相同的工具调用而暂停。"),
];

/// Dropped parameters and the reasons (`domain::params_resolution`).
const NOT_SENT: &[MessagePattern] = &[
    ("{} was not sent as asked: {!}.", "已调整 {}：{!}。"),
    ("{} was not sent: {!}.", "未发送 {}：{!}。"),
    ("this model takes temperature or top_p, not both", "此模型不能同时使用 temperature 和 top_p"),
    ("this model does not think", "此模型不支持思考"),
    ("this model always thinks", "此模型的思考无法关闭"),
    ("this model does not take it while it thinks", "此模型在开启思考时不支持"),
    ("this model does not take it unless it thinks", "此模型仅在开启思考时支持"),
    ("this model does not take it", "此模型不支持"),
    ("it leaves no room for the budget of thinking", "它没有给思考预算留出余地"),
    ("max_tokens leaves no room for it", "max_tokens 没有给它留出余地"),
    ("this model does not take \"{}\", it gets \"{}\"", "此模型不支持“{}”，已改用“{}”"),
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

/// Returns the dropped parameters as sentences; none where everything was sent.
pub fn not_sent_sentences(all: &[DroppedParam]) -> Option<String> {
    let between = if locale() == Locale::Chinese { "" } else { " " };
    let sentences: Vec<String> = all.iter().map(|one| localize_server_message(&one.sentence()).into_owned()).collect();
    (!all.is_empty()).then(|| sentences.join(between))
}

/// Returns an error as a localized sentence.
pub fn problem(error: &ApiError) -> String {
    localize_field_error(&error.to_string())
}

/// Localizes the problem of a field, such as `title: must not be empty`: the name stays, the rest is translated.
pub fn localize_field_error(english: &str) -> String {
    match english.split_once(": ") {
        Some((field, reason)) if !field.contains(' ') && locale() == Locale::Chinese => {
            format!("{field}：{}", localize_server_message(reason))
        }
        _ => localize_server_message(english).into_owned(),
    }
}

fn translate_known(english: &str, is_within: bool) -> Option<String> {
    let tables = [FAILURES, NOTICES, ASKS, NOT_SENT, REASONS, STATES, SERVER_PAGE_MESSAGES];
    let of_part = |part: &str| if is_within { None } else { translate_known(part, true) };
    tables.iter().flat_map(|table| table.iter()).find_map(|pair| translate(pair, english, &of_part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::FailureKind;
    use crate::domain::notice::Notice;
    use crate::ui::locale::with_locale;

    fn in_chinese(english: &str) -> String {
        with_locale(Locale::Chinese, || localize_server_message(english).into_owned())
    }

    #[test]
    fn every_failure_and_notice_is_translated_to_chinese() {
        for kind in FailureKind::ALL {
            let english = kind.sentence("Anthropic (at home)");
            let chinese = in_chinese(&english);
            assert_ne!(chinese, english);
            assert_eq!(chinese.contains("Anthropic (at home)"), english.contains("Anthropic"), "{chinese}");
        }
        for notice in Notice::ALL {
            assert_ne!(in_chinese(notice.sentence()), notice.sentence());
        }
    }

    #[test]
    fn message_patterns_match_with_their_arguments() {
        let not_sent =
            [DroppedParam { param: "top_k".into(), reason: "this model does not take it while it thinks".into() }];
        for (english, chinese) in [
            ("must be between 1 and 100", "必须在 1 与 100 之间"),
            ("must be between 1 and ", "must be between 1 and "),
            ("must be at least 1", "至少为 1"),
            ("Could not reach A {} b.", "无法连接 A {} b。"),
            ("this model does not take \"low\", it gets \"high\"", "此模型不支持“low”，已改用“high”"),
            ("something new", "something new"),
            ("the form has an unknown field", "表单含有未知字段"),
            ("at most 32 references", "最多引用 32 项"),
            ("Could not reach Working.", "无法连接 Working。"),
            ("must be between 0 and 2 for this model", "此模型必须为 0 至 2"),
            ("the image is too large: at most 50 megapixels", "图片太大：最多 50 megapixels"),
            ("Working · 12 models", "正常 · 12 个模型"),
            (
                "Could not connect: connection refused. Did you mean http://a/v1?",
                "无法连接：connection refused。你是否想用 http://a/v1？",
            ),
            ("", ""),
        ] {
            assert_eq!(in_chinese(english), chinese, "{english}");
        }
        assert_eq!(
            with_locale(Locale::Chinese, || not_sent_sentences(&not_sent)).unwrap(),
            "未发送 top_k：此模型在开启思考时不支持。"
        );
        assert_eq!(localize_server_message("must be at least 1"), "must be at least 1", "English stays English");
        let hostile = " was not sent as asked: was not sent: ".repeat(40) + &".".repeat(80);
        assert!(!in_chinese(&hostile).is_empty(), "no form is tried again and again");
        let tool = |english: &str| with_locale(Locale::Chinese, || localize_tool_description(english).into_owned());
        assert_eq!(tool("Calculator"), "计算器");
        assert_eq!(tool("Calculates exactly: and more"), "Calculates exactly: and more", "it is not ours");
        let field = with_locale(Locale::Chinese, || localize_field_error("title: must not be empty"));
        assert_eq!(field, "title：不能为空");
    }
}
