//! Tests of the decoder with responses that the recordings do not contain.

use proptest::prelude::*;

use super::*;
use crate::provider::{DecodeOutcome, Decoder};
use turnleaf_domain::FailureKind;
use turnleaf_domain::limits;

fn decode(body: &str) -> (Vec<DecodedItem>, DecodeOutcome) {
    decode_as("generic", body.as_bytes())
}

fn decode_as(dialect: &str, body: &[u8]) -> (Vec<DecodedItem>, DecodeOutcome) {
    let whole = pieces(dialect, [body]);
    assert_eq!(pieces(dialect, body.chunks(1)), whole, "byte by byte");
    whole
}

fn pieces<'a>(dialect: &str, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<DecodedItem>, DecodeOutcome) {
    let mut decoder = ChatDecoder::for_provider(Dialect::from_name(dialect).unwrap(), "P", SecretSet::default());
    let mut items = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut items);
    }
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

fn stream(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn text(items: &[DecodedItem]) -> String {
    items
        .iter()
        .filter_map(|item| if let DecodedItem::Text(text) = item { Some(text.as_str()) } else { None })
        .collect()
}

fn kind(outcome: &DecodeOutcome) -> Option<FailureKind> {
    outcome.failure.as_ref().map(|failure| failure.kind)
}

#[test]
fn done_without_finish_reason_is_interruption_except_in_done_only_dialect() {
    let body = stream(&[delta(json!({"content": "half"}))]) + "data: [DONE]\n\n";
    let (items, outcome) = decode(&body);
    assert_eq!((text(&items).as_str(), kind(&outcome)), ("half", Some(FailureKind::ProviderTruncated)));
    assert!(decode_as("snowflake", body.as_bytes()).1.complete);
}

#[test]
fn finish_reason_without_done_is_complete() {
    let (_, outcome) = decode(&stream(&[delta(json!({"content": "all"})), finish("stop")]));
    assert_eq!(outcome, DecodeOutcome { complete: true, stop_reason: Some("stop".into()), failure: None });
}

#[test]
fn stream_is_over_after_terminal_or_failure() {
    for (body, expected) in [
        (stream(&[delta(json!({"content": "x"})), finish("stop")]), false),
        ("data: [DONE]\n\n".into(), true),
        ("data: {\"error\":{\"message\":\"x\"}}\n\n".into(), true),
    ] {
        let mut decoder = ChatDecoder::for_provider(Dialect::from_name("generic").unwrap(), "P", SecretSet::default());
        decoder.feed(body.as_bytes(), &mut Vec::new());
        assert_eq!(decoder.is_over(), expected, "{body}");
    }
}

#[test]
fn non_stream_bodies_are_read_or_fail_with_kind() {
    use FailureKind::*;
    let completion = json!({"model": "m", "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "hi"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    for (body, expected_text, expected) in [
        (completion.to_string(), "hi", None),
        (format!("\u{feff}  {completion}"), "hi", None),
        (format!("[{completion}]"), "hi", None),
        (format!("{}\n{}\n", delta(json!({"content": "hi"})), finish("stop")), "hi", None),
        (r#"{"error":{"code":"rate_limit_exceeded","message":"x"}}"#.into(), "", Some(ProviderRateLimited)),
        (r#"{"detail":"x"}"#.into(), "", Some(ProviderError)),
        (r#"{"a":1}"#.into(), "", Some(ProviderProtocol)),
        (r#"{"a":"#.into(), "", Some(ProviderTruncated)),
        (r#"{"a" 1}"#.into(), "", Some(ProviderProtocol)),
        ("<html>no</html>".into(), "", Some(ProviderProtocol)),
        ("nul".into(), "", Some(ProviderProtocol)),
        ("Internal Server Error".into(), "", Some(ProviderProtocol)),
        (String::new(), "", Some(ProviderTruncated)),
        ("\n\n  ".into(), "", Some(ProviderTruncated)),
        (": only comments\n\n".into(), "", Some(ProviderTruncated)),
        ("\u{feff}".to_owned() + &stream(&[delta(json!({"content": "hi"})), finish("stop")]), "hi", None),
        ("data: {\"a\":\n\n".into(), "", Some(ProviderProtocol)),
        ("data: nul\n\n".into(), "", Some(ProviderProtocol)),
        ("data: <html>\n\n".into(), "", Some(ProviderProtocol)),
    ] {
        let (items, outcome) = decode(&body);
        assert_eq!((text(&items).as_str(), kind(&outcome)), (expected_text, expected), "{body}");
        assert_eq!(outcome.complete, expected.is_none(), "{body}");
    }
}

#[test]
fn invalid_event_keeps_earlier_items_and_hides_later_ones() {
    let before = stream(&[delta(json!({"content": "kept"}))]);
    let after = stream(&[delta(json!({"content": "lost"})), finish("stop")]);
    let (items, outcome) = decode(&format!("{before}data: {{\"choices\":[{{]\n\n{after}"));
    assert_eq!((text(&items).as_str(), kind(&outcome)), ("kept", Some(FailureKind::ProviderProtocol)));
    assert!(matches!(items.last(), Some(DecodedItem::Failed(_))));
}

#[test]
fn error_mid_stream_ends_reply_with_its_kind() {
    for error in [
        "data: {\"error\":{\"message\":\"x\",\"type\":\"overloaded_error\"}}\n\n",
        "event: error\ndata: {\"message\":\"x\",\"code\":\"server_is_overloaded\"}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"insufficient_system_resource\"}]}\n\n",
    ] {
        let (items, outcome) = decode(&(stream(&[delta(json!({"content": "kept"}))]) + error));
        assert_eq!((text(&items).as_str(), kind(&outcome)), ("kept", Some(FailureKind::ProviderOverloaded)), "{error}");
    }
}

#[test]
fn reasoning_is_found_under_every_key_and_emitted_once() {
    for reasoning in [
        json!({"reasoning_content": "why"}),
        json!({"reasoning": "why"}),
        json!({"reasoning_text": "why"}),
        json!({"reasoning": "why", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "why"}]}),
        json!({"reasoning": "why", "reasoning_content": "why"}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "why"}]}]}),
        json!({"content": [{"type": "thinking", "thinking": "why"}]}),
    ] {
        let (items, _) = decode(&stream(&[delta(reasoning.clone()), finish("stop")]));
        assert_eq!(items, [DecodedItem::Thinking("why".into()), DecodedItem::StopReason("stop".into())], "{reasoning}");
    }
}

