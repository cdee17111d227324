//! Tool calls that need a person's approval: allowed once, in the chat or always, declined, asked again, stopped. The
//! journal holds each request and decision. Every test ends with the invariant checker.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use http::{Request, StatusCode};
use serde_json::json;
use tokio::sync::Notify;
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf::domain::{TurnStatus, limits};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::tools::calls::CallDecision;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{
    is_waiting_for_approval, pending_approvals, results, statuses, tool_call_answer, tool_results_sent, tool_use_blocks,
};
use crate::toolbox::{FakeToolbox, ToolBehavior};

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

async fn server_with_tools(provider: ScriptedProvider, lab: &FakeToolbox) -> TestServer {
    let registry = ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
    let instance = TestServer::with_tools(registry, Arc::new(lab.clone())).await;
    lab.use_grants_of(&instance.db);
    instance
}

fn conflict(refused: Result<turnleaf::domain::Turn, ServiceError>) -> &'static str {
    match refused {
        Err(ServiceError::Conflict { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_runs_before_approval_and_then_exactly_approved_call() {
    let steps = || {
        [
            tool_call_answer([text_step("I write.")], &[("lab__write", r#"{"a":1}"#)]),
            streamed_answer([text_step("Written.")]),
        ]
    };
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let before = lab.run_count("write");
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        let turn = instance.wait_until(id, is_waiting_for_approval).await;
        let (call, ask) = pending_approvals(&turn).remove(0);
        let requested_at = SystemClock.now();
        assert_eq!(
            (ask.title.as_str(), ask.server.as_str(), turn.status),
            ("The write", "lab", TurnStatus::WaitingSubagents)
        );
        assert_eq!((lab.run_count("write"), instance.service.supervisor().running_count()), (before, 0));
        instance.check_invariants().await;
        let service = &instance.service;
        let decide = |hash: &'static str, reason| {
            let answer = CallDecision { reason, ..CallDecision::new(hash, ApprovalDecision::Allow) };
            service.decide_tool_call(instance.owner, Actor::default(), (id, call.id), answer)
        };
        assert_eq!(conflict(decide("another", None).await), "approval_changed");
        let long = Some("x".repeat(limits::DENY_REASON_CHARS + 1));
        assert!(matches!(decide("", long).await, Err(ServiceError::Invalid(invalid)) if invalid.field == "reason"));
        let stranger = turnleaf_platform::ids::mint();
        let foreign = service
            .decide_tool_call(
                stranger,
                Actor::default(),
                (id, call.id),
                CallDecision::new(&ask.hash, ApprovalDecision::Allow),
            )
            .await;
        assert!(matches!(foreign, Err(ServiceError::NotFound)));
        let result_is_no_call = service.stop_tool_call(instance.owner, id, turn.blocks[0].id).await;
        assert!(matches!(result_is_no_call, Err(ServiceError::NotFound)));
        assert_eq!(conflict(service.continue_paused_reply(instance.owner, id).await), "not_asked");
        assert!(
            is_waiting_for_approval(&instance.service.turn(instance.owner, id).await.unwrap()),
            "none of that was an answer"
        );
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        assert_eq!((statuses(&turn), results(&turn)), (vec![ToolStatus::Done], vec![json!({"a": 1})]));
        assert_eq!(tool_use_blocks(&turn)[0].block_metadata["decision"]["decision"], "allow");
        let since =
            tool_use_blocks(&turn)[0].block_metadata["runs_since"].as_str().unwrap().parse::<DateTime<Utc>>().unwrap();
        assert!(since > requested_at, "it runs since it was allowed, not since it was written");
        assert_eq!(lab.run_count("write"), before + 1);
        let late = service
            .decide_tool_call(
                instance.owner,
                Actor::default(),
                (id, call.id),
                CallDecision::new(&ask.hash, ApprovalDecision::Deny),
            )
            .await;
        assert_eq!(conflict(late), "not_asked");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn refusal_is_sent_to_model_with_reason_while_other_calls_run() {
    let gate = Arc::new(Notify::new());
    let lab = FakeToolbox::default()
        .with_asking_tool("write", ToolBehavior::Echo)
        .with_tool("wait", ToolBehavior::ReturnsOnNotify(gate.clone(), json!("waited")));
    let provider = provider([
        tool_call_answer([], &[("lab__write", "{}"), ("lab__wait", "{}")]),
        streamed_answer([text_step("All right.")]),
    ]);
    let log = provider.log();
    let instance = server_with_tools(provider, &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    instance.wait_until(id, |turn| statuses(turn) == [ToolStatus::AwaitingApproval, ToolStatus::Running]).await;
    assert_eq!(instance.service.supervisor().running_count(), 1, "it does not wait alone");
    instance.decide(id, ApprovalDecision::Deny, Some("use the\0other file")).await.unwrap();
    gate.notify_one();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Denied, ToolStatus::Done]);
    let results = tool_results_sent(&log, 1);
    assert_eq!(results[2], "The user declined this call. Their reason: use the\u{2400}other file", "{results:?}");
    assert_eq!(lab.run_count("write"), 0);
    instance.check_invariants().await;
}

#[tokio::test]
async fn tool_allowed_in_chat_is_not_asked_there_again() {
    let two = [("lab__write", r#"{"a":1}"#), ("lab__write", r#"{"a":2}"#)];
    let steps = || {
        let third = || tool_call_answer([], &[("lab__write", r#"{"a":3}"#)]);
        [
            tool_call_answer([], &two),
            third(),
            streamed_answer([text_step("Done.")]),
            third(),
            streamed_answer([text_step("Done.")]),
        ]
    };
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        lab.use_grants_of(&instance.db);
        let before = lab.run_count("write");
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(id, |turn| pending_approvals(turn).len() == 2).await;
        instance.decide(id, ApprovalDecision::AllowInChat, None).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Done; 3]);
        assert_eq!(lab.run_count("write"), before + 3);
        // A grant does not apply to a tool whose description changed.
        lab.change_tool("write");
        let id = instance.send_to(chat, "again").await.assistant_turn.id;
        instance.decide(id, ApprovalDecision::Always, None).await.unwrap();
        instance.wait_until_complete(id).await;
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn always_allowed_tool_is_never_asked() {
    let step = || [tool_call_answer([], &[("lab__write", r#"{"a":1}"#)]), streamed_answer([text_step("Done.")])];
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let instance = server_with_tools(provider(step().into_iter().chain(step())), &lab).await;
    let (one, other) =
        (instance.chat_with_tools(&lab.offered_tools()).await, instance.chat_with_tools(&lab.offered_tools()).await);
    let id = instance.send_to(one, "go").await.assistant_turn.id;
    instance.decide(id, ApprovalDecision::Always, None).await.unwrap();
    instance.wait_until_complete(id).await;
    let turn = instance.wait_until_complete(instance.send_to(other, "go").await.assistant_turn.id).await;
    assert_eq!(tool_use_blocks(&turn)[0].block_metadata.get("approval"), None, "it was not asked");
    instance.check_invariants().await;
}

#[tokio::test]
async fn tool_that_changed_since_it_was_asked_about_is_asked_about_again() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let instance = server_with_tools(
        provider([tool_call_answer([], &[("lab__write", "{}")]), streamed_answer([text_step("Done.")])]),
        &lab,
    )
    .await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    let first = pending_approvals(&instance.wait_until(id, is_waiting_for_approval).await).remove(0).1;
    lab.change_tool("write");
    instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
    let turn =
        instance.wait_until(id, |turn| pending_approvals(turn).iter().any(|(_, ask)| ask.hash != first.hash)).await;
    let (call, second) = pending_approvals(&turn).remove(0);
    assert_eq!(second.note.as_deref(), Some("The tool has changed."));
    assert_eq!((call.block_metadata.get("decision"), lab.run_count("write")), (None, 0));
    instance.check_invariants().await;
    instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
    instance.wait_until_complete(id).await;
    assert_eq!(lab.run_count("write"), 1);
    instance.check_invariants().await;
}

#[tokio::test]
async fn asking_reply_or_single_call_can_be_stopped() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let step = || tool_call_answer([], &[("lab__write", r#"{"a":1}"#)]);
    let instance = server_with_tools(provider([step(), step(), streamed_answer([text_step("Fine.")])]), &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    instance.wait_until(id, is_waiting_for_approval).await;
    let turn = instance.service.stop_turn(instance.owner, id).await.unwrap();
    assert_eq!((turn.status, statuses(&turn)), (TurnStatus::Cancelled, vec![ToolStatus::Cancelled]));
    assert_eq!(results(&turn), [json!("cancelled by the user")]);
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    let call = pending_approvals(&instance.wait_until(id, is_waiting_for_approval).await).remove(0).0;
    instance.service.stop_tool_call(instance.owner, id, call.id).await.unwrap();
    assert_eq!(statuses(&instance.wait_until_complete(id).await), [ToolStatus::Cancelled]);
    assert_eq!(lab.run_count("write"), 0);
    instance.check_invariants().await;
}

#[tokio::test]
async fn approval_wait_does_not_count_towards_reply_timeout() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let instance = server_with_tools(
        provider([tool_call_answer([], &[("lab__write", "{}")]), streamed_answer([text_step("Done.")])]),
        &lab,
    )
    .await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    instance.wait_until(id, is_waiting_for_approval).await;
    while instance.service.supervisor().running_count() > 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(limits::TURN_TIME * 3).await;
    tokio::time::resume();
    instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
    instance.wait_until_complete(id).await;
    instance.check_invariants().await;
}

#[tokio::test]
async fn approval_works_over_api_and_forms() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let step = || tool_call_answer([], &[("lab__write", r#"{"a":1}"#)]);
    let instance = server_with_tools(
        provider([
            step(),
            streamed_answer([text_step("Done.")]),
            step(),
            step(),
            streamed_answer([text_step("Done.")]),
        ]),
        &lab,
    )
    .await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let api = TestApi::with_server(instance);
    let id = api.instance.send_to(chat, "go").await.assistant_turn.id;
    let (call, ask) = pending_approvals(&api.instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    let path = format!("/api/turns/{id}/calls/{}", call.id);
    let wrong = json!({ "decision": "allow", "hash": "x" });
    let (status, problem) = api.call("POST", &path, Some(wrong)).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("approval_changed")));
    let unknown = api.call("POST", &path, Some(json!({ "decision": "perhaps", "hash": ask.hash }))).await;
    assert_eq!(unknown.0, StatusCode::BAD_REQUEST);
    let nowhere = format!("/api/turns/{id}/calls/{id}");
    assert_eq!(api.call("POST", &format!("{nowhere}/stop"), None).await.0, StatusCode::NOT_FOUND);
    let decision = json!({ "decision": "allow", "hash": ask.hash });
    let (status, answer) = api.call("POST", &path, Some(decision.clone())).await;
    assert_eq!((status, &answer["turn_id"]), (StatusCode::OK, &json!(id)));
    api.instance.wait_until_complete(id).await;
    assert_eq!(api.call("POST", &path, Some(decision)).await.1["code"], "not_asked");
    let (status, problem) = api.call("POST", &format!("/api/turns/{id}/continue"), None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("not_asked")));

    let form = async |path: &str, body: String| {
        let request = Request::builder().method("POST").uri(path).header("host", "127.0.0.1:3000");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        api.send(request.body(body.into()).unwrap()).await
    };
    let id = api.instance.send_to(chat, "again").await.assistant_turn.id;
    let (call, ask) = pending_approvals(&api.instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    let fields = format!("turn={id}&block={}&hash={}&decision=deny&reason=no+more", call.id, ask.hash);
    let answer = form("/forms/call", fields).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()["location"], format!("/c/{chat}?at={id}#latest"));
    let (call, _) = pending_approvals(&api.instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    let answer = form("/forms/call-stop", format!("turn={id}&block={}&stay=1", call.id)).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let turn = api.instance.wait_until_complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Denied, ToolStatus::Cancelled]);
    assert_eq!(form("/forms/continue", format!("turn={id}")).await.status(), StatusCode::CONFLICT);
    assert_eq!(form("/forms/continue", "turn=nobody".into()).await.status(), StatusCode::NOT_FOUND);
    api.instance.check_invariants().await;
}
