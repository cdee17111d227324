//! Reader for the export of llama.cpp's web page (`llama-server`): conversations as JSON lines, an archive of such
//! files, or the older JSON of one conversation or a list of them.
//!
//! Confirmed by the product's source (repository `ggml-org/llama.cpp`):
//! - JSON lines and archives: `tools/ui/src/lib/services/conversation-transfer.service.ts`, its record types and
//!   `harness` in `tools/ui/src/lib/{enums,constants}`, its test `tools/ui/tests/unit/conversation-import.test.ts`;
//! - the older JSON (`{conv, messages}`) and all fields: `tools/ui/src/lib/types/{database,chat}.d.ts` and, for the
//!   earlier names of attachments, `tools/server/webui/src/lib/types/database.d.ts`;
//! - the hidden root and the position of system messages: `tools/ui/src/lib/services/database.service.ts`;
//! - the display order within a message: `tools/ui/src/lib/utils/agentic.ts`;
//! - marks in the texts of earlier versions: `tools/ui/src/lib/constants/agentic.ts` (see `marked_text`).
//!
//! Inferred: a reply ended after its measured duration; `<think>` at the beginning of a text is reasoning; a
//! conversation of the very first page (numbers as ids) has the same structure as later ones. The export records
//! neither failures nor cancellations, and does not name the server that ran the model: the provider is `llama.cpp`.
//!
//! Hand-written samples for the tests follow these definitions: `samples/llama_cpp/`.

use std::collections::HashMap;

use chrono::TimeDelta;
use serde_json::Value;

use crate::bounds;
use crate::conversation::{Conversation, ImportedMessage};
use crate::domain::turns::turn::Role;
use crate::input::Input;
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields::{as_id, content_id, count, first_text, id, is_set, list, text};
use crate::reading::message_builder;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{SeenConversations, deliver};
use crate::reading::session_lines::value_size;
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

mod extra;
mod keys;
mod marked_text;

/// Returns whether the value is a conversation of llama.cpp, or the record that begins one.
pub(crate) fn is_conversation(value: &Value) -> bool {
    let is_record = text(value, "type") == Some("session") && text(value, "harness") == Some("llama.app");
    is_record || (value.get("conv").is_some_and(Value::is_object) && value.get("messages").is_some_and(Value::is_array))
}

/// Reads all files.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let parts = input.parts();
    let may_hold_chats = candidate_filter(input);
    let mut seen = SeenConversations::default();
    let mut stopped = ImportError::WrongFormat("a file with conversations");
    let mut is_any_read = false;
    for (number, part) in parts.all().iter().enumerate().filter(|(_, part)| may_hold_chats(part)) {
        let mut open: Option<OpenConversation> = None;
        let mut read = input.for_each_element(number, &[], taker, &mut |value, place, taker| {
            match text(&value, "type") {
                Some("session") => {
                    let before = open.replace(OpenConversation::new(value, place));
                    before.map_or(Ok(()), |session| session.close(&mut seen, taker))
                }
                Some("message") => match &mut open {
                    Some(session) => {
                        session.add(value);
                        Ok(())
                    }
                    None => report_left_out(taker, place, "a message comes before any conversation"),
                },
                // Unknown record types of newer versions are ignored.
                Some(_) if open.is_some() => Ok(()),
                _ => read_one(&value, place, &mut seen, taker),
            }
        });
        if let Some(session) = open {
            let closed = session.close(&mut seen, taker);
            read = read.and_then(|read| closed.map(|()| read));
        }
        match read {
            Ok(_) => is_any_read = true,
            Err(error @ (ImportError::Damaged(_) | ImportError::WrongFormat(_))) => {
                let place = IssueLocation { file: part.name.clone(), ..IssueLocation::default() };
                report_left_out(taker, place, &format!("the file was skipped: {error}"))?;
                stopped = error;
            }
            Err(other) => return Err(other),
        }
    }
    if is_any_read { Ok(()) } else { Err(stopped) }
}

fn report_left_out(taker: &mut dyn ImportSink, place: IssueLocation, reason: &str) -> Result<(), ImportError> {
    report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location: place, text: reason.to_owned() })
}

