//! Grafts: a path asked again on another branch, message by message, through failures, Stop, limits and the death of the
//! process between two steps.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::block::{BlockState, chat_seq};
use turnleaf::domain::branch::Origin;
use turnleaf::domain::graft::{GraftStatus, PauseReason};
use turnleaf::domain::provider::Reasoning;
use turnleaf::domain::*;
use turnleaf_platform::ids;
use turnleaf_providers::provider::Refused;
use turnleaf_providers::registry::Registry;
use turnleaf_providers::scripted::{Answer, Scripted, Step};
use turnleaf_service::ServiceError;
use turnleaf_service::chats::ChatChange;
use turnleaf_service::turns::grafts::{Grafted, NewGraft};
use turnleaf_service::turns::placement::Wanted;
use turnleaf_service::turns::{StartTurn, Started};
use turnleaf_store::turn_blocks::{self, BlockOf};
use turnleaf_store::{Db, exchanges, turns};

use crate::house::{House, answer, finish, message, text};

/// A provider that says these words, one reply each.
fn saying(words: &[&str]) -> Scripted {
    Scripted::new("scripted", words.iter().map(|word| answer([text(word)])))
}

fn refuse() -> Answer {
    Answer::Refuse(Refused::unanswered(Failure::new(FailureKind::ProviderAuth, "Scripted")))
}

/// A chat of `messages` answered messages, "m0" answered by what the provider says first, and so on.
async fn talked(house: &House, messages: usize) -> Vec<Started> {
    let mut path: Vec<Started> = Vec::new();
    for n in 0..messages {
        let chat_id = path.first().map(|first| first.chat.id);
        let place = Wanted { prev_turn_id: path.last().map(|last| last.assistant_turn.id), ..Wanted::default() };
        let sent = StartTurn { chat_id, place, ..message(&format!("m{n}")) };
        let started = house.service.start_turn(house.owner, sent).await.unwrap();
        house.ended(started.assistant_turn.id).await;
        path.push(started);
    }
    path
}

/// Another model for the whole path, from `from` on.
fn again(path: &[Started], from: Option<TurnId>) -> NewGraft {
    NewGraft {
        from_turn_id: from,
        leaf_turn_id: path.last().unwrap().assistant_turn.id,
        provider: "scripted".into(),
        model: Some("model-b".into()),
        params: Params::default(),
        client_request_id: None,
    }
}

async fn begin(house: &House, path: &[Started], new: NewGraft) -> Result<Grafted, ServiceError> {
    house.service.start_graft(house.owner, path[0].chat.id, new).await.map(|made| made.it)
}

impl House {
    /// The graft once it does not run any more.
    async fn settled(&self, id: GraftId) -> Grafted {
        loop {
            let seen = self.service.graft(self.owner, id).await.unwrap();
            if seen.graft.status != GraftStatus::Running {
                return seen;
            }
            if let Some(live) = seen.reply.and_then(|reply| self.service.supervisor().live(reply.id)) {
                live.ended().await;
            }
            // The graft's own task is next.
            tokio::task::yield_now().await;
        }
    }

    /// The texts from the root to a turn.
    async fn said(&self, leaf: TurnId) -> Vec<String> {
        let (path, _) = turns::path(&self.db, self.owner, leaf, 100).await.unwrap();
        path.iter().map(Turn::content_text).collect()
    }
}

fn conflict(result: Result<Grafted, ServiceError>) -> &'static str {
    match result {
        Err(ServiceError::Conflict { code, .. }) => code,
        other => panic!("{:?}", other.map(|grafted| grafted.graft)),
    }
}

fn invalid(result: Result<Grafted, ServiceError>) -> String {
    match result {
        Err(ServiceError::Invalid(invalid)) => invalid.field,
        other => panic!("{:?}", other.map(|grafted| grafted.graft)),
    }
}

