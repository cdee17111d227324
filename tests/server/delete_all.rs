//! Deleting all data with the form, while a reply runs, on every database: which rows of a person remain, and that
//! file bytes are purged a day later.

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::limits;
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedStep};
use turnleaf_run::purge::purge_scheduled;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::transfer::imports::ImportRequest;
use turnleaf_store::Db;
use turnleaf_store::chats::drafts::{self, Draft};
use turnleaf_store::deletions::purge;

use crate::fake_file_reader::{PNG, apis_with_fake_reader, upload};
use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};

async fn count(api: &TestApi, sql: &'static str) -> i64 {
    match &api.instance.db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
    }
}

/// Counts the remaining rows of chats, files and drafts, by table.
async fn remaining_rows(api: &TestApi) -> Vec<(&'static str, i64)> {
    let tables = [
        ("chats", "SELECT COUNT(*) FROM chats"),
        ("turns", "SELECT COUNT(*) FROM turns"),
        ("blocks", "SELECT COUNT(*) FROM turn_blocks"),
        ("exchanges", "SELECT COUNT(*) FROM exchanges"),
        ("generations", "SELECT COUNT(*) FROM generations"),
        ("requests", "SELECT COUNT(*) FROM generation_requests"),
        ("events", "SELECT COUNT(*) FROM turn_events"),
        ("documents", "SELECT COUNT(*) FROM documents"),
        ("versions", "SELECT COUNT(*) FROM document_versions"),
        ("uploads", "SELECT COUNT(*) FROM uploads"),
        ("deletions", "SELECT COUNT(*) FROM deletions"),
        ("search", "SELECT COUNT(*) FROM search_entries"),
        ("imports", "SELECT COUNT(*) FROM imports"),
        ("projects", "SELECT COUNT(*) FROM projects"),
        ("shares", "SELECT COUNT(*) FROM shares"),
        ("images of shares", "SELECT COUNT(*) FROM share_blobs"),
        ("live shares", "SELECT COUNT(*) FROM branch_shares"),
        ("reports of imports", "SELECT COUNT(*) FROM import_reports"),
        ("drafts", "SELECT COUNT(*) FROM drafts WHERE text <> '' OR chat_id IS NOT NULL"),
    ];
    let mut found = Vec::new();
    for (name, sql) in tables {
        match count(api, sql).await {
            0 => {}
            rows => found.push((name, rows)),
        }
    }
    found
}

