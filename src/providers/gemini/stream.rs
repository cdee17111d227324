//! The decoder of Gemini: chunks to items (providers.md 2.4, 7.2, 7.3). Every chunk holds new parts only, and a part that
//! carries a signature ends its block.

use serde_json::Value;

use crate::body::JsonBody;
use crate::gemini::calls::Calls;
use crate::gemini::message::Said;
use crate::gemini::own::OwnCalls;
use crate::gemini::sources::{SaidText, Sources};
use crate::gemini::usage::Counts;
use crate::growing::{Growing, Growth};
use crate::provider::Item;
use crate::reader::{Judge, Piece, Reader};
use crate::redact::Secrets;
use turnleaf_domain::{Failure, FailureKind, Usage};

/// The state of one response body: a stream, or the JSON array that comes without `alt=sse`.
pub type GeminiDecoder = JsonBody<GeminiReader>;

/// Keys of a part that are not what it holds.
const BESIDE: [&str; 5] = ["thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"];

/// What Gemini's chunks have said so far, of candidate 0 alone.
#[derive(Debug, Default)]
pub struct GeminiReader {
    /// What goes back in the next request, when somebody wants to know.
    said: Option<Said>,
    model: String,
    response_id: String,
    growing: Growing,
    calls: Calls,
    own: OwnCalls,
    sources: Sources,
    said_text: SaidText,
    counts: Counts,
    /// The last `finishReason`, or why the prompt was blocked.
    stop_reason: Option<String>,
    /// One of Google's own tools was called and has not answered: text follows even after a `finishReason`.
    is_tool_running: bool,
    has_reply: bool,
}

impl GeminiDecoder {
    /// `provider` is the name for people, used in sentences about failures.
    pub fn of(provider: &str, secrets: Secrets) -> Self {
        Self::new(GeminiReader::default(), Judge::new(provider, secrets))
    }

    /// The same, keeping what has to go back in the next request.
    pub fn keeping_parts() -> Self {
        let reader = GeminiReader { said: Some(Said::default()), ..GeminiReader::default() };
        Self::new(reader, Judge::new("", Secrets::default()))
    }
}

impl GeminiReader {
    /// What has to go back, if it was kept.
    pub fn into_said(self) -> Said {
        let mut said = self.said.unwrap_or_default();
        if self.stop_reason.as_deref().is_some_and(is_broken_call) {
            said.without_calls();
        } else if self.calls.is_open() {
            said.cut_last_call();
        }
        said
    }

    fn candidate(&mut self, candidate: &Value, is_mended: bool, out: &mut Vec<Item>) {
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            let begin = out.len();
            self.part(part, is_mended, out);
            self.said_text.take(&out[begin..]);
        }
        self.sources.take(candidate);
        if let Some(reason) = text_of(candidate, "finishReason").filter(|reason| *reason != "FINISH_REASON_UNSPECIFIED")
        {
            self.stop(reason, out);
        }
    }

    fn part(&mut self, part: &Value, is_mended: bool, out: &mut Vec<Item>) {
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        let signature = text_of(part, "thoughtSignature");
        let mut given = None;
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            self.growing.seam(out);
            self.call(part, call, is_mended, out);
        } else {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                if !text.is_empty() {
                    self.close_call(out);
                    let growth = if is_thought { Growth::Thinking } else { Growth::Text };
                    given = Some(self.growing.grow(growth, text, is_mended, out));
                    self.is_tool_running = false;
                }
            } else if let Some((name, held)) = held_by(part) {
                self.growing.seam(out);
                self.close_call(out);
                // A picture that it only thinks with is no part of the reply.
                let shown = if is_thought && name == "inlineData" { "thoughtImage" } else { name };
                self.own.take(shown, held, out);
                self.is_tool_running = matches!(name, "executableCode" | "toolCall");
            }
            if let Some(said) = &mut self.said {
                said.part(part, given, is_mended);
            }
        }
        if let Some(signature) = signature {
            self.growing.seam(out);
            out.push(Item::ThinkingSignature(signature.to_owned()));
        }
    }

    fn call(&mut self, part: &Value, call: &Value, is_mended: bool, out: &mut Vec<Item>) {
        if !self.calls.continues(call) {
            self.close_call(out);
            if let Some(said) = &mut self.said {
                said.part(part, None, is_mended);
            }
        }
        let whole = self.calls.take(call, &self.response_id, out);
        self.keep_arguments(whole);
    }

    /// A call in pieces is over when something else comes.
    fn close_call(&mut self, out: &mut Vec<Item>) {
        let whole = self.calls.close(out);
        self.keep_arguments(whole);
    }

    fn keep_arguments(&mut self, whole: Option<Value>) {
        if let (Some(said), Some(arguments)) = (&mut self.said, whole) {
            said.set_arguments(arguments);
        }
    }

    fn stop(&mut self, reason: &str, out: &mut Vec<Item>) {
        if self.stop_reason.as_deref() != Some(reason) {
            self.growing.seam(out);
            out.push(Item::Stop(reason.to_owned()));
            self.stop_reason = Some(reason.to_owned());
        }
    }
}

