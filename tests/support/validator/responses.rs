//! The rules of OpenAI's Responses (docs/reference/providers.md 6).

use serde_json::{Map, Value, json};

use super::chat_models::find;
use super::memory::ProviderMemory;
use super::script::{EncodedReply, ScriptedReply};
use super::{ApiProtocol, KEY, ProviderRefusal, ProviderRequest, refuse, responses_stream, tool_schemas};

pub struct ResponsesProtocol;

const KEYS: [&str; 22] = [
    "model",
    "input",
    "instructions",
    "stream",
    "store",
    "include",
    "reasoning",
    "previous_response_id",
    "conversation",
    "max_output_tokens",
    "text",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "truncation",
    "background",
    "prompt_cache_key",
    "service_tier",
    "temperature",
    "top_p",
    "metadata",
    "safety_identifier",
];

impl ApiProtocol for ResponsesProtocol {
    /// A response that is kept goes before the input, with the conversation that led to it.
    fn expand_request(&self, request: &ProviderRequest, memory: &ProviderMemory) -> ProviderRequest {
        let mut whole = request.clone();
        let number = request.text("previous_response_id").strip_prefix("resp_").and_then(|number| number.parse().ok());
        let place = number.and_then(|number: usize| number.checked_sub(1));
        let kept = place.and_then(|at| memory.sent.get(at));
        if let Some(kept) = kept.filter(|kept| kept.is_stored && kept.provider == request.provider)
            && let Some(fields) = whole.body.as_object_mut()
        {
            fields.remove("previous_response_id");
            let input = kept.before.iter().chain(&kept.content).chain(request.list("input")).cloned();
            fields.insert("input".into(), input.collect());
        }
        whole
    }

    fn judge(&self, request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
        match request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")) {
            None => return Err(ProviderRefusal::new(401, "Missing bearer or basic authentication in header")),
            Some(key) if key != KEY => {
                return Err(ProviderRefusal::new(401, format!("Incorrect API key provided: {key}.")));
            }
            Some(_) => {}
        }
        if let Some(key) = unknown_key(&request.body, &KEYS) {
            refuse!("Unknown parameter: '{key}'.");
        }
        parameters(request)?;
        if let Some(id) = request.body.get("previous_response_id").and_then(Value::as_str) {
            // The items of a kept response are in the input by now.
            refuse!("Previous response with id '{id}' not found.");
        }
        let input = request.list("input");
        if input.is_empty() && !request.body["input"].is_string() {
            refuse!("One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.");
        }
        for (at, item) in input.iter().enumerate() {
            shape(at, item)?;
        }
        ids(input)?;
        pairs(input)?;
        for at in 0..input.len() {
            reasoning(at, request, memory)?;
            check_continuation(at, request, memory)?;
        }
        Ok(())
    }

    fn error_document(&self, refusal: &ProviderRefusal) -> Value {
        let (param, code) = match refusal.message.as_str() {
            message if message.starts_with("Previous response") => {
                ("previous_response_id", Some("previous_response_not_found"))
            }
            message if message.contains("could not be verified") => ("input", Some("invalid_encrypted_content")),
            _ => ("input", None),
        };
        json!({"error": {"message": refusal.message, "type": "invalid_request_error", "param": param, "code": code}})
    }

    fn messages<'a>(&self, request: &'a ProviderRequest) -> &'a [Value] {
        request.list("input")
    }

    fn fixed_fields(&self, request: &ProviderRequest) -> Value {
        json!([request.body["instructions"], request.body["tools"]])
    }

    fn is_model_message(&self, item: &Value) -> bool {
        item["role"] == "assistant"
            || matches!(
                kind(item),
                "reasoning" | "function_call" | "custom_tool_call" | "web_search_call" | "code_interpreter_call"
            )
    }

    fn is_tool_result(&self, item: &Value) -> bool {
        kind(item).ends_with("_output")
    }

    fn plain_text(&self, item: &Value) -> String {
        match &item["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) if kind(item) == "message" => {
                parts.iter().filter_map(|part| part["text"].as_str()).collect()
            }
            _ => String::new(),
        }
    }

    fn is_same(&self, sent: &[Value], back: &[Value]) -> bool {
        let bare = |item: &Value| {
            let mut item = item.clone();
            if let Some(fields) = item.as_object_mut() {
                fields.remove("status");
            }
            item
        };
        sent.len() == back.len() && sent.iter().zip(back).all(|(sent, back)| bare(sent) == bare(back))
    }

    fn encode_reply(&self, request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply {
        responses_stream::encode_reply(request, scripted, number)
    }
}

