//! Request repair: a request that is refused for its reasoning is sent once more in another form. Both forms are
//! stored, the user gets a notice, and later requests avoid the refusal. Also interrupted replies in later requests.
//! The tests run the real adapters over scripted bytes (docs/reference/providers.md 2.8).

use std::sync::Arc;

use serde_json::{Value, json};
use turnleaf::domain::tools::tool::ToolSpec;
use turnleaf::domain::{Author, Content, Failure, FailureKind, Turn, TurnStatus};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_providers::anthropic::MessagesEndpoint;
use turnleaf_providers::gemini::GeminiEndpoint;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::openai_responses::ResponsesEndpoint;
use turnleaf_providers::provider::{ProviderError, ToolOutcome};
use turnleaf_providers::scripted::{RequestLog, ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_run::{EventCursor, FollowerItem};
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::branches;
use turnleaf_store::turns::generations::{self, GenerationStatus, requests};
use turnleaf_tools::toolbox::NoTools;

use crate::test_server::{
    TestServer, delta_step, finish_steps, message_to_send, streamed_answer, text_step, thinking_step,
};
use futures::StreamExt;

pub const SIGNATURE: &str = "messages.1.content.0: Invalid `signature` in `thinking` block";

pub fn endpoint(api: ProviderApi) -> ProviderEndpoint {
    ProviderEndpoint {
        id: "scripted".into(),
        name: "Scripted".into(),
        api,
        dialect: String::new(),
        base_url: "http://127.0.0.1:9".into(),
        api_key: None,
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    }
}

/// Returns a provider that speaks the Messages API, with these scripted answers.
pub fn anthropic_provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
        .with_protocol_of(MessagesEndpoint::new(&endpoint(ProviderApi::Anthropic), HttpClient::default()))
}

pub fn refused_answer(message: &str) -> ScriptedAnswer {
    let failure = Failure::new(FailureKind::ProviderRefusedRequest, "Scripted").with_detail(message);
    let document = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    ScriptedAnswer::Refuse(ProviderError {
        status: Some(400),
        body: document.to_string().into(),
        ..ProviderError::without_response(failure)
    })
}

pub fn event_step(event: Value) -> ScriptedStep {
    ScriptedStep::Bytes(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()).into())
}

fn message_start_step() -> ScriptedStep {
    event_step(json!({"type": "message_start", "message": {"id": "m", "model": "model-a", "content": []}}))
}

/// Returns the events of these blocks, each with its end.
fn block_steps(blocks: &[Value]) -> Vec<ScriptedStep> {
    let mut steps = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        steps.push(event_step(json!({"type": "content_block_start", "index": index, "content_block": block})));
        steps.push(event_step(json!({"type": "content_block_stop", "index": index})));
    }
    steps
}

pub fn complete_answer(content: &[Value], reason: &str) -> ScriptedAnswer {
    let end = [
        event_step(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}})),
        event_step(json!({"type": "message_stop"})),
    ];
    ScriptedAnswer::Stream([vec![message_start_step()], block_steps(content), end.into()].concat())
}

pub fn thinking_block(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "why", "signature": signature})
}

pub fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool_call_block(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {"n": 1}})
}

/// Returns the messages of the `at`th request.
pub fn request_messages(log: &RequestLog, at: usize) -> Vec<Value> {
    request_list(log, at, "messages")
}

/// Returns the list of the `at`th request under this key.
fn request_list(log: &RequestLog, at: usize, key: &str) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&log.requests()[at]).unwrap();
    body[key].as_array().unwrap().clone()
}

pub async fn send_next(instance: &TestServer, after: &AcceptedExchange, text: &str) -> AcceptedExchange {
    let next = TurnRequest { chat_id: Some(after.chat.id), ..message_to_send(text) };
    instance.service.start_turn(instance.owner, next).await.unwrap()
}

/// Returns the index and the kind of each notice of a turn.
pub fn notices(turn: &Turn) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, block) in turn.blocks.iter().enumerate() {
        if let Content::Other(map) = &block.content
            && map["type"] == "x:notice"
        {
            assert_eq!(block.author, Author::System);
            found.push((at, map["kind"].as_str().unwrap()));
        }
    }
    found
}

