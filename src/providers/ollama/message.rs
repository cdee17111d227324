//! The assistant message that a response becomes in the next request to the same model (providers.md 8, 9): its text, its
//! thoughts and its calls, which are kept as they came.

use serde_json::{Map, Value, json};

/// A call of the response, as far as its answer has to name it.
#[derive(Debug, Clone, PartialEq)]
pub struct OllamaCall {
    pub name: String,
    /// The id that the server gave; older ones give none.
    pub id: Option<String>,
}

/// Everything one response said that goes back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OllamaReply {
    pub text: String,
    pub thinking: String,
    /// As they came.
    pub calls: Vec<Value>,
}

impl OllamaReply {
    /// The calls, in their order.
    pub fn named_calls(&self) -> Vec<OllamaCall> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let named = |call: &Value| OllamaCall {
            name: text(call.pointer("/function/name")).unwrap_or_default(),
            id: text(call.get("id")).filter(|id| !id.is_empty()),
        };
        self.calls.iter().map(named).collect()
    }

    /// The message, or `None` when there is nothing but thoughts.
    pub fn into_message(self, with_thinking: bool) -> Option<Value> {
        if self.text.is_empty() && self.calls.is_empty() {
            return None;
        }
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        message.insert("content".into(), json!(self.text));
        if with_thinking && !self.thinking.is_empty() {
            message.insert("thinking".into(), json!(self.thinking));
        }
        if !self.calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(self.calls));
        }
        Some(Value::Object(message))
    }
}
