//! Reads one OpenAI-style message.

use serde_json::Value;

use super::pieces::{add_call, add_result, add_sources, add_text};
use super::{keys, parts};
use crate::conversation::{FileBytes, ImportedMessage, MessageFile, PieceBody};
use crate::domain::turns::turn::Role;
use crate::reading::fields::{count, first_text, id, list, printable, text};
use crate::reading::media::{decode_base64, mime_of};
use crate::reading::message_builder::empty_message;
use crate::reading::notes::ConversationNotes;
use crate::reading::open_calls::OpenCalls;
use crate::report::IssueKind;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Person,
    Model,
    System,
    /// The result of a tool.
    Tool,
    /// A call of a tool as a message of its own.
    Call,
}

/// The words for each author, in lower case.
const SPEAKERS: [(Speaker, &[&str]); 5] = [
    (Speaker::Person, &["user", "human", "person", "prompter", "customer"]),
    (Speaker::Model, &["assistant", "gpt", "model", "ai", "bot", "chatgpt", "chatbot", "agent", "llm"]),
    (Speaker::System, &["system", "developer"]),
    (Speaker::Tool, &["tool", "function", "observation", "tool_response", "function_response", "ipython"]),
    (Speaker::Call, &["function_call", "tool_call"]),
];

fn speaker(role: &str) -> Option<Speaker> {
    let role = role.trim().to_ascii_lowercase();
    SPEAKERS.iter().find(|(_, words)| words.contains(&role.as_str())).map(|(speaker, _)| *speaker)
}

/// Returns whether a word names the author of a message.
pub(super) fn is_role(word: &str) -> bool {
    speaker(word).is_some()
}

/// Returns whether a message, with its usual names, is one.
pub(super) fn is_message(message: &Value) -> bool {
    let has_content = ["content", "tool_calls", "function_call"].iter().any(|name| message.get(name).is_some());
    has_content && text(message, "role").is_some_and(is_role)
}

/// Returns whether a message is of a person.
pub(super) fn is_of_person(message: &Value) -> bool {
    text(message, "role").and_then(speaker) == Some(Speaker::Person)
}

/// Reads a message; `None` if it has no content.
pub(super) fn read(
    value: &Value,
    id: &str,
    open: &mut OpenCalls,
    notes: &mut ConversationNotes,
) -> Option<ImportedMessage> {
    keys::MESSAGE.report_lost(value, id, notes);
    let word = text(value, "role").unwrap_or_default();
    let speaker = speaker(word).unwrap_or_else(|| {
        let word = printable(word, 40);
        notes.add(IssueKind::PutRight, id, format!("its author is unknown ({word}): imported as the user's"));
        Speaker::Person
    });
    // A user's message that holds nothing but results is a step of the reply.
    let is_result = speaker == Speaker::Tool || parts::are_results(value);
    let role = match speaker {
        _ if is_result => Role::Assistant,
        Speaker::Person => Role::User,
        Speaker::System => Role::System,
        Speaker::Model | Speaker::Tool | Speaker::Call => Role::Assistant,
    };
    let mut message = empty_message(id, role);
    message.created_at = notes.date(value, "created_at", id);
    match speaker {
        Speaker::Tool => add_tool_result(&mut message, value, open, notes),
        Speaker::Call => add_written_calls(&mut message, value, open),
        _ => {
            if role == Role::Assistant && !is_result {
                message.model = text(value, "model").map(str::to_owned);
                add_usage(&mut message, value);
            }
            if text(value, "name").is_some() {
                notes.add(IssueKind::Lost, id, "the participants of the conversation are not imported");
            }
            add_content(&mut message, value, open, notes);
        }
    }
    (!message.pieces.is_empty()).then_some(message)
}

