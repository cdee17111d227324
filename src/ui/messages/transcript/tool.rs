//! Messages of tool cards: the state of a call, a one-line summary, the approval question, and notes on a result; in
//! both languages.

use serde_json::Value;

use crate::domain::blocks::block::ToolStatus;
use crate::domain::tools::elicitation::Elicitation;
use crate::domain::tools::tool::ToolLabel;
use crate::domain::{Block, BlockState, Content, limits};
use crate::ui::locale::{define_messages, join_list, localized_word, message, plural_message};
use crate::ui::messages::amounts::{measured_time, number, size};
use crate::ui::messages::server_messages::tool_title;

define_messages! {
    arguments: "Arguments", "参数";
    result: "Result", "结果";
    tool_error: "Error (sent to the model)", "错误（已发给模型）";
    tool_output: "Tool output", "工具输出";
    arguments_and_result: "Arguments and result", "参数和结果";
    no_result: "No result.", "没有结果。";
    open_full: "Open full content", "打开完整内容";
    view_resource: "View", "查看";
    attach_resource: "Attach", "附加";
    resource_attached: "Attached to your message.", "已附加到你的消息。";
    by_provider: "run by the provider", "由服务商运行";
    open_view: "Open on its own page", "在单独的页面中打开";
    view_calls: "Requests from this view", "此视图向服务器提出的请求";
    view_call_done: "done", "已完成";
    view_call_failed: "failed", "失败";
    view_call_open: "no result yet", "尚无结果";
    view_wrote: "The view wrote into the message box.", "视图已在输入框中写入内容。";
    view_not_given: "The server has a view of this result but did not provide it.", "服务器为此结果准备了视图，但未能提供。";
    progress: "Progress", "进度";
    stop_tool: "Stop this tool", "停止此工具";
    model_wrote: "Edited by you. The model wrote:", "已由你编辑。模型原本写的是：";
    reason_given: "Your reason", "你的理由";

    // The approval question
    wants_to_run: "wants to run", "请求运行";
    built_in: "built into this server", "此服务器内置";
    allow: "Allow once", "允许一次";
    needs_sign_in: "waits for you to sign in", "正在等待你登录";
    sign_in: "Sign in", "登录";
    try_call_again: "Try again", "重试";
    allow_in_chat: "Allow in this chat", "在此对话中允许";
    always: "Always allow", "始终允许";
    deny: "Deny", "拒绝";
    edit_call: "Edit", "编辑";
    allow_server: "Allow whole server", "允许整个服务器";
    reason: "Reason (sent to the model)", "理由（会发给模型）";
    review: "Review", "查看";
    waits_for_answer: "Waiting for your response.", "正在等待你的答复。";
    stop_here: "Stop here", "到此为止";
    post_failed: "Could not send. Try again.", "无法发送，请重试。";
}

/// The possible effects of a tool, as far as they are known: only its server knows more.
pub fn effect(server: &str) -> String {
    if server.is_empty() {
        return localized_word(
            "Turnleaf runs this tool on this server with exactly these arguments.",
            "Turnleaf 会在此服务器上运行此工具，参数与所示完全一致。",
        )
        .to_owned();
    }
    message!(
        "This tool runs on the server “{server}” with exactly these arguments. It can do anything that server can: \
        read, change, or send whatever it has access to.",
        "此工具会在服务器“{server}”上运行，参数与所示完全一致。它能做该服务器能做的任何事：读取、更改或发送可访问的内容。"
    )
}

/// The view that a tool server has of a result.
pub fn view_of(server: &str) -> String {
    message!("View from {server}", "来自 {server} 的视图")
}

/// Says what such a view is and what it can do.
pub fn about_view(server: &str) -> String {
    message!(
        "The tool server “{server}” provided this view. It cannot read your chats or this server, and loads nothing \
        from the internet. Do not enter passwords in it.",
        "此视图由工具服务器“{server}”提供。它无法读取你的对话或此服务器，也不会从互联网加载任何内容。请勿在其中输入密码。"
    )
}

