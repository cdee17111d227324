//! Replay of a response as an assistant message of the next request to the same model
//! (docs/reference/providers.md 4.3, 5). The content is kept separately from the items, because some of it (refusals,
//! reasoning details) has no place in blocks.

use serde_json::{Map, Value, json};

use crate::openai_chat::dialect::{Dialect, ReasoningFormat};
use crate::openai_chat::vendor_members::{self, CallMembers};
use turnleaf_domain::tools::tool::parse_arguments;

/// A tool call as the model made it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
    /// Members that only this vendor has.
    pub members: CallMembers,
}

impl ChatCall {
    /// Returns true if the arguments are JSON, which those of a call that the token limit cut are not
    /// (docs/reference/providers.md 2.6).
    pub fn is_whole(&self) -> bool {
        parse_arguments(&self.arguments).is_some()
    }
}

/// The content of one response for the next request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatReply {
    pub text: String,
    pub refusal: String,
    pub reasoning: String,
    /// The field in which the reasoning was received.
    pub reasoning_field: &'static str,
    /// `reasoning_details`, with the fragments of each index joined.
    pub details: Vec<Value>,
    pub calls: Vec<ChatCall>,
    /// Members of the message that only this vendor has.
    pub members: Map<String, Value>,
    /// Images, unchanged.
    pub images: Vec<Value>,
    /// True if the response was received to its end.
    pub is_complete: bool,
}

/// The way in which reasoning is put into a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningPlacement {
    /// In the format of the dialect. `has_calls` means that the turn has tool calls, `is_needed` that the model can
    /// also think: some servers then require the field in every message of the turn, even if it is empty
    /// (docs/reference/providers.md 5).
    ByDialect { has_calls: bool, is_needed: bool },
    /// In any dialect, as an empty string if there was none.
    Echoed,
    /// Not at all. Members that only this vendor has stay.
    Refused,
    /// Not at all, with everything that depends on it.
    Omitted,
}

impl ReasoningPlacement {
    /// Returns a number that identifies the variant, for cache keys.
    pub fn form_number(self) -> u8 {
        match self {
            Self::ByDialect { has_calls, is_needed } => u8::from(has_calls) + u8::from(is_needed),
            Self::Echoed => 3,
            Self::Refused => 4,
            Self::Omitted => 5,
        }
    }

    fn is_sent(self) -> bool {
        !matches!(self, Self::Refused | Self::Omitted)
    }
}

/// The field for reasoning that an endpoint requires although its dialect does not know it.
const ECHOED_AS: &str = "reasoning_content";

impl ChatReply {
    /// Joins one element of `delta.reasoning_details` to the one that it continues, in order of first appearance.
    pub fn push_detail(&mut self, fragment: &Value) {
        let known = self.details.iter().rposition(|known| is_same_detail(known, fragment));
        let is_numbered = fragment.get("index").is_some_and(|index| !index.is_null());
        // Without numbers, only neighbours belong together, and encrypted data arrives whole.
        let may_continue = |at: &usize| is_numbered || (at + 1 == self.details.len() && fragment.get("data").is_none());
        let known = known.filter(may_continue).and_then(|at| self.details.get_mut(at));
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

    /// Returns the positions of the calls to send. `answered` tells which calls have a result: a call whose arguments
    /// are not JSON goes back only if it has one. From an interrupted response only complete calls go back; empty
    /// arguments count as incomplete there.
    pub fn sent_calls(&self, answered: impl Fn(usize) -> bool) -> Vec<usize> {
        let is_sent = |(at, call): &(usize, &ChatCall)| {
            if self.is_complete {
                call.is_whole() || answered(*at)
            } else {
                call.is_whole() && !call.arguments.trim().is_empty() && !call.name.is_empty()
            }
        };
        self.calls.iter().enumerate().filter(is_sent).map(|(at, _)| at).collect()
    }

    /// Returns the message with these calls; `None` if nothing of it may be sent. Arguments that are not JSON become
    /// `{}`, because servers parse them.
    pub fn message(&self, dialect: &Dialect, reasoning: ReasoningPlacement, sent_calls: &[usize]) -> Option<Value> {
        let with_members = dialect.sends_vendor_members && reasoning != ReasoningPlacement::Omitted;
        let calls: Vec<Value> = sent_calls
            .iter()
            .filter_map(|at| self.calls.get(*at))
            .map(|call| {
                let is_sendable = call.is_whole() && !call.arguments.trim().is_empty();
                let arguments = if is_sendable { call.arguments.as_str() } else { "{}" };
                let mut sent =
                    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}});
                if with_members {
                    call.members.write(&mut sent);
                }
                sent
            })
            .collect();
        let images: &[Value] = if dialect.sends_images { &self.images } else { &[] };
        let has_content = !self.text.is_empty() || !self.refusal.is_empty() || !calls.is_empty() || !images.is_empty();
        if !has_content {
            return None;
        }
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        message.insert("content".into(), self.content(dialect, reasoning.is_sent()));
        if !self.refusal.is_empty() && dialect.sends_refusal {
            message.insert("refusal".into(), json!(self.refusal));
        }
        match reasoning {
            ReasoningPlacement::ByDialect { has_calls, is_needed } => {
                self.put_reasoning(&mut message, dialect, has_calls, is_needed);
            }
            ReasoningPlacement::Echoed => {
                self.put_reasoning(&mut message, dialect, true, true);
                let field = match dialect.reasoning_format {
                    ReasoningFormat::Field(field) => field,
                    _ => ECHOED_AS,
                };
                message.insert(field.into(), json!(self.reasoning));
            }
            ReasoningPlacement::Refused | ReasoningPlacement::Omitted => {}
        }
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        if !images.is_empty() {
            message.insert("images".into(), images.into());
        }
        let mut message = Value::Object(message);
        if with_members {
            vendor_members::insert(&mut message, &self.members);
        }
        Some(message)
    }

    fn content(&self, dialect: &Dialect, with_reasoning: bool) -> Value {
        let mut text = self.text.clone();
        if !dialect.sends_refusal {
            text.push_str(&self.refusal);
        }
        if with_reasoning && dialect.reasoning_format == ReasoningFormat::ContentParts && !self.reasoning.is_empty() {
            let mut parts = vec![json!({"type": "thinking", "thinking": [{"type": "text", "text": self.reasoning}]})];
            if !text.is_empty() {
                parts.push(json!({"type": "text", "text": text}));
            }
            return Value::Array(parts);
        }
        if text.is_empty() && dialect.empty_content_is_null { Value::Null } else { Value::String(text) }
    }

    fn put_reasoning(&self, message: &mut Map<String, Value>, dialect: &Dialect, has_calls: bool, is_needed: bool) {
        match dialect.reasoning_format {
            ReasoningFormat::Nothing | ReasoningFormat::ContentParts => {}
            ReasoningFormat::AsItCameWithTools if !has_calls => {}
            ReasoningFormat::AsItCame | ReasoningFormat::AsItCameWithTools => {
                self.put_field(message, self.reasoning_field, false);
                self.put_details(message);
            }
            ReasoningFormat::Details => {
                self.put_details(message);
                if self.details.is_empty() {
                    self.put_field(message, self.reasoning_field, false);
                }
            }
            ReasoningFormat::Field(field) => {
                self.put_field(message, field, is_needed && dialect.reasoning_required_with_tools);
            }
        }
    }

    fn put_field(&self, message: &mut Map<String, Value>, field: &str, is_needed: bool) {
        if !field.is_empty() && (!self.reasoning.is_empty() || is_needed) {
            message.insert(field.into(), json!(self.reasoning));
        }
    }

    fn put_details(&self, message: &mut Map<String, Value>) {
        // In an interrupted response, details without signature or data may be incomplete.
        let is_sealed =
            |detail: &&Value| ["signature", "data"].iter().any(|key| detail.get(key).is_some_and(Value::is_string));
        let details: Vec<Value> =
            self.details.iter().filter(|detail| self.is_complete || is_sealed(detail)).cloned().collect();
        if !details.is_empty() {
            message.insert("reasoning_details".into(), Value::Array(details));
        }
    }
}

