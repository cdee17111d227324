//! Tests of redaction in texts, bytes and JSON, in every encoding of JSON.

use serde_json::Map;

use super::*;

#[test]
fn known_secrets_and_key_shaped_words_are_removed() {
    let secrets = SecretSet::new([SecretString::from("correct horse battery"), SecretString::from("abc")]);
    for (text, expected) in [
        ("refused: correct horse battery!", "refused: [removed]!"),
        ("key sk-proj-0123456789abcdef is wrong", "key [removed] is wrong"),
        ("sk-inval************************-key.", "[removed]."),
        ("Bearer gsk_0123456789abcdef,", "Bearer [removed],"),
        ("a short sk-1 and abc stay", "a short sk-1 and abc stay"),
        ("你好 sk-0123456789abc 😀", "你好 [removed] 😀"),
        ("", ""),
    ] {
        assert_eq!(secrets.redact(text), expected);
    }
    assert!(!format!("{secrets:?}").contains("horse"));
}

#[test]
fn bytes_without_secret_stay_exact() {
    let secrets = SecretSet::new([SecretString::from("hunter2hunter2")]);
    let exact = bytes::Bytes::from_static(b"\xff\xfe sk-0123456789abcdef");
    assert_eq!(secrets.redact_bytes(exact.clone()), exact);
    let bytes = bytes::Bytes::from_static(b"\xffno hunter2hunter2 or hunter2hunter2!\xfe");
    assert_eq!(secrets.redact_bytes(bytes), &b"\xffno [removed] or [removed]!\xfe"[..]);
}

/// Every way to write a key in JSON, with text around it.
#[test]
fn json_escaped_key_is_removed_and_rest_stays_valid_json() {
    let secrets = SecretSet::new([SecretString::from("key/0123+ABCdef\"9")]);
    for written in [
        r#"{"a":"my key/0123+ABCdef\"9!"}"#,
        r#"{"a":"my key\/0123+ABCdef\"9!"}"#,
        r#"{"a":"my \u006bey\u002F0123+\u0041BCdef\u00229!"}"#,
        r#"{"a":"my \\\u006bey\/0123+ABCdef\"9!"}"#,
    ] {
        let clean = secrets.redact_bytes(bytes::Bytes::from_static(written.as_bytes()));
        let read: Value = serde_json::from_slice(&clean).unwrap();
        assert!(read["a"].as_str().unwrap().starts_with("my "), "{written}");
        assert!(read["a"].as_str().unwrap().ends_with("[removed]!"), "{written}: {read}");
    }
    let arguments = serde_json::json!({ "k": "key/0123+ABCdef\"9" }).to_string();
    let nested = serde_json::json!({ "arguments": arguments.replace('/', "\\/").replace('A', "\\u0041") }).to_string();
    let clean = secrets.redact_bytes(nested.into());
    let read: Value = serde_json::from_slice(&clean).unwrap();
    let inner: Value = serde_json::from_str(read["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(inner, serde_json::json!({ "k": "[removed]" }));
    for exact in [r"\\\u0042", r#""\u006b\u0065y but no more""#, r"a\/b", "\\", r"\u00"] {
        let exact = bytes::Bytes::from_static(exact.as_bytes());
        assert_eq!(secrets.redact_bytes(exact.clone()), exact);
    }
}

#[test]
fn key_used_as_field_name_is_removed_and_no_field_is_lost() {
    let secrets = SecretSet::new([SecretString::from("hunter2hunter2"), SecretString::from("correct horse")]);
    let value = serde_json::json!({ "hunter2hunter2": 1, "correct horse": { "x hunter2hunter2": 2 }, "plain": 3 });
    assert!(secrets.has_match_in_value(&serde_json::json!({ "hunter2hunter2": 1 })));
    let clean = secrets.redact_value(value);
    assert!(!secrets.has_match_in_value(&clean), "{clean}");
    let fields = clean.as_object().unwrap();
    assert_eq!(fields.len(), 3);
    assert_eq!(fields["plain"], 3);
    assert!(fields.values().any(|value| value["x [removed]"] == 2), "{clean}");
}

/// Writes the first character of a name, and those in the mask, as numeric escapes with this many backslashes.
fn escaped(name: &str, backslashes: usize, mask: usize) -> String {
    let spell = |(at, byte): (usize, u8)| match (mask << 1 | 1) >> at & 1 {
        1 => format!("{}u00{byte:02x}", "\\".repeat(backslashes)),
        _ => char::from(byte).to_string(),
    };
    name.bytes().enumerate().map(spell).collect()
}

#[test]
fn redacted_equal_names_become_distinct_names_of_linear_size() {
    const NAMES: usize = 2000;
    let secrets = SecretSet::new([SecretString::from("hunter2hunter2")]);
    let names = (0..NAMES).map(|at| escaped("hunter2hunter2", at % 64 + 1, at / 64));
    let object: Map<String, Value> = names.zip(0..).map(|(name, value)| (name, Value::from(value))).collect();
    assert_eq!(object.len(), NAMES);
    let clean = secrets.redact_value(Value::Object(object));
    let fields = clean.as_object().unwrap();
    assert!(fields.values().eq((0..NAMES).map(Value::from).collect::<Vec<_>>().iter()), "no field is lost");
    let size: usize = fields.keys().map(String::len).sum();
    assert!(fields.keys().all(|name| name.starts_with("[removed]")) && size < 20 * NAMES, "{size} bytes of names");
}

/// Encodes a text as `json.dumps` and other ASCII-only programs do.
fn ascii_json(text: &str) -> String {
    let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
    Value::from(text).to_string().chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c) }).collect()
}

