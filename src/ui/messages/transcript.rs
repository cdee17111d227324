//! Messages of the transcript, in both languages. They are whole sentences with their numbers, so that each language
//! can use its own order and plurals.

use crate::domain::blocks::segment::ReasoningBlock;
use crate::domain::usage::token_counts::Usage;
use crate::domain::{FailureKind, TurnStatus};
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::amounts::{number, seconds};

pub mod announcements;
mod tool;

pub use tool::*;

define_messages! {
    you: "You", "你";
    assistant: "Assistant", "助手";
    system: "System", "系统";
    transcript: "Messages", "消息";
    empty_reply: "The reply is empty.", "回复为空。";
    stopped_by_you: "Stopped by you", "已由你停止";
    copy_reply: "Copy reply", "复制回复";
    copy_message: "Copy message", "复制消息";
    copy_plain: "Copy as plain text", "复制为纯文本";
    copy_with_reasoning: "Copy with reasoning", "连同思考过程一起复制";
    more: "More", "更多";
    what_was_sent: "Request sent to the model", "发给模型的请求";
    link_to_turn: "Link to this message", "此消息的链接";
    copy_reasoning: "Copy reasoning", "复制思考过程";
    raw: "Raw data", "原始数据";
    raw_hint: "Raw data from the provider, byte for byte", "服务商发来的原始数据，逐字节保留";
    copy_failed: "Could not copy. Select the text and copy it with the keyboard.", "无法复制，请选中文字后用键盘复制。";
    versions: "Versions", "版本";
    edit_message: "Edit your message", "编辑你的消息";
    edit_reply: "Edit as new version", "编辑为新版本";
    edit_reply_hint: "Your text becomes a new version of this reply. It and the earlier messages are sent to the \
        model as plain text.", "你的文字会成为此回复的新版本。它和之前的消息将以纯文本发给模型。";
    save_version: "Save as new version", "保存为新版本";
    edited_by_you: "Edited by you · this and earlier replies are sent as plain text", "由你编辑 · 此回复及之前的回复以纯文本发送";
    edited: "edited by you", "由你编辑";
    branch: "Branch", "新建分支";
    retry_with: "Retry with…", "选择模型重试…";
    retry_with_hint: "Generates another reply to the same message in a new branch.", "在新分支中对同一条消息再生成一条回复。";
    copy_to_chat: "Copy to new chat", "复制到新对话";
    turn_gone: "This message was deleted. Showing the nearest remaining messages.", "此消息已被删除，现显示附近仍保留的消息。";
    chat_gone: "This chat was deleted.", "此对话已被删除。";
    continue_from_here: "Continue from here", "从这里继续";
    show: "Show", "显示";
    other_version_runs: "Another version is being generated", "另一个版本正在生成";
    previous_version: "Previous version", "上一版";
    next_version: "Next version", "下一版";
    more_not_printed: "Some messages are not shown here. To print them all, use Share › Print.",
        "还有更多消息未在此显示。如需打印全部，请使用“分享 › 打印”。";
    load_older: "Load older messages", "加载更早的消息";
    load_newer: "Load newer messages", "加载较新的消息";
    older_failed: "Could not load older messages.", "无法加载更早的消息。";
    newer_failed: "Could not load newer messages.", "无法加载较新的消息。";
    latest: "Latest", "最新";
    new_text: "New text", "新内容";
    to_latest: "Go to latest", "跳到最新";
    to_latest_running: "Go to latest, new text", "跳到最新，新内容";
    hidden_reasoning: "The provider does not share the text of this reasoning.", "服务商未提供这段思考过程的文字。";
    thinking_status: "Thinking…", "正在思考…";
    can_leave: "You can leave this page. The reply will continue.", "你可以离开此页面，回复会继续生成。";
    waiting_for_first: "connected, waiting for the reply to start", "已连接，正在等待回复开始";
    waiting_for_model: "Waiting for the model…", "正在等待模型…";
    ask_for_rest: "Continue", "继续";
    rest_message: "Continue", "继续";
    also_answered: "Other replies in progress", "其他正在生成的回复";
    stop_word: "Stop", "停止";
    branch_earlier: "Branch from an earlier reply", "从更早的回复新建分支";
    stop_waiting: "Stop waiting", "停止等待";
    trying_now: "Retrying…", "正在重试…";
    details: "Details", "详情";
    copy_details: "Copy details", "复制详情";
    provider_settings: "Open provider settings", "打开服务商设置";
    replace_key: "Replace API key", "更换 API 密钥";
    test_provider: "Test connection", "测试连接";
    code: "Error code", "错误代码";
    provider_response: "Provider response", "服务商返回的信息";
    requested_model: "Model", "模型";
    turn: "Message ID", "消息 ID";
    image: "Image", "图片";
    reference: "Reference", "引用";
}

