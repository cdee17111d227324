//! Imports as a person does them: preview, import, report, undo, restore; on the pages without script and in the API.

use std::io::Write;

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::{ChatId, CodedMessage, ImportCreations, ImportId, ImportState, MessageCode, UndoScope};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::documents::change::{DocumentTextSource, NewDocumentRequest};
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::{ImportJob, ImportRequest, ImportReversal};
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_store::chats::drafts::Draft;
use turnleaf_store::deletions::{self, DeletionRoot, NewDeletion};
use turnleaf_store::turns;

use crate::bad_imports::{conversation, mapping_node};
use crate::http_api::TestApi;
use crate::interchange::{export_archive, import_file, replies};
use crate::samples::test_servers;
use crate::test_server::TestServer;

/// A conversation with this many exchanges.
fn chat_of(id: &str, exchanges: usize) -> Value {
    let mut nodes = Vec::new();
    let mut parent: Option<String> = None;
    for number in 0..exchanges {
        let (question, answer) = (format!("q{number}"), format!("a{number}"));
        nodes.push(mapping_node(&question, parent.as_deref(), "user", &format!("Question {number}")));
        nodes.push(mapping_node(&answer, Some(&question), "assistant", &format!("Answer {number}")));
        parent = Some(answer);
    }
    conversation(id, &nodes)
}

fn file_of(chats: &[Value]) -> Vec<u8> {
    serde_json::to_vec(chats).unwrap()
}

/// Starts a preview of these bytes and waits for its end.
async fn preview(instance: &TestServer, bytes: &[u8]) -> ImportJob {
    let mut sent = tempfile::NamedTempFile::new_in(instance.dir.path()).unwrap();
    sent.write_all(bytes).unwrap();
    let (file, name) = (sent.path().to_owned(), "chats.json".to_owned());
    let import =
        ImportRequest { owner: instance.owner, file, name, format: None, options: Default::default(), dry_run: false };
    let id = instance.service.start_preview(import, sent.into_temp_path()).unwrap();
    finished(instance, id).await
}

async fn finished(instance: &TestServer, id: ImportId) -> ImportJob {
    loop {
        let job = instance.service.find_import(instance.owner, id).await.unwrap();
        if job.is_over {
            return job;
        }
        tokio::task::yield_now().await;
    }
}

/// Waits for the end of the undo or restoring of an import.
async fn reversed(instance: &TestServer, id: ImportId) -> ImportReversal {
    loop {
        let job = instance.service.find_import(instance.owner, id).await.unwrap();
        if let Some(reversal) = job.reversal.filter(|reversal| reversal.is_over) {
            assert_eq!(reversal.failure, None);
            assert_eq!(reversal.done, reversal.total);
            return reversal;
        }
        tokio::task::yield_now().await;
    }
}

/// Undoes an import, and returns the numbers of removed items.
async fn undo(instance: &TestServer, id: ImportId, scope: UndoScope) -> ImportCreations {
    instance.service.undo_import(instance.owner, id, scope).await.unwrap();
    reversed(instance, id).await.removed
}

/// Restores an undone import, and returns the number of restored items.
async fn restore(instance: &TestServer, id: ImportId) -> u64 {
    instance.service.restore_import(instance.owner, id).await.unwrap();
    reversed(instance, id).await.restored
}

/// Previews and imports these bytes.
async fn import(instance: &TestServer, bytes: &[u8]) -> ImportJob {
    let preview = preview(instance, bytes).await;
    let id = instance.service.import_preview(instance.owner, preview.id).await.unwrap();
    finished(instance, id).await
}

async fn titles(instance: &TestServer) -> Vec<String> {
    let mut titles: Vec<String> =
        instance.service.list_chats(instance.owner, 100).await.unwrap().into_iter().map(|chat| chat.title).collect();
    titles.sort();
    titles
}

