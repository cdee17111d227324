//! Tests of the ChatGPT reader: the samples field by field, and mutations of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::{ImportFormat, detect};
use crate::sink::ImportError;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    zip_archive,
};

const SAMPLE: &[u8] = include_bytes!("../../samples/chatgpt/conversations.json");

#[test]
fn branches_edits_and_regenerations_are_kept() {
    let (kept, end) = read_all(ImportFormat::Chatgpt, SAMPLE);
    end.unwrap();
    let read = &kept.conversations[0];
    assert_eq!((read.title.as_str(), read.source_id.as_str()), ("Edits and regenerations", "c-branches"));
    assert_eq!(read.system_prompt, "I sail.\n\nAnswer briefly.");
    assert_eq!((read.is_archived, read.is_pinned), (true, true));
    assert_eq!(read.created_at.unwrap().to_rfc3339(), "2024-01-01T00:00:00.125+00:00");
    assert_eq!(
        conversation_lines(read),
        [
            "0< user: \"Which knot?\"",
            "1<0 assistant [gpt-4] (cancelled): \"A bowl\"",
            "2< user: \"Which knot for a cleat?\"",
            "3<2 assistant [gpt-4o]: \"A clove hitch.\"",
            "*4<2 assistant [gpt-4o]: \"A cleat hitch.\"",
        ]
    );
    assert_eq!(read.messages[1].provider.as_deref(), Some("openai"));
}

#[test]
fn thoughts_calls_answers_pictures_and_sources_are_kept() {
    let files: [(&str, &[u8]); 6] = [
        ("conversations.json", SAMPLE),
        ("file_00000000aaaa-sanitized.png", b"png"),
        ("file-LOGBOOK1-log.pdf", b"pdf"),
        ("dalle-generations/file-MADE1-0f0f0f0f-0000-4000-8000-000000000000.webp", b"webp"),
        ("user-abc/file-PLOT1.dat", b"dat"),
        ("conversation_asset_file_names.json", br#"{"file-PLOT1.dat": "plot.png"}"#),
    ];
    let (kept, end) = read_all(ImportFormat::Chatgpt, zip_archive(&files));
    end.unwrap();
    let read = &kept.conversations[1];
    assert!(read.is_pinned && !read.is_archived);
    let expected = [
        "0< user: picture boat.png image/png entry file_00000000aaaa-sanitized.png \"\" | \"What is this, and is it in the news?\" | file log.pdf application/pdf entry file-LOGBOOK1-log.pdf | file gone.txt text/plain absent file-GONE",
        "1<0 assistant [gpt-5-2-thinking]: thinking \"Looking at the picture\" \"It is a boat.\" | thinking \"Searching\" 6000ms \"News\\nof it?\"",
        "2<1 assistant [gpt-5-2-thinking]: call n3 web.run {\"search_query\":[{\"q\":\"boat news\"}]}",
        "3<2 assistant: answer n3 web.run \"\" | sources Boat found<https://example.org/boat>",
        "4<3 assistant: call n4b browser raw None | answer n4b browser \"Quoted words\" | sources A page<https://example.org/page>",
        "5<4 assistant [gpt-5-2-thinking]: call n6 python raw Some(\"print(1)\")",
        "6<5 assistant: answer n6 python failed \"Traceback: boom\" | picture plot.png image/png entry user-abc/file-PLOT1.dat \"\"",
        "7<6 assistant [gpt-5-2-thinking]: call n8 dalle.text2im {\"prompt\":\"a boat\",\"size\":\"1024x1024\"}",
        "8<7 assistant: answer n8 dalle.text2im \"\" | picture file-MADE1-0f0f0f0f-0000-4000-8000-000000000000.webp image/webp entry dalle-generations/file-MADE1-0f0f0f0f-0000-4000-8000-000000000000.webp \"a boat\"",
        "9<8 assistant [gpt-5-2-thinking]: \"A boat was found.\\n\\nSee Risa.\" | sources Boat found<https://example.org/boat>@0-17, More<https://example.org/more>",
        "*10<9 user: \"And by voice?\" | file file_0000bbbb audio/wav absent sediment://file_0000bbbb",
    ];
    assert_eq!(conversation_lines(read), expected);
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: conversations.json › c-tools › n1: a file is not in the export",
            "lost: conversations.json › c-tools › n11: a recording is not in the export",
            "lost: conversations.json › c-tools › n11: parts of type “hologram” are not imported",
            "lost: conversations.json › c-tools: it used a custom GPT, which is not imported",
            "lost: conversations.json › c-model › o0: hidden messages are not imported",
            "lost: conversations.json › c-model: it belongs to a project; projects are not imported",
        ]
    );
}

