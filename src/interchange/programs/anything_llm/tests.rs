//! Tests of the AnythingLLM reader: the samples, growth, damage, and random mutations.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{is_csv, keys};
use crate::formats::ImportFormat;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, read_all,
    read_detected, zip_archive,
};

const ROWS: &str = include_str!("../../samples/anything_llm/chats.json");
const TABLE: &str = include_str!("../../samples/anything_llm/chats.csv");
const LINES: &str = include_str!("../../samples/anything_llm/workspaces.jsonl");
const ALPACA: &str = include_str!("../../samples/anything_llm/alpaca.json");
const THREAD: &str = include_str!("../../samples/anything_llm/thread.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::AnythingLlm, bytes)
}

#[test]
fn rows_become_chat_of_each_workspace_and_person() {
    let kept = read(ROWS);
    let read_as: Vec<Vec<String>> = kept.conversations.iter().map(conversation_lines).collect();
    assert_eq!(
        read_as,
        [
            vec![
                r##"0< user: picture picture image/png 2 bytes "" | "Which knot?\nFor a cleat.""##,
                r##"1<0 assistant: thinking "A hitch." | "A cleat hitch.""##,
                r##"2<1 user: "Low tide?""##,
                r##"3<2 assistant: "14:02.""##,
                r##"4<3 user: "High tide?""##,
                r##"*5<4 assistant: "##,
            ],
            vec![r##"0< user: "Hello""##, r##"*1<0 assistant: "Hello, Ann.""##],
        ]
    );
    let named: Vec<_> = kept.conversations.iter().map(|one| (one.source_id.as_str(), one.title.as_str())).collect();
    assert_eq!(named, [("Harbour/tom", "Harbour (tom)"), ("Kitchen/ann", "Kitchen (ann)")]);
    assert_eq!(kept.conversations[0].created_at.unwrap().to_rfc3339(), "2024-11-12T09:00:00+00:00");
    let threads = "the threads of a workspace are not in the export: their messages follow each other in one chat";
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: sample.json › Harbour/tom › 1: ratings are not imported (2 times)".to_owned(),
            format!("lost: sample.json › Harbour/tom: {threads}"),
            "lost: sample.json › Kitchen/ann: it belongs to a different user than the first chat of the file; the owner is not imported".to_owned(),
            format!("lost: sample.json › Kitchen/ann: {threads}"),
        ]
    );
}

#[test]
fn table_has_same_ids_and_dates_as_json() {
    let (rows, table) = (read(ROWS), read(TABLE));
    let (json, csv) = (&rows.conversations[0], &table.conversations[0]);
    assert_eq!(
        conversation_lines(csv),
        [
            r##"0< user: "Which knot? For a cleat.""##,
            r##"1<0 assistant: thinking "A hitch." | "  A cleat hitch.""##,
            r##"2<1 user: "Low tide?""##,
            r##"*3<2 assistant: "At \"14:02\", roughly.""##,
        ]
    );
    let facts = |message: &crate::ImportedMessage| (message.source_id.clone(), message.created_at);
    assert_eq!(
        csv.messages.iter().map(facts).collect::<Vec<_>>(),
        json.messages[..4].iter().map(facts).collect::<Vec<_>>()
    );
    assert_eq!((csv.source_id.as_str(), csv.title.as_str()), (json.source_id.as_str(), json.title.as_str()));
    let issues = table.issue_lines().join("\n");
    assert!(issues.contains("the line breaks of its messages are not in the export"), "{issues}");
}

