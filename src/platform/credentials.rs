//! Detection of credentials among configured values: only these are redacted from the output of providers and tool
//! servers. Ordinary header values, such as the URL of this site, may occur in replies like any other text.

use secrecy::{ExposeSecret, SecretString};
use url::Url;

/// The minimum length; shorter values are too likely to be ordinary words.
const SHORTEST: usize = 12;
/// The minimum number of distinct characters of a credential.
const DISTINCT: usize = 5;
/// The authentication schemes that precede a credential in a header.
const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "key", "apikey"];
/// A name that contains one of these words names a credential …
const CREDENTIAL: [&str; 18] = [
    "authorization",
    "auth",
    "cookie",
    "key",
    "keys",
    "apikey",
    "token",
    "tokens",
    "pat",
    "jwt",
    "secret",
    "secrets",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "credential",
    "credentials",
];
/// … unless it ends with one of these.
const ABOUT: [&str; 11] = ["file", "path", "dir", "url", "uri", "host", "name", "id", "type", "limit", "header"];
/// The words of placeholder keys for servers without authentication, and of examples.
const PLACEHOLDER: [&str; 47] = [
    "sk",
    "no",
    "not",
    "non",
    "none",
    "null",
    "nil",
    "empty",
    "key",
    "api",
    "apikey",
    "token",
    "secret",
    "required",
    "needed",
    "necessary",
    "used",
    "unused",
    "ignored",
    "dummy",
    "fake",
    "test",
    "testing",
    "example",
    "sample",
    "demo",
    "placeholder",
    "your",
    "my",
    "here",
    "change",
    "changeme",
    "me",
    "local",
    "localhost",
    "lm",
    "studio",
    "llama",
    "cpp",
    "llamacpp",
    "ollama",
    "vllm",
    "server",
    "openai",
    "anything",
    "any",
    "x",
];

/// Returns the credentials in the value of a header or variable, by its name. A password in a URL counts under any
/// name.
pub fn extract_credentials(name: &str, value: &SecretString) -> Vec<SecretString> {
    let value = value.expose_secret().trim();
    if let Some(url) = Url::parse(value).ok().filter(|_| value.contains("://")) {
        return url.password().into_iter().filter(|password| is_credential(password)).map(Into::into).collect();
    }
    if !names_credential(name) {
        return Vec::new();
    }
    let parts: Vec<&str> = if words(name).any(|word| word == "cookie") {
        value.split(';').filter_map(|pair| pair.split_once('=').map(|(_, value)| value.trim())).collect()
    } else {
        vec![without_scheme(value)]
    };
    parts.into_iter().filter(|part| is_credential(part)).map(Into::into).collect()
}

/// Stands for a credential in a URL that is shown.
pub const MASKED: &str = "***";

/// Returns the credentials in the query of a URL: values whose parameter says so, and values that only a generator
/// writes.
pub fn query_credentials(url: &Url) -> Vec<SecretString> {
    let pairs = url.query_pairs().filter(|(name, value)| is_query_credential(name, value));
    pairs.map(|(_, value)| SecretString::from(without_scheme(&value).to_owned())).collect()
}

/// Returns a URL with the credentials of its query masked; the same text if there are none.
pub fn mask_query(url: &str) -> String {
    let Some((start, query)) = url.split_once('?') else { return url.to_owned() };
    let masked = query.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        let [decoded_name, decoded] = [name, value].map(turnleaf_domain::encoding::url_encoding::decode);
        match is_query_credential(&decoded_name, &decoded) {
            true if name.is_empty() => MASKED.to_owned(),
            true => format!("{name}={MASKED}"),
            false => pair.to_owned(),
        }
    });
    format!("{start}?{}", masked.collect::<Vec<_>>().join("&"))
}

fn is_query_credential(name: &str, value: &str) -> bool {
    const LONG: usize = 20;
    let has = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
    let is_generated = value.len() >= LONG && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    is_credential(value) && (names_credential(&separate_words(name)) || (is_generated && !value.contains(['/', ' '])))
}

/// Inserts hyphens between the words of a `camelCase` name.
pub fn separate_words(name: &str) -> String {
    let mut separated = String::with_capacity(name.len());
    let mut is_behind_lowercase = false;
    for c in name.chars() {
        if is_behind_lowercase && c.is_uppercase() {
            separated.push('-');
        }
        is_behind_lowercase = c.is_lowercase();
        separated.push(c);
    }
    separated
}

/// Returns true if a value is plausible as a credential, and no placeholder, path or URL.
pub fn is_credential(value: &str) -> bool {
    let mut distinct: Vec<char> = value.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let is_location = value.contains("://") || value.starts_with(['/', '~', '.']) && !value.contains('=');
    value.len() >= SHORTEST
        && distinct.len() >= DISTINCT
        && !is_location
        && !words(value).all(|word| is_placeholder(&word))
}

