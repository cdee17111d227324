//! Tests of the Codex reader: the samples of all versions line by line, folders, damage, and mutations.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::records::Record;
use super::{SessionNames, keys};
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected_file, zip_archive,
};

const SESSION: &str = include_str!("../../samples/codex/session.jsonl");
const SESSION_2025: &str = include_str!("../../samples/codex/session_2025.jsonl");
const BARE: &str = include_str!("../../samples/codex/session_bare.jsonl");
const WHOLE: &str = include_str!("../../samples/codex/rollout.json");
const ID: &str = "019f5c5a-eb02-7ff0-90af-653b66eba9f4";

/// Reads a file by its name after its format was detected.
fn read_file(name: &str, bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected_file(ImportFormat::Codex, name, bytes)
}

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the lines of a session with these payloads: `(type, payload)`.
fn session(rows: &[(&str, Value)]) -> String {
    let meta = ("session_meta", json!({"id": "s", "timestamp": "2026-01-01T00:00:00Z"}));
    let line = |(kind, payload): &(&str, Value)| {
        json!({"timestamp": "2026-01-01T00:00:01Z", "type": kind, "payload": payload}).to_string() + "\n"
    };
    [meta].iter().chain(rows).map(line).collect()
}

fn user(text: &str) -> (&'static str, Value) {
    let content = json!([{"type": "input_text", "text": text}]);
    ("response_item", json!({"type": "message", "role": "user", "content": content}))
}

fn reply(text: &str) -> (&'static str, Value) {
    let content = json!([{"type": "output_text", "text": text}]);
    ("response_item", json!({"type": "message", "role": "assistant", "content": content}))
}

fn event(payload: Value) -> (&'static str, Value) {
    ("event_msg", payload)
}

#[test]
fn items_calls_and_turns_taken_back_are_kept() {
    let kept = read_file("rollout.jsonl", SESSION);
    let [read] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!((read.source_id.as_str(), read.title.as_str()), (ID, "Tides of Brest"));
    assert_eq!(read.system_prompt, "");
    assert_eq!(
        conversation_lines(read),
        [
            r#"0< user: picture picture image/png 2 bytes "" | "When is low tide in Brest? [Image #1]""#,
            r#"1<0 assistant [gpt-5.6-sol]: thinking "**Looking at the table**\n\nThe table is in a file.""#,
            r#"2<1 assistant [gpt-5.6-sol]: "I read the table.""#,
            r#"3<2 assistant [gpt-5.6-sol]: call call_1 exec_command {"cmd":"cat tides.txt"}"#,
            r#"4<3 assistant [gpt-5.6-sol]: call call_2 mcp__charts__view_image {"path":"chart.png"}"#,
            r#"5<4 assistant: answer call_1 exec_command "Chunk ID: 1\nWall time: 0.0100 seconds\nProcess exited with code 0\nOutput:\nlow 11:04""#,
            r#"6<5 assistant: answer call_2 mcp__charts__view_image "A chart" | picture picture image/png 2 bytes """#,
            r#"7<6 assistant [gpt-5.6-sol]: call ws_1 web_search {"type":"search","query":"Brest tide","queries":["Brest tide"]} | answer ws_1 web_search {"status":"completed"}"#,
            r#"8<7 assistant [gpt-5.6-sol]: "At 11:04.""#,
            r#"9<8 user: "Write it down.""#,
            r#"10<9 assistant [gpt-5.6-sol]: call call_3 apply_patch raw Some("*** Begin Patch\n*** Add File: low.txt\n+11:04\n*** End Patch")"#,
            r#"11<10 assistant: answer call_3 apply_patch failed "read only""#,
            r#"12<11 assistant [gpt-5.6-sol] (cancelled): "I cannot""#,
            r#"13<8 user: "Make a plan to write it down.""#,
            r#"14<13 assistant [gpt-5.6-luna]: "1. Ask for permission.""#,
            r#"15<14 assistant [gpt-5.6-luna]: call ig_1 image_generation {"prompt":"A tide table"} | answer ig_1 image_generation {"status":"completed"} | picture picture image/png 2 bytes """#,
            r#"16<15 user: "<user_shell_command>\n<command>\ndate\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>""#,
            r#"17<16 system: "The user asks about tides.""#,
            r#"*18<17 assistant [gpt-5.6-luna] (failed: stream disconnected): "#,
        ]
    );
    let place = format!("lost: rollout.jsonl › {ID}");
    assert_eq!(
        kept.issue_lines(),
        [
            format!("{place}: the instructions of Codex are not imported"),
            format!("{place} › line-2: text that Codex added for the model is not imported (3 times)"),
            format!("{place} › line-35: content that the provider keeps encrypted is not imported"),
        ]
    );
}

