//! Converts the items of a Codex session into pieces of messages.

use serde_json::{Value, json};

use super::contexts;
use super::keys;
use super::tool_output::{self, ToolOutput};
use crate::conversation::{FileBytes, ImportedMessage, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::reading::fields;
use crate::reading::media::parse_data_url;
use crate::reading::message_builder::{CallNames, call_body};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// Returns the texts of a content.
pub(super) fn texts_of(content: &Value) -> impl Iterator<Item = &str> {
    let whole = content.as_str();
    let parts = content.as_array().into_iter().flatten().filter_map(|part| fields::text(part, "text"));
    whole.into_iter().chain(parts)
}

/// Adds the content of a message: texts, images and recordings.
pub(super) fn add_content(message: &mut ImportedMessage, content: &Value, notes: &mut ConversationNotes) {
    if let Some(text) = content.as_str() {
        message.add_text(text);
    }
    for part in content.as_array().into_iter().flatten() {
        keys::CONTENT.report_lost(part, &message.source_id, notes);
        match fields::text(part, "type").unwrap_or_default() {
            "input_text" | "output_text" | "text" => {
                let text = fields::text(part, "text").unwrap_or_default();
                if !contexts::is_media_mark(text) {
                    message.add_text(text);
                }
            }
            "input_image" => {
                message.add_piece(tool_output::image_body(fields::text(part, "image_url").unwrap_or_default()));
            }
            "input_audio" => message.add_piece(audio_body(fields::text(part, "audio_url").unwrap_or_default())),
            "encrypted_content" => notes.add(IssueKind::Lost, &message.source_id, ENCRYPTED),
            other => {
                let kind: String = other.chars().take(60).collect();
                let text = format!("content of type “{kind}” is not imported");
                notes.add(IssueKind::Lost, &message.source_id, text);
            }
        }
    }
}

/// The issue for what only the provider can read.
pub(super) const ENCRYPTED: &str = "content that the provider keeps encrypted is not imported";

fn audio_body(address: &str) -> PieceBody {
    let (mime, bytes) = match parse_data_url(address) {
        Some((mime, bytes)) => (mime, FileBytes::Inline(bytes.into())),
        None => (String::new(), FileBytes::Absent(address.chars().take(200).collect())),
    };
    PieceBody::Attachment { file: MessageFile { name: "recording".to_owned(), mime, bytes } }
}

/// Returns the text of a reasoning item: its summary, and its words if the model shows them.
pub(super) fn reasoning_text(item: &Value) -> String {
    let parts = fields::list(item, "summary").iter().chain(fields::list(item, "content"));
    let texts: Vec<&str> = parts.filter_map(|part| fields::text(part, "text")).collect();
    texts.join("\n\n")
}

/// Adds a call or a result; returns whether the item is one.
pub(super) fn add_tool_item(message: &mut ImportedMessage, item: &Value, calls: &mut CallNames) -> bool {
    let call_id = fields::id(item, "call_id").or_else(|| fields::id(item, "id"));
    let id = call_id.unwrap_or_else(|| message.source_id.clone());
    match fields::text(item, "type").unwrap_or_default() {
        "function_call" => add_call(message, id, &tool_name(item), item.get("arguments"), calls),
        "custom_tool_call" => {
            let input = fields::text(item, "input").map(str::to_owned);
            let name = tool_name(item);
            calls.insert(id.clone(), name.clone());
            // The input is free text.
            message.add_piece(PieceBody::ToolCall { id, name, arguments: Value::Null, arguments_raw: input });
        }
        "local_shell_call" => add_call(message, id, "local_shell", item.get("action"), calls),
        "tool_search_call" => add_call(message, id, "tool_search", item.get("arguments"), calls),
        "function_call_output" | "custom_tool_call_output" => {
            let ToolOutput { result, success, metadata, images } =
                ToolOutput::of(item.get("output").unwrap_or(&Value::Null));
            let name = calls.get(&id).cloned().unwrap_or_else(|| tool_name(item));
            add_result(message, PieceBody::ToolResult { id, name, result, success, metadata });
            images.into_iter().for_each(|image| add_result(message, image));
        }
        "tool_search_output" => {
            let result = item.get("tools").cloned().unwrap_or_default();
            let name = "tool_search".to_owned();
            add_result(message, PieceBody::ToolResult { id, name, result, success: true, metadata: Value::Null });
        }
        // The provider runs these tools within the response.
        "web_search_call" => {
            add_call(message, id.clone(), "web_search", item.get("action"), calls);
            add_status(message, id, "web_search", item);
        }
        "image_generation_call" => {
            let prompt = fields::text(item, "revised_prompt").unwrap_or_default();
            add_call(message, id.clone(), "image_generation", Some(&json!({ "prompt": prompt })), calls);
            add_status(message, id, "image_generation", item);
            if let Some(image) = fields::text(item, "result") {
                message.add_piece(tool_output::generated_image_body(image));
            }
        }
        _ => return false,
    }
    true
}

fn add_call(message: &mut ImportedMessage, id: String, name: &str, arguments: Option<&Value>, calls: &mut CallNames) {
    calls.insert(id.clone(), name.to_owned());
    message.add_piece(call_body(id, name, arguments));
}

/// Adds the result of a tool of the provider: the session has only its status.
fn add_status(message: &mut ImportedMessage, id: String, name: &str, item: &Value) {
    let status = fields::text(item, "status").unwrap_or("completed");
    let (result, success) = (json!({ "status": status }), status != "failed");
    let name = name.to_owned();
    add_result(message, PieceBody::ToolResult { id, name, result, success, metadata: Value::Null });
}

fn add_result(message: &mut ImportedMessage, body: PieceBody) {
    message.pieces.push(MessagePiece { author: Author::Tool, created_at: None, body });
}

/// Returns the name of a tool, with its namespace if it has one.
fn tool_name(item: &Value) -> String {
    let name = fields::text(item, "name").unwrap_or("tool");
    match fields::text(item, "namespace") {
        Some(space) if space.ends_with("__") => format!("{space}{name}"),
        Some(space) => format!("{space}.{name}"),
        None => name.to_owned(),
    }
}
