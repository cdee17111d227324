//! Tests that elements are cut at their ends, however the text is chunked.

use std::io::{BufReader, Cursor};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Returns all steps as text.
fn steps(text: &[u8], within: &[&str], largest: usize, chunk: usize) -> Vec<String> {
    let mut elements = Elements::new(BufReader::with_capacity(chunk, Cursor::new(text)), within, largest);
    let mut steps = Vec::new();
    while let Some(step) = elements.next().unwrap() {
        steps.push(match step {
            ElementStep::Element(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        });
    }
    steps
}

#[test]
fn top_level_value_is_split_into_elements() {
    let table: &[(&str, &[&str])] = &[
        ("", &[]),
        (" \n", &[]),
        ("[]", &[]),
        ("{}", &["{}"]),
        (r#"[{"a":1},{"b":[2]} , {"c":"}]"}]"#, &[r#"{"a":1}"#, r#"{"b":[2]}"#, r#"{"c":"}]"}"#]),
        (r#"[1, "a,b", null, [2], {}]"#, &["1", r#""a,b""#, "null", "[2]", "{}"]),
        (r#"{"a":"\"}","list":{"list":[1]}}"#, &[r#"{"a":"\"}","list":{"list":[1]}}"#]),
        (r#"{"v":[1,2],"list":[{"a":1},{"b":2}],"list2":[3]}"#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
        (r#"{"list":[{"a":1}],"x":{"list":[9]},"more":[{"b":2}]}"#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
        (r#"{"x":"list","y":[1]}"#, &[r#"{"x":"list","y":[1]}"#]),
        ("{\"a\":1}\n{\"b\":2}\n", &[r#"{"a":1}"#, r#"{"b":2}"#]),
        (r#"{"list":[]}{"a":1}"#, &[r#"{"a":1}"#]),
        // Broken elements do not affect the next one.
        (r#"[{"a":NaN},{"b":2}]"#, &[r#"{"a":NaN}"#, r#"{"b":2}"#]),
        (r#"[{"a":1}},{"b":2}]"#, &[r#"{"a":1}"#, "}", r#"{"b":2}"#]),
        (r#"[{"a":[1]]},{"b":2}]"#, &[r#"{"a":[1]]"#, "}", r#"{"b":2}"#]),
        // Truncated texts.
        (r#"[{"a":1},{"b":"#, &[r#"{"a":1}"#, "Truncated"]),
        (r#"[{"a":1}"#, &[r#"{"a":1}"#, "Truncated"]),
        (r#"{"list":[{"a":1}"#, &[r#"{"a":1}"#, "Truncated"]),
        (r#"[{"a":1}] <html>"#, &[r#"{"a":1}"#, "NotJson"]),
        ("\0\0\0", &["NotJson"]),
        ("hello", &["NotJson"]),
    ];
    for (text, expected) in table {
        for chunk in [1, 2, 3, 7, 4096] {
            assert_eq!(
                steps(text.as_bytes(), &["list", "more"], 1000, chunk),
                *expected,
                "{text} in chunks of {chunk}"
            );
        }
    }
}

#[test]
fn elements_know_their_positions() {
    let text = b"[\n {\"a\": 1},\n\n  2, {\"b\":\n 3}]\n{\"list\": [4]}";
    for chunk in [1, 2, 3, 7, 4096] {
        let mut elements = Elements::new(BufReader::with_capacity(chunk, Cursor::new(text)), &["list"], 100);
        let mut found = Vec::new();
        while elements.next().unwrap().is_some() {
            let TextPosition { line, column } = elements.element_start();
            found.push((line, column));
        }
        assert_eq!(found, [(2, 2), (4, 3), (4, 6), (6, 11)], "in chunks of {chunk}");
    }
    let start = TextPosition { line: 4, column: 6 };
    assert_eq!(
        (start.of(1, 3), start.of(2, 3)),
        (TextPosition { line: 4, column: 8 }, TextPosition { line: 5, column: 3 })
    );
}

#[test]
fn too_large_element_is_skipped_and_next_is_read() {
    let large = "x".repeat(100);
    let table = [
        (format!(r#"[{{"a":1}},{{"b":"{large}"}},{{"c":3}}]"#), vec![r#"{"a":1}"#, "OverLimit(Bytes)", r#"{"c":3}"#]),
        (format!(r#"{{"a":"{large}"}}"#), vec!["OverLimit(Bytes)"]),
        // Values around the list are skipped without being buffered, however large they are.
        (
            format!(r#"{{"a":"{large}","list":[{{"c":3}},"{large}",4],"b":"{large}"}}"#),
            vec![r#"{"c":3}"#, "OverLimit(Bytes)", "4"],
        ),
    ];
    for (text, expected) in table {
        for chunk in [1, 5, 4096] {
            assert_eq!(steps(text.as_bytes(), &["list"], 50, chunk), expected, "{text} in chunks of {chunk}");
        }
    }
}

#[test]
fn element_with_too_many_values_is_skipped_and_next_is_read() {
    let many = "0,".repeat(bounds::VALUES);
    let text = format!(r#"{{"a":[{many}0],"list":[{{"b":[{many}0]}},{{"c":"{many}"}},[{many}0],4],"d":[{many}0]}}"#);
    let steps = steps(text.as_bytes(), &["list"], 128 << 20, 4096);
    let of_text = format!(r#"{{"c":"{many}"}}"#);
    assert!(steps == ["OverLimit(Values)", of_text.as_str(), "OverLimit(Values)", "4"], "{} steps", steps.len());
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        r#"[\[\]{}",:\\a\n é]{0,8}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((r#"[ab"\\\]}]{0,3}"#, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn elements_match_serde_json(list in prop::collection::vec(values(), 0..6), chunk in 1usize..40, pretty: bool) {
        for whole in [json!(list), json!({"before": [1], "list": list, "after": {"list": 1}})] {
            let text = if pretty { serde_json::to_string_pretty(&whole) } else { serde_json::to_string(&whole) };
            let read: Vec<Value> = steps(text.unwrap().as_bytes(), &["list"], 1 << 20, chunk)
                .iter()
                .map(|step| serde_json::from_str(step).unwrap())
                .collect();
            prop_assert_eq!(&read, &list);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(prop_oneof![Just(b'['), Just(b'{'), Just(b'"'), Just(b']'), Just(b'}'), Just(b','), any::<u8>()], 0..200), chunk in 1usize..40) {
        steps(&bytes, &["list", ""], 20, chunk);
    }
}