#[test]
fn usage_and_times_belong_to_their_response() {
    let read = read_file("rollout.jsonl", SESSION).conversations.remove(0);
    let usage = |at: usize| read.messages[at].usage;
    assert_eq!((usage(4).input_tokens, usage(4).cache_read_tokens), (Some(1_000), Some(200)));
    assert_eq!((usage(4).output_tokens, usage(4).reasoning_tokens), (Some(50), Some(20)));
    assert_eq!((usage(8).input_tokens, usage(8).output_tokens), (Some(1_500), Some(30)));
    assert_eq!(read.messages.iter().filter(|message| message.usage.is_known()).count(), 2);
    assert_eq!(read.created_at, Some("2026-07-13T16:40:00Z".parse().unwrap()));
    assert_eq!(read.messages[8].created_at, Some("2026-07-13T16:40:21Z".parse().unwrap()));
    assert_eq!(read.messages[8].provider.as_deref(), Some("openai"));
}

#[test]
fn reasoning_of_open_models_and_shell_calls_of_2025_are_read() {
    let kept = read_file("rollout.jsonl", SESSION_2025);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"0< user: "Which knot?""#,
            r#"1<0 assistant [gpt-oss:20b]: thinking "A cleat hitch holds.""#,
            r#"2<1 assistant [gpt-oss:20b]: call call_9 local_shell {"type":"exec","command":["ls"],"timeout_ms":null,"working_directory":null,"env":null,"user":null}"#,
            r#"3<2 assistant: answer call_9 local_shell "knots.txt\n""#,
            r#"*4<3 assistant [gpt-oss:20b]: "A cleat hitch.""#,
        ]
    );
    assert_eq!(kept.conversations[0].messages[1].provider.as_deref(), Some("ollama"));
}

#[test]
fn sessions_of_first_versions_are_read() {
    let kept = read_file("rollout.jsonl", BARE);
    let chat = &kept.conversations[0];
    assert_eq!(chat.source_id, "c3c4b301-27c8-4c70-b6e4-46b99fdf0236");
    assert_eq!(
        conversation_lines(chat),
        [r#"0< user: "hello""#, r#"1<0 assistant: thinking "**Greeting**""#, r#"*2<1 assistant: "Hi!""#]
    );
    assert_eq!(chat.messages[0].created_at, None);
    assert!(chat.created_at.is_some());

    let kept = read_file("rollout.json", WHOLE);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"0< user: "list files""#,
            r#"1<0 assistant: call call_1 shell {"command":["ls"]}"#,
            r#"2<1 assistant: answer call_1 shell "a.txt\n""#,
            r#"*3<2 assistant: "One file: a.txt""#,
        ]
    );
    assert!(kept.findings.is_empty(), "{:?}", kept.issue_lines());
}

