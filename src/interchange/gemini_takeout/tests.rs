//! Tests of the reader of Gemini's activity: the sample field by field, grouping, growth, and mutations of the sample.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    zip_archive,
};

const SAMPLE: &str = include_str!("../samples/gemini_takeout/MyActivity.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>> + Clone) -> CollectingSink {
    assert_eq!(detect(&mut open_input(bytes.clone()).unwrap()).unwrap(), Some(ImportFormat::GeminiTakeout));
    let (kept, end) = read_all(ImportFormat::GeminiTakeout, bytes);
    end.unwrap();
    kept.conversations.iter().for_each(assert_sound);
    kept
}

fn prompt(text: &str, time: &str) -> Value {
    json!({"header": "Gemini Apps", "title": format!("Prompted {text}"), "time": time, "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": format!("<p>Answer to {text}</p>")}]})
}

#[test]
fn prompts_within_half_an_hour_are_one_chat() {
    let kept = read(SAMPLE);
    let lines: Vec<Vec<String>> = kept.conversations.iter().map(conversation_lines).collect();
    assert_eq!(
        lines,
        [
            vec![
                r#"0< user: picture chart.png image/png absent chart-1e9873211d1a6157.png "" | "When is high tide?""#,
                r#"1<0 assistant: "At 18:30, says [the table](https://tides.example/).\n\n```python\nprint(18.5)\n```""#,
                r#"2<1 user: "And tomorrow?""#,
                r#"3<2 assistant: "At **19:20**.""#,
                r#"*4<2 assistant: "Tomorrow at `19:20`:\n\n- high\n- dry""#,
            ],
            vec![r##"*0< assistant: "Created Gemini Canvas titled Tides" | "# Tides\n\nAll of them.""##],
            vec![
                r#"0< user: "Buenas""#,
                r#"1<0 assistant: "Buenas tardes.""#,
                r#"2<1 user: "Indicación enviada: Hola""#,
                r#"*3<2 assistant: "¡Hola!""#,
            ],
        ]
    );
    let [first, _, named] = kept.conversations.as_slice() else { panic!("there are three") };
    assert_eq!((first.title.as_str(), named.source_id.as_str()), ("", "0a1b2c3d4e5f"));
    assert_eq!(first.created_at.unwrap().to_rfc3339(), "2026-07-26T06:07:57.773+00:00");
    assert_eq!(first.messages[1].provider.as_deref(), Some("google"));
    let issues = kept.issue_lines().join("\n");
    for part in [
        "a file is not in the export",
        "it used a Gem, which is not imported",
        "an activity that is no prompt is not imported (Gave feedback: Good response)",
        "the words before a prompt are not known in its language",
        "lost: sample.json: an activity of another product was skipped",
    ] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
    assert_eq!(kept.findings.len(), 5, "{issues}");
}

#[test]
fn archive_brings_files_and_other_products_are_skipped() {
    let search = json!([{"header": "Search", "title": "Searched for x", "time": "2026-07-25T19:59:00Z", "products": ["Search"]}]);
    let search = search.to_string();
    let entries: [(&str, &[u8]); 4] = [
        ("Takeout/My Activity/Search/MyActivity.json", search.as_bytes()),
        ("Takeout/My Activity/Gemini Apps/MyActivity.json", SAMPLE.as_bytes()),
        ("Takeout/My Activity/Gemini Apps/chart-1e9873211d1a6157.png", b"png"),
        ("Takeout/archive_browser.html", b"<html>"),
    ];
    let kept = read(zip_archive(&entries));
    assert_eq!(kept.conversations.len(), 3);
    let entry = "entry Takeout/My Activity/Gemini Apps/chart-1e9873211d1a6157.png";
    assert!(conversation_lines(&kept.conversations[0])[0].contains(entry));
}

#[test]
fn pause_and_addresses_separate_chats() {
    let mut named = prompt("c", "2026-01-01T10:31:00Z");
    named["titleUrl"] = json!("https://gemini.google.com/app/0123456789ab");
    let mut named_later = prompt("c 2", "2026-01-02T10:00:00Z");
    named_later["titleUrl"] = named["titleUrl"].clone();
    let log = json!([
        named_later,
        prompt("d", "2026-01-01T10:59:00Z"),
        named,
        prompt("b", "2026-01-01T10:30:00Z"),
        prompt("a", "2026-01-01T10:00:00Z"),
        prompt("before", "2026-01-01T09:29:59Z"),
        prompt("undated", "never"),
        prompt("undated too", ""),
    ]);
    let kept = read(log.to_string());
    let prompts = |chat: &crate::Conversation| -> Vec<String> {
        conversation_lines(chat).into_iter().step_by(2).map(|line| line.split('"').nth(1).unwrap().to_owned()).collect()
    };
    let chats: Vec<Vec<String>> = kept.conversations.iter().map(prompts).collect();
    // Chats that are named by their address are complete only at the end of the file.
    let expected: [&[&str]; 5] = [&["a", "b", "d"], &["before"], &["undated"], &["undated too"], &["c", "c 2"]];
    assert_eq!(chats, expected);
}

#[test]
fn chat_that_grew_keeps_its_ids() {
    let (a, b, c) =
        (prompt("a", "2026-01-01T10:00:00Z"), prompt("b", "2026-01-01T10:20:00Z"), prompt("c", "2026-01-01T10:45:00Z"));
    let earlier = read(json!([b, a]).to_string());
    let later = read(json!([c, b, a]).to_string());
    let (earlier, later) = (&earlier.conversations[0], &later.conversations[0]);
    assert_eq!(earlier.source_id, later.source_id);
    let ids =
        |of: &crate::Conversation| of.messages.iter().map(|message| message.source_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(earlier), ids(later)[..4]);
}

#[test]
fn repeated_log_is_read_once_and_damage_keeps_earlier_entries() {
    let (a, b) = (prompt("a", "2026-01-01T10:00:00Z"), prompt("b", "2026-01-01T12:00:00Z"));
    let kept = read(json!([b, a, b, a]).to_string());
    assert_eq!(kept.conversations.len(), 2);
    assert_eq!(kept.issue_lines().iter().filter(|line| line.contains("appears earlier")).count(), 2);
    let (kept, _) = read_all(ImportFormat::GeminiTakeout, &SAMPLE.as_bytes()[..SAMPLE.len() - 300]);
    assert!(
        kept.conversations.len() >= 2 && kept.issue_lines().iter().any(|line| line.contains("in the middle of it"))
    );
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_str(SAMPLE).unwrap();
    assert_keys_known(&sample, "*", &keys::ACTIVITY);
    assert_keys_known(&sample, "*.safeHtmlItem.*", &keys::ANSWER);
    assert_keys_known(&sample, "*.subtitles.*", &keys::SUBTITLE);
    assert_keys_known(&sample, "*.details.*", &keys::DETAIL);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations()) {
        let sample: Value = serde_json::from_str(SAMPLE).unwrap();
        let (kept, _) = read_all(ImportFormat::GeminiTakeout, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
