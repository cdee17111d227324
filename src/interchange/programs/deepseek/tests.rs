//! Tests of the DeepSeek reader: the samples field by field, odd forms, and mutations of the samples.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::ImportFormat;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, read_all,
    read_detected, zip_archive,
};

const SAMPLE: &str = include_str!("../../samples/deepseek/conversations.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::Deepseek, bytes)
}

#[test]
fn versions_searches_thoughts_and_files_are_kept() {
    let kept = read(SAMPLE);
    let chat = &kept.conversations[0];
    let found = r#"[{"url":"https://tides.example/today","title":"Tides today","snippet":"High at 18:30.","cite_index":1,"published_at":1762100000.0,"site_name":"Tides","site_icon":"https://tides.example/icon.png"},{"url":"https://port.example/","title":"Port","snippet":"Low at 12:10.","cite_index":2,"published_at":null,"site_name":"Port","site_icon":""}]"#;
    assert_eq!(
        conversation_lines(chat),
        [
            r##"0< user: file notes.md text/markdown text # Tides | picture chart.png image/png absent file-2 "" | "When is high tide?""##.to_owned(),
            r#"1<0 assistant [deepseek-chat]: "I do not know.""#.to_owned(),
            format!(r#"2<0 assistant [deepseek-reasoner]: call 3/0 web_search {{"queries":["high tide today"]}} | answer 3/0 web_search {found} | thinking 2500ms "The page says 18:30." | "At 18:30.[1](https://tides.example/today) Not at `[citation:9]`." | sources Tides today<https://tides.example/today>, Port<https://port.example/>"#),
            r#"3<2 user: "And tomorrow?""#.to_owned(),
            r#"*4<3 assistant [deepseek-reasoner]: thinking 1000ms "Search again." | call 5/1 open_page {"url":"https://tides.example/tomorrow"} | answer 5/1 open_page {"title":"Tides tomorrow"} | thinking 250ms "It moves by 50 minutes." | "At 19:20.""#.to_owned(),
        ]
    );
    assert_eq!((chat.title.as_str(), chat.messages[1].provider.as_deref()), ("Tides and ports", Some("deepseek")));
    assert_eq!(chat.created_at.unwrap().to_rfc3339(), "2025-11-03T01:00:00.120+00:00");
    assert_eq!(chat.messages[0].created_at.unwrap().to_rfc3339(), "2025-11-03T01:00:01+00:00");
    let place = "lost: sample.json › 7d1f0a52-0000-4000-8000-000000000001";
    assert_eq!(
        kept.issue_lines(),
        [
            format!("{place} › 1: a file is not in the export, only its extracted text"),
            format!("{place} › 1: a file is not in the export"),
            format!("{place} › 5: a step of the reply is not in the export (TOOL_SEARCH)"),
            format!("{place} › 5: parts of type “HOLOGRAM” are not imported"),
        ]
    );
}

#[test]
fn older_messages_without_authors_take_turns() {
    let kept = read(SAMPLE);
    let found = r#"[{"url":"https://a.example/","title":"A page","snippet":"Words","cite_index":1}]"#;
    assert_eq!(
        conversation_lines(&kept.conversations[1]),
        [
            r#"0< user: "Hello""#.to_owned(),
            r#"1<0 assistant [deepseek-chat]: "Hi! What can I do?""#.to_owned(),
            r#"2<1 user: "Look something up.""#.to_owned(),
            format!(
                r#"*3<2 assistant [deepseek-reasoner]: call 4/0 web_search {{}} | answer 4/0 web_search {found} | thinking "It is on the page." | "Found it.[1](https://a.example/)" | sources A page<https://a.example/>"#
            ),
        ]
    );
}

#[test]
fn archive_is_detected_and_read() {
    let files: [(&str, &[u8]); 2] =
        [("user.json", br#"{"user_id": "u", "email": "a@example.org"}"#), ("conversations.json", SAMPLE.as_bytes())];
    let kept = read(zip_archive(&files));
    assert_eq!(kept.conversations.len(), 2);
    assert!(!format!("{:?}", kept.findings).contains("example.org"));
}

#[test]
fn conversation_of_chatgpt_is_left_out() {
    let chatgpt = json!([{"id": "c", "mapping": {"1": {"message": {"author": {"role": "user"}, "content": {}}}}}]);
    let (kept, end) = read_all(ImportFormat::Deepseek, chatgpt.to_string());
    end.unwrap();
    assert_eq!(kept.issue_lines(), ["left out: sample.json › c: it is not a conversation of DeepSeek"]);
}

#[test]
fn question_and_answer_in_one_message_become_two() {
    let message = json!({"inserted_at": "2025-11-03T09:00:00Z", "files": [{"id": "f", "file_name": "a.txt"}], "fragments": [
        {"type": "REQUEST", "content": "Why?"}, {"type": "THINK", "content": "Hm"}, {"type": "RESPONSE", "content": "So."},
    ]});
    let export = json!([{"id": "c", "inserted_at": "2025-11-03T09:00:00Z", "mapping": {
        "root": {"children": ["1"]},
        "1": {"parent": "root", "children": ["2"], "message": message},
        "2": {"parent": "1", "message": {"fragments": [{"type": "REQUEST", "content": "Oh"}]}},
    }}]);
    assert_eq!(
        conversation_lines(&read(export.to_string()).conversations[0]),
        [
            r#"0< user: file a.txt text/plain absent f | "Why?""#,
            r#"1<0 assistant: thinking "Hm" | "So.""#,
            r#"*2<1 user: "Oh""#,
        ]
    );
}

#[test]
fn endings_and_stated_roles_are_read() {
    let node = |parent: Value, message: Value| json!({"parent": parent, "message": message});
    let export = json!([{"id": "c", "inserted_at": "2025-11-03T09:00:00Z", "pinned": true, "current_message_id": "2", "mapping": {
        "1": node(Value::Null, json!({"role": "USER", "content": "Go"})),
        "2": node(json!("1"), json!({"role": "ASSISTANT", "status": "INCOMPLETE", "thinking_enabled": true, "content": "Par"})),
        "3": node(json!("1"), json!({"role": "ASSISTANT", "status": "CONTENT_FILTER", "feedback": {"type": "LIKE"}})),
        "4": node(json!("1"), json!("text")),
    }}]);
    let kept = read(export.to_string());
    let chat = &kept.conversations[0];
    assert_eq!(
        conversation_lines(chat),
        [
            r#"0< user: "Go""#,
            r#"*1<0 assistant (cancelled): "Par""#,
            "2<0 assistant (failed: The provider stopped this reply.): ",
        ]
    );
    assert!(chat.is_pinned && chat.messages[1].is_thinking_mode == Some(true));
    assert_eq!(kept.issue_lines().len(), 2, "{:?}", kept.issue_lines());
}

#[test]
fn cycle_and_missing_parent_keep_all_messages() {
    let message = |text: &str| json!({"inserted_at": "2025-02-01T10:00:00Z", "content": text});
    let export = json!([{"id": "c", "inserted_at": "2025-02-01T10:00:00Z", "mapping": {
        "1": {"parent": "2", "message": message("a")},
        "2": {"parent": "1", "message": message("b")},
        "3": {"parent": "gone", "message": message("c")},
    }}]);
    assert_eq!(read(export.to_string()).conversations[0].messages.len(), 3);
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_str(SAMPLE).unwrap();
    assert_keys_known(&sample, "*", &keys::CONVERSATION);
    assert_keys_known(&sample, "*.mapping.*", &keys::NODE);
    assert_keys_known(&sample, "*.mapping.*.message", &keys::MESSAGE);
    assert_keys_known(&sample, "*.mapping.*.message.files.*", &keys::FILE);
    let fragments = sample.as_array().unwrap().iter().flat_map(|chat| chat["mapping"].as_object().unwrap().values());
    let fragments = fragments.flat_map(|node| node["message"]["fragments"].as_array().into_iter().flatten());
    // A fragment of an unknown type is reported as a whole.
    let known: Vec<&Value> = fragments.filter(|fragment| fragment["type"] != "HOLOGRAM").collect();
    assert_keys_known(&json!(known), "*", &keys::FRAGMENT);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations()) {
        let sample: Value = serde_json::from_str(SAMPLE).unwrap();
        let (kept, _) = read_all(ImportFormat::Deepseek, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
