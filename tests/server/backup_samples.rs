//! Sample backups and data folders of programs that keep their chats as tables or folders, imported into every
//! database, and imported again after they grew.

use serde_json::{Value, json};
use turnleaf_interchange::chat_builder::source_changes::CHANGED_AT_SOURCE;

use crate::bad_imports::zip_files;
use crate::fake_file_reader::PNG;
use crate::interchange::import_file;
use crate::samples::{assert_sample, chat_lines, sample, test_servers};

/// Packs samples and other files into an archive.
fn archive(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    zip_files(&entries)
}

fn picture() -> Vec<u8> {
    [PNG, b"a picture"].concat()
}

#[tokio::test]
async fn lobehub_samples_are_imported() {
    let expected = include_str!("samples/lobehub.txt");
    assert_sample("lobehub", "lobe-chat.json", &sample("lobehub/config.json"), expected).await;
    let expected = include_str!("samples/lobehub_tables.txt");
    assert_sample("lobehub", "tables.json", &sample("lobehub/tables.json"), expected).await;
}

#[tokio::test]
async fn cherry_studio_samples_are_imported() {
    let backup = archive(&[
        ("Data/Files/f-cleat.png", picture()),
        ("Data/Files/f-log.md", b"# Log".to_vec()),
        ("data.json", sample("cherry_studio/data.json")),
    ]);
    assert_sample("cherry-studio", "cherry-studio.zip", &backup, include_str!("samples/cherry_studio.txt")).await;
    let expected = include_str!("samples/cherry_studio_older.txt");
    assert_sample("cherry-studio", "older.json", &sample("cherry_studio/older.json"), expected).await;
}

#[tokio::test]
async fn silly_tavern_samples_are_imported() {
    let folder = archive(&[
        ("chats/Alice/Alice - 2024-06-06@10h12m03s.jsonl", sample("silly_tavern/alice.jsonl")),
        ("group chats/crew.jsonl", sample("silly_tavern/group.jsonl")),
        ("user/images/Alice/knot.png", picture()),
        ("user/images/Bob/boat.png", picture()),
    ]);
    assert_sample("sillytavern", "default-user.zip", &folder, include_str!("samples/silly_tavern.txt")).await;
}

#[tokio::test]
async fn jan_samples_are_imported() {
    let file = |name: &'static str| (name, sample(&format!("jan/{name}")));
    let folder = archive(&[
        file("assistants/skipper/assistant.json"),
        file("threads/1717660000/messages.jsonl"),
        file("threads/1717660000/thread.json"),
    ]);
    assert_sample("jan", "jan.zip", &folder, include_str!("samples/jan.txt")).await;
}

#[tokio::test]
async fn anything_llm_samples_are_imported() {
    let expected = include_str!("samples/anything_llm.txt");
    assert_sample("anythingllm", "chats.json", &sample("anything_llm/chats.json"), expected).await;
    let expected = include_str!("samples/anything_llm_csv.txt");
    assert_sample("anythingllm", "chats.csv", &sample("anything_llm/chats.csv"), expected).await;
}

/// Returns the first lines of a sample.
fn first_lines(bytes: &[u8], count: usize) -> Vec<u8> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').take(count).collect();
    lines.join(&b'\n')
}

/// Returns a JSON sample with only the first rows of a list.
fn first_rows(bytes: &[u8], list: &str, count: usize) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(bytes).unwrap();
    value.pointer_mut(list).unwrap().as_array_mut().unwrap().truncate(count);
    value.to_string().into_bytes()
}

#[tokio::test]
async fn grown_source_adds_its_new_messages() {
    let tables = sample("lobehub/tables.json");
    let older = sample("cherry_studio/older.json");
    let alice = sample("silly_tavern/alice.jsonl");
    let messages = sample("jan/threads/1717660000/messages.jsonl");
    let rows = sample("anything_llm/chats.json");
    // The name of each source, its earlier state, its state now, and the number of new turns.
    let sources = [
        ("tables.json", first_rows(&tables, "/data/messages", 4), tables, 4),
        ("older.json", first_rows(&older, "/indexedDB/topics/0/messages", 2), older, 2),
        ("alice.jsonl", first_lines(&alice, 4), alice, 3),
        ("messages.jsonl", first_lines(&messages, 3), messages, 5),
        ("chats.json", first_rows(&rows, "", 3), rows, 2),
    ];
    for instance in test_servers().await {
        for (name, before, now, new) in &sources {
            let first = import_file(&instance, name, before, false).await;
            let chat = first.chats[0].id.unwrap();
            let shown = chat_lines(&instance, chat).await.len();
            let grown = import_file(&instance, name, now, false).await;
            assert_eq!((grown.imported, grown.turns), (0, *new), "{name}: {grown:#?}");
            assert_eq!(chat_lines(&instance, chat).await.len(), shown + usize::try_from(*new).unwrap(), "{name}");
            let changed = grown.findings.iter().find(|finding| finding.text == CHANGED_AT_SOURCE);
            assert!(changed.is_none(), "{name}: {changed:?}");
            let again = import_file(&instance, name, now, false).await;
            assert_eq!((again.imported, again.turns), (0, 0), "{name}");
        }
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn deleted_message_of_source_does_not_move_others() {
    let alice = sample("silly_tavern/alice.jsonl");
    let fewer: Vec<&[u8]> =
        alice.split(|byte| *byte == b'\n').enumerate().filter(|(at, _)| *at != 4).map(|(_, line)| line).collect();
    for instance in test_servers().await {
        import_file(&instance, "alice.jsonl", &alice, false).await;
        let again = import_file(&instance, "alice.jsonl", &fewer.join(&b'\n'), false).await;
        assert_eq!((again.imported, again.turns), (0, 0), "{:#?}", again.findings);
        instance.close().await;
    }
}

#[tokio::test]
async fn chats_of_one_program_are_not_those_of_another() {
    let user = json!({"id": "m1", "role": "user", "content": "Same", "createdAt": "2025-01-01T00:00:00.000Z"});
    let mut row = user.clone();
    row["topicId"] = json!("t");
    let lobehub = json!({"exportType": "all", "state": {"messages": [row], "topics": [{"id": "t", "title": "L"}]}});
    let cherry = json!({"localStorage": {}, "indexedDB": {"topics": [{"id": "t", "messages": [user]}]}});
    for instance in test_servers().await {
        for (name, bytes) in [("a.json", &lobehub), ("b.json", &cherry)] {
            let report = import_file(&instance, name, bytes.to_string().as_bytes(), false).await;
            assert_eq!((report.imported, report.turns), (1, 1), "{name}");
        }
        instance.close().await;
    }
}
