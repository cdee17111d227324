//! Decodes function calls from parts: complete ones, and those whose arguments are streamed as values with a JSON
//! path (`streamFunctionCallArguments`, docs/reference/providers.md 7.2).

use serde_json::{Map, Value};

use crate::call_id::unique_call_id;
use crate::provider::DecodedItem;

/// The function calls of one reply.
#[derive(Debug, Default)]
pub struct GeminiFunctionCalls {
    ids: Vec<String>,
    open: Option<OpenCall>,
}

/// A call whose arguments are still being streamed.
#[derive(Debug)]
struct OpenCall {
    index: u64,
    arguments: Value,
    /// The path of a string that will be continued.
    growing: Option<String>,
}

impl GeminiFunctionCalls {
    /// Returns true if this `functionCall` continues the open call, which is the case if it has no name.
    pub fn is_continuation(&self, call: &Value) -> bool {
        self.open.is_some() && call.get("name").and_then(Value::as_str).is_none_or(is_blank)
    }

    /// Returns true if this `functionCall` starts a call without a name, which can be neither run nor sent back.
    pub fn is_nameless(&self, call: &Value) -> bool {
        self.open.is_none() && call.get("name").and_then(Value::as_str).is_none_or(is_blank)
    }

    /// Returns true while the arguments of the last call are incomplete.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Reads one `functionCall`. The caller closes the open call first, unless this one continues it. Ids that are
    /// missing are derived from `response_id`. Returns the arguments of a streamed call once they are complete.
    pub fn read_call(&mut self, call: &Value, response_id: &str, out: &mut Vec<DecodedItem>) -> Option<Value> {
        let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
        let goes_on = call.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        let pieces = call.get("partialArgs").and_then(Value::as_array);
        if !self.is_continuation(call) {
            let index = self.ids.len() as u64;
            let id = unique_call_id(text("id"), &self.ids, response_id);
            out.push(DecodedItem::ToolCall { index, id: id.clone(), name: text("name").to_owned() });
            self.ids.push(id);
            let arguments = call.get("args").filter(|args| args.is_object()).cloned();
            let arguments = arguments.unwrap_or_else(|| Value::Object(Map::new()));
            if !goes_on && pieces.is_none() {
                out.push(DecodedItem::ToolArguments { index, text: arguments.to_string() });
                return None;
            }
            self.open = Some(OpenCall { index, arguments, growing: None });
        }
        if let Some(open) = &mut self.open {
            pieces.into_iter().flatten().for_each(|piece| open.apply_piece(piece));
        }
        if goes_on { None } else { self.close(out) }
    }

    /// Ends the open call, if there is one, and returns its arguments.
    pub fn close(&mut self, out: &mut Vec<DecodedItem>) -> Option<Value> {
        let open = self.open.take()?;
        out.push(DecodedItem::ToolArguments { index: open.index, text: open.arguments.to_string() });
        Some(open.arguments)
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

impl OpenCall {
    /// Writes one piece to the place that its path names.
    fn apply_piece(&mut self, piece: &Value) {
        let Some(path) = piece.get("jsonPath").and_then(Value::as_str) else { return };
        let Some(place) = value_at_path(&mut self.arguments, path) else { return };
        let more = piece.get("stringValue").and_then(Value::as_str);
        match (more, place) {
            (Some(more), Value::String(text)) if self.growing.as_deref() == Some(path) => text.push_str(more),
            (Some(more), place) => *place = more.into(),
            (None, place) => {
                let value = ["numberValue", "boolValue"].into_iter().find_map(|key| piece.get(key));
                *place = value.cloned().unwrap_or_default();
            }
        }
        let goes_on = piece.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        self.growing = goes_on.then(|| path.to_owned());
    }
}

/// One step of a JSON path.
#[derive(Debug, PartialEq, Eq)]
enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// Parses a path such as `$.items[0].name` or `$['name']`; `None` if it has another form.
fn steps(path: &str) -> Option<Vec<PathStep<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            steps.push(PathStep::Key(&after[..end]));
            rest = &after[end..];
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            let key = inside.strip_prefix(['\'', '"']).and_then(|key| key.strip_suffix(['\'', '"']));
            steps.push(match key {
                Some(key) => PathStep::Key(key),
                None => PathStep::Index(inside.parse().ok()?),
            });
            rest = after;
        }
    }
    Some(steps)
}

