//! Tests of the Claude Code reader: the samples line by line, folders of sessions, damage, and mutations.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::{ImportFormat, detect};
use crate::sink::ImportError;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected_file, zip_archive,
};

const SESSION: &str = include_str!("../../samples/claude_code/session.jsonl");
const AGENT: &str = include_str!("../../samples/claude_code/agent.jsonl");
const SESSION_2025: &str = include_str!("../../samples/claude_code/session_2025.jsonl");
const ID: &str = "3f6c2a10-0000-4000-8000-000000000001";

/// Reads a file by its name after its format was detected.
fn read_file(name: &str, bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected_file(ImportFormat::ClaudeCode, name, bytes)
}

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns lines of a session: `(uuid, parent, type, content)`.
fn lines(rows: &[(&str, &str, &str, Value)]) -> String {
    let line = |(uuid, parent, kind, content): &(&str, &str, &str, Value)| {
        let parent = Some(*parent).filter(|parent| !parent.is_empty());
        let message = json!({ "role": kind, "content": content });
        json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message }).to_string()
    };
    rows.iter().map(|row| line(row) + "\n").collect()
}

#[test]
fn branches_calls_and_blocks_are_kept() {
    let kept = read_file("session.jsonl", SESSION);
    let [read] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!((read.source_id.as_str(), read.title.as_str()), (ID, "Tides of Brest"));
    assert_eq!(
        conversation_lines(read),
        [
            r#"0< user: "[Image #1] When is low tide in Brest? See @tides.txt" | picture picture image/png 2 bytes "" | file tides.txt text/plain 10 bytes"#,
            r#"1<0 assistant [claude-opus-5]: thinking "Two lookups.""#,
            r#"2<1 assistant [claude-opus-5]: "I look it up.""#,
            r#"3<2 assistant [claude-opus-5]: call toolu_1 Bash {"command":"cat tides.txt"}"#,
            r#"4<3 assistant [claude-opus-5]: call toolu_2 Read {"file_path":"chart.png"}"#,
            r#"5<4 assistant: answer toolu_1 Bash "low 11:04""#,
            r#"6<5 assistant: answer toolu_2 Read "A chart" | picture picture image/png 2 bytes """#,
            r#"7<6 assistant [claude-opus-5]: "At 11:04.""#,
            r#"8<7 user: "And high tide?""#,
            r#"9<8 assistant [claude-opus-5]: call toolu_3 Bash {"command":"cat high.txt"}"#,
            r#"10<9 assistant: answer toolu_3 Bash failed "cat: high.txt: No such file""#,
            r#"11<10 user: "Look in the web""#,
            r#"12<11 assistant [claude-opus-5]: call toolu_4 Agent {"description":"Find tides","subagent_type":"general-purpose","prompt":"Find the high tide of Brest."}"#,
            r#"13<12 assistant: answer toolu_4 Agent "17:20""#,
            r#"14<13 assistant [claude-opus-5] (cancelled): "High tide is at""#,
            r#"15<7 user: "And in Saint-Malo?""#,
            r#"16<15 assistant [claude-opus-5] (failed: API Error: 529 Overloaded): "#,
            r#"17<16 user: "! date""#,
            r#"18<17 user: "```\nMon May  4\n```""#,
            r#"19<18 system: "This session is being continued from a previous conversation. The user asked for tides.""#,
            r#"20<19 user: "/review the table""#,
            r#"21<20 assistant [claude-opus-5]: "The table is right.""#,
            r#"22<21 system: "<task-notification>\n<task-id>w1</task-id>\n<status>completed</status>\n</task-notification>""#,
            r#"*23<22 assistant [claude-haiku-5]: "The watch ended.""#,
        ]
    );
    let place = format!("lost: session.jsonl › {ID}");
    assert_eq!(
        kept.issue_lines(),
        [
            format!("{place} › c01: text that Claude Code added for the model is not imported (3 times)"),
            format!("{place} › c02: commands that only ran in Claude Code are not imported (2 times)"),
            format!("{place} › t03: context that Claude Code attached for the model is not imported (nested_memory)"),
            format!("{place} › a09: reasoning that the provider keeps encrypted is not imported"),
            format!("{place} › w01: notices of Claude Code are not imported (away_summary)"),
        ]
    );
}

