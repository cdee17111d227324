//! Converts the content of a LibreChat message: parts in `content`, or a `text` with fences; files, quotes,
//! attachments.

use serde_json::Value;

use super::citations::{SearchResults, extract_citations};
use super::{keys, plugins};
use crate::conversation::{FileBytes, ImportedMessage, MessageEnding, MessageFile, PieceBody};
use crate::domain::turns::turn::Role;
use crate::reading::code_fences::CodeFences;
use crate::reading::fields::{first_text, id, is_set, list, text};
use crate::reading::media::{decode_base64, mime_of};
use crate::reading::message_builder::{
    FAILED_IN_SOURCE, QUOTE_BEFORE_TEXT, as_quote, attachment_body, call_body, resolve_address,
};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// Fills in the content and the ending of a message.
pub(super) fn fill(message: &mut ImportedMessage, value: &Value, notes: &mut ConversationNotes) {
    let id = message.source_id.clone();
    for file in list(value, "files") {
        add_file(message, file, notes);
    }
    let quotes: Vec<String> = list(value, "quotes").iter().filter_map(Value::as_str).map(as_quote).collect();
    if !quotes.is_empty() {
        notes.add(IssueKind::PutRight, &id, QUOTE_BEFORE_TEXT);
        message.add_text(&quotes.join("\n\n"));
    }
    plugins::add(message, value, notes);
    let parts = list(value, "content");
    let found = SearchResults::from_message(value);
    let mut words = CitedTextWriter { found: &found, has_marks: false };
    // The text of a failed message is the error; its parts are the content before it.
    let is_error = is_set(value, "error");
    let before = message.pieces.len();
    for part in parts.iter().filter(|part| !part.is_null()) {
        add_part(message, part, &mut words, notes);
    }
    let whole = text(value, "text").unwrap_or_default();
    if is_error {
        if !whole.is_empty() || !matches!(message.ending, MessageEnding::Failed(_)) {
            message.add_failure(if whole.is_empty() { FAILED_IN_SOURCE } else { whole });
        }
    } else if !message.pieces[before..].iter().any(|piece| matches!(piece.body, PieceBody::Text(_))) {
        // The parts contain no text, so the separate text is used.
        add_fenced_text(message, whole, &mut words);
    }
    for attachment in list(value, "attachments") {
        add_attachment(message, attachment, notes);
    }
    // Without marked words the results belong to the whole reply.
    if !words.has_marks && !found.all.is_empty() {
        message.add_piece(PieceBody::Sources(found.all.clone()));
    }
    if is_set(value, "unfinished") && message.ending == MessageEnding::Complete {
        message.ending = MessageEnding::Cancelled;
    }
    keys::MESSAGE.report_lost(value, &id, notes);
}

/// Adds the texts of a message and extracts their citations.
struct CitedTextWriter<'a> {
    found: &'a SearchResults,
    has_marks: bool,
}

impl CitedTextWriter<'_> {
    fn add_text(&mut self, message: &mut ImportedMessage, text: &str) {
        if message.role == Role::User {
            return message.add_text(text);
        }
        let (text, sources) = extract_citations(text, self.found);
        message.add_text(&text);
        if !sources.is_empty() {
            self.has_marks = true;
            message.add_piece(PieceBody::Sources(sources));
        }
    }
}

