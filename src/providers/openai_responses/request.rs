//! Request body of Responses: deterministic bytes from the path (docs/reference/domain.md 4.7,
//! docs/reference/providers.md 6.1, 9).

use std::sync::Arc;

use std::collections::HashSet;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::content_parts::PartFormat;
use crate::history::UNANSWERED;
use crate::openai_responses::entry::OutputItemKind;
use crate::openai_responses::message::{ResponsesReply, SentCall};
use crate::openai_responses::models;
use crate::openai_responses::stream::ResponsesDecoder;
use crate::pictures;
use crate::provider::{ChatRequest, HistoryTurn, InputImage};
use crate::sampling::SamplingNames;
use crate::stored_response::StoredResponse;
use crate::tool_schema::fit_tools;
use crate::tool_schema::subset::SchemaSubset;
use turnleaf_domain::Role;
use turnleaf_domain::providers::provider::ReasoningSupport;

const PARTS: PartFormat = PartFormat { text: text_part, image };
const SAMPLING: SamplingNames =
    SamplingNames { max_tokens: Some("max_output_tokens"), top_p: "top_p", top_k: None, stop_sequences: None };

/// Returns the exact body. Equal requests give equal bytes, and a longer history starts with the same items.
/// `with_summary` requests summaries of the reasoning; `is_kept` allows the provider to keep the response and the
/// request to continue from a kept one.
pub fn body(request: &ChatRequest, with_summary: bool, is_kept: bool) -> Bytes {
    let previous = request.previous_response.as_ref().filter(|_| is_kept);
    // The whole path is sent if the kept reply is not on it.
    let previous = previous.and_then(|kept| {
        let at = request.history.iter().rposition(|turn| turn.turn_id == kept.turn_id)?;
        Some((kept.response_id.as_str(), at))
    });
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    set("model", json!(request.model));
    if let Some(text) = request.instructions() {
        set("instructions", json!(text));
    }
    if let Some((id, _)) = previous {
        set("previous_response_id", json!(id));
    }
    set(
        "input",
        Value::Array(match previous {
            Some((_, at)) => input_after(&request.history, at),
            None => input(&request.history),
        }),
    );
    set("stream", json!(true));
    // Encrypted reasoning is requested even if the provider keeps responses, because a later request may have to send
    // the whole path.
    set("store", json!(is_kept));
    let mut include: Vec<&str> = Vec::new();
    if request.capabilities.reasoning != ReasoningSupport::Never {
        include.push("reasoning.encrypted_content");
    }
    include.extend(request.provider_tools.iter().filter_map(|tool| Some(models::provider_tool(tool)?.1)));
    if !include.is_empty() {
        set("include", json!(include));
    }
    SAMPLING.put(&request.params, &mut set);
    // Strict mode is the default of this API and refuses most schemas.
    let tools = fit_tools(&request.tools, SchemaSubset::OpenAi).into_iter().map(|tool| {
        json!({
            "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            "strict": false,
        })
    });
    let own = request.provider_tools.iter().filter_map(|tool| Some(models::provider_tool(tool)?.0));
    let tools: Vec<Value> = tools.chain(own).collect();
    if !tools.is_empty() {
        set("tools", tools.into());
    }
    if let Some(reasoning) = models::reasoning_param(&request.model, request.thinking, with_summary) {
        set("reasoning", reasoning);
    }
    pictures::serialize_body(body, request)
}

/// Returns only what is new since the last response of the turn at `kept`, because items that the provider keeps
/// would be duplicates (docs/reference/providers.md 6.6).
fn input_after(history: &[HistoryTurn], kept: usize) -> Vec<Value> {
    let mut input = results_of_last_step(&history[kept]);
    input.extend(self::input(&history[kept + 1..]));
    input
}

fn input(history: &[HistoryTurn]) -> Vec<Value> {
    let mut input = Vec::new();
    let mut used = HashSet::new();
    for turn in history {
        match turn.role {
            Role::User => push_user(&mut input, PARTS.user_content(turn)),
            Role::System => input.push(json!({"role": "system", "content": turn.plain_text()})),
            Role::Assistant => push_assistant(&mut input, &mut used, turn),
        }
    }
    input
}

