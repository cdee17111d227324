//! Converts the blocks of a Cherry Studio message.

use serde_json::Value;

use super::{citations, keys};
use crate::conversation::{FileBytes, ImportedMessage, MessageEnding, MessageFile, PieceBody};
use crate::input::InputParts;
use crate::reading::fields::{first_text, list, text};
use crate::reading::media::{decode_base64, mime_of};
use crate::reading::message_builder::{FAILED_IN_SOURCE, attachment_body, call_body, resolve_address};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The table of the blocks of messages.
pub(super) const TABLE: &str = "message_blocks";

/// The text of the error block of a reply that the user stopped.
const STOPPED: &str = "pause_placeholder";

/// Finds the files of messages in the archive.
pub(super) struct MessageFiles<'a> {
    pub(super) parts: &'a InputParts,
    pub(super) folder: &'a str,
}

/// Adds a block.
pub(super) fn add(
    message: &mut ImportedMessage,
    block: &Value,
    files: &MessageFiles<'_>,
    notes: &mut ConversationNotes,
) {
    let of = message.source_id.clone();
    keys::BLOCK.report_lost(block, &of, notes);
    let content = text(block, "content").unwrap_or_default();
    match text(block, "type").unwrap_or_default() {
        "main_text" => message.add_text(content),
        "thinking" => add_thought(message, block, content),
        "code" => message.add_text(&fenced(text(block, "language").unwrap_or_default(), content)),
        "compact" => {
            message.add_text(content);
            message.add_text(text(block, "compactedContent").unwrap_or_default());
        }
        "image" => add_image(message, block, files),
        "file" => add_file(message, block.get("file").unwrap_or(&Value::Null), "", files),
        "video" => {
            let (mime, bytes) = resolve_address(first_text(block, &["url", "filePath"]).unwrap_or_default());
            let mime = if mime.is_empty() { "video/mp4".to_owned() } else { mime };
            message.add_piece(PieceBody::Attachment { file: MessageFile { name: "video".to_owned(), mime, bytes } });
        }
        "tool" => add_call(message, block, notes),
        "citation" => {
            let sources = citations::sources(block);
            if !sources.is_empty() {
                message.add_piece(PieceBody::Sources(sources));
            }
            if !list(block, "memories").is_empty() {
                notes.add(IssueKind::Lost, &of, "memories are not imported");
            }
        }
        "translation" => notes.add(IssueKind::Lost, &of, "translations of messages are not imported"),
        "error" => add_error(message, block),
        // The place of a block that had not begun.
        "unknown" => {}
        other => {
            let word: String = other.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
            notes.add(IssueKind::Lost, &of, format!("a part of an unknown type was skipped ({word})"));
        }
    }
}

fn add_thought(message: &mut ImportedMessage, block: &Value, content: &str) {
    let ms = block.get("thinking_millsec").and_then(Value::as_f64).filter(|ms| (1.0..1e10).contains(ms));
    if !content.trim().is_empty() {
        let duration_ms = ms.map(|ms| ms.round() as u64);
        message.add_piece(PieceBody::Thinking { text: content.to_owned(), title: None, duration_ms });
    }
}

/// Returns code as a fenced block, with a fence that the code does not contain.
fn fenced(language: &str, code: &str) -> String {
    let longest = code.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.unwrap_or_default().max(2) + 1);
    let language: String = language.chars().filter(|c| !c.is_whitespace() && *c != '`').collect();
    format!("{fence}{language}\n{code}\n{fence}")
}

