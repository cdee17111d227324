//! Tool loops: steps in their order, concurrent and separate calls, the result of every outcome for the model, and
//! the limits. Every test ends with the invariant checker.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::blocks::notice::Notice;
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf::domain::turns::user_input_wait::{UserInputKind, open_pause_text, pending_user_input};
use turnleaf::domain::{Content, FailureKind, TurnStatus, limits};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::ServiceError;

use crate::test_server::{TestServer, delta_step, finish_steps, streamed_answer, text_step, thinking_step};
use crate::tool_call_support::{
    is_running, last_result, results, status_of, statuses, tool_call_answer, tool_results_sent, tool_use_blocks,
};
use crate::toolbox::{FakeToolbox, ToolBehavior};

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

/// Returns a server with these tools and scripted answers.
async fn server_with_tools(
    answers: impl IntoIterator<Item = ScriptedAnswer>,
    lab: &FakeToolbox,
) -> (TestServer, Arc<turnleaf_providers::scripted::RequestLog>) {
    let provider = provider(answers);
    let log = provider.log();
    let models = vec!["model-a".to_owned()];
    let registry = turnleaf_providers::registry::ProviderRegistry::from_providers(vec![(Arc::new(provider), models)]);
    (TestServer::with_tools(registry, Arc::new(lab.clone())).await, log)
}