/// Reads a conversation with its messages in the older format.
fn read_one(
    value: &Value,
    place: IssueLocation,
    seen: &mut SeenConversations,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    let mut notes = ConversationNotes::new(place);
    let conversation = conversation(value, &mut notes);
    let conversation = conversation.and_then(|conversation| seen.admit(conversation, value, &mut notes));
    deliver(conversation, notes, taker)
}

/// A conversation whose records are being collected.
struct OpenConversation {
    /// The conversation in the older format, so that one reader handles both.
    whole: Value,
    place: IssueLocation,
    bytes: usize,
    /// Number of messages that exceeded a bound.
    left_out: u64,
}

impl OpenConversation {
    fn new(conv: Value, place: IssueLocation) -> Self {
        Self { whole: serde_json::json!({ "conv": conv, "messages": [] }), place, bytes: 0, left_out: 0 }
    }

    fn add(&mut self, mut record: Value) {
        let message = record.get_mut("message").map(Value::take).unwrap_or_default();
        let Some(Value::Array(messages)) = self.whole.get_mut("messages") else { return };
        self.bytes = self.bytes.saturating_add(value_size(&message));
        if messages.len() >= bounds::MESSAGES || self.bytes > bounds::CONVERSATION_BYTES {
            self.left_out += 1;
        } else {
            messages.push(message);
        }
    }

    fn close(self, seen: &mut SeenConversations, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        if self.left_out > 0 {
            let text = format!("the conversation is too large: {} messages were skipped", self.left_out);
            report_left_out(taker, self.place.clone(), &text)?;
        }
        read_one(&self.whole, self.place, seen, taker)
    }
}

/// Reads one conversation in the older format.
pub(crate) fn conversation(value: &Value, notes: &mut ConversationNotes) -> Option<Conversation> {
    let conv = value.get("conv").filter(|conv| conv.is_object());
    let (Some(conv), Some(Value::Array(all))) = (conv, value.get("messages")) else {
        notes.add(IssueKind::LeftOut, "", "it is not a conversation of llama.cpp");
        return None;
    };
    let source_id = id(conv, "id").unwrap_or_else(|| content_id(value));
    notes.set_conversation(&source_id);
    let calls = names_of_calls(all);
    let nodes = all.iter().map(|message| node(message, &calls, notes)).collect();
    let current = id(conv, "currNode");
    let (messages, current) = order_messages(nodes, current.as_deref(), notes);
    let times = || messages.iter().filter_map(|message| message.created_at);
    let (first, last) = (times().min(), times().max());
    let (system_prompt, messages, current) = message_builder::split_system_prompt(messages, current);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    keys::CONVERSATION.report_lost(conv, "", notes);
    message_builder::report_missing_files(&messages, notes);
    Some(Conversation {
        source_id,
        title: text(conv, "name").unwrap_or_default().to_owned(),
        system_prompt,
        created_at: first,
        updated_at: notes.date(conv, "lastModified", "").or(last),
        current,
        is_pinned: is_set(conv, "pinned"),
        messages,
        ..Conversation::default()
    })
}

/// Returns the calls of a message: a list, or a string that contains one.
fn calls(message: &Value) -> Vec<Value> {
    let of_text = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Array(calls)) => calls,
        _ => Vec::new(),
    };
    match message.get("toolCalls") {
        Some(Value::Array(calls)) => calls.clone(),
        Some(Value::String(text)) if !text.is_empty() => of_text(text),
        _ => Vec::new(),
    }
}

/// Maps call ids to tool names, because results contain only the id.
fn names_of_calls(all: &[Value]) -> HashMap<String, String> {
    let named = |call: Value| Some((id(&call, "id")?, name_of(&call).to_owned()));
    all.iter().flat_map(calls).filter_map(named).collect()
}

fn name_of(call: &Value) -> &str {
    call.get("function").and_then(|function| text(function, "name")).or_else(|| text(call, "name")).unwrap_or("tool")
}

