//! Tests of the decoder with responses that the recordings do not contain.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::provider::{DecodeOutcome, Decoder};
use turnleaf_domain::FailureKind;

fn decode(body: &[u8]) -> (Vec<DecodedItem>, DecodeOutcome) {
    let whole = pieces([body]);
    assert_eq!(pieces(body.chunks(1)), whole, "byte by byte");
    whole
}

fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<DecodedItem>, DecodeOutcome) {
    let mut decoder = MessagesDecoder::for_provider("P", SecretSet::default());
    let mut items = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut items);
    }
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())).collect()
}

fn begin() -> Value {
    json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": [],
        "usage": {"input_tokens": 3, "output_tokens": 1}}})
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text_delta(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

/// Returns the items of a complete reply with these events in its middle, without model, stop reason and usage.
fn items(middle: &[Value]) -> Vec<DecodedItem> {
    let body = stream(&[&[begin()], middle, &end("end_turn")].concat());
    let (items, outcome) = decode(body.as_bytes());
    assert!(outcome.complete, "{outcome:?}");
    items
        .into_iter()
        .filter(|item| !matches!(item, DecodedItem::Model(_) | DecodedItem::StopReason(_) | DecodedItem::Usage(_)))
        .collect()
}

fn text(text: &str) -> DecodedItem {
    DecodedItem::Text(text.into())
}

fn opaque_item(kind: &str, value: Value) -> DecodedItem {
    DecodedItem::Opaque(opaque_content(kind, value))
}

fn kind(outcome: &DecodeOutcome) -> Option<FailureKind> {
    outcome.failure.as_ref().map(|failure| failure.kind)
}

#[test]
fn only_message_stop_after_stop_reason_completes() {
    let events = [begin(), start(0, json!({"type": "text", "text": ""})), text_delta(0, "half")];
    let [reason, over] = end("end_turn");
    for (rest, is_complete) in [
        (vec![], false),
        (vec![stop(0), reason.clone()], false),
        (vec![stop(0), over.clone()], false),
        (vec![stop(0), reason.clone(), over.clone()], true),
        (vec![reason.clone(), over.clone(), json!({"type": "ping", "cost": "0"})], true),
    ] {
        let body = stream(&[&events[..], &rest].concat());
        let (items, outcome) = decode(body.as_bytes());
        assert_eq!(outcome.complete, is_complete, "{body}");
        assert_eq!(kind(&outcome), (!is_complete).then_some(FailureKind::ProviderTruncated), "{body}");
        assert!(items.contains(&text("half")), "{body}");
    }
}

#[test]
fn second_message_continues_reply_and_must_end_too() {
    let whole = |begun: Value| json!({"type": "message_start", "message": begun});
    let called = json!({"id": "n", "model": "c", "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]});
    let [reason, over] = end("end_turn");
    let events = [
        whole(called),
        over.clone(),
        begin(),
        start(0, json!({"type": "text", "text": ""})),
        text_delta(0, "Hi"),
        stop(0),
        reason,
        over,
    ];
    for (count, expected) in [(2, Some("tool_use")), (3, None), (7, Some("end_turn")), (8, Some("end_turn"))] {
        let (items, outcome) = decode(stream(&events[..count]).as_bytes());
        assert_eq!((outcome.complete, outcome.stop_reason.as_deref()), (count % 6 == 2, expected), "{count}");
        assert!(matches!(items[1], DecodedItem::ToolCall { index: 0, .. }));
        assert_eq!(items.contains(&text("Hi")), count > 4);
    }
}

#[test]
fn every_stop_reason_is_kept_verbatim() {
    for reason in ["refusal", "pause_turn", "model_context_window_exceeded", "of_tomorrow"] {
        let (items, outcome) = decode(stream(&[&[begin()][..], &end(reason)].concat()).as_bytes());
        assert_eq!((outcome.complete, outcome.stop_reason.as_deref()), (true, Some(reason)));
        assert!(items.contains(&DecodedItem::StopReason(reason.into())));
    }
}

#[test]
fn overlapping_blocks_stay_in_start_order() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    let more = |index, json: &str| delta(index, json!({"type": "input_json_delta", "partial_json": json}));
    let found = items(&[
        start(0, json!({"type": "text", "text": ""})),
        start(1, call("a")),
        more(1, "{\"x\""),
        text_delta(0, "one "),
        start(2, json!({"type": "text", "text": ""})),
        text_delta(2, "two"),
        more(1, ":1}"),
        text_delta(0, "more"),
        stop(2),
        stop(0),
        stop(1),
    ]);
    let arguments = |text: &str| DecodedItem::ToolArguments { index: 0, text: text.into() };
    let called = DecodedItem::ToolCall { index: 0, id: "a".into(), name: "f".into() };
    assert_eq!(found, [text("one "), text("more"), called, arguments("{\"x\""), arguments(":1}"), text("two")]);
}

#[test]
fn call_arguments_are_read_in_every_form() {
    let call = |index, input: Value| start(index, json!({"type": "tool_use", "name": "f", "input": input}));
    let more = |index, json: &str| delta(index, json!({"type": "input_json_delta", "partial_json": json}));
    let found = items(&[
        call(0, json!({})),
        more(0, ""),
        more(0, "{\"a\":1}"),
        stop(0),
        call(1, json!({"b": 2})),
        stop(1),
        call(2, json!({})),
        stop(2),
    ]);
    let called = |index: u64| DecodedItem::ToolCall { index, id: format!("call-m-{index}"), name: "f".into() };
    let arguments = |index, text: &str| DecodedItem::ToolArguments { index, text: text.into() };
    assert_eq!(found, [called(0), arguments(0, "{\"a\":1}"), called(1), arguments(1, "{\"b\":2}"), called(2)]);
}

#[test]
fn signatures_follow_their_thinking_even_if_empty() {
    let signed = |index| delta(index, json!({"type": "signature_delta", "signature": "s"}));
    let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
    let found = items(&[
        start(0, thinking.clone()),
        delta(0, json!({"type": "thinking_delta", "thinking": "why"})),
        signed(0),
        stop(0),
        start(1, thinking),
        signed(1),
        stop(1),
        start(2, json!({"type": "redacted_thinking", "data": "d"})),
        stop(2),
    ]);
    let signature = DecodedItem::ThinkingSignature("s".into());
    assert_eq!(
        found,
        [DecodedItem::Thinking("why".into()), signature.clone(), signature, DecodedItem::RedactedThinking("d".into())]
    );
}

#[test]
fn unknown_blocks_keep_their_place() {
    let citation = json!({"type": "char_location", "cited_text": "c"});
    let strange = json!({"type": "sparkle_delta", "n": 1});
    let found = items(&[
        json!({"type": "event_of_tomorrow", "index": 0}),
        start(0, json!({"type": "text", "text": "", "citations": []})),
        delta(0, json!({"type": "citations_delta", "citation": citation})),
        text_delta(0, "cited"),
        delta(0, strange.clone()),
        stop(0),
        start(1, json!({"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "{\"q\":\"a\"}"})),
        stop(1),
        start(2, json!({"type": "block_of_tomorrow", "n": 2})),
        delta(2, strange.clone()),
        stop(2),
        start(3, json!({"type": "compaction", "content": null})),
        delta(3, json!({"type": "compaction_delta", "content": "all"})),
        stop(3),
        start(4, json!({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}})),
        stop(4),
    ]);
    let step = |id: &str, name: &str| DecodedItem::ProviderToolCall { id: id.into(), name: name.into(), server: None };
    let end_of_step = |id: &str, name: &str, result: &str| DecodedItem::ProviderToolResult {
        id: id.into(),
        name: name.into(),
        result: result.into(),
        is_error: false,
    };
    let mut tomorrow = opaque_content("block_of_tomorrow", json!({"type": "block_of_tomorrow", "n": 2}));
    tomorrow.insert("deltas".into(), json!([strange]));
    let expected = [
        text("cited"),
        opaque_item("citation", citation),
        opaque_item("sparkle_delta", strange),
        DecodedItem::ProviderToolCall { id: "x".into(), name: "web_search".into(), server: None },
        DecodedItem::ProviderToolArguments { id: "x".into(), text: r#"{"q":"a"}"#.into() },
        DecodedItem::Opaque(tomorrow),
        step("compaction-3", "compaction"),
        end_of_step("compaction-3", "compaction", "all"),
        step("fallback-4", "fallback"),
        DecodedItem::ProviderToolArguments {
            id: "fallback-4".into(),
            text: r#"{"from":{"model":"a"},"to":{"model":"b"}}"#.into(),
        },
        end_of_step("fallback-4", "fallback", ""),
    ];
    assert_eq!(found, expected);
}

#[test]
fn dropped_thinking_is_announced_first_and_kept_at_end() {
    let dropped = json!([{"type": "thinking_dropped", "path": "messages.1.content.0"}]);
    let events = [start(0, json!({"type": "text", "text": "Hi"})), stop(0)];
    let mut first = begin();
    first["message"]["input_transformations"] = dropped.clone();
    let (items, _) = decode(stream(&[&[first.clone()][..], &events, &end("end_turn")].concat()).as_bytes());
    assert_eq!(items[1..3], [DecodedItem::Notice(Notice::ReasoningDropped), text("Hi")]);
    assert!(items.contains(&opaque_item("input_transformations", dropped.clone())), "{items:?}");
    // A reply without content has no notice, so that a failed attempt can be retried.
    let (items, _) = decode(stream(&[first]).as_bytes());
    assert!(!items.iter().any(|item| matches!(item, DecodedItem::Notice(_))), "{items:?}");

    let mut late = end("end_turn");
    late[0]["input_transformations"] = dropped;
    let (items, _) = decode(stream(&[&[begin()][..], &events, &late].concat()).as_bytes());
    let noticed = items.iter().filter(|item| matches!(item, DecodedItem::Notice(_))).count();
    assert_eq!((noticed, &items[1]), (1, &text("Hi")));
    let mut nothing = begin();
    nothing["message"]["input_transformations"] = json!([]);
    let (items, _) = decode(stream(&[&[nothing][..], &events, &end("end_turn")].concat()).as_bytes());
    assert!(!items.iter().any(|item| matches!(item, DecodedItem::Notice(_) | DecodedItem::Opaque(_))), "{items:?}");
}

#[test]
fn error_in_stream_ends_it_and_keeps_previous_items() {
    for (error, expected) in [
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
            FailureKind::ProviderOverloaded,
        ),
        (json!({"type": "error", "error": {"type": "api_error", "message": "x"}}), FailureKind::ProviderError),
        (
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}),
            FailureKind::ProviderRateLimited,
        ),
        (json!({"type": "error", "error": {"type": "billing_error", "message": "x"}}), FailureKind::ProviderQuota),
    ] {
        let events = [begin(), start(0, json!({"type": "text", "text": ""})), text_delta(0, "half"), error];
        let (items, outcome) = decode(stream(&events).as_bytes());
        assert_eq!((outcome.complete, kind(&outcome)), (false, Some(expected)));
        assert!(items.contains(&text("half")) && matches!(items.last(), Some(DecodedItem::Usage(_))), "{items:?}");
    }
    let (_, outcome) = decode(br#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#);
    assert_eq!(kind(&outcome), Some(FailureKind::ProviderOverloaded));
    let (_, outcome) = decode(br#"{"detail":"Not authenticated"}"#);
    assert!(!outcome.complete);
}

#[test]
fn surrogates_of_two_deltas_become_one_character() {
    let delta = |delta: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{delta}\"}}}}\n\n"
        )
    };
    let open = stream(&[begin(), start(0, json!({"type": "text", "text": ""}))]);
    for (pieces, expected) in [(["a\\ud83d", "\\ude00b"], "a😀b"), (["a\\ud83d", "b"], "a\u{fffd}b")] {
        let body = open.clone() + &delta(pieces[0]) + &delta(pieces[1]) + &stream(&end("end_turn"));
        let (items, _) = decode(body.as_bytes());
        let whole: String = items
            .iter()
            .filter_map(|item| if let DecodedItem::Text(text) = item { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(whole, expected);
    }
    let (items, _) = decode((open + &delta("a\\ud83d")).as_bytes());
    assert!(items.contains(&text("\u{fffd}")), "{items:?}");
}

#[test]
fn single_document_reply_is_read() {
    let body = json!({"type": "message", "id": "m", "model": "c", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "why", "signature": "s"},
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 4}});
    let (items, outcome) = decode(body.to_string().as_bytes());
    assert_eq!((outcome.complete, outcome.stop_reason.as_deref()), (true, Some("tool_use")));
    assert_eq!(
        items[..7],
        [
            DecodedItem::Model("c".into()),
            DecodedItem::Thinking("why".into()),
            DecodedItem::ThinkingSignature("s".into()),
            text("Hi"),
            DecodedItem::ToolCall { index: 0, id: "a".into(), name: "f".into() },
            DecodedItem::ToolArguments { index: 0, text: "{\"x\":1}".into() },
            DecodedItem::StopReason("tool_use".into()),
        ]
    );
}

