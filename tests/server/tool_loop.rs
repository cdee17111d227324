//! Replies that use tools: steps in their order, calls side by side and each on its own, what the model is told of every
//! end, and the bounds of it all. Every test ends with the checker.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::block::ToolStatus;
use turnleaf::domain::waiting::{WaitsFor, open_pause, waits_for};
use turnleaf::domain::{Content, FailureKind, TurnStatus, limits};
use turnleaf_providers::scripted::{Answer, Scripted};
use turnleaf_service::ServiceError;

use crate::house::{House, answer, delta, finish, text, thinking};
use crate::tool_calls::{called, calls, last_result, results, runs, status_of, statuses, told};
use crate::toolbox::{Does, Lab};

fn provider(answers: impl IntoIterator<Item = Answer>) -> Scripted {
    Scripted::new("scripted", answers)
}

/// A house with these tools, answered by this.
async fn house(
    answers: impl IntoIterator<Item = Answer>,
    lab: &Lab,
) -> (House, Arc<turnleaf_providers::scripted::Log>) {
    let provider = provider(answers);
    let log = provider.log();
    let models = vec!["model-a".to_owned()];
    let registry = turnleaf_providers::registry::Registry::of_providers(vec![(Arc::new(provider), models)]);
    (House::equipped(registry, Arc::new(lab.clone())).await, log)
}

