//! The rules of Ollama's native API, and its stream encoding: one JSON object per line (docs/reference/providers.md
//! 8).

use serde_json::{Value, json};

use super::chat::is_local_thinking_model;
use super::memory::ProviderMemory;
use super::script::{EncodedReply, ReplyEnd, ScriptPart, ScriptedReply, text_pieces};
use super::{ApiProtocol, ProviderRefusal, ProviderRequest, refuse};

pub struct OllamaProtocol;

impl ApiProtocol for OllamaProtocol {
    fn judge(&self, request: &ProviderRequest, _: &ProviderMemory) -> Result<(), ProviderRefusal> {
        let model = request.text("model");
        if model.is_empty() {
            refuse!("model is required");
        }
        match request.body.get("think") {
            None | Some(Value::Bool(false)) => {}
            Some(_) if !is_local_thinking_model(model) => refuse!("\"{model}\" does not support thinking"),
            Some(Value::Bool(true)) => {}
            Some(Value::String(word)) if ["low", "medium", "high"].contains(&word.as_str()) => {}
            Some(other) => {
                refuse!("invalid think value: {other} (must be \"high\", \"medium\", \"low\", true, or false)")
            }
        }
        if !request.list("tools").is_empty() && model.contains("gemma3") {
            refuse!("registry.ollama.ai/library/{model} does not support tools");
        }
        let options = request.body["options"].as_object();
        for (key, value) in options.into_iter().flatten() {
            let fits = match key.as_str() {
                "num_predict" | "num_ctx" | "top_k" | "seed" => value.is_i64(),
                "temperature" | "top_p" => value.is_number(),
                "stop" => value.is_array(),
                _ => refuse!("invalid option provided option={key}"),
            };
            if !fits {
                refuse!("option \"{key}\" must be of another type");
            }
        }
        if request.list("messages").is_empty() {
            refuse!("messages must not be empty");
        }
        let mut open: Vec<&str> = Vec::new();
        for message in request.list("messages") {
            let role = message["role"].as_str().unwrap_or_default();
            if !["system", "user", "assistant", "tool"].contains(&role) {
                refuse!("invalid role: {role}, must be one of [system, user, assistant, tool]");
            }
            if !message["content"].is_string() {
                refuse!("json: cannot unmarshal into Go struct field ChatRequest.messages.content of type string");
            }
            if role == "tool" {
                let name = message["tool_name"].as_str().unwrap_or_default();
                let Some(at) = open.iter().position(|known| *known == name) else {
                    refuse!("a result of {name}, which was not called")
                };
                open.remove(at);
                continue;
            }
            if !open.is_empty() {
                refuse!("a call of {} has no result", open[0]);
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                if !call["function"]["arguments"].is_object() {
                    refuse!(
                        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments"
                    );
                }
                open.push(call["function"]["name"].as_str().unwrap_or_default());
            }
        }
        if !open.is_empty() {
            refuse!("a call of {} has no result", open[0]);
        }
        Ok(())
    }

    fn error_document(&self, refusal: &ProviderRefusal) -> Value {
        json!({"error": refusal.message})
    }

    fn fixed_fields(&self, request: &ProviderRequest) -> Value {
        request.body["tools"].clone()
    }

    fn is_tool_result(&self, message: &Value) -> bool {
        message["role"] == "tool"
    }

    fn plain_text(&self, message: &Value) -> String {
        message["content"].as_str().unwrap_or_default().to_owned()
    }

    fn encode_reply(&self, request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply {
        let model = request.text("model");
        let thinks = is_local_thinking_model(model) && request.body["think"] != false;
        let mut speech = EncodedReply::default();
        let line = |message: &Value| {
            format!(
                "{}\n",
                json!({"model": model, "created_at": "2026-11-20T10:00:00Z", "message": message, "done": false})
            )
        };
        let (mut text, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
        for (at, part) in scripted.numbered_parts(number).into_iter().enumerate() {
            match part {
                ScriptPart::Hidden
                | ScriptPart::BuiltInCall(_)
                | ScriptPart::UnfinishedBuiltInCall(_)
                | ScriptPart::BuiltInResult => {}
                ScriptPart::Thinking(_) if !thinks => {}
                ScriptPart::Thinking(content) => {
                    for piece in text_pieces(&content) {
                        speech.push_event(line(&json!({"role": "assistant", "content": "", "thinking": piece})));
                        speech.middle = speech.events.len();
                    }
                    thought.push_str(&content);
                    speech.secrets.push(content);
                }
                ScriptPart::Text(content) => {
                    for (count, piece) in text_pieces(&content).into_iter().enumerate() {
                        speech.push_event(line(&json!({"role": "assistant", "content": piece})));
                        if count < 2 {
                            speech.middle = speech.events.len();
                        }
                    }
                    text.push_str(&content);
                }
                ScriptPart::Call(name, arguments) => {
                    let call = json!({"id": format!("call_{number:04}{at:02}"), "function": {"index": calls.len(), "name": name, "arguments": arguments}});
                    speech.push_event(line(&json!({"role": "assistant", "content": "", "tool_calls": [call]})));
                    calls.push(call);
                }
            }
        }
        let reason = if scripted.end == ReplyEnd::Limit { "length" } else { "stop" };
        let done = json!({"model": model, "created_at": "2026-11-20T10:00:01Z", "message": {"role": "assistant", "content": ""}, "done": true,
            "done_reason": reason, "total_duration": 5, "prompt_eval_count": 20, "eval_count": 10});
        speech.push_event(format!("{done}\n"));
        let mut message = json!({"role": "assistant", "content": text});
        if !thought.is_empty() {
            message["thinking"] = json!(thought);
        }
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        speech.content = vec![message];
        speech.text = text;
        speech.truncated_for(scripted.end)
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }
}