#[test]
fn line_of_each_workspace_is_read() {
    let kept = read(LINES);
    let [sea, kitchen] = kept.conversations.as_slice() else { panic!("there are two") };
    assert_eq!(
        conversation_lines(sea),
        [r##"0< user: picture picture image/png 2 bytes "" | "Low tide?""##, r##"*1<0 assistant: "14:02.""##]
    );
    assert_eq!((sea.system_prompt.as_str(), kitchen.system_prompt.as_str()), ("You know every tide.", "You cook."));
    let mut longer: Value = serde_json::from_str(LINES.lines().next().unwrap()).unwrap();
    longer["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({"role": "user", "content": [{"type": "text", "text": "More"}]}));
    let grown = read(longer.to_string());
    assert_eq!(
        (grown.conversations[0].source_id.as_str(), grown.conversations[0].messages.len()),
        (sea.source_id.as_str(), 3)
    );
}

#[test]
fn training_form_is_grouped_by_its_instructions() {
    let kept = read(ALPACA);
    let read_as: Vec<Vec<String>> = kept.conversations.iter().map(conversation_lines).collect();
    assert_eq!(
        read_as,
        [
            vec![
                r##"0< user: file context.txt text/plain 43 bytes | "Low tide?""##,
                r##"1<0 assistant: "14:02.""##,
                r##"2<1 user: "Thanks""##,
                r##"*3<2 assistant: "Welcome.""##,
            ],
            vec![r##"0< user: "Is it old?""##, r##"*1<0 assistant: "Yes.""##],
        ]
    );
    let prompts: Vec<&str> = kept.conversations.iter().map(|one| one.system_prompt.as_str()).collect();
    assert_eq!(prompts, ["You know every tide.", ""]);
}

#[test]
fn repeated_rows_follow_each_other() {
    let training = |input: &str, output: &str| json!({"instruction": "Count.", "input": input, "output": output});
    let kept =
        read(json!([training("a", "1"), training("b", "2"), training("a", "1"), training("c", "3")]).to_string());
    let parents: Vec<_> = kept.conversations[0].messages.iter().map(|message| message.parent).collect();
    let expected: Vec<_> = std::iter::once(None).chain((0..7_usize).map(Some)).collect();
    assert_eq!(parents, expected);

    let row =
        |prompt: &str| json!({"prompt": prompt, "response": "b", "sent_at": "2024-11-12T09:00:00Z", "workspace": "w"});
    let kept = read(json!([row("a"), row("c"), row("a"), row("d")]).to_string());
    let parents: Vec<_> = kept.conversations[0].messages.iter().map(|message| message.parent).collect();
    assert_eq!(parents, expected);
}

#[test]
fn lines_with_more_than_texts_and_images_are_of_other_programs() {
    let line = |part: Value| {
        let system = json!({"role": "system", "content": [{"type": "text", "text": "You see."}]});
        json!({"messages": [system, {"role": "user", "content": [part]}]})
    };
    let image_url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}});
    assert!(super::is_record(&line(json!({"type": "image", "image": "data:image/png;base64,aGk="}))));
    assert!(!super::is_record(&line(image_url.clone())));
    let mut named = line(json!({"type": "text", "text": "Hello"}));
    named["messages"][1]["name"] = json!("tom");
    assert!(!super::is_record(&named));

    let mut thread: Value = serde_json::from_str(THREAD).unwrap();
    thread["messages"][0]["content"] = json!([{"type": "text", "text": "Who?"}, image_url]);
    let issues = read(thread.to_string()).issue_lines().join("\n");
    assert!(issues.contains("a part of an unknown type was skipped (image_url)"), "{issues}");
}

#[test]
fn thread_is_read() {
    let kept = read(THREAD);
    let [watch] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!(
        conversation_lines(watch),
        [r##"0< user: "Who is awake?""##, r##"*1<0 assistant: thinking "It is night." | "The bosun.""##]
    );
    assert_eq!(watch.title, "Night watch");
    assert_eq!(kept.issue_lines().len(), 1);
}

#[test]
fn archive_of_exports_is_read() {
    let kept = read(zip_archive(&[("a/chats.csv", TABLE.as_bytes()), ("b/thread.json", THREAD.as_bytes())]));
    assert_eq!(kept.conversations.len(), 3);
    let only_table = read(zip_archive(&[("a.png", b"x"), ("chats.csv", TABLE.as_bytes())]));
    assert_eq!(only_table.conversations.len(), 2);
}

#[test]
fn header_of_table_is_recognized() {
    assert!(is_csv("id,username,workspace,prompt,response,sent_at\n1,"));
    assert!(is_csv("\"id\",\"workspace\",\"prompt\",\"response\",\"sent_at\""));
    assert!(!is_csv("id,prompt,response\n") && !is_csv("") && !is_csv("{\"prompt\":1}"));
}

#[test]
fn damage_does_not_affect_other_rows() {
    let cut = &TABLE[..TABLE.find("Hello, Ann").unwrap()];
    let kept = read(cut);
    assert_eq!(kept.conversations.len(), 1);
    assert!(kept.issue_lines()[0].contains("row 3: the file ends in the middle of it"), "{:?}", kept.issue_lines());
    let row = json!({"id": 1, "prompt": "a", "response": "b", "sent_at": "never", "workspace": "w", "mood": "good"});
    let kept = read(json!([row, {"id": 2}, 3]).to_string());
    assert_eq!(kept.conversations[0].source_id, "embed:w");
    let issues = kept.issue_lines().join("\n");
    for part in ["it is not a chat of AnythingLLM", "an invalid date (sent_at) was skipped", "(row.mood)"] {
        assert!(issues.contains(part), "{part} in {issues}");
    }
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    assert_keys_known(&serde_json::from_str(ROWS).unwrap(), "*", &keys::ROW);
    let thread: Value = serde_json::from_str(THREAD).unwrap();
    assert_keys_known(&thread, "", &keys::THREAD);
    assert_keys_known(&thread, "messages.*", &keys::MESSAGE);
    let lines: Value = LINES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    assert_keys_known(&lines, "*", &keys::THREAD);
    assert_keys_known(&lines, "*.messages.*", &keys::MESSAGE);
    for column in TABLE.lines().next().unwrap().split(',') {
        assert!(keys::ROW.is_known(column), "{column}");
    }
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations(), which in 0_usize..4) {
        let sample: Value = match which {
            0 => serde_json::from_str(ROWS).unwrap(),
            1 => serde_json::from_str(ALPACA).unwrap(),
            2 => serde_json::from_str(THREAD).unwrap(),
            _ => LINES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect(),
        };
        let (kept, _) = read_all(ImportFormat::AnythingLlm, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
