//! The shape that contract.md 1 promises.

use super::*;

fn how(chunk: Option<usize>, next: bool) -> Replay {
    Replay { api: "openai_chat".into(), dialect: Some("deepseek".into()), http_status: None, chunk, next }
}

const BODY: &str = concat!(
    "data: {\"id\":\"r\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"why\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
    "data: [DONE]\n\n",
);

#[test]
fn a_whole_reply_prints_everything_in_wire_order() {
    let printed = replay(&how(None, true), BODY.as_bytes()).unwrap();
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
        assert_eq!(replay(&how(Some(size), true), BODY.as_bytes()).unwrap(), printed, "{size}");
    }
}

#[test]
fn a_broken_reply_prints_its_failure_and_goes_back_as_text() {
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n";
    let printed = replay(&how(None, true), body.as_bytes()).unwrap();
    assert_eq!(printed["complete"], false);
    assert_eq!(printed["failure"]["kind"], "provider_truncated");
    assert_eq!(printed["next"], json!([{"role": "assistant", "content": "half"}]));
    assert_eq!(replay(&how(None, false), b"").unwrap().get("next"), None);
}

#[test]
fn a_broken_reply_with_signed_reasoning_goes_back_with_it() {
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": []}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "thinking", "thinking": "why", "signature": "s"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "It is"}}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let how = Replay { api: "anthropic".into(), dialect: None, ..how(None, true) };
    let printed = replay(&how, body.as_bytes()).unwrap();
    let thought = json!({"type": "thinking", "thinking": "why", "signature": "s"});
    let message = json!({"role": "assistant", "content": [thought, {"type": "text", "text": "It is"}]});
    assert_eq!((&printed["complete"], &printed["next"]), (&json!(false), &json!([message])));
}

#[test]
fn an_error_status_is_classified_with_its_document() {
    let how = Replay { http_status: Some(429), ..how(None, false) };
    let printed = replay(&how, br#"{"error":{"code":"insufficient_quota","message":"x"}}"#).unwrap();
    assert_eq!(
        (&printed["failure"]["kind"], &printed["failure"]["retryable"]),
        (&json!("provider_quota"), &json!(false))
    );
    assert_eq!(printed["blocks"], json!([]));
}

#[test]
fn what_does_not_exist_is_wrong_use() {
    let other = Replay { api: "telepathy".into(), ..how(None, false) };
    let said = replay(&other, b"").unwrap_err().to_string();
    assert!(said.starts_with("there is no API \"telepathy\"; known are openai_chat"), "{said}");
    let other = Replay { dialect: Some("klingon".into()), ..how(None, false) };
    assert_eq!(replay(&other, b""), Err(WrongUse::Dialect("klingon".into())));
}
