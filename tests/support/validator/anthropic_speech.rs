//! How a Claude streams: named events, blocks one after the other, a signature at the end of every thought.

use serde_json::{Value, json};

use super::Asked;
use super::anthropic_models::{Thinks, find};
use super::script::{End, Part, Say, Speech, pieces};

pub fn speak(asked: &Asked, say: &Say, number: usize) -> Speech {
    let model = find(asked.text("model"));
    let kind = asked.body["thinking"]["type"].as_str();
    let always = model.is_some_and(|model| model.thinks == Thinks::Always);
    let thinks = matches!(kind, Some("enabled" | "adaptive")) || (kind.is_none() && always);
    let display = asked.body["thinking"]["display"].as_str();
    let omits = display.map_or(model.is_some_and(|model| model.omits), |display| display == "omitted");
    let mut speech = Speech::default();
    let start = json!({"type": "message_start", "message": {"id": format!("msg_{number:04}"), "type": "message", "role": "assistant",
        "model": asked.text("model"), "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}}});
    event(&mut speech, &start);
    event(&mut speech, &json!({"type": "ping"}));
    let mut index = 0;
    for (at, part) in say.numbered(number).into_iter().enumerate() {
        match part {
            Part::Thinking(_) | Part::Hidden if !thinks => continue,
            Part::Hidden => {
                let block = json!({"type": "redacted_thinking", "data": format!("EmwK{number:04}{at:02}redacted==")});
                begin(&mut speech, index, &block);
                speech.secrets.extend(block["data"].as_str().map(str::to_owned));
                speech.said.push(block);
            }
            Part::Thinking(text) => {
                let signature = format!("EqUD{number:04}{at:02}kXSig+/{}==", asked.text("model").len());
                let shown = if omits { String::new() } else { text.clone() };
                begin(&mut speech, index, &json!({"type": "thinking", "thinking": "", "signature": ""}));
                let deltas = pieces(&shown);
                grow(
                    &mut speech,
                    index,
                    deltas.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})),
                );
                event(
                    &mut speech,
                    &json!({"type": "content_block_delta", "index": index, "delta": {"type": "signature_delta", "signature": signature}}),
                );
                speech.said.push(json!({"type": "thinking", "thinking": shown, "signature": signature}));
                speech.secrets.push(signature);
                speech.secrets.extend((!omits).then_some(text));
            }
            Part::Text(text) => {
                begin(&mut speech, index, &json!({"type": "text", "text": ""}));
                grow(
                    &mut speech,
                    index,
                    pieces(&text).iter().map(|piece| json!({"type": "text_delta", "text": piece})),
                );
                speech.text.push_str(&text);
                speech.said.push(json!({"type": "text", "text": text}));
            }
            Part::Call(name, arguments) => {
                let id = format!("toolu_{number:04}{at:02}");
                let block = |input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
                begin(&mut speech, index, &block(json!({})));
                let raw = if arguments == json!({}) { String::new() } else { arguments.to_string() };
                let deltas = std::iter::once("").chain(pieces(&raw));
                grow(
                    &mut speech,
                    index,
                    deltas.map(|piece| json!({"type": "input_json_delta", "partial_json": piece})),
                );
                speech.said.push(block(arguments));
            }
        }
        event(&mut speech, &json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    let calls = speech.said.iter().any(|block| block["type"] == "tool_use");
    let reason = match say.end {
        End::Limit => "max_tokens",
        _ if calls => "tool_use",
        _ => "end_turn",
    };
    event(
        &mut speech,
        &json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 30}}),
    );
    event(&mut speech, &json!({"type": "message_stop"}));
    speech.end(say.end)
}

fn event(speech: &mut Speech, event: &Value) {
    let name = event["type"].as_str().unwrap_or_default();
    // The API pads its objects.
    let data = event.to_string();
    let (body, end) = data.split_at(data.len() - 1);
    speech.event(format!("event: {name}\ndata: {body}{}{end}\n\n", " ".repeat(name.len() % 5)));
}

fn begin(speech: &mut Speech, index: usize, block: &Value) {
    event(speech, &json!({"type": "content_block_start", "index": index, "content_block": block}));
}

fn grow(speech: &mut Speech, index: usize, deltas: impl Iterator<Item = Value>) {
    for (at, delta) in deltas.enumerate() {
        event(speech, &json!({"type": "content_block_delta", "index": index, "delta": delta}));
        if at < 2 {
            speech.middle = speech.events.len();
        }
    }
}
