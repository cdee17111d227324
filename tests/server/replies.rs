//! Replies from the first byte to their end, with a scripted provider: stored as shown, stopped, retried, failed, and
//! interrupted by restarts. Every test ends with the invariant checker.

use std::sync::Arc;
use std::time::Duration;

use crate::test_server::{
    SILENCE, TestServer, delta_step, finish_steps, message_to_send, streamed_answer, text_step, thinking_step,
};
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::blocks::notice::{self, Notice};
use turnleaf::domain::tools::tool::ToolSpec;
use turnleaf::domain::{Author, BlockState, Content, Event, Failure, FailureKind, Role, Turn, TurnStatus};
use turnleaf_providers::provider::{ProviderError, ToolOutcome};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_run::{EventCursor, FollowerItem};
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::{Draft, ServiceError};
use turnleaf_store::Db;
use turnleaf_store::turns::generations::{self, raw};
use turnleaf_store::turns::{self, events};

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

#[tokio::test]
async fn reply_is_stored_as_it_was_streamed() {
    let instance = TestServer::new(provider([streamed_answer([
        thinking_step("hm, "),
        thinking_step("yes"),
        text_step("Hel"),
        text_step("lo"),
    ])]))
    .await;
    let started = instance.send("hi").await;
    assert_eq!(started.chat.title, "hi");
    assert_eq!(started.assistant_turn.status, TurnStatus::Pending);
    let turn = instance.wait_until_ended(started.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Complete);
    assert_eq!(turn.content_text(), "Hello");
    assert!(
        matches!(&turn.blocks[0].content, Content::Thinking { thinking, duration_ms: Some(_), .. } if thinking == "hm, yes")
    );
    assert_eq!(turn.model_used.as_deref(), Some("model-a-0001"));
    assert_eq!(turn.usage.input_tokens, Some(7));
    let generations = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    let raw = raw::find(&instance.db, instance.owner, generations[0].id).await.unwrap().unwrap();
    assert!(raw.starts_with(b"data: ") && raw.ends_with(b"data: [DONE]\n\n"));
    assert!(generations[0].raw_complete);
    instance.check_invariants().await;
}

