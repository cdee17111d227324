//! The decoder of chat completions: from the bytes of one response body to items (providers.md 2.4, 4.2). It takes what
//! servers really send: a stream, one JSON document where a stream was asked for, an error under status 200.

use serde_json::Value;

use crate::domain::limits;
use crate::domain::{Failure, FailureKind};
use crate::server::outbound::classify;
use crate::server::outbound::openai_chat::chunks::Chunks;
use crate::server::outbound::openai_chat::dialect::Dialect;
use crate::server::outbound::openai_chat::halves;
use crate::server::outbound::openai_chat::message::Said;
use crate::server::outbound::provider::{Decoder, Item, Outcome};
use crate::server::outbound::redact::Secrets;
use crate::server::outbound::sse::{Framer, SseEvent, TooLarge};

/// How much of a body that is no reply is told to the person.
const SAID_CHARS: usize = 300;

/// What kind of body this is, known from its first byte that is not blank.
enum Body {
    /// Only blank bytes so far (and perhaps a byte order mark).
    Unknown(Vec<u8>),
    Events(Framer),
    /// JSON or a page, which mean something only as a whole.
    Document(Vec<u8>),
}

/// The state of one response body.
pub struct ChatDecoder {
    dialect: &'static Dialect,
    provider: String,
    secrets: Secrets,
    body: Body,
    chunks: Chunks,
    failure: Option<Failure>,
    /// `[DONE]` came.
    is_done: bool,
    events: u64,
}

impl ChatDecoder {
    /// `provider` is the name for people, used in sentences about failures.
    pub fn new(dialect: &'static Dialect, provider: &str, secrets: Secrets) -> Self {
        Self {
            dialect,
            provider: provider.to_owned(),
            secrets,
            body: Body::Unknown(Vec::new()),
            chunks: Chunks::default(),
            failure: None,
            is_done: false,
            events: 0,
        }
    }

    /// The same, keeping what has to go back in the next request.
    pub fn keeping_message(dialect: &'static Dialect, provider: &str) -> Self {
        let mut decoder = Self::new(dialect, provider, Secrets::default());
        decoder.chunks.said = Some(Said::default());
        decoder
    }

    /// What has to go back, if it was kept.
    pub fn into_said(self) -> Option<Said> {
        self.chunks.said
    }

    /// How many events, or chunks of a document, the body had.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn fail(&mut self, failure: Failure, out: &mut Vec<Item>) {
        if self.failure.is_none() {
            self.chunks.seam(out);
            self.failure = Some(failure.clone());
            out.push(Item::Failed(failure));
        }
    }

    fn failure(&self, kind: FailureKind, detail: &str) -> Failure {
        let short: String = detail.chars().take(SAID_CHARS).collect();
        Failure::new(kind, &self.provider).with_detail(self.secrets.redact(short.trim()))
    }

    fn event(&mut self, event: &SseEvent, out: &mut Vec<Item>) {
        if self.failure.is_some() {
            return;
        }
        self.events += 1;
        let data = event.data.trim();
        if data == "[DONE]" {
            self.is_done = true;
            return;
        }
        if data.is_empty() {
            return;
        }
        let parsed = serde_json::from_str::<Value>(data).map(|chunk| (chunk, false)).or_else(|error| {
            let mended = halves::mend(data);
            match mended {
                std::borrow::Cow::Borrowed(_) => Err(error),
                std::borrow::Cow::Owned(mended) => serde_json::from_str(&mended).map(|chunk| (chunk, true)),
            }
        });
        match parsed {
            Ok((chunk, is_mended)) => self.chunk(&chunk, is_mended, event.name == "error", out),
            Err(error) => {
                let detail = format!("An event is not JSON ({error}): {data}");
                self.fail(self.failure(FailureKind::ProviderProtocol, &detail), out);
            }
        }
    }

    fn chunk(&mut self, chunk: &Value, is_mended: bool, is_error: bool, out: &mut Vec<Item>) {
        if let Some(failure) = classify::inside(chunk, is_error, &self.provider, &self.secrets) {
            self.chunks.usage_of(chunk);
            self.fail(failure, out);
            return;
        }
        self.chunks.take(chunk, is_mended, out);
        if let Some(kind) = self.chunks.finish_reason().and_then(failed_finish) {
            let detail = format!("The reply ended with {:?}.", self.chunks.finish_reason().unwrap_or_default());
            self.fail(self.failure(kind, &detail), out);
        }
    }

    fn document(&mut self, body: &[u8], out: &mut Vec<Item>) {
        let text = String::from_utf8_lossy(body);
        let text = halves::mend(text.trim_start_matches('\u{feff}').trim());
        if !text.starts_with(['{', '[']) {
            return self.fail(self.failure(FailureKind::ProviderProtocol, &format!("It sent: {}", &*text)), out);
        }
        // One value, an array of chunks, or one chunk a line: all are values behind each other.
        for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            match value {
                Ok(Value::Array(chunks)) => chunks.iter().for_each(|chunk| self.document_chunk(chunk, out)),
                Ok(chunk) => self.document_chunk(&chunk, out),
                // Cut off: what came before it counts, and the missing end shows in the outcome.
                Err(error) if error.is_eof() => return,
                Err(error) => {
                    let detail = format!("The reply is not JSON ({error}): {}", &*text);
                    return self.fail(self.failure(FailureKind::ProviderProtocol, &detail), out);
                }
            }
        }
    }

    fn document_chunk(&mut self, chunk: &Value, out: &mut Vec<Item>) {
        if self.failure.is_none() {
            self.events += 1;
            self.chunk(chunk, true, false, out);
        }
    }

    fn too_large(&mut self, out: &mut Vec<Item>) {
        self.fail(self.failure(FailureKind::LimitEvent, &TooLarge.to_string()), out);
    }

    /// Why a body without its terminal is no reply.
    fn missing_end(&self, is_empty: bool) -> Failure {
        if is_empty {
            self.failure(FailureKind::ProviderTruncated, "The reply was empty.")
        } else if self.events > 0 && !self.chunks.has_choices() {
            self.failure(FailureKind::ProviderProtocol, "What it sent holds no reply.")
        } else {
            self.failure(FailureKind::ProviderTruncated, "")
        }
    }
}