#[tokio::test]
async fn thoughts_and_tools_alternate_until_the_text() {
    let lab = Lab::default().with("look", Does::Echo);
    let steps = || {
        [
            calls([thinking("First.")], &[("lab__look", r#"{"n":1}"#)]),
            calls([thinking("Second.")], &[("lab__look", r#"{"n":2}"#)]),
            answer([thinking("Third."), text("Done.")]),
        ]
    };
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = house.chat_with(&lab.offer()).await;
        let turn = house.complete(house.send_to(chat, "go").await.assistant_turn.id).await;
        let kinds: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
        let step = ["thinking", "tool_use", "tool_result"];
        assert_eq!(kinds, [step.as_slice(), &step, &["thinking", "text"]].concat());
        assert_eq!(results(&turn), [json!({"n": 1}), json!({"n": 2})]);
        assert_eq!(called(&turn)[0].block_metadata["tool"], json!({ "title": "The look", "server": "The lab" }));
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn calls_side_by_side_end_each_on_its_own_and_are_told_in_their_order() {
    let lab = Lab::default().with("hang", Does::Hangs).with("fail", Does::Fails).with("ok", Does::Echo);
    let three = [("lab__hang", "{}"), ("lab__fail", "{}"), ("lab__ok", r#"{"a":1}"#)];
    let (house, log) = house([calls([], &three), answer([text("Done.")])], &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    let over =
        |turn: &turnleaf::domain::Turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Failed, ToolStatus::Done];
    let turn = house.until(id, over).await;
    assert_eq!(results(&turn)[2], json!({"a": 1}), "its result is there without waiting for the others");
    house.check().await;
    tokio::time::pause();
    tokio::time::advance(limits::TOOL_TIME + limits::TOOL_STOP + Duration::from_millis(2)).await;
    tokio::time::resume();
    let turn = house.complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Failed, ToolStatus::Failed, ToolStatus::Done]);
    assert_eq!(lab.let_go(), 1, "the one that hung was let go");
    let told = told(&log, 1);
    assert!(told[2].contains("too long") && told[3].contains("it broke") && told[4].contains(r#""a":1"#), "{told:?}");
    let of_hung = turn.blocks.iter().find_map(|block| match &block.content {
        Content::ToolResult { tool_name, metadata, .. } if tool_name == "lab__hang" => Some(metadata.clone()),
        _ => None,
    });
    assert_eq!(of_hung.unwrap()["timed_out"], json!(true));
    house.check().await;
}

#[tokio::test]
async fn what_cannot_run_is_told_to_the_model_and_touches_no_tool() {
    let lab = Lab::default().with("look", Does::Echo).with("gone", Does::Gone);
    let bad = [("lab__look", r#"{"a":"#), ("lab__gone", "{}"), ("nowhere", "{}"), ("client_tool", "no")];
    let (house, log) = house([calls([], &bad), answer([text("Sorry.")])], &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let turn = house.complete(house.send_to(chat, "go").await.assistant_turn.id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Failed; 4]);
    let told = told(&log, 1);
    for (said, words) in told[2..].iter().zip(["not valid JSON", "not in the lab", "not available", "not valid JSON"]) {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(lab.runs("look"), 0);
    house.check().await;
}

#[tokio::test]
async fn no_more_run_at_once_than_there_are_places_and_no_more_in_a_step_than_the_bound() {
    let gate = Arc::new(Notify::new());
    let lab = Lab::default().with("wait", Does::Waits(gate.clone(), json!("waited")));
    let arguments: Vec<String> = (0..=limits::TOOL_CALLS_A_STEP).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let many: Vec<(&str, &str)> = arguments.iter().map(|arguments| ("lab__wait", arguments.as_str())).collect();
    let (house, _) = house([calls([], &many), answer([text("Done.")])], &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    lab.until_runs("wait", limits::TOOLS_AT_ONCE).await;
    let open = async {
        loop {
            gate.notify_one();
            tokio::task::yield_now().await;
        }
    };
    let turn = tokio::select! {
        turn = house.complete(id) => turn,
        () = open => unreachable!(),
    };
    assert_eq!(lab.most_at_once(), limits::TOOLS_AT_ONCE);
    assert_eq!(lab.runs("wait"), limits::TOOL_CALLS_A_STEP);
    assert_eq!(*statuses(&turn).last().unwrap(), ToolStatus::Failed);
    assert!(last_result(&turn).contains("at most 64 calls"));
    house.check().await;
}

#[tokio::test]
async fn progress_is_noted_while_it_runs_and_bytes_are_stored_with_their_result() {
    let gate = Arc::new(Notify::new());
    let lab = Lab::default().with("far", Does::Progress("3 of 10", gate.clone())).with("file", Does::Blob(b"a file"));
    let steps = || [calls([], &[("lab__far", "{}"), ("lab__file", "{}")]), answer([text("Done.")])];
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        house.until(id, |turn| called(turn).first().is_some_and(|call| status_of(call) == ToolStatus::Running)).await;
        tokio::time::pause();
        tokio::time::advance(limits::TOOL_PROGRESS_EVERY + Duration::from_millis(2)).await;
        tokio::time::resume();
        let turn = house
            .until(id, |turn| called(turn)[0].block_metadata["progress"] == json!({ "line": "3 of 10", "percent": 30 }))
            .await;
        assert!(runs(&turn));
        gate.notify_one();
        let turn = house.complete(id).await;
        assert_eq!(called(&turn)[0].block_metadata.get("progress"), None, "what is over has none");
        let count = "SELECT COUNT(*) FROM block_blobs r JOIN blobs b ON b.sha256 = r.sha256 \
                     JOIN turn_blocks k ON k.id = r.block_id WHERE k.block_type = 'tool_result' AND b.byte_count = 6";
        let stored: i64 = match &house.db {
            turnleaf_store::Db::Sqlite { writer, .. } => sqlx::query_scalar(count).fetch_one(writer).await.unwrap(),
            turnleaf_store::Db::Postgres { writer, .. } => sqlx::query_scalar(count).fetch_one(writer).await.unwrap(),
        };
        assert_eq!(stored, 1);
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn the_same_call_over_and_over_pauses_and_goes_on_when_told_to() {
    let lab = Lab::default().with("look", Does::Echo);
    let again = || calls([], &[("lab__look", r#"{"a":1,"b":2}"#)]);
    let turned = calls([], &[("lab__look", r#"{"b":2,"a":1}"#)]);
    let (house, log) = house([again(), turned, again(), again(), answer([text("At last.")])], &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    let turn = house.until(id, |turn| waits_for(turn).is_some()).await;
    assert_eq!(waits_for(&turn), Some(WaitsFor::Continue));
    assert_eq!(turn.status, TurnStatus::WaitingSubagents);
    assert!(turn.blocks.iter().find_map(open_pause).unwrap().contains("same call"));
    assert_eq!((lab.runs("look"), statuses(&turn)[3]), (3, ToolStatus::Pending));
    assert_eq!(house.service.supervisor().running(), 0, "nobody's turn is taken by it");
    house.check().await;
    house.service.go_on(house.owner, id).await.unwrap();
    let turn = house.complete(id).await;
    assert_eq!(lab.runs("look"), 4);
    assert!(turn.blocks.iter().any(|block| block.content.block_type() == "x:pause"));
    assert_eq!(told(&log, 4).len(), 9, "the pause is nothing that a model is told");
    let late = house.service.go_on(house.owner, id).await;
    assert!(matches!(late, Err(ServiceError::Conflict { code: "not_asked", .. })), "{late:?}");
    house.check().await;
}

#[tokio::test]
async fn a_reply_pauses_after_its_rounds_and_gets_as_many_again() {
    let lab = Lab::default().with("look", Does::Echo);
    let rounds = 2 * limits::TOOL_ROUNDS + 1;
    let steps = (0..rounds).map(|n| calls([], &[("lab__look", &format!(r#"{{"n":{n}}}"#))]));
    let (house, _) = house(steps.chain([answer([text("Done.")])]), &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    for so_far in [limits::TOOL_ROUNDS, 2 * limits::TOOL_ROUNDS] {
        lab.until_runs("look", so_far as usize).await;
        house.until(id, |turn| waits_for(turn) == Some(WaitsFor::Continue)).await;
        assert_eq!(lab.runs("look"), so_far as usize);
        house.service.go_on(house.owner, id).await.unwrap();
    }
    house.complete(id).await;
    assert_eq!(lab.runs("look"), rounds as usize);
    house.check().await;
}

#[tokio::test]
async fn one_call_is_stopped_and_the_reply_goes_on_with_the_others() {
    let lab = Lab::default().with("hang", Does::Hangs).with("ok", Does::Echo);
    let (house, log) =
        house([calls([], &[("lab__hang", "{}"), ("lab__ok", "{}")]), answer([text("Fine.")])], &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    let turn = house.until(id, |turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Done]).await;
    let [hung, over] = called(&turn)[..] else { panic!("{turn:?}") };
    let refused = house.service.stop_call(house.owner, id, over.id).await;
    assert!(matches!(refused, Err(ServiceError::Conflict { code: "not_asked", .. })), "{refused:?}");
    let stranger = turnleaf_platform::ids::mint();
    assert!(matches!(house.service.stop_call(stranger, id, hung.id).await, Err(ServiceError::NotFound)));
    house.service.stop_call(house.owner, id, hung.id).await.unwrap();
    let turn = house.complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Cancelled, ToolStatus::Done]);
    assert!(told(&log, 1)[2].contains("The user stopped this call."));
    assert_eq!(lab.let_go(), 1);
    house.check().await;
}

#[tokio::test]
async fn stop_reaches_every_call_and_the_next_request_has_their_ends() {
    let lab = Lab::default().with("hang", Does::Hangs).with("ok", Does::Echo);
    let steps = || [calls([], &[("lab__hang", "{}"), ("lab__ok", "{}")]), answer([text("Fine.")])];
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        house.until(id, |turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Done]).await;
        let let_go = lab.let_go();
        let turn = house.service.stop_turn(house.owner, id).await.unwrap();
        assert_eq!(turn.status, TurnStatus::Cancelled);
        assert_eq!(statuses(&turn), [ToolStatus::Cancelled, ToolStatus::Done]);
        assert_eq!(results(&turn), [json!("cancelled by the user"), json!({})]);
        lab.until_let_go(let_go + 1).await;
        house.complete(house.send_to(chat, "and now?").await.assistant_turn.id).await;
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_call_of_the_clients_is_handed_over_when_the_others_are_over() {
    let gate = Arc::new(Notify::new());
    let lab = Lab::default().with("wait", Does::Waits(gate.clone(), json!("waited")));
    let (house, log) =
        house([calls([], &[("client_tool", "{}"), ("lab__wait", "{}")]), answer([text("So.")])], &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    house.until(id, |turn| statuses(turn) == [ToolStatus::HandedOver, ToolStatus::Running]).await;
    gate.notify_one();
    let turn = house.complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::HandedOver, ToolStatus::Done]);
    assert_eq!(results(&turn), [Value::Null, json!("waited")], "its result is the client's to bring");
    house.check().await;
    house.complete(house.send_to(chat, "never mind").await.assistant_turn.id).await;
    assert!(told(&log, 1)[2].contains("no result"), "{:?}", told(&log, 1));
    house.check().await;
}

#[tokio::test]
async fn arguments_without_end_end_the_reply_and_keep_what_there_is() {
    let lab = Lab::default().with("look", Does::Echo);
    let call = |arguments: String| {
        let function = json!({ "name": "lab__look", "arguments": arguments });
        delta(json!({ "tool_calls": [{ "index": 0, "id": "t", "function": function }] }))
    };
    let rest = "x".repeat(limits::TOOL_ARGS_BYTES - 5);
    let long = |more: &str| {
        let more = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": more } }] });
        Answer::Stream([vec![text("I look."), call("{\"a\":".into()), delta(more)], finish("tool_calls")].concat())
    };
    let (house, _) = house([long(&rest), answer([text("Again?")]), long(&format!("{rest}x"))], &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let turn = house.complete(house.send_to(chat, "go").await.assistant_turn.id).await;
    assert!(last_result(&turn).contains("not valid JSON"), "as long as it may be");
    let turn = house.ended(house.send_to(chat, "go").await.assistant_turn.id).await;
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::LimitToolArgs));
    assert_eq!((turn.content_text().as_str(), statuses(&turn)), ("I look.", vec![ToolStatus::Cancelled]));
    assert_eq!(lab.runs("look"), 0);
    house.check().await;
}

#[tokio::test]
async fn odd_characters_of_arguments_and_results_are_stored_everywhere() {
    let odd = "a\u{0}b \u{202e}c \u{1b}[31m";
    let lab = Lab::default().with("look", Does::Echo).with("odd", Does::Gives(json!({ odd: odd })));
    let arguments = json!({ "a": odd }).to_string();
    let steps = || [calls([], &[("lab__look", &arguments), ("lab__odd", "{}")]), answer([text("Fine.")])];
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = house.chat_with(&lab.offer()).await;
        let turn = house.complete(house.send_to(chat, "go").await.assistant_turn.id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Done; 2]);
        assert_eq!(results(&turn)[1], json!({ odd: odd }));
        house.check().await;
        house.close().await;
    }
}
