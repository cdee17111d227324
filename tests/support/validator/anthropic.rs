//! The rules of Anthropic Messages (docs/reference/providers.md 3).

use serde_json::{Map, Value, json};

use super::anthropic_models::{AnthropicModelRules, AnthropicThinkingRule, find};
use super::memory::ProviderMemory;
use super::script::{EncodedReply, ScriptedReply};
use super::{
    ApiProtocol, KEY, ProviderRefusal, ProviderRequest, anthropic_built_in_tools, anthropic_stream, refuse,
    tool_schemas,
};

pub struct MessagesProtocol;

const KEYS: [&str; 19] = [
    "model",
    "max_tokens",
    "system",
    "messages",
    "stream",
    "thinking",
    "output_config",
    "tools",
    "tool_choice",
    "stop_sequences",
    "metadata",
    "temperature",
    "top_p",
    "top_k",
    "service_tier",
    "mcp_servers",
    "container",
    "context_management",
    "cache_control",
];
const BINDING: &str = "thinking-binding-controls-2026-08-01";

impl ApiProtocol for MessagesProtocol {
    fn judge(&self, request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
        headers(request)?;
        if let Some(key) =
            request.body.as_object().into_iter().flat_map(Map::keys).find(|key| !KEYS.contains(&key.as_str()))
        {
            refuse!("{key}: Extra inputs are not permitted");
        }
        let Some(model) = find(request.text("model")) else {
            return Err(ProviderRefusal::new(404, format!("model: {}", request.text("model"))));
        };
        let max_tokens = request.body["max_tokens"].as_u64().unwrap_or_default();
        if request.body.get("max_tokens").is_none() {
            refuse!("max_tokens: Field required");
        }
        if max_tokens > model.ceiling {
            refuse!(
                "max_tokens: {max_tokens} > {}, which is the maximum allowed number of output tokens for {}",
                model.ceiling,
                model.id
            );
        }
        let thinks = thinking(request, model, max_tokens)?;
        sampling(request, model, thinks)?;
        tools(request, thinks)?;
        let system = &request.body["system"];
        if system == "" || system.as_array().into_iter().flatten().any(|block| block["text"] == "") {
            refuse!("system: text content blocks must be non-empty");
        }
        roles(request, model, memory)?;
        for (at, message) in request.list("messages").iter().enumerate() {
            blocks(at, message)?;
            calls(at, request.list("messages"))?;
            let is_paused = at + 1 == request.list("messages").len() && self.resumes_pause(request, memory);
            anthropic_built_in_tools::check_calls(at, content_blocks(message), is_paused, request, memory)?;
            thoughts(at, request, model, memory)?;
        }
        tool_loop(request, model, memory)
    }

    fn error_document(&self, refusal: &ProviderRefusal) -> Value {
        let kind = match refusal.status {
            401 => "authentication_error",
            404 => "not_found_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": refusal.message}, "request_id": "req_011"})
    }

    fn fixed_fields(&self, request: &ProviderRequest) -> Value {
        json!([request.body["system"], request.body["tools"]])
    }

    fn is_tool_result(&self, message: &Value) -> bool {
        content_blocks(message).iter().any(|block| block["type"] == "tool_result")
    }

    fn plain_text(&self, message: &Value) -> String {
        if let Some(text) = message["content"].as_str() {
            return text.to_owned();
        }
        content_blocks(message).iter().filter_map(|block| block["text"].as_str()).collect()
    }

    fn resumes_pause(&self, request: &ProviderRequest, memory: &ProviderMemory) -> bool {
        let messages = request.list("messages");
        messages.split_last().is_some_and(|(last, before)| {
            memory
                .replies_of(&request.provider, request.text("model"))
                .any(|sent| sent.is_paused && sent.content == content_blocks(last) && sent.before == before)
        })
    }

    fn content(&self, message: Option<Value>) -> Vec<Value> {
        message.as_ref().map(content_blocks).unwrap_or_default().to_vec()
    }

    fn is_same(&self, block: &[Value], back: &[Value]) -> bool {
        matches!(back, [message] if content_blocks(message) == block)
    }

    fn encode_reply(&self, request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply {
        anthropic_stream::encode_reply(request, scripted, number)
    }
}

fn headers(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let key = request.header("x-api-key").or_else(|| request.header("authorization")?.strip_prefix("Bearer "));
    match key {
        None => return Err(ProviderRefusal::new(401, "x-api-key header is required")),
        Some(key) if key != KEY => return Err(ProviderRefusal::new(401, "invalid x-api-key")),
        Some(_) => {}
    }
    match request.header("anthropic-version") {
        None => refuse!("anthropic-version: header is required"),
        Some("2023-06-01" | "2026-10-21") => Ok(()),
        Some(other) => refuse!("anthropic-version: \"{other}\" is not a valid version"),
    }
}

