//! Tests of single events and of the deviations of servers.

use serde_json::json;

use super::*;
use crate::provider::{DecodeOutcome, Decoder};

fn decode(events: &[Value]) -> (Vec<DecodedItem>, DecodeOutcome) {
    decode_text(&events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>())
}

fn decode_text(body: &str) -> (Vec<DecodedItem>, DecodeOutcome) {
    let mut decoder = ResponsesDecoder::for_provider("P", SecretSet::default());
    let mut items = Vec::new();
    decoder.feed(body.as_bytes(), &mut items);
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

fn created() -> Value {
    json!({"type": "response.created", "sequence_number": 0, "response": {"object": "response", "model": "m-1", "output": []}})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
}

fn delta(kind: &str, index: u64, text: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "delta": text})
}

fn summary(part: u64, text: &str) -> Value {
    json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": part, "delta": text})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn call(index: u64, id: &str) -> DecodedItem {
    DecodedItem::ToolCall { index, id: id.into(), name: "f".into() }
}

fn arguments(index: u64, text: &str) -> DecodedItem {
    DecodedItem::ToolArguments { index, text: text.into() }
}

#[test]
fn reasoning_parts_join_with_blank_lines_and_signature_follows() {
    let sealed = json!({"type": "reasoning", "encrypted_content": "s1",
        "summary": [{"type": "summary_text", "text": "One"}, {"type": "summary_text", "text": "Two"}]});
    let (items, _) = decode(&[
        created(),
        // The encrypted content of the `added` event is not the final one.
        added(0, json!({"type": "reasoning", "summary": [], "encrypted_content": "s0"})),
        summary(0, "O"),
        summary(0, "ne"),
        summary(1, "Two"),
        done(0, sealed),
        delta("output_text", 1, "Hi"),
        completed(json!([])),
    ]);
    let expected = [
        DecodedItem::Model("m-1".into()),
        DecodedItem::Thinking("O".into()),
        DecodedItem::Thinking("ne".into()),
        DecodedItem::Thinking("\n\nTwo".into()),
        DecodedItem::ThinkingSignature("s1".into()),
        DecodedItem::Text("Hi".into()),
        DecodedItem::StopReason("completed".into()),
    ];
    assert_eq!(items, expected);
}

#[test]
fn texts_find_their_item_despite_missing_fields() {
    let text = |text: &str| DecodedItem::Text(text.into());
    let message = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let function = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": arguments});
    let mut by_id = delta("function_call_arguments", 0, "{}");
    by_id.as_object_mut().unwrap().remove("output_index");
    by_id["item_id"] = json!("fc_1");
    let mut named = function("a", "");
    named["id"] = json!("fc_1");
    let nameless = json!({"type": "function_call", "call_id": "a", "arguments": ""});
    for (case, events, expected) in [
        ("deltas alone", vec![delta("output_text", 0, "a"), delta("output_text", 0, "b")], vec![text("a"), text("b")]),
        ("an end alone", vec![done(0, message("ab"))], vec![text("ab")]),
        ("a missing end", vec![delta("output_text", 0, "a"), done(0, message("ab"))], vec![text("a"), text("b")]),
        ("a refusal", vec![delta("refusal", 0, "No.")], vec![text("No.")]),
        ("arguments by id", vec![added(0, named), by_id], vec![call(0, "a"), arguments(0, "{}")]),
        (
            "arguments at the end",
            vec![added(0, function("a", "")), done(0, function("a", "{}"))],
            vec![call(0, "a"), arguments(0, "{}")],
        ),
        (
            "a name at the end",
            vec![added(0, nameless), delta("function_call_arguments", 0, "{}"), done(0, function("a", "{}"))],
            vec![call(0, "a"), arguments(0, "{}")],
        ),
        (
            "one index for all",
            vec![
                added(0, function("a", "")),
                done(0, function("a", "1")),
                added(0, function("b", "")),
                done(0, function("b", "2")),
            ],
            vec![call(0, "a"), arguments(0, "1"), call(1, "b"), arguments(1, "2")],
        ),
        (
            "interleaved",
            vec![
                added(3, function("a", "")),
                added(7, function("b", "")),
                delta("function_call_arguments", 3, "1"),
                delta("function_call_arguments", 7, "2"),
            ],
            vec![call(0, "a"), call(1, "b"), arguments(0, "1"), arguments(1, "2")],
        ),
        (
            "unheard-of events",
            vec![
                json!({"type": "response.dream.delta", "delta": "x"}),
                json!({"type": "ping"}),
                delta("output_text", 0, "a"),
            ],
            vec![text("a")],
        ),
    ] {
        let ended: Vec<Value> = events.into_iter().chain([completed(json!([]))]).collect();
        let (mut items, outcome) = decode(&ended);
        assert_eq!(items.pop(), Some(DecodedItem::StopReason("completed".into())), "{case}");
        assert_eq!(items, expected, "{case}");
        assert!(outcome.complete, "{case}");
    }
}

