//! Tests of the Gemini CLI reader: the samples of all kinds, folders, damage, and mutations.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected_file, zip_archive,
};

const SESSION: &str = include_str!("../../samples/gemini_cli/session.jsonl");
const SESSION_2025: &str = include_str!("../../samples/gemini_cli/session.json");
const SAVED: &str = include_str!("../../samples/gemini_cli/checkpoint-files.json");
const LOGS: &str = include_str!("../../samples/gemini_cli/logs.json");
const ID: &str = "5b1d0000-0000-4000-8000-00000000000a";

/// Reads a file by its name after its format was detected.
fn read_file(name: &str, bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected_file(ImportFormat::GeminiCli, name, bytes)
}

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_results_and_rewound_messages_are_kept() {
    let kept = read_file("session.jsonl", SESSION);
    let [read] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!((read.source_id.as_str(), read.title.as_str()), (ID, "Tides of Brest"));
    assert_eq!(
        conversation_lines(read),
        [
            r#"0< user: "When is low tide in @tides.txt?" | "\n--- Content from referenced files ---\nlow 11:04" | picture file image/png 2 bytes """#,
            r#"1<0 assistant [gemini-3-pro]: thinking "Two lookups." | "I look it up." | call call-1 run_shell_command {"command":"cat tides.txt"} | call call-2 read_file {"file_path":"chart.png"} | answer call-1 run_shell_command "low 11:04" | answer call-2 read_file "Binary content provided." | picture file image/png 2 bytes """#,
            r#"2<1 assistant [gemini-3-pro]: "At 11:04.""#,
            r#"3<2 user: "And high tide?""#,
            r#"4<3 assistant [gemini-3-flash]: thinking "Searching" "The web knows." | call call-3 google_web_search {"query":"Brest"} | answer call-3 google_web_search failed "Cancelled""#,
            r#"5<2 user: "And in Saint-Malo?""#,
            "6<5 assistant [gemini-3-flash] (failed: [API Error: quota]): ",
            r#"7<6 system: "The user asks about tides.""#,
            r#"8<7 assistant [gemini-3-flash]: "Got it. Thanks for the additional context!""#,
            r#"9<8 user: "Go on.""#,
            r#"*10<9 assistant [gemini-3-pro]: call g4-0 code_execution {"language":"PYTHON","code":"print(1)"} | answer g4-0 code_execution "1\n" | "One.""#,
        ]
    );
    let place = format!("lost: session.jsonl › {ID}");
    assert_eq!(
        kept.issue_lines(),
        [
            format!("{place} › c0: text that the Gemini CLI added for the model is not imported"),
            format!("{place} › i0: notices of the Gemini CLI are not imported"),
            format!("{place} › h0: commands that only ran in the Gemini CLI are not imported"),
        ]
    );
    let usage = |at: usize| read.messages[at].usage;
    assert_eq!((usage(1).input_tokens, usage(1).output_tokens), (Some(100), Some(25)));
    assert_eq!((usage(1).cache_read_tokens, usage(1).reasoning_tokens), (Some(50), Some(5)));
    assert_eq!(usage(10).input_tokens, Some(307));
    assert_eq!(read.messages[1].provider.as_deref(), Some("google"));
    assert_eq!(read.created_at, Some("2026-08-01T07:00:00Z".parse().unwrap()));
}

#[test]
fn session_of_2025_is_read() {
    let kept = read_file("session.json", SESSION_2025);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"0< user: "Which knot?""#,
            r#"*1<0 assistant [gemini-2.5-pro]: thinking "Knots" "The cleat." | "A cleat hitch." | call run-1 run_shell_command {"command":"ls"} | answer run-1 run_shell_command failed "denied""#,
        ]
    );
    assert!(kept.findings.is_empty(), "{:?}", kept.issue_lines());
}

