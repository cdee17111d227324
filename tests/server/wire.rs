//! The smallest replies of all five APIs, as bytes: for tests that break them. What real ones look like is in the
//! recordings.

use serde_json::{Value, json};
use turnleaf_platform::endpoint::Api;

/// An event as the API frames it: a line of JSON, or `data:` with the event's name where the API has names.
pub fn event(api: Api, data: &[u8]) -> Vec<u8> {
    let name = serde_json::from_slice::<Value>(data).ok().and_then(|value| Some(value["type"].as_str()?.to_owned()));
    let before = match (api, name) {
        (Api::Ollama, _) => String::new(),
        (Api::Anthropic | Api::OpenaiResponses, Some(name)) => format!("event: {name}\ndata: "),
        _ => "data: ".to_owned(),
    };
    let after: &[u8] = if api == Api::Ollama { b"\n" } else { b"\n\n" };
    [before.as_bytes(), data, after].concat()
}

/// The values of a reply before its first word.
pub fn opening(api: Api) -> Vec<Value> {
    match api {
        Api::OpenaiChat | Api::Gemini | Api::Ollama => Vec::new(),
        Api::Anthropic => vec![
            json!({"type": "message_start", "message": {"id": "m", "model": "m-1", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ],
        Api::OpenaiResponses => vec![
            json!({"type": "response.created", "response": {"id": "r", "model": "m-1", "status": "in_progress", "output": []}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "i", "role": "assistant", "content": []}}),
        ],
    }
}

/// A value that says something. The text is what stands between the quotes of the JSON, so it may be what no string of
/// ours can be.
pub fn words(api: Api, text: &[u8]) -> Vec<u8> {
    const PLACE: &str = "TEXT";
    let value = match api {
        Api::OpenaiChat => json!({"model": "m-1", "choices": [{"index": 0, "delta": {"content": PLACE}}]}),
        Api::Gemini => json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": PLACE}]}}]}),
        Api::Ollama => json!({"model": "m-1", "message": {"role": "assistant", "content": PLACE}, "done": false}),
        Api::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": PLACE}})
        }
        Api::OpenaiResponses => {
            json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "i", "content_index": 0, "delta": PLACE})
        }
    }
    .to_string();
    let (before, after) = value.split_once(PLACE).unwrap();
    [before.as_bytes(), text, after.as_bytes()].concat()
}

/// The values that end a reply.
pub fn ending(api: Api) -> Vec<Value> {
    match api {
        Api::OpenaiChat => vec![json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})],
        Api::Gemini => vec![json!({"candidates": [{"index": 0, "finishReason": "STOP"}]})],
        Api::Ollama => vec![
            json!({"model": "m-1", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}),
        ],
        Api::Anthropic => vec![
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ],
        Api::OpenaiResponses => {
            vec![json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}})]
        }
    }
}

/// An error in the place of an event.
pub fn error(api: Api, message: &str) -> Value {
    match api {
        Api::OpenaiChat => json!({"error": {"message": message, "type": "server_error", "code": null}}),
        Api::Gemini => json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}}),
        Api::Ollama => json!({ "error": message }),
        Api::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Api::OpenaiResponses => json!({"type": "error", "code": "server_error", "message": message}),
    }
}

/// Values as the API frames them; chat completions get their `[DONE]` behind the ending.
pub fn framed(api: Api, values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| event(api, value.to_string().as_bytes())).collect()
}

/// The end of a whole reply.
pub fn end(api: Api) -> Vec<u8> {
    let done: &[u8] = if api == Api::OpenaiChat { b"data: [DONE]\n\n" } else { b"" };
    [&framed(api, &ending(api)), done].concat()
}

/// A reply up to and with these words.
pub fn begun(api: Api, text: &str) -> Vec<u8> {
    [framed(api, &opening(api)), event(api, &words(api, text.as_bytes()))].concat()
}

/// A whole reply of these words.
pub fn whole(api: Api, text: &str) -> Vec<u8> {
    [begun(api, text), end(api)].concat()
}
