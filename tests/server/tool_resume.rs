//! Where a reply that waited is taken up again although not everything is as it was left: its bytes are gone, its request
//! had been repaired, one of its calls still ran or had just been allowed. Every test ends with the checker.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::approval::Decision;
use turnleaf::domain::block::ToolStatus;
use turnleaf::domain::{FailureKind, Turn, TurnStatus};
use turnleaf_providers::scripted::{Answer, Scripted};
use turnleaf_run::live::Interrupt;
use turnleaf_store::generations;

use crate::house::{House, answer, text};
use crate::repair::{SIGNATURE, anthropic, messages, notices, refused, said, thought, whole};
use crate::tool_calls::{asked, asks, calls, results, statuses};
use crate::toolbox::{Does, Lab};

fn provider(answers: impl IntoIterator<Item = Answer>) -> Scripted {
    Scripted::new("scripted", answers)
}

fn use_of(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {"n": 1}})
}

/// Without the bytes of a step it cannot go back as it came.
#[tokio::test]
async fn a_step_whose_bytes_are_gone_is_told_in_words() {
    let lab = Lab::default().with("look", Does::Echo).asking("write", Does::Echo);
    let steps = || {
        [
            calls([text("I look.")], &[("lab__look", r#"{"n":1}"#)]),
            calls([text("I write.")], &[("lab__write", r#"{"a":1}"#)]),
        ]
    };
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        house.until(id, asks).await;
        house.sql("UPDATE generations SET raw_response = NULL, raw_sha256 = NULL, raw_bytes = NULL").await;
        let next = provider([answer([text("Done.")]), answer([text("Gladly.")])]);
        let log = next.log();
        let house = house.killed(next, Arc::new(lab.clone())).await;
        house.decide(id, Decision::Allow, None).await.unwrap();
        let turn = house.complete(id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Done, ToolStatus::Done]);
        house.complete(house.send_to(chat, "thanks").await.assistant_turn.id).await;
        for (at, request) in log.requests().iter().enumerate() {
            let body = String::from_utf8(request.to_vec()).unwrap();
            assert!(!body.contains("tool_calls") && !body.contains("tool_call_id"), "request {at}: {body}");
            assert!(body.contains("I look.") && body.contains("I write."), "request {at}: {body}");
        }
        let first = String::from_utf8(log.requests()[0].to_vec()).unwrap();
        assert!(first.contains("lab__look gave") && first.contains("lab__write gave"), "{first}");
        house.close().await;
    }
}

#[tokio::test]
async fn a_reply_whose_request_was_repaired_goes_on_in_that_form() {
    let lab = Lab::default().asking("write", Does::Echo);
    let house = House::everywhere_with(
        || {
            anthropic([
                whole(&[thought("one"), said("A1")], "end_turn"),
                refused(SIGNATURE),
                whole(&[thought("two"), use_of("a", "lab__write")], "tool_use"),
            ])
        },
        || Arc::new(lab.clone()),
    );
    for house in house.await {
        let before = lab.runs("write");
        let chat = house.chat_with(&lab.offer()).await;
        house.complete(house.send_to(chat, "U1").await.assistant_turn.id).await;
        let id = house.send_to(chat, "U2").await.assistant_turn.id;
        house.until(id, asks).await;
        let next = anthropic([whole(&[said("A2")], "end_turn"), whole(&[said("A3")], "end_turn")]);
        let log = next.log();
        let house = house.killed(next, Arc::new(lab.clone())).await;
        house.decide(id, Decision::Allow, None).await.unwrap();
        let turn = house.complete(id).await;
        assert_eq!(notices(&turn).iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), ["reasoning_refused"]);
        let asked = messages(&log, 0);
        assert_eq!(asked[1]["content"], json!([said("A1")]), "left out as before");
        assert_eq!(asked[3]["content"], json!([thought("two"), use_of("a", "lab__write")]), "its own step as it came");
        assert_eq!(asked[4]["content"][0]["tool_use_id"], "a");
        let made = generations::list(&house.db, house.owner, id).await.unwrap();
        assert_eq!(made.iter().map(|made| made.step).collect::<Vec<_>>(), [0, 1, 2]);
        // What was learnt before the kill is still known in the next turn.
        house.complete(house.send_to(chat, "U3").await.assistant_turn.id).await;
        assert_eq!(messages(&log, 1)[..5], asked[..]);
        assert_eq!((log.requests().len(), lab.runs("write")), (2, before + 1));
        house.check().await;
        house.close().await;
    }
}

/// Its earlier steps were told in words when the process died: they stay told, in the same words, and what came behind
/// them goes back as it came.
#[tokio::test]
async fn steps_that_were_told_in_words_stay_told() {
    let lab = Lab::default().with("look", Does::Echo).asking("write", Does::Echo);
    let provider = anthropic([
        whole(&[thought("one"), said("I look."), use_of("a", "lab__look")], "tool_use"),
        refused(SIGNATURE),
        whole(&[thought("two"), use_of("b", "lab__write")], "tool_use"),
    ]);
    let earlier = provider.log();
    let house = House::everywhere_with(|| provider.clone(), || Arc::new(lab.clone())).await.remove(0);
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "U1").await.assistant_turn.id;
    house.until(id, asks).await;
    let next = anthropic([whole(&[said("Done.")], "end_turn")]);
    let log = next.log();
    let house = house.killed(next, Arc::new(lab.clone())).await;
    house.decide(id, Decision::Allow, None).await.unwrap();
    let turn = house.complete(id).await;
    assert_eq!(notices(&turn).len(), 1);
    let asked = messages(&log, 0);
    assert_eq!(asked[0], messages(&earlier, 2)[0], "the words stay what they were");
    assert_eq!(asked[1]["content"], json!([thought("two"), use_of("b", "lab__write")]));
    assert_eq!((asked.len(), &asked[2]["content"][0]["tool_use_id"]), (3, &json!("b")));
    house.check().await;
}

#[tokio::test]
async fn a_shutdown_waits_for_what_runs_and_leaves_what_asks() {
    let gate = Arc::new(Notify::new());
    let lab = Lab::default().asking("write", Does::Echo).with("wait", Does::Waits(gate.clone(), json!("waited")));
    let steps = || [calls([text("Both.")], &[("lab__write", "{}"), ("lab__wait", "{}")])];
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let (wrote, waited) = (lab.runs("write"), lab.runs("wait"));
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        house.until(id, |turn| statuses(turn) == [ToolStatus::AwaitingApproval, ToolStatus::Running]).await;
        let supervisor = house.service.supervisor().clone();
        let drain = tokio::spawn(async move { supervisor.drain(turnleaf::domain::limits::DRAIN).await });
        lab.until_runs("wait", waited + 1).await;
        gate.notify_one();
        drain.await.unwrap();
        let house = house.killed(provider([answer([text("Done.")])]), Arc::new(lab.clone())).await;
        let turn = house.until(id, asks).await;
        assert_eq!(statuses(&turn), [ToolStatus::AwaitingApproval, ToolStatus::Done]);
        assert_eq!(results(&turn)[1], json!("waited"), "it was let finish");
        house.decide(id, Decision::Allow, None).await.unwrap();
        house.complete(id).await;
        assert_eq!((lab.runs("write"), lab.runs("wait")), (wrote + 1, waited + 1));
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn what_still_runs_at_the_end_of_a_shutdown_is_interrupted_beside_what_asks() {
    let lab = Lab::default().asking("write", Does::Echo).with("hang", Does::Hangs);
    let steps = || [calls([text("Both.")], &[("lab__write", "{}"), ("lab__hang", "{}")])];
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let (hung, let_go) = (lab.runs("hang"), lab.let_go());
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        house.until(id, |turn| statuses(turn) == [ToolStatus::AwaitingApproval, ToolStatus::Running]).await;
        lab.until_runs("hang", hung + 1).await;
        let live = house.service.supervisor().live(id).unwrap();
        live.interrupt(Interrupt::Shutdown);
        live.ended().await;
        lab.until_let_go(let_go + 1).await;
        let left = house.service.turn(house.owner, id).await.unwrap();
        assert_eq!(statuses(&left), [ToolStatus::AwaitingApproval, ToolStatus::Interrupted]);
        let house = house.killed(provider([answer([text("Done.")])]), Arc::new(lab.clone())).await;
        assert_eq!(house.service.turn(house.owner, id).await.unwrap(), left, "there was nothing more to interrupt");
        house.decide(id, Decision::Allow, None).await.unwrap();
        house.complete(id).await;
        assert_eq!(lab.runs("hang"), hung + 1);
        house.check().await;
        house.close().await;
    }
}

fn two_calls() -> Answer {
    calls([text("Both.")], &[("lab__write", r#"{"a":1}"#), ("lab__send", r#"{"b":1}"#)])
}

/// The process dies between the yes and the begin of the call.
#[tokio::test]
async fn what_was_allowed_and_did_not_begin_runs_once_or_is_said_not_to_have_run() {
    let lab = Lab::default().asking("write", Does::Echo).asking("send", Does::Echo);
    for is_other_asking in [true, false] {
        let houses = House::everywhere_with(|| provider([two_calls()]), || Arc::new(lab.clone())).await;
        for house in houses {
            let (wrote, sent) = (lab.runs("write"), lab.runs("send"));
            let chat = house.chat_with(&lab.offer()).await;
            let id = house.send_to(chat, "go").await.assistant_turn.id;
            house.until(id, |turn| asked(turn).len() == 2).await;
            lab.hold_what_is_allowed(true);
            if !is_other_asking {
                house.decide(id, Decision::Deny, None).await.unwrap();
            }
            house.decide(id, Decision::Allow, None).await.unwrap();
            lab.hold_what_is_allowed(false);
            let house = house.killed(provider([answer([text("Done.")])]), Arc::new(lab.clone())).await;
            if is_other_asking {
                // The other is still asked; what was allowed needs no second yes.
                let turn = house.until(id, |turn| statuses(turn)[0] == ToolStatus::Done).await;
                assert_eq!(statuses(&turn), [ToolStatus::Done, ToolStatus::AwaitingApproval]);
                house.decide(id, Decision::Allow, None).await.unwrap();
                house.complete(id).await;
                assert_eq!((lab.runs("write"), lab.runs("send")), (wrote + 1, sent + 1));
            } else {
                let turn: Turn = house.service.turn(house.owner, id).await.unwrap();
                assert_eq!(turn.status, TurnStatus::Error);
                assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ServerRestarted));
                assert_eq!(statuses(&turn), [ToolStatus::Denied, ToolStatus::Cancelled]);
                let told = results(&turn)[1].as_str().unwrap().to_owned();
                assert!(told.contains("was not run"), "{told}");
                assert_eq!((lab.runs("write"), lab.runs("send")), (wrote, sent));
                house.complete(house.send_to(chat, "and?").await.assistant_turn.id).await;
            }
            house.check().await;
            house.close().await;
        }
    }
}
