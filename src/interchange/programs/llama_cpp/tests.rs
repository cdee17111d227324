//! Tests of the llama.cpp reader: the samples, invalid lines, and random mutations.

use chrono::TimeDelta;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{OpenConversation, keys};
use crate::bounds;
use crate::formats::ImportFormat;
use crate::reading::parts::SeenConversations;
use crate::report::IssueLocation;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, read_all,
    read_detected, zip_archive,
};

const SESSION: &str = include_str!("../../samples/llama_cpp/session.jsonl");
const LIST: &str = include_str!("../../samples/llama_cpp/list.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::LlamaCpp, bytes)
}

#[test]
fn lines_are_grouped_into_conversations() {
    let kept = read(SESSION);
    let [files, short] = kept.conversations.as_slice() else { panic!("there are two") };
    assert_eq!(
        conversation_lines(files),
        [
            r##"0< user: picture screen.png image/png 2 bytes "screen.png" | file notes.md text/markdown 7 bytes | file a.pdf application/pdf text Page one | file v.mp3 audio/mpeg 2 bytes | file readme text/plain text Read me. | "List the files.""##,
            r##"1<0 assistant [qwen3-8b]: thinking "The user wants files." | "I will look." | call call_1 list_files {"path":"."}"##,
            r##"2<1 assistant: answer call_1 list_files "a.txt\nb.txt" | picture chart.png image/png 2 bytes "chart.png""##,
            r##"*3<2 assistant [qwen3-8b]: "Two files.""##,
            r##"4<2 assistant [gpt-oss-20b]: "There are two files.""##,
            r##"5< user: "List the folders.""##,
        ]
    );
    assert_eq!(conversation_lines(short), ["*0< user: \"Hi\""]);
    assert_eq!((files.title.as_str(), files.system_prompt.as_str()), ("Files", "Be brief."));
    assert_eq!((files.is_pinned, short.is_pinned), (true, false));
    let reply = &files.messages[1];
    let usage = &reply.usage;
    assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.output_tokens), (Some(30), Some(10), Some(30)));
    assert_eq!(reply.ended_at, reply.created_at.map(|begun| begun + TimeDelta::milliseconds(1_000)));
    assert_eq!(reply.provider.as_deref(), Some("llama.cpp"));
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: sample.json › s-1 › n2: an attachment of an unknown type was skipped (HOLOGRAM)",
            "lost: sample.json › s-1 › n2: a file is not in the export, only its extracted text (2 times)",
        ]
    );
}

