//! The rules of Gemini (docs/reference/providers.md 7).

use serde_json::{Map, Value, json};

use super::memory::ProviderMemory;
use super::script::{EncodedReply, ScriptedReply};
use super::{ApiProtocol, KEY, ProviderRefusal, ProviderRequest, gemini_stream, refuse};

pub struct GeminiProtocol;

const KEYS: [&str; 8] = [
    "contents",
    "systemInstruction",
    "generationConfig",
    "tools",
    "toolConfig",
    "safetySettings",
    "cachedContent",
    "labels",
];
/// The data fields of a part; exactly one of them is set.
const DATA: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

/// The forms of the thinking parameter that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeminiThinkingRule {
    Never,
    Budget { least: u64, most: u64, can_be_off: bool },
    Level(&'static [&'static str]),
}

/// Returns the thinking rule of a model, from docs/reference/providers.md 7.1; `None` where there is no such model.
pub fn thinking_rule(model: &str) -> Option<GeminiThinkingRule> {
    let (generation, is_pro) = (model.strip_prefix("gemini-").unwrap_or_default(), model.contains("-pro"));
    Some(match generation.split('-').next().unwrap_or_default() {
        "2.0" => GeminiThinkingRule::Never,
        "2.5" if is_pro => GeminiThinkingRule::Budget { least: 128, most: 32_768, can_be_off: false },
        "2.5" if model.contains("-lite") => GeminiThinkingRule::Budget { least: 512, most: 24_576, can_be_off: true },
        "2.5" => GeminiThinkingRule::Budget { least: 1, most: 24_576, can_be_off: true },
        "3" if is_pro => GeminiThinkingRule::Level(&["low", "high"]),
        "3.1" | "3.5" | "3.7" if is_pro || model == "gemini-3.7-flash" => {
            GeminiThinkingRule::Level(&["low", "medium", "high"])
        }
        "3" | "3.1" | "3.5" => GeminiThinkingRule::Level(&["minimal", "low", "medium", "high"]),
        _ if model.starts_with("gemma-3") => GeminiThinkingRule::Never,
        _ => return None,
    })
}

/// Returns whether calls of the current turn must be signed.
pub fn demands_signatures(model: &str) -> bool {
    matches!(thinking_rule(model), Some(GeminiThinkingRule::Level(_)))
}

impl ApiProtocol for GeminiProtocol {
    fn model<'a>(&self, request: &'a ProviderRequest) -> &'a str {
        let path = request.path.rsplit('/').next().unwrap_or_default();
        path.split(':').next().unwrap_or_default()
    }

    fn judge(&self, request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
        match request.header("x-goog-api-key") {
            None => {
                return Err(ProviderRefusal::new(
                    403,
                    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
                ));
            }
            Some(key) if key != KEY => refuse!("API key not valid. Please pass a valid API key."),
            Some(_) => {}
        }
        if !request.path.ends_with(":streamGenerateContent?alt=sse") {
            refuse!("the test expects server-sent events without the key in the URL: {}", request.path);
        }
        if let Some(key) =
            request.body.as_object().into_iter().flat_map(Map::keys).find(|key| !KEYS.contains(&key.as_str()))
        {
            refuse!("Invalid JSON payload received. Unknown name \"{key}\": Cannot find field.");
        }
        let model = self.model(request);
        let Some(thinks) = thinking_rule(model) else {
            return Err(ProviderRefusal::new(
                404,
                format!("models/{model} is not found for API version v1beta, or is not supported for generateContent."),
            ));
        };
        config(request, model, thinks)?;
        tools(request, model)?;
        contents(request)?;
        code(request.list("contents"))?;
        calls(request.list("contents"))?;
        signatures(request, model, memory)
    }

    fn error_document(&self, refusal: &ProviderRefusal) -> Value {
        let status = match refusal.status {
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            _ => "INVALID_ARGUMENT",
        };
        json!({"error": {"code": refusal.status, "message": refusal.message, "status": status}})
    }

    fn messages<'a>(&self, request: &'a ProviderRequest) -> &'a [Value] {
        request.list("contents")
    }

    fn fixed_fields(&self, request: &ProviderRequest) -> Value {
        json!([request.body["systemInstruction"], request.body["tools"]])
    }

    fn is_model_message(&self, content: &Value) -> bool {
        content["role"] == "model"
    }

    fn is_tool_result(&self, content: &Value) -> bool {
        parts(content).iter().any(|part| part.get("functionResponse").is_some())
    }

    fn plain_text(&self, content: &Value) -> String {
        parts(content).iter().filter(|part| part["thought"] != true).filter_map(|part| part["text"].as_str()).collect()
    }

    fn is_same(&self, sent: &[Value], back: &[Value]) -> bool {
        let (Some(sent), [back]) = (sent.first(), back) else { return sent == back };
        merge_parts(parts(sent)) == merge_parts(parts(back))
    }

    fn encode_reply(&self, request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply {
        gemini_stream::encode_reply(request, self.model(request), scripted, number)
    }
}

