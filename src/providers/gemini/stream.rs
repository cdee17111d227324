//! Decoder of Gemini: chunks to items (docs/reference/providers.md 2.4, 7.2, 7.3). Every chunk has only new parts,
//! and a part with a signature ends its block.

use serde_json::Value;

use crate::body::JsonBody;
use crate::call_id::nameless_call_content;
use crate::gemini::calls::GeminiFunctionCalls;
use crate::gemini::message::GeminiReply;
use crate::gemini::provider_tools::GeminiProviderCalls;
use crate::gemini::sources::{GeminiSources, ReplyText};
use crate::gemini::usage::GeminiUsageCounts;
use crate::provider::DecodedItem;
use crate::reader::{BodyValue, FailureBuilder, ResponseReader};
use crate::redaction::SecretSet;
use crate::text_accumulator::{TextAccumulator, TextKind};
use turnleaf_domain::blocks::reasoning_title::first_heading;
use turnleaf_domain::providers::stop_reason::failed_stop;
use turnleaf_domain::{Failure, Usage};

/// Decoder of one response body: a stream, or the JSON array that is sent without `alt=sse`.
pub type GeminiDecoder = JsonBody<GeminiReader>;

/// Keys of a part that are not its payload.
const NON_PAYLOAD_KEYS: [&str; 5] = ["thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"];

/// The number of characters that are kept of the end of the thoughts.
const THOUGHT_END: usize = 16;

/// [`ResponseReader`] of Gemini: the state of one response body. Only candidate 0 is read.
#[derive(Debug, Default)]
pub struct GeminiReader {
    /// The content for the next request, if it is kept.
    reply: Option<GeminiReply>,
    model: String,
    response_id: String,
    growing: TextAccumulator,
    calls: GeminiFunctionCalls,
    own: GeminiProviderCalls,
    sources: GeminiSources,
    reply_text: ReplyText,
    /// The last characters of the thoughts so far.
    thought_end: String,
    counts: GeminiUsageCounts,
    /// The last `finishReason`, or the reason why the prompt was blocked.
    stop_reason: Option<String>,
    /// A provider tool was called and has no result yet: text follows even after a `finishReason`.
    is_tool_running: bool,
    has_reply: bool,
}

impl GeminiDecoder {
    /// Creates a decoder. `provider` is the display name for failure messages.
    pub fn for_provider(provider: &str, secrets: SecretSet) -> Self {
        Self::new(GeminiReader::default(), FailureBuilder::new(provider, secrets))
    }

    /// Creates a decoder that keeps the content for the next request.
    pub fn keeping_reply() -> Self {
        let reader = GeminiReader { reply: Some(GeminiReply::default()), ..GeminiReader::default() };
        Self::new(reader, FailureBuilder::new("", SecretSet::default()))
    }
}

impl GeminiReader {
    /// Returns the content for the next request; empty unless it was kept.
    pub fn into_reply(self) -> GeminiReply {
        let mut reply = self.reply.unwrap_or_default();
        if self.stop_reason.as_deref().and_then(failed_stop).is_some() {
            reply.remove_calls();
        } else if self.calls.is_open() {
            reply.remove_last_call();
        }
        reply
    }