#[test]
fn parts_of_reasoning_summary_are_paragraphs_with_headings() {
    let part = |index: u64, text: &str, beside: bool| {
        let mut delta = json!({"reasoning_details": [{"type": "reasoning.summary", "index": index, "summary": text}]});
        if beside {
            delta["reasoning"] = json!(text);
        }
        self::delta(delta)
    };
    for beside in [false, true] {
        let body = stream(&[
            part(0, "**Planning**\n\nFir", beside),
            part(0, "st.", beside),
            part(1, "**Checking**\n\nThen.", beside),
            delta(json!({"content": "So."})),
            finish("stop"),
        ]);
        let (items, _) = decode(&body);
        let thinking = |text: &str| DecodedItem::Thinking(text.into());
        let expected = [
            DecodedItem::ThinkingHeadings,
            thinking("**Planning**\n\nFir"),
            thinking("st."),
            thinking("\n\n"),
            thinking("**Checking**\n\nThen."),
        ];
        assert_eq!(items[..5], expected, "{beside}");
        let dialect = Dialect::from_name("openrouter").unwrap();
        let stored = crate::openai_chat::request::parse_stored_reply(dialect, body.as_bytes());
        assert_eq!(stored.reasoning, "**Planning**\n\nFirst.**Checking**\n\nThen.", "as the server sent it");
        let options = crate::replay::ReplayOptions {
            api: "openai_chat".into(),
            dialect: None,
            http_status: None,
            chunk: None,
            with_next_message: false,
        };
        let printed = crate::replay::replay(&options, body.as_bytes()).unwrap();
        assert_eq!(printed["blocks"][0]["title"], "Checking", "{beside}");
    }
}

