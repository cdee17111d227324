//! Tests of JSON lines: intact, broken, cut and too long, however the text is chunked.

use std::io::{BufReader, Cursor};

use serde_json::json;

use super::*;
use crate::test_support::{CollectingSink, open_input, zip_archive};

/// Returns `number: value` of every line, the issues, and the result.
fn lines_of(bytes: impl Into<Vec<u8>>) -> (Vec<String>, Vec<String>, Result<u64, ImportError>) {
    let mut kept = CollectingSink::default();
    let mut lines = Vec::new();
    let mut input = open_input(bytes).unwrap();
    let end = input.for_each_line(0, &mut kept, &mut |line, _| {
        lines.push(format!("{}: {}", line.number, line.value));
        Ok(())
    });
    (lines, kept.issue_lines(), end)
}

#[test]
fn lines_are_read_with_their_numbers() {
    let table: [(&str, &[&str]); 6] = [
        ("", &[]),
        (" \n\n\r\n", &[]),
        ("{\"a\":1}\n{\"b\":2}\n", &["1: {\"a\":1}", "2: {\"b\":2}"]),
        ("\u{feff}{\"a\":1}\r\n\r\n [2]\r\n\"x\"", &["1: {\"a\":1}", "3: [2]", "4: \"x\""]),
        ("\u{1e}{\"a\":1}\n\u{1e}null\n", &["1: {\"a\":1}", "2: null"]),
        ("{\"a\":\"one\u{2028}line\"}", &["1: {\"a\":\"one\u{2028}line\"}"]),
    ];
    for (text, expected) in table {
        let (lines, issues, end) = lines_of(text);
        assert_eq!((lines.len() as u64, issues), (end.unwrap(), Vec::new()), "{text}");
        assert_eq!(lines, expected, "{text}");
    }
    let utf16: Vec<u8> = "{\"a\":\"ü\"}\n2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(lines_of(utf16).0, ["1: {\"a\":\"ü\"}", "2: 2"]);
}

#[test]
fn broken_line_is_reported_and_next_is_read() {
    let (lines, issues, end) = lines_of("{\"a\":\n{\"b\":\"cut in a string\n{\"c\":NaN}\n{\"d\":4}}\n{\"e\":\"cut");
    assert_eq!((lines, end.unwrap()), (vec!["3: {\"c\":null}".to_owned()], 1));
    assert_eq!(
        issues,
        [
            "left out: sample.json › line 1: it is not JSON: EOF while parsing a value at column 5",
            "left out: sample.json › line 2: it is not JSON: EOF while parsing a string at column 21",
            "put right: sample.json › line 3: values that are not JSON numbers (NaN, Infinity, overflow) were replaced \
             with null",
            "left out: sample.json › line 4: it is not JSON: trailing characters at column 8",
            "left out: sample.json › line 5: the file ends in the middle of it",
        ]
    );
    let (lines, issues, end) = lines_of(b"{\"a\":\"\xff\"}\n".as_slice());
    assert_eq!((lines, end.unwrap()), (vec!["1: {\"a\":\"\u{fffd}\"}".to_owned()], 1));
    assert_eq!(issues, ["put right: sample.json: invalid bytes were replaced with U+FFFD"]);
}

#[test]
fn text_without_any_json_line_is_refused_with_its_first_line() {
    let (lines, issues, end) = lines_of("{\n  \"pretty\": [\n".repeat(1_000));
    assert_eq!(lines, Vec::<String>::new());
    assert!(matches!(end, Err(ImportError::WrongFormat("JSON, one value per line"))), "{end:?}");
    assert_eq!(issues, ["left out: sample.json › line 1: it is not JSON: EOF while parsing an object at column 1"]);
    assert_eq!(lines_of("{\"a\":").1, ["left out: sample.json › line 1: the file ends in the middle of it"]);
}

#[test]
fn broken_lines_above_limit_are_counted() {
    let (lines, issues, end) = lines_of(format!("1\n{}2\n", "x\n".repeat(bounds::ISSUES + 3)));
    assert_eq!((lines.len(), end.unwrap()), (2, 2));
    assert_eq!(issues.len(), bounds::ISSUES + 1);
    assert_eq!(issues.last().unwrap(), "left out: sample.json: 3 more lines were skipped for such reasons");
}

#[test]
fn damaged_archive_keeps_earlier_lines() {
    let text: String = (0..5_000).map(|number| format!("{{\"number\":{number},\"x\":\"{}\"}}\n", number * 7)).collect();
    let whole = zip_archive(&[("a.jsonl", text.as_bytes())]);
    let (lines, issues, end) = lines_of(&whole[..whole.len() / 2]);
    let read = end.unwrap();
    assert!(read > 100 && read < 5_000 && lines.len() as u64 == read, "{read}");
    assert!(
        issues.iter().any(|line| line.contains("damaged from here") || line.contains("in the middle")),
        "{issues:?}"
    );
}

/// Returns the texts of all lines, `…` for those that are too long.
fn texts(text: &[u8], largest: usize, chunk: usize) -> Vec<String> {
    let mut lines = Lines::new(BufReader::with_capacity(chunk, Cursor::new(text)), largest);
    let mut found = Vec::new();
    while let Some(step) = lines.next().unwrap() {
        let text = step.text.map_or("…".into(), String::from_utf8_lossy);
        found.push(format!("{}{} {text}", step.number, if step.is_ended { "" } else { "?" }));
    }
    found
}

#[test]
fn too_long_line_is_skipped_and_next_is_read() {
    let text = format!("{{\"a\":1}}\n\"{}\"\n\n  2 \n{}", "x".repeat(100), "y".repeat(60));
    for chunk in [1, 2, 3, 7, 4096] {
        assert_eq!(texts(text.as_bytes(), 50, chunk), ["1 {\"a\":1}", "2 …", "4 2", "5? …"], "{chunk}");
    }
}

#[test]
fn records_are_lines_or_elements_by_name() {
    let text = b"{\"a\": \"cut\n{\"b\": 2}\n";
    let read = |name: &str, text: &[u8]| {
        let mut numbers = Vec::new();
        let mut input = open_input(zip_archive(&[(name, text)])).unwrap();
        let end = input.for_each_record(0, &mut CollectingSink::default(), &mut |line, _| {
            numbers.push(line.number);
            Ok(())
        });
        (numbers, end.is_ok())
    };
    for name in ["a.jsonl", "a.JSONL", "a.ndjson", "a.jsonl.gz"] {
        assert_eq!(read(name, text), (vec![2], true), "{name}");
    }
    assert_eq!(read("a.json", b"[{\"a\":\n1}, {\"b\":2}]"), (vec![1, 2], true));
}

#[test]
fn line_with_too_many_values_is_refused() {
    let many = format!("[{}0]", "0,".repeat(bounds::VALUES));
    let text = format!("{{\"text\":{}}}", json!("[,".repeat(bounds::VALUES)));
    assert!(has_too_many_values(many.as_bytes()));
    assert!(!has_too_many_values(text.as_bytes()));
}

proptest::proptest! {
    #[test]
    fn arbitrary_lines_never_panic(text in r#"[\[\]{}",:\\udDcC80NaN\x01\x1e\r\n -]{0,80}"#) {
        let _ = lines_of(text);
    }
}
