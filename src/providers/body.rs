//! Decoder of one response body of any API: splits the bytes into JSON values (an event stream, JSON lines, a single
//! document instead of a stream, or an error under status 200; docs/reference/providers.md 2.1, 2.4). The
//! [`ResponseReader`] of the API interprets the values.

use serde_json::Value;

use crate::json_text::{parse, replace_escaped_nuls};
use crate::provider::{DecodeOutcome, DecodedItem, Decoder};
use crate::reader::{BodyValue, FailureBuilder, ResponseReader};
use crate::sse::{EventTooLarge, SseParser};
use crate::surrogates;
use turnleaf_domain::encoding::json_bounds::PlainJson;
use turnleaf_domain::limits;
use turnleaf_domain::providers::stop_reason::failed_stop;
use turnleaf_domain::{Failure, FailureKind, Usage};

/// The format of the body, recognized by its first byte that is not white space.
enum BodyShape {
    /// Only white space so far, and perhaps a byte order mark.
    Unknown(Vec<u8>),
    Events(SseParser),
    Lines(LineBuffer),
    /// JSON or an HTML page, which can be interpreted only as a whole.
    Document(Vec<u8>),
}

/// Buffer for JSON lines: values in sequence, each of which ends with a line.
#[derive(Default)]
struct LineBuffer {
    held: Vec<u8>,
    /// The length of `held` at the last failed parse. It is parsed again only at twice that length, so that the work
    /// stays linear.
    tried: usize,
}

/// Decoder of one body with the reader of its API.
pub struct JsonBody<R> {
    judge: FailureBuilder,
    shape: BodyShape,
    reader: R,
    failure: Option<Failure>,
    /// The terminal was received: later values cannot turn the reply into a failure.
    is_terminated: bool,
    events: u64,
}

impl<R: ResponseReader> JsonBody<R> {
    pub fn new(reader: R, judge: FailureBuilder) -> Self {
        Self { judge, shape: BodyShape::Unknown(Vec::new()), reader, failure: None, is_terminated: false, events: 0 }
    }

    /// Returns the reader with what it has collected.
    pub fn into_reader(self) -> R {
        self.reader
    }

    /// Decodes a stored body without its items. Returns the reader, and whether the response is complete.
    pub fn read_stored(mut self, body: &[u8]) -> (R, bool) {
        let mut items = Vec::new();
        self.feed(body, &mut items);
        let is_complete = self.finish(&mut items).complete;
        (self.into_reader(), is_complete)
    }

    fn fail(&mut self, failure: Failure, out: &mut Vec<DecodedItem>) {
        if self.failure.is_none() && !self.is_terminated {
            self.reader.flush(out);
            self.failure = Some(failure.clone());
            out.push(DecodedItem::Failed(failure));
        }
    }

    fn event(&mut self, name: &str, data: &str, out: &mut Vec<DecodedItem>) {
        if self.failure.is_some() {
            return;
        }
        self.events += 1;
        let data = data.trim();
        if data == "[DONE]" {
            self.reader.note_done();
            return self.note_terminal();
        }
        if data.is_empty() {
            return;
        }
        if name.is_empty() && self.reader.read_repeated(data, out) {
            return self.note_terminal();
        }
        match parse(data) {
            Ok((value, is_mended)) => {
                self.value(BodyValue { value: &value, event: name, json: data, is_mended }, out);
            }
            Err(error) => {
                let detail = format!("An event is not JSON ({error}): {data}");
                self.fail(self.judge.failure(FailureKind::ProviderProtocol, &detail), out);
            }
        }
    }

    fn value(&mut self, parsed: BodyValue<'_>, out: &mut Vec<DecodedItem>) {
        if self.reader.is_error(parsed) {
            self.reader.read_usage(parsed.value);
            return self.fail(self.judge.failure_from_document(parsed.value), out);
        }
        match self.reader.read_value(parsed, &self.judge, out) {
            Ok(()) => self.note_terminal(),
            Err(failure) => self.fail(failure, out),
        }
    }

    fn note_terminal(&mut self) {
        self.is_terminated = R::HAS_TERMINAL && self.reader.is_over();
    }

    fn document(&mut self, body: &[u8], out: &mut Vec<DecodedItem>) {
        let text = String::from_utf8_lossy(body);
        let text = surrogates::replace_lone_surrogates(text.trim_start_matches('\u{feff}').trim());
        if !text.starts_with(['{', '[']) {
            let detail = format!("Response: {}", &*text);
            return self.fail(self.judge.failure(FailureKind::ProviderProtocol, &detail), out);
        }
        // One value, an array of chunks, or one chunk per line: all are read as values in sequence.
        for value in serde_json::Deserializer::from_str(&text).into_iter::<PlainJson>() {
            match value.map(|PlainJson(mut value)| {
                replace_escaped_nuls(&mut value, &text);
                value
            }) {
                Ok(Value::Array(chunks)) => chunks.iter().for_each(|chunk| self.document_value(chunk, out)),
                Ok(chunk) => self.document_value(&chunk, out),
                // The document was cut off: the values before count, and the outcome reports the missing end.
                Err(error) if error.is_eof() => return,
                Err(error) => {
                    let detail = format!("The reply is not JSON ({error}): {}", &*text);
                    return self.fail(self.judge.failure(FailureKind::ProviderProtocol, &detail), out);
                }
            }
        }
    }

    fn document_value(&mut self, value: &Value, out: &mut Vec<DecodedItem>) {
        if self.failure.is_none() {
            self.events += 1;
            self.value(BodyValue { value, event: "", json: "", is_mended: true }, out);
        }
    }

