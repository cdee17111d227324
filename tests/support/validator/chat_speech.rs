//! How chat completions stream: nameless chunks, reasoning in each server's own place, `[DONE]`.

use serde_json::{Value, json};

use super::Asked;
use super::chat::{Chat, thinks_locally};
use super::chat_models::find;
use super::script::{End, Part, Say, Speech, pieces};

struct Stream<'a> {
    who: Chat,
    model: &'a str,
    number: usize,
    speech: Speech,
}

impl Stream<'_> {
    fn chunk(&mut self, delta: &Value, finish: Option<&str>) {
        let mut chunk = json!({"id": format!("chatcmpl-{:04}", self.number), "object": "chat.completion.chunk", "created": 1_790_000_000,
            "model": self.model, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        if self.who == Chat::OpenAi {
            chunk["obfuscation"] = json!("aZ09");
        }
        if self.who == Chat::OpenRouter {
            chunk["provider"] = json!("Anthropic");
        }
        self.speech.event(format!("data: {chunk}\n\n"));
    }

    fn grow(&mut self, deltas: impl Iterator<Item = Value>) {
        for (at, delta) in deltas.enumerate() {
            self.chunk(&delta, None);
            if at < 2 {
                self.speech.middle = self.speech.events.len();
            }
        }
    }
}

/// Whether the model thinks, by the switch of each server.
fn thinks(who: Chat, asked: &Asked) -> bool {
    let effort = asked.body.get("reasoning_effort").and_then(Value::as_str);
    match who {
        Chat::OpenAi => find(asked.text("model")).is_some_and(|model| model.reasons(effort)),
        Chat::DeepSeek => asked.text("model") != "deepseek-chat" && asked.body["thinking"]["type"] != "disabled",
        Chat::OpenRouter => asked.body.get("reasoning").is_some_and(|reasoning| reasoning["enabled"] != false),
        Chat::Mistral => effort == Some("high") || asked.body["prompt_mode"] == "reasoning",
        Chat::Zai => asked.body["thinking"]["type"] != "disabled",
        Chat::LlamaCpp => asked.body["chat_template_kwargs"]["enable_thinking"] != false,
        Chat::Ollama => thinks_locally(asked.text("model")) && effort != Some("none"),
    }
}

pub fn speak(who: Chat, asked: &Asked, say: &Say, number: usize) -> Speech {
    let mut stream = Stream { who, model: asked.text("model"), number, speech: Speech::default() };
    let thinks = thinks(who, asked);
    let (mut text, mut reasoning, mut details, mut calls) = (String::new(), String::new(), Vec::new(), Vec::new());
    if who == Chat::OpenRouter {
        stream.speech.event(": OPENROUTER PROCESSING\n\n");
    }
    stream.chunk(&json!({"role": "assistant", "content": ""}), None);
    for (at, part) in say.numbered(number).into_iter().enumerate() {
        match part {
            // OpenAI keeps its reasoning to itself.
            Part::Hidden | Part::Own(_) | Part::Begun(_) | Part::Found => {}
            Part::Thinking(_) if !thinks || who == Chat::OpenAi => {}
            Part::Thinking(thought) => {
                let shown = pieces(&thought);
                let index = details.len();
                let mut deltas: Vec<Value> = shown
                    .iter()
                    .map(|piece| match who {
                        Chat::Mistral => json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}),
                        Chat::Ollama => json!({"content": "", "reasoning": piece}),
                        Chat::OpenRouter => json!({"content": "", "reasoning": piece, "reasoning_details": [
                            {"type": "reasoning.text", "text": piece, "format": "anthropic-claude-v1", "index": index}]}),
                        _ => json!({"content": null, "reasoning_content": piece}),
                    })
                    .collect();
                if who == Chat::OpenRouter {
                    let signature = format!("EtoB{number:04}{at:02}ORsig==");
                    deltas.push(json!({"content": "", "reasoning": null, "reasoning_details": [
                        {"type": "reasoning.text", "signature": signature, "format": "anthropic-claude-v1", "index": index}]}));
                    details.push(json!({"type": "reasoning.text", "text": thought, "format": "anthropic-claude-v1", "index": index, "signature": signature}));
                    stream.speech.secrets.push(signature);
                }
                stream.grow(deltas.into_iter());
                reasoning.push_str(&thought);
                stream.speech.secrets.push(thought);
            }
            Part::Text(said) => {
                stream.grow(pieces(&said).into_iter().map(|piece| json!({"content": piece})));
                text.push_str(&said);
            }
            Part::Call(name, arguments) => {
                let id = if who == Chat::Mistral {
                    format!("c{number:05}{at:03}")
                } else {
                    format!("call_{number:05}{at:02}")
                };
                let index = calls.len();
                let raw = arguments.to_string();
                let first = json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
                let more = pieces(&raw)
                    .into_iter()
                    .map(|piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
                stream.grow(std::iter::once(first).chain(more));
                calls.push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": raw}}));
            }
        }
    }
    let reason = match say.end {
        End::Limit => "length",
        _ if !calls.is_empty() => "tool_calls",
        _ => "stop",
    };
    stream.chunk(&json!({}), Some(reason));
    let wants_usage = asked.body.pointer("/stream_options/include_usage") == Some(&json!(true));
    if wants_usage || who == Chat::Mistral {
        let usage = json!({"id": "u", "object": "chat.completion.chunk", "model": stream.model, "choices": [],
            "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}});
        stream.speech.event(format!("data: {usage}\n\n"));
    }
    stream.speech.event("data: [DONE]\n\n");
    let mut message = json!({"role": "assistant", "content": text});
    match who {
        Chat::Mistral if !reasoning.is_empty() => {
            let mut parts = vec![json!({"type": "thinking", "thinking": [{"type": "text", "text": reasoning}]})];
            parts.extend((!text.is_empty()).then(|| json!({"type": "text", "text": text})));
            message["content"] = Value::Array(parts);
        }
        Chat::OpenRouter if !details.is_empty() => message["reasoning_details"] = Value::Array(details),
        Chat::DeepSeek | Chat::Zai | Chat::LlamaCpp => message["reasoning_content"] = json!(reasoning),
        Chat::Ollama => message["reasoning"] = json!(reasoning),
        _ => {}
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    stream.speech.said = vec![message];
    stream.speech.text = text;
    stream.speech.end(say.end)
}