/// Checks the effort and thinking parameters and returns whether the model thinks.
fn thinking(request: &ProviderRequest, model: &AnthropicModelRules, max_tokens: u64) -> Result<bool, ProviderRefusal> {
    let thinking = &request.body["thinking"];
    let kind = thinking["type"].as_str();
    let effort = request.body.pointer("/output_config/effort").and_then(Value::as_str);
    if let Some(effort) = effort {
        if model.efforts.is_empty() {
            refuse!("This model does not support the effort parameter.");
        }
        if !model.efforts.contains(&effort) {
            refuse!(
                "This model does not support effort level '{effort}'. Supported levels: {}.",
                model.efforts.join(", ")
            );
        }
        if model.off_is_gentle && kind == Some("disabled") && matches!(effort, "xhigh" | "max") {
            refuse!("\"thinking.type.disabled\" is not supported with effort level '{effort}'");
        }
    }
    match (kind, model.thinks) {
        (None | Some("disabled"), AnthropicThinkingRule::Never) => {}
        (_, AnthropicThinkingRule::Never) => refuse!("'{}' does not support thinking.", request.text("model")),
        (Some("disabled"), AnthropicThinkingRule::Always) => {
            refuse!("\"thinking.type.disabled\" is not supported for this model.")
        }
        (Some("enabled"), AnthropicThinkingRule::Adaptive | AnthropicThinkingRule::Always) => refuse!(
            "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior."
        ),
        (Some("adaptive"), AnthropicThinkingRule::Budget) => {
            refuse!("adaptive thinking is not supported on this model")
        }
        (Some("enabled"), _) => {
            let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
            if budget < 1024 {
                refuse!("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
            }
            if budget >= max_tokens {
                refuse!("`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation");
            }
        }
        (None | Some("disabled" | "adaptive"), _) => {}
        (Some(other), _) => {
            refuse!("thinking: Input tag '{other}' found using 'type' does not match any of the expected tags")
        }
    }
    if !thinking["block_binding"].is_null() {
        let betas = request.header("anthropic-beta").unwrap_or_default();
        if !betas.split(',').any(|beta| beta.trim() == BINDING) || !model.is_bound {
            refuse!("thinking.{}.block_binding: Extra inputs are not permitted", kind.unwrap_or_default());
        }
    }
    Ok(match kind {
        Some("enabled" | "adaptive") => true,
        Some(_) => false,
        None => model.thinks == AnthropicThinkingRule::Always,
    })
}

fn sampling(request: &ProviderRequest, model: &AnthropicModelRules, thinks: bool) -> Result<(), ProviderRefusal> {
    let given = |key: &str| request.body.get(key).and_then(Value::as_f64);
    let (temperature, top_p, top_k) = (given("temperature"), given("top_p"), given("top_k"));
    for (key, value) in [("temperature", temperature), ("top_p", top_p), ("top_k", top_k)] {
        if model.refuses_sampling && value.is_some() {
            refuse!("`{key}` is deprecated for this model.");
        }
    }
    if temperature.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        refuse!("temperature: range: 0..1");
    }
    if model.one_of_two && temperature.is_some() && top_p.is_some() {
        refuse!("`temperature` and `top_p` cannot both be specified for this model. Please use only one.");
    }
    if thinks && temperature.is_some_and(|value| value != 1.0) {
        refuse!("`temperature` may only be set to 1 when thinking is enabled.");
    }
    if thinks && top_p.is_some_and(|value| value < 0.95) {
        refuse!("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.");
    }
    if thinks && top_k.is_some() {
        refuse!("`top_k` must be unset when thinking is enabled.");
    }
    let is_blank = |text: &Value| text.as_str().is_none_or(|text| text.trim().is_empty());
    if request.list("stop_sequences").iter().any(is_blank) {
        refuse!("stop_sequences: each stop sequence must contain non-whitespace");
    }
    Ok(())
}