#[test]
fn saved_chat_is_read_with_and_without_its_frame() {
    let frame: Value = serde_json::from_str(SAVED).unwrap();
    for bytes in [SAVED.to_owned(), frame["history"].to_string()] {
        let kept = read_file("checkpoint-files.json", bytes);
        let [chat] = kept.conversations.as_slice() else { panic!("there is one") };
        assert_eq!(chat.title, "files");
        assert_eq!(
            conversation_lines(chat),
            [
                r#"0< user: "List the files.""#,
                r#"1<0 assistant: thinking "Listing." | call content-4-1 ls {"path":"."} | call content-4-2 ls {"path":"a"}"#,
                r#"2<1 assistant: answer content-4-1 ls "a" | answer content-4-2 ls {"files":["b"],"count":1}"#,
                r#"3<2 assistant: "Two files.""#,
                r#"*4<3 user: "See" | file file application/pdf absent https://example.org/f"#,
            ]
        );
        let issues = kept.issue_lines().join("\n");
        for part in ["text that the Gemini CLI added", "content-7: a referenced file is not in the export"] {
            assert!(issues.contains(part), "{part} is not in {issues}");
        }
    }
    // The chat is saved again with more messages under its name.
    let mut grown = frame.clone();
    grown["history"].as_array_mut().unwrap().push(json!({"role": "model", "parts": [{"text": "Seen."}]}));
    let id = |bytes: String| read_file("checkpoint-files.json", bytes).conversations.remove(0).source_id;
    assert_eq!(id(grown.to_string()), id(SAVED.to_owned()));
    assert_ne!(read_file("checkpoint-x.json", SAVED).conversations[0].source_id, id(SAVED.to_owned()));
}

#[test]
fn log_is_imported_for_sessions_that_are_not_in_input() {
    let kept = read_file("logs.json", LOGS);
    let ids: Vec<&str> = kept.conversations.iter().map(|chat| chat.source_id.as_str()).collect();
    assert_eq!(ids, [format!("logs-{ID}"), "logs-5b1d0000-0000-4000-8000-00000000000c".to_owned()]);
    assert_eq!(
        conversation_lines(&kept.conversations[1]),
        [r#"0< user: "Name a port.""#, r#"*1<0 user: "Another one.""#]
    );
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("the replies are not in it"), "{issues}");

    let restore_point =
        json!({"history": [], "clientHistory": [], "toolCall": {"name": "replace", "args": {}}}).to_string();
    let subagent = SESSION.replacen("\"main\"", "\"subagent\"", 1).replace(ID, "agent-1");
    let entries: [(&str, &[u8]); 8] = [
        ("settings.json", b"{}"),
        ("tmp/h1/logs.json", LOGS.as_bytes()),
        ("tmp/h1/chats/session-2026-08-01T07-00-5b1d0000.json", b"{\"sessionId\": \"outdated\", \"messages\": []}"),
        ("tmp/h1/chats/session-2026-08-01T07-00-5b1d0000.jsonl", SESSION.as_bytes()),
        ("tmp/h1/chats/session-2025-10-01T07-00-5b1d0000.json", SESSION_2025.as_bytes()),
        ("tmp/h1/chats/5b1d0000-0000-4000-8000-00000000000a/agent-1.jsonl", subagent.as_bytes()),
        ("tmp/h1/checkpoint-files.json", SAVED.as_bytes()),
        ("tmp/h1/chats/checkpoints/x-replace.json", restore_point.as_bytes()),
    ];
    let kept = read_file("gemini.zip", zip_archive(&entries));
    let ids: Vec<&str> = kept.conversations.iter().map(|chat| chat.source_id.as_str()).collect();
    assert_eq!((ids.len(), &ids[..3]), (5, [ID, "5b1d0000-0000-4000-8000-00000000000b", "agent-1"].as_slice()));
    assert_eq!(ids[4], "logs-5b1d0000-0000-4000-8000-00000000000c");
    let issues = kept.issue_lines().join("\n");
    for part in ["it is the work of a subagent", "a restore point, which repeats a session, is not imported"] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
}

