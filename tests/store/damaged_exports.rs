//! Exports of damaged chats: whatever row of the tree is unreadable, everything else is exported, the export names
//! what is missing, and an import accepts it.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf::domain::transfer::export::ExportOptions;
use turnleaf::domain::{ChatId, DocumentId, ImportDifferenceKind, ImportOrigin, TurnId, UserId};
use turnleaf::server::http::transfer::exports::standalone_page;
use turnleaf_service::Service;
use turnleaf_service::documents::change::{DocumentChange, DocumentTextSource, NewDocumentRequest};
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::ImportRequest;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_store::Db;
use turnleaf_store::chats::{chat_sources, chat_tools};
use turnleaf_store::documents::blobs::{self, NewBlockBlob};
use turnleaf_store::fsck::{self, CheckMode};
use uuid::Uuid;

use crate::damage::{drop_checks, send_and_wait, sql, start_service};
use crate::databases::{TestDatabase, empty_sqlite, noon, test_databases};
use crate::domain_fixtures::next_time;

const WORDS: [&str; 4] = ["the first message", "the second message", "the third message", "the message of a fork"];

/// A chat of three exchanges, and a fork below the first reply.
struct ForkedTree {
    chat: ChatId,
    /// Messages and replies of the first path, root first.
    path: Vec<TurnId>,
    fork: Vec<TurnId>,
}

async fn plant_forked_chat(service: &Service, owner: UserId) -> ForkedTree {
    let chat = send_and_wait(service, owner, WORDS[0]).await;
    for words in &WORDS[1..3] {
        let content = vec![MessageBlock::Text { text: (*words).into() }];
        send_message(service, owner, TurnRequest { chat_id: Some(chat), content, ..TurnRequest::default() }).await;
    }
    let path: Vec<TurnId> =
        service.path(owner, chat, None, 100).await.unwrap().turns.iter().map(|turn| turn.id).collect();
    let mut fork = TurnRequest { chat_id: Some(chat), ..TurnRequest::default() };
    fork.content = vec![MessageBlock::Text { text: WORDS[3].into() }];
    fork.place.prev_turn_id = Some(path[1]);
    let fork = send_message(service, owner, fork).await;
    ForkedTree { chat, path, fork }
}

async fn send_message(service: &Service, owner: UserId, message: TurnRequest) -> Vec<TurnId> {
    let started = service.start_turn(owner, message).await.unwrap();
    crate::damage::wait_until_ended(service, owner, started.assistant_turn.id).await;
    vec![started.user_turn.id, started.assistant_turn.id]
}

async fn archive_of(service: &Service, owner: UserId, which: ExportScope) -> (u64, Vec<u8>) {
    let (send, mut receive) = tokio::sync::mpsc::channel(4);
    let write = async {
        let damaged = service.export_archive(owner, which, &send).await.unwrap();
        drop(send);
        damaged
    };
    let read = async {
        let mut bytes = Vec::new();
        while let Some(some) = receive.recv().await {
            bytes.extend_from_slice(&some);
        }
        bytes
    };
    tokio::join!(write, read)
}

async fn repository_of(service: &Service, owner: UserId, chat: ChatId) -> Vec<u8> {
    let (send, mut receive) = tokio::sync::mpsc::channel::<bytes::Bytes>(4);
    let read = async {
        let mut bytes = Vec::new();
        while let Some(some) = receive.recv().await {
            bytes.extend_from_slice(&some);
        }
        bytes
    };
    let (written, bytes) = tokio::join!(service.export_git(owner, chat, send), read);
    written.unwrap();
    bytes
}