fn unknown_key<'a>(value: &'a Value, known: &[&str]) -> Option<&'a String> {
    value.as_object().into_iter().flat_map(Map::keys).find(|key| !known.contains(&key.as_str()))
}

/// The type of an item; a message needs none.
fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or("message")
}

fn parameters(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let name = request.text("model");
    let Some(model) = find(name) else {
        refuse!("The requested model '{name}' does not exist.");
    };
    let effort = request.body.pointer("/reasoning/effort").and_then(Value::as_str);
    if let Some(effort) = effort {
        if model.efforts.is_empty() {
            refuse!("Unsupported parameter: 'reasoning.effort' is not supported with this model.");
        }
        if !model.efforts.contains(&effort) {
            refuse!(
                "Unsupported value: '{effort}' is not supported with the '{name}' model. Supported values are: {}.",
                model.supported_efforts()
            );
        }
    }
    if let Some(summary) = request.body.pointer("/reasoning/summary").and_then(Value::as_str) {
        if model.efforts.is_empty() || name.starts_with("o1") {
            refuse!("Unsupported parameter: 'reasoning.summary' is not supported with this model.");
        }
        if !["auto", "concise", "detailed"].contains(&summary) {
            refuse!("Invalid value: '{summary}'. Supported values are: 'concise', 'detailed', and 'auto'.");
        }
    }
    if request.list("include").iter().any(|member| member == "reasoning.encrypted_content") && model.efforts.is_empty()
    {
        refuse!("Encrypted content is not supported with this model.");
    }
    for key in ["temperature", "top_p"] {
        if request.body.get(key).is_some() && model.refuses_sampling(effort) {
            refuse!("Unsupported parameter: '{key}' is not supported with this model.");
        }
    }
    if let Some(tokens) = request.body.get("max_output_tokens").and_then(Value::as_u64).filter(|tokens| *tokens < 16) {
        refuse!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {tokens} instead."
        );
    }
    const INCLUDES: [&str; 4] = [
        "reasoning.encrypted_content",
        "web_search_call.action.sources",
        "code_interpreter_call.outputs",
        "file_search_call.results",
    ];
    if let Some(other) = request.list("include").iter().find(|member| !INCLUDES.iter().any(|known| member == known)) {
        refuse!("Invalid value: {other}. Supported values are: '{}'.", INCLUDES.join("', '"));
    }
    for (at, tool) in request.list("tools").iter().enumerate() {
        let keys: &[&str] = match tool["type"].as_str().unwrap_or_default() {
            "function" => &["type", "name", "description", "parameters", "strict"],
            "web_search" => &["type", "filters", "user_location", "search_context_size"],
            "code_interpreter" => &["type", "container"],
            "" => refuse!("Missing required parameter: 'tools[{at}].type'."),
            other => refuse!(
                "Invalid value: '{other}'. Supported values are: 'function', 'web_search', 'code_interpreter', and so on."
            ),
        };
        if let Some(key) = unknown_key(tool, keys) {
            refuse!("Unknown parameter: 'tools[{at}].{key}'.");
        }
        if tool["type"] == "function" && !tool["name"].is_string() {
            refuse!("Missing required parameter: 'tools[{at}].name'.");
        }
        if tool["type"] == "function" {
            tool_schemas::check_openai(&format!("tools[{at}]"), tool)?;
        }
        if tool["type"] == "code_interpreter" && tool["container"].is_null() {
            refuse!("Missing required parameter: 'tools[{at}].container'.");
        }
        if tool["type"] != "function" && !searches(name) {
            refuse!("Hosted tool '{}' is not supported with {name}.", tool["type"].as_str().unwrap_or_default());
        }
    }
    Ok(())
}