#[test]
fn usage_of_response_is_counted_once_with_cached_input() {
    let kept = read_file("session.jsonl", SESSION);
    let messages = &kept.conversations[0].messages;
    let usage = &messages[4].usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(1_104), Some(90)));
    assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (Some(1_000), Some(100)));
    for at in [1, 2, 3, 5] {
        assert!(!messages[at].usage.is_known(), "{at}");
    }
    assert_eq!(messages[7].created_at, Some("2026-05-04T08:00:15Z".parse().unwrap()));
    assert_eq!(messages[7].ended_at, None, "the lines record no durations");
}

#[test]
fn folder_of_projects_gives_chat_per_session_with_its_subagents() {
    let agent = format!("projects/-home-ada/{ID}/subagents/agent-agent1.jsonl");
    let meta = format!("projects/-home-ada/{ID}/subagents/agent-agent1.meta.json");
    let output = format!("projects/-home-ada/{ID}/tool-results/toolu_1.txt");
    let session = format!("projects/-home-ada/{ID}.jsonl");
    let entries: [(&str, &[u8]); 8] = [
        ("history.jsonl", br#"{"display": "When is low tide?", "timestamp": 1, "project": "/home/ada"}"#),
        (&output, b"low 11:04"),
        (&meta, br#"{"agentType": "general-purpose"}"#),
        (&agent, AGENT.as_bytes()),
        (&session, SESSION.as_bytes()),
        ("projects/-home-ada/2.jsonl", SESSION_2025.as_bytes()),
        ("projects/-home-ada/empty.jsonl", b""),
        ("projects/-home-ada/memory/MEMORY.md", b"# Memory"),
    ];
    let kept = read_file("projects.zip", zip_archive(&entries));
    let titles: Vec<&str> = kept.conversations.iter().map(|chat| chat.title.as_str()).collect();
    assert_eq!(titles, ["Tides of Brest", "Knots for a cleat"]);
    let chat = &kept.conversations[0];
    assert_eq!(chat.current, Some(23));
    assert_eq!(
        conversation_lines(chat)[24..],
        [
            r#"24< user: "Find the high tide of Brest.""#,
            r#"25<24 assistant [claude-haiku-5]: call toolu_g1 WebSearch {"query":"Brest high tide"}"#,
            r#"26<25 assistant: answer toolu_g1 WebSearch "17:20""#,
            r#"27<26 assistant [claude-haiku-5]: "17:20""#,
        ]
    );
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("the work of each subagent was imported as a branch with its own beginning"), "{issues}");
    assert!(!issues.contains("its parent is missing") && !issues.contains("history.jsonl"), "{issues}");
}

#[test]
fn subagent_file_belongs_to_session_that_its_lines_name() {
    let flat = zip_archive(&[("agent-agent1.jsonl", AGENT.as_bytes()), ("s.jsonl", SESSION.as_bytes())]);
    let kept = read_file("sessions.zip", flat);
    assert_eq!(kept.conversations.iter().map(|chat| chat.messages.len()).collect::<Vec<_>>(), [28]);
    // Without its session it is a chat of its own.
    for alone in [zip_archive(&[("agent-agent1.jsonl", AGENT.as_bytes())]), AGENT.as_bytes().to_vec()] {
        let kept = read_file("agent-agent1.jsonl", alone);
        let [chat] = kept.conversations.as_slice() else { panic!("there is one") };
        assert_eq!((chat.source_id.as_str(), chat.current), (format!("{ID}/agent1").as_str(), Some(3)));
        assert_eq!(chat.messages.len(), 4);
    }
}

#[test]
fn session_of_2025_keeps_its_sidechains_and_its_summary() {
    let kept = read_file("session_2025.jsonl", SESSION_2025);
    let chat = &kept.conversations[0];
    assert_eq!(chat.title, "Knots for a cleat");
    assert_eq!(
        conversation_lines(chat),
        [
            r#"0< user: "Which knot for a cleat?""#,
            r#"1<0 assistant [claude-sonnet-4-20250514]: call toolu_y1 Task {"description":"Look","prompt":"Look for knots"}"#,
            r#"2<1 assistant: answer toolu_y1 Task "Cleat hitch""#,
            r#"*3<2 assistant [claude-sonnet-4-20250514]: "A cleat hitch.""#,
            r#"4< user: "Look for knots""#,
            r#"5<4 assistant [claude-sonnet-4-20250514]: "Cleat hitch""#,
        ]
    );
}

#[test]
fn fork_is_chat_of_its_own() {
    let fork: String = values(SESSION)
        .into_iter()
        .map(|mut line| {
            if line.get("uuid").is_some() {
                line["forkedFrom"] = json!({ "sessionId": ID, "messageUuid": line["uuid"] });
            }
            line["sessionId"] = "fork".into();
            line.to_string() + "\n"
        })
        .collect();
    let entries = [("a.jsonl", SESSION.as_bytes()), ("b.jsonl", fork.as_bytes())];
    let kept = read_file("sessions.zip", zip_archive(&entries));
    let ids: Vec<&str> = kept.conversations.iter().map(|chat| chat.source_id.as_str()).collect();
    assert_eq!(ids, [ID, "fork"]);
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains(&format!("fork: it is a fork of the session {ID}: both chats have")), "{issues}");
}

