//! Tests of the Grok reader: the sample field by field, archives, other forms, and mutations of the sample.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::ImportFormat;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, read_all,
    read_detected, zip_archive,
};

const SAMPLE: &str = include_str!("../../samples/grok/prod-grok-backend.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::Grok, bytes)
}

#[test]
fn versions_steps_cards_and_sources_are_kept() {
    let kept = read(SAMPLE);
    let chat = &kept.conversations[0];
    assert_eq!(
        conversation_lines(chat),
        [
            r#"0< user: file aaaaaaaa-0000-4000-8000-000000000001  absent aaaaaaaa-0000-4000-8000-000000000001 | "What is this boat?" | "https://boats.example/""#,
            r#"1<0 assistant [grok-3] (cancelled): "A yawl.""#,
            r#"2<0 assistant [grok-4]: thinking "Looking" "Look at the picture." | call t1 web_search {"query":"ketch"} | answer t1 web_search {"web_search_results":{"results":[{"url":"https://boats.example/ketch","title":"Ketch","preview":"Two masts"}]}} | thinking 3500ms "It has two masts." | thinking "Harper" "I agree." | "It is a ketch.[boats.example](https://www.boats.example/ketch)" | picture image.jpg image/jpeg absent users/u/generated/bbbbbbbb-0000-4000-8000-000000000002/image.jpg "a ketch" | "Enjoy." | sources Ketch<https://boats.example/ketch>, <https://www.boats.example/ketch>, <https://x.com/i/status/123456>"#,
            r#"3<2 user: "> a ketch" | "Really?""#,
            "*4<3 assistant [grok-4] (failed: Failed to respond.): ",
        ]
    );
    assert_eq!((chat.title.as_str(), chat.is_pinned), ("Boats", true));
    assert_eq!(chat.created_at.unwrap().to_rfc3339(), "2026-02-01T10:00:00.500+00:00");
    assert_eq!(chat.messages[0].created_at.unwrap().to_rfc3339(), "2026-02-01T10:00:01+00:00");
    assert_eq!(chat.messages[2].provider.as_deref(), Some("xai"));
    let place = "sample.json › c0000000-0000-4000-8000-000000000001";
    assert_eq!(
        kept.issue_lines()[..8],
        [
            "lost: sample.json: projects and their documents are not imported".to_owned(),
            "lost: sample.json: pictures and videos that were made outside of chats are not imported".to_owned(),
            format!("lost: {place} › r3: shared links are not imported"),
            format!("lost: {place} › r3: widgets in the text (a map, an image list) are not imported"),
            format!("put right: {place} › r4: quotes attached to a message were placed before its text"),
            format!("lost: {place} › r5: data that Turnleaf does not know is not imported (message.hologram)"),
            format!("lost: {place}: its summary is not imported"),
            format!("lost: {place} › r1: a referenced file is not in the export (2 times)"),
        ]
    );
}

#[test]
fn list_without_parents_is_linear_and_trace_holds_calls() {
    let kept = read(SAMPLE);
    assert_eq!(
        conversation_lines(&kept.conversations[1]),
        [
            r#"0< user: "Draw a cat""#,
            r#"*1<0 assistant [grok-3]: thinking "A cat." | call t2 draw raw Some("cat") | thinking "Done." | picture image.png image/png absent https://assets.grok.example/users/u/generated/cccccccc-0000-4000-8000-000000000003/image.png """#,
        ]
    );
    let persona = "the instructions of the persona Pirate are not in the export";
    assert!(kept.issue_lines().iter().any(|line| line.contains(persona)), "{:?}", kept.issue_lines());
}