fn read_json(bytes: &[u8], levels: usize) -> String {
    let mut text = String::from_utf8(bytes.to_vec()).unwrap();
    for _ in 0..levels {
        text = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    }
    text
}

#[test]
fn secret_of_any_characters_is_removed_in_text_and_in_json() {
    for secret in [
        r"ab\\cdefghijkl",
        r"\\server\hunter2",
        r"ends-with-one\",
        r"ends-with-two\\",
        r#"a\\"\x-hunter2"#,
        "geheim-schlüssel",
        "пароль-пароль",
        "😀\\é-hunter2\n\tq",
    ] {
        let secrets = SecretSet::new([SecretString::from(secret)]);
        let (plain, clean) = (format!("it is {secret}, or {secret}"), "it is [removed], or [removed]");
        assert_eq!(secrets.redact_known(plain.clone()), clean, "{secret}");
        assert_eq!(secrets.redact_known(format!("it is {secret}")), "it is [removed]", "{secret}");
        for write in [ascii_json, |text: &str| Value::from(text).to_string()] {
            let once = write(&plain);
            for (written, levels) in [(write(&once), 2), (once, 1)] {
                let redacted = secrets.redact_bytes(written.into());
                assert_eq!(read_json(&redacted, levels), clean, "{secret} in {levels} levels of JSON");
            }
        }
    }
}

#[test]
fn secret_resembling_escape_is_removed_from_text() {
    let secrets = SecretSet::new([SecretString::from(r"a\u005cb-hunter2")]);
    assert_eq!(secrets.redact_known(r"it is a\u005cb-hunter2!".into()), "it is [removed]!");
}

#[test]
fn near_miss_of_secret_stays_exact() {
    let secrets = SecretSet::new([SecretString::from(r"ab\\cdé-hunter2")]);
    for exact in
        [r"ab\cdé-hunter2", r"abcdé-hunter2", r"ab\\cd\u00e8-hunter2", r"ab\\cdé-hunter", r"ab\\cd\u+0e9-hunter2"]
    {
        assert_eq!(secrets.redact_known(exact.into()), exact);
    }
}

#[test]
fn backslashes_after_secret_are_kept() {
    let secrets = SecretSet::new([SecretString::from(r"ends-with-two\\")]);
    for (text, clean) in [
        (r"ends-with-two\u005c\u005c\u005c!", r"[removed]\u005c!"),
        (r"ends-with-two\\\\\n", r"[removed]\n"),
        (r"ends-with-two\\n", "[removed]n"),
        (r"ends-with-two\n", r"ends-with-two\n"),
    ] {
        assert_eq!(secrets.redact_known(text.into()), clean, "{text}");
    }
}

#[test]
fn text_of_repeated_key_prefixes_is_cut_where_work_ends() {
    let key = format!("{}bcdef", "a".repeat(4000));
    let secrets = SecretSet::new([SecretString::from(key.as_str())]);
    for one in ["a", r"\u0061", r"\\\\u0061"] {
        let text = one.repeat(1 << 15);
        secrets.has_match_in(text.as_bytes());
        secrets.redact_bytes(text.clone().into());
        secrets.redact_truncated(text.clone().into());
        let clean = secrets.redact_known(format!("{text}{key} and {key}"));
        assert!(!clean.contains("bcdef") && clean.ends_with("[removed]"), "{one}");
    }
}

#[test]
fn secrets_of_later_are_removed_from_the_moment_they_are_known() {
    let known = Arc::new(std::sync::Mutex::new(Vec::<SecretString>::new()));
    let later = known.clone();
    let secrets =
        SecretSet::new([SecretString::from("first-secret")]).with_later(move || later.lock().unwrap().clone());
    let text = || "first-secret second-secret".to_owned();
    assert_eq!(secrets.redact_known(text()), "[removed] second-secret");
    known.lock().unwrap().push("second-secret".into());
    assert_eq!(secrets.redact_known(text()), "[removed] [removed]");
    assert_eq!(secrets.redact_value(Value::String(text())), "[removed] [removed]");
    assert!(!secrets.clone().is_empty() && !format!("{secrets:?}").contains("second"));
}