#[test]
fn split_signature_is_joined_and_follows_its_reasoning() {
    let detail = |name: &str, value: &str| {
        delta(json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, name: value}]}))
    };
    let (items, _) = decode(&stream(&[
        detail("text", "why"),
        detail("signature", "pro"),
        detail("signature", "of"),
        delta(json!({"content": "so"})),
    ]));
    assert_eq!(
        items,
        [
            DecodedItem::Thinking("why".into()),
            DecodedItem::ThinkingSignature("proof".into()),
            DecodedItem::Text("so".into())
        ]
    );
}

#[test]
fn other_choices_are_not_mixed_in() {
    let other = json!({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]});
    let (items, outcome) = decode(&stream(&[delta(json!({"content": "yes"})), other]));
    assert_eq!((text(&items).as_str(), outcome.complete), ("yes", false));
}

#[test]
fn non_text_items_wait_for_block_end_and_keep_order() {
    let citation = json!({"type": "url_citation", "url": "https://example.org"});
    let (items, _) = decode(&stream(&[
        delta(json!({"content": "one"})),
        delta(json!({"annotations": [citation], "content": " two"})),
        delta(json!({"reasoning": "then"})),
        finish("stop"),
    ]));
    let sources = json!({"type": "x:sources", "sources": [{"url": "https://example.org"}]});
    let opaque = DecodedItem::Opaque(sources.as_object().unwrap().clone());
    let expected = [
        DecodedItem::Text("one".into()),
        DecodedItem::Text(" two".into()),
        opaque,
        DecodedItem::Thinking("then".into()),
    ];
    assert_eq!(items[..4], expected);
}

#[test]
fn refusal_is_text_and_content_filter_is_stop_reason() {
    let (items, outcome) = decode(&stream(&[delta(json!({"refusal": "I will not."})), finish("content_filter")]));
    assert_eq!(text(&items), "I will not.");
    assert_eq!(outcome, DecodeOutcome { complete: true, stop_reason: Some("content_filter".into()), failure: None });
}

#[test]
fn usage_is_emitted_once_and_last_one_wins() {
    let usage = |count: u64| json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": count}});
    let (items, _) = decode(&stream(&[usage(1), delta(json!({"content": "x"})), usage(2), finish("stop"), usage(3)]));
    let found: Vec<_> = items.iter().filter(|item| matches!(item, DecodedItem::Usage(_))).collect();
    let expected = Usage { input_tokens: Some(3), output_tokens: Some(3), ..Usage::default() };
    assert_eq!(found, [&DecodedItem::Usage(expected)]);
}

#[test]
fn character_split_across_events_is_restored() {
    let body = concat!(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\ud83d\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00b\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n",
    );
    let (items, outcome) = decode(body);
    assert_eq!(text(&items), "a😀b\u{fffd}");
    assert!(outcome.complete);
}

#[test]
fn invalid_utf8_bytes_are_replaced_in_place() {
    let body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}\n\n";
    let (items, outcome) = decode_as("generic", body);
    assert_eq!((text(&items).as_str(), outcome.complete), ("a\u{fffd}b", true));
}

#[test]
fn event_beyond_limit_fails_with_limit_kind() {
    let mut body = stream(&[delta(json!({"content": "kept"}))]).into_bytes();
    body.extend_from_slice(b"data: ");
    body.resize(body.len() + limits::PROVIDER_EVENT_BYTES, b'x');
    let (items, outcome) = pieces("generic", body.chunks(1 << 16));
    assert_eq!((text(&items).as_str(), kind(&outcome)), ("kept", Some(FailureKind::LimitEvent)));
}

