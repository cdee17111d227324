//! The request body of Messages: deterministic bytes out of the path (domain.md 4.7, providers.md 3.1, 3.5, 9).

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::domain::turn::content_text;
use crate::domain::{Block, BlockId, Content, Role};
use crate::server::outbound::anthropic::message::{self, Said};
use crate::server::outbound::anthropic::models;
use crate::server::outbound::anthropic::stream::MessagesDecoder;
use crate::server::outbound::provider::{ChatRequest, Decoder, HistoryTurn};

/// The result of a call that nobody answered: without one the request would be refused (reliability.md 1.3 rule 8).
const UNANSWERED: &str = "Cancelled: this tool call has no result.";
/// What a user message says that only stands there because the API demands one.
const GO_ON: &str = "Continue.";

/// The exact body. The same request gives the same bytes, and a longer history begins with the same messages.
pub fn body(request: &ChatRequest) -> Bytes {
    let params = &request.params;
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    let max_tokens = models::max_tokens(params.max_tokens, &request.capabilities);
    set("model", json!(request.model));
    set("max_tokens", json!(max_tokens));
    if let Some(system) = request.system.as_deref().filter(|text| !text.trim().is_empty()) {
        set("system", json!(system));
    }
    set("messages", Value::Array(messages(&request.history)));
    set("stream", json!(true));
    let (thinking, effort) = models::ask(&request.model, &request.capabilities, request.thinking, max_tokens);
    if let Some(thinking) = thinking {
        set("thinking", thinking);
    }
    if let Some(effort) = effort {
        set("output_config", json!({"effort": effort}));
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
        set("stop_sequences", json!(params.stop_sequences));
    }
    if !request.tools.is_empty() {
        let tools = request
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}));
        set("tools", tools.collect());
    }
    Value::Object(body).to_string().into()
}

/// Messages whose roles alternate, the first and the last of which are the user's.
#[derive(Default)]
struct Messages {
    all: Vec<(Role, Vec<Value>)>,
}

impl Messages {
    /// Adds content, to the last message where that has the same role.
    fn push(&mut self, role: Role, content: impl IntoIterator<Item = Value>) {
        let mut content = content.into_iter().peekable();
        if content.peek().is_none() {
            return;
        }
        if role == Role::Assistant && self.all.is_empty() {
            self.push(Role::User, message::plain(GO_ON));
        }
        match self.all.last_mut().filter(|(last, _)| *last == role) {
            Some((_, before)) => before.extend(content),
            None => self.all.push((role, content.collect())),
        }
    }
}

fn messages(history: &[HistoryTurn]) -> Vec<Value> {
    let mut messages = Messages::default();
    let mut is_paused = false;
    for turn in history {
        match turn.role {
            Role::User => messages.push(Role::User, message::plain(&user_text(turn))),
            // There is no such role; the words are the operator's all the same.
            Role::System => {
                let text = plain_text(turn);
                let marked = (!text.trim().is_empty()).then(|| format!("<system>\n{text}\n</system>"));
                messages.push(Role::User, marked.as_deref().and_then(message::plain));
            }
            Role::Assistant => is_paused = push_assistant(&mut messages, turn),
        }
    }
    // Models since 4.6 refuse to continue a message of their own, except one that they paused (providers.md 2.6).
    if messages.all.last().is_some_and(|(role, _)| *role == Role::Assistant) && !is_paused {
        messages.push(Role::User, message::plain(GO_ON));
    }
    let written = |(role, content): (Role, Vec<Value>)| match role {
        Role::Assistant => message::assistant(content.into()),
        _ => json!({"role": "user", "content": content}),
    };
    messages.all.into_iter().map(written).collect()
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

/// An assistant turn: as the model wrote it where all of its responses are whole, else its plain text, else nothing.
/// Gives whether it ends with a reply that the model paused.
fn push_assistant(messages: &mut Messages, turn: &HistoryTurn) -> bool {
    let steps: Option<Vec<Said>> = turn.raw.iter().map(|raw| read_again(raw)).collect();
    let Some(steps) = steps.filter(|steps| !steps.is_empty()) else {
        messages.push(Role::Assistant, message::plain(&plain_text(turn)));
        return false;
    };
    let call_ids: Vec<BlockId> = turn
        .blocks
        .iter()
        .filter(|block| matches!(block.content, Content::ToolUse { .. }))
        .map(|block| block.id)
        .collect();
    let mut first_call = 0;
    for said in &steps {
        // The n-th call of the responses is the n-th call among the blocks: ids may repeat, places do not.
        let result = |at: usize| call_ids.get(first_call + at).and_then(|call| result_of(&turn.blocks, *call));
        messages.push(Role::Assistant, said.content(|at| result(at).is_some()));
        let results = said.calls().enumerate().filter_map(|(at, (id, is_whole))| {
            let answer = result(at);
            (answer.is_some() || is_whole).then(|| tool_result(id, answer))
        });
        messages.push(Role::User, results);
        first_call += said.calls().count();
    }
    steps.last().is_some_and(|said| said.is_paused)
}

/// What a stored response said, or `None` when it is not whole: then it must not go back as the model's own.
pub fn read_again(raw: &[u8]) -> Option<Said> {
    let mut decoder = MessagesDecoder::keeping_message();
    let mut items = Vec::new();
    decoder.feed(raw, &mut items);
    let outcome = decoder.finish(&mut items);
    outcome.complete.then(|| decoder.into_reader().into_said())
}

fn tool_result(id: &str, answer: Option<(String, bool)>) -> Value {
    let (text, is_error) = answer.unwrap_or_else(|| (UNANSWERED.to_owned(), true));
    let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    if is_error {
        result["is_error"] = json!(true);
    }
    result
}

fn result_of(blocks: &[Block], call: BlockId) -> Option<(String, bool)> {
    blocks.iter().find_map(|block| match &block.content {
        Content::ToolResult { result, is_error, .. } if block.parent_block_id == Some(call) => match result {
            Value::String(text) => Some((text.clone(), *is_error)),
            other => Some((other.to_string(), *is_error)),
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests;
