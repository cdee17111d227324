//! The part of a response decoder that is specific to an API: it interprets JSON values. Module `body` splits the
//! bytes into values.

use serde_json::Value;

use crate::error_classification;
use crate::provider::DecodedItem;
use crate::redaction::SecretSet;
use turnleaf_domain::{Failure, FailureKind, Usage};

/// The number of characters of an unexpected body that a failure shows.
const DETAIL_CHARS: usize = 300;

/// Interprets the values of one body, in order.
pub trait ResponseReader: Send {
    /// The API streams JSON lines, so a body that starts with `{` is decoded line by line.
    const IS_JSON_LINES: bool = false;
    /// The API has a terminal, after which only a usage may follow. Without one, values after a stop reason may still
    /// belong to the reply.
    const HAS_TERMINAL: bool = true;

    /// Paragraphs of the reasoning may begin with headings ([`turnleaf_domain::blocks::reasoning_title`]).
    const HAS_HEADINGS: bool = false;

    /// Returns true if a value is an error document instead of a part of a reply.
    fn is_error(&self, parsed: BodyValue<'_>) -> bool;
    /// Reads a value that is not an error. `Err` ends the reply with that failure.
    fn read_value(
        &mut self,
        parsed: BodyValue<'_>,
        judge: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure>;
    /// Notes the model that was requested.
    fn note_requested_model(&mut self, model: &str) {
        let _ = model;
    }
    /// Reads an event without a name that differs from an earlier one only in its text. Returns false if it does not, or
    /// if that is not known; then the event is parsed.
    fn read_repeated(&mut self, json: &str, out: &mut Vec<DecodedItem>) -> bool {
        let _ = (json, out);
        false
    }
    /// Reads the usage of the value that failed the body.
    fn read_usage(&mut self, value: &Value) {
        let _ = value;
    }
    /// Notes that `[DONE]` was received.
    fn note_done(&mut self) {}
    /// Emits text that was held back, because nothing can complete it.
    fn flush(&mut self, out: &mut Vec<DecodedItem>);
    /// Emits the rest at the end of a body without failure.
    fn finish(&mut self, out: &mut Vec<DecodedItem>) {
        self.flush(out);
    }
    /// Returns true once nothing relevant can follow.
    fn is_over(&self) -> bool;
    /// Returns true if the terminal that proves completeness was seen (docs/reference/providers.md 2.4).
    fn is_complete(&self) -> bool;
    /// Returns true if any value belonged to a reply.
    fn has_reply(&self) -> bool;
    fn stop_reason(&self) -> Option<&str>;
    fn usage(&self) -> Option<Usage>;
    /// Returns the cost that the provider reports, in millionths of a US dollar; few do.
    fn cost(&self) -> Option<u64> {
        None
    }
}

/// One JSON value of a body.
#[derive(Debug, Clone, Copy)]
pub struct BodyValue<'a> {
    pub value: &'a Value,
    /// The `event:` field of the SSE event; empty in other formats.
    pub event: &'a str,
    /// The JSON of the SSE event; empty in other formats.
    pub json: &'a str,
    /// The value may contain placeholders for lone surrogates ([`crate::surrogates`]).
    pub is_mended: bool,
}

/// Creates failures of one provider, without its secrets.
#[derive(Debug, Clone)]
pub struct FailureBuilder {
    provider: String,
    secrets: SecretSet,
}

impl FailureBuilder {
    /// Creates a builder. `provider` is the display name for failure messages.
    pub fn new(provider: &str, secrets: SecretSet) -> Self {
        Self { provider: provider.to_owned(), secrets }
    }

    /// Creates a failure of this kind with a detail for diagnosis.
    pub fn failure(&self, kind: FailureKind, detail: &str) -> Failure {
        // The detail is redacted before it is truncated, because a part of a key would not be recognized.
        let short: String = self.secrets.redact(detail.trim()).chars().take(DETAIL_CHARS).collect();
        Failure::new(kind, &self.provider).with_detail(short)
    }

    /// Creates the failure that an error document inside of a successful response reports.
    pub fn failure_from_document(&self, error: &Value) -> Failure {
        error_classification::classify_document(error, &self.provider, &self.secrets)
    }
}