#[tokio::test]
async fn every_message_is_asked_again_in_its_order_on_a_branch_with_the_other_model() {
    let provider = saying(&["a", "b", "c", "x", "y", "z"]);
    let log = provider.log();
    let house = House::new(provider).await;
    let path = talked(&house, 3).await;
    let before = house.service.chat(house.owner, path[0].chat.id).await.unwrap();

    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    assert_eq!(
        (begun.branch.lock.clone(), begun.branch.origin),
        (Lock::new("scripted", "model-b"), Origin::ModelSwitch)
    );
    assert_eq!((begun.graft.asked, begun.graft.messages.len()), (1, 3));
    let done = house.settled(begun.graft.id).await;
    assert_eq!((done.graft.status, done.graft.asked, done.graft.reason), (GraftStatus::Done, 3, None));
    assert_eq!(done.branch.id, begun.branch.id, "one branch grew");
    let reply = done.reply.unwrap();
    assert_eq!(reply.branch_id, done.branch.id);
    assert_eq!(house.said(reply.id).await, ["m0", "x", "m1", "y", "m2", "z"]);
    assert_eq!(
        house.said(path[2].assistant_turn.id).await,
        ["m0", "a", "m1", "b", "m2", "c"],
        "the old path is as it was"
    );
    let models: Vec<Value> = log.requests().iter().map(|body| serde_json::from_slice::<Value>(body).unwrap()).collect();
    assert_eq!(models.iter().map(|body| body["model"].as_str().unwrap()).collect::<Vec<_>>()[3..], ["model-b"; 3]);
    let spoken = |n: usize| models[n]["messages"].as_array().unwrap().len();
    assert_eq!((spoken(3), spoken(4), spoken(5)), (1, 3, 5), "each after the reply to the one before");
    let exchange = exchanges::find(&house.db, house.owner, reply.exchange_id).await.unwrap().unwrap();
    assert_eq!(exchange.kind, ExchangeKind::Send);
    // The reader stays where they were.
    let after = house.service.chat(house.owner, path[0].chat.id).await.unwrap();
    assert_eq!(after.last_viewed_turn_id, before.last_viewed_turn_id);
    assert!(after.rev > before.rev, "pages see that there is something new");
    house.check().await;
}

#[tokio::test]
async fn a_graft_begins_behind_a_reply_or_with_another_reply_to_a_message() {
    let house = House::new(saying(&["a", "b", "c", "x", "y", "p", "q"])).await;
    let path = talked(&house, 3).await;
    let behind = begin(&house, &path, again(&path, Some(path[0].assistant_turn.id))).await.unwrap();
    assert_eq!(behind.branch.fork_turn_id, Some(path[0].assistant_turn.id));
    let behind = house.settled(behind.graft.id).await;
    assert_eq!(house.said(behind.reply.unwrap().id).await, ["m0", "a", "m1", "x", "m2", "y"]);

    let with = begin(&house, &path, again(&path, Some(path[1].user_turn.id))).await.unwrap();
    assert_eq!(with.graft.messages, [path[1].user_turn.id, path[2].user_turn.id]);
    let with = house.settled(with.graft.id).await;
    let reply = with.reply.unwrap();
    assert_eq!(house.said(reply.id).await, ["m0", "a", "m1", "p", "m2", "q"]);
    let (turns, _) = turns::path(&house.db, house.owner, reply.id, 4).await.unwrap();
    assert_eq!(turns[0].id, path[1].user_turn.id, "the message itself, no copy of it");
    house.check().await;
}

#[tokio::test]
async fn what_a_message_holds_beside_text_is_copied_as_it_is() {
    let house = House::new(saying(&["a", "x"])).await;
    let path = talked(&house, 1).await;
    let question = path[0].user_turn.clone();
    let contents = [
        Content::Reference { ref_id: "d".into(), ref_type: "document".into(), version_timestamp: None },
        Content::Other(serde_json::from_value(json!({ "type": "x:odd", "z": 1.0, "a": [2] })).unwrap()),
    ];
    let blocks: Vec<Block> = (1..)
        .zip(contents)
        .map(|(seq, content)| Block {
            id: ids::mint(),
            seq,
            chat_seq: chat_seq(question.ord, seq),
            content,
            block_metadata: json!({ "width": 7 }),
            state: BlockState::Done,
            ..question.blocks[0].clone()
        })
        .collect();
    let mut tx = house.db.begin().await.unwrap();
    let of = |block| BlockOf { chat_id: question.chat_id, turn_id: question.id, block };
    let rows: Vec<BlockOf<'_>> = blocks.iter().map(of).collect();
    turn_blocks::upsert(&mut tx, &rows, question.created_at).await.unwrap();
    tx.commit().await.unwrap();

    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    let done = house.settled(begun.graft.id).await;
    let copy = done.reply.unwrap().prev_turn_id.unwrap();
    let (old, new) = (
        turns::find(&house.db, house.owner, question.id).await.unwrap().unwrap(),
        turns::find(&house.db, house.owner, copy).await.unwrap().unwrap(),
    );
    let held = |turn: &Turn| {
        let held = |block: &Block| (block.seq, block.content.clone(), block.block_metadata.clone(), block.author);
        turn.blocks.iter().map(held).collect::<Vec<_>>()
    };
    assert_eq!((old.blocks.len(), held(&old)), (3, held(&new)));
    assert_ne!(old.id, new.id);
    house.check().await;
}

