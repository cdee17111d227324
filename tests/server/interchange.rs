//! Export and import: an exported chat is imported as the same chat, and exports of other programs are imported with
//! their tree.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf::domain::transfer::export::ExportOptions;
use turnleaf::domain::{ChatId, ImportDifferenceKind, TurnId};
use turnleaf_interchange::archive::ArchivedBytes;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::{ImportJobs, ImportOutcome, ImportReport, ImportRequest};
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_store::chats::chat_tools;
use turnleaf_store::tools::tool_servers::{self, StoredToolServer};

use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step, thinking_step};

pub fn replies(count: usize) -> ScriptedProvider {
    ScriptedProvider::new(
        "scripted",
        (0..count)
            .map(|n| streamed_answer([thinking_step("hm"), text_step(&format!("reply {n}"))]))
            .collect::<Vec<_>>(),
    )
}

pub async fn export_archive(instance: &TestServer, which: ExportScope) -> Vec<u8> {
    let (send, mut receive) = mpsc::channel(4);
    let read = async {
        instance.service.export_archive(instance.owner, which, &send).await.unwrap();
        drop(send);
    };
    let gather = async {
        let mut all = Vec::new();
        while let Some(piece) = receive.recv().await {
            all.extend_from_slice(&piece);
        }
        all
    };
    tokio::join!(read, gather).1
}

pub async fn import_file(instance: &TestServer, name: &str, bytes: &[u8], dry_run: bool) -> ImportReport {
    let file: PathBuf = instance.dir.path().join(format!("import-{name}"));
    std::fs::write(&file, bytes).unwrap();
    let import = ImportRequest {
        owner: instance.owner,
        file,
        name: name.to_owned(),
        format: None,
        options: Default::default(),
        dry_run,
    };
    instance.service.import(import, &mut |_| true).await.unwrap()
}

/// Reconstructs the calls of a chat in full. An archive stores later calls as byte deltas (`docs/ARCHIVE.md`).
pub fn complete_calls(generations: Value) -> impl Iterator<Item = Value> {
    fn between(base: &[u8], alike: &Value, own: &[u8]) -> Vec<u8> {
        let [head, tail] = ["head", "tail"].map(|end| usize::try_from(alike[end].as_u64().unwrap()).unwrap());
        [&base[..head], own, &base[base.len() - tail..]].concat()
    }
    let bytes = |value: &Value| serde_json::from_value::<ArchivedBytes>(value.clone()).unwrap().0;
    let mut whole: HashMap<String, (Vec<u8>, Value)> = HashMap::new();
    let Value::Array(calls) = generations else { panic!("it is no list") };
    calls.into_iter().map(move |mut call| {
        let Some(after) = call.as_object_mut().unwrap().remove("after") else {
            let turns = call["request_manifest"]["turns"].clone();
            whole.insert(call["id"].as_str().unwrap().to_owned(), (bytes(&call["request"]), turns));
            return call;
        };
        let (request, turns) = &whole[after["generation"].as_str().unwrap()];
        call["request"] = json!(ArchivedBytes(between(request, &after["request"], &bytes(&call["request"]))));
        if let Some(count @ 1..) = after["turns"].as_u64() {
            let first = turns.as_array().unwrap()[..count as usize].to_vec();
            let own = call["request_manifest"]["turns"].as_array_mut().unwrap();
            own.splice(..0, first);
        }
        call
    })
}

/// Renames ids in the order in which they appear, so that values that differ only in their ids become equal.
#[derive(Default)]
pub struct IdNormalizer(HashMap<String, String>);

impl IdNormalizer {
    pub fn normalize(&mut self, mut value: Value) -> Value {
        self.walk(&mut value);
        value
    }

    fn walk(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if uuid::Uuid::parse_str(text).is_ok() && text.len() == 36 => {
                let next = format!("id {}", self.0.len());
                *text = self.0.entry(text.clone()).or_insert(next).clone();
            }
            Value::Array(list) => list.iter_mut().for_each(|one| self.walk(one)),
            Value::Object(map) => map.values_mut().for_each(|one| self.walk(one)),
            _ => {}
        }
    }
}

/// Parses an archive, normalizes its ids and reconstructs its calls.
pub fn without_ids(archive: &[u8]) -> Value {
    let mut value: Value = serde_json::from_slice(archive).unwrap();
    for chat in value["chats"].as_array_mut().unwrap() {
        chat["generations"] = complete_calls(chat["generations"].take()).collect();
    }
    value["exported_at"] = Value::Null;
    // Documents are ordered by their ids, which differ between the installations, so they are sorted here.
    let by_title = |document: &Value| (document["created_at"].to_string(), document["title"].to_string());
    value["documents"].as_array_mut().unwrap().sort_by_key(by_title);
    IdNormalizer::default().normalize(value)
}

