//! Secrets out of what providers say: some repeat the key they refuse. Everything that is stored or shown of an error
//! goes through here.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

const REMOVED: &str = "[removed]";
/// More backslashes before one character are no escape of any JSON within JSON that somebody writes.
const ESCAPES: usize = 64;
/// The bytes of `u0041`.
const NUMBER: usize = 5;
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

    /// The value without known secrets in its texts and in the names of its objects, however deep. Two names that become
    /// one stay two.
    pub fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact_known(text)),
            Value::Array(items) => items.into_iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(fields) => {
                let mut clean = Map::new();
                for (name, value) in fields {
                    let mut name = self.redact_known(name);
                    while clean.contains_key(&name) {
                        name.push('_');
                    }
                    clean.insert(name, self.redact_value(value));
                }
                Value::Object(clean)
            }
            other => other,
        }
    }

    /// The text without known secrets. All else of it stays.
    pub fn redact_known(&self, text: String) -> String {
        if !self.is_in(text.as_bytes()) {
            return text;
        }
        String::from_utf8_lossy(&self.clean(text.as_bytes(), true).0).into_owned()
    }

    /// Whether one of them stands in a text of this value, or in a name.
    pub fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in(text.as_bytes()),
            Value::Array(items) => items.iter().any(|item| self.is_in_value(item)),
            Value::Object(fields) => {
                fields.iter().any(|(name, value)| self.is_in(name.as_bytes()) || self.is_in_value(value))
            }
            _ => false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them stands in these bytes.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        self.places(bytes).any(|at| self.longest_at(&bytes[at..]).is_some())
    }

    /// Whether bytes hold nothing of a secret, nor may end with the beginning of one.
    pub(super) fn is_decided(&self, bytes: &[u8]) -> bool {
        self.places(bytes).all(|at| self.longest_at(&bytes[at..]).is_none() && !self.may_begin(&bytes[at..]))
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
                    // Backslashes before a character belong together: half an escape is none.
                    let skipped = backslashes(rest).max(1);
                    clean.extend_from_slice(&rest[..skipped]);
                    at += skipped;
                }
            }
        }
        (clean, at)
    }

    /// Every place at which a secret may begin: not within backslashes, which are one escape with what is behind them.
    fn places<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
        let mut begins = [false; 256];
        for secret in self.0.iter() {
            secret.expose_secret().as_bytes().first().into_iter().for_each(|first| begins[usize::from(*first)] = true);
        }
        begins[usize::from(b'\\')] = true;
        let is_in_run = move |at: usize| at > 0 && bytes[at] == b'\\' && bytes[at - 1] == b'\\';
        (0..bytes.len()).filter(move |&at| begins[usize::from(bytes[at])] && !is_in_run(at))
    }

    /// How long the longest secret is that these bytes begin with.
    fn longest_at(&self, bytes: &[u8]) -> Option<usize> {
        let found = self.0.iter().map(|secret| written_at(bytes, secret.expose_secret().as_bytes()));
        let lengths = found.filter_map(|written| match written {
            Written::Whole(length) => Some(length),
            Written::Begun | Written::Not => None,
        });
        lengths.max()
    }

    /// Whether these bytes, all of them, are the beginning of a secret that is longer.
    fn may_begin(&self, bytes: &[u8]) -> bool {
        let mut found = self.0.iter().map(|secret| written_at(bytes, secret.expose_secret().as_bytes()));
        found.any(|written| matches!(written, Written::Begun))
    }
}

/// How far bytes begin with a secret.
enum Written {
    Not,
    /// All of them are its beginning.
    Begun,
    /// It is so many bytes long there.
    Whole(usize),
}