#[test]
fn folder_gives_chat_per_session_with_names_from_index() {
    let index = [("old", "Knots"), (ID, "x"), ("c3c4b301-27c8-4c70-b6e4-46b99fdf0236", "Greeting")];
    let index: String = index.map(|(id, name)| json!({"id": id, "thread_name": name}).to_string() + "\n").concat();
    let history = json!({"session_id": ID, "ts": 1, "text": "When is low tide in Brest?"}).to_string();
    let entries: [(&str, &[u8]); 8] = [
        ("history.jsonl", history.as_bytes()),
        ("session_index.jsonl", index.as_bytes()),
        ("config.toml", b"model = 1"),
        ("archived_sessions/rollout-2025-08-18T01-16-13-c3c4b301-27c8-4c70-b6e4-46b99fdf0236.jsonl", BARE.as_bytes()),
        ("sessions/2025/10/02/rollout-2025-10-02T09-00-00-a.jsonl", SESSION_2025.as_bytes()),
        ("sessions/2026/07/13/rollout-2026-07-13T16-40-00-b.jsonl", SESSION.as_bytes()),
        ("sessions/2026/07/14/rollout-2026-07-14T16-40-00-c.jsonl.zst", b"\x28\xb5\x2f\xfd"),
        ("sessions/rollout-2025-04-20-9d0c0000-0000-4000-8000-000000000001.json", WHOLE.as_bytes()),
    ];
    let kept = read_file("codex.zip", zip_archive(&entries));
    let titles: Vec<&str> = kept.conversations.iter().map(|chat| chat.title.as_str()).collect();
    // The name within a session is as new as the one in the index.
    assert_eq!(titles, ["Greeting", "", "Tides of Brest", ""]);
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("c.jsonl.zst: the session is compressed with Zstandard"), "{issues}");
}

#[test]
fn names_of_sessions_are_bounded() {
    let mut names = SessionNames::new(400);
    names.add("a".to_owned(), &"é".repeat(500));
    assert!(names.is_full && names.names.is_empty(), "400 bytes and the id exceed the bound");
    let mut names = SessionNames::new(500);
    names.add("a".to_owned(), &"é".repeat(500));
    assert_eq!(names.names["a"].chars().count(), 201);
    names.add("b".to_owned(), "Name");
    assert!(names.is_full && !names.names.contains_key("b"));
    // The last name counts, and the room of the one before it is free again.
    names.add("a".to_owned(), "Short");
    names.add("b".to_owned(), "Name");
    assert_eq!((names.names["a"].as_str(), names.names["b"].as_str()), ("Short", "Name"));
}

#[test]
fn raw_reasoning_without_its_item_is_kept() {
    let raw = |text: &str| event(json!({"type": "agent_reasoning_raw_content", "text": text}));
    let item = ("response_item", json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "M"}]}));
    let rows = [
        user("a"),
        raw("one"),
        raw("two"),
        event(json!({"type": "turn_aborted"})),
        user("b"),
        raw("three"),
        user("c"),
        item,
        // The item before it has these words already.
        raw("M"),
        user("d"),
        raw("four"),
    ];
    let kept = read_file("s.jsonl", session(&rows));
    let chat = &kept.conversations[0];
    assert_eq!(
        conversation_lines(chat),
        [
            r#"0< user: "a""#,
            r#"1<0 assistant (cancelled): thinking "one\n\ntwo""#,
            r#"2<1 user: "b""#,
            r#"3<2 assistant: thinking "three""#,
            r#"4<3 user: "c""#,
            r#"5<4 assistant: thinking "M""#,
            r#"6<5 user: "d""#,
            r#"*7<6 assistant: thinking "four""#,
        ]
    );
    assert_eq!(chat.messages[1].source_id, "line-3");
    assert!(chat.messages.iter().all(|message| message.created_at.is_some()));
}

