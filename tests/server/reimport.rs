//! Importing the same source again: changes of messages that were imported before are reported but not applied, and
//! the reports are stored with the chat, on either database.

use serde_json::{Value, json};
use turnleaf::domain::{ChatId, ImportDifference, ImportDifferenceKind};
use turnleaf_interchange::chat_builder::source_changes::CHANGED_AT_SOURCE;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::ImportReport;

use crate::bad_imports::{conversation, mapping_node, zip_files};
use crate::interchange::{export_archive, import_file};
use crate::samples::{assert_same, chat_lines, test_servers};
use crate::test_server::TestServer;

/// Returns a conversation of a question and the beginning of its answer.
fn base_conversation(id: &str) -> Value {
    conversation(
        id,
        &[mapping_node("q", None, "user", "Tell me"), mapping_node("a", Some("q"), "assistant", "Once upon")],
    )
}

fn export_bytes(all: &[Value]) -> Vec<u8> {
    serde_json::to_vec(all).unwrap()
}

/// Returns the places of messages that changed at the source.
fn changed_places(report: &ImportReport) -> Vec<&str> {
    report
        .findings
        .iter()
        .filter(|finding| finding.text == CHANGED_AT_SOURCE)
        .map(|finding| finding.place.as_str())
        .collect()
}

async fn stored_differences(instance: &TestServer, chat: ChatId) -> Vec<ImportDifference> {
    instance.service.imported_from(instance.owner, chat).await.unwrap().unwrap().differences
}

