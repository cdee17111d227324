//! Redaction of secrets in provider output: some providers repeat the key that they refuse. Everything that is stored
//! or shown of an error is redacted here.

mod secret_match;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use self::secret_match::{SecretMatch, WorkBudget, match_secret};
use super::distinct_names::DistinctNames;

const REMOVED: &str = "[removed]";
/// The minimum length of a secret: shorter ones would match ordinary text.
const SHORTEST: usize = 6;
/// Prefixes of the keys of well-known providers.
const SHAPES: [&str; 9] = ["sk-", "sk_", "gsk_", "xai-", "AIza", "pplx-", "hf_", "r8_", "nvapi-"];
/// The minimum length of a word with such a prefix to count as a key.
const SHAPED: usize = 12;

/// The secrets of one endpoint. `Debug` does not show them.
#[derive(Debug, Clone, Default)]
pub struct SecretSet {
    secrets: Arc<[SecretString]>,
    later: Option<LaterSecrets>,
}

/// Returns the secrets that are known at the time of use, such as tokens that are renewed.
#[derive(Clone)]
struct LaterSecrets(Arc<dyn Fn() -> Vec<SecretString> + Send + Sync>);

impl fmt::Debug for LaterSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LaterSecrets")
    }
}

impl SecretSet {
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let is_long = |secret: &SecretString| secret.expose_secret().len() >= SHORTEST;
        Self { secrets: secrets.into_iter().filter(is_long).collect(), later: None }
    }

    /// Adds the secrets that `later` returns whenever a text is redacted.
    pub fn with_later(self, later: impl Fn() -> Vec<SecretString> + Send + Sync + 'static) -> Self {
        Self { later: Some(LaterSecrets(Arc::new(later))), ..self }
    }

    /// Returns the secrets of this moment as a fixed set.
    fn current(&self) -> Cow<'_, Self> {
        match &self.later {
            None => Cow::Borrowed(self),
            Some(later) => Cow::Owned(Self::new(self.secrets.iter().cloned().chain((later.0)()))),
        }
    }

    /// Returns the text without known secrets and without words that look like keys.
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

    /// Returns the bytes without known secrets; all other bytes stay unchanged.
    pub fn redact_bytes(&self, bytes: bytes::Bytes) -> bytes::Bytes {
        let clean = self.remove_secrets(&bytes, true).bytes;
        if clean.len() == bytes.len() && clean == bytes { bytes } else { clean.into() }
    }

    /// Redacts bytes that were truncated: known secrets are removed, and a partial secret at the end, too.
    pub fn redact_truncated(&self, bytes: bytes::Bytes) -> bytes::Bytes {
        self.remove_secrets(&bytes, false).bytes.into()
    }

    /// Returns the value without known secrets in its strings and keys, at any depth. Keys that become equal are
    /// numbered.
    pub fn redact_value(&self, value: Value) -> Value {
        let known = self.current();
        match value {
            Value::String(text) => Value::String(known.redact_known(text)),
            Value::Array(items) => items.into_iter().map(|item| known.redact_value(item)).collect(),
            Value::Object(fields) => {
                let mut clean = DistinctNames::default();
                for (name, value) in fields {
                    clean.insert(known.redact_known(name), known.redact_value(value));
                }
                clean.into_object()
            }
            other => other,
        }
    }

    /// Returns the text without known secrets; the rest stays unchanged.
    pub fn redact_known(&self, text: String) -> String {
        let known = self.current();
        if !known.has_match_in(text.as_bytes()) {
            return text;
        }
        String::from_utf8_lossy(&known.remove_secrets(text.as_bytes(), true).bytes).into_owned()
    }

    /// Returns true if a string or key of this value contains a known secret.
    pub fn has_match_in_value(&self, value: &Value) -> bool {
        let known = self.current();
        match value {
            Value::String(text) => known.has_match_in(text.as_bytes()),
            Value::Array(items) => items.iter().any(|item| known.has_match_in_value(item)),
            Value::Object(fields) => fields
                .iter()
                .any(|(name, value)| known.has_match_in(name.as_bytes()) || known.has_match_in_value(value)),
            _ => false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.current().secrets.is_empty()
    }

    /// Returns true if the bytes contain, or may contain, a known secret: it is also true if the search exceeds its
    /// work budget.
    pub fn has_match_in(&self, bytes: &[u8]) -> bool {
        let (known, mut work) = (self.current(), WorkBudget::for_length(bytes.len()));
        known
            .candidate_offsets(bytes)
            .any(|at| known.find_at(&bytes[at..], &mut work).longest.is_some() || work.is_spent())
    }

    /// Returns true if the bytes contain no secret and do not end with the beginning of one.
    pub(super) fn is_clean(&self, bytes: &[u8]) -> bool {
        let (known, mut work) = (self.current(), WorkBudget::for_length(bytes.len()));
        known.candidate_offsets(bytes).all(|at| {
            let found = known.find_at(&bytes[at..], &mut work);
            found.longest.is_none() && !found.may_go_on && !work.is_spent()
        })
    }

    /// Returns the bytes without known secrets: all of them if `is_end`, otherwise those before a possible beginning
    /// of a secret. Matches are found from the left, the longest first. If the work budget is exceeded, the
    /// unsearched rest is removed.
    pub(super) fn remove_secrets(&self, bytes: &[u8], is_end: bool) -> RedactedBytes {
        let (mut clean, mut at) = (Vec::with_capacity(bytes.len()), 0);
        let (known, mut work) = (self.current(), WorkBudget::for_length(bytes.len()));
        while at < bytes.len() {
            let rest = &bytes[at..];
            let found = known.find_at(rest, &mut work);
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
                    // The backslashes before a character are skipped together: a part of an escape is not an escape.
                    let skipped = backslashes(rest).max(1);
                    clean.extend_from_slice(&rest[..skipped]);
                    at += skipped;
                }
            }
        }
        RedactedBytes { bytes: clean, read: at, is_cut: false }
    }

    /// Returns the offsets at which a secret may start. Offsets within a run of backslashes are excluded, because the
    /// run forms one escape with the next character.
    fn candidate_offsets<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
        let mut begins = [false; 256];
        for secret in self.secrets.iter() {
            secret.expose_secret().as_bytes().first().into_iter().for_each(|first| begins[usize::from(*first)] = true);
        }
        begins[usize::from(b'\\')] = true;
        let is_in_run = move |at: usize| at > 0 && bytes[at] == b'\\' && bytes[at - 1] == b'\\';
        (0..bytes.len()).filter(move |&at| begins[usize::from(bytes[at])] && !is_in_run(at))
    }

    /// Matches all secrets against the beginning of these bytes.
    fn find_at(&self, bytes: &[u8], work: &mut WorkBudget) -> MatchesAtOffset {
        let mut found = MatchesAtOffset { longest: None, may_go_on: false };
        for secret in self.secrets.iter() {
            let matched = match_secret(bytes, secret.expose_secret(), work);
            if let SecretMatch::Full(length) | SecretMatch::FullAtEnd(length) = matched {
                found.longest = found.longest.max(Some(length));
            }
            found.may_go_on |= matches!(matched, SecretMatch::Partial | SecretMatch::FullAtEnd(_));
        }
        found
    }
}

/// The matches at one offset.
struct MatchesAtOffset {
    /// The length of the longest match.
    longest: Option<usize>,
    /// All of the bytes are the beginning of a longer secret.
    may_go_on: bool,
}

/// Bytes after redaction.
pub(super) struct RedactedBytes {
    pub bytes: Vec<u8>,
    /// The number of input bytes that were processed.
    pub read: usize,
    /// The end was removed because the work budget was exceeded.
    pub is_cut: bool,
}

/// Counts the backslashes at the beginning.
fn backslashes(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'\\').count()
}

#[cfg(test)]
mod tests;