#[test]
fn document_beyond_limit_fails_with_limit_kind() {
    let mut body = b"{".to_vec();
    body.resize(limits::PROVIDER_EVENT_BYTES + 2, b' ');
    let (_, outcome) = pieces("generic", body.chunks(1 << 16));
    assert_eq!(kind(&outcome), Some(FailureKind::LimitEvent));
}

/// Generates chunks with every kind of delta and of defect.
fn chunk() -> impl Strategy<Value = String> {
    let deltas = vec![
        json!({"content": "text 你好"}),
        json!({"content": null}),
        json!({"content": 7}),
        json!({"content": []}),
        json!({"reasoning": "r"}),
        json!({"reasoning_details": [null, {"data": "d"}, {"signature": "s"}]}),
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}, {"index": 1, "id": "b"}]}),
        json!({"tool_calls": [null, 1, {}]}),
        json!({"tool_calls": "x"}),
        json!({"function_call": {"name": "f"}}),
        json!({"annotations": [1]}),
        json!({"refusal": "no"}),
        json!("x"),
        json!(null),
    ];
    let wrong = [
        "{}",
        "null",
        "7",
        "[]",
        "\"x\"",
        "{\"choices\":7}",
        "{\"choices\":[null]}",
        "[DONE]",
        "{\"usage\":1}",
        "{\"error\":null}",
    ];
    prop_oneof![
        6 => prop::sample::select(deltas).prop_map(|value| delta(value).to_string()),
        1 => Just(finish("stop").to_string()),
        1 => Just(r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#.to_owned()),
        2 => prop::sample::select(wrong.to_vec()).prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn any_chunk_order_and_any_split_gives_one_result(chunks in prop::collection::vec(chunk(), 0..12), size in 1_usize..40) {
        let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        let whole = pieces("generic", [body.as_bytes()]);
        prop_assert_eq!(&pieces("generic", body.as_bytes().chunks(size)), &whole);
        prop_assert_eq!(whole.1.complete, whole.1.failure.is_none());
        let calls = whole.0.iter().filter(|item| matches!(item, DecodedItem::ToolCall { .. })).count() as u64;
        let known = |item: &DecodedItem| !matches!(item, DecodedItem::ToolArguments { index, .. } if *index >= calls);
        prop_assert!(whole.0.iter().all(known));
    }

    #[test]
    fn any_bytes_are_accepted(body in prop::collection::vec(any::<u8>(), 0..300)) {
        pieces("generic", [body.as_slice()]);
    }
}

#[test]
fn errors_in_successful_response_are_detected_and_ordinary_chunks_are_not() {
    let decoder = ChatDecoder::for_provider(Dialect::from_name("generic").unwrap(), "P", SecretSet::default());
    let reader = decoder.into_reader();
    for (value, event, expected) in [
        (json!({"choices": [], "error": null}), "", false),
        (json!({"choices": []}), "", false),
        (json!({"type": "ping"}), "", false),
        (json!({"choices": [], "message": "x", "code": 1}), "", false),
        (json!({"error": {"message": "x", "code": 429}}), "", true),
        (json!({"error": "CUDA error"}), "", true),
        (json!({"object": "error", "message": "x", "type": "invalid_request_error"}), "", true),
        (json!({"detail": "x"}), "", true),
        (json!({"anything": 1}), "error", true),
    ] {
        let parsed = BodyValue { value: &value, event, json: "", is_mended: false };
        assert_eq!(reader.is_error(parsed), expected, "{value}");
    }
}

#[test]
fn provider_calls_are_emitted_once_and_source_lists_at_end() {
    let tool = |more: Value| {
        let mut tool = json!({"index": 0, "type": "search", "arguments": "{\"query\": \"q\"}"});
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        delta(json!({"executed_tools": [tool]}))
    };
    let mut last = finish("stop");
    last["citations"] = json!(["https://b.example", "https://a.example"]);
    last["search_results"] = json!([{"url": "https://a.example", "title": "A", "snippet": "so"}]);
    let (items, _) = decode(&stream(&[
        delta(json!({"content": "one"})),
        tool(json!({})),
        tool(json!({"output": "found"})),
        delta(json!({"content": " two"})),
        last,
    ]));
    let id = || "executed-0".to_owned();
    let name = || "search".to_owned();
    let sources = json!({"type": "x:sources", "sources": [
        {"url": "https://b.example"}, {"url": "https://a.example", "title": "A", "quote": "so"}]});
    let expected = [
        DecodedItem::Text("one".into()),
        DecodedItem::Text(" two".into()),
        DecodedItem::ProviderToolCall { id: id(), name: name(), server: None },
        DecodedItem::ProviderToolArguments { id: id(), text: r#"{"query": "q"}"#.into() },
        DecodedItem::ProviderToolResult { id: id(), name: name(), result: "found".into(), is_error: false },
        DecodedItem::StopReason("stop".into()),
        DecodedItem::Opaque(sources.as_object().unwrap().clone()),
    ];
    let content_items: Vec<DecodedItem> =
        items.into_iter().filter(|item| !matches!(item, DecodedItem::Model(_) | DecodedItem::Usage(_))).collect();
    assert_eq!(content_items, expected);
}

#[test]
fn damaged_tool_calls_are_assembled_and_nameless_call_is_not_sent_back() {
    let call = |id: Value, name: &str, arguments: &str| {
        delta(json!({"content": "", "tool_calls": [{"index": 0, "id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}]}))
    };
    let body = stream(&[
        call(json!(" "), "read", "{\"path\":"),
        call(json!("x1"), "", "\"p0\"}"),
        call(Value::Null, "write", "{\"path\":\"\u{1f600}\"}"),
        call(json!("x3"), "read", ""),
        call(json!("x4"), " ", "{}"),
        delta(json!({"tool_calls": [{"index": 1, "id": "x5", "function": {"arguments": "{}"}}]})),
        finish("tool_calls"),
    ]);
    let (items, outcome) = decode(&body);
    assert!(outcome.complete);
    let calls: Vec<(u64, &str, &str)> = items
        .iter()
        .filter_map(|item| match item {
            DecodedItem::ToolCall { index, id, name } => Some((*index, id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [(0, "call-0", "read"), (1, "call-1", "write"), (2, "x3", "read")]);
    let nameless = DecodedItem::Opaque(crate::call_id::nameless_call_content("x5", "{}"));
    assert_eq!(items.iter().filter(|item| **item == nameless).count(), 1);
    let (reader, _) = ChatDecoder::keeping_reply(Dialect::from_name("generic").unwrap()).read_stored(body.as_bytes());
    let sent: Vec<(String, String)> =
        reader.into_reply().calls.into_iter().map(|call| (call.name, call.arguments)).collect();
    let expected = [("read", "{\"path\":\"p0\"}"), ("write", "{\"path\":\"\u{1f600}\"}"), ("read", "{}")];
    assert_eq!(sent, expected.map(|(name, arguments)| (name.to_owned(), arguments.to_owned())));
}

#[test]
fn error_of_choice_fails_with_kind_and_words_and_keeps_text() {
    let upstream = json!({"code": 502, "message": "Upstream error"});
    let chunk = |error_of_choice: Value, reason: Value, error: Value| {
        json!({"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": reason, "error": error_of_choice}],
            "error": error})
    };
    let none = || Value::Null;
    for (case, last, expected, words) in [
        ("in the choice", chunk(upstream.clone(), none(), none()), FailureKind::ProviderOverloaded, "Upstream error"),
        (
            "with the finish reason",
            chunk(upstream.clone(), json!("error"), none()),
            FailureKind::ProviderOverloaded,
            "Upstream error",
        ),
        (
            "beside the choice",
            chunk(none(), json!("error"), upstream.clone()),
            FailureKind::ProviderOverloaded,
            "Upstream error",
        ),
        (
            "a rate limit",
            chunk(json!({"code": 429, "message": "Slow down", "metadata": {"raw": "busy"}}), none(), none()),
            FailureKind::ProviderRateLimited,
            "Slow down: busy",
        ),
        ("a text", chunk(json!("CUDA error"), none(), none()), FailureKind::ProviderError, "CUDA error"),
        (
            "no words",
            chunk(json!({}), json!("error"), none()),
            FailureKind::ProviderError,
            "The reply ended with \"error\".",
        ),
    ] {
        let (items, outcome) = decode(&(stream(&[delta(json!({"content": "Hel"})), last]) + "data: [DONE]\n\n"));
        assert_eq!((text(&items).as_str(), kind(&outcome)), ("Hello", Some(expected)), "{case}");
        assert_eq!(outcome.failure.unwrap().detail.as_deref(), Some(words), "{case}");
    }
    for place in ["delta", "message"] {
        let last =
            json!({"choices": [{"index": 0, place: {"content": "lo", "error": upstream}, "finish_reason": null}]});
        let begin = delta(json!({"content": if place == "delta" { "Hel" } else { "Hello" }}));
        let (items, outcome) = decode(&stream(&[begin, last]));
        assert_eq!(
            (text(&items).as_str(), kind(&outcome)),
            ("Hello", Some(FailureKind::ProviderOverloaded)),
            "{place}"
        );
        assert!(!items.iter().any(|item| matches!(item, DecodedItem::Opaque(_))), "{place}");
    }
    let alone = stream(&[delta(json!({"content": "Hello"})), json!({"error": upstream})]);
    let (items, outcome) = decode(&alone);
    assert_eq!((text(&items).as_str(), kind(&outcome)), ("Hello", Some(FailureKind::ProviderOverloaded)));
    let (_, outcome) = decode(&stream(&[chunk(none(), json!("stop"), none())]));
    assert!(outcome.complete, "a null error is none");
}

#[test]
fn vendor_members_go_back_where_they_came_from() {
    let extra = |signature: &str| json!({"google": {"thought_signature": signature}});
    let call = |id: &str, arguments: &str, extra: Value| {
        json!({"tool_calls": [{"id": id, "type": "function", "extra_content": extra,
            "function": {"name": "f", "arguments": arguments}}]})
    };
    let body = stream(&[
        delta(json!({"extra_content": extra("m"), "content": "I look."})),
        delta(call("a", "{\"x\":1}", extra("s"))),
        delta(call("b", "", extra("t"))),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ]);
    for name in ["generic", "openrouter", "openai"] {
        let dialect = Dialect::from_name(name).unwrap();
        let reply = crate::openai_chat::request::parse_stored_reply(dialect, body.as_bytes());
        let placed = crate::openai_chat::message::ReasoningPlacement::ByDialect { has_calls: true, is_needed: false };
        let message = reply.message(dialect, placed, &[0, 1]).unwrap();
        let expected = match name {
            "openai" => [Value::Null, Value::Null, Value::Null],
            _ => [extra("m"), extra("s"), extra("t")],
        };
        let at = |pointer: &str| message.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(
            [at("/extra_content"), at("/tool_calls/0/extra_content"), at("/tool_calls/1/extra_content")],
            expected,
            "{name}"
        );
        let omitted = reply.message(dialect, crate::openai_chat::message::ReasoningPlacement::Omitted, &[0]).unwrap();
        assert_eq!(omitted.pointer("/tool_calls/0/extra_content"), None, "{name}: signatures are reasoning");
    }
}

#[test]
fn vendor_members_stay_with_their_call_in_one_chunk() {
    let extra = |signature: &str| json!({"google": {"thought_signature": signature}});
    let dialect = Dialect::from_name("generic").unwrap();
    let call = |index: Option<u64>, id: &str, name: &str| {
        let mut call = json!({"id": id, "type": "function", "extra_content": extra(id),
            "function": {"name": name, "arguments": ""}});
        if let Some(index) = index {
            call["index"] = json!(index);
        }
        call
    };
    for indexes in [[Some(0), Some(1)], [None, None], [Some(0), Some(0)]] {
        let both = json!([call(indexes[0], "a", "f"), call(indexes[1], "b", "g")]);
        let later = json!([{"index": 1, "extra_content": {"vendor": 1}, "function": {"arguments": "{}"}}]);
        for with_arguments in [false, true] {
            let mut chunks = vec![delta(json!({"tool_calls": both}))];
            if with_arguments && indexes[1] == Some(1) {
                chunks.push(delta(json!({"tool_calls": later})));
            }
            let body = stream(&[chunks.clone(), vec![finish("tool_calls")]].concat());
            let reply = crate::openai_chat::request::parse_stored_reply(dialect, body.as_bytes());
            let placed =
                crate::openai_chat::message::ReasoningPlacement::ByDialect { has_calls: true, is_needed: false };
            let message = reply.message(dialect, placed, &[0, 1]).unwrap();
            let at = |pointer: &str| message.pointer(pointer).cloned().unwrap_or_default();
            let mut second = extra("b");
            if chunks.len() > 1 {
                second["vendor"] = json!(1);
            }
            assert_eq!(
                [at("/tool_calls/0/extra_content"), at("/tool_calls/1/extra_content")],
                [extra("a"), second],
                "{indexes:?} {with_arguments}"
            );
        }
    }
}

#[test]
fn single_call_without_list_is_read() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}});
    let (items, _) = decode(&stream(&[delta(json!({"tool_calls": call})), finish("tool_calls")]));
    let expected = [
        DecodedItem::ToolCall { index: 0, id: "a".into(), name: "f".into() },
        DecodedItem::ToolArguments { index: 0, text: "{}".into() },
    ];
    assert_eq!(items[..2], expected);
}

#[test]
fn id_that_comes_late_goes_back() {
    let call = |id: Value, name: &str, arguments: &str| {
        delta(json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}]}))
    };
    let body = stream(&[call(Value::Null, "f", "{\"x\":"), call(json!("a"), "", "1}"), finish("tool_calls")]);
    let (items, _) = decode(&body);
    assert_eq!(items[0], DecodedItem::ToolCall { index: 0, id: "call-0".into(), name: "f".into() });
    let (reader, _) = ChatDecoder::keeping_reply(Dialect::from_name("generic").unwrap()).read_stored(body.as_bytes());
    let calls = reader.into_reply().calls;
    assert_eq!((calls[0].id.as_str(), calls[0].arguments.as_str()), ("a", "{\"x\":1}"));
}

