//! Calls that a person is asked about: allowed, declined, allowed for longer, asked about again, stopped. What is asked
//! and what was said stand in the journal. Every test ends with the checker.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use http::{Request, StatusCode};
use serde_json::json;
use tokio::sync::Notify;
use turnleaf::domain::approval::Decision;
use turnleaf::domain::block::ToolStatus;
use turnleaf::domain::{TurnStatus, limits};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::registry::Registry;
use turnleaf_providers::scripted::{Answer, Scripted};
use turnleaf_service::ServiceError;

use crate::house::{House, answer, text};
use crate::http_api::Api;
use crate::tool_calls::{asked, asks, called, calls, results, statuses, told};
use crate::toolbox::{Does, Lab};

fn provider(answers: impl IntoIterator<Item = Answer>) -> Scripted {
    Scripted::new("scripted", answers)
}

async fn house(provider: Scripted, lab: &Lab) -> House {
    let registry = Registry::of_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
    let house = House::equipped(registry, Arc::new(lab.clone())).await;
    lab.reads(&house.db);
    house
}

fn conflict(refused: Result<turnleaf::domain::Turn, ServiceError>) -> &'static str {
    match refused {
        Err(ServiceError::Conflict { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_runs_before_a_person_allows_it_and_then_exactly_that() {
    let steps = || [calls([text("I write.")], &[("lab__write", r#"{"a":1}"#)]), answer([text("Written.")])];
    let lab = Lab::default().asking("write", Does::Echo);
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        let before = lab.runs("write");
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        let turn = house.until(id, asks).await;
        let (call, ask) = asked(&turn).remove(0);
        let asked_at = SystemClock.now();
        assert_eq!(
            (ask.title.as_str(), ask.server.as_str(), turn.status),
            ("The write", "lab", TurnStatus::WaitingSubagents)
        );
        assert_eq!((lab.runs("write"), house.service.supervisor().running()), (before, 0));
        house.check().await;
        let service = &house.service;
        let decide =
            |hash: &'static str, reason| service.decide(house.owner, id, call.id, hash, Decision::Allow, reason);
        assert_eq!(conflict(decide("another", None).await), "approval_changed");
        let long = Some("x".repeat(limits::DENY_REASON_CHARS + 1));
        assert!(matches!(decide("", long).await, Err(ServiceError::Invalid(invalid)) if invalid.field == "reason"));
        let stranger = turnleaf_platform::ids::mint();
        let foreign = service.decide(stranger, id, call.id, &ask.hash, Decision::Allow, None).await;
        assert!(matches!(foreign, Err(ServiceError::NotFound)));
        let result_is_no_call = service.stop_call(house.owner, id, turn.blocks[0].id).await;
        assert!(matches!(result_is_no_call, Err(ServiceError::NotFound)));
        assert_eq!(conflict(service.go_on(house.owner, id).await), "not_asked");
        assert!(asks(&house.service.turn(house.owner, id).await.unwrap()), "none of that was an answer");
        house.decide(id, Decision::Allow, None).await.unwrap();
        let turn = house.complete(id).await;
        assert_eq!((statuses(&turn), results(&turn)), (vec![ToolStatus::Done], vec![json!({"a": 1})]));
        assert_eq!(called(&turn)[0].block_metadata["decision"]["decision"], "allow");
        let since = called(&turn)[0].block_metadata["runs_since"].as_str().unwrap().parse::<DateTime<Utc>>().unwrap();
        assert!(since > asked_at, "it runs since it was allowed, not since it was written");
        assert_eq!(lab.runs("write"), before + 1);
        let late = service.decide(house.owner, id, call.id, &ask.hash, Decision::Deny, None).await;
        assert_eq!(conflict(late), "not_asked");
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_refusal_goes_to_the_model_with_its_reason_while_others_run() {
    let gate = Arc::new(Notify::new());
    let lab = Lab::default().asking("write", Does::Echo).with("wait", Does::Waits(gate.clone(), json!("waited")));
    let provider = provider([calls([], &[("lab__write", "{}"), ("lab__wait", "{}")]), answer([text("All right.")])]);
    let log = provider.log();
    let house = house(provider, &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    house.until(id, |turn| statuses(turn) == [ToolStatus::AwaitingApproval, ToolStatus::Running]).await;
    assert_eq!(house.service.supervisor().running(), 1, "it does not wait alone");
    house.decide(id, Decision::Deny, Some("use the\0other file")).await.unwrap();
    gate.notify_one();
    let turn = house.complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Denied, ToolStatus::Done]);
    let told = told(&log, 1);
    assert_eq!(told[2], "The user declined this call. Their reason: use the\u{2400}other file", "{told:?}");
    assert_eq!(lab.runs("write"), 0);
    house.check().await;
}

#[tokio::test]
async fn what_is_allowed_in_a_chat_is_not_asked_there_again() {
    let two = [("lab__write", r#"{"a":1}"#), ("lab__write", r#"{"a":2}"#)];
    let steps = || {
        let third = || calls([], &[("lab__write", r#"{"a":3}"#)]);
        [calls([], &two), third(), answer([text("Done.")]), third(), answer([text("Done.")])]
    };
    let lab = Lab::default().asking("write", Does::Echo);
    for house in House::everywhere_with(|| provider(steps()), || Arc::new(lab.clone())).await {
        lab.reads(&house.db);
        let before = lab.runs("write");
        let chat = house.chat_with(&lab.offer()).await;
        let id = house.send_to(chat, "go").await.assistant_turn.id;
        house.until(id, |turn| asked(turn).len() == 2).await;
        house.decide(id, Decision::AllowInChat, None).await.unwrap();
        let turn = house.complete(id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Done; 3]);
        assert_eq!(lab.runs("write"), before + 3);
        // Of another tool than it was nothing was said.
        lab.change("write");
        let id = house.send_to(chat, "again").await.assistant_turn.id;
        house.decide(id, Decision::Always, None).await.unwrap();
        house.complete(id).await;
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn what_is_always_allowed_is_asked_in_no_chat() {
    let step = || [calls([], &[("lab__write", r#"{"a":1}"#)]), answer([text("Done.")])];
    let lab = Lab::default().asking("write", Does::Echo);
    let house = house(provider(step().into_iter().chain(step())), &lab).await;
    let (one, other) = (house.chat_with(&lab.offer()).await, house.chat_with(&lab.offer()).await);
    let id = house.send_to(one, "go").await.assistant_turn.id;
    house.decide(id, Decision::Always, None).await.unwrap();
    house.complete(id).await;
    let turn = house.complete(house.send_to(other, "go").await.assistant_turn.id).await;
    assert_eq!(called(&turn)[0].block_metadata.get("approval"), None, "it was not asked");
    house.check().await;
}

#[tokio::test]
async fn a_tool_that_changed_since_it_was_asked_about_is_asked_about_again() {
    let lab = Lab::default().asking("write", Does::Echo);
    let house = house(provider([calls([], &[("lab__write", "{}")]), answer([text("Done.")])]), &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    let first = asked(&house.until(id, asks).await).remove(0).1;
    lab.change("write");
    house.decide(id, Decision::Allow, None).await.unwrap();
    let turn = house.until(id, |turn| asked(turn).iter().any(|(_, ask)| ask.hash != first.hash)).await;
    let (call, second) = asked(&turn).remove(0);
    assert_eq!(second.note.as_deref(), Some("The tool has changed."));
    assert_eq!((call.block_metadata.get("decision"), lab.runs("write")), (None, 0));
    house.check().await;
    house.decide(id, Decision::Allow, None).await.unwrap();
    house.complete(id).await;
    assert_eq!(lab.runs("write"), 1);
    house.check().await;
}

#[tokio::test]
async fn a_reply_that_asks_can_be_stopped_or_one_of_its_calls() {
    let lab = Lab::default().asking("write", Does::Echo);
    let step = || calls([], &[("lab__write", r#"{"a":1}"#)]);
    let house = house(provider([step(), step(), answer([text("Fine.")])]), &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    house.until(id, asks).await;
    let turn = house.service.stop_turn(house.owner, id).await.unwrap();
    assert_eq!((turn.status, statuses(&turn)), (TurnStatus::Cancelled, vec![ToolStatus::Cancelled]));
    assert_eq!(results(&turn), [json!("cancelled by the user")]);
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    let call = asked(&house.until(id, asks).await).remove(0).0;
    house.service.stop_call(house.owner, id, call.id).await.unwrap();
    assert_eq!(statuses(&house.complete(id).await), [ToolStatus::Cancelled]);
    assert_eq!(lab.runs("write"), 0);
    house.check().await;
}

#[tokio::test]
async fn a_person_may_take_longer_than_a_reply_may_work() {
    let lab = Lab::default().asking("write", Does::Echo);
    let house = house(provider([calls([], &[("lab__write", "{}")]), answer([text("Done.")])]), &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let id = house.send_to(chat, "go").await.assistant_turn.id;
    house.until(id, asks).await;
    while house.service.supervisor().running() > 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(limits::TURN_TIME * 3).await;
    tokio::time::resume();
    house.decide(id, Decision::Allow, None).await.unwrap();
    house.complete(id).await;
    house.check().await;
}

#[tokio::test]
async fn scripts_and_forms_say_it_over_http() {
    let lab = Lab::default().asking("write", Does::Echo);
    let step = || calls([], &[("lab__write", r#"{"a":1}"#)]);
    let house = house(provider([step(), answer([text("Done.")]), step(), step(), answer([text("Done.")])]), &lab).await;
    let chat = house.chat_with(&lab.offer()).await;
    let api = Api::over(house);
    let id = api.house.send_to(chat, "go").await.assistant_turn.id;
    let (call, ask) = asked(&api.house.until(id, asks).await).remove(0);
    let path = format!("/api/turns/{id}/calls/{}", call.id);
    let wrong = json!({ "decision": "allow", "hash": "x" });
    let (status, problem) = api.call("POST", &path, Some(wrong)).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("approval_changed")));
    let unknown = api.call("POST", &path, Some(json!({ "decision": "perhaps", "hash": ask.hash }))).await;
    assert_eq!(unknown.0, StatusCode::BAD_REQUEST);
    let nowhere = format!("/api/turns/{id}/calls/{id}");
    assert_eq!(api.call("POST", &format!("{nowhere}/stop"), None).await.0, StatusCode::NOT_FOUND);
    let said = json!({ "decision": "allow", "hash": ask.hash });
    let (status, answer) = api.call("POST", &path, Some(said.clone())).await;
    assert_eq!((status, &answer["turn_id"]), (StatusCode::OK, &json!(id)));
    api.house.complete(id).await;
    assert_eq!(api.call("POST", &path, Some(said)).await.1["code"], "not_asked");
    let (status, problem) = api.call("POST", &format!("/api/turns/{id}/continue"), None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("not_asked")));

    let form = async |path: &str, body: String| {
        let request = Request::builder().method("POST").uri(path).header("host", "127.0.0.1:3000");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        api.send(request.body(body.into()).unwrap()).await
    };
    let id = api.house.send_to(chat, "again").await.assistant_turn.id;
    let (call, ask) = asked(&api.house.until(id, asks).await).remove(0);
    let fields = format!("turn={id}&block={}&hash={}&decision=deny&reason=no+more", call.id, ask.hash);
    let answer = form("/forms/call", fields).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()["location"], format!("/c/{chat}?at={id}#latest"));
    let (call, _) = asked(&api.house.until(id, asks).await).remove(0);
    let answer = form("/forms/call-stop", format!("turn={id}&block={}&stay=1", call.id)).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let turn = api.house.complete(id).await;
    assert_eq!(statuses(&turn), [ToolStatus::Denied, ToolStatus::Cancelled]);
    assert_eq!(form("/forms/continue", format!("turn={id}")).await.status(), StatusCode::CONFLICT);
    assert_eq!(form("/forms/continue", "turn=nobody".into()).await.status(), StatusCode::NOT_FOUND);
    api.house.check().await;
}
