//! Tests of request bodies built from a path, in raw and text mode.

use super::*;
use crate::history::fixtures::{block, turn};
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{Content, ModelParams, Thinking};

fn user(text: &str) -> HistoryTurn {
    turn(Role::User, vec![block(1, Content::text(text), None)], &[])
}

fn request(model: &str, history: Vec<HistoryTurn>) -> ChatRequest {
    ChatRequest {
        system: Some("Be kind.".into()),
        thinking: Thinking::Medium,
        is_thinking_mode: true,
        ..ChatRequest::new(model, history, thinking::capabilities(model))
    }
}

fn messages_of(history: Vec<HistoryTurn>) -> Value {
    let sent: Value = serde_json::from_slice(&body(&request("qwen3:4b", history))).unwrap();
    sent["messages"].clone()
}

fn raw(message: Value, is_done: bool) -> String {
    format!("{}\n", json!({"message": message, "done": is_done}))
}

#[test]
fn request_has_exact_bytes() {
    let mut chat_request = request("qwen3:4b", vec![user("Hi \"you\"")]);
    chat_request.params = ModelParams {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        max_tokens: Some(9),
        stop_sequences: vec!["x".into()],
        thinking: None,
    };
    chat_request.tools =
        vec![ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    let expected = concat!(
        r#"{"model":"qwen3:4b","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi \"you\""}],"#,
        r#""stream":true,"think":true,"options":{"num_predict":9,"temperature":0.5,"top_p":0.9,"top_k":40,"stop":["x"]},"#,
        r#""tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}}]}"#
    );
    assert_eq!(body(&chat_request), expected);
    let plain = r#"{"model":"llama3.2","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"}],"stream":true}"#;
    assert_eq!(body(&request("llama3.2", vec![user("Hi")])), plain);
}

#[test]
fn tool_loop_is_sent_back_step_by_step() {
    let call = json!({"id": "c", "function": {"index": 0, "name": "f", "arguments": {"b": 1, "a": 2}}});
    let bare = json!({"function": {"name": "g", "arguments": {}}});
    let steps = [
        raw(json!({"content": "", "thinking": "why", "tool_calls": [call, bare]}), true),
        raw(json!({"content": "Done."}), true),
    ];
    let content = Content::ToolUse {
        tool_use_id: "any".into(),
        tool_name: "f".into(),
        arguments: json!({}),
        arguments_raw: None,
        status: ToolStatus::Done,
        duration_ms: None,
    };
    let result = Content::ToolResult {
        tool_use_id: "any".into(),
        tool_name: "f".into(),
        result: json!({"n": 1}),
        success: true,
        is_error: false,
        metadata: Value::Null,
    };
    let blocks = vec![block(10, content.clone(), None), block(11, content, None), block(12, result, Some(10))];
    let history = vec![user("Go"), turn(Role::Assistant, blocks, &steps), user("More")];
    assert_eq!(
        messages_of(history),
        json!([
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": "", "thinking": "why", "tool_calls": [call, bare]},
            {"role": "tool", "content": "{\"n\":1}", "tool_name": "f", "tool_call_id": "c"},
            {"role": "tool", "content": UNANSWERED, "tool_name": "g"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "More"},
        ])
    );
}

#[test]
fn truncated_reply_is_sent_back_partially_and_empty_one_not_at_all() {
    let blocks = vec![block(2, Content::thinking("why"), None), block(3, Content::text("So."), None)];
    let cut = raw(json!({"content": "So", "thinking": "why"}), false);
    for (steps, expected) in [
        (vec![], json!({"role": "assistant", "content": "So."})),
        (vec![cut.clone()], json!({"role": "assistant", "content": "So", "thinking": "why"})),
    ] {
        let history = vec![user("Go"), turn(Role::Assistant, blocks.clone(), &steps), user("More")];
        assert_eq!(messages_of(history)[2], expected);
    }
    let mut refused = turn(Role::Assistant, blocks.clone(), &[cut]);
    refused.leaves_out_reasoning = true;
    assert_eq!(messages_of(vec![user("Go"), refused])[2], json!({"role": "assistant", "content": "So"}));
    for is_done in [true, false] {
        let silent = [raw(json!({"content": "", "thinking": "why"}), is_done)];
        let history = vec![user("Go"), turn(Role::Assistant, blocks[..1].to_vec(), &silent), user("More")];
        assert_eq!(messages_of(history)[1], json!({"role": "user", "content": "Go\n\nMore"}));
    }
}
