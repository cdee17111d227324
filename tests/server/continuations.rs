//! Replies that ended early and are continued: within their text where the model can, else with a message.

use serde_json::Value;
use turnleaf::domain::providers::provider::ReasoningSupport;
use turnleaf::domain::turns::context::{ReplayMode, ReplayReason, RequestManifest};
use turnleaf::domain::{Capabilities, Failure, FailureKind, Thinking, Turn, TurnId, TurnStatus};
use turnleaf_providers::provider::ProviderError;
use turnleaf_providers::scripted::{RequestLog, ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};

use crate::test_server::{TestServer, finish_steps, message_to_send, streamed_answer, text_step, thinking_step};

const HALF: &str = "The first half of a sentence";

/// Returns a provider whose models continue a text while they do not think.
fn provider(answers: Vec<ScriptedAnswer>) -> ScriptedProvider {
    let thinking = Capabilities::default().with_thinking(ReasoningSupport::Optional, &Thinking::LEVELS);
    ScriptedProvider::new("scripted", answers).with_capabilities(Capabilities { continues_text: true, ..thinking })
}

/// Returns an answer that reaches its maximum length.
fn cut_answer(steps: impl IntoIterator<Item = ScriptedStep>) -> ScriptedAnswer {
    ScriptedAnswer::Stream(steps.into_iter().chain(finish_steps("length")).collect())
}

async fn send(instance: &TestServer) -> AcceptedExchange {
    let sent = instance.send("Tell me").await;
    instance.wait_until_ended(sent.assistant_turn.id).await;
    sent
}

async fn continue_reply(instance: &TestServer, id: TurnId) -> AcceptedExchange {
    let started =
        instance.service.continue_turn(instance.owner, id, "Continue".into(), Some("c".into())).await.unwrap();
    instance.wait_until_ended(started.assistant_turn.id).await;
    started
}

async fn stored(instance: &TestServer, id: TurnId) -> Turn {
    instance.service.turn(instance.owner, id).await.unwrap()
}

/// Returns the messages of a request as author and text.
fn messages(log: &RequestLog, at: usize) -> Vec<(String, String)> {
    let request: Value = serde_json::from_slice(&log.requests()[at]).unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    request["messages"].as_array().unwrap().iter().map(|one| (word(&one["role"]), word(&one["content"]))).collect()
}