#[tokio::test]
async fn early_ending_reason_is_last_block_and_no_draft_is_sent() {
    let cut = || ScriptedAnswer::Stream([text_step("Half of")].into_iter().chain(finish_steps("length")).collect());
    for instance in TestServer::on_every_database(|| provider([cut(), streamed_answer([text_step("it all.")])])).await {
        let started = instance.send("go").await;
        let turn = instance.wait_until_ended(started.assistant_turn.id).await;
        assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "Half of"));
        let last = turn.blocks.last().unwrap();
        assert_eq!((notice::ending_notice(last), last.author), (Some(Notice::LengthReached), Author::System));
        let chat = started.chat.id;
        let draft = Draft { text: "later".into(), ..Draft::default() };
        instance.service.save_draft(instance.owner, Some(chat), draft).await.unwrap();
        let rest = TurnRequest { chat_id: Some(chat), keeps_draft: true, ..message_to_send("Continue") };
        let rest = instance.service.start_turn(instance.owner, rest).await.unwrap();
        let rest = instance.wait_until_ended(rest.assistant_turn.id).await;
        assert_eq!(rest.content_text(), "it all.");
        assert!(rest.blocks.iter().all(|block| notice::ending_notice(block).is_none()), "that one is simply over");
        let kept = instance.service.draft(instance.owner, Some(chat)).await.unwrap();
        assert_eq!(kept.map(|draft| draft.text).as_deref(), Some("later"));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn followers_get_every_sequence_number_once() {
    let gate = Arc::new(Notify::new());
    let steps = [text_step("one "), ScriptedStep::WaitForSignal(gate.clone()), text_step("two "), text_step("three")];
    let instance = TestServer::new(provider([streamed_answer(steps)])).await;
    let id = instance.send("count").await.assistant_turn.id;
    let early = instance.follow_events(id, 0);
    let open = async {
        // Opens the gate once a follower has seen the first word.
        let mut first = std::pin::pin!(
            instance.service.supervisor().follow(instance.owner, id, EventCursor::After(0)).await.unwrap().unwrap()
        );
        while let Some(Ok(FollowerItem::Line(line))) = first.next().await {
            if line.name() == "block_delta" {
                break;
            }
        }
        gate.notify_one();
    };
    let (early, ()) = tokio::join!(early, open);
    let late = instance.follow_events(id, 0).await;
    assert_eq!(early, late, "live and replayed are the same");
    let numbers: Vec<u64> = early.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert!(matches!(early.last(), Some((_, Event::TurnEnd { status: TurnStatus::Complete, .. }))));
    for after in 0..numbers.len() as u64 {
        assert_eq!(instance.follow_events(id, after).await, late[after as usize..], "after {after}");
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn invalid_cursor_gets_snapshot() {
    let instance = TestServer::new(provider([streamed_answer([text_step("x")])])).await;
    let turn = instance.wait_until_ended(instance.send("hi").await.assistant_turn.id).await;
    for cursor in [EventCursor::Unknown, EventCursor::After(turn.last_event_seq + 1), EventCursor::After(u64::MAX)] {
        let followed = instance.service.supervisor().follow(instance.owner, turn.id, cursor).await.unwrap().unwrap();
        let all: Vec<_> = followed.map(Result::unwrap).collect().await;
        assert!(matches!(&all[..], [FollowerItem::Snapshot(snapshot)] if **snapshot == turn), "{cursor:?}");
    }
}

#[tokio::test]
async fn stop_keeps_what_was_shown_and_closes_connection() {
    let provider =
        provider([ScriptedAnswer::Stream(vec![thinking_step("so"), text_step("partial"), ScriptedStep::Hang])]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let id = instance.send("go on").await.assistant_turn.id;
    let mut followed = std::pin::pin!(
        instance.service.supervisor().follow(instance.owner, id, EventCursor::After(0)).await.unwrap().unwrap()
    );
    let mut shown_text = String::new();
    while !shown_text.ends_with("partial") {
        if let Some(Ok(FollowerItem::Line(line))) = followed.next().await
            && let Ok(Event::BlockDelta { text, .. }) = serde_json::from_str(&line.json)
        {
            shown_text.push_str(&text);
        }
    }
    let turn = instance.service.stop_turn(instance.owner, id).await.unwrap();
    assert_eq!(turn.status, TurnStatus::Cancelled);
    assert_eq!(turn.content_text(), "partial");
    assert!(turn.error.is_none());
    log.wait_for_released_bodies(1).await;
    let generations = generations::list(&instance.db, instance.owner, id).await.unwrap();
    assert!(!generations[0].raw_complete);
    assert!(raw::find(&instance.db, instance.owner, generations[0].id).await.unwrap().is_some());
    assert_eq!(instance.service.stop_turn(instance.owner, id).await.unwrap(), turn, "stopping again changes nothing");
    instance.check_invariants().await;
}

#[tokio::test]
async fn stop_before_first_byte_ends_as_stopped() {
    let instance = TestServer::new(provider([ScriptedAnswer::Silence])).await;
    let id = instance.send("hello?").await.assistant_turn.id;
    let turn = instance.service.stop_turn(instance.owner, id).await.unwrap();
    assert_eq!(turn.status, TurnStatus::Cancelled);
    assert!(turn.blocks.is_empty());
    instance.check_invariants().await;
}

#[tokio::test]
async fn stop_works_at_any_time_after_sending() {
    const WORD: Duration = Duration::from_millis(10);
    let endless = || (0..1_000).flat_map(|at| [ScriptedStep::Wait(WORD), text_step(&format!("{at} "))]);
    let delays = [0, 1, 50, 150, 300].map(Duration::from_millis);
    let provider = provider(delays.iter().map(|_| streamed_answer(endless())));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    for (count, delay) in delays.into_iter().enumerate() {
        let id = instance.send("talk").await.assistant_turn.id;
        tokio::time::sleep(delay).await;
        // The later replies are stopped in the middle of their text, however busy the machine is.
        let is_midst = |turn: &Turn| delay < Duration::from_millis(50) || !turn.content_text().is_empty();
        let seen = instance.wait_until(id, is_midst).await;
        let turn = instance.service.stop_turn(instance.owner, id).await.unwrap();
        assert_eq!(turn.status, TurnStatus::Cancelled, "after {delay:?}");
        assert!(turn.content_text().starts_with(&seen.content_text()), "after {delay:?}: {turn:?} of {seen:?}");
        assert_eq!(turn, instance.service.turn(instance.owner, id).await.unwrap(), "stored when Stop returns");
        // A stop that came early enough prevented the provider request.
        let request_count = log.requests().len();
        tokio::time::timeout(Duration::from_secs(1), log.wait_for_released_bodies(request_count)).await.unwrap();
        assert!(request_count <= count + 1);
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn many_stops_race_end_and_one_ending_is_stored() {
    let answers = (0..40).map(|_| streamed_answer([text_step("short")]));
    let instance = TestServer::new(provider(answers)).await;
    for _ in 0..40 {
        let id = instance.send("race").await.assistant_turn.id;
        let stops = join_all((0..4).map(|_| instance.service.stop_turn(instance.owner, id))).await;
        let first = stops[0].as_ref().unwrap();
        assert!(first.status.is_terminal());
        assert!(stops.iter().all(|stop| stop.as_ref().unwrap() == first));
        let ends =
            instance.follow_events(id, 0).await.iter().filter(|(_, e)| matches!(e, Event::TurnEnd { .. })).count();
        assert_eq!(ends, 1);
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn same_request_fifty_times_creates_one_exchange() {
    let provider = provider([streamed_answer([text_step("once")]), streamed_answer([text_step("twice")])]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let request = || TurnRequest { client_request_id: Some("key-1".into()), ..message_to_send("only once") };
    let all = join_all((0..50).map(|_| instance.service.start_turn(instance.owner, request()))).await;
    let first = all[0].as_ref().unwrap();
    assert!(all.iter().all(|one| one.as_ref().unwrap().assistant_turn.id == first.assistant_turn.id));
    assert_eq!(all.iter().filter(|one| one.as_ref().unwrap().is_new).count(), 1);
    instance.wait_until_ended(first.assistant_turn.id).await;
    assert_eq!(log.requests().len(), 1);
    let other = TurnRequest { client_request_id: Some("key-1".into()), ..message_to_send("something else") };
    let refused = instance.service.start_turn(instance.owner, other).await;
    assert!(matches!(refused, Err(ServiceError::Conflict { code: "idempotency_mismatch", .. })));
    instance.check_invariants().await;
}

#[tokio::test]
async fn failures_before_content_are_retried_visibly() {
    let busy = || {
        ScriptedAnswer::Refuse(ProviderError::without_response(Failure::new(FailureKind::ProviderError, "scripted")))
    };
    let provider = provider([busy(), busy(), streamed_answer([text_step("at last")])]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let id = instance.send("try").await.assistant_turn.id;
    let events = instance.follow_events(id, 0).await;
    let attempts: Vec<u32> = events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::Attempt(attempt) => Some(attempt.number),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [2, 3]);
    assert_eq!(log.requests().len(), 3);
    assert_eq!(instance.wait_until_ended(id).await.content_text(), "at last");
    instance.check_invariants().await;
}

#[tokio::test]
async fn permanent_failure_is_tried_once_and_reported() {
    let refused = ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "scripted"));
    let provider = provider([ScriptedAnswer::Refuse(refused)]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let turn = instance.wait_until_ended(instance.send("key?").await.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Error);
    assert_eq!(turn.error.as_ref().unwrap().kind, FailureKind::ProviderAuth);
    assert!(matches!(&turn.blocks[..], [block] if matches!(block.content, Content::Text { is_error: true, .. })));
    assert_eq!(log.requests().len(), 1);
    instance.check_invariants().await;
}

#[tokio::test]
async fn interrupted_reply_keeps_text_and_ends_with_reason() {
    let broken = Failure::new(FailureKind::ProviderTruncated, "scripted");
    for steps in [vec![text_step("half"), ScriptedStep::Fail(broken.clone())], vec![text_step("half")]] {
        let instance = TestServer::new(provider([ScriptedAnswer::Stream(steps)])).await;
        let turn = instance.wait_until_ended(instance.send("tell").await.assistant_turn.id).await;
        assert_eq!(turn.status, TurnStatus::Error);
        assert_eq!(turn.error.as_ref().unwrap().kind, FailureKind::ProviderTruncated);
        assert_eq!(turn.content_text(), "half");
        assert_eq!(turn.blocks[0].state, BlockState::Aborted);
        assert!(matches!(turn.blocks.last().unwrap().content, Content::Text { is_error: true, .. }));
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn empty_success_is_ordinary_end_unless_filtered() {
    for (reason, status, notice) in [
        ("stop", TurnStatus::Complete, None),
        ("tool_calls", TurnStatus::Complete, None),
        ("length", TurnStatus::Complete, Some(Notice::LengthReached)),
        ("content_filter", TurnStatus::Error, None),
    ] {
        let instance = TestServer::new(provider([ScriptedAnswer::Stream(finish_steps(reason))])).await;
        let turn = instance.wait_until_ended(instance.send("?").await.assistant_turn.id).await;
        assert_eq!(turn.status, status, "{reason}");
        assert_eq!(turn.blocks.iter().find_map(notice::ending_notice), notice, "{reason}");
        let kind = turn.error.map(|failure| failure.kind);
        assert_eq!(kind, (status == TurnStatus::Error).then_some(FailureKind::ContentFiltered), "{reason}");
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn silence_ends_turn() {
    let instance =
        TestServer::new(provider([ScriptedAnswer::Stream(vec![text_step("then nothing"), ScriptedStep::Hang])])).await;
    let id = instance.send("?").await.assistant_turn.id;
    let turn = instance.wait_until_ended(id).await;
    assert_eq!(turn.error.unwrap().kind, FailureKind::ProviderStalled);
    instance.check_invariants().await;
}

#[tokio::test]
async fn busy_database_does_not_count_as_provider_silence() {
    // The run stores the end of a block before it reads on.
    let wait = || ScriptedStep::Wait(Duration::from_millis(50));
    let piece = || [wait(), text_step("."), wait(), thinking_step("?")];
    let stream = (0..40).flat_map(|_| piece()).chain(finish_steps("stop")).collect();
    let instance = TestServer::new(provider([ScriptedAnswer::Stream(stream)])).await;
    let id = instance.send("?").await.assistant_turn.id;
    instance.wait_until(id, |turn| !turn.content_text().is_empty()).await;
    let Db::Sqlite { writer, .. } = &instance.db else { panic!("the test server uses SQLite by default") };
    let busy = writer.acquire().await.unwrap();
    tokio::time::sleep(SILENCE + Duration::from_millis(500)).await;
    drop(busy);
    let turn = instance.wait_until_ended(id).await;
    let words = turn.content_text().replace("\n\n", "");
    assert_eq!((turn.status, words.len()), (TurnStatus::Complete, 40), "{:?}", turn.error);
    instance.check_invariants().await;
}

#[tokio::test]
async fn bytes_after_ending_or_failure_are_not_awaited() {
    const LONGER_THAN_ANYBODY_WAITS: usize = 3_000;
    let pings = || {
        let ping = [ScriptedStep::Wait(Duration::from_millis(10)), ScriptedStep::Bytes(": still here\n\n".into())];
        std::iter::repeat_n(ping, LONGER_THAN_ANYBODY_WAITS).flatten()
    };
    let broken = [text_step("half"), ScriptedStep::Bytes("data: {\"choices\":\n\n".into())];
    let provider = provider([
        ScriptedAnswer::Stream([text_step("whole")].into_iter().chain(finish_steps("stop")).chain(pings()).collect()),
        ScriptedAnswer::Stream(broken.into_iter().chain(pings()).collect()),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    for (count, text, kind) in [(1, "whole", None), (2, "half", Some(FailureKind::ProviderProtocol))] {
        let started = instance.send("?").await.assistant_turn.id;
        let turn = tokio::time::timeout(Duration::from_secs(10), instance.wait_until_ended(started)).await.unwrap();
        assert_eq!((turn.content_text().as_str(), turn.error.map(|failure| failure.kind)), (text, kind));
        tokio::time::timeout(Duration::from_secs(1), log.wait_for_released_bodies(count)).await.unwrap();
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn tools_run_concurrently_and_model_continues() {
    let call = |index: u64, id: &str| {
        let function = json!({ "name": "double", "arguments": format!("{{\"n\":{index}}}") });
        json!({ "index": index, "id": id, "function": function })
    };
    let calls = [thinking_step("two at once"), delta_step(json!({ "tool_calls": [call(0, "a"), call(1, "b")] }))];
    let provider = provider([
        ScriptedAnswer::Stream(calls.into_iter().chain(finish_steps("tool_calls")).collect()),
        streamed_answer([thinking_step("so it is"), text_step("0 and 2")]),
    ])
    .with_tools(
        vec![ToolSpec { name: "double".into(), description: String::new(), parameters: json!({ "type": "object" }) }],
        |_, arguments| Some(ToolOutcome { result: json!(arguments["n"].as_i64().unwrap() * 2), is_error: false }),
    );
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let turn = instance.wait_until_ended(instance.send("double").await.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Complete);
    let kinds: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
    assert_eq!(kinds, ["thinking", "tool_use", "tool_use", "tool_result", "tool_result", "thinking", "text"]);
    let results: Vec<&Value> = turn
        .blocks
        .iter()
        .filter(|block| block.author == Author::Tool)
        .map(|block| match &block.content {
            Content::ToolResult { result, .. } => result,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(results, [&json!(0), &json!(2)]);
    assert_eq!(turn.usage.output_tokens, Some(10), "the sum of both calls");
    let second: Value = serde_json::from_slice(&log.requests()[1]).unwrap();
    let roles: Vec<&str> = second["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn next_message_includes_history() {
    let provider = provider([
        streamed_answer([thinking_step("secret"), text_step("I am A.")]),
        streamed_answer([text_step("Still A.")]),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("who?").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let next = TurnRequest { chat_id: Some(first.chat.id), ..message_to_send("sure?") };
    let second = instance.service.start_turn(instance.owner, next).await.unwrap();
    assert_eq!(second.user_turn.prev_turn_id, Some(first.assistant_turn.id));
    assert_eq!(second.branch.id, first.branch.id);
    instance.wait_until_ended(second.assistant_turn.id).await;
    let body: Value = serde_json::from_slice(&log.requests()[1]).unwrap();
    assert_eq!(body["messages"][1]["content"], "I am A.");
    assert_eq!(body["messages"][2]["content"], "sure?");
    instance.check_invariants().await;
}

#[tokio::test]
async fn branch_keeps_its_model_and_refusal_offers_fork() {
    let instance = TestServer::new(provider([streamed_answer([text_step("a")])])).await;
    let first = instance.send("hi").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let place = PlacementRequest { model: Some("model-b".into()), ..PlacementRequest::default() };
    let other = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("switch") };
    match instance.service.start_turn(instance.owner, other).await {
        Err(ServiceError::Conflict { code: "branch_locked", extra, .. }) => {
            assert_eq!(extra["fork"]["model"], "model-b");
            assert_eq!(extra["fork"]["from_turn_id"], json!(first.assistant_turn.id));
        }
        other => panic!("{other:?}"),
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn retry_creates_sibling_version() {
    let instance =
        TestServer::new(provider([streamed_answer([text_step("first")]), streamed_answer([text_step("second")])]))
            .await;
    let first = instance.send("hi").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let retry = instance.service.retry_turn(
        instance.owner,
        first.assistant_turn.id,
        PlacementRequest::default(),
        Default::default(),
        None,
    );
    let second = retry.await.unwrap();
    assert_eq!(second.user_turn.id, first.user_turn.id);
    assert_ne!(second.branch.id, first.branch.id);
    assert_eq!(second.branch.lock, first.branch.lock);
    instance.wait_until_ended(second.assistant_turn.id).await;
    let path = instance.service.path(instance.owner, first.chat.id, None, 50).await.unwrap();
    assert_eq!(path.turns.last().unwrap().content_text(), "second");
    let versions = &path.siblings[&second.assistant_turn.id];
    assert_eq!(versions, &[first.assistant_turn.id, second.assistant_turn.id]);
    let old = instance.service.path(instance.owner, first.chat.id, Some(first.assistant_turn.id), 50).await.unwrap();
    assert_eq!(old.turns.last().unwrap().content_text(), "first");
    instance.check_invariants().await;
}

#[tokio::test]
async fn message_after_running_reply_is_refused() {
    let instance = TestServer::new(provider([ScriptedAnswer::Silence])).await;
    let first = instance.send("hi").await;
    let next = TurnRequest { chat_id: Some(first.chat.id), ..message_to_send("and?") };
    let refused = instance.service.start_turn(instance.owner, next).await;
    assert!(matches!(refused, Err(ServiceError::Conflict { code: "turn_running", .. })), "{refused:?}");
    instance.service.stop_turn(instance.owner, first.assistant_turn.id).await.unwrap();
}

#[tokio::test]
async fn restart_ends_unfinished_replies_and_keeps_text() {
    let calls = delta_step(
        json!({ "tool_calls": [{ "index": 0, "id": "t", "function": { "name": "x", "arguments": "{\"a\":" } }] }),
    );
    let instance = TestServer::new(provider([ScriptedAnswer::Stream(vec![
        thinking_step("I see"),
        text_step("words"),
        calls,
        ScriptedStep::Hang,
    ])]))
    .await;
    let id = instance.send("hi").await.assistant_turn.id;
    // The start of the call is committed with everything before it.
    let mut followed = std::pin::pin!(
        instance.service.supervisor().follow(instance.owner, id, EventCursor::After(0)).await.unwrap().unwrap()
    );
    loop {
        if let Some(Ok(FollowerItem::Line(line))) = followed.next().await
            && line.json.contains("tool_use")
        {
            break;
        }
    }
    let stored = events::last_seq(&instance.db, id).await.unwrap();
    assert!(stored > 4);
    // The old process is abandoned: its runs hang, and a new one opens the directory.
    let TestServer { dir, .. } = instance;
    let instance = TestServer::open(dir, provider([])).await;
    assert_eq!(instance.service.supervisor().sweep().await.unwrap(), 1);
    let turn = instance.service.turn(instance.owner, id).await.unwrap();
    assert_eq!(turn.status, TurnStatus::Error);
    assert_eq!(turn.error.as_ref().unwrap().kind, FailureKind::ServerRestarted);
    assert_eq!(turn.content_text(), "words");
    assert!(turn.blocks.iter().any(|block| matches!(block.content, Content::ToolResult { is_error: true, .. })));
    instance.service.supervisor().run_maintenance().await.unwrap();
    let generations = generations::list(&instance.db, instance.owner, id).await.unwrap();
    assert!(raw::find(&instance.db, instance.owner, generations[0].id).await.unwrap().unwrap().starts_with(b"data: "));
    // A follower that saw a delta that was never stored gets a snapshot.
    let followed =
        instance.service.supervisor().follow(instance.owner, id, EventCursor::After(3)).await.unwrap().unwrap();
    let all: Vec<_> = followed.map(Result::unwrap).collect().await;
    assert!(matches!(&all[..], [FollowerItem::Snapshot(_)]));
    assert_eq!(instance.service.supervisor().sweep().await.unwrap(), 0, "nothing is left to do");
    instance.check_invariants().await;
}

#[tokio::test]
async fn foreign_user_finds_nothing() {
    let instance = TestServer::new(provider([streamed_answer([text_step("mine")])])).await;
    let started = instance.send("private").await;
    let id = started.assistant_turn.id;
    instance.wait_until_ended(id).await;
    let stranger = turnleaf_platform::ids::mint();
    let service = &instance.service;
    assert!(matches!(service.turn(stranger, id).await, Err(ServiceError::NotFound)));
    assert!(matches!(service.stop_turn(stranger, id).await, Err(ServiceError::NotFound)));
    assert!(matches!(service.chat(stranger, started.chat.id).await, Err(ServiceError::NotFound)));
    assert!(service.supervisor().follow(stranger, id, EventCursor::After(0)).await.unwrap().is_none());
    let into = TurnRequest { chat_id: Some(started.chat.id), ..message_to_send("hello") };
    assert!(matches!(service.start_turn(stranger, into).await, Err(ServiceError::NotFound)));
    assert_eq!(instance.service.turn(instance.owner, id).await.unwrap().role, Role::Assistant);
}

#[tokio::test]
async fn nul_from_model_is_shown_as_symbol() {
    let nul = |field: &str| {
        ScriptedStep::Bytes(
            format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"{field}\":\"a\\u0000b\"}}}}]}}\n\n").into(),
        )
    };
    let instance = TestServer::new(provider([streamed_answer([nul("reasoning_content"), nul("content")])])).await;
    let turn = instance.wait_until_ended(instance.send("hi").await.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "a\u{2400}b"));
    let generations = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    let raw = raw::find(&instance.db, instance.owner, generations[0].id).await.unwrap().unwrap();
    assert!(String::from_utf8(raw).unwrap().contains("a\\u0000b"), "the bytes are kept as they came");
    let detail = Failure::new(FailureKind::ProviderError, "P").with_detail("no\0w");
    let instance =
        TestServer::new(provider([ScriptedAnswer::Stream(vec![text_step("x"), ScriptedStep::Fail(detail)])])).await;
    assert_eq!(instance.wait_until_ended(instance.send("hi").await.assistant_turn.id).await.status, TurnStatus::Error);
    instance.check_invariants().await;
}

#[tokio::test]
async fn mutation_completes_or_is_absent_after_client_disconnect() {
    const ROUNDS: u64 = 300;
    let instance = TestServer::new(provider((0..ROUNDS).map(|_| streamed_answer([text_step("here")])))).await;
    let mut given_up = 0;
    for round in 0..ROUNDS {
        let sending = instance.service.start_turn(instance.owner, message_to_send("anybody there?"));
        given_up += u64::from(tokio::time::timeout(Duration::from_micros(round * 20), sending).await.is_err());
    }
    assert!(given_up > 0, "nobody went away");
    // A stored message is answered by itself; one that was not stored leaves nothing behind.
    tokio::time::timeout(Duration::from_secs(20), async {
        while instance.service.supervisor().running_count() > 0
            || !turns::list_unfinished(&instance.db).await.unwrap().is_empty()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("a stored message waits for a run that nobody began");
    instance.check_invariants().await;
}

#[tokio::test]
async fn full_disk_loses_no_shown_text_and_recovers() {
    let gate = Arc::new(Notify::new());
    let long = "word ".repeat(400_000);
    let steps = [
        thinking_step("so"),
        text_step("first "),
        ScriptedStep::WaitForSignal(gate.clone()),
        text_step(&long),
        delta_step(json!({ "reasoning_content": "again" })),
    ];
    let instance = TestServer::new(provider([streamed_answer(steps), streamed_answer([text_step("later")])])).await;
    let id = instance.send("go on").await.assistant_turn.id;
    let follow =
        instance.service.supervisor().follow(instance.owner, id, EventCursor::After(0)).await.unwrap().unwrap();
    let follow = tokio::spawn(async move { follow.map(Result::unwrap).collect::<Vec<_>>().await });
    while instance.service.turn(instance.owner, id).await.unwrap().content_text() != "first " {
        tokio::task::yield_now().await;
    }
    let Db::Sqlite { writer, .. } = &instance.db else { panic!("not SQLite") };
    let limit =
        |pages: &str| sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"))).execute(writer);
    limit("1").await.unwrap();
    gate.notify_one();
    while !instance.service.turn(instance.owner, id).await.unwrap().content_text().contains("word") {
        tokio::task::yield_now().await;
    }
    // The connection that met the full disk may have been replaced, and the limit is that of a connection.
    limit("1").await.unwrap();
    // Another message is refused while the disk is full.
    let refused = instance.service.start_turn(
        instance.owner,
        TurnRequest { content: message_to_send(&long[..90_000]).content, ..message_to_send("") },
    );
    assert!(refused.await.is_err());
    limit("1000000").await.unwrap();
    let turn = instance.wait_until_ended(id).await;
    assert_eq!(turn.status, TurnStatus::Error);
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::StorageFull));
    assert_eq!(turn.content_text().len(), "first ".len() + long.len());
    follow.await.unwrap();
    assert_eq!(
        instance.wait_until_ended(instance.send("better?").await.assistant_turn.id).await.status,
        TurnStatus::Complete
    );
    instance.check_invariants().await;
}

#[tokio::test]
async fn reply_with_finish_reason_and_no_terminal_is_complete() {
    let reason = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let instance = TestServer::new(provider([ScriptedAnswer::Stream(vec![
        text_step("All."),
        ScriptedStep::event(&reason),
        ScriptedStep::Hang,
    ])]))
    .await;
    let turn = instance.wait_until_ended(instance.send("hi").await.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "All."));
    instance.check_invariants().await;
}

#[tokio::test]
async fn failed_attempt_leaves_nothing_in_next_attempt() {
    let overloaded = json!({ "error": { "message": "overloaded", "code": 503 } });
    let counted = json!({ "model": "other", "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 1 } });
    let first = ScriptedAnswer::Stream(vec![ScriptedStep::event(&counted), ScriptedStep::event(&overloaded)]);
    let refused = ProviderError {
        status: Some(401),
        ..ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "S"))
    };
    let instance = TestServer::new(provider([first, ScriptedAnswer::Refuse(refused)])).await;
    let turn = instance.wait_until_ended(instance.send("hi").await.assistant_turn.id).await;
    assert_eq!(turn.error.as_ref().unwrap().kind, FailureKind::ProviderAuth);
    let generations = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    assert_eq!((generations[0].usage.input_tokens, generations[0].model_returned.as_deref()), (None, None));
    instance.check_invariants().await;
}

#[tokio::test]
async fn earlier_steps_without_stored_bytes_are_sent_as_text() {
    let call = delta_step(
        json!({ "tool_calls": [{ "index": 0, "id": "t", "function": { "name": "look", "arguments": "{}" } }] }),
    );
    let refused = || ProviderError {
        status: Some(401),
        ..ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "S"))
    };
    let tool = ToolSpec { name: "look".into(), description: String::new(), parameters: json!({ "type": "object" }) };
    let asking = ScriptedAnswer::Stream([vec![text_step("I look."), call], finish_steps("tool_calls")].concat());
    let provider = provider([asking, ScriptedAnswer::Refuse(refused()), streamed_answer([text_step("Yes.")])])
        .with_tools(vec![tool], |_, _| Some(ToolOutcome { result: json!("seen"), is_error: false }));
    let log = provider.log();
    let instance = TestServer::without_raw(provider).await;
    let first = instance.send("a").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let next = TurnRequest { chat_id: Some(first.chat.id), ..message_to_send("b") };
    let second = instance.service.start_turn(instance.owner, next).await.unwrap();
    instance.wait_until_ended(second.assistant_turn.id).await;
    let body: Value = serde_json::from_slice(&log.requests()[2]).unwrap();
    assert_eq!(body["messages"][1], json!({ "role": "assistant", "content": "I look." }));
    instance.check_invariants().await;
}