#[test]
fn reply_of_non_default_model_stays_one_reply() {
    let (kept, end) = read_all(ImportFormat::Chatgpt, SAMPLE);
    end.unwrap();
    let read = &kept.conversations[4];
    assert_eq!(
        conversation_lines(read),
        [
            "0< user: \"How much is it?\"",
            "1<0 assistant [o3]: call o2 python raw Some(\"6*7\")",
            "2<1 assistant: answer o2 python \"42\"",
            "3<2 assistant [o3]: \"It is 42.\"",
            "*4<3 user: \"Thanks\"",
        ]
    );
    assert_eq!(read.model.as_deref(), Some("gpt-4o"));
    let whole = crate::merge_replies(read.clone());
    assert_eq!(
        conversation_lines(&whole)[1],
        "1<0 assistant [o3]: call o2 python raw Some(\"6*7\") | answer o2 python \"42\" | \"It is 42.\""
    );
}

#[test]
fn newer_form_without_children_and_metadata_is_read() {
    let (kept, end) = read_all(ImportFormat::Chatgpt, SAMPLE);
    end.unwrap();
    assert_eq!(
        conversation_lines(&kept.conversations[2]),
        [
            "0< user: \"No metadata here\"",
            "1<0 assistant: \"First\"",
            "2<0 assistant: \"Second\"",
            "3<2 assistant: call m4 file_search raw None | answer m4 file_search \"Found it\"",
            "*4<3 assistant (failed: It broke): ",
        ]
    );
    assert_eq!(kept.conversations[2].model.as_deref(), Some("gpt-5-5"));
    assert_eq!(
        conversation_lines(&kept.conversations[3]),
        [
            "0< user: \"Write it\"",
            "1<0 assistant [gpt-4o-canmore]: call k2 canmore.create_textdoc raw Some(\"{\\\"name\\\":\\\"poem\\\",\\\"type\\\":\\\"document\\\",\\\"content\\\":\\\"Roses\")",
            "2<1 assistant: answer k2 canmore.create_textdoc \"Successfully created text document\"",
            "*3<2 assistant [gpt-4o-canmore]: \"````python\\nprint('```')\\n````\"",
        ]
    );
}

#[test]
fn multi_file_archive_is_read_and_other_files_are_reported() {
    let one = |id: &str| {
        json!([{"id": id, "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": [id]}}}}}])
            .to_string()
    };
    let (first, second) = (one("first"), one("second"));
    let files: [(&str, &[u8]); 11] = [
        ("export/textdocs/a.json", b"{}"),
        ("export/textdocs/b.json", b"{}"),
        ("export/conversations-001.json", second.as_bytes()),
        ("export/conversations-000.json", first.as_bytes()),
        ("export/conversations-002.json", b"<html>"),
        ("export/conversations-003.json", second.as_bytes()),
        ("__MACOSX/export/._conversations-000.json", b"\0\0"),
        ("export/user.json", b"{}"),
        ("export/library_files.json", br#"[{"id": "file-1", "name": "a file of the library, listed with its name"}]"#),
        ("export/news.json", br#"[{"id": "n", "text": "a file that a later version of the export has"}]"#),
        (
            "export/message_feedback.json",
            br#"[{"id": "m", "conversation_id": "first", "rating": "thumbs_up", "create_time": "2026-01-02"}]"#,
        ),
    ];
    let bytes = zip_archive(&files);
    assert_eq!(detect(&mut open_input(bytes.clone()).unwrap()).unwrap(), Some(ImportFormat::Chatgpt));
    let (kept, end) = read_all(ImportFormat::Chatgpt, bytes);
    end.unwrap();
    let ids: Vec<&str> = kept.conversations.iter().map(|read| read.source_id.as_str()).collect();
    assert_eq!(ids, ["second", "first"]);
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: export/textdocs/a.json: canvas documents are only imported as the tool calls that wrote them",
            "lost: export/library_files.json: the list of files in the library is not imported",
            "lost: export/message_feedback.json: ratings are not imported",
            "lost: export/news.json: the reader does not know this file: it is not imported",
            "left out: export/conversations-002.json: reading the file stopped: this is not JSON",
            "left out: export/conversations-003.json › second: the same conversation appears earlier in the file",
        ]
    );
}

/// Reads a conversation of a question and a reply with these members.
fn read_exchange(question: Value, reply: Value) -> CollectingSink {
    let node = |id: &str, parent: &str, role: &str, members: Value| {
        let mut message = json!({"id": id, "author": {"role": role}});
        message.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json!({"id": id, "parent": parent, "message": message})
    };
    let mapping = json!({"a": node("a", "", "user", question), "b": node("b", "a", "assistant", reply)});
    let (kept, end) = read_all(ImportFormat::Chatgpt, json!([{"id": "c", "mapping": mapping}]).to_string());
    end.unwrap();
    kept
}

