//! Tests of the decoder with chunks of their own: each kind of part, and the ends of bodies.

use serde_json::json;

use super::*;
use crate::provider::opaque_content;
use crate::provider::{DecodeOutcome, Decoder};
use turnleaf_domain::FailureKind;

fn decode(body: &str) -> (Vec<DecodedItem>, DecodeOutcome) {
    let mut decoder = GeminiDecoder::for_provider("Gemini", SecretSet::default());
    let mut items = Vec::new();
    decoder.feed(body.as_bytes(), &mut items);
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

fn stream(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn finish(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason}]})
}

fn text(text: &str) -> DecodedItem {
    DecodedItem::Text(text.to_owned())
}

fn signature(text: &str) -> DecodedItem {
    DecodedItem::ThinkingSignature(text.to_owned())
}

#[test]
fn every_kind_of_part_keeps_its_place() {
    let body = stream(&[
        json!({"modelVersion": "gemini-3", "responseId": "r", "candidates": [{"content": {"parts": [{"text": "why", "thought": true}]}}]}),
        parts(json!([{"text": "a"}, {"text": "b", "thoughtSignature": "s1"}, {"text": "c"}])),
        parts(json!([{"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "s2"}, {"text": ""}])),
        parts(
            json!([{"thoughtSignature": "s3", "toolCall": {"id": "t"}}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]),
        ),
        parts(json!([{"somethingNew": [1]}, {"text": "", "thoughtSignature": "s4"}])),
        json!({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}),
    ]);
    let (items, outcome) = decode(&body);
    let other = |name: &str, value: Value| DecodedItem::Opaque(opaque_content(name, value));
    let expected = vec![
        DecodedItem::Model("gemini-3".into()),
        DecodedItem::Thinking("why".into()),
        text("a"),
        text("b"),
        signature("s1"),
        text("c"),
        DecodedItem::ToolCall { index: 0, id: "call-r-0".into(), name: "f".into() },
        DecodedItem::ToolArguments { index: 0, text: r#"{"x":1}"#.into() },
        signature("s2"),
        DecodedItem::ProviderToolCall { id: "t".into(), name: "tool".into(), server: None },
        DecodedItem::ProviderToolArguments { id: "t".into(), text: "{}".into() },
        signature("s3"),
        other("inlineData", json!({"mimeType": "image/png", "data": "AA=="})),
        other("somethingNew", json!([1])),
        signature("s4"),
        DecodedItem::StopReason("STOP".into()),
        DecodedItem::ProviderToolResult { id: "t".into(), name: "tool".into(), result: "".into(), is_error: false },
    ];
    assert_eq!(items, expected);
    assert_eq!(outcome, DecodeOutcome { complete: true, stop_reason: Some("STOP".into()), failure: None });
}

#[test]
fn body_end_determines_outcome() {
    let error = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    let hello = || parts(json!([{"text": "Hello"}]));
    for (case, body, reason, kind) in [
        ("a stop", stream(&[hello(), finish("STOP")]), Some("STOP"), None),
        ("the limit", stream(&[hello(), finish("MAX_TOKENS")]), Some("MAX_TOKENS"), None),
        ("a filter", stream(&[hello(), finish("SAFETY")]), Some("SAFETY"), None),
        (
            "a blocked prompt",
            stream(&[json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})]),
            Some("PROHIBITED_CONTENT"),
            None,
        ),
        ("text after the stop", stream(&[finish("STOP"), hello(), finish("MAX_TOKENS")]), Some("MAX_TOKENS"), None),
        (
            "a call gone wrong",
            stream(&[hello(), finish("MALFORMED_FUNCTION_CALL")]),
            Some("MALFORMED_FUNCTION_CALL"),
            Some(FailureKind::ProviderError),
        ),
        (
            "a call of nothing",
            stream(&[finish("UNEXPECTED_TOOL_CALL"), hello()]),
            Some("UNEXPECTED_TOOL_CALL"),
            Some(FailureKind::ProviderError),
        ),
        (
            "no reason yet",
            stream(&[hello(), finish("FINISH_REASON_UNSPECIFIED")]),
            None,
            Some(FailureKind::ProviderTruncated),
        ),
        ("no end", stream(&[hello()]), None, Some(FailureKind::ProviderTruncated)),
        ("an error", stream(&[hello(), error.clone()]), None, Some(FailureKind::ProviderOverloaded)),
        ("a list", json!([hello(), finish("STOP")]).to_string(), Some("STOP"), None),
        (
            "a cut list",
            json!([hello(), finish("STOP")]).to_string()[..60].to_owned(),
            None,
            Some(FailureKind::ProviderTruncated),
        ),
        ("a list with an error", json!([error]).to_string(), None, Some(FailureKind::ProviderOverloaded)),
        (
            "one document",
            json!({"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]}).to_string(),
            Some("STOP"),
            None,
        ),
        ("nothing", String::new(), None, Some(FailureKind::ProviderTruncated)),
        ("something else", stream(&[json!({"choices": []})]), None, Some(FailureKind::ProviderProtocol)),
        ("a page", "<html>".to_owned(), None, Some(FailureKind::ProviderProtocol)),
    ] {
        let (_, outcome) = decode(&body);
        assert_eq!(outcome.stop_reason.as_deref(), reason, "{case}");
        assert_eq!(outcome.failure.as_ref().map(|failure| failure.kind), kind, "{case}: {outcome:?}");
        assert_eq!(outcome.complete, kind.is_none(), "{case}");
    }
}

#[test]
fn other_candidates_are_not_mixed_in() {
    let other = json!({"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "STOP"}]});
    let (items, outcome) = decode(&stream(&[parts(json!([{"text": "yes"}])), other]));
    assert_eq!(items, [text("yes")]);
    assert!(!outcome.complete);
}

#[test]
fn stream_is_not_over_while_provider_tool_runs() {
    let mut decoder = GeminiDecoder::for_provider("Gemini", SecretSet::default());
    let mut items = Vec::new();
    let mut is_over_after = |chunks: &[Value]| {
        decoder.feed(stream(chunks).as_bytes(), &mut items);
        decoder.is_over()
    };
    assert!(!is_over_after(&[parts(json!([{"executableCode": {"code": "1"}}])), finish("STOP")]));
    assert!(is_over_after(&[parts(json!([{"codeExecutionResult": {"output": "1"}}]))]));
}

#[test]
fn partial_arguments_are_never_complete() {
    let began = parts(json!([{"functionCall": {"name": "f", "willContinue": true}}]));
    let piece = parts(
        json!([{"functionCall": {"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}], "willContinue": true}}]),
    );
    let arguments = |body: &str| {
        let is_arguments = |item: &DecodedItem| matches!(item, DecodedItem::ToolArguments { .. });
        decode(body).0.iter().filter(|item| is_arguments(item)).count()
    };
    assert_eq!(arguments(&stream(&[began.clone(), piece.clone()])), 0);
    assert_eq!(arguments(&stream(&[began, piece, finish("STOP")])), 1);
}

#[test]
fn surrogates_join_across_chunks() {
    let chunk =
        |text: &str| format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}}}}]}}\n\n");
    let body = [chunk(r"a\ud83d"), chunk(r"\ude00b"), chunk(r"\ud83d"), stream(&[finish("STOP")])].concat();
    let joined: String = decode(&body)
        .0
        .iter()
        .filter_map(|item| if let DecodedItem::Text(text) = item { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(joined, "a😀b\u{fffd}");
}

#[test]
fn google_code_and_search_become_calls_and_sources() {
    let grounding = json!({
        "webSearchQueries": ["q"], "searchEntryPoint": {"renderedContent": "<b>"},
        "groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}, {"retrievedContext": {"text": "t"}},
            {"web": {"uri": "https://b.example", "title": "B"}}],
        // Offsets count bytes of the whole text: "Größe" has seven, and "x" is in an earlier block.
        "groundingSupports": [{"segment": {"endIndex": 1}, "groundingChunkIndices": [0]},
            {"segment": {"startIndex": 1, "endIndex": 8}, "groundingChunkIndices": [0, 1, 9]}],
    });
    let last = json!({"candidates": [{"finishReason": "STOP", "groundingMetadata": grounding}]});
    let body = stream(&[
        parts(json!([{"text": "x"}, {"executableCode": {"language": "PYTHON", "code": "1"}}])),
        parts(json!([{"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}}, {"text": "Größe"}])),
        last,
    ]);
    let (items, _) = decode(&body);
    let own = |id: &str, name: &str| DecodedItem::ProviderToolCall { id: id.into(), name: name.into(), server: None };
    let with = |id: &str, text: &str| DecodedItem::ProviderToolArguments { id: id.into(), text: text.into() };
    let gave = |id: &str, name: &str, result: Value, is_error| DecodedItem::ProviderToolResult {
        id: id.into(),
        name: name.into(),
        result,
        is_error,
    };
    let sources = json!({"type": "x:sources", "sources": [
        {"url": "https://a.example", "title": "A"},
        {"url": "https://a.example", "title": "A", "start": 0, "end": 5},
        {"url": "https://a.example", "title": "A"}, {"url": "https://b.example", "title": "B"},
    ]});
    let found = json!([{"title": "A", "url": "https://a.example"}, {"title": "B", "url": "https://b.example"}]);
    let expected = [
        text("x"),
        own("code_execution-1", "code_execution"),
        with("code_execution-1", r#"{"language":"PYTHON","code":"1"}"#),
        gave("code_execution-1", "code_execution", json!("no"), true),
        text("Größe"),
        DecodedItem::StopReason("STOP".into()),
        DecodedItem::Opaque(sources.as_object().unwrap().clone()),
        own("google_search", "google_search"),
        with("google_search", r#"{"queries":["q"]}"#),
        gave("google_search", "google_search", found, false),
    ];
    let content_items: Vec<DecodedItem> =
        items.into_iter().filter(|item| !matches!(item, DecodedItem::Model(_))).collect();
    assert_eq!(content_items, expected);
}

#[test]
fn ids_are_distinct_and_nameless_call_is_neither_made_nor_sent() {
    let call = |id: &str, name: &str| json!({"functionCall": {"id": id, "name": name, "args": {"x": 1}}});
    let body = stream(&[
        parts(json!([call("a", "f"), call(" ", "f"), call("b", " "), {"functionCall": {}}, call("a", "g")])),
        finish("STOP"),
    ]);
    let (items, outcome) = decode(&body);
    let ids: Vec<&str> = items
        .iter()
        .filter_map(|item| if let DecodedItem::ToolCall { id, .. } = item { Some(id.as_str()) } else { None })
        .collect();
    assert_eq!((ids, outcome.complete), (vec!["a", "call-1", "a-2"], true));
    let nameless: Vec<&DecodedItem> = items.iter().filter(|item| matches!(item, DecodedItem::Opaque(_))).collect();
    assert_eq!(nameless, [&DecodedItem::Opaque(nameless_call_content("b", "{\"x\":1}"))]);
    let (reader, _) = GeminiDecoder::keeping_reply().read_stored(body.as_bytes());
    let sent: Vec<(String, Option<String>)> =
        reader.into_reply().calls().into_iter().map(|call| (call.name, call.id)).collect();
    let named = |name: &str, id: Option<&str>| (name.to_owned(), id.map(str::to_owned));
    assert_eq!(sent, [named("f", Some("a")), named("f", None), named("g", Some("a"))]);
}

#[test]
fn searches_of_reply_are_one_call() {
    let grounding = |queries: Value| {
        json!({"candidates": [{"groundingMetadata": {"webSearchQueries": queries,
            "groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}]}}]})
    };
    let tool =
        |query: &str| json!({"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": query, "args": {"queries": [query]}}});
    let response =
        |query: &str| json!({"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": query, "response": {"s": query}}});
    let code =
        json!({"executableCode": {"language": "PYTHON", "code": "print(google_search.search(queries=[\"q\", 'r']))"}});
    let output = json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "Looking up."}});
    let pages = r#"[{"title":"A","url":"https://a.example"}]"#;
    for (case, chunks, expected) in [
        (
            "metadata of several chunks",
            vec![grounding(json!(["q"])), grounding(json!(["q", "r"]))],
            [r#"{"queries":["q","r"]}"#, pages],
        ),
        (
            "two calls with metadata",
            vec![
                parts(json!([tool("q"), response("q"), {"text": "So"}])),
                parts(json!([tool("r"), response("r")])),
                grounding(json!(["r"])),
            ],
            [r#"{"queries":["r","q"]}"#, pages],
        ),
        (
            "two calls without metadata",
            vec![parts(json!([tool("q"), response("q"), tool("r"), response("r")]))],
            [r#"{"queries":["q","r"]}"#, r#"[{"s":"q"},{"s":"r"}]"#],
        ),
        (
            "code with metadata",
            vec![parts(json!([code, output])), grounding(json!(["q", "r"]))],
            [r#"{"queries":["q","r"]}"#, pages],
        ),
        ("code without metadata", vec![parts(json!([code, output]))], [r#"{"queries":["q","r"]}"#, r#""Looking up.""#]),
    ] {
        let (items, outcome) = decode(&stream(&[&chunks[..], &[finish("STOP")]].concat()));
        assert!(outcome.complete, "{case}");
        let rendered: Vec<String> = items
            .iter()
            .filter_map(|item| match item {
                DecodedItem::ProviderToolCall { name, .. } => Some(name.clone()),
                DecodedItem::ProviderToolArguments { text, .. } => Some(text.clone()),
                DecodedItem::ProviderToolResult { result, .. } => Some(result.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(rendered, [&["google_search"][..], &expected].concat(), "{case}");
    }
    // Other code is another call.
    let other = json!({"executableCode": {"language": "PYTHON", "code": "1"}});
    let (items, _) = decode(&stream(&[parts(json!([code, output, other, output])), finish("STOP")]));
    let calls = items.iter().filter(|item| matches!(item, DecodedItem::ProviderToolCall { .. })).count();
    let results = items.iter().filter(|item| matches!(item, DecodedItem::ProviderToolResult { .. })).count();
    assert_eq!((calls, results), (2, 2));
}

#[test]
fn heading_of_thought_behind_unfinished_line_is_emitted_as_title() {
    let thought = |text: &str| json!({"text": text, "thought": true});
    let title = |text: &str| DecodedItem::ThinkingTitle(text.into());
    for (case, thoughts, expected) in [
        ("paragraphs show their headings", vec![thought("**A**\n\none\n\n\n"), thought("**B**\n\ntwo")], vec![]),
        ("no blank line", vec![thought("**A**\none"), thought("**B**\ntwo")], vec![title("B")]),
        ("one line end", vec![thought("**A**\none\n"), thought("**B**\ntwo")], vec![title("B")]),
        ("blank lines in pieces", vec![thought("one\n"), thought("\n"), thought("**B**\ntwo")], vec![]),
        ("no heading", vec![thought("one"), thought("**B** two")], vec![]),
    ] {
        let (items, _) = decode(&stream(&[parts(Value::Array(thoughts)), finish("STOP")]));
        let titles: Vec<DecodedItem> =
            items.into_iter().filter(|item| matches!(item, DecodedItem::ThinkingTitle(_))).collect();
        assert_eq!(titles, expected, "{case}");
    }
}
