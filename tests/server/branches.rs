//! Branches: another model on a branch of its own, an edit beside the message, and what a branch says in every request.

use serde_json::{Value, json};
use turnleaf::domain::branch::{ContextPolicy, Origin};
use turnleaf::domain::tool::ToolSpec;
use turnleaf::domain::{ExchangeKind, Lock, TurnId};
use turnleaf_providers::scripted::{Answer, Scripted};
use turnleaf_service::ServiceError;
use turnleaf_service::branches::{BranchChange, NewBranch};
use turnleaf_service::chats::ChatChange;
use turnleaf_service::turns::placement::Wanted;
use turnleaf_service::turns::{StartTurn, Started};
use turnleaf_store::Db;

use crate::house::{House, answer, message, text, thinking};

macro_rules! plant {
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

fn provider(answers: impl IntoIterator<Item = Answer>) -> Scripted {
    Scripted::new("scripted", answers)
}

/// Three replies that reason, "one" to "three".
fn three() -> Scripted {
    let reply = |word: &str| answer([thinking("hm"), text(word)]);
    provider([reply("one"), reply("two"), reply("three")])
}

async fn go_on(house: &House, after: &Started, text: &str, place: Wanted) -> Started {
    let next = StartTurn { chat_id: Some(after.chat.id), place, ..message(text) };
    let started = house.service.start_turn(house.owner, next).await.unwrap();
    house.ended(started.assistant_turn.id).await;
    started
}

fn with_model(model: &str) -> Wanted {
    Wanted { model: Some(model.into()), may_branch: true, ..Wanted::default() }
}

fn below(turn: TurnId) -> Wanted {
    Wanted { prev_turn_id: Some(turn), ..Wanted::default() }
}

/// What the n-th request says, as JSON.
fn asked(requests: &[bytes::Bytes], n: usize) -> Value {
    serde_json::from_slice(&requests[n]).unwrap()
}

#[tokio::test]
async fn another_model_answers_on_a_branch_of_its_own_and_the_first_goes_on_as_it_was() {
    let provider = three();
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;

    let other = go_on(&house, &first, "b", with_model("model-b")).await;
    assert_eq!(other.branch.origin, Origin::ModelSwitch);
    assert_eq!(other.branch.lock, Lock::new("scripted", "model-b"));
    assert_eq!(other.branch.fork_turn_id, Some(first.assistant_turn.id));
    assert_eq!(other.branch.parent_branch_id, Some(first.branch.id));
    let path = house.service.path(house.owner, first.chat.id, None, 50).await.unwrap();
    assert_eq!(path.switches, [(other.user_turn.id, "model-b".to_owned())].into());
    let drawn = house.service.turn_with_siblings(house.owner, other.user_turn.id).await.unwrap();
    assert_eq!(drawn.switched_to.as_deref(), Some("model-b"));

    let place = Wanted { branch_id: Some(first.branch.id), ..below(first.assistant_turn.id) };
    let back = go_on(&house, &first, "c", place).await;
    assert_eq!(back.branch.id, first.branch.id, "the head of the first branch has not moved");
    let requests = log.requests();
    assert_eq!(asked(&requests, 1)["model"], "model-b");
    assert_eq!(asked(&requests, 2)["model"], "model-a");
    assert_eq!(asked(&requests, 2)["messages"].as_array().unwrap().len(), 3);
    house.check().await;
}

#[tokio::test]
async fn the_model_of_the_branch_is_no_switch() {
    let house = House::new(three()).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let same = go_on(&house, &first, "b", with_model("model-a")).await;
    assert_eq!(same.branch.id, first.branch.id);
    house.check().await;
}

#[tokio::test]
async fn the_fork_that_a_refusal_offers_is_ready_to_post() {
    let house = House::new(three()).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let place = Wanted { model: Some("model-b".into()), ..Wanted::default() };
    let refused =
        house.service.start_turn(house.owner, StartTurn { chat_id: Some(first.chat.id), place, ..message("b") });
    let Err(ServiceError::Conflict { code: "branch_locked", extra, .. }) = refused.await else { panic!("accepted") };
    let fork = &extra["fork"];
    let new = NewBranch {
        from_turn_id: fork["from_turn_id"].as_str().map(|id| id.parse().unwrap()),
        provider: fork["provider"].as_str().map(str::to_owned),
        model: fork["model"].as_str().map(str::to_owned),
        ..NewBranch::default()
    };
    let branch = house.service.create_branch(house.owner, first.chat.id, new).await.unwrap().it;
    assert_eq!((branch.head_turn_id, branch.fork_turn_id), (None, Some(first.assistant_turn.id)));
    let place = Wanted { branch_id: Some(branch.id), ..Wanted::default() };
    let sent = go_on(&house, &first, "b", place).await;
    assert_eq!(sent.branch.id, branch.id);
    assert_eq!(sent.user_turn.prev_turn_id, Some(first.assistant_turn.id));
    house.check().await;
}

#[tokio::test]
async fn an_edit_stands_beside_the_message_and_may_name_another_model() {
    let provider = three();
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let second = go_on(&house, &first, "b", Wanted::default()).await;
    let edit = StartTurn { place: with_model("model-b"), ..message("B") };
    let edited = house.service.edit_turn(house.owner, second.user_turn.id, edit.clone()).await.unwrap();
    house.ended(edited.assistant_turn.id).await;
    assert_eq!((edited.exchange.kind, edited.branch.origin), (ExchangeKind::Edit, Origin::Edit));
    assert_eq!(edited.branch.lock.model, "model-b");
    assert_eq!(edited.user_turn.prev_turn_id, Some(first.assistant_turn.id));
    let versions = house.service.turn_with_siblings(house.owner, edited.user_turn.id).await.unwrap().siblings;
    assert_eq!(versions, [second.user_turn.id, edited.user_turn.id]);
    let body = asked(&log.requests(), 2);
    let said: Vec<&Value> = body["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(said, ["a", "one", "B"]);
    let of_reply = house.service.edit_turn(house.owner, second.assistant_turn.id, edit).await;
    assert!(matches!(of_reply, Err(ServiceError::Invalid(invalid)) if invalid.field == "model"));
    house.check().await;
}

#[tokio::test]
async fn the_first_message_can_be_edited_too() {
    let house = House::new(three()).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let edited = house.service.edit_turn(house.owner, first.user_turn.id, message("A")).await.unwrap();
    house.ended(edited.assistant_turn.id).await;
    assert_eq!((edited.user_turn.prev_turn_id, edited.user_turn.depth), (None, 0));
    house.check().await;
}

#[tokio::test]
async fn a_branch_keeps_its_prompt_and_a_new_one_gets_the_newest() {
    let provider = three();
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let change = ChatChange { system_prompt: Some("Be brief.".into()), ..ChatChange::default() };
    house.service.change_chat(house.owner, first.chat.id, change).await.unwrap();
    let second = go_on(&house, &first, "b", Wanted::default()).await;
    let retry =
        house.service.retry_turn(house.owner, second.assistant_turn.id, Wanted::default(), <_>::default(), None);
    let retried = retry.await.unwrap();
    house.ended(retried.assistant_turn.id).await;
    let requests = log.requests();
    assert_eq!(asked(&requests, 1)["messages"][0]["role"], "user", "the branch began without a prompt");
    assert_eq!(asked(&requests, 2)["messages"][0]["content"], "Be brief.");
    let (_, frozen) = house.service.branch(house.owner, retried.branch.id).await.unwrap();
    assert_eq!(frozen.system_prompt, "Be brief.");
    house.check().await;
}

#[tokio::test]
async fn a_branch_keeps_its_tools_when_the_providers_change() {
    let tool =
        |name: &str| ToolSpec { name: name.into(), description: "d".into(), parameters: json!({"type": "object"}) };
    let house = House::new(provider([answer([text("one")])]).with_tools(vec![tool("old")], |_, _| None)).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let provider = three().with_tools(vec![tool("new")], |_, _| None);
    let log = provider.log();
    let house = House::open(house.dir, provider).await;
    go_on(&house, &first, "b", Wanted::default()).await;
    assert_eq!(asked(&log.requests(), 0)["tools"][0]["function"]["name"], "old");
    house.check().await;
}

#[tokio::test]
async fn a_branch_whose_provider_is_gone_goes_on_with_another_one() {
    let house = House::new(three()).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let house = House::open(house.dir, Scripted::new("another", [answer([text("from another")])])).await;
    let sent = house.service.start_turn(house.owner, StartTurn { chat_id: Some(first.chat.id), ..message("b") }).await;
    let Err(ServiceError::Conflict { code: "model_unavailable", extra, .. }) = sent else { panic!("{sent:?}") };
    assert_eq!(extra["fork"]["provider"], "another");
    let place = Wanted { provider: Some("another".into()), may_branch: true, ..Wanted::default() };
    let sent = go_on(&house, &first, "b", place).await;
    assert_eq!(sent.branch.lock, Lock::new("another", "model-a"));
    house.check().await;
}

#[tokio::test]
async fn a_model_whose_provider_was_just_removed_is_unavailable_and_nothing_is_sent() {
    let provider = three();
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let (reply, message_id) = (first.assistant_turn.id, first.user_turn.id);
    for (provider, model) in [("removed", Some("m")), ("removed", None)] {
        let place = || Wanted {
            provider: Some(provider.into()),
            model: model.map(str::to_owned),
            may_branch: true,
            ..Wanted::default()
        };
        let sent = StartTurn { chat_id: Some(first.chat.id), place: place(), ..message("b") };
        for refused in [
            house.service.retry_turn(house.owner, reply, place(), Default::default(), None).await,
            house.service.edit_turn(house.owner, message_id, StartTurn { place: place(), ..message("b") }).await,
            house.service.start_turn(house.owner, sent).await,
        ] {
            let Err(ServiceError::Conflict { code: "model_unavailable", extra, .. }) = refused else {
                panic!("{refused:?}")
            };
            assert_eq!(extra["locked_to"], json!({ "provider": "removed", "model": model }));
            assert_eq!(extra["fork"]["provider"], "scripted");
        }
    }
    let never = Wanted { provider: Some("Not An Id".into()), model: Some("m".into()), ..Wanted::default() };
    let refused = house.service.retry_turn(house.owner, reply, never, Default::default(), None).await;
    assert!(matches!(&refused, Err(ServiceError::Invalid(invalid)) if invalid.field == "provider"), "{refused:?}");
    assert_eq!(log.requests().len(), 1);
    house.check().await;
}

#[tokio::test]
async fn a_chat_has_a_bounded_number_of_branches() {
    for house in House::everywhere(three).await {
        let first = house.send("a").await;
        house.ended(first.assistant_turn.id).await;
        house.sql(PLANT[usize::from(matches!(house.db, Db::Postgres { .. }))]).await;
        let new = || house.service.create_branch(house.owner, first.chat.id, NewBranch::default());
        let last = new().await.unwrap().it;
        assert_eq!(last.name, "branch (3)");
        for refused in [
            new().await.map(|_| ()),
            house
                .service
                .retry_turn(house.owner, first.assistant_turn.id, Wanted::default(), Default::default(), None)
                .await
                .map(|_| ()),
        ] {
            let is_named = matches!(refused, Err(ServiceError::Conflict { code: "too_many_branches", .. }));
            assert!(is_named, "{refused:?}");
        }
        // One that is there already goes on, and one that is deleted makes room.
        go_on(&house, &first, "b", Wanted::default()).await;
        house.service.delete_branch(house.owner, last.id).await.unwrap();
        assert_eq!(new().await.unwrap().it.name, "branch (3)");
        house.close().await;
    }
}

/// All branches but one that a chat may have, on SQLite and on PostgreSQL; two of them have the name of a new one.
const PLANT: [&str; 2] = [plant!("randomblob(16)"), plant!("gen_random_uuid()")];

#[tokio::test]
async fn a_branch_has_a_name_and_a_policy_that_may_change() {
    let house = House::new(three()).await;
    let first = house.send("a").await;
    house.ended(first.assistant_turn.id).await;
    let policy = Some(ContextPolicy::SignaturesOnly);
    let change = BranchChange { name: Some(" side ".into()), policy, ..BranchChange::default() };
    let changed = house.service.change_branch(house.owner, first.branch.id, change).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.policy), ("side", ContextPolicy::SignaturesOnly));
    let retry = house.service.retry_turn(house.owner, first.assistant_turn.id, Wanted::default(), <_>::default(), None);
    let retried = retry.await.unwrap();
    house.ended(retried.assistant_turn.id).await;
    assert_eq!(retried.branch.policy, ContextPolicy::SignaturesOnly, "a branch goes on as the one it leaves");
    let unnamed = BranchChange { name: Some("  ".into()), ..BranchChange::default() };
    let refused = house.service.change_branch(house.owner, first.branch.id, unnamed).await;
    assert!(matches!(refused, Err(ServiceError::Invalid(invalid)) if invalid.field == "name"));
    house.check().await;
}