/// The label of the button that continues a paused reply.
pub fn continue_reply() -> String {
    let rounds = limits::TOOL_ROUNDS;
    message!("Continue ({rounds} more rounds)", "继续（再进行 {rounds} 轮）")
}

/// The number of hidden characters in the arguments.
pub fn hidden_characters(count: u32) -> String {
    let many = number(count.into());
    plural_message!(
        count; "1 hidden character, shown as its code", "{many} hidden characters, shown as their codes";
        "{many} 个隐藏字符，以编码显示"
    )
}

/// The number of tool calls: "1 tool call", "3 tool calls, 1 failed".
pub fn tool_calls(calls: usize, failed: usize) -> String {
    let all = plural_message!(calls; "1 tool call", "{calls} tool calls"; "{calls} 次工具调用");
    if failed == 0 { all } else { message!("{all}, {failed} failed", "{all}，{failed} 次失败") }
}

/// The state of a call as text: colour or icon alone would not be accessible. `was_restarted` means that the server
/// restarted while the reply was being written; `place` is the call's place among those that wait to run, from 1, and
/// their number.
pub fn tool_state(
    call: &Block,
    result: Option<&Block>,
    failed: bool,
    was_restarted: bool,
    place: Option<(usize, usize)>,
) -> String {
    let Content::ToolUse { status, duration_ms, .. } = &call.content else { return String::new() };
    let is_flagged = |key: &str| match result.map(|block| &block.content) {
        Some(Content::ToolResult { metadata, .. }) => metadata.get(key).and_then(Value::as_bool) == Some(true),
        _ => false,
    };
    let state = match (status, call.state) {
        (ToolStatus::Interrupted, _) => may_have_run(),
        (ToolStatus::Denied, _) => localized_word("denied by you", "你已拒绝"),
        _ if was_restarted && !matches!(status, ToolStatus::Done | ToolStatus::Failed | ToolStatus::HandedOver) => {
            may_have_run()
        }
        (_, BlockState::Open) => localized_word("writing arguments…", "正在生成参数…"),
        (ToolStatus::Cancelled, _) | (_, BlockState::Aborted) => localized_word("stopped", "已停止"),
        (ToolStatus::Pending, _) => match place.filter(|(_, of)| *of > 1) {
            Some((at, of)) => {
                let nth = ordinal(at);
                return message!("waiting ({nth} of {of})", "等待中（第 {at} 个，共 {of} 个）");
            }
            None => localized_word("waiting", "等待中"),
        },
        (ToolStatus::AwaitingApproval, _) => wants_to_run(),
        (ToolStatus::Running, _) if Elicitation::find_open(call).is_some() => {
            localized_word("waiting for your answer", "正在等待你的回答")
        }
        (ToolStatus::Running, _) => localized_word("running", "运行中"),
        (ToolStatus::HandedOver, _) => localized_word("waiting for your program", "正在等待你的程序"),
        (ToolStatus::Failed | ToolStatus::Done, _) if failed && is_flagged("timed_out") => match duration_ms {
            Some(ms) => {
                let time = measured_time(*ms);
                return message!("timed out after {time}", "{time}后超时");
            }
            None => localized_word("timed out", "超时"),
        },
        (ToolStatus::Failed | ToolStatus::Done, _) if failed && is_flagged("crashed") => {
            localized_word("its server crashed", "其服务器已崩溃")
        }
        (ToolStatus::Failed, _) => localized_word("failed", "失败"),
        (ToolStatus::Done, _) if failed => localized_word("failed", "失败"),
        (ToolStatus::Done, _) => localized_word("done", "完成"),
    };
    state.to_owned()
}

fn may_have_run() -> &'static str {
    localized_word("server restarted; may or may not have run", "服务器已重启，不确定是否运行过")
}

/// Formats an ordinal: "1st", "2nd", "3rd", "11th".
fn ordinal(number: usize) -> String {
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

/// The counts of a group's calls, for its heading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCallCounts {
    pub all: usize,
    pub asking: usize,
    pub running: usize,
    pub waiting: usize,
    pub failed: usize,
    pub declined: usize,
    pub stopped: usize,
    /// Interrupted, or handed over to the client.
    pub unfinished: usize,
}

