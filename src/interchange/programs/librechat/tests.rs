//! Tests of the LibreChat reader: the samples, long nested conversations, and random mutations.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::conversation::{MessageEnding, PieceBody};
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected, zip_archive,
};

const BRANCHES: &str = include_str!("../../samples/librechat/branches.json");
const RECURSIVE: &str = include_str!("../../samples/librechat/recursive.json");

/// Reads a file after its format was detected.
fn read(text: &str) -> CollectingSink {
    read_detected(ImportFormat::Librechat, text)
}

/// Reads a file with this single message.
fn read_message(mut message: Value) -> CollectingSink {
    message["messageId"] = json!("m");
    read(&json!({"conversationId": "c", "messages": [message]}).to_string())
}

#[test]
fn flat_export_is_read_with_branches() {
    let kept = read(BRANCHES);
    let [one] = kept.conversations.as_slice() else { panic!("it is one conversation") };
    assert_eq!(
        conversation_lines(one),
        [
            r##"0< user: picture map.png image/png absent /images/user/map.png "" | file notes.txt text/plain text Bring oars. | file charts.pdf application/pdf absent f-3 | "> the harbour\n> opens early" | "When is high tide in Brest?""##,
            r##"1<0 assistant [claude-sonnet-4-5]: thinking "I should look it up." | "Let me look." | call toolu_1 web_search {"query":"high tide Brest"} | answer toolu_1 web_search "17:42" | call toolu_2 clock {"zone":"Europe/Paris"} | thinking "Found it." | "High tide is at 17:42, the port closes at six." | sources Tide table<https://tides.example/brest>@0-21, Port news<https://news.example/port>@0-45 | picture tide.webp image/webp absent /images/user/tide.webp "" | file table.csv text/csv absent /files/table.csv"##,
            r##"2<1 user: "Thanks. And tomorrow?""##,
            r##"3<2 assistant [gpt-4o] (failed: {"type":"token_balance","balance":0}): "##,
            r##"4<2 assistant [deepseek-r1] (failed: The stream broke off.): call call_9 code_interpreter {"input":"print(1)"} | answer call_9 code_interpreter [{"type":"logs","logs":"1"}] | call call_10 tides {"day":2} | answer call_10 tides "18:30" | picture  image/png 2 bytes "" | "It is at 18:30.""##,
            r##"5<0 assistant [Tide agent] (cancelled): "Half past""##,
            r##"*6< user: "When is low tide in Brest?""##,
        ]
    );
    assert_eq!(
        (one.title.as_str(), one.system_prompt.as_str()),
        ("Tides and “ports”", "Answer like a harbour master.")
    );
    assert_eq!(
        kept.issue_lines(),
        [
            "put right: sample.json › c0000000-0000-4000-8000-000000000001 › u1: quotes attached to a message were \
            placed before its text",
            "lost: sample.json › c0000000-0000-4000-8000-000000000001 › a1: extra tool output is not imported (memory)",
            "lost: sample.json › c0000000-0000-4000-8000-000000000001 › a1: ratings are not imported",
            "lost: sample.json › c0000000-0000-4000-8000-000000000001 › a4: agent handoffs are not imported",
            "lost: sample.json › c0000000-0000-4000-8000-000000000001 › a4: a part of an unknown type was skipped (hologram)",
            "lost: sample.json › c0000000-0000-4000-8000-000000000001 › u1: a referenced file is not in the export (4 \
            times)",
            "lost: sample.json › c0000000-0000-4000-8000-000000000001 › u1: a file is not in the export, only its \
            extracted text",
            "lost: sample.json › c0000000-0000-4000-8000-000000000001: the settings of its preset are not imported \
            (temperature)",
        ]
    );
    let providers: Vec<_> = one.messages.iter().map(|message| message.provider.as_deref()).collect();
    assert_eq!(providers, [None, Some("anthropic"), None, Some("azure"), Some("openrouter"), None, None]);
    let reply = &one.messages[1];
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (Some(40), Some(80)));
    assert_eq!(one.messages[0].usage, Default::default(), "what a user wrote was not generated");
    assert_eq!(one.created_at, one.messages[0].created_at);
    assert_eq!(one.updated_at, one.messages[6].created_at);
}

