//! Versions of a turn: their lists, the leaf that each leads to, names, and replies edited by a person. Over the HTTP
//! API, and on both databases where requests race.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::turns::context::{ReplayMode, ReplayReason};
use turnleaf::domain::{Author, BranchOrigin, TurnId, TurnStatus};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};

use crate::databases::test_databases;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step, thinking_step};

fn replies(words: &[&str]) -> ScriptedProvider {
    ScriptedProvider::new(
        "scripted",
        words.iter().map(|word| streamed_answer([thinking_step("hm"), text_step(word)])).collect::<Vec<_>>(),
    )
}

async fn send_below(instance: &TestServer, after: &AcceptedExchange, words: &str) -> AcceptedExchange {
    let place = PlacementRequest { prev_turn_id: Some(after.assistant_turn.id), ..PlacementRequest::default() };
    let next = TurnRequest { chat_id: Some(after.chat.id), place, ..message_to_send(words) };
    let started = instance.service.start_turn(instance.owner, next).await.unwrap();
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

async fn start_chat(instance: &TestServer, words: &str) -> AcceptedExchange {
    let started = instance.send(words).await;
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

async fn retry(instance: &TestServer, turn: TurnId) -> AcceptedExchange {
    let again = instance
        .service
        .retry_turn(instance.owner, turn, PlacementRequest::default(), <_>::default(), None)
        .await
        .unwrap();
    instance.wait_until_ended(again.assistant_turn.id).await;
    again
}

async fn edit(instance: &TestServer, turn: TurnId, words: &str) -> AcceptedExchange {
    instance.service.edit_turn(instance.owner, turn, message_to_send(words)).await.unwrap()
}

async fn leaf(instance: &TestServer, started: &AcceptedExchange, at: Option<TurnId>) -> TurnId {
    let path = instance.service.path(instance.owner, started.chat.id, at, 50).await.unwrap();
    path.turns.last().unwrap().id
}

#[tokio::test]
async fn version_leads_to_last_read_leaf_and_chat_opens_there_on_any_device() {
    let instance = TestServer::new(replies(&["1", "2", "3", "4", "5"])).await;
    let first = start_chat(&instance, "a").await;
    let second = send_below(&instance, &first, "b").await;
    let third = send_below(&instance, &second, "c").await;
    let other = retry(&instance, second.assistant_turn.id).await;
    let sibling = retry(&instance, third.assistant_turn.id).await;
    let below_first = |at| leaf(&instance, &first, at);
    assert_eq!(below_first(None).await, sibling.assistant_turn.id);
    assert_eq!(below_first(Some(second.assistant_turn.id)).await, sibling.assistant_turn.id, "made last");
    assert_eq!(below_first(Some(other.assistant_turn.id)).await, other.assistant_turn.id);

    instance.service.remember_shown_path(instance.owner, first.chat.id, third.assistant_turn.id).await;
    instance.service.remember_shown_path(instance.owner, first.chat.id, other.assistant_turn.id).await;
    assert_eq!(below_first(None).await, other.assistant_turn.id, "shown last");
    assert_eq!(below_first(Some(second.assistant_turn.id)).await, third.assistant_turn.id, "of what is below");
    assert_eq!(below_first(Some(first.user_turn.id)).await, other.assistant_turn.id);
    instance.check_invariants().await;
}

#[tokio::test]
async fn version_list_has_details_to_choose_by() {
    let instance = TestServer::new(replies(&["one", "two", "three"])).await;
    let first = start_chat(&instance, "a").await;
    let again = retry(&instance, first.assistant_turn.id).await;
    send_below(&instance, &again, "b").await;
    let written = edit(&instance, first.assistant_turn.id, "# My own\nwords").await;
    let path = instance.service.path(instance.owner, first.chat.id, None, 50).await.unwrap();
    let versions = instance.service.versions(instance.owner, first.chat.id, &path.siblings).await.unwrap();
    assert_eq!(versions.len(), 1, "turns with one version have no list");
    let listed: Vec<(&str, u64, bool, TurnStatus)> = versions[&written.assistant_turn.id]
        .iter()
        .map(|version| (version.words.as_str(), version.followed_by, version.is_edited, version.status))
        .collect();
    let complete = TurnStatus::Complete;
    assert_eq!(listed, [("one", 0, false, complete), ("two", 2, false, complete), ("My own words", 0, true, complete)]);
    let elsewhere = async |id| {
        let turn = stored_turn(&instance, id).await;
        instance.service.newer_turns(instance.owner, &turn).await.unwrap().map(|elsewhere| elsewhere.turns)
    };
    let (newest, oldest) = (written.assistant_turn.id, first.assistant_turn.id);
    assert_eq!(elsewhere(newest).await, None);
    assert_eq!(elsewhere(oldest).await, Some(4), "two versions and one exchange came after it");
}

async fn stored_turn(instance: &TestServer, id: TurnId) -> turnleaf::domain::Turn {
    instance.service.turn(instance.owner, id).await.unwrap()
}

#[tokio::test]
async fn person_written_reply_is_sibling_and_sent_as_plain_text() {
    let provider = replies(&["one", "two", "three"]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = start_chat(&instance, "a").await;
    let second = send_below(&instance, &first, "b").await;
    let version = edit(&instance, second.assistant_turn.id, "In my words.").await;
    assert_eq!((version.branch.origin, &version.branch.lock), (BranchOrigin::Edit, &first.branch.lock));
    assert_eq!(version.assistant_turn.prev_turn_id, Some(second.user_turn.id));
    assert_eq!(version.assistant_turn.status, TurnStatus::Complete);
    assert_eq!(version.assistant_turn.blocks[0].author, Author::User);
    assert!(stored_turn(&instance, version.assistant_turn.id).await.is_edited());
    assert_eq!(log.requests().len(), 2, "nobody is asked");
    assert_eq!(version.branch.name, "edited 2 · b");

    let next = send_below(&instance, &version, "c").await;
    let request: Value = serde_json::from_slice(&log.requests()[2]).unwrap();
    let contents: Vec<&str> =
        request["messages"].as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["a", "one", "b", "In my words.", "c"]);
    let generation = &instance.service.generations(instance.owner, next.assistant_turn.id).await.unwrap()[0];
    let manifest: turnleaf::domain::turns::context::RequestManifest =
        serde_json::from_value(generation.request_manifest.clone()).unwrap();
    let modes: Vec<(ReplayMode, ReplayReason)> =
        manifest.turns.iter().map(|entry| (entry.mode, entry.reason)).collect();
    let from_blocks = (ReplayMode::Canonical, ReplayReason::FromBlocks);
    let (behind, edited) =
        ((ReplayMode::Canonical, ReplayReason::BehindModelBreak), (ReplayMode::Canonical, ReplayReason::Edited));
    assert_eq!(modes, [from_blocks, behind, from_blocks, edited, from_blocks]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn repeated_reply_edit_is_stored_once_and_requests_no_reply() {
    let api = TestApi::with_server(TestServer::new(replies(&["one"])).await);
    let first = start_chat(&api.instance, "a").await;
    let path = format!("/api/turns/{}/edit", first.assistant_turn.id);
    let body = json!({ "text": "Mine.", "client_request_id": "e1" });
    let (status, made) = api.call("POST", &path, Some(body.clone())).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(made["assistant_turn"]["blocks"][0]["author"], "user");
    let (status, again) = api.call("POST", &path, Some(body)).await;
    assert_eq!((status, &again["assistant_turn"]["id"]), (StatusCode::OK, &made["assistant_turn"]["id"]));
    let other = json!({ "text": "Other.", "client_request_id": "e1" });
    assert_eq!(api.call("POST", &path, Some(other)).await.0, StatusCode::CONFLICT);
    for (body, field) in [
        (json!({ "text": "x", "model": "model-b" }), "model"),
        (json!({ "text": "x", "params": { "temperature": 0.5 } }), "params"),
        (json!({ "text": "x", "nobody": 1 }), "nobody"),
    ] {
        let (status, problem) = api.call("POST", &path, Some(body)).await;
        assert!(status.is_client_error(), "{problem}");
        assert_eq!(problem["field"], field, "{problem}");
    }
    assert_eq!(api.call("POST", &path, Some(json!({ "text": " " }))).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn branches_are_named_after_their_first_message() {
    let instance = TestServer::new(replies(&["1", "2", "3", "4", "5", "6"])).await;
    let first = start_chat(&instance, "What is Rust?").await;
    let name = |started: &AcceptedExchange| started.branch.name.clone();
    assert_eq!(name(&first), "main");
    let again = retry(&instance, first.assistant_turn.id).await;
    assert_eq!(name(&again), "retry 2 · What is Rust?");
    let edited = edit(&instance, first.user_turn.id, "## What is a borrow checker, and why is it there?").await;
    instance.wait_until_ended(edited.assistant_turn.id).await;
    assert_eq!(name(&edited), "What is a borrow checker, and…");
    let same = edit(&instance, first.user_turn.id, "What is a borrow checker, and why is it there?").await;
    instance.wait_until_ended(same.assistant_turn.id).await;
    assert_eq!(name(&same), "What is a borrow checker, and… (2)");
    send_below(&instance, &again, "And C?").await;
    let aside = send_below(&instance, &again, "And Zig?").await;
    assert_eq!((name(&aside).as_str(), aside.branch.origin), ("And Zig?", BranchOrigin::Fork));
}

#[tokio::test]
async fn fifty_concurrent_edits_give_fifty_siblings_and_running_reply_continues() {
    for fresh in test_databases().await {
        // The reply outlasts this test, and is never silent for long.
        let piece = || [text_step("."), ScriptedStep::Wait(Duration::from_millis(100))];
        let slow = ScriptedAnswer::Stream((0..600).flat_map(|_| piece()).collect());
        let answers = std::iter::once(slow).chain((0..50).map(|_| streamed_answer([text_step("x")])));
        let api = TestApi::with_server(
            TestServer::with_database(fresh.db.clone(), ScriptedProvider::new("scripted", answers)).await,
        );
        let first = api.instance.send("a").await;
        let path = format!("/api/turns/{}/edit", first.user_turn.id);
        let edits = (0..50).map(|n| api.call("POST", &path, Some(json!({ "text": format!("edit {n}") }))));
        let mut ids = Vec::new();
        for (status, made) in futures::future::join_all(edits).await {
            assert_eq!(status, StatusCode::CREATED, "{made}");
            ids.push(made["assistant_turn"]["id"].as_str().unwrap().parse::<TurnId>().unwrap());
        }
        for id in ids {
            assert_eq!(api.instance.wait_until_ended(id).await.status, TurnStatus::Complete);
        }
        let details = api.instance.service.turn_details(api.instance.owner, first.user_turn.id).await.unwrap();
        assert_eq!(details.siblings.len(), 51);
        let names = api.instance.service.branches(api.instance.owner, first.chat.id).await.unwrap();
        assert_eq!(names.len(), 51);
        let left = stored_turn(&api.instance, first.assistant_turn.id).await;
        assert!(!left.status.is_terminal(), "{:?}: {:?}", left.status, left.error);
        let stopped = api.instance.service.stop_turn(api.instance.owner, first.assistant_turn.id).await.unwrap();
        assert!(stopped.content_text().starts_with('.'));
        api.instance.check_invariants().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn retry_ids_are_unique() {
    let instance = TestServer::new(replies(&["1", "2", "3"])).await;
    let first = start_chat(&instance, "a").await;
    let name = || async {
        let ids = instance.service.retry_ids(instance.owner, &[first.assistant_turn.id]).await.unwrap();
        ids[&first.assistant_turn.id].clone()
    };
    let before = name().await;
    assert_eq!(name().await, before, "the same press of the same button");
    let again = retry(&instance, first.assistant_turn.id).await;
    let after = name().await;
    assert_ne!(after, before);
    // Hides the turn as a deletion does.
    sqlx::query("UPDATE turns SET deleted_at = '2026-01-01T00:00:00Z', deletion_id = zeroblob(16) WHERE id = $1")
        .bind(again.assistant_turn.id.uuid())
        .execute(sqlite(&instance))
        .await
        .unwrap();
    assert_eq!(name().await, after);
}

fn sqlite(instance: &TestServer) -> &sqlx::SqlitePool {
    match &instance.db {
        turnleaf_store::Db::Sqlite { writer, .. } => writer,
        turnleaf_store::Db::Postgres { .. } => panic!("the test server uses SQLite by default"),
    }
}

#[tokio::test]
async fn reading_position_can_be_set() {
    let api = TestApi::with_server(TestServer::new(replies(&["1", "2", "3", "4"])).await);
    let first = start_chat(&api.instance, "a").await;
    let second = send_below(&api.instance, &first, "b").await;
    retry(&api.instance, second.assistant_turn.id).await;
    let path = format!("/api/chats/{}/last-viewed", first.chat.id);
    let seen = json!({ "turn_id": second.assistant_turn.id });
    assert_eq!(api.call("PUT", &path, Some(seen)).await.0, StatusCode::NO_CONTENT);
    assert_eq!(leaf(&api.instance, &first, None).await, second.assistant_turn.id);
    // A turn in the middle keeps the path below it.
    let middle = json!({ "turn_id": first.user_turn.id });
    assert_eq!(api.call("PUT", &path, Some(middle)).await.0, StatusCode::NO_CONTENT);
    assert_eq!(leaf(&api.instance, &first, None).await, second.assistant_turn.id);
    let (_, chat) = api.call("GET", &format!("/api/chats/{}", first.chat.id), None).await;
    assert_eq!(chat["last_viewed_turn_id"], json!(first.user_turn.id));
    let foreign = start_chat(&api.instance, "elsewhere").await;
    for wrong in [json!(foreign.user_turn.id), json!("0190b5b4-7c1e-7abc-8def-0123456789ab")] {
        let (status, _) = api.call("PUT", &path, Some(json!({ "turn_id": wrong }))).await;
        assert!(status.is_client_error());
    }
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn reply_edit_without_text_is_refused() {
    let instance = TestServer::new(replies(&["1"])).await;
    let first = start_chat(&instance, "a").await;
    let refused = instance
        .service
        .edit_turn(instance.owner, first.assistant_turn.id, TurnRequest { content: Vec::new(), ..message_to_send("") })
        .await;
    assert!(matches!(refused, Err(ServiceError::Invalid(_))));
}

/// Posts a form as a browser without script does. Returns the status and the redirect target.
async fn post_form(api: &TestApi, path: &str, body: &str) -> (StatusCode, String) {
    let request = http::Request::builder()
        .method("POST")
        .uri(path)
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(axum::body::Body::from(body.to_owned()))
        .unwrap();
    let response = api.send(request).await;
    let to = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned()).unwrap_or_default();
    (response.status(), to)
}

async fn page(api: &TestApi, path: &str) -> (StatusCode, String) {
    let request = http::Request::builder().uri(path).header("host", "127.0.0.1:3000");
    let response = api.send(request.body(axum::body::Body::empty()).unwrap()).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn message_without_reply_has_form_to_request_one() {
    let api = TestApi::with_server(TestServer::new(replies(&["one", "two", "three"])).await);
    let first = start_chat(&api.instance, "a").await;
    let (chat, question) = (first.chat.id, first.user_turn.id);
    let mut reply = first.assistant_turn.id;
    let form = |html: &str| {
        let of =
            format!("name=\"turn_id\" value=\"{question}\"><input type=\"hidden\" name=\"client_request_id\" value=\"");
        html.split(&of).nth(1).map(|rest| rest.split('"').next().unwrap().to_owned())
    };
    let (_, html) = page(&api, &format!("/c/{chat}")).await;
    assert_eq!(form(&html), None, "it has a reply");
    for _ in 0..2 {
        api.instance.service.delete_turn(api.instance.owner, reply).await.unwrap();
        let (_, html) = page(&api, &format!("/c/{chat}")).await;
        let name = form(&html).filter(|name| !name.is_empty()).unwrap_or_else(|| panic!("{html}"));
        let retried = format!("turn_id={question}&client_request_id={name}");
        let (status, to) = post_form(&api, "/forms/retry", &retried).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        assert_eq!(post_form(&api, "/forms/retry", &retried).await.1, to, "one reply for one press");
        let new: TurnId = to.split("at=").nth(1).unwrap().trim_end_matches("#latest").parse().unwrap();
        assert_ne!(new, reply);
        reply = new;
        assert_eq!(api.instance.wait_until_ended(reply).await.prev_turn_id, Some(question));
    }
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn every_turn_action_has_page_or_form_without_script() {
    let api = TestApi::with_server(TestServer::new(replies(&["one", "two", "three", "four"])).await);
    let first = start_chat(&api.instance, "a <b>").await;
    let (chat, question, reply) = (first.chat.id, first.user_turn.id, first.assistant_turn.id);

    let (status, html) = page(&api, &format!("/turns/{question}/edit")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        html.contains("a &lt;b&gt;") && html.contains("action=\"/forms/edit\"") && html.matches("<script").count() == 1,
        "{html}"
    );
    let edited = post_form(&api, "/forms/edit", &format!("turn_id={question}&text=other&client_request_id=f1")).await;
    assert_eq!(edited.0, StatusCode::SEE_OTHER);
    assert!(edited.1.starts_with(&format!("/c/{chat}?at=")), "{}", edited.1);
    let again = post_form(&api, "/forms/edit", &format!("turn_id={question}&text=other&client_request_id=f1")).await;
    assert_eq!(again, edited, "a second click makes nothing twice");
    let empty = post_form(&api, "/forms/edit", &format!("turn_id={question}&text=+&client_request_id=f2")).await;
    assert_eq!(empty.0, StatusCode::UNPROCESSABLE_ENTITY);

    let (_, html) = page(&api, &format!("/turns/{reply}/edit")).await;
    assert!(html.contains("Save as new version"), "{html}");
    let (status, html) = page(&api, &format!("/turns/{reply}/again")).await;
    assert!(status == StatusCode::OK && html.contains("<option value=\"scripted/model-b\""), "{html}");
    let retried = format!("turn_id={reply}&model=scripted%2Fmodel-b&client_request_id=f3");
    let (status, to) = post_form(&api, "/forms/retry", &retried).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let turn: TurnId = to.split("at=").nth(1).unwrap().trim_end_matches("#latest").parse().unwrap();
    api.instance.wait_until_ended(turn).await;
    let branch = stored_turn(&api.instance, turn).await.branch_id;
    assert_eq!(api.instance.service.branch(api.instance.owner, branch).await.unwrap().0.lock.model, "model-b");

    let copy = format!("chat_id={chat}&turn_id={reply}&client_request_id=f4");
    let (status, to) = post_form(&api, "/forms/copy", &copy).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_eq!(post_form(&api, "/forms/copy", &copy).await.1, to, "one copy for one press");
    let (_, html) = page(&api, to.trim_end_matches("#latest")).await;
    assert!(html.contains("Copied from") && html.contains(&format!("/c/{chat}?at={reply}")), "{html}");

    let (status, html) = page(&api, &format!("/c/{chat}?from={reply}")).await;
    assert!(status == StatusCode::OK && html.contains("Continue from here"), "{html}");
    let unknown = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    for path in [format!("/turns/{unknown}/edit"), format!("/turns/{unknown}/again"), "/turns/1/edit".to_owned()] {
        assert_eq!(page(&api, &path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    for (path, body) in [
        ("/forms/edit", format!("turn_id={unknown}&text=x")),
        ("/forms/copy", format!("chat_id={chat}&turn_id=1")),
        ("/forms/copy", format!("chat_id={unknown}&turn_id={reply}")),
    ] {
        assert_eq!(post_form(&api, path, &body).await.0, StatusCode::NOT_FOUND, "{path} {body}");
    }
    api.instance.check_invariants().await;
}
