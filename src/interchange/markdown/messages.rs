//! All texts of the Markdown export that do not come from the chat, in one place for translation. Texts with numbers
//! are functions, so that each language can order the words.

use crate::domain::blocks::segment::ReasoningBlock;
use crate::domain::text::elapsed::format_elapsed;
use crate::domain::tools::elicitation::ElicitationOutcome;

pub const UNTITLED: &str = "Untitled chat";
pub const CREATED: &str = "Created";
pub const SYSTEM_PROMPT: &str = "System prompt";
pub const YOU: &str = "You";
pub const ASSISTANT: &str = "Assistant";
pub const SYSTEM: &str = "System";
pub const EDITED: &str = "edited by you";
pub const HIDDEN_REASONING: &str = "The provider does not share this reasoning.";
pub const ARGUMENTS: &str = "Arguments";
pub const MODEL_WROTE: &str = "A person edited the arguments before allowing the call. The model wrote:";
pub const NO_ARGUMENTS: &str = "No arguments.";
pub const RESULT: &str = "Result";
pub const TOOL_ERROR: &str = "Error";
pub const NO_RESULT: &str = "No result.";
pub const SOURCES: &str = "Sources";
pub const ERROR: &str = "Error";
pub const STOPPED: &str = "Stopped by you.";
pub const STILL_WRITTEN: &str = "This reply was still being generated.";
pub const EMPTY_REPLY: &str = "The reply is empty.";
pub const DOCUMENT: &str = "Document";
pub const IMAGE: &str = "Image";
pub const IMPORTED_FROM: &str = "Imported from";
pub const DIFFERENCES: &str = "Differences from the source:";
pub const DAMAGED: &str = "Parts of this chat are damaged in the database and could not be exported unchanged:";
pub const NO_DIFFERENCES: &str = "Everything was imported.";

/// Names a question of a tool server and how it ended.
pub fn elicitation(server: &str, outcome: &str) -> String {
    format!("“{server}” asked ({outcome}):")
}

/// Says how a question ended.
pub fn elicitation_outcome(outcome: Option<ElicitationOutcome>) -> &'static str {
    match outcome {
        None => "not answered",
        Some(ElicitationOutcome::Accepted) => "answered",
        Some(ElicitationOutcome::Declined) => "declined",
        Some(ElicitationOutcome::Cancelled) => "cancelled",
        Some(ElicitationOutcome::Completed) => "completed on its page",
        Some(ElicitationOutcome::Withdrawn) => "withdrawn",
        Some(ElicitationOutcome::Required) => "the call ended",
    }
}

/// The reason why a reasoning block ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningCutOff {
    Stopped,
    Broken,
}

/// Summarizes a reasoning block: "Checking the offsets · thought for 12 s · 3 tool calls, 1 failed".
pub fn reasoning_summary(block: &ReasoningBlock, cut_off: Option<ReasoningCutOff>) -> String {
    let (ms, calls, failed, is_hidden) =
        (block.duration_ms, block.tool_calls, block.failed_tool_calls, !block.has_text);
    let mut label = match (&block.title, ms) {
        (None, None) => "Thought".to_owned(),
        (None, Some(..1_000)) => "Thought briefly".to_owned(),
        (None, Some(ms)) => format!("Thought for {}", seconds(ms.saturating_add(500) / 1_000)),
        (Some(title), None) => title.clone(),
        (Some(title), Some(..1_000)) => format!("{title} · thought briefly"),
        (Some(title), Some(ms)) => format!("{title} · thought for {}", seconds(ms.saturating_add(500) / 1_000)),
    };
    if calls > 0 {
        let all = if calls == 1 { "1 tool call".to_owned() } else { format!("{calls} tool calls") };
        label = format!("{label} · {all}");
        if failed > 0 {
            label = format!("{label}, {failed} failed");
        }
    }
    if is_hidden && cut_off.is_none() {
        label.push_str(" · hidden by the provider");
    }
    label.push_str(match cut_off {
        Some(ReasoningCutOff::Stopped) => " · stopped",
        Some(ReasoningCutOff::Broken) => " · cut off",
        None => "",
    });
    label
}

/// Returns the label of a tool: "Tool weather".
pub fn tool_label(name: &str) -> String {
    format!("Tool {name}")
}

/// Names the outcome of a call: "done", "failed", ….
pub fn tool_state(status: crate::domain::blocks::block::ToolStatus, failed: bool) -> &'static str {
    use crate::domain::blocks::block::ToolStatus::{
        AwaitingApproval, Cancelled, Denied, Done, Failed, HandedOver, Interrupted, Pending, Running,
    };
    match status {
        Failed => "failed",
        Done if failed => "failed",
        Done => "done",
        Cancelled => "stopped",
        Denied => "denied by you",
        Interrupted => "the server restarted; it may or may not have run",
        HandedOver => "run by a client",
        Pending => "waiting",
        AwaitingApproval => "waiting for your approval",
        Running => "running",
    }
}

/// Formats a duration: "12 s", "2 min 5 s", "1 h 3 min".
pub fn seconds(seconds: u64) -> String {
    format_elapsed(seconds, ["h", "min", "s"])
}

/// Names a document version: "version 2026-11-22T07:00:00Z".
pub fn version(time: &str) -> String {
    format!("version {time}")
}

/// Names a line range: "line 3", "lines 3-9".
pub fn lines(first: u64, last: u64) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

/// Names what this file does not contain.
pub fn other_versions(count: usize) -> String {
    match count {
        1 => "1 other version is not in this file.".to_owned(),
        count => format!("{count} other versions are not in this file."),
    }
}
