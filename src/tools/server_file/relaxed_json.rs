//! JSON as people write it into the settings of editors: with comments, trailing commas and a byte order mark, and
//! excerpts without the braces around them.

use serde_json::Value;

use turnleaf_domain::encoding::json_bounds;
use turnleaf_domain::{CodedMessage, MessageCode};

/// Parses a text.
///
/// # Errors
/// It is not JSON even so. The message names the line and quotes nothing, because the text may contain secrets.
pub fn parse_relaxed_json(text: &str) -> Result<Value, CodedMessage> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut plain = blank_comments(text);
    // An excerpt such as `"github": { … }` lacks the braces.
    if plain.trim_start().starts_with('"') {
        plain = blank_comments(&format!("{{{plain}}}"));
    }
    json_bounds::parse_bounded(&plain).map_err(|error| {
        let line = error.line().max(1);
        let reason = error.to_string();
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
        MessageCode::NotJson.with("line", line).with("reason", reason)
    })
}

/// Replaces comments and trailing commas with spaces, so that lines keep their numbers.
fn blank_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    // The last comma, if only spaces and comments follow it.
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match (byte, next) {
            (b'"', _) => {
                comma = None;
                at = json_bounds::end_of_string(&bytes, at);
            }
            (b'/', Some(b'/')) => {
                let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length);
                blank(&mut bytes[at..end]);
                at = end;
            }
            (b'/', Some(b'*')) => {
                let closing = bytes[at + 2..].windows(2).position(|pair| pair == b"*/");
                let end = closing.map_or(bytes.len(), |length| at + 2 + length + 2);
                blank(&mut bytes[at..end]);
                at = end;
            }
            (b',', _) => {
                comma = Some(at);
                at += 1;
            }
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                at += 1;
            }
            (byte, _) => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only whole comments were replaced, so the text is valid.
    String::from_utf8(bytes).unwrap_or_default()
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_ignored_outside_strings() {
        for (text, expected) in [
            ("{\"a\": 1}", json!({"a": 1})),
            ("\u{feff}{\"a\": [1, 2,],}", json!({"a": [1, 2]})),
            ("// é\n{ /* x, */ \"a\": \"// no\", // end\n }", json!({"a": "// no"})),
            ("{\"a\": \"\\\" /* , } */\", /* c */ }", json!({"a": "\" /* , } */"})),
            ("\"a\": {\"b\": 1},", json!({"a": {"b": 1}})),
            ("/* c */ \"a\": 1, \"b\": 2", json!({"a": 1, "b": 2})),
            ("[1,\n// last\n]", json!([1])),
        ] {
            assert_eq!(parse_relaxed_json(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn error_names_line_and_no_text() {
        for (text, line) in [
            ("{\n\"key\": \"secret\",\n\"b\": oops\n}", "3"),
            ("{\"a\": /* open", "1"),
            ("{\"a\": \"open", "1"),
            ("{,1}", "1"),
            ("", "1"),
            ("secret", "1"),
        ] {
            let wrong = parse_relaxed_json(text).unwrap_err();
            assert_eq!((wrong.code, wrong.args["line"].as_str()), (MessageCode::NotJson, line), "{text}: {wrong}");
            assert!(!wrong.to_string().contains("secret"), "{wrong}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(parse_relaxed_json(&deep).unwrap_err().code, MessageCode::NotJson);
    }
}
