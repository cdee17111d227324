//! What a tool wrote, without what no page and no database takes: escapes of terminals are taken out, NUL becomes its
//! picture, what cannot be seen is counted and stays (reliability.md F76).

use serde_json::{Map, Value, json};

use turnleaf_domain::hidden_text::count_hidden_characters;
use turnleaf_domain::limits;
use turnleaf_providers::distinct_names::DistinctNames;
use turnleaf_providers::redaction::SecretSet;

/// What was done to the texts of one result.
#[derive(Debug, Default)]
pub struct ResultSanitizer {
    /// What no text may hold, once its escapes are out.
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

    /// Every string in it, names included. Two names that become one stay two.
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

    /// Only what was done.
    pub fn counts(&self) -> Option<Value> {
        let all = [("nul", self.nul as u64), ("ansi", self.ansi as u64), ("hidden", self.hidden)];
        let counts: Map<String, Value> =
            all.into_iter().filter(|(_, n)| *n > 0).map(|(key, n)| (key.to_owned(), json!(n))).collect();
        (!counts.is_empty()).then_some(Value::Object(counts))
    }
}

/// Whether a value is nested deeper than anything of ours takes.
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

/// A text without a terminal's escapes. One that never ends takes no more than its line; the parser knows line feeds
/// alone, so other blanks are kept from it.
pub fn strip_escapes(text: &str) -> String {
    let pieces = text.split_inclusive(['\n', '\t', '\r']);
    pieces
        .map(|piece| match piece.strip_suffix(['\n', '\t', '\r']) {
            Some(inner) => strip_ansi_escapes::strip_str(inner) + &piece[inner.len()..],
            None => strip_ansi_escapes::strip_str(piece),
        })
        .collect()
}

/// Bytes as text, and how many sequences of them were none and became `U+FFFD`.
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
