//! Streaming redaction: removes keys that a provider repeats from its bytes and its text, even if they are split over
//! chunks or deltas. Only a suffix that could be the beginning of a key is held back, until more input decides or the
//! stream ends.

use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use serde_json::Value;

use super::provider::{DecodeOutcome, DecodedItem, Decoder};
use super::redaction::SecretSet;
use turnleaf_domain::Failure;

/// Removes keys from a stream of bytes. Any split of the same bytes gives the same output.
#[derive(Debug, Default)]
pub struct Redactor {
    secrets: SecretSet,
    held: Vec<u8>,
    /// The work budget was exceeded: the following bytes may be a part of a key, and all of them are dropped.
    is_cut: bool,
}

impl Redactor {
    pub fn new(secrets: SecretSet) -> Self {
        Self { secrets, held: Vec::new(), is_cut: false }
    }

    /// Processes a chunk and returns the bytes that are certainly clean.
    pub fn push(&mut self, piece: Bytes) -> Bytes {
        if self.is_cut {
            return Bytes::new();
        }
        if self.held.is_empty() && self.secrets.is_clean(&piece) {
            return piece;
        }
        self.held.extend_from_slice(&piece);
        let clean = self.secrets.remove_secrets(&self.held, false);
        self.held.drain(..clean.read);
        self.is_cut = clean.is_cut;
        clean.bytes.into()
    }

    /// Returns the bytes that were held back, at the end of the stream.
    pub fn finish(&mut self) -> Bytes {
        self.secrets.remove_secrets(&take(&mut self.held), true).bytes.into()
    }
}

/// Returns the body without keys. Bytes that are held back are emitted before the end, and before the failure of a
/// broken body.
pub fn redact_body(
    body: BoxStream<'static, Result<Bytes, Failure>>,
    secrets: SecretSet,
) -> BoxStream<'static, Result<Bytes, Failure>> {
    if secrets.is_empty() {
        return body;
    }
    RedactedBody { body, redactor: Redactor::new(secrets), failure: None, is_over: false }.boxed()
}

/// A body without keys. A stream of its own, because it is polled for every piece of a reply.
struct RedactedBody {
    body: BoxStream<'static, Result<Bytes, Failure>>,
    redactor: Redactor,
    /// The failure that follows the last bytes.
    failure: Option<Failure>,
    is_over: bool,
}

impl Stream for RedactedBody {
    type Item = Result<Bytes, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(failure) = self.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            let bytes = match ready!(self.body.poll_next_unpin(context)) {
                Some(Ok(piece)) => self.redactor.push(piece),
                ended => {
                    self.is_over = true;
                    self.failure = ended.and_then(Result::err);
                    self.redactor.finish()
                }
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(bytes)));
            }
        }
    }
}

/// The text that a delta belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TextTarget {
    Text,
    Thinking,
    Arguments(u64),
    OwnArguments(String),
}

impl TextTarget {
    fn is_arguments(&self) -> bool {
        matches!(self, Self::Arguments(_) | Self::OwnArguments(_))
    }

    fn item(self, text: String) -> DecodedItem {
        match self {
            Self::Text => DecodedItem::Text(text),
            Self::Thinking => DecodedItem::Thinking(text),
            Self::Arguments(index) => DecodedItem::ToolArguments { index, text },
            Self::OwnArguments(id) => DecodedItem::ProviderToolArguments { id, text },
        }
    }
}

/// Decoder that removes keys from the text of another decoder, even if a key is split over events. The arguments of
/// parallel calls are separate texts, each with its own held-back suffix.
pub struct RedactingDecoder {
    decoder: Box<dyn Decoder>,
    secrets: SecretSet,
    /// The texts that may continue.
    strands: Vec<(TextTarget, Redactor)>,
    decoded: Vec<DecodedItem>,
}

impl RedactingDecoder {
    /// Wraps a decoder; returns it unchanged if there are no secrets.
    pub fn wrap(decoder: Box<dyn Decoder>, secrets: SecretSet) -> Box<dyn Decoder> {
        if secrets.is_empty() {
            return decoder;
        }
        Box::new(Self { decoder, secrets, strands: Vec::new(), decoded: Vec::new() })
    }

    /// Emits the held-back suffixes of the texts that are over.
    fn finish_targets(&mut self, is_over: impl Fn(&TextTarget) -> bool, out: &mut Vec<DecodedItem>) {
        for (strand, mut redactor) in self.strands.extract_if(.., |(strand, _)| is_over(strand)) {
            let rest = into_text(redactor.finish());
            if !rest.is_empty() {
                out.push(strand.item(rest));
            }
        }
    }

