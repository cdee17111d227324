//! What tool cards say: the state of a call in words, one line of what it is about, what a person is asked, and what is
//! said of a result.

use serde_json::Value;

use super::{number, took};
use crate::domain::block::ToolStatus;
use crate::domain::{Block, BlockState, Content, limits};

pub const ARGUMENTS: &str = "Arguments";
pub const RESULT: &str = "Result";
pub const TOOL_ERROR: &str = "Error, sent to the model as an error";
pub const ARGUMENTS_AND_RESULT: &str = "Arguments and result";
pub const NO_RESULT: &str = "There is no result.";
pub const OPEN_FULL: &str = "Open in full";
pub const BY_PROVIDER: &str = "by the provider";
pub const PROGRESS: &str = "Progress";
pub const STOP_TOOL: &str = "Stop this tool";
pub const REASON_GIVEN: &str = "Your reason";

// What a person is asked.
pub const WANTS_TO_RUN: &str = "wants to run";
pub const BUILT_IN: &str = "built into this server";
pub const ALLOW: &str = "Allow once";
pub const ALLOW_IN_CHAT: &str = "Allow in this chat";
pub const ALWAYS: &str = "Always allow";
pub const DENY: &str = "Deny";
pub const REASON: &str = "Reason (goes to the model)";
pub const REVIEW: &str = "Review";
pub const WAITS_FOR_ANSWER: &str = "Waiting for your answer.";
pub const STOP_HERE: &str = "Stop here";
pub const POST_FAILED: &str = "This could not be sent. Try again.";

/// What running a tool can do, as far as it is known: nobody but its server knows more.
pub fn effect(server: &str) -> String {
    if server.is_empty() {
        return "Turnleaf runs it on this server with exactly these arguments.".to_owned();
    }
    format!(
        "It runs on the server “{server}” with exactly these arguments, and can do whatever that server can: read, \
         change or send what it has access to."
    )
}

/// The button that lets a paused reply go on.
pub fn go_on() -> String {
    format!("Continue ({} more)", limits::TOOL_ROUNDS)
}

/// How many characters of the arguments are not seen.
pub fn hidden_characters(count: u32) -> String {
    match count {
        1 => "1 hidden character, shown by its number".to_owned(),
        n => format!("{n} hidden characters, shown by their numbers"),
    }
}

/// The state of a call: never told by colour or icon alone. `was_restarted` is whether the server restarted while the
/// reply was being written, `place` its place among the calls that wait to run, from 1, and how many they are.
pub fn tool_state(
    call: &Block,
    result: Option<&Block>,
    failed: bool,
    was_restarted: bool,
    place: Option<(usize, usize)>,
) -> String {
    let Content::ToolUse { status, duration_ms, .. } = &call.content else { return String::new() };
    let says = |key: &str| match result.map(|block| &block.content) {
        Some(Content::ToolResult { metadata, .. }) => metadata.get(key).and_then(Value::as_bool) == Some(true),
        _ => false,
    };
    let word = match (status, call.state) {
        (ToolStatus::Interrupted, _) => "server restarted; may or may not have run",
        (ToolStatus::Denied, _) => "you declined",
        _ if was_restarted && !matches!(status, ToolStatus::Done | ToolStatus::Failed | ToolStatus::HandedOver) => {
            "server restarted; may or may not have run"
        }
        (_, BlockState::Open) => "writing request…",
        (ToolStatus::Cancelled, _) => "stopped",
        (_, BlockState::Aborted) => "stopped",
        (ToolStatus::Pending, _) => match place.filter(|(_, of)| *of > 1) {
            Some((at, of)) => return format!("waiting ({} of {of})", ordinal(at)),
            None => "waiting",
        },
        (ToolStatus::AwaitingApproval, _) => WANTS_TO_RUN,
        (ToolStatus::Running, _) => "running",
        (ToolStatus::HandedOver, _) => "waits for your program",
        (ToolStatus::Failed | ToolStatus::Done, _) if failed && says("timed_out") => match duration_ms {
            Some(ms) => return format!("timed out after {}", took(*ms)),
            None => "timed out",
        },
        (ToolStatus::Failed | ToolStatus::Done, _) if failed && says("crashed") => "its server broke off",
        (ToolStatus::Failed, _) => "failed",
        (ToolStatus::Done, _) if failed => "failed",
        (ToolStatus::Done, _) => "done",
    };
    word.to_owned()
}

/// "1st", "2nd", "3rd", "11th".
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

