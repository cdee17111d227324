//! Turns tool output into the result that is stored: sanitized, bounded, with images and oversized content as blobs.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use sanitizer::{ResultSanitizer, is_too_deep};
use turnleaf_domain::blocks::sources::SourceInput;
use turnleaf_domain::documents::image_type::detect_image_type;
use turnleaf_domain::limits;
use turnleaf_platform::hex::hex;
use turnleaf_providers::redaction::SecretSet;

pub mod binary_text;
mod picture_redraw;
pub mod repeated_content;
mod result_view;
mod sanitizer;

pub use picture_redraw::redraw_pictures;
pub use result_view::ResultView;
pub use sanitizer::{decode_lossy, strip_escapes};

/// The outcome of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    Done,
    /// The tool reported an error.
    Failed,
    TimedOut,
    /// The server exited or the connection broke during the call.
    Crashed,
    /// No tool or server can run the call now.
    Unavailable,
    /// The server did not execute the call, because its owner has to sign in first.
    SignInNeeded,
    Cancelled,
}

/// The result of a call as it is stored: sanitized and bounded.
#[derive(Debug, Clone)]
pub struct CallResult {
    pub outcome: CallOutcome,
    pub result: Value,
    /// Metadata of the result's block, such as blobs, truncation and sanitizer counts.
    pub metadata: Map<String, Value>,
    pub blobs: Vec<NewBlob>,
    /// The pages that the result is about. They become sources of the reply.
    pub sources: Vec<SourceInput>,
}

/// Content of a result that is stored as a blob instead of in the block's row.
#[derive(Debug, Clone)]
pub struct NewBlob {
    /// Hex.
    pub sha256: String,
    pub mime: String,
    pub bytes: Bytes,
}

/// One part of a tool's output, in order.
#[derive(Debug, Clone)]
pub enum ResultPart {
    Text(String),
    Image {
        mime: String,
        bytes: Bytes,
    },
    /// Bytes of another kind, such as audio or a file.
    Other {
        mime: String,
        bytes: Bytes,
    },
}

/// Builds a result from a tool's parts and its structured content, if any, which is appended to the text unless both
/// are equal.
pub fn build_result(outcome: CallOutcome, parts: Vec<ResultPart>, structured: Option<Value>) -> CallResult {
    build_redacted_result(&SecretSet::default(), outcome, parts, structured)
}

/// Like [`build_result`], and redacts credentials that become whole only after the terminal escapes between their
/// characters are stripped. Credentials that are whole within a part must be redacted before.
pub fn build_redacted_result(
    secrets: &SecretSet,
    outcome: CallOutcome,
    parts: Vec<ResultPart>,
    structured: Option<Value>,
) -> CallResult {
    let mut cleaned = ResultSanitizer::with_secrets(secrets.clone());
    let mut held = ResultBlobs::default();
    let mut texts = Vec::new();
    let last_text = parts.iter().rposition(|part| matches!(part, ResultPart::Text(_)));
    for (at, part) in parts.into_iter().enumerate() {
        match part {
            ResultPart::Text(text) => texts.push(cleaned.clean_text(text)),
            ResultPart::Image { mime, bytes } | ResultPart::Other { mime, bytes } => {
                let before = held.images.len();
                texts.extend(held.take(&mime, bytes));
                // Images come after the text, so one before a text leaves a note in its place.
                if held.images.len() > before && last_text.is_some_and(|last| at < last) {
                    texts.push(format!("[{}]", image_name(before)));
                }
            }
        }
    }
    let text = texts.join("\n\n");
    let result_body = match structured {
        None => ResultBody::Text(text),
        Some(value) if is_too_deep(&value) => ResultBody::from_text_and(text, cleaned.clean_text(value.to_string())),
        Some(value) => {
            let value = cleaned.clean_value(value);
            let is_equal =
                text.trim().is_empty() || serde_json::from_str(&text).is_ok_and(|parsed: Value| parsed == value);
            match is_equal {
                true => ResultBody::Structured(value),
                false => ResultBody::from_text_and(text, value.to_string()),
            }
        }
    };
    let result = held.cut_to_row(result_body);
    let metadata = metadata(outcome, &held, &cleaned);
    CallResult { outcome, result, metadata, blobs: held.blobs, sources: Vec::new() }
}

/// Sanitizes every string of a value like the texts of a result. `None` if it is nested too deeply.
pub fn clean_value(secrets: &SecretSet, value: Value) -> Option<Value> {
    // Credentials that are whole are redacted first, because a broken escape swallows a character.
    let value = if secrets.is_empty() { value } else { secrets.redact_value(value) };
    (!is_too_deep(&value)).then(|| ResultSanitizer::with_secrets(secrets.clone()).clean_value(value))
}

/// Builds a result from one text of Turnleaf's own, such as an error or a refusal.
pub fn text_result(outcome: CallOutcome, text: &str) -> CallResult {
    build_result(outcome, vec![ResultPart::Text(text.to_owned())], None)
}

/// Records in the metadata how many invalid byte sequences of the source were replaced with `U+FFFD`.
pub fn note_invalid_bytes(mut outcome: CallResult, invalid: usize) -> CallResult {
    if invalid > 0
        && let Some(cleaned) =
            outcome.metadata.entry("cleaned").or_insert_with(|| Value::Object(Map::new())).as_object_mut()
    {
        cleaned.insert("invalid".into(), json!(invalid));
    }
    outcome
}

