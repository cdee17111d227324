//! Tests of tool results: sanitizing, bounds and blobs.

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n rest";
const JPEG: &[u8] = &[0xff, 0xd8, 0xff, 0xe0, 1];
const WEBP: &[u8] = b"RIFF\x01\x02\x03\x04WEBPVP8 ";

fn build(parts: Vec<ResultPart>, structured: Option<Value>) -> CallResult {
    build_result(CallOutcome::Done, parts, structured)
}

fn text(text: &str) -> Vec<ResultPart> {
    vec![ResultPart::Text(text.into())]
}

#[test]
fn texts_are_cleaned_and_changes_counted() {
    for (input, stored, metadata) in [
        ("plain\ttext\r\n", "plain\ttext\r\n", json!({})),
        ("\u{1b}[31mred\u{1b}[0m\tand\nso", "red\tand\nso", json!({"cleaned": {"ansi": 2}})),
        ("a\0b", "a\u{2400}b", json!({"cleaned": {"nul": 1}})),
        ("report\u{202e}gnp.exe", "report\u{202e}gnp.exe", json!({"cleaned": {"hidden": 1}})),
        ("\u{1b}]0;never ended\nnext line", "\nnext line", json!({"cleaned": {"ansi": 1}})),
        ("", "", json!({})),
    ] {
        let outcome = build(text(input), None);
        assert_eq!(outcome.result, stored, "{input:?}");
        assert_eq!(Value::Object(outcome.metadata), metadata, "{input:?}");
        assert!(outcome.blobs.is_empty());
    }
}

#[test]
fn structured_content_is_cleaned_in_names_and_values() {
    let outcome = build(vec![], Some(json!({"a\0": ["\u{1b}[1mx", {"b": "\0"}], "a\u{2400}": 1.5, "n": null})));
    assert_eq!(outcome.result, json!({"a\u{2400}": ["x", {"b": "\u{2400}"}], "a\u{2400}_2": 1.5, "n": null}));
    assert_eq!(outcome.metadata["cleaned"], json!({"nul": 2, "ansi": 1}));
}

#[test]
fn names_equal_without_escapes_become_distinct_in_linear_size() {
    const NAMES: usize = 2000;
    let name = |at: usize| format!("a{}", "\u{1b}[0m".repeat(at + 1));
    let members: Map<String, Value> = (0..NAMES).map(|at| (name(at), json!(at))).collect();
    let (cleaned, given) =
        (ResultSanitizer::default().clean_value(Value::Object(members)), json!((0..NAMES).collect::<Vec<_>>()));
    let members = cleaned.as_object().unwrap();
    assert!(members.values().eq(given.as_array().unwrap()), "no member is lost");
    let size: usize = members.keys().map(String::len).sum();
    assert!(size < 20 * NAMES, "{size} bytes of names");
}

