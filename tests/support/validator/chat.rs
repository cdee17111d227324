//! The rules of chat completions, at OpenAI and at compatible servers (docs/reference/providers.md 4, 5).

use serde_json::{Map, Value, json};

use super::chat_models::find;
use super::memory::ProviderMemory;
use super::script::{EncodedReply, ScriptedReply};
use super::{ApiProtocol, KEY, ProviderRefusal, ProviderRequest, chat_stream, refuse, tool_schemas};

/// The servers that speak chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatProtocol {
    OpenAi,
    DeepSeek,
    OpenRouter,
    Mistral,
    Zai,
    LlamaCpp,
    Ollama,
    /// A server that no dialect knows and that refuses members it does not know, as Cerebras does.
    Generic,
}

/// Returns the dialect of an account with this name.
pub fn protocol_of_provider(provider: &str) -> &'static ChatProtocol {
    match provider {
        "deepseek" => &ChatProtocol::DeepSeek,
        "openrouter" => &ChatProtocol::OpenRouter,
        "mistral" => &ChatProtocol::Mistral,
        "zai" => &ChatProtocol::Zai,
        "llamacpp" => &ChatProtocol::LlamaCpp,
        "ollama-v1" => &ChatProtocol::Ollama,
        "generic" => &ChatProtocol::Generic,
        _ => &ChatProtocol::OpenAi,
    }
}

/// Returns whether an open model takes a thinking switch at Ollama.
pub fn is_local_thinking_model(model: &str) -> bool {
    ["qwen3", "gpt-oss", "deepseek-r1", "magistral"].iter().any(|family| model.contains(family))
}

impl ApiProtocol for ChatProtocol {
    fn judge(&self, request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
        let is_local = matches!(self, Self::LlamaCpp | Self::Ollama);
        match request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")) {
            None if !is_local => return Err(ProviderRefusal::new(401, "You didn't provide an API key.")),
            Some(key) if key != KEY => {
                return Err(ProviderRefusal::new(401, format!("Incorrect API key provided: {key}.")));
            }
            _ => {}
        }
        if request.list("messages").is_empty() {
            refuse!(
                "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
            );
        }
        match self {
            Self::OpenAi => openai(request)?,
            Self::DeepSeek => deepseek(request)?,
            Self::OpenRouter => openrouter(request, memory)?,
            Self::Mistral => mistral(request)?,
            Self::Zai => {}
            Self::LlamaCpp | Self::Ollama => local(*self, request)?,
            Self::Generic => generic(request, memory)?,
        }
        pairs(request, *self)
    }

    fn error_document(&self, refusal: &ProviderRefusal) -> Value {
        let message = &refusal.message;
        match self {
            Self::Mistral => {
                json!({"object": "error", "message": message, "type": "invalid_request_error", "param": null, "code": null})
            }
            Self::OpenRouter => json!({"error": {"message": message, "code": refusal.status}, "user_id": "user_1"}),
            Self::LlamaCpp => {
                json!({"error": {"code": refusal.status, "message": message, "type": "invalid_request_error"}})
            }
            _ => json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}}),
        }
    }

    fn fixed_fields(&self, request: &ProviderRequest) -> Value {
        request.body["tools"].clone()
    }

    fn is_tool_result(&self, message: &Value) -> bool {
        message["role"] == "tool"
    }

    fn plain_text(&self, message: &Value) -> String {
        match &message["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        }
    }

    fn is_same(&self, sent: &[Value], back: &[Value]) -> bool {
        let bare = |message: &Value| {
            let mut message = message.clone();
            if let Some(fields) = message.as_object_mut() {
                // A missing field, null and an empty text are equivalent.
                fields.retain(|_, value| !value.is_null() && *value != json!(""));
                if *self == Self::Generic {
                    // Only tool loops need it, by a rule of its own.
                    fields.remove("reasoning");
                }
            }
            message
        };
        sent.len() == back.len() && sent.iter().zip(back).all(|(sent, back)| bare(sent) == bare(back))
    }

    fn encode_reply(&self, request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply {
        chat_stream::encode_reply(*self, request, scripted, number)
    }
}

const OPENAI_KEYS: [&str; 27] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
    "n",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "seed",
    "user",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "store",
    "service_tier",
    "prompt_cache_key",
    "safety_identifier",
];
const OPENAI_MESSAGE_KEYS: [&str; 8] =
    ["role", "content", "name", "refusal", "audio", "tool_calls", "function_call", "tool_call_id"];