#[tokio::test]
async fn a_reply_that_fails_stops_the_graft_until_somebody_resumes_it() {
    let script = [answer([text("a")]), answer([text("b")]), answer([text("x")]), refuse(), answer([text("y")])];
    let house = House::new(Scripted::new("scripted", script)).await;
    let path = talked(&house, 2).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    let paused = house.settled(begun.graft.id).await;
    assert_eq!((paused.graft.status, paused.graft.reason), (GraftStatus::Paused, Some(PauseReason::ReplyFailed)));
    assert!(paused.graft.detail.unwrap().contains("refused"));
    assert_eq!(paused.graft.asked, 2);

    let resumed = house.service.resume_graft(house.owner, begun.graft.id).await.unwrap();
    assert_eq!(resumed.graft.asked, 2, "the same message once more");
    let done = house.settled(begun.graft.id).await;
    assert_eq!((done.graft.status, done.graft.detail), (GraftStatus::Done, None));
    let reply = done.reply.unwrap();
    assert_eq!(house.said(reply.id).await, ["m0", "x", "m1", "y"]);
    let siblings = turns::siblings(&house.db, house.owner, &[reply.id]).await.unwrap();
    assert_eq!(siblings[&reply.id].len(), 2, "the failed reply stays beside it");
    assert_eq!(done.branch.lock, Lock::new("scripted", "model-b"));
    assert_eq!(conflict(house.service.resume_graft(house.owner, begun.graft.id).await), "graft_not_paused");
    house.check().await;
}

#[tokio::test]
async fn stop_pauses_a_graft_and_cancel_ends_it_with_the_reply() {
    let hang = || Answer::Stream(vec![text("half"), Step::Hang]);
    let script = [answer([text("a")]), answer([text("b")]), hang(), hang()];
    let provider = Scripted::new("scripted", script);
    let log = provider.log();
    let house = House::new(provider).await;
    let path = talked(&house, 2).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    log.until_requests(3).await;
    house.service.stop_turn(house.owner, begun.reply.unwrap().id).await.unwrap();
    let paused = house.settled(begun.graft.id).await;
    assert_eq!((paused.graft.reason, paused.graft.asked), (Some(PauseReason::ReplyStopped), 1));

    house.service.resume_graft(house.owner, begun.graft.id).await.unwrap();
    log.until_requests(4).await;
    let cancelled = house.service.cancel_graft(house.owner, begun.graft.id).await.unwrap();
    assert_eq!(cancelled.graft.status, GraftStatus::Cancelled);
    assert_eq!(cancelled.reply.unwrap().status, TurnStatus::Cancelled);
    let again = house.service.cancel_graft(house.owner, begun.graft.id).await.unwrap();
    assert_eq!(again.graft, cancelled.graft, "once is enough");
    assert_eq!(conflict(house.service.resume_graft(house.owner, begun.graft.id).await), "graft_not_paused");
    assert_eq!(log.requests().len(), 4, "nothing more was asked");
    house.check().await;
}

#[tokio::test]
async fn the_same_request_begins_one_graft() {
    let house = House::new(saying(&["a", "b", "x", "y", "z"])).await;
    let path = talked(&house, 2).await;
    let new = NewGraft { client_request_id: Some("k".into()), ..again(&path, None) };
    let chat = path[0].chat.id;
    let calls = (0..10).map(|_| house.service.start_graft(house.owner, chat, new.clone()));
    let begun: Vec<_> = futures::future::join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(begun.iter().filter(|made| made.is_new).count(), 1);
    let begun: Vec<Grafted> = begun.into_iter().map(|made| made.it).collect();
    assert!(begun.iter().all(|grafted| grafted.graft.id == begun[0].graft.id));
    let other = NewGraft { model: Some("model-a".into()), ..new };
    assert_eq!(conflict(begin(&house, &path, other).await), "idempotency_mismatch");
    house.settled(begun[0].graft.id).await;
    assert_eq!(house.service.grafts(house.owner, path[0].chat.id).await.unwrap().len(), 1);
    house.check().await;
}

