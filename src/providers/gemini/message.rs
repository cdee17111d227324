//! Replay of a response in the next request to the same model: every part goes back unchanged and in its place,
//! except that of thoughts only the signatures are sent (docs/reference/providers.md 7.4, 7.6).

use serde_json::{Map, Value, json};

use crate::surrogates;

/// The fields of a call that its result must repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct GeminiCall {
    pub name: String,
    /// The id that the endpoint assigned. Many assign none; the result has none either, then.
    pub id: Option<String>,
}

/// The parts of one response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeminiReply {
    parts: Vec<Value>,
}

impl GeminiReply {
    /// Adds a part. `text` is its text with surrogate pairs joined; `is_mended` means that its other strings may
    /// contain surrogate placeholders.
    pub fn push_part(&mut self, part: &Value, text: Option<String>, is_mended: bool) {
        let mut part = if is_mended { resolve_surrogates(part) } else { part.clone() };
        if let (Some(text), Some(kept)) = (text, part.get_mut("text")) {
            *kept = text.into();
        }
        if let Some(call) = part.get_mut("functionCall").and_then(Value::as_object_mut) {
            call.shift_remove("partialArgs");
            call.shift_remove("willContinue");
        }
        self.parts.push(part);
    }

    /// Sets the arguments of the last call once they were streamed completely.
    pub fn set_arguments(&mut self, arguments: Value) {
        let call = self.parts.iter_mut().rev().find_map(|part| part.get_mut("functionCall")?.as_object_mut());
        if let Some(call) = call {
            call.insert("args".to_owned(), arguments);
        }
    }

    /// Returns the calls in order.
    pub fn calls(&self) -> Vec<GeminiCall> {
        let call = |part: &Value| {
            let call = part.get("functionCall")?;
            let text = |key: &str| call.get(key).and_then(Value::as_str).map(str::to_owned);
            Some(GeminiCall {
                name: text("name").unwrap_or_default(),
                id: text("id").filter(|id| !id.trim().is_empty()),
            })
        };
        self.parts.iter().filter_map(call).collect()
    }

    /// Removes the last call, because its streamed arguments are incomplete.
    pub fn remove_last_call(&mut self) {
        if let Some(at) = self.parts.iter().rposition(is_call) {
            self.parts.remove(at);
        }
    }

    /// Removes all calls, because the API reported them as malformed.
    pub fn remove_calls(&mut self) {
        self.parts.retain(|part| !is_call(part));
    }

    /// Removes code at the end, which was running when the response broke off. Code with text after it is kept, even
    /// without a result, because the API does not disclose some results, such as those of a file search.
    fn remove_unfinished_code(&mut self) {
        let is_over = |part: &Value| part.get("executableCode").is_none() && *part != json!({"text": ""});
        let end = self.parts.iter().rposition(is_over);
        let mut at = 0;
        self.parts.retain(|part| {
            at += 1;
            part.get("executableCode").is_none() || end.is_some_and(|end| at <= end)
        });
    }

    /// Returns the parts to send; empty if the response has no content that may be sent.
    pub fn into_parts(mut self, with_signatures: bool) -> Vec<Value> {
        self.remove_unfinished_code();
        let is_visible = |part: &Value| !is_thought(part) && *part != json!({"text": ""});
        if !self.parts.iter().any(is_visible) {
            return Vec::new();
        }
        self.parts.into_iter().filter_map(|part| part_to_send(part, with_signatures)).collect()
    }
}

fn is_call(part: &Value) -> bool {
    part.get("functionCall").is_some()
}

fn is_thought(part: &Value) -> bool {
    part.get("thought") == Some(&Value::Bool(true)) && !is_call(part)
}

