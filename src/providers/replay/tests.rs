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
fn reply_beyond_limits_ends_as_live_one() {
    let chunk = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let call = |arguments: String| {
        chunk(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}]}))
    };
    let text = |text: String| chunk(json!({ "content": text }));
    for (begin, failure, length) in [
        (call("x".repeat(limits::TOOL_ARGS_BYTES + 1)), "limit_tool_args", 0),
        (text("x".repeat(limits::REPLY_TEXT_BYTES)) + &text("y".into()), "limit_output", limits::REPLY_TEXT_BYTES + 1),
    ] {
        let body = format!("{begin}{}data: {end}\n\n", text("lost".into()));
        for size in [None, Some(1 << 16)] {
            let printed = replay(&replay_options(size, false), body.as_bytes()).unwrap();
            assert_eq!((&printed["complete"], &printed["failure"]["kind"]), (&json!(false), &json!(failure)));
            assert_eq!(printed["blocks"].as_array().unwrap().len(), 1, "{failure}: nothing after the limit");
            assert_eq!(printed["blocks"][0]["text"].as_str().map_or(0, str::len), length, "{failure}");
        }
    }
    let within = text("x".repeat(limits::REPLY_TEXT_BYTES)) + &format!("data: {end}\n\n");
    assert_eq!(replay(&replay_options(None, false), within.as_bytes()).unwrap()["complete"], true);
}

