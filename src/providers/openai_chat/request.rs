//! Request body of a chat completion: deterministic bytes from the path (docs/reference/domain.md 4.7,
//! docs/reference/providers.md 4.1, 9).

use std::sync::Arc;

use bytes::Bytes;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::content_parts::PartFormat;
use crate::history::UNANSWERED;
use crate::openai_chat::dialect::{Dialect, PrefillFormat};
use crate::openai_chat::message::{ChatReply, ReasoningPlacement};
use crate::openai_chat::models;
use crate::openai_chat::stream::ChatDecoder;
use crate::openai_chat::thinking;
use crate::pictures;
use crate::provider::{ChatRequest, HistoryTurn, InputImage};
use crate::sampling::SamplingNames;
use crate::tool_schema::fit_tools;
use turnleaf_domain::Role;
use turnleaf_domain::providers::provider;
use turnleaf_domain::providers::repair::ReasoningMembers;

/// The text that represents the end of an interrupted reply where the API requires one.
const CUT_OFF: &str = "(This reply was cut off.)";

const PARTS: PartFormat = PartFormat { text: text_part, image: image_part };

/// Returns the exact body. Equal requests give equal bytes, and a longer history starts with the same messages.
pub fn body(dialect: &'static Dialect, request: &ChatRequest) -> Bytes {
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    set("model", json!(request.model));
    // Reserves the place of the messages, which are serialized below.
    set("messages", Value::Null);
    set("stream", json!(true));
    if dialect.takes_stream_options {
        set("stream_options", json!({"include_usage": true}));
    }
    let sampling = SamplingNames {
        max_tokens: Some(dialect.max_tokens_key),
        top_p: "top_p",
        top_k: Some("top_k"),
        stop_sequences: Some("stop"),
    };
    sampling.put(&request.params, &mut set);
    let tools = fit_tools(&request.tools, dialect.schema_subset()).into_iter().map(|tool| {
        json!({"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        }})
    });
    let own = request.provider_tools.iter().filter_map(|tool| models::provider_tool(dialect, tool));
    let tools: Vec<Value> = tools.chain(own).collect();
    if !tools.is_empty() {
        set("tools", tools.into());
    }
    thinking::put(&mut body, dialect, request);
    if request.is_continuation && dialect.prefill == PrefillFormat::TemplateParams {
        body.insert("add_generation_prompt".into(), json!(false));
        body.insert("continue_final_message".into(), json!(true));
    }
    if pictures::has_reply_images(request) {
        let values = messages(dialect, request, false).into_iter().filter_map(Message::into_value).collect();
        body.insert("messages".into(), Value::Array(values));
        return pictures::serialize_body(body, request);
    }
    let messages = messages(dialect, request, true);
    // Serialization cannot fail: all parts are values or JSON that was serialized before.
    serde_json::to_vec(&ChatRequestBody { fields: &body, messages: &messages }).unwrap_or_default().into()
}

/// One message: a value, or JSON that was cached from an earlier request.
enum Message {
    Value(Value),
    Written(Arc<RawValue>),
}

impl Message {
    fn into_value(self) -> Option<Value> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }

    fn has_role(&self, role: &str) -> bool {
        matches!(self, Self::Value(value) if value["role"] == role)
    }
}

impl From<Value> for Message {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Written(json) => json.serialize(serializer),
        }
    }
}

/// The fields of a body, with the messages in their place.
struct ChatRequestBody<'a> {
    fields: &'a Map<String, Value>,
    messages: &'a [Message],
}