#[test]
fn assets_of_archive_are_found() {
    let folder = "ttl/30d/export_data/u";
    let asset = |id: &str| format!("{folder}/prod-mc-asset-server//{id}/content");
    let assets = [
        asset("aaaaaaaa-0000-4000-8000-000000000001"),
        asset("bbbbbbbb-0000-4000-8000-000000000002"),
        asset("cccccccc-0000-4000-8000-000000000003"),
    ];
    let backend = format!("{folder}/prod-grok-backend.json");
    let account = format!("{folder}/prod-mc-auth-mgmt-api.json");
    let mut entries: Vec<(&str, &[u8])> = assets.iter().map(|name| (name.as_str(), b"\x89PNG".as_slice())).collect();
    entries.push((&account, br#"{"user": {"email": "a@example.org"}, "sessions": [{"x": 1}]}"#));
    entries.push((&backend, SAMPLE.as_bytes()));
    let kept = read(zip_archive(&entries));
    let lines = [conversation_lines(&kept.conversations[0]), conversation_lines(&kept.conversations[1])].concat();
    let all = lines.join("\n");
    for asset in &assets {
        assert!(all.contains(&format!("entry {asset}")), "{asset} in {all}");
    }
    let issues = kept.issue_lines().join("\n");
    assert!(!issues.contains("example.org") && !issues.contains("not in the export (2"), "{issues}");
}

#[test]
fn flat_responses_and_other_members_are_read() {
    let found = json!([{"title": "A"}]);
    let file = json!([{"conversation": {"title": "Flat"}, "responses": [
        {"sender": "human", "message": "Hi", "create_time": "2026-08-01T10:00:01Z", "image_attachments": [
            {"file_metadata_id": "f", "file_name": "cat.png", "file_mime_type": "image/png"}],
            "file_attachments_metadata": [{"file_metadata_id": "g", "file_name": "a.pdf"}], "file_attachments": ["g"]},
        {"sender": "assistant", "message": "Ho", "rag_results": found, "tool_responses": ["{\"tool_name\":\"look\",\"args\":{\"a\":1}}"],
            "metadata": {"request_metadata": {"resolved_model": "grok-5"}}},
        {"sender": "assistant", "message": "", "stream_errors": [{"message": "Overloaded"}]},
        {"sender": "human", "message": "secret", "is_control": true}, 7, {"response": "text"},
    ]}]);
    let kept = read(file.to_string());
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"0< user: file a.pdf application/pdf absent g | picture cat.png image/png absent f "" | "Hi""#,
            r#"1<0 assistant [grok-5]: call response-2/0 rag raw None | answer response-2/0 rag [{"title":"A"}] | call response-2/2 look {"a":1} | answer response-2/2 look {"tool_name":"look","args":{"a":1}} | "Ho""#,
            "*2<1 assistant (failed: Overloaded): ",
        ]
    );
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("hidden messages") && issues.matches("it is not an object").count() == 1, "{issues}");
}

#[test]
fn steps_with_results_of_no_call_keep_them() {
    let step = json!({"tagged_text": {"header": "Alone", "raw_function_result": "42"}, "tool_usage_results": [
        {"tool_usage_card_id": "gone", "x": 1}, {"y": 2}], "x_posts_ids": ["9"], "connector_search_results": [{"title": "D"}]});
    let file = json!([{"conversation": {"id": "s"}, "responses": [{"_id": "1", "sender": "assistant", "message": "M",
        "steps": [step], "thinking_trace": "Something else"}]}]);
    let kept = read(file.to_string());
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            r#"*0< assistant: call 1/0 tool raw None | answer 1/0 tool "42" | thinking "Alone" "" | call gone tool raw None | answer gone tool {"x":1} | call 1/4 tool raw None | answer 1/4 tool {"y":2} | call 1/6 connector_search raw None | answer 1/6 connector_search [{"title":"D"}] | thinking "Something else" | "M" | sources <https://x.com/i/status/9>"#
        ]
    );
}

#[test]
fn trace_of_only_calls_is_kept_once() {
    let card = "<xai:tool_usage_card><xai:tool_usage_card_id>t</xai:tool_usage_card_id><xai:tool_name>look</xai:tool_name>\
        <xai:tool_args>x</xai:tool_args></xai:tool_usage_card>";
    let file = json!([{"conversation": {"id": "s"}, "responses": [{"_id": "1", "sender": "assistant", "message": "M",
        "thinking_trace": card, "agent_thinking_traces": [{"thinking_trace": card}]}]}]);
    let kept = read(file.to_string());
    assert_eq!(conversation_lines(&kept.conversations[0]), [r#"*0< assistant: call t look raw Some("x") | "M""#]);
}

#[test]
fn picture_is_shown_once_with_words_of_bounded_length() {
    let card = json!({"id": "a", "cardType": "generated_image", "image_chunk": {"imageUrl": "u/a.png"},
        "caption": "w".repeat(600)});
    let shown = r#"<grok:render card_id="a"/>"#;
    let file = json!([{"conversation": {"id": "s"}, "responses": [{"_id": "1", "sender": "assistant",
        "message": format!("A{shown}B{shown}C"), "card_attachments_json": [card.to_string()]}]}]);
    let kept = read(file.to_string());
    let words = "w".repeat(500);
    let line = format!(r#"*0< assistant: "A" | picture a.png image/png absent u/a.png "{words}" | "BC""#);
    assert_eq!(conversation_lines(&kept.conversations[0]), [line]);
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("shown once") && issues.contains("was cut"), "{issues}");
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_str(SAMPLE).unwrap();
    assert_keys_known(&sample, "conversations.*", &keys::WRAPPER);
    assert_keys_known(&sample, "conversations.*.conversation", &keys::CONVERSATION);
    assert_keys_known(&sample, "conversations.*.responses.*", &keys::ENTRY);
    assert_keys_known(&sample, "conversations.*.responses.*.response.steps.*", &keys::STEP);
    let mut sample = sample;
    // This one tests that an unknown key is reported.
    sample["conversations"][0]["responses"][4]["response"].as_object_mut().unwrap().remove("hologram");
    assert_keys_known(&sample, "conversations.*.responses.*.response", &keys::RESPONSE);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations()) {
        let sample: Value = serde_json::from_str(SAMPLE).unwrap();
        let (kept, _) = read_all(ImportFormat::Grok, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