#[test]
fn content_is_read_in_every_form() {
    let reply = |content: Value, metadata: Value| {
        let kept = read_exchange(json!({"content": "Q"}), json!({"content": content, "metadata": metadata}));
        let line = conversation_lines(&kept.conversations[0]).get(1).cloned().unwrap_or_default();
        line.split_once(": ").map(|(_, pieces)| pieces.to_owned()).unwrap_or_default()
    };
    let table = [
        (json!("Plain"), r#""Plain""#),
        (json!(["One", "Two"]), r#""One" | "Two""#),
        (json!({"content_type": "text", "parts": "Alone"}), r#""Alone""#),
        (json!({"content_type": "text", "parts": {"content_type": "text", "text": "Within"}}), r#""Within""#),
        (json!({"content_type": "thoughts", "parts": ["Hm"]}), r#"thinking "Hm""#),
        (
            json!({"content_type": "thoughts", "thoughts": ["Hm", {"summary": "S", "content": "T"}]}),
            r#"thinking "Hm" | thinking "S" "T""#,
        ),
        (json!({"content_type": "code", "language": "python", "parts": ["1+1"]}), r#""```python\n1+1\n```""#),
        (json!({"content_type": "code", "finished_text": "2+2"}), r#""```\n2+2\n```""#),
    ];
    for (content, expected) in table {
        assert_eq!(reply(content.clone(), Value::Null), expected, "{content}");
    }
    assert_eq!(reply(json!({"content_type": "code"}), json!({"finished_text": "3+3"})), r#""```\n3+3\n```""#);
    let kept =
        read_exchange(json!({"content": "Q"}), json!({"content": {"content_type": "code", "language": "python"}}));
    assert_eq!(kept.issue_lines(), ["lost: sample.json › c › b: the code of a message is not in the export"]);
}

#[test]
fn passage_that_question_answers_is_quoted() {
    for target in [json!("The words\nof it"), json!(["The words\nof it"]), json!({"text": "The words\nof it"})] {
        let question =
            json!({"content": "Why?", "metadata": {"targeted_reply": target, "targeted_reply_label": "Replying to:"}});
        let kept = read_exchange(question, json!({"content": "So"}));
        assert_eq!(conversation_lines(&kept.conversations[0])[0], r#"0< user: "> The words\n> of it" | "Why?""#);
        assert_eq!(kept.findings.len(), 1, "{:?}", kept.issue_lines());
    }
    for question in [
        json!({"content": "Why?", "targeted_reply": "The words", "metadata": {"targeted_reply": null}}),
        json!({"content": {"content_type": "text", "parts": ["Why?"], "targeted_reply": {"text": "The words"}}}),
    ] {
        let kept = read_exchange(question, json!({"content": "So"}));
        assert_eq!(conversation_lines(&kept.conversations[0])[0], r#"0< user: "> The words" | "Why?""#);
        assert_eq!(kept.findings.len(), 1, "{:?}", kept.issue_lines());
    }
}

#[test]
fn code_for_tool_is_read_wherever_it_stands() {
    for reply in [
        json!({"recipient": "python", "content": {"content_type": "code", "text": "1+1"}}),
        json!({"recipient": "python", "content": {"content_type": "code", "finished_text": "1+1"}}),
        json!({"recipient": "python", "content": {"content_type": "code"}, "metadata": {"finished_text": "1+1"}}),
        json!({"recipient": "python", "content": {"content_type": "code", "parts": ["1+1"]}}),
    ] {
        let kept = read_exchange(json!({"content": "Q"}), reply.clone());
        let line = &conversation_lines(&kept.conversations[0])[1];
        assert!(line.contains(r#"call b python raw Some("1+1")"#), "{reply}: {line}");
    }
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_slice(SAMPLE).unwrap();
    assert_keys_known(&sample, "*", &keys::CONVERSATION);
    assert_keys_known(&sample, "*.mapping.*", &keys::NODE);
    assert_keys_known(&sample, "*.mapping.*.message", &keys::MESSAGE);
    assert_keys_known(&sample, "*.mapping.*.message.metadata", &keys::METADATA);
    assert_keys_known(&sample, "*.mapping.*.message.content", &keys::CONTENT);
    let kept = read_exchange(json!({"content": "Q", "metadata": {"hologram": "x"}}), json!({"content": "A"}));
    let text = "data that Turnleaf does not know is not imported (metadata.hologram)";
    assert_eq!(kept.issue_lines(), [format!("lost: sample.json › c › a: {text}")]);
}

#[test]
fn file_that_is_no_export_is_refused() {
    for bytes in [b"<html>".to_vec(), Vec::new(), zip_archive(&[("x.png", b"x")])] {
        let (kept, end) = read_all(ImportFormat::Chatgpt, bytes);
        assert!(kept.conversations.is_empty());
        assert!(matches!(end, Ok(()) | Err(ImportError::WrongFormat(_) | ImportError::Damaged(_))));
    }
    let (kept, _) = read_all(ImportFormat::Chatgpt, r#"[{"id": "x"}, 3, {"mapping": {"a": {"message": 7}}}]"#);
    assert!(kept.conversations.is_empty());
    assert_eq!(kept.findings.len(), 4, "{:?}", kept.issue_lines());
}

proptest! {
    #[test]
    fn mutated_sample_never_panics(changes in any_mutations()) {
        let sample: Value = serde_json::from_slice(SAMPLE).unwrap();
        let (kept, _) = read_all(ImportFormat::Chatgpt, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
