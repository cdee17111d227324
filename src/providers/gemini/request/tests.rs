//! Tests of request bodies built from a path, in raw and text mode.

use super::*;
use crate::history::fixtures::{block, result_block, tool_use_block, turn};
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{Content, ModelParams, Thinking};

fn user(text: &str) -> HistoryTurn {
    turn(Role::User, vec![block(1, Content::text(text), None)], &[])
}

pub fn request(model: &str, history: Vec<HistoryTurn>) -> ChatRequest {
    ChatRequest {
        system: Some("Be kind.".into()),
        thinking: Thinking::Medium,
        is_thinking_mode: true,
        ..ChatRequest::new(model, history, models::capabilities(model))
    }
}

fn contents_of(history: Vec<HistoryTurn>) -> Value {
    let sent: Value = serde_json::from_slice(&body(&request("gemini-2.5-flash", history))).unwrap();
    sent["contents"].clone()
}

fn raw(parts: Value, finish: &str) -> String {
    format!("data: {}\r\n\r\n", json!({"candidates": [{"content": {"parts": parts}, "finishReason": finish}]}))
}

#[test]
fn request_has_exact_bytes() {
    let mut chat_request = request("gemini-2.5-flash", vec![user("Hi \"you\"")]);
    chat_request.params = ModelParams {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        max_tokens: Some(40_000),
        stop_sequences: vec!["x".into()],
        thinking: None,
    };
    let parameters = json!({"type": "object", "properties": {}, "additionalProperties": false});
    chat_request.tools = vec![ToolSpec { name: "f".into(), description: "d".into(), parameters }];
    let expected = concat!(
        r#"{"contents":[{"role":"user","parts":[{"text":"Hi \"you\""}]}],"systemInstruction":{"parts":[{"text":"Be kind."}]},"#,
        r#""generationConfig":{"maxOutputTokens":40000,"temperature":0.5,"topP":0.9,"topK":40,"stopSequences":["x"],"#,
        r#""thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}},"#,
        r#""tools":[{"functionDeclarations":[{"name":"f","description":"d","#,
        r#""parametersJsonSchema":{"type":"object","properties":{},"additionalProperties":false}}]}]}"#
    );
    assert_eq!(body(&chat_request), expected);
    assert_eq!(body(&chat_request), body(&chat_request));
    let plain = r#"{"contents":[{"role":"user","parts":[{"text":"Be kind."},{"text":"Hi"}]}]}"#;
    assert_eq!(body(&request("gemma-3-4b-it", vec![user("Hi")])), plain);
}

#[test]
fn tool_loop_is_sent_back_step_by_step_with_signatures() {
    let first = json!([{"text": "why", "thought": true}, {"functionCall": {"name": "f", "args": {"b": 1, "a": 2}}, "thoughtSignature": "s"},
        {"functionCall": {"name": "g", "args": {}, "id": "i"}}]);
    let second = json!([{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "t"}, {"text": ""}]);
    let steps = [raw(first, "STOP"), raw(second, "STOP"), raw(json!([{"text": "Done."}]), "STOP")];
    let blocks = vec![
        tool_use_block(10),
        tool_use_block(11),
        result_block(12, 11, json!("no"), true),
        result_block(13, 10, json!({"n": 1}), false),
        tool_use_block(14),
        result_block(15, 14, json!("yes"), false),
    ];
    let answer = |response: Value| json!({"functionResponse": {"name": "f", "response": response}});
    let history = vec![user("Go"), turn(Role::Assistant, blocks.clone(), &steps), user("More")];
    assert_eq!(
        contents_of(history),
        json!([
            {"role": "user", "parts": [{"text": "Go"}]},
            {"role": "model", "parts": [
                {"functionCall": {"name": "f", "args": {"b": 1, "a": 2}}, "thoughtSignature": "s"},
                {"functionCall": {"name": "g", "args": {}, "id": "i"}},
            ]},
            {"role": "user", "parts": [
                answer(json!({"n": 1})),
                {"functionResponse": {"id": "i", "name": "g", "response": {"error": "no"}}},
            ]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "t"}]},
            {"role": "user", "parts": [answer(json!({"output": "yes"}))]},
            {"role": "model", "parts": [{"text": "Done."}]},
            {"role": "user", "parts": [{"text": "More"}]},
        ])
    );
    // A call without a result, and the message after it.
    let cut = vec![user("Go"), turn(Role::Assistant, vec![tool_use_block(10)], &steps[1..2]), user("More")];
    assert_eq!(
        contents_of(cut)[2],
        json!({"role": "user", "parts": [answer(json!({"error": UNANSWERED})), {"text": "More"}]})
    );
}