#[test]
fn older_forms_are_read() {
    let kept = read(LIST);
    let read_as: Vec<Vec<String>> = kept.conversations.iter().map(conversation_lines).collect();
    assert_eq!(
        read_as,
        [
            vec![
                r##"0< user: picture cat.jpg image/jpeg 2 bytes "cat.jpg" | file Pasted text/plain 10 bytes | picture b.pdf, page 1 image/png 2 bytes "b.pdf, page 1" | "What is this?""##,
                r##"1<0 assistant: thinking "It has ears." | "A cat.""##,
                r##"*2<0 assistant: thinking "Ears." | "I look." | call m3/2 look {} | answer m3/2 look "a cat" | "It is a cat.""##,
            ],
            vec![r##"0< user: "Hi""##, r##"*1<0 assistant: thinking "A greeting." | "Hello.""##,],
        ]
    );
    assert!(kept.findings.is_empty(), "{:?}", kept.issue_lines());
    let one: Vec<Value> = serde_json::from_str(LIST).unwrap();
    assert_eq!(read(one[0].to_string()).conversations.len(), 1);
}

#[test]
fn archive_of_lines_is_read() {
    let entries: [(&str, &[u8]); 3] =
        [("a.jsonl", SESSION.as_bytes()), ("notes.txt", b"ignored"), ("b.jsonl", SESSION.as_bytes())];
    let kept = read(zip_archive(&entries));
    let ids: Vec<&str> = kept.conversations.iter().map(|one| one.source_id.as_str()).collect();
    // The second file contains the same conversations.
    assert_eq!(ids, ["s-1", "s-2"]);
    assert_eq!(kept.issue_lines().iter().filter(|issue| issue.contains("appears earlier")).count(), 2);
}

#[test]
fn wrong_lines_do_not_affect_others() {
    let session = |id: &str| json!({"type": "session", "harness": "llama.app", "id": id, "name": id}).to_string();
    let line = |id: &str| json!({"type": "message", "message": {"id": id, "role": "user", "content": id}}).to_string();
    let text = [
        session("a"),
        line("1"),
        "{\"type\":\"message\",\"message\":{\"id\" \"x\"}}".to_owned(),
        line("2"),
        json!({"type": "message"}).to_string(),
        session("b"),
        session("a"),
        line("3"),
    ];
    let read_of_it = read(text.join("\n"));
    let read_as: Vec<Vec<String>> = read_of_it.conversations.iter().map(conversation_lines).collect();
    assert_eq!(read_as, [vec!["0< user: \"1\"", "*1< user: \"2\""], vec!["*0< user: \"3\""]]);
    assert_eq!(read_of_it.conversations[1].source_id, "a#2");
    let issues = read_of_it.issue_lines().join("\n");
    for part in ["it is not JSON", "it is not a message", "it has no messages", "the same id"] {
        assert!(issues.contains(part), "{part} in {issues}");
    }
    let (early, _) = read_all(ImportFormat::LlamaCpp, format!("{}\n{}", line("1"), session("a")));
    assert!(early.issue_lines()[0].contains("before any conversation"), "{:?}", early.issue_lines());
}

#[test]
fn endless_conversation_is_bounded() {
    let session = || OpenConversation::new(json!({"id": "a"}), IssueLocation::default());
    let record = || json!({"type": "message", "message": {"role": "user", "content": "x"}});
    let mut long = session();
    for _ in 0..bounds::MESSAGES + 3 {
        long.add(record());
    }
    assert_eq!((long.whole["messages"].as_array().map(Vec::len), long.left_out), (Some(bounds::MESSAGES), 3));
    let mut large = session();
    let huge = "x".repeat(bounds::CONVERSATION_BYTES / 2);
    large.add(record());
    for _ in 0..3 {
        large.add(json!({"type": "message", "message": {"role": "user", "extra": [{"content": huge.as_str()}]}}));
    }
    assert_eq!((large.whole["messages"].as_array().map(Vec::len), large.left_out), (Some(2), 2));
    let mut kept = CollectingSink::default();
    large.close(&mut SeenConversations::default(), &mut kept).unwrap();
    assert_eq!(kept.issue_lines()[0], "left out: : the conversation is too large: 2 messages were skipped");
}

#[test]
fn extracted_text_of_pdf_stays_with_its_bytes() {
    let pdf = |content: &str| json!({"type": "PDF", "name": "d.pdf", "base64Data": "aGk=", "content": content});
    let message =
        json!({"id": "1", "role": "user", "content": "See", "parent": "-1", "extra": [pdf("Words"), pdf("")]});
    let kept = read(json!({"conv": {"id": "c"}, "messages": [message]}).to_string());
    let line =
        r#"*0< user: file d.pdf application/pdf 2 bytes, text Words | file d.pdf application/pdf 2 bytes | "See""#;
    assert_eq!(conversation_lines(&kept.conversations[0]), [line]);
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let list: Value = serde_json::from_str(LIST).unwrap();
    assert_keys_known(&list, "*.conv", &keys::CONVERSATION);
    assert_keys_known(&list, "*.messages.*", &keys::MESSAGE);
    assert_keys_known(&list, "*.messages.*.extra.*", &keys::EXTRA);
    let lines: Vec<Value> = SESSION.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sessions: Vec<&Value> = lines.iter().filter(|line| line["type"] == "session").collect();
    assert_keys_known(&json!(sessions), "*", &keys::CONVERSATION);
    assert_keys_known(&json!(lines), "*.message", &keys::MESSAGE);
    assert_keys_known(&json!(lines), "*.message.extra.*", &keys::EXTRA);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations()) {
        let (list, _) = read_all(ImportFormat::LlamaCpp, mutate(serde_json::from_str(LIST).unwrap(), &changes).to_string());
        list.conversations.iter().for_each(assert_sound);
        let session: Value = SESSION.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
        let session = mutate(session, &changes);
        let text: Vec<String> = session.as_array().into_iter().flatten().map(Value::to_string).collect();
        let (session, _) = read_all(ImportFormat::LlamaCpp, text.join("\n"));
        session.conversations.iter().for_each(assert_sound);
    }
}
