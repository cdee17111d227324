//! Wire format of the demo: encodes a script as chat completion chunks of a few words, as a real server would stream
//! them.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::base64;
use crate::demo::script::{DemoRequest, ScriptPiece, is_han};

/// The pauses between two chunks: about thirty per second, and fewer in the slow script.
const USUAL: Duration = Duration::from_millis(33);
const SLOW: Duration = Duration::from_millis(250);
/// The picture that the demo sends.
const PICTURE: &[u8] = include_bytes!("picture.png");

/// Bytes of the stream and the pause before them.
#[derive(Debug)]
pub struct TimedChunk {
    pub after: Duration,
    pub bytes: Bytes,
}

/// Returns all chunks of a response.
pub fn timed_chunks(request: &DemoRequest, script: Vec<ScriptPiece>) -> Vec<TimedChunk> {
    let pause = if request.model == "slow" { SLOW } else { USUAL };
    let mut chunks = vec![choice(request, &json!({"role": "assistant", "content": ""}), None)];
    let mut finish = Some("stop");
    let mut calls = 0;
    for piece in script {
        match piece {
            ScriptPiece::Think(text) => {
                chunks.extend(words(&text).map(|word| choice(request, &json!({"reasoning_content": word}), None)));
            }
            ScriptPiece::Text(text) => {
                chunks.extend(words(&text).map(|word| choice(request, &json!({"content": word}), None)))
            }
            ScriptPiece::Picture => {
                let url = format!("data:image/png;base64,{}", base64::encode(PICTURE));
                let image = json!([{"type": "image_url", "image_url": {"url": url}, "index": 0}]);
                chunks.push(choice(request, &json!({"images": image}), None));
            }
            ScriptPiece::Call { name, arguments } => {
                finish = Some("tool_calls");
                let id = format!("call_demo_{}_{calls}", request.messages);
                let function = json!({"name": name, "arguments": ""});
                let start = json!([{"index": calls, "id": id, "type": "function", "function": function}]);
                chunks.push(choice(request, &json!({"tool_calls": start}), None));
                for part in words(&arguments.to_string()) {
                    let more = json!([{"index": calls, "function": {"arguments": part}}]);
                    chunks.push(choice(request, &json!({"tool_calls": more}), None));
                }
                calls += 1;
            }
            ScriptPiece::Fail { code, message } => {
                finish = None;
                chunks.push(json!({"error": {"code": code, "message": message}}));
            }
        }
    }
    if let Some(reason) = finish {
        let written = chunks.len();
        chunks.push(choice(request, &json!({}), Some(reason)));
        let usage = json!({"prompt_tokens": request.words, "completion_tokens": written});
        let mut last = choice(request, &json!({}), None);
        last["choices"] = json!([]);
        last["usage"] = usage;
        chunks.push(last);
    }
    let mut pieces: Vec<TimedChunk> = chunks.iter().map(|chunk| event(&chunk.to_string(), pause)).collect();
    if finish.is_some() {
        pieces.push(event("[DONE]", Duration::ZERO));
    }
    pieces
}

fn event(data: &str, after: Duration) -> TimedChunk {
    TimedChunk { after, bytes: format!("data: {data}\n\n").into() }
}

fn choice(request: &DemoRequest, delta: &Value, finish: Option<&str>) -> Value {
    json!({
        "id": format!("demo-{}", request.messages),
        "object": "chat.completion.chunk",
        "model": request.model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    })
}

/// Splits a text into words with the white space before them, so that joining them restores the text. Between Han
/// characters there is no white space: two of them are a word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.find(|c: char| !c.is_whitespace())?;
        let end = word + word_length(&rest[word..]);
        // Trailing white space belongs to the last word.
        let end = if rest[end..].trim().is_empty() { rest.len() } else { end };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Returns the length of the word at the start of a text, in bytes.
fn word_length(text: &str) -> usize {
    let mut han = 0;
    for (at, letter) in text.char_indices() {
        if letter.is_whitespace() || han == 2 {
            return at;
        }
        han += usize::from(is_han(letter));
    }
    text.len()
}
