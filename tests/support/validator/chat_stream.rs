//! Encodes a chat completions stream: unnamed chunks, reasoning in the field of each server, `[DONE]`.

use serde_json::{Value, json};

use super::ProviderRequest;
use super::chat::{ChatProtocol, is_local_thinking_model};
use super::chat_models::find;
use super::script::{EncodedReply, ReplyEnd, ScriptPart, ScriptedReply, text_pieces};

struct Stream<'a> {
    protocol: ChatProtocol,
    model: &'a str,
    number: usize,
    speech: EncodedReply,
}

impl Stream<'_> {
    fn chunk(&mut self, delta: &Value, finish: Option<&str>) {
        let mut chunk = json!({"id": format!("chatcmpl-{:04}", self.number), "object": "chat.completion.chunk", "created": 1_790_000_000,
            "model": self.model, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        if self.protocol == ChatProtocol::OpenAi {
            chunk["obfuscation"] = json!("aZ09");
        }
        if self.protocol == ChatProtocol::OpenRouter {
            chunk["provider"] = json!("Anthropic");
        }
        self.speech.push_event(format!("data: {chunk}\n\n"));
    }

    fn append_deltas(&mut self, deltas: impl Iterator<Item = Value>) {
        for (at, delta) in deltas.enumerate() {
            self.chunk(&delta, None);
            if at < 2 {
                self.speech.middle = self.speech.events.len();
            }
        }
    }
}

/// Returns whether the model thinks, by the switch of each server.
fn is_thinking(protocol: ChatProtocol, request: &ProviderRequest) -> bool {
    let effort = request.body.get("reasoning_effort").and_then(Value::as_str);
    match protocol {
        ChatProtocol::OpenAi => find(request.text("model")).is_some_and(|model| model.is_reasoning(effort)),
        ChatProtocol::DeepSeek => {
            request.text("model") != "deepseek-chat" && request.body["thinking"]["type"] != "disabled"
        }
        ChatProtocol::OpenRouter => {
            request.body.get("reasoning").is_some_and(|reasoning| reasoning["enabled"] != false)
        }
        ChatProtocol::Mistral => effort == Some("high") || request.body["prompt_mode"] == "reasoning",
        ChatProtocol::Zai => request.body["thinking"]["type"] != "disabled",
        ChatProtocol::LlamaCpp => request.body["chat_template_kwargs"]["enable_thinking"] != false,
        ChatProtocol::Generic => true,
        ChatProtocol::Ollama => is_local_thinking_model(request.text("model")) && effort != Some("none"),
    }
}

pub fn encode_reply(
    protocol: ChatProtocol,
    request: &ProviderRequest,
    scripted: &ScriptedReply,
    number: usize,
) -> EncodedReply {
    let mut stream = Stream { protocol, model: request.text("model"), number, speech: EncodedReply::default() };
    let thinks = is_thinking(protocol, request);
    let (mut text, mut reasoning, mut details, mut calls) = (String::new(), String::new(), Vec::new(), Vec::new());
    if protocol == ChatProtocol::OpenRouter {
        stream.speech.push_event(": OPENROUTER PROCESSING\n\n");
    }
    stream.chunk(&json!({"role": "assistant", "content": ""}), None);
    for (at, part) in scripted.numbered_parts(number).into_iter().enumerate() {
        match part {
            // OpenAI does not return its reasoning.
            ScriptPart::Hidden
            | ScriptPart::BuiltInCall(_)
            | ScriptPart::UnfinishedBuiltInCall(_)
            | ScriptPart::BuiltInResult => {}
            ScriptPart::Thinking(_) if !thinks || protocol == ChatProtocol::OpenAi => {}
            ScriptPart::Thinking(thought) => {
                let shown = text_pieces(&thought);
                let index = details.len();
                let mut deltas: Vec<Value> = shown
                    .iter()
                    .map(|piece| match protocol {
                        ChatProtocol::Mistral => json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}),
                        ChatProtocol::Ollama | ChatProtocol::Generic => json!({"content": "", "reasoning": piece}),
                        ChatProtocol::OpenRouter => json!({"content": "", "reasoning": piece, "reasoning_details": [
                            {"type": "reasoning.text", "text": piece, "format": "anthropic-claude-v1", "index": index}]}),
                        _ => json!({"content": null, "reasoning_content": piece}),
                    })
                    .collect();
                if protocol == ChatProtocol::OpenRouter {
                    let signature = format!("EtoB{number:04}{at:02}ORsig==");
                    deltas.push(json!({"content": "", "reasoning": null, "reasoning_details": [
                        {"type": "reasoning.text", "signature": signature, "format": "anthropic-claude-v1", "index": index}]}));
                    details.push(json!({"type": "reasoning.text", "text": thought, "format": "anthropic-claude-v1", "index": index, "signature": signature}));
                    stream.speech.secrets.push(signature);
                }
                stream.append_deltas(deltas.into_iter());
                reasoning.push_str(&thought);
                stream.speech.secrets.push(thought);
            }
            ScriptPart::Text(content) => {
                stream.append_deltas(text_pieces(&content).into_iter().map(|piece| json!({"content": piece})));
                text.push_str(&content);
            }
            ScriptPart::Call(name, arguments) => {
                let id = if protocol == ChatProtocol::Mistral {
                    format!("c{number:05}{at:03}")
                } else {
                    format!("call_{number:05}{at:02}")
                };
                let index = calls.len();
                let raw = arguments.to_string();
                let first = json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
                let more = text_pieces(&raw)
                    .into_iter()
                    .map(|piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
                stream.append_deltas(std::iter::once(first).chain(more));
                calls.push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": raw}}));
            }
        }
    }
    let reason = match scripted.end {
        ReplyEnd::Limit => "length",
        _ if !calls.is_empty() => "tool_calls",
        _ => "stop",
    };
    stream.chunk(&json!({}), Some(reason));
    let wants_usage = request.body.pointer("/stream_options/include_usage") == Some(&json!(true));
    if wants_usage || protocol == ChatProtocol::Mistral {
        let usage = json!({"id": "u", "object": "chat.completion.chunk", "model": stream.model, "choices": [],
            "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}});
        stream.speech.push_event(format!("data: {usage}\n\n"));
    }
    stream.speech.push_event("data: [DONE]\n\n");
    let mut message = json!({"role": "assistant", "content": text});
    match protocol {
        ChatProtocol::Mistral if !reasoning.is_empty() => {
            let mut parts = vec![json!({"type": "thinking", "thinking": [{"type": "text", "text": reasoning}]})];
            parts.extend((!text.is_empty()).then(|| json!({"type": "text", "text": text})));
            message["content"] = Value::Array(parts);
        }
        ChatProtocol::OpenRouter if !details.is_empty() => message["reasoning_details"] = Value::Array(details),
        ChatProtocol::DeepSeek | ChatProtocol::Zai | ChatProtocol::LlamaCpp => {
            message["reasoning_content"] = json!(reasoning)
        }
        ChatProtocol::Ollama | ChatProtocol::Generic => message["reasoning"] = json!(reasoning),
        _ => {}
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    stream.speech.content = vec![message];
    stream.speech.text = text;
    stream.speech.truncated_for(scripted.end)
}