#[tokio::test]
async fn refused_signature_is_dropped_once_reported_and_not_sent_again() {
    let provider = anthropic_provider([
        complete_answer(&[thinking_block("one"), text_block("A1")], "end_turn"),
        refused_answer(SIGNATURE),
        complete_answer(&[thinking_block("two"), text_block("A2")], "end_turn"),
        complete_answer(&[thinking_block("three"), text_block("A3")], "end_turn"),
        complete_answer(&[text_block("another A3")], "end_turn"),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let second = send_next(&instance, &first, "U2").await;
    let turn = instance.wait_until_ended(second.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "A2"));
    assert_eq!(notices(&turn), [(0, "reasoning_refused")], "in front of the reply's content");
    assert_eq!(log.requests().len(), 3);
    assert_eq!(request_messages(&log, 1)[1]["content"], json!([thinking_block("one"), text_block("A1")]));
    assert_eq!(request_messages(&log, 2)[1]["content"], json!([text_block("A1")]), "left out whole, never blanked");

    // Both requests are stored as they were sent, and the manifest of the second names the repair.
    let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    let statuses: Vec<_> = made.iter().map(|made| (made.step, made.status)).collect();
    assert_eq!(statuses, [(0, GenerationStatus::Error), (1, GenerationStatus::Complete)]);
    assert_eq!(made[0].error.as_ref().unwrap().detail.as_deref(), Some(SIGNATURE));
    for (generation, sent) in made.iter().zip(&log.requests()[1..]) {
        let stored = requests::find(&instance.db, instance.owner, generation.id).await.unwrap().unwrap();
        assert_eq!(stored, sent.as_ref());
    }
    let repairs = |at: usize| {
        made[at].request_manifest["turns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["repair"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(made[0].request_manifest.get("repair"), None);
    assert_eq!(made[1].request_manifest["repair"], "earlier_reasoning_left_out");
    assert_eq!(repairs(0), [Value::Null, Value::Null, Value::Null]);
    assert_eq!(repairs(1), [Value::Null, json!("earlier_reasoning_left_out"), Value::Null]);

    // The branch's next request uses the repaired form from the start and includes the newer reasoning.
    let third = send_next(&instance, &second, "U3").await;
    let turn = instance.wait_until_ended(third.assistant_turn.id).await;
    assert_eq!((log.requests().len(), notices(&turn).len()), (4, 0));
    let (before, after) = (request_messages(&log, 2), request_messages(&log, 3));
    assert_eq!(after[..before.len()], before[..], "the accepted prefix stays");
    assert_eq!(after[3]["content"], json!([thinking_block("two"), text_block("A2")]));
    let state = branches::provider_state(&instance.db, third.branch.id).await.unwrap();
    assert_eq!(state.reasoning_left_out_until, Some(first.assistant_turn.id));

    // A new branch starts without the repair.
    let again = instance.service.retry_turn(
        instance.owner,
        third.assistant_turn.id,
        Default::default(),
        Default::default(),
        None,
    );
    let again = again.await.unwrap();
    instance.wait_until_ended(again.assistant_turn.id).await;
    assert_eq!(request_messages(&log, 4)[1]["content"], json!([thinking_block("one"), text_block("A1")]));
    instance.check_invariants().await;
}

#[tokio::test]
async fn request_refused_in_both_forms_fails_after_two_attempts() {
    let provider = anthropic_provider([
        complete_answer(&[thinking_block("one"), text_block("A1")], "end_turn"),
        refused_answer(SIGNATURE),
        refused_answer(SIGNATURE),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let second = send_next(&instance, &first, "U2").await;
    let turn = instance.wait_until_ended(second.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Error);
    assert_eq!(turn.error.as_ref().unwrap().kind, FailureKind::ProviderRefusedRequest);
    assert_eq!(turn.error.as_ref().unwrap().detail.as_deref(), Some(SIGNATURE));
    assert_eq!(log.requests().len(), 3);
    let state = branches::provider_state(&instance.db, second.branch.id).await.unwrap();
    assert_eq!(state, Default::default(), "what did not help is not kept");
    instance.check_invariants().await;
}

#[tokio::test]
async fn refusal_inside_successful_stream_is_repaired_before_any_text() {
    let failing = |before: Vec<ScriptedStep>| {
        let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": SIGNATURE}});
        ScriptedAnswer::Stream([vec![message_start_step()], before, vec![event_step(error)]].concat())
    };
    for (case, failed, requests, status) in [
        ("before content", failing(vec![]), 3, TurnStatus::Complete),
        ("behind content", failing(block_steps(&[text_block("So")])), 2, TurnStatus::Error),
    ] {
        let provider = anthropic_provider([
            complete_answer(&[thinking_block("one"), text_block("A1")], "end_turn"),
            failed,
            complete_answer(&[text_block("A2")], "end_turn"),
        ]);
        let log = provider.log();
        let instance = TestServer::new(provider).await;
        let first = instance.send("U1").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        let turn = instance.wait_until_ended(send_next(&instance, &first, "U2").await.assistant_turn.id).await;
        assert_eq!((log.requests().len(), turn.status), (requests, status), "{case}");
        instance.check_invariants().await;
    }
}

pub fn with_tool(provider: ScriptedProvider) -> ScriptedProvider {
    let tool = ToolSpec { name: "look".into(), description: String::new(), parameters: json!({"type": "object"}) };
    provider.with_tools(vec![tool], |_, _| Some(ToolOutcome { result: json!("found it"), is_error: false }))
}

#[tokio::test]
async fn refused_tool_loop_is_resent_as_text_and_continues() {
    let provider = with_tool(anthropic_provider([
        complete_answer(&[thinking_block("one"), text_block("I look."), tool_call_block("a")], "tool_use"),
        refused_answer(SIGNATURE),
        complete_answer(&[thinking_block("two"), tool_call_block("b")], "tool_use"),
        complete_answer(&[thinking_block("three"), text_block("Done.")], "end_turn"),
        complete_answer(&[text_block("A2")], "end_turn"),
    ]));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    let turn = instance.wait_until_ended(first.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Complete);
    assert_eq!(notices(&turn).iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), ["steps_told"]);
    let resent = request_messages(&log, 2);
    assert_eq!(resent.len(), 1);
    assert_eq!(resent[0]["role"], "user");
    let words = resent[0]["content"][1]["text"].as_str().unwrap();
    assert!(words.contains("you wrote: I look.") && words.contains("you called look with {\"n\":1}"), "{words}");
    assert!(words.contains("look gave: found it") && !words.contains("why"), "{words}");
    // Later steps are sent unchanged, and the text of the earlier ones stays the same.
    let after = request_messages(&log, 3);
    assert_eq!(after[0], resent[0]);
    assert_eq!(after[1]["content"], json!([thinking_block("two"), tool_call_block("b")]));
    assert_eq!(after[2]["content"][0]["tool_use_id"], "b");
    // In later requests, the turn is sent with its calls and results, and without its reasoning.
    instance.wait_until_ended(send_next(&instance, &first, "U2").await.assistant_turn.id).await;
    let later = request_messages(&log, 4);
    assert!(!Value::from(later.clone()).to_string().contains("\"thinking\""), "{later:?}");
    assert_eq!(later[1]["content"], json!([text_block("I look."), tool_call_block("a")]));
    assert_eq!(log.requests().len(), 5);
    instance.check_invariants().await;
}

#[tokio::test]
async fn server_that_misses_thinking_although_it_has_all_gets_the_loop_as_text() {
    const WANTED: &str = "The `content[].thinking` in the thinking mode must be passed back to the API.";
    let provider = with_tool(anthropic_provider([
        complete_answer(&[thinking_block(""), tool_call_block("a")], "tool_use"),
        refused_answer(WANTED),
        complete_answer(&[thinking_block(""), text_block("Done.")], "end_turn"),
    ]));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let turn = instance.wait_until_ended(instance.send("U1").await.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "Done."));
    assert_eq!(notices(&turn).iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), ["steps_told"]);
    assert_eq!(request_messages(&log, 1)[1]["content"][0], thinking_block(""), "unsigned thinking was sent");
    assert_eq!((request_messages(&log, 2).len(), log.requests().len()), (1, 3));
    instance.check_invariants().await;
}

/// Returns the answer that reasons in this member, if any, and calls the tool.
fn calling_answer(member: Option<&str>) -> ScriptedAnswer {
    let function = json!({ "name": "look", "arguments": "{}" });
    let call = delta_step(json!({ "tool_calls": [{ "index": 0, "id": "a", "function": function }] }));
    let reasoning = member.map(|member| delta_step(json!({ member: "hm" })));
    ScriptedAnswer::Stream(reasoning.into_iter().chain([call]).chain(finish_steps("tool_calls")).collect())
}

#[tokio::test]
async fn chat_loop_without_thought_signature_is_resent_as_text() {
    const UNSIGNED: &str = "Function call is missing a thought_signature in functionCall parts. position 2";
    let provider = with_tool(ScriptedProvider::new(
        "scripted",
        [
            calling_answer(None),
            refused_answer(UNSIGNED),
            calling_answer(None),
            streamed_answer([text_step("A1")]),
            streamed_answer([text_step("A2")]),
        ],
    ));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    let turn = instance.wait_until_ended(first.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "A1"));
    assert_eq!(notices(&turn).iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), ["steps_told"]);
    assert_eq!(request_messages(&log, 1)[1]["tool_calls"][0]["function"]["name"], "look");
    let resent = Value::from(request_messages(&log, 2)).to_string();
    assert!(!resent.contains("tool_calls"), "{resent}");
    assert!(resent.contains("you called look with {}") && resent.contains("look gave: found it"), "{resent}");
    // The loop goes on behind the description.
    let after = request_messages(&log, 3);
    assert_eq!(after[0], request_messages(&log, 2)[0]);
    assert_eq!(after[1]["tool_calls"][0]["function"]["name"], "look");
    let second = send_next(&instance, &first, "U2").await;
    let turn = instance.wait_until_ended(second.assistant_turn.id).await;
    assert_eq!((turn.content_text().as_str(), notices(&turn).len(), log.requests().len()), ("A2", 0, 5));
    instance.check_invariants().await;
}

