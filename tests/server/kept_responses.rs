//! Responses that the provider stores: a branch continues from its last complete reply by `previous_response_id`,
//! every other request sends the whole path, and a refusal is repaired once (docs/reference/providers.md 6.6). The
//! tests run the real Responses adapter over scripted bytes.

use serde_json::{Value, json};
use turnleaf::domain::providers::repair::KeptResponse;
use turnleaf::domain::{ModelLock, Turn, TurnId, TurnStatus};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::openai_responses::ResponsesEndpoint;
use turnleaf_providers::scripted::{RequestLog, ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::branches;
use turnleaf_store::turns::generations;

use crate::repair::{endpoint, event_step, notices, refused_answer, send_next, with_tool};
use crate::test_server::{TestServer, message_to_send};

const UNKNOWN: &str = "Previous response with id 'resp_1' not found.";

/// Returns a provider that stores responses, with these scripted answers.
fn response_keeping_provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    let endpoint = ProviderEndpoint { keeps_responses: true, ..endpoint(ProviderApi::OpenaiResponses) };
    ScriptedProvider::new("scripted", answers)
        .with_protocol_of(ResponsesEndpoint::new(&endpoint, HttpClient::default()))
}

fn message_item(text: &str) -> Value {
    json!({"type": "message", "id": format!("msg_{text}"), "role": "assistant",
        "content": [{"type": "output_text", "text": text}]})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "look", "arguments": "{\"n\":1}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "found it"})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn ending(id: &str, status: &str, output: &[Value]) -> ScriptedStep {
    let response = json!({"id": id, "status": status, "output": output});
    event_step(json!({"type": format!("response.{status}"), "response": response}))
}

fn response(id: &str, output: &[Value]) -> ScriptedAnswer {
    ScriptedAnswer::Stream(vec![ending(id, "completed", output)])
}

/// Returns the `previous_response_id` of the `at`th request, and its input.
fn request_at(log: &RequestLog, at: usize) -> (Option<String>, Value) {
    let body: Value = serde_json::from_slice(&log.requests()[at]).unwrap();
    assert_eq!(body["store"], true);
    (body.get("previous_response_id").map(|id| id.as_str().unwrap().to_owned()), body["input"].clone())
}

fn continuation_request(id: &str, input: Value) -> (Option<String>, Value) {
    (Some(id.to_owned()), input)
}

/// Returns the response from which the branch would continue.
async fn kept_response(instance: &TestServer, started: &AcceptedExchange) -> Option<KeptResponse> {
    branches::provider_state(&instance.db, started.branch.id).await.unwrap().previous_response
}

fn expected_response(turn_id: TurnId, response_id: &str) -> Option<KeptResponse> {
    Some(KeptResponse { turn_id, response_id: response_id.into() })
}

async fn wait_until_complete(instance: &TestServer, started: &AcceptedExchange) -> Turn {
    let turn = instance.wait_until_ended(started.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Complete, "{:?}", turn.error);
    turn
}

/// Returns the `previous_response_id` in the manifest of a turn's `at`th generation, and the mode and reason of each
/// turn.
async fn manifest(instance: &TestServer, turn: &Turn, at: usize) -> (Value, Vec<(Value, Value)>) {
    let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    let manifest = &made[at].request_manifest;
    let entries = manifest["turns"].as_array().unwrap().iter();
    let turns = entries.map(|entry| (entry["mode"].clone(), entry["reason"].clone())).collect();
    (manifest["previous_response_id"].clone(), turns)
}

fn words(entries: &[(&str, &str)]) -> Vec<(Value, Value)> {
    entries.iter().map(|(mode, reason)| (json!(mode), json!(reason))).collect()
}

