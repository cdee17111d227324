//! Replay of a response as an assistant message of the next request to the same model
//! (docs/reference/providers.md 2.6, 3.5, 3.6): every block goes back unchanged and in its place, except those that
//! the API is known to refuse.

use serde_json::{Map, Value, json};

/// One content block of a response, with its deltas applied.
#[derive(Debug, Clone, PartialEq)]
pub struct AnthropicBlock {
    /// The fields of the block in the order received.
    pub value: Map<String, Value>,
    /// True if its `input` is an object. A call that the token limit cut has none.
    pub is_whole: bool,
    /// True if the block was ended by the provider. Otherwise a broken connection, a stop by the user or an error cut
    /// it off.
    pub is_done: bool,
}

impl AnthropicBlock {
    fn kind(&self) -> &str {
        self.text("type")
    }

    fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn is_thinking(&self) -> bool {
        matches!(self.kind(), "thinking" | "redacted_thinking")
    }

    /// Returns true for a tool call that Turnleaf answers, as opposed to one that the provider runs itself.
    fn is_call(&self) -> bool {
        self.kind() == "tool_use" && !is_nameless_call(&self.value)
    }
}

/// The decoded content of one response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnthropicReply {
    pub blocks: Vec<AnthropicBlock>,
    pub is_paused: bool,
    /// The container in which the provider ran code, if it ran any.
    pub container: Option<String>,
    /// True if the response was received to its end.
    pub is_complete: bool,
}

/// The thinking blocks that go back to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingToSend {
    Omitted,
    /// Only signed thinking, because the API refuses any other.
    Signed,
    /// Unsigned thinking, too: servers that imitate the API sign nothing, and some require it back in tool loops.
    All,
}

/// The parts of a response that go back to the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnthropicContent {
    /// The content of the message; empty if nothing of it may be sent.
    pub content: Vec<Value>,
    /// The tool calls in `content`, each of which needs a result: the position in the response, from 0, and the id.
    pub calls: Vec<(usize, String)>,
}

impl AnthropicReply {
    /// Counts the calls that need a result, including those that are not sent.
    pub fn call_count(&self) -> usize {
        self.blocks.iter().filter(|block| block.is_call()).count()
    }

    /// Selects the content to send. `answered` tells which calls have a result: a call whose arguments the token
    /// limit cut goes back only if it has one, and then with `{}`.
    ///
    /// The API refuses blank texts, reasoning without a signature (`thinking`), cut calls, and reasoning at the end, which must be
    /// followed by something; all of them are omitted (docs/reference/providers.md 2.6). From a response that was cut
    /// off, every block that is not text and has no end is omitted, too, and every provider tool call without a
    /// result.
    pub fn content_to_send(&self, thinking: ThinkingToSend, answered: impl Fn(usize) -> bool) -> AnthropicContent {
        let mut number = 0;
        let mut kept: Vec<(bool, Value)> = Vec::new();
        let mut calls = Vec::new();
        for block in &self.blocks {
            let call = block.is_call().then_some(number);
            number += usize::from(call.is_some());
            let is_sent = match block.kind() {
                "text" => !block.text("text").trim().is_empty(),
                "thinking" => match thinking {
                    ThinkingToSend::Omitted => false,
                    _ if !block.text("signature").is_empty() => true,
                    ThinkingToSend::Signed => false,
                    ThinkingToSend::All => block.is_done && !block.text("thinking").trim().is_empty(),
                },
                "redacted_thinking" => thinking != ThinkingToSend::Omitted,
                "tool_use" if call.is_none() => false,
                _ if !self.is_complete => block.is_whole && block.is_done && self.has_result(block),
                _ => block.is_whole || call.is_some_and(&answered),
            };
            if is_sent {
                let mut value = block.value.clone();
                if !block.is_whole {
                    value.insert("input".into(), json!({}));
                }
                kept.push((block.is_thinking(), Value::Object(value)));
                calls.extend(call.map(|number| (number, block.text("id").to_owned())));
            }
        }
        // A paused reply is continued where it stopped, whatever its last block is.
        while !self.is_paused && kept.last().is_some_and(|(is_thinking, _)| *is_thinking) {
            kept.pop();
        }
        AnthropicContent { content: kept.into_iter().map(|(_, value)| value).collect(), calls }
    }

    /// Returns the assistant message if none of its calls has a result yet.
    pub fn message(&self, thinking: ThinkingToSend) -> Option<Value> {
        Some(self.content_to_send(thinking, |_| false).content)
            .filter(|content| !content.is_empty())
            .map(|content| assistant_message(content.into()))
    }

    /// Returns true if a provider tool call has its result in the same response; true for every other block.
    fn has_result(&self, call: &AnthropicBlock) -> bool {
        let is_own = matches!(call.kind(), "server_tool_use" | "mcp_tool_use");
        !is_own || self.blocks.iter().any(|block| block.text("tool_use_id") == call.text("id"))
    }
}

/// Returns true for a tool call without a name, which the API would refuse.
pub fn is_nameless_call(block: &Map<String, Value>) -> bool {
    let name = block.get("name").and_then(Value::as_str).unwrap_or_default();
    block.get("type").and_then(Value::as_str) == Some("tool_use") && name.trim().is_empty()
}

