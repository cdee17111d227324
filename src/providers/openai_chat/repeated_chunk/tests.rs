//! Tests of the shortcut against the parser, which must read the same.

use serde_json::json;

use super::*;
use crate::openai_chat::{ChatDecoder, Dialect};
use crate::provider::{DecodeOutcome, DecodedItem, Decoder};
use crate::redaction::SecretSet;

fn chunk(created: usize, delta: &Value) -> Value {
    let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null });
    json!({ "id": "c", "object": "chat.completion.chunk", "created": created, "model": "m", "choices": [choice] })
}

fn learnt(json: &str) -> RepeatedChunk {
    let mut repeated = RepeatedChunk::default();
    repeated.learn(json, &serde_json::from_str(json).unwrap());
    repeated
}

fn decode(chunks: &[String]) -> (Vec<DecodedItem>, DecodeOutcome) {
    let mut decoder = ChatDecoder::for_provider(Dialect::from_name("generic").unwrap(), "P", SecretSet::default());
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.feed(format!("data: {chunk}\n\n").as_bytes(), &mut items);
    }
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

#[test]
fn text_of_similar_chunk_is_cut_out() {
    let json = chunk(1, &json!({ "content": "first" })).to_string();
    let mut repeated = learnt(&json);
    for text in ["", "a", " \"quoted\" \\ \n\t", "é😀", "\",\"role\":\"x", "first"] {
        let similar = chunk(1, &json!({ "content": text })).to_string();
        assert_eq!(repeated.text_of(&similar).as_deref(), Some(text));
    }
    let escaped = json.replace("first", r"\ud83d\ude00\u0041");
    assert_eq!(repeated.text_of(&escaped).as_deref(), Some("😀A"));
}

#[test]
fn other_chunk_is_parsed() {
    let json = chunk(1, &json!({ "content": "first" })).to_string();
    let mut repeated = learnt(&json);
    for other in [
        chunk(2, &json!({ "content": "a" })).to_string(),
        chunk(1, &json!({ "content": "a", "refusal": "b" })).to_string(),
        chunk(1, &json!({ "content": "a" }))
            .to_string()
            .replace(r#""finish_reason":null"#, r#""finish_reason":"stop""#),
        // A second member, a lone surrogate, a NUL, a bare control character, and an end that is escaped.
        json.replace("first", r#"a","refusal":"b"#),
        json.replace("first", r"\ud83d"),
        json.replace("first", r"\u0000"),
        json.replace("first", "a\nb"),
        json.replace("first", r"a\"),
        json[..json.len() - 1].to_owned(),
        String::new(),
    ] {
        assert_eq!(repeated.text_of(&other), None, "{other}");
    }
}

#[test]
fn only_chunk_with_text_alone_is_learnt() {
    let whole = |choice: Value| json!({ "model": "m", "choices": [choice] });
    for chunk in [
        json!({}),
        json!({ "choices": [] }),
        whole(json!({ "delta": {} })),
        whole(json!({ "delta": { "content": null } })),
        whole(json!({ "delta": { "content": [{ "type": "text", "text": "a" }] } })),
        whole(json!({ "delta": { "content": "a", "reasoning": "b" } })),
        whole(json!({ "delta": { "content": "a", "tool_calls": [] } })),
        whole(json!({ "delta": { "content": "a" }, "finish_reason": "stop" })),
        whole(json!({ "delta": { "content": "a" }, "logprobs": { "content": [] } })),
        whole(json!({ "delta": { "content": "a" }, "index": 1 })),
        json!({ "choices": [{ "delta": { "content": "a" } }], "usage": { "prompt_tokens": 1 } }),
        json!({ "choices": [{ "delta": { "content": "a" } }, { "delta": { "content": "b" } }] }),
        // The first string behind this name is not the text.
        json!({ "content": "b", "choices": [{ "delta": { "content": "a" } }] }),
    ] {
        let json = chunk.to_string();
        assert_eq!(learnt(&json).text_of(&json), None, "{json}");
    }
    let spaced =
        "{ \"choices\": [ { \"delta\": { \"role\": \"assistant\", \"content\": \"a\", \"refusal\": null } } ] }";
    assert_eq!(learnt(spaced).text_of(spaced).as_deref(), Some("a"));
}

#[test]
fn shortcut_reads_as_parser_does() {
    let mut deltas: Vec<Value> = vec![json!({ "role": "assistant", "content": "" })];
    deltas.extend(
        ["<think>", "plan", "</think>", "\n\nHello", " \"you\"", "\\", "\u{1f600}"]
            .map(|text| json!({ "content": text })),
    );
    deltas.push(json!({ "reasoning": "more" }));
    deltas.extend(["a", "b", ""].map(|text| json!({ "content": text })));
    deltas.push(json!({ "tool_calls": [{ "index": 0, "id": "1", "function": { "name": "f", "arguments": "{}" } }] }));
    deltas.extend(["c", "d"].map(|text| json!({ "content": text })));
    let alike: Vec<String> = deltas.iter().map(|delta| chunk(1, delta).to_string()).collect();
    // Each of these differs from the one before in more than its text.
    let different: Vec<String> = deltas.iter().enumerate().map(|(at, delta)| chunk(at, delta).to_string()).collect();
    let whole = decode(&alike);
    assert_eq!(whole, decode(&different));
    assert!(whole.0.contains(&DecodedItem::Text(" \"you\"".to_owned())), "{whole:?}");
}

#[test]
fn learning_ends_when_every_chunk_differs() {
    let mut repeated = RepeatedChunk::default();
    for created in 0..10 {
        let chunk = chunk(created, &json!({ "content": "a" }));
        repeated.learn(&chunk.to_string(), &chunk);
    }
    let last = chunk(9, &json!({ "content": "a" })).to_string();
    assert_eq!(repeated.text_of(&last), None, "only the first {ATTEMPTS} were learnt");
    let learnt = chunk(usize::from(ATTEMPTS) - 1, &json!({ "content": "a" })).to_string();
    for _ in 0..=WORTH {
        assert_eq!(repeated.text_of(&learnt).as_deref(), Some("a"));
    }
    repeated.learn(&last, &serde_json::from_str(&last).unwrap());
    assert_eq!(repeated.text_of(&last).as_deref(), Some("a"), "a pattern that fits often is followed by another");
}
