//! Tests of the Open WebUI reader: the samples field by field, and mutations of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::domain::usage::Usage;
use crate::formats::{ImportFormat, detect};
use crate::test_support::{any_mutations, assert_sound, conversation_lines, mutate, open_input, read_all};

const SAMPLE: &[u8] = include_bytes!("../samples/open_webui/chats.json");

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
