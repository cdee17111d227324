//! Tests of the reader of messages: the samples field by field, mappings, lines, growth, and mutations of the samples.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MessageKeys, keys, read as read_messages};
use crate::formats::ImportFormat;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected, zip_archive,
};

const CHATS: &str = include_str!("../../samples/openai_messages/chats.json");
const LINES: &str = include_str!("../../samples/openai_messages/lines.jsonl");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::Messages, bytes)
}

fn read_mapped(mapping: &str, file: &Value) -> CollectingSink {
    let mut kept = CollectingSink::default();
    let keys = MessageKeys::parse(mapping).unwrap();
    read_messages(&mut open_input(file.to_string()).unwrap(), &keys, &mut kept).unwrap();
    kept
}

fn lines_of(kept: &CollectingSink) -> Vec<Vec<String>> {
    kept.conversations.iter().map(conversation_lines).collect()
}

#[test]
fn lists_in_objects_and_bare_lists_are_read() {
    let kept = read(CHATS);
    assert_eq!(
        lines_of(&kept),
        [
            vec![
                r#"0< user: "How is the weather here?" | picture image.png image/png 2 bytes "" | file notes.txt text/plain 5 bytes"#,
                r#"1<0 assistant: thinking "I need the weather." | call call_1 get_weather {"place":"port"} | call call_2 get_weather {"place":"sea"}"#,
                r#"2<1 assistant: answer call_2 get_weather "storm""#,
                r#"3<2 assistant: answer call_1 get_weather "{\"sky\":\"blue\"}""#,
                r#"4<3 assistant: "Blue here, storm at sea." | sources Sky<https://sky.example/>@0-4"#,
                r#"5<4 user: "Thanks""#,
                r#"*6<5 assistant: "I cannot go on.""#,
            ],
            vec![
                r#"0< user: "Call the tool.""#,
                r#"1<0 assistant: call 2/0 look {"at":"port"}"#,
                r#"2<1 assistant: answer 2/0 look "A boat.""#,
                r#"*3<2 assistant: thinking "Rhyme with boat." | "A boat afloat.""#,
            ],
            vec![r#"0< user: "Bare""#, r#"*1<0 assistant: "List""#],
        ]
    );
    let [first, second, _] = kept.conversations.as_slice() else { panic!("there are three") };
    assert_eq!((first.source_id.as_str(), first.title.as_str()), ("chat-1", "Weather and boats"));
    assert_eq!((first.system_prompt.as_str(), first.model.as_deref()), ("You are brief.", Some("gpt-4o")));
    assert_eq!(first.created_at.unwrap().to_rfc3339(), "2025-11-24T16:00:00+00:00");
    assert_eq!(second.system_prompt, "You answer in rhymes.");
    let usage = first.messages[4].usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(20), Some(8)));
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: sample.json › chat-1 › 7: the participants of the conversation are not imported".to_owned(),
            "lost: sample.json › chat-1 › 8: data that Turnleaf does not know is not imported (message.hologram)"
                .to_owned(),
            "lost: sample.json › chat-1: the definitions of tools are not imported".to_owned(),
            "lost: sample.json › chat-1: its model parameters are not imported (temperature, max_tokens)".to_owned(),
            format!(
                "lost: sample.json › {}: data that Turnleaf does not know is not imported (conversation.source)",
                second.source_id
            ),
        ]
    );
}

