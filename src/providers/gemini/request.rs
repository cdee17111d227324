//! Request body of `streamGenerateContent`: deterministic bytes from the path (docs/reference/domain.md 4.7,
//! docs/reference/providers.md 7.1, 7.6, 9). The model is not in the body; it is a part of the URL.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::gemini::message::{GeminiCall, GeminiReply};
use crate::gemini::models;
use crate::gemini::stream::GeminiDecoder;
use crate::history::{UNANSWERED, UserPart};
use crate::pictures;
use crate::provider::{ChatRequest, HistoryTurn, InputImage};
use crate::sampling::SamplingNames;
use crate::tool_schema::fit_tools;
use crate::tool_schema::subset::SchemaSubset;
use turnleaf_domain::Role;
use turnleaf_domain::tools::tool::ToolSpec;

const SAMPLING: SamplingNames = SamplingNames {
    max_tokens: Some("maxOutputTokens"),
    top_p: "topP",
    top_k: Some("topK"),
    stop_sequences: Some("stopSequences"),
};

/// Returns the exact body. Equal requests give equal bytes, and a longer history starts with the same contents.
pub fn body(request: &ChatRequest) -> Bytes {
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    let system = request.instructions();
    let (instruction, first) =
        if models::takes_system_instruction(&request.model) { (system, None) } else { (None, system) };
    set("contents", contents(request, first));
    if let Some(text) = instruction {
        set("systemInstruction", json!({"parts": [{"text": text}]}));
    }
    let config = generation_config(request);
    if !config.is_empty() {
        set("generationConfig", Value::Object(config));
    }
    // The field `parameters` would accept only a subset of JSON Schema.
    let tool = |tool: ToolSpec| json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters});
    let declarations: Vec<Value> = fit_tools(&request.tools, SchemaSubset::Gemini).into_iter().map(tool).collect();
    if !declarations.is_empty() {
        set("tools", json!([{"functionDeclarations": declarations}]));
    } else {
        // Most models refuse provider tools beside functions.
        let own: Vec<Value> = request.provider_tools.iter().filter_map(|tool| models::provider_tool(tool)).collect();
        if !own.is_empty() {
            set("tools", own.into());
        }
    }
    pictures::serialize_body(body, request)
}

fn generation_config(request: &ChatRequest) -> Map<String, Value> {
    let mut config = Map::new();
    let mut set = |key: &str, value: Value| config.insert(key.to_owned(), value);
    let params = &request.params;
    SAMPLING.put(params, &mut set);
    let reasoning = request.capabilities.reasoning;
    if let Some(thinking) = models::thinking_config(&request.model, reasoning, request.thinking, params.max_tokens) {
        set("thinkingConfig", thinking);
    }
    config
}

/// Returns the contents of the history. `first` is put before them, for models without a system instruction.
fn contents(request: &ChatRequest, first: Option<&str>) -> Value {
    let mut contents = Contents::default();
    contents.text("user", first.unwrap_or_default());
    for turn in &request.history {
        match turn.role {
            Role::User => contents.push("user", turn.user_parts().into_iter().map(user_part).collect()),
            // The API has no system role between other contents.
            Role::System => contents.text("user", &turn.plain_text()),
            Role::Assistant => push_assistant(&mut contents, turn),
        }
    }
    Value::Array(contents.0)
}

/// Contents in the order of the path. Neighbours with the same role are merged, because the API requires alternating
/// roles.
#[derive(Default)]
struct Contents(Vec<Value>);

impl Contents {
    fn text(&mut self, role: &str, text: &str) {
        // The API refuses an empty part.
        if !text.is_empty() {
            self.push(role, vec![json!({"text": text})]);
        }
    }

    fn push(&mut self, role: &str, parts: Vec<Value>) {
        if parts.is_empty() {
            return;
        }
        let last = self.0.last_mut().filter(|last| last.get("role").and_then(Value::as_str) == Some(role));
        match last.and_then(|last| last.get_mut("parts")?.as_array_mut()) {
            Some(known) => known.extend(parts),
            None => self.0.push(json!({"role": role, "parts": parts})),
        }
    }
}

fn user_part(part: UserPart<'_>) -> Value {
    match part {
        UserPart::Text(text) => json!({"text": text}),
        UserPart::Image(shown) => image(shown),
    }
}

fn image(shown: &InputImage) -> Value {
    json!({"inlineData": {"mimeType": shown.mime, "data": shown.base64_placeholder()}})
}

/// Appends an assistant turn: as the model wrote it if its raw responses are stored, otherwise its plain text, if it
/// has any.
fn push_assistant(contents: &mut Contents, turn: &HistoryTurn) {
    if turn.raw.is_empty() {
        return contents.text("model", &turn.plain_text());
    }
    let mut place = 0..;
    for step in turn.raw.iter().map(|raw| raw.read_cached("gemini", parse_stored_reply)).map(Arc::unwrap_or_clone) {
        let answers = step
            .calls()
            .iter()
            .map(|call| {
                let place = place.next().unwrap_or_default();
                answer(call, turn.tool_result(place), turn.tool_result_images(place).map(image).collect())
            })
            .collect();
        contents.push("model", step.into_parts(!turn.leaves_out_reasoning));
        contents.push("user", answers);
    }
}

/// Decodes a stored response, complete or not.
pub fn parse_stored_reply(raw: &[u8]) -> GeminiReply {
    GeminiDecoder::keeping_reply().read_stored(raw).0.into_reply()
}

/// Returns the `functionResponse` of a call. The API requires an object: any other result is put under `output`, and
/// errors under `error`.
fn answer(call: &GeminiCall, result: Option<(Value, bool)>, images: Vec<Value>) -> Value {
    let response = match result {
        None => json!({"error": UNANSWERED}),
        Some((result, true)) => json!({"error": result}),
        Some((result @ Value::Object(_), false)) => result,
        Some((result, false)) => json!({"output": result}),
    };
    let mut answer = Map::new();
    if let Some(id) = &call.id {
        answer.insert("id".into(), json!(id));
    }
    answer.insert("name".into(), json!(call.name));
    answer.insert("response".into(), response);
    if !images.is_empty() {
        answer.insert("parts".into(), Value::Array(images));
    }
    json!({"functionResponse": answer})
}

#[cfg(test)]
pub(super) mod tests;