#[test]
fn nested_export_is_read_like_flat_one() {
    let kept = read(RECURSIVE);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r##"0< user: "Hello""##,
            r##"1<0 assistant: thinking "A greeting." | "Hello yourself.""##,
            r##"2<1 user: "How are you?""##,
            r##"*3<0 assistant: "Good day.""##,
        ]
    );
    assert!(kept.findings.is_empty(), "{:?}", kept.issue_lines());
}

#[test]
fn archive_of_files_is_read_without_other_entries() {
    let entries: [(&str, &[u8]); 4] = [
        ("a/Tides.json", BRANCHES.as_bytes()),
        ("__MACOSX/a/._Tides.json", b"\0\x05\x16\x07"),
        ("b.json", RECURSIVE.as_bytes()),
        ("picture.png", b"x"),
    ];
    let bytes = zip_archive(&entries);
    assert_eq!(detect(&mut open_input(bytes.clone()).unwrap()).unwrap(), Some(ImportFormat::Librechat));
    let (kept, end) = read_all(ImportFormat::Librechat, bytes);
    end.unwrap();
    let titles: Vec<&str> = kept.conversations.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(titles, ["Tides and “ports”", "Nested"]);
    assert!(kept.issue_lines().iter().all(|issue| issue.starts_with("lost") || issue.starts_with("put right")));
}