/// Reads a secret as it stands, or as JSON may write it: any character as `\u` and its number, some behind a backslash,
/// and behind more of them in JSON that is a text of JSON.
fn written_at(bytes: &[u8], secret: &[u8]) -> Written {
    let mut at = 0;
    for &expected in secret {
        let rest = &bytes[at..];
        match rest {
            [] => return Written::Begun,
            [b'\\', ..] => {}
            [first, ..] if *first == expected => {
                at += 1;
                continue;
            }
            _ => return Written::Not,
        }
        let run = backslashes(rest);
        let escaped = &rest[run..];
        match escaped {
            _ if run > ESCAPES => return Written::Not,
            [] => return Written::Begun,
            [b'u', digits @ ..] if digits.len() < 4 && b"00".starts_with(&digits[..digits.len().min(2)]) => {
                return Written::Begun;
            }
            _ if is_number_of(escaped, expected) => at += run + NUMBER,
            // A backslash of the secret itself, however it is written.
            _ if expected == b'\\' => at += run,
            [b'"' | b'/', ..] if escaped[0] == expected => at += run + 1,
            _ => return Written::Not,
        }
    }
    Written::Whole(at)
}

/// How many backslashes bytes begin with.
fn backslashes(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'\\').count()
}

/// Whether these bytes begin with `u` and the number of this ASCII character.
fn is_number_of(bytes: &[u8], expected: u8) -> bool {
    let digits =
        bytes.strip_prefix(b"u").and_then(|rest| rest.get(..4)).and_then(|four| std::str::from_utf8(four).ok());
    expected.is_ascii() && digits.and_then(|four| u8::from_str_radix(four, 16).ok()) == Some(expected)
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

    /// Every way to write a key in JSON, with the text around it.
    #[test]
    fn key_in_escapes_of_json_is_removed_and_what_is_left_is_json() {
        let secrets = Secrets::new([SecretString::from("key/0123+ABCdef\"9")]);
        for written in [
            r#"{"a":"my key/0123+ABCdef\"9!"}"#,
            r#"{"a":"my key\/0123+ABCdef\"9!"}"#,
            r#"{"a":"my \u006bey\u002F0123+\u0041BCdef\u00229!"}"#,
            r#"{"a":"my \\\u006bey\/0123+ABCdef\"9!"}"#,
        ] {
            let clean = secrets.redact_bytes(bytes::Bytes::from_static(written.as_bytes()));
            let read: Value = serde_json::from_slice(&clean).unwrap();
            assert!(read["a"].as_str().unwrap().starts_with("my "), "{written}");
            assert!(read["a"].as_str().unwrap().ends_with("[removed]!"), "{written}: {read}");
        }
        let arguments = serde_json::json!({ "k": "key/0123+ABCdef\"9" }).to_string();
        let nested =
            serde_json::json!({ "arguments": arguments.replace('/', "\\/").replace('A', "\\u0041") }).to_string();
        let clean = secrets.redact_bytes(nested.into());
        let read: Value = serde_json::from_slice(&clean).unwrap();
        let inner: Value = serde_json::from_str(read["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(inner, serde_json::json!({ "k": "[removed]" }));
        for exact in [r"\\\u0042", r#""\u006b\u0065y but no more""#, r"a\/b", "\\", r"\u00"] {
            let exact = bytes::Bytes::from_static(exact.as_bytes());
            assert_eq!(secrets.redact_bytes(exact.clone()), exact);
        }
    }

    #[test]
    fn key_that_is_the_name_of_a_field_is_removed_and_no_field_is_lost() {
        let secrets = Secrets::new([SecretString::from("hunter2hunter2"), SecretString::from("correct horse")]);
        let value = serde_json::json!({ "hunter2hunter2": 1, "correct horse": { "x hunter2hunter2": 2 }, "plain": 3 });
        assert!(secrets.is_in_value(&serde_json::json!({ "hunter2hunter2": 1 })));
        let clean = secrets.redact_value(value);
        assert!(!secrets.is_in_value(&clean), "{clean}");
        let fields = clean.as_object().unwrap();
        assert_eq!(fields.len(), 3);
        assert_eq!(fields["plain"], 3);
        assert!(fields.values().any(|value| value["x [removed]"] == 2), "{clean}");
    }
}