#[tokio::test]
async fn reasoning_and_tools_alternate_until_text() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo);
    let steps = || {
        [
            tool_call_answer([thinking_step("First.")], &[("lab__look", r#"{"n":1}"#)]),
            tool_call_answer([thinking_step("Second.")], &[("lab__look", r#"{"n":2}"#)]),
            streamed_answer([thinking_step("Third."), text_step("Done.")]),
        ]
    };
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let turn = instance.wait_until_complete(instance.send_to(chat, "go").await.assistant_turn.id).await;
        let kinds: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
        let step = ["thinking", "tool_use", "tool_result"];
        assert_eq!(kinds, [step.as_slice(), &step, &["thinking", "text"]].concat());
        assert_eq!(results(&turn), [json!({"n": 1}), json!({"n": 2})]);
        assert_eq!(
            tool_use_blocks(&turn)[0].block_metadata["tool"],
            json!({ "title": "The look", "server": "The lab" })
        );
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn chosen_tools_that_cannot_be_offered_are_announced_once() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo).with_unusable_tool("odd");
    let answers = (0..3).map(|_| streamed_answer([text_step("Done.")]));
    let (instance, _) = server_with_tools(answers, &lab).await;
    let announced = |turn: &turnleaf::domain::Turn| {
        turn.blocks.iter().filter(|block| Notice::from_block(block) == Some(Notice::ToolsLeftOut)).count()
    };
    for (choice, expected) in [("lab/*", [1, 0].as_slice()), ("lab/look", [0].as_slice())] {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let choice = ToolChoice { on: vec![choice.to_owned()], ..ToolChoice::default() };
        let mut tx = instance.db.begin().await.unwrap();
        turnleaf_store::chats::chat_tools::put(&mut tx, instance.owner, chat, &choice).await.unwrap();
        tx.commit().await.unwrap();
        for expected in expected {
            let turn = instance.wait_until_complete(instance.send_to(chat, "go").await.assistant_turn.id).await;
            assert_eq!(announced(&turn), *expected, "{choice:?}");
            assert!(matches!(turn.blocks.last().map(|block| &block.content), Some(Content::Text { .. })));
        }
    }
    instance.check_invariants().await;
    instance.close().await;
}

#[tokio::test]
async fn concurrent_calls_end_independently_and_are_sent_in_order() {
    let lab = FakeToolbox::default()
        .with_tool("hang", ToolBehavior::Hangs)
        .with_tool("fail", ToolBehavior::Fails)
        .with_tool("ok", ToolBehavior::Echo);
    let three = [("lab__hang", "{}"), ("lab__fail", "{}"), ("lab__ok", r#"{"a":1}"#)];
    let (instance, log) =
        server_with_tools([tool_call_answer([], &three), streamed_answer([text_step("Done.")])], &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    let over =
        |turn: &turnleaf::domain::Turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Failed, ToolStatus::Done];
    let turn = instance.wait_until(id, over).await;
    assert_eq!(results(&turn)[2], json!({"a": 1}), "its result is there without waiting for the others");
    instance.check_invariants().await;
    tokio::time::pause();
    tokio::time::advance(limits::TOOL_TIME + limits::TOOL_STOP + Duration::from_millis(2)).await;
    tokio::time::resume();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Failed, ToolStatus::Failed, ToolStatus::Done]);
    assert_eq!(lab.cancelled_count(), 1, "the one that hung was let go");
    let sent_results = tool_results_sent(&log, 1);
    assert!(
        sent_results[2].contains("too long")
            && sent_results[3].contains("it broke")
            && sent_results[4].contains(r#""a":1"#),
        "{sent_results:?}"
    );
    let of_hung = turn.blocks.iter().find_map(|block| match &block.content {
        Content::ToolResult { tool_name, metadata, .. } if tool_name == "lab__hang" => Some(metadata.clone()),
        _ => None,
    });
    assert_eq!(of_hung.unwrap()["timed_out"], json!(true));
    instance.check_invariants().await;
}

#[tokio::test]
async fn invalid_call_is_reported_to_model_and_runs_no_tool() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo).with_tool("gone", ToolBehavior::Missing);
    let bad = [("lab__look", r#"{"a":"#), ("lab__gone", "{}"), ("nowhere", "{}"), ("client_tool", "no")];
    let (instance, log) =
        server_with_tools([tool_call_answer([], &bad), streamed_answer([text_step("Sorry.")])], &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let turn = instance.wait_until_complete(instance.send_to(chat, "go").await.assistant_turn.id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Failed; 4]);
    let results = tool_results_sent(&log, 1);
    for (result, words) in
        results[2..].iter().zip(["not valid JSON", "not in the lab", "not available", "not valid JSON"])
    {
        assert!(result.contains(words), "{result}");
    }
    assert_eq!(lab.run_count("look"), 0);
    instance.check_invariants().await;
}

#[tokio::test]
async fn concurrent_calls_and_calls_per_step_are_bounded() {
    let gate = Arc::new(Notify::new());
    let lab = FakeToolbox::default().with_tool("wait", ToolBehavior::ReturnsOnNotify(gate.clone(), json!("waited")));
    let arguments: Vec<String> = (0..=limits::TOOL_CALLS_A_STEP).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let many: Vec<(&str, &str)> = arguments.iter().map(|arguments| ("lab__wait", arguments.as_str())).collect();
    let (instance, _) =
        server_with_tools([tool_call_answer([], &many), streamed_answer([text_step("Done.")])], &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    lab.wait_for_runs("wait", limits::TOOLS_AT_ONCE).await;
    let open = async {
        loop {
            gate.notify_one();
            tokio::task::yield_now().await;
        }
    };
    let turn = tokio::select! {
        turn = instance.wait_until_complete(id) => turn,
        () = open => unreachable!(),
    };
    assert_eq!(lab.max_concurrent_runs(), limits::TOOLS_AT_ONCE);
    assert_eq!(lab.run_count("wait"), limits::TOOL_CALLS_A_STEP);
    assert_eq!(*statuses(&turn).last().unwrap(), ToolStatus::Failed);
    assert!(last_result(&turn).contains("at most 64 calls"));
    instance.check_invariants().await;
}

#[tokio::test]
async fn progress_is_recorded_while_running_and_bytes_stored_with_result() {
    let gate = Arc::new(Notify::new());
    let lab = FakeToolbox::default()
        .with_tool("far", ToolBehavior::Progress("3 of 10", gate.clone()))
        .with_tool("file", ToolBehavior::ReturnsBlob(b"a file"));
    let steps =
        || [tool_call_answer([], &[("lab__far", "{}"), ("lab__file", "{}")]), streamed_answer([text_step("Done.")])];
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        instance
            .wait_until(id, |turn| {
                tool_use_blocks(turn).first().is_some_and(|call| status_of(call) == ToolStatus::Running)
            })
            .await;
        tokio::time::pause();
        tokio::time::advance(limits::TOOL_PROGRESS_EVERY + Duration::from_millis(2)).await;
        tokio::time::resume();
        let turn = instance
            .wait_until(id, |turn| {
                tool_use_blocks(turn)[0].block_metadata["progress"] == json!({ "line": "3 of 10", "percent": 30 })
            })
            .await;
        assert!(is_running(&turn));
        gate.notify_one();
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(tool_use_blocks(&turn)[0].block_metadata.get("progress"), None, "what is over has none");
        let count = "SELECT COUNT(*) FROM block_blobs r JOIN blobs b ON b.sha256 = r.sha256 \
                     JOIN turn_blocks k ON k.id = r.block_id WHERE k.block_type = 'tool_result' AND b.byte_count = 6";
        let stored: i64 = match &instance.db {
            turnleaf_store::Db::Sqlite { writer, .. } => sqlx::query_scalar(count).fetch_one(writer).await.unwrap(),
            turnleaf_store::Db::Postgres { writer, .. } => sqlx::query_scalar(count).fetch_one(writer).await.unwrap(),
        };
        assert_eq!(stored, 1);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn repeated_identical_call_pauses_and_continues_on_request() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo);
    let again = || tool_call_answer([], &[("lab__look", r#"{"a":1,"b":2}"#)]);
    let turned = tool_call_answer([], &[("lab__look", r#"{"b":2,"a":1}"#)]);
    let (instance, log) =
        server_with_tools([again(), turned, again(), again(), streamed_answer([text_step("At last.")])], &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    let turn = instance.wait_until(id, |turn| pending_user_input(turn).is_some()).await;
    assert_eq!(pending_user_input(&turn), Some(UserInputKind::Continue));
    assert_eq!(turn.status, TurnStatus::WaitingSubagents);
    assert!(turn.blocks.iter().find_map(open_pause_text).unwrap().contains("same call"));
    assert_eq!((lab.run_count("look"), statuses(&turn)[3]), (3, ToolStatus::Pending));
    assert_eq!(instance.service.supervisor().running_count(), 0, "nobody's turn is taken by it");
    instance.check_invariants().await;
    instance.service.continue_paused_reply(instance.owner, id).await.unwrap();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(lab.run_count("look"), 4);
    assert!(turn.blocks.iter().any(|block| block.content.block_type() == "x:pause"));
    assert_eq!(tool_results_sent(&log, 4).len(), 9, "the pause is not sent to the model");
    let late = instance.service.continue_paused_reply(instance.owner, id).await;
    assert!(matches!(late, Err(ServiceError::Conflict { code: "not_asked", .. })), "{late:?}");
    instance.check_invariants().await;
}

#[tokio::test]
async fn reply_pauses_after_round_limit_and_gets_as_many_again() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo);
    let rounds = 2 * limits::TOOL_ROUNDS + 1;
    let steps = (0..rounds).map(|n| tool_call_answer([], &[("lab__look", &format!(r#"{{"n":{n}}}"#))]));
    let (instance, _) = server_with_tools(steps.chain([streamed_answer([text_step("Done.")])]), &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    for so_far in [limits::TOOL_ROUNDS, 2 * limits::TOOL_ROUNDS] {
        lab.wait_for_runs("look", so_far as usize).await;
        instance.wait_until(id, |turn| pending_user_input(turn) == Some(UserInputKind::Continue)).await;
        assert_eq!(lab.run_count("look"), so_far as usize);
        instance.service.continue_paused_reply(instance.owner, id).await.unwrap();
    }
    instance.wait_until_complete(id).await;
    assert_eq!(lab.run_count("look"), rounds as usize);
    instance.check_invariants().await;
}

#[tokio::test]
async fn stopping_one_call_lets_reply_continue_with_others() {
    let lab = FakeToolbox::default().with_tool("hang", ToolBehavior::Hangs).with_tool("ok", ToolBehavior::Echo);
    let (instance, log) = server_with_tools(
        [tool_call_answer([], &[("lab__hang", "{}"), ("lab__ok", "{}")]), streamed_answer([text_step("Fine.")])],
        &lab,
    )
    .await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    let turn = instance.wait_until(id, |turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Done]).await;
    let [hung, over] = tool_use_blocks(&turn)[..] else { panic!("{turn:?}") };
    let refused = instance.service.stop_tool_call(instance.owner, id, over.id).await;
    assert!(matches!(refused, Err(ServiceError::Conflict { code: "not_asked", .. })), "{refused:?}");
    let stranger = turnleaf_platform::ids::mint();
    assert!(matches!(instance.service.stop_tool_call(stranger, id, hung.id).await, Err(ServiceError::NotFound)));
    instance.service.stop_tool_call(instance.owner, id, hung.id).await.unwrap();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Cancelled, ToolStatus::Done]);
    assert!(tool_results_sent(&log, 1)[2].contains("The user stopped this call."));
    assert_eq!(lab.cancelled_count(), 1);
    instance.check_invariants().await;
}

#[tokio::test]
async fn stop_cancels_every_call_and_next_request_has_their_results() {
    let lab = FakeToolbox::default().with_tool("hang", ToolBehavior::Hangs).with_tool("ok", ToolBehavior::Echo);
    let steps =
        || [tool_call_answer([], &[("lab__hang", "{}"), ("lab__ok", "{}")]), streamed_answer([text_step("Fine.")])];
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(id, |turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Done]).await;
        let let_go = lab.cancelled_count();
        let turn = instance.service.stop_turn(instance.owner, id).await.unwrap();
        assert_eq!(turn.status, TurnStatus::Cancelled);
        assert_eq!(statuses(&turn), [ToolStatus::Cancelled, ToolStatus::Done]);
        assert_eq!(results(&turn), [json!("cancelled by the user"), json!({})]);
        lab.wait_for_cancellations(let_go + 1).await;
        instance.wait_until_complete(instance.send_to(chat, "and now?").await.assistant_turn.id).await;
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn client_tool_call_is_handed_over_after_other_calls_end() {
    let gate = Arc::new(Notify::new());
    let lab = FakeToolbox::default().with_tool("wait", ToolBehavior::ReturnsOnNotify(gate.clone(), json!("waited")));
    let (instance, log) = server_with_tools(
        [tool_call_answer([], &[("client_tool", "{}"), ("lab__wait", "{}")]), streamed_answer([text_step("So.")])],
        &lab,
    )
    .await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    instance.wait_until(id, |turn| statuses(turn) == [ToolStatus::HandedOver, ToolStatus::Running]).await;
    gate.notify_one();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::HandedOver, ToolStatus::Done]);
    assert_eq!(results(&turn), [Value::Null, json!("waited")], "its result is the client's to bring");
    instance.check_invariants().await;
    instance.wait_until_complete(instance.send_to(chat, "never mind").await.assistant_turn.id).await;
    assert!(tool_results_sent(&log, 1)[2].contains("no result"), "{:?}", tool_results_sent(&log, 1));
    instance.check_invariants().await;
}

#[tokio::test]
async fn endless_arguments_end_reply_and_keep_received_part() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo);
    let call = |arguments: String| {
        let function = json!({ "name": "lab__look", "arguments": arguments });
        delta_step(json!({ "tool_calls": [{ "index": 0, "id": "t", "function": function }] }))
    };
    let rest = "x".repeat(limits::TOOL_ARGS_BYTES - 5);
    let long = |more: &str| {
        let more = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": more } }] });
        ScriptedAnswer::Stream(
            [vec![text_step("I look."), call("{\"a\":".into()), delta_step(more)], finish_steps("tool_calls")].concat(),
        )
    };
    let (instance, _) =
        server_with_tools([long(&rest), streamed_answer([text_step("Again?")]), long(&format!("{rest}x"))], &lab).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let turn = instance.wait_until_complete(instance.send_to(chat, "go").await.assistant_turn.id).await;
    assert!(last_result(&turn).contains("not valid JSON"), "as long as it may be");
    let turn = instance.wait_until_ended(instance.send_to(chat, "go").await.assistant_turn.id).await;
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::LimitToolArgs));
    assert_eq!((turn.content_text().as_str(), statuses(&turn)), ("I look.", vec![ToolStatus::Cancelled]));
    assert_eq!(lab.run_count("look"), 0);
    instance.check_invariants().await;
}

#[tokio::test]
async fn unusual_characters_in_arguments_and_results_are_stored_on_every_database() {
    let odd = "a\u{0}b \u{202e}c \u{1b}[31m";
    let lab = FakeToolbox::default()
        .with_tool("look", ToolBehavior::Echo)
        .with_tool("odd", ToolBehavior::Returns(json!({ odd: odd })));
    let arguments = json!({ "a": odd }).to_string();
    let steps = || {
        [tool_call_answer([], &[("lab__look", &arguments), ("lab__odd", "{}")]), streamed_answer([text_step("Fine.")])]
    };
    for instance in TestServer::on_every_database_with_tools(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let turn = instance.wait_until_complete(instance.send_to(chat, "go").await.assistant_turn.id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Done; 2]);
        assert_eq!(results(&turn)[1], json!({ odd: odd }));
        instance.check_invariants().await;
        instance.close().await;
    }
}
