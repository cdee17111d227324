//! Request bodies: what goes out of a path, in both modes.

use chrono::DateTime;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::domain::block::ToolStatus;
use crate::domain::tool::ToolSpec;
use crate::domain::{Author, BlockState, Capabilities, Params, TurnId};
use crate::server::outbound::openai_chat::models;

fn block(id: u128, content: Content, parent: Option<u128>) -> Block {
    let block_id = |id| BlockId::from_uuid(Uuid::from_u128(id));
    Block {
        id: block_id(id),
        seq: 0,
        chat_seq: 0,
        author: Author::Assistant,
        state: BlockState::Done,
        content,
        parent_block_id: parent.map(block_id),
        generation_id: None,
        block_metadata: Value::Null,
        created_at: DateTime::UNIX_EPOCH,
    }
}

fn turn(role: Role, blocks: Vec<Block>, raw: &[&str]) -> HistoryTurn {
    let raw = raw.iter().map(|raw| Bytes::copy_from_slice(raw.as_bytes())).collect();
    HistoryTurn { turn_id: TurnId::from_uuid(Uuid::nil()), role, blocks, raw }
}

fn user(text: &str) -> HistoryTurn {
    turn(Role::User, vec![block(1, Content::text(text), None)], &[])
}

fn request(model: &str, history: Vec<HistoryTurn>) -> ChatRequest {
    ChatRequest {
        model: model.into(),
        system: None,
        history,
        params: Params::default(),
        thinking: Thinking::Medium,
        is_thinking_mode: true,
        capabilities: Capabilities::default(),
        tools: Vec::new(),
    }
}

fn body_of(dialect: &str, request: &ChatRequest) -> Value {
    let dialect = Dialect::named(dialect).unwrap();
    let request = ChatRequest { capabilities: models::capabilities(dialect, &request.model), ..request.clone() };
    serde_json::from_slice(&body(dialect, &request)).unwrap()
}

fn messages_of(dialect: &str, history: Vec<HistoryTurn>) -> Value {
    body_of(dialect, &request("some-model", history))["messages"].clone()
}

/// A response that thinks, calls `f` under this id and stops.
fn calling(id: &str, arguments: &str) -> String {
    let call = json!([{"index": 0, "id": id, "function": {"name": "f", "arguments": arguments}}]);
    [
        json!({"choices": [{"index": 0, "delta": {"reasoning_content": "why"}}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": call}, "finish_reason": "tool_calls"}]}),
    ]
    .map(|chunk| format!("data: {chunk}\n\n"))
    .concat()
}

fn saying(text: &str, finish: Value) -> String {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]});
    format!("data: {chunk}\n\n")
}

fn use_block(id: u128) -> Block {
    let content = Content::ToolUse {
        tool_use_id: "same".into(),
        tool_name: "f".into(),
        arguments: json!({}),
        arguments_raw: None,
        status: ToolStatus::Done,
        duration_ms: None,
    };
    block(id, content, None)
}

fn result_block(id: u128, call: u128, result: Value) -> Block {
    let content = Content::ToolResult {
        tool_use_id: "same".into(),
        tool_name: "f".into(),
        result,
        success: true,
        is_error: false,
        metadata: Value::Null,
    };
    block(id, content, Some(call))
}

#[test]
fn a_plain_request_has_exactly_these_bytes() {
    let mut plain = request("gpt-4o", vec![user("Hi \"you\"")]);
    plain.system = Some("Be kind.".into());
    plain.params.temperature = Some(0.5);
    plain.params.max_tokens = Some(9);
    let expected = concat!(
        r#"{"model":"gpt-4o","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi \"you\""}],"#,
        r#""stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":9,"temperature":0.5}"#
    );
    assert_eq!(body(Dialect::named("openai").unwrap(), &plain), expected);
    assert_eq!(body(Dialect::named("openai").unwrap(), &plain), body(Dialect::named("openai").unwrap(), &plain));
}

#[test]
fn reasoning_models_get_instructions_in_a_role_of_their_own() {
    let mut asked = request("o3", vec![user("Hi")]);
    asked.system = Some("Be kind.".into());
    for (model, role) in [("o3", "developer"), ("gpt-5.2", "developer"), ("gpt-4o", "system"), ("unheard-of", "system")]
    {
        asked.model = model.into();
        assert_eq!(body_of("openai", &asked)["messages"][0]["role"], role, "{model}");
    }
    asked.model = "o1-mini".into();
    assert_eq!(body_of("openai", &asked)["messages"], json!([{"role": "user", "content": "Be kind.\n\nHi"}]));
}