#[test]
fn custom_title_wins_over_others() {
    let title = |lines: &str| {
        let text = format!("{SESSION}{lines}");
        read_file("session.jsonl", text).conversations[0].title.clone()
    };
    let custom = r#"{"type":"custom-title","customTitle":"Sea","sessionId":"x"}"#;
    let generated = r#"{"type":"ai-title","aiTitle":"Later","sessionId":"x"}"#;
    assert_eq!(title(generated), "Later");
    assert_eq!(title(&format!("{custom}\n{generated}")), "Sea");
}

#[test]
fn text_beside_results_is_message_of_user() {
    let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]);
    let result = json!([
        {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true},
        {"type": "text", "text": "Use the other file"},
    ]);
    let stopped = json!([
        {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true},
        {"type": "text", "text": "[Request interrupted by user for tool use]"},
    ]);
    let rows = |result: Value| {
        lines(&[
            ("p", "", "user", json!("Go")),
            ("c", "p", "assistant", call.clone()),
            ("r", "c", "user", result),
            ("a", "r", "assistant", json!([{"type": "text", "text": "Done"}])),
        ])
    };
    assert_eq!(
        conversation_lines(&read_file("s.jsonl", rows(result)).conversations[0]),
        [
            r#"0< user: "Go""#,
            r#"1<0 assistant: call t Bash {}"#,
            r#"2<1 assistant: answer t Bash failed "no""#,
            r#"3<2 user: "Use the other file""#,
            r#"*4<3 assistant: "Done""#,
        ]
    );
    assert_eq!(
        conversation_lines(&read_file("s.jsonl", rows(stopped)).conversations[0])[2..],
        [r#"2<1 assistant (cancelled): answer t Bash failed "no""#, r#"*3<2 assistant: "Done""#]
    );
}

#[test]
fn unknown_lines_blocks_and_keys_are_reported() {
    let blocks = json!([{"type": "hologram"}, {"type": "text", "text": "Hi", "aura": 1}]);
    let text = lines(&[("p", "", "user", json!("Hi")), ("a", "p", "assistant", blocks)])
        + &json!({"type": "oracle", "sessionId": "s"}).to_string()
        + "\n"
        + &json!({"type": "oracle", "uuid": "o", "parentUuid": "a", "sessionId": "s"}).to_string()
        + "\n"
        + &lines(&[("q", "o", "user", json!("Bye"))]);
    let kept = read_file("s.jsonl", text);
    assert_eq!(conversation_lines(&kept.conversations[0])[2], "*2<1 user: \"Bye\"");
    let issues = kept.issue_lines().join("\n");
    for part in [
        "blocks of type “hologram” are not imported",
        "data that Turnleaf does not know is not imported (content.aura)",
        "lines of type “oracle” are not imported (2 times)",
    ] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
}

#[test]
fn broken_lines_do_not_affect_others() {
    let rows = lines(&[
        ("p", "", "user", json!("Go")),
        ("a", "p", "assistant", json!("First")),
        ("q", "a", "user", json!("On")),
        ("b", "q", "assistant", json!("Second")),
    ]);
    let all: Vec<&str> = rows.lines().collect();
    let cut_in_middle = &all[1][..all[1].len() / 2];
    let cut_at_end = &all[3][..all[3].len() - 5];
    let text = [all[0], cut_in_middle, all[2], cut_at_end].join("\n");
    let kept = read_file("s.jsonl", text);
    assert_eq!(conversation_lines(&kept.conversations[0]), ["0< user: \"Go\"", "*1< user: \"On\""]);
    let issues = kept.issue_lines();
    assert!(issues[0].starts_with("left out: s.jsonl › line 2: it is not JSON: EOF"), "{issues:?}");
    assert_eq!(issues[1], "left out: s.jsonl › line 4: the file ends in the middle of it");
    assert_eq!(issues[2], "put right: s.jsonl › s › q: its parent is missing: it starts a branch of its own");
}

