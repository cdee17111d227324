//! Tests of request bodies built from a path, in raw and text mode.

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::history::fixtures::{self, block, tool_use_block, turn};
use turnleaf_domain::providers::repair::KeptResponse;
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{Block, Content, ModelParams, Thinking, TurnId};

fn text_turn(role: Role, text: &str) -> HistoryTurn {
    turn(role, vec![block(1, Content::text(text), None)], &[])
}

pub fn request(model: &str, history: Vec<HistoryTurn>) -> ChatRequest {
    ChatRequest {
        thinking: Thinking::Medium,
        is_thinking_mode: true,
        ..ChatRequest::new(model, history, models::capabilities(model))
    }
}

fn body_of(request: &ChatRequest) -> Value {
    serde_json::from_slice(&body(request, true, false)).unwrap()
}

fn input_of(history: Vec<HistoryTurn>) -> Value {
    body_of(&request("gpt-5", history))["input"].clone()
}

/// Returns a complete response with this output.
fn response(output: &[Value]) -> String {
    let event = json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    format!("event: response.completed\ndata: {event}\n\n")
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"})
}

fn calling(call_id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": call_id, "name": "f", "arguments": arguments})
}

fn assistant_text(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn output(call_id: &str, output: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": output})
}

fn result_block(id: u128, call: u128, result: Value) -> Block {
    fixtures::result_block(id, call, result, false)
}

#[test]
fn request_has_exact_bytes() {
    let mut chat_request = request("gpt-4o", vec![text_turn(Role::User, "Hi \"you\"")]);
    chat_request.system = Some("Be kind.".into());
    chat_request.params =
        ModelParams { temperature: Some(0.5), top_p: Some(0.25), max_tokens: Some(16), ..ModelParams::default() };
    let expected = concat!(
        r#"{"model":"gpt-4o","instructions":"Be kind.","input":[{"role":"user","content":"Hi \"you\""}],"#,
        r#""stream":true,"store":false,"max_output_tokens":16,"temperature":0.5,"top_p":0.25}"#
    );
    assert_eq!(body(&chat_request, true, false), expected);
    chat_request = request("gpt-5-mini", chat_request.history);
    chat_request.system = Some(" ".into());
    chat_request.params.max_tokens = Some(900);
    chat_request.tools =
        vec![ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    let expected = concat!(
        r#"{"model":"gpt-5-mini","input":[{"role":"user","content":"Hi \"you\""}],"stream":true,"store":false,"#,
        r#""include":["reasoning.encrypted_content"],"max_output_tokens":900,"#,
        r#""tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{}},"strict":false}],"#,
        r#""reasoning":{"effort":"medium","summary":"auto"}}"#
    );
    assert_eq!(body(&chat_request, true, false), expected);
    assert_eq!(body_of(&chat_request), body_of(&chat_request));
    let without: Value = serde_json::from_slice(&body(&chat_request, false, false)).unwrap();
    assert_eq!(without["reasoning"], json!({"effort": "medium"}));
    chat_request.thinking = Thinking::Off;
    assert_eq!(body_of(&chat_request)["reasoning"], json!({"effort": "minimal"}));
}

#[test]
fn tool_loop_is_sent_back_step_by_step_with_each_call_result() {
    let blocks = vec![
        tool_use_block(10),
        tool_use_block(11),
        result_block(12, 10, json!("first")),
        result_block(13, 11, json!("second")),
        tool_use_block(14),
        result_block(15, 14, json!({"n": 3})),
    ];
    let raw = [
        response(&[thought(), calling("call_0", "{\"a\":1}"), calling("call_1", "{}")]),
        response(&[thought(), calling("call_0", "{}")]),
        response(&[thought(), assistant_text("Done.")]),
    ];
    let history = vec![text_turn(Role::User, "Go"), turn(Role::Assistant, blocks, &raw), text_turn(Role::User, "More")];
    assert_eq!(
        input_of(history),
        json!([
            {"role": "user", "content": "Go"},
            thought(),
            calling("call_0", "{\"a\":1}"),
            calling("call_1", "{}"),
            output("call_0", "first"),
            output("call_1", "second"),
            thought(),
            // The server used this id before.
            calling("call_0-2", "{}"),
            output("call_0-2", "{\"n\":3}"),
            thought(),
            assistant_text("Done."),
            {"role": "user", "content": "More"},
        ])
    );
}

#[test]
fn unanswered_call_gets_result_and_truncated_one_is_omitted() {
    let both = turn(
        Role::Assistant,
        vec![tool_use_block(10), tool_use_block(11)],
        &[response(&[calling("a", "{}"), calling("b", "{\"x")])],
    );
    assert_eq!(input_of(vec![both]), json!([calling("a", "{}"), output("a", UNANSWERED)]));
    let blocks = vec![tool_use_block(10), tool_use_block(11), result_block(12, 11, json!("not JSON"))];
    let answered = turn(Role::Assistant, blocks, &[response(&[calling("a", "{"), calling("b", "{")])]);
    let sent = input_of(vec![answered]);
    assert_eq!((&sent[0]["call_id"], &sent[0]["arguments"]), (&json!("b"), &json!("{}")));
    assert_eq!(sent[1], output("b", "not JSON"));
}

#[test]
fn turn_without_stored_response_is_plain_text() {
    let blocks = vec![block(1, Content::thinking("secret thoughts"), None), block(2, Content::text("Hello"), None)];
    assert_eq!(
        input_of(vec![turn(Role::Assistant, blocks.clone(), &[])]),
        json!([{"role": "assistant", "content": "Hello"}])
    );
    let whole = response(&[thought(), assistant_text("Hello")]);
    assert_eq!(input_of(vec![turn(Role::Assistant, blocks, &[whole])]), json!([thought(), assistant_text("Hello")]));
    assert_eq!(input_of(vec![turn(Role::Assistant, Vec::new(), &[])]), json!([]));
}

#[test]
fn interrupted_turn_is_sent_back_with_whole_steps_and_rest_of_last_step() {
    let events = |events: &[Value]| -> String { events.iter().map(|event| format!("data: {event}\n\n")).collect() };
    let reasoned = json!({"type": "response.output_item.done", "output_index": 0, "item": thought()});
    let partial = json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Hel"});
    let calls = json!({"type": "response.output_item.added", "output_index": 1, "item": calling("call_2", "")});
    let blocks = vec![
        tool_use_block(10),
        result_block(11, 10, json!("first")),
        tool_use_block(12),
        result_block(13, 12, json!("cancelled by the user")),
    ];
    let step = response(&[thought(), calling("call_1", "{}")]);
    let before =
        [json!({"role": "user", "content": "Go"}), thought(), calling("call_1", "{}"), output("call_1", "first")];
    let more = json!({"role": "user", "content": "More"});
    for (case, last, behind) in [
        (
            "in a text",
            events(&[reasoned.clone(), partial]),
            vec![json!({"role": "assistant", "content": "Hel"}), more.clone()],
        ),
        ("in a call", events(&[reasoned.clone(), calls]), vec![more.clone()]),
        ("behind reasoning", events(&[reasoned]), vec![more.clone()]),
        ("before anything came", String::new(), vec![more.clone()]),
    ] {
        let reply = turn(Role::Assistant, blocks.clone(), &[step.clone(), last]);
        let sent = input_of(vec![text_turn(Role::User, "Go"), reply, text_turn(Role::User, "More")]);
        assert_eq!(sent, Value::Array([&before[..], &behind].concat()), "{case}");
    }
}

#[test]
fn adjacent_user_messages_merge_and_system_keeps_its_role() {
    let history = vec![
        text_turn(Role::System, "Rules"),
        text_turn(Role::User, "a"),
        text_turn(Role::User, "b"),
        text_turn(Role::Assistant, "c"),
    ];
    let expected = json!([
        {"role": "system", "content": "Rules"},
        {"role": "user", "content": "a\n\nb"},
        {"role": "assistant", "content": "c"},
    ]);
    assert_eq!(input_of(history), expected);
}

#[test]
fn longer_history_starts_with_same_items() {
    let raw = [response(&[thought(), calling("a", "{}")]), response(&[assistant_text("x")])];
    let first = turn(Role::Assistant, vec![tool_use_block(10), result_block(11, 10, json!("r"))], &raw);
    let mut history = vec![text_turn(Role::User, "1"), first];
    let short = input_of(history.clone());
    history
        .extend([text_turn(Role::User, "2"), turn(Role::Assistant, Vec::new(), &[response(&[assistant_text("y")])])]);
    let long = input_of(history);
    let short = short.as_array().unwrap();
    assert_eq!(&long.as_array().unwrap()[..short.len()], short);
}

/// Returns a path in which the turns have the ids 1, 2 and so on.
fn path(turns: Vec<HistoryTurn>) -> Vec<HistoryTurn> {
    let ids = (1..).map(|id| TurnId::from_uuid(Uuid::from_u128(id)));
    turns.into_iter().zip(ids).map(|(turn, turn_id)| HistoryTurn { turn_id, ..turn }).collect()
}

#[test]
fn only_new_items_are_sent_after_kept_response() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let reply = |text: &str| turn(Role::Assistant, vec![], &[response(&[thought(), assistant_text(text)])]);
    let looped = || {
        let blocks = vec![
            tool_use_block(1),
            result_block(2, 1, json!("old")),
            tool_use_block(3),
            tool_use_block(4),
            result_block(5, 3, json!("three")),
            result_block(6, 4, json!({"n": 4})),
        ];
        // The second response numbers its calls from the start; the provider knows them by its own ids.
        let raw = [response(&[thought(), calling("a", "{}")]), response(&[calling("a", "{}"), calling("b", "{}")])];
        turn(Role::Assistant, blocks, &raw)
    };
    let half_answered = || {
        let raw = [response(&[calling("a", "{}"), calling("b", "{}")])];
        turn(Role::Assistant, vec![tool_use_block(1), tool_use_block(2), result_block(3, 2, json!("two"))], &raw)
    };
    let user_message = |text: &str| text_turn(Role::User, text);
    for (case, turns, kept, expected) in [
        ("a new message", vec![user_message("U1"), reply("A1"), user_message("U2")], 2, vec![user("U2")]),
        (
            "behind a reply that called tools",
            vec![user_message("U1"), looped(), user_message("U2")],
            2,
            vec![output("a", "three"), output("b", "{\"n\":4}"), user("U2")],
        ),
        (
            "in a tool loop",
            vec![user_message("U1"), reply("A1"), user_message("U2"), looped()],
            4,
            vec![output("a", "three"), output("b", "{\"n\":4}")],
        ),
        (
            "a call without a result",
            vec![user_message("U1"), half_answered()],
            2,
            vec![output("a", UNANSWERED), output("b", "two")],
        ),
    ] {
        let mut chat_request = request("gpt-5", path(turns));
        chat_request.system = Some("Be kind.".into());
        chat_request.tools = vec![ToolSpec { name: "f".into(), description: String::new(), parameters: json!({}) }];
        let whole: Value = serde_json::from_slice(&body(&chat_request, true, true)).unwrap();
        assert_eq!((whole.get("previous_response_id"), &whole["store"]), (None, &json!(true)), "{case}");
        let turn_id = chat_request.history[kept - 1].turn_id;
        chat_request.previous_response = Some(KeptResponse { turn_id, response_id: "resp_1".into() });
        let mut behind: Value = serde_json::from_slice(&body(&chat_request, true, true)).unwrap();
        assert_eq!(behind["input"], Value::from(expected), "{case}");
        assert_eq!(behind["previous_response_id"], "resp_1", "{case}");
        // The rest is equal: the provider does not carry over instructions and tools.
        behind.as_object_mut().unwrap().remove("previous_response_id");
        behind["input"] = whole["input"].clone();
        assert_eq!(behind, whole, "{case}");

        let off = body_of(&chat_request);
        assert_eq!((off.get("previous_response_id"), &off["store"]), (None, &json!(false)), "{case}: switched off");
        assert_eq!(off["input"], whole["input"], "{case}: switched off");
        chat_request.previous_response =
            Some(KeptResponse { turn_id: TurnId::from_uuid(Uuid::nil()), response_id: "resp_1".into() });
        let elsewhere: Value = serde_json::from_slice(&body(&chat_request, true, true)).unwrap();
        assert_eq!(elsewhere, whole, "{case}: of a turn that is not on the path");
    }
}

#[test]
fn id_resembling_numbered_one_does_not_break_numbering() {
    let mut used = HashSet::from(["look".to_owned(), "look-2".to_owned(), "look-3".to_owned()]);
    let mut items = [calling("look", "{}")];
    let mut calls = [SentCall { number: 0, call_id: "look".into(), output_type: "function_call_output" }];
    make_call_ids_unique(&mut items, &mut calls, &mut used);
    assert_eq!((&items[0]["call_id"], calls[0].call_id.as_str()), (&json!("look-4"), "look-4"));
}

#[test]
fn provider_tools_are_requested_in_responses_format() {
    let mut chat_request = request("gpt-5", vec![turn(Role::User, vec![block(1, Content::text("Hi"), None)], &[])]);
    chat_request.provider_tools = vec!["web_search".into(), "code_execution".into(), "of_tomorrow".into()];
    let sent: Value = serde_json::from_slice(&body(&chat_request, false, false)).unwrap();
    assert_eq!(
        sent["tools"],
        json!([{"type": "web_search"}, {"type": "code_interpreter", "container": {"type": "auto"}}])
    );
    assert_eq!(sent["include"][1], "web_search_call.action.sources");
    assert_eq!(models::provider_tools("gpt-5"), ["web_search", "code_execution"]);
    assert!(models::provider_tools("some-other-model").is_empty());
}