fn unknown_key<'a>(value: &'a Value, known: &[&str]) -> Option<&'a String> {
    value.as_object().into_iter().flat_map(Map::keys).find(|key| !known.contains(&key.as_str()))
}

fn openai(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    if let Some(key) = unknown_key(&request.body, &OPENAI_KEYS) {
        refuse!("Unrecognized request argument supplied: {key}");
    }
    let Some(model) = find(request.text("model")) else {
        return Err(ProviderRefusal::new(
            404,
            format!("The model `{}` does not exist or you do not have access to it.", request.text("model")),
        ));
    };
    let effort = request.body.get("reasoning_effort").and_then(Value::as_str);
    if let Some(effort) = effort {
        if model.efforts.is_empty() {
            refuse!("Unrecognized request argument supplied: reasoning_effort");
        }
        if !model.efforts.contains(&effort) {
            refuse!(
                "Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. Supported values are: {}.",
                model.supported_efforts()
            );
        }
    }
    if request.body.get("max_tokens").is_some() && model.begins != "gpt-4" && model.begins != "gpt-3.5" {
        refuse!(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        );
    }
    if model.refuses_sampling(effort) {
        if let Some(value) = request.body.get("temperature").filter(|value| value.as_f64() != Some(1.0)) {
            refuse!(
                "Unsupported value: 'temperature' does not support {value} with this model. Only the default (1) value is supported."
            );
        }
        for key in ["top_p", "stop", "presence_penalty", "frequency_penalty", "logprobs"] {
            if request.body.get(key).is_some() {
                refuse!("Unsupported parameter: '{key}' is not supported with this model.");
            }
        }
    }
    for (at, tool) in request.list("tools").iter().enumerate() {
        tool_schemas::check_openai(&format!("tools[{at}].function"), &tool["function"])?;
    }
    if request.list("stop").len() > 4 {
        refuse!(
            "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length {} instead.",
            request.list("stop").len()
        );
    }
    if request.body.get("stream_options").is_some() && request.body["stream"] != true {
        refuse!("The 'stream_options' parameter is only allowed when 'stream' is enabled.");
    }
    for (at, message) in request.list("messages").iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
            refuse!(
                "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
            );
        }
        if !model.allows_system && matches!(role, "system" | "developer") {
            refuse!("Unsupported value: 'messages[{at}].role' does not support '{role}' with this model.");
        }
        if let Some(key) = unknown_key(message, &OPENAI_MESSAGE_KEYS) {
            refuse!("Unknown parameter: 'messages[{at}].{key}'.");
        }
        let has_calls = message.get("tool_calls").is_some();
        if message["content"].is_null() && !(role == "assistant" && (has_calls || message["refusal"].is_string())) {
            refuse!("Invalid value for 'content': expected a string, got null.");
        }
        if has_calls && message["tool_calls"].as_array().is_none_or(Vec::is_empty) {
            refuse!(
                "Invalid 'messages[{at}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."
            );
        }
    }
    Ok(())
}