fn tools(request: &ProviderRequest, thinks: bool) -> Result<(), ProviderRefusal> {
    let mut names = Vec::new();
    for (at, tool) in request.list("tools").iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > 128 || !name.chars().all(is_plain) {
            refuse!("tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'");
        }
        if names.contains(&name) {
            refuse!("tools: Tool names must be unique.");
        }
        match tool["type"].as_str() {
            None | Some("custom") => tool_schemas::check_anthropic(at, &tool["input_schema"])?,
            Some(kind) => anthropic_built_in_tools::check_tool(at, kind, tool)?,
        }
        names.push(name);
    }
    let forced = matches!(request.body["tool_choice"]["type"].as_str(), Some("any" | "tool"));
    if thinks && forced {
        refuse!("Thinking may not be enabled when tool_choice forces tool use.");
    }
    Ok(())
}

pub fn content_blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

fn is_kind(block: &Value, kind: &str) -> bool {
    block["type"] == kind
}

fn is_thought(block: &Value) -> bool {
    is_kind(block, "thinking") || is_kind(block, "redacted_thinking")
}

fn roles(
    request: &ProviderRequest,
    model: &AnthropicModelRules,
    memory: &ProviderMemory,
) -> Result<(), ProviderRefusal> {
    let messages = request.list("messages");
    let Some(last) = messages.last() else { refuse!("messages: at least one message is required") };
    if messages[0]["role"] != "user" {
        refuse!("messages: first message must use the \"user\" role");
    }
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "user" && role != "assistant" {
            refuse!("messages.{at}.role: Input should be 'user' or 'assistant'");
        }
        if at > 0 && messages[at - 1]["role"] == role {
            refuse!(
                "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{role}\" roles in a row"
            );
        }
    }
    if last["role"] == "assistant" && !MessagesProtocol.resumes_pause(request, memory) {
        if !model.allows_prefill {
            refuse!(
                "This model does not support assistant message prefill. The conversation must end with a user message."
            );
        }
        if MessagesProtocol.plain_text(last).ends_with(char::is_whitespace) {
            refuse!("messages: final assistant content cannot end with trailing whitespace");
        }
    }
    Ok(())
}

fn blocks(at: usize, message: &Value) -> Result<(), ProviderRefusal> {
    let is_empty = match &message["content"] {
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        _ => refuse!("messages.{at}.content: Field required"),
    };
    if is_empty {
        refuse!(
            "messages.{at}: all messages must have non-empty content except for the optional final assistant message"
        );
    }
    for (place, block) in content_blocks(message).iter().enumerate() {
        let missing = |key: &str| block.get(key).is_none();
        match block["type"].as_str().unwrap_or_default() {
            "text" => match block["text"].as_str() {
                None => refuse!("messages.{at}.content.{place}.text.text: Field required"),
                Some("") => refuse!("messages: text content blocks must be non-empty"),
                Some(text) if text.trim().is_empty() => {
                    refuse!("messages: text content blocks must contain non-whitespace text")
                }
                Some(_) => {}
            },
            "thinking" if missing("thinking") => {
                refuse!("messages.{at}.content.{place}.thinking.thinking: Field required")
            }
            "thinking" if missing("signature") => {
                refuse!("messages.{at}.content.{place}.thinking.signature: Field required")
            }
            "redacted_thinking" if missing("data") => {
                refuse!("messages.{at}.content.{place}.redacted_thinking.data: Field required")
            }
            "tool_use" if !block["input"].is_object() => {
                refuse!("messages.{at}.content.{place}.tool_use.input: Input should be a valid dictionary")
            }
            "" => refuse!("messages.{at}.content.{place}.type: Field required"),
            _ => {}
        }
        if is_thought(block) && message["role"] != "assistant" {
            refuse!("messages.{at}.content.{place}: thinking blocks may only be in `assistant` messages");
        }
    }
    Ok(())
}

