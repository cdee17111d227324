//! Copying a path into a new chat: the same blocks, the same bytes to the model, and no usage counted twice.

use std::time::Instant;

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::chat_seq;
use turnleaf::domain::{Block, Content, Turn, TurnId};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::turns::blocks::{self, BlockUpsert};
use turnleaf_store::usage::spending::{self, SpendingGrouping};
use turnleaf_store::{Db, turns};

use crate::databases::test_databases;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step, thinking_step};

fn replies(words: &[&str]) -> ScriptedProvider {
    ScriptedProvider::new(
        "scripted",
        words.iter().map(|word| streamed_answer([thinking_step("hm"), text_step(word)])).collect::<Vec<_>>(),
    )
}

async fn start_chat(instance: &TestServer, words: &str) -> AcceptedExchange {
    let started = instance.send(words).await;
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

async fn continue_chat(
    instance: &TestServer,
    chat: turnleaf::domain::ChatId,
    after: TurnId,
    words: &str,
    place: PlacementRequest,
) -> AcceptedExchange {
    let place = PlacementRequest { prev_turn_id: Some(after), ..place };
    let started = instance
        .service
        .start_turn(instance.owner, TurnRequest { chat_id: Some(chat), place, ..message_to_send(words) })
        .await
        .unwrap();
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

#[tokio::test]
async fn copy_has_same_text_and_continues_with_same_bytes() {
    for fresh in test_databases().await {
        let provider = replies(&["one", "two", "three", "four", "four"]);
        let log = provider.log();
        let api = TestApi::with_server(TestServer::with_database(fresh.db.clone(), provider).await);
        let instance = &api.instance;
        let first = start_chat(instance, "a").await;
        let chat = first.chat.id;
        let second = continue_chat(instance, chat, first.assistant_turn.id, "b", PlacementRequest::default()).await;
        // A version that is not on the path is not copied.
        continue_chat(instance, chat, first.assistant_turn.id, "aside", PlacementRequest::default()).await;
        let paid = || async {
            let now = SystemClock.now();
            let (from, to) = (now - TimeDelta::days(1), now + TimeDelta::days(1));
            spending::sums(&instance.db, instance.owner, (from, to), SpendingGrouping::Model).await.unwrap()
        };
        let before = paid().await;

        let path = format!("/api/chats/{chat}/copies");
        let (status, copied) = api.call("POST", &path, Some(json!({ "turn_id": second.assistant_turn.id }))).await;
        assert_eq!(status, StatusCode::CREATED, "{copied}");
        let named = json!({ "turn_id": second.assistant_turn.id, "client_request_id": "c1" });
        let (status, named_once) = api.call("POST", &path, Some(named.clone())).await;
        assert_eq!(status, StatusCode::CREATED);
        let (status, named_twice) = api.call("POST", &path, Some(named)).await;
        assert_eq!((status, &named_twice["chat"]["id"]), (StatusCode::OK, &named_once["chat"]["id"]));
        assert_eq!(named_twice["turn_id"], named_once["turn_id"]);
        assert_eq!(copied["chat"]["title"], "a (copy)");
        assert_eq!(copied["chat"]["copied_from_turn_id"], json!(second.assistant_turn.id));
        assert_eq!((&copied["branch"]["model"], &copied["branch"]["name"]), (&json!("model-a"), &json!("main")));
        assert_eq!(paid().await, before, "nothing was asked and nothing is paid again");

        let new: turnleaf::domain::ChatId = copied["chat"]["id"].as_str().unwrap().parse().unwrap();
        let leaf: TurnId = copied["turn_id"].as_str().unwrap().parse().unwrap();
        let theirs = instance.service.path(instance.owner, chat, Some(second.assistant_turn.id), 50).await.unwrap();
        let ours = instance.service.path(instance.owner, new, None, 50).await.unwrap();
        assert_eq!(ours.turns.last().unwrap().id, leaf);
        let contents = |path: &turnleaf_service::paths::ChatPath| -> Vec<Value> {
            let blocks = path.turns.iter().flat_map(|turn| &turn.blocks);
            blocks.map(|block| json!([block.content, block.author, block.created_at])).collect()
        };
        assert_eq!(contents(&ours), contents(&theirs));
        assert!(ours.turns.iter().zip(&theirs.turns).all(|(a, b)| a.id != b.id && a.role == b.role));
        assert!(ours.siblings.values().all(|versions| versions.len() == 1));
        let (origin, turn) = instance.service.copy_origin(instance.owner, &ours.chat).await.unwrap().unwrap();
        assert_eq!((origin.id, turn), (chat, second.assistant_turn.id));

        continue_chat(instance, chat, second.assistant_turn.id, "c", PlacementRequest::default()).await;
        continue_chat(instance, new, leaf, "c", PlacementRequest::default()).await;
        let requests = log.requests();
        assert_eq!(requests[3], requests[4], "the same request, byte for byte");
        instance.check_invariants().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn copy_is_found_by_idempotency_key_after_source_is_deleted() {
    let instance = TestServer::new(replies(&["one"])).await;
    let first = start_chat(&instance, "a").await;
    let (chat, reply) = (first.chat.id, first.assistant_turn.id);
    let copy = || instance.service.copy_chat(instance.owner, chat, reply, Some("c"));
    let made = copy().await.unwrap();
    instance.service.delete_turn(instance.owner, reply).await.unwrap();
    let again = copy().await.unwrap();
    assert_eq!((again.is_new, again.value.chat.id, again.value.leaf), (false, made.value.chat.id, made.value.leaf));
    instance.service.delete_chat(instance.owner, chat).await.unwrap();
    assert_eq!(copy().await.unwrap().value.chat.id, made.value.chat.id);
    let other = instance.service.copy_chat(instance.owner, chat, first.user_turn.id, Some("c")).await;
    assert!(matches!(other, Err(ServiceError::Conflict { code: "idempotency_mismatch", .. })), "{other:?}");
    instance.check_invariants().await;
}

#[tokio::test]
async fn copied_signature_refers_to_copied_block() {
    for fresh in test_databases().await {
        let instance = TestServer::with_database(fresh.db.clone(), replies(&["one"])).await;
        let first = start_chat(&instance, "a").await;
        let reply = instance.wait_until_ended(first.assistant_turn.id).await;
        let signature = |turn: &Turn, seq: u32, attaches_to| Block {
            id: turnleaf_platform::ids::mint(),
            seq,
            chat_seq: chat_seq(turn.ord, seq),
            content: Content::ThinkingSignature { signature: "\"for\":\"x\"".into(), attaches_to },
            ..turn.blocks[0].clone()
        };
        let blocks = [signature(&reply, 2, Some(reply.blocks[0].id)), signature(&reply, 3, None)];
        let mut tx = instance.db.begin().await.unwrap();
        let of = |block| BlockUpsert { chat_id: reply.chat_id, turn_id: reply.id, block };
        blocks::upsert(&mut tx, &blocks.each_ref().map(of), reply.created_at).await.unwrap();
        tx.commit().await.unwrap();
        let copied = instance.service.copy_chat(instance.owner, first.chat.id, reply.id, None).await.unwrap();
        let (path, _) = turns::path(&instance.db, instance.owner, copied.value.leaf, 50).await.unwrap();
        let copy = path.last().unwrap();
        let signatures: Vec<&Content> = copy.blocks[2..].iter().map(|block| &block.content).collect();
        let expected = [signature(copy, 2, Some(copy.blocks[0].id)).content, blocks[1].content.clone()];
        assert_eq!(signatures, expected.iter().collect::<Vec<_>>());
        assert_ne!(copy.blocks[0].id, reply.blocks[0].id);
        fresh.close().await;
    }
}

#[tokio::test]
async fn every_segment_of_copy_keeps_its_lock() {
    let instance = TestServer::new(replies(&["one", "two", "three", "four"])).await;
    let first = start_chat(&instance, "a").await;
    let chat = first.chat.id;
    let other = PlacementRequest { model: Some("model-b".into()), may_branch: true, ..PlacementRequest::default() };
    let second = continue_chat(&instance, chat, first.assistant_turn.id, "b", other).await;
    let again = instance
        .service
        .retry_turn(instance.owner, second.assistant_turn.id, PlacementRequest::default(), <_>::default(), None)
        .await
        .unwrap();
    instance.wait_until_ended(again.assistant_turn.id).await;
    let copied = instance.service.copy_chat(instance.owner, chat, again.assistant_turn.id, None).await.unwrap().value;
    let branches = instance.service.branches(instance.owner, copied.chat.id).await.unwrap();
    let locks: Vec<&str> = branches.iter().map(|branch| branch.lock.model.as_str()).collect();
    assert_eq!(locks, ["model-a", "model-b"], "a version of the same lock needs no branch of its own");
    assert_eq!(copied.branch.lock.model, "model-b");
    let path = instance.service.path(instance.owner, copied.chat.id, None, 50).await.unwrap();
    assert_eq!(path.switches.len(), 1);
    instance.check_invariants().await;
}

#[tokio::test]
async fn invalid_copy_is_refused_by_name() {
    let api = TestApi::with_server(TestServer::new(replies(&["one", "two"])).await);
    let first = start_chat(&api.instance, "a").await;
    let foreign = start_chat(&api.instance, "b").await;
    let path = format!("/api/chats/{}/copies", first.chat.id);
    let unknown = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    for (body, status, field) in [
        (json!({ "turn_id": first.user_turn.id }), 422, "turn_id"),
        (json!({ "turn_id": foreign.assistant_turn.id }), 422, "turn_id"),
        (json!({ "turn_id": unknown }), 422, "turn_id"),
        (json!({ "turn_id": "1" }), 400, "turn_id"),
        (json!({}), 400, "turn_id"),
        (json!({ "turn_id": first.assistant_turn.id, "title": "x" }), 400, "title"),
    ] {
        let (was, problem) = api.call("POST", &path, Some(body.clone())).await;
        assert_eq!((was.as_u16(), problem["field"].as_str().unwrap_or_default()), (status, field), "{body} {problem}");
    }
    let of_nobody = format!("/api/chats/{unknown}/copies");
    let body = json!({ "turn_id": first.assistant_turn.id });
    assert_eq!(api.call("POST", &of_nobody, Some(body)).await.0, StatusCode::NOT_FOUND);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn chat_of_ten_thousand_turns_is_copied_within_seconds() {
    for fresh in test_databases().await {
        let instance = TestServer::with_database(fresh.db.clone(), replies(&["one"])).await;
        let first = start_chat(&instance, "a").await;
        // PostgreSQL is asked over a socket for each row, so preparing many exchanges there takes long.
        let exchanges = if matches!(instance.db, Db::Sqlite { .. }) { 5_000 } else { 1_000 };
        let leaf = extend_chat(&instance, &first, exchanges - 1).await;
        let began = Instant::now();
        let copied = instance.service.copy_chat(instance.owner, first.chat.id, leaf, None).await.unwrap().value;
        let took = began.elapsed();
        eprintln!("{}: {exchanges} exchanges copied in {took:?}", fresh.url);
        assert!(took.as_secs() < 30, "{took:?}");
        let path = instance.service.path(instance.owner, copied.chat.id, None, 20_000).await.unwrap();
        assert_eq!(i64::try_from(path.turns.len()).unwrap(), 2 * exchanges);
        fresh.close().await;
    }
}

/// Repeats the chat's only exchange `times` times below its end. Returns the new leaf.
async fn extend_chat(instance: &TestServer, first: &AcceptedExchange, times: i64) -> TurnId {
    use turnleaf::domain::blocks::block::chat_seq;
    use turnleaf::domain::{Role, Turn};
    use turnleaf_platform::ids;
    use turnleaf_store::turns::{self, exchanges};
    use turnleaf_store::{branches, chats};
    let mut prev = instance.service.turn(instance.owner, first.assistant_turn.id).await.unwrap();
    let models = [instance.service.turn(instance.owner, first.user_turn.id).await.unwrap(), prev.clone()];
    let mut tx = instance.db.begin().await.unwrap();
    for _ in 0..times {
        let mut exchange = first.exchange.clone();
        (exchange.id, exchange.client_request_id) = (ids::mint(), None);
        let mut pair: Vec<Turn> = Vec::new();
        for model in &models {
            let ord =
                chats::allocate_ord(&mut tx, instance.owner, first.chat.id, SystemClock.now()).await.unwrap().unwrap();
            let mut turn = Turn { id: ids::mint(), ord, depth: prev.depth + 1, ..model.clone() };
            (turn.prev_turn_id, turn.exchange_id, turn.last_event_seq) = (Some(prev.id), exchange.id, 0);
            for block in &mut turn.blocks {
                (block.id, block.chat_seq, block.generation_id) = (ids::mint(), chat_seq(ord, block.seq), None);
            }
            (turn.usage, turn.cost) = Default::default();
            if turn.role == Role::User {
                exchange.user_turn_id = Some(turn.id);
            }
            prev = turn.clone();
            pair.push(turn);
        }
        exchanges::insert(&mut tx, instance.owner, &exchange, None).await.unwrap();
        for turn in &pair {
            turns::insert(&mut tx, turn).await.unwrap();
        }
    }
    branches::set_head(&mut tx, first.branch.id, first.branch.head_turn_id, prev.id).await.unwrap();
    tx.commit().await.unwrap();
    prev.id
}