#[test]
fn other_items_keep_order_and_two_messages_stay_separate() {
    let search = json!({"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "q"}});
    let cited = json!({"type": "message", "content": [{"type": "output_text", "text": "b",
        "annotations": [{"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1},
            {"type": "file_citation", "file_id": "f"}]}]});
    let (items, _) = decode(&[
        delta("output_text", 0, "a"),
        added(1, json!({"type": "web_search_call", "status": "in_progress"})),
        done(1, search.clone()),
        delta("output_text", 2, "b"),
        done(2, cited.clone()),
        done(2, cited),
        delta("output_text", 3, "c"),
        delta("output_text", 4, "d"),
        completed(json!([])),
    ]);
    let kinds: Vec<String> = items
        .iter()
        .map(|item| match item {
            DecodedItem::Text(text) => text.clone(),
            DecodedItem::Opaque(map) => map["type"].as_str().unwrap().to_owned(),
            DecodedItem::ProviderToolCall { name, .. } => format!("{name}?"),
            DecodedItem::ProviderToolArguments { text, .. } => text.clone(),
            DecodedItem::ProviderToolResult { result, .. } => format!("{result}!"),
            other => format!("{other:?}"),
        })
        .collect();
    let own = ["web_search?", "{\"query\":\"q\"}", "\"\"!"];
    let others = ["b", "x:sources", "x:citation", "c", "x:message", "d", "StopReason(\"completed\")"];
    assert_eq!(kinds, [&["a"][..], &own, &others].concat());
    let source = json!({"url": "https://a.example", "title": "A", "start": 0, "end": 1});
    let cited =
        items.iter().find_map(|item| if let DecodedItem::Opaque(map) = item { Some(map) } else { None }).unwrap();
    assert_eq!(cited["sources"], json!([source]));
}

#[test]
fn every_ending_has_its_outcome() {
    let response = |status: &str, more: Value| {
        let mut response = json!({"object": "response", "status": status, "output": []});
        response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        response
    };
    let event = |kind: &str, response: Value| json!({"type": kind, "response": response});
    let failed = |code: &str| response("failed", json!({"error": {"code": code, "message": "no"}}));
    let filtered = json!({"incomplete_details": {"reason": "content_filter"}});
    for (last, stop, failure) in [
        (completed(json!([])), Some("completed"), None),
        (event("response.incomplete", response("incomplete", filtered.clone())), Some("content_filter"), None),
        (event("response.completed", response("incomplete", filtered)), Some("content_filter"), None),
        (event("response.incomplete", response("incomplete", json!({}))), Some("incomplete"), None),
        (event("response.failed", failed("server_error")), None, Some("provider_error")),
        (event("response.failed", failed("rate_limit_exceeded")), None, Some("provider_rate_limited")),
        (event("response.failed", failed("context_length_exceeded")), None, Some("context_too_long")),
        (event("response.failed", failed("invalid_prompt")), None, Some("provider_refused_request")),
        (event("response.failed", response("failed", json!({"error": null}))), None, Some("provider_error")),
        (event("response.completed", failed("server_error")), None, Some("provider_error")),
        (event("response.cancelled", response("cancelled", json!({}))), None, Some("provider_error")),
        (
            json!({"type": "error", "code": "insufficient_quota", "message": "x", "param": null}),
            None,
            Some("provider_quota"),
        ),
        (json!({"error": {"message": "Overloaded", "type": "overloaded_error"}}), None, Some("provider_overloaded")),
        (json!({"type": "response.in_progress"}), None, Some("provider_truncated")),
        (response("in_progress", json!({})), None, Some("provider_truncated")),
        (response("completed", json!({})), Some("completed"), None),
    ] {
        let (items, outcome) = decode(&[created(), delta("output_text", 0, "Hi"), last.clone()]);
        let kind = outcome.failure.as_ref().map(|failure| failure.kind.as_str());
        assert_eq!((outcome.stop_reason.as_deref(), kind), (stop, failure), "{last}");
        assert_eq!(outcome.complete, failure.is_none(), "{last}");
        assert!(items.contains(&DecodedItem::Text("Hi".into())), "{last}");
    }
}

#[test]
fn events_after_terminal_are_ignored_and_usage_of_failure_counts() {
    let mut last = completed(json!([]));
    last["response"]["usage"] = json!({"input_tokens": 3, "output_tokens": 4});
    let (items, outcome) = decode(&[created(), last, delta("output_text", 0, "late")]);
    assert!(outcome.complete && !items.contains(&DecodedItem::Text("late".into())));
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error"},
        "usage": {"input_tokens": 3, "output_tokens": 4}}});
    for last in [items.last().cloned(), decode(&[created(), failed]).0.pop()] {
        assert!(matches!(last, Some(DecodedItem::Usage(usage)) if usage.output_tokens == Some(4)), "{last:?}");
    }
}

