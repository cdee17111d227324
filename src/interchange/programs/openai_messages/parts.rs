//! Reads the parts of a message's content: those of OpenAI's API, and Anthropic's blocks.

use serde_json::Value;

use super::keys;
use super::pieces::{add_call, add_result, add_sources, add_text};
use crate::conversation::{FileBytes, ImportedMessage, MessageFile};
use crate::reading::fields::{first_text, id, is_set, list, printable, text};
use crate::reading::media::{decode_base64, mime_of};
use crate::reading::message_builder::{attachment_body, name_from_mime, resolve_address};
use crate::reading::notes::ConversationNotes;
use crate::reading::open_calls::OpenCalls;
use crate::report::IssueKind;

/// Returns whether the content consists of results of tools alone.
pub(super) fn are_results(message: &Value) -> bool {
    let content = list(message, "content");
    !content.is_empty() && content.iter().all(|part| text(part, "type") == Some("tool_result"))
}

/// Adds all parts of a content in order.
pub(super) fn add(message: &mut ImportedMessage, parts: &[Value], open: &mut OpenCalls, notes: &mut ConversationNotes) {
    for part in parts {
        let of = message.source_id.clone();
        if let Some(words) = part.as_str() {
            add_text(message, words);
            continue;
        }
        let kind = text(part, "type").unwrap_or_default();
        if keys::PART_TYPES.contains(&kind) {
            keys::PART.report_lost(part, &of, notes);
        }
        match kind {
            "" | "text" | "input_text" | "output_text" => {
                add_text(message, words_of(part).unwrap_or_default());
                add_sources(message, list(part, "annotations"));
            }
            "refusal" => message.add_text(text(part, "refusal").unwrap_or_default()),
            "thinking" | "reasoning" => {
                let thought = first_text(part, &["thinking", "reasoning", "text"]).unwrap_or_default();
                message.add_reasoning(thought);
            }
            "redacted_thinking" => notes.add(IssueKind::Lost, &of, "encrypted reasoning is not imported"),
            "tool_use" => {
                let name = text(part, "name").unwrap_or("tool");
                add_call(message, id(part, "id"), name, part.get("input"), open);
            }
            "tool_result" => {
                let (result, others) = result_content(part.get("content").unwrap_or(&Value::Null));
                let call = id(part, "tool_use_id");
                add_result(message, call.as_deref(), text(part, "name"), result, !is_set(part, "is_error"), open);
                add(message, &others, open, notes);
            }
            "image_url" | "input_image" | "image" => add_file(message, part, true),
            "input_audio" | "file" | "input_file" | "document" => add_file(message, part, false),
            kind => match words_of(part) {
                Some(words) => message.add_text(words),
                None => {
                    let kind = printable(kind, 60);
                    notes.add(IssueKind::Lost, &of, format!("parts of type “{kind}” are not imported"));
                }
            },
        }
    }
}

/// Returns the text of a part, which may be within an object.
fn words_of(part: &Value) -> Option<&str> {
    first_text(part, &["text", "content"]).or_else(|| text(part.get("text")?, "value"))
}

/// Returns the result of a tool: its text, or the value itself; and the parts that are no text.
pub(super) fn result_content(content: &Value) -> (Value, Vec<Value>) {
    match content {
        Value::Array(parts) if parts.iter().any(|part| part.get("type").is_some()) => {
            let is_text = |part: &&Value| part.is_string() || words_of(part).is_some();
            let (words, others): (Vec<&Value>, Vec<&Value>) = parts.iter().partition(is_text);
            let words: Vec<&str> =
                words.into_iter().filter_map(|part| part.as_str().or_else(|| words_of(part))).collect();
            (Value::String(words.join("\n")), others.into_iter().cloned().collect())
        }
        other => (other.clone(), Vec::new()),
    }
}

/// The length of an address, beyond which it is data.
const ADDRESS_BYTES: usize = 2_000;

/// Adds a picture or a file, wherever the part has it.
fn add_file(message: &mut ImportedMessage, part: &Value, is_picture: bool) {
    let inside = ["image_url", "input_audio", "file", "source", "image"].iter().find_map(|name| part.get(name));
    let inside = inside.unwrap_or(part);
    let name = first_text(inside, &["filename", "name"]).or_else(|| first_text(part, &["filename", "title"]));
    let address = inside.as_str().or_else(|| first_text(inside, &["url", "file_data", "file_url", "data"]));
    let address = address.or_else(|| first_text(part, &["file_data", "file_url"])).unwrap_or_default();
    let stated = first_text(inside, &["media_type", "mime_type"]).map(str::to_owned);
    let format = text(inside, "format").map(|format| mime_of(&format!(".{format}")).to_owned());
    let (mime, bytes) = resolve_address(address);
    let mime = [Some(mime), stated, format, name.map(|name| mime_of(name).to_owned())];
    let mime = mime.into_iter().flatten().find(|mime| !mime.is_empty()).unwrap_or_default();
    let bytes = match bytes {
        FileBytes::Absent(place) if place.is_empty() => {
            let place = id(inside, "file_id").or_else(|| id(part, "file_id")).unwrap_or_default();
            FileBytes::Absent(place)
        }
        FileBytes::Absent(words) if text(inside, "type") == Some("text") => {
            FileBytes::Inline(words.into_bytes().into())
        }
        // Bare base64 has no scheme.
        FileBytes::Absent(place) if !place.contains(':') => match decode_base64(&place) {
            Some(bytes) => FileBytes::Inline(bytes.into()),
            None if place.len() <= ADDRESS_BYTES => FileBytes::Absent(place),
            None => FileBytes::Absent("data:".to_owned()),
        },
        other => other,
    };
    let of_address = || {
        let base = address.rsplit('/').next().unwrap_or_default().split(['?', '#']).next().unwrap_or_default();
        let is_name = address.starts_with("http") && !base.is_empty();
        if is_name { base.to_owned() } else { name_from_mime(&mime) }
    };
    let name = name.map_or_else(of_address, str::to_owned);
    let mime = if mime.is_empty() { mime_of(&name).to_owned() } else { mime };
    message.add_piece(attachment_body(MessageFile { name, mime, bytes }, "", is_picture));
}