impl Serialize for ChatRequestBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in self.fields {
            match name.as_str() {
                "messages" => map.serialize_entry(name, self.messages)?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// Returns the messages. `remembers` allows the cached JSON of replies.
fn messages(dialect: &'static Dialect, request: &ChatRequest, remembers: bool) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::with_capacity(request.history.len());
    let mut system = request.instructions();
    // These two models refuse instructions in any role of their own.
    let has_no_system = request.model.starts_with("o1-mini") || request.model.starts_with("o1-preview");
    if let Some(text) = system.filter(|_| !has_no_system) {
        messages.push(json!({"role": system_role(dialect, request), "content": text}).into());
        system = None;
    }
    for (at, turn) in request.history.iter().enumerate() {
        match turn.role {
            Role::User => {
                let mut content = PARTS.user_content(turn);
                if let Some(system) = system.take() {
                    content = PARTS.join_contents(json!(system), content);
                }
                push_user(&mut messages, dialect, content);
            }
            Role::System => messages.push(json!({"role": "system", "content": turn.plain_text()}).into()),
            Role::Assistant => {
                let first = messages.len();
                push_assistant(&mut messages, dialect, request, turn, remembers);
                let before = at.checked_sub(1).and_then(|before| request.history.get(before));
                if before.is_some_and(|before| is_beginning(before, turn)) {
                    join_beginning(&mut messages, first);
                }
            }
        }
    }
    if let (PrefillFormat::Member(name), true) = (dialect.prefill, request.is_continuation)
        && let Some(Message::Value(last)) = messages.last_mut()
    {
        last[name] = json!(true);
    }
    messages
}

/// Returns whether a turn is the text with which the reply with these steps began.
fn is_beginning(turn: &HistoryTurn, steps: &HistoryTurn) -> bool {
    turn.role == Role::Assistant && turn.raw.is_empty() && !steps.raw.is_empty() && turn.turn_id == steps.turn_id
}

/// Joins the text with which a reply began and the first message of its steps, which continued that text: they are one
/// message, and chat templates of local models require alternating roles.
fn join_beginning(messages: &mut Vec<Message>, first: usize) {
    let Some(before) = first.checked_sub(1) else { return };
    let Some(Message::Value(beginning)) = messages.get(before) else { return };
    let text = beginning["content"].as_str().unwrap_or_default().to_owned();
    let Some(Message::Value(rest)) = messages.get_mut(first) else { return };
    rest["content"] = match rest["content"].take() {
        Value::String(more) => Value::String(text + &more),
        Value::Array(parts) => std::iter::once(text_part(&text)).chain(parts).collect(),
        _ => Value::String(text),
    };
    messages.remove(before);
}

fn system_role(dialect: &Dialect, request: &ChatRequest) -> &'static str {
    let is_reasoner = request.capabilities.reasoning == provider::ReasoningSupport::Always
        || !request.capabilities.thinking_levels.is_empty();
    if dialect.name == "openai" && is_reasoner { "developer" } else { "system" }
}

/// Appends a user message. Two user messages in a row (around an error without content) are merged, because chat
/// templates of local models require alternating roles.
///
/// Some servers refuse a user message directly after a tool message, which occurs if a reply was interrupted within a
/// tool loop.
fn push_user(messages: &mut Vec<Message>, dialect: &Dialect, content: Value) {
    let is_after_tool = messages.last().is_some_and(|last| last.has_role("tool"));
    if is_after_tool && dialect.answers_tools_before_user {
        messages.push(json!({"role": "assistant", "content": CUT_OFF}).into());
    }
    if let Some(Message::Value(last)) = messages.last_mut().filter(|last| last.has_role("user"))
        && let Some(before) = last.get_mut("content")
    {
        *before = PARTS.join_contents(before.take(), content);
        return;
    }
    messages.push(json!({"role": "user", "content": content}).into());
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_part(image: &InputImage) -> Value {
    json!({"type": "image_url", "image_url": {"url": image.data_url_placeholder()}})
}

/// Appends an assistant turn: as the model wrote it if its raw responses are stored, otherwise its plain text, if it
/// has any.
fn push_assistant(
    messages: &mut Vec<Message>,
    dialect: &'static Dialect,
    request: &ChatRequest,
    turn: &HistoryTurn,
    remembers: bool,
) {
    if turn.raw.is_empty() {
        let text = turn.plain_text();
        if !text.is_empty() {
            messages.push(json!({"role": "assistant", "content": text}).into());
        }
        return;
    }
    let read = |raw: &[u8]| parse_stored_reply(dialect, raw);
    let steps: Vec<Arc<ChatReply>> = turn.raw.iter().map(|raw| raw.read_cached(dialect.name, read)).collect();
    // The thinking mode of this request does not matter: a message is sent the same way every time, so that the
    // prefix stays stable.
    let can_think = request.capabilities.reasoning != provider::ReasoningSupport::Never;
    let has_calls = steps.iter().any(|step| !step.calls.is_empty());
    let reasoning = match request.reasoning_members {
        _ if turn.leaves_out_reasoning => ReasoningPlacement::Omitted,
        ReasoningMembers::Required => ReasoningPlacement::Echoed,
        ReasoningMembers::Refused => ReasoningPlacement::Refused,
        ReasoningMembers::Unknown => ReasoningPlacement::ByDialect { has_calls, is_needed: can_think && has_calls },
    };
    let mut first_call = 0;
    for (raw, step) in turn.raw.iter().zip(steps) {
        let result = |at: usize| turn.tool_result_text(first_call + at).map(|(text, _)| text);
        let sent = step.sent_calls(|at| result(at).is_some());
        if remembers && step.calls.is_empty() {
            let write = || step.message(dialect, reasoning, &[]).and_then(|message| to_raw_value(&message).ok());
            messages.extend(raw.write_cached((dialect.name, reasoning.form_number()), write).map(Message::Written));
            continue;
        }
        messages.extend(step.message(dialect, reasoning, &sent).map(Message::Value));
        // A tool message has only text: the images of all results follow in one user message. Servers that refuse that
        // message take images in the tool message.
        let mut shown = Vec::new();
        for at in sent {
            let mut content = Value::String(result(at).unwrap_or_else(|| UNANSWERED.to_owned()));
            let mut images = turn.tool_result_images(first_call + at).map(image_part).peekable();
            if images.peek().is_some() && dialect.answers_tools_before_user {
                let text = json!({"type": "text", "text": content});
                content = std::iter::once(text).chain(images).collect();
            } else if images.peek().is_some() {
                shown.push(text_part(&format!("Images of the result of {}:", step.calls[at].name)));
                shown.extend(images);
            }
            messages.push(json!({"role": "tool", "tool_call_id": step.calls[at].id, "content": content}).into());
        }
        if !shown.is_empty() {
            push_user(messages, dialect, Value::Array(shown));
        }
        first_call += step.calls.len();
    }
}

/// Decodes a stored response, complete or not.
pub fn parse_stored_reply(dialect: &'static Dialect, raw: &[u8]) -> ChatReply {
    let (reader, is_complete) = ChatDecoder::keeping_reply(dialect).read_stored(raw);
    ChatReply { is_complete, ..reader.into_reply() }
}

#[cfg(test)]
pub(super) mod tests;