#[test]
fn whole_message_after_deltas_adds_only_the_rest() {
    let last = |message: Value| json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let thinking = |items: &[DecodedItem]| -> String {
        items
            .iter()
            .filter_map(|item| if let DecodedItem::Thinking(text) = item { Some(text.as_str()) } else { None })
            .collect()
    };
    for (case, message, expected_text, expected_thinking) in [
        ("the same", json!({"content": "Hello"}), "Hello", "why"),
        ("with more", json!({"content": "Hello there", "reasoning": "why not"}), "Hello there", "why not"),
        ("all again", json!({"content": "Hello", "reasoning": "why"}), "Hello", "why"),
        (
            "as parts",
            json!({"content": [{"type": "text", "text": "Hello"}, {"type": "text", "text": "!"}]}),
            "Hello!",
            "why",
        ),
        ("another", json!({"content": "Goodbye"}), "Hello", "why"),
        ("none", json!({"content": null}), "Hello", "why"),
    ] {
        let begin =
            [delta(json!({"reasoning": "why"})), delta(json!({"content": "Hel"})), delta(json!({"content": "lo"}))];
        let (items, outcome) = decode(&stream(&[&begin[..], &[last(message)]].concat()));
        assert_eq!((text(&items).as_str(), thinking(&items).as_str()), (expected_text, expected_thinking), "{case}");
        assert!(outcome.complete, "{case}");
    }
    // Without deltas the message is the reply.
    let (items, _) = decode(&stream(&[last(json!({"content": "Hello"}))]));
    assert_eq!(text(&items), "Hello");
}