#[tokio::test]
async fn endpoint_requiring_reasoning_gets_it_from_then_on() {
    const WANTED: &str = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    // The model did not reason before its call, or the server calls its reasoning by another name than it requires.
    for (member, came, required) in [(None, Value::Null, ""), (Some("reasoning"), json!("hm"), "hm")] {
        let provider = with_tool(ScriptedProvider::new(
            "scripted",
            [
                calling_answer(member),
                refused_answer(WANTED),
                streamed_answer([thinking_step("so"), text_step("A1")]),
                streamed_answer([text_step("A2")]),
                // Another chat.
                calling_answer(member),
                streamed_answer([text_step("A3")]),
            ],
        ));
        let log = provider.log();
        let instance = TestServer::new(provider).await;
        let first = instance.send("U1").await;
        let turn = instance.wait_until_ended(first.assistant_turn.id).await;
        assert_eq!((turn.status, notices(&turn)[0].1), (TurnStatus::Complete, "reasoning_added"));
        let refused = &request_messages(&log, 1)[1];
        assert_eq!((refused.get("reasoning_content"), &refused["reasoning"]), (None, &came));
        let accepted = &request_messages(&log, 2)[1];
        assert_eq!((&accepted["reasoning_content"], &accepted["reasoning"]), (&json!(required), &came));
        let second = send_next(&instance, &first, "U2").await;
        let turn = instance.wait_until_ended(second.assistant_turn.id).await;
        assert_eq!((log.requests().len(), notices(&turn).len()), (4, 0));
        let reasoning: Vec<_> = [1, 3].map(|at| request_messages(&log, 3)[at]["reasoning_content"].clone()).into();
        assert_eq!(reasoning, [required, "so"]);
        let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
        assert_eq!(made[0].request_manifest["turns"][1]["repair"], "reasoning_echoed");
        let other = instance.send("U3").await;
        let turn = instance.wait_until_ended(other.assistant_turn.id).await;
        assert_eq!((turn.content_text().as_str(), notices(&turn).len(), log.requests().len()), ("A3", 0, 6));
        assert_eq!(request_messages(&log, 5)[1]["reasoning_content"], required, "known from the other chat");
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn endpoint_refusing_reasoning_of_tool_loop_is_asked_once() {
    const REFUSED: &str = "messages.1.assistant.reasoning: property 'messages.1.assistant.reasoning' is unsupported";
    let provider = with_tool(ScriptedProvider::new(
        "scripted",
        [
            calling_answer(Some("reasoning")),
            refused_answer(REFUSED),
            calling_answer(Some("reasoning")),
            streamed_answer([text_step("A1")]),
            calling_answer(Some("reasoning")),
            streamed_answer([text_step("A2")]),
            // Another chat.
            calling_answer(Some("reasoning")),
            streamed_answer([text_step("A3")]),
        ],
    ));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    let turn = instance.wait_until_ended(first.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "A1"));
    let kinds: Vec<&str> = notices(&turn).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["reasoning_refused"]);
    assert_eq!(request_messages(&log, 1)[1]["reasoning"], "hm", "in the member it came in");
    let is_free = |at: usize| request_messages(&log, at).iter().all(|message| message.get("reasoning").is_none());
    assert!(is_free(2) && is_free(3), "the loop goes on without it");
    let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    assert_eq!(made[2].request_manifest["repair"], "reasoning_not_accepted");
    assert_eq!(made[2].status, GenerationStatus::Complete);

    // Later tool loops of the branch, and those of other chats, are not refused again.
    let second = send_next(&instance, &first, "U2").await;
    let turn = instance.wait_until_ended(second.assistant_turn.id).await;
    assert_eq!((turn.content_text().as_str(), notices(&turn).len(), log.requests().len()), ("A2", 0, 6));
    assert!(is_free(4) && is_free(5));
    let (before, after) = (request_messages(&log, 3), request_messages(&log, 5));
    assert_eq!(after[..before.len()], before[..], "the accepted prefix stays");
    let other = instance.send("U3").await;
    let turn = instance.wait_until_ended(other.assistant_turn.id).await;
    assert_eq!((turn.content_text().as_str(), notices(&turn).len(), log.requests().len()), ("A3", 0, 8));
    assert!(is_free(7), "known from the first chat");
    for branch in [second.branch.id, other.branch.id] {
        let state = branches::provider_state(&instance.db, branch).await.unwrap();
        assert!(state.accepts_no_reasoning, "the branch knows it after a restart");
    }
    instance.check_invariants().await;

    // A new process knows it for these branches only.
    let again = with_tool(ScriptedProvider::new("scripted", [streamed_answer([text_step("A4")])]));
    let log = again.log();
    let instance = instance.restart_after_kill(again, Arc::new(NoTools)).await;
    let last = send_next(&instance, &other, "U4").await;
    instance.wait_until_ended(last.assistant_turn.id).await;
    assert!(request_messages(&log, 0).iter().all(|message| message.get("reasoning").is_none()));
}

