//! What of a result each API is given: the same words, within the same bound.

use serde_json::{Value, json};

use super::sample::{block, result_block, turn, use_block};
use crate::openai_chat::dialect::Dialect;
use crate::provider::{ChatRequest, HistoryTurn};
use crate::{anthropic, gemini, ollama, openai_chat, openai_responses};
use turnleaf_domain::branch::ContextPolicy;
use turnleaf_domain::{Capabilities, Content, Params, Role, Thinking, limits};

fn asked(history: Vec<HistoryTurn>) -> ChatRequest {
    ChatRequest {
        model: "m".into(),
        system: None,
        history,
        params: Params { max_tokens: Some(100), ..Params::default() },
        thinking: Thinking::Off,
        is_thinking_mode: false,
        capabilities: Capabilities::default(),
        tools: Vec::new(),
        echoes_reasoning: false,
        policy: ContextPolicy::Exact,
        previous_response: None,
        own_tools: Vec::new(),
    }
}

/// Every API's request about a call that gave this, as text, with one response of its own kind.
fn told_by_each(result: &Value, metadata: &Value) -> Vec<(&'static str, String)> {
    let history = |raw: String| -> Vec<HistoryTurn> {
        let mut answered = result_block(3, 2, result.clone(), false);
        if let Content::ToolResult { metadata: kept, .. } = &mut answered.content {
            *kept = metadata.clone();
        }
        let mut own = use_block(4);
        own.block_metadata = json!({"run_by": "provider"});
        let blocks = vec![own, result_block(5, 4, json!("the provider's own"), false), use_block(2), answered];
        vec![turn(Role::User, vec![block(1, Content::text("Go"), None)], &[]), turn(Role::Assistant, blocks, &[raw])]
    };
    let chat = json!({"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]});
    let responses = json!({"object": "response", "status": "completed", "output": [
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]});
    let messages = json!({"type": "message", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
        "stop_reason": "tool_use"});
    let google = json!([{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]},
        "finishReason": "STOP"}]}]);
    let native = json!({"message": {"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "f", "arguments": {}}}]}, "done": true, "done_reason": "stop"});
    let sent = |bytes: bytes::Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    vec![
        (
            "openai_chat",
            sent(openai_chat::request::body(Dialect::named("openai").unwrap(), &asked(history(chat.to_string())))),
        ),
        (
            "openai_responses",
            sent(openai_responses::request::body(&asked(history(responses.to_string())), false, false)),
        ),
        ("anthropic", sent(anthropic::request::body(&asked(history(messages.to_string()))))),
        ("gemini", sent(gemini::request::body(&asked(history(google.to_string()))))),
        ("ollama", sent(ollama::request::body(&asked(history(format!("{native}\n")))))),
    ]
}

#[test]
fn every_api_is_told_the_same_of_a_result_and_no_more_than_the_bound() {
    let long = "é".repeat(limits::TOOL_RESULT_BYTES / 2);
    let metadata = json!({"cut": {"bytes": 3_000_000, "blob": "b"}, "images": [{"blob": "c", "mime": "image/png", "alt": "Image 1"}]});
    for result in [json!(long), json!({"a": long}), json!([long])] {
        for (api, sent) in told_by_each(&result, &metadata) {
            assert!(sent.len() < limits::TOOL_TOLD_BYTES + 4_000, "{api}: {}", sent.len());
            assert!(sent.contains("of 3000000 bytes of the result"), "{api}");
            assert!(sent.contains("[Image 1 (image/png): shown to the user, not to you]"), "{api}");
        }
    }
}

#[test]
fn a_result_finds_its_call_past_those_that_the_provider_ran() {
    for (api, sent) in told_by_each(&json!("forty-two"), &Value::Null) {
        assert!(sent.contains("forty-two"), "{api}: {sent}");
        assert!(!sent.contains("the provider's own"), "{api}: {sent}");
    }
    for (api, sent) in told_by_each(&json!({"n": 42}), &Value::Null) {
        let object = if api == "gemini" { r#"{"n":42}"# } else { r#"{\"n\":42}"# };
        assert!(sent.contains(object), "{api}: {sent}");
    }
    for (api, sent) in told_by_each(&json!(""), &Value::Null) {
        assert!(sent.contains("(The tool gave nothing.)"), "{api}: {sent}");
    }
}
