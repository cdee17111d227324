//! What each API brings to reading a response body: the meaning of the JSON values in it. How they come out of the bytes
//! is `body`.

use serde_json::Value;

use crate::error_classification;
use crate::provider::DecodedItem;
use crate::redaction::SecretSet;
use turnleaf_domain::{Failure, FailureKind, Usage};

/// How much of a body that is no reply is told to the person.
const DETAIL_CHARS: usize = 300;

/// What an API makes of the values of one body, in their order.
pub trait ResponseReader: Send {
    /// Whether a body that begins with `{` is one value a line, to be read as it comes.
    const IS_JSON_LINES: bool = false;
    /// Whether the API has a last word, behind which nothing belongs to the reply but perhaps its usage. Where it has
    /// none, what comes behind a stop reason may be the reply's still.
    const HAS_TERMINAL: bool = true;

    /// Whether a value is an error document in the place of a reply.
    fn is_error(&self, said: BodyValue<'_>) -> bool;
    /// Takes one value that is none. An error ends the reply with that failure.
    fn read_value(
        &mut self,
        said: BodyValue<'_>,
        judge: &FailureBuilder,
        out: &mut Vec<DecodedItem>,
    ) -> Result<(), Failure>;
    /// The body failed with this value: what it says of usage still counts.
    fn read_usage(&mut self, value: &Value) {
        let _ = value;
    }
    /// `[DONE]` came.
    fn note_done(&mut self) {}
    /// Gives out text that was held back, because nothing can complete it any more.
    fn flush(&mut self, out: &mut Vec<DecodedItem>);
    /// The body is over without a failure of its own.
    fn finish(&mut self, out: &mut Vec<DecodedItem>) {
        self.flush(out);
    }
    /// Nothing that matters can follow.
    fn is_over(&self) -> bool;
    /// The terminal that proves completeness was seen (providers.md 2.4).
    fn is_complete(&self) -> bool;
    /// Whether anything so far belonged to a reply.
    fn has_reply(&self) -> bool;
    fn stop_reason(&self) -> Option<&str>;
    fn usage(&self) -> Option<Usage>;
    /// What the provider says that it cost, in millionths of a US dollar; few do.
    fn cost(&self) -> Option<u64> {
        None
    }
}

/// One value of a body.
#[derive(Debug, Clone, Copy)]
pub struct BodyValue<'a> {
    pub value: &'a Value,
    /// The `event:` field of the event it came in; empty elsewhere.
    pub event: &'a str,
    /// Halves of surrogate pairs stand in it as `halves` says.
    pub is_mended: bool,
}

/// Makes failures in the words of one provider, without its secrets.
#[derive(Debug, Clone)]
pub struct FailureBuilder {
    provider: String,
    secrets: SecretSet,
}

impl FailureBuilder {
    /// `provider` is the name for people, used in sentences about failures.
    pub fn new(provider: &str, secrets: SecretSet) -> Self {
        Self { provider: provider.to_owned(), secrets }
    }

    /// A failure of this kind with a detail for people who help.
    pub fn failure(&self, kind: FailureKind, detail: &str) -> Failure {
        // Half a key is found by nobody.
        let short: String = self.secrets.redact(detail.trim()).chars().take(DETAIL_CHARS).collect();
        Failure::new(kind, &self.provider).with_detail(short)
    }

    /// The failure that an error document inside a successful response reports.
    pub fn failure_from_document(&self, error: &Value) -> Failure {
        error_classification::classify_document(error, &self.provider, &self.secrets)
    }
}
