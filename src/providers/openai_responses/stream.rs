//! Decoder of Responses: interprets the values of one response body (docs/reference/providers.md 2.4, 6.3). Module
//! `body` splits the bytes into values.

use serde_json::Value;

use crate::body::JsonBody;
use crate::openai_responses::message::ResponsesReply;
use crate::openai_responses::output::ResponseOutput;
use crate::openai_responses::usage;
use crate::provider::DecodedItem;
use crate::reader::{BodyValue, FailureBuilder, ResponseReader};
use crate::redaction::SecretSet;
use crate::reported_cost;
use turnleaf_domain::{Failure, FailureKind, Usage};

/// Decoder of one response body.
pub type ResponsesDecoder = JsonBody<ResponsesReader>;

/// [`ResponseReader`] of Responses: the state of one response body.
#[derive(Default)]
pub struct ResponsesReader {
    output: ResponseOutput,
    model: String,
    usage: Option<Usage>,
    /// The cost that the response reports.
    cost: Option<u64>,
    /// Emits the id under which the provider keeps the response.
    reports_id: bool,
    stop_reason: Option<String>,
    has_reply: bool,
    /// The terminal was received.
    is_over: bool,
    /// Events of a body that starts in the middle (a resumed stream). They are held back, because the terminal has
    /// the complete output; without a terminal they are decoded as they arrived.
    held: Option<Vec<(Value, bool)>>,
}

impl ResponsesDecoder {
    /// Creates a decoder. `provider` is the display name for failure messages.
    pub fn for_provider(provider: &str, secrets: SecretSet) -> Self {
        Self::new(ResponsesReader::default(), FailureBuilder::new(provider, secrets))
    }

    /// Creates a decoder for an endpoint that keeps responses.
    pub fn reporting_response_id(provider: &str, secrets: SecretSet) -> Self {
        let reader = ResponsesReader { reports_id: true, ..ResponsesReader::default() };
        Self::new(reader, FailureBuilder::new(provider, secrets))
    }

    /// Creates a decoder that keeps the items for the next request.
    pub fn keeping_reply() -> Self {
        let reader = ResponsesReader { output: ResponseOutput::keeping_items(), ..ResponsesReader::default() };
        Self::new(reader, FailureBuilder::new("", SecretSet::default()))
    }
}

impl ResponsesReader {
    /// Returns the items for the next request; empty unless they were kept.
    pub fn into_reply(self) -> ResponsesReply {
        self.output.into_reply()
    }

    fn read_counts(&mut self, response: &Value) {
        self.usage = usage::usage_from_response(response).or(self.usage);
        self.cost = response.get("usage").and_then(reported_cost::cost_from_usage).or(self.cost);
    }

    /// Reads model, usage and cost of a response snapshot.
    fn read_metadata(&mut self, response: &Value, out: &mut Vec<DecodedItem>) {
        self.read_counts(response);
        if let Some(model) = response.get("model").and_then(Value::as_str)
            && !model.is_empty()
            && model != self.model
        {
            model.clone_into(&mut self.model);
            out.push(DecodedItem::Model(model.to_owned()));
        }
    }

    fn event(&mut self, event: &str, parsed: BodyValue<'_>, out: &mut Vec<DecodedItem>) {
        if !std::mem::replace(&mut self.has_reply, true) {
            let is_begin = matches!(event, "response.created" | "response.queued" | "response.in_progress");
            let number = parsed.value.get("sequence_number").and_then(Value::as_u64).unwrap_or(0);
            // 0, 1 and a missing number count as a start, because some servers number badly.
            self.held = (!is_begin && number > 1).then(Vec::new);
        }
        match &mut self.held {
            Some(held) => held.push((parsed.value.clone(), parsed.is_mended)),
            None => self.output.read_event(event, parsed.value, parsed.is_mended, out),
        }
    }

    fn release_held(&mut self, out: &mut Vec<DecodedItem>) {
        for (value, is_mended) in self.held.take().unwrap_or_default() {
            self.output.read_event(event_of(&value), &value, is_mended, out);
        }
    }

