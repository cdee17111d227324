//! Sanitizes tool output: terminal escapes are stripped, NUL becomes its visible symbol, invisible characters are
//! counted and kept.

use serde_json::{Map, Value, json};

use turnleaf_domain::limits;
use turnleaf_domain::text::hidden_text::count_hidden_characters;
use turnleaf_providers::distinct_names::DistinctNames;
use turnleaf_providers::redaction::SecretSet;

/// Counts of the changes to the texts of one result.
#[derive(Debug, Default)]
pub struct ResultSanitizer {
    /// Redacted from every text after its escapes are stripped.
    secrets: SecretSet,
    nul: usize,
    ansi: usize,
    hidden: u64,
}

impl ResultSanitizer {
    pub fn with_secrets(secrets: SecretSet) -> Self {
        Self { secrets, ..Self::default() }
    }

    pub fn clean_text(&mut self, text: String) -> String {
        const ESCAPE: char = '\u{1b}';
        let text = match text.matches(ESCAPE).count() {
            0 => text,
            escapes => {
                self.ansi += escapes;
                self.secrets.redact_known(strip_escapes(&text))
            }
        };
        let text = match text.matches('\0').count() {
            0 => text,
            count => {
                self.nul += count;
                text.replace('\0', "\u{2400}")
            }
        };
        self.hidden += u64::from(count_hidden_characters(&text));
        text
    }

    /// Sanitizes every string of a value, including names. Names that become equal are kept distinct.
    pub fn clean_value(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean_text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.clean_value(item)).collect(),
            Value::Object(members) => {
                let mut cleaned = DistinctNames::default();
                for (name, value) in members {
                    cleaned.insert(self.clean_text(name), self.clean_value(value));
                }
                cleaned.into_object()
            }
            other => other,
        }
    }

    /// Returns the counts that are not zero.
    pub fn counts(&self) -> Option<Value> {
        let all = [("nul", self.nul as u64), ("ansi", self.ansi as u64), ("hidden", self.hidden)];
        let counts: Map<String, Value> =
            all.into_iter().filter(|(_, n)| *n > 0).map(|(key, n)| (key.to_owned(), json!(n))).collect();
        (!counts.is_empty()).then_some(Value::Object(counts))
    }
}

/// Returns whether a value is nested deeper than the JSON limit.
pub fn is_too_deep(value: &Value) -> bool {
    fn deeper(value: &Value, levels: usize) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| levels == 0 || deeper(item, levels - 1)),
            Value::Object(members) => members.values().any(|item| levels == 0 || deeper(item, levels - 1)),
            _ => false,
        }
    }
    deeper(value, limits::JSON_DEPTH)
}

/// Strips terminal escapes from a text. Each line is stripped separately, so that an unterminated escape takes no
/// more than its line; tabs and line breaks are kept from the parser, which would drop them.
pub fn strip_escapes(text: &str) -> String {
    let pieces = text.split_inclusive(['\n', '\t', '\r']);
    pieces
        .map(|piece| match piece.strip_suffix(['\n', '\t', '\r']) {
            Some(inner) => strip_ansi_escapes::strip_str(inner) + &piece[inner.len()..],
            None => strip_ansi_escapes::strip_str(piece),
        })
        .collect()
}

/// Decodes bytes as UTF-8; returns the text and the number of invalid sequences that became `U+FFFD`.
pub fn decode_lossy(bytes: &[u8]) -> (String, usize) {
    let mut text = String::with_capacity(bytes.len());
    let mut invalid = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            invalid += 1;
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (text, invalid)
}
