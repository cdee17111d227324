//! Converts the content of a line of Claude Code into pieces of a message.

use serde_json::Value;

use super::keys;
use super::user_text::{self, UserText};
use crate::conversation::{FileBytes, ImportedMessage, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::usage::token_counts::Usage;
use crate::reading::message_builder::{CallNames, attachment_body, call_body};
use crate::reading::notes::ConversationNotes;
use crate::reading::{fields, media};
use crate::report::IssueKind;

/// The issue for what the program adds to the messages for the model.
pub(super) const INSERTED: &str = "text that Claude Code added for the model is not imported";

/// Adds the blocks of a response. Calls are recorded in `calls`.
pub(super) fn add_reply(
    message: &mut ImportedMessage,
    content: &Value,
    calls: &mut CallNames,
    notes: &mut ConversationNotes,
) {
    if let Some(text) = content.as_str() {
        message.add_text(text);
    }
    for (at, block) in content.as_array().into_iter().flatten().enumerate() {
        let kind = known_type(block, &message.source_id, notes);
        match kind {
            "text" => message.add_text(fields::text(block, "text").unwrap_or_default()),
            "thinking" => match fields::text(block, "thinking") {
                Some(text) => message.add_reasoning(text),
                None => add_hidden_reasoning(message, notes),
            },
            "redacted_thinking" => add_hidden_reasoning(message, notes),
            "image" => add_image(message, block, Author::Assistant),
            _ if kind == "tool_use" || kind.ends_with("_tool_use") => {
                let id = fields::id(block, "id").unwrap_or_else(|| format!("{}-{at}", message.source_id));
                let name = fields::text(block, "name").unwrap_or("tool");
                calls.insert(id.clone(), name.to_owned());
                message.add_piece(call_body(id, name, block.get("input")));
            }
            // Tools that the provider runs answer within the response.
            _ if kind.ends_with("_tool_result") => add_result(message, at, block, calls),
            _ => report_unknown_block(block, &message.source_id, notes),
        }
    }
}

fn add_hidden_reasoning(message: &ImportedMessage, notes: &mut ConversationNotes) {
    notes.add(IssueKind::Lost, &message.source_id, "reasoning that the provider keeps encrypted is not imported");
}

/// Adds the results of a line.
pub(super) fn add_results(message: &mut ImportedMessage, content: &Value, calls: &CallNames) {
    let blocks = content.as_array().into_iter().flatten().enumerate();
    for (at, block) in blocks.filter(|(_, block)| fields::text(block, "type") == Some("tool_result")) {
        add_result(message, at, block, calls);
    }
}

/// Returns the ids of the calls that the results of a line answer.
pub(super) fn answered_calls(content: &Value) -> Vec<String> {
    content.as_array().into_iter().flatten().filter_map(|block| fields::id(block, "tool_use_id")).collect()
}

fn add_result(message: &mut ImportedMessage, at: usize, block: &Value, calls: &CallNames) {
    let id = fields::id(block, "tool_use_id").unwrap_or_else(|| format!("{}-{at}", message.source_id));
    let name = calls.get(&id).map_or("tool", String::as_str);
    let content = block.get("content").unwrap_or(&Value::Null);
    message.add_tool_result(&id, name, result_value(content), !fields::is_set(block, "is_error"));
    let images = content.as_array().into_iter().flatten().filter(|item| fields::text(item, "type") == Some("image"));
    images.for_each(|image| add_image(message, image, Author::Tool));
}

/// Returns a result without its images, which are pieces of their own: its text, else its items.
fn result_value(content: &Value) -> Value {
    let Value::Array(items) = content else { return content.clone() };
    let kind = |item: &Value| fields::text(item, "type").map(str::to_owned);
    let rest: Vec<&Value> = items.iter().filter(|item| kind(item).as_deref() != Some("image")).collect();
    if rest.iter().all(|item| kind(item).as_deref() == Some("text")) {
        let texts: Vec<&str> = rest.iter().filter_map(|item| fields::text(item, "text")).collect();
        return Value::String(texts.join("\n"));
    }
    Value::Array(rest.into_iter().cloned().collect())
}

/// Adds what the user wrote: texts, images and documents, without results and without the program's reminders.
pub(super) fn add_prompt(message: &mut ImportedMessage, content: &Value, notes: &mut ConversationNotes) {
    if let Some(text) = content.as_str() {
        add_own_text(message, text, notes);
    }
    for block in content.as_array().into_iter().flatten() {
        match known_type(block, &message.source_id, notes) {
            "text" => add_own_text(message, fields::text(block, "text").unwrap_or_default(), notes),
            "image" => add_image(message, block, Author::User),
            "document" => add_document(message, block),
            "tool_result" => {}
            _ => report_unknown_block(block, &message.source_id, notes),
        }
    }
}

fn add_own_text(message: &mut ImportedMessage, text: &str, notes: &mut ConversationNotes) {
    match user_text::parse(text) {
        UserText::Reminder => notes.add(IssueKind::Lost, &message.source_id, INSERTED),
        UserText::Interruption => {}
        _ => message.add_text(text),
    }
}

/// Returns the type of a block, after reporting the members that are not imported.
fn known_type<'b>(block: &'b Value, message: &str, notes: &mut ConversationNotes) -> &'b str {
    let kind = fields::text(block, "type").unwrap_or_default();
    if keys::BLOCK_TYPES.contains(&kind) {
        keys::BLOCK.report_lost(block, message, notes);
    }
    kind
}