/// Splits reasoning out of the text of a reply, as older versions stored it. An unclosed container is ordinary text,
/// and so is one in a code block, in the text of a user, or in the middle of a line.
fn add_fenced_text(message: &mut ImportedMessage, whole: &str, words: &mut CitedTextWriter<'_>) {
    const OPEN: &str = ":::thinking";
    const CLOSE: &str = ":::";
    let mut fences = CodeFences::new(whole);
    let (mut from, mut at) = (0, 0);
    let mut has_closing_lines = true;
    while message.role == Role::Assistant
        && let Some(start) = whole[at..].find(OPEN).map(|found| at + found)
    {
        if let Some(end) = fences.end_at(start) {
            at = end;
            continue;
        }
        let inside = start + OPEN.len();
        // Only the white space around it is examined.
        let before = whole[..start].trim_end_matches([' ', '\t']);
        let behind = whole[inside..].trim_start_matches([' ', '\t', '\r']);
        let begins_line = before.len() <= from || before.ends_with('\n');
        let ends_line = behind.is_empty() || behind.starts_with('\n');
        if !begins_line && !ends_line {
            at = inside;
            continue;
        }
        // Three colons within the reasoning do not close it if a line of three colons does.
        let closing_line = if has_closing_lines { closing_line(&whole[inside..], CLOSE) } else { None };
        has_closing_lines = closing_line.is_some();
        let Some(length) = closing_line.or_else(|| whole[inside..].find(CLOSE)) else { break };
        words.add_text(message, &whole[from..start]);
        message.add_reasoning(whole[inside..inside + length].trim());
        let behind = &whole[inside + length + CLOSE.len()..];
        from = whole.len() - behind.trim_start_matches(['\r', '\n']).len();
        at = from;
        fences.skip_to(from);
    }
    words.add_text(message, &whole[from..]);
}

/// Returns the position of the first line that holds nothing but this mark.
fn closing_line(text: &str, mark: &str) -> Option<usize> {
    let is_alone = |at: usize| {
        let before = text[..at].bytes().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        let behind = text[at + mark.len()..].bytes().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        before == Some(b'\n') && matches!(behind, None | Some(b'\n'))
    };
    text.match_indices(mark).map(|(at, _)| at).find(|&at| is_alone(at))
}

/// Returns a string member, or the `value` of an object member.
fn text_or_value<'a>(part: &'a Value, name: &str) -> &'a str {
    match part.get(name) {
        Some(Value::String(text)) => text,
        Some(inner) => text(inner, "value").unwrap_or_default(),
        None => "",
    }
}

fn add_part(
    message: &mut ImportedMessage,
    part: &Value,
    words: &mut CitedTextWriter<'_>,
    notes: &mut ConversationNotes,
) {
    let of = message.source_id.clone();
    let kind = text(part, "type").unwrap_or_default();
    if keys::PART_TYPES.contains(&kind) {
        keys::PART.report_lost(part, &of, notes);
    }
    match kind {
        "text" => words.add_text(message, text_or_value(part, "text")),
        "text_delta" => {
            let delta = text_or_value(part, "text_delta");
            words.add_text(message, if delta.is_empty() { text_or_value(part, "text") } else { delta });
        }
        "think" => message.add_reasoning(text_or_value(part, "think")),
        "error" => {
            let reason = [text_or_value(part, "text"), text_or_value(part, "error")]
                .into_iter()
                .find(|reason| !reason.is_empty());
            message.add_failure(reason.unwrap_or(FAILED_IN_SOURCE));
        }
        "tool_call" => add_call(message, part.get("tool_call").unwrap_or(&Value::Null), notes),
        "image_file" => add_file(message, part.get("image_file").unwrap_or(&Value::Null), notes),
        "image_url" | "video_url" => {
            let inner = part.get("image_url").or_else(|| part.get("video_url"));
            let address = inner.and_then(|inner| inner.as_str().or_else(|| text(inner, "url"))).unwrap_or_default();
            let (mime, bytes) = resolve_address(address);
            let file = MessageFile { name: String::new(), mime, bytes };
            message.add_piece(attachment_body(file, "", part.get("image_url").is_some()));
        }
        "input_audio" => {
            let audio = part.get("input_audio").unwrap_or(&Value::Null);
            let format = text(audio, "format").unwrap_or_default();
            let bytes = text(audio, "data").and_then(decode_base64);
            let bytes =
                bytes.map_or_else(|| FileBytes::Absent("audio".to_owned()), |bytes| FileBytes::Inline(bytes.into()));
            let name = format!("audio.{format}");
            message.add_piece(PieceBody::Attachment {
                file: MessageFile { mime: mime_of(&name).to_owned(), name, bytes },
            });
        }
        "agent_update" => notes.add(IssueKind::Lost, &of, "agent handoffs are not imported"),
        "summary" => notes.add(IssueKind::Lost, &of, "summaries of earlier messages are not imported"),
        other => {
            let reported = text_or_value(part, "text");
            if reported.trim().is_empty() {
                notes.add(
                    IssueKind::Lost,
                    &of,
                    format!("a part of an unknown type was skipped ({})", shortened_word(other)),
                );
            } else {
                words.add_text(message, reported);
            }
        }
    }
}

