//! Tests of the items that are sent back after each kind of ending.

use super::*;
use crate::openai_responses::request::parse_stored_reply;

/// Returns the items that a complete response with this output sends back, if the calls with these numbers have
/// results.
fn sent_items(output: Value, answered: &[usize]) -> (Vec<Value>, Vec<usize>) {
    let response = json!({"object": "response", "status": "completed", "output": output});
    let reply = parse_stored_reply(response.to_string().as_bytes());
    let (items, calls) = reply.input_items(true, |number| answered.contains(&number));
    (items, calls.into_iter().map(|call| call.number).collect())
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"})
}

fn assistant_text(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn calling(arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": arguments,
        "status": "completed"})
}

fn without_fields(mut item: Value, fields: &[&str]) -> Value {
    item.as_object_mut().unwrap().retain(|key, _| !fields.contains(&key.as_str()));
    item
}

fn with_field(mut item: Value, field: &str, value: Value) -> Value {
    item[field] = value;
    item
}

#[test]
fn items_are_sent_back_unchanged_except_refused_ones() {
    let other = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let cut = with_field(assistant_text("ha"), "status", json!("incomplete"));
    let plain = json!({"role": "assistant", "content": "ha"});
    let open = json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "why"}]});
    let both = with_field(open.clone(), "encrypted_content", json!("sealed"));
    let bare = without_fields(thought(), &["encrypted_content"]);
    let unanswered: &[usize] = &[];
    for (case, output, answered, expected) in [
        (
            "everything",
            vec![thought(), assistant_text("a"), calling("{}")],
            unanswered,
            vec![thought(), assistant_text("a"), calling("{}")],
        ),
        (
            "another kind",
            vec![thought(), other.clone(), assistant_text("a")],
            &[],
            vec![thought(), other.clone(), assistant_text("a")],
        ),
        (
            "another kind before reasoning that is lost",
            vec![thought(), other.clone(), assistant_text("a"), thought()],
            &[],
            vec![without_fields(assistant_text("a"), &["id"])],
        ),
        ("reasoning at the end", vec![thought()], &[], vec![]),
        ("reasoning before a cut text", vec![thought(), cut], &[], vec![plain]),
        (
            "reasoning without a seal",
            vec![bare, assistant_text("a")],
            &[],
            vec![without_fields(assistant_text("a"), &["id"])],
        ),
        ("reasoning in words", vec![open.clone(), assistant_text("a")], &[], vec![open, assistant_text("a")]),
        (
            "sealed words",
            vec![both.clone(), assistant_text("a")],
            &[],
            vec![without_fields(both, &["content"]), assistant_text("a")],
        ),
        (
            "no summary",
            vec![without_fields(thought(), &["summary"]), assistant_text("a")],
            &[],
            vec![thought(), assistant_text("a")],
        ),
        (
            "an empty id",
            vec![with_field(assistant_text("a"), "id", json!(""))],
            &[],
            vec![without_fields(assistant_text("a"), &["id"])],
        ),
        ("an empty message", vec![with_field(assistant_text(""), "content", json!([]))], &[], vec![]),
        ("a cut call", vec![thought(), calling("{\"x\"")], &[], vec![]),
        (
            "a cut call with a result",
            vec![thought(), calling("{\"x\"")],
            &[0],
            vec![with_field(without_fields(calling("{}"), &["id", "status"]), "arguments", json!("{}"))],
        ),
        (
            "no arguments",
            vec![thought(), calling("")],
            &[],
            vec![thought(), without_fields(calling("{}"), &["id", "status"])],
        ),
    ] {
        assert_eq!(sent_items(json!(output), answered).0, expected, "{case}");
    }
}

