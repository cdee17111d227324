//! Reads a chunk of an AI Studio chat: its texts, code, files and sources.

use serde_json::{Value, json};

use super::keys;
use crate::conversation::{FileBytes, ImportedMessage, ImportedSource, MessageEnding, MessageFile, PieceBody};
use crate::domain::turns::turn::Role;
use crate::reading::fields::{count, first_text, id, is_set, list, text};
use crate::reading::media::{decode_base64, mime_of};
use crate::reading::message_builder::{attachment_body, call_body, empty_message, name_from_mime};
use crate::reading::notes::ConversationNotes;
use crate::reading::open_calls::OpenCalls;

/// The names of the provider's own tools.
const CODE: &str = "code_execution";
const SEARCH: &str = "google_search";

/// The members of a chunk that hold a file itself.
const INLINE: [&str; 4] = ["inlineData", "inlineFile", "inlineImage", "inlineAudio"];

/// Returns whether a chunk has a text.
pub(super) fn has_words(chunk: &Value) -> bool {
    list(chunk, "parts")
        .iter()
        .chain([chunk])
        .any(|part| text(part, "text").is_some_and(|text| !text.trim().is_empty()))
}

/// Reads the chunks of a chat one after the other. A result may stand in a later chunk than its call.
#[derive(Default)]
pub(super) struct ChunkReader {
    open: OpenCalls,
}

impl ChunkReader {
    /// Reads one chunk; `None` if it has no content.
    pub(super) fn read(
        &mut self,
        chunk: &Value,
        id: &str,
        role: Role,
        notes: &mut ConversationNotes,
    ) -> Option<ImportedMessage> {
        let mut message = empty_message(id, role);
        message.created_at = notes.date(chunk, "createTime", id);
        let grounding = chunk.get("grounding").unwrap_or(&Value::Null);
        let sources = grounding_sources(grounding);
        if role == Role::Assistant {
            message.provider = Some("google".to_owned());
            add_usage(&mut message, chunk);
            add_search(&mut message, grounding, &sources);
        }
        keys::GROUNDING.report_lost(grounding, id, notes);
        self.add_texts(&mut message, chunk, notes);
        self.add_code_and_functions(&mut message, chunk);
        for name in INLINE {
            add_inline_file(&mut message, chunk.get(name));
        }
        add_drive_files(&mut message, chunk, notes);
        if !sources.is_empty() {
            message.add_piece(PieceBody::Sources(sources));
        }
        add_ending(&mut message, chunk);
        let has_failed = message.ending != MessageEnding::Complete;
        (has_failed || !message.pieces.is_empty()).then_some(message)
    }

    /// Adds the parts in order, and the chunk's own text unless it repeats theirs.
    fn add_texts(&mut self, message: &mut ImportedMessage, chunk: &Value, notes: &mut ConversationNotes) {
        let is_thought = is_set(chunk, "isThought");
        let mut run = TextRun::default();
        let mut joined = String::new();
        for part in list(chunk, "parts") {
            keys::PART.report_lost(part, &message.source_id, notes);
            if let Some(text) = text(part, "text") {
                joined.push_str(text);
                run.add(message, text, is_thought || is_set(part, "thought"));
            }
            if has_other_content(part) {
                run.flush(message);
            }
            self.add_code_and_functions(message, part);
            add_inline_file(message, part.get("inlineData"));
            add_linked_file(message, part.get("fileData"));
        }
        run.flush(message);
        let own = text(chunk, "text").unwrap_or_default();
        if !contains_words(&joined, own) {
            run.add(message, own, is_thought);
            run.flush(message);
        }
    }

    fn add_code_and_functions(&mut self, message: &mut ImportedMessage, holder: &Value) {
        if let Some(code) = holder.get("executableCode").filter(|code| code.is_object()) {
            let arguments = json!({
                "language": text(code, "language").unwrap_or_default().to_ascii_lowercase(),
                "code": text(code, "code").unwrap_or_default(),
            });
            self.add_call(message, id(code, "id"), CODE, &arguments);
        }
        if let Some(result) = holder.get("codeExecutionResult").filter(|result| result.is_object()) {
            let outcome = text(result, "outcome").unwrap_or_default();
            let output = text(result, "output").unwrap_or(outcome);
            let is_success = matches!(outcome, "" | "OUTCOME_OK" | "OUTCOME_UNSPECIFIED");
            self.add_result(message, id(result, "id"), CODE, json!(output), is_success);
        }
        if let Some(call) = holder.get("functionCall").filter(|call| call.is_object()) {
            let arguments = call.get("args").unwrap_or(&Value::Null);
            self.add_call(message, id(call, "id"), text(call, "name").unwrap_or("tool"), arguments);
        }
        if let Some(answer) = holder.get("functionResponse").filter(|answer| answer.is_object()) {
            let result = answer.get("response").cloned().unwrap_or_default();
            self.add_result(message, id(answer, "id"), text(answer, "name").unwrap_or("tool"), result, true);
        }
    }

    fn add_call(&mut self, message: &mut ImportedMessage, id: Option<String>, name: &str, arguments: &Value) {
        let id = id.unwrap_or_else(|| format!("{}/{}", message.source_id, message.pieces.len()));
        self.open.add(id.clone(), name.to_owned());
        message.add_piece(call_body(id, name, Some(arguments)));
    }

    /// Adds a result to the call that it names, else to the first open call of its tool.
    fn add_result(
        &mut self,
        message: &mut ImportedMessage,
        id: Option<String>,
        name: &str,
        result: Value,
        is_success: bool,
    ) {
        let call = self.open.take(id.as_deref(), Some(name));
        let own = || id.unwrap_or_else(|| format!("{}/{}", message.source_id, message.pieces.len()));
        let (id, name) = call.unwrap_or_else(|| (own(), name.to_owned()));
        message.add_tool_result(&id, &name, result, is_success);
    }
}