/// Creates a chat with versions and a second model, without documents. Returns its id.
pub async fn varied_chat(instance: &TestServer) -> ChatId {
    let first = instance.send("Hello").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let chat = first.chat.id;
    let send_at = async |after: TurnId, words: &str, place: PlacementRequest| {
        let place = PlacementRequest { prev_turn_id: Some(after), ..place };
        let turn = TurnRequest { chat_id: Some(chat), place, ..message_to_send(words) };
        let started = instance.service.start_turn(instance.owner, turn).await.unwrap();
        instance.wait_until_ended(started.assistant_turn.id).await;
        started.assistant_turn.id
    };
    let second = send_at(first.assistant_turn.id, "Go on", PlacementRequest::default()).await;
    send_at(first.assistant_turn.id, "Or else", PlacementRequest::default()).await;
    let other = PlacementRequest {
        provider: Some("scripted".into()),
        model: Some("model-b".into()),
        may_branch: true,
        ..PlacementRequest::default()
    };
    send_at(second, "With another model", other).await;
    chat
}

#[tokio::test]
async fn export_is_imported_as_equal_chat_on_either_database_only_once() {
    let sources = TestServer::on_every_database(|| replies(8)).await;
    for source in sources {
        varied_chat(&source).await;
        let archive = export_archive(&source, ExportScope::Everything).await;
        for target in TestServer::on_every_database(|| replies(1)).await {
            let preview = import_file(&target, "look.json", &archive, true).await;
            assert_eq!((preview.imported, preview.format, preview.stopped), (1, Some("turnleaf"), None));
            assert_eq!(
                without_ids(&export_archive(&target, ExportScope::Everything).await)["chats"],
                json!([]),
                "a look stores nothing"
            );
            let report = import_file(&target, "all.json", &archive, false).await;
            assert_eq!(
                (report.imported, report.turns, report.branches, report.findings.as_slice()),
                (1, 8, 3, [].as_slice())
            );
            let again = export_archive(&target, ExportScope::Everything).await;
            assert_eq!(without_ids(&again), without_ids(&archive));
            assert_ne!(again, archive, "with ids of its own");
            let twice = import_file(&target, "all.json", &archive, false).await;
            assert_eq!((twice.imported, twice.known), (0, 1));
            // The source already has the chat.
            assert_eq!(import_file(&source, "all.json", &archive, false).await.known, 1);
            target.check_invariants().await;
            target.close().await;
        }
        source.close().await;
    }
}

#[tokio::test]
async fn imported_chat_continues_from_imported_bytes() {
    let source = TestServer::new(replies(2)).await;
    let first = source.send("Hello").await;
    source.wait_until_ended(first.assistant_turn.id).await;
    let archive = export_archive(&source, ExportScope::Chat(first.chat.id)).await;
    let provider = replies(1);
    let log = provider.log();
    let target = TestServer::new(provider).await;
    let report = import_file(&target, "one.json", &archive, false).await;
    let chat = report.chats[0].id.unwrap();
    let path = target.service.path(target.owner, chat, None, 10).await.unwrap();
    let place = PlacementRequest { prev_turn_id: path.turns.last().map(|turn| turn.id), ..PlacementRequest::default() };
    let next = TurnRequest { chat_id: Some(chat), place, ..message_to_send("And?") };
    let started = target.service.start_turn(target.owner, next).await.unwrap();
    target.wait_until_ended(started.assistant_turn.id).await;
    let request = String::from_utf8_lossy(&log.requests()[0]).into_owned();
    assert!(request.contains("reply 0") && request.contains("And?"), "{request}");
    target.check_invariants().await;
}

