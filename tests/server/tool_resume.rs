//! Resuming a waiting reply after a restart when its state has changed: its bytes are gone, its request was repaired,
//! or one of its calls was still running or had just been allowed. Every test ends with the invariant checker.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf::domain::{FailureKind, Turn, TurnStatus};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_run::live_turns::Interrupt;
use turnleaf_store::turns::generations;

use crate::repair::{
    SIGNATURE, anthropic_provider, complete_answer, notices, refused_answer, request_messages, text_block,
    thinking_block,
};
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{is_waiting_for_approval, pending_approvals, results, statuses, tool_call_answer};
use crate::toolbox::{FakeToolbox, ToolBehavior};

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

fn tool_use_block(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {"n": 1}})
}

/// Without its raw bytes, a step cannot be resent unchanged.
#[tokio::test]
async fn step_without_stored_bytes_is_sent_as_text() {
    let lab =
        FakeToolbox::default().with_tool("look", ToolBehavior::Echo).with_asking_tool("write", ToolBehavior::Echo);
    let steps = || {
        [
            tool_call_answer([text_step("I look.")], &[("lab__look", r#"{"n":1}"#)]),
            tool_call_answer([text_step("I write.")], &[("lab__write", r#"{"a":1}"#)]),
        ]
    };
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(id, is_waiting_for_approval).await;
        instance.sql("UPDATE generations SET raw_response = NULL, raw_sha256 = NULL, raw_bytes = NULL").await;
        let next = provider([streamed_answer([text_step("Done.")]), streamed_answer([text_step("Gladly.")])]);
        let log = next.log();
        let instance = instance.restart_after_kill(next, Arc::new(lab.clone())).await;
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Done, ToolStatus::Done]);
        instance.wait_until_complete(instance.send_to(chat, "thanks").await.assistant_turn.id).await;
        for (at, request) in log.requests().iter().enumerate() {
            let body = String::from_utf8(request.to_vec()).unwrap();
            assert!(!body.contains("tool_calls") && !body.contains("tool_call_id"), "request {at}: {body}");
            assert!(body.contains("I look.") && body.contains("I write."), "request {at}: {body}");
        }
        let first = String::from_utf8(log.requests()[0].to_vec()).unwrap();
        assert!(first.contains("lab__look gave") && first.contains("lab__write gave"), "{first}");
        instance.close().await;
    }
}

#[tokio::test]
async fn repaired_reply_continues_in_repaired_form() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let instance = TestServer::on_every_database_with_tools(
        || {
            anthropic_provider([
                complete_answer(&[thinking_block("one"), text_block("A1")], "end_turn"),
                refused_answer(SIGNATURE),
                complete_answer(&[thinking_block("two"), tool_use_block("a", "lab__write")], "tool_use"),
            ])
        },
        || Arc::new(lab.clone()),
    );
    for instance in instance.await {
        let before = lab.run_count("write");
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        instance.wait_until_complete(instance.send_to(chat, "U1").await.assistant_turn.id).await;
        let id = instance.send_to(chat, "U2").await.assistant_turn.id;
        instance.wait_until(id, is_waiting_for_approval).await;
        let next = anthropic_provider([
            complete_answer(&[text_block("A2")], "end_turn"),
            complete_answer(&[text_block("A3")], "end_turn"),
        ]);
        let log = next.log();
        let instance = instance.restart_after_kill(next, Arc::new(lab.clone())).await;
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(notices(&turn).iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), ["reasoning_refused"]);
        let messages = request_messages(&log, 0);
        assert_eq!(messages[1]["content"], json!([text_block("A1")]), "left out as before");
        assert_eq!(
            messages[3]["content"],
            json!([thinking_block("two"), tool_use_block("a", "lab__write")]),
            "its own step as it came"
        );
        assert_eq!(messages[4]["content"][0]["tool_use_id"], "a");
        let made = generations::list(&instance.db, instance.owner, id).await.unwrap();
        assert_eq!(made.iter().map(|made| made.step).collect::<Vec<_>>(), [0, 1, 2]);
        // The repair that was learnt before the crash still applies to the next turn.
        instance.wait_until_complete(instance.send_to(chat, "U3").await.assistant_turn.id).await;
        assert_eq!(request_messages(&log, 1)[..5], messages[..]);
        assert_eq!((log.requests().len(), lab.run_count("write")), (2, before + 1));
        instance.check_invariants().await;
        instance.close().await;
    }
}

/// The earlier steps had been sent as text when the process died: they stay the same text, and later steps are resent
/// unchanged.
#[tokio::test]
async fn steps_sent_as_text_stay_text() {
    let lab =
        FakeToolbox::default().with_tool("look", ToolBehavior::Echo).with_asking_tool("write", ToolBehavior::Echo);
    let provider = anthropic_provider([
        complete_answer(&[thinking_block("one"), text_block("I look."), tool_use_block("a", "lab__look")], "tool_use"),
        refused_answer(SIGNATURE),
        complete_answer(&[thinking_block("two"), tool_use_block("b", "lab__write")], "tool_use"),
    ]);
    let earlier = provider.log();
    let instance =
        TestServer::on_every_database_with_tools(|| provider.clone(), || Arc::new(lab.clone())).await.remove(0);
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "U1").await.assistant_turn.id;
    instance.wait_until(id, is_waiting_for_approval).await;
    let next = anthropic_provider([complete_answer(&[text_block("Done.")], "end_turn")]);
    let log = next.log();
    let instance = instance.restart_after_kill(next, Arc::new(lab.clone())).await;
    instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(notices(&turn).len(), 1);
    let messages = request_messages(&log, 0);
    assert_eq!(messages[0], request_messages(&earlier, 2)[0], "the words stay what they were");
    assert_eq!(messages[1]["content"], json!([thinking_block("two"), tool_use_block("b", "lab__write")]));
    assert_eq!((messages.len(), &messages[2]["content"][0]["tool_use_id"]), (3, &json!("b")));
    instance.check_invariants().await;
}

