//! Converts contents of the Gemini API, and the calls that the Gemini CLI records beside them, into pieces.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::keys;
use crate::conversation::{FileBytes, ImportedMessage, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::reading::message_builder::{attachment_body, call_body};
use crate::reading::notes::ConversationNotes;
use crate::reading::open_calls::OpenCalls;
use crate::reading::{fields, media};

/// Returns the parts of a content: a text, one part, or a list of both.
pub(super) fn parts_of(content: &Value) -> Vec<&Value> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(parts) => parts.iter().collect(),
        other => vec![other],
    }
}

/// Returns the text of a part that is no thought.
fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| fields::text(part, "text").filter(|_| !fields::is_set(part, "thought")))
}

/// Returns the text of a content.
pub(super) fn text_of(content: &Value) -> String {
    parts_of(content).into_iter().filter_map(part_text).collect()
}

/// Returns whether a content holds nothing but results of calls.
pub(super) fn is_only_results(content: &Value) -> bool {
    let parts = parts_of(content);
    !parts.is_empty() && parts.iter().all(|part| part.get("functionResponse").is_some())
}

/// The calls of a chat so far.
#[derive(Default)]
pub(super) struct CallBook {
    open: OpenCalls,
    /// Those of them that have no id of their own. The program makes one for the result only.
    unnamed: OpenCalls,
    /// The calls that are known by the ids of their results.
    result_ids: HashMap<String, String>,
    names: HashMap<String, String>,
    answered: HashSet<String>,
}

impl CallBook {
    /// Adds a call, unless it is known.
    fn add_call(&mut self, message: &mut ImportedMessage, call: &Value) -> String {
        let name = fields::text(call, "name").unwrap_or("tool");
        let own = fields::id(call, "id");
        let has_id = own.is_some();
        let id = own.unwrap_or_else(|| format!("{}-{}", message.source_id, message.pieces.len()));
        if self.names.insert(id.clone(), name.to_owned()).is_none() {
            if !has_id {
                self.unnamed.add(id.clone(), name.to_owned());
            }
            self.open.add(id.clone(), name.to_owned());
            message.add_piece(call_body(id.clone(), name, call.get("args")));
        }
        id
    }

    /// Returns the id of the call that a result with an id answers: if no call has it, the first open call with the
    /// result's name that has no id.
    fn call_id(&mut self, id: String, name: &str) -> String {
        if self.names.contains_key(&id) {
            return id;
        }
        if let Some(call) = self.result_ids.get(&id) {
            return call.clone();
        }
        while let Some((call, _)) = self.unnamed.take(None, Some(name)) {
            // A result without an id may have answered it.
            if !self.answered.contains(&call) {
                self.result_ids.insert(id, call.clone());
                return call;
            }
        }
        id
    }

    /// Adds a result, unless its call has one. Without an id it answers the first open call with its name.
    fn add_result(&mut self, message: &mut ImportedMessage, id: Option<String>, name: &str, result: ToolResult) {
        let id = id.map(|id| self.call_id(id, name));
        let taken = self.open.take(id.as_deref(), Some(name));
        let (id, name) = match (taken, id) {
            (Some(call), _) => call,
            (None, Some(id)) => (id.clone(), self.names.get(&id).cloned().unwrap_or_else(|| name.to_owned())),
            (None, None) => (format!("{}-{}", message.source_id, message.pieces.len()), name.to_owned()),
        };
        if !self.answered.insert(id.clone()) {
            return;
        }
        message.add_tool_result(&id, &name, result.value, result.success);
        let pieces = result.files.into_iter().map(|body| MessagePiece { author: Author::Tool, created_at: None, body });
        message.pieces.extend(pieces);
    }
}

struct ToolResult {
    value: Value,
    success: bool,
    files: Vec<PieceBody>,
}

impl ToolResult {
    /// Reads the response of a function: its output or its error, else its members.
    fn of_response(response: &Value) -> Self {
        let inner = response.get("response").unwrap_or(&Value::Null);
        let is_alone =
            |name: &str| inner.as_object().is_some_and(|members| members.len() == 1).then(|| inner.get(name));
        let (value, success) = match (is_alone("output").flatten(), is_alone("error").flatten()) {
            (Some(output), _) => (output.clone(), true),
            (None, Some(error)) => (error.clone(), false),
            (None, None) => (inner.clone(), true),
        };
        let files = fields::list(response, "parts").iter().filter_map(|part| file_of(part, "file")).collect();
        Self { value, success, files }
    }
}

