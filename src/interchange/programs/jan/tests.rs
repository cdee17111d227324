//! Tests of the Jan reader: the sample, lone files, invalid lines, and random mutations.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{assistants, keys};
use crate::formats::ImportFormat;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected, zip_archive,
};

const THREAD: &str = include_str!("../../samples/jan/threads/1717660000/thread.json");
const MESSAGES: &str = include_str!("../../samples/jan/threads/1717660000/messages.jsonl");
const ASSISTANT: &str = include_str!("../../samples/jan/assistants/skipper/assistant.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::Jan, bytes)
}

/// A data folder with one thread of these messages.
fn folder(messages: &str) -> Vec<u8> {
    zip_archive(&[
        ("jan/assistants/skipper/assistant.json", ASSISTANT.as_bytes()),
        ("jan/threads/1717660000/messages.jsonl", messages.as_bytes()),
        ("jan/threads/1717660000/thread.json", THREAD.as_bytes()),
        ("jan/threads/new/thread.json", br#"{"id": "new", "object": "thread", "title": "New", "assistants": []}"#),
    ])
}

#[test]
fn data_folder_is_read() {
    let kept = read(folder(MESSAGES));
    let [sailing] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!(
        conversation_lines(sailing),
        [
            r##"0< user: file log.txt text/plain text wind 4 | "What do you see?" | picture picture image/jpeg 2 bytes """##,
            r##"1<0 assistant: thinking "A boat." | "A boat.""##,
            r##"2<1 user: "And the tide?""##,
            r##"3<2 assistant: thinking "Ask the table." | call call_1 tides {"port":"Brest"} | answer call_1 tides "high at 20:11" | "High at 20:11.""##,
            r##"4<3 user: "Wind?""##,
            r##"5<4 assistant: call call_3 wind {"port":"Brest"} | answer call_3 wind failed "down" | call call_2 gusts {}"##,
            r##"6<5 assistant: answer call_2 gusts "force 4""##,
            r##"7<6 assistant (cancelled): "Force 4, and""##,
            r##"8<7 user: "Go on""##,
            r##"*9<8 assistant (failed: insufficient_quota): "##,
        ]
    );
    assert_eq!((sailing.title.as_str(), sailing.source_id.as_str()), ("Sailing to Brest", "01J0THREAD"));
    assert_eq!((sailing.system_prompt.as_str(), sailing.is_pinned), ("You are a skipper.", true));
    assert_eq!(
        (sailing.model.as_deref(), sailing.messages[1].provider.as_deref()),
        (Some("qwen3:8b"), Some("llamacpp"))
    );
    let times = [sailing.created_at, sailing.messages[1].created_at, sailing.messages[1].ended_at];
    let times = times.map(|time| time.unwrap().timestamp_millis());
    assert_eq!(times, [1_717_660_000_123, 1_717_660_001_000, 1_717_660_004_000]);
    assert_eq!(sailing.messages[5].ended_at, None);
    let place = "jan/threads/1717660000/messages.jsonl › 01J0THREAD";
    assert_eq!(
        kept.issue_lines(),
        [
            format!("lost: {place} › 01J0A: a file is not in the export, only its extracted text"),
            format!("lost: {place}: it belongs to the assistant “Skipper”; assistants are not imported"),
            "left out: jan/threads/new/thread.json: it has no messages".to_owned(),
        ]
    );
}

#[test]
fn repeated_message_follows_the_one_before_it() {
    let line = |id: &str| {
        let content = json!([{"type": "text", "text": {"value": id}}]);
        json!({"id": id, "object": "thread.message", "thread_id": "t", "role": "user", "content": content}).to_string()
    };
    let kept = read([line("a"), line("b"), line("a"), line("c")].join("\n"));
    let parents: Vec<_> = kept.conversations[0].messages.iter().map(|message| message.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(2)]);
}

#[test]
fn assistants_above_bound_are_left_out() {
    let large = json!({"id": "b", "instructions": "x".repeat(500)}).to_string();
    let small = json!({"id": "c", "instructions": "x", "tools": ["y".repeat(500)], "mood": 1}).to_string();
    let entries =
        [("assistants/b/assistant.json", large.as_bytes()), ("assistants/c/assistant.json", small.as_bytes())];
    let mut kept = CollectingSink::default();
    let read = assistants(&mut open_input(zip_archive(&entries)).unwrap(), 400, &mut kept).unwrap();
    assert_eq!(
        read.into_iter().collect::<Vec<_>>(),
        [("c".to_owned(), json!({"id": "c", "instructions": "x", "mood": 1}))]
    );
    let issues = kept.issue_lines();
    assert!(issues.len() == 1 && issues[0].contains("b/assistant.json"), "{issues:?}");
}

#[test]
fn lone_messages_are_read_without_title() {
    let kept = read(MESSAGES);
    let [sailing] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!((sailing.source_id.as_str(), sailing.title.as_str(), sailing.messages.len()), ("01J0THREAD", "", 10));
    assert!(kept.issue_lines()[0].ends_with("the title and the assistant of the thread are not in the export"));
}

#[test]
fn wrong_lines_do_not_affect_others() {
    let mut lines: Vec<&str> = MESSAGES.lines().take(3).collect();
    lines.insert(1, "{\"id\": \"broken");
    lines.insert(2, "7");
    let kept = read(folder(&lines.join("\n")));
    assert_eq!(kept.conversations[0].messages.len(), 3);
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("line 2: it is not JSON") && issues.contains("it is not a message"), "{issues}");
    let strange = json!({"id": "s", "object": "thread.message", "thread_id": "t", "role": "oracle",
        "content": [{"type": "hologram"}, {"type": "text", "text": "plain"}]});
    let kept = read(strange.to_string());
    assert_eq!(conversation_lines(&kept.conversations[0]), ["*0< assistant: \"plain\""]);
    let issues = kept.issue_lines().join("\n");
    for part in ["the role “oracle” was imported as the assistant", "unknown type was skipped (hologram)"] {
        assert!(issues.contains(part), "{part} in {issues}");
    }
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let thread: Value = serde_json::from_str(THREAD).unwrap();
    assert_keys_known(&thread, "", &keys::THREAD);
    assert_keys_known(&thread, "metadata", &keys::THREAD_METADATA);
    assert_keys_known(&thread, "assistants.*", &keys::ASSISTANT);
    assert_keys_known(&serde_json::from_str(ASSISTANT).unwrap(), "", &keys::ASSISTANT);
    let messages: Value = MESSAGES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    assert_keys_known(&messages, "*", &keys::MESSAGE);
    assert_keys_known(&messages, "*.metadata", &keys::METADATA);
    assert_keys_known(&messages, "*.content.*", &keys::PART);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations()) {
        let messages: Value = MESSAGES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
        let messages = mutate(messages, &changes);
        let lines: Vec<String> = messages.as_array().into_iter().flatten().map(Value::to_string).collect();
        let (kept, _) = read_all(ImportFormat::Jan, folder(&lines.join("\n")));
        kept.conversations.iter().for_each(assert_sound);
    }
}
