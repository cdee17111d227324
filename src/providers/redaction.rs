//! Secrets out of what providers say: some repeat the key they refuse. Everything that is stored or shown of an error
//! goes through here.

mod secret_match;

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use self::secret_match::{SecretMatch, WorkBudget, match_secret};
use super::distinct_names::DistinctNames;

const REMOVED: &str = "[removed]";
/// Shorter words are not searched for: they would hit ordinary text.
const SHORTEST: usize = 6;
/// How keys of well-known providers begin.
const SHAPES: [&str; 9] = ["sk-", "sk_", "gsk_", "xai-", "AIza", "pplx-", "hf_", "r8_", "nvapi-"];
/// A word of such a shape is a key from this length on.
const SHAPED: usize = 12;

/// The secrets of one endpoint. `Debug` shows none of them.
#[derive(Debug, Clone, Default)]
pub struct SecretSet(Arc<[SecretString]>);

impl SecretSet {
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        Self(secrets.into_iter().filter(|secret| secret.expose_secret().len() >= SHORTEST).collect())
    }

    /// The text without known secrets and without words that look like keys.
    pub fn redact(&self, text: &str) -> String {
        let text = String::from_utf8_lossy(&self.remove_secrets(text.as_bytes(), true).bytes).into_owned();
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
        let clean = self.remove_secrets(&bytes, true).bytes;
        if clean.len() == bytes.len() && clean == bytes { bytes } else { clean.into() }
    }

    /// The beginning of bytes that were cut off, without known secrets and without what a cut may have left of one.
    pub fn redact_truncated(&self, bytes: bytes::Bytes) -> bytes::Bytes {
        self.remove_secrets(&bytes, false).bytes.into()
    }

    /// The value without known secrets in its texts and in the names of its objects, however deep. Two names that become
    /// one stay two.
    pub fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact_known(text)),
            Value::Array(items) => items.into_iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(fields) => {
                let mut clean = DistinctNames::default();
                for (name, value) in fields {
                    clean.insert(self.redact_known(name), self.redact_value(value));
                }
                clean.into_object()
            }
            other => other,
        }
    }

    /// The text without known secrets. All else of it stays.
    pub fn redact_known(&self, text: String) -> String {
        if !self.has_match_in(text.as_bytes()) {
            return text;
        }
        String::from_utf8_lossy(&self.remove_secrets(text.as_bytes(), true).bytes).into_owned()
    }

    /// Whether one of them stands in a text of this value, or in a name.
    pub fn has_match_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.has_match_in(text.as_bytes()),
            Value::Array(items) => items.iter().any(|item| self.has_match_in_value(item)),
            Value::Object(fields) => {
                fields.iter().any(|(name, value)| self.has_match_in(name.as_bytes()) || self.has_match_in_value(value))
            }
            _ => false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them stands in these bytes, or may: bytes that take too much work are said to hold one.
    pub fn has_match_in(&self, bytes: &[u8]) -> bool {
        let mut work = WorkBudget::for_length(bytes.len());
        self.candidate_offsets(bytes)
            .any(|at| self.find_at(&bytes[at..], &mut work).longest.is_some() || work.is_spent())
    }

    /// Whether bytes hold nothing of a secret, nor may end with the beginning of one.
    pub(super) fn is_clean(&self, bytes: &[u8]) -> bool {
        let mut work = WorkBudget::for_length(bytes.len());
        self.candidate_offsets(bytes).all(|at| {
            let found = self.find_at(&bytes[at..], &mut work);
            found.longest.is_none() && !found.may_go_on && !work.is_spent()
        })
    }

    /// The bytes without known secrets: all at the end, and else those before what may be the beginning of a secret. From
    /// the left, and the longest of several that begin at the same place. Of bytes that take too much work, those that are
    /// not searched are removed.
    pub(super) fn remove_secrets(&self, bytes: &[u8], is_end: bool) -> RedactedBytes {
        let (mut clean, mut at) = (Vec::with_capacity(bytes.len()), 0);
        let mut work = WorkBudget::for_length(bytes.len());
        while at < bytes.len() {
            let rest = &bytes[at..];
            let found = self.find_at(rest, &mut work);
            if work.is_spent() {
                clean.extend_from_slice(REMOVED.as_bytes());
                return RedactedBytes { bytes: clean, read: bytes.len(), is_cut: true };
            }
            if !is_end && found.may_go_on {
                break;
            }
            match found.longest {
                Some(length) => {
                    clean.extend_from_slice(REMOVED.as_bytes());
                    at += length;
                }
                None => {
                    // Backslashes before a character belong together: half an escape is none.
                    let skipped = backslashes(rest).max(1);
                    clean.extend_from_slice(&rest[..skipped]);
                    at += skipped;
                }
            }
        }
        RedactedBytes { bytes: clean, read: at, is_cut: false }
    }

    /// Every place at which a secret may begin: not within backslashes, which are one escape with what is behind them.
    fn candidate_offsets<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
        let mut begins = [false; 256];
        for secret in self.0.iter() {
            secret.expose_secret().as_bytes().first().into_iter().for_each(|first| begins[usize::from(*first)] = true);
        }
        begins[usize::from(b'\\')] = true;
        let is_in_run = move |at: usize| at > 0 && bytes[at] == b'\\' && bytes[at - 1] == b'\\';
        (0..bytes.len()).filter(move |&at| begins[usize::from(bytes[at])] && !is_in_run(at))
    }

    /// The secrets that these bytes begin with.
    fn find_at(&self, bytes: &[u8], work: &mut WorkBudget) -> MatchesAtOffset {
        let mut found = MatchesAtOffset { longest: None, may_go_on: false };
        for secret in self.0.iter() {
            let matched = match_secret(bytes, secret.expose_secret(), work);
            if let SecretMatch::Full(length) | SecretMatch::FullAtEnd(length) = matched {
                found.longest = found.longest.max(Some(length));
            }
            found.may_go_on |= matches!(matched, SecretMatch::Partial | SecretMatch::FullAtEnd(_));
        }
        found
    }
}

/// The secrets at one place.
struct MatchesAtOffset {
    /// The length of the longest.
    longest: Option<usize>,
    /// Whether the bytes, all of them, are the beginning of one that is longer.
    may_go_on: bool,
}

/// Bytes without secrets.
pub(super) struct RedactedBytes {
    pub bytes: Vec<u8>,
    /// How many of those with secrets were read.
    pub read: usize,
    /// Whether the end was removed because it took too much work.
    pub is_cut: bool,
}

/// How many backslashes bytes begin with.
fn backslashes(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'\\').count()
}

#[cfg(test)]
mod tests;