#[tokio::test]
async fn shutdown_waits_for_running_calls_and_leaves_pending_approvals() {
    let gate = Arc::new(Notify::new());
    let lab = FakeToolbox::default()
        .with_asking_tool("write", ToolBehavior::Echo)
        .with_tool("wait", ToolBehavior::ReturnsOnNotify(gate.clone(), json!("waited")));
    let steps = || [tool_call_answer([text_step("Both.")], &[("lab__write", "{}"), ("lab__wait", "{}")])];
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let (wrote, waited) = (lab.run_count("write"), lab.run_count("wait"));
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(id, |turn| statuses(turn) == [ToolStatus::AwaitingApproval, ToolStatus::Running]).await;
        let supervisor = instance.service.supervisor().clone();
        let drain = tokio::spawn(async move { supervisor.drain(turnleaf::domain::limits::DRAIN).await });
        lab.wait_for_runs("wait", waited + 1).await;
        gate.notify_one();
        drain.await.unwrap();
        let instance =
            instance.restart_after_kill(provider([streamed_answer([text_step("Done.")])]), Arc::new(lab.clone())).await;
        let turn = instance.wait_until(id, is_waiting_for_approval).await;
        assert_eq!(statuses(&turn), [ToolStatus::AwaitingApproval, ToolStatus::Done]);
        assert_eq!(results(&turn)[1], json!("waited"), "it was let finish");
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        instance.wait_until_complete(id).await;
        assert_eq!((lab.run_count("write"), lab.run_count("wait")), (wrote + 1, waited + 1));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn call_still_running_at_shutdown_end_is_interrupted_beside_pending_approval() {
    let lab =
        FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo).with_tool("hang", ToolBehavior::Hangs);
    let steps = || [tool_call_answer([text_step("Both.")], &[("lab__write", "{}"), ("lab__hang", "{}")])];
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let (hung, let_go) = (lab.run_count("hang"), lab.cancelled_count());
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(id, |turn| statuses(turn) == [ToolStatus::AwaitingApproval, ToolStatus::Running]).await;
        lab.wait_for_runs("hang", hung + 1).await;
        let live = instance.service.supervisor().live_turn(id).unwrap();
        live.interrupt(Interrupt::Shutdown);
        live.wait_until_ended().await;
        lab.wait_for_cancellations(let_go + 1).await;
        let left = instance.service.turn(instance.owner, id).await.unwrap();
        assert_eq!(statuses(&left), [ToolStatus::AwaitingApproval, ToolStatus::Interrupted]);
        let instance =
            instance.restart_after_kill(provider([streamed_answer([text_step("Done.")])]), Arc::new(lab.clone())).await;
        assert_eq!(
            instance.service.turn(instance.owner, id).await.unwrap(),
            left,
            "there was nothing more to interrupt"
        );
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        instance.wait_until_complete(id).await;
        assert_eq!(lab.run_count("hang"), hung + 1);
        instance.check_invariants().await;
        instance.close().await;
    }
}

fn two_calls() -> ScriptedAnswer {
    tool_call_answer([text_step("Both.")], &[("lab__write", r#"{"a":1}"#), ("lab__send", r#"{"b":1}"#)])
}

/// The process dies between the approval and the start of the call.
#[tokio::test]
async fn allowed_but_unstarted_call_runs_once_or_is_reported_as_not_run() {
    let lab = FakeToolbox::default()
        .with_asking_tool("write", ToolBehavior::Echo)
        .with_asking_tool("send", ToolBehavior::Echo);
    for is_other_asking in [true, false] {
        let instances =
            TestServer::on_every_database_with_tools(|| provider([two_calls()]), || Arc::new(lab.clone())).await;
        for instance in instances {
            let (wrote, sent) = (lab.run_count("write"), lab.run_count("send"));
            let chat = instance.chat_with_tools(&lab.offered_tools()).await;
            let id = instance.send_to(chat, "go").await.assistant_turn.id;
            instance.wait_until(id, |turn| pending_approvals(turn).len() == 2).await;
            lab.hold_allowed_calls(true);
            if !is_other_asking {
                instance.decide(id, ApprovalDecision::Deny, None).await.unwrap();
            }
            instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
            lab.hold_allowed_calls(false);
            let instance = instance
                .restart_after_kill(provider([streamed_answer([text_step("Done.")])]), Arc::new(lab.clone()))
                .await;
            if is_other_asking {
                // The other call still waits for approval; the allowed one needs no second approval.
                let turn = instance.wait_until(id, |turn| statuses(turn)[0] == ToolStatus::Done).await;
                assert_eq!(statuses(&turn), [ToolStatus::Done, ToolStatus::AwaitingApproval]);
                instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
                instance.wait_until_complete(id).await;
                assert_eq!((lab.run_count("write"), lab.run_count("send")), (wrote + 1, sent + 1));
            } else {
                let turn: Turn = instance.service.turn(instance.owner, id).await.unwrap();
                assert_eq!(turn.status, TurnStatus::Error);
                assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ServerRestarted));
                assert_eq!(statuses(&turn), [ToolStatus::Denied, ToolStatus::Cancelled]);
                let result = results(&turn)[1].as_str().unwrap().to_owned();
                assert!(result.contains("was not run"), "{result}");
                assert_eq!((lab.run_count("write"), lab.run_count("send")), (wrote, sent));
                instance.wait_until_complete(instance.send_to(chat, "and?").await.assistant_turn.id).await;
            }
            instance.check_invariants().await;
            instance.close().await;
        }
    }
}