/// Returns every kind of damage of a row of the tree, with the statements for it. Damages that PostgreSQL's types
/// refuse are only for SQLite.
fn damages(db: &Db, tree: &ForkedTree) -> Vec<(&'static str, String)> {
    let is_file = db.path().is_some();
    let literal = |id: TurnId| literal(db, id.uuid());
    let [root, reply, middle, middle_reply] = [0, 1, 2, 3].map(|at| literal(tree.path[at]));
    let (last, leaf, forked) = (literal(tree.path[4]), literal(tree.path[5]), literal(tree.fork[0]));
    let of = |column: &str, turn: &str| format!("(SELECT {column} FROM turns WHERE id = {turn})");
    let mut all = vec![
        ("exchange of the root", format!("UPDATE exchanges SET kind = 'none' WHERE id = {}", of("exchange_id", &root))),
        ("exchange in the middle", format!("DELETE FROM exchanges WHERE id = {}", of("exchange_id", &middle))),
        ("exchange of the fork", format!("DELETE FROM exchanges WHERE id = {}", of("exchange_id", &forked))),
        ("branch of the root", format!("UPDATE branches SET origin = 'none' WHERE id = {}", of("branch_id", &root))),
        ("branch of the root, gone", format!("DELETE FROM branches WHERE id = {}", of("branch_id", &root))),
        ("branch of the fork", format!("UPDATE branches SET policy = 'none' WHERE id = {}", of("branch_id", &forked))),
        ("branch of the fork, gone", format!("DELETE FROM branches WHERE id = {}", of("branch_id", &forked))),
        ("row of the root", format!("DELETE FROM turns WHERE id = {root}")),
        ("row of a reply", format!("DELETE FROM turns WHERE id = {reply}")),
        ("row of a message", format!("DELETE FROM turns WHERE id = {middle}")),
        ("rows in the middle", format!("DELETE FROM turns WHERE id IN ({middle}, {middle_reply})")),
        ("row of a leaf", format!("DELETE FROM turns WHERE id = {leaf}")),
        ("role of a message", format!("UPDATE turns SET role = 'none' WHERE id = {middle}")),
        ("status of a reply", format!("UPDATE turns SET status = 'none' WHERE id = {middle_reply}")),
        ("status of a message", format!("UPDATE turns SET status = 'none' WHERE id = {middle}")),
        ("depth in the middle", format!("UPDATE turns SET depth = 77 WHERE id = {middle}")),
        ("place in the middle", format!("UPDATE turns SET ord = 900 WHERE id = {middle}")),
        ("place of the root", format!("UPDATE turns SET ord = -3 WHERE id = {root}")),
        (
            "hangs elsewhere",
            format!("UPDATE turns SET prev_turn_id = {} WHERE id = {last}", literal(TurnId::from(tree.chat.uuid()))),
        ),
        ("a circle", format!("UPDATE turns SET prev_turn_id = {leaf} WHERE id = {root}")),
    ];
    if is_file {
        for (name, column, turn) in [
            ("id of the root", "id", &root),
            ("id of a reply", "id", &reply),
            ("chat of a message", "chat_id", &middle),
            ("branch of a message", "branch_id", &middle),
            ("branch of the root's turn", "branch_id", &root),
            ("exchange of a message", "exchange_id", &middle),
            ("predecessor of a message", "prev_turn_id", &middle),
            ("predecessor of a fork", "prev_turn_id", &forked),
        ] {
            all.push((name, format!("UPDATE turns SET {column} = randomblob(5) WHERE id = {turn}")));
        }
        let id_of_branch = "UPDATE branches SET id = randomblob(5) WHERE id = ";
        all.push(("id of a branch", format!("{id_of_branch}{}", of("branch_id", &forked))));
        let turn_of_block = "UPDATE turn_blocks SET turn_id = randomblob(5) WHERE turn_id = ";
        all.push(("turn of a block", format!("{turn_of_block}{middle}")));
    }
    all
}

fn literal(db: &Db, id: Uuid) -> String {
    if db.path().is_some() { format!("X'{}'", id.simple()) } else { format!("'{id}'") }
}

async fn run_unchecked(db: &Db, text: &str) {
    let whole = match db {
        Db::Sqlite { .. } => format!(
            "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; {text}; \
             PRAGMA ignore_check_constraints = OFF; PRAGMA foreign_keys = ON"
        ),
        Db::Postgres { .. } => {
            format!("SET session_replication_role = replica; {text}; RESET session_replication_role")
        }
    };
    sql(db, whole).await;
}