/// Converts a part for sending: a thought is reduced to its signature, or omitted. Empty text, with which many
/// streams end, is omitted unless it has a signature, because some endpoints refuse it.
fn part_to_send(part: Value, with_signatures: bool) -> Option<Value> {
    if part == json!({"text": ""}) {
        return None;
    }
    if with_signatures && !is_thought(&part) {
        return Some(part);
    }
    let is_thought = is_thought(&part);
    let Value::Object(mut part) = part else { return Some(part) };
    if !with_signatures {
        // An empty text exists only to carry its signature.
        let was_signed = part.shift_remove("thoughtSignature").is_some();
        let is_bare = was_signed && part.len() == 1 && part.get("text") == Some(&"".into());
        return (!is_thought && !is_bare && !part.is_empty()).then_some(Value::Object(part));
    }
    part.get("thoughtSignature").and_then(Value::as_str).filter(|signature| !signature.is_empty())?;
    part.shift_remove("text");
    Some(Value::Object(part))
}

/// Returns a value in whose strings the surrogate placeholders are replaced.
fn resolve_surrogates(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let (mut text, surrogate) = surrogates::join_surrogates(None, text);
            text.extend(surrogate.map(|_| char::REPLACEMENT_CHARACTER));
            text.into()
        }
        Value::Array(list) => list.iter().map(resolve_surrogates).collect(),
        Value::Object(map) => Value::Object(
            map.iter().map(|(key, value)| (key.clone(), resolve_surrogates(value))).collect::<Map<_, _>>(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent_back(parts: &[Value]) -> Value {
        let mut reply = GeminiReply::default();
        parts.iter().for_each(|part| reply.push_part(part, None, false));
        Value::Array(reply.into_parts(true))
    }

    #[test]
    fn parts_are_sent_back_unchanged_and_thoughts_as_signatures() {
        let kept = [
            json!({"text": "Hi"}),
            json!({"text": "", "thoughtSignature": "s"}),
            json!({"functionCall": {"name": "f", "args": {"b": 1, "a": 2}, "id": "x"}, "thoughtSignature": "s"}),
            json!({"functionCall": {"name": "f", "args": {}}, "thought": true}),
            json!({"thoughtSignature": "s", "toolCall": {"toolType": "FILE_SEARCH"}}),
            json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
            json!({"somethingNew": 1}),
            json!({"text": "no thought", "thought": false}),
        ];
        assert_eq!(sent_back(&kept).to_string(), Value::from(kept.to_vec()).to_string());
        for (case, parts, expected) in [
            ("a thought", json!([{"text": "why", "thought": true}, {"text": "so"}]), json!([{"text": "so"}])),
            (
                "a signed thought",
                json!([{"text": "why", "thought": true, "thoughtSignature": "s"}, {"text": "so"}]),
                json!([{"thought": true, "thoughtSignature": "s"}, {"text": "so"}]),
            ),
            (
                "a signed thought and nothing behind it",
                json!([{"text": "why", "thought": true, "thoughtSignature": "s"}]),
                json!([]),
            ),
            ("an empty end", json!([{"text": "so"}, {"text": ""}]), json!([{"text": "so"}])),
            ("an empty signature", json!([{"text": "why", "thought": true, "thoughtSignature": ""}]), json!([])),
            ("nothing but thoughts and empty text", json!([{"text": "why", "thought": true}, {"text": ""}]), json!([])),
            ("nothing", json!([]), json!([])),
            (
                "code with its result, and code that broke off",
                json!([{"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}, {"text": "so"}, {"executableCode": {"code": "2"}}]),
                json!([{"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}, {"text": "so"}]),
            ),
            (
                "code without a result that the model spoke on after",
                json!([{"executableCode": {"code": "1"}}, {"text": "so"}]),
                json!([{"executableCode": {"code": "1"}}, {"text": "so"}]),
            ),
            (
                "nothing but code that broke off",
                json!([{"executableCode": {"code": "2"}, "thoughtSignature": "s"}]),
                json!([]),
            ),
        ] {
            assert_eq!(sent_back(parts.as_array().unwrap()), expected, "{case}");
        }
    }

    #[test]
    fn streamed_call_is_sent_back_whole() {
        let mut reply = GeminiReply::default();
        let began = json!({"functionCall": {"name": "f", "willContinue": true}, "thoughtSignature": "s"});
        reply.push_part(&began, None, false);
        reply.set_arguments(json!({"a": 1}));
        assert_eq!(reply.calls(), [GeminiCall { name: "f".into(), id: None }]);
        let whole = json!({"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "s"});
        assert_eq!(reply.into_parts(true), [whole]);
    }
}