impl Reader for GeminiReader {
    /// Several finish reasons can come, with text between them (providers.md 2.4).
    const HAS_LAST_WORD: bool = false;

    fn is_error(&self, said: Piece<'_>) -> bool {
        said.value.get("error").is_some_and(|error| !error.is_null())
    }

    fn take(&mut self, said: Piece<'_>, judge: &Judge, out: &mut Vec<Item>) -> Result<(), Failure> {
        let chunk = said.value;
        self.counts.take(chunk);
        self.has_reply |= ["candidates", "promptFeedback", "usageMetadata"].iter().any(|key| chunk.get(key).is_some());
        if let Some(id) = text_of(chunk, "responseId").filter(|_| self.response_id.is_empty()) {
            self.response_id = id.to_owned();
        }
        if let Some(model) = text_of(chunk, "modelVersion").filter(|_| self.model.is_empty()) {
            self.model = model.to_owned();
            out.push(Item::Model(model.to_owned()));
        }
        let candidates = chunk.get("candidates").and_then(Value::as_array);
        for candidate in candidates.into_iter().flatten() {
            if !matches!(candidate.get("index").and_then(Value::as_u64), None | Some(0)) {
                continue;
            }
            self.candidate(candidate, said.is_mended, out);
            if let Some(reason) = self.stop_reason.as_deref().filter(|reason| is_broken_call(reason)) {
                let words = text_of(candidate, "finishMessage").unwrap_or_default();
                return Err(judge.failure(FailureKind::ProviderError, &format!("{reason} {words}")));
            }
        }
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.stop(reason, out);
        }
        Ok(())
    }

    fn usage_of(&mut self, value: &Value) {
        self.counts.take(value);
    }

    fn seam(&mut self, out: &mut Vec<Item>) {
        self.growing.seam(out);
    }

    fn end(&mut self, out: &mut Vec<Item>) {
        self.growing.seam(out);
        // Without the terminal a call in pieces is a cut one: half of its arguments must not look whole.
        if self.is_complete() {
            self.close_call(out);
        }
        if self.is_complete() {
            self.own.end(out);
        }
        self.sources.end(&self.said_text, out);
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

/// Finish reasons that say that a call went wrong: whatever stands there must not be run (providers.md 2.7, 7.2).
fn is_broken_call(reason: &str) -> bool {
    matches!(reason, "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS")
}

/// What a part holds that is neither text nor a call, with its name.
fn held_by(part: &Value) -> Option<(&str, &Value)> {
    let held = part.as_object()?.iter().find(|(key, _)| !BESIDE.contains(&key.as_str()))?;
    Some((held.0.as_str(), held.1))
}

/// A string field that says something.
fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
