//! Tests of the Claude reader: the samples field by field, and mutations of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all, zip_archive,
};

const SAMPLE: &[u8] = include_bytes!("../../samples/claude/conversations.json");

#[test]
fn branches_and_blocks_are_kept() {
    let (kept, end) = read_all(ImportFormat::Claude, SAMPLE);
    end.unwrap();
    let read = &kept.conversations[0];
    assert_eq!(read.title, "Branches and blocks");
    assert_eq!(
        conversation_lines(read),
        [
            "0< user: \"Which knot?\" | file notes.txt text/plain text A text | file pasted.txt text/plain text Pasted words | picture photo.jpg image/jpeg absent ba48b8c1-94bc-4c74-a9e7-0f7a0b8023e0 \"\"",
            "1<0 assistant: thinking \"Looked it up\" 2500ms \"Let me look.\" | call toolu_01 web_search {\"query\":\"knots\"} | answer toolu_01 web_search [{\"type\":\"knowledge\",\"title\":\"Knots\",\"url\":\"https://example.org/knots\",\"metadata\":{\"type\":\"webpage_metadata\",\"site_domain\":\"example.org\"},\"is_missing\":false,\"text\":\"All knots\",\"is_citable\":true}] | sources Knots<https://example.org/knots> | call m2-4 repl {\"code\":\"1/0\"} | answer m2-4 repl failed \"Error:\\ndivision\" | \"A bowline 😀 holds.\" | sources <https://example.org/knots>@2-11, <https://example.org/other>",
            "*2<1 user: \"Thanks\"",
            "3<0 assistant: \"Another answer.\"",
        ]
    );
    assert_eq!(read.messages[1].ended_at, None, "no block ended after the reply was created");
    assert_eq!(read.messages[1].provider.as_deref(), Some("anthropic"));
    let place = "sample.json › 5b0c0000-0000-4000-8000-000000000001";
    let expected = [
        format!("lost: {place} › m1: the export only has the text of a file (2 times)"),
        format!("lost: {place} › m1: a file is not in the export"),
        format!("lost: {place} › m2: earlier summaries of the reasoning are not imported"),
        format!("lost: {place} › m2: a service flag on the message is not imported"),
        format!("lost: {place} › m2: blocks of type “hologram” are not imported"),
        format!("lost: {place}: its summary is not imported"),
    ];
    assert_eq!(kept.issue_lines()[..6], expected);
}

#[test]
fn older_linear_exports_and_site_form_are_read() {
    let (kept, end) = read_all(ImportFormat::Claude, SAMPLE);
    end.unwrap();
    assert_eq!(
        conversation_lines(&kept.conversations[1]),
        ["0< user: \"Hello\"", "1<0 assistant: \"Hi!\"", "*2<1 user: \"Bye\""]
    );
    assert_eq!(kept.conversations[1].messages[1].created_at, None);
    let site = &kept.conversations[2];
    assert!(site.is_pinned);
    assert_eq!(
        conversation_lines(site),
        [
            "0< user: \"Draw\" | picture picture image/png 2 bytes \"\"",
            "*1<0 assistant (cancelled): \"Dra\"",
            "2<0 assistant [claude-sonnet-5]: \"Drawn\"",
        ]
    );
    assert_eq!(site.model.as_deref(), Some("claude-opus-5"));
    let issues = kept.issue_lines().join("\n");
    for part in ["l2: an invalid date (created_at) was skipped", "a project", "000000000004: it has no messages"] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
}

