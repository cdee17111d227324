//! Tests of the Open WebUI reader: the samples field by field, and mutations of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::domain::usage::token_counts::Usage;
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
};

const SAMPLE: &[u8] = include_bytes!("../../samples/open_webui/chats.json");

#[test]
fn older_form_is_read() {
    let (kept, end) = read_all(ImportFormat::OpenWebui, SAMPLE);
    end.unwrap();
    let read = &kept.conversations[0];
    assert_eq!((read.title.as_str(), read.system_prompt.as_str()), ("Older form", "Be brief."));
    assert!(read.is_pinned && read.is_archived);
    assert_eq!(read.created_at.unwrap().timestamp(), 1_740_000_000);
    assert_eq!(
        conversation_lines(read),
        [
            "0< user: picture picture image/png 2 bytes \"\" | picture far.png image/png absent /api/v1/files/0b0b/content \"\" | file log.md text/markdown text # Log | file All my notes  absent kb1 | \"What is it?\"",
            "*1<0 assistant [gpt-4o] (failed: Model not found): ",
            "2<0 assistant [llama3:8b]: thinking 5000ms \"Let's <see>\\nit\" | \"I look.\" | call call_1 look {\"at\":\"boat\"} | answer call_1 look \"a &lt;boat&gt;\" | picture picture image/png 2 bytes \"\" | \"A boat [1].\" | call b1-4 code_interpreter raw Some(\"print(2)\") | answer b1-4 code_interpreter {\"stdout\":\"2\"} | sources Boat<https://example.org/boat>, log.md<>",
        ]
    );
    let usage = Usage { input_tokens: Some(9), output_tokens: Some(5), reasoning_tokens: Some(2), ..Usage::default() };
    assert_eq!(read.messages[2].usage, usage);
    assert_eq!(
        kept.issue_lines()[..5],
        [
            "lost: sample.json › ow-1 › a: a file is not in the export (2 times)",
            "lost: sample.json › ow-1 › b1: ratings are not imported",
            "lost: sample.json › ow-1: its tags are not imported",
            "lost: sample.json › ow-1: its folder is not imported",
            "lost: sample.json › ow-2 › y: items of type “hologram” are not imported",
        ]
    );
}

#[test]
fn newer_form_is_read() {
    let (kept, end) = read_all(ImportFormat::OpenWebui, SAMPLE);
    end.unwrap();
    assert_eq!(
        conversation_lines(&kept.conversations[1]),
        [
            "0< user: \"Look\" | picture picture image/png 2 bytes \"\"",
            "*1<0 assistant [m] (cancelled): thinking 2500ms \"Hm\" | \"I look.\" | call call_a look {\"at\":\"boat\"} | answer call_a look {\"seen\":true} | picture picture  absent /api/v1/files/1/content \"\" | call call_gone tool raw None | answer call_gone tool failed \"lonely\" | call ci_1 code_interpreter raw Some(\"1/0\") | answer ci_1 code_interpreter {\"stderr\":\"boom\"} | call ws_1 web_search {\"action\":{\"type\":\"search\",\"query\":\"boats\"}} | answer ws_1 web_search null | \"A boat.\"",
        ]
    );
    assert_eq!(
        conversation_lines(&kept.conversations[2]),
        ["0< user: \"One\"", "1<0 assistant [m] (failed: Two): \"Two\"", "*2<1 assistant: \"Three\""]
    );
}

/// Reads a chat with a question `u` and these replies to it.
fn read_replies(replies: Value) -> CollectingSink {
    let mut messages = json!({"u": {"id": "u", "parentId": null, "role": "user", "content": "Q"}});
    let ids: Vec<&String> = replies.as_object().unwrap().keys().collect();
    messages["u"]["childrenIds"] = json!(ids);
    for (id, reply) in replies.as_object().unwrap() {
        let mut message = json!({"id": id, "parentId": "u", "childrenIds": [], "role": "assistant", "done": true});
        message.as_object_mut().unwrap().extend(reply.as_object().unwrap().clone());
        messages[id] = message;
    }
    let current = ids.last().unwrap();
    let chat = json!([{"id": "c", "chat": {"history": {"messages": messages, "currentId": current}}}]);
    let (kept, end) = read_all(ImportFormat::OpenWebui, chat.to_string());
    end.unwrap();
    kept.conversations.iter().for_each(assert_sound);
    kept
}