#[tokio::test]
async fn foreign_tree_is_imported_with_versions_and_last_position() {
    let node = |id: &str, parent: Value, children: Value, role: &str, text: &str, time: f64| {
        json!({
            "id": id, "parent": parent, "children": children,
            "message": {"id": id, "author": {"role": role}, "create_time": time,
                "content": {"content_type": "text", "parts": [text]}, "metadata": {"model_slug": "gpt-4o"}},
        })
    };
    let conversation = json!([{
        "id": "conv-1", "conversation_id": "conv-1", "title": "A tree", "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0, "current_node": "a2",
        "mapping": {
            "root": {"id": "root", "message": null, "parent": null, "children": ["u1"]},
            "u1": node("u1", json!("root"), json!(["a1", "a2"]), "user", "Hello", 1_700_000_001.0),
            "a1": node("a1", json!("u1"), json!([]), "assistant", "Hi", 1_700_000_002.0),
            "a2": node("a2", json!("u1"), json!([]), "assistant", "Good day", 1_700_000_003.0),
        },
    }]);
    for instance in TestServer::on_every_database(|| replies(1)).await {
        let bytes = serde_json::to_vec(&conversation).unwrap();
        let report = import_file(&instance, "conversations.json", &bytes, false).await;
        assert_eq!((report.format, report.imported, report.turns, report.branches), (Some("chatgpt"), 1, 3, 2));
        let chat = report.chats[0].id.unwrap();
        let path = instance.service.path(instance.owner, chat, None, 10).await.unwrap();
        let texts: Vec<String> = path.turns.iter().map(turnleaf::domain::Turn::content_text).collect();
        assert_eq!(
            (path.chat.title.as_str(), texts.as_slice()),
            ("A tree", ["Hello".to_owned(), "Good day".to_owned()].as_slice())
        );
        let reply = path.turns.last().unwrap();
        assert_eq!((reply.provider_used.as_deref(), reply.model_used.as_deref()), (Some("openai"), Some("gpt-4o")));
        assert_eq!(path.siblings[&reply.id].len(), 2);
        let again = import_file(&instance, "conversations.json", &bytes, false).await;
        assert_eq!((again.imported, again.known), (0, 1));
        instance.service.delete_chat(instance.owner, chat).await.unwrap();
        let trashed = import_file(&instance, "conversations.json", &bytes, false).await;
        assert_eq!(trashed.chats[0].outcome, ImportOutcome::InTrash);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn broken_files_are_reported_and_valid_ones_imported() {
    let instance = TestServer::new(replies(4)).await;
    varied_chat(&instance).await;
    let archive = export_archive(&instance, ExportScope::Everything).await;
    let mut value: Value = serde_json::from_slice(&archive).unwrap();
    // The second chat's first turn is its own parent.
    let mut broken = value["chats"][0].clone();
    broken["turns"][0]["prev_turn_id"] = broken["turns"][0]["id"].clone();
    let mut running = value["chats"][0].clone();
    running["turns"][1]["status"] = json!("streaming");
    value["chats"].as_array_mut().unwrap().extend([broken, running, json!(7)]);
    let target = TestServer::new(replies(1)).await;
    let report = import_file(&target, "some.json", &serde_json::to_vec(&value).unwrap(), false).await;
    assert_eq!((report.imported, report.left_out, report.conversations), (1, 3, 4));
    assert!(
        report
            .findings
            .iter()
            .all(|finding| finding.kind == ImportDifferenceKind::LeftOut && finding.place.contains("chats")),
        "{report:?}"
    );
    for nonsense in [&b""[..], b"hello", b"{}", b"[]", b"PK\x03\x04", &archive[..archive.len() / 2]] {
        let report = import_file(&target, "x.json", nonsense, false).await;
        assert_eq!(report.imported, 0, "{report:?}");
        assert!(report.stopped.is_some() || report.left_out > 0 || report.conversations == 0, "{report:?}");
    }
    target.check_invariants().await;
}

#[tokio::test]
async fn path_is_exported_as_markdown_with_its_text() {
    let instance = TestServer::new(replies(8)).await;
    let chat = varied_chat(&instance).await;
    let text = instance.service.export_markdown(instance.owner, chat, None, ExportOptions::default()).await.unwrap();
    let text = String::from_utf8(text).unwrap();
    for words in ["# Hello", "Go on", "With another model", "reply 0", "<summary>"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("Or else"), "another branch");
}

#[tokio::test]
async fn chat_with_deleted_version_is_imported_and_shown_turn_may_be_missing() {
    for instance in TestServer::on_every_database(|| replies(4)).await {
        let first = instance.send("Hello").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        let edited =
            instance.service.edit_turn(instance.owner, first.user_turn.id, message_to_send("Good day")).await.unwrap();
        instance.wait_until_ended(edited.assistant_turn.id).await;
        instance.service.delete_turn(instance.owner, first.user_turn.id).await.unwrap();
        let archive = export_archive(&instance, ExportScope::Everything).await;
        let mut value: Value = serde_json::from_slice(&archive).unwrap();
        // Archives of older versions name the branch that was left and the turn that was shown, although both are
        // deleted.
        let gone = json!("018f0000-0000-7000-8000-000000000001");
        value["chats"][0]["branches"][0]["parent_branch_id"] = gone.clone();
        value["chats"][0]["chat"]["last_viewed_turn_id"] = gone.clone();
        value["chats"][0]["chat"]["default_branch_id"] = gone;
        let older = serde_json::to_vec(&value).unwrap();
        for archive in [archive, older] {
            for target in TestServer::on_every_database(|| replies(1)).await {
                let report = import_file(&target, "edited.json", &archive, false).await;
                assert_eq!((report.imported, report.findings.as_slice()), (1, [].as_slice()), "{report:?}");
                let path = target.service.path(target.owner, report.chats[0].id.unwrap(), None, 10).await.unwrap();
                assert_eq!((path.turns.len(), path.turns[0].content_text()), (2, "Good day".to_owned()));
                target.check_invariants().await;
                target.close().await;
            }
        }
        instance.close().await;
    }
}

#[tokio::test]
async fn branches_are_imported_in_any_order_despite_clock_set_back() {
    let source = TestServer::new(replies(8)).await;
    varied_chat(&source).await;
    let archive = export_archive(&source, ExportScope::Everything).await;
    let mut value: Value = serde_json::from_slice(&archive).unwrap();
    let chat = &mut value["chats"][0];
    chat["branches"].as_array_mut().unwrap().reverse();
    let turns = chat["turns"].as_array_mut().unwrap();
    let before = turns[0]["created_at"].as_str().unwrap().replace("20", "19");
    turns.last_mut().unwrap()["created_at"] = json!(before);
    let bytes = serde_json::to_vec(&value).unwrap();
    for target in TestServer::on_every_database(|| replies(1)).await {
        let report = import_file(&target, "turned.json", &bytes, false).await;
        assert_eq!((report.imported, report.branches), (1, 3), "{report:?}");
        target.check_invariants().await;
        target.close().await;
    }
    // Two branches that fork from each other are no tree.
    let branches = value["chats"][0]["branches"].as_array_mut().unwrap();
    let (one, other) = (branches[0]["id"].clone(), branches[1]["id"].clone());
    (branches[0]["parent_branch_id"], branches[1]["parent_branch_id"]) = (other, one);
    let target = TestServer::new(replies(1)).await;
    let report = import_file(&target, "circle.json", &serde_json::to_vec(&value).unwrap(), false).await;
    assert_eq!((report.imported, report.left_out), (0, 1), "{report:?}");
    assert!(report.findings[0].text.contains("its parent branch does not come before it"), "{report:?}");
}

/// Archives of programs without locks have branches without provider and model.
#[tokio::test]
async fn branch_without_lock_gets_configured_default_and_can_be_continued() {
    let source = TestServer::new(replies(8)).await;
    let first = source.send("Hello").await;
    source.wait_until_ended(first.assistant_turn.id).await;
    let archive = export_archive(&source, ExportScope::Everything).await;
    let mut value: Value = serde_json::from_slice(&archive).unwrap();
    let nothing: [fn(&mut Value); 4] = [
        |branch| branch["provider"] = Value::Null,
        |branch| (branch["provider"], branch["model"]) = (json!(""), json!("")),
        |branch| drop(branch.as_object_mut().unwrap().remove("provider")),
        |branch| (branch["provider"], branch["model"]) = (Value::Null, Value::Null),
    ];
    value["chats"][0]["branches"][0]["model"] = Value::Null;
    value["chats"][0]["turns"][1]["provider_used"] = json!("somebody");
    for remove in nothing {
        remove(&mut value["chats"][0]["branches"][0]);
        for target in TestServer::on_every_database(|| replies(4)).await {
            let report = import_file(&target, "old.json", &serde_json::to_vec(&value).unwrap(), false).await;
            assert_eq!((report.imported, report.findings.len()), (1, 2), "{report:?}");
            let lost = report.findings.iter().find(|finding| finding.kind == ImportDifferenceKind::Lost).unwrap();
            assert!(lost.text.starts_with("1 request with the raw responses"), "{lost:?}");
            let default = target.service.supervisor().registry().default_lock(target.owner);
            let text = &report.findings[0].text;
            assert!(text.contains(&format!("{} / {}", default.provider, default.model)), "{text}");
            let chat = report.chats[0].id.unwrap();
            let branches = target.service.branches(target.owner, chat).await.unwrap();
            assert_eq!(branches.iter().map(|branch| &branch.lock).collect::<Vec<_>>(), [&default]);
            let sent = target.send_to(chat, "And now?").await;
            assert_eq!(sent.branch.id, branches[0].id, "the branch goes on");
            target.wait_until_ended(sent.assistant_turn.id).await;
            target.check_invariants().await;
            target.close().await;
        }
    }
}

#[tokio::test]
async fn later_messages_are_reported_for_existing_chat() {
    let source = TestServer::new(replies(8)).await;
    let first = source.send("Hello").await;
    source.wait_until_ended(first.assistant_turn.id).await;
    let early = export_archive(&source, ExportScope::Everything).await;
    let place = PlacementRequest { prev_turn_id: Some(first.assistant_turn.id), ..PlacementRequest::default() };
    let next = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("And?") };
    let started = source.service.start_turn(source.owner, next).await.unwrap();
    source.wait_until_ended(started.assistant_turn.id).await;
    let late = export_archive(&source, ExportScope::Everything).await;
    let target = TestServer::new(replies(1)).await;
    import_file(&target, "early.json", &early, false).await;
    let again = import_file(&target, "early.json", &early, false).await;
    assert_eq!((again.known, again.findings.as_slice()), (1, [].as_slice()));
    let report = import_file(&target, "late.json", &late, false).await;
    assert_eq!((report.known, report.left_out, report.findings.len()), (1, 0, 1), "{report:?}");
    assert!(report.findings[0].text.contains("2 messages"), "{report:?}");
    // The source has these messages already, also those in Trash.
    source.service.delete_turn(source.owner, started.user_turn.id).await.unwrap();
    assert_eq!(import_file(&source, "late.json", &late, false).await.findings, []);
}

/// The chat is continued while its archive is read slowly.
#[tokio::test]
async fn chat_continued_during_export_is_consistent_in_archive() {
    let source = TestServer::new(replies(8)).await;
    let first = source.send(&"long ".repeat(40_000)).await;
    source.wait_until_ended(first.assistant_turn.id).await;
    let (send, mut receive) = mpsc::channel(1);
    let read = async {
        source.service.export_archive(source.owner, ExportScope::Everything, &send).await.unwrap();
        drop(send);
    };
    let gather = async {
        // The first turn is in the first piece, so what is sent now did not exist when the turn was read.
        let mut all = receive.recv().await.unwrap().to_vec();
        let edited = source.service.edit_turn(source.owner, first.user_turn.id, message_to_send("Or")).await.unwrap();
        source.wait_until_ended(edited.assistant_turn.id).await;
        while let Some(piece) = receive.recv().await {
            all.extend_from_slice(&piece);
        }
        all
    };
    let (_, archive) = tokio::join!(read, gather);
    let target = TestServer::new(replies(1)).await;
    let report = import_file(&target, "slow.json", &archive, false).await;
    assert_eq!((report.imported, report.findings.as_slice()), (1, [].as_slice()), "{report:?}");
    target.check_invariants().await;
}

#[tokio::test]
async fn offered_tools_are_imported_as_far_as_available() {
    let client = json!({"name": "look", "description": "Looks at \u{7f} it.", "parameters": {"type": "object", "z": 1, "a": 1.0}});
    let on = ["calculator", "files/read", "files/*", "provider/web_search"];
    let choice: ToolChoice = serde_json::from_value(json!({"on": on, "client": [client]})).unwrap();
    for source in TestServer::on_every_database(|| replies(2)).await {
        let first = source.send("Hello").await;
        source.wait_until_ended(first.assistant_turn.id).await;
        let (chat, owner) = (first.chat.id, source.owner);
        let mut tx = source.db.begin().await.unwrap();
        chat_tools::put(&mut tx, owner, chat, &choice).await.unwrap();
        tx.commit().await.unwrap();
        let archive = export_archive(&source, ExportScope::Chat(chat)).await;
        let written: Value = serde_json::from_slice(&archive).unwrap();
        assert_eq!(written["chats"][0]["tools"], json!(choice));
        for target in TestServer::on_every_database(|| replies(1)).await {
            // The target has a tool server of this name, which is switched off.
            with_server(&target, "files", false).await;
            let preview = import_file(&target, "look.json", &archive, true).await;
            let report = import_file(&target, "all.json", &archive, false).await;
            assert_eq!((report.imported, report.findings.as_slice()), (1, [].as_slice()));
            assert_eq!(preview.findings, []);
            let imported_chat = report.chats[0].id.unwrap();
            assert_eq!(chat_tools::find(&target.db, target.owner, imported_chat).await.unwrap(), Some(choice.clone()));
            assert_eq!(
                without_ids(&export_archive(&target, ExportScope::Chat(imported_chat)).await),
                without_ids(&archive)
            );
            target.check_invariants().await;
            target.close().await;
        }
        for target in TestServer::on_every_database(|| replies(1)).await {
            with_server(&target, "other", true).await;
            let mut value = written.clone();
            value["chats"][0]["tools"]["on"].as_array_mut().unwrap().push(json!("a tool of tomorrow"));
            let bytes = serde_json::to_vec(&value).unwrap();
            let preview = import_file(&target, "gone.json", &bytes, true).await;
            let report = import_file(&target, "gone.json", &bytes, false).await;
            assert_eq!((report.imported, report.lost, &preview.findings), (1, 3, &report.findings));
            for name in ["files/read", "files/*", "a tool of tomorrow"] {
                assert!(report.findings.iter().any(|one| one.text.contains(&format!("`{name}`"))), "{report:#?}");
            }
            let imported_chat = report.chats[0].id.unwrap();
            let kept = chat_tools::find(&target.db, target.owner, imported_chat).await.unwrap().unwrap();
            assert_eq!((kept.on, kept.client), (vec![on[0].to_owned(), on[3].into()], choice.client.clone()));
            // The loss is stored with the chat as a difference from its source.
            let source = target.service.imported_from(target.owner, imported_chat).await.unwrap().unwrap();
            assert_eq!(source.differences, report.findings);
            target.check_invariants().await;
            target.close().await;
        }
        // An archive of an older version has no tool choice, and an invalid one does not prevent the import of the
        // chat.
        let target = TestServer::new(replies(1)).await;
        for (tools, lost) in [(json!(7), 1), (json!({"on": ["a", "a"]}), 1), (Value::Null, 0)] {
            let mut value = written.clone();
            value["chats"][0]["tools"] = tools;
            let report = import_file(&target, "odd.json", &serde_json::to_vec(&value).unwrap(), true).await;
            assert_eq!((report.imported, report.lost), (1, lost), "{report:#?}");
        }
        let mut value = written.clone();
        value["chats"][0].as_object_mut().unwrap().remove("tools");
        let report = import_file(&target, "before.json", &serde_json::to_vec(&value).unwrap(), false).await;
        assert_eq!((report.imported, report.findings.as_slice()), (1, [].as_slice()));
        let imported_chat = report.chats[0].id.unwrap();
        assert_eq!(chat_tools::find(&target.db, target.owner, imported_chat).await.unwrap(), None);
        target.close().await;
        source.close().await;
    }
}

async fn with_server(instance: &TestServer, slug: &str, is_enabled: bool) {
    let now = SystemClock.now();
    let row = StoredToolServer {
        id: ids::mint(),
        owner_id: instance.owner,
        slug: slug.to_owned(),
        name: slug.to_uppercase(),
        url: "https://tools.example/mcp".to_owned(),
        sealed_headers: None,
        settings: Default::default(),
        is_enabled,
        created_at: now,
        updated_at: now,
    };
    let mut tx = instance.db.begin().await.unwrap();
    tool_servers::insert(&mut tx, &row).await.unwrap();
    tx.commit().await.unwrap();
}

/// A reply's blocks name its generations, which are inserted after it: the smallest chunks put them into separate
/// transactions, as on a slow database.
#[tokio::test]
async fn chat_with_smallest_chunks_is_imported_completely() {
    for mut target in TestServer::on_every_database(|| replies(0)).await {
        let jobs = ImportJobs::in_folder(&target.dir.path().join("imports")).unwrap();
        target.service = target.service.clone().with_imports(jobs.with_piece_time(Duration::ZERO));
        let source = TestServer::new(replies(3)).await;
        let chat = source.send("one").await;
        source.wait_until_ended(chat.assistant_turn.id).await;
        for words in ["two", "three"] {
            let next = source.send_to(chat.user_turn.chat_id, words).await;
            source.wait_until_ended(next.assistant_turn.id).await;
        }
        let archive = export_archive(&source, ExportScope::Everything).await;
        let report = import_file(&target, "pieces.json", &archive, false).await;
        assert_eq!((report.imported, &report.findings, &report.stopped), (report.conversations, &Vec::new(), &None));
        assert_eq!(without_ids(&export_archive(&target, ExportScope::Everything).await), without_ids(&archive));
        target.check_invariants().await;
        target.close().await;
        source.close().await;
    }
}