#[tokio::test]
async fn accepted_reasoning_of_tool_loop_stays_in_later_requests() {
    let provider = with_tool(ScriptedProvider::new(
        "scripted",
        [
            calling_answer(Some("reasoning_content")),
            streamed_answer([thinking_step("so"), text_step("A1")]),
            streamed_answer([thinking_step("and"), text_step("A2")]),
            streamed_answer([text_step("A3")]),
        ],
    ));
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let second = send_next(&instance, &first, "U2").await;
    instance.wait_until_ended(second.assistant_turn.id).await;
    let third = send_next(&instance, &second, "U3").await;
    let turn = instance.wait_until_ended(third.assistant_turn.id).await;
    assert_eq!((turn.status, notices(&turn).len(), log.requests().len()), (TurnStatus::Complete, 0, 4));
    let sent = request_messages(&log, 3);
    let reasoning: Vec<&Value> = [1, 3, 5].map(|at| &sent[at]["reasoning_content"]).into();
    assert_eq!(reasoning, [&json!("hm"), &json!("so"), &Value::Null], "only replies with tools need it");
    for at in 1..3 {
        let (before, after) = (request_messages(&log, at), request_messages(&log, at + 1));
        assert_eq!(after[..before.len()], before[..], "request {at}");
    }
    instance.check_invariants().await;
}