#[test]
fn whole_message_repeats_no_call() {
    let call = |id: &str, arguments: &str| json!({"id": id, "function": {"name": "f", "arguments": arguments}});
    let chunk = |index: u64, id: &str, arguments: &str| {
        let mut call = call(id, arguments);
        call["index"] = json!(index);
        delta(json!({"tool_calls": [call]}))
    };
    let message = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"content": "",
        "tool_calls": [call("a", "{\"x\":1}"), call("b", "{\"y\":2}"), call("c", "{}")]}}]});
    let body = stream(&[chunk(0, "a", "{\"x\":1}"), chunk(1, "b", "{\"y\":"), message]);
    let (items, _) = decode(&body);
    let replaced = DecodedItem::ToolArgumentsReplaced { index: 1, text: "{\"y\":2}".into() };
    assert_eq!(items.iter().filter(|item| matches!(item, DecodedItem::ToolCall { .. })).count(), 3);
    assert_eq!(items.iter().filter(|item| **item == replaced).count(), 1);
    let (reader, _) = ChatDecoder::keeping_reply(Dialect::from_name("generic").unwrap()).read_stored(body.as_bytes());
    let sent: Vec<(String, String)> =
        reader.into_reply().calls.into_iter().map(|call| (call.id, call.arguments)).collect();
    let expected = [("a", "{\"x\":1}"), ("b", "{\"y\":2}"), ("c", "{}")];
    assert_eq!(sent, expected.map(|(id, arguments)| (id.to_owned(), arguments.to_owned())));
}

