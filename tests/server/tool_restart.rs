//! Restarts in the middle of tool calls: a call that waits for a person still waits, a running call is interrupted
//! and never run again, and everything else ends with an error. Every test ends with the invariant checker.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::json;
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf::domain::turns::user_input_wait::{UserInputKind, pending_user_input};
use turnleaf::domain::{FailureKind, TurnId, TurnStatus};
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_run::{EventCursor, FollowerItem};
use turnleaf_service::accounts::Actor;
use turnleaf_service::tools::calls::CallDecision;
use turnleaf_store::fsck;
use turnleaf_store::turns::generations;

use crate::test_server::{TestServer, finish_steps, streamed_answer, text_step, thinking_step};
use crate::tool_call_support::{
    is_waiting_for_approval, last_result, pending_approvals, results, statuses, tool_call_answer, tool_results_sent,
    tool_use_blocks,
};
use crate::toolbox::{FakeToolbox, ToolBehavior};

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

/// Returns a server whose only reply waits for the approval of a write.
async fn reply_waiting_for_approval() -> (FakeToolbox, TestServer, TurnId) {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let instance = TestServer::with_tools(
        single_registry(provider([tool_call_answer([], &[("lab__write", "{}")])])),
        Arc::new(lab.clone()),
    )
    .await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    instance.wait_until(id, is_waiting_for_approval).await;
    (lab, instance, id)
}

fn single_registry(provider: ScriptedProvider) -> ProviderRegistry {
    ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into()])])
}