#[test]
fn entries_of_log_with_same_number_follow_each_other() {
    let entry = |id: u64, text: &str| json!({"sessionId": "s", "messageId": id, "type": "user", "message": text, "timestamp": "2026-01-01T00:00:00Z"});
    let log = json!([entry(0, "a"), entry(1, "b"), entry(0, "c"), entry(1, "b"), entry(1, "d"), entry(2, "e")]);
    let kept = read_file("logs.json", log.to_string());
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [r#"0< user: "a""#, r#"1<0 user: "b""#, r#"2<1 user: "c""#, r#"3<2 user: "d""#, r#"*4<3 user: "e""#]
    );
}

/// Reads a recorded session with these messages: `(type, content)`.
fn read_session(messages: &[(&str, Value)]) -> CollectingSink {
    let message = |(at, (kind, content)): (usize, &(&str, Value))| json!({"id": format!("m{at}"), "timestamp": "2026-01-01T00:00:00Z", "type": kind, "content": content});
    let messages: Vec<Value> = messages.iter().enumerate().map(message).collect();
    let session = json!({"sessionId": "s", "projectHash": "h", "messages": messages});
    read_file("session.json", session.to_string())
}

#[test]
fn result_with_unknown_id_answers_call_without_id() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let result = |id: &str, name: &str, output: &str| {
        let response = json!({"id": id, "name": name, "response": {"output": output}});
        ("user", json!([{"functionResponse": response}]))
    };
    let kept = read_session(&[
        ("user", json!("Look.")),
        ("gemini", json!([call("ls"), call("cat"), call("ls")])),
        result("cat-1-x", "cat", "C"),
        result("ls-1-x", "ls", "A"),
        result("ls-1-x", "ls", "A"),
        result("ls-2-y", "ls", "B"),
    ]);
    assert_eq!(
        conversation_lines(&kept.conversations[0])[1..],
        [
            "1<0 assistant: call m1-0 ls {} | call m1-1 cat {} | call m1-2 ls {}",
            r#"2<1 assistant: answer m1-1 cat "C""#,
            r#"3<2 assistant: answer m1-0 ls "A""#,
            r#"*4<3 assistant: answer m1-2 ls "B""#,
        ]
    );
}

#[test]
fn prompt_before_notices_is_no_command() {
    let kept = read_session(&[
        ("user", json!("/help")),
        ("info", json!("Help")),
        ("user", json!("/etc/hosts is what?")),
        ("info", json!("Wait")),
        ("warning", json!("Slow")),
        ("gemini", json!("A file.")),
        ("user", json!("?")),
        ("error", json!("quota")),
    ]);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"0< user: "/etc/hosts is what?""#,
            r#"1<0 assistant: "A file.""#,
            r#"2<1 user: "?""#,
            "*3<2 assistant (failed: quota): ",
        ]
    );
}

#[test]
fn broken_lines_do_not_affect_others() {
    let all: Vec<&str> = SESSION.lines().collect();
    let mut lines = all[..5].to_vec();
    lines[0] = &all[0][..40];
    lines[3] = &all[3][..20];
    let last = &all[8][..all[8].len() - 2];
    lines.push(last);
    let kept = read_file("session.jsonl", lines.join("\n"));
    let chat = &kept.conversations[0];
    assert!(chat.source_id.starts_with("made-"), "its beginning is lost");
    assert_eq!(chat.messages.len(), 1);
    let issues = kept.issue_lines();
    assert!(issues[0].starts_with("left out: session.jsonl › line 1: it is not JSON: "), "{issues:?}");
    assert!(issues[1].starts_with("left out: session.jsonl › line 4: it is not JSON: "), "{issues:?}");
    assert_eq!(issues[2], "left out: session.jsonl › line 6: the file ends in the middle of it");
}