/// In thinking mode, every turn that called tools must include its reasoning.
fn deepseek(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let thinks = request.text("model") == "deepseek-reasoner"
        || (request.text("model") != "deepseek-chat" && request.body["thinking"]["type"] != "disabled");
    if thinks && matches!(request.body["tool_choice"].as_str(), Some("required")) {
        refuse!("deepseek-reasoner does not support this tool_choice");
    }
    if let Some(effort) = request
        .body
        .get("reasoning_effort")
        .filter(|effort| !matches!(effort.as_str(), Some("low" | "medium" | "high" | "max")))
    {
        refuse!("unknown variant `{effort}`, expected one of `high`, `low`, `medium`, `max`");
    }
    let mut has_calls = false;
    for message in request.list("messages") {
        match message["role"].as_str() {
            Some("user") => has_calls = false,
            Some("assistant") => {
                has_calls |= message.get("tool_calls").is_some();
                if thinks && has_calls && !message["reasoning_content"].is_string() {
                    refuse!("The `reasoning_content` in the thinking mode must be passed back to the API.");
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The signed reasoning of a routed model goes back unmodified and in order.
fn openrouter(request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
    let reasoning = &request.body["reasoning"];
    if reasoning.get("effort").is_some() && reasoning.get("max_tokens").is_some() {
        refuse!("Only one of \"reasoning.effort\" and \"reasoning.max_tokens\" can be specified");
    }
    // Only the text and the signature of a detail count; OpenRouter accepted requests without the other keys.
    let reasoning_parts = |details: &Value| -> Vec<Vec<Value>> {
        let keys =
            |detail: &Value| ["type", "text", "summary", "data", "signature"].map(|key| detail[key].clone()).to_vec();
        details.as_array().into_iter().flatten().map(keys).collect()
    };
    for (at, message) in request.list("messages").iter().enumerate() {
        let Some(details) = message.get("reasoning_details") else { continue };
        // Each detail is signed by itself, so a part of a truncated reply may come back.
        let is_part = |sent: &super::memory::SentReply| {
            let all = reasoning_parts(&sent.content[0]["reasoning_details"]);
            let mut rest = all.iter();
            reasoning_parts(details).iter().all(|detail| rest.any(|known| known == detail))
        };
        if !memory.replies_of(&request.provider, request.text("model")).any(is_part) {
            refuse!("Provider returned error: messages.{at}.content.0: Invalid `signature` in `thinking` block");
        }
    }
    let messages = request.list("messages");
    let begin = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    for (at, message) in messages.iter().enumerate().skip(begin) {
        let id = &message["tool_calls"][0]["id"];
        let made = |sent: &&super::memory::SentReply| sent.content[0]["tool_calls"][0]["id"] == *id && !id.is_null();
        let sent = memory.replies_of(&request.provider, request.text("model")).find(made);
        if sent.is_some_and(|sent| sent.content[0].get("reasoning_details").is_some())
            && message.get("reasoning_details").is_none()
        {
            refuse!(
                "Provider returned error: messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
            );
        }
    }
    Ok(())
}

/// Reasoning goes back in the member in which it was sent, and a tool loop needs that of each call.
fn generic(request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
    let messages = request.list("messages");
    let begin = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    for (at, message) in messages.iter().enumerate() {
        let known = ["role", "content", "name", "tool_calls", "tool_call_id", "reasoning"];
        if let Some(key) = unknown_key(message, &known) {
            refuse!("messages.{at}.{key}: property 'messages.{at}.{key}' is unsupported");
        }
        let id = &message["tool_calls"][0]["id"];
        let made = |sent: &&super::memory::SentReply| sent.content[0]["tool_calls"][0]["id"] == *id && !id.is_null();
        let Some(sent) = memory.replies_of(&request.provider, request.text("model")).find(made) else { continue };
        let reasoning = &sent.content[0]["reasoning"];
        let (is_lost, is_changed) = (message.get("reasoning").is_none(), message["reasoning"] != *reasoning);
        if reasoning != "" && ((is_lost && at > begin) || (!is_lost && is_changed)) {
            refuse!("messages.{at}.reasoning must be passed back as it was sent");
        }
    }
    Ok(())
}

const MISTRAL_KEYS: [&str; 19] = [
    "model",
    "messages",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "stop",
    "random_seed",
    "response_format",
    "tools",
    "tool_choice",
    "presence_penalty",
    "frequency_penalty",
    "n",
    "prediction",
    "parallel_tool_calls",
    "prompt_mode",
    "reasoning_effort",
    "safe_prompt",
];
const MISTRAL_MESSAGE_KEYS: [&str; 6] = ["role", "content", "prefix", "tool_calls", "tool_call_id", "name"];

fn mistral(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    if let Some(key) = unknown_key(&request.body, &MISTRAL_KEYS) {
        return Err(ProviderRefusal::new(422, format!("extra_forbidden: body.{key}: Extra inputs are not permitted")));
    }
    let model = request.text("model");
    if request.body.get("prompt_mode").is_some() && !model.contains("magistral") {
        refuse!("Prompt mode is not supported for this model");
    }
    if let Some(effort) = request.body.get("reasoning_effort") {
        let is_hybrid = model.starts_with("mistral-small") || model.starts_with("mistral-medium");
        if !is_hybrid || !matches!(effort.as_str(), Some("high" | "none")) {
            refuse!("reasoning_effort is not supported for this model");
        }
    }
    let messages = request.list("messages");
    for (at, message) in messages.iter().enumerate() {
        if let Some(key) = unknown_key(message, &MISTRAL_MESSAGE_KEYS) {
            return Err(ProviderRefusal::new(
                422,
                format!("extra_forbidden: body.messages.{at}.{key}: Extra inputs are not permitted"),
            ));
        }
        if message["role"] == "user" && at > 0 && messages[at - 1]["role"] == "tool" {
            refuse!("Unexpected role 'user' after role 'tool'");
        }
        let is_empty = |value: &Value| value.is_null() || *value == "" || *value == json!([]);
        if message["role"] == "assistant" && is_empty(&message["content"]) && is_empty(&message["tool_calls"]) {
            refuse!("Assistant message must have either content or tool_calls, but not none.");
        }
        let parts = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        if let Some(part) = parts
            .iter()
            .find(|part| !matches!(part["type"].as_str(), Some("text" | "thinking" | "image_url" | "reference")))
        {
            return Err(ProviderRefusal::new(
                422,
                format!("union_tag_invalid: Input tag '{}' found using 'type'", part["type"]),
            ));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default();
            if id.len() != 9 || !id.chars().all(|c| c.is_ascii_alphanumeric()) {
                refuse!("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.");
            }
        }
    }
    if let Some(last) = messages.last().filter(|last| last["role"] == "assistant" && last["prefix"] != true) {
        refuse!(
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got {}",
            last["role"].as_str().unwrap_or_default()
        );
    }
    Ok(())
}

/// Checks the requirements of open models' prompt templates.
fn local(protocol: ChatProtocol, request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    if protocol == ChatProtocol::Ollama
        && let Some(effort) = request.body.get("reasoning_effort")
    {
        let word = effort.as_str().unwrap_or_default();
        if !["high", "medium", "low", "none"].contains(&word) {
            refuse!("invalid reasoning value: '{word}' (must be \"high\", \"medium\", \"low\", or \"none\")");
        }
        if word != "none" && !is_local_thinking_model(request.text("model")) {
            refuse!("\"{}\" does not support thinking", request.text("model"));
        }
    }
    let mut last = "assistant";
    for (at, message) in request.list("messages").iter().enumerate() {
        match message["role"].as_str().unwrap_or_default() {
            "system" if at == 0 => {}
            "user" if last != "user" => last = "user",
            "assistant" if last != "assistant" => last = "assistant",
            "tool" => last = "tool",
            _ => {
                return Err(ProviderRefusal::new(
                    500,
                    "Conversation roles must alternate user/assistant/user/assistant/...",
                ));
            }
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if serde_json::from_str::<Map<String, Value>>(arguments).is_err() {
                return Err(ProviderRefusal::new(
                    500,
                    format!("Failed to parse tool call arguments as JSON: {arguments}"),
                ));
            }
        }
    }
    Ok(())
}

/// Checks that every call is answered immediately, and that there are no other results.
fn pairs(request: &ProviderRequest, protocol: ChatProtocol) -> Result<(), ProviderRefusal> {
    let messages = request.list("messages");
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(place) = open.iter().position(|known| *known == id) else {
                refuse!(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                );
            };
            if !message["content"].is_string() && !message["content"].is_array() {
                refuse!(
                    "Invalid type for 'messages[{at}].content': expected one of a string or array of objects, but got null instead."
                );
            }
            open.remove(place);
            continue;
        }
        unanswered(&open, protocol)?;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let is_function = call["type"] == "function" && call["function"]["name"].is_string();
            if !is_function || !call["function"]["arguments"].is_string() {
                refuse!(
                    "Invalid type for 'messages[{at}].tool_calls[0].function.arguments': expected a string, but got an object instead."
                );
            }
            open.push(call["id"].as_str().unwrap_or_default());
        }
    }
    unanswered(&open, protocol)
}

fn unanswered(open: &[&str], protocol: ChatProtocol) -> Result<(), ProviderRefusal> {
    if open.is_empty() {
        return Ok(());
    }
    if protocol == ChatProtocol::Mistral {
        refuse!("Not the same number of function calls and responses");
    }
    refuse!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    );
}
