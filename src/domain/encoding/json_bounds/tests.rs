//! Property tests with values of any depth, length, number, escape and name: bounded values are read back as they
//! were written.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Content, Event, fixtures};

fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("{}1{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn value_within_bounds_is_accepted_and_one_beyond_is_refused_with_reason() {
    let most = limits::JSON_VALUE_DEPTH;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")] {
        let step = open.matches(['[', '{']).count();
        let text = nested(open, close, most / step);
        assert_eq!(parse_bounded(&text).unwrap().to_string(), text);
        let error = parse_bounded(&nested(open, close, most / step + 1)).unwrap_err().to_string();
        assert!(error.contains("nested deeper"), "{error}");
    }
    for text in [r#"{"$serde_json::private::RawValue":"[1]"}"#, r#"[{"\u0024serde_json::private::Number":1}]"#] {
        assert!(parse_bounded(text).unwrap_err().to_string().contains("a name starts with"), "{text}");
    }
    assert!(parse_bounded(&"[".repeat(100_000)).is_err());
}

#[test]
fn reserved_name_is_read_literally() {
    let text = r#"{"$serde_json::private::RawValue":"{\"a\":1}","b":2}"#;
    assert_eq!(parse(text).unwrap().to_string(), text);
    assert_ne!(serde_json::from_str::<Value>(text).ok().map(|read| read.to_string()), Some(text.to_owned()));
}

#[test]
fn parsed_values_equal_serde_json_and_duplicate_names_are_detected() {
    let table = [
        (r#"{"a":[1,-2,1.5,1e3,18446744073709551615,"x\u00e9",null,true],"b":{"a":{}}}"#, false),
        (r#"{"a":1,"b":2,"a":3}"#, true),
        (r#"[[{"m":{"x":{"t":1},"x":{"t":2}}}]]"#, true),
        (r#"[{"a":1},{"a":1}]"#, false),
        (r#""a""#, false),
    ];
    for (text, is_repeated) in table {
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(parse_detecting_duplicates(text.as_bytes()).unwrap(), (expected, is_repeated), "{text}");
    }
    for text in ["", "{", "[1 2]", "1 2", r#"{"a" 1}"#] {
        let expected = serde_json::from_str::<Value>(text).unwrap_err().to_string();
        assert_eq!(parse_detecting_duplicates(text.as_bytes()).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn text_beyond_bounds_is_kept_whole_as_string() {
    let table = [
        (r#"{"a":[1,{"b":2}]}"#, 3, r#"{"a":[1,{"b":2}]}"#),
        (r#"{"a":[1,{"b":2}]}"#, 2, r#"{"a":[1,"{\"b\":2}"]}"#),
        (r#"{"a":[1,{"b":2}],"c":[]}"#, 1, r#"{"a":"[1,{\"b\":2}]","c":"[]"}"#),
        (r#"["]}\"[", {"x":"[{"}]"#, 1, r#"["]}\"[", "{\"x\":\"[{\"}"]"#),
        (r#"[[1,2"#, 1, r#"["[1,2""#),
        (r#"{"$serde_json::private::RawValue":1}"#, 9, r#""{\"$serde_json::private::RawValue\":1}""#),
        (r#"[{ "\u0024serde_json::private::x" :1}]"#, 9, r#"["{ \"\\u0024serde_json::private::x\" :1}"]"#),
        (r#"["{\"$serde_json::private::RawValue\":1}"]"#, 9, r#"["{\"$serde_json::private::RawValue\":1}"]"#),
        (r#"{"b":1,"$serde_json::private::RawValue":1}"#, 9, r#"{"b":1,"$serde_json::private::RawValue":1}"#),
        ("not JSON ]]", 1, "not JSON ]]"),
        ("\"\\", 1, "\"\\"),
    ];
    for (text, depth, expected) in table {
        assert_eq!(bounded_text(text, depth), expected, "{text}");
    }
    let deep = nested("[", "]", 1_000_000);
    let held = bounded_text(&deep, limits::JSON_TEXT_DEPTH);
    let read: Value = serde_json::from_str(&held).unwrap();
    let mut innermost = &read;
    while let Some(inner) = innermost.get(0) {
        innermost = inner;
    }
    assert_eq!(innermost.as_str().map(str::len), Some(deep.len() - 2 * limits::JSON_TEXT_DEPTH));
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z\\\\\"{\\[$ é\u{2400}]{0,4}",
        1 => Just("$serde_json::private::RawValue".to_owned()),
        1 => Just("$serde_json::private::Number".to_owned()),
    ]
}

fn any_leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        "[\\\\\"{}\\[\\]\u{1}\u{7f}\n]{0,64}".prop_map(Value::from),
        (0usize..5_000).prop_map(|long| "x".repeat(long).into()),
    ]
}

/// Generates a few branches, one of which may be deeper than any reader accepts.
fn any_value() -> impl Strategy<Value = Value> {
    let wide = any_leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_name(), inner), 0..4)
                .prop_map(|named| Value::Object(named.into_iter().collect())),
        ]
    });
    (wide, 0usize..300, any_name()).prop_map(|(value, shaft, name)| {
        (0..shaft).fold(value, |inner, level| match level % 2 {
            0 => json!([inner]),
            _ => Value::Object(Map::from_iter([(name.clone(), inner)])),
        })
    })
}

proptest! {
    #[test]
    fn bounded_value_is_read_back_from_every_envelope(mut value in any_value()) {
        let fits = excess(&value, limits::JSON_VALUE_DEPTH).is_none();
        let before = value.clone();
        prop_assert_eq!(enforce(&mut value), !fits);
        prop_assert!(!fits || value == before);
        prop_assert!(!enforce(&mut value.clone()), "a bounded value is bounded");
        let content = Content::ToolResult {
            tool_use_id: "call".into(), tool_name: "tool".into(), result: value.clone(), success: true, is_error: false,
            metadata: value.clone(),
        };
        let block = fixtures::block(2, 0, content);
        let mut event = Event::BlockStart { block: block.clone() };
        event.enforce_bounds();
        let same = event == Event::BlockStart { block: block.clone() };
        prop_assert!(same);
        let line = serde_json::to_string(&event).unwrap();
        prop_assert!(matches!(bounded_text(&line, limits::JSON_TEXT_DEPTH), Cow::Borrowed(_)));
        prop_assert_eq!(&serde_json::from_str::<Event>(&line).unwrap(), &event);
        // The envelope is deeper than that of a block in any response of the API.
        let answer = json!([[[[[[[[{"turns": [{"blocks": [block]}]}]]]]]]]]).to_string();
        prop_assert_eq!(serde_json::from_str::<Value>(&answer).unwrap().to_string(), answer);
    }

    #[test]
    fn bounded_text_is_json_if_input_was(value in any_value(), depth in 1usize..120) {
        let text = value.to_string();
        let held = bounded_text(&text, depth);
        let read: Value = serde_json::from_str(&held).unwrap();
        prop_assert_eq!(read.to_string(), &*held);
        prop_assert!(excess(&read, depth).is_none());
    }

    #[test]
    fn any_text_is_bounded_without_panic(text in "[\\[\\]{}\"\\\\:,a$ é]{0,80}", depth in 0usize..4) {
        let held = bounded_text(&text, depth);
        prop_assert!(serde_json::from_str::<Value>(&text).is_err() || serde_json::from_str::<Value>(&held).is_ok());
    }
}
