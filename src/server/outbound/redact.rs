//! Secrets out of what providers say: some repeat the key they refuse. Everything that is stored or shown of an error
//! goes through here.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

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

    /// The secrets to look for in whole replies: only those that can be no ordinary word. Servers that want no key are
    /// often given one such as `ollama`, and a reply may well speak of that.
    pub fn of_replies(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        Self::new(secrets.into_iter().filter(|secret| secret.expose_secret().len() >= SHAPED))
    }

    /// The text without known secrets and without words that look like keys.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.0.iter() {
            text = text.replace(secret.expose_secret(), REMOVED);
        }
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
        self.0.iter().fold(bytes, |bytes, secret| without(bytes, secret.expose_secret().as_bytes()))
    }
}

fn without(bytes: bytes::Bytes, secret: &[u8]) -> bytes::Bytes {
    let find = |rest: &[u8]| rest.windows(secret.len()).position(|window| window == secret);
    let mut clean = Vec::new();
    let mut rest = &bytes[..];
    while let Some(at) = find(rest) {
        clean.extend_from_slice(&rest[..at]);
        clean.extend_from_slice(REMOVED.as_bytes());
        rest = &rest[at + secret.len()..];
    }
    if rest.len() == bytes.len() {
        return bytes;
    }
    clean.extend_from_slice(rest);
    clean.into()
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
    fn a_placeholder_for_a_key_is_not_taken_out_of_replies() {
        let secrets = Secrets::of_replies([SecretString::from("ollama"), SecretString::from("hunter2hunter2")]);
        assert_eq!(secrets.redact_bytes("ollama, hunter2hunter2".into()), "ollama, [removed]");
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
