//! Concurrent requests that add to one chat, on both databases: each is placed as if the others had come before or
//! after it.

use std::collections::HashSet;

use futures::future::join_all;
use turnleaf::domain::{ExchangeKind, ModelLock, limits};
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::{branches, turns};

use crate::bush::plant_tree;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

/// The number of concurrent requests for one chat; on PostgreSQL each has its own connection.
const AT_ONCE: usize = 8;

async fn test_servers() -> Vec<TestServer> {
    TestServer::on_every_database(|| {
        ScriptedProvider::new("scripted", (0..3 * AT_ONCE).map(|_| streamed_answer([text_step("so")])))
    })
    .await
}

async fn start_chat(instance: &TestServer) -> AcceptedExchange {
    let started = instance.send("hi").await;
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

fn conflict<T: std::fmt::Debug>(result: &Result<T, ServiceError>) -> &'static str {
    match result {
        Err(ServiceError::Conflict { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

/// Waits until every started reply has ended, so that the server can be closed.
async fn wait_for_all<'a>(
    instance: &TestServer,
    all: impl IntoIterator<Item = &'a Result<AcceptedExchange, ServiceError>>,
) {
    for started in all.into_iter().flatten() {
        instance.wait_until_ended(started.assistant_turn.id).await;
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn version_limit_holds_for_concurrent_requests() {
    for instance in test_servers().await {
        let full = usize::try_from(limits::SIBLINGS).unwrap() - 2;
        let lock = ModelLock::new("scripted", "model-a");
        let planted = plant_tree(&instance.db, lock, full + 1, |n| n.checked_sub(1).map(|_| 0)).await;
        let reply = &planted.turns[1];
        let retry = || {
            instance.service.retry_turn(instance.owner, reply.id, PlacementRequest::default(), Default::default(), None)
        };
        let all = join_all((0..AT_ONCE).map(|_| retry())).await;
        let refused: Vec<&str> = all.iter().filter(|one| one.is_err()).map(conflict).collect();
        assert_eq!(refused, vec!["too_many_siblings"; AT_ONCE - 2]);
        let mut tx = instance.db.begin().await.unwrap();
        let versions = turns::count_children(&mut tx, planted.chat, reply.prev_turn_id).await.unwrap();
        tx.rollback().await.unwrap();
        assert_eq!(versions, limits::SIBLINGS);
        wait_for_all(&instance, &all).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn concurrent_branches_get_distinct_names() {
    for instance in test_servers().await {
        let first = start_chat(&instance).await;
        let reply = first.assistant_turn.id;
        let retries = join_all((0..AT_ONCE).map(|_| {
            instance.service.retry_turn(instance.owner, reply, PlacementRequest::default(), Default::default(), None)
        }))
        .await;
        let edits = join_all((0..AT_ONCE).map(|_| {
            instance.service.edit_turn(instance.owner, first.user_turn.id, message_to_send("in other words"))
        }))
        .await;
        assert!(retries.iter().chain(&edits).all(Result::is_ok), "{retries:?} {edits:?}");
        let all = branches::list(&instance.db, instance.owner, first.chat.id).await.unwrap();
        let names: HashSet<&str> = all.iter().map(|branch| branch.name.as_str()).collect();
        assert_eq!(names.len(), 1 + 2 * AT_ONCE, "{names:?}");
        for n in 0..AT_ONCE {
            assert!(names.contains(format!("retry {} · hi", n + 2).as_str()), "{names:?}");
        }
        wait_for_all(&instance, retries.iter().chain(&edits)).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn repeated_concurrent_message_is_sent_once() {
    for instance in test_servers().await {
        let chat = start_chat(&instance).await.chat.id;
        for round in 0..AT_ONCE {
            // Some requests arrive when the first is half stored, some when it is stored.
            let again = |reads: usize| {
                let (instance, client_request_id) = (&instance, Some(format!("round {round}")));
                async move {
                    for _ in 0..reads {
                        instance.service.chat(instance.owner, chat).await.unwrap();
                    }
                    let next = TurnRequest { chat_id: Some(chat), client_request_id, ..message_to_send("and then?") };
                    instance.service.start_turn(instance.owner, next).await
                }
            };
            let all = join_all((0..AT_ONCE).map(|n| again(n * (round + 1) / 2))).await;
            let ids: HashSet<_> = all.iter().map(|one| one.as_ref().unwrap().assistant_turn.id).collect();
            assert_eq!(ids.len(), 1);
            assert_eq!(all.iter().filter(|one| one.as_ref().unwrap().is_new).count(), 1);
            wait_for_all(&instance, &all).await;
        }
        instance.close().await;
    }
}

#[tokio::test]
async fn concurrent_messages_after_one_reply_each_get_branch_except_first() {
    for instance in test_servers().await {
        let first = start_chat(&instance).await;
        let send = |n: usize| {
            let place = PlacementRequest { prev_turn_id: Some(first.assistant_turn.id), ..PlacementRequest::default() };
            let next = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send(&format!("way {n}")) };
            instance.service.start_turn(instance.owner, next)
        };
        let all = join_all((0..AT_ONCE).map(send)).await;
        let started: Vec<&AcceptedExchange> = all.iter().map(|one| one.as_ref().unwrap()).collect();
        assert!(started.iter().all(|one| one.exchange.kind == ExchangeKind::Send));
        assert_eq!(started.iter().filter(|one| one.branch.id == first.branch.id).count(), 1);
        assert_eq!(started.iter().map(|one| one.branch.id).collect::<HashSet<_>>().len(), AT_ONCE);
        wait_for_all(&instance, &all).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn concurrently_deleted_turn_gets_no_version_below() {
    for instance in test_servers().await {
        let first = start_chat(&instance).await;
        let place = PlacementRequest { prev_turn_id: Some(first.assistant_turn.id), ..PlacementRequest::default() };
        let next = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("next") };
        let second = instance.service.start_turn(instance.owner, next).await.unwrap();
        instance.wait_until_ended(second.assistant_turn.id).await;
        // The message has no reply, so that both retry and edit would be placed below the turn that is deleted.
        instance.service.delete_turn(instance.owner, second.assistant_turn.id).await.unwrap();
        let (above, message_turn) = (first.assistant_turn.id, second.user_turn.id);
        let retry = || {
            instance.service.retry_turn(
                instance.owner,
                message_turn,
                PlacementRequest::default(),
                Default::default(),
                None,
            )
        };
        let edit =
            |n: usize| instance.service.edit_turn(instance.owner, message_turn, message_to_send(&format!("way {n}")));
        let (deleted, retried, edited) = tokio::join!(
            instance.service.delete_turn(instance.owner, above),
            join_all((0..AT_ONCE / 2).map(|_| retry())),
            join_all((0..AT_ONCE / 2).map(edit)),
        );
        deleted.unwrap();
        for started in retried.iter().chain(&edited).flatten() {
            // A reply that started before the deletion was stopped and deleted with the turn.
            assert_eq!(turns::find(&instance.db, instance.owner, started.assistant_turn.id).await.unwrap(), None);
        }
        let path = instance.service.path(instance.owner, first.chat.id, None, 50).await.unwrap();
        assert_eq!(path.turns.last().unwrap().id, first.user_turn.id);
        instance.check_invariants().await;
        instance.close().await;
    }
}