    fn candidate(&mut self, candidate: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            let begin = out.len();
            self.part(part, is_mended, out);
            self.reply_text.push_items(&out[begin..]);
        }
        self.sources.read_candidate(candidate);
        if let Some(reason) = text_of(candidate, "finishReason").filter(|reason| *reason != "FINISH_REASON_UNSPECIFIED")
        {
            self.stop(reason, out);
        }
    }

    fn part(&mut self, part: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        let signature = text_of(part, "thoughtSignature");
        let mut given = None;
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            self.growing.flush(out);
            self.call(part, call, is_mended, out);
        } else {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                if !text.is_empty() {
                    self.close_call(out);
                    let growth = if is_thought { TextKind::Thinking } else { TextKind::Text };
                    if is_thought {
                        self.read_title(text, out);
                    }
                    let emitted = self.growing.push(growth, text, is_mended, out);
                    if is_thought {
                        self.thought_end.push_str(&emitted);
                        let kept = self.thought_end.char_indices().rev().nth(THOUGHT_END - 1).map_or(0, |(at, _)| at);
                        self.thought_end.drain(..kept);
                    }
                    given = Some(emitted);
                    self.is_tool_running = false;
                }
            } else if let Some((name, held)) = payload_of(part) {
                self.growing.flush(out);
                self.close_call(out);
                // An image inside of a thought is not a part of the reply.
                let shown = if is_thought && name == "inlineData" { "thoughtImage" } else { name };
                self.own.read_part(shown, held, out);
                self.is_tool_running = matches!(name, "executableCode" | "toolCall");
            }
            if let Some(reply) = &mut self.reply {
                reply.push_part(part, given, is_mended);
            }
        }
        if let Some(signature) = signature {
            self.growing.flush(out);
            out.push(DecodedItem::ThinkingSignature(signature.to_owned()));
        }
    }

    /// Emits the title of a thought that begins with a heading, where its text does not show it: the thought before it
    /// does not end with a blank line.
    fn read_title(&self, text: &str, out: &mut Vec<DecodedItem>) {
        let mut lines = self.thought_end.rsplit('\n');
        let ends_paragraph = lines.next().is_none_or(|line| line.trim().is_empty())
            && lines.next().is_none_or(|line| line.trim().is_empty());
        if !ends_paragraph && let Some(title) = first_heading(text) {
            out.push(DecodedItem::ThinkingTitle(title.to_owned()));
        }
    }

    fn call(&mut self, part: &Value, call: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        if self.calls.is_nameless(call) {
            let arguments =
                call.get("args").or_else(|| call.get("partialArgs")).filter(|arguments| !arguments.is_null());
            let id = text_of(call, "id").unwrap_or_default();
            out.extend(
                arguments.map(|arguments| DecodedItem::Opaque(nameless_call_content(id, &arguments.to_string()))),
            );
            return;
        }
        if !self.calls.is_continuation(call) {
            self.close_call(out);
            if let Some(reply) = &mut self.reply {
                reply.push_part(part, None, is_mended);
            }
        }
        let whole = self.calls.read_call(call, &self.response_id, out);
        self.keep_arguments(whole);
    }

    /// Ends a streamed call, because another part follows it.
    fn close_call(&mut self, out: &mut Vec<DecodedItem>) {
        let whole = self.calls.close(out);
        self.keep_arguments(whole);
    }

    fn keep_arguments(&mut self, whole: Option<Value>) {
        if let (Some(reply), Some(arguments)) = (&mut self.reply, whole) {
            reply.set_arguments(arguments);
        }
    }

    fn stop(&mut self, reason: &str, out: &mut Vec<DecodedItem>) {
        if self.stop_reason.as_deref() != Some(reason) {
            self.growing.flush(out);
            out.push(DecodedItem::StopReason(reason.to_owned()));
            self.stop_reason = Some(reason.to_owned());
        }
    }
}

impl ResponseReader for GeminiReader {
    /// Several finish reasons may arrive, with text between them (docs/reference/providers.md 2.4).
    const HAS_TERMINAL: bool = false;
    const HAS_HEADINGS: bool = true;

    fn is_error(&self, parsed: BodyValue<'_>) -> bool {
        parsed.value.get("error").is_some_and(|error| !error.is_null())
    }

    fn read_value(
        &mut self,
        parsed: BodyValue<'_>,
        judge: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure> {
        let chunk = parsed.value;
        self.counts.update(chunk);
        self.has_reply |= ["candidates", "promptFeedback", "usageMetadata"].iter().any(|key| chunk.get(key).is_some());
        if let Some(id) = text_of(chunk, "responseId").filter(|_| self.response_id.is_empty()) {
            self.response_id = id.to_owned();
        }
        if let Some(model) = text_of(chunk, "modelVersion").filter(|_| self.model.is_empty()) {
            self.model = model.to_owned();
            out.push(DecodedItem::Model(model.to_owned()));
        }
        let candidates = chunk.get("candidates").and_then(Value::as_array);
        for candidate in candidates.into_iter().flatten() {
            if !matches!(candidate.get("index").and_then(Value::as_u64), None | Some(0)) {
                continue;
            }
            self.candidate(candidate, parsed.is_mended, out);
            // A failed reply stays failed, whatever follows: a malformed call must not be run.
            if let Some(reason) = &self.stop_reason
                && let Some(kind) = failed_stop(reason)
            {
                let words = text_of(candidate, "finishMessage").unwrap_or_default();
                return Err(judge.failure(kind, &format!("{reason} {words}")));
            }
        }
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.stop(reason, out);
        }
        Ok(())
    }

    fn read_usage(&mut self, value: &Value) {
        self.counts.update(value);
    }

    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        self.growing.flush(out);
    }

    fn finish(&mut self, out: &mut Vec<DecodedItem>) {
        self.growing.flush(out);
        // Without a finish reason a streamed call was cut off: incomplete arguments must not look complete.
        if self.is_complete() {
            self.close_call(out);
        }
        if self.is_complete() {
            self.own.finish(out);
        }
        self.sources.finish(&self.reply_text, &mut self.own, out);
    }

    fn is_over(&self) -> bool {
        self.stop_reason.is_some() && !self.is_tool_running
    }

    fn is_complete(&self) -> bool {
        self.stop_reason.is_some()
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
}

/// Returns name and value of a part's payload that is neither text nor a function call.
fn payload_of(part: &Value) -> Option<(&str, &Value)> {
    let held = part.as_object()?.iter().find(|(key, _)| !NON_PAYLOAD_KEYS.contains(&key.as_str()))?;
    Some((held.0.as_str(), held.1))
}

/// Returns a string field that is not empty.
fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