    /// Reads the final response. `status` is that of the event.
    fn terminal(
        &mut self,
        response: &Value,
        status: &str,
        is_mended: bool,
        judge: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure> {
        self.has_reply = true;
        let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if !output.is_empty() {
            self.held = None;
        }
        self.release_held(out);
        self.output.read_snapshot(output, is_mended, out);
        let has_error = response.get("error").is_some_and(Value::is_object);
        match status {
            "failed" if has_error => return Err(judge.failure_from_document(response)),
            "failed" => return Err(judge.failure(FailureKind::ProviderError, "The response failed.")),
            "cancelled" => return Err(judge.failure(FailureKind::ProviderError, "The response was cancelled.")),
            "completed" | "incomplete" => {}
            _ => return Ok(()),
        }
        self.output.flush(out);
        if self.reports_id && status == "completed" {
            out.extend(kept_id(response).map(|id| DecodedItem::ResponseId(id.to_owned())));
        }
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let reason = reason.unwrap_or(status).to_owned();
        out.push(DecodedItem::StopReason(reason.clone()));
        self.stop_reason = Some(reason);
        self.is_over = true;
        Ok(())
    }
}

/// Returns the id under which the provider keeps this response; `None` if it does not keep it, or the id is
/// implausible.
fn kept_id(response: &Value) -> Option<&str> {
    const LONGEST: usize = 256;
    let is_kept = response.get("store").and_then(Value::as_bool) != Some(false);
    let id = response.get("id").and_then(Value::as_str).filter(|_| is_kept)?;
    ((1..=LONGEST).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())).then_some(id)
}

/// Returns the type of an event.
fn event_of(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn is_response(value: &Value) -> bool {
    value.get("object").and_then(Value::as_str) == Some("response")
}

impl ResponseReader for ResponsesReader {
    const HAS_HEADINGS: bool = true;

    /// Errors arrive as an `error` event, and as documents of other shapes; a failed response is not among them.
    fn is_error(&self, parsed: BodyValue<'_>) -> bool {
        let has = |key: &str| parsed.value.get(key).is_some_and(|value| !value.is_null());
        let event = event_of(parsed.value);
        event == "error"
            || (parsed.event == "error" && !event.starts_with("response."))
            || (!event.starts_with("response.")
                && !is_response(parsed.value)
                && (has("error") || has("detail") || (has("message") && (has("code") || has("type")))))
    }

    fn read_value(
        &mut self,
        parsed: BodyValue<'_>,
        judge: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure> {
        if self.is_over {
            return Ok(());
        }
        let event = event_of(parsed.value);
        let response = parsed.value.get("response").filter(|response| response.is_object());
        // A server that does not stream sends the response as the whole body.
        let document = Some(parsed.value).filter(|value| is_response(value));
        if let Some(response) = response.or(document) {
            self.read_metadata(response, out);
        }
        let status_of = |response: &Value| response.get("status").and_then(Value::as_str).map(str::to_owned);
        match (event, document) {
            ("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled", _) => {
                let response = response.unwrap_or(&Value::Null);
                let named = event.trim_start_matches("response.");
                // Some servers name the event completed although its response has a worse status.
                let status = status_of(response).filter(|status| named == "completed" && is_ending(status));
                self.terminal(response, status.as_deref().unwrap_or(named), parsed.is_mended, judge, out)
            }
            (_, Some(response)) => {
                let status = status_of(response).unwrap_or_default();
                self.terminal(response, &status, parsed.is_mended, judge, out)
            }
            _ if event.starts_with("response.") => {
                self.event(event, parsed, out);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read_usage(&mut self, value: &Value) {
        if let Some(response) = value.get("response") {
            self.read_counts(response);
        }
    }

    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        self.release_held(out);
        self.output.flush(out);
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn is_complete(&self) -> bool {
        self.is_over
    }

    fn has_reply(&self) -> bool {
        self.has_reply
    }

    fn stop_reason(&self) -> Option<&str> {
        self.stop_reason.as_deref()
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn cost(&self) -> Option<u64> {
        self.cost
    }
}

fn is_ending(status: &str) -> bool {
    matches!(status, "completed" | "incomplete" | "failed" | "cancelled")
}

#[cfg(test)]
mod tests;