/// Returns an assistant message with this content.
pub fn assistant_message(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

/// Returns a text block for a reply that is sent as plain text; `None` if the text is blank.
pub fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_with(blocks: Value) -> AnthropicReply {
        let block = |value: &Value| AnthropicBlock {
            value: value.as_object().unwrap().clone(),
            is_whole: value.get("input").is_none_or(Value::is_object),
            is_done: true,
        };
        AnthropicReply {
            blocks: blocks.as_array().unwrap().iter().map(block).collect(),
            is_complete: true,
            ..AnthropicReply::default()
        }
    }

    #[test]
    fn blocks_are_sent_back_unchanged_except_refused_ones() {
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
            assert_eq!(
                Value::Array(reply_with(blocks.clone()).content_to_send(ThinkingToSend::Signed, |_| false).content),
                expected,
                "{blocks}"
            );
        }
    }

    #[test]
    fn truncated_call_with_result_is_sent_back_without_arguments() {
        let blocks = json!([
            {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            {"type": "tool_use", "id": "b", "name": "f", "input": "half"},
        ]);
        let sent = reply_with(blocks).content_to_send(ThinkingToSend::Signed, |at| at == 1);
        assert_eq!(sent.calls, [(0, "a".to_owned()), (1, "b".to_owned())]);
        assert_eq!(sent.content[1], json!({"type": "tool_use", "id": "b", "name": "f", "input": {}}));
    }

    #[test]
    fn paused_reply_keeps_its_end() {
        let mut paused = reply_with(json!([{"type": "thinking", "thinking": "", "signature": "s"}]));
        assert_eq!(paused.message(ThinkingToSend::Signed), None);
        paused.is_paused = true;
        assert_eq!(paused.content_to_send(ThinkingToSend::Signed, |_| false).content.len(), 1);
    }

    /// The rows of docs/reference/providers.md 2.6: blocks of an interrupted response, each with whether its end was
    /// received.
    #[test]
    fn interrupted_response_is_sent_back_as_far_as_api_accepts() {
        let thought = json!({"type": "thinking", "thinking": "why", "signature": "s"});
        let unsigned = json!({"type": "thinking", "thinking": "wh"});
        let partial = json!({"type": "text", "text": "It is"});
        let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
        let cut = json!({"type": "tool_use", "id": "b", "name": "f", "input": null});
        let search = json!({"type": "server_tool_use", "id": "c", "name": "web_search", "input": {}});
        let found = json!({"type": "web_search_tool_result", "tool_use_id": "c", "content": []});
        for (case, blocks, expected) in [
            ("a cut text", vec![(&thought, true), (&partial, false)], vec![&thought, &partial]),
            ("an empty text", vec![(&thought, true), (&json!({"type": "text", "text": ""}), false)], vec![]),
            ("reasoning without a signature", vec![(&unsigned, false)], vec![]),
            ("reasoning and nothing behind it", vec![(&thought, true)], vec![]),
            ("reasoning behind a text", vec![(&partial, true), (&thought, true)], vec![&partial]),
            ("a whole call", vec![(&thought, true), (&call, true)], vec![&thought, &call]),
            ("a call whose end never came", vec![(&thought, true), (&call, false)], vec![]),
            ("a cut call", vec![(&thought, true), (&cut, false)], vec![]),
            (
                "a cut call behind a whole one",
                vec![(&thought, true), (&call, true), (&cut, false)],
                vec![&thought, &call],
            ),
            ("a search without its result", vec![(&partial, true), (&thought, true), (&search, true)], vec![&partial]),
            ("a search with its result", vec![(&search, true), (&found, true)], vec![&search, &found]),
        ] {
            let block = |(value, is_done): &(&Value, bool)| AnthropicBlock {
                value: value.as_object().unwrap().clone(),
                is_whole: value.get("input").is_none_or(Value::is_object),
                is_done: *is_done,
            };
            let reply = AnthropicReply { blocks: blocks.iter().map(block).collect(), ..AnthropicReply::default() };
            // The end of a turn stores a result for every call, including cut ones.
            let sent = reply.content_to_send(ThinkingToSend::Signed, |_| true);
            assert_eq!(sent.content.iter().collect::<Vec<_>>(), expected, "{case}");
            assert_eq!(sent.calls.len(), sent.content.iter().filter(|block| block["type"] == "tool_use").count());
        }
    }

    #[test]
    fn reasoning_is_omitted_completely_or_not_at_all() {
        let blocks = json!([
            {"type": "thinking", "thinking": "why", "signature": "s"}, {"type": "redacted_thinking", "data": "d"},
            {"type": "text", "text": "So."},
        ]);
        assert_eq!(
            reply_with(blocks).content_to_send(ThinkingToSend::Omitted, |_| false).content,
            [json!({"type": "text", "text": "So."})]
        );
    }

    #[test]
    fn unsigned_thinking_goes_back_to_servers_without_signatures() {
        let thought = json!({"type": "thinking", "thinking": "I should call w.", "signature": ""});
        let bare = json!({"type": "thinking", "thinking": "Or not."});
        let blank = json!({"type": "thinking", "thinking": "", "signature": ""});
        let call = json!({"type": "tool_use", "id": "t1", "name": "w", "input": {"a": 1}});
        let reply = reply_with(json!([thought, bare, blank, call]));
        let sent = |thinking| reply.content_to_send(thinking, |_| true).content;
        assert_eq!(sent(ThinkingToSend::All), [thought.clone(), bare.clone(), call.clone()]);
        assert_eq!(sent(ThinkingToSend::Signed), std::slice::from_ref(&call));
        assert_eq!(sent(ThinkingToSend::Omitted), std::slice::from_ref(&call));
        let mut cut = reply;
        cut.is_complete = false;
        cut.blocks[1].is_done = false;
        assert_eq!(
            cut.content_to_send(ThinkingToSend::All, |_| true).content,
            [thought, call],
            "a cut block is not whole"
        );
    }
}