/// Shortens a foreign word for use in a sentence.
fn shortened_word(word: &str) -> String {
    let word: String = word.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
    if word.is_empty() { "no type".to_owned() } else { word }
}

/// Adds a call and its result from the same part. Empty output means that the call was still running.
fn add_call(message: &mut ImportedMessage, call: &Value, notes: &mut ConversationNotes) {
    let of = message.source_id.clone();
    keys::CALL.report_lost(call, &of, notes);
    let call_id = id(call, "id").unwrap_or_else(|| format!("{of}/{}", message.pieces.len()));
    let (name, arguments, output) = match (call.get("function"), call.get("code_interpreter")) {
        (Some(function), _) => {
            (text(function, "name").unwrap_or("function"), function.get("arguments"), function.get("output"))
        }
        (None, Some(code)) => ("code_interpreter", code.get("input"), code.get("outputs")),
        (None, None) => {
            let name = first_text(call, &["name", "type"]).unwrap_or("tool");
            (name, call.get("args"), call.get("output"))
        }
    };
    let has_code = call.get("code_interpreter").is_some();
    // Code is not JSON, so it becomes a single argument.
    let code = arguments.filter(|_| has_code).map(|input| serde_json::json!({ "input": input }));
    message.add_piece(call_body(call_id.clone(), name, code.as_ref().or(arguments)));
    let has_output = |output: &&Value| match output {
        Value::String(text) => !text.is_empty(),
        Value::Array(all) => !all.is_empty(),
        Value::Null => false,
        _ => true,
    };
    if let Some(output) = output.filter(has_output) {
        message.add_tool_result(&call_id, name, output.clone(), true);
    }
    if text(call, "auth").is_some() {
        notes.add(IssueKind::Lost, &of, "tool sign-ins are not imported");
    }
}

/// Adds a file that a message names; its bytes stayed on the source server.
fn add_file(message: &mut ImportedMessage, part: &Value, notes: &mut ConversationNotes) {
    let of = message.source_id.clone();
    let Some(place) = first_text(part, &["filepath", "file_id", "filename"]) else {
        return notes.add(IssueKind::Lost, &of, "a file without a name was skipped");
    };
    let (mut mime, mut bytes) = resolve_address(place);
    let name = text(part, "filename").unwrap_or_default();
    if mime.is_empty() {
        let guessed = [text(part, "type").filter(|kind| kind.contains('/')), Some(mime_of(name)), Some(mime_of(place))];
        let guessed = guessed.into_iter().flatten().find(|mime| !mime.is_empty());
        mime = guessed.unwrap_or_default().to_owned();
    }
    if let (FileBytes::Absent(_), Some(taken)) = (&bytes, text(part, "text")) {
        bytes = FileBytes::TextOnly(taken.to_owned());
    }
    let is_picture = part.get("width").is_some_and(Value::is_number);
    let file = MessageFile { name: name.to_owned(), mime, bytes };
    message.add_piece(attachment_body(file, text(part, "prompt").unwrap_or_default(), is_picture));
}

/// Adds files that a tool attached to its result. Search results are read elsewhere (see `SearchResults`).
fn add_attachment(message: &mut ImportedMessage, attachment: &Value, notes: &mut ConversationNotes) {
    let of = message.source_id.clone();
    if first_text(attachment, &["filepath", "file_id"]).is_some() {
        add_file(message, attachment, notes);
    } else if !SearchResults::is_search_result(attachment) {
        let kind = shortened_word(text(attachment, "type").unwrap_or_default());
        notes.add(IssueKind::Lost, &of, format!("extra tool output is not imported ({kind})"));
    }
}