#[tokio::test]
async fn branch_continues_from_last_response_and_no_item_is_sent_twice() {
    let provider = with_tool(response_keeping_provider([
        response("resp_1", &[message_item("A1")]),
        response("resp_2", &[call("a")]),
        response("resp_3", &[call("b"), call("c")]),
        response("resp_4", &[message_item("A2")]),
        response("resp_5", &[message_item("A3")]),
    ]));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    let turn = wait_until_complete(&instance, &first).await;
    assert_eq!(request_at(&log, 0), (None, json!([user("U1")])));
    assert_eq!(manifest(&instance, &turn, 0).await, (Value::Null, words(&[("canonical", "from_blocks")])));
    assert_eq!(kept_response(&instance, &first).await, expected_response(turn.id, "resp_1"));

    let second = send_next(&instance, &first, "U2").await;
    let turn = wait_until_complete(&instance, &second).await;
    assert_eq!(request_at(&log, 1), continuation_request("resp_1", json!([user("U2")])));
    assert_eq!(request_at(&log, 2), continuation_request("resp_2", json!([output("a")])));
    assert_eq!(request_at(&log, 3), continuation_request("resp_3", json!([output("b"), output("c")])));
    assert_eq!(kept_response(&instance, &second).await, expected_response(turn.id, "resp_4"));
    const KEPT: (&str, &str) = ("omitted", "kept_by_provider");
    let expected = (json!("resp_1"), words(&[KEPT, KEPT, ("canonical", "from_blocks")]));
    assert_eq!(manifest(&instance, &turn, 0).await, expected);
    let expected = (json!("resp_3"), words(&[KEPT, KEPT, KEPT, ("raw", "kept_by_provider")]));
    assert_eq!(manifest(&instance, &turn, 2).await, expected);
    let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    assert_eq!(made[2].request_manifest["turns"][3]["blocks_sent"], 2, "what the last step's calls gave");

    let third = send_next(&instance, &second, "U3").await;
    wait_until_complete(&instance, &third).await;
    assert_eq!(request_at(&log, 4), continuation_request("resp_4", json!([user("U3")])));
    instance.check_invariants().await;
}

#[tokio::test]
async fn new_branch_and_other_model_start_with_complete_path() {
    let provider = response_keeping_provider([
        response("resp_1", &[message_item("A1")]),
        response("resp_2", &[message_item("A2")]),
        response("resp_3", &[message_item("again")]),
        response("resp_4", &[message_item("edited")]),
        response("resp_5", &[message_item("other")]),
        response("resp_6", &[message_item("A3")]),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    wait_until_complete(&instance, &first).await;
    let second = send_next(&instance, &first, "U2").await;
    wait_until_complete(&instance, &second).await;

    let retry = instance.service.retry_turn(
        instance.owner,
        second.assistant_turn.id,
        PlacementRequest::default(),
        Default::default(),
        None,
    );
    let again = retry.await.unwrap();
    wait_until_complete(&instance, &again).await;
    assert_eq!(request_at(&log, 2), (None, json!([user("U1"), message_item("A1"), user("U2")])), "Retry");
    assert_eq!(kept_response(&instance, &again).await, expected_response(again.assistant_turn.id, "resp_3"));
    assert_eq!(
        kept_response(&instance, &second).await,
        expected_response(second.assistant_turn.id, "resp_2"),
        "each branch has its own"
    );

    let edit = TurnRequest { chat_id: Some(first.chat.id), ..message_to_send("U2, better") };
    let edited = instance.service.edit_turn(instance.owner, second.user_turn.id, edit).await.unwrap();
    wait_until_complete(&instance, &edited).await;
    assert_eq!(request_at(&log, 3), (None, json!([user("U1"), message_item("A1"), user("U2, better")])), "edited");

    let place = PlacementRequest {
        prev_turn_id: Some(second.assistant_turn.id),
        provider: Some("scripted".into()),
        model: Some("model-b".into()),
        may_branch: true,
        ..PlacementRequest::default()
    };
    let request = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("U3") };
    let other = instance.service.start_turn(instance.owner, request).await.unwrap();
    wait_until_complete(&instance, &other).await;
    assert_eq!(other.branch.lock, ModelLock::new("scripted", "model-b"));
    let reply = |text: &str| json!({"role": "assistant", "content": text});
    let expected = json!([user("U1"), reply("A1"), user("U2"), reply("A2"), user("U3")]);
    assert_eq!(request_at(&log, 4), (None, expected), "another model");

    // Back on the first branch, that branch's own reply is still its last one.
    let place = PlacementRequest { prev_turn_id: Some(second.assistant_turn.id), ..PlacementRequest::default() };
    let request = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("U3") };
    let back = instance.service.start_turn(instance.owner, request).await.unwrap();
    wait_until_complete(&instance, &back).await;
    assert_eq!(back.branch.id, first.branch.id);
    assert_eq!(request_at(&log, 5), continuation_request("resp_2", json!([user("U3")])));
    instance.check_invariants().await;
}

