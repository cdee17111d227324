//! Makes conversations of lists of messages: those of a workspace (a line), or those of a thread (a file).

use serde_json::{Value, json};

use super::keys;
use super::rows::{add_attachment, add_reply, finish, push};
use crate::conversation::Conversation;
use crate::domain::turn::Role;
use crate::fields::{content_id, list, text};
use crate::message_builder::empty_message;
use crate::notes::ConversationNotes;
use crate::report::IssueKind;

/// Returns whether the value is the export of a thread.
pub(super) fn is_thread(value: &Value) -> bool {
    let has_names = text(value, "workspace").is_some() && text(value, "exported").is_some();
    has_names && value.get("messages").is_some_and(Value::is_array)
}

/// Returns whether the value is the line of a workspace: nothing but messages, the first of which is the system prompt
/// as a list of parts.
pub(super) fn is_workspace(value: &Value) -> bool {
    let is_alone = value.as_object().is_some_and(|members| members.len() == 1);
    let first = list(value, "messages").first().unwrap_or(&Value::Null);
    let is_prompt = text(first, "role") == Some("system") && first.get("content").is_some_and(Value::is_array);
    is_alone && is_prompt
}

/// Builds the conversation of a thread or a workspace.
pub(super) fn conversation(value: &Value, notes: &mut ConversationNotes) -> Option<Conversation> {
    let all = list(value, "messages");
    let first = all.iter().find(|message| text(message, "role") == Some("user"));
    let head = all.first().filter(|message| text(message, "role") == Some("system"));
    let (workspace, thread) = (text(value, "workspace"), text(value, "thread"));
    let source_id = content_id(&json!([workspace, thread, head, first]));
    notes.set_conversation(&source_id);
    keys::THREAD.report_lost(value, "", notes);
    let prompt = head.map(|message| words(message).concat()).unwrap_or_default();
    let mut nodes = Vec::with_capacity(all.len());
    for (at, row) in all.iter().enumerate().skip(usize::from(head.is_some())) {
        let id = (at + 1).to_string();
        if !row.is_object() {
            notes.add_not_a_message(&id);
            continue;
        }
        let role = match text(row, "role").unwrap_or_default() {
            "user" => Role::User,
            "system" => Role::System,
            "assistant" => Role::Assistant,
            other => {
                let word: String = other.chars().filter(|c| !c.is_control()).take(40).collect();
                notes.add_unknown_role(&id, &word);
                Role::Assistant
            }
        };
        keys::MESSAGE.report_lost(row, &id, notes);
        let mut message = empty_message(&id, role);
        message.add_reasoning(text(row, "reasoning").unwrap_or_default());
        list(row, "content").iter().filter(|part| part.get("image").is_some()).for_each(|part| {
            add_attachment(&mut message, part);
        });
        for words in words(row) {
            if role == Role::Assistant { add_reply(&mut message, words) } else { message.add_text(words) }
        }
        push(&mut nodes, message);
    }
    let lost = match is_thread(value) {
        true => "the dates of its messages are not in the export",
        false => "the names of workspaces and the dates of messages are not in the export",
    };
    notes.add(IssueKind::Lost, "", lost);
    let title = thread.or(workspace).unwrap_or_default().to_owned();
    finish(&source_id, title, prompt, nodes, notes)
}

/// Returns the texts of a message: its content, or the parts of it.
fn words(row: &Value) -> Vec<&str> {
    match row.get("content") {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| text(part, "text")).collect(),
        _ => Vec::new(),
    }
}