fn parts(content: &Value) -> &[Value] {
    content["parts"].as_array().map_or(&[], Vec::as_slice)
}

/// Normalizes parts for comparison: thoughts only by their signatures, unsigned text joined, empty text dropped
/// (docs/reference/providers.md 7.6).
fn merge_parts(parts: &[Value]) -> Vec<Value> {
    let is_loose = |part: &Value| part.get("text").is_some() && part.get("thoughtSignature").is_none();
    let mut all: Vec<Value> = Vec::new();
    for part in parts {
        let mut part = part.clone();
        if part["thought"] == true {
            match part.get("thoughtSignature") {
                None => continue,
                Some(signature) => part = json!({"thought": true, "thoughtSignature": signature}),
            }
        }
        if let Some(signature) = signature(&part) {
            part["thoughtSignature"] = json!(signature);
        }
        if is_loose(&part) && part["thought"] != true {
            let more = part["text"].as_str().unwrap_or_default();
            if more.is_empty() {
                continue;
            }
            if let Some(last) = all.last_mut().filter(|last| is_loose(last)) {
                *last = json!({"text": format!("{}{more}", last["text"].as_str().unwrap_or_default())});
                continue;
            }
        }
        all.push(part);
    }
    all
}

fn config(request: &ProviderRequest, model: &str, thinks: GeminiThinkingRule) -> Result<(), ProviderRefusal> {
    let config = &request.body["generationConfig"];
    let thinking = &config["thinkingConfig"];
    let most = if model.contains("2.0") { 8_192 } else { 65_536 };
    if let Some(tokens) = config["maxOutputTokens"].as_u64().filter(|tokens| *tokens == 0 || *tokens > most) {
        refuse!(
            "Unable to submit request because it has a maxOutputTokens value of {tokens} but the supported range is from 1 (inclusive) to {} (exclusive).",
            most + 1
        );
    }
    if config["temperature"].as_f64().is_some_and(|value| !(0.0..=2.0).contains(&value)) {
        refuse!(
            "Unable to submit request because it has a temperature value of {} but the supported range is from 0 (inclusive) to 2.0001 (exclusive).",
            config["temperature"]
        );
    }
    if config["stopSequences"].as_array().is_some_and(|list| list.len() > 5) {
        refuse!("Unable to submit request because it has more than 5 stop sequences.");
    }
    if request.body.get("systemInstruction").is_some() {
        if model.starts_with("gemma-3") {
            refuse!("Developer instruction is not enabled for models/{model}");
        }
        if parts(&request.body["systemInstruction"]).iter().any(|part| part["text"] == "") {
            refuse!(
                "* GenerateContentRequest.system_instruction.parts[0].data: required oneof field 'data' must have one initialized field"
            );
        }
    }
    if thinking.is_null() {
        return Ok(());
    }
    let (budget, level) = (thinking["thinkingBudget"].as_i64(), thinking["thinkingLevel"].as_str());
    if budget.is_some() && level.is_some() {
        refuse!("You can only set only one of thinking budget and thinking level.");
    }
    match thinks {
        GeminiThinkingRule::Never => refuse!("Thinking is not enabled for models/{model}"),
        GeminiThinkingRule::Budget { .. } if level.is_some() => {
            refuse!("Thinking level is not supported for this model.")
        }
        GeminiThinkingRule::Budget { least, most, can_be_off } => {
            let fits = match budget {
                None | Some(-1) => true,
                Some(0) => can_be_off,
                Some(budget) => u64::try_from(budget).is_ok_and(|budget| (least..=most).contains(&budget)),
            };
            if !fits {
                refuse!(
                    "The thinking budget {} is invalid. Please choose a value between {least} and {most}.",
                    budget.unwrap_or_default()
                );
            }
            if budget == Some(0) && thinking["includeThoughts"] == true {
                refuse!(
                    "Unable to submit request because thinking_config.include_thoughts is only enabled when thinking is enabled."
                );
            }
        }
        GeminiThinkingRule::Level(words) => {
            if let Some(level) = level.filter(|level| !words.contains(level)) {
                refuse!(
                    "Thinking level {} is not supported for this model. Please retry with other thinking level.",
                    level.to_uppercase()
                );
            }
        }
    }
    Ok(())
}