/// Returns whether OpenAI runs tools of its own for a model.
fn searches(model: &str) -> bool {
    ["gpt-5", "gpt-4o", "gpt-4.1", "o3", "o4"].iter().any(|family| model.starts_with(family))
}

fn shape(at: usize, item: &Value) -> Result<(), ProviderRefusal> {
    let known: &[&str] = match kind(item) {
        "message" => &["id", "type", "role", "status", "content", "phase"],
        "reasoning" => &["id", "type", "summary", "content", "encrypted_content", "status"],
        "function_call" => &["id", "type", "call_id", "name", "arguments", "status"],
        "function_call_output" => &["id", "type", "call_id", "output", "status"],
        "web_search_call" => &["id", "type", "status", "action"],
        "code_interpreter_call" => &["id", "type", "status", "code", "container_id", "outputs"],
        "custom_tool_call" | "custom_tool_call_output" => return Ok(()),
        other => refuse!(
            "Invalid value: '{other}'. Supported values are: 'function_call', 'message', 'reasoning', and so on."
        ),
    };
    if let Some(key) = unknown_key(item, known) {
        refuse!("Unknown parameter: 'input[{at}].{key}'.");
    }
    if item["id"] == "" {
        refuse!(
            "Invalid 'input[{at}].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters."
        );
    }
    for key in ["summary", "call_id", "name", "arguments", "output", "action", "container_id"] {
        if item.get(key).is_none_or(Value::is_null) && known.contains(&key) {
            refuse!("Missing required parameter: 'input[{at}].{key}'.");
        }
    }
    if matches!(kind(item), "web_search_call" | "code_interpreter_call") {
        if !item["id"].is_string() {
            refuse!("Missing required parameter: 'input[{at}].id'.");
        }
        if !matches!(
            item["status"].as_str(),
            Some("in_progress" | "searching" | "interpreting" | "completed" | "failed" | "incomplete")
        ) {
            refuse!("Missing required parameter: 'input[{at}].status'.");
        }
    }
    if kind(item) != "message" {
        return Ok(());
    }
    let role = item["role"].as_str().unwrap_or_default();
    if !["user", "assistant", "system", "developer"].contains(&role) {
        refuse!("Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.");
    }
    let allowed: &[&str] =
        if role == "assistant" { &["output_text", "refusal"] } else { &["input_text", "input_image", "input_file"] };
    match &item["content"] {
        Value::String(_) => {}
        Value::Array(parts) => {
            if let Some(part) = parts.iter().find(|part| !allowed.contains(&kind(part))) {
                refuse!("Invalid value: '{}'. Supported values are: '{}'.", kind(part), allowed.join("' and '"));
            }
        }
        _ => refuse!("Missing required parameter: 'input[{at}].content'."),
    }
    Ok(())
}

fn ids(input: &[Value]) -> Result<(), ProviderRefusal> {
    let mut seen = Vec::new();
    for id in input.iter().filter_map(|item| item["id"].as_str()) {
        if seen.contains(&id) {
            refuse!("Duplicate item found with id {id}. Remove duplicate items from your input and try again.");
        }
        seen.push(id);
    }
    Ok(())
}