fn as_sent(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn text_is_continued_in_version_that_begins_with_it() {
    let answers = || {
        provider(vec![
            cut_answer([text_step(HALF), text_step(" \n")]),
            streamed_answer([text_step(" and"), text_step(" the second.")]),
            streamed_answer([text_step("Good.")]),
        ])
    };
    for instance in TestServer::on_every_database(answers).await {
        let first = send(&instance).await;
        let second = continue_reply(&instance, first.assistant_turn.id).await;
        assert_eq!(second.user_turn.id, first.user_turn.id, "a version, and no message");
        assert_eq!(second.assistant_turn.content_text(), HALF, "there from its first moment");
        assert_eq!(second.branch.name, "continue 2 · Tell me");
        let reply = stored(&instance, second.assistant_turn.id).await;
        assert_eq!((reply.status, reply.blocks.len()), (TurnStatus::Complete, 1));
        assert_eq!(reply.content_text(), format!("{HALF} and the second."));
        assert_eq!(stored(&instance, first.assistant_turn.id).await.content_text().trim_end(), HALF);

        let generation = &instance.service.generations(instance.owner, reply.id).await.unwrap()[0];
        let manifest: RequestManifest = serde_json::from_value(generation.request_manifest.clone()).unwrap();
        let modes: Vec<_> = manifest.turns.iter().map(|entry| (entry.mode, entry.reason)).collect();
        let canonical = |reason| (ReplayMode::Canonical, reason);
        assert_eq!(modes, [canonical(ReplayReason::FromBlocks), canonical(ReplayReason::OwnSteps)]);

        // The button that is pressed twice continues once.
        let again = continue_reply(&instance, first.assistant_turn.id).await;
        assert_eq!(again.assistant_turn.id, reply.id);

        // The next request has the whole text, although the provider's bytes have only the rest.
        let place = PlacementRequest { prev_turn_id: Some(reply.id), ..PlacementRequest::default() };
        let next = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("Thanks") };
        let third = instance.service.start_turn(instance.owner, next).await.unwrap();
        instance.wait_until_ended(third.assistant_turn.id).await;
        let generation = &instance.service.generations(instance.owner, third.assistant_turn.id).await.unwrap()[0];
        let manifest: RequestManifest = serde_json::from_value(generation.request_manifest.clone()).unwrap();
        assert_eq!(manifest.turns[1].reason, ReplayReason::RawMissing);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn request_ends_with_text_and_repetition_is_left_out() {
    let provider = provider(vec![
        cut_answer([text_step(HALF)]),
        cut_answer([text_step("The first"), text_step(" half of a sentence and"), text_step(" a third")]),
        streamed_answer([text_step(".")]),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = send(&instance).await;
    let second = continue_reply(&instance, first.assistant_turn.id).await;
    assert_eq!(messages(&log, 1), as_sent(&[("user", "Tell me"), ("assistant", HALF)]));
    let reply = stored(&instance, second.assistant_turn.id).await;
    assert_eq!(reply.content_text(), format!("{HALF} and a third"));
    // A continued reply can be continued again: it is a version like any other.
    let third = instance.service.continue_turn(instance.owner, reply.id, "Continue".into(), None).await.unwrap();
    instance.wait_until_ended(third.assistant_turn.id).await;
    assert_eq!(messages(&log, 2).last(), as_sent(&[("assistant", &format!("{HALF} and a third"))]).last());
    assert_eq!(stored(&instance, third.assistant_turn.id).await.content_text(), format!("{HALF} and a third."));
    assert_eq!(third.user_turn.id, first.user_turn.id);
    instance.check_invariants().await;
}

#[tokio::test]
async fn stopped_continuation_keeps_whole_text() {
    let hanging = ScriptedAnswer::Stream(vec![text_step(" and"), ScriptedStep::Hang]);
    let instance = TestServer::new_patient(provider(vec![cut_answer([text_step(HALF)]), hanging])).await;
    let first = send(&instance).await;
    let id = first.assistant_turn.id;
    let second = instance.service.continue_turn(instance.owner, id, "Continue".into(), None).await.unwrap();
    let has_more = |turn: &Turn| turn.content_text().ends_with(" and");
    instance.wait_until(second.assistant_turn.id, has_more).await;
    let stopped = instance.service.stop_turn(instance.owner, second.assistant_turn.id).await.unwrap();
    assert_eq!((stopped.status, stopped.content_text()), (TurnStatus::Cancelled, format!("{HALF} and")));
    instance.check_invariants().await;
}

#[tokio::test]
async fn message_asks_for_rest_where_text_cannot_be_continued() {
    let answers = vec![
        cut_answer([thinking_step("hm"), text_step(HALF)]),
        streamed_answer([text_step("the rest.")]),
        cut_answer([text_step("Short")]),
        streamed_answer([text_step("er.")]),
    ];
    let provider = provider(answers);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    for (at, half) in [(0, HALF), (2, "Short")] {
        let first = send(&instance).await;
        let id = first.assistant_turn.id;
        let rest = instance.service.continue_turn(instance.owner, id, "Continue".into(), None).await.unwrap();
        instance.wait_until_ended(rest.assistant_turn.id).await;
        assert_eq!(rest.user_turn.prev_turn_id, Some(id));
        assert_eq!(rest.user_turn.content_text(), "Continue");
        let expected = [("user", "Tell me"), ("assistant", half), ("user", "Continue")];
        assert_eq!(messages(&log, at + 1), as_sent(&expected));
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn refused_continuation_keeps_text_and_is_continued_with_message() {
    let failure = Failure::new(FailureKind::ProviderRefusedRequest, "Scripted");
    let refused = ProviderError { status: Some(400), ..ProviderError::without_response(failure) };
    let answers =
        vec![cut_answer([text_step(HALF)]), ScriptedAnswer::Refuse(refused), streamed_answer([text_step("the rest.")])];
    let instance = TestServer::new(provider(answers)).await;
    let first = send(&instance).await;
    let second = continue_reply(&instance, first.assistant_turn.id).await;
    let reply = stored(&instance, second.assistant_turn.id).await;
    assert_eq!((reply.status, reply.content_text().as_str()), (TurnStatus::Error, HALF));
    let id = reply.id;
    let third = instance.service.continue_turn(instance.owner, id, "Continue".into(), None).await.unwrap();
    instance.wait_until_ended(third.assistant_turn.id).await;
    assert_eq!(third.user_turn.prev_turn_id, Some(id));
    assert_eq!(stored(&instance, third.assistant_turn.id).await.status, TurnStatus::Complete);
    instance.check_invariants().await;
}