#[test]
fn split_surrogate_pair_is_joined_in_text_and_in_sent_items() {
    let body = concat!(
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"a\\ud83d\"}\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"\\ude00\"}\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"\\ud83d\"}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n",
    );
    let (items, _) = decode_text(body);
    let text: String = items
        .iter()
        .filter_map(|item| if let DecodedItem::Text(text) = item { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(text, "a😀\u{fffd}");
    let lone = "{\"object\":\"response\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\
                \"content\":[{\"type\":\"output_text\",\"text\":\"x\\ud83d\"}]}]}";
    let mut decoder = ResponsesDecoder::keeping_reply();
    decoder.feed(lone.as_bytes(), &mut Vec::new());
    decoder.finish(&mut Vec::new());
    assert_eq!(decoder.into_reader().into_reply().items[0].item["content"][0]["text"], "x\u{fffd}");
}

#[test]
fn resumed_body_is_read_from_terminal_or_as_received() {
    let numbered = |mut event: Value, number: u64| {
        event["sequence_number"] = json!(number);
        event
    };
    let rest = [numbered(delta("output_text", 0, "lo"), 9), numbered(delta("output_text", 0, "!"), 10)];
    let whole = completed(json!([{"type": "message", "content": [{"type": "output_text", "text": "Hello!"}]}]));
    let text = |events: &[Value]| -> String {
        let (items, _) = decode(events);
        items
            .into_iter()
            .filter_map(|item| if let DecodedItem::Text(text) = item { Some(text) } else { None })
            .collect()
    };
    assert_eq!(text(&[rest[0].clone(), rest[1].clone(), whole]), "Hello!");
    assert_eq!(text(&[rest[0].clone(), rest[1].clone(), completed(json!([]))]), "lo!");
    assert_eq!(text(&rest), "lo!");
    let error = json!({"type": "error", "message": "x"});
    assert_eq!(text(&[rest[0].clone(), rest[1].clone(), error]), "lo!");
}

#[test]
fn kept_response_id_is_reported_on_request() {
    let long = "r".repeat(257);
    for (response, expected) in [
        (json!({"id": "resp_1", "status": "completed"}), Some("resp_1")),
        (json!({"id": "resp_1", "status": "completed", "store": true}), Some("resp_1")),
        (json!({"id": "resp_1", "status": "completed", "store": false}), None),
        (json!({"id": "resp_1", "status": "incomplete"}), None),
        (json!({"id": "resp_1", "status": "failed"}), None),
        (json!({"id": "", "status": "completed"}), None),
        (json!({"id": 7, "status": "completed"}), None),
        (json!({"id": "re sp", "status": "completed"}), None),
        (json!({"id": "resp\u{0}", "status": "completed"}), None),
        (json!({"id": long, "status": "completed"}), None),
    ] {
        let event = format!("data: {}\n\n", json!({"type": "response.completed", "response": response}));
        let decoded = |mut decoder: ResponsesDecoder| {
            let mut items = Vec::new();
            decoder.feed(event.as_bytes(), &mut items);
            decoder.finish(&mut items);
            items.into_iter().find_map(|item| if let DecodedItem::ResponseId(id) = item { Some(id) } else { None })
        };
        assert_eq!(
            decoded(ResponsesDecoder::reporting_response_id("P", SecretSet::default())).as_deref(),
            expected,
            "{response}"
        );
        assert_eq!(decoded(ResponsesDecoder::for_provider("P", SecretSet::default())), None, "{response}");
    }
}

#[test]
fn ids_are_distinct_and_nameless_call_is_neither_made_nor_sent() {
    let called = |call_id: &str, name: &str| json!({"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"});
    let output = json!([called("a", "f"), called(" ", "f"), called("b", " "), called("a", "f")]);
    for events in [
        vec![created(), completed(output.clone())],
        [
            vec![created()],
            (0..4_u64)
                .flat_map(|n| [added(n, output[n as usize].clone()), done(n, output[n as usize].clone())])
                .collect(),
            vec![completed(output.clone())],
        ]
        .concat(),
    ] {
        let (items, _) = decode(&events);
        let calls: Vec<&DecodedItem> =
            items.iter().filter(|item| matches!(item, DecodedItem::ToolCall { .. })).collect();
        assert_eq!(calls, [&call(0, "a"), &call(1, "call-1"), &call(2, "a-2")]);
        let nameless: Vec<&DecodedItem> = items.iter().filter(|item| matches!(item, DecodedItem::Opaque(_))).collect();
        assert_eq!(nameless, [&DecodedItem::Opaque(crate::call_id::nameless_call_content("", "{}"))]);
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let (reader, is_complete) = ResponsesDecoder::keeping_reply().read_stored(body.as_bytes());
        let reply = ResponsesReply { is_complete, ..reader.into_reply() };
        let (sent, calls) = reply.input_items(true, |_| true);
        assert_eq!((reply.call_count(), sent.len(), calls.len()), (3, 3, 3));
    }
}