fn pairs(input: &[Value]) -> Result<(), ProviderRefusal> {
    let of = |kinds: [&'static str; 2]| {
        input
            .iter()
            .enumerate()
            .filter(move |(_, item)| kinds.contains(&kind(item)))
            .map(|(at, item)| (at, item["call_id"].as_str().unwrap_or_default()))
    };
    let calls: Vec<(usize, &str)> = of(["function_call", "custom_tool_call"]).collect();
    let outputs: Vec<(usize, &str)> = of(["function_call_output", "custom_tool_call_output"]).collect();
    for (at, id) in &calls {
        let answers = outputs.iter().filter(|(place, known)| place > at && known == id).count();
        if answers == 0 {
            refuse!("No tool output found for function call {id}.");
        }
        if answers > 1 || calls.iter().filter(|(_, known)| known == id).count() > 1 {
            refuse!("Duplicate tool output found for function call {id}.");
        }
    }
    for (at, id) in &outputs {
        if !calls.iter().any(|(place, known)| place < at && known == id) {
            refuse!("No tool call found for function call output with call_id {id}.");
        }
    }
    Ok(())
}

/// Reasoning is readable, this model's own, and followed by what it led to.
fn reasoning(at: usize, request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
    let input = request.list("input");
    let item = &input[at];
    if kind(item) != "reasoning" {
        return Ok(());
    }
    let content = item["content"].as_array().map_or(0, Vec::len);
    if content > 0 {
        refuse!(
            "Invalid 'input[{at}].content': array too long. Expected an array with maximum length 0, but got an array with length {content} instead."
        );
    }
    let name = item["id"].as_str().unwrap_or("rs_0");
    let sealed = item["encrypted_content"].as_str().unwrap_or_default();
    if sealed.is_empty() {
        return Err(ProviderRefusal::new(
            404,
            format!(
                "Item with id '{name}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
            ),
        ));
    }
    let known =
        memory.find(&request.provider, request.text("model"), |known_item| known_item["encrypted_content"] == sealed);
    let Some((sent, was)) = known else {
        let beginning: String = sealed.chars().take(4).collect();
        refuse!(
            "The encrypted content {beginning}... could not be verified. Reason: Encrypted content could not be decrypted or parsed."
        );
    };
    let original = &sent.content[was];
    if item.get("id").is_some_and(|id| *id != original["id"]) {
        refuse!(
            "The encrypted content for item {name} could not be verified. Reason: Encrypted content item_id did not match the target item id."
        );
    }
    if item["summary"] != original["summary"] && item["summary"] != json!([]) {
        refuse!("The encrypted content for item {name} could not be verified. Reason: the summary was changed.");
    }
    let (next, next_was) = (input.get(at + 1), sent.content.get(was + 1));
    let is_followed = match (next, next_was) {
        (None, _) | (_, None) => false,
        (Some(next), Some(next_was)) if item.get("id").is_some() => next.get("id") == next_was.get("id"),
        (Some(next), Some(next_was)) => kind(next) == kind(next_was),
    };
    if !is_followed {
        refuse!("Item '{name}' of type 'reasoning' was provided without its required following item.");
    }
    Ok(())
}

/// An item that follows reasoning is sent back with that reasoning, and unchanged.
fn check_continuation(at: usize, request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
    let item = &request.list("input")[at];
    let Some(id) = item["id"].as_str().filter(|_| kind(item) != "reasoning") else { return Ok(()) };
    let known = memory.find(&request.provider, request.text("model"), |known_item| known_item["id"] == id);
    let Some((sent, was)) = known else {
        return Err(ProviderRefusal::new(
            404,
            format!("Item with id '{id}' not found. Items are not persisted when `store` is set to false."),
        ));
    };
    let is_own = matches!(kind(item), "web_search_call" | "code_interpreter_call");
    if is_own && (item["action"] != sent.content[was]["action"] || item["code"] != sent.content[was]["code"]) {
        refuse!("the test expects a call of the provider's own as it came: '{id}'");
    }
    if let Some(before) =
        was.checked_sub(1).map(|before| &sent.content[before]).filter(|before| kind(before) == "reasoning")
    {
        let is_there = at > 0 && request.list("input")[at - 1]["encrypted_content"] == before["encrypted_content"];
        if !is_there {
            refuse!(
                "Item '{id}' of type '{}' was provided without its required 'reasoning' item: '{}'.",
                kind(item),
                before["id"].as_str().unwrap_or_default()
            );
        }
    }
    Ok(())
}
