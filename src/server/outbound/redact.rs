//! Secrets out of what providers say: some repeat the key they refuse. Everything that is stored or shown of an error
//! goes through here.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

const REMOVED: &str = "[removed]";
/// Shorter words are not searched for: they would hit ordinary text.
const SHORTEST: usize = 6;
/// How keys of well-known providers begin.
const SHAPES: [&str; 9] = ["sk-", "sk_", "gsk_", "xai-", "AIza", "pplx-", "hf_", "r8_", "nvapi-"];
/// A word of such a shape is a key from this length on.
const SHAPED: usize = 12;

/// The secrets of one endpoint. `Debug` shows none of them.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Arc<[SecretString]>);

impl Secrets {
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        Self(secrets.into_iter().filter(|secret| secret.expose_secret().len() >= SHORTEST).collect())
    }

    /// The text without known secrets and without words that look like keys.
    pub fn redact(&self, text: &str) -> String {
        let text = String::from_utf8_lossy(&self.clean(text.as_bytes(), true).0).into_owned();
        let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*');
        let mut clean = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(start) = rest.find(is_of_key) {
            let length = rest[start..].find(|c| !is_of_key(c)).unwrap_or(rest.len() - start);
            let (before, word) = rest[..start + length].split_at(start);
            let is_key = length >= SHAPED && SHAPES.iter().any(|shape| word.starts_with(shape));
            clean.push_str(before);
            clean.push_str(if is_key { REMOVED } else { word });
            rest = &rest[start + length..];
        }
        clean.push_str(rest);
        clean
    }

    /// The bytes without known secrets. All else stays exact.
    pub fn redact_bytes(&self, bytes: bytes::Bytes) -> bytes::Bytes {
        let (clean, _) = self.clean(&bytes, true);
        if clean.len() == bytes.len() && clean == bytes { bytes } else { clean.into() }
    }

    /// The beginning of bytes that were cut off, without known secrets and without what a cut may have left of one.
    pub fn redact_beginning(&self, bytes: bytes::Bytes) -> bytes::Bytes {
        self.clean(&bytes, false).0.into()
    }

    /// The value without known secrets in its texts, however deep.
    pub fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) if self.is_in(text.as_bytes()) => {
                Value::String(String::from_utf8_lossy(&self.clean(text.as_bytes(), true).0).into_owned())
            }
            Value::Array(items) => items.into_iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, self.redact_value(value))).collect(),
            other => other,
        }
    }

    /// Whether one of them stands in a text of this value.
    pub fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in(text.as_bytes()),
            Value::Array(items) => items.iter().any(|item| self.is_in_value(item)),
            Value::Object(fields) => fields.values().any(|value| self.is_in_value(value)),
            _ => false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them stands in these bytes.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        (0..bytes.len()).any(|at| self.longest_at(&bytes[at..]).is_some())
    }

    /// Whether bytes hold nothing of a secret, nor may end with the beginning of one.
    pub(super) fn is_decided(&self, bytes: &[u8]) -> bool {
        (0..bytes.len()).all(|at| self.longest_at(&bytes[at..]).is_none() && !self.may_begin(&bytes[at..]))
    }

    /// The bytes without known secrets, and how many of them were read: all at the end, and else those before what may be
    /// the beginning of a secret. From the left, and the longest of several that begin at the same place.
    pub(super) fn clean(&self, bytes: &[u8], is_end: bool) -> (Vec<u8>, usize) {
        let (mut clean, mut at) = (Vec::with_capacity(bytes.len()), 0);
        while at < bytes.len() {
            let rest = &bytes[at..];
            if !is_end && self.may_begin(rest) {
                break;
            }
            match self.longest_at(rest) {
                Some(length) => {
                    clean.extend_from_slice(REMOVED.as_bytes());
                    at += length;
                }
                None => {
                    clean.push(bytes[at]);
                    at += 1;
                }
            }
        }
        (clean, at)
    }

    /// How long the longest secret is that these bytes begin with.
    fn longest_at(&self, bytes: &[u8]) -> Option<usize> {
        let secrets = self.0.iter().map(|secret| secret.expose_secret().as_bytes());
        secrets.filter(|secret| bytes.starts_with(secret)).map(<[u8]>::len).max()
    }

    /// Whether these bytes, all of them, are the beginning of a secret that is longer.
    fn may_begin(&self, bytes: &[u8]) -> bool {
        let mut secrets = self.0.iter().map(|secret| secret.expose_secret().as_bytes());
        secrets.any(|secret| secret.len() > bytes.len() && secret.starts_with(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_known_secret_nor_the_shape_of_a_key_gets_through() {
        let secrets = Secrets::new([SecretString::from("correct horse battery"), SecretString::from("abc")]);
        for (said, expected) in [
            ("refused: correct horse battery!", "refused: [removed]!"),
            ("key sk-proj-0123456789abcdef is wrong", "key [removed] is wrong"),
            ("sk-inval************************-key.", "[removed]."),
            ("Bearer gsk_0123456789abcdef,", "Bearer [removed],"),
            ("a short sk-1 and abc stay", "a short sk-1 and abc stay"),
            ("你好 sk-0123456789abc 😀", "你好 [removed] 😀"),
            ("", ""),
        ] {
            assert_eq!(secrets.redact(said), expected);
        }
        assert!(!format!("{secrets:?}").contains("horse"));
    }

    #[test]
    fn bytes_without_a_secret_stay_exact() {
        let secrets = Secrets::new([SecretString::from("hunter2hunter2")]);
        let exact = bytes::Bytes::from_static(b"\xff\xfe sk-0123456789abcdef");
        assert_eq!(secrets.redact_bytes(exact.clone()), exact);
        let said = bytes::Bytes::from_static(b"\xffno hunter2hunter2 or hunter2hunter2!\xfe");
        assert_eq!(secrets.redact_bytes(said), &b"\xffno [removed] or [removed]!\xfe"[..]);
    }
}
