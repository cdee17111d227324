//! Reruns ("grafts" in the API): the messages of a path are sent again on another branch, one by one, through
//! failures, Stop, limits and a crash of the process between two steps.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::blocks::block::{BlockState, chat_seq};
use turnleaf::domain::branches::branch::BranchOrigin;
use turnleaf::domain::branches::rerun::{RerunPauseReason, RerunStatus};
use turnleaf::domain::providers::provider::ReasoningSupport;
use turnleaf::domain::*;
use turnleaf_platform::ids;
use turnleaf_providers::provider::ProviderError;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::chats::ChatChange;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::reruns::{NewRerun, RerunState};
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::Db;
use turnleaf_store::turns::blocks::{self, BlockUpsert};
use turnleaf_store::turns::{self, exchanges};

use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

/// Returns a provider with one scripted reply for each word.
fn scripted_replies(words: &[&str]) -> ScriptedProvider {
    ScriptedProvider::new("scripted", words.iter().map(|word| streamed_answer([text_step(word)])))
}

fn refusal_reply() -> ScriptedAnswer {
    ScriptedAnswer::Refuse(ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "Scripted")))
}

/// Starts a chat of `messages` answered messages: "m0" gets the provider's first reply, and so on.
async fn start_path(instance: &TestServer, messages: usize) -> Vec<AcceptedExchange> {
    let mut path: Vec<AcceptedExchange> = Vec::new();
    for n in 0..messages {
        let chat_id = path.first().map(|first| first.chat.id);
        let place = PlacementRequest {
            prev_turn_id: path.last().map(|last| last.assistant_turn.id),
            ..PlacementRequest::default()
        };
        let sent = TurnRequest { chat_id, place, ..message_to_send(&format!("m{n}")) };
        let started = instance.service.start_turn(instance.owner, sent).await.unwrap();
        instance.wait_until_ended(started.assistant_turn.id).await;
        path.push(started);
    }
    path
}

/// Returns a rerun of the path with another model, from `from` on.
fn new_rerun(path: &[AcceptedExchange], from: Option<TurnId>) -> NewRerun {
    NewRerun {
        from_turn_id: from,
        leaf_turn_id: path.last().unwrap().assistant_turn.id,
        provider: "scripted".into(),
        model: Some("model-b".into()),
        params: ModelParams::default(),
        client_request_id: None,
    }
}

async fn start_rerun(
    instance: &TestServer,
    path: &[AcceptedExchange],
    new: NewRerun,
) -> Result<RerunState, ServiceError> {
    instance.service.start_rerun(instance.owner, path[0].chat.id, new).await.map(|made| made.value)
}

/// Starts a rerun of two messages. Its first reply waits for the signal.
async fn start_held_rerun(gate: &Arc<Notify>) -> (TestServer, Vec<AcceptedExchange>, RerunState) {
    let held = streamed_answer([text_step("x"), ScriptedStep::WaitForSignal(gate.clone())]);
    let provider =
        ScriptedProvider::new("scripted", [streamed_answer([text_step("a")]), streamed_answer([text_step("b")]), held]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let path = start_path(&instance, 2).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    log.wait_for_requests(3).await;
    (instance, path, begun)
}

impl TestServer {
    /// Waits until the rerun no longer runs. Returns its state.
    async fn wait_until_settled(&self, id: RerunId) -> RerunState {
        loop {
            let seen = self.service.rerun(self.owner, id).await.unwrap();
            if seen.graft.status != RerunStatus::Running {
                return seen;
            }
            if let Some(live) = seen.reply.and_then(|reply| self.service.supervisor().live_turn(reply.id)) {
                live.wait_until_ended().await;
            }
            // The rerun's own task runs next.
            tokio::task::yield_now().await;
        }
    }

    /// Returns the texts from the root to a turn.
    async fn path_texts(&self, leaf: TurnId) -> Vec<String> {
        let (path, _) = turns::path(&self.db, self.owner, leaf, 100).await.unwrap();
        path.iter().map(Turn::content_text).collect()
    }
}

fn conflict(result: Result<RerunState, ServiceError>) -> &'static str {
    match result {
        Err(ServiceError::Conflict { code, .. }) => code,
        other => panic!("{:?}", other.map(|grafted| grafted.graft)),
    }
}