    /// Emits a text that replaces what was emitted of its target. The text may continue, so a suffix may be held back.
    fn replace_text(&mut self, item: DecodedItem, out: &mut Vec<DecodedItem>) {
        let (strand, text) = match item {
            DecodedItem::TextReplaced(text) => (TextTarget::Text, text),
            DecodedItem::ThinkingReplaced(text) => (TextTarget::Thinking, text),
            DecodedItem::ToolArgumentsReplaced { index, text } => (TextTarget::Arguments(index), text),
            other => return out.push(other),
        };
        self.finish_targets(|known| *known != strand && !known.is_arguments(), out);
        self.strands.retain(|(known, _)| *known != strand);
        let mut redactor = Redactor::new(self.secrets.clone());
        let clean = into_text(redactor.push(text.into()));
        self.strands.push((strand.clone(), redactor));
        out.push(match strand {
            TextTarget::Text => DecodedItem::TextReplaced(clean),
            TextTarget::Thinking => DecodedItem::ThinkingReplaced(clean),
            TextTarget::Arguments(index) => DecodedItem::ToolArgumentsReplaced { index, text: clean },
            TextTarget::OwnArguments(id) => DecodedItem::ProviderToolArguments { id, text: clean },
        });
    }

    fn redact_items(&mut self, out: &mut Vec<DecodedItem>) {
        for item in take(&mut self.decoded) {
            let (strand, text) = match item {
                DecodedItem::Text(text) => (TextTarget::Text, text),
                DecodedItem::Thinking(text) => (TextTarget::Thinking, text),
                DecodedItem::ToolArguments { index, text } => (TextTarget::Arguments(index), text),
                DecodedItem::ProviderToolArguments { id, text } => (TextTarget::OwnArguments(id), text),
                item @ (DecodedItem::TextReplaced(_)
                | DecodedItem::ThinkingReplaced(_)
                | DecodedItem::ToolArgumentsReplaced { .. }) => {
                    self.replace_text(item, out);
                    continue;
                }
                item @ (DecodedItem::ThinkingTitle(_) | DecodedItem::FinishedReplaced { .. }) => {
                    out.push(self.redact_item(item));
                    continue;
                }
                // These items may occur within a text.
                item @ (DecodedItem::Model(_)
                | DecodedItem::ThinkingHeadings
                | DecodedItem::Usage(_)
                | DecodedItem::Cost(_)
                | DecodedItem::ResponseId(_)) => {
                    out.push(item);
                    continue;
                }
                // A new call may start while the arguments of others are still being received.
                item @ (DecodedItem::ToolCall { .. } | DecodedItem::ProviderToolCall { .. }) => {
                    self.finish_targets(|strand| !strand.is_arguments(), out);
                    out.push(item);
                    continue;
                }
                item => {
                    self.finish_targets(|_| true, out);
                    out.push(self.redact_item(item));
                    continue;
                }
            };
            // Text and reasoning follow one another; arguments are parallel to everything else.
            self.finish_targets(|known| *known != strand && !known.is_arguments(), out);
            let at = self.strands.iter().position(|(known, _)| *known == strand).unwrap_or_else(|| {
                self.strands.push((strand.clone(), Redactor::new(self.secrets.clone())));
                self.strands.len() - 1
            });
            let was_empty = text.is_empty();
            let clean = into_text(self.strands[at].1.push(text.into()));
            // An empty text is kept, because it announces a text.
            if was_empty || !clean.is_empty() {
                out.push(strand.item(clean));
            }
        }
    }

    /// Redacts an item that arrives in one piece.
    fn redact_item(&self, item: DecodedItem) -> DecodedItem {
        let secrets = &self.secrets;
        match item {
            DecodedItem::ProviderToolResult { id, name, result, is_error } => {
                DecodedItem::ProviderToolResult { id, name, result: secrets.redact_value(result), is_error }
            }
            DecodedItem::ThinkingTitle(title) => DecodedItem::ThinkingTitle(secrets.redact(&title)),
            DecodedItem::FinishedReplaced { block, text } => {
                let mut redactor = Redactor::new(secrets.clone());
                let clean = into_text(redactor.push(text.into())) + &into_text(redactor.finish());
                DecodedItem::FinishedReplaced { block, text: clean }
            }
            DecodedItem::Opaque(fields) => match secrets.redact_value(Value::Object(fields)) {
                Value::Object(fields) => DecodedItem::Opaque(fields),
                _ => DecodedItem::Opaque(Default::default()),
            },
            other => other,
        }
    }
}

impl Decoder for RedactingDecoder {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<DecodedItem>) {
        self.decoder.feed(bytes, &mut self.decoded);
        self.redact_items(out);
    }

    fn note_requested_model(&mut self, model: &str) {
        self.decoder.note_requested_model(model);
    }

    fn is_over(&self) -> bool {
        self.decoder.is_over()
    }

    fn finish(&mut self, out: &mut Vec<DecodedItem>) -> DecodeOutcome {
        let outcome = self.decoder.finish(&mut self.decoded);
        self.redact_items(out);
        self.finish_targets(|_| true, out);
        outcome
    }

    fn has_headings(&self) -> bool {
        self.decoder.has_headings()
    }

    fn event_count(&self) -> u64 {
        self.decoder.event_count()
    }
}

/// Keys start and end at character boundaries, so the bytes are valid UTF-8.
fn into_text(bytes: Bytes) -> String {
    String::from_utf8(bytes.into()).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
