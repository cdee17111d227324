//! Records of imports: the owner finds them with what they created, others do not, and a restart interrupts them.

use serde_json::json;
use turnleaf::domain::{ChatId, DocumentId, ImportCreations, ImportId, ImportState, UndoScope, UserId, limits};
use turnleaf_store::Db;
use turnleaf_store::accounts::users;
use turnleaf_store::deletions::{self, DeletionRoot, NewDeletion};
use turnleaf_store::documents::write::{self, NewDocument, NewDocumentVersion};
use turnleaf_store::transfer::imports::kept::PresentDocument;
use turnleaf_store::transfer::imports::{self, ImportedTurns};

use crate::databases::test_databases;
use crate::domain_fixtures::{next_id, next_time};
use crate::walkthrough;

async fn insert_document(db: &Db, owner: UserId) -> DocumentId {
    let id = next_id();
    let mut tx = db.begin().await.unwrap();
    let document = NewDocument { id, owner_id: owner, title: "Imported", kind: "text/markdown" };
    let version = NewDocumentVersion { content: "a plan", origin: None, mime: "text/markdown", notes: &[] };
    write::insert(&mut tx, &document, &version, next_time()).await.unwrap();
    tx.commit().await.unwrap();
    id
}

/// Records an import that added the first two turns of the chat, and a document, and checks who can read it.
pub async fn check_import_record(db: &Db, owner: UserId, chat: ChatId) {
    let (id, stranger): (ImportId, UserId) = (next_id(), next_id());
    let document = insert_document(db, owner).await;
    let turns = ImportedTurns { chat_id: chat, ords: 1..=2 };
    let mut tx = db.begin().await.unwrap();
    imports::insert(&mut tx, owner, id, &json!({ "name": "chats.json" }), next_time()).await.unwrap();
    imports::record_turns(&mut tx, stranger, id, &turns).await.unwrap();
    imports::record_document(&mut tx, stranger, id, document).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(imports::undo::list_turns(db, owner, id).await.unwrap(), [], "another user cannot record");
    let mut tx = db.begin().await.unwrap();
    // A repeated record is one.
    for _ in 0..2 {
        imports::record_turns(&mut tx, owner, id, &turns).await.unwrap();
        imports::record_document(&mut tx, owner, id, document).await.unwrap();
    }
    tx.commit().await.unwrap();
    let stored = imports::find(db, owner, id).await.unwrap().unwrap();
    let present = ImportCreations { chats: 0, extended_chats: 1, documents: 1 };
    assert_eq!((stored.state, stored.present, stored.in_trash), (ImportState::Running, present, 0));
    assert_eq!(stored.report, json!({ "name": "chats.json" }));
    assert_eq!(imports::list(db, owner, 10).await.unwrap(), [stored]);
    let kept = imports::kept::list_chats(db, owner, id, 10).await.unwrap();
    assert_eq!(kept.iter().map(|kept| kept.id).collect::<Vec<_>>(), [chat]);
    let kept = imports::kept::list_documents(db, owner, id, 10).await.unwrap();
    assert_eq!(kept, [PresentDocument { id: document, title: "Imported".to_owned(), is_used: false }]);
    assert_eq!(imports::kept::list_chats(db, stranger, id, 10).await.unwrap(), []);
    assert_eq!(imports::kept::list_documents(db, stranger, id, 10).await.unwrap(), []);
    assert_eq!(imports::undo::list_turns(db, owner, id).await.unwrap(), [turns]);
    assert_eq!(imports::undo::list_documents_to_undo(db, owner, id, UndoScope::Unchanged).await.unwrap(), [document]);
    assert!(imports::undo::is_written_in(db, owner, chat).await.unwrap());
    assert!(imports::undo::placed_turns(db, owner, chat).await.unwrap().len() > 2);

    // The chat has messages of its own, which the check finds among those that a deletion has marked.
    let mut tx = db.begin().await.unwrap();
    let new = NewDeletion { id: next_id(), owner_id: owner, chat_id: chat, root: DeletionRoot::Chat, at: next_time() };
    deletions::soft_delete(&mut tx, &new).await.unwrap();
    assert!(imports::undo::takes_writing(&mut tx, owner, id, &new).await.unwrap());
    tx.rollback().await.unwrap();

    assert_eq!(imports::find(db, stranger, id).await.unwrap(), None);
    assert_eq!(imports::list(db, stranger, 10).await.unwrap(), []);
    assert_eq!(imports::undo::list_turns(db, stranger, id).await.unwrap(), []);
    assert_eq!(imports::undo::list_documents_to_undo(db, stranger, id, UndoScope::Changed).await.unwrap(), []);
    assert_eq!(imports::undo::placed_turns(db, stranger, chat).await.unwrap(), []);
    assert!(!imports::undo::is_written_in(db, stranger, chat).await.unwrap());

    let mut tx = db.begin().await.unwrap();
    let report = json!({ "name": "chats.json", "known": 1, "chats": [{ "title": "a" }], "findings": [] });
    let other = (ImportState::Stopped, &report);
    imports::finish(&mut tx, stranger, id, other, next_time()).await.unwrap();
    imports::finish(&mut tx, owner, id, (ImportState::Finished, &report), next_time()).await.unwrap();
    assert!(!imports::undo::mark_undone(&mut tx, stranger, id, next_time()).await.unwrap());
    assert!(
        !imports::undo::mark_restored(&mut tx, owner, id, ImportState::Finished).await.unwrap(),
        "it is not undone"
    );
    assert_eq!(imports::delete_all(&mut tx, stranger).await.unwrap(), 0);
    assert!(!imports::delete(&mut tx, stranger, id).await.unwrap());
    assert_eq!(imports::list_running(&mut tx).await.unwrap(), []);
    assert!(!imports::interrupt(&mut tx, owner, id, &report, next_time()).await.unwrap(), "it is over");
    tx.commit().await.unwrap();
    let stored = imports::find(db, owner, id).await.unwrap().unwrap();
    assert_eq!((stored.state, stored.report), (ImportState::Finished, report));
    assert!(stored.ended_at.is_some());
    assert_eq!(imports::list_ends(db, owner, 10).await.unwrap(), [stored.ended_at.unwrap()]);
    assert!(imports::list_ends(db, stranger, 10).await.unwrap().is_empty());
    let listed = imports::list(db, owner, 10).await.unwrap();
    assert_eq!(listed[0].report, json!({ "name": "chats.json", "known": 1 }), "a list has only the summary");
}