/// The label of the checkbox that shows all of a long message.
pub fn show_all_lines(lines: usize) -> String {
    let many = number(lines as u64);
    message!("Show all ({many} lines)", "显示全部（{many} 行）")
}

pub fn show_all_characters(chars: usize) -> String {
    let many = number(chars as u64);
    message!("Show all ({many} characters)", "显示全部（{many} 个字符）")
}

/// The line between the turns of one model and those of another.
pub fn switched_to(model: &str, has_earlier_replies: bool) -> String {
    if !has_earlier_replies {
        return message!("switched to {model}", "已切换到 {model}");
    }
    message!(
        "switched to {model} · earlier replies are sent as plain text",
        "已切换到 {model} · 之前的回复以纯文本发送"
    )
}

/// The number of turns that a cut path hides until something is sent.
pub fn hides_below(turns: u64) -> String {
    if turns == 0 {
        return localized_word("Your next message will follow this reply.", "你接下来发送的内容会接在此回复之后。")
            .to_owned();
    }
    let many = number(turns);
    plural_message!(turns; "1 message below is hidden; it stays on its branch.", "{many} messages below are hidden; they stay on their branch."; "下面的 {many} 条消息已隐藏，仍保留在原来的分支上。")
}

/// The number of turns that are newer than the path on screen.
pub fn newer_elsewhere(turns: u64) -> String {
    let many = number(turns);
    plural_message!(turns; "1 newer message is in another version.", "{many} newer messages are in another version."; "另一个版本中有 {many} 条较新的消息。")
}

/// The origin of a copied chat.
pub fn copied_from(title: &str) -> String {
    if title.is_empty() {
        return localized_word("Copied from another chat", "复制自另一个对话").to_owned();
    }
    message!("Copied from “{title}”", "复制自“{title}”")
}

/// The number of turns that follow a version.
pub fn continues_with(turns: u64) -> Option<String> {
    let many = number(turns);
    let sentence =
        || plural_message!(turns; "followed by 1 message", "followed by {many} messages"; "其后有 {many} 条消息");
    (turns > 0).then(sentence)
}

/// The ending of a reply, for its heading; none for a complete one.
pub fn ending(status: TurnStatus) -> Option<&'static str> {
    Some(match status {
        TurnStatus::Cancelled => localized_word("stopped", "已停止"),
        TurnStatus::Error => localized_word("failed", "失败"),
        TurnStatus::Pending | TurnStatus::Streaming | TurnStatus::WaitingSubagents => {
            localized_word("in progress", "进行中")
        }
        TurnStatus::Complete => return None,
    })
}

/// The reason why a reasoning block ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningInterruption {
    Stopped,
    ConnectionLost,
    ServerRestarted,
    Failed,
}

/// The label of a reasoning block: "Thinking: Checking the offsets" while it streams, "Checking the offsets · thought
/// for 12 s · 3 tool calls" afterwards.
pub fn reasoning(block: &ReasoningBlock, is_streaming: bool, cut_off: Option<ReasoningInterruption>) -> String {
    if is_streaming {
        return match &block.title {
            Some(title) => message!("Thinking: {title}", "正在思考：{title}"),
            None => thinking_status().to_owned(),
        };
    }
    let time = block.duration_ms.map(|ms| (ms, seconds((ms + 500) / 1000)));
    let mut label = match (&block.title, time) {
        (None, None) => localized_word("Thought", "已思考").to_owned(),
        (None, Some((..1_000, _))) => localized_word("Thought briefly", "略作思考").to_owned(),
        (None, Some((_, time))) => message!("Thought for {time}", "思考了 {time}"),
        (Some(title), None) => title.clone(),
        (Some(title), Some((..1_000, _))) => message!("{title} · thought briefly", "{title} · 略作思考"),
        (Some(title), Some((_, time))) => message!("{title} · thought for {time}", "{title} · 思考了 {time}"),
    };
    let mut also = |words: &str| label.extend([" · ", words]);
    if block.tool_calls > 0 {
        also(&tool_calls(block.tool_calls, block.failed_tool_calls));
    }
    if !block.has_text && cut_off.is_none() {
        also(localized_word("hidden by the provider", "服务商未提供内容"));
    }
    match cut_off {
        Some(ReasoningInterruption::Stopped) => also(localized_word("stopped", "已停止")),
        Some(ReasoningInterruption::ConnectionLost) => also(localized_word("connection lost", "连接中断")),
        Some(ReasoningInterruption::ServerRestarted) => also(localized_word("server restarted", "服务器已重启")),
        Some(ReasoningInterruption::Failed) => also(localized_word("failed", "失败")),
        None => {}
    }
    label
}