fn node(value: &Value, calls: &HashMap<String, String>, notes: &mut ConversationNotes) -> SourceNode {
    let id = id(value, "id").unwrap_or_else(|| content_id(value));
    let is_root = text(value, "type") == Some("root") && text(value, "content").is_none();
    if !value.is_object() {
        notes.add_not_a_message(&id);
    }
    let message = (value.is_object() && !is_root).then(|| message(value, &id, calls, notes));
    let children = list(value, "children").iter().filter_map(as_id).collect();
    // Roots of the first page name `-1` as their parent.
    let parent = self::id(value, "parent").filter(|parent| parent != "-1");
    SourceNode { id, parent, children, message }
}

fn message(value: &Value, id: &str, calls: &HashMap<String, String>, notes: &mut ConversationNotes) -> ImportedMessage {
    let role_name = text(value, "role").unwrap_or_default();
    let role = match role_name {
        "user" => Role::User,
        "system" => Role::System,
        "assistant" | "tool" => Role::Assistant,
        other => {
            let role = if text(value, "type") == Some("system") { Role::System } else { Role::User };
            let word: String = other.chars().take(40).collect();
            notes.add(
                IssueKind::PutRight,
                id,
                format!("its author is unknown ({word}): imported as the {}'s", role.as_str()),
            );
            role
        }
    };
    keys::MESSAGE.report_lost(value, id, notes);
    let mut message = message_builder::empty_message(id, role);
    message.created_at = notes.date(value, "timestamp", id);
    let is_before_text = role != Role::Assistant;
    if is_before_text {
        extra::add(&mut message, value, notes);
    }
    let content = text(value, "content").unwrap_or_default();
    if role_name == "tool" {
        let call = self::id(value, "toolCallId").unwrap_or_default();
        let name = calls.get(&call).map_or("tool", String::as_str);
        message.add_tool_result(&call, name, Value::String(content.to_owned()), true);
    } else if role == Role::Assistant {
        reply(&mut message, value, content);
    } else {
        message.add_text(content);
    }
    if !is_before_text {
        extra::add(&mut message, value, notes);
    }
    message
}

/// Reads a reply in the product's display order: reasoning, text, calls.
fn reply(message: &mut ImportedMessage, value: &Value, content: &str) {
    message.provider = Some("llama.cpp".to_owned());
    message.model = text(value, "model").map(str::to_owned);
    if let Some(thought) = first_text(value, &["reasoningContent", "thinking", "reasoning_content"]) {
        message.add_reasoning(thought);
    }
    if text(value, "type") == Some("think") {
        message.add_reasoning(content);
    } else {
        marked_text::add_marked_text(message, content);
    }
    // In earlier versions, marks in the text describe the same calls together with their results.
    let answered = marked_text::answered_tools(message);
    for (at, call) in calls(value).iter().enumerate() {
        let name = name_of(call);
        let call_id = id(call, "id").unwrap_or_else(|| format!("{}/{at}", message.source_id));
        if !answered.contains(name) {
            let arguments = call.get("function").and_then(|function| function.get("arguments"));
            message.add_piece(message_builder::call_body(call_id, name, arguments.or_else(|| call.get("arguments"))));
        }
    }
    add_timings(message, value.get("timings").unwrap_or(&Value::Null));
}

/// Reads tokens and durations as the server measured them.
fn add_timings(message: &mut ImportedMessage, timings: &Value) {
    let (read, cached) = (count(timings, "prompt_n"), count(timings, "cache_n"));
    message.usage.output_tokens = count(timings, "predicted_n");
    message.usage.cache_read_tokens = cached;
    message.usage.input_tokens = read.map(|read| read.saturating_add(cached.unwrap_or_default()));
    let ms = |name: &str| timings.get(name).and_then(Value::as_f64).filter(|ms| (0.0..1e10).contains(ms));
    if let (Some(begun), Some(wrote)) = (message.created_at, ms("predicted_ms")) {
        let took = TimeDelta::milliseconds((wrote + ms("prompt_ms").unwrap_or_default()).round() as i64);
        message.ended_at = begun.checked_add_signed(took);
    }
}

#[cfg(test)]
mod tests;