#[tokio::test]
async fn encrypted_items_and_thought_signatures_are_dropped() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"});
    let item = |text: &str| json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let responded = |output: &[Value]| {
        let response = json!({"status": "completed", "output": output});
        ScriptedAnswer::Stream(vec![event_step(json!({"type": "response.completed", "response": response}))])
    };
    let mut bare = item("A1");
    bare.as_object_mut().unwrap().shift_remove("id");
    let chunk = |part: Value| {
        ScriptedAnswer::Stream(vec![ScriptedStep::event(
            &json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}),
        )])
    };
    let signed = json!({"text": "A1", "thoughtSignature": "s"});
    let responses = ResponsesEndpoint::new(&endpoint(ProviderApi::OpenaiResponses), HttpClient::default());
    let gemini = GeminiEndpoint::new(&endpoint(ProviderApi::Gemini), HttpClient::default());
    for (provider, key, refusal, whole, left) in [
        (
            ScriptedProvider::new(
                "scripted",
                [
                    responded(&[reasoning.clone(), item("A1")]),
                    refused_answer("The encrypted content for item rs_1 could not be verified."),
                    responded(&[reasoning.clone(), item("A2")]),
                    responded(&[item("A3")]),
                ],
            )
            .with_protocol_of(responses),
            "input",
            "reasoning_left_out",
            vec![reasoning.clone(), item("A1")],
            vec![bare],
        ),
        (
            ScriptedProvider::new(
                "scripted",
                [
                    chunk(signed.clone()),
                    refused_answer("Corrupted thought signature."),
                    chunk(json!({"text": "A2", "thoughtSignature": "t"})),
                    chunk(json!({"text": "A3"})),
                ],
            )
            .with_protocol_of(gemini),
            "contents",
            "earlier_reasoning_left_out",
            vec![json!({"role": "model", "parts": [signed]})],
            vec![json!({"role": "model", "parts": [{"text": "A1"}]})],
        ),
    ] {
        let log = provider.log();
        let instance = TestServer::new(provider).await;
        let first = instance.send("U1").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        let second = send_next(&instance, &first, "U2").await;
        let turn = instance.wait_until_ended(second.assistant_turn.id).await;
        assert_eq!((turn.content_text().as_str(), notices(&turn).len(), log.requests().len()), ("A2", 1, 3), "{key}");
        let between = |at: usize| {
            let all = request_list(&log, at, key);
            all[1..all.len() - 1].to_vec()
        };
        assert_eq!((between(1), between(2)), (whole, left.clone()), "{key}");
        let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
        assert_eq!(made[1].request_manifest["repair"], refusal, "{key}");
        instance.wait_until_ended(send_next(&instance, &second, "U3").await.assistant_turn.id).await;
        assert_eq!(log.requests().len(), 4, "{key}: not refused again");
        let (before, after) = (request_list(&log, 2, key), request_list(&log, 3, key));
        assert_eq!(after[..before.len()], before[..], "{key}: the accepted prefix stays");
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn unrepairable_refusal_is_sent_once() {
    for message in ["messages.0.content: Input should be a valid string", SIGNATURE] {
        // There is no earlier reply whose reasoning could be left out.
        let provider = anthropic_provider([refused_answer(message)]);
        let log = provider.log();
        let instance = TestServer::new(provider).await;
        let turn = instance.wait_until_ended(instance.send("U1").await.assistant_turn.id).await;
        assert_eq!((turn.status, log.requests().len()), (TurnStatus::Error, 1), "{message}");
        assert_eq!(notices(&turn), []);
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn reasoning_dropped_by_provider_is_noted_before_reply() {
    let start = json!({"type": "message_start", "message": {"id": "m", "model": "model-a", "content": [],
        "input_transformations": [{"type": "thinking_dropped"}]}});
    let end = [
        event_step(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})),
        event_step(json!({"type": "message_stop"})),
    ];
    let steps = [vec![event_step(start)], block_steps(&[thinking_block("s"), text_block("So.")]), end.into()].concat();
    let instance = TestServer::new(anthropic_provider([ScriptedAnswer::Stream(steps)])).await;
    let turn = instance.wait_until_ended(instance.send("U1").await.assistant_turn.id).await;
    assert_eq!(notices(&turn), [(0, "reasoning_dropped")]);
    let kinds: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
    assert_eq!(kinds, ["x:notice", "thinking", "thinking_signature", "text", "x:input_transformations"]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn interrupted_reply_is_resent_as_far_as_provider_accepts() {
    let partial = [
        vec![message_start_step()],
        block_steps(&[thinking_block("one")]),
        vec![
            event_step(
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
            ),
            event_step(
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "It is"}}),
            ),
            ScriptedStep::Hang,
        ],
    ];
    let provider = anthropic_provider([
        ScriptedAnswer::Stream(partial.concat()),
        complete_answer(&[thinking_block("two"), text_block("A2")], "end_turn"),
        complete_answer(&[text_block("A3")], "end_turn"),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let first = instance.send("U1").await;
    let id = first.assistant_turn.id;
    let mut followed = std::pin::pin!(
        instance.service.supervisor().follow(instance.owner, id, EventCursor::After(0)).await.unwrap().unwrap()
    );
    while let Some(Ok(FollowerItem::Line(line))) = followed.next().await {
        if line.json.contains("It is") {
            break;
        }
    }
    let stopped = instance.service.stop_turn(instance.owner, id).await.unwrap();
    assert_eq!((stopped.status, stopped.content_text().as_str()), (TurnStatus::Cancelled, "It is"));
    let second = send_next(&instance, &first, "U2").await;
    let turn = instance.wait_until_ended(second.assistant_turn.id).await;
    let expected = json!([
        {"role": "user", "content": [text_block("U1")]},
        {"role": "assistant", "content": [thinking_block("one"), text_block("It is")]},
        {"role": "user", "content": [text_block("U2")]},
    ]);
    assert_eq!(Value::from(request_messages(&log, 1)), expected);
    assert_eq!(request_messages(&log, 1)[..1], request_messages(&log, 0)[..]);
    let made = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    let entry = &made[0].request_manifest["turns"][1];
    assert_eq!((&entry["mode"], &entry["reason"]), (&json!("raw"), &json!("partial")));
    instance.wait_until_ended(send_next(&instance, &second, "U3").await.assistant_turn.id).await;
    assert_eq!(request_messages(&log, 2)[..3], request_messages(&log, 1)[..]);
    instance.check_invariants().await;
}

#[tokio::test]
async fn paused_reply_is_resent_and_continues() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "trees"}});
    let provider = anthropic_provider([
        complete_answer(&[text_block("I look."), search.clone()], "pause_turn"),
        complete_answer(&[text_block("Oaks.")], "end_turn"),
    ]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let turn = instance.wait_until_ended(instance.send("which?").await.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "I look.\n\nOaks."));
    let sent = request_messages(&log, 1);
    assert_eq!(sent.len(), 2, "the request ends with the reply as it stands");
    assert_eq!((&sent[1]["role"], &sent[1]["content"][1]), (&json!("assistant"), &search));
    let generations = generations::list(&instance.db, instance.owner, turn.id).await.unwrap();
    assert_eq!(
        generations.iter().map(|generation| generation.status).collect::<Vec<_>>(),
        [GenerationStatus::Complete; 2]
    );
    instance.check_invariants().await;
}