#[tokio::test]
async fn everything_is_deleted_permanently_after_confirmation() {
    let open = || ScriptedAnswer::Stream(vec![text_step("partial"), ScriptedStep::Hang]);
    for api in
        apis_with_fake_reader(|| vec![streamed_answer([text_step("one")]), streamed_answer([text_step("two")]), open()])
            .await
    {
        for words in ["first", "second"] {
            let started = api.instance.send(words).await;
            api.instance.wait_until_ended(started.assistant_turn.id).await;
        }
        let trashed = api.instance.service.list_chats(api.instance.owner, 1).await.unwrap().remove(0).id;
        api.instance.service.delete_chat(api.instance.owner, trashed).await.unwrap();
        let running = api.instance.send("third").await;
        api.instance.wait_until(running.assistant_turn.id, |turn| !turn.blocks.is_empty()).await;
        for title in ["Plan", "Old plan"] {
            let body = json!({ "title": title, "content": "one\ntwo" });
            let (status, made) = api.call("POST", "/api/documents", Some(body)).await;
            assert_eq!(status, StatusCode::CREATED, "{made}");
        }
        let (status, image) = upload(&api, "a.png", [PNG, b"bytes"].concat()).await;
        assert_eq!(status, StatusCode::CREATED, "{image}");
        let rev = drafts::rev(&api.instance.db, api.instance.owner, None).await.unwrap();
        let draft = Draft { text: "half a thought".into(), rev, ..Draft::default() };
        let mut tx = api.instance.db.begin().await.unwrap();
        let now = api.instance.service.supervisor().clock().now();
        drafts::put(&mut tx, api.instance.owner, None, &draft, now).await.unwrap().unwrap();
        tx.commit().await.unwrap();
        let project = json!({ "name": "Boat", "instructions": "Be brief." });
        assert_eq!(api.call("POST", "/api/projects", Some(project)).await.0, StatusCode::CREATED);
        let connected =
            json!({ "name": "Box", "api": "openai_chat", "base_url": "https://box.example/v1", "key": "k" });
        assert_eq!(api.call("POST", "/api/providers", Some(connected)).await.0, StatusCode::CREATED);

        // The page counts the chats with those in Trash, and nothing is deleted without the typed word.
        let page = api.get_page("/settings/data/delete").await;
        for part in [
            "3 chats, with all their branches",
            "2 documents, with their versions",
            "1 file or image",
            "/settings/data/export",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        for typed in ["", "yes", "deleted"] {
            let (status, page) = api.post_form("/forms/delete-everything", &[("word", typed)]).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
            assert!(page.contains("You did not type “delete”.") && page.contains("Nothing was deleted."), "{page}");
        }
        assert_eq!(count(&api, "SELECT COUNT(*) FROM chats").await, 3);

        let (status, to) = api.post_form("/forms/delete-everything", &[("word", " Delete ")]).await;
        assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/settings/data?done=deleted"));
        assert_eq!(remaining_rows(&api).await, []);
        assert_eq!(api.instance.service.supervisor().running_count(), 0);
        assert!(api.get_page("/settings/data?done=deleted").await.contains("Everything was deleted."));
        // Settings are kept.
        let (_, providers) = api.call("GET", "/api/providers", None).await;
        assert!(providers.as_array().unwrap().iter().any(|provider| provider["id"] == "box"), "{providers}");
        let (_, usage) = api.call("GET", "/api/usage", None).await;
        assert_ne!(usage, Value::Null);
        api.instance.check_invariants().await;

        // The bytes are purged by the maintenance of the next day.
        let tomorrow = api.instance.service.supervisor().clock().now() + limits::BLOB_KEPT + TimeDelta::minutes(1);
        purge_scheduled(&api.instance.db, tomorrow).await.unwrap();
        assert_eq!(count(&api, "SELECT COUNT(*) FROM blobs").await, 0);
        assert_eq!(count(&api, "SELECT COUNT(*) FROM blob_forms").await, 0);
        // Deleting again without any data succeeds.
        let (status, _) = api.post_form("/forms/delete-everything", &[("word", "delete")]).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        api.instance.close().await;
    }
}

#[tokio::test]
async fn undeletable_chat_is_reported_and_rest_is_deleted() {
    for api in
        apis_with_fake_reader(|| vec![streamed_answer([text_step("one")]), streamed_answer([text_step("two")])]).await
    {
        let started = api.instance.send("first").await;
        api.instance.wait_until_ended(started.assistant_turn.id).await;
        // This reply cannot be ended, because the sequence number of its ending is already taken in the journal.
        api.instance
            .sql(
                "UPDATE turns SET status = 'streaming', completed_at = NULL, last_event_seq = last_event_seq - 1 \
                 WHERE role = 'assistant'",
            )
            .await;
        let started = api.instance.send("second").await;
        api.instance.wait_until_ended(started.assistant_turn.id).await;
        let (status, page) = api.post_form("/forms/delete-everything", &[("word", "delete")]).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{page}");
        let expected = "Some items could not be deleted: new replies keep starting in the chats to be deleted; try again. \
                    The rest was deleted.";
        assert!(page.contains(expected) && !page.contains("Nothing was deleted"), "{page}");
        assert!(!page.contains("aria-invalid"), "the word is right: {page}");
        assert_eq!(count(&api, "SELECT COUNT(*) FROM chats").await, 1);
        assert_eq!(count(&api, "SELECT COUNT(*) FROM deletions").await, 0);
        api.instance.close().await;
    }
}

#[tokio::test]
async fn imports_are_deleted_and_second_request_reports_running_deletion() {
    for api in apis_with_fake_reader(Vec::new).await {
        let (service, owner) = (&api.instance.service, api.instance.owner);
        let sent = tempfile::NamedTempFile::new_in(api.instance.dir.path()).unwrap();
        std::fs::write(sent.path(), b"Dear reader").unwrap();
        let (file, name) = (sent.path().to_owned(), "private title".to_owned());
        let import = ImportRequest { owner, file, name, format: None, options: Default::default(), dry_run: false };
        let id = service.start_import(import, sent.into_temp_path()).unwrap();
        while !service.import_job(owner, id).unwrap().is_over {
            tokio::task::yield_now().await;
        }
        // A second chat is only partly imported.
        let (chat, now) = (api.create_chat().await.parse().unwrap(), service.supervisor().clock().now());
        let mut tx = api.instance.db.begin().await.unwrap();
        purge::hide_incoming(&mut tx, owner, chat, ids::mint(), (now, now + TimeDelta::minutes(2))).await.unwrap();
        tx.commit().await.unwrap();
        assert!(api.get_page("/settings/data").await.contains("private title"));
        let delete = || service.delete_everything(owner, Actor::default());
        let (done, again) = tokio::join!(delete(), delete());
        done.unwrap();
        assert!(matches!(again, Err(ServiceError::Conflict { code: "deletion_running", .. })), "{again:?}");
        assert!(!api.get_page("/settings/data").await.contains("private title"));
        assert_eq!(remaining_rows(&api).await, []);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}
