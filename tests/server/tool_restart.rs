//! The server goes away in the middle of tools and comes back: what waits for a person still waits, what ran is
//! interrupted and never run again, everything else ends honestly. Every test ends with the checker.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::json;
use turnleaf::domain::approval::Decision;
use turnleaf::domain::block::ToolStatus;
use turnleaf::domain::waiting::{WaitsFor, waits_for};
use turnleaf::domain::{FailureKind, TurnId, TurnStatus};
use turnleaf_providers::registry::Registry;
use turnleaf_providers::scripted::{Answer, Scripted};
use turnleaf_run::{Cursor, Followed};
use turnleaf_store::{fsck, generations};

use crate::house::{House, answer, finish, text, thinking};
use crate::tool_calls::{asked, asks, called, calls, last_result, results, statuses, told};
use crate::toolbox::{Does, Lab};

fn provider(answers: impl IntoIterator<Item = Answer>) -> Scripted {
    Scripted::new("scripted", answers)
}

/// A server whose only reply waits to be allowed to write.
async fn asking() -> (Lab, House, TurnId) {
    let lab = Lab::default().asking("write", Does::Echo);
    let house = House::equipped(one(provider([calls([], &[("lab__write", "{}")])])), Arc::new(lab.clone())).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    house.until(id, asks).await;
    (lab, house, id)
}

fn one(provider: Scripted) -> Registry {
    Registry::of_providers(vec![(Arc::new(provider), vec!["model-a".into()])])
}