impl Decoder for ChatDecoder {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<Item>) {
        if self.failure.is_some() || bytes.is_empty() {
            return;
        }
        match &mut self.body {
            Body::Unknown(start) => {
                start.extend_from_slice(bytes);
                let start = std::mem::take(start);
                self.body = match first_byte(&start) {
                    None => Body::Unknown(start),
                    // The first letters of the fields of a stream, and its comments.
                    Some(b'd' | b'e' | b'i' | b'r' | b':') => {
                        self.body = Body::Events(Framer::default());
                        return self.feed(&start, out);
                    }
                    Some(_) => Body::Document(start),
                };
            }
            Body::Document(body) => {
                body.extend_from_slice(bytes);
                if body.len() > limits::PROVIDER_EVENT_BYTES {
                    self.body = Body::Document(Vec::new());
                    self.too_large(out);
                }
            }
            Body::Events(framer) => {
                let mut events = Vec::new();
                let result = framer.feed(bytes, &mut |event| events.push(event));
                for event in &events {
                    self.event(event, out);
                }
                if result.is_err() {
                    self.too_large(out);
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.is_done || self.failure.is_some()
    }

    fn finish(&mut self, out: &mut Vec<Item>) -> Outcome {
        let mut is_empty = false;
        match std::mem::replace(&mut self.body, Body::Unknown(Vec::new())) {
            Body::Unknown(_) => is_empty = true,
            Body::Document(body) => self.document(&body, out),
            Body::Events(mut framer) => {
                if let Some(event) = framer.finish() {
                    self.event(&event, out);
                }
                self.body = Body::Events(framer);
            }
        }
        let is_finished = self.chunks.finish_reason().is_some() || (self.dialect.done_completes && self.is_done);
        if self.failure.is_none() {
            self.chunks.end(out);
            if !is_finished {
                self.failure = Some(self.missing_end(is_empty));
            }
        }
        out.extend(self.chunks.usage().map(Item::Usage));
        Outcome {
            complete: self.failure.is_none(),
            stop_reason: self.chunks.finish_reason().map(str::to_owned),
            failure: self.failure.clone(),
        }
    }
}

/// The first byte that says what kind of body this is, behind blanks and a byte order mark.
fn first_byte(start: &[u8]) -> Option<u8> {
    const BOM: &[u8] = "\u{feff}".as_bytes();
    if BOM.starts_with(start) {
        return None;
    }
    start.strip_prefix(BOM).unwrap_or(start).iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// Finish reasons that are failures of the server, not endings of the model.
fn failed_finish(reason: &str) -> Option<FailureKind> {
    match reason {
        "error" => Some(FailureKind::ProviderError),
        "insufficient_system_resource" => Some(FailureKind::ProviderOverloaded),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
