//! Decoder of Ollama's native API: one JSON value per line (docs/reference/providers.md 8). Calls arrive in one
//! piece, with their arguments as objects. The format of `/api/generate`, whose text is outside of the message, is
//! decoded, too.

use serde_json::Value;

use crate::body::JsonBody;
use crate::call_id::{nameless_call_content, unique_call_id};
use crate::inline_reasoning::InlineReasoning;
use crate::ollama::message::OllamaReply;
use crate::pictures::GeneratedImage;
use crate::provider::{DecodedItem, opaque_content};
use crate::reader::{BodyValue, FailureBuilder, ResponseReader};
use crate::redaction::SecretSet;
use crate::text_accumulator::{TextAccumulator, TextKind};
use turnleaf_domain::{Failure, Usage};

/// Decoder of one response body.
pub type OllamaDecoder = JsonBody<OllamaReader>;

/// Larger numbers are not plausible token counts, and JavaScript cannot represent them exactly.
const LARGEST: u64 = 1 << 53;

/// The keys of a message that are decoded.
const KNOWN: [&str; 5] = ["role", "content", "thinking", "tool_calls", "tool_name"];

/// [`ResponseReader`] of Ollama: the state of one response body.
#[derive(Debug, Default)]
pub struct OllamaReader {
    /// The content for the next request, if it is kept.
    reply: Option<OllamaReply>,
    model: String,
    /// The time of the first line. It makes the generated call ids of different replies distinct.
    created_at: String,
    growing: TextAccumulator,
    /// Splits reasoning from the text that contains it.
    inline: InlineReasoning,
    ids: Vec<String>,
    usage: Usage,
    stop_reason: Option<String>,
    is_done: bool,
    has_reply: bool,
}

impl OllamaDecoder {
    /// Creates a decoder. `provider` is the display name for failure messages.
    pub fn for_provider(provider: &str, secrets: SecretSet) -> Self {
        Self::new(OllamaReader::default(), FailureBuilder::new(provider, secrets))
    }

    /// Creates a decoder that keeps the content for the next request.
    pub fn keeping_reply() -> Self {
        let reader = OllamaReader { reply: Some(OllamaReply::default()), ..OllamaReader::default() };
        Self::new(reader, FailureBuilder::new("", SecretSet::default()))
    }
}

impl OllamaReader {
    /// Returns the content for the next request; empty unless it was kept.
    pub fn into_reply(self) -> OllamaReply {
        self.reply.unwrap_or_default()
    }

    fn message(&mut self, message: &Value, content: &str, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.push_text(TextKind::Thinking, message, "thinking", is_mended, out);
        self.push_text(TextKind::Text, message, content, is_mended, out);
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, out);
        }
    }

    fn push_text(&mut self, growth: TextKind, from: &Value, key: &str, is_mended: bool, out: &mut Vec<DecodedItem>) {
        let Some(text) = text_of(from, key) else { return };
        if growth == TextKind::Thinking {
            self.inline.note_reasoning();
        }
        let mut items = Vec::new();
        let given = self.growing.push(growth, text, is_mended, &mut items);
        self.emit(items, out);
        if let Some(reply) = &mut self.reply {
            match growth {
                TextKind::Text => reply.text.push_str(&given),
                TextKind::Thinking => reply.thinking.push_str(&given),
            }
        }
    }

    /// Emits accumulated text, and splits reasoning from it.
    fn emit(&mut self, items: Vec<DecodedItem>, out: &mut Vec<DecodedItem>) {
        for item in items {
            match item {
                DecodedItem::Text(text) => self.inline.push(&text, out),
                other => {
                    self.inline.flush(out);
                    out.push(other);
                }
            }
        }
    }

    /// Ends the text at a block boundary.
    fn flush_text(&mut self, out: &mut Vec<DecodedItem>) {
        let mut items = Vec::new();
        self.growing.flush(&mut items);
        self.emit(items, out);
        self.inline.flush(out);
    }

    fn call(&mut self, call: &Value, out: &mut Vec<DecodedItem>) {
        let Some(function) = call.get("function").filter(|function| function.is_object()) else { return };
        self.flush_text(out);
        let text = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "{}".to_owned(),
            Some(whole) => whole.to_string(),
        };
        let given = text_of(call, "id").unwrap_or_default();
        let Some(name) = text_of(function, "name").filter(|name| !name.trim().is_empty()) else {
            return out.push(DecodedItem::Opaque(nameless_call_content(given, &text)));
        };
        let index = self.ids.len() as u64;
        let id = unique_call_id(given, &self.ids, &self.created_at);
        out.push(DecodedItem::ToolCall { index, id: id.clone(), name: name.to_owned() });
        out.push(DecodedItem::ToolArguments { index, text });
        self.ids.push(id);
        if let Some(reply) = &mut self.reply {
            reply.calls.push(call.clone());
        }
    }

    /// Emits the images of a known format and returns the others.
    fn images(&mut self, images: &[Value], out: &mut Vec<DecodedItem>) -> Vec<Value> {
        let mut others = Vec::new();
        for image in images {
            match image.as_str().and_then(|text| GeneratedImage::parse(text, None)) {
                Some(image) => {
                    self.flush_text(out);
                    out.push(DecodedItem::Image(image));
                }
                None => others.push(image.clone()),
            }
        }
        others
    }

    /// Emits the rest of a message: images, and unknown keys as opaque items.
    fn push_unknown_keys(&mut self, message: &Value, out: &mut Vec<DecodedItem>) {
        for (key, value) in message.as_object().into_iter().flatten() {
            let others = value.as_array().filter(|_| key == "images").map(|images| self.images(images, out));
            let value = &others.map_or_else(|| value.clone(), Value::Array);
            let is_empty = match value {
                Value::Array(list) => list.is_empty(),
                Value::Object(map) => map.is_empty(),
                _ => true,
            };
            if !is_empty && !KNOWN.contains(&key.as_str()) {
                self.flush_text(out);
                out.push(DecodedItem::Opaque(opaque_content(key, value.clone())));
            }
        }
    }
}