#[test]
fn turn_without_stored_response_is_text_and_empty_one_is_not_sent() {
    let blocks = vec![block(2, Content::thinking("why"), None), block(3, Content::text("So."), None)];
    let history = vec![user("Go"), turn(Role::Assistant, blocks.clone(), &[]), user("More")];
    assert_eq!(contents_of(history)[1], json!({"role": "model", "parts": [{"text": "So."}]}));
    // Nothing is left of the reply: its neighbours are merged.
    let silent = raw(json!([{"text": "why", "thought": true}]), "STOP");
    for steps in [vec![silent], vec![]] {
        let history = vec![user("Go"), turn(Role::Assistant, blocks[..1].to_vec(), &steps), user("More")];
        assert_eq!(contents_of(history), json!([{"role": "user", "parts": [{"text": "Go"}, {"text": "More"}]}]));
    }
}

#[test]
fn interrupted_turn_is_sent_back_with_whole_steps_and_rest_of_last_step() {
    let call = json!({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"});
    let in_pieces = json!({"functionCall": {"name": "f", "willContinue": true,
        "partialArgs": [{"jsonPath": "$.a", "stringValue": "ha", "willContinue": true}]}, "thoughtSignature": "t"});
    let thought = json!({"text": "why", "thought": true, "thoughtSignature": "u"});
    let blocks = vec![
        tool_use_block(10),
        result_block(11, 10, json!("r"), false),
        tool_use_block(12),
        result_block(13, 12, json!("no"), true),
    ];
    let answer = json!({"functionResponse": {"name": "f", "response": {"output": "r"}}});
    let more = json!({"text": "More"});
    let model = |parts: Value| json!({"role": "model", "parts": parts});
    for (case, last, finish, behind) in [
        (
            "in a text",
            json!([{"text": "why", "thought": true}, {"text": "It is"}]),
            "",
            vec![
                json!({"role": "user", "parts": [answer]}),
                model(json!([{"text": "It is"}])),
                json!({"role": "user", "parts": [more]}),
            ],
        ),
        ("in a thought", json!([thought]), "", vec![json!({"role": "user", "parts": [answer, more]})]),
        ("in a call", json!([in_pieces]), "", vec![json!({"role": "user", "parts": [answer, more]})]),
        (
            "in a broken call",
            json!([call]),
            "MALFORMED_FUNCTION_CALL",
            vec![json!({"role": "user", "parts": [answer, more]})],
        ),
    ] {
        let steps = [raw(json!([call]), "STOP"), raw(last, finish)];
        let sent = contents_of(vec![user("Go"), turn(Role::Assistant, blocks.clone(), &steps), user("More")]);
        let before = [json!({"role": "user", "parts": [{"text": "Go"}]}), model(json!([call]))];
        assert_eq!(sent, Value::Array([&before[..], &behind].concat()), "{case}");
    }
    // A complete call of an interrupted reply goes back with the result that the end of the turn gave it.
    let steps = [raw(json!([call]), "")];
    let sent = contents_of(vec![user("Go"), turn(Role::Assistant, blocks[..2].to_vec(), &steps), user("More")]);
    assert_eq!((&sent[1], &sent[2]), (&model(json!([call])), &json!({"role": "user", "parts": [answer, more]})));
}

#[test]
fn parts_without_signatures_keep_text_and_calls() {
    let parts = json!([{"text": "why", "thought": true, "thoughtSignature": "s"}, {"text": "Hi", "thoughtSignature": "t"},
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "u"}, {"text": "", "thoughtSignature": "v"}]);
    let mut reply = turn(Role::Assistant, vec![tool_use_block(10)], &[raw(parts, "STOP")]);
    reply.leaves_out_reasoning = true;
    let sent = contents_of(vec![user("Go"), reply, user("More")]);
    let expected = json!({"role": "model", "parts": [{"text": "Hi"}, {"functionCall": {"name": "f", "args": {}}}]});
    assert_eq!(sent[1], expected);
}

#[test]
fn longer_path_starts_with_same_contents() {
    let step = [raw(json!([{"text": "Yes.", "thoughtSignature": "s"}]), "STOP")];
    let mut history = vec![user("One"), turn(Role::Assistant, vec![], &step), user("Two")];
    let before = contents_of(history.clone());
    history.extend([turn(Role::Assistant, vec![], &step), user("Three")]);
    let after = contents_of(history);
    assert_eq!(after.as_array().unwrap()[..3].to_vec(), *before.as_array().unwrap());
}

#[test]
fn provider_tools_are_requested_in_gemini_format() {
    let mut chat_request = request("gemini-2.5-flash", vec![user("Hi")]);
    chat_request.provider_tools = vec!["web_search".into(), "code_execution".into(), "of_tomorrow".into()];
    let sent: Value = serde_json::from_slice(&body(&chat_request)).unwrap();
    assert_eq!(sent["tools"], json!([{"googleSearch": {}}, {"codeExecution": {}}]));
    chat_request.tools = vec![ToolSpec { name: "f".into(), description: String::new(), parameters: json!({}) }];
    let sent: Value = serde_json::from_slice(&body(&chat_request)).unwrap();
    assert!(sent["tools"][0]["functionDeclarations"].is_array() && sent["tools"][1].is_null(), "functions go alone");
    assert_eq!(models::provider_tools("gemini-2.5-flash"), ["web_search", "code_execution"]);
    assert!(models::provider_tools("some-other-model").is_empty());
}
