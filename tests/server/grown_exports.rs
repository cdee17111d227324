//! Exports of programs that keep only a whole file or list: importing it again after it grew adds only what is new.

use serde_json::{Value, json};
use turnleaf_interchange::chat_builder::source_changes::CHANGED_AT_SOURCE;
use turnleaf_service::transfer::imports::{ImportOutcome, ImportReport};

use crate::interchange::import_file;
use crate::samples::{assert_same, chat_lines, sample, test_servers};

fn sample_value(name: &str) -> Value {
    serde_json::from_slice(&sample(name)).unwrap()
}

/// Shortens the list at the pointer to its first entries.
fn cut(value: &Value, pointer: &str, entries: usize) -> Value {
    let mut value = value.clone();
    value.pointer_mut(pointer).and_then(Value::as_array_mut).unwrap().truncate(entries);
    value
}

/// Imports the part, then twice the whole, in which one chat has more messages.
async fn assert_grows(name: &str, part: &Value, whole: &Value) {
    let [part, whole] = [part, whole].map(|value| serde_json::to_vec(value).unwrap());
    let is_changed = |report: &ImportReport| report.findings.iter().any(|finding| finding.text == CHANGED_AT_SOURCE);
    for instance in test_servers().await {
        let first = import_file(&instance, name, &part, false).await;
        assert_eq!((first.imported > 0, &first.stopped), (true, &None), "{first:?}");
        let preview = import_file(&instance, name, &whole, true).await;
        let grown = import_file(&instance, name, &whole, false).await;
        assert_same(&preview, &grown);
        assert_eq!((grown.imported, grown.known, is_changed(&grown)), (0, first.imported, false), "{grown:#?}");
        let more: Vec<_> = grown.chats.iter().filter(|chat| chat.outcome == ImportOutcome::Grown).collect();
        assert_eq!(more.len(), 1, "{grown:?}");
        assert!(first.chats.iter().any(|chat| chat.id == more[0].id), "{grown:?}");
        let lines = chat_lines(&instance, more[0].id.unwrap()).await;
        let again = import_file(&instance, name, &whole, false).await;
        assert_eq!((again.imported, again.turns, is_changed(&again)), (0, 0, false), "{again:#?}");
        assert_eq!(chat_lines(&instance, more[0].id.unwrap()).await, lines);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn grown_deepseek_chat_adds_its_new_messages() {
    let whole = sample_value("deepseek/conversations.json");
    let mut part = whole.clone();
    let mapping = part[0]["mapping"].as_object_mut().unwrap();
    mapping.remove("4");
    mapping.remove("5");
    mapping["3"]["children"] = json!([]);
    assert_grows("conversations.json", &part, &whole).await;
}

#[tokio::test]
async fn grown_ai_studio_chat_adds_its_new_messages() {
    let whole = sample_value("ai_studio/Tides and ports");
    assert_grows("Tides and ports", &cut(&whole, "/chunkedPrompt/chunks", 7), &whole).await;
}

#[tokio::test]
async fn grown_gemini_activity_adds_its_new_prompts() {
    let whole = sample_value("gemini_takeout/MyActivity.json");
    // The newest activity is the first.
    let mut part = whole.clone();
    part.as_array_mut().unwrap().drain(..2);
    assert_grows("MyActivity.json", &part, &whole).await;
}

#[tokio::test]
async fn grown_grok_chat_adds_its_new_messages() {
    let whole = sample_value("grok/prod-grok-backend.json");
    assert_grows("prod-grok-backend.json", &cut(&whole, "/conversations/0/responses", 3), &whole).await;
}

#[tokio::test]
async fn grown_list_of_messages_adds_its_new_messages() {
    let whole = json!([
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "Two"},
        {"role": "assistant", "content": "2"},
    ]);
    assert_grows("log.json", &cut(&whole, "", 3), &whole).await;
}