/// Adds reasoning, text, calls and files in the order in which a reply shows them.
fn add_content(message: &mut ImportedMessage, value: &Value, open: &mut OpenCalls, notes: &mut ConversationNotes) {
    add_reasoning(message, value, notes);
    match value.get("content") {
        Some(Value::String(content)) => add_text(message, content),
        Some(Value::Array(content)) => parts::add(message, content, open, notes),
        Some(part @ Value::Object(_)) => parts::add(message, std::slice::from_ref(part), open, notes),
        _ => {}
    }
    if let Some(refusal) = text(value, "refusal") {
        message.add_text(refusal);
    }
    add_sources(message, list(value, "annotations"));
    for image in list(value, "images") {
        parts::add(message, std::slice::from_ref(image), open, notes);
    }
    add_audio(message, value.get("audio").unwrap_or(&Value::Null));
    let calls = list(value, "tool_calls").iter().chain(value.get("function_call"));
    for call in calls.filter(|call| call.is_object()) {
        let function = call.get("function").unwrap_or(call);
        let name = text(function, "name").unwrap_or("tool");
        let arguments = function.get("arguments").or_else(|| function.get("input"));
        add_call(message, self::id(call, "id"), name, arguments, open);
    }
}

fn add_reasoning(message: &mut ImportedMessage, value: &Value, notes: &mut ConversationNotes) {
    match value.get("reasoning_content") {
        Some(Value::String(thought)) => return message.add_reasoning(thought),
        Some(thought) => {
            if let Some(thought) = first_text(thought, &["content", "text", "thinking"]) {
                return message.add_reasoning(thought);
            }
        }
        None => {}
    }
    for detail in list(value, "reasoning_details") {
        match first_text(detail, &["text", "summary"]) {
            Some(thought) => message.add_reasoning(thought),
            None => notes.add(IssueKind::Lost, &message.source_id, "encrypted reasoning is not imported"),
        }
    }
}

/// Adds the result that a message of a tool holds; pictures in it follow it.
fn add_tool_result(message: &mut ImportedMessage, value: &Value, open: &mut OpenCalls, notes: &mut ConversationNotes) {
    let id = self::id(value, "tool_call_id");
    let name = text(value, "name");
    let (result, others) = parts::result_content(value.get("content").unwrap_or(&Value::Null));
    add_result(message, id.as_deref(), name, result, true, open);
    parts::add(message, &others, open, notes);
}

/// Adds calls that a message holds as JSON in its text: one object, or a list of them.
fn add_written_calls(message: &mut ImportedMessage, value: &Value, open: &mut OpenCalls) {
    let content = value.get("content").unwrap_or(&Value::Null);
    let parsed = content.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let parsed = parsed.as_ref().unwrap_or(content);
    let calls = match parsed {
        Value::Array(calls) => calls.as_slice(),
        call => std::slice::from_ref(call),
    };
    for call in calls {
        match text(call, "name") {
            Some(name) => {
                let arguments = call.get("arguments").or_else(|| call.get("parameters"));
                add_call(message, self::id(call, "id"), name, arguments, open);
            }
            None if call.is_null() => {}
            None => add_call(message, None, "tool", Some(call), open),
        }
    }
}

fn add_usage(message: &mut ImportedMessage, value: &Value) {
    let usage = value.get("usage").unwrap_or(&Value::Null);
    let first = |names: [&str; 2]| names.into_iter().find_map(|name| count(usage, name));
    message.usage.input_tokens = first(["prompt_tokens", "input_tokens"]);
    message.usage.output_tokens = first(["completion_tokens", "output_tokens"]);
    let details = ["completion_tokens_details", "output_tokens_details"];
    let details = details.into_iter().find_map(|name| usage.get(name));
    message.usage.reasoning_tokens = details.and_then(|details| count(details, "reasoning_tokens"));
}

/// Adds a spoken reply: its words and the recording.
fn add_audio(message: &mut ImportedMessage, audio: &Value) {
    if !audio.is_object() {
        return;
    }
    message.add_text(text(audio, "transcript").unwrap_or_default());
    let name = format!("audio.{}", text(audio, "format").unwrap_or("wav"));
    let bytes = match text(audio, "data").and_then(decode_base64) {
        Some(bytes) => FileBytes::Inline(bytes.into()),
        None => FileBytes::Absent(id(audio, "id").unwrap_or_default()),
    };
    let mime = mime_of(&name).to_owned();
    message.add_piece(PieceBody::Attachment { file: MessageFile { name, mime, bytes } });
}