fn metadata(outcome: CallOutcome, held: &ResultBlobs, cleaned: &ResultSanitizer) -> Map<String, Value> {
    let mut metadata = Map::new();
    let mut set = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
    if let Some(cut) = &held.cut {
        set("cut", cut.clone());
    }
    if let Some(whole) = &held.whole {
        set("whole", json!({ "blob": whole }));
    }
    if !held.images.is_empty() {
        set("images", held.images.clone().into());
    }
    if !held.files.is_empty() {
        set("files", held.files.clone().into());
    }
    if let Some(counts) = cleaned.counts() {
        set("cleaned", counts);
    }
    match outcome {
        CallOutcome::TimedOut => drop(set("timed_out", json!(true))),
        CallOutcome::Crashed => drop(set("crashed", json!(true))),
        CallOutcome::SignInNeeded => drop(set("sign_in_needed", json!(true))),
        CallOutcome::Done | CallOutcome::Failed | CallOutcome::Unavailable | CallOutcome::Cancelled => {}
    }
    metadata
}

enum ResultBody {
    Text(String),
    Structured(Value),
}

impl ResultBody {
    fn from_text_and(text: String, more: String) -> Self {
        Self::Text(if text.trim().is_empty() { more } else { format!("{text}\n\n{more}") })
    }
}

/// Blobs of a result, collected while its parts are read.
#[derive(Default)]
struct ResultBlobs {
    blobs: Vec<NewBlob>,
    bytes: usize,
    images: Vec<Value>,
    files: Vec<Value>,
    cut: Option<Value>,
    /// Blob of the full text of a result that fits its row but is longer than pages show.
    whole: Option<String>,
}

impl ResultBlobs {
    /// Stores bytes as a blob; returns a sentence for the model if they exceed the limits.
    fn take(&mut self, mime: &str, bytes: Bytes) -> Option<String> {
        let image = detect_image_type(&bytes);
        let mime = image.map_or_else(|| normalized_mime(mime), str::to_owned);
        let is_image =
            image.is_some() && bytes.len() <= limits::TOOL_IMAGE_BYTES && self.images.len() < limits::TOOL_IMAGES;
        let is_many = self.files.len() >= limits::TOOL_IMAGES || self.bytes + bytes.len() > limits::TOOL_BLOB_BYTES;
        let size = bytes.len();
        if is_many && (!is_image || self.bytes + size > limits::TOOL_BLOB_BYTES) {
            return Some(format!("[{mime}, {size} bytes: omitted because the result is too large]"));
        }
        let blob = self.keep(&mime, bytes);
        if is_image {
            let alt = image_name(self.images.len());
            self.images.push(json!({"blob": blob, "mime": mime, "alt": alt}));
        } else {
            self.files.push(json!({"blob": blob, "mime": mime, "bytes": size}));
        }
        None
    }

    /// Returns the content for the row: the whole, or its beginning with the whole stored as a blob.
    fn cut_to_row(&mut self, body: ResultBody) -> Value {
        let (text, mime, value) = match body {
            ResultBody::Text(text) => (text, "text/plain; charset=utf-8", None),
            ResultBody::Structured(value) => (value.to_string(), "application/json", Some(value)),
        };
        let total = text.len();
        if total <= limits::TOOL_RESULT_BYTES {
            if total > limits::TOOL_SHOWN_BYTES && self.bytes + total <= limits::TOOL_BLOB_BYTES {
                self.whole = Some(self.keep(mime, Bytes::from(text.clone())));
            }
            return value.unwrap_or(Value::String(text));
        }
        let mut cut = Map::from_iter([("bytes".to_owned(), json!(total))]);
        let begin = text[..text.floor_char_boundary(limits::TOOL_RESULT_BYTES)].to_owned();
        let room = limits::TOOL_BLOB_BYTES.saturating_sub(self.bytes);
        if room > limits::TOOL_RESULT_BYTES {
            let end = text.floor_char_boundary(room.min(total));
            let mime = if end < total { "text/plain; charset=utf-8" } else { mime };
            cut.insert("blob".into(), json!(self.keep(mime, Bytes::from(text).slice(..end))));
        }
        self.cut = Some(Value::Object(cut));
        Value::String(begin)
    }

    fn keep(&mut self, mime: &str, bytes: Bytes) -> String {
        let sha256 = hex(Sha256::digest(&bytes));
        if self.blobs.iter().all(|known| known.sha256 != sha256) {
            self.bytes += bytes.len();
            self.blobs.push(NewBlob { sha256: sha256.clone(), mime: mime.to_owned(), bytes });
        }
        sha256
    }
}

fn image_name(before: usize) -> String {
    format!("Image {}", before + 1)
}

/// Returns the claimed MIME type in lower case, or `application/octet-stream` if it is not a valid one.
fn normalized_mime(mime: &str) -> String {
    const LONGEST: usize = 100;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '+' | '.' | '_');
    let plain = mime.split(';').next().unwrap_or_default().trim();
    let is_kind = plain.matches('/').count() == 1 && plain.len() <= LONGEST && plain.chars().all(fits);
    if is_kind { plain.to_ascii_lowercase() } else { "application/octet-stream".into() }
}

#[cfg(test)]
mod tests;