#[tokio::test]
async fn children_of_damaged_rows_are_exported_named_and_imported() {
    for fresh in test_databases().await {
        if let Db::Postgres { writer, .. } = &fresh.db {
            drop_checks(writer).await;
        }
        let (service, owner) = start_service(&fresh.db, fresh.dir.path()).await.unwrap();
        let sound = plant_forked_chat(&service, owner).await;
        let (damaged, bytes) = archive_of(&service, owner, ExportScope::Everything).await;
        let archive: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((damaged, archive.get("damaged"), archive["chats"][0].get("damaged")), (0, None, None));
        assert!(!service.is_chat_damaged(owner, sound.chat).await.unwrap());
        let count = damages(&fresh.db, &sound).len();
        service.delete_chat(owner, sound.chat).await.unwrap();
        let mut failures = Vec::new();
        for at in 0..count {
            let tree = plant_forked_chat(&service, owner).await;
            let (name, text) = damages(&fresh.db, &tree).swap_remove(at);
            run_unchecked(&fresh.db, &text).await;
            if let Err(reason) = check_exports(&service, owner, tree.chat).await {
                failures.push(format!("{name}: {reason}"));
            }
            // The export page reports the damage without planning an export; damage of an exchange's own row is not
            // part of the tree.
            if name != "exchange of the root" && !name.starts_with("status") {
                let is_damaged = service.is_chat_damaged(owner, tree.chat).await.unwrap();
                if !is_damaged {
                    failures.push(format!("{name}: the page of exports does not say it"));
                }
            }
        }
        service.supervisor().toolbox().shut_down().await;
        assert!(failures.is_empty(), "of {count}:\n{}", failures.join("\n"));
        fresh.close().await;
    }
}

/// Checks that all readable text of a chat is in each of its exports, and that the archive can be imported elsewhere.
async fn check_exports(service: &Service, owner: UserId, chat: ChatId) -> Result<(), String> {
    let (damaged, bytes) = archive_of(service, owner, ExportScope::Chat(chat)).await;
    let archive: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let named = archive["chats"][0]["damaged"].as_array().cloned().unwrap_or_default();
    if named.is_empty() || named.len() as u64 != damaged {
        return Err(format!("{damaged} damages, named {named:?}"));
    }
    let whole = archive["chats"][0]["turns"].to_string();
    if let Some(lost) = WORDS.iter().find(|words| !whole.contains(*words)) {
        return Err(format!("the archive lost {lost:?}; named {named:?}"));
    }
    let replies = archive["chats"][0]["turns"].as_array().map_or(0, Vec::len);
    if replies < 8 {
        return Err(format!("{replies} turns in the archive"));
    }
    let all = ExportOptions::default();
    let markdown =
        service.export_markdown(owner, chat, None, all).await.map_err(|error| format!("Markdown: {error}"))?;
    let page = standalone_page(service, String::new(), owner, chat, None, all).await;
    let page = page.map_err(|error| format!("HTML: {}", error.detail()))?;
    let is_named = String::from_utf8_lossy(&markdown).contains("could not be exported unchanged");
    if is_named != page.contains("could not be read during export") {
        return Err(format!("Markdown names it: {is_named}, and HTML otherwise: {page}"));
    }
    for (name, text) in [("Markdown", String::from_utf8_lossy(&markdown).into_owned()), ("HTML", page)] {
        // The exported path ends in the fork or on the first branch.
        if !text.contains(WORDS[0]) || !(text.contains(WORDS[2]) || text.contains(WORDS[3])) {
            return Err(format!("{name} lost words: {text}"));
        }
    }
    if repository_of(service, owner, chat).await.is_empty() {
        return Err("there is no repository".into());
    }
    let elsewhere = empty_sqlite().await;
    elsewhere.db.migrate(None, noon()).await.map_err(|error| error.to_string())?;
    let done = check_import(&elsewhere, &bytes).await;
    elsewhere.close().await;
    done.map_err(|reason| format!("{reason}; named {named:?}"))
}