#[tokio::test]
async fn document_of_import_is_listed_while_undone_and_unchanged() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let (id, document): (ImportId, _) = (next_id(), insert_document(db, owner).await);
        let mut tx = db.begin().await.unwrap();
        imports::insert(&mut tx, owner, id, &json!(null), next_time()).await.unwrap();
        imports::record_document(&mut tx, owner, id, document).await.unwrap();
        imports::finish(&mut tx, owner, id, (ImportState::Finished, &json!(null)), next_time()).await.unwrap();
        let deletion = next_id();
        assert!(write::move_to_trash(&mut tx, owner, document, deletion, next_time()).await.unwrap());
        imports::undo::record_document_deletion(&mut tx, owner, id, (document, deletion)).await.unwrap();
        assert!(imports::undo::mark_undone(&mut tx, owner, id, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        let stored = imports::find(db, owner, id).await.unwrap().unwrap();
        assert_eq!((stored.state, stored.in_trash, stored.present.is_empty()), (ImportState::Undone, 1, true));
        assert_eq!(imports::undo::list_deleted_documents(db, owner, id).await.unwrap(), [document]);
        assert!(turnleaf_store::documents::read::list_deleted(db, owner, 10).await.unwrap().is_empty());
        let mut tx = db.begin().await.unwrap();
        write::restore(&mut tx, owner, document).await.unwrap();
        assert!(imports::undo::mark_restored(&mut tx, owner, id, ImportState::Finished).await.unwrap());
        let newer = NewDocumentVersion { content: "a better plan", origin: None, mime: "text/markdown", notes: &[] };
        let newest = write::newest_version(&mut tx, document).await.unwrap().map(|(at, _)| at);
        write::add_version(&mut tx, document, &newer, newest, next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let stored = imports::find(db, owner, id).await.unwrap().unwrap();
        assert_eq!((stored.state, stored.in_trash, stored.present.documents), (ImportState::Finished, 0, 1));
        assert_eq!(imports::undo::list_documents_to_undo(db, owner, id, UndoScope::Unchanged).await.unwrap(), []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn restart_interrupts_running_imports_and_old_ones_are_forgotten() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let story = walkthrough::start_walkthrough(db).await;
        let owner = story.owner();
        let mut tx = db.begin().await.unwrap();
        let running: ImportId = next_id();
        imports::insert(&mut tx, owner, running, &json!({}), next_time()).await.unwrap();
        let progress = json!({ "imported": 3 });
        imports::store_report(&mut tx, next_id(), running, &json!({}), next_time()).await.unwrap();
        imports::store_report(&mut tx, owner, running, &progress, next_time()).await.unwrap();
        assert_eq!(imports::list_running(&mut tx).await.unwrap(), [(owner, running, progress.clone())]);
        assert!(!imports::interrupt(&mut tx, next_id(), running, &progress, next_time()).await.unwrap());
        assert!(imports::interrupt(&mut tx, owner, running, &progress, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        let stored = imports::find(db, owner, running).await.unwrap().unwrap();
        assert_eq!((stored.state, stored.report), (ImportState::Interrupted, progress));
        assert!(stored.reported_at > stored.started_at);
        assert!(stored.ended_at.is_some());
        let mut tx = db.begin().await.unwrap();
        let forgotten: ImportId = next_id();
        imports::insert(&mut tx, owner, forgotten, &json!({}), next_time()).await.unwrap();
        assert!(!imports::delete(&mut tx, owner, forgotten).await.unwrap(), "it runs");
        let state = (ImportState::Finished, &json!({}));
        imports::finish(&mut tx, owner, forgotten, state, next_time()).await.unwrap();
        assert!(imports::delete(&mut tx, owner, forgotten).await.unwrap());
        for _ in 0..limits::IMPORTS_KEPT {
            let id = next_id();
            imports::insert(&mut tx, owner, id, &json!({}), next_time()).await.unwrap();
            imports::finish(&mut tx, owner, id, (ImportState::Finished, &json!({})), next_time()).await.unwrap();
        }
        tx.commit().await.unwrap();
        let kept = imports::list(db, owner, limits::IMPORTS_KEPT + 10).await.unwrap();
        assert_eq!(kept.len(), limits::IMPORTS_KEPT as usize);
        assert!(kept.iter().all(|import| import.id != running));
        fresh.close().await;
    }
}

#[tokio::test]
async fn document_is_untouched_until_it_is_renamed_or_attached_to_a_draft() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let (id, document): (ImportId, _) = (next_id(), insert_document(db, owner).await);
        let mut tx = db.begin().await.unwrap();
        imports::insert(&mut tx, owner, id, &json!({}), next_time()).await.unwrap();
        imports::record_document(&mut tx, owner, id, document).await.unwrap();
        let unchanged = (id, UndoScope::Unchanged);
        assert!(imports::undo::can_undo_document(&mut tx, owner, unchanged, document).await.unwrap());
        assert!(!imports::undo::can_undo_document(&mut tx, next_id(), unchanged, document).await.unwrap());
        let block = json!([{ "type": "document", "document_id": document.to_string() }]).to_string();
        let text = format!(
            "INSERT INTO drafts (owner_id, chat_id, text, attachments, rev, updated_at) \
             SELECT owner_id, NULL, '', '{block}', 1, started_at FROM imports"
        );
        tx.commit().await.unwrap();
        crate::damage::sql(db, text).await;
        let mut tx = db.begin().await.unwrap();
        assert!(!imports::undo::can_undo_document(&mut tx, owner, unchanged, document).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(
            imports::undo::list_documents_to_undo(db, owner, id, UndoScope::Unchanged).await.unwrap(),
            [document]
        );
        crate::damage::sql(db, "UPDATE documents SET title = 'Renamed'".to_owned()).await;
        assert_eq!(imports::undo::list_documents_to_undo(db, owner, id, UndoScope::Unchanged).await.unwrap(), []);
        // A draft uses it, and undoing the rest would keep it.
        let kept = imports::kept::list_documents(db, owner, id, 10).await.unwrap();
        assert_eq!(kept, [PresentDocument { id: document, title: "Renamed".to_owned(), is_used: true }]);
        // With what was changed, all that is left is a use of it.
        let changed = imports::undo::list_documents_to_undo(db, owner, id, UndoScope::Changed).await.unwrap();
        assert_eq!(changed, [document]);
        let mut tx = db.begin().await.unwrap();
        assert!(!imports::undo::can_undo_document(&mut tx, owner, (id, UndoScope::Changed), document).await.unwrap());
        tx.commit().await.unwrap();
        crate::damage::sql(db, "DELETE FROM drafts".to_owned()).await;
        assert!(!imports::kept::list_documents(db, owner, id, 10).await.unwrap()[0].is_used);
        let mut tx = db.begin().await.unwrap();
        assert!(imports::undo::can_undo_document(&mut tx, owner, (id, UndoScope::Changed), document).await.unwrap());
        assert!(!imports::undo::can_undo_document(&mut tx, owner, unchanged, document).await.unwrap());
        tx.commit().await.unwrap();
        fresh.close().await;
    }
}