/// Adds the parts of a content.
pub(super) fn add_parts(
    message: &mut ImportedMessage,
    content: &Value,
    calls: &mut CallBook,
    notes: &mut ConversationNotes,
) {
    for part in parts_of(content) {
        add_part(message, part, calls, notes);
    }
}

fn add_part(message: &mut ImportedMessage, part: &Value, calls: &mut CallBook, notes: &mut ConversationNotes) {
    if let Some(text) = part.as_str() {
        return message.add_text(text);
    }
    keys::PART.report_lost(part, &message.source_id, notes);
    if let Some(text) = fields::text(part, "text") {
        // Only a model thinks.
        let is_thought = fields::is_set(part, "thought") && message.role == Role::Assistant;
        if is_thought { message.add_reasoning(text) } else { message.add_text(text) }
    }
    if let Some(call) = part.get("functionCall") {
        keys::CALL.report_lost(call, &message.source_id, notes);
        calls.add_call(message, call);
    }
    if let Some(response) = part.get("functionResponse") {
        keys::RESPONSE.report_lost(response, &message.source_id, notes);
        let name = fields::text(response, "name").unwrap_or("tool");
        calls.add_result(message, fields::id(response, "id"), name, ToolResult::of_response(response));
    }
    if let Some(code) = part.get("executableCode") {
        calls.add_call(message, &json!({"name": CODE_EXECUTION, "args": code}));
    }
    if let Some(output) = part.get("codeExecutionResult") {
        let success = fields::text(output, "outcome").is_none_or(|outcome| outcome == "OUTCOME_OK");
        let value = output.get("output").cloned().unwrap_or_default();
        calls.add_result(message, None, CODE_EXECUTION, ToolResult { value, success, files: Vec::new() });
    }
    if let Some(file) = file_of(part, "file") {
        message.add_piece(file);
    }
}

/// The name of the provider's tool that runs code.
const CODE_EXECUTION: &str = "code_execution";

/// Returns the file of a part: inline bytes, or the address of an uploaded file.
fn file_of(part: &Value, usual_name: &str) -> Option<PieceBody> {
    let inline = part.get("inlineData").filter(|inline| inline.is_object());
    let file = inline.or_else(|| part.get("fileData").filter(|file| file.is_object()))?;
    let mime = fields::text(file, "mimeType").unwrap_or_default().to_owned();
    let bytes = fields::text(file, "data").and_then(media::decode_base64);
    let address = fields::text(file, "fileUri").unwrap_or_default();
    let bytes = bytes.map_or_else(|| FileBytes::Absent(address.to_owned()), |bytes| FileBytes::Inline(bytes.into()));
    let name = fields::text(file, "displayName").unwrap_or(usual_name).to_owned();
    Some(attachment_body(MessageFile { name, mime, bytes }, "", false))
}

/// Adds a recorded call with its result.
pub(super) fn add_recorded_call(
    message: &mut ImportedMessage,
    record: &Value,
    calls: &mut CallBook,
    notes: &mut ConversationNotes,
) {
    keys::TOOL_CALL.report_lost(record, &message.source_id, notes);
    let id = calls.add_call(message, record);
    let name = fields::text(record, "name").unwrap_or("tool");
    let status = fields::text(record, "status").unwrap_or("success");
    let parts = parts_of(record.get("result").unwrap_or(&Value::Null));
    let response = parts.iter().find_map(|part| part.get("functionResponse"));
    let mut result = match (response, record.get("resultDisplay").and_then(Value::as_str)) {
        (Some(response), _) => ToolResult::of_response(response),
        (None, shown) => {
            let text: String = parts.iter().filter_map(|part| part_text(part)).collect();
            let text = if text.is_empty() { shown.unwrap_or_default().to_owned() } else { text };
            let value = if text.is_empty() { json!({ "status": status }) } else { Value::String(text) };
            ToolResult { value, success: true, files: Vec::new() }
        }
    };
    result.success &= status == "success";
    result.files.extend(parts.iter().filter_map(|part| file_of(part, "file")));
    calls.add_result(message, Some(id), name, result);
}
