//! Deleting and restoring through the service and over HTTP: with running replies, from two tabs at once, by forms,
//! and with invalid ids and fields.

use std::sync::Arc;

use axum::body::Body;
use futures::future::join_all;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::{ExchangeKind, ModelLock, TurnId, TurnStatus, limits};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};

use crate::bush::plant_tree;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

fn word_answers(count: usize) -> impl Iterator<Item = ScriptedAnswer> {
    (0..count).map(|at| streamed_answer([text_step(&format!("reply {at}"))]))
}

fn scripted(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

async fn continue_chat(instance: &TestServer, after: &AcceptedExchange, text: &str) -> AcceptedExchange {
    let place = PlacementRequest { prev_turn_id: Some(after.assistant_turn.id), ..PlacementRequest::default() };
    let next = TurnRequest { chat_id: Some(after.chat.id), place, ..message_to_send(text) };
    let started = instance.service.start_turn(instance.owner, next).await.unwrap();
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

async fn path_of(instance: &TestServer, started: &AcceptedExchange, at: Option<TurnId>) -> Vec<TurnId> {
    let path = instance.service.path(instance.owner, started.chat.id, at, 50).await.unwrap();
    path.turns.into_iter().map(|turn| turn.id).collect()
}

#[tokio::test]
async fn running_reply_below_is_stopped_and_stored_first() {
    let open = ScriptedAnswer::Stream(vec![text_step("partial"), ScriptedStep::Hang]);
    let instance = TestServer::new(scripted([streamed_answer([text_step("one")]), open])).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let place = PlacementRequest { prev_turn_id: Some(first.assistant_turn.id), ..PlacementRequest::default() };
    let next = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("b") };
    let second = instance.service.start_turn(instance.owner, next).await.unwrap();

    let deleted = instance.service.delete_turn(instance.owner, first.assistant_turn.id).await.unwrap();
    assert_eq!((deleted.turns, deleted.branches, deleted.running_stopped), (3, 0, 1));
    assert_eq!(deleted.leaf, Some(first.user_turn.id));
    assert_eq!(instance.service.supervisor().running_count(), 0);
    assert!(matches!(
        instance.service.turn(instance.owner, second.assistant_turn.id).await,
        Err(ServiceError::NotFound)
    ));
    instance.check_invariants().await;

    let restored = instance.service.restore_deletion(instance.owner, deleted.deletion_id).await.unwrap();
    assert_eq!((restored.turns, restored.leaf), (3, Some(second.assistant_turn.id)));
    let turn = instance.service.turn(instance.owner, second.assistant_turn.id).await.unwrap();
    assert_eq!(turn.status, TurnStatus::Cancelled);
    instance.check_invariants().await;
}

#[tokio::test]
async fn chat_is_deleted_with_running_reply_and_other_branch_continues() {
    let until = Arc::new(Notify::new());
    let held = streamed_answer([text_step("slow"), ScriptedStep::WaitForSignal(until.clone()), text_step(" and done")]);
    let open = ScriptedAnswer::Stream(vec![text_step("partial"), ScriptedStep::Hang]);
    let instance = TestServer::new(scripted([streamed_answer([text_step("one")]), held, open])).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let retry =
        |id| instance.service.retry_turn(instance.owner, id, PlacementRequest::default(), Default::default(), None);
    let slow = retry(first.assistant_turn.id).await.unwrap();
    // Deleting a version does not affect the running one beside it.
    let deleted = instance.service.delete_turn(instance.owner, first.assistant_turn.id).await.unwrap();
    assert_eq!((deleted.turns, deleted.branches, deleted.running_stopped), (1, 0, 0));
    assert_eq!(deleted.leaf, Some(slow.assistant_turn.id), "the version beside it");
    until.notify_one();
    assert_eq!(instance.wait_until_ended(slow.assistant_turn.id).await.content_text(), "slow and done");
    let open = retry(slow.assistant_turn.id).await.unwrap();
    let deleted = instance.service.delete_chat(instance.owner, first.chat.id).await.unwrap();
    assert_eq!((deleted.turns, deleted.running_stopped, deleted.leaf), (3, 1, None));
    instance.check_invariants().await;
    instance.service.restore_chat(instance.owner, first.chat.id).await.unwrap();
    let turn = instance.service.turn(instance.owner, open.assistant_turn.id).await.unwrap();
    assert_eq!(turn.status, TurnStatus::Cancelled);
    instance.check_invariants().await;
}

#[tokio::test]
async fn nothing_is_added_below_concurrently_deleted_turn() {
    let instance = TestServer::new(scripted(word_answers(80))).await;
    for round in 0..8 {
        let first = instance.send("a").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        let send = |text: String| {
            let place = PlacementRequest { prev_turn_id: Some(first.assistant_turn.id), ..PlacementRequest::default() };
            let next = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send(&text) };
            instance.service.start_turn(instance.owner, next)
        };
        let sending = join_all((0..4).map(|at| send(format!("{round}.{at}"))));
        let deleting = instance.service.delete_turn(instance.owner, first.assistant_turn.id);
        let (sent, deleted) = tokio::join!(sending, deleting);
        let deleted = deleted.unwrap();
        for sent in sent {
            match sent {
                Ok(sent) => {
                    let gone = instance.service.turn(instance.owner, sent.assistant_turn.id).await;
                    assert!(matches!(gone, Err(ServiceError::NotFound)), "it went too: {gone:?}");
                }
                Err(refused) => {
                    assert!(matches!(refused, ServiceError::NotFound | ServiceError::Conflict { .. }), "{refused:?}")
                }
            }
        }
        assert_eq!(path_of(&instance, &first, None).await, [first.user_turn.id]);
        instance.check_invariants().await;
        instance.service.restore_deletion(instance.owner, deleted.deletion_id).await.unwrap();
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn message_after_deletion_gets_own_branch() {
    let instance = TestServer::new(scripted(word_answers(3))).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let second = continue_chat(&instance, &first, "b").await;
    assert_eq!(second.branch.id, first.branch.id);
    let deleted = instance.service.delete_turn(instance.owner, second.user_turn.id).await.unwrap();
    assert_eq!(deleted.leaf, Some(first.assistant_turn.id));
    let other = continue_chat(&instance, &first, "c").await;
    assert_ne!(other.branch.id, first.branch.id);
    let restored = instance.service.restore_deletion(instance.owner, deleted.deletion_id).await.unwrap();
    assert_eq!(restored.leaf, Some(second.assistant_turn.id));
    let versions = instance.service.turn_details(instance.owner, second.user_turn.id).await.unwrap().siblings;
    assert_eq!(versions, [second.user_turn.id, other.user_turn.id]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn message_with_deleted_reply_is_retried_and_chat_continues() {
    for instance in TestServer::on_every_database(|| scripted(word_answers(6))).await {
        let first = instance.send("a").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        let second = continue_chat(&instance, &first, "b").await;
        let again = |key: Option<&str>| {
            let key = key.map(str::to_owned);
            instance.service.retry_turn(
                instance.owner,
                second.user_turn.id,
                PlacementRequest::default(),
                Default::default(),
                key,
            )
        };
        let refused = again(None).await;
        assert!(matches!(&refused, Err(ServiceError::Invalid(invalid)) if invalid.field == "turn"), "{refused:?}");
        let deleted = instance.service.delete_turn(instance.owner, second.assistant_turn.id).await.unwrap();
        assert_eq!(deleted.leaf, Some(second.user_turn.id));
        // The message has no reply now; concurrent retries with one idempotency key create one.
        let next = TurnRequest { chat_id: Some(first.chat.id), ..message_to_send("c") };
        let refused = instance.service.start_turn(instance.owner, next.clone()).await;
        assert!(matches!(&refused, Err(ServiceError::Invalid(invalid)) if invalid.field == "prev_turn_id"));
        let all = join_all((0..4).map(|_| again(Some("again")))).await;
        let answered = all.into_iter().map(Result::unwrap).find(|one| one.is_new).unwrap();
        instance.wait_until_ended(answered.assistant_turn.id).await;
        assert_eq!((answered.user_turn.id, answered.exchange.kind), (second.user_turn.id, ExchangeKind::Regenerate));
        assert_eq!(answered.assistant_turn.prev_turn_id, Some(second.user_turn.id));
        assert_ne!(answered.branch.id, second.branch.id, "the deleted reply can come back to its own branch");
        assert_eq!(again(Some("again")).await.unwrap().assistant_turn.id, answered.assistant_turn.id);
        assert!(again(None).await.is_err(), "it has a reply now");
        let third = continue_chat(&instance, &answered, "c").await;
        assert_eq!(third.branch.id, answered.branch.id);
        instance.check_invariants().await;
        instance.service.restore_deletion(instance.owner, deleted.deletion_id).await.unwrap();
        let versions = instance.service.turn_details(instance.owner, second.assistant_turn.id).await.unwrap().siblings;
        assert_eq!(versions, [second.assistant_turn.id, answered.assistant_turn.id]);
        instance.check_invariants().await;

        // A permanently deleted reply frees the end of its branch.
        let fourth = continue_chat(&instance, &third, "d").await;
        let deleted = instance.service.delete_turn(instance.owner, fourth.assistant_turn.id).await.unwrap();
        instance.service.purge_deletion(instance.owner, deleted.deletion_id).await.unwrap();
        let (owner, id) = (instance.owner, fourth.user_turn.id);
        let fifth = instance
            .service
            .retry_turn(owner, id, PlacementRequest::default(), Default::default(), None)
            .await
            .unwrap();
        assert_eq!(fifth.branch.id, fourth.branch.id);
        instance.wait_until_ended(fifth.assistant_turn.id).await;
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn restore_may_exceed_version_limit() {
    for instance in TestServer::on_every_database(|| scripted(word_answers(2))).await {
        let full = usize::try_from(limits::SIBLINGS).unwrap();
        let lock = ModelLock::new("scripted", "model-a");
        let planted = plant_tree(&instance.db, lock, full + 1, |n| n.checked_sub(1).map(|_| 0)).await;
        let (chat, reply) = (planted.chat, planted.turns[1].id);
        let retry = || {
            instance.service.retry_turn(instance.owner, reply, PlacementRequest::default(), Default::default(), None)
        };
        let is_full = |result: &Result<AcceptedExchange, ServiceError>| {
            matches!(result, Err(ServiceError::Conflict { code: "too_many_siblings", .. }))
        };
        assert!(is_full(&retry().await));
        let deleted = instance.service.delete_turn(instance.owner, planted.turns[2].id).await.unwrap();
        let added = retry().await.unwrap();
        instance.wait_until_ended(added.assistant_turn.id).await;
        instance.service.restore_deletion(instance.owner, deleted.deletion_id).await.unwrap();
        let path = instance.service.path(instance.owner, chat, Some(planted.turns[2].id), 50).await.unwrap();
        assert_eq!(path.siblings[&planted.turns[2].id].len(), full + 1);
        assert_eq!(path.turns.last().unwrap().id, planted.turns[2].id);
        assert!(is_full(&retry().await));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn deleted_branch_takes_its_own_turns_and_pruning_takes_others() {
    let instance = TestServer::new(scripted(word_answers(5))).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let second = continue_chat(&instance, &first, "b").await;
    let side = continue_chat(&instance, &first, "side").await;
    let deeper = continue_chat(&instance, &side, "deeper").await;
    assert_eq!(deeper.branch.id, side.branch.id);
    let deleted = instance.service.delete_branch(instance.owner, side.branch.id).await.unwrap();
    assert_eq!((deleted.turns, deleted.branches, deleted.leaf), (4, 1, Some(second.assistant_turn.id)));
    instance.check_invariants().await;
    instance.service.restore_deletion(instance.owner, deleted.deletion_id).await.unwrap();

    let pruned = instance.service.prune_others(instance.owner, first.chat.id, side.user_turn.id).await.unwrap();
    assert_eq!((pruned.turns, pruned.branches, pruned.leaf), (2, 0, Some(deeper.assistant_turn.id)));
    let whole = path_of(&instance, &first, None).await;
    assert_eq!(whole.last(), Some(&deeper.assistant_turn.id));
    instance.check_invariants().await;
    let again = instance.service.prune_others(instance.owner, first.chat.id, side.user_turn.id).await;
    assert!(matches!(again, Err(ServiceError::Conflict { code: "nothing_to_prune", .. })));
    let all = instance.service.delete_branch(instance.owner, first.branch.id).await;
    assert!(matches!(all, Err(ServiceError::Conflict { code: "last_branch", .. })));
    instance.service.restore_deletion(instance.owner, pruned.deletion_id).await.unwrap();
    instance.check_invariants().await;
}

impl TestApi {
    /// Requests an application page as the server renders it.
    async fn html(&self, path: &str) -> String {
        let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        let response = self.send(request).await;
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}

async fn post_message(api: &TestApi, chat: &str, text: &str) -> Value {
    let (status, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": text }))).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    started
}

/// Deletes a message. Returns the deletion.
async fn delete_message(api: &TestApi, started: &Value) -> String {
    let path = format!("/api/turns/{}", started["user_turn"]["id"].as_str().unwrap());
    api.call("DELETE", &path, None).await.1["deletion_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn deleted_turn_is_hidden_everywhere_until_restored() {
    let api = TestApi::new(word_answers(3)).await;
    let chat = api.create_chat().await;
    let first = post_message(&api, &chat, "a").await;
    let second = post_message(&api, &chat, "b").await;
    let of = |started: &Value, role: &str| started[role]["id"].as_str().unwrap().to_owned();
    let (question, reply) = (of(&second, "user_turn"), of(&second, "assistant_turn"));
    let rev = |chat: Value| chat["rev"].as_i64().unwrap();
    let before = rev(api.call("GET", &format!("/api/chats/{chat}"), None).await.1);

    let (status, deleted) = api.call("DELETE", &format!("/api/turns/{question}"), None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        (&deleted["turns"], &deleted["branches"], &deleted["running_stopped"]),
        (&json!(2), &json!(0), &json!(0))
    );
    assert_eq!(deleted["leaf"], first["assistant_turn"]["id"]);
    let between = rev(api.call("GET", &format!("/api/chats/{chat}"), None).await.1);
    assert!(between > before);
    for (method, path, body) in [
        ("GET", format!("/api/turns/{reply}"), None),
        ("DELETE", format!("/api/turns/{reply}"), None),
        ("GET", format!("/api/turns/{reply}/events"), None),
        ("GET", format!("/api/turns/{reply}/siblings"), None),
        ("GET", format!("/api/chats/{chat}/turns?from={reply}"), None),
        ("GET", format!("/api/chats/{chat}/path/{reply}"), None),
        ("GET", format!("/api/turns/{reply}/generations"), None),
        ("POST", format!("/api/turns/{reply}/retry"), Some(json!({}))),
        ("POST", format!("/api/turns/{reply}/stop"), None),
        ("POST", format!("/api/turns/{question}/edit"), Some(json!({ "text": "c" }))),
        ("POST", format!("/api/chats/{chat}/turns"), Some(json!({ "text": "c", "prev_turn_id": reply }))),
        ("POST", format!("/api/chats/{chat}/prune"), Some(json!({ "keep": reply }))),
    ] {
        let (status, problem) = api.call(method, &path, body).await;
        assert_eq!((status, &problem["code"]), (StatusCode::NOT_FOUND, &json!("not_found")), "{method} {path}");
    }
    // A link to a deleted turn leads to what is left nearby, with a note; a link to an unknown turn finds nothing.
    let page = api.html(&format!("/c/{chat}?at={reply}")).await;
    assert!(page.contains("This message was deleted."), "{page}");
    let is_shown = |turn: &str| page.contains(&format!("data-turn-id=\"{turn}\""));
    assert!(is_shown(&of(&first, "assistant_turn")) && !is_shown(&reply), "{page}");
    let nowhere = api.html(&format!("/c/{chat}?at={chat}")).await;
    assert!(!nowhere.contains("was deleted") && nowhere.contains("Not found"), "{nowhere}");

    let (_, trash) = api.call("GET", "/api/trash", None).await;
    assert_eq!(trash.as_array().unwrap().len(), 1);
    let listed = &trash[0];
    assert_eq!(
        (&listed["id"], &listed["kind"], &listed["role"]),
        (&deleted["deletion_id"], &json!("turn"), &json!("user"))
    );
    assert_eq!(
        (&listed["title"], &listed["turns"], &listed["chat_is_deleted"]),
        (&json!("b"), &json!(2), &json!(false))
    );

    // Any turn of a deletion identifies it.
    let (status, restored) = api.call("POST", &format!("/api/turns/{reply}/restore"), None).await;
    assert_eq!((status, &restored["turns"], &restored["leaf"]), (StatusCode::OK, &json!(2), &json!(reply)));
    assert_eq!(api.call("GET", &format!("/api/turns/{reply}"), None).await.0, StatusCode::OK);
    assert!(rev(api.call("GET", &format!("/api/chats/{chat}"), None).await.1) > between);
    let (status, problem) = api.call("POST", &format!("/api/turns/{reply}/restore"), None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("not_in_trash")));
    assert_eq!(api.call("GET", "/api/trash", None).await.1, json!([]));
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn later_deletion_is_restored_first_and_purge_is_permanent() {
    let api = TestApi::new(word_answers(3)).await;
    let chat = api.create_chat().await;
    let first = post_message(&api, &chat, "a").await;
    let second = post_message(&api, &chat, "b").await;
    let (inner, outer) = (delete_message(&api, &second).await, delete_message(&api, &first).await);
    let (status, problem) = api.call("POST", &format!("/api/trash/{inner}/restore"), None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("parent_deleted")));
    assert_eq!(problem["deletion_id"], json!(outer));
    assert!(problem["detail"].as_str().unwrap().contains("“a”"), "{problem}");
    assert_eq!(api.call("POST", &format!("/api/trash/{outer}/restore"), None).await.0, StatusCode::OK);
    assert_eq!(api.call("POST", &format!("/api/trash/{inner}/restore"), None).await.0, StatusCode::OK);
    api.instance.check_invariants().await;

    let inner = delete_message(&api, &second).await;
    assert_eq!(api.call("DELETE", &format!("/api/trash/{inner}"), None).await.0, StatusCode::NO_CONTENT);
    for (method, path) in [("DELETE", format!("/api/trash/{inner}")), ("POST", format!("/api/trash/{inner}/restore"))] {
        assert_eq!(api.call(method, &path, None).await.0, StatusCode::NOT_FOUND, "{method}");
    }
    // The branch can continue where the purged turns were.
    let third = post_message(&api, &chat, "c").await;
    assert_eq!(third["branch"]["id"], first["branch"]["id"]);
    delete_message(&api, &first).await;
    assert_eq!(api.call("DELETE", &format!("/api/chats/{chat}"), None).await.0, StatusCode::NO_CONTENT);
    let (_, trash) = api.call("GET", "/api/trash", None).await;
    let kinds: Vec<&Value> = trash.as_array().unwrap().iter().map(|deletion| &deletion["kind"]).collect();
    assert_eq!(kinds, ["chat", "turn"]);
    assert_eq!(trash[1]["chat_is_deleted"], true);
    assert_eq!(api.call("DELETE", "/api/trash", None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(api.call("GET", "/api/trash", None).await.1, json!([]));
    assert_eq!(api.call("POST", &format!("/api/chats/{chat}/restore"), None).await.0, StatusCode::NOT_FOUND);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn bad_ids_and_fields_are_refused_by_name() {
    let api = TestApi::new(word_answers(1)).await;
    let chat = api.create_chat().await;
    let strange = "00000000-0000-0000-0000-000000000000";
    for (method, path) in [
        ("DELETE", format!("/api/turns/{strange}")),
        ("DELETE", "/api/turns/1".into()),
        ("POST", format!("/api/turns/{strange}/restore")),
        ("DELETE", format!("/api/branches/{strange}")),
        ("POST", format!("/api/branches/{strange}/restore")),
        ("DELETE", format!("/api/trash/{strange}")),
        ("POST", format!("/api/trash/{strange}/restore")),
        ("POST", format!("/api/trash/{}/restore", strange.to_uppercase() + "A")),
        ("DELETE", format!("/api/chats/{strange}")),
    ] {
        let (status, problem) = api.call(method, &path, None).await;
        assert_eq!((status, &problem["code"]), (StatusCode::NOT_FOUND, &json!("not_found")), "{method} {path}");
    }
    for (query, field) in
        [("limit=0", "limit"), ("limit=201", "limit"), ("limit=x", "limit"), ("before=1", "before"), ("page=2", "page")]
    {
        let (status, problem) = api.call("GET", &format!("/api/trash?{query}"), None).await;
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{query}: {problem}");
    }
    let prune = format!("/api/chats/{chat}/prune");
    for (body, status) in [
        (json!({}), StatusCode::BAD_REQUEST),
        (json!({ "keep": "1" }), StatusCode::BAD_REQUEST),
        (json!({ "keep": strange, "and": 1 }), StatusCode::BAD_REQUEST),
        (json!({ "keep": strange }), StatusCode::NOT_FOUND),
    ] {
        assert_eq!(api.call("POST", &prune, Some(body.clone())).await.0, status, "{body}");
    }
}

#[tokio::test]
async fn forms_delete_and_restore_and_confirm_purge() {
    let api = TestApi::new(word_answers(4)).await;
    let chat = api.create_chat().await;
    post_message(&api, &chat, "first <words>").await;
    let second = post_message(&api, &chat, "b").await;
    let question = second["user_turn"]["id"].as_str().unwrap();
    // A form without a preview asks for confirmation first, which deletes nothing.
    let (status, page) = api.post_form("/forms/delete-turn", &[("turn_id", question), ("ask", "1")]).await;
    assert_eq!((status, page.contains("Delete 2 messages?")), (StatusCode::OK, true), "{page}");
    assert!(page.contains("Moves “b” and 1 message below it to Trash") && page.contains(question), "{page}");
    assert!(api.get_page("/trash").await.contains("Trash is empty. Deleted items are kept here"));
    let (status, to) = api.post_form("/forms/delete-turn", &[("turn_id", question)]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert!(to.starts_with(&format!("/c/{chat}?at=")), "{to}");
    let deletion = deletion_in(&to);
    let after = to.clone();
    let page = api.html(&to).await;
    assert!(page.contains("Deleted 2 messages.") && page.contains("action=\"/forms/restore\""), "{page}");
    assert!(page.contains(&format!("name=\"deletion_id\" value=\"{deletion}\"")));

    let page = api.get_page("/trash").await;
    assert!(page.contains(&format!("data-deletion=\"{deletion}\"")) && page.contains("2 messages"), "{page}");
    assert!(page.contains("30 days left"), "{page}");
    assert!(page.contains("in “first &lt;words&gt;”"), "{page}");

    let (status, to) = api.post_form("/forms/restore", &[("deletion_id", &deletion)]).await;
    assert_eq!((status, to.starts_with(&format!("/c/{chat}?at="))), (StatusCode::SEE_OTHER, true));
    assert!(api.get_page("/trash").await.contains("Trash is empty. Deleted items are kept here"));
    // After going back or reloading, Undo is no longer offered.
    assert!(!api.html(&after).await.contains("action=\"/forms/restore\""));

    let first = api.call("GET", &format!("/api/chats/{chat}"), None).await.1;
    let branch = first["branches"][0]["id"].as_str().unwrap();
    let (status, page) = api.post_form("/forms/delete-branch", &[("branch_id", branch)]).await;
    assert_eq!((status, page.contains("last_branch")), (StatusCode::CONFLICT, true));
    let retry = format!("/api/turns/{}/retry", second["assistant_turn"]["id"].as_str().unwrap());
    let (_, retried) = api.call("POST", &retry, Some(json!({}))).await;
    let reply = retried["assistant_turn"]["id"].as_str().unwrap();
    api.read_events(reply, &[]).await;
    let (status, to) = api.post_form("/forms/prune", &[("chat_id", &chat), ("keep", reply)]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let deletion = deletion_in(&to);
    assert!(api.html(&to).await.contains("Deleted 1 message."));
    // In another chat, the deletion is not announced.
    let other = api.create_chat().await;
    post_message(&api, &other, "c").await;
    assert!(!api.html(&format!("/c/{other}?deleted={deletion}")).await.contains("Deleted 1 message."));

    // Purging asks for confirmation first, which deletes nothing.
    let (status, page) = api.post_form("/forms/purge", &[("deletion_id", &deletion)]).await;
    assert_eq!((status, page.contains("name=\"sure\"")), (StatusCode::OK, true));
    let (_, page) = api.post_form("/forms/empty-trash", &[]).await;
    assert!(page.contains("Empty Trash?"), "{page}");
    assert!(api.get_page("/trash").await.contains(&deletion));
    let (_, to) = api.post_form("/forms/purge", &[("deletion_id", &deletion), ("sure", "1")]).await;
    assert!(api.get_page(&to).await.contains("Deleted permanently."));
    let (_, to) = api.post_form("/forms/empty-trash", &[("sure", "1")]).await;
    assert!(api.get_page(&to).await.contains("Trash is empty."));
    let (status, page) = api.post_form("/forms/restore", &[("deletion_id", &deletion)]).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(page.contains("Could not restore. It is no longer in Trash."), "{page}");
    assert_eq!(api.post_form("/forms/restore", &[]).await.0, StatusCode::BAD_REQUEST);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn trash_page_explains_blocked_restore() {
    let api = TestApi::new(word_answers(3)).await;
    let chat = api.create_chat().await;
    let first = post_message(&api, &chat, "a").await;
    let second = post_message(&api, &chat, "b").await;
    let (inner, _) = (delete_message(&api, &second).await, delete_message(&api, &first).await);
    let (status, page) = api.post_form("/forms/restore", &[("deletion_id", &inner)]).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(page.contains("Could not restore. Its parent was deleted later (“a”); restore that first."));
    api.call("DELETE", &format!("/api/chats/{chat}"), None).await;
    assert!(api.get_page("/trash").await.contains("Its chat was deleted later. Restore the chat first."));
}

fn deletion_in(address: &str) -> String {
    address.split("deleted=").nth(1).unwrap().split(['&', '#']).next().unwrap().to_owned()
}
