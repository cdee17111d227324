//! Queued messages: sent in order when the reply is complete, exactly once through kills and races, and never by
//! themselves after a reply that did not become complete.

use std::sync::Arc;

use futures::future::join_all;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use turnleaf::domain::{Failure, FailureKind, QueuedMessageId, Role, Turn, TurnId, TurnStatus, limits};
use turnleaf_providers::provider::ProviderError;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::documents::change::{DocumentTextSource, NewDocumentRequest};
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::queue::{QueuedMessage, QueuedMessageChange, QueuedMessageState};
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::turns;
use turnleaf_tools::toolbox::NoTools;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

/// A reply that has begun and ends when the test says so.
fn gated(signal: &Arc<Notify>) -> ScriptedAnswer {
    streamed_answer([text_step("begun"), ScriptedStep::WaitForSignal(signal.clone())])
}

fn answers(first: ScriptedAnswer, others: usize) -> ScriptedProvider {
    let others = (0..others).map(|_| streamed_answer([text_step("ok")]));
    ScriptedProvider::new("scripted", std::iter::once(first).chain(others))
}

fn refusal() -> ScriptedAnswer {
    ScriptedAnswer::Refuse(ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "Scripted")))
}

fn behind(reply: TurnId, text: &str) -> TurnRequest {
    let place = PlacementRequest { prev_turn_id: Some(reply), ..PlacementRequest::default() };
    TurnRequest { place, ..message_to_send(text) }
}