/// The heading of a tool group: "3 tool calls · 1 running", "6 tool calls, all done".
pub fn tool_group(calls: ToolCallCounts) -> String {
    let ToolCallCounts { all, asking, running, waiting, failed, declined, stopped, unfinished } = calls;
    let parts = [
        (asking, localized_word("awaiting your approval", "等你批准")),
        (running, localized_word("running", "运行中")),
        (waiting, localized_word("waiting", "等待中")),
        (failed, localized_word("failed", "失败")),
        (declined, localized_word("denied", "已拒绝")),
        (stopped, localized_word("stopped", "已停止")),
        (unfinished, localized_word("not finished", "未完成")),
    ];
    let shown = parts.iter().filter(|(count, _)| *count > 0);
    let parts =
        shown.map(|(count, word)| message!("{count} {word}", "{count} 个{word}")).collect::<Vec<_>>().join(" · ");
    let calls = tool_calls(all, 0);
    if parts.is_empty() {
        message!("{calls}, all done", "{calls}，全部完成")
    } else {
        message!("{calls} · {parts}", "{calls} · {parts}")
    }
}

/// The effects of a tool as its server claims them; none if it claims nothing.
pub fn claimed_effects(hints: &[String]) -> Option<String> {
    let word = |hint: &String| match hint.as_str() {
        "read only" => localized_word("read-only", "只读").to_owned(),
        "destructive" => localized_word("may delete or overwrite", "可能删除或覆盖").to_owned(),
        "idempotent" => localized_word("repeating it has no further effect", "重复执行不会有更多影响").to_owned(),
        "open world" => localized_word("reaches other services", "会访问其他服务").to_owned(),
        other => other.to_owned(),
    };
    let words: Vec<String> = hints.iter().map(word).collect();
    (!words.is_empty()).then(|| join_list(&words))
}

/// Says on an approval question what the server claims, which decides nothing.
pub fn according_to_server(hints: &[String]) -> Option<String> {
    let claims = claimed_effects(hints)?;
    Some(message!("According to the server (not verified): {claims}", "服务器声称（未经核实）：{claims}"))
}

/// Returns a one-line summary of a call: the last line of its streaming arguments, the reason of its failure, the
/// number of its results, or else its first argument.
pub fn tool_gist(call: &Block, result: Option<&Block>, failed: bool) -> Option<String> {
    if let (BlockState::Open, Content::ToolUse { arguments: Value::Null, arguments_raw: Some(raw), .. }) =
        (call.state, &call.content)
    {
        return last_line(raw);
    }
    let answer = result.and_then(|block| match &block.content {
        Content::ToolResult { result, .. } => Some(result),
        _ => None,
    });
    let about = || match &call.content {
        Content::ToolUse { arguments, .. } => first_argument(arguments),
        _ => None,
    };
    let gist = match answer {
        Some(Value::String(message)) if failed => Some(message.clone()),
        Some(Value::Object(map)) if failed => {
            ["error", "message"].iter().find_map(|key| map.get(*key)?.as_str()).map(str::to_owned)
        }
        Some(Value::Array(results)) => {
            let count = results.len();
            Some(plural_message!(count; "1 result", "{count} results"; "{count} 条结果"))
        }
        _ => about(),
    };
    gist.map(|gist| first_line(&gist)).filter(|gist| !gist.is_empty())
}

/// The maximum length of the summary, in characters.
const GIST_CHARS: usize = 60;

/// Returns the end of the last line that is not blank.
fn last_line(raw: &str) -> Option<String> {
    let line = raw.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let seen = |c: &char| !crate::domain::text::hidden_text::is_hidden_character(*c);
    let mut end: Vec<char> = line.chars().rev().filter(seen).take(GIST_CHARS).collect();
    end.reverse();
    Some(end.into_iter().collect())
}