fn conflict_code<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> &'static str {
    match result {
        Err(ServiceError::Conflict { code, .. }) => code,
        other => panic!("no conflict: {other:?}"),
    }
}

#[tokio::test]
async fn previewed_file_is_imported_undone_and_restored() {
    for instance in test_servers().await {
        let (service, owner) = (&instance.service, instance.owner);
        let preview = preview(&instance, &file_of(&[chat_of("one", 1), chat_of("two", 2)])).await;
        assert_eq!((preview.report.dry_run, preview.report.imported, preview.report.turns), (true, 2, 6));
        assert!(preview.importable_until.is_some() && titles(&instance).await.is_empty(), "{preview:?}");
        let slot = service.import_slot(owner).unwrap();
        assert_eq!(conflict_code(service.import_preview(owner, preview.id).await), "import_running");
        drop(slot);
        let id = service.import_preview(owner, preview.id).await.unwrap();
        assert_eq!(service.import_preview(owner, preview.id).await.unwrap(), id, "a double click imports once");
        let job = finished(&instance, id).await;
        assert_eq!((job.state, job.report.imported), (ImportState::Finished, 2), "{job:?}");
        assert_eq!(job.report.expected_conversations, Some(2));
        assert_eq!(job.present, ImportCreations { chats: 2, extended_chats: 0, documents: 0 });
        assert_eq!(titles(&instance).await, ["one", "two"]);

        let removed = ImportCreations { chats: 2, extended_chats: 0, documents: 0 };
        assert_eq!(undo(&instance, id, UndoScope::Unchanged).await, removed);
        assert!(titles(&instance).await.is_empty());
        let undone = service.find_import(owner, id).await.unwrap();
        assert_eq!((undone.state, undone.in_trash, undone.summary().can_undo()), (ImportState::Undone, 2, false));
        assert!(undone.present.is_empty() && undone.kept.is_none() && !undone.can_undo_rest(), "{undone:?}");
        assert!(service.list_trash(owner, None, 10).await.unwrap().is_empty(), "Trash has one entry, of the import");
        assert_eq!(service.list_undone_imports(owner).await.unwrap().len(), 1);
        let slot = service.import_slot(owner).unwrap();
        assert_eq!(conflict_code(service.forget_import(owner, id).await), "import_running");
        drop(slot);
        assert_eq!(conflict_code(service.undo_import(owner, id, UndoScope::Unchanged).await), "import_not_undoable");
        assert_eq!(conflict_code(service.undo_import(owner, id, UndoScope::Changed).await), "import_not_undoable");
        instance.check_invariants().await;

        assert_eq!(restore(&instance, id).await, 2);
        assert_eq!(titles(&instance).await, ["one", "two"]);
        assert_eq!(conflict_code(service.restore_import(owner, id).await), "import_not_undone");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn undo_keeps_what_was_written_here() {
    for mut instance in TestServer::on_every_database(|| replies(2)).await {
        instance.service =
            instance.service.clone().with_reader(std::sync::Arc::new(crate::fake_file_reader::FakeFileReader));
        let chats = [chat_of("read", 1), chat_of("continued", 1), chat_of("drafted", 1)];
        let job = import(&instance, &file_of(&chats)).await;
        let id_of = |title: &str| job.report.chats.iter().find(|chat| chat.title == title).unwrap().id.unwrap();
        continue_chat(&instance, id_of("continued")).await;
        let draft = Draft { text: "And then".to_owned(), ..Draft::default() };
        instance.service.save_draft(instance.owner, Some(id_of("drafted")), draft).await.unwrap();
        assert_eq!(undo(&instance, job.id, UndoScope::Unchanged).await.chats, 1);
        assert_eq!(titles(&instance).await, ["continued", "drafted"]);
        let undone = instance.service.find_import(instance.owner, job.id).await.unwrap();
        assert_eq!((undone.present.chats, undone.can_undo_rest()), (2, true));
        let mut kept: Vec<String> = undone.kept.unwrap().chats.into_iter().map(|chat| chat.title).collect();
        kept.sort();
        assert_eq!(kept, ["continued", "drafted"]);
        instance.check_invariants().await;

        // A second undo moves the kept items to Trash, and all items are restored together.
        assert_eq!(undo(&instance, job.id, UndoScope::Changed).await.chats, 2);
        assert!(titles(&instance).await.is_empty());
        let undone = instance.service.find_import(instance.owner, job.id).await.unwrap();
        assert_eq!((undone.in_trash, undone.kept), (3, None));
        instance.check_invariants().await;
        assert_eq!(restore(&instance, job.id).await, 3);
        assert_eq!(titles(&instance).await, ["continued", "drafted", "read"]);
        instance.check_invariants().await;
        instance.close().await;
    }
}

/// Sends a message to an imported chat, on a new branch with a model of this server.
async fn continue_chat(instance: &TestServer, chat: ChatId) {
    let turns = turns::list_of_chat(&instance.db, instance.owner, chat, 0, 100).await.unwrap();
    let message = TurnRequest {
        chat_id: Some(chat),
        content: vec![MessageBlock::Text { text: "And then?".to_owned() }],
        place: PlacementRequest {
            prev_turn_id: Some(turns.last().unwrap().id),
            provider: Some("scripted".to_owned()),
            model: Some("model-a".to_owned()),
            may_branch: true,
            ..Default::default()
        },
        ..Default::default()
    };
    let started = instance.service.start_turn(instance.owner, message).await.unwrap();
    instance.wait_until_ended(started.assistant_turn.id).await;
}

#[tokio::test]
async fn undo_of_rest_takes_added_messages_with_those_that_follow() {
    for mut instance in TestServer::on_every_database(|| replies(2)).await {
        instance.service =
            instance.service.clone().with_reader(std::sync::Arc::new(crate::fake_file_reader::FakeFileReader));
        import(&instance, &file_of(&[chat_of("grown", 1)])).await;
        let chat = instance.service.list_chats(instance.owner, 10).await.unwrap()[0].id;
        let count = async || turns::list_of_chat(&instance.db, instance.owner, chat, 0, 100).await.unwrap().len();
        let second = import(&instance, &file_of(&[chat_of("grown", 2)])).await;
        continue_chat(&instance, chat).await;
        assert_eq!(count().await, 6);
        assert!(undo(&instance, second.id, UndoScope::Unchanged).await.is_empty(), "a message follows");
        let undone = instance.service.find_import(instance.owner, second.id).await.unwrap();
        assert_eq!(undone.kept.unwrap().chats.into_iter().map(|kept| kept.id).collect::<Vec<_>>(), [chat]);
        assert_eq!(undo(&instance, second.id, UndoScope::Changed).await.extended_chats, 1);
        assert_eq!(count().await, 2);
        instance.check_invariants().await;
        restore(&instance, second.id).await;
        assert_eq!(count().await, 6);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn undo_that_a_restart_interrupts_continues() {
    for instance in test_servers().await {
        let (service, owner) = (&instance.service, instance.owner);
        let job = import(&instance, &file_of(&[chat_of("one", 1), chat_of("two", 1)])).await;
        undo(&instance, job.id, UndoScope::Unchanged).await;
        // As a kill leaves it: one chat is in Trash, and the import is not marked.
        let deletions =
            turnleaf_store::transfer::imports::undo::list_deletions(&instance.db, owner, job.id).await.unwrap();
        assert_eq!(deletions.len(), 2);
        service.restore_deletion(owner, deletions[0]).await.unwrap();
        instance.sql("UPDATE imports SET state = 'finished', undone_at = NULL").await;
        let left = service.find_import(owner, job.id).await.unwrap();
        assert!(left.summary().can_undo() && left.summary().can_restore(), "{left:?}");
        assert!(left.summary().is_partly_in_trash(), "{left:?}");
        assert_eq!(undo(&instance, job.id, UndoScope::Unchanged).await.chats, 1);
        assert!(titles(&instance).await.is_empty());
        assert_eq!(restore(&instance, job.id).await, 2);
        assert_eq!(titles(&instance).await, ["one", "two"]);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn undo_of_another_scope_is_refused_while_one_runs() {
    for instance in test_servers().await {
        let (service, owner) = (&instance.service, instance.owner);
        let job = import(&instance, &file_of(&[chat_of("one", 1)])).await;
        // The undo waits for the lock of the chat.
        let mut held = instance.db.begin().await.unwrap();
        let chat_id = job.report.chats[0].id.unwrap();
        let root = DeletionRoot::Chat;
        let deletion = NewDeletion { id: ids::mint(), owner_id: owner, chat_id, root, at: SystemClock.now() };
        deletions::soft_delete(&mut held, &deletion).await.unwrap();
        service.undo_import(owner, job.id, UndoScope::Unchanged).await.unwrap();
        service.undo_import(owner, job.id, UndoScope::Unchanged).await.unwrap();
        let refused = service.undo_import(owner, job.id, UndoScope::Changed).await.unwrap_err();
        let ServiceError::Conflict { code, message, .. } = refused else { panic!("{refused:?}") };
        assert_eq!((code, message), ("import_running", CodedMessage::from(MessageCode::ImportReversing)));
        assert_eq!(conflict_code(service.import_slot(owner).map(drop)), "import_running");
        assert_eq!(conflict_code(service.forget_import(owner, job.id).await), "import_running");
        assert!(service.find_import(owner, job.id).await.unwrap().is_reversing());
        held.rollback().await.unwrap();
        assert_eq!(reversed(&instance, job.id).await.removed.chats, 1);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn restoring_that_ends_with_the_server_can_be_repeated() {
    for instance in test_servers().await {
        let (service, owner) = (&instance.service, instance.owner);
        let job = import(&instance, &file_of(&[chat_of("one", 1)])).await;
        undo(&instance, job.id, UndoScope::Unchanged).await;
        service.stop_imports();
        service.restore_import(owner, job.id).await.unwrap();
        let ended = loop {
            let job = service.find_import(owner, job.id).await.unwrap();
            if job.reversal.as_ref().is_some_and(|reversal| reversal.is_over) {
                break job;
            }
            tokio::task::yield_now().await;
        };
        let failure = ended.reversal.as_ref().unwrap().failure.as_ref().unwrap();
        assert_eq!((failure.code, ended.in_trash), ("import_partly_restored", 1));
        // Chats that were restored, or are still in Trash, do not count as kept by the undo.
        assert_eq!((ended.state, &ended.kept), (ImportState::Finished, &None));
        assert!(ended.summary().is_partly_in_trash() && ended.summary().can_restore(), "{ended:?}");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn page_offers_to_continue_an_undo_that_a_restart_interrupts() {
    for instance in test_servers().await {
        let job = import(&instance, &file_of(&[chat_of("one", 1), chat_of("two", 1)])).await;
        undo(&instance, job.id, UndoScope::Unchanged).await;
        let deletions = turnleaf_store::transfer::imports::undo::list_deletions(&instance.db, instance.owner, job.id)
            .await
            .unwrap();
        instance.service.restore_deletion(instance.owner, deletions[0]).await.unwrap();
        instance.sql("UPDATE imports SET state = 'finished', undone_at = NULL").await;
        let api = TestApi::with_server(instance);
        for path in ["/settings/data".to_owned(), format!("/settings/data/imports/{}", job.id)] {
            let page = api.get_page(&path).await;
            assert!(page.contains("was not finished: 1 item in Trash. Undo it again"), "{page}");
            assert!(page.contains("/forms/import/undo") && page.contains("/forms/import/restore"), "{page}");
        }
        api.instance.close().await;
    }
}

#[tokio::test]
async fn lists_of_imports_read_no_reports() {
    for instance in test_servers().await {
        let report = import_file(&instance, "chats.json", &file_of(&[chat_of("one", 1)]), false).await;
        assert_eq!(report.chats.len(), 1);
        // Damaged where only the page of the import looks.
        instance.sql("UPDATE import_reports SET report = '0'").await;
        let listed = instance.service.list_imports(instance.owner).await.unwrap();
        let [import] = listed.as_slice() else { panic!("{listed:?}") };
        assert_eq!((import.name.as_str(), import.imported, import.present.chats), ("chats.json", 1, 1));
        assert_eq!(instance.service.find_import(instance.owner, import.id).await.unwrap().report.imported, 0);
        instance.close().await;
    }
}

#[tokio::test]
async fn undo_of_extension_removes_only_added_messages() {
    for instance in test_servers().await {
        let (service, owner) = (&instance.service, instance.owner);
        import(&instance, &file_of(&[chat_of("grown", 1)])).await;
        let chat = service.list_chats(owner, 10).await.unwrap()[0].id;
        let count = async || turns::list_of_chat(&instance.db, owner, chat, 0, 100).await.unwrap().len();
        assert_eq!(count().await, 2);
        let second = import(&instance, &file_of(&[chat_of("grown", 3), chat_of("new", 1)])).await;
        assert_eq!(count().await, 6);
        assert_eq!(second.present, ImportCreations { chats: 1, extended_chats: 1, documents: 0 });
        let removed = ImportCreations { chats: 1, extended_chats: 1, documents: 0 };
        assert_eq!(undo(&instance, second.id, UndoScope::Unchanged).await, removed);
        assert_eq!((count().await, titles(&instance).await), (2, vec!["grown".to_owned()]));
        instance.check_invariants().await;
        restore(&instance, second.id).await;
        assert_eq!(count().await, 6);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn documents_of_archive_are_undone_and_restored() {
    for instance in test_servers().await {
        let (service, owner) = (&instance.service, instance.owner);
        for title in ["one", "two"] {
            let source = DocumentTextSource::Text(format!("# {title}"));
            let new = NewDocumentRequest { title: Some(title.into()), kind: None, source, client_request_id: None };
            service.create_document(owner, new).await.unwrap();
        }
        let archive = export_archive(&instance, ExportScope::Everything).await;
        service.delete_everything(owner, Actor::default()).await.unwrap();
        let job = import(&instance, &archive).await;
        assert_eq!(job.present.documents, 2, "{job:?}");
        assert_eq!(undo(&instance, job.id, UndoScope::Unchanged).await.documents, 2);
        assert!(service.deleted_documents(owner).await.unwrap().is_empty());
        assert_eq!(restore(&instance, job.id).await, 2);
        instance.close().await;
    }
}

#[tokio::test]
async fn preview_is_cancelled_replaced_and_hidden_from_others() {
    for instance in test_servers().await {
        let (service, owner) = (&instance.service, instance.owner);
        let bytes = file_of(&[chat_of("one", 1)]);
        let first = preview(&instance, &bytes).await;
        let stranger = ids::mint();
        assert!(matches!(service.find_import(stranger, first.id).await, Err(ServiceError::NotFound)));
        assert!(matches!(service.import_preview(stranger, first.id).await, Err(ServiceError::NotFound)));
        assert!(matches!(service.stop_import(stranger, first.id).await, Err(ServiceError::NotFound)));
        // The next upload replaces it.
        let second = preview(&instance, &bytes).await;
        assert_eq!(conflict_code(service.import_preview(owner, first.id).await), "preview_expired");
        service.stop_import(owner, second.id).await.unwrap();
        assert_eq!(service.find_import(owner, second.id).await.unwrap().importable_until, None);
        assert_eq!(conflict_code(service.import_preview(owner, second.id).await), "preview_expired");
        assert!(!service.list_imports(owner).await.unwrap().iter().any(|job| job.id == second.id));
        assert!(titles(&instance).await.is_empty());
        // A file without chats cannot be imported.
        let useless = preview(&instance, b"Dear reader").await;
        assert_eq!(useless.importable_until, None);
        assert_eq!(useless.report.stopped_code.as_deref(), Some("import_unrecognized"));
        let job = import(&instance, &bytes).await;
        for result in [
            service.undo_import(stranger, job.id, UndoScope::Changed).await,
            service.restore_import(stranger, job.id).await,
        ] {
            assert!(matches!(result, Err(ServiceError::NotFound)));
        }
        instance.close().await;
    }
}

#[tokio::test]
async fn import_that_a_restart_interrupts_is_reported_and_undone() {
    for instance in test_servers().await {
        let report = import_file(&instance, "chats.json", &file_of(&[chat_of("one", 1)]), false).await;
        assert_eq!(report.imported, 1);
        // As a kill leaves it.
        instance
            .sql("UPDATE imports SET state = 'running', ended_at = NULL, summary = '{\"name\":\"chats.json\"}'")
            .await;
        instance.sql("UPDATE import_reports SET report = '{\"name\":\"chats.json\"}'").await;
        let running = instance.service.list_imports(instance.owner).await.unwrap();
        assert_eq!(running[0].state, ImportState::Running, "its report was stored a moment ago");
        let refused = instance.service.undo_import(instance.owner, running[0].id, UndoScope::Unchanged).await;
        assert_eq!(conflict_code(refused), "import_running");
        assert_eq!(instance.service.interrupt_unfinished_imports().await.unwrap(), 1);
        let jobs = instance.service.list_imports(instance.owner).await.unwrap();
        assert_eq!(jobs.len(), 1);
        assert_eq!((jobs[0].state, jobs[0].present.chats, jobs[0].can_undo()), (ImportState::Interrupted, 1, true));
        let found = instance.service.find_import(instance.owner, jobs[0].id).await.unwrap();
        assert_eq!(found.report.stopped_code.as_deref(), Some("import_interrupted"));
        assert!(jobs[0].has_begun() && !jobs[0].has_counts());
        undo(&instance, jobs[0].id, UndoScope::Unchanged).await;
        assert!(titles(&instance).await.is_empty());
        restore(&instance, jobs[0].id).await;
        let restored = instance.service.find_import(instance.owner, jobs[0].id).await.unwrap();
        assert_eq!(restored.state, ImportState::Interrupted, "as it was before the undo");
        instance.check_invariants().await;
        instance.close().await;
    }
}

/// Posts files to the import form; returns the status and the address of the redirect, or the page.
async fn post_files(api: &TestApi, files: &[(&str, &[u8])], fields: &[(&str, &str)]) -> (StatusCode, String) {
    let mut body = Vec::new();
    for (name, value) in fields {
        write!(body, "--X\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").unwrap();
    }
    for (name, bytes) in files {
        write!(body, "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n").unwrap();
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--X--\r\n");
    let request = Request::post("/forms/import")
        .header("host", "127.0.0.1:3000")
        .header("content-type", "multipart/form-data; boundary=X");
    let response = api.send(request.body(Body::from(body)).unwrap()).await;
    let status = response.status();
    if let Some(to) = response.headers().get("location") {
        return (status, to.to_str().unwrap().to_owned());
    }
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Returns the page of an import once it no longer refreshes itself.
async fn ended_page(api: &TestApi, path: &str) -> String {
    loop {
        let page = api.get_page(path).await;
        if !page.contains("This page refreshes") && !page.contains("page refreshes until") {
            return page;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn pages_preview_import_filter_and_undo_without_script() {
    for instance in test_servers().await {
        let api = TestApi::with_server(instance);
        let mut with_loss = chat_of("lossy <b>", 1);
        with_loss["mapping"]["a0"]["message"]["content"] = json!({"content_type": "unheard_of", "x": 1});
        let bytes = file_of(&[with_loss, chat_of("plain", 1)]);
        let (status, path) = post_files(&api, &[("chats.json", &bytes)], &[("from", "auto"), ("map", "")]).await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{path}");
        let page = ended_page(&api, &path).await;
        assert!(page.contains("Nothing is imported yet") && page.contains("2 new chats"), "{page}");
        assert!(page.contains("lossy &lt;b>") || page.contains("lossy &lt;b&gt;"), "{page}");
        assert!(titles(&api.instance).await.is_empty());
        let id = path.rsplit('/').next().unwrap().to_owned();
        let (status, path) = api.post_form("/forms/import/start", &[("id", &id)]).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        let page = ended_page(&api, &path).await;
        assert!(page.contains("2 imported") && page.contains("Undo this import"), "{page}");
        assert!(page.contains(r#"aria-current="true""#), "{page}");
        let lost = api.get_page(&format!("{path}?show=lost")).await;
        assert!(!lost.contains(r#"data-kind="left_out""#) && !lost.contains(r#"data-kind="put_right""#), "{lost}");
        assert_eq!(api.call("GET", &format!("{path}?show=nothing"), None).await.0, StatusCode::BAD_REQUEST);

        let id = path.rsplit('/').next().unwrap().to_owned();
        let (status, question) = api.post_form("/forms/import/undo", &[("id", &id)]).await;
        assert_eq!(status, StatusCode::OK);
        assert!(question.contains("What this import created is moved to Trash: 2 chats."), "{question}");
        let (status, _) = api.post_form("/forms/import/undo", &[("id", &id), ("sure", "1")]).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        assert!(ended_page(&api, &path).await.contains("The import was undone."));
        assert!(titles(&api.instance).await.is_empty());
        assert!(api.get_page("/trash").await.contains("Undone imports"));
        let (status, _) = api.post_form("/forms/import/restore", &[("id", &id)]).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        assert!(ended_page(&api, &path).await.contains("Restored."));
        assert_eq!(titles(&api.instance).await.len(), 2);
        api.instance.close().await;
    }
}

#[tokio::test]
async fn page_lists_what_an_undo_kept_and_undoes_the_rest() {
    let instance = test_servers().await.remove(0);
    let job = import(&instance, &file_of(&[chat_of("drafted <b>", 1), chat_of("plain", 1)])).await;
    let drafted = job.report.chats[0].id.unwrap();
    let draft = Draft { text: "And then".to_owned(), ..Draft::default() };
    instance.service.save_draft(instance.owner, Some(drafted), draft).await.unwrap();
    let api = TestApi::with_server(instance);
    let (id, path) = (job.id.to_string(), format!("/settings/data/imports/{}", job.id));
    api.post_form("/forms/import/undo", &[("id", &id), ("sure", "1")]).await;
    let page = ended_page(&api, &path).await;
    assert!(page.contains("data-kept") && page.contains(&format!("href=\"/c/{drafted}\"")), "{page}");
    assert!(page.contains("Undo the rest"), "{page}");
    let (status, question) = api.post_form("/forms/import/undo", &[("id", &id), ("changed", "1")]).await;
    assert_eq!(status, StatusCode::OK);
    assert!(question.contains("Undo the rest of this import?"), "{question}");
    assert_eq!(titles(&api.instance).await.len(), 1, "nothing happens before it is confirmed");
    let (status, _) = api.post_form("/forms/import/undo", &[("id", &id), ("changed", "1"), ("sure", "1")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let page = ended_page(&api, &path).await;
    assert!(!page.contains("data-kept"), "{page}");
    assert!(titles(&api.instance).await.is_empty());
    api.instance.close().await;
}

#[tokio::test]
async fn several_files_are_one_import_and_mapping_needs_its_format() {
    let instance = test_servers().await.remove(0);
    let api = TestApi::with_server(instance);
    let (one, two) = (file_of(&[chat_of("one", 1)]), file_of(&[chat_of("two", 1)]));
    let files = [("a/conversations.json", &one[..]), ("conversations.json", &two[..])];
    let (status, path) = post_files(&api, &files, &[("from", "chatgpt")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{path}");
    let page = ended_page(&api, &path).await;
    assert!(page.contains("conversations.json (+1)"), "{page}");
    let (status, page) = post_files(&api, &files, &[("from", "claude"), ("map", "role=who")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("only allowed with `from=messages`"), "{page}");
    let (status, page) = post_files(&api, &[], &[("from", "auto")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("choose a file first"), "{page}");
    api.instance.close().await;
}

#[tokio::test]
async fn api_previews_starts_undoes_and_restores() {
    let instance = test_servers().await.remove(0);
    let api = TestApi::with_server(instance);
    let bytes = json!([chat_of("one", 1)]);
    let ended = async |id: &Value| {
        loop {
            let (_, job) = api.call("GET", &format!("/api/imports/{}", id.as_str().unwrap()), None).await;
            if job["is_over"] == true {
                return job;
            }
            tokio::task::yield_now().await;
        }
    };
    let (status, both) = api.call("POST", "/api/imports?preview=true&dry_run=true", Some(bytes.clone())).await;
    assert_eq!((status, &both["reason_code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("both_set")));
    let (status, started) = api.call("POST", "/api/imports?name=a.json&preview=true", Some(bytes)).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let preview = ended(&started["id"]).await;
    assert!(preview["importable_until"].is_string(), "{preview}");
    let path = |id: &Value, action: &str| format!("/api/imports/{}/{action}", id.as_str().unwrap());
    let (status, import) = api.call("POST", &path(&started["id"], "start"), None).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{import}");
    let job = ended(&import["id"]).await;
    assert_eq!((&job["state"], &job["present"]["chats"]), (&json!("finished"), &json!(1)), "{job}");
    let reversed = async |id: &Value| {
        loop {
            let (_, job) = api.call("GET", &format!("/api/imports/{}", id.as_str().unwrap()), None).await;
            if job["reversal"]["is_over"] == true {
                return job;
            }
            tokio::task::yield_now().await;
        }
    };
    let (status, answer) = api.call("POST", &path(&import["id"], "undo"), None).await;
    assert_eq!((status, &answer["id"]), (StatusCode::ACCEPTED, &import["id"]), "{answer}");
    let undone = reversed(&import["id"]).await;
    assert_eq!((&undone["state"], &undone["reversal"]["removed"]["chats"]), (&json!("undone"), &json!(1)), "{undone}");
    let (status, again) = api.call("POST", &path(&import["id"], "undo"), None).await;
    assert_eq!((status, &again["code"]), (StatusCode::CONFLICT, &json!("import_not_undoable")));
    let (status, _) = api.call("POST", &path(&import["id"], "restore"), None).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let restored = reversed(&import["id"]).await;
    assert_eq!((&restored["state"], &restored["reversal"]["restored"]), (&json!("finished"), &json!(1)), "{restored}");
    let (_, all) = api.call("GET", "/api/imports", None).await;
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    assert!(all[0].get("report").is_none() && all[0]["imported"] == 1, "{all}");
    let address = format!("/api/imports/{}", import["id"].as_str().unwrap());
    assert_eq!(api.call("DELETE", &address, None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(api.call("GET", &address, None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(titles(&api.instance).await, ["one"], "what it created is kept");
    for action in ["start", "stop", "undo", "restore"] {
        let (status, _) = api.call("POST", &path(&json!(ids::mint::<ImportId>().to_string()), action), None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{action}");
    }
    api.instance.close().await;
}