#[test]
fn a_tool_loop_goes_back_step_by_step_even_when_ids_repeat() {
    let blocks =
        vec![use_block(10), result_block(11, 10, json!("first")), use_block(12), result_block(13, 12, json!({"n": 2}))];
    let raw = [calling("same", "{\"a\":1}"), calling("same", ""), saying("Done.", json!("stop"))];
    let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
    let history = vec![user("Go"), turn(Role::Assistant, blocks, &raw), user("More")];
    let call = |arguments: &str| json!([{"id": "same", "type": "function", "function": {"name": "f", "arguments": arguments}}]);
    let tool = |content: &str| json!({"role": "tool", "tool_call_id": "same", "content": content});
    assert_eq!(
        messages_of("openai", history.clone()),
        json!([
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": null, "tool_calls": call("{\"a\":1}")},
            tool("first"),
            {"role": "assistant", "content": null, "tool_calls": call("{}")},
            tool("{\"n\":2}"),
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "More"},
        ])
    );
    let deepseek = messages_of("deepseek", history);
    assert_eq!(deepseek[1]["reasoning_content"], "why");
    assert_eq!(deepseek[5].get("reasoning_content"), None);
}

#[test]
fn a_longer_history_begins_with_the_same_messages() {
    let answer = || turn(Role::Assistant, Vec::new(), &[&saying("Yes.", json!("stop"))]);
    let short = messages_of("ollama", vec![user("One")]);
    let long = messages_of("ollama", vec![user("One"), answer(), user("Two")]);
    assert_eq!(long.as_array().unwrap()[..1], short.as_array().unwrap()[..]);
}

#[test]
fn a_call_that_nobody_answered_gets_an_answer_and_a_cut_one_is_dropped() {
    let unanswered = calling("a", "{}");
    let sent = messages_of("openai", vec![user("Go"), turn(Role::Assistant, vec![use_block(10)], &[&unanswered])]);
    assert_eq!(sent[2], json!({"role": "tool", "tool_call_id": "a", "content": UNANSWERED}));
    let cut = calling("a", "{\"x\":");
    let sent = messages_of("openai", vec![user("Go"), turn(Role::Assistant, vec![use_block(10)], &[&cut])]);
    assert_eq!(sent, json!([{"role": "user", "content": "Go"}]));
    let answered = vec![use_block(10), result_block(11, 10, json!("invalid arguments"))];
    let sent = messages_of("openai", vec![user("Go"), turn(Role::Assistant, answered, &[&cut])]);
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(sent[2]["content"], "invalid arguments");
}

#[test]
fn canonical_turns_are_their_text_alone() {
    let blocks = vec![
        block(1, Content::thinking("secret thoughts"), None),
        use_block(2),
        result_block(3, 2, json!("result")),
        block(4, Content::text("Said."), None),
        block(5, Content::Text { text: "Oops".into(), is_error: true }, None),
    ];
    let broken = saying("Sa", Value::Null);
    for raw in [&[][..], &[broken.as_str()]] {
        let sent = messages_of("deepseek", vec![user("Go"), turn(Role::Assistant, blocks.clone(), raw)]);
        assert_eq!(sent[1], json!({"role": "assistant", "content": "Said."}));
    }
}

#[test]
fn a_turn_without_text_leaves_no_message_and_its_neighbours_join() {
    let empty = turn(Role::Assistant, vec![block(1, Content::thinking("hm"), None)], &[]);
    let sent = messages_of("generic", vec![user("One"), empty, user("Two")]);
    assert_eq!(sent, json!([{"role": "user", "content": "One\n\nTwo"}]));
}

#[test]
fn tools_and_parameters_are_sent_under_the_keys_of_the_dialect() {
    let mut asked = request("m", vec![user("Hi")]);
    asked.params = Params { top_k: Some(5), top_p: Some(0.5), max_tokens: Some(9), ..Params::default() };
    asked.params.stop_sequences = vec!["x".into()];
    asked.tools = vec![ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    let vllm = body_of("vllm", &asked);
    assert_eq!(
        [&vllm["top_k"], &vllm["top_p"], &vllm["max_tokens"], &vllm["stop"]],
        [&json!(5), &json!(0.5), &json!(9), &json!(["x"])]
    );
    let mistral = body_of("mistral", &asked);
    assert_eq!(mistral.get("stream_options"), None);
    assert_eq!(mistral["tools"][0]["function"]["name"], "f");
}

#[test]
fn a_refusal_goes_back_under_its_own_key_only_where_that_is_known() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}]});
    let raw = format!("data: {chunk}\n\n");
    let history = || vec![user("Go"), turn(Role::Assistant, Vec::new(), &[&raw])];
    assert_eq!(messages_of("openai", history())[1], json!({"role": "assistant", "content": null, "refusal": "No."}));
    assert_eq!(messages_of("generic", history())[1], json!({"role": "assistant", "content": "No."}));
}
