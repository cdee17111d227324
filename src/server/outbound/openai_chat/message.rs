//! The assistant message that a response becomes in the next request to the same model (providers.md 4.3, 5): what the
//! wire said, kept beside the items because some of it (refusals, reasoning details) has no place in blocks.

use serde_json::{Map, Value, json};

use crate::domain::tool::parse_arguments;
use crate::server::outbound::openai_chat::dialect::{Dialect, ReasoningOut};

/// A call as it was made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SaidCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl SaidCall {
    /// Whether the arguments are JSON. A call that the token limit cut is not (providers.md 2.6).
    pub fn is_whole(&self) -> bool {
        parse_arguments(&self.arguments).is_some()
    }
}

/// Everything one response said that may have to go back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    pub text: String,
    pub refusal: String,
    pub reasoning: String,
    /// The field that reasoning came in.
    pub reasoning_field: &'static str,
    /// `reasoning_details`, fragments of one index joined.
    pub details: Vec<Value>,
    pub calls: Vec<SaidCall>,
}

impl Said {
    /// Joins one element of `delta.reasoning_details` to its kind and index, in order of first appearance.
    pub fn detail(&mut self, fragment: &Value) {
        let key = |detail: &Value| (detail.get("type").cloned(), detail.get("index").cloned());
        let known = self.details.iter_mut().find(|known| key(known) == key(fragment));
        let (Some(Value::Object(known)), Value::Object(more)) = (known, fragment) else {
            self.details.push(fragment.clone());
            return;
        };
        for (name, value) in more {
            match (known.get_mut(name), value) {
                (Some(Value::String(text)), Value::String(more))
                    if matches!(name.as_str(), "text" | "summary" | "data" | "signature") =>
                {
                    text.push_str(more);
                }
                (None | Some(Value::Null), value) => {
                    known.insert(name.clone(), value.clone());
                }
                _ => {}
            }
        }
    }

    /// The message, or `None` when nothing of it may be sent. `needs_reasoning` says that it belongs to a turn which
    /// called tools, at a model that can think: some servers then demand the key in every message of the turn, even where
    /// the model had no thought (providers.md 5). `answered` says which calls have a result: a call whose
    /// arguments are not JSON goes back only if it has one, and then with `{}`, because servers parse what they get.
    pub fn message(&self, dialect: &Dialect, needs_reasoning: bool, answered: impl Fn(usize) -> bool) -> Option<Value> {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .enumerate()
            .filter(|(at, call)| call.is_whole() || answered(*at))
            .map(|(_, call)| {
                let is_sendable = call.is_whole() && !call.arguments.trim().is_empty();
                let arguments = if is_sendable { call.arguments.as_str() } else { "{}" };
                json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
            })
            .collect();
        let says_something = !self.text.is_empty() || !self.refusal.is_empty() || !calls.is_empty();
        if !says_something {
            return None;
        }
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        message.insert("content".into(), self.content(dialect));
        if !self.refusal.is_empty() && dialect.sends_refusal {
            message.insert("refusal".into(), json!(self.refusal));
        }
        self.put_reasoning(&mut message, dialect, needs_reasoning);
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        Some(Value::Object(message))
    }

    fn content(&self, dialect: &Dialect) -> Value {
        let mut text = self.text.clone();
        if !dialect.sends_refusal {
            text.push_str(&self.refusal);
        }
        if dialect.reasoning_out == ReasoningOut::ContentParts && !self.reasoning.is_empty() {
            let mut parts = vec![json!({"type": "thinking", "thinking": [{"type": "text", "text": self.reasoning}]})];
            if !text.is_empty() {
                parts.push(json!({"type": "text", "text": text}));
            }
            return Value::Array(parts);
        }
        if text.is_empty() && dialect.empty_content_is_null { Value::Null } else { Value::String(text) }
    }

    fn put_reasoning(&self, message: &mut Map<String, Value>, dialect: &Dialect, is_needed: bool) {
        let field = match dialect.reasoning_out {
            ReasoningOut::Nothing | ReasoningOut::ContentParts => return,
            ReasoningOut::Details => {
                if !self.details.is_empty() {
                    message.insert("reasoning_details".into(), Value::Array(self.details.clone()));
                }
                return;
            }
            ReasoningOut::Field(field) => field,
            ReasoningOut::AsItCame => self.reasoning_field,
        };
        let is_needed = is_needed && dialect.reasoning_required_with_tools;
        if !field.is_empty() && (!self.reasoning.is_empty() || is_needed) {
            message.insert(field.into(), json!(self.reasoning));
        }
    }
}