/// Returns the source ids and the contents of the replies.
fn replies(replies: Value) -> Vec<(String, String)> {
    let kept = read_replies(replies);
    let read = &kept.conversations[0];
    let lines = conversation_lines(read);
    read.messages.iter().zip(lines).skip(1).map(|(message, line)| (message.source_id.clone(), line)).collect()
}

#[test]
fn edited_reply_is_imported_beside_original() {
    let thought = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]});
    let call = json!({"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"});
    let said = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let output = json!([thought, said("One."), call, said("Two.")]);
    let edited = json!({"a": {"content": "Mine.", "originalContent": "One.\nTwo.", "output": output}});
    let expected = [
        ("a", "1<0 assistant: thinking \"Hm\" | \"One.\" | call c1 look {} | \"Two.\""),
        ("a#edited", "*2<0 assistant: thinking \"Hm\" | call c1 look {} | \"Mine.\""),
    ];
    let owned = |lines: &[(&str, &str)]| -> Vec<(String, String)> {
        lines.iter().map(|(id, line)| ((*id).to_owned(), (*line).to_owned())).collect()
    };
    assert_eq!(replies(edited), owned(&expected));
    let details = "<details type=\"reasoning\" done=\"true\">\n<summary>S</summary>\n&gt; Hm\n</details>\n";
    let rendered = json!({"a": {"content": format!("{details}One.\n\nTwo.\n"), "output": output}});
    assert_eq!(replies(rendered).len(), 1, "white space and elements are no edit");
    let in_place = json!({"a": {"content": format!("{details}One, mine.\n{details}Two."), "output": output}});
    assert_eq!(replies(in_place)[1].1, "*2<0 assistant: thinking \"Hm\" | \"One, mine.\" | call c1 look {} | \"Two.\"");
    // A copy keeps the output of the reply that it was made from.
    let copied = json!({"a": {"content": "One.", "output": [said("One.")]}, "b": {"content": "Mine.", "output": [said("One.")]}});
    let expected = [("a", "1<0 assistant: \"One.\""), ("b#edited", "*2<0 assistant: \"Mine.\"")];
    assert_eq!(replies(copied), owned(&expected));
    let older = json!({"a": {"content": "Mine.", "originalContent": "One."}});
    let expected = [("a#original", "1<0 assistant: \"One.\""), ("a", "*2<0 assistant: \"Mine.\"")];
    assert_eq!(replies(older), owned(&expected));
    let three = json!({"a": {"content": "Third.", "originalContent": "Second.", "output": [said("First.")]}});
    let ids: Vec<String> = replies(three).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["a", "a#original", "a#edited"]);
}

#[test]
fn messages_after_edited_reply_follow_edit() {
    let chat = json!([{"id": "c", "chat": {"history": {"currentId": "v", "messages": {
        "u": {"parentId": null, "childrenIds": ["a"], "role": "user", "content": "Q"},
        "a": {"parentId": "u", "childrenIds": ["v"], "role": "assistant", "content": "Mine", "originalContent": "Its"},
        "v": {"parentId": "a", "childrenIds": [], "role": "user", "content": "R"},
    }}}}]);
    let (kept, end) = read_all(ImportFormat::OpenWebui, chat.to_string());
    end.unwrap();
    let lines = conversation_lines(&kept.conversations[0]);
    assert_eq!(lines, ["0< user: \"Q\"", "1<0 assistant: \"Its\"", "2<0 assistant: \"Mine\"", "*3<2 user: \"R\""]);
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_slice(SAMPLE).unwrap();
    assert_keys_known(&sample, "*", &keys::ROW);
    assert_keys_known(&sample, "*.chat", &keys::CHAT);
    assert_keys_known(&sample, "*.chat.history", &keys::HISTORY);
    assert_keys_known(&sample, "*.chat.history.messages.*", &keys::MESSAGE);
    assert_keys_known(&sample, "*.chat.messages.*", &keys::MESSAGE);
    let outputs = sample.as_array().unwrap().iter().filter_map(|row| row["chat"]["history"]["messages"].as_object());
    let items = outputs.flat_map(|messages| messages.values()).filter_map(|message| message["output"].as_array());
    let read = items.flatten().filter(|item| keys::ITEM_TYPES.iter().any(|kind| item["type"] == *kind));
    for key in read.filter_map(Value::as_object).flat_map(|item| item.keys()) {
        assert!(keys::ITEM.is_known(key), "the key {key} is neither read nor reported nor ignored");
    }
}