/// Returns the first meaningful argument; a number has no meaning without its name.
fn first_argument(arguments: &Value) -> Option<String> {
    match arguments {
        Value::String(text) if !text.trim().is_empty() => Some(format!("“{text}”")),
        Value::Object(map) => map.iter().find_map(|(name, value)| match value {
            Value::Number(number) => Some(format!("{name}: {number}")),
            value => first_argument(value),
        }),
        _ => None,
    }
}

/// Returns the first line, truncated and without hidden characters.
fn first_line(text: &str) -> String {
    let seen = |c: &char| !crate::domain::text::hidden_text::is_hidden_character(*c);
    let line: String = text.lines().next().unwrap_or_default().chars().filter(seen).collect();
    if line.chars().count() <= GIST_CHARS {
        return line;
    }
    let kept: String = line.chars().take(GIST_CHARS - 1).collect();
    format!("{}…", kept.trim_end())
}

/// The note on a truncated result: "Showing the first 64 KiB of 3.2 MiB."
pub fn cut_at(bytes: usize, of: u64) -> String {
    let (kept, all) = (size(bytes as u64), size(of));
    message!("Showing the first {kept} of {all}.", "共 {all}，仅显示前 {kept}。")
}

/// The label of a file without a name.
pub fn file(mime: &str, bytes: Option<u64>) -> String {
    match (mime, bytes.map(size)) {
        ("", None) => localized_word("Download file", "下载文件").to_owned(),
        ("", Some(size)) => message!("Download file, {size}", "下载文件，{size}"),
        (mime, None) => message!("Download {mime}", "下载 {mime}"),
        (mime, Some(size)) => message!("Download {mime}, {size}", "下载 {mime}，{size}"),
    }
}

/// The number of members of an object or a list, behind its key.
pub fn json_size(is_list: bool, count: usize) -> String {
    let count = number(count as u64);
    if is_list { format!("[{count}]") } else { format!("{{{count}}}") }
}

/// The characters that were removed from a result before it was stored (terminal codes, NULs, invalid bytes), and the
/// hidden ones that are in it; empty where there are none.
pub fn cleaned([ansi, nul, invalid, hidden]: [u64; 4]) -> String {
    let [codes, nuls, bytes, letters] = [ansi, nul, invalid, hidden].map(number);
    let parts = [
        plural_message!(ansi; "{codes} terminal code removed", "{codes} terminal codes removed"; "已去除 {codes} 个终端控制码"),
        plural_message!(nul; "{nuls} NUL replaced", "{nuls} NULs replaced"; "已替换 {nuls} 个 NUL"),
        plural_message!(invalid; "{bytes} invalid byte replaced", "{bytes} invalid bytes replaced"; "已替换 {bytes} 个无效字节"),
        plural_message!(hidden; "{letters} hidden character", "{letters} hidden characters"; "{letters} 个隐藏字符"),
    ];
    let is_any = [ansi, nul, invalid, hidden].map(|count| count > 0);
    parts.into_iter().zip(is_any).filter_map(|(words, is_any)| is_any.then_some(words)).collect::<Vec<_>>().join(" · ")
}

/// The heading of the sources.
pub fn sources(count: usize) -> String {
    plural_message!(count; "1 source", "{count} sources"; "来源（{count}）")
}

/// Returns the display name of the tool that a block calls, and of its server; the name on the wire where no other is
/// known.
pub fn tool_name(call: &Block) -> (String, Option<String>) {
    let named = |key: &str| {
        let name = call.block_metadata.get(ToolLabel::KEY)?.get(key)?.as_str()?;
        (!name.trim().is_empty()).then(|| name.to_owned())
    };
    let on_wire = || match &call.content {
        Content::ToolUse { tool_name, .. } => tool_name.clone(),
        _ => String::new(),
    };
    let (title, server) = (named("title"), named("server"));
    // Built-in tools have localized names; foreign tools keep their own.
    let title = title.map(|title| if server.is_none() { tool_title(&on_wire(), &title).into_owned() } else { title });
    (title.unwrap_or_else(on_wire), server)
}