#[test]
fn unknown_records_are_reported() {
    let meta = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "aura": 1});
    let user =
        json!({"id": "1", "timestamp": "x", "type": "user", "content": [{"text": "Hi", "hologram": 1}, "there"]});
    let odd =
        json!({"sessionId": "s", "projectHash": "h", "messages": [{"id": "2", "timestamp": "x", "type": "oracle"}, 3]});
    let other = json!({"sessionId": "t", "projectHash": "h", "messages": []});
    let text = [meta, user, odd, json!({"a": 1}), other].map(|line| line.to_string()).join("\n");
    let kept = read_file("session.jsonl", text);
    assert_eq!(conversation_lines(&kept.conversations[0]), [r#"*0< user: "Hi" | "there""#]);
    let issues = kept.issue_lines().join("\n");
    for part in [
        "left out: session.jsonl: it is not a chat of the Gemini CLI",
        "data that Turnleaf does not know is not imported (session.aura)",
        "data that Turnleaf does not know is not imported (part.hologram)",
        "messages of type “oracle” are not imported",
        "it is not a message",
        "an invalid date (timestamp) was skipped",
        "session.jsonl › t: it has no messages",
    ] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
    let (kept, end) = read_all(ImportFormat::GeminiCli, "");
    end.unwrap();
    assert!(kept.conversations.is_empty() && kept.findings.is_empty());
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let lines = values(SESSION);
    let old: Value = serde_json::from_str(SESSION_2025).unwrap();
    let mut sessions = vec![lines[0].clone(), old.clone()];
    sessions[1].as_object_mut().unwrap().shift_remove("messages");
    sessions.extend(lines.iter().filter_map(|line| line.get("$set")).cloned().map(|mut set| {
        set.as_object_mut().unwrap().shift_remove("messages");
        set
    }));
    assert_keys_known(&json!(sessions), "*", &keys::SESSION);
    let set = lines.iter().filter_map(|line| line["$set"]["messages"].as_array()).flatten();
    let messages = lines.iter().filter(|line| line.get("type").is_some()).chain(set);
    let messages: Vec<&Value> = messages.chain(old["messages"].as_array().unwrap()).collect();
    let messages = json!(messages);
    assert_keys_known(&messages, "*", &keys::MESSAGE);
    assert_keys_known(&messages, "*.toolCalls.*", &keys::TOOL_CALL);
    let saved: Value = serde_json::from_str(SAVED).unwrap();
    for (value, path) in
        [(&messages, "*.content.*"), (&messages, "*.toolCalls.*.result.*"), (&saved, "history.*.parts.*")]
    {
        assert_keys_known(value, path, &keys::PART);
        assert_keys_known(value, &format!("{path}.functionResponse"), &keys::RESPONSE);
    }
    assert_keys_known(&messages, "*.content.*.functionCall", &keys::CALL);
    assert_keys_known(&saved, "history.*.parts.*.functionCall", &keys::CALL);
    assert_keys_known(&saved, "", &keys::SAVED_CHAT);
    assert_keys_known(&saved, "history.*", &keys::CONTENT);
    assert_keys_known(&serde_json::from_str(LOGS).unwrap(), "*", &keys::LOG_ENTRY);
}

proptest! {
    #[test]
    fn mutated_sample_never_panics(changes in any_mutations()) {
        let mutated = mutate(json!(values(SESSION)), &changes);
        let text: Vec<String> = mutated.as_array().into_iter().flatten().map(Value::to_string).collect();
        let (kept, _) = read_all(ImportFormat::GeminiCli, text.join("\n"));
        kept.conversations.iter().for_each(assert_sound);
        for sample in [SESSION_2025, SAVED, LOGS] {
            let text = mutate(serde_json::from_str(sample).unwrap(), &changes).to_string();
            let (kept, _) = read_all(ImportFormat::GeminiCli, text.clone());
            kept.conversations.iter().for_each(assert_sound);
            let _ = detect(&mut open_input(text).unwrap());
        }
    }
}
