//! Replay of a response as an assistant message of the next request to the same model (docs/reference/providers.md 8,
//! 9): its text, its thinking and its calls, which are kept unchanged.

use serde_json::{Map, Value, json};

/// The fields of a call that its result must repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct OllamaCall {
    pub name: String,
    /// The id that the server assigned; older servers assign none.
    pub id: Option<String>,
}

/// The content of one response for the next request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OllamaReply {
    pub text: String,
    pub thinking: String,
    /// The tool calls, unchanged.
    pub calls: Vec<Value>,
}

impl OllamaReply {
    /// Returns name and id of the calls, in order.
    pub fn named_calls(&self) -> Vec<OllamaCall> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let named = |call: &Value| OllamaCall {
            name: text(call.pointer("/function/name")).unwrap_or_default(),
            id: text(call.get("id")).filter(|id| !id.trim().is_empty()),
        };
        self.calls.iter().map(named).collect()
    }

    /// Returns the message; `None` if the response has only thinking.
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
