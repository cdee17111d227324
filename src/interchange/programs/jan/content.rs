//! Converts one message of Jan.

use std::collections::HashMap;

use serde_json::Value;

use super::keys;
use crate::conversation::{FileBytes, ImportedMessage, MessageEnding, MessageFile, PieceBody};
use crate::domain::turns::turn::Role;
use crate::reading::fields::{as_id, first_text, id, list, text};
use crate::reading::media::mime_of;
use crate::reading::message_builder::{FAILED_IN_SOURCE, attachment_body, call_body, empty_message, resolve_address};
use crate::reading::notes::ConversationNotes;
use crate::reading::thought_tags::split_leading_thought;
use crate::report::IssueKind;

/// Maps the ids of calls to the names of their tools, because messages with results contain only the id.
pub(super) fn names_of_calls<'r>(rows: impl Iterator<Item = &'r Value>) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for row in rows {
        for call in calls_in_metadata(row) {
            if let Some(id) = call_id(call) {
                names.insert(id, call_name(call).to_owned());
            }
        }
        for part in list(row, "content") {
            if let (Some(id), Some(name)) = (id(part, "tool_call_id"), text(part, "tool_name")) {
                names.insert(id, name.to_owned());
            }
        }
    }
    names
}

/// Returns the calls that earlier versions keep beside the content.
fn calls_in_metadata(row: &Value) -> &[Value] {
    row.get("metadata").map(|metadata| list(metadata, "tool_calls")).unwrap_or_default()
}

fn call_id(call: &Value) -> Option<String> {
    call.get("tool").and_then(|tool| id(tool, "id")).or_else(|| id(call, "id"))
}

fn call_name(call: &Value) -> &str {
    let function = call.get("tool").and_then(|tool| tool.get("function"));
    function.and_then(|function| text(function, "name")).or_else(|| text(call, "name")).unwrap_or("tool")
}

pub(super) fn message(
    row: &Value,
    id: &str,
    provider: Option<&str>,
    calls: &HashMap<String, String>,
    notes: &mut ConversationNotes,
) -> ImportedMessage {
    let role_name = text(row, "role").unwrap_or_default();
    let role = notes.role(role_name, &["tool"], id);
    keys::MESSAGE.report_lost(row, id, notes);
    let metadata = row.get("metadata").unwrap_or(&Value::Null);
    keys::METADATA.report_lost(metadata, id, notes);
    let mut message = empty_message(id, role);
    message.created_at = notes.date(row, "created_at", id);
    if role == Role::User {
        add_inline_files(&mut message, metadata);
    }
    if role_name == "tool" {
        add_result(&mut message, row, calls);
    } else {
        list(row, "content").iter().for_each(|part| add_part(&mut message, part, notes));
        calls_in_metadata(row).iter().for_each(|call| add_call(&mut message, call));
    }
    if role == Role::Assistant {
        message.provider = provider.map(str::to_owned);
        let ended = notes.date(row, "completed_at", id);
        message.ended_at = ended.filter(|ended| message.created_at.is_some_and(|begun| begun < *ended));
        add_ending(&mut message, row, metadata);
    }
    message
}

fn add_ending(message: &mut ImportedMessage, row: &Value, metadata: &Value) {
    match text(row, "status") {
        Some("stopped") => message.ending = MessageEnding::Cancelled,
        Some("error") => {
            let reason = text(metadata, "error").or_else(|| text(row, "error_code"));
            message.add_failure(reason.unwrap_or(FAILED_IN_SOURCE));
        }
        _ => {}
    }
}

