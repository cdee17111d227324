//! Request body of Messages: deterministic bytes from the path (docs/reference/domain.md 4.7,
//! docs/reference/providers.md 3.1, 3.5, 9).

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::anthropic::message::{self, AnthropicReply, ThinkingToSend};
use crate::anthropic::models::{self, ClaudeGeneration};
use crate::anthropic::stream::MessagesDecoder;
use crate::history::{UNANSWERED, UserPart};
use crate::pictures;
use crate::provider::{ChatRequest, HistoryTurn, InputImage};
use crate::sampling::SamplingNames;
use crate::tool_schema::fit_tools;
use crate::tool_schema::subset::SchemaSubset;
use turnleaf_domain::Role;
use turnleaf_domain::branches::branch::ContextPolicy;
use turnleaf_domain::providers::repair::ReasoningMembers;

/// The text of a user message that is sent only because the API requires one.
const CONTINUE_TEXT: &str = "Continue.";
/// The beginning of the result of a failed call that has images.
const FAILED_TEXT: &str = "The tool reported an error:";
/// `max_tokens` is always sent, because the API requires it.
const SAMPLING: SamplingNames =
    SamplingNames { max_tokens: None, top_p: "top_p", top_k: Some("top_k"), stop_sequences: Some("stop_sequences") };

/// Returns the exact body. Equal requests give equal bytes, and a longer history starts with the same messages.
/// `is_official` says that the endpoint is Anthropic's own, which requires signatures.
pub fn body(request: &ChatRequest, is_official: bool) -> Bytes {
    let params = &request.params;
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    let max_tokens = models::max_tokens(params.max_tokens, &request.capabilities);
    set("model", json!(request.model));
    set("max_tokens", json!(max_tokens));
    if let Some(system) = request.instructions() {
        set("system", json!(system));
    }
    let unsigned =
        thinking_to_send(&request.model, is_official, request.reasoning_members == ReasoningMembers::Required);
    let (messages, container) = messages(request, &request.history, unsigned);
    set("messages", Value::Array(messages));
    if let Some(container) = container {
        set("container", json!(container));
    }
    set("stream", json!(true));
    let (thinking, effort) =
        models::thinking_params(&request.model, &request.capabilities, request.thinking, max_tokens);
    if let Some(mut thinking) = thinking {
        let is_on = thinking["type"] != "disabled";
        if request.policy == ContextPolicy::SignaturesOnly
            && is_on
            && ClaudeGeneration::from_model(&request.model).can_hide_thinking
        {
            thinking["display"] = json!("omitted");
        }
        set("thinking", thinking);
    }
    if let Some(effort) = effort {
        set("output_config", json!({"effort": effort}));
    }
    SAMPLING.put(params, &mut set);
    let tools = fit_tools(&request.tools, SchemaSubset::Anthropic)
        .into_iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}));
    let tools: Vec<Value> =
        tools.chain(request.provider_tools.iter().filter_map(|tool| models::provider_tool(tool))).collect();
    if !tools.is_empty() {
        set("tools", tools.into());
    }
    pictures::serialize_body(body, request)
}

/// Messages with alternating roles that start and end with the user.
#[derive(Default)]
struct Messages {
    all: Vec<(Role, Vec<Value>)>,
}

impl Messages {
    /// Appends content; it joins the last message if that has the same role.
    fn push(&mut self, role: Role, content: impl IntoIterator<Item = Value>) {
        let mut content = content.into_iter().peekable();
        if content.peek().is_none() {
            return;
        }
        if role == Role::Assistant && self.all.is_empty() {
            self.push(Role::User, message::text_block(CONTINUE_TEXT));
        }
        match self.all.last_mut().filter(|(last, _)| *last == role) {
            Some((_, before)) => before.extend(content),
            None => self.all.push((role, content.collect())),
        }
    }
}

/// Counts the messages before this reply's own steps.
pub fn message_count_before_steps(request: &ChatRequest) -> usize {
    // The number of messages does not depend on their thinking.
    messages(request, request.split_at_steps().0, ThinkingToSend::Signed).0.len()
}

/// Returns the thinking that may go back. Anthropic and the servers in front of its models require signatures. Other
/// servers get what they sent; one that requires thinking back gets all of it, whatever its model is called.
pub fn thinking_to_send(model: &str, is_official: bool, is_required: bool) -> ThinkingToSend {
    let needs_signatures = is_official || model.to_ascii_lowercase().contains("claude");
    if needs_signatures && !is_required { ThinkingToSend::Signed } else { ThinkingToSend::All }
}