/// Consecutive texts of one kind, which are pieces of a streamed text.
#[derive(Default)]
struct TextRun {
    text: String,
    is_thought: bool,
}

impl TextRun {
    fn add(&mut self, message: &mut ImportedMessage, text: &str, is_thought: bool) {
        if self.is_thought != is_thought {
            self.flush(message);
        }
        self.is_thought = is_thought;
        self.text.push_str(text);
    }

    /// Adds the collected text to the message.
    fn flush(&mut self, message: &mut ImportedMessage) {
        let text = std::mem::take(&mut self.text);
        match self.is_thought {
            true => message.add_reasoning(&text),
            false => message.add_text(&text),
        }
    }
}

/// Returns whether a text holds all words of another, however they are spaced.
fn contains_words(text: &str, words: &str) -> bool {
    let dense = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    dense(text).contains(&dense(words))
}

/// Returns whether a part holds something other than text, before which collected text must be added.
fn has_other_content(part: &Value) -> bool {
    let others =
        ["executableCode", "codeExecutionResult", "functionCall", "functionResponse", "inlineData", "fileData"];
    others.into_iter().any(|name| part.get(name).is_some_and(Value::is_object))
}

fn add_usage(message: &mut ImportedMessage, chunk: &Value) {
    let tokens = count(chunk, "tokenCount");
    message.usage.output_tokens = tokens;
    message.usage.reasoning_tokens = tokens.filter(|_| is_set(chunk, "isThought"));
}

fn add_ending(message: &mut ImportedMessage, chunk: &Value) {
    if message.role != Role::Assistant {
        return;
    }
    if let Some(error) = text(chunk, "errorMessage") {
        message.add_failure(error);
        return;
    }
    let reason = text(chunk, "finishReason").unwrap_or("STOP").trim_start_matches("FINISH_REASON_");
    if !matches!(reason, "STOP" | "MAX_TOKENS" | "UNSPECIFIED" | "OTHER") {
        message.add_failure("The provider stopped this reply.");
    }
}

/// Adds the search that found the sources, as a call with its result.
fn add_search(message: &mut ImportedMessage, grounding: &Value, sources: &[ImportedSource]) {
    let queries = list(grounding, "webSearchQueries");
    if queries.is_empty() {
        return;
    }
    let call_id = format!("{}/search", message.source_id);
    message.add_piece(call_body(call_id.clone(), SEARCH, Some(&json!({ "queries": queries }))));
    let found: Vec<Value> = sources.iter().map(|source| json!({ "title": source.title, "url": source.url })).collect();
    message.add_tool_result(&call_id, SEARCH, Value::Array(found), true);
}

fn grounding_sources(grounding: &Value) -> Vec<ImportedSource> {
    let chunks = list(grounding, "groundingChunks").iter().filter_map(|chunk| chunk.get("web"));
    let source = |source: &Value| {
        let url = text(source, "uri").unwrap_or_default().to_owned();
        let title = text(source, "title").unwrap_or_default().to_owned();
        let is_empty = url.is_empty() && title.is_empty();
        (!is_empty).then_some(ImportedSource { title, url, snippet: String::new(), cited_range: None })
    };
    list(grounding, "groundingSources").iter().chain(chunks).filter_map(source).collect()
}

/// Adds a file that is in the chat itself.
fn add_inline_file(message: &mut ImportedMessage, inline: Option<&Value>) {
    let Some(inline) = inline.filter(|inline| inline.is_object()) else { return };
    let mime = text(inline, "mimeType").unwrap_or_default().to_owned();
    let name = first_text(inline, &["displayName", "name"]).map_or_else(|| name_from_mime(&mime), str::to_owned);
    let bytes = text(inline, "data").and_then(decode_base64).map(|bytes| FileBytes::Inline(bytes.into()));
    let bytes = bytes.unwrap_or_else(|| FileBytes::Absent("data:".to_owned()));
    message.add_piece(attachment_body(MessageFile { name, mime, bytes }, "", false));
}

fn add_linked_file(message: &mut ImportedMessage, linked: Option<&Value>) {
    let Some(linked) = linked.filter(|linked| linked.is_object()) else { return };
    let mime = text(linked, "mimeType").unwrap_or_default().to_owned();
    let place = text(linked, "fileUri").unwrap_or_default().to_owned();
    let name = text(linked, "displayName").map_or_else(|| name_from_mime(&mime), str::to_owned);
    message.add_piece(attachment_body(MessageFile { name, mime, bytes: FileBytes::Absent(place) }, "", false));
}

/// Adds the files of Drive, which only have an id, and videos by their addresses.
fn add_drive_files(message: &mut ImportedMessage, chunk: &Value, notes: &mut ConversationNotes) {
    for kind in ["driveDocument", "driveImage", "driveAudio", "driveVideo"] {
        let Some(file) = chunk.get(kind).filter(|file| file.is_object()) else { continue };
        keys::DRIVE_FILE.report_lost(file, &message.source_id, notes);
        let place = id(file, "id").unwrap_or_default();
        let name = text(file, "name").map_or_else(|| place.clone(), str::to_owned);
        let mime = text(file, "mimeType").unwrap_or_else(|| mime_of(&name)).to_owned();
        let file = MessageFile { name, mime, bytes: FileBytes::Absent(place) };
        message.add_piece(attachment_body(file, "", kind == "driveImage"));
    }
    if let Some(video) = chunk.get("youtubeVideo").and_then(|video| text(video, "id")) {
        message.add_text(&format!("https://www.youtube.com/watch?v={video}"));
    }
}
