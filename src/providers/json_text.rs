//! Tolerant JSON parsing for providers' output: lone surrogates, which are no characters, and NULs, which no database
//! stores in text.

use std::borrow::Cow;

use serde_json::Value;

use crate::surrogates;
use turnleaf_domain::encoding::json_bounds;

/// Parses one value; lone surrogates are replaced by placeholders. The second value is true if there were any.
pub fn parse(text: &str) -> Result<(Value, bool), serde_json::Error> {
    let (mut value, is_mended) = match parse_plain(text) {
        Ok(value) => (value, false),
        Err(error) => match surrogates::replace_lone_surrogates(text) {
            Cow::Borrowed(_) => return Err(error),
            Cow::Owned(mended) => (json_bounds::parse(&mended)?, true),
        },
    };
    replace_escaped_nuls(&mut value, text);
    Ok((value, is_mended))
}

/// Works like [`json_bounds::parse`]. The parser of `Value` itself is compiled for speed, with the crate that it is part
/// of, and is used where it reads the same: it interprets only names that begin with `$`.
fn parse_plain(text: &str) -> Result<Value, serde_json::Error> {
    let may_be_reserved = text.contains('$') || text.contains("\\u0024");
    if may_be_reserved { json_bounds::parse(text) } else { text.parse() }
}

/// Replaces NUL with U+2400, because no database stores it in text. The raw bytes keep it.
pub fn replace_escaped_nuls(value: &mut Value, text: &str) {
    if text.contains("\\u0000") {
        replace_nul(value);
    }
}

fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{2400}"),
        Value::Array(values) => values.iter_mut().for_each(replace_nul),
        Value::Object(map) => {
            let named = std::mem::take(map).into_iter().map(|(name, mut value)| {
                replace_nul(&mut value);
                (name.replace('\0', "\u{2400}"), value)
            });
            *map = named.collect();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nul_becomes_its_control_picture_everywhere() {
        let (value, is_mended) = parse(r#"{"a\u0000":["x\u0000y",{"b":"\\u0000"},1]}"#).unwrap();
        assert_eq!(value, json!({"a\u{2400}": ["x\u{2400}y", {"b": "\\u0000"}, 1]}));
        assert!(!is_mended);
        assert!(parse("\"a\0\"").is_err(), "a bare one is no JSON");
    }

    #[test]
    fn value_is_read_as_plain_parser_reads_it() {
        for text in [
            r#"{"a":[1,-2,3.5,1e300,true,null,"\ud83d\ude00\n"],"a":{"b":""}}"#,
            r#"{"$serde_json::private::RawValue":"[1]"}"#,
            r#"{"\u0024serde_json::private::RawValue":"[1]"}"#,
            r#"{"price":"$5","b":{"$serde_json::private::RawValue":"[1]"}}"#,
            r#"{"a":1e999}"#,
            r#"{"a":1} 2"#,
            r#"{"a":"#,
            "",
            &"[".repeat(200),
        ] {
            let (ours, plain) = (parse_plain(text), json_bounds::parse(text));
            assert_eq!(ours.map_err(|error| error.to_string()), plain.map_err(|error| error.to_string()), "{text}");
        }
    }
}