/// Appends a user message. Two user messages in a row (around an error without content) are merged, because chat
/// templates of local models require alternating roles.
fn push_user(input: &mut Vec<Value>, content: Value) {
    if let Some(last) = input.last_mut()
        && last.get("role").and_then(Value::as_str) == Some("user")
        && let Some(before) = last.get_mut("content")
    {
        *before = PARTS.join_contents(before.take(), content);
        return;
    }
    input.push(json!({"role": "user", "content": content}));
}

fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

/// Returns an image part. Strict servers require `detail`.
fn image(shown: &InputImage) -> Value {
    json!({"type": "input_image", "image_url": shown.data_url_placeholder(), "detail": "auto"})
}

/// Appends an assistant turn: as the model wrote it if its raw responses are stored, otherwise its plain text, if it
/// has any.
fn push_assistant(input: &mut Vec<Value>, used: &mut HashSet<String>, turn: &HistoryTurn) {
    if turn.raw.is_empty() {
        let text = turn.plain_text();
        if !text.is_empty() {
            input.push(json!({"role": "assistant", "content": text}));
        }
        return;
    }
    let mut first_call = 0;
    for step in turn.raw.iter().map(read_reply) {
        let result = |number: usize| turn.tool_result_text(first_call + number).map(|(text, _)| text);
        let (mut items, mut calls) = step.input_items(!turn.leaves_out_reasoning, |number| result(number).is_some());
        make_call_ids_unique(&mut items, &mut calls, used);
        input.extend(items);
        let images = |number: usize| turn.tool_result_images(first_call + number).map(image).collect();
        input.extend(calls.iter().map(|call| answer(call, result(call.number), images(call.number))));
        first_call += step.call_count();
    }
}

/// Returns the results of the calls in the last response of a turn, with the ids of that response.
fn results_of_last_step(turn: &HistoryTurn) -> Vec<Value> {
    let Some((last, before)) = turn.raw.split_last() else { return Vec::new() };
    let first_call: usize = before.iter().map(|raw| read_reply(raw).call_count()).sum();
    let result = |number: usize| turn.tool_result_text(first_call + number).map(|(text, _)| text);
    let (_, calls) = read_reply(last).input_items(true, |number| result(number).is_some());
    let images = |number: usize| turn.tool_result_images(first_call + number).map(image).collect();
    calls.iter().map(|call| answer(call, result(call.number), images(call.number))).collect()
}

fn answer(call: &SentCall, result: Option<String>, images: Vec<Value>) -> Value {
    let text = result.unwrap_or_else(|| UNANSWERED.to_owned());
    let output: Value = match images.is_empty() {
        true => json!(text),
        false => std::iter::once(text_part(&text)).chain(images).collect(),
    };
    json!({"type": call.output_type, "call_id": call.call_id, "output": output})
}

/// Makes call ids unique within the request, because some servers number the calls of every response from the start.
/// A repeated id is replaced in the call and its result.
fn make_call_ids_unique(items: &mut [Value], calls: &mut [SentCall], used: &mut HashSet<String>) {
    let called = items.iter_mut().filter(|item| OutputItemKind::from_item(item) == OutputItemKind::Call);
    for (item, call) in called.zip(calls) {
        let (mut id, mut number) = (call.call_id.clone(), used.len());
        while !used.insert(id.clone()) {
            id = format!("{}-{number}", call.call_id);
            number += 1;
        }
        if id != call.call_id {
            item["call_id"] = json!(id);
            call.call_id = id;
        }
    }
}

fn read_reply(raw: &StoredResponse) -> Arc<ResponsesReply> {
    raw.read_cached("openai_responses", parse_stored_reply)
}

/// Decodes a stored response, complete or not.
pub fn parse_stored_reply(raw: &[u8]) -> ResponsesReply {
    let (reader, is_complete) = ResponsesDecoder::keeping_reply().read_stored(raw);
    ResponsesReply { is_complete, ..reader.into_reply() }
}

#[cfg(test)]
pub(super) mod tests;
