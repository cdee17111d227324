//! Tests of the Cherry Studio reader: the samples, the forms of a backup, damage, and random mutations.

use chrono::TimeDelta;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected, zip_archive,
};

const BACKUP: &str = include_str!("../../samples/cherry_studio/data.json");
const OLDER: &str = include_str!("../../samples/cherry_studio/older.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::CherryStudio, bytes)
}

/// A backup with these messages of one topic, and these blocks.
fn topic_of(messages: Value, blocks: Value) -> CollectingSink {
    let database = json!({"topics": [{"id": "t", "messages": messages}], "message_blocks": blocks});
    read(json!({"time": 1, "version": 5, "localStorage": {}, "indexedDB": database}).to_string())
}

#[test]
fn backup_is_read() {
    let entries: [(&str, &[u8]); 4] = [
        ("Data/Files/f-cleat.png", b"hi"),
        ("Data/Files/f-log.md", b"# Log"),
        ("Data/agents.json", b"[]"),
        ("data.json", BACKUP.as_bytes()),
    ];
    let kept = read(zip_archive(&entries));
    let [knots] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!(
        conversation_lines(knots),
        [
            r##"0< user: "Which knot for this cleat?" | picture cleat.png image/png entry Data/Files/f-cleat.png "" | file log.md text/markdown entry Data/Files/f-log.md"##,
            r##"1<0 assistant [gpt-4o]: thinking 713ms "A cleat needs a hitch." | call b5 find_knot {"for":"cleat"} | answer b5 find_knot {"isError":false,"content":[{"type":"text","text":"cleat hitch"}]} | "A cleat hitch [1]." | sources Knots<https://example.org/knots>, manual.pdf<>"##,
            r##"2<0 assistant [gemini-2.5-pro]: "A clove hitch.""##,
            r##"3<2 user: "Show it in code and as a picture.""##,
            r##"4<3 assistant [local-7b]: "```python\ntie(cleat)\n```" | picture picture image/png 2 bytes "A knot""##,
            r##"5<4 user: "Tell me everything.""##,
            r##"6<5 assistant [gpt-4o] (cancelled): "Knots are""##,
            r##"7<6 user: "Again?""##,
            r##"*8<7 assistant [gpt-4o] (failed: 429 Too many requests): "##,
        ]
    );
    assert_eq!(knots.title, "Knots for a cleat");
    assert_eq!((knots.system_prompt.as_str(), knots.is_pinned), ("You know every knot.\nBe brief.", true));
    let reply = &knots.messages[1];
    let usage = reply.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(40), Some(20)));
    assert_eq!(reply.ended_at, reply.created_at.map(|begun| begun + TimeDelta::milliseconds(1_500)));
    assert_eq!(knots.messages[2].usage.input_tokens, Some(41));
    let providers: Vec<_> = knots.messages[1..5].iter().map(|message| message.provider.as_deref()).collect();
    assert_eq!(providers, [Some("openai"), Some("google"), None, None]);
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: data.json: the history of translations is not imported",
            "left out: data.json › topic-empty: it has no messages",
            "lost: data.json › topic-knots › m3: translations of messages are not imported",
            "lost: data.json › topic-knots › m5: a block of a message is not in the backup",
            "lost: data.json › topic-knots › m5: a part of an unknown type was skipped (hologram)",
            "put right: data.json › topic-knots › m6: a mark that cleared the context was skipped",
            "lost: data.json › topic-knots: it belongs to the assistant “Bosun”; assistants are not imported",
            "lost: data.json › topic-knots: its model parameters are not imported (temperature)",
        ]
    );
}

#[test]
fn backup_of_earlier_version_is_read() {
    let kept = read(OLDER);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r##"0< user: "什么时候涨潮？" | file log.md text/markdown absent f-log | picture picture  absent https://example.org/far.png """##,
            r##"1<0 assistant [deepseek-r1]: thinking 400ms "查潮汐表。" | call o2/tool-0 tide_table {"port":"青岛"} | answer o2/tool-0 tide_table {"content":[{"type":"text","text":"20:00"}]} | "晚上八点 [1]。" | sources Tides<https://example.org/tides>"##,
            r##"*2<1 user: "谢谢""##,
            r##"3<0 assistant [gpt-4o] (failed: No key): "##,
        ]
    );
    assert_eq!(kept.conversations[0].title, "潮汐");
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: sample.json › old-topic › o2: translations of messages are not imported",
            "lost: sample.json › old-topic › o1: a referenced file is not in the export (2 times)",
            "lost: sample.json › old-topic: it belongs to the assistant “默认助手”; assistants are not imported",
        ]
    );
}

