//! Parses the fragments of a big-AGI message.

use serde_json::{Value, json};

use super::keys;
use crate::conversation::{FileBytes, ImportedMessage, ImportedSource, MessageEnding, MessageFile, PieceBody};
use crate::domain::blocks::sources::is_web_url;
use crate::reading::fields::{count, first_text, id, list, text};
use crate::reading::message_builder::{FAILED_IN_SOURCE, attachment_body, call_body, resolve_address};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The parts whose members are read one by one; others are reported as a whole.
const KNOWN_PARTS: [&str; 10] = [
    "text",
    "error",
    "ma",
    "tool_invocation",
    "tool_response",
    "image_ref",
    "reference",
    "doc",
    "hosted_resource",
    "annotations",
];

/// Adds the fragments in order. Citations come last, because they follow the text that they refer to.
pub(super) fn add(message: &mut ImportedMessage, fragments: &[Value], notes: &mut ConversationNotes) {
    let mut citations: Vec<&Value> = Vec::new();
    for (at, fragment) in fragments.iter().enumerate() {
        let part = fragment.get("part").unwrap_or(&Value::Null);
        keys::FRAGMENT.report_lost(fragment, &message.source_id, notes);
        if KNOWN_PARTS.contains(&text(part, "pt").unwrap_or_default()) {
            keys::PART.report_lost(part, &message.source_id, notes);
        }
        match text(part, "pt").unwrap_or_default() {
            "annotations" => citations.extend(list(part, "annotations")),
            "ph" if at + 1 == fragments.len() => message.add_failure("The reply is incomplete."),
            "ph" => {}
            _ => add_part(message, fragment, part, notes),
        }
    }
    let sources = sources(message, &citations);
    if !sources.is_empty() {
        message.add_piece(PieceBody::Sources(sources));
    }
}

fn add_part(message: &mut ImportedMessage, fragment: &Value, part: &Value, notes: &mut ConversationNotes) {
    match text(part, "pt").unwrap_or_default() {
        "text" => message.add_text(text(part, "text").unwrap_or_default()),
        "error" if text(part, "hint") == Some("aix-client-aborted") => {
            if message.ending == MessageEnding::Complete {
                message.ending = MessageEnding::Cancelled;
            }
        }
        "error" => message.add_failure(text(part, "error").unwrap_or(FAILED_IN_SOURCE)),
        "ma" => reasoning(message, part, notes),
        "tool_invocation" => tool_call(message, part),
        "tool_response" => tool_result(message, part),
        "image_ref" => image(message, fragment, part),
        "reference" => reference(message, fragment, part),
        "doc" => document(message, fragment, part),
        "hosted_resource" => hosted_file(message, part),
        other => {
            let word: String = other.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
            let text = format!("a part of an unknown type was skipped ({word})");
            notes.add(IssueKind::Lost, &message.source_id, text);
        }
    }
}

/// The name of the tool that executes code.
const CODE: &str = "code_execution";

fn call_id(message: &ImportedMessage, part: &Value) -> String {
    id(part, "id").unwrap_or_else(|| format!("{}/{}", message.source_id, message.pieces.len()))
}

fn reasoning(message: &mut ImportedMessage, part: &Value, notes: &mut ConversationNotes) {
    let text = text(part, "aText").unwrap_or_default();
    let is_hidden = !list(part, "redactedData").is_empty();
    if is_hidden || !text.trim().is_empty() {
        message.add_piece(PieceBody::Thinking { text: text.to_owned(), title: None, duration_ms: None });
    }
    if is_hidden || part.get("textSignature").is_some() {
        notes.add(IssueKind::Lost, &message.source_id, "reasoning signatures are not imported");
    }
}

fn tool_call(message: &mut ImportedMessage, part: &Value) {
    let invocation = part.get("invocation").unwrap_or(&Value::Null);
    let call_id = call_id(message, part);
    if text(invocation, "type") == Some("code_execution") {
        let code = json!({
            "language": text(invocation, "language").unwrap_or_default(),
            "code": text(invocation, "code").unwrap_or_default(),
        });
        message.add_piece(call_body(call_id, CODE, Some(&code)));
    } else {
        message.add_piece(call_body(call_id, text(invocation, "name").unwrap_or("tool"), invocation.get("args")));
    }
}

fn tool_result(message: &mut ImportedMessage, part: &Value) {
    let response = part.get("response").unwrap_or(&Value::Null);
    let is_code = text(response, "type") == Some("code_execution");
    let name = if is_code { CODE } else { text(response, "name").unwrap_or("tool") };
    let error = part.get("error").filter(|error| !matches!(error, Value::Null | Value::Bool(false)));
    let result = response.get("result").filter(|result| result.as_str() != Some(""));
    let result = result.or(error).cloned().unwrap_or_default();
    let call_id = call_id(message, part);
    message.add_tool_result(&call_id, name, result, error.is_none());
}

/// Adds a file that the program keeps apart from its exports.
fn reference(message: &mut ImportedMessage, fragment: &Value, part: &Value) {
    let legacy = part.get("_legacyImageRefPart");
    let summary = part.get("zRefSummary").and_then(|summary| text(summary, "text"));
    let alt = summary.or_else(|| legacy.and_then(|legacy| text(legacy, "altText"))).unwrap_or_default();
    let data = legacy.and_then(|legacy| legacy.get("dataRef")).unwrap_or(&Value::Null);
    let place = id(part, "zUuid").or_else(|| id(data, "dblobAssetId")).unwrap_or_default();
    let name = text(fragment, "title").unwrap_or_default().to_owned();
    let mime = text(data, "mimeType").unwrap_or_default().to_owned();
    let file = MessageFile { name, mime, bytes: FileBytes::Absent(place) };
    message.add_piece(attachment_body(file, alt, text(part, "assetType") != Some("audio")));
}