#[tokio::test]
async fn a_graft_that_was_begun_is_found_by_its_request_when_its_path_is_deleted() {
    let house = House::new(saying(&["a", "b", "x", "y"])).await;
    let path = talked(&house, 2).await;
    let (chat, leaf) = (path[0].chat.id, path[1].user_turn.id);
    let new = NewGraft { client_request_id: Some("k".into()), ..again(&path, Some(path[0].assistant_turn.id)) };
    let begun = house.service.start_graft(house.owner, chat, new.clone()).await.unwrap();
    house.settled(begun.it.graft.id).await;
    house.service.delete_turn(house.owner, leaf).await.unwrap();
    let again = house.service.start_graft(house.owner, chat, new.clone()).await.unwrap();
    assert_eq!((again.is_new, again.it.graft.id), (false, begun.it.graft.id));
    let other = NewGraft { model: Some("model-a".into()), ..new };
    assert_eq!(conflict(begin(&house, &path, other).await), "idempotency_mismatch");
    house.check().await;
}

#[tokio::test]
async fn many_resumes_at_once_ask_once() {
    let script = [answer([text("a")]), refuse(), answer([text("x")])];
    let provider = Scripted::new("scripted", script);
    let log = provider.log();
    let house = House::new(provider).await;
    let path = talked(&house, 1).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    house.settled(begun.graft.id).await;
    let calls = (0..8).map(|_| house.service.resume_graft(house.owner, begun.graft.id));
    let resumed = futures::future::join_all(calls).await;
    assert_eq!(resumed.iter().filter(|resumed| resumed.is_ok()).count(), 1, "{resumed:?}");
    assert_eq!(house.settled(begun.graft.id).await.graft.status, GraftStatus::Done);
    assert_eq!(log.requests().len(), 3);
    house.check().await;
}

async fn sql(house: &House, text: &'static str) {
    let Db::Sqlite { writer, .. } = &house.db else { panic!("a file") };
    sqlx::raw_sql(text).execute(writer).await.unwrap();
}

/// Ends the process between two moments of a graft: nothing of it goes on, and the database is opened by another one.
/// A database that closes is something the graft's task can still write down, and a process that dies writes nothing:
/// the row is that of one which was being driven.
async fn killed(house: House, provider: Scripted) -> House {
    let House { dir, db, service, .. } = house;
    drop(service);
    db.close().await;
    let house = House::open(dir, provider).await;
    sql(&house, "UPDATE grafts SET status = 'running', reason = NULL, detail = NULL").await;
    house.service.supervisor().sweep().await.unwrap();
    house
}

#[tokio::test]
async fn a_process_that_dies_while_a_reply_is_written_leaves_a_graft_that_waits() {
    let script = [answer([text("a")]), answer([text("b")]), Answer::Stream(vec![text("half"), Step::Hang])];
    let provider = Scripted::new("scripted", script);
    let log = provider.log();
    let house = House::new(provider).await;
    let path = talked(&house, 2).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    log.until_requests(3).await;
    let provider = saying(&["x", "y"]);
    let log = provider.log();
    let house = killed(house, provider).await;
    assert_eq!(house.service.settle_grafts().await.unwrap(), 1);
    assert_eq!(house.service.settle_grafts().await.unwrap(), 0, "it is settled");
    let paused = house.service.graft(house.owner, begun.graft.id).await.unwrap();
    assert_eq!((paused.graft.status, paused.graft.reason), (GraftStatus::Paused, Some(PauseReason::ServerRestarted)));
    assert_eq!(paused.reply.unwrap().status, TurnStatus::Error);
    assert_eq!(log.requests().len(), 0, "nothing is asked by itself");

    house.service.resume_graft(house.owner, begun.graft.id).await.unwrap();
    let done = house.settled(begun.graft.id).await;
    assert_eq!((done.graft.status, done.graft.asked), (GraftStatus::Done, 2));
    assert_eq!(house.said(done.reply.unwrap().id).await, ["m0", "x", "m1", "y"]);
    house.check().await;
}