/// Nobody is served: a turn that is not over has to wait for somebody.
async fn check_at_rest(house: &House) {
    let findings = fsck::check(&house.db, fsck::While::Stopped).await.unwrap();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[tokio::test]
async fn what_is_asked_is_asked_after_a_restart_and_then_goes_on() {
    let lab = Lab::default().with("look", Does::Echo).asking("write", Does::Echo).with("hang", Does::Hangs);
    let first = || {
        [
            calls([thinking("I look.")], &[("lab__look", r#"{"n":1}"#)]),
            calls([text("I write.")], &[("lab__write", r#"{"a":1}"#), ("lab__hang", "{}"), ("lab__look", "{}")]),
        ]
    };
    for house in House::everywhere_with(|| provider(first()), || Arc::new(lab.clone())).await {
        let (looked, wrote, hung) = (lab.runs("look"), lab.runs("write"), lab.runs("hang"));
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        let standing = [ToolStatus::Done, ToolStatus::AwaitingApproval, ToolStatus::Running, ToolStatus::Done];
        let before = house.until(id, |turn| statuses(turn) == standing).await;
        let next = provider([answer([thinking("Good."), text("Written.")])]);
        let log = next.log();
        let house = house.killed(next, Arc::new(lab.clone())).await;
        let turn = house.until(id, asks).await;
        let standing = [ToolStatus::Done, ToolStatus::AwaitingApproval, ToolStatus::Interrupted, ToolStatus::Done];
        assert_eq!(statuses(&turn), standing);
        assert!(results(&turn)[2].as_str().unwrap().contains("the server restarted"));
        assert_eq!(asked(&turn)[0].1, asked(&before)[0].1, "the same question");
        check_at_rest(&house).await;
        assert_eq!(log.requests().len(), 0, "nothing was sent meanwhile");
        // Whoever followed goes on where they were, and sees the end.
        let follow = house.service.supervisor().follow(house.owner, id, Cursor::After(before.last_event_seq));
        let follow = follow.await.unwrap().unwrap();
        let follow = tokio::spawn(follow.map(Result::unwrap).collect::<Vec<Followed>>());
        house.decide(id, Decision::Allow, None).await.unwrap();
        let turn = house.complete(id).await;
        let seen = follow.await.unwrap();
        assert!(seen.iter().all(|seen| matches!(seen, Followed::Line(_))), "{seen:?}");
        assert_eq!(before.last_event_seq + seen.len() as u64, turn.last_event_seq);
        assert_eq!(statuses(&turn)[1], ToolStatus::Done);
        assert_eq!((lab.runs("look"), lab.runs("write"), lab.runs("hang")), (looked + 2, wrote + 1, hung + 1));
        let told = told(&log, 0);
        assert_eq!(told[..3], ["user", "assistant", r#"{"n":1}"#], "with its own steps as they came: {told:?}");
        assert_eq!((told.len(), told[4].as_str()), (7, r#"{"a":1}"#));
        let made = generations::list(&house.db, house.owner, id).await.unwrap();
        assert_eq!(made.iter().map(|made| made.step).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(turn.usage.output_tokens, Some(15), "the sum of all steps");
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_pause_survives_a_restart_and_can_be_stopped_there() {
    let lab = Lab::default().with("look", Does::Echo);
    let again = || calls([], &[("lab__look", "{}")]);
    for stops in [false, true] {
        let house = House::everywhere_with(|| provider([again(), again(), again(), again()]), || Arc::new(lab.clone()));
        for house in house.await {
            let before = lab.runs("look");
            let chat = house.chat_with(&lab.offer()).await;
            let id = house.send_to(chat, "go").await.assistant_turn.id;
            house.until(id, |turn| waits_for(turn) == Some(WaitsFor::Continue)).await;
            let house = house.killed(provider([answer([text("Done.")])]), Arc::new(lab.clone())).await;
            check_at_rest(&house).await;
            assert_eq!(lab.runs("look"), before + 3);
            if stops {
                let turn = house.service.stop_turn(house.owner, id).await.unwrap();
                assert_eq!(
                    (turn.status, *statuses(&turn).last().unwrap()),
                    (TurnStatus::Cancelled, ToolStatus::Cancelled)
                );
            } else {
                house.service.go_on(house.owner, id).await.unwrap();
                house.complete(id).await;
                assert_eq!(lab.runs("look"), before + 4);
            }
            house.check().await;
            house.close().await;
        }
    }
}

#[tokio::test]
async fn what_ran_is_interrupted_and_what_never_began_is_not() {
    let lab = Lab::default().with("hang", Does::Hangs);
    let many: Vec<(&str, &str)> = vec![("lab__hang", r#"{"n":1}"#), ("lab__hang", r#"{"n":2}"#)];
    let nine: Vec<String> = (0..9).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let nine: Vec<(&str, &str)> = nine.iter().map(|arguments| ("lab__hang", arguments.as_str())).collect();
    for calls_made in [many, nine] {
        let steps = || [calls([text("I look.")], &calls_made)];
        for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
            let began = calls_made.len().min(8);
            let chat = house.chat_with(&lab.offer()).await;
            let id = house.send_to(chat, "go").await.assistant_turn.id;
            let running = |turn: &turnleaf::domain::Turn| {
                statuses(turn).iter().filter(|status| **status == ToolStatus::Running).count() == began
            };
            house.until(id, running).await;
            let before = lab.runs("hang");
            let house = house.killed(provider([]), Arc::new(lab.clone())).await;
            let turn = house.service.turn(house.owner, id).await.unwrap();
            assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ServerRestarted));
            assert_eq!(statuses(&turn)[..began], vec![ToolStatus::Interrupted; began]);
            assert!(results(&turn)[0].as_str().unwrap().contains("may or may not have run"));
            if calls_made.len() > began {
                assert_eq!(*statuses(&turn).last().unwrap(), ToolStatus::Cancelled);
                assert!(last_result(&turn).contains("was not run"));
            }
            assert_eq!((lab.runs("hang"), turn.content_text().as_str()), (before, "I look."));
            check_at_rest(&house).await;
            house.close().await;
        }
    }
}

#[tokio::test]
async fn results_that_came_before_the_next_answer_are_kept() {
    let lab = Lab::default().with("look", Does::Echo);
    let first = provider([calls([], &[("lab__look", r#"{"n":1}"#)]), Answer::Silence]);
    // It is the same one on every database: the steps are said for each.
    let logs = first.log();
    let of = || {
        first.then(calls([], &[("lab__look", r#"{"n":1}"#)]));
        first.then(Answer::Silence);
        first.clone()
    };
    for (count, house) in (1..).zip(House::everywhere_with(of, || Arc::new(lab.clone())).await) {
        let before = lab.runs("look");
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        logs.until_requests(2 * count).await;
        house.until(id, |turn| statuses(turn) == [ToolStatus::Done]).await;
        let next = provider([answer([text("I know.")])]);
        let log = next.log();
        let house = house.killed(next, Arc::new(lab.clone())).await;
        let turn = house.service.turn(house.owner, id).await.unwrap();
        assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ServerRestarted));
        assert_eq!((statuses(&turn), results(&turn)), (vec![ToolStatus::Done], vec![json!({"n": 1})]));
        house.complete(house.send_to(chat, "and?").await.assistant_turn.id).await;
        assert_eq!(told(&log, 0)[2], r#"{"n":1}"#);
        assert_eq!(lab.runs("look"), before + 1);
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_shutdown_leaves_what_waits_at_once_and_as_it_is() {
    let lab = Lab::default().asking("write", Does::Echo);
    let steps = || [calls([], &[("lab__write", "{}")])];
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let before = lab.runs("write");
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        let asking = house.until(id, asks).await;
        // Within less than the time that runs get to finish by themselves.
        tokio::time::timeout(
            std::time::Duration::from_secs(10),
            house.service.supervisor().drain(turnleaf::domain::limits::DRAIN),
        )
        .await
        .unwrap();
        let house = house.killed(provider([answer([text("Done.")])]), Arc::new(lab.clone())).await;
        assert_eq!(house.service.turn(house.owner, id).await.unwrap(), asking);
        house.decide(id, Decision::Allow, None).await.unwrap();
        house.complete(id).await;
        assert_eq!(lab.runs("write"), before + 1);
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_reply_whose_provider_is_gone_waits_and_says_so_when_it_must_go_on() {
    let (lab, house, id) = asking().await;
    let house = house.killed(Scripted::new("another", []), Arc::new(lab.clone())).await;
    assert_eq!(statuses(&house.until(id, asks).await), [ToolStatus::AwaitingApproval]);
    house.decide(id, Decision::Allow, None).await.unwrap();
    let turn = house.ended(id).await;
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ProviderUnreachable));
    assert!(turn.error.unwrap().detail.unwrap().contains("not configured"));
    assert_eq!((lab.runs("write"), turn.status), (1, TurnStatus::Error));
    house.check().await;
}

#[tokio::test]
async fn a_decision_right_after_the_start_needs_nobody_to_have_taken_the_reply_up() {
    let (lab, house, id) = asking().await;
    let (call, ask) = asked(&house.until(id, asks).await).remove(0);
    let House { dir, .. } = house;
    let ending = Answer::Stream([vec![text("Done.")], finish("stop")].concat());
    let house = House::restarted(dir, one(provider([ending])), Arc::new(lab.clone())).await;
    assert_eq!(house.service.supervisor().sweep().await.unwrap(), 0);
    house.service.decide(house.owner, id, call.id, &ask.hash, Decision::Allow, None).await.unwrap();
    let turn = house.complete(id).await;
    assert_eq!((lab.runs("write"), called(&turn).len()), (1, 1));
    house.check().await;
}