#[test]
fn reasoning_in_text_is_reasoning_and_raw_text_goes_back() {
    let deltas = [
        json!({"content": "<think>\nsecret"}),
        json!({"content": " plan\n</thi"}),
        json!({"content": "nk>\n\nAnswer."}),
    ];
    let mut chunks: Vec<Value> = deltas.into_iter().map(delta).collect();
    chunks.push(finish("stop"));
    let body = stream(&chunks);
    let (items, outcome) = decode(&body);
    let thinking: String = items
        .iter()
        .filter_map(|item| if let DecodedItem::Thinking(text) = item { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!((thinking.as_str(), text(&items).as_str(), kind(&outcome)), ("secret plan", "Answer.", None));
    let stored =
        crate::openai_chat::request::parse_stored_reply(Dialect::from_name("generic").unwrap(), body.as_bytes());
    assert_eq!(stored.text, "<think>\nsecret plan\n</think>\n\nAnswer.", "the same model gets its own text");
    let open = stream(&[delta(json!({"content": "<think>never closed"})), finish("stop")]);
    assert_eq!(decode(&open).0.first(), Some(&DecodedItem::Thinking("never closed".into())));
    let later = stream(&[delta(json!({"content": "Use <think> like this: <think>x</think>"})), finish("stop")]);
    assert_eq!(text(&decode(&later).0), "Use <think> like this: <think>x</think>");
    let known = json!({"model": "qwq-32b", "choices": [{"index": 0, "delta": {"content": "plan</think>Answer."}}]});
    let (items, _) = decode(&stream(&[known, finish("stop")]));
    assert_eq!(text(&items), "Answer.");
}