async fn check_import(elsewhere: &TestDatabase, bytes: &[u8]) -> Result<(), String> {
    let (service, owner) = start_service(&elsewhere.db, elsewhere.dir.path()).await?;
    let file = elsewhere.dir.path().join("damaged.json");
    std::fs::write(&file, bytes).unwrap();
    let import = ImportRequest {
        owner,
        file,
        name: "damaged.json".into(),
        format: None,
        options: Default::default(),
        dry_run: false,
    };
    let report = service.import(import, &mut |_| true).await.map_err(|error| error.to_string())?;
    if report.imported != 1 {
        return Err(format!("it was not imported: {:?}", report.findings));
    }
    let is_reported = |text: &str| text.starts_with("it was already damaged when exported");
    if !report.findings.iter().any(|one| one.kind != ImportDifferenceKind::LeftOut && is_reported(&one.text)) {
        return Err(format!("the import does not say it: {:?}", report.findings));
    }
    let id = report.chats[0].id.ok_or("no id")?;
    let kept = service.imported_from(owner, id).await.map_err(|error| error.to_string())?;
    if !kept.is_some_and(|kept| kept.differences.iter().any(|one| is_reported(&one.text))) {
        return Err("the chat does not keep it".into());
    }
    let (_, again) = archive_of(&service, owner, ExportScope::Everything).await;
    let again = String::from_utf8_lossy(&again).into_owned();
    if let Some(lost) = WORDS.iter().find(|words| !again.contains(*words)) {
        return Err(format!("{lost:?} did not come in"));
    }
    service.supervisor().toolbox().shut_down().await;
    let findings = fsck::check(&elsewhere.db, CheckMode::Stopped).await.map_err(|error| error.to_string())?;
    if findings.is_empty() { Ok(()) } else { Err(format!("{findings:#?}")) }
}

/// Resources of a chat outside its tree.
struct ChatResources {
    documents: Vec<DocumentId>,
    image: String,
    /// The blob that a document was extracted from.
    file: String,
}

/// Text of one version of a document, oldest version first.
fn text_of(document: usize, version: usize) -> String {
    format!("version {version} of document {document}: naïve")
}

async fn plant_resources(db: &Db, service: &Service, owner: UserId, tree: &ForkedTree) -> ChatResources {
    let mut documents = Vec::new();
    for at in 0..7 {
        let document = NewDocumentRequest {
            title: Some(format!("Document {at}")),
            kind: Some("text/markdown".into()),
            source: DocumentTextSource::Text(text_of(at, 0)),
            client_request_id: None,
        };
        let id = service.create_document(owner, document).await.unwrap().value.id;
        for version in 1..3 {
            let change =
                DocumentChange { source: Some(DocumentTextSource::Text(text_of(at, version))), ..Default::default() };
            service.change_document(owner, id, change).await.unwrap();
        }
        documents.push(id);
    }
    let upload = service.upload_file(owner, "notes.md", bytes::Bytes::from_static(b"# Notes")).await.unwrap();
    let blob = DocumentTextSource::Blob { sha256: upload.sha256.clone(), encoding: None };
    let of_file =
        NewDocumentRequest { title: Some("Of a file".into()), kind: None, source: blob, client_request_id: None };
    documents.push(service.create_document(owner, of_file).await.unwrap().value.id);
    let message = service.turn(owner, tree.path[0]).await.unwrap();
    let bytes = b"bytes of an image";
    let image: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut tx = db.begin().await.unwrap();
    let of = NewBlockBlob { block: message.blocks[0].id, sha256: &image, mime: "image/png", bytes };
    blobs::put(&mut tx, &[of], next_time()).await.unwrap();
    chat_tools::put(&mut tx, owner, tree.chat, &ToolChoice::default()).await.unwrap();
    let source = ImportOrigin {
        format: "chatgpt".into(),
        file: "export.zip".into(),
        imported_at: next_time(),
        differences: Vec::new(),
    };
    chat_sources::put(&mut tx, owner, tree.chat, &source).await.unwrap();
    tx.commit().await.unwrap();
    // The second block of the message is an image.
    let (turn, chat) = (literal(db, tree.path[0].uuid()), literal(db, tree.chat.uuid()));
    let block = json!({ "type": "image", "blob": image, "mime": "image/png", "alt": "a picture" });
    let id = literal(db, Uuid::from_u128(0x1a6e));
    run_unchecked(
        db,
        &format!(
            "INSERT INTO turn_blocks (id, turn_id, chat_id, seq, chat_seq, block_type, author, state, content, metadata, \
             created_at, updated_at) SELECT {id}, turn_id, chat_id, 1, chat_seq + 1, 'image', author, state, '{block}', \
             metadata, created_at, updated_at FROM turn_blocks WHERE turn_id = {turn} AND seq = 0; \
             INSERT INTO block_blobs (block_id, sha256) VALUES ({id}, '{image}'); \
             UPDATE branches SET label = 'a label' WHERE chat_id = {chat}"
        ),
    )
    .await;
    ChatResources { documents, image, file: upload.sha256 }
}