#[test]
fn structured_content_and_equal_text_are_stored_once() {
    let value = json!({"b": [1, 2.5], "a": "x"});
    for (case, input, expected) in [
        ("no text", "", value.clone()),
        ("the same", r#"{"b":[1,2.5],"a":"x"}"#, value.clone()),
        ("the same in another order", "{\n \"a\": \"x\", \"b\": [1, 2.5]}", value.clone()),
        ("words of its own", "Two numbers.", json!("Two numbers.\n\n{\"b\":[1,2.5],\"a\":\"x\"}")),
        ("another value", "{}", json!("{}\n\n{\"b\":[1,2.5],\"a\":\"x\"}")),
    ] {
        assert_eq!(build(text(input), Some(value.clone())).result, expected, "{case}");
    }
}

#[test]
fn too_deeply_nested_content_becomes_text() {
    let nested = |levels: usize| (0..levels).fold(json!("\0"), |inner, _| json!([inner]));
    assert!(build(vec![], Some(nested(64))).result.is_array());
    assert_eq!(build(vec![], Some(nested(65))).result, format!("{}\"\\u0000\"{}", "[".repeat(65), "]".repeat(65)));
}

#[test]
fn long_text_is_cut_between_characters_and_kept_as_blob() {
    let long = "é".repeat(limits::TOOL_RESULT_BYTES / 2 + 10) + "!";
    let outcome = build(text(&format!("x{long}")), None);
    let stored = outcome.result.as_str().unwrap();
    assert!(stored.len() <= limits::TOOL_RESULT_BYTES && stored.len() >= limits::TOOL_RESULT_BYTES - 1);
    assert!(stored.ends_with('é'));
    assert_eq!(outcome.blobs.len(), 1);
    assert_eq!(outcome.blobs[0].bytes, format!("x{long}"));
    assert_eq!(outcome.metadata["cut"], json!({"bytes": long.len() + 1, "blob": outcome.blobs[0].sha256}));

    let many = json!(vec!["x".repeat(1_000); 2_000]);
    let outcome = build(vec![], Some(many.clone()));
    assert_eq!(outcome.blobs[0].mime, "application/json");
    assert_eq!(outcome.blobs[0].bytes, many.to_string());
    assert_eq!(outcome.result.as_str().unwrap().len(), limits::TOOL_RESULT_BYTES);
}

#[test]
fn result_longer_than_page_shows_is_kept_as_blob() {
    let shown = build(text(&"x".repeat(limits::TOOL_SHOWN_BYTES)), None);
    assert!(shown.blobs.is_empty() && shown.metadata.is_empty());
    let long = "x".repeat(limits::TOOL_SHOWN_BYTES + 1);
    let outcome = build(text(&long), None);
    assert_eq!((outcome.result, &outcome.blobs[0].bytes[..]), (json!(long), long.as_bytes()));
    assert_eq!(outcome.metadata["whole"], json!({"blob": outcome.blobs[0].sha256}));
}

#[test]
fn endless_result_is_kept_up_to_its_bound() {
    let outcome = build(text(&"y".repeat(limits::TOOL_BLOB_BYTES + 5)), None);
    assert_eq!(outcome.blobs[0].bytes.len(), limits::TOOL_BLOB_BYTES);
    assert_eq!(outcome.metadata["cut"]["bytes"], limits::TOOL_BLOB_BYTES + 5);
}

#[test]
fn image_type_is_detected_from_bytes() {
    let image = |mime: &str, bytes: &'static [u8]| ResultPart::Image { mime: mime.into(), bytes: bytes.into() };
    let parts = vec![
        ResultPart::Text("See.".into()),
        image("text/html", PNG),
        image("image/png", b"<svg onload=alert(1)>"),
        image("image/svg+xml; charset=x", b"<svg>"),
        ResultPart::Other { mime: "nonsense \0".into(), bytes: JPEG.into() },
        ResultPart::Other { mime: "nonsense".into(), bytes: (&[0u8, 1][..]).into() },
        image("image/webp", WEBP),
        image("image/gif", b"GIF89a;"),
    ];
    let outcome = build(parts, None);
    assert_eq!(outcome.result, "See.");
    let of_each = |key: &str, field: &str| -> Vec<String> {
        outcome.metadata[key].as_array().unwrap().iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of_each("images", "mime"), ["image/png", "image/jpeg", "image/webp", "image/gif"]);
    assert_eq!(of_each("images", "alt"), ["Image 1", "Image 2", "Image 3", "Image 4"]);
    assert_eq!(of_each("files", "mime"), ["image/png", "image/svg+xml", "application/octet-stream"]);
    let named: Vec<String> = of_each("images", "blob").into_iter().chain(of_each("files", "blob")).collect();
    assert_eq!(outcome.blobs.len(), named.len());
    for blob in &outcome.blobs {
        assert!(named.contains(&blob.sha256));
    }
}

#[test]
fn image_before_text_leaves_note_in_its_place() {
    let image = |bytes: &'static [u8]| ResultPart::Image { mime: "image/png".into(), bytes: bytes.into() };
    let words = |words: &str| ResultPart::Text(words.into());
    let outcome = build(vec![words("Before:"), image(PNG), words("After:"), image(JPEG)], None);
    assert_eq!(outcome.result, "Before:\n\n[Image 1]\n\nAfter:");
    assert_eq!(outcome.metadata["images"][1]["alt"], "Image 2");
}

#[test]
fn images_beyond_bounds_become_files_or_are_left_out() {
    let numbered = |n: usize| Bytes::from([PNG, n.to_string().as_bytes()].concat());
    let parts = (0..40).map(|n| ResultPart::Image { mime: "image/png".into(), bytes: numbered(n) }).collect();
    let outcome = build(parts, None);
    assert_eq!(outcome.metadata["images"].as_array().unwrap().len(), limits::TOOL_IMAGES);
    assert_eq!(outcome.metadata["files"].as_array().unwrap().len(), limits::TOOL_IMAGES);
    assert_eq!(
        outcome.result.as_str().unwrap().matches("omitted because the result is too large").count(),
        40 - 2 * limits::TOOL_IMAGES
    );

    let huge =
        |n: u8| ResultPart::Other { mime: "video/mp4".into(), bytes: vec![n; limits::TOOL_BLOB_BYTES / 2].into() };
    let outcome = build(vec![huge(1), huge(2), huge(3), huge(1)], None);
    assert_eq!(outcome.metadata["files"].as_array().unwrap().len(), 2);
    assert_eq!(outcome.result.as_str().unwrap().matches("omitted because the result is too large").count(), 2);
    assert!(outcome.blobs.iter().map(|blob| blob.bytes.len()).sum::<usize>() <= limits::TOOL_BLOB_BYTES);
}

#[test]
fn call_outcome_is_in_metadata() {
    assert_eq!(Value::Object(text_result(CallOutcome::TimedOut, "too slow").metadata), json!({"timed_out": true}));
    assert_eq!(Value::Object(text_result(CallOutcome::Crashed, "gone").metadata), json!({"crashed": true}));
    assert_eq!(Value::Object(text_result(CallOutcome::Failed, "no").metadata), json!({}));
    let (text, invalid) = decode_lossy(b"a\xffb\xc3");
    assert_eq!((text.as_str(), invalid), ("a\u{fffd}b\u{fffd}", 2));
    assert_eq!(
        note_invalid_bytes(text_result(CallOutcome::Done, &text), invalid).metadata["cleaned"],
        json!({"invalid": 2})
    );
}
