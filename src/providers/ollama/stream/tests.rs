//! Tests of the decoder with hand-written lines.

use serde_json::json;

use super::*;
use crate::provider::{DecodeOutcome, Decoder};
use turnleaf_domain::FailureKind;

fn decode(body: &str) -> (Vec<DecodedItem>, DecodeOutcome) {
    let mut decoder = OllamaDecoder::for_provider("Ollama", SecretSet::default());
    let mut items = Vec::new();
    decoder.feed(body.as_bytes(), &mut items);
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn message(message: Value) -> Value {
    json!({"model": "qwen3:4b", "created_at": "now", "message": message, "done": false})
}

fn done(reason: &str) -> Value {
    json!({"model": "qwen3:4b", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
        "prompt_eval_count": 7, "eval_count": 9})
}

#[test]
fn every_line_is_read_in_order() {
    let call = |id: &str| json!({"id": id, "function": {"index": 0, "name": "f", "arguments": {"b": 1, "a": 2}}});
    let body = lines(&[
        message(json!({"role": "assistant", "content": "", "thinking": "why"})),
        message(json!({"content": "So", "tool_calls": [call("c"), call("c"), {"function": {"name": "g"}}]})),
        message(json!({"content": "", "images": ["AA=="], "logprobs": []})),
        done("stop"),
    ]);
    let (items, outcome) = decode(&body);
    let called = |index: u64, id: &str, name: &str| DecodedItem::ToolCall { index, id: id.into(), name: name.into() };
    let arguments = |index: u64, text: &str| DecodedItem::ToolArguments { index, text: text.into() };
    let image = json!({"type": "x:images", "value": ["AA=="]});
    let usage = Usage { input_tokens: Some(7), output_tokens: Some(9), ..Usage::default() };
    let expected = vec![
        DecodedItem::Model("qwen3:4b".into()),
        DecodedItem::Thinking("why".into()),
        DecodedItem::Text("So".into()),
        called(0, "c", "f"),
        arguments(0, r#"{"b":1,"a":2}"#),
        called(1, "c-1", "f"),
        arguments(1, r#"{"b":1,"a":2}"#),
        called(2, "call-now-2", "g"),
        arguments(2, "{}"),
        DecodedItem::Opaque(image.as_object().unwrap().clone()),
        DecodedItem::StopReason("stop".into()),
        DecodedItem::Usage(usage),
    ];
    assert_eq!(items, expected);
    assert_eq!(outcome, DecodeOutcome { complete: true, stop_reason: Some("stop".into()), failure: None });
}

#[test]
fn body_end_determines_outcome() {
    let hello = || message(json!({"role": "assistant", "content": "Hello"}));
    let error = json!({"error": "an error was encountered while running the model"});
    for (case, body, reason, kind) in [
        ("done", lines(&[hello(), done("stop")]), Some("stop"), None),
        ("the limit", lines(&[hello(), done("length")]), Some("length"), None),
        ("done without a reason", lines(&[json!({"message": {"content": "Hi"}, "done": true})]), Some("stop"), None),
        ("without its last line end", lines(&[hello(), done("stop")]).trim_end().to_owned(), Some("stop"), None),
        (
            "the text of generate",
            lines(&[json!({"response": "Hi", "done": false}), json!({"response": "", "done": true})]),
            Some("stop"),
            None,
        ),
        ("no end", lines(&[hello()]), None, Some(FailureKind::ProviderTruncated)),
        ("an error", lines(&[hello(), error.clone()]), None, Some(FailureKind::ProviderError)),
        ("nothing but an error", error.to_string(), None, Some(FailureKind::ProviderError)),
        (
            "a missing model",
            json!({"error": "model \"x\" not found, try pulling it first"}).to_string(),
            None,
            Some(FailureKind::ModelNotFound),
        ),
        ("nothing", String::new(), None, Some(FailureKind::ProviderTruncated)),
        ("something else", lines(&[json!({"choices": []})]), None, Some(FailureKind::ProviderProtocol)),
    ] {
        let (_, outcome) = decode(&body);
        assert_eq!(outcome.stop_reason.as_deref(), reason, "{case}");
        assert_eq!(outcome.failure.as_ref().map(|failure| failure.kind), kind, "{case}: {outcome:?}");
        assert_eq!(outcome.complete, kind.is_none(), "{case}");
    }
}

#[test]
fn lines_after_done_are_ignored() {
    let body = lines(&[done("stop"), message(json!({"content": "late"}))]);
    let (items, outcome) = decode(&body);
    assert!(outcome.complete && !items.contains(&DecodedItem::Text("late".into())));
}

#[test]
fn ids_are_distinct_and_nameless_call_is_neither_made_nor_sent() {
    let call = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": {}}});
    let calls =
        json!({"role": "assistant", "tool_calls": [call("a", "f"), call(" ", "f"), call("b", " "), call("a", "g")]});
    let body = lines(&[message(calls), done("stop")]);
    let (items, _) = decode(&body);
    let ids: Vec<&str> = items
        .iter()
        .filter_map(|item| if let DecodedItem::ToolCall { id, .. } = item { Some(id.as_str()) } else { None })
        .collect();
    assert_eq!((ids[0], ids[2], ids.len()), ("a", "a-2", 3));
    assert!(ids[1].starts_with("call-") && ids[1].ends_with("-1"), "{ids:?}");
    assert!(items.contains(&DecodedItem::Opaque(nameless_call_content("b", "{}"))));
    let (reader, _) = OllamaDecoder::keeping_reply().read_stored(body.as_bytes());
    let sent = reader.into_reply().named_calls();
    let named = |name: &str, id: Option<&str>| crate::ollama::message::OllamaCall {
        name: name.into(),
        id: id.map(str::to_owned),
    };
    assert_eq!(sent, [named("f", Some("a")), named("f", None), named("g", Some("a"))]);
}

#[test]
fn reasoning_in_text_is_reasoning_and_raw_text_goes_back() {
    let body = lines(&[
        message(json!({"content": "<think>\nsecret plan\n</th"})),
        message(json!({"content": "ink>\n\nAnswer."})),
        done("stop"),
    ]);
    let (items, outcome) = decode(&body);
    assert_eq!(
        items[1..3],
        [DecodedItem::Thinking("secret plan".into()), DecodedItem::Text("Answer.".into())],
        "{items:?}"
    );
    assert!(outcome.complete);
    let reply = crate::ollama::request::parse_stored_reply(body.as_bytes());
    assert_eq!(reply.text, "<think>\nsecret plan\n</think>\n\nAnswer.");
}
