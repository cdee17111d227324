//! Decoder of chat completions: interprets the values of one response body (docs/reference/providers.md 2.4, 4.2).
//! Module `body` splits the bytes into values.

use serde_json::{Value, json};

use crate::body::JsonBody;
use crate::openai_chat::chunks::ChatChunkReader;
use crate::openai_chat::dialect::Dialect;
use crate::openai_chat::message::ChatReply;
use crate::openai_chat::repeated_chunk::RepeatedChunk;
use crate::provider::DecodedItem;
use crate::reader::{BodyValue, FailureBuilder, ResponseReader};
use crate::redaction::SecretSet;
use turnleaf_domain::{Failure, Usage};

/// Decoder of one response body.
pub type ChatDecoder = JsonBody<ChatReader>;

/// [`ResponseReader`] of chat completions: the state of one response body.
pub struct ChatReader {
    dialect: &'static Dialect,
    chunks: ChatChunkReader,
    repeated: RepeatedChunk,
    /// `[DONE]` was received.
    is_done: bool,
}

impl ChatDecoder {
    /// Creates a decoder. `provider` is the display name for failure messages.
    pub fn for_provider(dialect: &'static Dialect, provider: &str, secrets: SecretSet) -> Self {
        Self::new(ChatReader::new(dialect, ChatChunkReader::default()), FailureBuilder::new(provider, secrets))
    }

    /// Creates a decoder that keeps the content for the next request.
    pub fn keeping_reply(dialect: &'static Dialect) -> Self {
        let chunks = ChatChunkReader::keeping_reply();
        Self::new(ChatReader::new(dialect, chunks), FailureBuilder::new("", SecretSet::default()))
    }
}

impl ChatReader {
    fn new(dialect: &'static Dialect, chunks: ChatChunkReader) -> Self {
        Self { dialect, chunks, repeated: RepeatedChunk::default(), is_done: false }
    }

    /// Returns the content for the next request; empty unless it was kept.
    pub fn into_reply(self) -> ChatReply {
        self.chunks.into_reply()
    }
}

impl ResponseReader for ChatReader {
    /// Errors arrive as an `error` event, under an `error` key, and as documents of other shapes.
    fn is_error(&self, parsed: BodyValue<'_>) -> bool {
        let has = |key: &str| parsed.value.get(key).is_some_and(|value| !value.is_null());
        parsed.event == "error"
            || (has("error") && !has_choice(parsed.value))
            || parsed.value.get("object").and_then(Value::as_str) == Some("error")
            || (!has("choices") && (has("detail") || (has("message") && (has("code") || has("type")))))
    }

    fn read_value(
        &mut self,
        parsed: BodyValue<'_>,
        judge: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure> {
        self.chunks.read_chunk(parsed.value, parsed.is_mended, out);
        // An error beside a choice, or inside of it, ends the reply after the text of its chunk.
        if let Some(error) = error_of_chunk(parsed.value) {
            return Err(judge.failure_from_document(&error));
        }
        if parsed.event.is_empty() && !parsed.is_mended {
            self.repeated.learn(parsed.json, parsed.value);
        }
        Ok(())
    }

    fn note_requested_model(&mut self, model: &str) {
        self.chunks.note_requested_model(model);
    }

    fn read_repeated(&mut self, json: &str, out: &mut Vec<DecodedItem>) -> bool {
        let Some(text) = self.repeated.text_of(json) else { return false };
        self.chunks.read_text(&text, out);
        true
    }

    fn read_usage(&mut self, value: &Value) {
        self.chunks.read_usage(value);
    }

    fn note_done(&mut self) {
        self.is_done = true;
    }

    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        self.chunks.end_text(out);
    }

    fn finish(&mut self, out: &mut Vec<DecodedItem>) {
        self.chunks.finish(out);
    }

    fn is_over(&self) -> bool {
        self.is_done
    }

    fn is_complete(&self) -> bool {
        self.chunks.finish_reason().is_some() || (self.dialect.done_completes && self.is_done)
    }

    fn has_reply(&self) -> bool {
        self.chunks.has_choices()
    }

    fn stop_reason(&self) -> Option<&str> {
        self.chunks.finish_reason()
    }

    fn usage(&self) -> Option<Usage> {
        self.chunks.counts().usage
    }

    fn cost(&self) -> Option<u64> {
        self.chunks.counts().cost
    }
}

fn has_choice(chunk: &Value) -> bool {
    chunk.get("choices").and_then(Value::as_array).is_some_and(|choices| !choices.is_empty())
}

/// Returns the error document of a chunk with choices, which gateways put beside the choices or into choice 0, its delta
/// or its message.
fn error_of_chunk(chunk: &Value) -> Option<Value> {
    let choices = chunk.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let first = choices.iter().find(|choice| matches!(choice.get("index").and_then(Value::as_u64), None | Some(0)));
    let is_error = |error: &&Value| match error {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    let places = ["/error", "/delta/error", "/message/error"];
    let of_choice = || places.into_iter().find_map(|place| first?.pointer(place).filter(is_error));
    let error = chunk.get("error").filter(is_error).or_else(of_choice);
    error.map(|error| json!({"error": error}))
}

#[cfg(test)]
mod tests;
