//! Minimal replies of all five APIs as bytes, for tests that damage them. The recordings show real ones.

use serde_json::{Value, json};
use turnleaf_platform::endpoint::ProviderApi;

/// Encodes an event as the API frames it: a line of JSON, or `data:`, with the event's name where the API has names.
pub fn encode_event(api: ProviderApi, data: &[u8]) -> Vec<u8> {
    let name = serde_json::from_slice::<Value>(data).ok().and_then(|value| Some(value["type"].as_str()?.to_owned()));
    let before = match (api, name) {
        (ProviderApi::Ollama, _) => String::new(),
        (ProviderApi::Anthropic | ProviderApi::OpenaiResponses, Some(name)) => format!("event: {name}\ndata: "),
        _ => "data: ".to_owned(),
    };
    let after: &[u8] = if api == ProviderApi::Ollama { b"\n" } else { b"\n\n" };
    [before.as_bytes(), data, after].concat()
}

/// Returns the events of a reply before its first text.
pub fn opening_events(api: ProviderApi) -> Vec<Value> {
    match api {
        ProviderApi::OpenaiChat | ProviderApi::Gemini | ProviderApi::Ollama => Vec::new(),
        ProviderApi::Anthropic => vec![
            json!({"type": "message_start", "message": {"id": "m", "model": "m-1", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ],
        ProviderApi::OpenaiResponses => vec![
            json!({"type": "response.created", "response": {"id": "r", "model": "m-1", "status": "in_progress", "output": []}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "i", "role": "assistant", "content": []}}),
        ],
    }
}

/// Encodes an event with text. The text is inserted verbatim between the quotes of the JSON, so it need not be valid.
pub fn text_event(api: ProviderApi, text: &[u8]) -> Vec<u8> {
    const PLACE: &str = "TEXT";
    let value = match api {
        ProviderApi::OpenaiChat => json!({"model": "m-1", "choices": [{"index": 0, "delta": {"content": PLACE}}]}),
        ProviderApi::Gemini => json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": PLACE}]}}]}),
        ProviderApi::Ollama => json!({"model": "m-1", "message": {"role": "assistant", "content": PLACE}, "done": false}),
        ProviderApi::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": PLACE}})
        }
        ProviderApi::OpenaiResponses => {
            json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "i", "content_index": 0, "delta": PLACE})
        }
    }
    .to_string();
    let (before, after) = value.split_once(PLACE).unwrap();
    [before.as_bytes(), text, after.as_bytes()].concat()
}

/// Returns the events that end a reply.
pub fn ending_events(api: ProviderApi) -> Vec<Value> {
    match api {
        ProviderApi::OpenaiChat => vec![json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})],
        ProviderApi::Gemini => vec![json!({"candidates": [{"index": 0, "finishReason": "STOP"}]})],
        ProviderApi::Ollama => vec![
            json!({"model": "m-1", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}),
        ],
        ProviderApi::Anthropic => vec![
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ],
        ProviderApi::OpenaiResponses => {
            vec![json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}})]
        }
    }
}

/// Returns an error event.
pub fn error_event(api: ProviderApi, message: &str) -> Value {
    match api {
        ProviderApi::OpenaiChat => json!({"error": {"message": message, "type": "server_error", "code": null}}),
        ProviderApi::Gemini => json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}}),
        ProviderApi::Ollama => json!({ "error": message }),
        ProviderApi::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        ProviderApi::OpenaiResponses => json!({"type": "error", "code": "server_error", "message": message}),
    }
}

/// Encodes events as the API frames them.
pub fn encode_events(api: ProviderApi, values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| encode_event(api, value.to_string().as_bytes())).collect()
}

/// Encodes the end of a complete reply; for chat completions, this includes `[DONE]`.
pub fn stream_end(api: ProviderApi) -> Vec<u8> {
    let done: &[u8] = if api == ProviderApi::OpenaiChat { b"data: [DONE]\n\n" } else { b"" };
    [&encode_events(api, &ending_events(api)), done].concat()
}

/// Encodes a reply up to and including this text.
pub fn interrupted_stream(api: ProviderApi, text: &str) -> Vec<u8> {
    [encode_events(api, &opening_events(api)), encode_event(api, &text_event(api, text.as_bytes()))].concat()
}

/// Encodes a complete reply with this text.
pub fn complete_stream(api: ProviderApi, text: &str) -> Vec<u8> {
    [interrupted_stream(api, text), stream_end(api)].concat()
}
