//! Tests of the output format that docs/reference/api.md 1 specifies.

use super::*;

fn replay_options(chunk: Option<usize>, next: bool) -> ReplayOptions {
    ReplayOptions {
        api: "openai_chat".into(),
        dialect: Some("deepseek".into()),
        http_status: None,
        chunk,
        with_next_message: next,
    }
}

const BODY: &str = concat!(
    "data: {\"id\":\"r\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"why\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
    "data: [DONE]\n\n",
);

#[test]
fn complete_reply_prints_everything_in_wire_order() {
    let printed = replay(&replay_options(None, true), BODY.as_bytes()).unwrap();
    assert_eq!(
        printed,
        json!({
            "complete": true,
            "stop_reason": "tool_calls",
            "model": "m-1",
            "blocks": [
                {"type": "thinking", "thinking": "why"},
                {"type": "tool_use", "tool_use_id": "a", "tool_name": "f", "arguments": {"x": 1},
                    "arguments_raw": "{\"x\":1}", "status": "pending"},
            ],
            "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_tokens": null, "cache_write_tokens": null,
                "reasoning_tokens": null},
            "failure": null,
            "events": 4,
            "next": [{"role": "assistant", "content": "", "reasoning_content": "why",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]}],
        })
    );
    for size in [1, 2, 3, 64, 0] {
        assert_eq!(replay(&replay_options(Some(size), true), BODY.as_bytes()).unwrap(), printed, "{size}");
    }
}

#[test]
fn broken_reply_prints_failure_and_is_sent_back_as_text() {
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n";
    let printed = replay(&replay_options(None, true), body.as_bytes()).unwrap();
    assert_eq!(printed["complete"], false);
    assert_eq!(printed["failure"]["kind"], "provider_truncated");
    assert_eq!(printed["next"], json!([{"role": "assistant", "content": "half"}]));
    assert_eq!(replay(&replay_options(None, false), b"").unwrap().get("next"), None);
}

#[test]
fn broken_reply_with_signed_reasoning_is_sent_back_with_it() {
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": []}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "thinking", "thinking": "why", "signature": "s"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "It is"}}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let how = ReplayOptions { api: "anthropic".into(), dialect: None, ..replay_options(None, true) };
    let printed = replay(&how, body.as_bytes()).unwrap();
    let thought = json!({"type": "thinking", "thinking": "why", "signature": "s"});
    let message = json!({"role": "assistant", "content": [thought, {"type": "text", "text": "It is"}]});
    assert_eq!((&printed["complete"], &printed["next"]), (&json!(false), &json!([message])));
}

#[test]
fn error_status_is_classified_with_its_document() {
    let how = ReplayOptions { http_status: Some(429), ..replay_options(None, false) };
    let printed = replay(&how, br#"{"error":{"code":"insufficient_quota","message":"x"}}"#).unwrap();
    assert_eq!(
        (&printed["failure"]["kind"], &printed["failure"]["retryable"]),
        (&json!("provider_quota"), &json!(false))
    );
    assert_eq!(printed["blocks"], json!([]));
}

#[test]
fn unknown_api_or_dialect_is_usage_error() {
    let other = ReplayOptions { api: "telepathy".into(), ..replay_options(None, false) };
    let said = replay(&other, b"").unwrap_err().to_string();
    assert!(said.starts_with("unknown API \"telepathy\"; use one of openai_chat"), "{said}");
    let other = ReplayOptions { dialect: Some("klingon".into()), ..replay_options(None, false) };
    assert_eq!(replay(&other, b""), Err(ReplayUsageError::UnknownDialect("klingon".into())));
}

/// One image in the reply of every API: each becomes the same block, with almost no base64 in it.
#[test]
fn reply_image_becomes_block_with_hash_of_its_bytes() {
    use crate::base64;
    use crate::pictures::GeneratedImage;
    let bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02, a leaf";
    let (data, about) = (base64::encode(bytes), "A leaf");
    let url = json!({"type": "image_url", "image_url": {"url": format!("data:image/webp;base64,{data}")}});
    let blob = GeneratedImage::parse(&data, None).unwrap().sha256;
    let image = |alt: &str| json!({"type": "image", "blob": blob, "mime": "image/png", "alt": alt});
    let plain = image("Generated image (3 × 2 pixels)");
    let text = |text: &str| json!({"type": "text", "text": text});
    let said = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let drawn = json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": data, "revised_prompt": about});
    let google = |parts: Value| {
        format!(
            "data: {}\r\n\r\n",
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})
        )
    };
    let chunk = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let native = json!({"message": {"role": "assistant", "content": "a", "images": [data, "AA=="]}, "done": true, "done_reason": "stop"});
    let long = "Qa1D".repeat(5_000);
    let left_out = "(20000 bytes of base64, saved with the raw response)";
    for (api, body, expected) in [
        (
            "gemini",
            google(json!([{"text": "a"}, {"inlineData": {"mimeType": "image/webp", "data": data}, "thoughtSignature": "s"}, {"text": "b"}])),
            json!([text("a"), plain, {"type": "thinking_signature", "signature": "s"}, text("b")]),
        ),
        (
            "gemini",
            google(json!([{"inlineData": {"mimeType": "image/png", "data": data}, "thought": true}, {"inlineData": {"mimeType": "audio/wav", "data": long}}])),
            json!([
                {"type": "x:thoughtImage", "value": {"mimeType": "image/png", "data": data}},
                {"type": "x:inlineData", "value": {"mimeType": "audio/wav", "data": left_out}},
            ]),
        ),
        (
            "openai_responses",
            [
                said(json!({"type": "response.created", "response": {"id": "r"}})),
                said(json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "image_generation_call", "id": "ig_1", "status": "in_progress"}})),
                said(json!({"type": "response.image_generation_call.partial_image", "output_index": 0, "item_id": "ig_1", "partial_image_b64": long})),
                said(json!({"type": "response.output_item.done", "output_index": 0, "item": drawn})),
                said(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [drawn]}})),
            ]
            .concat(),
            json!([image("Generated image: A leaf")]),
        ),
        (
            "openai_chat",
            [chunk(json!({"content": "a"})), chunk(json!({"images": [url]})), chunk(json!({"images": [url]})), chunk(json!({"content": "b"})), end.into()].concat(),
            json!([text("a"), plain, text("b")]),
        ),
        ("openai_chat", [chunk(json!({"content": [{"type": "text", "text": "a"}, url]})), end.into()].concat(), json!([text("a"), plain])),
        (
            "openai_chat",
            [chunk(json!({"images": [{"type": "image_url", "image_url": {"url": "https://a/b.png"}}]})), end.into()].concat(),
            json!([{"type": "x:images", "value": {"type": "image_url", "image_url": {"url": "https://a/b.png"}}}]),
        ),
        ("ollama", format!("{native}\n"), json!([text("a"), plain, {"type": "x:images", "value": ["AA=="]}])),
    ] {
        for chunk in [None, Some(1), Some(7)] {
            let printed = replay(&ReplayOptions { api: api.into(), dialect: None, ..replay_options(chunk, true) }, body.as_bytes()).unwrap();
            assert_eq!((&printed["complete"], &printed["blocks"]), (&json!(true), &expected), "{api}");
        }
    }
}
