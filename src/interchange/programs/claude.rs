//! Reader for Claude's data export: `conversations.json` alone, or the archive with `users.json`, `projects.json` and
//! others.
//!
//! Anthropic publishes no definition (support.claude.com, "How can I export my Claude data?", names only the export).
//! Derived from the types and notes of public readers:
//! - `Sinity/polylogue`, `polylogue/sources/providers/claude_ai.py`, `polylogue/sources/parsers/claude/ai_parser.py`
//!   and `common.py`: conversation, message, attachments, files, blocks with their times, citations, the displayed
//!   leaf
//! - `Sinity/polylogue`, its notes on Claude's export: the archive
//! - public transcripts of exports of 2026 that keep their JSON: `parent_message_uuid` with the root
//!   `00000000-0000-4000-8000-000000000000`, `tool_use` and `tool_result` with `knowledge`, `files` of an id and a
//!   name
//!
//! Confirmed: `chat_messages` with `uuid`, `sender`, `text`, `content`, `attachments` (with `extracted_content`),
//! `files` (without bytes), and in newer exports `parent_message_uuid`; a citation's `start_index`, `end_index` and
//! `details.url`. Inferred: citations count code points; a call without an id is answered by the next result with its
//! name. `current_leaf_message_uuid`, `is_starred` and `model` occur in responses of the site and are read where they
//! exist.
//!
//! Samples: `samples/claude`, hand-written after those fields.

use serde_json::Value;

use crate::conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::domain::usage::token_counts::Usage;
use crate::input::{Input, InputParts};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{self, SourceNode};
use crate::reading::{export_entries, fields};
use crate::report::IssueKind;
use crate::sink::{ImportError, ImportSink};

mod content;
mod keys;

/// User data of an export that is not imported, with the text of the issue.
const NOT_READ: [(&str, &str); 4] = [
    ("projects.json", "projects and their documents are not imported"),
    ("projects/", "projects and their documents are not imported"),
    ("memories.json", "memories are not imported"),
    ("design_chats/", "design tool chats are not imported"),
];

/// The parent id of a conversation's first message.
const ROOT: &str = "00000000-0000-4000-8000-000000000000";

/// Returns whether the value is a conversation of Claude.
pub(crate) fn is_conversation(value: &Value) -> bool {
    value.get("chat_messages").is_some_and(Value::is_array)
}

/// Reads an export.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    export_entries::report_unread_entries(input, taker, &NOT_READ)?;
    let is_chats = export_entries::conversation_filter(input);
    let parts = input.parts();
    read_parts(input, taker, &["conversations", "data"], &is_chats, &mut |value, notes| {
        conversation(value, &parts, notes)
    })
}

/// Reads one conversation.
fn conversation(value: &Value, parts: &InputParts, notes: &mut ConversationNotes) -> Option<Conversation> {
    let source_id = fields::id(value, "uuid").unwrap_or_else(|| fields::content_id(value));
    notes.set_conversation(&source_id);
    let Some(messages) = value.get("chat_messages").and_then(Value::as_array) else {
        notes.add(IssueKind::LeftOut, "", "it is not a conversation: it has no messages (chat_messages)");
        return None;
    };
    let mut calls = content::UnansweredCalls::default();
    let mut nodes: Vec<SourceNode> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let before = nodes.last().map(|node| node.id.clone());
        nodes.push(node(at, message, before, &mut calls, parts, notes));
    }
    let current = fields::id(value, "current_leaf_message_uuid");
    let (messages, current) = tree::order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    keys::CONVERSATION.report_lost(value, "", notes);
    if fields::text(value, "project_uuid").is_some() || value.get("project").is_some_and(Value::is_object) {
        notes.add(IssueKind::Lost, "", "it belongs to a project; projects are not imported");
    }
    Some(Conversation {
        source_id,
        title: fields::text(value, "name").unwrap_or_default().to_owned(),
        system_prompt: String::new(),
        created_at: notes.date(value, "created_at", ""),
        updated_at: notes.date(value, "updated_at", ""),
        model: fields::text(value, "model").map(str::to_owned),
        messages,
        current,
        is_pinned: fields::is_set(value, "is_starred"),
        is_archived: false,
    })
}

/// Reads one message. If it names no parent, `before` is the parent, because older exports are linear.
fn node(
    at: usize,
    message: &Value,
    before: Option<String>,
    calls: &mut content::UnansweredCalls,
    parts: &InputParts,
    notes: &mut ConversationNotes,
) -> SourceNode {
    let id = fields::id(message, "uuid").unwrap_or_else(|| format!("message-{}", at + 1));
    let parent = match message.get("parent_message_uuid") {
        None => before,
        Some(parent) => fields::as_id(parent).filter(|parent| parent != ROOT),
    };
    if !message.is_object() {
        notes.add_not_an_object(&id);
        return SourceNode { id, parent, children: Vec::new(), message: None };
    }
    let role = match fields::first_text(message, &["sender", "role"]) {
        Some("human" | "user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        other => {
            let role: String = other.unwrap_or("none").chars().take(60).collect();
            notes.add(IssueKind::PutRight, &id, format!("the sender “{role}” was imported as the assistant"));
            Role::Assistant
        }
    };
    let created_at = notes.date(message, "created_at", &id);
    let pieces = content::pieces(message, &content::MessageHead { id: &id, role, created_at }, calls, parts, notes);
    // Separate tool messages are attributed to the user in the file, although they are steps of the reply.
    let is_of_tools = role == Role::User && !pieces.is_empty() && pieces.iter().all(is_from_tool);
    let role = if is_of_tools { Role::Assistant } else { role };
    let is_reply = role == Role::Assistant;
    let ending = match fields::text(message, "stop_reason") {
        Some("user_canceled") => MessageEnding::Cancelled,
        _ => MessageEnding::Complete,
    };
    // Tool output belongs to no model; it is part of the reply that made the call.
    let model = fields::text(message, "model").filter(|_| is_reply && !is_of_tools);
    keys::MESSAGE.report_lost(message, &id, notes);
    let stops = fields::list(message, "content").iter().map(|block| fields::date(block, "stop_timestamp"));
    let ended_at = stops.filter_map(fields::SourceDate::valid_time).max();
    let message = (!pieces.is_empty()).then(|| ImportedMessage {
        source_id: id.clone(),
        parent: None,
        role,
        provider: is_reply.then(|| "anthropic".to_owned()),
        model: model.map(str::to_owned),
        created_at,
        // `updated_at` is also the time of a later edit or rating, so only the blocks know when the reply ended.
        ended_at: ended_at.filter(|ended| is_reply && created_at.is_some_and(|created| created < *ended)),
        ending,
        pieces,
        usage: Usage::default(),
        is_thinking_mode: None,
        parts: Vec::new(),
    });
    SourceNode { id, parent, children: Vec::new(), message }
}

/// Returns whether a piece is tool output, something attached to it, or the call that was created for it.
fn is_from_tool(piece: &MessagePiece) -> bool {
    piece.author == Author::Tool || matches!(piece.body, PieceBody::ToolCall { .. })
}

#[cfg(test)]
mod tests;