/// Checks the declared tools: functions or Google's built-in tools, never both in one request.
fn tools(request: &ProviderRequest, model: &str) -> Result<(), ProviderRefusal> {
    const OWN: [&str; 4] = ["googleSearch", "codeExecution", "urlContext", "fileSearch"];
    let keys = || request.list("tools").iter().filter_map(Value::as_object).flat_map(Map::keys);
    if let Some(key) = keys().find(|key| *key != "functionDeclarations" && !OWN.contains(&key.as_str())) {
        refuse!("Invalid JSON payload received. Unknown name \"{key}\" at 'tools[0]': Cannot find field.");
    }
    let has_own = keys().any(|key| key != "functionDeclarations");
    if has_own && keys().any(|key| key == "functionDeclarations") {
        refuse!("Built-in tools ({{google_search}}) and Function Calling cannot be combined in the same request.");
    }
    if has_own && (model.starts_with("gemma") || model.contains("2.0-flash-lite")) {
        refuse!("Search Grounding is not supported.");
    }
    Ok(())
}

/// Checks that executed code precedes its result in the same model content.
fn code(contents: &[Value]) -> Result<(), ProviderRefusal> {
    for (at, content) in contents.iter().enumerate() {
        let mut open: Vec<&Value> = Vec::new();
        for (place, part) in parts(content).iter().enumerate() {
            if let Some(code) = part.get("executableCode") {
                if !code["code"].is_string() || !code["language"].is_string() {
                    refuse!("Invalid value at 'contents[{at}].parts[{place}].executable_code'");
                }
                open.push(&code["id"]);
            }
            if let Some(result) = part.get("codeExecutionResult") {
                if !result["outcome"].is_string() {
                    refuse!("Invalid value at 'contents[{at}].parts[{place}].code_execution_result.outcome'");
                }
                let Some(call) = open.iter().position(|id| **id == result["id"]) else {
                    refuse!("Please ensure that code execution result comes after the executable code it belongs to.");
                };
                open.remove(call);
            }
            if content["role"] == "user"
                && (part.get("executableCode").is_some() || part.get("codeExecutionResult").is_some())
            {
                refuse!("Executable code and its result may only be in contents with the role model.");
            }
        }
        if !open.is_empty() {
            refuse!(
                "Please ensure that the number of code execution results is equal to the number of executable codes."
            );
        }
    }
    Ok(())
}

fn contents(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let contents = request.list("contents");
    let Some(last) = contents.last() else { refuse!("* GenerateContentRequest.contents: contents is not specified") };
    for (at, content) in contents.iter().enumerate() {
        if !matches!(content["role"].as_str(), Some("user" | "model")) {
            refuse!("Please use a valid role: user, model.");
        }
        if at > 0 && contents[at - 1]["role"] == content["role"] {
            refuse!("Please ensure that multiturn requests alternate between user and model.");
        }
        if parts(content).is_empty() {
            refuse!("* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.");
        }
        for (place, part) in parts(content).iter().enumerate() {
            let count = DATA.iter().filter(|key| part.get(**key).is_some()).count();
            let is_signature = part["thought"] == true && part["thoughtSignature"].is_string();
            if count > 1 || (count == 0 && !is_signature) {
                refuse!(
                    "* GenerateContentRequest.contents[{at}].parts[{place}].data: required oneof field 'data' must have one initialized field"
                );
            }
            if part["text"] == "" && part.get("thoughtSignature").is_none() {
                refuse!(
                    "Unable to submit request because it must have a text parameter. Add a text parameter and try again."
                );
            }
        }
    }
    if last["role"] != "user" {
        refuse!("Please ensure that single turn requests end with a user role or the role field is empty.");
    }
    Ok(())
}