/// A damaged value, and the place that an archive reports for it.
struct DamagedValue {
    statement: String,
    place: String,
    text: &'static str,
}

/// Values outside the tree that an export reads, each damaged by itself.
fn damaged_values(db: &Db, tree: &ForkedTree, resources: &ChatResources) -> Vec<DamagedValue> {
    let is_file = db.path().is_some();
    let chat = literal(db, tree.chat.uuid());
    let (root, reply, last_reply) =
        (literal(db, tree.path[0].uuid()), literal(db, tree.path[1].uuid()), literal(db, tree.path[5].uuid()));
    let document = |at: usize| literal(db, resources.documents[at].uuid());
    let version = |at: usize, newest: bool| {
        let end = if newest { "MAX" } else { "MIN" };
        let of = document(at);
        format!(
            "document_id = {of} AND version_timestamp = \
             (SELECT {end}(version_timestamp) FROM document_versions WHERE document_id = {of})"
        )
    };
    let no_text = "CAST(X'61ff62' AS TEXT)";
    let one =
        |statement: String, place: &str, text: &'static str| DamagedValue { statement, place: place.into(), text };
    let zero = if is_file { "X'00'" } else { "'\\x00'" };
    let call = format!("(SELECT id FROM generations WHERE turn_id = {last_reply})");
    let mut all = vec![
        one(
            format!("UPDATE chats SET settings = '\"none\"' WHERE id = {chat}"),
            &format!("chats {}", tree.chat),
            "its settings cannot be read",
        ),
        one(
            format!(
                "UPDATE exchanges SET params = '\"none\"' WHERE id = (SELECT exchange_id FROM turns WHERE id = {root})"
            ),
            "exchanges ",
            "its params cannot be read",
        ),
        one(
            format!("UPDATE branches SET tools = '[1]' WHERE id = (SELECT branch_id FROM turns WHERE id = {root})"),
            "branches ",
            "its tools cannot be read",
        ),
        one(
            format!("UPDATE chat_tools SET choice = '\"{{\"' WHERE chat_id = {chat}"),
            &format!("chat_tools {}", tree.chat),
            "its choice cannot be read",
        ),
        one(
            format!("UPDATE chat_sources SET differences = '{{' WHERE chat_id = {chat}"),
            &format!("chat_sources {}", tree.chat),
            "its differences cannot be read",
        ),
        one(
            format!("UPDATE generations SET status = 'none' WHERE turn_id = {reply}"),
            "generations ",
            "its status cannot be read",
        ),
        one(
            format!("UPDATE generations SET raw_response = {zero}, raw_bytes = 9 WHERE turn_id = {reply}"),
            "generations ",
            "its raw_response cannot be read",
        ),
        one(
            format!("DELETE FROM generation_requests WHERE generation_id IN {call}"),
            "generation_requests ",
            "its body cannot be read",
        ),
        one(
            format!("UPDATE turn_blocks SET metadata = '{{' WHERE turn_id = {reply} AND seq = 0"),
            "turn_blocks ",
            "its metadata cannot be read",
        ),
        one(
            format!("UPDATE document_versions SET notes = '{{' WHERE {}", version(0, true)),
            "document_versions 3 of document",
            "its notes cannot be read",
        ),
        one(
            format!("DELETE FROM document_versions WHERE document_id = {}", document(1)),
            &format!("document_versions of document {}", resources.documents[1]),
            "they are missing",
        ),
        one(
            format!("DELETE FROM blobs WHERE sha256 = '{}'", resources.file),
            &format!("blobs {}", resources.file),
            "a file of document",
        ),
    ];
    if !is_file {
        all.push(one(
            format!("DELETE FROM blobs WHERE sha256 = '{}'", resources.image),
            &format!("blobs {}", resources.image),
            "an image of turn",
        ));
        return all;
    }
    let branch = format!("(SELECT branch_id FROM turns WHERE id = {root})");
    all.extend([
        one(format!("UPDATE chats SET title = {no_text} WHERE id = {chat}"), "chats ", "its title cannot be read"),
        one(
            format!("UPDATE chats SET system_prompt = {no_text} WHERE id = {chat}"),
            "chats ",
            "its system_prompt cannot be read",
        ),
        one(
            format!("UPDATE branches SET name = {no_text} WHERE id = {branch}"),
            "branches ",
            "its name cannot be read",
        ),
        one(
            format!("UPDATE branches SET label = {no_text} WHERE id = {branch}"),
            "branches ",
            "its label cannot be read",
        ),
        one(
            format!("UPDATE branches SET system_prompt = {no_text} WHERE id = {branch}"),
            "branches ",
            "its system_prompt cannot be read",
        ),
        one(
            format!("UPDATE generations SET stop_reason = {no_text} WHERE turn_id = {reply}"),
            "generations ",
            "its stop_reason cannot be read",
        ),
        one(
            format!("UPDATE blobs SET mime = {no_text} WHERE sha256 = '{}'", resources.image),
            &format!("blobs {}", resources.image),
            "its mime cannot be read",
        ),
        one(
            format!("INSERT INTO block_blobs (block_id, sha256) SELECT block_id, {no_text} FROM block_blobs LIMIT 1"),
            &format!("block_blobs of chat {}", tree.chat),
            "its row cannot be read",
        ),
        one(
            format!("UPDATE documents SET title = {no_text} WHERE id = {}", document(2)),
            &format!("documents {}", resources.documents[2]),
            "its title cannot be read",
        ),
        one(
            format!("UPDATE documents SET updated_at = 'none', kind = {no_text} WHERE id = {}", document(3)),
            &format!("documents {}", resources.documents[3]),
            "its kind cannot be read",
        ),
        one(
            format!("UPDATE document_versions SET mime = {no_text} WHERE {}", version(4, true)),
            "document_versions 3 of document",
            "its mime cannot be read",
        ),
        one(
            format!("UPDATE document_versions SET content = CAST(X'6e61ff7665' AS TEXT) WHERE {}", version(5, false)),
            &format!("document_versions 1 of document {}", resources.documents[5]),
            "its content cannot be read",
        ),
        one(
            format!("UPDATE document_versions SET version_timestamp = 'none' WHERE {}", version(6, true)),
            &format!("document_versions 3 of document {}", resources.documents[6]),
            "its version_timestamp cannot be read",
        ),
    ]);
    all
}

