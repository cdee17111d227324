//! Classifies the lines of a Claude Code session.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::user_text::{self, UserText};
use crate::input::json_lines::JsonLine;
use crate::reading::fields;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A message that the user wrote.
    Prompt,
    /// Results of tool calls, perhaps with a text of the user.
    Results,
    /// Part of a response.
    Reply,
    /// A failure that the program shows in place of a response.
    ReplyFailure,
    /// A slash command.
    Command,
    /// The output of a slash command.
    CommandOutput,
    /// A shell command of the user, or its output.
    Shell,
    /// The user stopped the response.
    Interruption,
    /// The summary that replaces the messages before it.
    CompactSummary,
    /// A message of the program about a task in the background.
    Notification,
    /// A message that the user wrote during a response.
    QueuedPrompt,
    /// A file that the user named in the message above.
    AttachedFile,
    /// Text or context that the program added for the model.
    Inserted,
    /// A line that only continues the chain.
    Link,
    /// A line outside of the chain.
    Outside,
}

impl LineKind {
    /// Returns whether the program added the line, so that the lines above and below it belong together.
    fn is_between(self) -> bool {
        matches!(self, Self::Inserted | Self::Link | Self::AttachedFile)
    }
}

/// Returns the kind of a line.
pub(super) fn kind_of(line: &Value) -> LineKind {
    match fields::text(line, "type") {
        Some("user") => user_kind(line),
        Some("assistant") => {
            let model = line.get("message").and_then(|message| fields::text(message, "model"));
            match (fields::is_set(line, "isApiErrorMessage"), model) {
                (true, _) => LineKind::ReplyFailure,
                // The program's placeholder for a response that was not requested.
                (false, Some("<synthetic>")) => LineKind::Link,
                (false, _) => LineKind::Reply,
            }
        }
        Some("attachment") => attachment_kind(line.get("attachment").unwrap_or(&Value::Null)),
        _ if line.get("uuid").is_some() => LineKind::Link,
        _ => LineKind::Outside,
    }
}

fn user_kind(line: &Value) -> LineKind {
    let content = line.get("message").and_then(|message| message.get("content")).unwrap_or(&Value::Null);
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    if fields::is_set(line, "isCompactSummary") {
        return LineKind::CompactSummary;
    }
    if blocks.iter().any(|block| fields::text(block, "type") == Some("tool_result")) {
        return LineKind::Results;
    }
    if fields::is_set(line, "isMeta") {
        return LineKind::Inserted;
    }
    if line.get("origin").is_some_and(|origin| fields::text(origin, "kind") == Some("task-notification")) {
        return LineKind::Notification;
    }
    let first = blocks.iter().find_map(|block| fields::text(block, "text"));
    let kind = match user_text::parse(content.as_str().or(first).unwrap_or_default()) {
        UserText::Plain => LineKind::Prompt,
        UserText::Command => LineKind::Command,
        UserText::CommandOutput => LineKind::CommandOutput,
        UserText::Shell => LineKind::Shell,
        UserText::Interruption => LineKind::Interruption,
        UserText::Notification => LineKind::Notification,
        UserText::Reminder => LineKind::Inserted,
    };
    let is_prompt = |block: &Value| match fields::text(block, "text") {
        Some(text) => user_text::parse(text) == UserText::Plain,
        None => true,
    };
    // Reminders may precede the user's own text or image.
    if kind == LineKind::Inserted && blocks.iter().any(is_prompt) { LineKind::Prompt } else { kind }
}

fn attachment_kind(attachment: &Value) -> LineKind {
    match fields::text(attachment, "type") {
        Some("queued_command") => {
            let origin = attachment.get("origin").and_then(|origin| fields::text(origin, "kind"));
            let mode = fields::text(attachment, "commandMode");
            match (mode, origin) {
                (Some("task-notification"), _) | (_, Some("task-notification")) => LineKind::Notification,
                _ => LineKind::QueuedPrompt,
            }
        }
        Some("file") => LineKind::AttachedFile,
        _ => LineKind::Inserted,
    }
}

/// Returns the parent of a line: the line before it in the chain. A compaction starts a new chain; its logical parent
/// is the last line of the old one.
pub(super) fn parent_of(line: &Value) -> Option<String> {
    fields::id(line, "parentUuid").or_else(|| fields::id(line, "logicalParentUuid"))
}

/// Returns the ids of the slash commands that a response follows: they were sent, the others only ran in the program.
pub(super) fn sent_commands(lines: &[JsonLine]) -> HashSet<String> {
    /// Number of lines between a command and its response that are looked through.
    const STEPS: usize = 64;
    let chained = lines.iter().filter_map(|line| {
        let id = fields::id(&line.value, "uuid")?;
        Some((id, (kind_of(&line.value), parent_of(&line.value))))
    });
    let chain: HashMap<String, (LineKind, Option<String>)> = chained.collect();
    let mut sent = HashSet::new();
    let replies = chain.values().filter(|(kind, _)| matches!(kind, LineKind::Reply | LineKind::ReplyFailure));
    for (_, parent) in replies {
        let mut above = parent.as_ref();
        for _ in 0..STEPS {
            let Some((id, (kind, parent))) = above.and_then(|id| chain.get_key_value(id)) else { break };
            if *kind == LineKind::Command {
                sent.insert(id.clone());
            }
            if !kind.is_between() {
                break;
            }
            above = parent.as_ref();
        }
    }
    sent
}
