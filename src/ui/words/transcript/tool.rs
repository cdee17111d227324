//! What a tool card says: its state in words, and one line of what it is about.

use serde_json::Value;

use crate::domain::block::ToolStatus;
use crate::domain::{Block, BlockState, Content};

/// The longest gist, in characters.
const GIST_CHARS: usize = 60;

/// The state of a call: never told by colour or icon alone. `was_restarted` is whether the server restarted while the
/// reply was being written.
pub fn tool_state(call: &Block, failed: bool, was_restarted: bool) -> &'static str {
    let Content::ToolUse { status, .. } = &call.content else { return "" };
    match (status, call.state) {
        (ToolStatus::Interrupted, _) => "server restarted; may or may not have run",
        (ToolStatus::Denied, _) => "you declined",
        _ if was_restarted && !matches!(status, ToolStatus::Done) => "server restarted; may or may not have run",
        (_, BlockState::Open) => "writing request…",
        (ToolStatus::Cancelled, _) => "stopped",
        (_, BlockState::Aborted) => "stopped",
        (ToolStatus::Pending, _) => "waiting",
        (ToolStatus::AwaitingApproval, _) => "wants to run",
        (ToolStatus::Running, _) => "running",
        (ToolStatus::HandedOver, _) => "with your client",
        (ToolStatus::Failed, _) => "failed",
        (ToolStatus::Done, _) if failed => "failed",
        (ToolStatus::Done, _) => "done",
    }
}

/// One line of what a call is about: why it failed, how many results it brought, or else its first argument.
pub fn tool_gist(call: &Block, result: Option<&Block>, failed: bool) -> Option<String> {
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

/// The first argument that is a plain value.
fn first_word(arguments: &Value) -> Option<String> {
    match arguments {
        Value::String(text) => Some(format!("“{text}”")),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(map) => map.values().find_map(first_word),
        _ => None,
    }
}

/// The first line, not longer than the bound.
fn cut(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    if line.chars().count() <= GIST_CHARS {
        return line;
    }
    let kept: String = line.chars().take(GIST_CHARS - 1).collect();
    format!("{}…", kept.trim_end())
}