/// Returns true for a placeholder word: a known one, a repeated character, or ascending digits.
fn is_placeholder(word: &str) -> bool {
    let bytes = word.as_bytes();
    let steps_by = |step: fn(u8) -> u8| bytes.windows(2).all(|pair| pair[1] == step(pair[0]));
    let counts_up = bytes.iter().all(u8::is_ascii_digit) && steps_by(|digit| b'0' + (digit - b'0' + 1) % 10);
    PLACEHOLDER.contains(&word) || steps_by(|byte| byte) || counts_up
}

fn names_credential(name: &str) -> bool {
    let words: Vec<String> = words(name).collect();
    let is_about = words.last().is_some_and(|word| ABOUT.contains(&word.as_str()));
    !is_about && words.iter().any(|word| CREDENTIAL.contains(&word.as_str()))
}

fn without_scheme(value: &str) -> &str {
    match value.split_once(char::is_whitespace) {
        Some((scheme, rest)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => rest.trim(),
        _ => value,
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extracted(name: &str, value: &str) -> Vec<String> {
        let found = extract_credentials(name, &value.into());
        found.iter().map(|secret| secret.expose_secret().to_owned()).collect()
    }

    #[test]
    fn headers_and_variables_with_credentials_are_distinguished() {
        for (name, value, expected) in [
            ("HTTP-Referer", "https://example.org", &[][..]),
            ("X-Title", "My own Turnleaf", &[]),
            ("anthropic-beta", "context-management-2025-06-27", &[]),
            ("OpenAI-Organization", "org-0123456789abcdef", &[]),
            ("Authorization", "Bearer 9f8e7d6c5b4a3f2e", &["9f8e7d6c5b4a3f2e"]),
            ("proxy-authorization", "Basic dXNlcjpodW50ZXIy", &["dXNlcjpodW50ZXIy"]),
            ("Authorization", "9f8e7d6c5b4a3f2e", &["9f8e7d6c5b4a3f2e"]),
            ("x-api-key", "correct horse battery", &["correct horse battery"]),
            ("X-Goog-Api-Key", "AIza0123456789", &["AIza0123456789"]),
            ("X-Session-Token", "9f8e7d6c5b4a3f2e", &["9f8e7d6c5b4a3f2e"]),
            ("Cookie", "theme=dark; sid=9f8e7d6c5b4a3f2e", &["9f8e7d6c5b4a3f2e"]),
            ("GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_9f8e7d6c5b4a", &["ghp_9f8e7d6c5b4a"]),
            ("API_KEY_FILE", "run-secrets-openai", &[]),
            ("KEYBOARD_LAYOUT", "de-nodeadkeys-extended", &[]),
            ("DATABASE_URL", "postgres://me:hunter2hunter2@db/x", &["hunter2hunter2"]),
            ("AUTH_ENDPOINT", "https://auth.example.org/token", &[]),
            ("SECRET_STORE", "/var/lib/secrets/store", &[]),
        ] {
            assert_eq!(extracted(name, value), expected, "{name}: {value}");
        }
    }

    #[test]
    fn credentials_of_query_are_masked() {
        for (url, expected) in [
            ("https://x.test/mcp?project=1&read_only=true", "https://x.test/mcp?project=1&read_only=true"),
            ("https://x.test/mcp?exaApiKey=9f8e7d6c5b4a3f2e&x=1", "https://x.test/mcp?exaApiKey=***&x=1"),
            ("https://x.test/mcp?id=0123456789abcdefghij0123", "https://x.test/mcp?id=***"),
            ("https://x.test/mcp?tavilyApiKey=tvly%2D9f8e7d6c5b4a", "https://x.test/mcp?tavilyApiKey=***"),
            ("https://x.test/mcp/", "https://x.test/mcp/"),
        ] {
            assert_eq!(mask_query(url), expected);
            let found = query_credentials(&Url::parse(url).unwrap());
            assert_eq!(found.len(), expected.matches(MASKED).count(), "{url}");
        }
    }

    #[test]
    fn placeholder_key_is_no_credential() {
        for text in [
            "sk-no-key-required",
            "not-needed-here",
            "your-api-key-here",
            "lm-studio-key",
            "sk-xxxxxxxxxxxxxxxx",
            "sk-1234567890",
            "000000000000",
            "https://example.org",
            "ollama",
        ] {
            assert!(!is_credential(text), "{text}");
        }
        for text in ["hunter2hunter2", "sk-0123456789abcdef", "the-secret-key-of-this-test", "837462910473"] {
            assert!(is_credential(text), "{text}");
        }
    }
}
