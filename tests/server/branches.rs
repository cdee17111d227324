//! Branches: another model on a branch of its own, an edit beside the original message, and the settings that a
//! branch puts into every request.

use serde_json::{Value, json};
use turnleaf::domain::branches::branch::{BranchOrigin, ContextPolicy};
use turnleaf::domain::tools::tool::ToolSpec;
use turnleaf::domain::{ExchangeKind, ModelLock, TurnId};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::ServiceError;
use turnleaf_service::branches::{BranchChange, NewBranch};
use turnleaf_service::chats::ChatChange;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::Db;

use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step, thinking_step};

macro_rules! branch_rows_sql {
    ($id:literal) => {
        concat!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9998) \
             INSERT INTO branches (id, chat_id, name, provider, model, parent_branch_id, fork_turn_id, origin, \
                 provider_state, policy, system_prompt, created_at) \
             SELECT ",
            $id,
            ", b.chat_id, CASE i WHEN 1 THEN 'branch' WHEN 2 THEN 'branch (2)' ELSE 'planted' END, b.provider, \
             b.model, b.id, b.head_turn_id, 'fork', b.provider_state, b.policy, b.system_prompt, b.created_at \
             FROM branches b, n"
        )
    };
}

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

/// Returns a provider of three replies with reasoning, "one" to "three".
fn three_replies() -> ScriptedProvider {
    let reply = |word: &str| streamed_answer([thinking_step("hm"), text_step(word)]);
    provider([reply("one"), reply("two"), reply("three")])
}

async fn continue_chat(
    instance: &TestServer,
    after: &AcceptedExchange,
    text: &str,
    place: PlacementRequest,
) -> AcceptedExchange {
    let next = TurnRequest { chat_id: Some(after.chat.id), place, ..message_to_send(text) };
    let started = instance.service.start_turn(instance.owner, next).await.unwrap();
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

fn with_model(model: &str) -> PlacementRequest {
    PlacementRequest { model: Some(model.into()), may_branch: true, ..PlacementRequest::default() }
}

fn place_below(turn: TurnId) -> PlacementRequest {
    PlacementRequest { prev_turn_id: Some(turn), ..PlacementRequest::default() }
}

/// Returns the body of the n-th request as JSON.
fn request_at(requests: &[bytes::Bytes], n: usize) -> Value {
    serde_json::from_slice(&requests[n]).unwrap()
}

#[tokio::test]
async fn other_model_answers_on_own_branch_and_first_branch_is_unchanged() {
    let provider = three_replies();
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;

    let other = continue_chat(&instance, &first, "b", with_model("model-b")).await;
    assert_eq!(other.branch.origin, BranchOrigin::ModelSwitch);
    assert_eq!(other.branch.lock, ModelLock::new("scripted", "model-b"));
    assert_eq!(other.branch.fork_turn_id, Some(first.assistant_turn.id));
    assert_eq!(other.branch.parent_branch_id, Some(first.branch.id));
    let path = instance.service.path(instance.owner, first.chat.id, None, 50).await.unwrap();
    assert_eq!(path.switches, [(other.user_turn.id, "model-b".to_owned())].into());
    let details = instance.service.turn_details(instance.owner, other.user_turn.id).await.unwrap();
    assert_eq!(details.switched_to.as_deref(), Some("model-b"));

    let place = PlacementRequest { branch_id: Some(first.branch.id), ..place_below(first.assistant_turn.id) };
    let back = continue_chat(&instance, &first, "c", place).await;
    assert_eq!(back.branch.id, first.branch.id, "the head of the first branch has not moved");
    let requests = log.requests();
    assert_eq!(request_at(&requests, 1)["model"], "model-b");
    assert_eq!(request_at(&requests, 2)["model"], "model-a");
    assert_eq!(request_at(&requests, 2)["messages"].as_array().unwrap().len(), 3);
    instance.check_invariants().await;
}

#[tokio::test]
async fn naming_branch_model_creates_no_branch() {
    let instance = TestServer::new(three_replies()).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let same = continue_chat(&instance, &first, "b", with_model("model-a")).await;
    assert_eq!(same.branch.id, first.branch.id);
    instance.check_invariants().await;
}

#[tokio::test]
async fn fork_offered_by_refusal_can_be_posted() {
    let instance = TestServer::new(three_replies()).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let place = PlacementRequest { model: Some("model-b".into()), ..PlacementRequest::default() };
    let refused = instance
        .service
        .start_turn(instance.owner, TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("b") });
    let Err(ServiceError::Conflict { code: "branch_locked", extra, .. }) = refused.await else { panic!("accepted") };
    let fork = &extra["fork"];
    let new = NewBranch {
        from_turn_id: fork["from_turn_id"].as_str().map(|id| id.parse().unwrap()),
        provider: fork["provider"].as_str().map(str::to_owned),
        model: fork["model"].as_str().map(str::to_owned),
        ..NewBranch::default()
    };
    let branch = instance.service.create_branch(instance.owner, first.chat.id, new).await.unwrap().value;
    assert_eq!((branch.head_turn_id, branch.fork_turn_id), (None, Some(first.assistant_turn.id)));
    let place = PlacementRequest { branch_id: Some(branch.id), ..PlacementRequest::default() };
    let sent = continue_chat(&instance, &first, "b", place).await;
    assert_eq!(sent.branch.id, branch.id);
    assert_eq!(sent.user_turn.prev_turn_id, Some(first.assistant_turn.id));
    instance.check_invariants().await;
}