#[test]
fn session_without_messages_and_empty_file_give_no_chat() {
    let meta: String = SESSION.lines().take(2).map(|line| format!("{line}\n")).collect();
    let kept = read_file("s.jsonl", meta);
    let expected = vec![format!("left out: s.jsonl › {ID}: it has no messages")];
    assert_eq!((kept.conversations.len(), kept.issue_lines()), (0, expected));
    assert!(kept.findings[0].is_without_loss());
    let (kept, end) = read_all(ImportFormat::ClaudeCode, "");
    end.unwrap();
    assert!(kept.conversations.is_empty() && kept.findings.is_empty());
    let (_, end) = read_all(ImportFormat::ClaudeCode, "<html>");
    assert!(matches!(end, Err(ImportError::WrongFormat(_))));
}

#[test]
fn first_line_may_be_broken() {
    let text = format!("{{\"type\":\"user\",\"mess\n{SESSION}");
    assert_eq!(read_file("s.jsonl", text).conversations[0].messages.len(), 24);
}

#[test]
fn grown_session_keeps_ids_and_order_of_known_messages() {
    let all: Vec<&str> = SESSION.lines().collect();
    let whole = read_file("s.jsonl", SESSION).conversations.remove(0);
    for end in 12..all.len() {
        let part = read_file("s.jsonl", all[..end].join("\n")).conversations.remove(0);
        assert_eq!(part.source_id, whole.source_id);
        let known: Vec<_> =
            whole.messages.iter().filter(|m| part.messages.iter().any(|p| p.source_id == m.source_id)).collect();
        assert_eq!(known.len(), part.messages.len(), "up to line {end}");
        for (known, part_of) in known.iter().zip(&part.messages) {
            let parent =
                |chat: &crate::Conversation, at: Option<usize>| at.map(|at| chat.messages[at].source_id.clone());
            assert_eq!(known.source_id, part_of.source_id);
            assert_eq!(
                parent(&whole, known.parent),
                parent(&part, part_of.parent),
                "{} up to line {end}",
                known.source_id
            );
        }
    }
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let all: Vec<Value> = [SESSION, AGENT, SESSION_2025].into_iter().flat_map(values).collect();
    let is_ignored = |line: &&Value| keys::IGNORED_LINES.contains(&line["type"].as_str().unwrap());
    let chain: Vec<&Value> = all.iter().filter(|line| !is_ignored(line)).collect();
    assert_keys_known(&json!(chain), "*", &keys::LINE);
    assert_keys_known(&json!(all), "*.message", &keys::MESSAGE);
    let blocks = all.iter().flat_map(|line| line["message"]["content"].as_array().into_iter().flatten());
    let known = blocks.filter(|block| keys::BLOCK_TYPES.contains(&block["type"].as_str().unwrap_or_default()));
    assert_keys_known(&json!(known.collect::<Vec<_>>()), "*", &keys::BLOCK);
    let attachments = all.iter().map(|line| &line["attachment"]);
    let is_read = |value: &&Value| ["file", "queued_command"].contains(&value["type"].as_str().unwrap_or_default());
    let attachments: Vec<&Value> = attachments.filter(is_read).collect();
    assert_keys_known(&json!(attachments), "*", &keys::ATTACHMENT);
    assert_keys_known(&json!(attachments), "*.content.file", &keys::FILE);
}

proptest! {
    #[test]
    fn mutated_sample_never_panics(changes in any_mutations()) {
        let mutated = mutate(json!(values(&format!("{SESSION}{AGENT}"))), &changes);
        let text: Vec<String> = mutated.as_array().into_iter().flatten().map(Value::to_string).collect();
        let entries = [("s.jsonl", text.join("\n").into_bytes())];
        let entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        let (kept, _) = read_all(ImportFormat::ClaudeCode, zip_archive(&entries));
        kept.conversations.iter().for_each(assert_sound);
        let _ = detect(&mut open_input(text.join("\n")).unwrap());
    }
}
