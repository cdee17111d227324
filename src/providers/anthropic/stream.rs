//! Decoder of Messages: interprets the values of one response body (docs/reference/providers.md 2.4, 3.3). Module
//! `body` splits the bytes into values; `content_blocks` assembles blocks from their deltas.

use serde_json::Value;

use crate::anthropic::content_blocks::ContentBlocks;
use crate::anthropic::message::AnthropicReply;
use crate::anthropic::usage::AnthropicUsageCounts;
use crate::body::JsonBody;
use crate::provider::{DecodedItem, opaque_content};
use crate::reader::{BodyValue, FailureBuilder, ResponseReader};
use crate::redaction::SecretSet;
use turnleaf_domain::blocks::notice::Notice;
use turnleaf_domain::{Failure, Usage};

/// Decoder of one response body.
pub type MessagesDecoder = JsonBody<MessagesReader>;

/// [`ResponseReader`] of Messages: the state of one response body.
#[derive(Debug, Default)]
pub struct MessagesReader {
    blocks: ContentBlocks,
    counts: AnthropicUsageCounts,
    has_model: bool,
    has_reply: bool,
    stop_reason: Option<String>,
    /// `message_stop` was received, or the reply was one document.
    is_stopped: bool,
    /// Thinking that the server dropped from the request (docs/reference/providers.md 3.7).
    transformations: Vec<Value>,
    /// The notice about dropped thinking was emitted.
    is_noticed: bool,
    /// The container in which the provider ran code.
    container: Option<String>,
}

impl MessagesDecoder {
    /// Creates a decoder. `provider` is the display name for failure messages.
    pub fn for_provider(provider: &str, secrets: SecretSet) -> Self {
        Self::new(MessagesReader::default(), FailureBuilder::new(provider, secrets))
    }

    /// Creates a decoder that keeps the content for the next request.
    pub fn keeping_reply() -> Self {
        let mut reader = MessagesReader::default();
        reader.blocks.keeps_blocks = true;
        Self::new(reader, FailureBuilder::new("", SecretSet::default()))
    }
}

impl MessagesReader {
    /// Returns the content for the next request; its blocks are empty unless they were kept.
    pub fn into_reply(self) -> AnthropicReply {
        let is_paused = self.stop_reason.as_deref() == Some("pause_turn");
        AnthropicReply {
            is_complete: self.is_complete(),
            is_paused,
            container: self.container,
            blocks: self.blocks.into_blocks(),
        }
    }

    /// Reads the message of `message_start`, or a complete reply with its content and stop reason.
    fn message(&mut self, message: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.has_reply = true;
        if let Some(model) = text_of(message, "model").filter(|_| !self.has_model) {
            self.has_model = true;
            out.push(DecodedItem::Model(model.to_owned()));
        }
        self.blocks.set_response_id(text_of(message, "id").unwrap_or_default());
        self.read_metadata(message);
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            self.push_notice(out);
            self.blocks.start(None, block, is_mended, out);
            self.blocks.stop(None, out);
        }
        self.read_stop(message, out);
    }

    /// Reads the metadata beside the content, in `message_start` and `message_delta`.
    fn read_metadata(&mut self, value: &Value) {
        if let Some(usage) = value.get("usage") {
            self.counts.update(usage);
        }
        if let Some(Value::Array(list)) = value.get("input_transformations") {
            self.transformations.clone_from(list);
        }
    }

    /// Emits the notice that the server dropped thinking: before the first block if that is known by then, otherwise
    /// at the end.
    fn push_notice(&mut self, out: &mut Vec<DecodedItem>) {
        if !self.transformations.is_empty() && !std::mem::replace(&mut self.is_noticed, true) {
            out.push(DecodedItem::Notice(Notice::ReasoningDropped));
        }
    }

    /// Reads the stop reason and the container in which code ran.
    fn read_stop(&mut self, place: &Value, out: &mut Vec<DecodedItem>) {
        if let Some(container) = place.get("container").and_then(|container| text_of(container, "id")) {
            self.container = Some(container.to_owned());
        }
        if let Some(reason) = text_of(place, "stop_reason")
            && self.stop_reason.as_deref() != Some(reason)
        {
            self.blocks.finish(true, out);
            out.push(DecodedItem::StopReason(reason.to_owned()));
            self.stop_reason = Some(reason.to_owned());
        }
    }

    fn stop(&mut self, out: &mut Vec<DecodedItem>) {
        self.is_stopped = true;
        self.blocks.finish(true, out);
        if !self.transformations.is_empty() && !self.blocks.is_empty() {
            self.push_notice(out);
            let list = Value::Array(std::mem::take(&mut self.transformations));
            out.push(DecodedItem::Opaque(opaque_content("input_transformations", list)));
        }
    }
}

impl ResponseReader for MessagesReader {
    /// Errors are events and documents of the type `error`; gateways also send documents without any type.
    fn is_error(&self, parsed: BodyValue<'_>) -> bool {
        let has = |key: &str| parsed.value.get(key).is_some_and(|value| !value.is_null());
        let kind = text_of(parsed.value, "type");
        parsed.event == "error"
            || kind == Some("error")
            || has("error")
            || (kind.is_none() && (has("detail") || has("message")))
    }

    fn read_value(
        &mut self,
        parsed: BodyValue<'_>,
        _: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure> {
        let value = parsed.value;
        if self.is_stopped {
            if text_of(value, "type") != Some("message_start") {
                return Ok(());
            }
            // Gateways that run tools themselves send several messages in a row: the reply continues.
            self.is_stopped = false;
            self.stop_reason = None;
        }
        let index = value.get("index").and_then(Value::as_u64);
        let part = |key: &str| value.get(key).unwrap_or(&Value::Null);
        match text_of(value, "type").unwrap_or_default() {
            "message_start" => self.message(part("message"), parsed.is_mended, out),
            "content_block_start" => {
                self.has_reply = true;
                if self.blocks.is_empty() {
                    self.push_notice(out);
                }
                self.blocks.start(index, part("content_block"), parsed.is_mended, out);
            }
            "content_block_delta" => {
                self.has_reply = true;
                self.blocks.apply_delta(index, part("delta"), parsed.is_mended, out);
            }
            "content_block_stop" => self.blocks.stop(index, out),
            "message_delta" => {
                self.has_reply = true;
                self.read_metadata(value);
                self.read_stop(part("delta"), out);
            }
            "message_stop" => self.stop(out),
            "message" => {
                self.message(value, parsed.is_mended, out);
                self.stop(out);
            }
            // Pings and unknown events are ignored: the API may add new ones at any time.
            _ => {}
        }
        Ok(())
    }

    fn read_usage(&mut self, value: &Value) {
        self.read_metadata(value);
    }

    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        self.blocks.finish(false, out);
    }

    fn is_over(&self) -> bool {
        self.is_stopped
    }

    fn is_complete(&self) -> bool {
        self.is_stopped && self.stop_reason.is_some()
    }

    fn has_reply(&self) -> bool {
        self.has_reply
    }

    fn stop_reason(&self) -> Option<&str> {
        self.stop_reason.as_deref()
    }

    fn usage(&self) -> Option<Usage> {
        self.counts.usage()
    }

    fn cost(&self) -> Option<u64> {
        self.counts.cost()
    }
}

/// Returns a string field that is not empty.
fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