#[tokio::test]
async fn pause_that_would_only_repeat_ends_reply_with_notice() {
    // Reasoning alone is not sent back, so the next request would be the same.
    let steps = [thinking_step("hm")].into_iter().chain(finish_steps("pause_turn")).collect();
    let provider = ScriptedProvider::new("scripted", [ScriptedAnswer::Stream(steps)]);
    let log = provider.log();
    let instance = TestServer::new(provider).await;
    let turn = instance.wait_until_ended(instance.send("which?").await.assistant_turn.id).await;
    assert_eq!((turn.status, log.requests().len()), (TurnStatus::Complete, 1));
    assert_eq!(notices(&turn), [(1, "stopped_otherwise")]);
    let Content::Other(notice) = &turn.blocks[1].content else { panic!("{turn:?}") };
    assert_eq!(notice["stop_reason"], "pause_turn");
    instance.check_invariants().await;
}

#[tokio::test]
async fn provider_with_changed_api_gets_earlier_replies_as_text() {
    let instance =
        TestServer::new(anthropic_provider([complete_answer(&[thinking_block("s"), text_block("Oaks.")], "end_turn")]))
            .await;
    let first = instance.send("which?").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let chat = ScriptedProvider::new("scripted", [streamed_answer([text_step("Yes.")])]);
    let log = chat.log();
    let instance = TestServer::open(instance.dir, chat).await;
    let second = send_next(&instance, &first, "sure?").await;
    instance.wait_until_ended(second.assistant_turn.id).await;
    assert_eq!(request_messages(&log, 0)[1], json!({"role": "assistant", "content": "Oaks."}));
    instance.check_invariants().await;
}