#[tokio::test]
async fn edit_is_sibling_of_message_and_may_use_other_model() {
    let provider = three_replies();
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let second = continue_chat(&instance, &first, "b", PlacementRequest::default()).await;
    let edit = TurnRequest { place: with_model("model-b"), ..message_to_send("B") };
    let edited = instance.service.edit_turn(instance.owner, second.user_turn.id, edit.clone()).await.unwrap();
    instance.wait_until_ended(edited.assistant_turn.id).await;
    assert_eq!((edited.exchange.kind, edited.branch.origin), (ExchangeKind::Edit, BranchOrigin::Edit));
    assert_eq!(edited.branch.lock.model, "model-b");
    assert_eq!(edited.user_turn.prev_turn_id, Some(first.assistant_turn.id));
    let versions = instance.service.turn_details(instance.owner, edited.user_turn.id).await.unwrap().siblings;
    assert_eq!(versions, [second.user_turn.id, edited.user_turn.id]);
    let body = request_at(&log.requests(), 2);
    let contents: Vec<&Value> =
        body["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(contents, ["a", "one", "B"]);
    let of_reply = instance.service.edit_turn(instance.owner, second.assistant_turn.id, edit).await;
    assert!(matches!(of_reply, Err(ServiceError::Invalid(invalid)) if invalid.field == "model"));
    instance.check_invariants().await;
}

#[tokio::test]
async fn first_message_can_be_edited_too() {
    let instance = TestServer::new(three_replies()).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let edited = instance.service.edit_turn(instance.owner, first.user_turn.id, message_to_send("A")).await.unwrap();
    instance.wait_until_ended(edited.assistant_turn.id).await;
    assert_eq!((edited.user_turn.prev_turn_id, edited.user_turn.depth), (None, 0));
    instance.check_invariants().await;
}

#[tokio::test]
async fn branch_keeps_its_prompt_and_new_branch_gets_newest() {
    let provider = three_replies();
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let change = ChatChange { system_prompt: Some("Be brief.".into()), ..ChatChange::default() };
    instance.service.change_chat(instance.owner, first.chat.id, change).await.unwrap();
    let second = continue_chat(&instance, &first, "b", PlacementRequest::default()).await;
    let retry = instance.service.retry_turn(
        instance.owner,
        second.assistant_turn.id,
        PlacementRequest::default(),
        <_>::default(),
        None,
    );
    let retried = retry.await.unwrap();
    instance.wait_until_ended(retried.assistant_turn.id).await;
    let requests = log.requests();
    assert_eq!(request_at(&requests, 1)["messages"][0]["role"], "user", "the branch began without a prompt");
    assert_eq!(request_at(&requests, 2)["messages"][0]["content"], "Be brief.");
    let (_, frozen) = instance.service.branch(instance.owner, retried.branch.id).await.unwrap();
    assert_eq!(frozen.system_prompt, "Be brief.");
    instance.check_invariants().await;
}

#[tokio::test]
async fn branch_keeps_its_tools_when_providers_change() {
    let tool =
        |name: &str| ToolSpec { name: name.into(), description: "d".into(), parameters: json!({"type": "object"}) };
    let instance =
        TestServer::new(provider([streamed_answer([text_step("one")])]).with_tools(vec![tool("old")], |_, _| None))
            .await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let provider = three_replies().with_tools(vec![tool("new")], |_, _| None);
    let log = provider.log();
    let instance = TestServer::open(instance.dir, provider).await;
    continue_chat(&instance, &first, "b", PlacementRequest::default()).await;
    assert_eq!(request_at(&log.requests(), 0)["tools"][0]["function"]["name"], "old");
    instance.check_invariants().await;
}

#[tokio::test]
async fn branch_with_removed_provider_continues_with_another() {
    let instance = TestServer::new(three_replies()).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let instance = TestServer::open(
        instance.dir,
        ScriptedProvider::new("another", [streamed_answer([text_step("from another")])]),
    )
    .await;
    let sent = instance
        .service
        .start_turn(instance.owner, TurnRequest { chat_id: Some(first.chat.id), ..message_to_send("b") })
        .await;
    let Err(ServiceError::Conflict { code: "model_unavailable", extra, .. }) = sent else { panic!("{sent:?}") };
    assert_eq!(extra["fork"]["provider"], "another");
    let place = PlacementRequest { provider: Some("another".into()), may_branch: true, ..PlacementRequest::default() };
    let sent = continue_chat(&instance, &first, "b", place).await;
    assert_eq!(sent.branch.lock, ModelLock::new("another", "model-a"));
    instance.check_invariants().await;
}

#[tokio::test]
async fn model_of_just_removed_provider_is_unavailable_and_nothing_is_sent() {
    let provider = three_replies();
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let (reply, message_id) = (first.assistant_turn.id, first.user_turn.id);
    for (provider, model) in [("removed", Some("m")), ("removed", None)] {
        let place = || PlacementRequest {
            provider: Some(provider.into()),
            model: model.map(str::to_owned),
            may_branch: true,
            ..PlacementRequest::default()
        };
        let sent = TurnRequest { chat_id: Some(first.chat.id), place: place(), ..message_to_send("b") };
        for refused in [
            instance.service.retry_turn(instance.owner, reply, place(), Default::default(), None).await,
            instance
                .service
                .edit_turn(instance.owner, message_id, TurnRequest { place: place(), ..message_to_send("b") })
                .await,
            instance.service.start_turn(instance.owner, sent).await,
        ] {
            let Err(ServiceError::Conflict { code: "model_unavailable", extra, .. }) = refused else {
                panic!("{refused:?}")
            };
            assert_eq!(extra["locked_to"], json!({ "provider": "removed", "model": model }));
            assert_eq!(extra["fork"]["provider"], "scripted");
        }
    }
    let never =
        PlacementRequest { provider: Some("Not An Id".into()), model: Some("m".into()), ..PlacementRequest::default() };
    let refused = instance.service.retry_turn(instance.owner, reply, never, Default::default(), None).await;
    assert!(matches!(&refused, Err(ServiceError::Invalid(invalid)) if invalid.field == "provider"), "{refused:?}");
    assert_eq!(log.requests().len(), 1);
    instance.check_invariants().await;
}

#[tokio::test]
async fn chat_has_bounded_number_of_branches() {
    for instance in TestServer::on_every_database(three_replies).await {
        let first = instance.send("a").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        instance.sql(PLANT[usize::from(matches!(instance.db, Db::Postgres { .. }))]).await;
        let new = || instance.service.create_branch(instance.owner, first.chat.id, NewBranch::default());
        let last = new().await.unwrap().value;
        assert_eq!(last.name, "branch (3)");
        for refused in [
            new().await.map(|_| ()),
            instance
                .service
                .retry_turn(
                    instance.owner,
                    first.assistant_turn.id,
                    PlacementRequest::default(),
                    Default::default(),
                    None,
                )
                .await
                .map(|_| ()),
        ] {
            let is_named = matches!(refused, Err(ServiceError::Conflict { code: "too_many_branches", .. }));
            assert!(is_named, "{refused:?}");
        }
        // At the limit, an existing branch can still be continued, and deleting one makes room for another.
        continue_chat(&instance, &first, "b", PlacementRequest::default()).await;
        instance.service.delete_branch(instance.owner, last.id).await.unwrap();
        assert_eq!(new().await.unwrap().value.name, "branch (3)");
        instance.close().await;
    }
}

/// Inserts all branches but one that a chat may have, on SQLite and on PostgreSQL; two of them have the name that a
/// new branch would get.
const PLANT: [&str; 2] = [branch_rows_sql!("randomblob(16)"), branch_rows_sql!("gen_random_uuid()")];

#[tokio::test]
async fn branch_name_and_policy_can_be_changed() {
    let instance = TestServer::new(three_replies()).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let policy = Some(ContextPolicy::SignaturesOnly);
    let change = BranchChange { name: Some(" side ".into()), policy, ..BranchChange::default() };
    let changed = instance.service.change_branch(instance.owner, first.branch.id, change).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.policy), ("side", ContextPolicy::SignaturesOnly));
    let retry = instance.service.retry_turn(
        instance.owner,
        first.assistant_turn.id,
        PlacementRequest::default(),
        <_>::default(),
        None,
    );
    let retried = retry.await.unwrap();
    instance.wait_until_ended(retried.assistant_turn.id).await;
    assert_eq!(retried.branch.policy, ContextPolicy::SignaturesOnly, "a branch goes on as the one it leaves");
    let unnamed = BranchChange { name: Some("  ".into()), ..BranchChange::default() };
    let refused = instance.service.change_branch(instance.owner, first.branch.id, unnamed).await;
    assert!(matches!(refused, Err(ServiceError::Invalid(invalid)) if invalid.field == "name"));
    instance.check_invariants().await;
}