/// Returns the messages, and the container in which the code of a paused reply ran, so that its continuation finds
/// the files there. Without a pause no container is named, because it expires some minutes after its last use.
fn messages(request: &ChatRequest, history: &[HistoryTurn], thinking: ThinkingToSend) -> (Vec<Value>, Option<String>) {
    let mut messages = Messages::default();
    let mut paused: Option<Option<String>> = None;
    for (at, turn) in history.iter().enumerate() {
        match turn.role {
            Role::User => messages.push(Role::User, turn.user_parts().into_iter().filter_map(user_part)),
            // The API has no such role inside of the messages; a tag marks the text as the operator's.
            Role::System => {
                let text = turn.plain_text();
                let marked = (!text.trim().is_empty()).then(|| format!("<system>\n{text}\n</system>"));
                messages.push(Role::User, marked.as_deref().and_then(message::text_block));
            }
            Role::Assistant => {
                let is_last = at + 1 == history.len();
                let thinking = if leaves_out_thinking(request, turn) { ThinkingToSend::Omitted } else { thinking };
                paused = push_assistant(&mut messages, turn, thinking, is_last);
            }
        }
    }
    // Models since 4.6 refuse to continue an assistant message, except one that they paused
    // (docs/reference/providers.md 2.6).
    let stays_open = paused.is_some() || request.is_continuation;
    if messages.all.last().is_some_and(|(role, _)| *role == Role::Assistant) && !stays_open {
        messages.push(Role::User, message::text_block(CONTINUE_TEXT));
    }
    let written = |(role, content): (Role, Vec<Value>)| match role {
        Role::Assistant => message::assistant_message(content.into()),
        _ => json!({"role": "user", "content": content}),
    };
    (messages.all.into_iter().map(written).collect(), paused.flatten())
}

/// Returns true if a turn goes back without its thinking: the provider refused it, or the policy of the branch omits
/// it from every turn but the one that is being written. With prefix binding the policy is ignored, because the later
/// signatures would become invalid, too.
fn leaves_out_thinking(request: &ChatRequest, turn: &HistoryTurn) -> bool {
    let is_by_policy = request.policy == ContextPolicy::OmitCompleted
        && !ClaudeGeneration::from_model(&request.model).is_bound_to_prefix
        && request.split_at_steps().1.is_none_or(|steps| !std::ptr::eq(steps, turn));
    turn.leaves_out_reasoning || is_by_policy
}

/// Appends an assistant turn: as the model wrote it if its raw responses are stored, otherwise its plain text, if it
/// has any. If the turn ends with a paused reply, returns the container of that reply, if there is one.
fn push_assistant(
    messages: &mut Messages,
    turn: &HistoryTurn,
    thinking: ThinkingToSend,
    is_last: bool,
) -> Option<Option<String>> {
    if turn.raw.is_empty() {
        messages.push(Role::Assistant, message::text_block(&turn.plain_text()));
        return None;
    }
    let mut steps: Vec<AnthropicReply> =
        turn.raw.iter().map(|raw| AnthropicReply::clone(&raw.read_cached("anthropic", parse_stored_reply))).collect();
    // A pause with nothing after it was an interruption: the user stopped the reply before it was continued.
    if let Some(last) = steps.iter_mut().rev().find(|step| !step.blocks.is_empty()).filter(|_| !is_last) {
        last.is_complete &= !last.is_paused;
        last.is_paused = false;
    }
    let mut first_call = 0;
    for step in &steps {
        let result = |at: usize| turn.tool_result_text(first_call + at);
        let sent = step.content_to_send(thinking, |at| result(at).is_some());
        messages.push(Role::Assistant, sent.content);
        let images = |at: usize| turn.tool_result_images(first_call + at).map(image).collect();
        messages.push(Role::User, sent.calls.iter().map(|(at, id)| tool_result(id, result(*at), images(*at))));
        first_call += step.call_count();
    }
    steps.last().filter(|step| step.is_paused)?;
    Some(steps.into_iter().rev().find_map(|step| step.container))
}

/// Decodes a stored response, complete or not.
pub fn parse_stored_reply(raw: &[u8]) -> AnthropicReply {
    let (reader, is_complete) = MessagesDecoder::keeping_reply().read_stored(raw);
    AnthropicReply { is_complete, ..reader.into_reply() }
}

fn user_part(part: UserPart<'_>) -> Option<Value> {
    match part {
        UserPart::Text(text) => message::text_block(&text),
        UserPart::Image(shown) => Some(image(shown)),
    }
}

fn image(shown: &InputImage) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": shown.mime, "data": shown.base64_placeholder()}})
}

/// Returns the result of a call. The API refuses an error with anything but text, so one with images says it in words.
fn tool_result(id: &str, answer: Option<(String, bool)>, images: Vec<Value>) -> Value {
    let (text, is_error) = answer.unwrap_or_else(|| (UNANSWERED.to_owned(), true));
    let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    if !images.is_empty() {
        let text = if is_error { format!("{FAILED_TEXT}\n\n{text}") } else { text };
        result["content"] = message::text_block(&text).into_iter().chain(images).collect();
    } else if is_error {
        result["is_error"] = json!(true);
    }
    result
}

#[cfg(test)]
pub(super) mod tests;
