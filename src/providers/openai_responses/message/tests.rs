//! Which items go back after which endings.

use super::*;
use crate::openai_responses::request::read_again;

/// The items that a whole response with this output sends back, with results for the calls of these numbers.
fn sent(output: Value, answered: &[usize]) -> (Vec<Value>, Vec<usize>) {
    let response = json!({"object": "response", "status": "completed", "output": output});
    let said = read_again(response.to_string().as_bytes());
    let (items, calls) = said.items(true, |number| answered.contains(&number));
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
        ("another kind", vec![thought(), other.clone(), saying("a")], &[], vec![thought(), other.clone(), saying("a")]),
        (
            "another kind before reasoning that is lost",
            vec![thought(), other.clone(), saying("a"), thought()],
            &[],
            vec![without(saying("a"), &["id"])],
        ),
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
    let said = read_again(response.to_string().as_bytes());
    let types: Vec<&str> = said.items(true, |_| true).1.iter().map(|call| call.output_type).collect();
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
    let (items, _) = read_again(body.as_bytes()).items(true, |_| true);
    assert_eq!(items[0], json!({"role": "assistant", "content": "Hello"}));
    assert_eq!((&items[1]["arguments"], items.len()), (&json!("{}"), 2));
    // Without the terminal nobody knows whether the arguments were all.
    let cut: String = events[..4].iter().map(|event| format!("data: {event}\n\n")).collect();
    let sent = read_again(cut.as_bytes()).items(true, |_| true);
    assert_eq!(sent, (vec![json!({"role": "assistant", "content": "Hello"})], Vec::new()));
}

/// The rows of providers.md 2.6, each response cut off behind these events.
#[test]
fn of_a_response_that_was_cut_off_goes_back_what_the_api_takes() {
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
    for (what, events, expected, answered) in [
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
            vec![done(0, thought()), done(1, saying("a")), added(2, calling(""))],
            vec![thought(), saying("a")],
            &[],
        ),
        ("a search that never ended", vec![begun(), delta(1, "Hel"), added(2, search)], vec![plain], &[]),
    ] {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let said = read_again(body.as_bytes());
        assert!(!said.is_complete, "{what}");
        // The end of a turn answers every call, cut ones too.
        let (items, calls) = said.items(true, |_| true);
        assert_eq!(items, expected, "{what}");
        assert_eq!(calls.into_iter().map(|call| call.number).collect::<Vec<_>>(), answered, "{what}");
    }
}

#[test]
fn without_reasoning_nothing_is_left_that_the_server_would_look_up() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let response = json!({"object": "response", "status": "completed",
        "output": [thought(), search, saying("a"), calling("{}")]});
    let (items, calls) = read_again(response.to_string().as_bytes()).items(false, |_| false);
    assert_eq!(items, [without(saying("a"), &["id"]), without(calling("{}"), &["id"])]);
    assert_eq!(calls.len(), 1);
}