fn report_unknown_block(block: &Value, message: &str, notes: &mut ConversationNotes) {
    let kind: String = fields::text(block, "type").unwrap_or("none").chars().take(60).collect();
    notes.add(IssueKind::Lost, message, format!("blocks of type “{kind}” are not imported"));
}

fn add_image(message: &mut ImportedMessage, block: &Value, author: Author) {
    let file = source_file(block, "picture");
    message.pieces.push(MessagePiece { author, created_at: None, body: attachment_body(file, "", true) });
}

fn add_document(message: &mut ImportedMessage, block: &Value) {
    let mut file = source_file(block, fields::text(block, "title").unwrap_or("document"));
    let source = block.get("source").unwrap_or(&Value::Null);
    if fields::text(source, "type") == Some("text") {
        file.bytes = FileBytes::TextOnly(fields::text(source, "data").unwrap_or_default().to_owned());
    }
    message.add_piece(PieceBody::Attachment { file });
}

/// Returns the file of a block: its bytes, or its address.
fn source_file(block: &Value, name: &str) -> MessageFile {
    let source = block.get("source").unwrap_or(&Value::Null);
    let bytes = fields::text(source, "data").and_then(media::decode_base64);
    let address = fields::first_text(source, &["url", "file_id"]).unwrap_or_default();
    MessageFile {
        name: name.to_owned(),
        mime: fields::text(source, "media_type").unwrap_or_default().to_owned(),
        bytes: bytes.map_or_else(|| FileBytes::Absent(address.to_owned()), |bytes| FileBytes::Inline(bytes.into())),
    }
}

/// Returns the file of an attachment, as the program gave it to the model.
pub(super) fn attached_file(attachment: &Value, message: &str, notes: &mut ConversationNotes) -> PieceBody {
    keys::ATTACHMENT.report_lost(attachment, message, notes);
    let content = attachment.get("content").unwrap_or(&Value::Null);
    let file = content.get("file").unwrap_or(content);
    keys::FILE.report_lost(file, message, notes);
    let name = fields::first_text(attachment, &["displayPath", "filename"]).unwrap_or("file").to_owned();
    let named = fields::text(file, "type").filter(|mime| mime.contains('/')).unwrap_or_else(|| media::mime_of(&name));
    let bytes = fields::text(file, "base64").and_then(media::decode_base64);
    let (bytes, usual) = match (bytes, fields::text(file, "content")) {
        (Some(bytes), _) => (FileBytes::Inline(bytes.into()), ""),
        (None, Some(text)) => (FileBytes::Inline(text.as_bytes().into()), "text/plain"),
        (None, None) => (FileBytes::Absent(name.clone()), ""),
    };
    let mime = if named.is_empty() { usual } else { named }.to_owned();
    let is_picture = fields::text(content, "type") == Some("image");
    attachment_body(MessageFile { name, mime, bytes }, "", is_picture)
}

/// Returns the usage of a response. The API counts the cached parts of the input separately.
pub(super) fn usage(message: &Value) -> Usage {
    let usage = message.get("usage").unwrap_or(&Value::Null);
    let count = |name| fields::count(usage, name);
    let (read, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let input = count("input_tokens")
        .map(|input| input.saturating_add(read.unwrap_or_default()).saturating_add(written.unwrap_or_default()));
    Usage {
        input_tokens: input,
        output_tokens: count("output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: None,
    }
}
