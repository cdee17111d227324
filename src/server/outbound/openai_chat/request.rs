//! The request body of a chat completion: deterministic bytes out of the path (domain.md 4.7, providers.md 4.1, 9).

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::domain::provider::Reasoning;
use crate::domain::turn::content_text;
use crate::domain::{Block, BlockId, Content, Role, Thinking};
use crate::server::outbound::openai_chat::dialect::Dialect;
use crate::server::outbound::openai_chat::message::Said;
use crate::server::outbound::openai_chat::stream::ChatDecoder;
use crate::server::outbound::openai_chat::thinking;
use crate::server::outbound::provider::{ChatRequest, Decoder, HistoryTurn};

/// The result of a call that nobody answered: without one the request would be refused (reliability.md 1.3 rule 8).
const UNANSWERED: &str = "Cancelled: this tool call has no result.";

/// The exact body. The same request gives the same bytes, and a longer history begins with the same messages.
pub fn body(dialect: &'static Dialect, request: &ChatRequest) -> Bytes {
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    set("model", json!(request.model));
    set("messages", Value::Array(messages(dialect, request)));
    set("stream", json!(true));
    if dialect.takes_stream_options {
        set("stream_options", json!({"include_usage": true}));
    }
    let params = &request.params;
    if let Some(tokens) = params.max_tokens {
        set(dialect.max_tokens_key, json!(tokens));
    }
    if let Some(temperature) = params.temperature {
        set("temperature", json!(temperature));
    }
    if let Some(top_p) = params.top_p {
        set("top_p", json!(top_p));
    }
    if let Some(top_k) = params.top_k {
        set("top_k", json!(top_k));
    }
    if !params.stop_sequences.is_empty() {
        set("stop", json!(params.stop_sequences));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        });
        set("tools", tools.collect());
    }
    thinking::put(&mut body, dialect, request);
    Value::Object(body).to_string().into()
}

fn messages(dialect: &'static Dialect, request: &ChatRequest) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut system = request.system.as_deref().filter(|text| !text.trim().is_empty());
    // These two refuse instructions in any role of their own.
    let has_no_system = request.model.starts_with("o1-mini") || request.model.starts_with("o1-preview");
    if let Some(text) = system.filter(|_| !has_no_system) {
        messages.push(json!({"role": system_role(dialect, request), "content": text}));
        system = None;
    }
    for turn in &request.history {
        match turn.role {
            Role::User => {
                let text = user_text(turn);
                let text = system.take().map_or_else(|| text.clone(), |system| format!("{system}\n\n{text}"));
                push_user(&mut messages, &text);
            }
            Role::System => messages.push(json!({"role": "system", "content": plain_text(turn)})),
            Role::Assistant => push_assistant(&mut messages, dialect, request, turn),
        }
    }
    messages
}

fn system_role(dialect: &Dialect, request: &ChatRequest) -> &'static str {
    let is_reasoner =
        request.capabilities.reasoning == Reasoning::Always || !request.capabilities.thinking_levels.is_empty();
    if dialect.name == "openai" && is_reasoner { "developer" } else { "system" }
}

fn plain_text(turn: &HistoryTurn) -> String {
    content_text(turn.blocks.iter().map(|block| &block.content))
}

fn user_text(turn: &HistoryTurn) -> String {
    let mut text = plain_text(turn);
    for block in &turn.blocks {
        if let Content::Image { alt, .. } = &block.content {
            text.push_str(&format!("\n\n[image: {alt}]"));
        }
    }
    text
}

/// Two user messages in a row (an error without content lies between them) become one, because templates of local
/// models demand that roles alternate.
fn push_user(messages: &mut Vec<Value>, text: &str) {
    if let Some(last) = messages.last_mut()
        && last.get("role").and_then(Value::as_str) == Some("user")
        && let Some(Value::String(before)) = last.get_mut("content")
    {
        before.push_str("\n\n");
        before.push_str(text);
        return;
    }
    messages.push(json!({"role": "user", "content": text}));
}

/// An assistant turn: as the model wrote it where all of its responses are whole, else its plain text, else nothing.
fn push_assistant(messages: &mut Vec<Value>, dialect: &'static Dialect, request: &ChatRequest, turn: &HistoryTurn) {
    let steps: Option<Vec<Said>> = turn.raw.iter().map(|raw| read_again(dialect, raw)).collect();
    let Some(steps) = steps.filter(|steps| !steps.is_empty()) else {
        let text = plain_text(turn);
        if !text.is_empty() {
            messages.push(json!({"role": "assistant", "content": text}));
        }
        return;
    };
    let is_thinking = request.is_thinking_mode && request.thinking != Thinking::Off;
    let call_ids: Vec<BlockId> = turn
        .blocks
        .iter()
        .filter(|block| matches!(block.content, Content::ToolUse { .. }))
        .map(|block| block.id)
        .collect();
    let mut first_call = 0;
    for said in steps {
        // The n-th call of the responses is the n-th call among the blocks: ids may repeat, places do not.
        let result = |at: usize| result_of(&turn.blocks, call_ids.get(first_call + at).copied());
        if let Some(message) = said.message(dialect, is_thinking, |at| result(at).is_some()) {
            messages.push(message);
            for (at, call) in said.calls.iter().enumerate() {
                let answer = result(at);
                if answer.is_some() || call.is_whole() {
                    let content = answer.unwrap_or_else(|| UNANSWERED.to_owned());
                    messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
                }
            }
        }
        first_call += said.calls.len();
    }
}

/// What a stored response said, or `None` when it is not whole: then it must not go back as the model's own.
pub fn read_again(dialect: &'static Dialect, raw: &[u8]) -> Option<Said> {
    let mut decoder = ChatDecoder::keeping_message(dialect);
    let mut items = Vec::new();
    decoder.feed(raw, &mut items);
    let outcome = decoder.finish(&mut items);
    outcome.complete.then(|| decoder.into_reader().into_said()).flatten()
}

fn result_of(blocks: &[Block], call: Option<BlockId>) -> Option<String> {
    let call = call?;
    blocks.iter().find_map(|block| match &block.content {
        Content::ToolResult { result, .. } if block.parent_block_id == Some(call) => Some(match result {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