/// Checks that each model content with calls follows a user message or results, and is answered immediately, one
/// result per call.
fn calls(contents: &[Value]) -> Result<(), ProviderRefusal> {
    let of = |content: Option<&Value>, key: &str| -> Vec<Value> {
        content.map_or(&[][..], parts).iter().filter_map(|part| part.get(key).cloned()).collect()
    };
    for (at, content) in contents.iter().enumerate() {
        let made = of(Some(content), "functionCall");
        let answers = of(contents.get(at + 1), "functionResponse");
        if at == 0 && !made.is_empty() {
            refuse!(
                "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
            );
        }
        let comes_after = of(at.checked_sub(1).and_then(|before| contents.get(before)), "functionCall");
        if !of(Some(content), "functionResponse").is_empty() && comes_after.is_empty() {
            refuse!("Please ensure that function response turn comes immediately after a function call turn.");
        }
        if !made.is_empty() && made.len() != answers.len() {
            refuse!(
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
            );
        }
        for (call, answer) in made.iter().zip(&answers) {
            if call["name"] != answer["name"] || call["id"] != answer["id"] {
                refuse!(
                    "Please ensure that function response parts match the function call parts of the function call turn."
                );
            }
            if !answer["response"].is_object() {
                refuse!(
                    "Invalid value at 'contents[{}].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)",
                    at + 1
                );
            }
        }
    }
    Ok(())
}

/// Returns a signature in the standard alphabet of base64.
fn signature(part: &Value) -> Option<String> {
    Some(part.get("thoughtSignature")?.as_str()?.replace('-', "+").replace('_', "/"))
}

fn signatures(request: &ProviderRequest, model: &str, memory: &ProviderMemory) -> Result<(), ProviderRefusal> {
    let contents = request.list("contents");
    for (at, content) in contents.iter().enumerate() {
        for (place, part) in parts(content).iter().enumerate() {
            if part.get("thoughtSignature").is_none() {
                continue;
            }
            let is_it = |known: &&Value| signature(part).is_some() && signature(known) == signature(part);
            let has = |known_content: &Value| parts(known_content).iter().any(|known| is_it(&known));
            let Some((sent, was)) = memory.find(&request.provider, model, has) else {
                refuse!("Invalid thought signature at contents[{at}].parts[{place}].");
            };
            let original = parts(&sent.content[was]).iter().find(is_it);
            // Gemini was seen to accept a moved signature on other parts; the changed history is recorded as a
            // violation elsewhere.
            let is_call = part.get("functionCall").is_some();
            if is_call
                && original.is_none_or(|original| {
                    merge_parts(std::slice::from_ref(original)) != merge_parts(std::slice::from_ref(part))
                })
            {
                refuse!("Corrupted thought signature.");
            }
        }
    }
    if !demands_signatures(model) {
        return Ok(());
    }
    let is_person = |content: &Value| {
        content["role"] == "user" && parts(content).iter().any(|part| part.get("functionResponse").is_none())
    };
    let begin = contents.iter().rposition(is_person).unwrap_or(0);
    for content in contents.iter().skip(begin) {
        let first = parts(content).iter().enumerate().find(|(_, part)| part.get("functionCall").is_some());
        if let Some((place, part)) = first.filter(|(_, part)| part.get("thoughtSignature").is_none()) {
            let name = part["functionCall"]["name"].as_str().unwrap_or_default();
            refuse!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}` , position {place}."
            );
        }
    }
    Ok(())
}
