//! Sessions of command line tools go on after they were imported: importing them again adds their new lines.

use turnleaf_interchange::chat_builder::source_changes::CHANGED_AT_SOURCE;
use turnleaf_service::transfer::imports::{ImportOutcome, ImportReport};

use crate::interchange::import_file;
use crate::samples::{assert_same, chat_lines, sample, test_servers};
use crate::test_server::TestServer;

/// Returns the turns of the only chat of a report without their positions, sorted.
async fn turns_of(instance: &TestServer, report: &ImportReport) -> Vec<String> {
    let lines = chat_lines(instance, report.chats[0].id.unwrap()).await;
    let mut turns: Vec<String> =
        lines.iter().filter_map(|line| line.split_once(' ')).map(|(_, turn)| turn.to_owned()).collect();
    turns.sort();
    turns
}

/// Imports a session up to a line, then the whole of it twice.
async fn assert_session_grows(name: &str, last_line: &str) {
    let whole = String::from_utf8(sample(name)).unwrap();
    let end = whole.lines().position(|line| line.contains(last_line)).unwrap() + 1;
    let part: String = whole.lines().take(end).map(|line| format!("{line}\n")).collect();
    for instance in test_servers().await {
        let first = import_file(&instance, "session.jsonl", part.as_bytes(), false).await;
        assert_eq!((first.imported, &first.stopped), (1, &None), "{first:?}");
        let before = turns_of(&instance, &first).await;
        let preview = import_file(&instance, "session.jsonl", whole.as_bytes(), true).await;
        let grown = import_file(&instance, "session.jsonl", whole.as_bytes(), false).await;
        assert_same(&preview, &grown);
        assert_eq!((grown.imported, grown.known, grown.chats[0].outcome), (0, 1, ImportOutcome::Grown), "{grown:?}");
        assert_eq!(grown.chats[0].id, first.chats[0].id);
        assert!(grown.findings.iter().all(|finding| finding.text != CHANGED_AT_SOURCE), "{:#?}", grown.findings);
        let after = turns_of(&instance, &grown).await;
        assert_eq!(after.len(), before.len() + usize::try_from(grown.turns).unwrap());
        assert!(before.iter().all(|turn| after.contains(turn)), "{before:#?}\n{after:#?}");
        let again = import_file(&instance, "session.jsonl", whole.as_bytes(), false).await;
        assert_eq!((again.known, again.turns), (1, 0), "{again:?}");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn grown_claude_code_session_adds_its_new_messages() {
    assert_session_grows("claude_code/session.jsonl", "\"uuid\": \"s01\"").await;
}

#[tokio::test]
async fn grown_codex_session_adds_its_new_messages() {
    assert_session_grows("codex/session.jsonl", "\"task_complete\"").await;
}

#[tokio::test]
async fn grown_gemini_session_adds_its_new_messages() {
    assert_session_grows("gemini_cli/session.jsonl", "\"id\": \"g2\"").await;
}