#[test]
fn missing_block_starts_and_stops_are_tolerated() {
    let plain = json!({"type": "text", "text": ""});
    for middle in [
        vec![text_delta(0, "Hi"), stop(0)],
        vec![start(0, plain.clone()), text_delta(0, "Hi")],
        vec![start(0, plain), text_delta(0, "Hi"), stop(0), stop(0), stop(7)],
    ] {
        assert_eq!(items(&middle), [text("Hi")], "{middle:?}");
    }
}

proptest! {
    #[test]
    fn any_events_and_any_split_give_one_result(
        events in prop::collection::vec((0..9usize, 0..3u64), 0..12),
        cut in 0..4000usize,
    ) {
        let make = |(kind, index): &(usize, u64)| match kind {
            0 => begin(),
            1 => start(*index, json!({"type": "text", "text": ""})),
            2 => start(*index, json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
            3 => text_delta(*index, "t"),
            4 => delta(*index, json!({"type": "input_json_delta", "partial_json": "{"})),
            5 => delta(*index, json!({"type": "signature_delta", "signature": "s"})),
            6 => stop(*index),
            7 => end("end_turn")[0].clone(),
            _ => end("end_turn")[1].clone(),
        };
        let body = stream(&events.iter().map(make).collect::<Vec<_>>());
        let (_, outcome) = decode(&body.as_bytes()[..cut.min(body.len())]);
        prop_assert_eq!(outcome.complete, outcome.failure.is_none());
    }
}

#[test]
fn provider_result_excludes_encrypted_content() {
    let page = json!({"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "E"});
    let cited = json!({"type": "web_search_result_location", "url": "https://a.example", "title": "A", "cited_text": "so",
        "encrypted_index": "E"});
    let result =
        |index, kind: &str, content: Value| start(index, json!({"type": kind, "tool_use_id": "x", "content": content}));
    let failed = json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"});
    let found = items(&[
        result(0, "web_search_tool_result", json!([page])),
        stop(0),
        result(1, "web_search_tool_result", failed.clone()),
        stop(1),
        result(2, "mcp_tool_result", json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])),
        stop(2),
        start(3, json!({"type": "text", "text": "", "citations": []})),
        text_delta(3, "Größe"),
        delta(3, json!({"type": "citations_delta", "citation": cited})),
        stop(3),
    ]);
    let gave = |name: &str, result: Value, is_error| DecodedItem::ProviderToolResult {
        id: "x".into(),
        name: name.into(),
        result,
        is_error,
    };
    let page = json!({"type": "web_search_result", "url": "https://a.example", "title": "A"});
    let sources = json!({"type": "x:sources", "sources": [
        {"url": "https://a.example", "title": "A", "quote": "so", "start": 0, "end": 5}]});
    let expected = [
        gave("web_search", json!([page]), false),
        gave("web_search", failed, true),
        gave("mcp", json!("a\n\nb"), false),
        text("Größe"),
        DecodedItem::Opaque(sources.as_object().unwrap().clone()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn repeated_ids_are_made_distinct_and_nameless_call_is_not_made() {
    let call = |index: u64, id: &str, name: &str| {
        let arguments = json!({"type": "input_json_delta", "partial_json": "{\"x\":1}"});
        [
            start(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}})),
            delta(index, arguments),
            stop(index),
        ]
    };
    let calls = [call(0, "a", "f"), call(1, " ", "f"), call(2, "b", " "), call(3, "a", "g")].concat();
    let called =
        |index: u64, id: &str, name: &str| DecodedItem::ToolCall { index, id: id.to_owned(), name: name.to_owned() };
    let arguments = |index: u64| DecodedItem::ToolArguments { index, text: "{\"x\":1}".to_owned() };
    let expected = [
        called(0, "a", "f"),
        arguments(0),
        called(1, "call-m-1", "f"),
        arguments(1),
        DecodedItem::Opaque(crate::call_id::nameless_call_content("b", "{\"x\":1}")),
        called(2, "a-2", "g"),
        arguments(2),
    ];
    assert_eq!(items(&calls), expected);
    let body = stream(&[&[begin()], &calls[..], &end("tool_use")].concat());
    let (reader, is_complete) = MessagesDecoder::keeping_reply().read_stored(body.as_bytes());
    let reply = crate::anthropic::message::AnthropicReply { is_complete, ..reader.into_reply() };
    let sent = reply.content_to_send(crate::anthropic::message::ThinkingToSend::Signed, |_| true);
    let ids: Vec<&str> = sent.content.iter().filter_map(|block| block["id"].as_str()).collect();
    assert_eq!((reply.call_count(), ids), (3, vec!["a", "call-m-1", "a-2"]));
    assert_eq!(sent.calls, [(0, "a".to_owned()), (1, "call-m-1".to_owned()), (2, "a-2".to_owned())]);
}