/// Adds a file that a provider keeps.
fn hosted_file(message: &mut ImportedMessage, part: &Value) {
    let resource = part.get("resource").unwrap_or(&Value::Null);
    let place = first_text(resource, &["fileId", "fileName"]).unwrap_or_default().to_owned();
    let name = first_text(resource, &["filename", "fileName"]).unwrap_or_default().to_owned();
    let mime = text(resource, "mimeType").unwrap_or_default().to_owned();
    message.add_piece(attachment_body(MessageFile { name, mime, bytes: FileBytes::Absent(place) }, "", false));
}

fn image(message: &mut ImportedMessage, fragment: &Value, part: &Value) {
    let data = part.get("dataRef").unwrap_or(&Value::Null);
    let (mime, bytes) = match text(data, "url") {
        Some(address) => resolve_address(address),
        None => (String::new(), FileBytes::Absent(id(data, "dblobAssetId").unwrap_or_default())),
    };
    let mime = if mime.is_empty() { text(data, "mimeType").unwrap_or_default().to_owned() } else { mime };
    let name = text(fragment, "title").unwrap_or_default().to_owned();
    message.add_piece(attachment_body(
        MessageFile { name, mime, bytes },
        text(part, "altText").unwrap_or_default(),
        true,
    ));
}

/// Adds an attached document: its text is the whole file, unless it was extracted from something else.
fn document(message: &mut ImportedMessage, fragment: &Value, part: &Value) {
    let meta = part.get("meta").unwrap_or(&Value::Null);
    let name = text(meta, "srcFileName").or_else(|| text(part, "l1Title")).or_else(|| text(fragment, "title"));
    let name = name.or_else(|| text(part, "ref")).unwrap_or_default().to_owned();
    let data = part.get("data").unwrap_or(&Value::Null);
    let words = text(data, "text").unwrap_or_default().to_owned();
    let kind = first_text(part, &["vdt", "type"]).unwrap_or_default();
    let was_read = kind == "application/vnd.agi.ocr" || meta.get("srcOcrFrom").is_some_and(Value::is_string);
    let mime = if kind.starts_with("application/vnd.agi.") { "" } else { kind };
    let mime = text(data, "mimeType").unwrap_or(if mime.is_empty() { "text/plain" } else { mime }).to_owned();
    let file = if was_read {
        let mime = crate::reading::media::mime_of(&name).to_owned();
        MessageFile { name, mime, bytes: FileBytes::TextOnly(words) }
    } else {
        MessageFile { name, mime, bytes: FileBytes::Inline(words.into_bytes().into()) }
    };
    message.add_piece(PieceBody::Attachment { file });
}

/// Returns the cited pages. Their ranges are kept only if the reply has a single text, to which they must refer.
fn sources(message: &ImportedMessage, citations: &[&Value]) -> Vec<ImportedSource> {
    let mut texts = message.pieces.iter().filter_map(|piece| match &piece.body {
        PieceBody::Text(text) => Some(text),
        _ => None,
    });
    let text_of_all = texts.next().filter(|_| texts.next().is_none()).map(|text| Utf16Offsets::new(text));
    let mut sources = Vec::new();
    for citation in citations {
        let Some(url) = text(citation, "url").filter(|url| is_web_url(url)) else { continue };
        let title = text(citation, "title").unwrap_or_default();
        let ranges = list(citation, "ranges");
        let source = |range: &Value| {
            let ends = count(range, "startIndex").zip(count(range, "endIndex"));
            ImportedSource {
                title: title.to_owned(),
                url: url.to_owned(),
                snippet: text(range, "textSnippet").unwrap_or_default().to_owned(),
                cited_range: text_of_all.as_ref().zip(ends).and_then(|(units, ends)| units.scalar_range(ends)),
            }
        };
        if ranges.is_empty() {
            sources.push(source(&Value::Null));
        } else {
            sources.extend(ranges.iter().map(source));
        }
    }
    sources
}

/// The offset of each character in UTF-16 units, and of the end of the text.
struct Utf16Offsets(Vec<u64>);

impl Utf16Offsets {
    fn new(text: &str) -> Self {
        let mut at = 0;
        let mut begins: Vec<u64> = text
            .chars()
            .map(|c| {
                at += c.len_utf16() as u64;
                at - c.len_utf16() as u64
            })
            .collect();
        begins.push(at);
        Self(begins)
    }

    /// Converts a range of UTF-16 units to Unicode scalar values; `None` if it is outside of the text.
    fn scalar_range(&self, (start, end): (u64, u64)) -> Option<(u64, u64)> {
        let scalar = |unit: u64| {
            let at = self.0.partition_point(|begin| *begin < unit);
            (at < self.0.len()).then_some(at as u64)
        };
        let (start, end) = (scalar(start)?, scalar(end)?);
        (start < end).then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_offsets_become_scalar_offsets() {
        let units = Utf16Offsets::new("a💡b");
        let table = [((0, 1), Some((0, 1))), ((1, 3), Some((1, 2))), ((3, 4), Some((2, 3))), ((0, 4), Some((0, 3)))];
        for (range, expected) in table {
            assert_eq!(units.scalar_range(range), expected, "{range:?}");
        }
        for range in [(0, 5), (1, 1), (3, 1), (9, 12)] {
            assert_eq!(units.scalar_range(range), None, "{range:?}");
        }
    }
}
