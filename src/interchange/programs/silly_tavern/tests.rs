//! Tests of the SillyTavern reader: the samples, folders, invalid lines, and random mutations.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ChatFile, keys, names_of_groups};
use crate::bounds;
use crate::formats::ImportFormat;
use crate::input::json_lines::JsonLine;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected, zip_archive,
};

const ALICE: &str = include_str!("../../samples/silly_tavern/alice.jsonl");
const GROUP: &str = include_str!("../../samples/silly_tavern/group.jsonl");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::SillyTavern, bytes)
}

fn lines_of(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn parsed(text: &str) -> Value {
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect()
}

#[test]
fn chat_is_read_with_its_swipes() {
    let kept = read(ALICE);
    let alice = &kept.conversations[0];
    assert_eq!(
        conversation_lines(alice),
        [
            r##"0< assistant: "*waves* Ahoy, Tom!""##,
            r##"1<0 user: picture knot.png image/png absent user/images/Alice/knot.png "A knot" | file log.txt text/plain absent /user/files/log.txt | "Which knot is this?""##,
            r##"2<1 assistant [gpt-4o]: "A sheet bend.""##,
            r##"3<1 assistant [claude-3-5-sonnet]: thinking 4200ms "A loop that holds." | "A bowline.""##,
            r##"4<3 user: "(out of character) forget that""##,
            r##"5<4 system: "The rain grows heavier.""##,
            r##"6<5 assistant: call call_w get_weather {"place":"harbour"} | answer call_w get_weather "rain""##,
            r##"*7<6 assistant [claude-3-5-sonnet]: "Rain all night.""##,
            r##"8< assistant: "Go away.""##,
        ]
    );
    assert_eq!((alice.title.as_str(), alice.source_id.as_str()), ("Alice: sample.json", "Alice/sample.json"));
    assert_eq!(alice.system_prompt, "A rainy harbour at night.");
    let providers: Vec<_> = alice.messages[2..4].iter().map(|message| message.provider.as_deref()).collect();
    assert_eq!(providers, [Some("openai"), Some("anthropic")]);
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: sample.json › Alice/sample.json: the author's note is not imported",
            "lost: sample.json › Alice/sample.json › June 6, 2024 10:14am/Alice: translations of messages are not imported",
            "put right: sample.json › Alice/sample.json › June 6, 2024 10:15am/Tom: messages that were hidden from the model were imported as ordinary messages",
            "lost: sample.json › Alice/sample.json › June 6, 2024 10:17am/Alice: links between chats are not imported",
            "lost: sample.json › Alice/sample.json: notices of the program are not imported",
            "lost: sample.json › Alice/sample.json: comments beside the conversation are not imported",
            "lost: sample.json › Alice/sample.json › June 6, 2024 10:13am/Tom: a referenced file is not in the export (2 times)",
        ]
    );
}

#[test]
fn local_dates_are_moved_to_zone_of_replies() {
    let kept = read(ALICE);
    let times: Vec<_> = kept.conversations[0].messages.iter().map(|message| message.created_at).collect();
    let times: Vec<String> =
        times.into_iter().map(|time| time.map(|time| time.to_rfc3339()).unwrap_or_default()).collect();
    assert_eq!(
        times,
        [
            "2024-06-06T08:12:00+00:00",
            "2024-06-06T08:13:00+00:00",
            "2024-06-06T08:13:20+00:00",
            "2024-06-06T08:13:40+00:00",
            "2024-06-06T08:15:00+00:00",
            "2024-06-06T08:16:00+00:00",
            "",
            "2024-06-06T08:17:01+00:00",
            "2024-06-06T08:12:00+00:00",
        ]
    );
    let ended = kept.conversations[0].messages[3].ended_at.unwrap();
    assert_eq!(ended.to_rfc3339(), "2024-06-06T08:14:05+00:00");
}

#[test]
fn names_of_groups_are_shortened_and_kept_for_chats_that_are_there() {
    let long = "g".repeat(1_000);
    let group = json!({"id": "1", "name": long, "chats": ["there", "gone", "gone too"]}).to_string();
    let entries: [(&str, &[u8]); 2] =
        [("group chats/there.jsonl", GROUP.as_bytes()), ("groups/1.json", group.as_bytes())];
    let names = names_of_groups(&mut open_input(zip_archive(&entries)).unwrap());
    assert_eq!(names.keys().collect::<Vec<_>>(), ["there"]);
    assert!(names["there"].len() < 300);
}