/// Adds a call and its result. The id of a tool may repeat, that of its block does not.
fn add_call(message: &mut ImportedMessage, block: &Value, notes: &mut ConversationNotes) {
    let raw = block.get("metadata").and_then(|metadata| metadata.get("rawMcpToolResponse")).unwrap_or(&Value::Null);
    keys::TOOL_RESPONSE.report_lost(raw, &message.source_id, notes);
    let tool = raw.get("tool").unwrap_or(&Value::Null);
    let name = text(block, "toolName").or_else(|| first_text(tool, &["name", "id"])).unwrap_or("tool");
    let block_id = text(block, "id").or_else(|| text(raw, "id"));
    let call_id = block_id.map_or_else(|| format!("{}/{}", message.source_id, message.pieces.len()), str::to_owned);
    let given = |of: &'_ Value, name: &str| of.get(name).filter(|value| !value.is_null()).cloned();
    let arguments = given(block, "arguments").or_else(|| given(raw, "arguments"));
    message.add_piece(call_body(call_id.clone(), name, arguments.as_ref()));
    let response = given(raw, "response");
    let has_failed = text(block, "status") == Some("error")
        || text(raw, "status") == Some("error")
        || response.as_ref().and_then(|response| response.get("isError")?.as_bool()) == Some(true);
    let error = given(block, "error").filter(|_| has_failed);
    if let Some(result) = given(block, "content").or(response).or(error) {
        message.add_tool_result(&call_id, name, result, !has_failed);
    }
}

fn add_error(message: &mut ImportedMessage, block: &Value) {
    let error = block.get("error").unwrap_or(&Value::Null);
    match first_text(error, &["message", "name"]) {
        Some(STOPPED) if message.ending == MessageEnding::Complete => message.ending = MessageEnding::Cancelled,
        Some(STOPPED) => {}
        reason => message.add_failure(reason.unwrap_or(FAILED_IN_SOURCE)),
    }
}

/// Adds the image of a block: a file, an address, or the images of a generation.
fn add_image(message: &mut ImportedMessage, block: &Value, files: &MessageFiles<'_>) {
    let metadata = block.get("metadata").unwrap_or(&Value::Null);
    let alt = text(metadata, "prompt").unwrap_or_default();
    if let Some(file) = block.get("file").filter(|file| file.is_object()) {
        return add_file(message, file, alt, files);
    }
    let made = metadata.get("generateImageResponse").map(|response| list(response, "images")).unwrap_or_default();
    let addresses: Vec<&str> = text(block, "url").into_iter().chain(made.iter().filter_map(Value::as_str)).collect();
    for address in addresses {
        let is_address = address.contains(':');
        let (mime, bytes) = match decode_base64(address).filter(|_| !is_address) {
            Some(bytes) => ("image/png".to_owned(), FileBytes::Inline(bytes.into())),
            None => resolve_address(address),
        };
        message.add_piece(attachment_body(MessageFile { name: "picture".to_owned(), mime, bytes }, alt, true));
    }
}

/// Adds a file, which the archive holds under its id.
fn add_file(message: &mut ImportedMessage, file: &Value, alt: &str, files: &MessageFiles<'_>) {
    let name = first_text(file, &["origin_name", "name"]).unwrap_or("file");
    let ext = text(file, "ext").unwrap_or_default();
    let stored = text(file, "id").map(|id| format!("{}Data/Files/{id}{ext}", files.folder));
    let bytes = match stored.filter(|stored| files.parts.index_of(stored).is_some()) {
        Some(entry) => FileBytes::Entry(entry),
        None => FileBytes::Absent(first_text(file, &["id", "name", "path"]).unwrap_or_default().to_owned()),
    };
    let is_picture = text(file, "type") == Some("image");
    let mime = [mime_of(name), mime_of(ext)].into_iter().find(|mime| !mime.is_empty()).unwrap_or_default().to_owned();
    message.add_piece(attachment_body(MessageFile { name: name.to_owned(), mime, bytes }, alt, is_picture));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_is_longer_than_those_in_code() {
        assert_eq!(fenced("rust", "fn a() {}"), "```rust\nfn a() {}\n```");
        assert_eq!(fenced("m d`", "````\na\n````"), "`````md\n````\na\n````\n`````");
    }
}