#[test]
fn turns_are_taken_back_to_where_they_began() {
    let back = |count: u64| event(json!({"type": "thread_rolled_back", "num_turns": count}));
    let read = |rows: &[(&str, Value)]| {
        let kept = read_file("s.jsonl", session(rows));
        conversation_lines(&kept.conversations[0])
    };
    let rows =
        [user("a"), reply("A"), user("b"), reply("B"), user("c"), back(2), user("d"), reply("D"), back(9), user("e")];
    assert_eq!(
        read(&rows),
        [
            r#"0< user: "a""#,
            r#"1<0 assistant: "A""#,
            r#"2<1 user: "b""#,
            r#"3<2 assistant: "B""#,
            r#"4<3 user: "c""#,
            r#"5<1 user: "d""#,
            r#"6<5 assistant: "D""#,
            r#"*7< user: "e""#,
        ]
    );
    assert_eq!(read(&[user("a"), reply("A"), user("b"), back(1)])[1], r#"*1<0 assistant: "A""#);
    assert_eq!(read(&[back(3), user("a"), back(0)]), [r#"*0< user: "a""#]);
}

#[test]
fn forks_and_subagents_say_where_they_come_from() {
    let meta = |more: Value| {
        let mut payload = json!({"id": "child", "timestamp": "2026-01-01T00:00:00Z"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": payload}).to_string() + "\n"
    };
    let issues = |text: String| {
        let kept = read_file("s.jsonl", text);
        assert_eq!(kept.conversations[0].source_id, "child");
        kept.issue_lines().join("\n")
    };
    let rows = session(&[user("a")]);
    let forked = issues(meta(json!({"forked_from_id": "s"})) + &rows);
    assert!(forked.contains("put right: s.jsonl › child: it is a fork of the session s"), "{forked}");
    let paged = issues(meta(json!({"history_base": {"thread_id": "s", "end_ordinal_exclusive": 4}})) + &rows);
    assert!(paged.contains("it continues the session s, which is a chat of its own"), "{paged}");
    let spawned = issues(meta(json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "s"}}}})) + &rows);
    assert!(spawned.contains("it is the work of a subagent"), "{spawned}");

    let line = |ordinal: u64, (kind, payload): (&str, Value)| {
        json!({"timestamp": "2026-01-01T00:00:01Z", "ordinal": ordinal, "type": kind, "payload": payload}).to_string()
            + "\n"
    };
    let text = meta(json!({"subagent_history_start_ordinal": 2})) + &line(1, user("inherited")) + &line(2, user("own"));
    let kept = read_file("s.jsonl", text);
    assert_eq!(conversation_lines(&kept.conversations[0]), [r#"*0< user: "own""#]);
}

#[test]
fn failures_and_unknown_lines_are_reported() {
    let rows = [
        user("a"),
        event(json!({"type": "error", "message": "no network"})),
        user("b"),
        reply("B"),
        event(json!({"type": "error", "message": "cut off"})),
        event(json!({"type": "oracle"})),
        event(json!({"type": "warning", "message": "slow"})),
        ("oracle", json!({})),
        ("response_item", json!({"type": "hologram"})),
        ("response_item", json!({"type": "message", "role": "user", "content": [{"type": "hologram"}], "aura": 1})),
        (
            "response_item",
            json!({"type": "agent_message", "author": "/root", "recipient": "/root/a", "content": [{"type": "input_text", "text": "Go"}]}),
        ),
    ];
    let kept = read_file("s.jsonl", session(&rows));
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"0< user: "a""#,
            "1<0 assistant (failed: no network): ",
            r#"2<1 user: "b""#,
            r#"3<2 assistant (failed: cut off): "B""#,
            r#"*4<3 system: "Go""#,
        ]
    );
    let issues = kept.issue_lines().join("\n");
    for part in [
        "events of type “oracle” are not imported",
        "notices of Codex are not imported",
        "lines of type “oracle” are not imported",
        "items of type “hologram” are not imported",
        "content of type “hologram” is not imported",
        "data that Turnleaf does not know is not imported (item.aura)",
    ] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
}

