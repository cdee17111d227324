//! Connects calls with their results, and thoughts with their durations; only the tree relates them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::content::shortened_word;
use crate::conversation::PieceBody;
use crate::domain::turns::turn::Role;
use crate::reading::fields;
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::SourceNode;
use crate::report::IssueKind;

/// Number of ancestors that are searched.
const STEPS: usize = 64;

/// Returns the tool that an assistant message addresses; `None` if it is for the reader.
pub(crate) fn recipient(message: &Value) -> Option<&str> {
    let author = message.get("author").and_then(|author| fields::text(author, "role"));
    let kind = message.get("content").and_then(|content| fields::text(content, "content_type"));
    let is_thought = matches!(kind, Some("thoughts" | "reasoning_recap" | "system_error"));
    let recipient = fields::text(message, "recipient").filter(|recipient| *recipient != "all")?;
    (author == Some("assistant") && !is_thought).then_some(recipient)
}

/// Builds the call from a message to a tool.
pub(crate) fn call_from_content(id: &str, recipient: &str, content: &Value, metadata: &Value) -> PieceBody {
    let parts = || match (content, content.get("parts")) {
        (Value::String(text), _) | (_, Some(Value::String(text))) => text.clone(),
        _ => fields::list(content, "parts").iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
    };
    let raw = fields::first_text(content, &["text", "finished_text"]).map_or_else(parts, str::to_owned);
    let finished = || fields::text(metadata, "finished_text").unwrap_or_default().to_owned();
    let raw = if raw.is_empty() { finished() } else { raw };
    let arguments = serde_json::from_str::<Value>(&raw).ok().filter(|value| value.is_object() || value.is_array());
    PieceBody::ToolCall {
        id: id.to_owned(),
        name: shortened_word(recipient),
        arguments: arguments.unwrap_or_default(),
        arguments_raw: (!raw.is_empty()).then_some(raw),
    }
}

/// Returns the id and the name of the call that a tool message answers: the nearest one above it, with only invisible
/// messages between them. Another answer in between means that the call is already answered.
pub(crate) fn answered_call<'a>(mapping: &'a Map<String, Value>, node: &Value) -> Option<(&'a str, &'a str)> {
    let mut parent = fields::id(node, "parent")?;
    for _ in 0..STEPS {
        let (id, above) = mapping.get_key_value(&parent)?;
        match above.get("message").filter(|message| message.is_object()) {
            None => {}
            Some(message) => {
                if let Some(name) = recipient(message) {
                    return Some((id, name));
                }
                let role = message.get("author").and_then(|author| fields::text(author, "role"));
                if role != Some("system") {
                    return None;
                }
            }
        }
        parent = fields::id(above, "parent")?;
    }
    None
}

/// Sets the durations of thoughts from the recaps that follow them.
pub(crate) fn set_thinking_durations(
    nodes: &mut [SourceNode],
    mapping: &Map<String, Value>,
    notes: &mut ConversationNotes,
) {
    let index: HashMap<String, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
    for at in 0..nodes.len() {
        let Some(message) = mapping.get(&nodes[at].id).and_then(|node| node.get("message")) else { continue };
        let null = Value::Null;
        let metadata = message.get("metadata").unwrap_or(&null);
        let Some(duration) = fields::seconds_as_ms(metadata, "finished_duration_sec") else { continue };
        let kind = message.get("content").and_then(|content| fields::text(content, "content_type"));
        if !matches!(kind, Some("thoughts" | "reasoning_recap")) {
            continue;
        }
        let mut above = Some(at);
        let mut is_recorded = false;
        for _ in 0..STEPS {
            let Some(current) = above else { break };
            is_recorded = set_last_thinking_duration(&mut nodes[current], duration);
            if is_recorded {
                break;
            }
            if nodes[current].message.as_ref().is_some_and(|message| message.role == Role::User) {
                break;
            }
            above = nodes[current].parent.as_ref().and_then(|parent| index.get(parent)).copied();
        }
        if !is_recorded {
            let text = "the reasoning time is not imported because the reasoning is not in the export";
            notes.add(IssueKind::Lost, &nodes[at].id, text);
        }
    }
}

/// Sets the duration of the last thought unless it has one; returns whether there is a thought.
fn set_last_thinking_duration(node: &mut SourceNode, duration: u64) -> bool {
    let pieces = node.message.as_mut().map(|message| message.pieces.as_mut_slice()).unwrap_or_default();
    for piece in pieces.iter_mut().rev() {
        if let PieceBody::Thinking { duration_ms, .. } = &mut piece.body {
            duration_ms.get_or_insert(duration);
            return true;
        }
    }
    false
}