#[tokio::test]
async fn unreadable_value_outside_tree_is_named_and_rest_of_row_is_exported() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        if let Db::Postgres { writer, .. } = db {
            drop_checks(writer).await;
        }
        let (service, owner) = start_service(db, fresh.dir.path()).await.unwrap();
        let tree = plant_forked_chat(&service, owner).await;
        let resources = plant_resources(db, &service, owner, &tree).await;
        let (damaged, sound) = archive_of(&service, owner, ExportScope::Everything).await;
        let sound: Value = serde_json::from_slice(&sound).unwrap();
        assert_eq!((damaged, sound.get("damaged"), sound["chats"][0].get("damaged")), (0, None, None));
        let values = damaged_values(db, &tree, &resources);
        for value in &values {
            run_unchecked(db, &value.statement).await;
        }
        let (damaged, bytes) = archive_of(&service, owner, ExportScope::Everything).await;
        let archive: Value = serde_json::from_slice(&bytes).unwrap();
        let lists = [&archive["damaged"], &archive["chats"][0]["damaged"]];
        let named: Vec<(String, String)> = lists
            .into_iter()
            .flat_map(|list| list.as_array().cloned().unwrap_or_default())
            .map(|one| (one["place"].as_str().unwrap().to_owned(), one["text"].as_str().unwrap().to_owned()))
            .collect();
        assert_eq!(damaged, named.len() as u64);
        let is_named = |value: &&DamagedValue| {
            !named.iter().any(|(place, text)| place.starts_with(&value.place) && text.starts_with(value.text))
        };
        let unnamed: Vec<&str> = values.iter().filter(is_named).map(|value| value.statement.as_str()).collect();
        assert!(unnamed.is_empty(), "not named: {unnamed:#?}\nof {named:#?}");
        for words in ["expected", "utf-8", "decod", "invalid", "variant"] {
            assert!(!named.iter().any(|(_, text)| text.contains(words)), "words of a decoder: {named:#?}");
        }
        assert_rest_exported(&sound, &archive, db.path().is_some());

        // The Markdown export reports it as well.
        let markdown = service.export_markdown(owner, tree.chat, None, ExportOptions::default()).await.unwrap();
        assert!(String::from_utf8_lossy(&markdown).contains("its settings cannot be read"));
        let folder = fresh.dir.path().join("repository");
        service.export_git_folder(owner, tree.chat, &folder).await.unwrap().unwrap();
        let with_it = std::fs::read_to_string(folder.join("turnleaf.json")).unwrap();
        for text in ["its settings cannot be read", "its metadata cannot be read", "its differences cannot be read"] {
            assert!(with_it.contains(text), "{text}: {with_it}");
        }
        let listed = std::process::Command::new("git")
            .args(["--git-dir", folder.to_str().unwrap(), "rev-list", "--objects", "--all"])
            .output()
            .unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert_eq!(listed.contains(&resources.image), db.path().is_some(), "an image of an unknown type: {listed}");

        let elsewhere = empty_sqlite().await;
        elsewhere.db.migrate(None, noon()).await.unwrap();
        let done = check_import(&elsewhere, &bytes).await;
        elsewhere.close().await;
        // A missing image is reported there, too.
        let is_missing = |reason: &String| reason.matches("invariant").count() == 1 && reason.contains("is not stored");
        assert!(done.is_ok() || done.as_ref().is_err_and(is_missing), "{done:?}");
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}