    /// Parses the line at the end of `held`, together with earlier lines that were no complete value.
    fn line(&mut self, lines: &mut LineBuffer, out: &mut Vec<DecodedItem>) {
        if lines.tried > 0 && lines.held.len() < lines.tried * 2 {
            return;
        }
        let text = String::from_utf8_lossy(&lines.held);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return lines.held.clear();
        }
        match parse(text) {
            Ok((value, is_mended)) => {
                self.events += 1;
                self.value(BodyValue { value: &value, event: "", json: "", is_mended }, out);
                *lines = LineBuffer::default();
            }
            Err(error) if error.is_eof() => lines.tried = lines.held.len(),
            Err(_) => {
                let held = std::mem::take(lines).held;
                self.document(&held, out);
            }
        }
    }

    fn too_large(&mut self, out: &mut Vec<DecodedItem>) {
        self.fail(self.judge.failure(FailureKind::LimitEvent, &EventTooLarge.to_string()), out);
    }

    /// Returns the failure of a body without its terminal.
    fn missing_end(&self, is_empty: bool) -> Failure {
        if is_empty {
            self.judge.failure(FailureKind::ProviderTruncated, "The reply was empty.")
        } else if self.events > 0 && !self.reader.has_reply() {
            self.judge.failure(FailureKind::ProviderProtocol, "The response contains no reply.")
        } else {
            self.judge.failure(FailureKind::ProviderTruncated, "")
        }
    }
}

impl<R: ResponseReader> Decoder for JsonBody<R> {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<DecodedItem>) {
        if self.failure.is_some() || bytes.is_empty() {
            return;
        }
        match &mut self.shape {
            BodyShape::Unknown(start) => {
                // A buffer at least as long as a byte order mark was scanned before and has only white space; only
                // the new bytes are scanned.
                let seen = if start.len() < BOM.len() { 0 } else { start.len() };
                start.extend_from_slice(bytes);
                let start = std::mem::take(start);
                let first = if seen == 0 { first_byte(&start) } else { first_non_blank(&start[seen..]) };
                self.shape = match first {
                    None if start.len() > limits::PROVIDER_EVENT_BYTES => return self.too_large(out),
                    None => BodyShape::Unknown(start),
                    // The first letters of the SSE fields, and `:` for comments.
                    Some(b'd' | b'e' | b'i' | b'r' | b':') => {
                        self.shape = BodyShape::Events(SseParser::default());
                        return self.feed(&start, out);
                    }
                    Some(b'{') if R::IS_JSON_LINES => {
                        self.shape = BodyShape::Lines(LineBuffer::default());
                        return self.feed(&start, out);
                    }
                    Some(_) => BodyShape::Document(start),
                };
            }
            BodyShape::Document(body) => {
                body.extend_from_slice(bytes);
                if body.len() > limits::PROVIDER_EVENT_BYTES {
                    self.shape = BodyShape::Document(Vec::new());
                    self.too_large(out);
                }
            }
            BodyShape::Lines(lines) => {
                let mut lines = std::mem::take(lines);
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    lines.held.extend_from_slice(piece);
                    if lines.held.len() > limits::PROVIDER_EVENT_BYTES {
                        lines = LineBuffer::default();
                        self.too_large(out);
                        break;
                    }
                    if piece.ends_with(b"\n") && self.failure.is_none() {
                        self.line(&mut lines, out);
                    }
                }
                self.shape = BodyShape::Lines(lines);
            }
            BodyShape::Events(framer) => {
                let mut framer = std::mem::take(framer);
                let result = framer.feed_borrowed(bytes, &mut |name, data| self.event(name, data, out));
                self.shape = BodyShape::Events(framer);
                if result.is_err() {
                    self.too_large(out);
                }
            }
        }
    }

    fn note_requested_model(&mut self, model: &str) {
        self.reader.note_requested_model(model);
    }

    fn is_over(&self) -> bool {
        self.reader.is_over() || self.failure.is_some()
    }

    fn finish(&mut self, out: &mut Vec<DecodedItem>) -> DecodeOutcome {
        let mut is_empty = false;
        match std::mem::replace(&mut self.shape, BodyShape::Unknown(Vec::new())) {
            BodyShape::Unknown(_) => is_empty = true,
            BodyShape::Document(body) => self.document(&body, out),
            BodyShape::Lines(lines) => {
                if self.failure.is_none() && !lines.held.trim_ascii().is_empty() {
                    self.document(&lines.held, out);
                }
            }
            BodyShape::Events(mut framer) => {
                if let Some(event) = framer.finish() {
                    self.event(&event.name, &event.data, out);
                }
            }
        }
        if self.failure.is_none() {
            self.reader.finish(out);
            if !self.reader.is_complete() {
                self.failure = Some(self.missing_end(is_empty));
            } else if let Some(reason) = self.reader.stop_reason()
                && let Some(kind) = failed_stop(reason)
            {
                let detail = format!("The reply ended with {reason:?}.");
                self.failure = Some(self.judge.failure(kind, &detail));
            }
        }
        out.extend(self.reader.cost().map(DecodedItem::Cost));
        out.extend(self.reader.usage().map(Usage::without_implausible_counts).map(DecodedItem::Usage));
        DecodeOutcome {
            complete: self.failure.is_none(),
            stop_reason: self.reader.stop_reason().map(str::to_owned),
            failure: self.failure.clone(),
        }
    }

    fn has_headings(&self) -> bool {
        R::HAS_HEADINGS
    }

    fn event_count(&self) -> u64 {
        self.events
    }
}

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Returns the byte that identifies the format: the first one after the byte order mark and white space.
fn first_byte(start: &[u8]) -> Option<u8> {
    if BOM.starts_with(start) {
        return None;
    }
    first_non_blank(start.strip_prefix(BOM).unwrap_or(start))
}

fn first_non_blank(bytes: &[u8]) -> Option<u8> {
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}
