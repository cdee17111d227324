//! Tests of tool results across all APIs: the same text, with the same limit.

use serde_json::{Value, json};

use super::fixtures::{block, result_block, tool_use_block, turn};
use crate::openai_chat::dialect::Dialect;
use crate::provider::{ChatRequest, HistoryTurn};
use crate::{anthropic, gemini, ollama, openai_chat, openai_responses};
use turnleaf_domain::{Capabilities, Content, ModelParams, Role, limits};

fn chat_request(history: Vec<HistoryTurn>) -> ChatRequest {
    let params = ModelParams { max_tokens: Some(100), ..ModelParams::default() };
    ChatRequest { params, ..ChatRequest::new("m", history, Capabilities::default()) }
}

/// Returns the request text of every API for a call with this result, built on a response in the API's own format.
fn results_by_api(result: &Value, metadata: &Value) -> Vec<(&'static str, String)> {
    let history = |raw: String| -> Vec<HistoryTurn> {
        let mut answered = result_block(3, 2, result.clone(), false);
        if let Content::ToolResult { metadata: kept, .. } = &mut answered.content {
            *kept = metadata.clone();
        }
        let mut own = tool_use_block(4);
        own.block_metadata = json!({"run_by": "provider"});
        let blocks = vec![own, result_block(5, 4, json!("the provider's own"), false), tool_use_block(2), answered];
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
            sent(openai_chat::request::body(
                Dialect::from_name("openai").unwrap(),
                &chat_request(history(chat.to_string())),
            )),
        ),
        (
            "openai_responses",
            sent(openai_responses::request::body(&chat_request(history(responses.to_string())), false, false)),
        ),
        ("anthropic", sent(anthropic::request::body(&chat_request(history(messages.to_string())), true))),
        ("gemini", sent(gemini::request::body(&chat_request(history(google.to_string()))))),
        ("ollama", sent(ollama::request::body(&chat_request(history(format!("{native}\n")))))),
    ]
}

#[test]
fn every_api_gets_same_result_text_within_limit() {
    let long = "é".repeat(limits::TOOL_RESULT_BYTES / 2);
    let metadata = json!({"cut": {"bytes": 3_000_000, "blob": "b"}, "images": [{"blob": "c", "mime": "image/png", "alt": "Image 1"}]});
    for result in [json!(long), json!({"a": long}), json!([long])] {
        for (api, sent) in results_by_api(&result, &metadata) {
            assert!(sent.len() < limits::TOOL_OUTPUT_BYTES + 4_000, "{api}: {}", sent.len());
            assert!(sent.contains("of 3000000 bytes of the result"), "{api}");
            assert!(sent.contains("[Image 1 (image/png): shown to the user, not to you]"), "{api}");
        }
    }
}

#[test]
fn result_is_matched_to_its_call_past_provider_calls() {
    for (api, sent) in results_by_api(&json!("forty-two"), &Value::Null) {
        assert!(sent.contains("forty-two"), "{api}: {sent}");
        assert!(!sent.contains("the provider's own"), "{api}: {sent}");
    }
    for (api, sent) in results_by_api(&json!({"n": 42}), &Value::Null) {
        let object = if api == "gemini" { r#"{"n":42}"# } else { r#"{\"n\":42}"# };
        assert!(sent.contains(object), "{api}: {sent}");
    }
    for (api, sent) in results_by_api(&json!(""), &Value::Null) {
        assert!(sent.contains("(The tool gave nothing.)"), "{api}: {sent}");
    }
}
