//! Tests of the big-AGI reader: the sample, and random mutations of it.

use chrono::TimeDelta;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::ImportFormat;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, read_all, read_detected,
};

const ALL: &str = include_str!("../../samples/big_agi/all.json");

/// Reads a file after its format was detected.
fn read(text: &str) -> CollectingSink {
    read_detected(ImportFormat::BigAgi, text)
}

#[test]
fn backup_is_read() {
    let kept = read(ALL);
    let read_as: Vec<Vec<String>> = kept.conversations.iter().map(conversation_lines).collect();
    assert_eq!(
        read_as,
        [
            vec![
                r##"0< user: "> picked\n> words" | "Run it." | file main.py text/x-python 8 bytes | file scan.pdf application/pdf text Scanned words | picture photo.png image/png absent z-1 "A photo" | picture old.png image/png 2 bytes "Old""##,
                r##"1<0 assistant [claude-sonnet-4] (cancelled): thinking "Run the code." | thinking "" | call t1 run {"file":"main.py"} | answer t1 run "1" | call t2 code_execution {"language":"python","code":"1/0"} | answer t2 code_execution failed "ZeroDivisionError" | "It printed 1 💡 as told." | file out.csv  absent h-1 | sources A<https://a.example>@3-14"##,
                r##"*2<1 assistant [gemini-2.5-pro] (failed: [Issue] Google: 503): "Half""##,
            ],
            vec![
                r##"0< user: "> look up" | "Why is the sky blue?""##,
                r##"1<0 assistant [gpt-4-1106-preview]: "Rayleigh.""##,
                r##"*2<1 assistant (failed: The reply is incomplete.): "##,
            ],
        ]
    );
    assert_eq!(
        kept.issue_lines(),
        [
            "put right: sample.json › b-1 › p1: quotes attached to a message were placed before its text",
            "lost: sample.json › b-1 › p1: stars on messages are not imported",
            "lost: sample.json › b-1 › p2: reasoning signatures are not imported (2 times)",
            "lost: sample.json › b-1 › p2: a part of an unknown type was skipped (hologram)",
            "lost: sample.json › b-1 › p1: a file is not in the export, only its extracted text",
            "lost: sample.json › b-1 › p1: a referenced file is not in the export (2 times)",
            "lost: sample.json › b-1: it is in the folder “Work”; folders are not imported",
            "put right: sample.json › b-2 › q1: quotes attached to a message were placed before its text",
            "lost: sample.json › b-2: the instructions of the persona Scientist are not in the export",
        ]
    );
    let [one, older] = kept.conversations.as_slice() else { panic!("there are two") };
    assert_eq!((one.title.as_str(), one.system_prompt.as_str()), ("Code talk", "You are a programmer."));
    assert_eq!((older.title.as_str(), older.system_prompt.as_str()), ("Before May 2024", ""));
    let reply = &one.messages[1];
    let usage = &reply.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.reasoning_tokens), (Some(17), Some(20), Some(8)));
    assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (Some(5), Some(2)));
    assert_eq!(reply.ended_at, reply.created_at.map(|begun| begun + TimeDelta::milliseconds(1_500)));
    let providers: Vec<_> = one.messages.iter().map(|message| message.provider.as_deref()).collect();
    assert_eq!(providers, [None, Some("anthropic"), Some("google")]);
}

#[test]
fn backup_yields_only_conversations() {
    let kept = read(ALL);
    assert!(!format!("{:?} {:?}", kept.conversations, kept.findings).contains("sk-not-for-anybody"));
}

#[test]
fn single_conversation_is_read() {
    let all: Value = serde_json::from_str(ALL).unwrap();
    let kept = read(&all["conversations"][1].to_string());
    assert_eq!(kept.conversations.len(), 1);
    assert_eq!(kept.conversations[0].title, "Before May 2024");
}

#[test]
fn linear_conversation_stays_linear_with_broken_ids() {
    let message = |id: Value, text: &str| json!({"id": id, "role": "user", "text": text});
    let file = json!({"id": "b", "systemPurposeId": "Generic", "messages": [
        message(json!("a"), "x"), message(json!("a"), "y"), message(Value::Null, "x"), 3, message(json!("a"), "z"),
        message(json!("a"), "x"),
    ]});
    let kept = read(&file.to_string());
    let parents: Vec<_> = kept.conversations[0].messages.iter().map(|message| message.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(2)]);
    assert_eq!(kept.findings.len(), 3, "{:?}", kept.issue_lines());
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_str(ALL).unwrap();
    assert_keys_known(&sample, "conversations.*", &keys::CONVERSATION);
    assert_keys_known(&sample, "conversations.*.messages.*", &keys::MESSAGE);
    assert_keys_known(&sample, "conversations.*.messages.*.fragments.*", &keys::FRAGMENT);
    assert_keys_known(&sample, "conversations.*.messages.*.generator", &keys::GENERATOR);
    assert_keys_known(&sample, "conversations.*.messages.*.metadata", &keys::METADATA);
    let parts = sample["conversations"].as_array().unwrap().iter().flat_map(|of| of["messages"].as_array().unwrap());
    let parts = parts.flat_map(|message| message["fragments"].as_array().into_iter().flatten()).map(|of| &of["part"]);
    // A part of an unknown type is reported as a whole.
    let parts: Vec<&Value> = parts.filter(|part| part["pt"] != "hologram").collect();
    assert_keys_known(&json!(parts), "*", &keys::PART);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations()) {
        let (kept, _) = read_all(ImportFormat::BigAgi, mutate(serde_json::from_str(ALL).unwrap(), &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