/// Checks the database as for a stopped server: a turn that has not ended must wait for a person.
async fn check_at_rest(instance: &TestServer) {
    let findings = fsck::check(&instance.db, fsck::CheckMode::Stopped).await.unwrap();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[tokio::test]
async fn pending_approval_survives_restart_and_then_continues() {
    let lab = FakeToolbox::default()
        .with_tool("look", ToolBehavior::Echo)
        .with_asking_tool("write", ToolBehavior::Echo)
        .with_tool("hang", ToolBehavior::Hangs);
    let first = || {
        [
            tool_call_answer([thinking_step("I look.")], &[("lab__look", r#"{"n":1}"#)]),
            tool_call_answer(
                [text_step("I write.")],
                &[("lab__write", r#"{"a":1}"#), ("lab__hang", "{}"), ("lab__look", "{}")],
            ),
        ]
    };
    for instance in TestServer::on_every_database_with_tools(|| provider(first()), || Arc::new(lab.clone())).await {
        let (looked, wrote, hung) = (lab.run_count("look"), lab.run_count("write"), lab.run_count("hang"));
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        let expected_statuses = [ToolStatus::Done, ToolStatus::AwaitingApproval, ToolStatus::Running, ToolStatus::Done];
        let before = instance.wait_until(id, |turn| statuses(turn) == expected_statuses).await;
        let next = provider([streamed_answer([thinking_step("Good."), text_step("Written.")])]);
        let log = next.log();
        let instance = instance.restart_after_kill(next, Arc::new(lab.clone())).await;
        let turn = instance.wait_until(id, is_waiting_for_approval).await;
        let expected_statuses =
            [ToolStatus::Done, ToolStatus::AwaitingApproval, ToolStatus::Interrupted, ToolStatus::Done];
        assert_eq!(statuses(&turn), expected_statuses);
        assert!(results(&turn)[2].as_str().unwrap().contains("the server restarted"));
        assert_eq!(pending_approvals(&turn)[0].1, pending_approvals(&before)[0].1, "the same question");
        check_at_rest(&instance).await;
        assert_eq!(log.requests().len(), 0, "nothing was sent meanwhile");
        // A follower continues from its cursor and sees the end.
        let follow =
            instance.service.supervisor().follow(instance.owner, id, EventCursor::After(before.last_event_seq));
        let follow = follow.await.unwrap().unwrap();
        let follow = tokio::spawn(follow.map(Result::unwrap).collect::<Vec<FollowerItem>>());
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        let seen = follow.await.unwrap();
        assert!(seen.iter().all(|seen| matches!(seen, FollowerItem::Line(_))), "{seen:?}");
        assert_eq!(before.last_event_seq + seen.len() as u64, turn.last_event_seq);
        assert_eq!(statuses(&turn)[1], ToolStatus::Done);
        assert_eq!(
            (lab.run_count("look"), lab.run_count("write"), lab.run_count("hang")),
            (looked + 2, wrote + 1, hung + 1)
        );
        let sent_results = tool_results_sent(&log, 0);
        assert_eq!(
            sent_results[..3],
            ["user", "assistant", r#"{"n":1}"#],
            "with its own steps as they came: {sent_results:?}"
        );
        assert_eq!((sent_results.len(), sent_results[4].as_str()), (7, r#"{"a":1}"#));
        let made = generations::list(&instance.db, instance.owner, id).await.unwrap();
        assert_eq!(made.iter().map(|made| made.step).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(turn.usage.output_tokens, Some(15), "the sum of all steps");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn pause_survives_restart_and_can_be_stopped_there() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo);
    let again = || tool_call_answer([], &[("lab__look", "{}")]);
    for stops in [false, true] {
        let instance = TestServer::on_every_database_with_tools(
            || provider([again(), again(), again(), again()]),
            || Arc::new(lab.clone()),
        );
        for instance in instance.await {
            let before = lab.run_count("look");
            let chat = instance.chat_with_tools(&lab.offered_tools()).await;
            let id = instance.send_to(chat, "go").await.assistant_turn.id;
            instance.wait_until(id, |turn| pending_user_input(turn) == Some(UserInputKind::Continue)).await;
            let instance = instance
                .restart_after_kill(provider([streamed_answer([text_step("Done.")])]), Arc::new(lab.clone()))
                .await;
            check_at_rest(&instance).await;
            assert_eq!(lab.run_count("look"), before + 3);
            if stops {
                let turn = instance.service.stop_turn(instance.owner, id).await.unwrap();
                assert_eq!(
                    (turn.status, *statuses(&turn).last().unwrap()),
                    (TurnStatus::Cancelled, ToolStatus::Cancelled)
                );
            } else {
                instance.service.continue_paused_reply(instance.owner, id).await.unwrap();
                instance.wait_until_complete(id).await;
                assert_eq!(lab.run_count("look"), before + 4);
            }
            instance.check_invariants().await;
            instance.close().await;
        }
    }
}

#[tokio::test]
async fn running_call_is_interrupted_by_restart_and_unstarted_call_is_not() {
    let lab = FakeToolbox::default().with_tool("hang", ToolBehavior::Hangs);
    let many: Vec<(&str, &str)> = vec![("lab__hang", r#"{"n":1}"#), ("lab__hang", r#"{"n":2}"#)];
    let nine: Vec<String> = (0..9).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let nine: Vec<(&str, &str)> = nine.iter().map(|arguments| ("lab__hang", arguments.as_str())).collect();
    for calls_made in [many, nine] {
        let steps = || [tool_call_answer([text_step("I look.")], &calls_made)];
        for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
            let began = calls_made.len().min(8);
            let chat = instance.chat_with_tools(&lab.offered_tools()).await;
            let id = instance.send_to(chat, "go").await.assistant_turn.id;
            let running = |turn: &turnleaf::domain::Turn| {
                statuses(turn).iter().filter(|status| **status == ToolStatus::Running).count() == began
            };
            instance.wait_until(id, running).await;
            let before = lab.run_count("hang");
            let instance = instance.restart_after_kill(provider([]), Arc::new(lab.clone())).await;
            let turn = instance.service.turn(instance.owner, id).await.unwrap();
            assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ServerRestarted));
            assert_eq!(statuses(&turn)[..began], vec![ToolStatus::Interrupted; began]);
            assert!(results(&turn)[0].as_str().unwrap().contains("may or may not have run"));
            if calls_made.len() > began {
                assert_eq!(*statuses(&turn).last().unwrap(), ToolStatus::Cancelled);
                assert!(last_result(&turn).contains("was not run"));
            }
            assert_eq!((lab.run_count("hang"), turn.content_text().as_str()), (before, "I look."));
            check_at_rest(&instance).await;
            instance.close().await;
        }
    }
}

#[tokio::test]
async fn results_stored_before_next_reply_are_kept() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo);
    let first = provider([tool_call_answer([], &[("lab__look", r#"{"n":1}"#)]), ScriptedAnswer::Silence]);
    // All databases share one provider, so each of them adds its own steps.
    let logs = first.log();
    let of = || {
        first.push_answer(tool_call_answer([], &[("lab__look", r#"{"n":1}"#)]));
        first.push_answer(ScriptedAnswer::Silence);
        first.clone()
    };
    for (count, instance) in (1..).zip(TestServer::on_every_database_with_tools(of, || Arc::new(lab.clone())).await) {
        let before = lab.run_count("look");
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        logs.wait_for_requests(2 * count).await;
        instance.wait_until(id, |turn| statuses(turn) == [ToolStatus::Done]).await;
        let next = provider([streamed_answer([text_step("I know.")])]);
        let log = next.log();
        let instance = instance.restart_after_kill(next, Arc::new(lab.clone())).await;
        let turn = instance.service.turn(instance.owner, id).await.unwrap();
        assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ServerRestarted));
        assert_eq!((statuses(&turn), results(&turn)), (vec![ToolStatus::Done], vec![json!({"n": 1})]));
        instance.wait_until_complete(instance.send_to(chat, "and?").await.assistant_turn.id).await;
        assert_eq!(tool_results_sent(&log, 0)[2], r#"{"n":1}"#);
        assert_eq!(lab.run_count("look"), before + 1);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn shutdown_leaves_waiting_turn_immediately_and_unchanged() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let steps = || [tool_call_answer([], &[("lab__write", "{}")])];
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let before = lab.run_count("write");
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        let asking = instance.wait_until(id, is_waiting_for_approval).await;
        // The bound is shorter than the time that runs get to finish by themselves.
        tokio::time::timeout(
            std::time::Duration::from_secs(10),
            instance.service.supervisor().drain(turnleaf::domain::limits::DRAIN),
        )
        .await
        .unwrap();
        let instance =
            instance.restart_after_kill(provider([streamed_answer([text_step("Done.")])]), Arc::new(lab.clone())).await;
        assert_eq!(instance.service.turn(instance.owner, id).await.unwrap(), asking);
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        instance.wait_until_complete(id).await;
        assert_eq!(lab.run_count("write"), before + 1);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn reply_with_removed_provider_waits_and_fails_when_continued() {
    let (lab, instance, id) = reply_waiting_for_approval().await;
    let instance = instance.restart_after_kill(ScriptedProvider::new("another", []), Arc::new(lab.clone())).await;
    assert_eq!(statuses(&instance.wait_until(id, is_waiting_for_approval).await), [ToolStatus::AwaitingApproval]);
    instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
    let turn = instance.wait_until_ended(id).await;
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ProviderUnreachable));
    assert!(turn.error.unwrap().detail.unwrap().contains("no longer configured"));
    assert_eq!((lab.run_count("write"), turn.status), (1, TurnStatus::Error));
    instance.check_invariants().await;
}

#[tokio::test]
async fn decision_right_after_restart_resumes_reply_itself() {
    let (lab, instance, id) = reply_waiting_for_approval().await;
    let (call, ask) = pending_approvals(&instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    let TestServer { dir, .. } = instance;
    let ending = ScriptedAnswer::Stream([vec![text_step("Done.")], finish_steps("stop")].concat());
    let instance = TestServer::reopen_with_tools(dir, single_registry(provider([ending])), Arc::new(lab.clone())).await;
    assert_eq!(instance.service.supervisor().sweep().await.unwrap(), 0);
    let answer = CallDecision::new(&ask.hash, ApprovalDecision::Allow);
    instance.service.decide_tool_call(instance.owner, Actor::default(), (id, call.id), answer).await.unwrap();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!((lab.run_count("write"), tool_use_blocks(&turn).len()), (1, 1));
    instance.check_invariants().await;
}
