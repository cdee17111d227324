//! Request body of `/api/chat`: deterministic bytes from the path (docs/reference/domain.md 4.7,
//! docs/reference/providers.md 8, 9).

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::history::{UNANSWERED, UserPart};
use crate::ollama::message::{OllamaCall, OllamaReply};
use crate::ollama::stream::OllamaDecoder;
use crate::ollama::thinking;
use crate::pictures;
use crate::provider::{ChatRequest, HistoryTurn};
use crate::sampling::SamplingNames;
use crate::tool_schema::fit_tools;
use crate::tool_schema::subset::SchemaSubset;
use turnleaf_domain::Role;

const SAMPLING: SamplingNames = SamplingNames {
    max_tokens: Some("num_predict"),
    top_p: "top_p",
    top_k: Some("top_k"),
    stop_sequences: Some("stop"),
};

/// Returns the exact body. Equal requests give equal bytes, and a longer history starts with the same messages.
pub fn body(request: &ChatRequest) -> Bytes {
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    set("model", json!(request.model));
    set("messages", Value::Array(messages(request)));
    set("stream", json!(true));
    if let Some(think) = thinking::think_param(request) {
        set("think", think);
    }
    let options = options(request);
    if !options.is_empty() {
        set("options", Value::Object(options));
    }
    let tools = fit_tools(&request.tools, SchemaSubset::Common).into_iter().map(|tool| {
        json!({"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        }})
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        set("tools", tools.into());
    }
    pictures::serialize_body(body, request)
}

fn options(request: &ChatRequest) -> Map<String, Value> {
    let mut options = Map::new();
    let mut set = |key: &str, value: Value| options.insert(key.to_owned(), value);
    SAMPLING.put(&request.params, &mut set);
    options
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let mut messages = Vec::new();
    if let Some(text) = request.instructions() {
        messages.push(json!({"role": "system", "content": text}));
    }
    for turn in &request.history {
        match turn.role {
            Role::User => push_user(&mut messages, turn),
            Role::System => messages.push(json!({"role": "system", "content": turn.plain_text()})),
            Role::Assistant => push_assistant(&mut messages, turn),
        }
    }
    messages
}

/// Appends a user turn. Two user messages in a row (around an error without content) are merged, because chat
/// templates of models require alternating roles.
///
/// The API has no place for images inside of the text: they are listed beside it, in order.
fn push_user(messages: &mut Vec<Value>, turn: &HistoryTurn) {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in turn.user_parts() {
        match part {
            UserPart::Text(text) => texts.push(text),
            UserPart::Image(image) => images.push(json!(image.base64_placeholder())),
        }
    }
    let text = texts.join("\n\n");
    if messages.last().is_none_or(|last| last.get("role").and_then(Value::as_str) != Some("user")) {
        messages.push(json!({"role": "user", "content": text}));
    } else if let Some(Value::String(before)) = messages.last_mut().and_then(|last| last.get_mut("content")) {
        before.push_str("\n\n");
        before.push_str(&text);
    }
    if let Some(Value::Object(last)) = messages.last_mut().filter(|_| !images.is_empty()) {
        let all = last.entry("images").or_insert_with(|| json!([]));
        all.as_array_mut().into_iter().for_each(|all| all.append(&mut images));
    }
}

/// Appends an assistant turn: as the model wrote it if its raw responses are stored, otherwise its plain text, if it
/// has any.
fn push_assistant(messages: &mut Vec<Value>, turn: &HistoryTurn) {
    if turn.raw.is_empty() {
        let text = turn.plain_text();
        if !text.is_empty() {
            messages.push(json!({"role": "assistant", "content": text}));
        }
        return;
    }
    let mut place = 0..;
    for step in turn.raw.iter().map(|raw| raw.read_cached("ollama", parse_stored_reply)).map(Arc::unwrap_or_clone) {
        let answers: Vec<Value> = step
            .named_calls()
            .iter()
            .map(|call| answer(call, place.next().and_then(|place| turn.tool_result_text(place))))
            .collect();
        messages.extend(step.into_message(!turn.leaves_out_reasoning));
        messages.extend(answers);
    }
}

/// Decodes a stored response, complete or not: calls arrive in one piece, and a text that was cut off is still a
/// text.
pub fn parse_stored_reply(raw: &[u8]) -> OllamaReply {
    OllamaDecoder::keeping_reply().read_stored(raw).0.into_reply()
}

/// Returns the result message of a call. Servers match it by its position and the tool's name, newer ones also by the
/// id.
fn answer(call: &OllamaCall, result: Option<(String, bool)>) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), json!("tool"));
    message.insert("content".into(), json!(result.map_or_else(|| UNANSWERED.to_owned(), |(text, _)| text)));
    message.insert("tool_name".into(), json!(call.name));
    if let Some(id) = &call.id {
        message.insert("tool_call_id".into(), json!(id));
    }
    Value::Object(message)
}

#[cfg(test)]
mod tests;