#[test]
fn first_version_lists_items_of_all_tables() {
    let message = json!({"id": "m", "role": "user", "content": "Hi", "createdAt": "2024-08-01T00:00:00.000Z"});
    let items = json!([
        {"key": "image://avatar", "value": "data:image/png;base64,aGk="},
        {"key": "topic:t", "value": {"id": "t", "messages": [message]}},
    ]);
    let kept = read(json!({"time": 1, "version": 1, "localStorage": {}, "indexedDB": items}).to_string());
    assert_eq!(conversation_lines(&kept.conversations[0]), ["*0< user: \"Hi\""]);
    let text = "lost: sample.json: the names of its chats and assistants could not be read";
    assert_eq!(kept.issue_lines(), [text]);
}

#[test]
fn chosen_reply_goes_on() {
    let reply = |id: &str, more: Value| {
        let mut reply = json!({"id": id, "role": "assistant", "askId": "q", "content": id});
        reply.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        reply
    };
    let user = |id: &str| json!({"id": id, "role": "user", "content": id});
    for (chosen, expected) in [(json!({}), 0), (json!({"foldSelected": true}), 1), (json!({"useful": true}), 1)] {
        let rows = json!([user("q"), reply("a", json!({})), reply("b", chosen.clone()), user("next")]);
        let kept = topic_of(rows, json!([]));
        let messages = &kept.conversations[0].messages;
        let next = messages.iter().find(|message| message.source_id == "next").unwrap();
        assert_eq!(messages[next.parent.unwrap()].source_id, ["a", "b"][expected], "{chosen}");
    }
}

#[test]
fn backup_yields_only_chats() {
    let kept = read(BACKUP);
    assert!(!format!("{:?} {:?}", kept.conversations, kept.findings).contains("sk-not-for-anybody"));
}

#[test]
fn backup_of_database_files_is_refused_with_its_reason() {
    let entries: [(&str, &[u8]); 3] = [
        ("metadata.json", b"{\"version\": 6}"),
        ("IndexedDB/file__0.indexeddb.leveldb/CURRENT", b"MANIFEST-000001\n"),
        ("Local Storage/leveldb/CURRENT", b"MANIFEST-000001\n"),
    ];
    let error = detect(&mut open_input(zip_archive(&entries)).unwrap()).unwrap_err().to_string();
    assert!(error.contains("it looks like a backup of Cherry Studio that holds the database files"), "{error}");
}

#[test]
fn truncated_backup_keeps_topics_before_its_end() {
    let cut = &BACKUP[..BACKUP.find("\"id\": \"b10\"").unwrap()];
    let kept = read(cut);
    let [knots] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!(knots.messages.len(), 9);
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("the file ends in the middle of it"), "{issues}");
    assert!(issues.contains("m4: a block of a message is not in the backup"), "{issues}");
}

#[test]
fn blocks_that_no_message_lists_are_reported() {
    let block = |id: &str| json!({"id": id, "messageId": "m", "type": "main_text", "content": id, "status": "success"});
    let message = json!({"id": "m", "role": "user", "blocks": ["a"]});
    let kept = topic_of(json!([message]), json!([block("a"), block("b")]));
    assert_eq!(conversation_lines(&kept.conversations[0]), ["*0< user: \"a\""]);
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("a block that its message does not list is not imported"), "{issues}");
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let (backup, older): (Value, Value) = (serde_json::from_str(BACKUP).unwrap(), serde_json::from_str(OLDER).unwrap());
    for sample in [&backup, &older] {
        assert_keys_known(sample, "indexedDB.topics.*", &keys::TOPIC_ROW);
        assert_keys_known(sample, "indexedDB.topics.*.messages.*", &keys::MESSAGE);
        let store: Value =
            serde_json::from_str(sample["localStorage"]["persist:cherry-studio"].as_str().unwrap()).unwrap();
        let state: Value = serde_json::from_str(store["assistants"].as_str().unwrap()).unwrap();
        assert_keys_known(&state, "assistants.*", &keys::ASSISTANT);
        assert_keys_known(&state, "assistants.*.topics.*", &keys::TOPIC);
    }
    assert_keys_known(&older, "indexedDB.topics.*.messages.*.metadata", &keys::LEGACY_METADATA);
    let tools = "indexedDB.topics.*.messages.*.metadata.mcpTools.*";
    assert_keys_known(&older, tools, &keys::TOOL_RESPONSE);
    assert_keys_known(&backup, "indexedDB.message_blocks.*", &keys::BLOCK);
    assert_keys_known(&backup, "indexedDB.message_blocks.*.metadata.rawMcpToolResponse", &keys::TOOL_RESPONSE);
    let store: Value = serde_json::from_str(backup["localStorage"]["persist:cherry-studio"].as_str().unwrap()).unwrap();
    let state: Value = serde_json::from_str(store["assistants"].as_str().unwrap()).unwrap();
    assert_keys_known(&state, "assistants.*.settings", &keys::SETTINGS);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations(), is_older in any::<bool>()) {
        let sample = serde_json::from_str(if is_older { OLDER } else { BACKUP }).unwrap();
        let (kept, _) = read_all(ImportFormat::CherryStudio, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
