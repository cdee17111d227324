//! Redaction for clients: signatures and encrypted reasoning of a provider stay on the server, because they are
//! opaque, large, and useful to anyone who has them (`docs/reference/domain.md C13`). Clients see that they exist,
//! not their values.

use serde_json::Value;

use crate::blocks::block::{Block, Content};
use crate::turns::event::Event;
use crate::turns::turn::Turn;

/// Returns the turn without provider secrets.
pub fn redact_turn(mut turn: Turn) -> Turn {
    for block in &mut turn.blocks {
        redact_content(&mut block.content);
    }
    turn
}

/// Returns the block without provider secrets.
pub fn redact_block(mut block: Block) -> Block {
    redact_content(&mut block.content);
    block
}

/// Returns the event without provider secrets, or `None` if it contains none and can be sent unchanged.
pub fn redact_event(event: &Event) -> Option<Event> {
    let mut seen = event.clone();
    match &mut seen {
        Event::BlockStart { block } => redact_content(&mut block.content),
        Event::BlockEnd { content: Some(ended), .. } => redact_content(ended),
        _ => return None,
    }
    (seen != *event).then_some(seen)
}

/// Returns the value without provider secrets, at any depth.
pub fn redact_value(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| !is_provider_secret(key))
            .map(|(key, value)| (key.clone(), redact_value(value)))
            .collect(),
        Value::Array(items) => items.iter().map(redact_value).collect(),
        other => other.clone(),
    }
}

fn redact_content(content: &mut Content) {
    match content {
        Content::ThinkingSignature { signature, .. } => signature.clear(),
        Content::Thinking { signature, redacted, .. } => {
            *signature = None;
            // The empty member stays, so that clients see that reasoning is hidden.
            if let Some(hidden) = redacted {
                hidden.clear();
            }
        }
        Content::Other(fields) => fields.iter_mut().for_each(|(key, value)| redact_member(key, value)),
        _ => {}
    }
}

/// Clears provider secrets in an unknown block, at any depth. The member itself stays, so that clients see it exists.
fn redact_member(key: &str, value: &mut Value) {
    match value {
        Value::String(text) if is_provider_secret(key) => text.clear(),
        sealed @ (Value::Array(_) | Value::Object(_)) if is_provider_secret(key) => *sealed = Value::Null,
        Value::Array(pieces) => pieces.iter_mut().for_each(|value| redact_member(key, value)),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| redact_member(key, value)),
        _ => {}
    }
}

/// Returns true if a provider field of this name holds data that only the provider can read: `encrypted_content`,
/// `encrypted_index`, `encrypted_stdout`, later `encrypted…` names, and every spelling of reasoning signatures.
fn is_provider_secret(key: &str) -> bool {
    key.starts_with("encrypted")
        || matches!(key, "signature" | "thoughtSignature" | "thought_signature" | "redacted_data")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::blocks::block::BlockState;
    use crate::fixtures;

    const SECRET: &str = "EqQBCkYIBxgCKkD";

    fn contents() -> [Content; 3] {
        [
            Content::ThinkingSignature { signature: SECRET.into(), attaches_to: None },
            Content::Thinking {
                thinking: "hm".into(),
                signature: Some(SECRET.into()),
                redacted: None,
                title: None,
                duration_ms: Some(3),
            },
            Content::Thinking {
                thinking: String::new(),
                signature: None,
                redacted: Some(SECRET.into()),
                title: None,
                duration_ms: None,
            },
        ]
    }

    #[test]
    fn signatures_and_hidden_reasoning_are_redacted_from_turns_and_events() {
        let seen = redact_turn(fixtures::reply(2, contents()));
        assert!(!serde_json::to_string(&seen).unwrap().contains(SECRET));
        assert_eq!(seen.blocks.len(), 3, "each has its place");
        assert!(
            matches!(&seen.blocks[2].content, Content::Thinking { redacted: Some(hidden), .. } if hidden.is_empty())
        );
        for (at, content) in (0..).zip(contents()) {
            let block = fixtures::block(2, at, content.clone());
            let started = Event::BlockStart { block: block.clone() };
            let ended = Event::BlockEnd { block_id: block.id, state: BlockState::Done, content: Some(content) };
            for secret in [started, ended] {
                let seen = redact_event(&secret).unwrap();
                assert_eq!(seen.name(), secret.name());
                assert!(!serde_json::to_string(&seen).unwrap().contains(SECRET));
            }
        }
    }

    #[test]
    fn encrypted_fields_are_redacted_from_opaque_blocks() {
        let found = json!([{"type": "web_search_result", "url": "https://example.org", "encrypted_content": SECRET}]);
        let pieces = [
            json!({"type": "x:web_search_tool_result", "value": {"tool_use_id": "a", "content": found}}),
            json!({"type": "x:citation", "value": {"cited_text": "so", "encrypted_index": SECRET}}),
            json!({"type": "x:code_execution_tool_result",
                "value": {"content": {"type": "encrypted_code_execution_result", "encrypted_stdout": SECRET}}}),
            json!({"type": "x:toolCall", "value": {"args": {}, "thoughtSignature": SECRET}, "signature": SECRET}),
            json!({"type": "x:compaction", "value": {"content": "all", "encrypted_parts": [SECRET, {"a": SECRET}]}}),
        ];
        for whole in pieces {
            let content: Content = serde_json::from_value(whole.clone()).unwrap();
            let block = fixtures::block(2, 0, content);
            let seen = redact_event(&Event::BlockStart { block: block.clone() }).expect("it holds a secret");
            let redacted = serde_json::to_value(&seen).unwrap();
            assert!(!redacted.to_string().contains(SECRET), "{redacted}");
            assert_eq!(
                redacted.to_string().matches("encrypted_").count(),
                whole.to_string().matches("encrypted_").count()
            );
            assert_eq!(redact_event(&seen), None, "nothing more stays behind");
            let kept = redact_turn(fixtures::reply(2, [block.content]));
            assert_eq!(kept.blocks[0].content.block_type(), whole["type"]);
            assert!(!serde_json::to_string(&kept).unwrap().contains(SECRET));
        }
        let notice = fixtures::block(2, 0, crate::blocks::notice::Notice::ReasoningRefused.content());
        assert_eq!(redact_event(&Event::BlockStart { block: notice }), None);
    }

    #[test]
    fn everything_else_is_unchanged() {
        let rich = fixtures::rich_reply(2);
        assert_eq!(redact_turn(rich.clone()), rich);
        for block in rich.blocks {
            assert_eq!(redact_event(&Event::BlockStart { block }), None);
        }
    }
}