/// Checks calls and results: all calls are answered in the very next message, and results come first in it.
fn calls(at: usize, messages: &[Value]) -> Result<(), ProviderRefusal> {
    let ids = |message: Option<&Value>, kind: &str, key: &str| -> Vec<String> {
        let blocks = message.map_or(&[][..], content_blocks);
        blocks
            .iter()
            .filter(|block| is_kind(block, kind))
            .filter_map(|block| Some(block[key].as_str()?.to_owned()))
            .collect()
    };
    let message = &messages[at];
    if message["role"] == "user" {
        let before = at.checked_sub(1).and_then(|before| messages.get(before));
        let call_ids = ids(before, "tool_use", "id");
        let mut seen: Vec<&str> = Vec::new();
        for (place, block) in
            content_blocks(message).iter().enumerate().filter(|(_, block)| is_kind(block, "tool_result"))
        {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            if !call_ids.iter().any(|known| known == id) {
                refuse!(
                    "messages.{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                );
            }
            if seen.contains(&id) {
                refuse!(
                    "messages.{at}.content.{place}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
                );
            }
            seen.push(id);
        }
        return Ok(());
    }
    let call_ids = ids(Some(message), "tool_use", "id");
    let mut all: Vec<String> = messages.iter().flat_map(|message| ids(Some(message), "tool_use", "id")).collect();
    all.sort_unstable();
    if all.windows(2).any(|pair| pair[0] == pair[1]) {
        refuse!("messages: `tool_use` ids must be unique");
    }
    let next = messages.get(at + 1).map_or(&[][..], content_blocks);
    let first: Vec<&str> = next
        .iter()
        .take_while(|block| is_kind(block, "tool_result"))
        .filter_map(|block| block["tool_use_id"].as_str())
        .collect();
    let left: Vec<&String> = call_ids.iter().filter(|id| !first.contains(&id.as_str())).collect();
    if !left.is_empty() {
        refuse!(
            "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            left[0]
        );
    }
    Ok(())
}

/// Checks that every thinking block was produced by this model and came back unchanged, in its place, and (on bound
/// models) in its conversation.
fn thoughts(
    at: usize,
    request: &ProviderRequest,
    model: &AnthropicModelRules,
    memory: &ProviderMemory,
) -> Result<(), ProviderRefusal> {
    let messages = request.list("messages");
    let message = &messages[at];
    for (place, block) in content_blocks(message).iter().enumerate().filter(|(_, block)| is_thought(block)) {
        let key = if is_kind(block, "thinking") { "signature" } else { "data" };
        let known = memory.find(&request.provider, request.text("model"), |known_block| {
            known_block[key] == block[key] && known_block["type"] == block["type"]
        });
        let Some((sent, was)) = known.filter(|_| block[key] != "") else {
            refuse!(
                "messages.{at}.content.{place}: Invalid `{key}` in `{}` block",
                block["type"].as_str().unwrap_or_default()
            );
        };
        let original = &sent.content[was];
        if block["thinking"] == "" && original["thinking"] != "" {
            refuse!("messages.{at}.content.{place}.thinking: each thinking block must contain thinking");
        }
        let is_moved = content_blocks(message).iter().take(place).filter(|block| is_thought(block)).count()
            != sent.content.iter().take(was).filter(|block| is_thought(block)).count();
        if block["thinking"] != original["thinking"] || is_moved {
            refuse!(
                "messages.{at}.content.{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
            );
        }
        let is_unbound = sent.before != messages[..at]
            || sent.fixed_fields != MessagesProtocol.fixed_fields(request)
            || sent.content[..was] != content_blocks(message)[..place];
        if model.is_bound && is_unbound {
            refuse!(
                "messages.{at}.content.{place}: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
            );
        }
    }
    Ok(())
}

/// Checks that a turn within a tool loop begins with its original thinking.
fn tool_loop(
    request: &ProviderRequest,
    model: &AnthropicModelRules,
    memory: &ProviderMemory,
) -> Result<(), ProviderRefusal> {
    let messages = request.list("messages");
    let is_person = |message: &Value| {
        message["role"] == "user"
            && (message["content"].is_string()
                || content_blocks(message).iter().any(|block| !is_kind(block, "tool_result")))
    };
    let begin = messages.iter().rposition(is_person).map_or(0, |at| at + 1);
    let is_budget = request.body["thinking"]["type"] == "enabled";
    for (at, message) in messages.iter().enumerate().skip(begin).filter(|(_, message)| message["role"] == "assistant") {
        let blocks = content_blocks(message);
        let id = blocks.iter().find(|block| is_kind(block, "tool_use")).map(|block| block["id"].clone());
        let Some(id) = id else { continue };
        let sent = memory
            .find(&request.provider, request.text("model"), |known_block| known_block["id"] == id)
            .map(|(sent, _)| sent);
        let thoughts = |blocks: &[Value]| blocks.iter().filter(|block| is_thought(block)).count();
        let had = sent.map_or(0, |sent| thoughts(&sent.content));
        let thinks = model.thinks != AnthropicThinkingRule::Never
            && request.body["thinking"]["type"] != "disabled"
            && (is_budget || !request.body["thinking"].is_null());
        let needs = thinks && ((is_budget && at == begin) || had > 0);
        if needs
            && !blocks.first().is_some_and(is_thought)
            && (had == 0 || sent.is_some_and(|sent| is_thought(&sent.content[0])))
        {
            refuse!(
                "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
                blocks[0]["type"].as_str().unwrap_or_default()
            );
        }
        if thinks && thoughts(blocks) != had && had > 0 {
            refuse!(
                "messages.{at}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
            );
        }
    }
    Ok(())
}
