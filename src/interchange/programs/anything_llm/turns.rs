//! Makes conversations of lists of messages: those of a workspace (a line), or those of a thread (a file).

use serde_json::{Value, json};

use super::keys;
use super::rows::{add_attachment, add_reply, finish, push};
use crate::conversation::Conversation;
use crate::domain::turns::turn::Role;
use crate::reading::fields::{content_id, list, printable, text};
use crate::reading::message_builder::empty_message;
use crate::reading::notes::ConversationNotes;
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

/// Returns whether the value is the line of a workspace with nothing but texts and images. Lines for the training of
/// other programs have the same form, but may have more in them.
pub(super) fn is_plain_workspace(value: &Value) -> bool {
    is_workspace(value) && list(value, "messages").iter().all(is_workspace_message)
}

fn is_workspace_message(message: &Value) -> bool {
    let is_member = |name: &String| matches!(name.as_str(), "role" | "content");
    let has_role = matches!(text(message, "role"), Some("system" | "user" | "assistant"));
    let is_part = |part: &Value| matches!(text(part, "type"), Some("text" | "image"));
    let has_content = match message.get("content") {
        Some(Value::Array(parts)) => parts.iter().all(is_part),
        content => content.is_some_and(Value::is_string),
    };
    has_role && has_content && message.as_object().is_some_and(|members| members.keys().all(is_member))
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
    if let Some(head) = head {
        report_unknown_parts(head, "1", notes);
    }
    let mut nodes = Vec::with_capacity(all.len());
    for (at, row) in all.iter().enumerate().skip(usize::from(head.is_some())) {
        let id = (at + 1).to_string();
        if !row.is_object() {
            notes.add_not_a_message(&id);
            continue;
        }
        let role = notes.role(text(row, "role").unwrap_or_default(), &[], &id);
        keys::MESSAGE.report_lost(row, &id, notes);
        let mut message = empty_message(&id, role);
        message.add_reasoning(text(row, "reasoning").unwrap_or_default());
        list(row, "content").iter().filter(|part| part.get("image").is_some()).for_each(|part| {
            add_attachment(&mut message, part);
        });
        report_unknown_parts(row, &id, notes);
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

/// Reports parts that are neither texts nor images.
fn report_unknown_parts(row: &Value, id: &str, notes: &mut ConversationNotes) {
    let is_text = |part: &Value| text(part, "text").is_some() || text(part, "type") == Some("text");
    for part in list(row, "content").iter().filter(|part| !is_text(part) && part.get("image").is_none()) {
        let word = printable(text(part, "type").unwrap_or_default(), 40);
        notes.add(IssueKind::Lost, id, format!("a part of an unknown type was skipped ({word})"));
    }
}

/// Returns the texts of a message: its content, or the parts of it.
fn words(row: &Value) -> Vec<&str> {
    match row.get("content") {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| text(part, "text")).collect(),
        _ => Vec::new(),
    }
}