fn code<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> &'static str {
    match result {
        Err(ServiceError::Conflict { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

impl TestServer {
    /// Starts the task that sends queued messages, as the server does.
    fn drive_queues(&self) -> AbortHandle {
        tokio::spawn(self.service.clone().drive_queues()).abort_handle()
    }

    /// Sends a message into a new chat, and waits until its reply has begun.
    async fn send_and_begin(&self, text: &str) -> AcceptedExchange {
        let started = self.send(text).await;
        self.wait_for_begun(started.assistant_turn.id).await;
        started
    }

    async fn wait_for_begun(&self, reply: TurnId) {
        while self.service.turn(self.owner, reply).await.unwrap().content_text().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    async fn queue(&self, reply: TurnId, text: &str) -> QueuedMessage {
        self.service.queue_message(self.owner, behind(reply, text)).await.unwrap().value
    }

    async fn queued(&self, id: QueuedMessageId) -> QueuedMessage {
        self.service.queued_message(self.owner, id).await.unwrap()
    }

    async fn queued_texts(&self, reply: TurnId) -> Vec<String> {
        let queue = self.service.message_queue(self.owner, reply).await.unwrap();
        queue.messages.iter().map(text_of).collect()
    }

    async fn wait_for_state(&self, id: QueuedMessageId, state: QueuedMessageState) -> QueuedMessage {
        loop {
            let queued = self.queued(id).await;
            if queued.state == state {
                return queued;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until the path through this turn has this many turns and its last has ended.
    async fn wait_for_path(&self, through: TurnId, count: usize) -> Vec<Turn> {
        loop {
            let leaf = turns::leaf_below(&self.db, self.owner, through).await.unwrap().unwrap();
            let (path, _) = turns::path(&self.db, self.owner, leaf, 100).await.unwrap();
            assert!(path.len() <= count, "{path:#?}");
            if path.len() == count && path[count - 1].status.is_terminal() {
                return path;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until the sending task has looked at every queue once more: a message behind a complete reply is sent.
    async fn wait_for_round_of_sending(&self, complete: TurnId) {
        let id = self.queue(complete, "barrier").await.id;
        let sent = self.wait_for_state(id, QueuedMessageState::Sent).await;
        self.wait_for_path(sent.turn_id.unwrap(), 4).await;
    }
}

fn text_of(queued: &QueuedMessage) -> String {
    match queued.content.as_slice() {
        [MessageBlock::Text { text }] => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn messages_of(path: &[Turn]) -> Vec<String> {
    path.iter().filter(|turn| turn.role == Role::User).map(Turn::content_text).collect()
}

#[tokio::test]
async fn messages_are_sent_in_order_once_reply_is_complete() {
    let signal = Arc::new(Notify::new());
    for instance in TestServer::on_every_database_patient(|| answers(gated(&signal), 4)).await {
        let driver = instance.drive_queues();
        let reply = instance.send_and_begin("one").await.assistant_turn.id;
        let mut ids = Vec::new();
        for text in ["two", "three", "four", "five"] {
            ids.push(instance.queue(reply, text).await.id);
        }
        let owner = instance.owner;
        let first = QueuedMessageChange { position: Some(1), ..QueuedMessageChange::default() };
        assert_eq!(instance.service.change_queued_message(owner, ids[3], first).await.unwrap().position, Some(1));
        let edit = QueuedMessageChange { text: Some("3".into()), ..QueuedMessageChange::default() };
        instance.service.change_queued_message(owner, ids[1], edit).await.unwrap();
        instance.service.cancel_queued_message(owner, ids[2]).await.unwrap();
        let last = QueuedMessageChange { position: Some(99), ..QueuedMessageChange::default() };
        assert_eq!(instance.service.change_queued_message(owner, ids[1], last).await.unwrap().position, Some(3));
        assert_eq!(instance.queued_texts(reply).await, ["five", "two", "3"]);
        assert!(!instance.service.message_queue(owner, reply).await.unwrap().is_paused);
        assert_eq!(code(instance.service.send_queued_message(owner, ids[0]).await), "turn_running");

        signal.notify_one();
        let path = instance.wait_for_path(reply, 8).await;
        assert_eq!(messages_of(&path), ["one", "five", "two", "3"]);
        assert!(path.iter().all(|turn| turn.branch_id == path[0].branch_id));
        for (id, at) in [(ids[3], 2), (ids[0], 4), (ids[1], 6)] {
            let sent = instance.queued(id).await;
            assert_eq!((sent.state, sent.turn_id), (QueuedMessageState::Sent, Some(path[at].id)));
            assert_eq!((sent.position, sent.content.len()), (None, 0));
        }
        assert!(matches!(instance.service.queued_message(owner, ids[2]).await, Err(ServiceError::NotFound)));
        instance.check_invariants().await;
        driver.abort();
        instance.close().await;
    }
}

#[tokio::test]
async fn message_behind_complete_reply_is_sent_at_once() {
    let instance = TestServer::new(answers(streamed_answer([text_step("a")]), 1)).await;
    instance.drive_queues();
    let reply = instance.send("one").await.assistant_turn.id;
    instance.wait_until_ended(reply).await;
    instance.queue(reply, "two").await;
    assert_eq!(messages_of(&instance.wait_for_path(reply, 4).await), ["one", "two"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn queue_of_stopped_reply_waits_until_person_sends() {
    let signal = Arc::new(Notify::new());
    for instance in TestServer::on_every_database_patient(|| answers(gated(&signal), 5)).await {
        let reply = instance.send_and_begin("one").await.assistant_turn.id;
        let (two, three) = (instance.queue(reply, "two").await.id, instance.queue(reply, "three").await.id);
        instance.service.stop_turn(instance.owner, reply).await.unwrap();
        let other = instance.send("another chat").await.assistant_turn.id;
        instance.wait_until_ended(other).await;
        let driver = instance.drive_queues();
        instance.wait_for_round_of_sending(other).await;
        let queue = instance.service.message_queue(instance.owner, reply).await.unwrap();
        assert_eq!((queue.messages.len(), queue.is_paused), (2, true));

        let sent = instance.service.send_queued_message(instance.owner, two).await.unwrap();
        assert_eq!(sent.user_turn.prev_turn_id, Some(reply));
        assert_eq!(messages_of(&instance.wait_for_path(reply, 6).await), ["one", "two", "three"]);
        assert_eq!(code(instance.service.send_queued_message(instance.owner, three).await), "queued_message_sent");
        instance.check_invariants().await;
        driver.abort();
        instance.close().await;
    }
}

#[tokio::test]
async fn queue_follows_retry_of_failed_reply_and_message_that_was_sent_directly() {
    let signal = Arc::new(Notify::new());
    let failing = ScriptedAnswer::Stream(vec![
        text_step("begun"),
        ScriptedStep::WaitForSignal(signal.clone()),
        ScriptedStep::Fail(Failure::new(FailureKind::ProviderAuth, "Scripted")),
    ]);
    let provider = ScriptedProvider::new("scripted", [failing, refusal(), refusal()]);
    for _ in 0..2 {
        provider.push_answer(streamed_answer([text_step("ok")]));
    }
    let instance = TestServer::new_patient(provider).await;
    instance.drive_queues();
    let started = instance.send_and_begin("one").await;
    let reply = started.assistant_turn.id;
    instance.queue(reply, "last").await;
    signal.notify_one();
    assert_eq!(instance.wait_until_ended(reply).await.status, TurnStatus::Error);
    // Another version fails, too, and takes the queue along.
    let retry =
        |id| instance.service.retry_turn(instance.owner, id, PlacementRequest::default(), Default::default(), None);
    let second = retry(reply).await.unwrap().assistant_turn.id;
    assert_eq!(instance.wait_until_ended(second).await.status, TurnStatus::Error);
    assert_eq!(
        (instance.queued_texts(reply).await.len(), instance.queued_texts(second).await),
        (0, vec!["last".into()])
    );
    // So does a message that is sent directly.
    let direct = TurnRequest { chat_id: Some(started.chat.id), ..behind(second, "two") };
    let direct = instance.service.start_turn(instance.owner, direct).await.unwrap().assistant_turn.id;
    assert_eq!(instance.wait_until_ended(direct).await.status, TurnStatus::Error);
    assert_eq!(instance.queued_texts(direct).await, ["last"]);
    let third = retry(direct).await.unwrap().assistant_turn.id;
    assert_eq!(messages_of(&instance.wait_for_path(third, 6).await), ["one", "two", "last"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn message_is_sent_exactly_once_after_kill_between_ending_and_sending() {
    for instance in TestServer::on_every_database(|| answers(streamed_answer([text_step("a")]), 0)).await {
        // Nothing drives the queues of this process, as if it was killed right after the ending was stored.
        let reply = instance.send("one").await.assistant_turn.id;
        instance.wait_until_ended(reply).await;
        let (two, three) = (instance.queue(reply, "two").await.id, instance.queue(reply, "three").await.id);
        let provider = ScriptedProvider::new("scripted", (0..2).map(|_| streamed_answer([text_step("b")])));
        let log = provider.log();
        let instance = instance.restart_after_kill(provider, Arc::new(NoTools)).await;
        // Several tasks race for the same messages.
        let drivers = [instance.drive_queues(), instance.drive_queues(), instance.drive_queues()];
        let path = instance.wait_for_path(reply, 6).await;
        assert_eq!(messages_of(&path), ["one", "two", "three"]);
        assert_eq!(instance.queued(two).await.turn_id, Some(path[2].id));
        assert_eq!(instance.queued(three).await.turn_id, Some(path[4].id));
        assert_eq!(log.requests().len(), 2);
        instance.check_invariants().await;
        drivers.iter().for_each(AbortHandle::abort);
        instance.close().await;
    }
}

#[tokio::test]
async fn queue_of_reply_that_restart_interrupted_waits() {
    let signal = Arc::new(Notify::new());
    let instance = TestServer::new_patient(answers(gated(&signal), 0)).await;
    let reply = instance.send_and_begin("one").await.assistant_turn.id;
    let id = instance.queue(reply, "two").await.id;
    let provider = ScriptedProvider::new("scripted", (0..3).map(|_| streamed_answer([text_step("b")])));
    let instance = instance.restart_after_kill(provider, Arc::new(NoTools)).await;
    let other = instance.send("another chat").await.assistant_turn.id;
    instance.wait_until_ended(other).await;
    instance.drive_queues();
    instance.wait_for_round_of_sending(other).await;
    assert_eq!(instance.queued(id).await.state, QueuedMessageState::Waiting);
    assert!(instance.service.message_queue(instance.owner, reply).await.unwrap().is_paused);
}

#[tokio::test]
async fn refused_message_stops_queue_with_reason_and_nothing_is_lost() {
    let signal = Arc::new(Notify::new());
    let instance = TestServer::new_patient(answers(gated(&signal), 2)).await;
    instance.drive_queues();
    let owner = instance.owner;
    let document = NewDocumentRequest {
        title: Some("Notes".into()),
        kind: None,
        source: DocumentTextSource::Text("text".into()),
        client_request_id: None,
    };
    let document = instance.service.create_document(owner, document).await.unwrap().value.id;
    let reply = instance.send_and_begin("one").await.assistant_turn.id;
    let attached =
        MessageBlock::Reference { ref_id: document.to_string(), ref_type: "document".into(), version_timestamp: None };
    let mut request = behind(reply, "about the notes");
    request.content.insert(0, attached.clone());
    let content = request.content.clone();
    let first = instance.service.queue_message(owner, request).await.unwrap().value.id;
    let second = instance.queue(reply, "three").await.id;
    instance.service.delete_document(owner, document).await.unwrap();
    signal.notify_one();
    let refused = instance.wait_for_state(first, QueuedMessageState::Refused).await;
    assert_eq!(refused.refusal.as_deref(), Some("something attached to it no longer exists"));
    assert_eq!(refused.content, content);
    assert_eq!(instance.queued(second).await.state, QueuedMessageState::Waiting);
    assert!(instance.service.message_queue(owner, reply).await.unwrap().is_paused);
    assert_eq!(code(instance.service.send_queued_message(owner, first).await), "queued_message_refused");

    let content = Some(vec![MessageBlock::Text { text: "without".into() }]);
    let edit = QueuedMessageChange { content, ..QueuedMessageChange::default() };
    instance.service.change_queued_message(owner, first, edit).await.unwrap();
    assert_eq!(messages_of(&instance.wait_for_path(reply, 6).await), ["one", "without", "three"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn messages_of_several_tabs_are_all_queued_up_to_bound() {
    let signal = Arc::new(Notify::new());
    for instance in TestServer::on_every_database_patient(|| answers(gated(&signal), 0)).await {
        let started = instance.send_and_begin("one").await;
        let reply = started.assistant_turn.id;
        let queueing = (0..limits::QUEUED_MESSAGES).map(|n| {
            let request = TurnRequest { client_request_id: Some(format!("tab-{n}")), ..behind(reply, &n.to_string()) };
            instance.service.queue_message(instance.owner, request)
        });
        let queued = join_all(queueing).await;
        assert!(queued.iter().all(|queued| queued.as_ref().unwrap().is_new), "{queued:?}");
        let mut texts = instance.queued_texts(reply).await;
        texts.sort_by_key(|text| text.parse::<usize>().unwrap());
        assert_eq!(texts, (0..limits::QUEUED_MESSAGES).map(|n| n.to_string()).collect::<Vec<_>>());
        let request = TurnRequest { client_request_id: Some("tab-0".into()), ..behind(reply, "0") };
        assert!(!instance.service.queue_message(instance.owner, request).await.unwrap().is_new);
        let request = TurnRequest { client_request_id: Some("tab-0".into()), ..behind(reply, "other") };
        assert_eq!(code(instance.service.queue_message(instance.owner, request).await), "idempotency_mismatch");
        // Nor is it sent directly by another request with its key.
        let chat_id = Some(started.chat.id);
        let request = TurnRequest { client_request_id: Some("tab-0".into()), chat_id, ..behind(reply, "0") };
        assert_eq!(code(instance.service.start_turn(instance.owner, request).await), "idempotency_mismatch");
        assert_eq!(code(instance.service.queue_message(instance.owner, behind(reply, "more")).await), "queue_full");
        instance.service.stop_turn(instance.owner, reply).await.unwrap();
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn queue_of_deleted_chat_is_gone_and_returns_with_it() {
    let signal = Arc::new(Notify::new());
    for instance in TestServer::on_every_database_patient(|| answers(gated(&signal), 0)).await {
        let owner = instance.owner;
        let started = instance.send_and_begin("one").await;
        let reply = started.assistant_turn.id;
        let id = instance.queue(reply, "two").await.id;
        instance.service.delete_chat(owner, started.chat.id).await.unwrap();
        assert!(matches!(instance.service.queued_message(owner, id).await, Err(ServiceError::NotFound)));
        assert!(matches!(instance.service.send_queued_message(owner, id).await, Err(ServiceError::NotFound)));
        instance.service.restore_chat(owner, started.chat.id).await.unwrap();
        assert_eq!(instance.queued_texts(reply).await, ["two"]);
        instance.service.delete_chat(owner, started.chat.id).await.unwrap();
        instance.service.empty_trash(owner).await.unwrap();
        instance.check_invariants().await;
        instance.close().await;
    }
}

/// A created resource exists in every state: clients treat 404 as deleted, so no operation under its id may answer it.
#[tokio::test]
async fn queued_message_in_any_state_exists_for_every_operation() {
    let signal = Arc::new(Notify::new());
    for instance in TestServer::on_every_database_patient(|| answers(gated(&signal), 1)).await {
        let driver = instance.drive_queues();
        let api = TestApi::with_server(instance);
        let chat = api.create_chat().await;
        let (_, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "one" }))).await;
        let reply = sent["assistant_turn"]["id"].as_str().unwrap().to_owned();
        api.instance.wait_for_begun(reply.parse().unwrap()).await;
        let queue = format!("/api/turns/{reply}/queue");
        let new = json!({ "text": "two", "client_request_id": "q" });
        let (status, queued) = api.call("POST", &queue, Some(new.clone())).await;
        assert_eq!((status, &queued["state"]), (StatusCode::CREATED, &json!("waiting")), "{queued}");
        assert_eq!(api.call("POST", &queue, Some(new)).await.0, StatusCode::OK);
        let address = format!("/api/queued-messages/{}", queued["id"].as_str().unwrap());
        assert_eq!(api.call("GET", &queue, None).await.1.as_array().unwrap().len(), 1);

        let changes = [json!({ "text": "2" }), json!({ "position": 7 }), json!({})];
        for change in changes.clone() {
            assert_eq!(api.call("PATCH", &address, Some(change.clone())).await.0, StatusCode::OK, "{change}");
        }
        let (status, problem) = api.call("PATCH", &address, Some(json!({ "text": " " }))).await;
        assert_eq!((status, &problem["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("empty_message")));
        let (status, problem) = api.call("POST", &format!("{address}/send"), None).await;
        assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("turn_running")));

        signal.notify_one();
        let id = queued["id"].as_str().unwrap().parse().unwrap();
        api.instance.wait_for_state(id, QueuedMessageState::Sent).await;
        let (status, shown) = api.call("GET", &address, None).await;
        assert_eq!((status, &shown["state"]), (StatusCode::OK, &json!("sent")));
        assert!(shown["turn_id"].is_string() && shown["content"] == json!([]), "{shown}");
        let send = format!("{address}/send");
        let operations = changes.map(|change| ("PATCH", &address, Some(change)));
        for (method, path, body) in operations.into_iter().chain([("POST", &send, None), ("DELETE", &address, None)]) {
            let (status, problem) = api.call(method, path, body).await;
            assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("queued_message_sent")), "{method}");
        }
        api.instance.wait_for_path(reply.parse().unwrap(), 4).await;
        api.instance.check_invariants().await;
        driver.abort();
        api.instance.close().await;
    }
}

#[tokio::test]
async fn cancelled_message_is_not_sent() {
    let signal = Arc::new(Notify::new());
    let instance = TestServer::new_patient(answers(gated(&signal), 1)).await;
    instance.drive_queues();
    let api = TestApi::with_server(instance);
    let started = api.instance.send_and_begin("one").await;
    let reply = started.assistant_turn.id;
    let id = api.instance.queue(reply, "two").await.id;
    api.instance.queue(reply, "three").await;
    let (status, answer) = api.call("DELETE", &format!("/api/queued-messages/{id}"), None).await;
    assert_eq!((status, answer), (StatusCode::NO_CONTENT, Value::Null));
    signal.notify_one();
    assert_eq!(messages_of(&api.instance.wait_for_path(reply, 4).await), ["one", "three"]);
}
