//! Tolerant JSON parsing for providers' output: lone surrogates, which are no characters, and NULs, which no database
//! stores in text.

use std::borrow::Cow;

use serde_json::Value;

use crate::surrogates;
use turnleaf_domain::json_bounds;

/// Parses one value; lone surrogates are replaced by placeholders. The second value is true if there were any.
pub fn parse(text: &str) -> Result<(Value, bool), serde_json::Error> {
    let (mut value, is_mended) =
        json_bounds::parse(text).map(|value| (value, false)).or_else(
            |error| match surrogates::replace_lone_surrogates(text) {
                Cow::Borrowed(_) => Err(error),
                Cow::Owned(mended) => json_bounds::parse(&mended).map(|value| (value, true)),
            },
        )?;
    replace_escaped_nuls(&mut value, text);
    Ok((value, is_mended))
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
}
