//! Builds the conversation of a chat that was saved under a name in the Gemini CLI.

use serde_json::{Value, json};

use super::contents::{self, CallBook};
use super::keys;
use crate::conversation::Conversation;
use crate::domain::encoding::url_encoding;
use crate::domain::turns::turn::Role;
use crate::reading::fields;
use crate::reading::message_builder::{empty_message, report_missing_files};
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::IssueKind;

/// Returns whether the value is a content of the Gemini API.
pub(super) fn is_content(value: &Value) -> bool {
    matches!(fields::text(value, "role"), Some("user" | "model")) && value.get("parts").is_some_and(Value::is_array)
}

/// Builds the conversation from the contents; `None`, with an issue, if they are none. The file's name contains that of
/// the chat.
pub(super) fn conversation(contents: &[Value], file: &str, notes: &mut ConversationNotes) -> Option<Conversation> {
    /// The contents at the beginning, which stay the same when the chat is saved again.
    const BEGINNING: usize = 3;
    let name = chat_name(file);
    let beginning = &contents[..contents.len().min(BEGINNING)];
    let source_id = fields::content_id(&json!([name, beginning]));
    notes.set_conversation(&source_id);
    let mut calls = CallBook::default();
    let mut nodes: Vec<SourceNode> = Vec::with_capacity(contents.len());
    let skipped = context_length(contents);
    if skipped > 0 {
        notes.add(IssueKind::Lost, "", "text that the Gemini CLI added for the model is not imported");
    }
    for (at, content) in contents.iter().enumerate().skip(skipped) {
        let id = format!("content-{}", at + 1);
        let parent = nodes.last().map(|node| node.id.clone());
        keys::CONTENT.report_lost(content, &id, notes);
        let parts = content.get("parts").unwrap_or(&Value::Null);
        let is_reply = fields::text(content, "role") == Some("model") || contents::is_only_results(parts);
        let mut message = empty_message(&id, if is_reply { Role::Assistant } else { Role::User });
        message.provider = is_reply.then(|| "google".to_owned());
        contents::add_parts(&mut message, parts, &mut calls, notes);
        let message = Some(message).filter(|message| !message.pieces.is_empty());
        nodes.push(SourceNode { id, parent, children: Vec::new(), message });
    }
    let last = nodes.last().map(|node| node.id.clone());
    let (messages, current) = order_messages(nodes, last.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    report_missing_files(&messages, notes);
    Some(Conversation { source_id, title: name, current, messages, ..Conversation::default() })
}

/// Returns the number of contents at the beginning in which the program tells the model where it runs.
fn context_length(contents: &[Value]) -> usize {
    let text = |at: usize| contents.get(at).and_then(|content| content.get("parts")).map(contents::text_of);
    let is_context = |text: &str| {
        let text = text.trim_start();
        text.starts_with("This is the Gemini CLI. We are setting up the context")
            || text.starts_with("<session_context>")
    };
    if !text(0).is_some_and(|text| is_context(&text)) {
        return 0;
    }
    // The model's answer to it is made up by the program, too.
    if text(1).is_some_and(|text| text.starts_with("Got it. Thanks for the context!")) { 2 } else { 1 }
}

/// Returns the name of a chat from that of its file, `checkpoint-<name>.json` with the name as in a URL.
fn chat_name(file: &str) -> String {
    let stem = file.strip_suffix(".json").unwrap_or(file);
    stem.strip_prefix("checkpoint-").map(url_encoding::decode).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_chat_is_decoded() {
        let table = [
            ("checkpoint-tides.json", "tides"),
            ("checkpoint-low%20tide%20%E6%BD%AE.json", "low tide 潮"),
            ("checkpoint-100%.json", "100%"),
            ("checkpoint-%zz%2.json", "%zz%2"),
            ("upload.json", ""),
        ];
        for (file, expected) in table {
            assert_eq!(chat_name(file), expected, "{file}");
        }
    }
}
