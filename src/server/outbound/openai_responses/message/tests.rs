//! Which items go back after which endings.

use super::*;
use crate::server::outbound::openai_responses::request::read_again;

/// The items that a whole response with this output sends back, with results for the calls of these numbers.
fn sent(output: Value, answered: &[usize]) -> (Vec<Value>, Vec<usize>) {
    let response = json!({"object": "response", "status": "completed", "output": output});
    let said = read_again(response.to_string().as_bytes()).unwrap();
    let (items, calls) = said.items(|number| answered.contains(&number));
    (items, calls.into_iter().map(|call| call.number).collect())
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"})
}

fn saying(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn calling(arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": arguments,
        "status": "completed"})
}

fn without(mut item: Value, fields: &[&str]) -> Value {
    item.as_object_mut().unwrap().retain(|key, _| !fields.contains(&key.as_str()));
    item
}

fn with(mut item: Value, field: &str, value: Value) -> Value {
    item[field] = value;
    item
}

#[test]
fn items_go_back_unchanged_but_for_what_is_refused() {
    let other = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let cut = with(saying("ha"), "status", json!("incomplete"));
    let plain = json!({"role": "assistant", "content": "ha"});
    let open = json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "why"}]});
    let both = with(open.clone(), "encrypted_content", json!("sealed"));
    let bare = without(thought(), &["encrypted_content"]);
    let unanswered: &[usize] = &[];
    for (what, output, answered, expected) in [
        (
            "everything",
            vec![thought(), saying("a"), calling("{}")],
            unanswered,
            vec![thought(), saying("a"), calling("{}")],
        ),
        ("another kind", vec![thought(), other.clone(), saying("a")], &[], vec![thought(), other, saying("a")]),
        ("reasoning at the end", vec![thought()], &[], vec![]),
        ("reasoning before a cut text", vec![thought(), cut], &[], vec![plain]),
        ("reasoning without a seal", vec![bare, saying("a")], &[], vec![without(saying("a"), &["id"])]),
        ("reasoning in words", vec![open.clone(), saying("a")], &[], vec![open, saying("a")]),
        ("sealed words", vec![both.clone(), saying("a")], &[], vec![without(both, &["content"]), saying("a")]),
        ("no summary", vec![without(thought(), &["summary"]), saying("a")], &[], vec![thought(), saying("a")]),
        ("an empty id", vec![with(saying("a"), "id", json!(""))], &[], vec![without(saying("a"), &["id"])]),
        ("an empty message", vec![with(saying(""), "content", json!([]))], &[], vec![]),
        ("a cut call", vec![thought(), calling("{\"x\"")], &[], vec![]),
        (
            "a cut call with a result",
            vec![thought(), calling("{\"x\"")],
            &[0],
            vec![with(without(calling("{}"), &["id", "status"]), "arguments", json!("{}"))],
        ),
        ("no arguments", vec![thought(), calling("")], &[], vec![thought(), without(calling("{}"), &["id", "status"])]),
    ] {
        assert_eq!(sent(json!(output), answered).0, expected, "{what}");
    }
}

#[test]
fn only_calls_that_go_back_are_answered_and_each_in_its_way() {
    let custom =
        json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "g", "input": "not json"});
    let said = json!([calling("{"), custom, calling("{}")]);
    assert_eq!(sent(said.clone(), &[]).1, [1, 2]);
    assert_eq!(sent(said.clone(), &[0]).1, [0, 1, 2]);
    let response = json!({"object": "response", "status": "completed", "output": said});
    let said = read_again(response.to_string().as_bytes()).unwrap();
    let types: Vec<&str> = said.items(|_| true).1.iter().map(|call| call.output_type).collect();
    assert_eq!(types, ["function_call_output", "custom_tool_call_output", "function_call_output"]);
}

#[test]
fn what_a_server_never_ended_goes_back_in_plain_words() {
    let events = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Hello"}),
        json!({"type": "response.output_item.added", "output_index": 2,
            "item": {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{}"}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let (items, _) = read_again(body.as_bytes()).unwrap().items(|_| true);
    assert_eq!(items[0], json!({"role": "assistant", "content": "Hello"}));
    assert_eq!((&items[1]["arguments"], items.len()), (&json!("{}"), 2));
    let cut: String = events[..4].iter().map(|event| format!("data: {event}\n\n")).collect();
    assert_eq!(read_again(cut.as_bytes()), None);
}
