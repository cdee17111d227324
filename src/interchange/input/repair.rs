//! Repairs JSON that other programs write and `serde_json` rejects, where the intent is clear.

use std::borrow::Cow;

use serde_json::Value;

use crate::bounds;
use crate::domain::encoding::json_bounds::parse_detecting_duplicates;

/// Parses a value; also returns the repairs as sentences for the report.
pub(super) fn parse(text: &[u8]) -> Result<(Value, Vec<&'static str>), serde_json::Error> {
    match parse_detecting_duplicates(text) {
        Ok((value, is_repeated)) => Ok((value, repeated_name_notes(is_repeated))),
        Err(error) => {
            let (text, mut put_right) = repair(text);
            // Without any repair, the first error has the accurate position.
            if put_right.is_empty() {
                return Err(error);
            }
            let (value, is_repeated) = parse_detecting_duplicates(&text)?;
            put_right.extend(repeated_name_notes(is_repeated));
            Ok((value, put_right))
        }
    }
}

/// Returns the notes about a value that parsed without repair.
pub(super) fn repeated_name_notes(is_repeated: bool) -> Vec<&'static str> {
    is_repeated.then_some(REPEATED).into_iter().collect()
}

const REPEATED: &str = "a key repeated in an object was read with its last value";

const SURROGATE: &str = "incomplete characters (lone surrogates) were replaced with U+FFFD";
const CONTROL: &str = "unescaped control characters in a string were accepted";
const NUMBER: &str = "values that are not JSON numbers (NaN, Infinity, overflow) were replaced with null";
const DEEP: &str = "values nested too deeply were replaced with null";

fn repair(text: &[u8]) -> (Vec<u8>, Vec<&'static str>) {
    let mut out = Vec::with_capacity(text.len());
    let mut put_right = Vec::new();
    let mut report = |fault| {
        if !put_right.contains(&fault) {
            put_right.push(fault);
        }
    };
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(&byte) = text.get(at) {
        let is_kept = depth <= bounds::JSON_DEPTH;
        let from = at;
        at = match byte {
            b'"' => string_end(text, at),
            b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => word_end(text, at),
            _ => at + 1,
        };
        let token = &text[from..at];
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth == bounds::JSON_DEPTH + 1 {
                    report(DEEP);
                    out.extend_from_slice(b"null");
                    continue;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !is_kept || depth > bounds::JSON_DEPTH {
            continue;
        }
        match byte {
            b'"' => string(token, &mut out, &mut report),
            b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let is_wrong = is_meant_as_number(token) && serde_json::from_slice::<Value>(token).is_err();
                if is_wrong {
                    report(NUMBER);
                }
                out.extend_from_slice(if is_wrong { b"null" } else { token });
            }
            _ => out.push(byte),
        }
    }
    (out, put_right)
}

fn is_meant_as_number(word: &[u8]) -> bool {
    let bare = word.strip_prefix(b"-").or_else(|| word.strip_prefix(b"+")).unwrap_or(word);
    matches!(bare, b"NaN" | b"nan" | b"Infinity" | b"inf") || bare.first().is_some_and(u8::is_ascii_digit)
}

fn word_end(text: &[u8], at: usize) -> usize {
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text[at..].iter().position(|byte| !is_in(byte)).map_or(text.len(), |length| at + length)
}

/// Returns the index after the closing quote of the string that begins at `at`.
pub(super) fn string_end(text: &[u8], at: usize) -> usize {
    let mut is_escaped = false;
    for (offset, byte) in text[at + 1..].iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + offset + 2,
            _ => {}
        }
    }
    text.len()
}

/// Writes a string with its faults repaired.
fn string(token: &[u8], out: &mut Vec<u8>, report: &mut impl FnMut(&'static str)) {
    let mut at = 0;
    while let Some(&byte) = token.get(at) {
        let (written, length): (Cow<'_, [u8]>, usize) = match byte {
            0..=0x1f => {
                report(CONTROL);
                (format!("\\u{byte:04x}").into_bytes().into(), 1)
            }
            b'\\' if token.get(at + 1) == Some(&b'u') => match (surrogate(token, at), surrogate(token, at + 6)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (token[at..at + 12].into(), 12),
                (Some(_), _) => {
                    report(SURROGATE);
                    (b"\\ufffd".as_slice().into(), 6)
                }
                (None, _) => (token[at..at + 2].into(), 2),
            },
            b'\\' => (token[at..(at + 2).min(token.len())].into(), 2),
            _ => (token[at..=at].into(), 1),
        };
        out.extend_from_slice(&written);
        at += length;
    }
}

/// Returns the surrogate code unit that is escaped here, if there is one.
fn surrogate(token: &[u8], at: usize) -> Option<u16> {
    let digits = token.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let code = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recoverable_json_is_repaired() {
        let table: [(&str, Value, &[&str]); 9] = [
            ("{\"m\":{\"a\":1,\"a\":NaN}}", json!({"m": {"a": null}}), &[NUMBER, REPEATED]),
            (r#"{"a":"\ud83d\ude00"}"#, json!({"a": "😀"}), &[]),
            (r#"{"a":"x\ud83d y","b":"\ude00"}"#, json!({"a": "x\u{fffd} y", "b": "\u{fffd}"}), &[SURROGATE]),
            (r#"["\ud83d\ud83d\ude00","\\ud83d"]"#, json!(["\u{fffd}😀", "\\ud83d"]), &[SURROGATE]),
            ("{\"a\":\"x\ny\tz\"}", json!({"a": "x\ny\tz"}), &[CONTROL]),
            ("{\"a\": NaN, \"b\":-Infinity,\"c\":1e999}", json!({"a": null, "b": null, "c": null}), &[NUMBER]),
            ("[NaN, \"\\ud800\", \"NaN\"]", json!([null, "\u{fffd}", "NaN"]), &[NUMBER, SURROGATE]),
            ("[true,false,null,1.5e3]", json!([true, false, null, 1500.0]), &[]),
            ("\"\\u0000\"", json!("\0"), &[]),
        ];
        for (text, expected, put_right) in table {
            assert_eq!(parse(text.as_bytes()).unwrap(), (expected, put_right.to_vec()), "{text}");
        }
    }

    #[test]
    fn too_deep_values_become_null_and_rest_stays() {
        let bomb = format!(r#"{{"a":1,"bomb":{}1{},"z":[[2]]}}"#, "[".repeat(10_000), "]".repeat(10_000));
        let (value, put_right) = parse(bomb.as_bytes()).unwrap();
        assert_eq!((&value["a"], &value["z"], put_right), (&json!(1), &json!([[2]]), vec![DEEP]));
        let objects = format!(r#"{}1{}"#, r#"{"a":"#.repeat(5_000), "}".repeat(5_000));
        assert!(parse(objects.as_bytes()).is_ok());
    }

    #[test]
    fn invalid_json_stays_refused() {
        for text in ["", "{", "{\"a\":}", "[1 2]", "\"", "\"\\", "\"\\ud8", "{\"a\" 1}", "}", "NaN}"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(text in r#"[\[\]{}",:\\udDcC80NaN\x01 -]{0,60}"#) {
            let _ = parse(text.as_bytes());
        }
    }
}
