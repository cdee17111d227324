//! The assistant message that a response becomes in the next request to the same model (providers.md 2.6, 3.5, 3.6):
//! every block as it came and in its place, without the few that the API is known to refuse.

use serde_json::{Map, Value, json};

/// One content block of a response, its deltas applied.
#[derive(Debug, Clone, PartialEq)]
pub struct SaidBlock {
    /// The keys in the order in which they came.
    pub value: Map<String, Value>,
    /// Its `input` is an object. A call that the token limit cut has none.
    pub is_whole: bool,
}

impl SaidBlock {
    fn kind(&self) -> &str {
        self.text("type")
    }

    fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn is_thinking(&self) -> bool {
        matches!(self.kind(), "thinking" | "redacted_thinking")
    }

    /// Whether it is a call that we answer, not one that the provider runs itself.
    fn is_call(&self) -> bool {
        self.kind() == "tool_use"
    }
}

/// Everything one response said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    pub blocks: Vec<SaidBlock>,
    pub is_paused: bool,
}

impl Said {
    /// The calls that want an answer, in order: id, and whether the arguments are whole.
    pub fn calls(&self) -> impl Iterator<Item = (&str, bool)> {
        self.blocks.iter().filter(|block| block.is_call()).map(|block| (block.text("id"), block.is_whole))
    }

    /// The content of the message; empty when nothing of it may be sent. `answered` says which calls have a result: a
    /// call whose arguments were cut goes back only if it has one, and then with `{}`.
    ///
    /// Left out are texts without a letter, reasoning without a signature, cut calls, and reasoning at the end, behind
    /// which something would have to follow: the API refuses each of them (providers.md 2.6).
    pub fn content(&self, answered: impl Fn(usize) -> bool) -> Vec<Value> {
        let mut calls = 0;
        let mut kept: Vec<(bool, Value)> = Vec::new();
        for block in &self.blocks {
            let is_answered = block.is_call() && {
                calls += 1;
                answered(calls - 1)
            };
            let is_sent = match block.kind() {
                "text" => !block.text("text").trim().is_empty(),
                "thinking" => !block.text("signature").is_empty(),
                _ => block.is_whole || is_answered,
            };
            if is_sent {
                let mut value = block.value.clone();
                if !block.is_whole {
                    value.insert("input".into(), json!({}));
                }
                kept.push((block.is_thinking(), Value::Object(value)));
            }
        }
        // A paused reply goes on where it stopped, whatever its last block is.
        while !self.is_paused && kept.last().is_some_and(|(is_thinking, _)| *is_thinking) {
            kept.pop();
        }
        kept.into_iter().map(|(_, value)| value).collect()
    }

    /// The message, when nobody has answered its calls yet.
    pub fn message(&self) -> Option<Value> {
        Some(self.content(|_| false)).filter(|content| !content.is_empty()).map(|content| assistant(content.into()))
    }
}

/// An assistant message with this content.
pub fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

/// What is sent of a reply that does not go back as the model wrote it: its text, or nothing where it has none.
pub fn plain(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(blocks: Value) -> Said {
        let block = |value: &Value| SaidBlock {
            value: value.as_object().unwrap().clone(),
            is_whole: value.get("input").is_none_or(Value::is_object),
        };
        Said { blocks: blocks.as_array().unwrap().iter().map(block).collect(), is_paused: false }
    }

    #[test]
    fn blocks_go_back_as_they_came_but_for_those_that_are_refused() {
        let signed = json!({"type": "thinking", "thinking": "", "signature": "s"});
        let hidden = json!({"type": "redacted_thinking", "data": "d"});
        let text = json!({"citations": [], "type": "text", "text": " Hi "});
        let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}, "caller": {"type": "direct"}});
        let cut = json!({"type": "tool_use", "id": "b", "name": "f", "input": null});
        let search = json!({"type": "server_tool_use", "id": "c", "name": "web_search", "input": {}});
        let found =
            json!({"type": "web_search_tool_result", "tool_use_id": "c", "content": [{"encrypted_content": "e"}]});
        for (blocks, expected) in [
            (json!([signed, text]), json!([signed, text])),
            (json!([hidden, signed, call]), json!([hidden, signed, call])),
            (json!([search, found, text]), json!([search, found, text])),
            (json!([{"type": "thinking", "thinking": "x", "signature": ""}, text]), json!([text])),
            (json!([{"type": "thinking", "thinking": "x"}, text]), json!([text])),
            (json!([{"type": "text", "text": ""}, {"type": "text", "text": "\n\n"}, text]), json!([text])),
            (json!([signed, cut]), json!([])),
            (json!([text, signed, hidden]), json!([text])),
            (json!([call, cut]), json!([call])),
            (json!([{"type": "server_tool_use", "id": "c", "name": "f", "input": null}, text]), json!([text])),
            (json!([{"type": "of_tomorrow", "any": [1, null]}]), json!([{"type": "of_tomorrow", "any": [1, null]}])),
        ] {
            assert_eq!(Value::Array(said(blocks.clone()).content(|_| false)), expected, "{blocks}");
        }
    }

    #[test]
    fn a_cut_call_that_was_answered_goes_back_without_arguments() {
        let blocks = json!([
            {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            {"type": "tool_use", "id": "b", "name": "f", "input": "half"},
        ]);
        let content = said(blocks).content(|at| at == 1);
        assert_eq!(content[1], json!({"type": "tool_use", "id": "b", "name": "f", "input": {}}));
    }

    #[test]
    fn a_paused_reply_keeps_its_end() {
        let mut paused = said(json!([{"type": "thinking", "thinking": "", "signature": "s"}]));
        assert_eq!(paused.message(), None);
        paused.is_paused = true;
        assert_eq!(paused.content(|_| false).len(), 1);
    }
}
