//! Tests of the AI Studio reader: the samples field by field, archives, chats that grew, and mutations of the samples.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::ImportFormat;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, read_all,
    read_detected, zip_archive,
};

const TIDES: &str = include_str!("../../samples/ai_studio/Tides and ports");
const PARTS: &str = include_str!("../../samples/ai_studio/Parts and functions.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::AiStudio, bytes)
}

#[test]
fn thoughts_code_searches_and_files_are_kept() {
    let kept = read(TIDES);
    let chat = &kept.conversations[0];
    assert_eq!(
        conversation_lines(chat),
        [
            r#"0< user: file 1AbCdEf  absent 1AbCdEf | picture image.png image/png 2 bytes "" | "When is high tide?""#,
            r#"1<0 assistant: thinking "Compute it.\n\nThen look it up.""#,
            r#"2<1 assistant: call 5/0 code_execution {"language":"python","code":"print(18 + 0.5)"}"#,
            r#"3<2 assistant: answer 5/0 code_execution "18.5\n""#,
            r#"4<3 assistant: call 7/search google_search {"queries":["high tide today"]} | answer 7/search google_search [{"title":"Tides today","url":"https://tides.example/today"}] | "At 18:30." | sources Tides today<https://tides.example/today>"#,
            r#"5<4 user: "https://www.youtube.com/watch?v=dQw4w9WgXcQ" | "And this?""#,
            r#"*6<5 assistant (failed: An internal error has occurred.): "It is""#,
        ]
    );
    assert_eq!((chat.title.as_str(), chat.system_prompt.as_str()), ("sample", "You are a harbor master."));
    assert_eq!(chat.model.as_deref(), Some("gemini-2.5-pro"));
    assert_eq!(chat.messages[1].provider.as_deref(), Some("google"));
    let usage = chat.messages[1].usage;
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (Some(9), Some(9)));
    assert_eq!(chat.created_at.unwrap().to_rfc3339(), "2026-02-03T10:00:00+00:00");
    assert_eq!(chat.updated_at.unwrap().to_rfc3339(), "2026-02-03T10:01:05+00:00");
    let place = format!("sample.json › {}", chat.source_id);
    assert_eq!(
        kept.issue_lines(),
        [
            format!("lost: {place} › 4: reasoning signatures are not imported"),
            format!("lost: {place} › 7: the link to the branch “Branch of Tides and ports” is not imported"),
            format!(
                "lost: {place}: its model parameters are not imported (temperature, topP, topK, maxOutputTokens, \
                 safetySettings, responseMimeType, enableCodeExecution, enableSearchAsATool, thinkingBudget)"
            ),
            format!("lost: {place}: a message that was not sent is not imported"),
            format!("lost: {place} › 1: a referenced file is not in the export"),
        ]
    );
}

#[test]
fn parts_are_read_in_order() {
    let kept = read(PARTS);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"0< user: "Draw a boat.""#,
            r#"1<0 assistant: thinking "I draw." | call 2/1 draw {"what":"boat"} | answer 2/1 draw {"ok":true} | call 2/3 code_execution {"language":"python","code":"1/0"} | answer 2/3 code_execution failed "ZeroDivisionError" | "Here it is." | picture image.png image/png 2 bytes """#,
            r#"2<1 user: "Something else""#,
            "*3<2 assistant (failed: The provider stopped this reply.): ",
        ]
    );
    assert!(kept.issue_lines()[0].contains("the link to the branch “Boats” is not imported"));
}

#[test]
fn folder_of_drive_is_read_and_other_files_are_skipped() {
    let entries: [(&str, &[u8]); 5] = [
        ("Takeout/Drive/Google AI Studio/notes.txt", b"Just words"),
        ("Takeout/Drive/Google AI Studio/photo.png", b"png"),
        ("Takeout/Drive/Google AI Studio/Tides v1.2", TIDES.as_bytes()),
        ("Takeout/Drive/Google AI Studio/Parts and functions.json", PARTS.as_bytes()),
        ("Takeout/archive_browser.html", b"<html>"),
    ];
    let kept = read(zip_archive(&entries));
    let titles: Vec<&str> = kept.conversations.iter().map(|chat| chat.title.as_str()).collect();
    assert_eq!(titles, ["Tides v1.2", "Parts and functions"]);
    assert!(kept.issue_lines().iter().all(|line| !line.contains("not JSON")), "{:?}", kept.issue_lines());
}