#[test]
fn broken_lines_do_not_affect_others() {
    let rows = session(&[user("a"), reply("A"), user("b"), reply("B")]);
    let all: Vec<&str> = rows.lines().collect();
    let text = [all[0], all[1], &all[2][..30], all[3], &all[4][..all[4].len() - 3]].join("\n");
    let kept = read_file("s.jsonl", text);
    assert_eq!(conversation_lines(&kept.conversations[0]), [r#"0< user: "a""#, r#"*1<0 user: "b""#]);
    let issues = kept.issue_lines();
    assert!(issues[0].starts_with("left out: s.jsonl › line 3: it is not JSON: EOF"), "{issues:?}");
    assert_eq!(issues[1], "left out: s.jsonl › line 5: the file ends in the middle of it");
    // The messages keep their ids when the file is whole again.
    let whole = read_file("s.jsonl", rows).conversations.remove(0);
    let ids: Vec<&str> = whole.messages.iter().map(|message| message.source_id.as_str()).collect();
    assert_eq!(ids, ["line-2", "line-3", "line-4", "line-5"]);
    assert_eq!(kept.conversations[0].messages[1].source_id, "line-4");
}

#[test]
fn session_without_meta_is_named_by_its_file() {
    let rows = session(&[user("a")]);
    let rows = rows.split_once('\n').unwrap().1;
    let named = read_file("rollout-2026-07-13T16-40-00-019f5c5a-eb02-7ff0-90af-653b66eba9f4.jsonl", rows);
    assert_eq!(named.conversations[0].source_id, ID);
    assert!(read_file("x.jsonl", rows).conversations[0].source_id.starts_with("made-"));
    let (kept, end) = read_all(ImportFormat::Codex, session(&[]));
    end.unwrap();
    assert_eq!(kept.issue_lines(), ["left out: sample.json › s: it has no messages"]);
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let whole: Value = serde_json::from_str(WHOLE).unwrap();
    let mut all: Vec<Value> = [SESSION, SESSION_2025, BARE].into_iter().flat_map(values).collect();
    let with_payload: Vec<&Value> = all.iter().filter(|line| line.get("payload").is_some()).collect();
    assert_keys_known(&json!(with_payload), "*", &keys::LINE);
    all.extend(whole["items"].as_array().unwrap().clone());
    let of = |pick: fn(Record<'_>) -> Option<&Value>| {
        let found: Vec<&Value> = all.iter().filter_map(|line| pick(Record::of(line))).collect();
        json!(found)
    };
    let items = of(|record| if let Record::Item(item) = record { Some(item) } else { None });
    let is_ignored = |item: &&Value| keys::IGNORED_ITEMS.contains(&item["type"].as_str().unwrap_or_default());
    let items: Vec<Value> = items.as_array().unwrap().iter().filter(|item| !is_ignored(item)).cloned().collect();
    assert_keys_known(&json!(items), "*", &keys::ITEM);
    assert_keys_known(&json!(items), "*.content.*", &keys::CONTENT);
    assert_keys_known(&json!(items), "*.summary.*", &keys::CONTENT);
    let events = of(|record| if let Record::Event(event) = record { Some(event) } else { None });
    let is_ignored = |event: &&Value| keys::IGNORED_EVENTS.contains(&event["type"].as_str().unwrap_or_default());
    let events: Vec<&Value> = events.as_array().unwrap().iter().filter(|event| !is_ignored(event)).collect();
    assert_keys_known(&json!(events), "*", &keys::EVENT);
    assert_keys_known(&of(|record| if let Record::Meta(meta) = record { Some(meta) } else { None }), "*", &keys::META);
    assert_keys_known(&json!([whole["session"]]), "*", &keys::META);
    let contexts = of(|record| if let Record::TurnContext(context) = record { Some(context) } else { None });
    assert_keys_known(&contexts, "*", &keys::TURN_CONTEXT);
    let summaries = of(|record| if let Record::Compacted(summary) = record { Some(summary) } else { None });
    assert_keys_known(&summaries, "*", &keys::COMPACTED);
}

proptest! {
    #[test]
    fn mutated_sample_never_panics(changes in any_mutations()) {
        let mutated = mutate(json!(values(&format!("{SESSION}{BARE}"))), &changes);
        let text: Vec<String> = mutated.as_array().into_iter().flatten().map(Value::to_string).collect();
        let (kept, _) = read_all(ImportFormat::Codex, text.join("\n"));
        kept.conversations.iter().for_each(assert_sound);
        let whole = mutate(serde_json::from_str(WHOLE).unwrap(), &changes);
        let (kept, _) = read_all(ImportFormat::Codex, whole.to_string());
        kept.conversations.iter().for_each(assert_sound);
        let _ = detect(&mut open_input(text.join("\n")).unwrap());
    }
}