/// The calls of a run, for its heading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    pub all: usize,
    pub asking: usize,
    pub running: usize,
    pub waiting: usize,
    pub failed: usize,
    pub declined: usize,
    pub stopped: usize,
    /// Interrupted, or in other hands.
    pub unfinished: usize,
}

/// "3 tools · 1 running", "6 tools, all done".
pub fn tool_group(calls: Calls) -> String {
    let Calls { all, asking, running, waiting, failed, declined, stopped, unfinished } = calls;
    let parts = [
        (asking, "asking you"),
        (running, "running"),
        (waiting, "waiting"),
        (failed, "failed"),
        (declined, "declined"),
        (stopped, "stopped"),
        (unfinished, "not finished"),
    ];
    let said: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if said.is_empty() { format!("{all} tools, all done") } else { format!("{all} tools · {}", said.join(" · ")) }
}

/// One line of what a call is about: the last of what is being written, why it failed, how many results it brought, or
/// else its first argument.
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
        Content::ToolUse { arguments, .. } => first_word(arguments),
        _ => None,
    };
    let gist = match answer {
        Some(Value::String(why)) if failed => Some(why.clone()),
        Some(Value::Object(map)) if failed => {
            ["error", "message"].iter().find_map(|key| map.get(*key)?.as_str()).map(str::to_owned)
        }
        Some(Value::Array(results)) if results.len() == 1 => Some("1 result".to_owned()),
        Some(Value::Array(results)) => Some(format!("{} results", results.len())),
        _ => about(),
    };
    gist.map(|gist| cut(&gist)).filter(|gist| !gist.is_empty())
}

/// The longest gist, in characters.
const GIST_CHARS: usize = 60;

/// The end of the last line that has something in it.
fn last_line(raw: &str) -> Option<String> {
    let line = raw.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let seen = |c: &char| !crate::domain::plain::is_hidden(*c);
    let mut end: Vec<char> = line.chars().rev().filter(seen).take(GIST_CHARS).collect();
    end.reverse();
    Some(end.into_iter().collect())
}

/// The first argument that says something; a number says nothing without its name.
fn first_word(arguments: &Value) -> Option<String> {
    match arguments {
        Value::String(text) if !text.trim().is_empty() => Some(format!("“{text}”")),
        Value::Object(map) => map.iter().find_map(|(name, value)| match value {
            Value::Number(number) => Some(format!("{name}: {number}")),
            value => first_word(value),
        }),
        _ => None,
    }
}

/// The first line, not longer than the bound, without what is not seen.
fn cut(text: &str) -> String {
    let seen = |c: &char| !crate::domain::plain::is_hidden(*c);
    let line: String = text.lines().next().unwrap_or_default().chars().filter(seen).collect();
    if line.chars().count() <= GIST_CHARS {
        return line;
    }
    let kept: String = line.chars().take(GIST_CHARS - 1).collect();
    format!("{}…", kept.trim_end())
}

/// "Cut at 64 KB of 3.1 MB."
pub fn cut_at(bytes: usize, of: u64) -> String {
    format!("Cut at {} KB of {}.", bytes >> 10, size(of))
}

/// "512 bytes", "12 KB", "3.1 MB".
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KB", bytes.div_ceil(1_024)),
        _ => format!("{}.{} MB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}

/// What a file is called that has no name.
pub fn file(mime: &str, bytes: Option<u64>) -> String {
    let mime = if mime.is_empty() { "file" } else { mime };
    match bytes {
        Some(bytes) => format!("Download {mime}, {}", size(bytes)),
        None => format!("Download {mime}"),
    }
}

/// How many members an object or a list has, behind its key.
pub fn json_size(is_list: bool, count: usize) -> String {
    let count = number(count as u64);
    if is_list { format!("[{count}]") } else { format!("{{{count}}}") }
}

/// What was taken out of a result before it was stored (terminal codes, NULs, bytes that are no text) and what is in it
/// that is not seen; nothing where nothing was.
pub fn cleaned([ansi, nul, invalid, hidden]: [u64; 4]) -> String {
    let parts = [
        (ansi, "terminal code removed", "terminal codes removed"),
        (nul, "NUL replaced", "NULs replaced"),
        (invalid, "invalid byte replaced", "invalid bytes replaced"),
        (hidden, "hidden character", "hidden characters"),
    ];
    let said = parts.iter().filter(|(count, ..)| *count > 0);
    said.map(|(count, one, many)| format!("{} {}", number(*count), if *count == 1 { one } else { many }))
        .collect::<Vec<_>>()
        .join(" · ")
}

/// The heading of the sources.
pub fn sources(count: usize) -> String {
    if count == 1 { "1 source".to_owned() } else { format!("Sources ({count})") }
}
