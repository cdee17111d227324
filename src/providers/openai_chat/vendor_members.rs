//! Vendor members of messages and calls: members that the protocol does not have. Some endpoints need them back, such
//! as Gemini's `extra_content` with the signature of a thought, so they return where they came from
//! (docs/reference/providers.md 4.3).

use serde_json::{Map, Value};

/// Members of a call that the protocol has.
const CALL: [&str; 4] = ["index", "id", "type", "function"];
/// Members of the function of a call, which are members of the call itself in the legacy format.
const FUNCTION: [&str; 2] = ["name", "arguments"];
/// Members of a message that have a decoder of their own, or no content.
pub const DECODED_MEMBERS: [&str; 12] = [
    "role",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "reasoning",
    "reasoning_content",
    "reasoning_text",
    "reasoning_details",
    "images",
    "token_ids",
    "error",
];
/// Other members of a message that no endpoint takes back.
const RESPONSE_MEMBERS: [&str; 10] = [
    "annotations",
    "citations",
    "search_results",
    "executed_tools",
    "audio",
    "prompt_token_ids",
    "logprobs",
    "channel",
    "name",
    "tool_call_id",
];
/// Parts of the names of text members that endpoints need back; other texts are notes.
const OPAQUE: [&str; 3] = ["signature", "opaque", "encrypted"];

/// Gemini's mark on the chunks of a message that are thoughts.
const MARK_OF_THOUGHTS: [&str; 3] = ["extra_content", "google", "thought"];

/// The members that refusals name when they do not accept them.
const REFUSED: [&str; 4] = ["extra_content", "provider_specific_fields", "thinking_blocks", "reasoning_opaque"];

/// The vendor members of a call: those beside `function`, and those in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallMembers {
    call: Map<String, Value>,
    function: Map<String, Value>,
}

impl CallMembers {
    /// Reads a fragment of a call.
    pub fn read_fragment(&mut self, fragment: &Value) {
        let function = fragment.get("function").filter(|function| function.is_object());
        for (members, value) in [(&mut self.call, Some(fragment)), (&mut self.function, function)] {
            let fields = value.and_then(Value::as_object).into_iter().flatten();
            let vendor =
                fields.filter(|(name, _)| !CALL.contains(&name.as_str()) && !FUNCTION.contains(&name.as_str()));
            merge(members, vendor.map(|(name, value)| (name.clone(), value.clone())));
        }
    }

    /// Adds the members to a call of a request.
    pub fn write(&self, call: &mut Value) {
        insert(call, &self.call);
        if let Some(function) = call.get_mut("function") {
            insert(function, &self.function);
        }
    }
}

/// Reads the vendor members of a delta: objects, lists, and texts that are proofs of the provider. A mark that the text
/// is a thought is not kept, because it would be that of the whole message.
pub fn read_message(members: &mut Map<String, Value>, delta: &Value) {
    let is_vendor = |name: &str, value: &Value| {
        let is_kept = match value {
            Value::Object(_) | Value::Array(_) => true,
            Value::String(_) => OPAQUE.iter().any(|part| name.contains(part)),
            _ => false,
        };
        is_kept && !DECODED_MEMBERS.contains(&name) && !RESPONSE_MEMBERS.contains(&name)
    };
    let found = delta.as_object().into_iter().flatten().filter(|(name, value)| is_vendor(name, value));
    merge(members, found.map(|(name, value)| (name.clone(), value.clone())));
    remove_path(members, &MARK_OF_THOUGHTS);
}

/// Removes a member, and the objects around it that become empty.
fn remove_path(members: &mut Map<String, Value>, path: &[&str]) {
    match path {
        [] => {}
        [name] => {
            members.remove(*name);
        }
        [name, rest @ ..] => {
            let Some(Value::Object(inner)) = members.get_mut(*name) else { return };
            remove_path(inner, rest);
            if inner.is_empty() {
                members.remove(*name);
            }
        }
    }
}

/// Adds members to a message of a request.
pub fn insert(to: &mut Value, members: &Map<String, Value>) {
    if let Value::Object(to) = to {
        for (name, value) in members {
            to.entry(name.as_str()).or_insert_with(|| value.clone());
        }
    }
}

/// Returns true if a refusal, in lower case, is about a vendor member.
pub fn is_refused(message: &str) -> bool {
    REFUSED.iter().any(|name| message.contains(name))
}

/// Merges the members of a fragment: objects are merged, other values replace earlier ones, and empty values are
/// ignored.
fn merge(members: &mut Map<String, Value>, more: impl IntoIterator<Item = (String, Value)>) {
    for (name, value) in more {
        let is_empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        match (members.get_mut(&name), value) {
            _ if is_empty => {}
            (Some(Value::Object(known)), Value::Object(more)) => merge(known, more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, value) => {
                members.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_of_call_return_in_their_place() {
        let mut members = CallMembers::default();
        for fragment in [
            json!({"index": 0, "id": "a", "type": "function", "extra_content": {"google": {"thought_signature": "s"}},
                "function": {"name": "f", "arguments": "{", "thought_signature": "t"}}),
            json!({"index": 0, "extra_content": {"vendor": 1}, "note": null, "function": {"arguments": "}"}}),
        ] {
            members.read_fragment(&fragment);
        }
        let mut call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        members.write(&mut call);
        assert_eq!(
            call,
            json!({"id": "a", "type": "function",
                "function": {"name": "f", "arguments": "{}", "thought_signature": "t"},
                "extra_content": {"google": {"thought_signature": "s"}, "vendor": 1}})
        );
    }

    #[test]
    fn message_keeps_vendor_objects_and_proofs() {
        let mut members = Map::new();
        for delta in [
            json!({"role": "assistant", "content": "a", "channel": "final", "note": "x", "audio": {"id": "a"}}),
            json!({"extra_content": {"google": {"thought_signature": "s", "thought": true}}, "annotations": [1]}),
            json!({"reasoning_opaque": "o", "thinking_blocks": [{"signature": "a"}]}),
            json!({"thinking_blocks": [{"signature": "b"}], "extra_content": {}}),
        ] {
            read_message(&mut members, &delta);
        }
        let expected = json!({"extra_content": {"google": {"thought_signature": "s"}}, "reasoning_opaque": "o",
            "thinking_blocks": [{"signature": "a"}, {"signature": "b"}]});
        assert_eq!(Value::Object(members), expected);
        let mut members = Map::new();
        read_message(&mut members, &json!({"content": "<thought>a", "extra_content": {"google": {"thought": true}}}));
        assert_eq!(Value::Object(members), json!({}), "a thought marks its chunk, not the message");
    }
}