/// Returns true if a fragment of `reasoning_details` may continue this element: they have the same type and index, and
/// not two different ids.
fn is_same_detail(known: &Value, fragment: &Value) -> bool {
    let member = |detail: &Value, name: &str| detail.get(name).filter(|value| !value.is_null()).cloned();
    let ids = (member(known, "id"), member(fragment, "id"));
    let is_other = matches!(&ids, (Some(known), Some(id)) if known != id);
    !is_other && ["type", "index"].iter().all(|name| member(known, name) == member(fragment, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_details_are_joined_by_index_and_kept_in_order() {
        let text = |index: Value, text: &str| json!({"type": "reasoning.text", "index": index, "text": text});
        let sealed = |id: &str, data: &str| json!({"type": "reasoning.encrypted", "id": id, "data": data});
        for (what, fragments, expected) in [
            (
                "pieces of one index and its late signature",
                vec![
                    text(json!(0), "Let "),
                    text(json!(0), "me."),
                    json!({"type": "reasoning.text", "index": 0, "signature": "s", "format": "f"}),
                ],
                json!([{"type": "reasoning.text", "index": 0, "text": "Let me.", "signature": "s", "format": "f"}]),
            ),
            (
                "interleaved indexes, and two types with one index",
                vec![
                    text(json!(0), "a"),
                    json!({"type": "reasoning.encrypted", "index": 0, "data": "d"}),
                    text(json!(1), "b"),
                    text(json!(0), "c"),
                ],
                json!([
                    text(json!(0), "ac"),
                    {"type": "reasoning.encrypted", "index": 0, "data": "d"},
                    text(json!(1), "b"),
                ]),
            ),
            (
                "encrypted items without an index",
                vec![sealed("a", "1"), sealed("b", "2"), json!({"type": "reasoning.encrypted", "data": "3"})],
                json!([sealed("a", "1"), sealed("b", "2"), {"type": "reasoning.encrypted", "data": "3"}]),
            ),
            (
                "one index used by two ids",
                vec![
                    json!({"type": "reasoning.summary", "index": 0, "id": "a", "summary": "x"}),
                    json!({"type": "reasoning.summary", "index": 0, "id": "b", "summary": "y"}),
                    json!({"type": "reasoning.summary", "index": 0, "id": "a", "summary": "z"}),
                ],
                json!([
                    {"type": "reasoning.summary", "index": 0, "id": "a", "summary": "xz"},
                    {"type": "reasoning.summary", "index": 0, "id": "b", "summary": "y"},
                ]),
            ),
            (
                "text without an index, around something else",
                vec![text(Value::Null, "a"), text(Value::Null, "b"), sealed("a", "1"), text(Value::Null, "c")],
                json!([text(Value::Null, "ab"), sealed("a", "1"), text(Value::Null, "c")]),
            ),
        ] {
            let mut reply = ChatReply::default();
            fragments.iter().for_each(|fragment| reply.push_detail(fragment));
            assert_eq!(Value::Array(reply.details), expected, "{what}");
        }
    }
}