/// The reported token usage of a reply in words: "14 tokens sent · 340 tokens received · 120 for reasoning".
pub fn usage(usage: &Usage) -> String {
    let sent = usage.input_tokens.map(|count| {
        let many = number(count);
        plural_message!(count; "1 token sent", "{many} tokens sent"; "发送 {many} token")
    });
    let read = usage.cache_read_tokens.map(number).map(|many| message!("{many} from the cache", "缓存命中 {many}"));
    let written =
        usage.cache_write_tokens.map(number).map(|many| message!("{many} added to the cache", "写入缓存 {many}"));
    let received = usage.output_tokens.map(|count| {
        let many = number(count);
        plural_message!(count; "1 token received", "{many} tokens received"; "收到 {many} token")
    });
    let reasoning = usage.reasoning_tokens.map(number).map(|many| message!("{many} for reasoning", "思考 {many}"));
    [sent, read, written, received, reasoning].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The position of a version: "2/3".
pub fn version_of(number: usize, count: usize) -> String {
    format!("{number}/{count}")
}

/// The number of a retry's attempt: "Attempt 2 of 3".
pub fn attempt(number: u32, of: u32) -> String {
    message!("Attempt {number} of {of}", "第 {number} 次尝试，共 {of} 次")
}

/// The waiting time that a provider requested before its reply was given up, in whole seconds.
pub fn wait_requested(wait: u64) -> String {
    let wait = seconds(wait);
    message!("The provider asked you to wait {wait}.", "服务商要求等待 {wait}。")
}

/// The label of the link to a reply that runs on another path of the chat.
pub fn go_to_reply(name: &str) -> String {
    message!("Show the reply to {name}", "显示对“{name}”的回复")
}

/// The label of the button that stops such a reply.
pub fn stop_other(name: &str) -> String {
    message!("Stop the reply to {name}", "停止对“{name}”的回复")
}

/// The label of the link to another version.
pub fn to_version(name: &str, number: usize, count: usize) -> String {
    message!("{name}, {number} of {count}", "{name}，第 {number} 版，共 {count} 版")
}

/// The suggestion for a failure, if there is one.
pub fn next_step(kind: FailureKind) -> Option<&'static str> {
    use FailureKind as Kind;
    let (english, chinese) = match kind {
        Kind::ProviderUnreachable => {
            ("Check your network and the provider's address, then try again.", "请检查网络和服务商的地址，然后重试。")
        }
        Kind::ProviderAuth => (
            "Replace the API key in the provider settings, then try again.",
            "请在服务商设置中更换 API 密钥，然后重试。",
        ),
        Kind::ProviderQuota => {
            ("Add credit with the provider, or use another model.", "请向服务商充值，或换用其他模型。")
        }
        Kind::ProviderRateLimited | Kind::ProviderOverloaded => ("Wait a moment, then try again.", "请稍候再重试。"),
        Kind::ModelNotFound => {
            ("Retry with another model. It replies in a new branch.", "请选择其他模型重试，它会在新分支中回复。")
        }
        Kind::ContextTooLong => (
            "Check what uses the context, shorten your message, or branch from an earlier reply.",
            "请查看上下文占用，缩短你的消息，或从更早的回复新建分支。",
        ),
        Kind::ContentFiltered => ("Rephrase your message and try again.", "请换一种说法再试。"),
        Kind::ProviderRefusedRequest => {
            ("Check the request sent to the model, or try another model.", "请查看发给模型的请求，或换用其他模型。")
        }
        Kind::ProviderTruncated | Kind::ProviderStalled | Kind::ServerRestarted => {
            ("The partial reply was saved. Retry to get a new version.", "已收到的部分已保存。重试可得到新版本。")
        }
        Kind::LimitOutput => (
            "The partial reply was saved. Select Continue to ask for the rest in a new message.",
            "已收到的部分已保存。选择“继续”会另发一条消息，请求余下的内容。",
        ),
        Kind::LimitEvent | Kind::LimitRounds | Kind::LimitToolArgs | Kind::LimitTime => {
            ("The partial reply was saved.", "已收到的部分已保存。")
        }
        Kind::BudgetDayCost
        | Kind::BudgetDayTokens
        | Kind::BudgetDayRequests
        | Kind::BudgetMonthCost
        | Kind::BudgetMonthTokens
        | Kind::BudgetMonthRequests => {
            ("Wait until it resets, or ask an administrator for a larger budget.", "请等待重置，或请管理员提高预算。")
        }
        Kind::BudgetUnreadable => ("Ask an administrator to set your budgets again.", "请管理员重新设置你的预算。"),
        Kind::StorageFull => {
            ("Free some space on the server's disk, then try again.", "请在服务器磁盘上腾出一些空间，然后重试。")
        }
        Kind::ProviderError | Kind::ProviderProtocol | Kind::NoTitle | Kind::Internal | Kind::Unknown => return None,
    };
    Some(localized_word(english, chinese))
}

#[cfg(test)]
mod tests;
