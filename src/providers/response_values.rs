//! The JSON values of a stored response, for clients that want them instead of the bytes. The bytes are not
//! interpreted: the reader of an API is needed for that ([`crate::body`]).

use serde_json::{Value, json};

use crate::sse::{SseEvent, SseParser};
use turnleaf_domain::encoding::json_bounds::{self, PlainJson};

/// The mark that ends an OpenAI stream. It is no value.
const DONE: &str = "[DONE]";

/// Returns the values of a response in the order in which they arrived: each event of a stream, or the document. An
/// event with a name is `{"event", "data"}`, one without is its data. A part that is not JSON becomes a string, and a
/// body that was cut off yields what came before the cut.
pub fn response_values(body: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(body);
    let document = text.trim_start_matches('\u{feff}').trim();
    if document.starts_with(['{', '[']) { document_values(document) } else { stream_values(body) }
}

/// Reads one value, an array of chunks, or one chunk per line.
fn document_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<PlainJson>();
    while let Some(document) = documents.next() {
        match document {
            Ok(PlainJson(Value::Array(chunks))) => values.extend(chunks),
            Ok(PlainJson(chunk)) => values.push(chunk),
            Err(_) => {
                values.push(text[documents.byte_offset()..].trim_start().into());
                break;
            }
        }
    }
    values
}

fn stream_values(body: &[u8]) -> Vec<Value> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    // A parser that is full has passed on what came before.
    let _ = parser.feed(body, &mut |event| events.push(event));
    events.extend(parser.finish());
    events.into_iter().filter_map(event_value).collect()
}

fn event_value(event: SseEvent) -> Option<Value> {
    let SseEvent { name, data } = event;
    if data.trim() == DONE {
        return None;
    }
    let data = json_bounds::parse(&data).unwrap_or(Value::String(data));
    Some(if name.is_empty() { data } else { json!({ "event": name, "data": data }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_becomes_its_values_in_order() {
        for (body, values) in [
            ("", json!([])),
            ("{\"a\": 1}", json!([{ "a": 1 }])),
            ("[{\"a\": 1}, {\"a\": 2}]", json!([{ "a": 1 }, { "a": 2 }])),
            ("{\"a\": 1}\n{\"a\": 2}\n", json!([{ "a": 1 }, { "a": 2 }])),
            // The outer space of a body is no part of it.
            ("{\"a\": 1}\n{\"a\": ", json!([{ "a": 1 }, "{\"a\":"])),
            ("data: {\"a\": 1}\n\ndata: {\"a\": 2}\n\ndata: [DONE]\n\n", json!([{ "a": 1 }, { "a": 2 }])),
            (
                "event: start\ndata: {\"a\": 1}\n\n: ping\n\nevent: end\ndata: {}\n\n",
                json!([{ "event": "start", "data": { "a": 1 } }, { "event": "end", "data": {} }]),
            ),
            ("data: {\"a\": 1}\n\ndata: {\"a\": ", json!([{ "a": 1 }])),
            ("data: busy\n\n", json!(["busy"])),
            ("<html>", json!([])),
        ] {
            assert_eq!(json!(response_values(body.as_bytes())), values, "{body}");
        }
    }
}