#[test]
fn chat_that_grew_keeps_its_ids() {
    let whole: Value = serde_json::from_str(TIDES).unwrap();
    let mut earlier = whole.clone();
    earlier["chunkedPrompt"]["chunks"].as_array_mut().unwrap().truncate(7);
    let (earlier, whole) = (read(earlier.to_string()), read(whole.to_string()));
    let (earlier, whole) = (&earlier.conversations[0], &whole.conversations[0]);
    assert_eq!(earlier.source_id, whole.source_id);
    let ids =
        |of: &crate::Conversation| of.messages.iter().map(|message| message.source_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(earlier), ids(whole)[..5]);
    // Ids survive changes of the metadata of the first chunk and of the extension of the file.
    let mut marked: Value = serde_json::from_str(TIDES).unwrap();
    for chunk in marked["chunkedPrompt"]["chunks"].as_array_mut().unwrap() {
        chunk["tokenCount"] = json!(77);
        chunk["isEdited"] = json!(true);
        chunk["branchChildren"] = json!([{"promptId": "p", "displayName": "Branch"}]);
    }
    assert_eq!(read(marked.to_string()).conversations[0].source_id, whole.source_id);
    let named = |name: &str| read(zip_archive(&[(name, TIDES.as_bytes())])).conversations.remove(0).source_id;
    assert_eq!(named("Google AI Studio/sample"), whole.source_id);
    // Another chat may begin with the same words.
    let other =
        zip_archive(&[("Google AI Studio/Other", TIDES.as_bytes()), ("Google AI Studio/Tides", TIDES.as_bytes())]);
    let other = read(other);
    assert_ne!(other.conversations[0].source_id, other.conversations[1].source_id);
}

#[test]
fn chunks_with_ids_may_name_their_parents() {
    let chunk =
        |id: &str, role: &str, parent: Value| json!({"id": id, "role": role, "text": id, "branchParent": parent});
    let file = json!({"id": "g", "displayName": "Branching", "chunkedPrompt": {"chunks": [
        chunk("a", "user", Value::Null), chunk("b", "model", json!({"id": "a"})), chunk("c", "model", json!({"id": "a"})),
        chunk("d", "user", Value::Null), 3,
    ]}});
    let kept = read(file.to_string());
    let chat = &kept.conversations[0];
    assert_eq!(
        conversation_lines(chat),
        ["0< user: \"a\"", "1<0 assistant: \"b\"", "2<0 assistant: \"c\"", "*3<2 user: \"d\""]
    );
    assert_eq!((chat.source_id.as_str(), chat.title.as_str()), ("g", "Branching"));
    assert_eq!(kept.issue_lines().len(), 1, "{:?}", kept.issue_lines());
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let samples: Value = json!([TIDES, PARTS].map(|text| serde_json::from_str::<Value>(text).unwrap()));
    assert_keys_known(&samples, "*", &keys::CONVERSATION);
    assert_keys_known(&samples, "*.chunkedPrompt", &keys::PROMPT);
    assert_keys_known(&samples, "*.chunkedPrompt.chunks.*", &keys::CHUNK);
    assert_keys_known(&samples, "*.chunkedPrompt.chunks.*.parts.*", &keys::PART);
    assert_keys_known(&samples, "*.chunkedPrompt.chunks.*.grounding", &keys::GROUNDING);
    assert_keys_known(&samples, "*.chunkedPrompt.chunks.*.driveDocument", &keys::DRIVE_FILE);
}

proptest! {
    #[test]
    fn mutated_samples_yield_sound_conversations(changes in any_mutations()) {
        for sample in [TIDES, PARTS] {
            let sample = mutate(serde_json::from_str(sample).unwrap(), &changes);
            let (kept, _) = read_all(ImportFormat::AiStudio, sample.to_string());
            kept.conversations.iter().for_each(assert_sound);
        }
    }
}