#[tokio::test]
async fn no_response_is_continued_after_model_break() {
    let provider = response_keeping_provider([
        response("resp_1", &[message_item("A1")]),
        response("resp_2", &[message_item("other")]),
        response("resp_3", &[message_item("another")]),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    wait_until_complete(&instance, &first).await;
    let place = PlacementRequest {
        prev_turn_id: Some(first.assistant_turn.id),
        provider: Some("scripted".into()),
        model: Some("model-b".into()),
        may_branch: true,
        ..PlacementRequest::default()
    };
    let request = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("U2") };
    let other = instance.service.start_turn(instance.owner, request).await.unwrap();
    wait_until_complete(&instance, &other).await;
    let place = PlacementRequest { prev_turn_id: Some(other.assistant_turn.id), ..PlacementRequest::default() };
    let request = TurnRequest { chat_id: Some(first.chat.id), place, ..message_to_send("U3") };
    let last = instance.service.start_turn(instance.owner, request).await.unwrap();
    wait_until_complete(&instance, &last).await;
    assert_eq!(last.branch.id, other.branch.id);
    let (id, input) = request_at(&log, 2);
    assert_eq!((id, input.as_array().unwrap().len()), (None, 5));
    instance.check_invariants().await;
}

#[tokio::test]
async fn unknown_response_is_repaired_once_and_cleared() {
    let provider = response_keeping_provider([
        response("resp_1", &[message_item("A1")]),
        refused_answer(UNKNOWN),
        response("resp_2", &[message_item("A2")]),
        response("resp_3", &[message_item("A3")]),
        response("resp_4", &[message_item("A4")]),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    wait_until_complete(&instance, &first).await;
    let second = send_next(&instance, &first, "U2").await;
    let turn = wait_until_complete(&instance, &second).await;
    assert_eq!((turn.content_text().as_str(), notices(&turn)), ("A2", vec![(0, "sent_whole")]));
    assert_eq!(request_at(&log, 1), continuation_request("resp_1", json!([user("U2")])));
    assert_eq!(request_at(&log, 2), (None, json!([user("U1"), message_item("A1"), user("U2")])));
    assert_eq!(kept_response(&instance, &second).await, None);
    let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    let repairs = |at: usize| made[at].request_manifest.get("repair").cloned();
    assert_eq!((repairs(0), repairs(1)), (None, Some(json!("sent_whole"))));
    let expected = words(&[("canonical", "from_blocks"), ("raw", "same_lock"), ("canonical", "from_blocks")]);
    assert_eq!(manifest(&instance, &turn, 1).await, (Value::Null, expected));

    // The next request sends the whole path, and the one after it continues from its response.
    let third = send_next(&instance, &second, "U3").await;
    let turn = wait_until_complete(&instance, &third).await;
    let whole = json!([user("U1"), message_item("A1"), user("U2"), message_item("A2"), user("U3")]);
    assert_eq!((request_at(&log, 3), notices(&turn)), ((None, whole), vec![]));
    wait_until_complete(&instance, &send_next(&instance, &third, "U4").await).await;
    assert_eq!(request_at(&log, 4), continuation_request("resp_3", json!([user("U4")])));
    instance.check_invariants().await;
}

#[tokio::test]
async fn lost_response_in_tool_loop_is_repaired() {
    let provider = with_tool(response_keeping_provider([
        response("resp_1", &[call("a")]),
        refused_answer(UNKNOWN),
        response("resp_2", &[call("b")]),
        response("resp_3", &[message_item("A1")]),
    ]));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    let turn = wait_until_complete(&instance, &first).await;
    assert_eq!(notices(&turn).len(), 1);
    assert_eq!(request_at(&log, 1), continuation_request("resp_1", json!([output("a")])));
    assert_eq!(request_at(&log, 2), (None, json!([user("U1"), call("a"), output("a")])));
    let whole = json!([user("U1"), call("a"), output("a"), call("b"), output("b")]);
    assert_eq!(request_at(&log, 3), (None, whole), "a repaired turn keeps its form");
    assert_eq!(kept_response(&instance, &first).await, None);
    instance.check_invariants().await;
}

#[tokio::test]
async fn request_refused_in_both_forms_fails_after_two_attempts() {
    let provider = response_keeping_provider([
        response("resp_1", &[message_item("A1")]),
        refused_answer(UNKNOWN),
        refused_answer(UNKNOWN),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    wait_until_complete(&instance, &first).await;
    let turn = instance.wait_until_ended(send_next(&instance, &first, "U2").await.assistant_turn.id).await;
    assert_eq!((turn.status, log.requests().len()), (TurnStatus::Error, 3));
    instance.check_invariants().await;
}

#[tokio::test]
async fn incomplete_reply_is_not_continued() {
    let begun = || event_step(json!({"type": "response.output_text.delta", "item_id": "m", "delta": "So"}));
    let broken = vec![begun()];
    let limited = vec![begun(), ending("resp_2", "incomplete", &[])];
    let unkept = vec![event_step(json!({"type": "response.completed",
        "response": {"id": "resp_2", "status": "completed", "store": false, "output": [message_item("So")]}}))];
    for (case, steps, status) in [
        ("broken", broken, TurnStatus::Error),
        ("at its limit", limited, TurnStatus::Complete),
        ("not kept", unkept, TurnStatus::Complete),
    ] {
        let provider = response_keeping_provider([
            response("resp_1", &[message_item("A1")]),
            ScriptedAnswer::Stream(steps),
            response("resp_3", &[message_item("A3")]),
        ]);
        let log = provider.log();
        let instance = TestServer::new(provider).await;
        let first = instance.send("U1").await;
        wait_until_complete(&instance, &first).await;
        let second = send_next(&instance, &first, "U2").await;
        let turn = instance.wait_until_ended(second.assistant_turn.id).await;
        assert_eq!(turn.status, status, "{case}: {:?}", turn.error);
        wait_until_complete(&instance, &send_next(&instance, &second, "U3").await).await;
        let (id, input) = request_at(&log, 2);
        assert_eq!((id, &input[0]), (None, &user("U1")), "{case}");
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn stopped_reply_is_not_continued() {
    let begun = event_step(json!({"type": "response.output_text.delta", "item_id": "m", "delta": "So"}));
    let created =
        event_step(json!({"type": "response.created", "response": {"id": "resp_2", "status": "in_progress"}}));
    let provider = response_keeping_provider([
        response("resp_1", &[message_item("A1")]),
        ScriptedAnswer::Stream(vec![created, begun, ScriptedStep::Hang]),
        response("resp_3", &[message_item("A3")]),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    wait_until_complete(&instance, &first).await;
    let second = send_next(&instance, &first, "U2").await;
    log.wait_for_requests(2).await;
    let stopped = instance.service.stop_turn(instance.owner, second.assistant_turn.id).await.unwrap();
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    assert_eq!(
        kept_response(&instance, &second).await,
        expected_response(first.assistant_turn.id, "resp_1"),
        "of the reply before it"
    );
    wait_until_complete(&instance, &send_next(&instance, &second, "U3").await).await;
    let (id, input) = request_at(&log, 2);
    assert_eq!((id, &input[0]), (None, &user("U1")));
    instance.check_invariants().await;
}

#[tokio::test]
async fn disabled_storage_keeps_and_names_no_response() {
    let provider = ScriptedProvider::new(
        "scripted",
        [response("resp_1", &[message_item("A1")]), response("resp_2", &[message_item("A2")])],
    )
    .with_protocol_of(ResponsesEndpoint::new(&endpoint(ProviderApi::OpenaiResponses), HttpClient::default()));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    wait_until_complete(&instance, &first).await;
    assert_eq!(kept_response(&instance, &first).await, None);
    wait_until_complete(&instance, &send_next(&instance, &first, "U2").await).await;
    for body in log.requests() {
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((body.get("previous_response_id"), &body["store"]), (None, &json!(false)));
        assert_eq!(body["input"][0], user("U1"));
    }
    instance.check_invariants().await;
}