/// Asserts that an archive equals that of the sound chat, except for the damaged values.
fn assert_rest_exported(sound: &Value, archive: &Value, is_file: bool) {
    let (before, chat) = (&sound["chats"][0], &archive["chats"][0]);
    for list in ["turns", "generations", "exchanges", "branches"] {
        let ids = |of: &Value| of[list].as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(chat), ids(before), "{list}");
    }
    let ids = |turn: &Value| turn["blocks"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    let blocks = |of: &Value| of["turns"].as_array().unwrap().iter().map(ids).collect::<Vec<_>>();
    assert_eq!(blocks(chat), blocks(before));
    for (call, sound) in chat["generations"].as_array().unwrap().iter().zip(before["generations"].as_array().unwrap()) {
        let is_lost = call["request_manifest"].is_null();
        assert!(is_lost || call["request"] == sound["request"], "what was sent is there beside a damaged status");
    }
    let documents = archive["documents"].as_array().unwrap();
    assert_eq!(documents.len(), 8, "a damaged version takes no document along");
    let text = archive["documents"].to_string();
    for (at, version) in (0..7).flat_map(|at| (0..3).map(move |version| (at, version))) {
        let is_damaged = at == 1 || (is_file && (at, version) == (5, 0));
        assert_eq!(text.contains(&text_of(at, version)), !is_damaged, "version {version} of document {at}");
    }
    assert!(text.contains("The text of this document is damaged"), "a notice stands for a text that is gone");
    assert!(!text.contains("\"content\":\"\""), "no version is empty");
    if is_file {
        assert!(text.contains("na\u{FFFD}ve"), "what can be read of a text is there");
        assert!(text.contains("a\u{FFFD}b"), "and of a title");
        assert_eq!(chat["chat"]["title"], "a\u{FFFD}b");
        assert_eq!(archive["blobs"].as_array().unwrap().len(), 1);
    }
}