#[tokio::test]
async fn a_process_that_dies_between_two_steps_asks_nothing_twice() {
    let gate = Arc::new(Notify::new());
    let held = Answer::Stream([text("x"), Step::Until(gate.clone())].into_iter().chain(finish("stop")).collect());
    let provider = Scripted::new("scripted", [answer([text("a")]), answer([text("b")]), held]);
    let log = provider.log();
    let house = House::new(provider).await;
    let path = talked(&house, 2).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    log.until_requests(3).await;
    // Its task finds that it is not to go on, and ends.
    sql(&house, "UPDATE grafts SET status = 'paused', reason = 'busy'").await;
    gate.notify_one();
    house.ended(begun.reply.unwrap().id).await;

    let provider = saying(&["y"]);
    let log = provider.log();
    let house = killed(house, provider).await;
    assert_eq!(house.service.settle_grafts().await.unwrap(), 1);
    let paused = house.service.graft(house.owner, begun.graft.id).await.unwrap();
    assert_eq!((paused.graft.reason, paused.graft.asked), (Some(PauseReason::ServerRestarted), 1));
    assert_eq!(paused.reply.unwrap().status, TurnStatus::Complete);
    house.service.resume_graft(house.owner, begun.graft.id).await.unwrap();
    let done = house.settled(begun.graft.id).await;
    assert_eq!(done.graft.status, GraftStatus::Done);
    assert_eq!(log.requests().len(), 1, "the first message has its reply");
    assert_eq!(house.said(done.reply.unwrap().id).await, ["m0", "x", "m1", "y"]);
    house.check().await;
}

#[tokio::test]
async fn a_chat_that_is_full_stops_a_graft_and_says_so() {
    let gate = Arc::new(Notify::new());
    let held = Answer::Stream([text("x"), Step::Until(gate.clone())].into_iter().chain(finish("stop")).collect());
    let provider = Scripted::new("scripted", [answer([text("a")]), answer([text("b")]), held]);
    let log = provider.log();
    let house = House::new(provider).await;
    let path = talked(&house, 2).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    log.until_requests(3).await;
    sql(&house, "UPDATE chats SET next_ord = 50001").await;
    gate.notify_one();
    let paused = house.settled(begun.graft.id).await;
    assert_eq!((paused.graft.reason, paused.graft.asked), (Some(PauseReason::LimitReached), 1));
    assert!(paused.graft.detail.unwrap().contains("50000"));
    assert_eq!(conflict(house.service.resume_graft(house.owner, begun.graft.id).await), "too_many_turns");
    assert_eq!(conflict(begin(&house, &path, again(&path, None)).await), "too_many_turns");
    house.check().await;
}

#[tokio::test]
async fn a_graft_that_was_finished_but_not_marked_is_done_after_a_restart() {
    let house = House::new(saying(&["a", "x"])).await;
    let path = talked(&house, 1).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    house.settled(begun.graft.id).await;
    let house = killed(house, saying(&[])).await;
    assert_eq!(house.service.settle_grafts().await.unwrap(), 0);
    let done = house.service.graft(house.owner, begun.graft.id).await.unwrap();
    assert_eq!(done.graft.status, GraftStatus::Done);
}

#[tokio::test]
async fn somebody_who_goes_on_from_the_graft_meanwhile_gets_a_branch_and_so_does_the_graft() {
    let script = [
        answer([text("a")]),
        answer([text("b")]),
        refuse(),
        answer([text("mine")]),
        answer([text("x")]),
        answer([text("y")]),
    ];
    let house = House::new(Scripted::new("scripted", script)).await;
    let path = talked(&house, 2).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    let paused = house.settled(begun.graft.id).await;
    let place = Wanted { prev_turn_id: paused.reply.map(|reply| reply.id), ..Wanted::default() };
    let mine = StartTurn { chat_id: Some(path[0].chat.id), place, ..message("something else") };
    let mine = house.service.start_turn(house.owner, mine).await.unwrap();
    house.ended(mine.assistant_turn.id).await;
    house.service.resume_graft(house.owner, begun.graft.id).await.unwrap();
    let done = house.settled(begun.graft.id).await;
    assert_eq!(done.graft.status, GraftStatus::Done);
    assert_eq!(house.said(done.reply.unwrap().id).await, ["m0", "x", "m1", "y"]);
    assert_eq!(house.said(mine.assistant_turn.id).await[2..], ["something else", "mine"]);
    house.check().await;
}