#[test]
fn lines_are_read_and_broken_one_is_skipped() {
    let text = LINES.replace("\n\n", "\n{\"messages\": [{\"role\": \"user\", \"content\": \"cut\n");
    let kept = read(text);
    assert_eq!(
        lines_of(&kept),
        [
            vec![r#"0< user: "One""#, r#"*1<0 assistant [qwen3]: "1""#],
            vec![
                r#"0< user: "Use it""#,
                r#"1<0 assistant: thinking "Which?" | "I look." | call tu_1 look {"at":1}"#,
                r#"2<1 assistant: answer tu_1 look failed "seen""#,
                r#"*3<2 assistant: "Seen.""#,
            ],
            vec![
                r#"0< user: "Two""#,
                r#"1<0 assistant: "2" | call 3/1 count {}"#,
                r#"*2<1 assistant: answer 3/1 count "2""#,
            ],
        ]
    );
    assert_eq!(kept.conversations[2].system_prompt, "Be kind.");
    let issues = kept.issue_lines().join("\n");
    for part in ["line 3: it is not JSON", "reasoning signatures", "parts of type “hologram” are not imported"] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
}

#[test]
fn bare_messages_of_file_are_one_chat() {
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]);
    let expected = [vec![r#"0< user: "Hi""#, r#"*1<0 assistant: "Ho""#]];
    assert_eq!(lines_of(&read(messages.to_string())), expected);
    let lines: Vec<String> = messages.as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(lines_of(&read(lines.join("\n"))), expected);
    assert_eq!(lines_of(&read(json!([messages]).to_string())), expected);
    assert_eq!(lines_of(&read(json!({"data": [messages]}).to_string())), expected);
    assert_eq!(lines_of(&read(json!({"chats": [{"messages": messages}]}).to_string())), expected);
}

#[test]
fn mapping_names_other_keys() {
    let file = json!({"subject": "Boats", "log": {"entries": [
        {"who": {"kind": "human", "nick": "Ann"}, "body": "Hi", "at": "2026-01-01T10:00:00Z"},
        {"who": {"kind": "bot"}, "body": "Ho", "llm": "boat-1", "why": "A greeting", "at": 1_767_261_601},
    ]}});
    let mapping = "messages=log.entries,title=subject,role=who.kind,content=body,time=at,model=llm,reasoning=why";
    let kept = read_mapped(mapping, &file);
    assert_eq!(lines_of(&kept), [vec![r#"0< user: "Hi""#, r#"*1<0 assistant [boat-1]: thinking "A greeting" | "Ho""#]]);
    let chat = &kept.conversations[0];
    assert_eq!(chat.title, "Boats");
    assert_eq!(chat.created_at.unwrap().to_rfc3339(), "2026-01-01T10:00:00+00:00");
    let unknown = "data that Turnleaf does not know is not imported (message.who)";
    assert!(kept.issue_lines().iter().all(|line| line.contains(unknown)), "{:?}", kept.issue_lines());
    assert_eq!(kept.issue_lines().len(), 1);
}

#[test]
fn mapped_role_may_be_any_word() {
    let file = json!([{"speaker": "Captain", "line": "Ahoy"}, {"speaker": "assistant", "line": "Aye"}]);
    let kept = read_mapped("role=speaker,content=line", &file);
    assert_eq!(lines_of(&kept), [vec![r#"0< user: "Ahoy""#, r#"*1<0 assistant: "Aye""#]]);
    assert!(kept.issue_lines()[0].contains("its author is unknown (Captain)"));
}

#[test]
fn results_find_their_calls_and_files_their_bytes() {
    let call = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
    let file = json!({"messages": [
        {"role": "assistant", "tool_calls": [call("a", "x"), call("b", "y")]},
        {"role": "tool", "name": "y", "content": [{"type": "text", "text": "of y"}, {"type": "image_url", "image_url": "https://a.example/p.png?x"}]},
        {"role": "tool", "content": {"of": "x"}},
        {"role": "tool", "tool_call_id": "gone", "content": "lost"},
        {"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            {"type": "document", "title": "a.txt", "source": {"type": "text", "media_type": "text/plain", "data": "Re: words"}},
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            {"type": "file", "file": {"file_id": "file-9"}}, "and words",
        ]},
        {"role": "assistant", "audio": {"id": "au", "transcript": "Spoken"}, "reasoning_details": [{"type": "x", "text": "Hm"}, {"data": "zz"}]},
    ]});
    let kept = read(file.to_string());
    assert_eq!(
        lines_of(&kept)[0],
        [
            "0< assistant: call a x {} | call b y {}",
            r#"1<0 assistant: answer b y "of y" | picture p.png image/png absent https://a.example/p.png?x """#,
            r#"2<1 assistant: answer a x {"of":"x"}"#,
            r#"3<2 assistant: call gone tool raw None | answer gone tool "lost""#,
            r#"4<3 user: picture image.png image/png 2 bytes "" | file a.txt text/plain 9 bytes | file audio.mpeg audio/mpeg 2 bytes | file file  absent file-9 | "and words""#,
            r#"*5<4 assistant: thinking "Hm" | "Spoken" | file audio.wav audio/wav absent au"#,
        ]
    );
}

#[test]
fn list_that_grew_keeps_its_ids() {
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    let mut messages = vec![message("user", "a"), message("assistant", "b")];
    let earlier = read(json!({ "messages": messages }).to_string());
    messages.push(message("user", "c"));
    let later = read(json!({ "messages": messages }).to_string());
    let (earlier, later) = (&earlier.conversations[0], &later.conversations[0]);
    assert_eq!(earlier.source_id, later.source_id);
    let ids =
        |of: &crate::Conversation| of.messages.iter().map(|message| message.source_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(earlier), ids(later)[..2]);
}

#[test]
fn repeated_ids_stay_linear_and_other_values_are_left_out() {
    let message = |id: &str, text: &str| json!({"id": id, "role": "user", "content": text});
    let file =
        json!([{"messages": [message("1", "a"), message("1", "b"), message("2", "c"), 7]}, {"x": 1}, {"messages": []}]);
    let kept = read(file.to_string());
    let parents: Vec<_> = kept.conversations[0].messages.iter().map(|message| message.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1)]);
    let issues = kept.issue_lines().join("\n");
    for part in ["another message has the same id", "it is not an object", "holds no messages", "it has no messages"] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
}

#[test]
fn archive_of_lists_is_read() {
    let entries: [(&str, &[u8]); 3] =
        [("a/lines.jsonl", LINES.as_bytes()), ("chats.json", CHATS.as_bytes()), ("b.png", b"png")];
    assert_eq!(read(zip_archive(&entries)).conversations.len(), 6);
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let usual = MessageKeys::default();
    let chats: Vec<Value> = serde_json::from_str(CHATS).unwrap();
    let lines = LINES.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let all: Vec<(Value, Vec<Value>)> = chats
        .into_iter()
        .chain(lines)
        .filter(Value::is_object)
        .map(|chat| {
            let (head, messages) = usual.conversation(&chat);
            (head, messages.iter().map(|message| usual.message(message.clone())).collect())
        })
        .collect();
    let mut heads: Vec<Value> = all.iter().map(|(head, _)| head.clone()).collect();
    let mut messages: Vec<Value> = all.into_iter().flat_map(|(_, messages)| messages).collect();
    // These two test that unknown keys are reported.
    heads[1].as_object_mut().unwrap().remove("source");
    messages[7].as_object_mut().unwrap().remove("hologram");
    assert_keys_known(&json!(heads), "*", &keys::CONVERSATION);
    assert_keys_known(&json!(messages), "*", &keys::MESSAGE);
    let parts = messages.iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
    // A part of an unknown type is reported as a whole.
    let parts: Vec<&Value> = parts.filter(|part| part["type"] != "hologram").collect();
    assert_keys_known(&json!(parts), "*", &keys::PART);
}

proptest! {
    #[test]
    fn mutated_samples_yield_sound_conversations(changes in any_mutations()) {
        let lines: Value = LINES.lines().filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
        for sample in [serde_json::from_str(CHATS).unwrap(), lines] {
            let (kept, _) = read_all(ImportFormat::Messages, mutate(sample, &changes).to_string());
            kept.conversations.iter().for_each(assert_sound);
        }
    }
}