#[test]
fn tool_results_in_separate_messages_belong_to_reply() {
    let result =
        |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": "hi"}]}]);
    let export = json!([{"uuid": "c", "chat_messages": [
        {"uuid": "1", "sender": "human", "content": [{"type": "text", "text": "Go"}, {"type": "file", "file_id": "f", "file_name": "note.txt"}]},
        {"uuid": "2", "sender": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "bash", "input": {}}]},
        {"uuid": "3", "sender": "human", "content": result("t")},
        {"uuid": "4", "sender": "human", "content": result("gone")},
        {"uuid": "5", "sender": "assistant", "content": [{"type": "tool_use", "id": "u", "name": "bash", "input": {}}, {"type": "tool_result", "id": "u", "text": "ho"}]},
    ]}]);
    let (kept, end) = read_all(ImportFormat::Claude, export.to_string());
    end.unwrap();
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            "0< user: \"Go\" | file note.txt text/plain absent f",
            "1<0 assistant: call t bash {}",
            "2<1 assistant: answer t bash \"hi\"",
            "3<2 assistant: call 4-0 tool raw None | answer 4-0 tool \"hi\"",
            "*4<3 assistant: call u bash {} | answer u bash \"ho\"",
        ]
    );
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_slice(SAMPLE).unwrap();
    assert_keys_known(&sample, "*", &keys::CONVERSATION);
    assert_keys_known(&sample, "*.chat_messages.*", &keys::MESSAGE);
    let blocks =
        sample.as_array().unwrap().iter().flat_map(|chat| chat["chat_messages"].as_array().into_iter().flatten());
    let blocks = blocks.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let known = blocks.filter(|block| keys::BLOCK_TYPES.contains(&block["type"].as_str().unwrap_or_default()));
    assert_keys_known(&json!(known.collect::<Vec<_>>()), "*", &keys::BLOCK);
}

#[test]
fn earlier_summaries_of_reasoning_are_read_or_reported() {
    let summaries = json!([{"summary": "First"}, {"summary": "Then"}, {"summary": "Then"}]);
    let thought = |text: &str| json!({"type": "thinking", "thinking": text, "summaries": summaries});
    let message = json!({"uuid": "1", "sender": "assistant", "content": [thought(""), thought("Hm")]});
    let (kept, end) = read_all(ImportFormat::Claude, json!([{"uuid": "c", "chat_messages": [message]}]).to_string());
    end.unwrap();
    let line = r#"*0< assistant: thinking "Then" "First" | thinking "Then" "Hm""#;
    assert_eq!(conversation_lines(&kept.conversations[0]), [line]);
    let place = "lost: sample.json › c › 1";
    assert_eq!(kept.issue_lines(), [format!("{place}: earlier summaries of the reasoning are not imported")]);
}

#[test]
fn message_that_appears_twice_is_read_once() {
    let message = |id: &str, sender: &str, text: &str, at: &str| json!({"uuid": id, "sender": sender, "text": text, "created_at": at});
    let messages = [
        message("1", "human", "Go", "2026-01-01T00:00:00Z"),
        message("1", "human", "Go", "2026-01-01T00:00:01Z"),
        message("2", "assistant", "Gone", "2026-01-01T00:00:02Z"),
    ];
    let (kept, end) = read_all(ImportFormat::Claude, json!([{"uuid": "c", "chat_messages": messages}]).to_string());
    end.unwrap();
    assert_eq!(conversation_lines(&kept.conversations[0]), ["0< user: \"Go\"", "*1<0 assistant: \"Gone\""]);
}

#[test]
fn archive_is_detected_and_read() {
    let users = br#"[{"uuid": "acc", "full_name": "A", "email_address": "a@example.org"}]"#;
    let projects = br#"[{"uuid": "p1", "name": "Boats", "description": "About boats", "docs": []}]"#;
    let files: [(&str, &[u8]); 4] = [
        ("users.json", users),
        ("projects.json", projects),
        ("conversations.json", SAMPLE),
        ("files/ba48b8c1-94bc-4c74-a9e7-0f7a0b8023e0/photo.jpg", b"jpg"),
    ];
    let bytes = zip_archive(&files);
    assert_eq!(detect(&mut open_input(bytes.clone()).unwrap()).unwrap(), Some(ImportFormat::Claude));
    let (kept, end) = read_all(ImportFormat::Claude, bytes);
    end.unwrap();
    assert_eq!(kept.conversations.len(), 3);
    assert_eq!(kept.issue_lines()[0], "lost: projects.json: projects and their documents are not imported");
    assert!(
        conversation_lines(&kept.conversations[0])[0].contains("entry files/ba48b8c1"),
        "{:?}",
        conversation_lines(&kept.conversations[0])
    );
}

proptest! {
    #[test]
    fn mutated_sample_never_panics(changes in any_mutations()) {
        let sample: Value = serde_json::from_slice(SAMPLE).unwrap();
        let (kept, _) = read_all(ImportFormat::Claude, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