#[tokio::test]
async fn a_message_that_is_gone_a_model_that_is_gone_and_a_deleted_chat_are_named() {
    let hang = Answer::Stream(vec![text("half"), Step::Hang]);
    let script = [answer([text("a")]), answer([text("b")]), hang];
    let provider = Scripted::new("scripted", script);
    let log = provider.log();
    let house = House::new(provider).await;
    let path = talked(&house, 2).await;
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    log.until_requests(3).await;
    // The chat is deleted while the first reply is written: its reply is stopped first.
    house.service.delete_chat(house.owner, path[0].chat.id).await.unwrap();
    assert!(matches!(house.service.graft(house.owner, begun.graft.id).await, Err(ServiceError::NotFound)));
    house.service.restore_chat(house.owner, path[0].chat.id).await.unwrap();
    let paused = house.settled(begun.graft.id).await;
    assert!(matches!(paused.graft.reason, Some(PauseReason::ReplyStopped | PauseReason::Gone)), "{:?}", paused.graft);
    // Another process does not know the provider.
    let House { dir, db, service, .. } = house;
    drop(service);
    db.close().await;
    let registry = Registry::of_providers(vec![(Arc::new(Scripted::new("other", [])), vec!["model-z".into()])]);
    let house = House::over(dir, registry).await;
    assert_eq!(conflict(house.service.resume_graft(house.owner, begun.graft.id).await), "model_unavailable");
    let still = house.service.graft(house.owner, begun.graft.id).await.unwrap();
    assert_eq!(still.graft.status, GraftStatus::Paused);
    house.check().await;
}

#[tokio::test]
async fn what_cannot_be_asked_again_is_refused_and_leaves_nothing_behind() {
    let house = House::new(saying(&["a", "b", "other"])).await;
    let path = talked(&house, 2).await;
    let other = house.send("elsewhere").await;
    house.ended(other.assistant_turn.id).await;
    let chat = path[0].chat.id;
    let before = house.service.branches(house.owner, chat).await.unwrap().len();
    let leaf = path[1].assistant_turn.id;
    let new = again(&path, None);
    let elsewhere = NewGraft { leaf_turn_id: other.assistant_turn.id, ..new.clone() };
    assert_eq!(invalid(begin(&house, &path, elsewhere).await), "leaf_turn_id");
    let off = NewGraft { from_turn_id: Some(other.user_turn.id), ..new.clone() };
    assert_eq!(invalid(begin(&house, &path, off).await), "from_turn_id");
    let below =
        NewGraft { from_turn_id: Some(path[1].user_turn.id), leaf_turn_id: path[0].assistant_turn.id, ..new.clone() };
    assert_eq!(invalid(begin(&house, &path, below).await), "from_turn_id");
    let nothing = NewGraft { from_turn_id: Some(leaf), ..new.clone() };
    assert_eq!(invalid(begin(&house, &path, nothing).await), "leaf_turn_id");
    let gone = NewGraft { provider: "nobody".into(), ..new.clone() };
    assert_eq!(conflict(begin(&house, &path, gone).await), "model_unavailable");
    let never = NewGraft { provider: "No Provider".into(), ..new.clone() };
    assert_eq!(invalid(begin(&house, &path, never).await), "provider");
    let hot = NewGraft { params: Params { temperature: Some(9.0), ..Params::default() }, ..new.clone() };
    assert_eq!(invalid(begin(&house, &path, hot).await), "params.temperature");
    let random = NewGraft { leaf_turn_id: ids::mint(), ..new.clone() };
    assert!(matches!(begin(&house, &path, random).await, Err(ServiceError::NotFound)));
    let stranger = house.service.start_graft(ids::mint(), chat, new).await;
    assert!(matches!(stranger, Err(ServiceError::NotFound)));
    assert_eq!(house.service.branches(house.owner, chat).await.unwrap().len(), before);
    assert!(house.service.grafts(house.owner, chat).await.unwrap().is_empty());
    house.check().await;
}

#[tokio::test]
async fn a_parameter_that_the_model_does_not_take_stays_behind_and_a_named_one_is_refused() {
    let capabilities = Capabilities::default().thinking(Reasoning::Optional, &Thinking::LEVELS);
    let house = House::new(saying(&["a", "x"]).with_capabilities(capabilities)).await;
    let path = talked(&house, 1).await;
    let change =
        ChatChange { params: Some(Params { temperature: Some(0.3), ..Params::default() }), ..ChatChange::default() };
    house.service.change_chat(house.owner, path[0].chat.id, change).await.unwrap();
    let begun = begin(&house, &path, again(&path, None)).await.unwrap();
    let done = house.settled(begun.graft.id).await;
    assert_eq!(done.graft.status, GraftStatus::Done);
    let exchange = exchanges::find(&house.db, house.owner, done.reply.unwrap().exchange_id).await.unwrap().unwrap();
    assert_eq!(exchange.params.temperature, Some(0.3));
}