fn invalid(result: Result<RerunState, ServiceError>) -> String {
    match result {
        Err(ServiceError::Invalid(invalid)) => invalid.field,
        other => panic!("{:?}", other.map(|grafted| grafted.graft)),
    }
}

#[tokio::test]
async fn every_message_is_rerun_in_order_on_branch_with_other_model() {
    let provider = scripted_replies(&["a", "b", "c", "x", "y", "z"]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let path = start_path(&instance, 3).await;
    let before = instance.service.chat(instance.owner, path[0].chat.id).await.unwrap();

    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    assert_eq!(
        (begun.branch.lock.clone(), begun.branch.origin),
        (ModelLock::new("scripted", "model-b"), BranchOrigin::ModelSwitch)
    );
    assert_eq!((begun.graft.asked, begun.graft.messages.len()), (1, 3));
    let done = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!((done.graft.status, done.graft.asked, done.graft.reason), (RerunStatus::Done, 3, None));
    assert_eq!(done.branch.id, begun.branch.id, "one branch grew");
    let reply = done.reply.unwrap();
    assert_eq!(reply.branch_id, done.branch.id);
    assert_eq!(instance.path_texts(reply.id).await, ["m0", "x", "m1", "y", "m2", "z"]);
    assert_eq!(
        instance.path_texts(path[2].assistant_turn.id).await,
        ["m0", "a", "m1", "b", "m2", "c"],
        "the old path is as it was"
    );
    let models: Vec<Value> = log.requests().iter().map(|body| serde_json::from_slice::<Value>(body).unwrap()).collect();
    assert_eq!(models.iter().map(|body| body["model"].as_str().unwrap()).collect::<Vec<_>>()[3..], ["model-b"; 3]);
    let spoken = |n: usize| models[n]["messages"].as_array().unwrap().len();
    assert_eq!((spoken(3), spoken(4), spoken(5)), (1, 3, 5), "each after the reply to the one before");
    let exchange = exchanges::find(&instance.db, instance.owner, reply.exchange_id).await.unwrap().unwrap();
    assert_eq!(exchange.kind, ExchangeKind::Send);
    // The reader's position is unchanged.
    let after = instance.service.chat(instance.owner, path[0].chat.id).await.unwrap();
    assert_eq!(after.last_viewed_turn_id, before.last_viewed_turn_id);
    assert!(after.rev > before.rev, "pages see that there is something new");
    instance.check_invariants().await;
}

#[tokio::test]
async fn rerun_starts_after_reply_or_with_other_reply_to_message() {
    let instance = TestServer::new(scripted_replies(&["a", "b", "c", "x", "y", "p", "q"])).await;
    let path = start_path(&instance, 3).await;
    let behind = start_rerun(&instance, &path, new_rerun(&path, Some(path[0].assistant_turn.id))).await.unwrap();
    assert_eq!(behind.branch.fork_turn_id, Some(path[0].assistant_turn.id));
    let behind = instance.wait_until_settled(behind.graft.id).await;
    assert_eq!(instance.path_texts(behind.reply.unwrap().id).await, ["m0", "a", "m1", "x", "m2", "y"]);

    let with = start_rerun(&instance, &path, new_rerun(&path, Some(path[1].user_turn.id))).await.unwrap();
    assert_eq!(with.graft.messages, [path[1].user_turn.id, path[2].user_turn.id]);
    let with = instance.wait_until_settled(with.graft.id).await;
    let reply = with.reply.unwrap();
    assert_eq!(instance.path_texts(reply.id).await, ["m0", "a", "m1", "p", "m2", "q"]);
    let (turns, _) = turns::path(&instance.db, instance.owner, reply.id, 4).await.unwrap();
    assert_eq!(turns[0].id, path[1].user_turn.id, "the message itself, no copy of it");
    instance.check_invariants().await;
}

#[tokio::test]
async fn message_attachments_are_copied_unchanged() {
    let instance = TestServer::new(scripted_replies(&["a", "x"])).await;
    let path = start_path(&instance, 1).await;
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
    let mut tx = instance.db.begin().await.unwrap();
    let of = |block| BlockUpsert { chat_id: question.chat_id, turn_id: question.id, block };
    let rows: Vec<BlockUpsert<'_>> = blocks.iter().map(of).collect();
    blocks::upsert(&mut tx, &rows, question.created_at).await.unwrap();
    tx.commit().await.unwrap();

    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    let done = instance.wait_until_settled(begun.graft.id).await;
    let copy = done.reply.unwrap().prev_turn_id.unwrap();
    let (old, new) = (
        turns::find(&instance.db, instance.owner, question.id).await.unwrap().unwrap(),
        turns::find(&instance.db, instance.owner, copy).await.unwrap().unwrap(),
    );
    let held = |turn: &Turn| {
        let held = |block: &Block| (block.seq, block.content.clone(), block.block_metadata.clone(), block.author);
        turn.blocks.iter().map(held).collect::<Vec<_>>()
    };
    assert_eq!((old.blocks.len(), held(&old)), (3, held(&new)));
    assert_ne!(old.id, new.id);
    instance.check_invariants().await;
}

#[tokio::test]
async fn failed_reply_pauses_rerun_until_resumed() {
    let script = [
        streamed_answer([text_step("a")]),
        streamed_answer([text_step("b")]),
        streamed_answer([text_step("x")]),
        refusal_reply(),
        streamed_answer([text_step("y")]),
    ];
    let instance = TestServer::new(ScriptedProvider::new("scripted", script)).await;
    let path = start_path(&instance, 2).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    let paused = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!((paused.graft.status, paused.graft.reason), (RerunStatus::Paused, Some(RerunPauseReason::ReplyFailed)));
    assert!(paused.graft.detail.unwrap().contains("rejected"));
    assert_eq!(paused.graft.asked, 2);

    let resumed = instance.service.resume_rerun(instance.owner, begun.graft.id).await.unwrap();
    assert_eq!(resumed.graft.asked, 2, "the same message once more");
    let done = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!((done.graft.status, done.graft.detail), (RerunStatus::Done, None));
    let reply = done.reply.unwrap();
    assert_eq!(instance.path_texts(reply.id).await, ["m0", "x", "m1", "y"]);
    let siblings = turns::siblings(&instance.db, instance.owner, &[reply.id]).await.unwrap();
    assert_eq!(siblings[&reply.id].len(), 2, "the failed reply stays beside it");
    assert_eq!(done.branch.lock, ModelLock::new("scripted", "model-b"));
    assert_eq!(conflict(instance.service.resume_rerun(instance.owner, begun.graft.id).await), "graft_not_paused");
    instance.check_invariants().await;
}

#[tokio::test]
async fn stop_pauses_rerun_and_cancel_ends_it_with_reply() {
    let hang = || ScriptedAnswer::Stream(vec![text_step("half"), ScriptedStep::Hang]);
    let script = [streamed_answer([text_step("a")]), streamed_answer([text_step("b")]), hang(), hang()];
    let provider = ScriptedProvider::new("scripted", script);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let path = start_path(&instance, 2).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    log.wait_for_requests(3).await;
    instance.service.stop_turn(instance.owner, begun.reply.unwrap().id).await.unwrap();
    let paused = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!((paused.graft.reason, paused.graft.asked), (Some(RerunPauseReason::ReplyStopped), 1));

    instance.service.resume_rerun(instance.owner, begun.graft.id).await.unwrap();
    log.wait_for_requests(4).await;
    let cancelled = instance.service.cancel_rerun(instance.owner, begun.graft.id).await.unwrap();
    assert_eq!(cancelled.graft.status, RerunStatus::Cancelled);
    assert_eq!(cancelled.reply.unwrap().status, TurnStatus::Cancelled);
    let again = instance.service.cancel_rerun(instance.owner, begun.graft.id).await.unwrap();
    assert_eq!(again.graft, cancelled.graft, "once is enough");
    assert_eq!(conflict(instance.service.resume_rerun(instance.owner, begun.graft.id).await), "graft_not_paused");
    assert_eq!(log.requests().len(), 4, "nothing more was asked");
    instance.check_invariants().await;
}

#[tokio::test]
async fn same_request_starts_one_rerun() {
    let instance = TestServer::new(scripted_replies(&["a", "b", "x", "y", "z"])).await;
    let path = start_path(&instance, 2).await;
    let new = NewRerun { client_request_id: Some("k".into()), ..new_rerun(&path, None) };
    let chat = path[0].chat.id;
    let calls = (0..10).map(|_| instance.service.start_rerun(instance.owner, chat, new.clone()));
    let begun: Vec<_> = futures::future::join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(begun.iter().filter(|made| made.is_new).count(), 1);
    let begun: Vec<RerunState> = begun.into_iter().map(|made| made.value).collect();
    assert!(begun.iter().all(|grafted| grafted.graft.id == begun[0].graft.id));
    let other = NewRerun { model: Some("model-a".into()), ..new };
    assert_eq!(conflict(start_rerun(&instance, &path, other).await), "idempotency_mismatch");
    instance.wait_until_settled(begun[0].graft.id).await;
    assert_eq!(instance.service.reruns(instance.owner, path[0].chat.id).await.unwrap().len(), 1);
    instance.check_invariants().await;
}

#[tokio::test]
async fn rerun_is_found_by_idempotency_key_after_path_is_deleted() {
    let instance = TestServer::new(scripted_replies(&["a", "b", "x", "y"])).await;
    let path = start_path(&instance, 2).await;
    let (chat, leaf) = (path[0].chat.id, path[1].user_turn.id);
    let new = NewRerun { client_request_id: Some("k".into()), ..new_rerun(&path, Some(path[0].assistant_turn.id)) };
    let begun = instance.service.start_rerun(instance.owner, chat, new.clone()).await.unwrap();
    instance.wait_until_settled(begun.value.graft.id).await;
    instance.service.delete_turn(instance.owner, leaf).await.unwrap();
    let again = instance.service.start_rerun(instance.owner, chat, new.clone()).await.unwrap();
    assert_eq!((again.is_new, again.value.graft.id), (false, begun.value.graft.id));
    let other = NewRerun { model: Some("model-a".into()), ..new };
    assert_eq!(conflict(start_rerun(&instance, &path, other).await), "idempotency_mismatch");
    instance.check_invariants().await;
}

#[tokio::test]
async fn concurrent_resumes_send_one_request() {
    let script = [streamed_answer([text_step("a")]), refusal_reply(), streamed_answer([text_step("x")])];
    let provider = ScriptedProvider::new("scripted", script);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let path = start_path(&instance, 1).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    instance.wait_until_settled(begun.graft.id).await;
    let calls = (0..8).map(|_| instance.service.resume_rerun(instance.owner, begun.graft.id));
    let resumed = futures::future::join_all(calls).await;
    assert_eq!(resumed.iter().filter(|resumed| resumed.is_ok()).count(), 1, "{resumed:?}");
    assert_eq!(instance.wait_until_settled(begun.graft.id).await.graft.status, RerunStatus::Done);
    assert_eq!(log.requests().len(), 3);
    instance.check_invariants().await;
}

async fn sql(instance: &TestServer, text: &'static str) {
    let Db::Sqlite { writer, .. } = &instance.db else { panic!("a file") };
    sqlx::raw_sql(text).execute(writer).await.unwrap();
}

/// Simulates a crash between two steps of a rerun: no task continues, and another process opens the database. While
/// the database closes, the rerun's task can still store its pause, which a crashed process could not; therefore the
/// row is set back to `running`.
async fn restart_after_kill(instance: TestServer, provider: ScriptedProvider) -> TestServer {
    let TestServer { dir, db, service, .. } = instance;
    drop(service);
    db.close().await;
    let instance = TestServer::open(dir, provider).await;
    sql(&instance, "UPDATE grafts SET status = 'running', reason = NULL, detail = NULL").await;
    instance.service.supervisor().sweep().await.unwrap();
    instance
}

#[tokio::test]
async fn crash_during_reply_leaves_paused_rerun() {
    let script = [
        streamed_answer([text_step("a")]),
        streamed_answer([text_step("b")]),
        ScriptedAnswer::Stream(vec![text_step("half"), ScriptedStep::Hang]),
    ];
    let provider = ScriptedProvider::new("scripted", script);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let path = start_path(&instance, 2).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    log.wait_for_requests(3).await;
    let provider = scripted_replies(&["x", "y"]);
    let log = provider.log();
    let instance = restart_after_kill(instance, provider).await;
    assert_eq!(instance.service.pause_interrupted_reruns().await.unwrap(), 1);
    assert_eq!(instance.service.pause_interrupted_reruns().await.unwrap(), 0, "it is settled");
    let paused = instance.service.rerun(instance.owner, begun.graft.id).await.unwrap();
    assert_eq!(
        (paused.graft.status, paused.graft.reason),
        (RerunStatus::Paused, Some(RerunPauseReason::ServerRestarted))
    );
    assert_eq!(paused.reply.unwrap().status, TurnStatus::Error);
    assert_eq!(log.requests().len(), 0, "nothing is asked by itself");

    instance.service.resume_rerun(instance.owner, begun.graft.id).await.unwrap();
    let done = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!((done.graft.status, done.graft.asked), (RerunStatus::Done, 2));
    assert_eq!(instance.path_texts(done.reply.unwrap().id).await, ["m0", "x", "m1", "y"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn crash_between_steps_sends_nothing_twice() {
    let gate = Arc::new(Notify::new());
    let (instance, _, begun) = start_held_rerun(&gate).await;
    // The rerun's task notices that the row is paused, and ends.
    sql(&instance, "UPDATE grafts SET status = 'paused', reason = 'busy'").await;
    gate.notify_one();
    instance.wait_until_ended(begun.reply.unwrap().id).await;

    let provider = scripted_replies(&["y"]);
    let log = provider.log();
    let instance = restart_after_kill(instance, provider).await;
    assert_eq!(instance.service.pause_interrupted_reruns().await.unwrap(), 1);
    let paused = instance.service.rerun(instance.owner, begun.graft.id).await.unwrap();
    assert_eq!((paused.graft.reason, paused.graft.asked), (Some(RerunPauseReason::ServerRestarted), 1));
    assert_eq!(paused.reply.unwrap().status, TurnStatus::Complete);
    instance.service.resume_rerun(instance.owner, begun.graft.id).await.unwrap();
    let done = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!(done.graft.status, RerunStatus::Done);
    assert_eq!(log.requests().len(), 1, "the first message has its reply");
    assert_eq!(instance.path_texts(done.reply.unwrap().id).await, ["m0", "x", "m1", "y"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn full_chat_stops_rerun_with_reason() {
    let gate = Arc::new(Notify::new());
    let (instance, path, begun) = start_held_rerun(&gate).await;
    sql(&instance, "UPDATE chats SET next_ord = 50001").await;
    gate.notify_one();
    let paused = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!((paused.graft.reason, paused.graft.asked), (Some(RerunPauseReason::LimitReached), 1));
    assert!(paused.graft.detail.unwrap().contains("50000"));
    assert_eq!(paused.graft.detail_code.as_deref(), Some("too_many_messages"));
    assert_eq!(conflict(instance.service.resume_rerun(instance.owner, begun.graft.id).await), "too_many_turns");
    assert_eq!(conflict(start_rerun(&instance, &path, new_rerun(&path, None)).await), "too_many_turns");
    instance.check_invariants().await;
}

#[tokio::test]
async fn finished_but_unmarked_rerun_is_completed_after_restart() {
    let instance = TestServer::new(scripted_replies(&["a", "x"])).await;
    let path = start_path(&instance, 1).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    instance.wait_until_settled(begun.graft.id).await;
    let instance = restart_after_kill(instance, scripted_replies(&[])).await;
    assert_eq!(instance.service.pause_interrupted_reruns().await.unwrap(), 0);
    let done = instance.service.rerun(instance.owner, begun.graft.id).await.unwrap();
    assert_eq!(done.graft.status, RerunStatus::Done);
}

#[tokio::test]
async fn concurrent_message_after_rerun_and_rerun_get_separate_branches() {
    let script = [
        streamed_answer([text_step("a")]),
        streamed_answer([text_step("b")]),
        refusal_reply(),
        streamed_answer([text_step("mine")]),
        streamed_answer([text_step("x")]),
        streamed_answer([text_step("y")]),
    ];
    let instance = TestServer::new(ScriptedProvider::new("scripted", script)).await;
    let path = start_path(&instance, 2).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    let paused = instance.wait_until_settled(begun.graft.id).await;
    let place = PlacementRequest { prev_turn_id: paused.reply.map(|reply| reply.id), ..PlacementRequest::default() };
    let mine = TurnRequest { chat_id: Some(path[0].chat.id), place, ..message_to_send("something else") };
    let mine = instance.service.start_turn(instance.owner, mine).await.unwrap();
    instance.wait_until_ended(mine.assistant_turn.id).await;
    instance.service.resume_rerun(instance.owner, begun.graft.id).await.unwrap();
    let done = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!(done.graft.status, RerunStatus::Done);
    assert_eq!(instance.path_texts(done.reply.unwrap().id).await, ["m0", "x", "m1", "y"]);
    assert_eq!(instance.path_texts(mine.assistant_turn.id).await[2..], ["something else", "mine"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn missing_message_missing_model_and_deleted_chat_are_named() {
    let hang = ScriptedAnswer::Stream(vec![text_step("half"), ScriptedStep::Hang]);
    let script = [streamed_answer([text_step("a")]), streamed_answer([text_step("b")]), hang];
    let provider = ScriptedProvider::new("scripted", script);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let path = start_path(&instance, 2).await;
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    log.wait_for_requests(3).await;
    // The chat is deleted while the first reply is written, so that reply is stopped first.
    instance.service.delete_chat(instance.owner, path[0].chat.id).await.unwrap();
    assert!(matches!(instance.service.rerun(instance.owner, begun.graft.id).await, Err(ServiceError::NotFound)));
    instance.service.restore_chat(instance.owner, path[0].chat.id).await.unwrap();
    let paused = instance.wait_until_settled(begun.graft.id).await;
    assert!(
        matches!(paused.graft.reason, Some(RerunPauseReason::ReplyStopped | RerunPauseReason::Gone)),
        "{:?}",
        paused.graft
    );
    // The provider is missing in the next process.
    let TestServer { dir, db, service, .. } = instance;
    drop(service);
    db.close().await;
    let registry =
        ProviderRegistry::from_providers(vec![(Arc::new(ScriptedProvider::new("other", [])), vec!["model-z".into()])]);
    let instance = TestServer::with_registry(dir, registry).await;
    assert_eq!(conflict(instance.service.resume_rerun(instance.owner, begun.graft.id).await), "model_unavailable");
    let still = instance.service.rerun(instance.owner, begun.graft.id).await.unwrap();
    assert_eq!(still.graft.status, RerunStatus::Paused);
    instance.check_invariants().await;
}

#[tokio::test]
async fn invalid_rerun_is_refused_and_leaves_nothing_behind() {
    let instance = TestServer::new(scripted_replies(&["a", "b", "other"])).await;
    let path = start_path(&instance, 2).await;
    let other = instance.send("elsewhere").await;
    instance.wait_until_ended(other.assistant_turn.id).await;
    let chat = path[0].chat.id;
    let before = instance.service.branches(instance.owner, chat).await.unwrap().len();
    let leaf = path[1].assistant_turn.id;
    let new = new_rerun(&path, None);
    let elsewhere = NewRerun { leaf_turn_id: other.assistant_turn.id, ..new.clone() };
    assert_eq!(invalid(start_rerun(&instance, &path, elsewhere).await), "leaf_turn_id");
    let off = NewRerun { from_turn_id: Some(other.user_turn.id), ..new.clone() };
    assert_eq!(invalid(start_rerun(&instance, &path, off).await), "from_turn_id");
    let below =
        NewRerun { from_turn_id: Some(path[1].user_turn.id), leaf_turn_id: path[0].assistant_turn.id, ..new.clone() };
    assert_eq!(invalid(start_rerun(&instance, &path, below).await), "from_turn_id");
    let nothing = NewRerun { from_turn_id: Some(leaf), ..new.clone() };
    assert_eq!(invalid(start_rerun(&instance, &path, nothing).await), "leaf_turn_id");
    let gone = NewRerun { provider: "nobody".into(), ..new.clone() };
    assert_eq!(conflict(start_rerun(&instance, &path, gone).await), "model_unavailable");
    let never = NewRerun { provider: "No Provider".into(), ..new.clone() };
    assert_eq!(invalid(start_rerun(&instance, &path, never).await), "provider");
    let hot = NewRerun { params: ModelParams { temperature: Some(9.0), ..ModelParams::default() }, ..new.clone() };
    assert_eq!(invalid(start_rerun(&instance, &path, hot).await), "params.temperature");
    let random = NewRerun { leaf_turn_id: ids::mint(), ..new.clone() };
    assert!(matches!(start_rerun(&instance, &path, random).await, Err(ServiceError::NotFound)));
    let stranger = instance.service.start_rerun(ids::mint(), chat, new).await;
    assert!(matches!(stranger, Err(ServiceError::NotFound)));
    assert_eq!(instance.service.branches(instance.owner, chat).await.unwrap().len(), before);
    assert!(instance.service.reruns(instance.owner, chat).await.unwrap().is_empty());
    instance.check_invariants().await;
}

#[tokio::test]
async fn unsupported_inherited_parameter_is_dropped_and_explicit_one_is_refused() {
    let capabilities = Capabilities::default().with_thinking(ReasoningSupport::Optional, &Thinking::LEVELS);
    let instance = TestServer::new(scripted_replies(&["a", "x"]).with_capabilities(capabilities)).await;
    let path = start_path(&instance, 1).await;
    let change = ChatChange {
        params: Some(ModelParams { temperature: Some(0.3), ..ModelParams::default() }),
        ..ChatChange::default()
    };
    instance.service.change_chat(instance.owner, path[0].chat.id, change).await.unwrap();
    let begun = start_rerun(&instance, &path, new_rerun(&path, None)).await.unwrap();
    let done = instance.wait_until_settled(begun.graft.id).await;
    assert_eq!(done.graft.status, RerunStatus::Done);
    let exchange =
        exchanges::find(&instance.db, instance.owner, done.reply.unwrap().exchange_id).await.unwrap().unwrap();
    assert_eq!(exchange.params.temperature, Some(0.3));
}