/// Returns the value at a path and creates missing values. A list grows by one element at a time, so that a path
/// cannot allocate millions of them.
fn value_at_path<'a>(root: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    steps(path)?.into_iter().try_fold(root, |value, step| match step {
        PathStep::Key(key) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            Some(value.as_object_mut()?.entry(key).or_insert(Value::Null))
        }
        PathStep::Index(index) => {
            if !value.is_array() {
                *value = Value::Array(Vec::new());
            }
            let list = value.as_array_mut()?;
            if index == list.len() {
                list.push(Value::Null);
            }
            list.get_mut(index)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Formats every call as `id name arguments`.
    fn calls(parts: &[Value]) -> Vec<String> {
        let mut calls = GeminiFunctionCalls::default();
        let mut items = Vec::new();
        for part in parts {
            if !calls.is_continuation(part) {
                calls.close(&mut items);
            }
            calls.read_call(part, "r1", &mut items);
        }
        let mut found: Vec<String> = Vec::new();
        for item in items {
            match item {
                DecodedItem::ToolCall { id, name, .. } => found.push(format!("{id} {name} ")),
                DecodedItem::ToolArguments { index, text } => found[usize::try_from(index).unwrap()].push_str(&text),
                other => panic!("{other:?}"),
            }
        }
        found
    }

    #[test]
    fn whole_and_streamed_calls_are_read() {
        let piece = |path: &str, text: &str, goes_on: bool| json!({"jsonPath": path, "stringValue": text, "willContinue": goes_on});
        for (case, parts, expected) in [
            ("whole", vec![json!({"id": "a", "name": "f", "args": {"x": 1}})], vec![r#"a f {"x":1}"#]),
            ("without id and arguments", vec![json!({"name": "f"})], vec!["call-r1-0 f {}"]),
            (
                "an id twice",
                vec![json!({"id": "a", "name": "f"}), json!({"id": "a", "name": "g"})],
                vec!["a f {}", "a-1 g {}"],
            ),
            (
                "in pieces",
                vec![
                    json!({"name": "f", "willContinue": true}),
                    json!({"partialArgs": [piece("$.a[0].b", "x", true)], "willContinue": true}),
                    json!({"partialArgs": [piece("$.a[0].b", "y", false)], "willContinue": true}),
                    json!({"partialArgs": [{"jsonPath": "$.a[1]", "numberValue": 0.5}, {"jsonPath": "$['c']", "boolValue": true}],
                        "willContinue": true}),
                    json!({"partialArgs": [{"jsonPath": "$.d", "nullValue": null}]}),
                ],
                vec![r#"call-r1-0 f {"a":[{"b":"xy"},0.5],"c":true,"d":null}"#],
            ),
            (
                "never ended before the next",
                vec![json!({"name": "f", "willContinue": true}), json!({"name": "g", "args": {}})],
                vec!["call-r1-0 f {}", "call-r1-1 g {}"],
            ),
            (
                "a path that asks for too much",
                vec![
                    json!({"name": "f", "willContinue": true}),
                    json!({"partialArgs": [piece("$.a[999999999999]", "x", false)]}),
                    json!({"name": "g"}),
                ],
                vec![r#"call-r1-0 f {"a":[]}"#, "call-r1-1 g {}"],
            ),
        ] {
            assert_eq!(calls(&parts), expected, "{case}");
        }
    }

    #[test]
    fn invalid_path_is_none() {
        assert_eq!(steps("$.a[0]['b c']"), Some(vec![PathStep::Key("a"), PathStep::Index(0), PathStep::Key("b c")]));
        assert_eq!(steps("$"), Some(Vec::new()));
        for wrong in ["a", "", "$a", "$[x]", "$[0", "$[-1]"] {
            assert_eq!(steps(wrong), None, "{wrong}");
        }
    }
}
