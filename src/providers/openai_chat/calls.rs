//! Assembles tool calls from deltas and finds the call that a delta belongs to, although servers omit, repeat or
//! reuse indexes and ids.

use serde_json::Value;

use crate::call_id::unique_call_id;
use crate::provider::DecodedItem;

/// A call that is being received.
#[derive(Debug, Clone)]
struct Call {
    /// The server's own index, if it sends one.
    index: Option<u64>,
    id: String,
    name: String,
    /// `DecodedItem::ToolCall` was emitted; the name can no longer change.
    announced: bool,
}

/// The tool calls of one reply.
#[derive(Debug, Default)]
pub struct ChatToolCalls {
    calls: Vec<Call>,
}

impl ChatToolCalls {
    /// Reads one element of `delta.tool_calls`. A call is announced with its first arguments, so that a name that
    /// arrives in pieces is complete. Missing ids are derived from `response_id`.
    ///
    /// Returns the position of the call and the arguments to append to it.
    pub fn push_fragment(
        &mut self,
        fragment: &Value,
        response_id: &str,
        out: &mut Vec<DecodedItem>,
    ) -> Option<(u64, String)> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let index = fragment.get("index").and_then(Value::as_u64);
        let id = text(fragment.get("id"));
        let function = fragment.get("function").unwrap_or(fragment);
        let name = text(function.get("name"));
        let arguments = match function.get("arguments") {
            // Some servers send the arguments as an object instead of a string.
            Some(whole @ Value::Object(_)) => whole.to_string(),
            other => text(other),
        };
        let at = match self.find(index, &id) {
            Some(at) => at,
            None if id.is_empty() && name.is_empty() && arguments.is_empty() => return None,
            None => self.open(index, &id, response_id, out),
        };
        let call = self.calls.get_mut(at)?;
        if !call.announced && call.name != name {
            call.name.push_str(&name);
        }
        if arguments.is_empty() {
            return None;
        }
        self.announce_until(at, out);
        Some((at as u64, arguments))
    }

    /// Announces the calls that have no arguments yet.
    pub fn announce_all(&mut self, out: &mut Vec<DecodedItem>) {
        if let Some(last) = self.calls.len().checked_sub(1) {
            self.announce_until(last, out);
        }
    }

    /// Returns true if the model made no call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Finds the call that a delta continues: the newest with its index, unless the ids differ; without an index, the
    /// one with its id; with neither, the newest of all.
    fn find(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let same_id = |call: &Call| id.is_empty() || call.id == id;
        match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index).filter(|at| same_id(&self.calls[*at])),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| call.id == id),
        }
    }

    fn open(&mut self, index: Option<u64>, id: &str, response_id: &str, out: &mut Vec<DecodedItem>) -> usize {
        self.announce_all(out);
        let at = self.calls.len();
        let id = unique_call_id(id, self.calls.iter().map(|call| &call.id), response_id);
        self.calls.push(Call { index, id, name: String::new(), announced: false });
        at
    }

    fn announce_until(&mut self, last: usize, out: &mut Vec<DecodedItem>) {
        for (at, call) in self.calls.iter_mut().enumerate().take(last + 1) {
            if !std::mem::replace(&mut call.announced, true) {
                out.push(DecodedItem::ToolCall { index: at as u64, id: call.id.clone(), name: call.name.clone() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Formats every call as `id name arguments`.
    fn calls(fragments: &[Value]) -> Vec<String> {
        let mut calls = ChatToolCalls::default();
        let mut items = Vec::new();
        for fragment in fragments {
            let more = calls.push_fragment(fragment, "r1", &mut items);
            items.extend(more.map(|(index, text)| DecodedItem::ToolArguments { index, text }));
        }
        calls.announce_all(&mut items);
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
    fn fragments_find_their_call_despite_missing_fields() {
        let whole = |id: &str, args: &str| json!({"id": id, "function": {"name": "f", "arguments": args}});
        let part = |index: u64, args: &str| json!({"index": index, "function": {"arguments": args}});
        let start =
            |index: u64, id: &str| json!({"index": index, "id": id, "function": {"name": "f", "arguments": ""}});
        for (what, fragments, expected) in [
            ("by index", vec![start(0, "a"), part(0, "{"), part(0, "}")], vec!["a f {}"]),
            ("from index one", vec![start(1, "a"), part(1, "{}")], vec!["a f {}"]),
            (
                "interleaved",
                vec![start(0, "a"), start(1, "b"), part(0, "{"), part(1, "["), part(0, "}"), part(1, "]")],
                vec!["a f {}", "b f []"],
            ),
            (
                "no index",
                vec![whole("a", "{"), json!({"function": {"arguments": "}"}}), whole("b", "[]")],
                vec!["a f {}", "b f []"],
            ),
            (
                "one index for all",
                vec![
                    json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}),
                    json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": "[]"}}),
                ],
                vec!["a f {}", "b g []"],
            ),
            ("no id", vec![json!({"index": 0, "function": {"name": "f", "arguments": "{}"}})], vec!["call-r1-0 f {}"]),
            (
                "an id twice",
                vec![start(0, "a"), json!({"index": 1, "id": "a", "function": {"name": "g", "arguments": "{}"}})],
                vec!["a f ", "a-1 g {}"],
            ),
            (
                "a name in pieces",
                vec![
                    json!({"index": 0, "id": "a", "function": {"name": "get_"}}),
                    json!({"index": 0, "function": {"name": "time", "arguments": "{}"}}),
                ],
                vec!["a get_time {}"],
            ),
            (
                "a name repeated",
                vec![start(0, "a"), json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})],
                vec!["a f {}"],
            ),
            (
                "an object",
                vec![json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}})],
                vec!["a f {\"x\":1}"],
            ),
            ("nothing", vec![json!({}), json!(null), json!({"index": 3})], vec![]),
            ("for an unknown index", vec![part(7, "{}")], vec!["call-r1-0  {}"]),
        ] {
            assert_eq!(calls(&fragments), expected, "{what}");
        }
    }
}