#[test]
fn everything_beside_text_is_content_or_reported() {
    let run = json!({"id": "c", "code": "print(1)", "language": "python", "result": {"output": "1", "files": [{"name": "a.png", "url": "data:image/png;base64,aGk="}]}});
    let refused = json!([{"type": "output_text", "text": "A", "annotations": [{"type": "url_citation", "url": "https://a.example", "title": "T", "start_index": 0, "end_index": 1}]}, {"type": "refusal", "refusal": "No"}]);
    let both = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "S"}], "content": [{"type": "reasoning_text", "text": "Whole"}], "duration": 2});
    let kept = read_replies(json!({"a": {
        "content": "", "output": [both, {"type": "message", "content": refused}], "code_executions": [run],
        "statusHistory": [{"action": "web_search", "query": "q", "urls": ["https://e.example"]}], "embeds": ["<p>E</p>"],
        "followUps": ["F?"], "shiny": {"a": 1}, "annotation": {"rating": 1},
    }}));
    assert_eq!(
        conversation_lines(&kept.conversations[0])[1],
        "*1<0 assistant: thinking \"S\" | thinking 2000ms \"Whole\" | \"ANo\" | sources T<https://a.example> | call a-run-c code_interpreter raw Some(\"print(1)\") | answer a-run-c code_interpreter {\"output\":\"1\",\"files\":[{\"name\":\"a.png\",\"url\":\"data:image/png;base64,aGk=\"}]} | file a.png image/png 2 bytes"
    );
    let told = kept.issue_lines().join("\n");
    for part in ["embedded pages", "suggested questions", "(web_search)", "(message.shiny)", "ratings"] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
}

#[test]
fn parts_that_are_no_text_are_pictures_or_reported() {
    let picture = "data:image/png;base64,aGk=";
    let said = json!([{"type": "output_text", "text": ""}, {"type": "output_image", "image_url": picture}, {"type": "output_audio", "data": "x"}]);
    let seen = json!([{"type": "input_text", "text": "found"}, {"type": "input_image", "image_url": {"url": picture}}]);
    let kept = read_replies(json!({"a": {"content": "", "output": [
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": seen}, {"type": "message", "content": said},
    ]}}));
    let line = &conversation_lines(&kept.conversations[0])[1];
    assert_eq!(line.matches("picture picture image/png 2 bytes").count(), 2, "{line}");
    let told = kept.issue_lines().join("\n");
    assert!(told.contains("parts of type “output_audio” are not imported"), "{told}");
    assert_eq!(kept.findings.len(), 1, "{told}");
}

#[test]
fn marks_in_code_and_indentation_stay() {
    let text = "See:\n\n```html\n<details type=\"reasoning\">\n&gt; x\n</details>\n```\n\nDone.";
    let kept = read_replies(json!({"a": {"content": text}, "b": {"content": "\n    def f():\n        pass\n"}}));
    let lines = conversation_lines(&kept.conversations[0]);
    assert_eq!(lines[1], format!("1<0 assistant: {text:?}"));
    assert_eq!(lines[2], "*2<0 assistant: \"    def f():\\n        pass\"");
}

#[test]
fn single_chat_and_wrapped_lists_are_read() {
    let sample: Value = serde_json::from_slice(SAMPLE).unwrap();
    for (form, count) in [
        (sample[0].clone(), 1),
        (sample[0]["chat"].clone(), 1),
        (json!({"total": 3, "items": sample}), 3),
        (json!({"chats": sample}), 3),
    ] {
        let text = form.to_string();
        assert_eq!(detect(&mut open_input(text.as_bytes()).unwrap()).unwrap(), Some(ImportFormat::OpenWebui));
        let (kept, end) = read_all(ImportFormat::OpenWebui, text);
        end.unwrap();
        assert_eq!(kept.conversations.len(), count);
    }
}

proptest! {
    #[test]
    fn mutated_sample_never_panics(changes in any_mutations()) {
        let sample: Value = serde_json::from_slice(SAMPLE).unwrap();
        let (kept, _) = read_all(ImportFormat::OpenWebui, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