impl ResponseReader for OllamaReader {
    const IS_JSON_LINES: bool = true;

    fn note_requested_model(&mut self, model: &str) {
        self.inline.note_model(model);
    }

    fn is_error(&self, parsed: BodyValue<'_>) -> bool {
        parsed.value.get("error").is_some_and(|error| !error.is_null())
    }

    fn read_value(
        &mut self,
        parsed: BodyValue<'_>,
        _judge: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure> {
        let line = parsed.value;
        if self.is_done {
            return Ok(());
        }
        self.read_usage(line);
        self.has_reply |= ["message", "response", "done"].iter().any(|key| line.get(key).is_some());
        if let Some(at) = text_of(line, "created_at").filter(|_| self.created_at.is_empty()) {
            self.created_at = at.to_owned();
        }
        if let Some(model) = text_of(line, "model").filter(|_| self.model.is_empty()) {
            self.model = model.to_owned();
            self.inline.note_model(model);
            out.push(DecodedItem::Model(model.to_owned()));
        }
        match line.get("message") {
            Some(message) => {
                self.message(message, "content", parsed.is_mended, out);
                self.push_unknown_keys(message, out);
            }
            None => self.message(line, "response", parsed.is_mended, out),
        }
        if line.get("done") == Some(&Value::Bool(true)) {
            self.is_done = true;
            // Servers before 0.1.40 send no reason.
            let reason = text_of(line, "done_reason").unwrap_or("stop").to_owned();
            self.inline.note_stop(&reason);
            self.flush_text(out);
            out.push(DecodedItem::StopReason(reason.clone()));
            self.stop_reason = Some(reason);
        }
        Ok(())
    }

    fn read_usage(&mut self, value: &Value) {
        let count = |key: &str| value.get(key).and_then(Value::as_u64).filter(|count| *count <= LARGEST);
        self.usage.input_tokens = count("prompt_eval_count").or(self.usage.input_tokens);
        self.usage.output_tokens = count("eval_count").or(self.usage.output_tokens);
    }

    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        self.inline.note_end();
        self.flush_text(out);
    }

    fn is_over(&self) -> bool {
        self.is_done
    }

    fn is_complete(&self) -> bool {
        self.is_done
    }

    fn has_reply(&self) -> bool {
        self.has_reply
    }

    fn stop_reason(&self) -> Option<&str> {
        self.stop_reason.as_deref()
    }

    fn usage(&self) -> Option<Usage> {
        Some(self.usage).filter(Usage::is_known)
    }
}

/// Returns a string field that is not empty.
fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