#[test]
fn reasoning_in_text_of_imitated_api_is_split_and_goes_back_as_it_came() {
    let text = "<think>\nplan\n</think>\n\nAnswer.";
    let message = json!([{"type": "text", "text": text}]);
    let item = json!([{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]);
    for (api, body, next) in [
        (
            "anthropic",
            json!({"type": "message", "id": "m", "model": "c", "content": message, "stop_reason": "end_turn"}),
            json!([{"role": "assistant", "content": message}]),
        ),
        ("openai_responses", json!({"object": "response", "id": "r", "status": "completed", "output": item}), item),
    ] {
        let options = ReplayOptions { api: api.into(), dialect: None, ..replay_options(None, true) };
        let printed = replay(&options, body.to_string().as_bytes()).unwrap();
        let expected = json!([{"type": "thinking", "thinking": "plan"}, {"type": "text", "text": "Answer."}]);
        assert_eq!((&printed["blocks"], &printed["next"]), (&expected, &next), "{api}");
    }
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
    let options = ReplayOptions { api: "anthropic".into(), dialect: None, ..replay_options(None, true) };
    let printed = replay(&options, body.as_bytes()).unwrap();
    let thought = json!({"type": "thinking", "thinking": "why", "signature": "s"});
    let message = json!({"role": "assistant", "content": [thought, {"type": "text", "text": "It is"}]});
    assert_eq!((&printed["complete"], &printed["next"]), (&json!(false), &json!([message])));
}

/// Endings of every API: the failure's kind, or the notice's kind with its sentence; empty for an ordinary end.
#[test]
fn end_of_reply_is_told() {
    let events = |events: &[Value]| events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
    let chat = |delta: Value, reason: &str| {
        events(&[
            json!({"choices": [{"index": 0, "delta": delta}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        ])
    };
    let anthropic = |content: Value, reason: &str| {
        json!({"type": "message", "id": "m", "model": "c", "content": content, "stop_reason": reason}).to_string()
    };
    let gemini = |parts: Value, reason: &str| {
        events(&[json!({"candidates": [{"content": {"parts": parts}, "finishReason": reason}]})])
    };
    let ollama = |content: &str, reason: &str| {
        format!("{}\n", json!({"message": {"content": content}, "done": true, "done_reason": reason}))
    };
    let responses = |status: &str, details: Value, output: Value| {
        json!({"object": "response", "id": "r", "status": status, "incomplete_details": details, "output": output})
            .to_string()
    };
    let length = ("length_reached", "The reply reached the model's length limit.");
    let nothing = ("no_answer", "The model ended without an answer.");
    let failed = ("provider_error", "The provider failed while generating the reply.");
    let (plain, hi) = (("", ""), json!([{"type": "text", "text": "Hi"}]));
    for (api, body, ending) in [
        ("openai_chat", chat(json!({"content": ""}), "length"), length),
        ("openai_chat", chat(json!({"content": ""}), "stop"), plain),
        ("openai_chat", chat(json!({}), "tool_calls"), plain),
        ("openai_chat", chat(json!({"content": "Hello wor"}), "network_error"), failed),
        ("openai_chat", chat(json!({"content": "Hello wor"}), "error"), failed),
        ("openai_chat", chat(json!({}), "sensitive"), ("content_filtered", "The provider stopped this reply.")),
        (
            "openai_chat",
            chat(json!({"content": "a"}), "guardrail_intervened"),
            ("filtered", "The provider's content filter ended the reply here."),
        ),
        (
            "openai_chat",
            chat(json!({"content": "a"}), "repetition"),
            ("stopped_otherwise", "The provider stopped the reply: repetition."),
        ),
        ("openai_chat", chat(json!({"content": "a"}), "eos_token"), plain),
        ("openai_chat", chat(json!({"reasoning_content": "long thought"}), "stop"), nothing),
        ("openai_chat", chat(json!({"reasoning_content": "long thought"}), "length"), length),
        ("anthropic", anthropic(json!([]), "stop_sequence"), plain),
        (
            "anthropic",
            anthropic(json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]), "end_turn"),
            nothing,
        ),
        (
            "anthropic",
            anthropic(hi.clone(), "quota_pause"),
            ("stopped_otherwise", "The provider stopped the reply: quota_pause."),
        ),
        ("anthropic", anthropic(hi, "end_turn"), plain),
        ("gemini", gemini(json!([{"text": ""}]), "STOP"), plain),
        ("gemini", gemini(json!([]), "STOP"), plain),
        (
            "gemini",
            gemini(json!([{"text": "a"}]), "OTHER"),
            ("stopped_otherwise", "The provider stopped the reply: OTHER."),
        ),
        ("gemini", gemini(json!([{"text": "a"}]), "MALFORMED_RESPONSE"), failed),
        ("gemini", gemini(json!([{"text": "a", "thought": true}]), "STOP"), nothing),
        ("ollama", ollama("", "stop"), plain),
        ("ollama", ollama("", "load"), plain),
        ("ollama", ollama("", "length"), length),
        ("openai_responses", responses("completed", Value::Null, json!([])), plain),
        ("openai_responses", responses("incomplete", json!({"reason": "max_output_tokens"}), json!([])), length),
        (
            "openai_responses",
            responses("incomplete", Value::Null, json!([])),
            ("stopped_otherwise", "The provider stopped the reply: incomplete."),
        ),
    ] {
        let printed =
            replay(&ReplayOptions { api: api.into(), dialect: None, ..replay_options(None, false) }, body.as_bytes())
                .unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let reported = match (&printed["failure"], printed.get("notice")) {
            (Value::Null, Some(notice)) => (text(&notice["kind"]), text(&notice["text"])),
            (Value::Null, None) => Default::default(),
            (failure, _) => (text(&failure["kind"]), text(&failure["message"])),
        };
        assert_eq!((reported.0.as_str(), reported.1.as_str()), ending, "{api} {body}");
        assert_eq!(printed["complete"], printed["failure"].is_null(), "{api} {body}");
    }
}

#[test]
fn error_status_is_classified_with_its_document() {
    let options = ReplayOptions { http_status: Some(429), ..replay_options(None, false) };
    let printed = replay(&options, br#"{"error":{"code":"insufficient_quota","message":"x"}}"#).unwrap();
    assert_eq!(
        printed["failure"],
        json!({"kind": "provider_quota", "message": printed["failure"]["message"], "retryable": false, "detail": "x"})
    );
    assert_eq!(printed["blocks"], json!([]));
}

#[test]
fn unknown_api_or_dialect_is_usage_error() {
    let other = ReplayOptions { api: "telepathy".into(), ..replay_options(None, false) };
    let error_text = replay(&other, b"").unwrap_err().to_string();
    assert!(error_text.starts_with("unknown API \"telepathy\"; use one of openai_chat"), "{error_text}");
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
    let frame = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let image_item = json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": data, "revised_prompt": about});
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
                frame(json!({"type": "response.created", "response": {"id": "r"}})),
                frame(json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "image_generation_call", "id": "ig_1", "status": "in_progress"}})),
                frame(json!({"type": "response.image_generation_call.partial_image", "output_index": 0, "item_id": "ig_1", "partial_image_b64": long})),
                frame(json!({"type": "response.output_item.done", "output_index": 0, "item": image_item})),
                frame(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [image_item]}})),
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