fn add_part(message: &mut ImportedMessage, part: &Value, notes: &mut ConversationNotes) {
    let of = message.source_id.clone();
    keys::PART.report_lost(part, &of, notes);
    let value = part.get("text").and_then(|words| words.as_str().or_else(|| text(words, "value"))).unwrap_or_default();
    match text(part, "type").unwrap_or_default() {
        "reasoning" => message.add_reasoning(value),
        "text" if message.role == Role::Assistant => {
            let (thought, rest) = split_leading_thought(value).unwrap_or(("", value));
            message.add_reasoning(thought);
            message.add_text(rest);
        }
        "text" => message.add_text(value),
        "image_url" => {
            let address = part.get("image_url").and_then(|image| image.as_str().or_else(|| text(image, "url")));
            let (mime, bytes) = resolve_address(address.unwrap_or_default());
            message.add_piece(attachment_body(MessageFile { name: "picture".to_owned(), mime, bytes }, "", true));
        }
        "tool_call" => {
            let name = text(part, "tool_name").unwrap_or("tool");
            let call_id = id(part, "tool_call_id").unwrap_or_else(|| format!("{of}/{}", message.pieces.len()));
            message.add_piece(call_body(call_id.clone(), name, part.get("input")));
            if let Some(output) = part.get("output").filter(|output| !output.is_null()) {
                add_output(message, &call_id, name, output);
            }
        }
        other => {
            let word: String = other.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
            notes.add(IssueKind::Lost, &of, format!("a part of an unknown type was skipped ({word})"));
        }
    }
}

/// Adds a call of earlier versions with its result.
fn add_call(message: &mut ImportedMessage, call: &Value) {
    let name = call_name(call);
    let call_id = call_id(call).unwrap_or_else(|| format!("{}/{}", message.source_id, message.pieces.len()));
    let function = call.get("tool").and_then(|tool| tool.get("function"));
    let arguments = function.and_then(|function| function.get("arguments")).or_else(|| call.get("args"));
    message.add_piece(call_body(call_id.clone(), name, arguments));
    if let Some(response) = call.get("response").filter(|response| !response.is_null()) {
        add_output(message, &call_id, name, response);
    }
}

/// Adds a result: the text of a single part, or all of it.
fn add_output(message: &mut ImportedMessage, call: &str, name: &str, output: &Value) {
    let has_failed = output
        .get("error")
        .is_some_and(|error| !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some(""));
    let only_text = match list(output, "content") {
        [part] => text(part, "text").filter(|_| text(part, "type").is_none_or(|kind| kind == "text")),
        _ => None,
    };
    let result = only_text.map_or_else(|| output.clone(), |text| Value::String(text.to_owned()));
    message.add_tool_result(call, name, result, !has_failed);
}

/// Adds a message that is the result of a call.
fn add_result(message: &mut ImportedMessage, row: &Value, calls: &HashMap<String, String>) {
    let call = id(row, "tool_call_id").unwrap_or_else(|| format!("{}/call", message.source_id));
    let name = calls.get(&call).map_or("tool", String::as_str);
    let texts = list(row, "content").iter().filter_map(|part| text(part.get("text")?, "value"));
    let words = texts.collect::<Vec<_>>().join("\n");
    message.add_tool_result(&call, name, Value::String(words), true);
}

/// Adds files whose text earlier versions put into the message, and those that are only named.
fn add_inline_files(message: &mut ImportedMessage, metadata: &Value) {
    for file in list(metadata, "inline_file_contents") {
        let name = text(file, "name").unwrap_or("attachment").to_owned();
        let words = text(file, "content").unwrap_or_default().to_owned();
        let mime = mime_of(&name).to_owned();
        message
            .add_piece(PieceBody::Attachment { file: MessageFile { name, mime, bytes: FileBytes::TextOnly(words) } });
    }
    let names = list(metadata, "documents").iter().chain(list(metadata, "attachments"));
    for name in names.filter_map(|file| as_id(file).or_else(|| first_text(file, &["name", "id"]).map(str::to_owned))) {
        let (mime, bytes) = (mime_of(&name).to_owned(), FileBytes::Absent(name.clone()));
        message.add_piece(PieceBody::Attachment { file: MessageFile { name, mime, bytes } });
    }
}