#[tokio::test]
async fn reply_extended_at_source_is_reported_and_stays_unchanged() {
    let first = export_bytes(&[
        base_conversation("longer"),
        base_conversation("goes on"),
        base_conversation("shorter"),
        base_conversation("same"),
    ]);
    let mut longer = base_conversation("longer");
    longer["mapping"]["a"]["message"]["content"]["parts"][0] = json!("Once upon a time");
    // The source continued this reply in a second message and has a question after it.
    let mut goes_on = base_conversation("goes on");
    goes_on["mapping"]["b"] = mapping_node("b", Some("a"), "assistant", "a time");
    goes_on["mapping"]["r"] = mapping_node("r", Some("b"), "user", "And then?");
    let mut shorter = base_conversation("shorter");
    shorter["mapping"]["a"]["message"]["content"]["parts"][0] = json!("Once");
    let second = export_bytes(&[longer, goes_on, shorter, base_conversation("same")]);
    for instance in test_servers().await {
        let imported = import_file(&instance, "a.json", &first, false).await;
        let chats: Vec<ChatId> = imported.chats.iter().filter_map(|chat| chat.id).collect();
        let shown = chat_lines(&instance, chats[0]).await;
        assert_eq!(
            (imported.imported, imported.lost, changed_places(&import_file(&instance, "a.json", &first, false).await)),
            (4, 0, vec![])
        );

        let preview = import_file(&instance, "b.json", &second, true).await;
        let report = import_file(&instance, "b.json", &second, false).await;
        assert_same(&preview, &report);
        assert_eq!((report.conversations, report.known, report.imported, report.left_out), (4, 4, 0, 0));
        assert_eq!((report.lost, report.turns), (2, 2), "{:#?}", report.findings);
        assert_eq!(changed_places(&report), ["longer › a", "shorter › a"]);
        assert_eq!(chat_lines(&instance, chats[0]).await, shown);
        let grown = chat_lines(&instance, chats[1]).await;
        assert!(grown.len() == 4 && grown[2].contains("a time") && grown[3].contains("And then?"), "{grown:#?}");

        // The report is stored with the chat, only once, and is part of its exports.
        import_file(&instance, "c.json", &second, false).await;
        let difference = |place: &str| {
            ImportDifference::new(ImportDifferenceKind::Lost, place.to_owned(), CHANGED_AT_SOURCE.to_owned())
        };
        for (chat, place) in [(chats[0], "longer › a"), (chats[2], "shorter › a")] {
            assert_eq!(stored_differences(&instance, chat).await, [difference(place)]);
        }
        assert_eq!(stored_differences(&instance, chats[1]).await, []);
        assert_eq!(stored_differences(&instance, chats[3]).await, []);
        let archive: Value =
            serde_json::from_slice(&export_archive(&instance, ExportScope::Chat(chats[0])).await).unwrap();
        assert_eq!(archive["chats"][0]["imported_from"]["differences"][0]["text"], CHANGED_AT_SOURCE);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn continuation_of_changed_reply_is_added_once() {
    for instance in test_servers().await {
        let chat = import_file(&instance, "a.json", &export_bytes(&[base_conversation("more")]), false).await.chats[0]
            .id
            .unwrap();
        let mut grown = base_conversation("more");
        grown["title"] = json!("Renamed");
        grown["mapping"]["a"]["message"]["content"]["parts"][0] = json!("Once upon a time");
        grown["mapping"]["b"] = mapping_node("b", Some("a"), "assistant", "there was a boat");
        let preview = import_file(&instance, "b.json", &export_bytes(&[grown.clone()]), true).await;
        let report = import_file(&instance, "b.json", &export_bytes(&[grown.clone()]), false).await;
        assert_same(&preview, &report);
        assert_eq!((report.turns, changed_places(&report)), (1, vec!["more › a"]));
        let codes: Vec<&str> = report.findings.iter().filter_map(|one| one.code.as_deref()).collect();
        assert_eq!(codes, ["changed_at_source", "title_at_source"]);
        // The next message of the same reply follows the continuation.
        grown["mapping"]["c"] = mapping_node("c", Some("b"), "assistant", "on the sea");
        for turns in [1, 0] {
            let report = import_file(&instance, "c.json", &export_bytes(&[grown.clone()]), false).await;
            assert_eq!(report.turns, turns, "{:#?}", report.findings);
        }
        let lines = chat_lines(&instance, chat).await;
        assert!(lines.len() == 4 && lines[2].contains("a boat") && lines[3].contains("on the sea"), "{lines:#?}");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn file_that_comes_later_is_reported() {
    for instance in test_servers().await {
        let mut first = base_conversation("picture");
        let part = |pointer: &str| json!([{"content_type": "image_asset_pointer", "asset_pointer": pointer}, "Look"]);
        first["mapping"]["q"]["message"]["content"] =
            json!({"content_type": "multimodal_text", "parts": part("file-service://file-P1")});
        let export = export_bytes(&[first]);
        import_file(&instance, "a.json", &export, false).await;
        let again = import_file(&instance, "a.json", &export, false).await;
        assert!(again.findings.iter().all(|one| one.code.as_deref() != Some("file_in_source_now")), "{again:#?}");
        let entries = [("conversations.json", export.as_slice()), ("file-P1-boat.png", b"not looked at".as_slice())];
        let report = import_file(&instance, "b.zip", &zip_files(&entries), false).await;
        let codes: Vec<(&str, Option<&str>)> =
            report.findings.iter().map(|one| (one.place.as_str(), one.code.as_deref())).collect();
        assert!(codes.contains(&("picture › q", Some("file_in_source_now"))), "{codes:?}");
        assert_eq!((report.known, report.turns), (1, 0));
        instance.close().await;
    }
}

#[tokio::test]
async fn locally_deleted_message_is_not_reported_as_changed() {
    for instance in test_servers().await {
        let chat = import_file(&instance, "a.json", &export_bytes(&[base_conversation("gone")]), false).await.chats[0]
            .id
            .unwrap();
        let reply = instance.service.path(instance.owner, chat, None, 9).await.unwrap().turns[1].id;
        instance.service.delete_turn(instance.owner, reply).await.unwrap();
        let mut longer = base_conversation("gone");
        longer["mapping"]["a"]["message"]["content"]["parts"][0] = json!("Once upon a time");
        let report = import_file(&instance, "b.json", &export_bytes(&[longer]), false).await;
        assert_eq!((report.known, report.turns, report.findings.as_slice()), (1, 0, [].as_slice()));
        instance.close().await;
    }
}

#[tokio::test]
async fn losses_of_later_messages_are_stored_with_chat() {
    for instance in test_servers().await {
        let chat = import_file(&instance, "a.json", &export_bytes(&[base_conversation("grows")]), false).await.chats[0]
            .id
            .unwrap();
        assert_eq!(stored_differences(&instance, chat).await, []);
        let mut later = base_conversation("grows");
        later["mapping"]["r"] = mapping_node("r", Some("a"), "user", "Look");
        later["mapping"]["r"]["message"]["metadata"]["attachments"] = json!([{"id": "file-Z", "name": "z.md"}]);
        let preview = import_file(&instance, "b.json", &export_bytes(&[later.clone()]), true).await;
        assert_eq!(stored_differences(&instance, chat).await, [], "a look stores nothing");
        let report = import_file(&instance, "b.json", &export_bytes(&[later.clone()]), false).await;
        assert_same(&preview, &report);
        assert_eq!(report.turns, 1);
        let lost: Vec<&ImportDifference> =
            report.findings.iter().filter(|finding| finding.kind == ImportDifferenceKind::Lost).collect();
        let of_chat = stored_differences(&instance, chat).await;
        assert!(!lost.is_empty() && lost.iter().all(|one| of_chat.contains(one)), "{lost:#?} {of_chat:#?}");
        // A message below one that was deleted here is not imported, which is a difference, too.
        let last = instance.service.path(instance.owner, chat, None, 9).await.unwrap().turns[2].id;
        instance.service.delete_turn(instance.owner, last).await.unwrap();
        later["mapping"]["s"] = mapping_node("s", Some("r"), "assistant", "I see");
        for name in ["c.json", "d.json"] {
            let report = import_file(&instance, name, &export_bytes(&[later.clone()]), false).await;
            assert_eq!((report.known, report.turns), (1, 0));
        }
        let behind = |one: &&ImportDifference| {
            let text = &one.text;
            one.kind == ImportDifferenceKind::LeftOut
                && text.contains("1 message of the source could not be added to it")
        };
        assert_eq!(stored_differences(&instance, chat).await.iter().filter(behind).count(), 1);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn changes_anywhere_in_long_chat_are_reported() {
    let names: Vec<String> = (0..450).map(|number| format!("m{number}")).collect();
    let long = |changed: &[usize]| {
        let nodes: Vec<Value> = (0..names.len())
            .map(|at| {
                let role = if at % 2 == 0 { "user" } else { "assistant" };
                let words = if changed.contains(&at) { "It was changed" } else { "As it was" };
                mapping_node(&names[at], at.checked_sub(1).map(|above| names[above].as_str()), role, words)
            })
            .collect();
        export_bytes(&[conversation("long", &nodes)])
    };
    for instance in test_servers().await {
        assert_eq!(import_file(&instance, "a.json", &long(&[]), false).await.turns, 450);
        let report = import_file(&instance, "b.json", &long(&[0, 250, 449]), false).await;
        assert_eq!((report.known, report.turns), (1, 0));
        assert_eq!(changed_places(&report), ["long › m0", "long › m250", "long › m449"]);
        instance.close().await;
    }
}