#[test]
fn only_sent_calls_are_answered_with_matching_output_type() {
    let custom =
        json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "g", "input": "not json"});
    let output = json!([calling("{"), custom, calling("{}")]);
    assert_eq!(sent_items(output.clone(), &[]).1, [1, 2]);
    assert_eq!(sent_items(output.clone(), &[0]).1, [0, 1, 2]);
    let response = json!({"object": "response", "status": "completed", "output": output});
    let reply = parse_stored_reply(response.to_string().as_bytes());
    let types: Vec<&str> = reply.input_items(true, |_| true).1.iter().map(|call| call.output_type).collect();
    assert_eq!(types, ["function_call_output", "custom_tool_call_output", "function_call_output"]);
}

#[test]
fn unfinished_items_are_sent_back_as_plain_text() {
    let events = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Hello"}),
        json!({"type": "response.output_item.added", "output_index": 2,
            "item": {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{}"}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let (items, _) = parse_stored_reply(body.as_bytes()).input_items(true, |_| true);
    assert_eq!(items[0], json!({"role": "assistant", "content": "Hello"}));
    assert_eq!((&items[1]["arguments"], items.len()), (&json!("{}"), 2));
    // Without the terminal it is unknown whether the arguments are complete.
    let cut: String = events[..4].iter().map(|event| format!("data: {event}\n\n")).collect();
    let sent = parse_stored_reply(cut.as_bytes()).input_items(true, |_| true);
    assert_eq!(sent, (vec![json!({"role": "assistant", "content": "Hello"})], Vec::new()));
}

/// The rows of docs/reference/providers.md 2.6: responses that are interrupted after these events.
#[test]
fn interrupted_response_is_sent_back_as_far_as_api_accepts() {
    let added =
        |index: u64, item: Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let done =
        |index: u64, item: Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let delta =
        |index: u64, text: &str| json!({"type": "response.output_text.delta", "output_index": index, "delta": text});
    let thinking = || added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []}));
    let begun = || added(1, json!({"type": "message", "id": "msg_1", "role": "assistant", "content": []}));
    let calls =
        || added(1, json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": ""}));
    let plain = json!({"role": "assistant", "content": "Hel"});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "in_progress"});
    let no_calls: &[usize] = &[];
    for (case, events, expected, answered) in [
        ("a cut text", vec![thinking(), done(0, thought()), begun(), delta(1, "Hel")], vec![plain.clone()], no_calls),
        ("a text without a letter", vec![thinking(), done(0, thought()), begun()], vec![], &[]),
        ("reasoning that never ended", vec![thinking()], vec![], &[]),
        ("reasoning and nothing behind it", vec![thinking(), done(0, thought())], vec![], &[]),
        (
            "a whole call",
            vec![done(0, thought()), calls(), done(1, calling("{}"))],
            vec![thought(), calling("{}")],
            &[0],
        ),
        ("a cut call", vec![done(0, thought()), calls()], vec![], &[]),
        (
            "a cut call behind a whole text",
            vec![done(0, thought()), done(1, assistant_text("a")), added(2, calling(""))],
            vec![thought(), assistant_text("a")],
            &[],
        ),
        ("a search that never ended", vec![begun(), delta(1, "Hel"), added(2, search)], vec![plain], &[]),
    ] {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let reply = parse_stored_reply(body.as_bytes());
        assert!(!reply.is_complete, "{case}");
        // The end of a turn stores a result for every call, including cut ones.
        let (items, calls) = reply.input_items(true, |_| true);
        assert_eq!(items, expected, "{case}");
        assert_eq!(calls.into_iter().map(|call| call.number).collect::<Vec<_>>(), answered, "{case}");
    }
}

#[test]
fn items_without_reasoning_contain_no_server_references() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let response = json!({"object": "response", "status": "completed",
        "output": [thought(), search, assistant_text("a"), calling("{}")]});
    let (items, calls) = parse_stored_reply(response.to_string().as_bytes()).input_items(false, |_| false);
    assert_eq!(items, [without_fields(assistant_text("a"), &["id"]), without_fields(calling("{}"), &["id"])]);
    assert_eq!(calls.len(), 1);
}
