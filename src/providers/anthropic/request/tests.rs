//! Tests of request bodies built from a path, in raw and text mode.

use serde_json::json;

use super::*;
use crate::history::fixtures::{block, result_block, tool_use_block, turn};
use turnleaf_domain::branches::branch::ContextPolicy;
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{Content, Thinking};

fn words(role: Role, text: &str) -> HistoryTurn {
    turn(role, vec![block(1, Content::text(text), None)], &[])
}

fn user(text: &str) -> HistoryTurn {
    words(Role::User, text)
}

pub fn request(model: &str, history: Vec<HistoryTurn>) -> ChatRequest {
    ChatRequest {
        thinking: Thinking::Medium,
        is_thinking_mode: true,
        ..ChatRequest::new(model, history, models::capabilities(model))
    }
}

fn messages_of(history: Vec<HistoryTurn>) -> Value {
    let body: Value = serde_json::from_slice(&body(&request("claude-sonnet-4-5", history), true)).unwrap();
    body["messages"].clone()
}

/// Returns a complete response with this content.
fn assistant_message(content: Value, stop: &str) -> String {
    json!({"type": "message", "id": "m", "model": "c", "content": content, "stop_reason": stop}).to_string()
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "f", "input": {"a": 1}})
}

fn signed() -> Value {
    json!({"type": "thinking", "thinking": "why", "signature": "s"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn message(role: &str, content: &[Value]) -> Value {
    json!({"role": role, "content": content})
}

fn result(id: &str, text: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": text})
}

#[test]
fn plain_request_has_exact_bytes() {
    let mut plain = request("claude-sonnet-4-0", vec![user("Hi \"you\"")]);
    plain.system = Some("Be kind.".into());
    plain.thinking = Thinking::Off;
    plain.params.temperature = Some(0.5);
    plain.params.max_tokens = Some(9);
    plain.params.stop_sequences = vec!["END".into()];
    plain.tools = vec![ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    let expected = concat!(
        r#"{"model":"claude-sonnet-4-0","max_tokens":9,"system":"Be kind.","#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"Hi \"you\""}]}],"stream":true,"#,
        r#""temperature":0.5,"stop_sequences":["END"],"#,
        r#""tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{}}}]}"#
    );
    assert_eq!(body(&plain, true), expected);
    assert_eq!(body(&plain, true), body(&plain, true));
}

#[test]
fn newer_model_is_asked_to_show_its_thinking() {
    let chat_request = request("claude-opus-4-7", vec![user("Hi")]);
    let expected = concat!(
        r#"{"model":"claude-opus-4-7","max_tokens":128000,"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"stream":true,"#,
        r#""thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"}}"#
    );
    assert_eq!(body(&chat_request, true), expected);
}

#[test]
fn tool_loop_is_sent_back_step_by_step_with_thinking() {
    let blocks = vec![
        tool_use_block(10),
        tool_use_block(11),
        result_block(12, 11, json!({"n": 2}), false),
        result_block(13, 10, json!("first"), true),
        tool_use_block(14),
        result_block(15, 14, json!("third"), false),
    ];
    let empty = json!({"type": "thinking", "thinking": "", "signature": "t"});
    let raw = [
        assistant_message(json!([signed(), call("a"), call("b")]), "tool_use"),
        assistant_message(json!([empty, call("a")]), "tool_use"),
        assistant_message(json!([text("Done.")]), "end_turn"),
    ];
    let sent = messages_of(vec![user("Go"), turn(Role::Assistant, blocks, &raw), user("More")]);
    let mut failed = result("a", "first");
    failed["is_error"] = json!(true);
    let expected = json!([
        message("user", &[text("Go")]),
        message("assistant", &[signed(), call("a"), call("b")]),
        message("user", &[failed, result("b", "{\"n\":2}")]),
        message("assistant", &[empty, call("a")]),
        message("user", &[result("a", "third")]),
        message("assistant", &[text("Done.")]),
        message("user", &[text("More")]),
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn unanswered_call_gets_result_before_next_user_text() {
    let raw = [assistant_message(json!([signed(), call("a")]), "tool_use")];
    let sent = messages_of(vec![user("Go"), turn(Role::Assistant, vec![tool_use_block(10)], &raw), user("More")]);
    let mut cancelled = result("a", UNANSWERED);
    cancelled["is_error"] = json!(true);
    assert_eq!(sent[2], message("user", &[cancelled, text("More")]));
}

#[test]
fn truncated_call_is_sent_back_only_with_result() {
    let cut = json!([text("I call."), {"type": "tool_use", "id": "a", "name": "f", "input": "{\"a\""}]);
    let raw = [assistant_message(cut, "max_tokens")];
    let without = messages_of(vec![user("Go"), turn(Role::Assistant, vec![tool_use_block(10)], &raw), user("More")]);
    assert_eq!(without[1], message("assistant", &[text("I call.")]));
    assert_eq!(without[2], message("user", &[text("More")]));
    let blocks = vec![tool_use_block(10), result_block(11, 10, json!("no JSON"), true)];
    let with = messages_of(vec![user("Go"), turn(Role::Assistant, blocks, &raw)]);
    assert_eq!(with[1]["content"][1], json!({"type": "tool_use", "id": "a", "name": "f", "input": {}}));
    assert_eq!(with[2]["content"][0]["tool_use_id"], "a");
}

#[test]
fn turn_without_stored_response_is_sent_as_text() {
    let signed_only = assistant_message(json!([signed()]), "max_tokens");
    let thought = || vec![block(1, Content::thinking("why"), None)];
    for (reply, expected) in [
        (words(Role::Assistant, "other model"), Some("other model")),
        (words(Role::Assistant, " \n"), None),
        (turn(Role::Assistant, thought(), &[]), None),
        (turn(Role::Assistant, thought(), &[signed_only]), None),
        (turn(Role::Assistant, thought(), &[r#"{"type":"error","error":{"message":"no"}}"#.into()]), None),
    ] {
        let sent = messages_of(vec![user("A"), reply, user("B")]);
        let alternating = |reply_text: &str| {
            json!([
                message("user", &[text("A")]),
                message("assistant", &[text(reply_text)]),
                message("user", &[text("B")])
            ])
        };
        let joined = json!([message("user", &[text("A"), text("B")])]);
        assert_eq!(sent, expected.map_or(joined, alternating));
    }
}

/// Returns a stream that breaks off after these blocks; the last one has no end.
fn breaking_off(blocks: &[(Value, Value)]) -> String {
    let mut events = vec![json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": []}})];
    for (index, (start, delta)) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        if index + 1 < blocks.len() {
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
    }
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())).collect()
}

#[test]
fn interrupted_turn_is_sent_back_with_whole_steps_and_rest_of_last_step() {
    let thinking = (
        json!({"type": "thinking", "thinking": "why", "signature": "s"}),
        json!({"type": "thinking_delta", "thinking": ""}),
    );
    let partial = (text(""), json!({"type": "text_delta", "text": "It is"}));
    let calling = (
        json!({"type": "tool_use", "id": "b", "name": "f", "input": {}}),
        json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"}),
    );
    let blocks = vec![
        tool_use_block(10),
        result_block(11, 10, json!("first"), false),
        tool_use_block(12),
        result_block(13, 12, json!("cancelled by the user"), true),
    ];
    let step = assistant_message(json!([signed(), call("a")]), "tool_use");
    let loop_before = [message("user", &[text("Go")]), message("assistant", &[signed(), call("a")])];
    for (case, last, behind) in [
        (
            "in a text",
            breaking_off(&[thinking.clone(), partial.clone()]),
            vec![
                message("user", &[result("a", "first")]),
                message("assistant", &[signed(), text("It is")]),
                message("user", &[text("More")]),
            ],
        ),
        (
            "in thinking",
            breaking_off(std::slice::from_ref(&thinking)),
            vec![message("user", &[result("a", "first"), text("More")])],
        ),
        (
            "in a call whose arguments could be all",
            breaking_off(&[thinking.clone(), calling]),
            vec![message("user", &[result("a", "first"), text("More")])],
        ),
        ("before anything came", String::new(), vec![message("user", &[result("a", "first"), text("More")])]),
    ] {
        let reply = turn(Role::Assistant, blocks.clone(), &[step.clone(), last]);
        let expected = Value::Array([&loop_before[..], &behind].concat());
        assert_eq!(messages_of(vec![user("Go"), reply, user("More")]), expected, "{case}");
    }
    // The user stopped the reply while the tool ran: the call is complete, and its result says that it was cancelled.
    let reply = turn(
        Role::Assistant,
        vec![tool_use_block(10), result_block(11, 10, json!("cancelled by the user"), true)],
        &[step],
    );
    let mut cancelled = result("a", "cancelled by the user");
    cancelled["is_error"] = json!(true);
    assert_eq!(messages_of(vec![user("Go"), reply, user("More")])[2], message("user", &[cancelled, text("More")]));
}

#[test]
fn thinking_is_omitted_if_refused_or_by_policy_and_never_blanked() {
    let raw = [assistant_message(json!([signed(), text("One")]), "end_turn")];
    let calling = [assistant_message(json!([signed(), call("a")]), "tool_use")];
    let own_steps = turn(Role::Assistant, vec![tool_use_block(10), result_block(11, 10, json!("r"), false)], &calling);
    let history = vec![user("A"), turn(Role::Assistant, vec![], &raw), user("B"), own_steps];
    let thinking_in = |model: &str, policy: ContextPolicy, is_refused: bool| {
        let mut chat_request = request(model, history.clone());
        chat_request.policy = policy;
        chat_request.history[1].leaves_out_reasoning = is_refused;
        let body: Value = serde_json::from_slice(&body(&chat_request, true)).unwrap();
        let has = |at: usize| body["messages"][at]["content"].as_array().unwrap().contains(&signed());
        assert!(!body.to_string().contains("\"thinking\":\"\""), "{body}");
        ((has(1), has(3)), body["thinking"]["display"].as_str().map(str::to_owned))
    };
    for (model, policy, is_refused, expected, display) in [
        ("claude-opus-4-7", ContextPolicy::Exact, false, (true, true), Some("summarized")),
        ("claude-opus-4-7", ContextPolicy::Exact, true, (false, true), Some("summarized")),
        ("claude-opus-4-7", ContextPolicy::SignaturesOnly, false, (true, true), Some("omitted")),
        ("claude-sonnet-4-5", ContextPolicy::SignaturesOnly, false, (true, true), Some("omitted")),
        ("claude-3-7-sonnet-20250219", ContextPolicy::SignaturesOnly, false, (true, true), None),
        ("claude-opus-4-7", ContextPolicy::OmitCompleted, false, (false, true), Some("summarized")),
        // Without the earlier signatures the later ones would be invalid.
        ("claude-opus-5-5", ContextPolicy::OmitCompleted, false, (true, true), Some("summarized")),
    ] {
        let found = thinking_in(model, policy, is_refused);
        assert_eq!(found, (expected, display.map(str::to_owned)), "{model} {policy:?} {is_refused}");
    }
}

#[test]
fn messages_start_and_end_with_user_except_after_pause() {
    let go_on = message("user", &[text(CONTINUE_TEXT)]);
    let reply = message("assistant", &[text("Hi")]);
    assert_eq!(messages_of(vec![words(Role::Assistant, "Hi")]), json!([go_on, reply, go_on]));
    let pause = json!([text("Hi"), {"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}}]);
    let paused = turn(Role::Assistant, vec![], &[assistant_message(pause.clone(), "pause_turn")]);
    assert_eq!(messages_of(vec![user("A"), paused])[1]["content"], pause);
}

#[test]
fn system_turn_and_image_become_user_text() {
    let image = Content::Image { blob: "b".into(), mime: "image/png".into(), alt: "a cat".into() };
    let shown = turn(Role::User, vec![block(1, Content::text("Look"), None), block(2, image, None)], &[]);
    let sent = messages_of(vec![words(Role::System, "Rule"), shown]);
    let expected = message("user", &[text("<system>\nRule\n</system>"), text("Look\n\n[image: a cat]")]);
    assert_eq!(sent, json!([expected]));
}

#[test]
fn longer_history_starts_with_same_messages() {
    let raw = [assistant_message(json!([signed(), text("One")]), "end_turn")];
    let path =
        vec![user("A"), turn(Role::Assistant, vec![], &raw), user("B"), words(Role::Assistant, "Two"), user("C")];
    let whole = messages_of(path.clone());
    for length in [1, 3, 5] {
        let shorter = messages_of(path[..length].to_vec()).as_array().unwrap().clone();
        assert_eq!(shorter, whole.as_array().unwrap()[..length], "{length}");
    }
}

#[test]
fn pause_without_continuation_is_an_interruption() {
    let search = json!({"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}});
    let pause = json!([text("Hi"), search, signed()]);
    let stopped = turn(Role::Assistant, vec![], &[assistant_message(pause.clone(), "pause_turn")]);
    let sent = messages_of(vec![user("A"), stopped, user("B")]);
    assert_eq!(sent[1], message("assistant", &[text("Hi")]));
    let found = json!([{"type": "web_search_tool_result", "tool_use_id": "x", "content": []}, text("So")]);
    let whole = turn(
        Role::Assistant,
        vec![],
        &[assistant_message(pause.clone(), "pause_turn"), assistant_message(found.clone(), "end_turn")],
    );
    let sent = messages_of(vec![user("A"), whole, user("B")]);
    let both: Vec<Value> = [pause, found].iter().flat_map(|part| part.as_array().unwrap().clone()).collect();
    assert_eq!(sent[1], message("assistant", &both));
}

#[test]
fn provider_tools_are_requested_in_anthropic_format() {
    let mut chat_request = request("claude-sonnet-4-6", vec![user("Hi")]);
    chat_request.provider_tools = vec!["web_search".into(), "code_execution".into(), "of_tomorrow".into()];
    let sent: Value = serde_json::from_slice(&body(&chat_request, true)).unwrap();
    assert_eq!(
        sent["tools"],
        json!([{"type": "web_search_20250305", "name": "web_search"}, {"type": "code_execution_20260120", "name": "code_execution"}])
    );
    assert_eq!(models::provider_tools("claude-sonnet-4-6"), ["web_search", "code_execution"]);
    assert!(models::provider_tools("some-other-model").is_empty());
}

#[test]
fn beginning_of_reply_is_last_message_of_models_that_continue_it() {
    let history = vec![user("Go"), words(Role::Assistant, "Half of")];
    let open =
        ChatRequest { is_continuation: true, thinking: Thinking::Off, ..request("claude-sonnet-4-5", history.clone()) };
    let sent: Value = serde_json::from_slice(&body(&open, true)).unwrap();
    assert_eq!(sent["messages"], json!([message("user", &[text("Go")]), message("assistant", &[text("Half of")])]));
    assert_eq!(messages_of(history)[2], message("user", &[text("Continue.")]), "of any other reply");
    for (model, expected) in [
        ("claude-3-haiku-20240307", true),
        ("claude-sonnet-4-5", true),
        ("claude-opus-4-6", false),
        ("claude-fable-5", false),
        ("unheard-of", false),
    ] {
        assert_eq!(models::capabilities(model).continues_text, expected, "{model}");
    }
}