/// Returns a chain of messages, each nested in the one before it.
fn nested(length: usize) -> String {
    let mut text = r#"{"conversationId":"c","exportAt":"x","recursive":true,"messages":["#.to_owned();
    for at in 0..length {
        let is_user = at % 2 == 0;
        // Every tenth message repeats the id of the one before it.
        let id = if at % 10 == 9 { at - 1 } else { at };
        text += &format!(r#"{{"messageId":"m{id}","isCreatedByUser":{is_user},"text":"t{at}","children":["#);
    }
    text + &"]}".repeat(length) + "]}"
}

#[test]
fn deep_nesting_is_read_like_any_conversation() {
    let long = 4_000;
    let kept = read(&nested(long));
    let messages = &kept.conversations[0].messages;
    assert_eq!(messages.len(), long);
    for (at, message) in messages.iter().enumerate() {
        assert_eq!(message.parent, at.checked_sub(1));
        assert!(matches!(&message.pieces[0].body, PieceBody::Text(text) if *text == format!("t{at}")));
    }
    let expected =
        "put right: sample.json › c › m8: another message has the same id: this one got a new id (400 times)";
    assert_eq!(kept.issue_lines(), [expected]);
}

#[test]
fn unreadable_nested_message_is_replaced_by_its_children() {
    let text = nested(300).replacen(r#""messageId":"m150","#, r#""messageId""m150","#, 1);
    let kept = read(&text);
    let messages = &kept.conversations[0].messages;
    assert_eq!(messages.len(), 299);
    assert!(messages.iter().enumerate().all(|(at, message)| message.parent == at.checked_sub(1)));
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("a message that is not JSON") && issues.contains("it is not a message"), "{issues}");
}

#[test]
fn truncated_nested_file_is_left_out_whole() {
    let whole = nested(300);
    let (kept, _) = read_all(ImportFormat::Librechat, &whole.as_bytes()[..whole.len() - 100]);
    assert!(kept.conversations.is_empty());
    assert_eq!(kept.findings.len(), 1, "{:?}", kept.issue_lines());
}

#[test]
fn texts_of_every_version_are_read() {
    let table = [
        (json!({"text": "a :::thinking b"}), r#""a :::thinking b""#),
        (json!({"text": "x:::thinking\nb\n:::\n\ny"}), r#""x" | thinking "b" | "y""#),
        (json!({"text": "a\n```\n:::thinking\nb\n:::\n```"}), r#""a\n```\n:::thinking\nb\n:::\n```""#),
        (json!({"text": "a\n~~~~\n~~~\n:::thinking\nb\n:::\n~~~~"}), r#""a\n~~~~\n~~~\n:::thinking\nb\n:::\n~~~~""#),
        (json!({"text": "Write :::thinking and ::: around it"}), r#""Write :::thinking and ::: around it""#),
        (json!({"text": ":::thinking\nuse std::: here\n:::\n\ny"}), r#"thinking "use std::: here" | "y""#),
        (json!({"text": ":::thinking\r\nb\r\n:::\r\n\r\ny"}), r#"thinking "b" | "y""#),
        (json!({"text": "whole", "content": [{"type": "text", "text": "part"}]}), r#""part""#),
        (json!({"text": "whole", "content": [{"type": "think", "think": "t"}]}), r#"thinking "t" | "whole""#),
        (json!({"content": [{"type": "text_delta", "text_delta": "d"}]}), r#""d""#),
        (json!({"content": [{"type": "new", "text": "n"}]}), r#""n""#),
        (json!({"content": [{"type": "tool_call"}]}), "call m/0 tool raw None"),
        (json!({"text": "", "content": null}), ""),
    ];
    for (message, expected) in table {
        assert_eq!(conversation_lines(&read_message(message).conversations[0]), [format!("*0< assistant: {expected}")]);
    }
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let (flat, nested): (Value, Value) =
        (serde_json::from_str(BRANCHES).unwrap(), serde_json::from_str(RECURSIVE).unwrap());
    assert_keys_known(&flat, "", &keys::CONVERSATION);
    assert_keys_known(&flat, "messages.*", &keys::MESSAGE);
    assert_keys_known(&nested, "", &keys::CONVERSATION);
    assert_keys_known(&nested, "messagesTree.*", &keys::MESSAGE);
    assert_keys_known(&nested, "messagesTree.*.children.*", &keys::MESSAGE);
    assert_keys_known(&flat, "messages.*.content.*.tool_call", &keys::CALL);
    let parts = flat["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_array());
    let read = parts.flatten().filter(|part| keys::PART_TYPES.iter().any(|kind| part["type"] == *kind));
    for key in read.filter_map(Value::as_object).flat_map(|part| part.keys()) {
        assert!(keys::PART.is_known(key), "the key {key} is neither read nor reported nor ignored");
    }
    let kept = read_message(json!({"content": [
        {"type": "text", "text": "A", "shiny": 1}, {"type": "tool_call", "tool_call": {"id": "c", "name": "n", "glow": "x"}},
    ]}));
    let told = kept.issue_lines().join("\n");
    assert!(told.contains("(part.shiny)") && told.contains("(tool_call.glow)"), "{told}");
}

#[test]
fn plugin_run_becomes_calls_with_result() {
    let plugin = json!({"latest": "Calculator", "loading": false, "inputs": [
        {"plugin": "Search", "input": "{\"q\":\"sum\"}", "thought": "Look first"},
        {"plugin": "Calculator", "input": "2+2", "thought": "Calculate"},
    ], "outputs": "4"});
    let calls = r#"thinking "Look first" | call m/1 Search {"q":"sum"} | thinking "Calculate" | call m/3 Calculator {"input":"2+2"} | answer m/3 Calculator "4" | "It is 4.""#;
    for message in [json!({"text": "It is 4.", "plugin": plugin}), json!({"text": "It is 4.", "plugins": [plugin]})] {
        let kept = read_message(message);
        assert_eq!(conversation_lines(&kept.conversations[0]), [format!("*0< assistant: {calls}")]);
        assert!(kept.findings.is_empty(), "{:?}", kept.issue_lines());
    }
    let bare = read_message(json!({"text": "x", "plugin": {"latest": "Clock", "inputs": [], "outputs": "noon"}}));
    let line = r#"*0< assistant: call m/0 Clock raw None | answer m/0 Clock "noon" | "x""#;
    assert_eq!(conversation_lines(&bare.conversations[0]), [line]);
}

#[test]
fn text_of_user_is_not_split() {
    let kept = read_message(json!({"isCreatedByUser": true, "text": ":::thinking\na\n:::\nb"}));
    assert_eq!(conversation_lines(&kept.conversations[0]), [r#"*0< user: ":::thinking\na\n:::\nb""#]);
}

#[test]
fn message_ending_is_kept() {
    let table = [
        (json!({"error": true, "text": "no"}), MessageEnding::Failed("no".into())),
        (json!({"error": true}), MessageEnding::Failed("This reply had failed in the source.".into())),
        (json!({"error": true, "content": [{"type": "error", "error": "why"}]}), MessageEnding::Failed("why".into())),
        (json!({"unfinished": true, "text": "half"}), MessageEnding::Cancelled),
        (json!({"unfinished": "yes", "text": "whole"}), MessageEnding::Complete),
    ];
    for (message, expected) in table {
        assert_eq!(read_message(message).conversations[0].messages[0].ending, expected);
    }
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations(), is_nested in any::<bool>()) {
        let sample = serde_json::from_str(if is_nested { RECURSIVE } else { BRANCHES }).unwrap();
        let (kept, _) = read_all(ImportFormat::Librechat, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