#[test]
fn folder_has_files_and_names_of_groups() {
    let group =
        json!({"id": "1", "name": "The crew", "members": ["bob.png"], "chats": ["2025-02-03@18h00m00s"]}).to_string();
    let entries: [(&str, &[u8]); 7] = [
        ("chats/Alice/Alice - 2024-06-06@10h12m03s.jsonl", ALICE.as_bytes()),
        ("group chats/2025-02-03@18h00m00s.jsonl", GROUP.as_bytes()),
        ("groups/1.json", group.as_bytes()),
        ("user/images/Alice/knot.png", b"hi"),
        ("user/images/Bob/boat.png", b"hi"),
        ("backups/chat_alice_20240606-101203.jsonl", ALICE.as_bytes()),
        ("settings.json", b"{\"main_api\": \"openai\"}"),
    ];
    let kept = read(zip_archive(&entries));
    let [alice, crew] = kept.conversations.as_slice() else { panic!("there are two") };
    assert_eq!((alice.title.as_str(), crew.title.as_str()), ("Alice", "The crew"));
    assert!(conversation_lines(alice)[1].contains("entry user/images/Alice/knot.png"));
    assert_eq!(
        conversation_lines(crew),
        [
            r##"0< assistant [qwen3]: "Bob: Evening.""##,
            r##"1<0 user: "Who sails?""##,
            r##"2<1 assistant [qwen3]: "Bob: I do." | picture boat.png image/png entry user/images/Bob/boat.png "My boat" | file horn.mp3 audio/mpeg absent user/images/Bob/horn.mp3"##,
            r##"*3<2 assistant [glm-4]: "Carol: Me too." | file plan.md text/markdown absent user/files/plan.md"##,
        ]
    );
    let issues = kept.issue_lines().join("\n");
    for part in ["automatic backups of chats are not imported", "names of the speakers were placed", "(3 times)"] {
        assert!(issues.contains(part), "{part} in {issues}");
    }
}

#[test]
fn group_chat_without_header_is_read() {
    let text: Vec<&str> = GROUP.lines().skip(1).collect();
    let kept = read(text.join("\n"));
    assert_eq!(kept.conversations[0].messages.len(), 4);
    assert_eq!(kept.conversations[0].source_id, "Bob/sample.json");
}

#[test]
fn ids_stay_when_chat_grows_or_loses_messages() {
    let ids = |text: &str| {
        let kept = read(text);
        kept.conversations[0].messages.iter().map(|message| message.source_id.clone()).collect::<Vec<_>>()
    };
    let whole = ids(ALICE);
    let line = json!({"name": "Tom", "is_user": true, "mes": "Good night", "send_date": "June 6, 2024 10:20am"});
    let grown = ids(&format!("{ALICE}\n{line}"));
    assert!(whole.iter().all(|id| grown.contains(id)) && grown.len() == whole.len() + 1, "{grown:?}");
    let fewer: Vec<&str> = ALICE.lines().enumerate().filter(|(at, _)| *at != 4).map(|(_, line)| line).collect();
    let fewer = ids(&fewer.join("\n"));
    assert!(fewer.iter().all(|id| whole.contains(id)) && fewer.len() == whole.len() - 1, "{fewer:?}");
}

#[test]
fn wrong_lines_do_not_affect_others() {
    let message = |name: &str| json!({"name": name, "is_user": true, "mes": name, "send_date": "never"});
    let text = [message("a").to_string(), "{\"mes\": ".to_owned(), "3".to_owned(), message("b").to_string()];
    let kept = read(text.join("\n"));
    assert_eq!(conversation_lines(&kept.conversations[0]), ["0< user: \"a: a\"", "*1<0 user: \"b: b\""]);
    let issues = kept.issue_lines().join("\n");
    for part in ["line 2: it is not JSON", "it is not a message", "an invalid date (send_date) was skipped"] {
        assert!(issues.contains(part), "{part} in {issues}");
    }
    let (_, end) = read_all(ImportFormat::SillyTavern, lines_of(&[json!({"a": 1})]));
    assert!(end.unwrap_err().to_string().contains("a chat of SillyTavern"));
    let header = json!({"user_name": "a", "character_name": "b"});
    assert_eq!(read(header.to_string()).issue_lines(), ["left out: sample.json › b/sample.json: it has no messages"]);
}

#[test]
fn endless_chat_is_bounded() {
    let mut chat = ChatFile::default();
    let half = "x".repeat(bounds::CONVERSATION_BYTES / 2);
    for number in 1..=3 {
        let value = json!({"name": "a", "is_user": true, "mes": half.as_str()});
        chat.add(JsonLine { number, value });
    }
    assert_eq!(chat.rows().count(), 1);
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    for sample in [parsed(ALICE), parsed(GROUP)] {
        let (header, messages) = sample.as_array().unwrap().split_first().unwrap();
        assert_keys_known(header, "", &keys::HEADER);
        assert_keys_known(header, "chat_metadata", &keys::METADATA);
        assert_keys_known(&json!(messages), "*", &keys::MESSAGE);
        assert_keys_known(&json!(messages), "*.extra", &keys::EXTRA);
    }
    let alice = parsed(ALICE);
    assert_keys_known(&alice, "*.swipe_info.*", &keys::SWIPE_INFO);
    assert_keys_known(&alice, "*.swipe_info.*.extra", &keys::EXTRA);
    assert_keys_known(&alice, "*.extra.tool_invocations.*", &keys::INVOCATION);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations(), is_group in any::<bool>()) {
        let sample = mutate(parsed(if is_group { GROUP } else { ALICE }), &changes);
        let (kept, _) = read_all(ImportFormat::SillyTavern, lines_of(sample.as_array().map_or(&[], Vec::as_slice)));
        kept.conversations.iter().for_each(assert_sound);
    }
}
