//! Requests that are refused for the reasoning in them: sent once more in another form, kept as they were sent, said to
//! the person, and not refused again. And interrupted replies as history. The APIs' own adapters over scripted bytes.

use serde_json::{Value, json};
use turnleaf::domain::tool::ToolSpec;
use turnleaf::domain::{Author, Content, Failure, FailureKind, Turn, TurnStatus};
use turnleaf_platform::endpoint::{Api, Endpoint};
use turnleaf_providers::anthropic::MessagesEndpoint;
use turnleaf_providers::gemini::GeminiEndpoint;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::openai_responses::ResponsesEndpoint;
use turnleaf_providers::provider::{Refused, ToolOutcome};
use turnleaf_providers::scripted::{Answer, Log, Scripted, Step};
use turnleaf_run::{Cursor, Followed};
use turnleaf_service::turns::{StartTurn, Started};
use turnleaf_store::branches;
use turnleaf_store::generations::{self, GenerationStatus, requests};

use crate::house::{House, answer, delta, finish, message, text, thinking};
use futures::StreamExt;

pub const SIGNATURE: &str = "messages.1.content.0: Invalid `signature` in `thinking` block";

pub fn endpoint(api: Api) -> Endpoint {
    Endpoint {
        id: "scripted".into(),
        name: "Scripted".into(),
        api,
        dialect: String::new(),
        base_url: "http://127.0.0.1:9".into(),
        api_key: None,
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..Endpoint::default()
    }
}

/// A provider that speaks Messages and says these things.
pub fn anthropic(answers: impl IntoIterator<Item = Answer>) -> Scripted {
    Scripted::new("scripted", answers).like(MessagesEndpoint::new(&endpoint(Api::Anthropic), HttpClient::default()))
}

pub fn refused(message: &str) -> Answer {
    let failure = Failure::new(FailureKind::ProviderRefusedRequest, "Scripted").with_detail(message);
    let document = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    Answer::Refuse(Refused { status: Some(400), body: document.to_string().into(), ..Refused::unanswered(failure) })
}

pub fn event(event: Value) -> Step {
    Step::Bytes(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()).into())
}

fn begin() -> Step {
    event(json!({"type": "message_start", "message": {"id": "m", "model": "model-a", "content": []}}))
}

/// The blocks of a message, each with its end.
fn blocks(blocks: &[Value]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        steps.push(event(json!({"type": "content_block_start", "index": index, "content_block": block})));
        steps.push(event(json!({"type": "content_block_stop", "index": index})));
    }
    steps
}

pub fn whole(content: &[Value], reason: &str) -> Answer {
    let end = [
        event(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}})),
        event(json!({"type": "message_stop"})),
    ];
    Answer::Stream([vec![begin()], blocks(content), end.into()].concat())
}

pub fn thought(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "why", "signature": signature})
}

pub fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {"n": 1}})
}

/// The messages of the `at`th request.
pub fn messages(log: &Log, at: usize) -> Vec<Value> {
    listed(log, at, "messages")
}

/// The messages of the `at`th request, which stand under this key.
fn listed(log: &Log, at: usize, key: &str) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&log.requests()[at]).unwrap();
    body[key].as_array().unwrap().clone()
}

pub async fn next(house: &House, after: &Started, text: &str) -> Started {
    let next = StartTurn { chat_id: Some(after.chat.id), ..message(text) };
    house.service.start_turn(house.owner, next).await.unwrap()
}

/// Where the notices of a turn are, and of which kind.
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
async fn a_refused_signature_is_left_out_once_said_and_not_sent_again() {
    let provider = anthropic([
        whole(&[thought("one"), said("A1")], "end_turn"),
        refused(SIGNATURE),
        whole(&[thought("two"), said("A2")], "end_turn"),
        whole(&[thought("three"), said("A3")], "end_turn"),
        whole(&[said("another A3")], "end_turn"),
    ]);
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("U1").await;
    house.ended(first.assistant_turn.id).await;
    let second = next(&house, &first, "U2").await;
    let turn = house.ended(second.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "A2"));
    assert_eq!(notices(&turn), [(0, "reasoning_refused")], "in front of the reply's content");
    assert_eq!(log.requests().len(), 3);
    assert_eq!(messages(&log, 1)[1]["content"], json!([thought("one"), said("A1")]));
    assert_eq!(messages(&log, 2)[1]["content"], json!([said("A1")]), "left out whole, never blanked");

    // Both requests are kept as they were sent, and the second says what was done to it.
    let made = generations::list(&house.db, house.owner, turn.id).await.unwrap();
    let statuses: Vec<_> = made.iter().map(|made| (made.step, made.status)).collect();
    assert_eq!(statuses, [(0, GenerationStatus::Error), (1, GenerationStatus::Complete)]);
    assert_eq!(made[0].error.as_ref().unwrap().detail.as_deref(), Some(SIGNATURE));
    for (generation, sent) in made.iter().zip(&log.requests()[1..]) {
        let stored = requests::find(&house.db, house.owner, generation.id).await.unwrap().unwrap();
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

    // The next request of the branch has that form from the start, and the newer reasoning in it.
    let third = next(&house, &second, "U3").await;
    let turn = house.ended(third.assistant_turn.id).await;
    assert_eq!((log.requests().len(), notices(&turn).len()), (4, 0));
    let (before, after) = (messages(&log, 2), messages(&log, 3));
    assert_eq!(after[..before.len()], before[..], "the accepted prefix stays");
    assert_eq!(after[3]["content"], json!([thought("two"), said("A2")]));
    let state = branches::provider_state(&house.db, third.branch.id).await.unwrap();
    assert_eq!(state.reasoning_left_out_until, Some(first.assistant_turn.id));

    // A new branch begins with nothing learnt.
    let again =
        house.service.retry_turn(house.owner, third.assistant_turn.id, Default::default(), Default::default(), None);
    let again = again.await.unwrap();
    house.ended(again.assistant_turn.id).await;
    assert_eq!(messages(&log, 4)[1]["content"], json!([thought("one"), said("A1")]));
    house.check().await;
}

#[tokio::test]
async fn a_request_that_is_refused_in_both_forms_fails_after_two_requests() {
    let provider =
        anthropic([whole(&[thought("one"), said("A1")], "end_turn"), refused(SIGNATURE), refused(SIGNATURE)]);
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("U1").await;
    house.ended(first.assistant_turn.id).await;
    let second = next(&house, &first, "U2").await;
    let turn = house.ended(second.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Error);
    assert_eq!(turn.error.as_ref().unwrap().kind, FailureKind::ProviderRefusedRequest);
    assert_eq!(turn.error.as_ref().unwrap().detail.as_deref(), Some(SIGNATURE));
    assert_eq!(log.requests().len(), 3);
    let state = branches::provider_state(&house.db, second.branch.id).await.unwrap();
    assert_eq!(state, Default::default(), "what did not help is not kept");
    house.check().await;
}

#[tokio::test]
async fn a_refusal_inside_a_successful_stream_is_repaired_while_nothing_was_said() {
    let failing = |before: Vec<Step>| {
        let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": SIGNATURE}});
        Answer::Stream([vec![begin()], before, vec![event(error)]].concat())
    };
    for (what, failed, requests, status) in [
        ("before content", failing(vec![]), 3, TurnStatus::Complete),
        ("behind content", failing(blocks(&[said("So")])), 2, TurnStatus::Error),
    ] {
        let provider =
            anthropic([whole(&[thought("one"), said("A1")], "end_turn"), failed, whole(&[said("A2")], "end_turn")]);
        let log = provider.log();
        let house = House::new(provider).await;
        let first = house.send("U1").await;
        house.ended(first.assistant_turn.id).await;
        let turn = house.ended(next(&house, &first, "U2").await.assistant_turn.id).await;
        assert_eq!((log.requests().len(), turn.status), (requests, status), "{what}");
        house.check().await;
    }
}

pub fn with_tool(provider: Scripted) -> Scripted {
    let tool = ToolSpec { name: "look".into(), description: String::new(), parameters: json!({"type": "object"}) };
    provider.with_tools(vec![tool], |_, _| Some(ToolOutcome { result: json!("found it"), is_error: false }))
}

#[tokio::test]
async fn a_refused_tool_loop_is_told_in_words_and_goes_on() {
    let provider = with_tool(anthropic([
        whole(&[thought("one"), said("I look."), call("a")], "tool_use"),
        refused(SIGNATURE),
        whole(&[thought("two"), call("b")], "tool_use"),
        whole(&[thought("three"), said("Done.")], "end_turn"),
        whole(&[said("A2")], "end_turn"),
    ]));
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("U1").await;
    let turn = house.ended(first.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Complete);
    assert_eq!(notices(&turn).iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), ["steps_told"]);
    let told = messages(&log, 2);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["role"], "user");
    let words = told[0]["content"][1]["text"].as_str().unwrap();
    assert!(words.contains("you wrote: I look.") && words.contains("you called look with {\"n\":1}"), "{words}");
    assert!(words.contains("look gave: found it") && !words.contains("why"), "{words}");
    // The steps behind it come as they are, and the words before them stay what they were.
    let after = messages(&log, 3);
    assert_eq!(after[0], told[0]);
    assert_eq!(after[1]["content"], json!([thought("two"), call("b")]));
    assert_eq!(after[2]["content"][0]["tool_use_id"], "b");
    // Later the turn goes back with its calls and results, and without the reasoning in it.
    house.ended(next(&house, &first, "U2").await.assistant_turn.id).await;
    let later = messages(&log, 4);
    assert!(!Value::from(later.clone()).to_string().contains("\"thinking\""), "{later:?}");
    assert_eq!(later[1]["content"], json!([said("I look."), call("a")]));
    assert_eq!(log.requests().len(), 5);
    house.check().await;
}

#[tokio::test]
async fn an_endpoint_that_wants_reasoning_back_gets_it_from_then_on() {
    let function = json!({ "name": "look", "arguments": "{}" });
    let asks = [thinking("hm"), delta(json!({ "tool_calls": [{ "index": 0, "id": "a", "function": function }] }))];
    let provider = with_tool(Scripted::new(
        "scripted",
        [
            Answer::Stream(asks.into_iter().chain(finish("tool_calls")).collect()),
            refused("The `reasoning_content` in the thinking mode must be passed back to the API."),
            answer([thinking("so"), text("A1")]),
            answer([text("A2")]),
        ],
    ));
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("U1").await;
    let turn = house.ended(first.assistant_turn.id).await;
    assert_eq!((turn.status, notices(&turn)[0].1), (TurnStatus::Complete, "reasoning_added"));
    assert_eq!(messages(&log, 1)[1].get("reasoning_content"), None);
    assert_eq!(messages(&log, 2)[1]["reasoning_content"], "hm");
    let second = next(&house, &first, "U2").await;
    let turn = house.ended(second.assistant_turn.id).await;
    assert_eq!((log.requests().len(), notices(&turn).len()), (4, 0));
    let reasoning: Vec<_> = [1, 3].map(|at| messages(&log, 3)[at]["reasoning_content"].clone()).into();
    assert_eq!(reasoning, ["hm", "so"]);
    let made = generations::list(&house.db, house.owner, turn.id).await.unwrap();
    assert_eq!(made[0].request_manifest["turns"][1]["repair"], "reasoning_echoed");
    house.check().await;
}

#[tokio::test]
async fn sealed_items_and_thought_signatures_are_left_out_too() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"});
    let item = |text: &str| json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let responded = |output: &[Value]| {
        let response = json!({"status": "completed", "output": output});
        Answer::Stream(vec![event(json!({"type": "response.completed", "response": response}))])
    };
    let mut bare = item("A1");
    bare.as_object_mut().unwrap().shift_remove("id");
    let chunk = |part: Value| {
        Answer::Stream(vec![Step::event(
            &json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}),
        )])
    };
    let signed = json!({"text": "A1", "thoughtSignature": "s"});
    let responses = ResponsesEndpoint::new(&endpoint(Api::OpenaiResponses), HttpClient::default());
    let gemini = GeminiEndpoint::new(&endpoint(Api::Gemini), HttpClient::default());
    for (provider, key, refusal, whole, left) in [
        (
            Scripted::new(
                "scripted",
                [
                    responded(&[reasoning.clone(), item("A1")]),
                    refused("The encrypted content for item rs_1 could not be verified."),
                    responded(&[reasoning.clone(), item("A2")]),
                    responded(&[item("A3")]),
                ],
            )
            .like(responses),
            "input",
            "reasoning_left_out",
            vec![reasoning.clone(), item("A1")],
            vec![bare],
        ),
        (
            Scripted::new(
                "scripted",
                [
                    chunk(signed.clone()),
                    refused("Corrupted thought signature."),
                    chunk(json!({"text": "A2", "thoughtSignature": "t"})),
                    chunk(json!({"text": "A3"})),
                ],
            )
            .like(gemini),
            "contents",
            "earlier_reasoning_left_out",
            vec![json!({"role": "model", "parts": [signed]})],
            vec![json!({"role": "model", "parts": [{"text": "A1"}]})],
        ),
    ] {
        let log = provider.log();
        let house = House::new(provider).await;
        let first = house.send("U1").await;
        house.ended(first.assistant_turn.id).await;
        let second = next(&house, &first, "U2").await;
        let turn = house.ended(second.assistant_turn.id).await;
        assert_eq!((turn.content_text().as_str(), notices(&turn).len(), log.requests().len()), ("A2", 1, 3), "{key}");
        let between = |at: usize| {
            let all = listed(&log, at, key);
            all[1..all.len() - 1].to_vec()
        };
        assert_eq!((between(1), between(2)), (whole, left.clone()), "{key}");
        let made = generations::list(&house.db, house.owner, turn.id).await.unwrap();
        assert_eq!(made[1].request_manifest["repair"], refusal, "{key}");
        house.ended(next(&house, &second, "U3").await.assistant_turn.id).await;
        assert_eq!(log.requests().len(), 4, "{key}: not refused again");
        let (before, after) = (listed(&log, 2, key), listed(&log, 3, key));
        assert_eq!(after[..before.len()], before[..], "{key}: the accepted prefix stays");
        house.check().await;
    }
}

#[tokio::test]
async fn what_no_other_form_can_help_is_asked_once() {
    for message in ["messages.0.content: Input should be a valid string", SIGNATURE] {
        // There is no earlier reply, so there is nothing to leave out.
        let provider = anthropic([refused(message)]);
        let log = provider.log();
        let house = House::new(provider).await;
        let turn = house.ended(house.send("U1").await.assistant_turn.id).await;
        assert_eq!((turn.status, log.requests().len()), (TurnStatus::Error, 1), "{message}");
        assert_eq!(notices(&turn), []);
        house.check().await;
    }
}

#[tokio::test]
async fn reasoning_that_the_provider_dropped_by_itself_is_said_in_front_of_the_reply() {
    let start = json!({"type": "message_start", "message": {"id": "m", "model": "model-a", "content": [],
        "input_transformations": [{"type": "thinking_dropped"}]}});
    let end = [
        event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})),
        event(json!({"type": "message_stop"})),
    ];
    let steps = [vec![event(start)], blocks(&[thought("s"), said("So.")]), end.into()].concat();
    let house = House::new(anthropic([Answer::Stream(steps)])).await;
    let turn = house.ended(house.send("U1").await.assistant_turn.id).await;
    assert_eq!(notices(&turn), [(0, "reasoning_dropped")]);
    let kinds: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
    assert_eq!(kinds, ["x:notice", "thinking", "thinking_signature", "text", "x:input_transformations"]);
    house.check().await;
}

#[tokio::test]
async fn an_interrupted_reply_goes_back_as_far_as_the_provider_takes_it() {
    let half = [
        vec![begin()],
        blocks(&[thought("one")]),
        vec![
            event(json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}})),
            event(json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "It is"}})),
            Step::Hang,
        ],
    ];
    let provider = anthropic([
        Answer::Stream(half.concat()),
        whole(&[thought("two"), said("A2")], "end_turn"),
        whole(&[said("A3")], "end_turn"),
    ]);
    let log = provider.log();
    let house = House::new(provider).await;
    let first = house.send("U1").await;
    let id = first.assistant_turn.id;
    let mut followed =
        std::pin::pin!(house.service.supervisor().follow(house.owner, id, Cursor::After(0)).await.unwrap().unwrap());
    while let Some(Ok(Followed::Line(line))) = followed.next().await {
        if line.json.contains("It is") {
            break;
        }
    }
    let stopped = house.service.stop_turn(house.owner, id).await.unwrap();
    assert_eq!((stopped.status, stopped.content_text().as_str()), (TurnStatus::Cancelled, "It is"));
    let second = next(&house, &first, "U2").await;
    let turn = house.ended(second.assistant_turn.id).await;
    let expected = json!([
        {"role": "user", "content": [said("U1")]},
        {"role": "assistant", "content": [thought("one"), said("It is")]},
        {"role": "user", "content": [said("U2")]},
    ]);
    assert_eq!(Value::from(messages(&log, 1)), expected);
    assert_eq!(messages(&log, 1)[..1], messages(&log, 0)[..]);
    let made = generations::list(&house.db, house.owner, turn.id).await.unwrap();
    let entry = &made[0].request_manifest["turns"][1];
    assert_eq!((&entry["mode"], &entry["reason"]), (&json!("raw"), &json!("partial")));
    house.ended(next(&house, &second, "U3").await.assistant_turn.id).await;
    assert_eq!(messages(&log, 2)[..3], messages(&log, 1)[..]);
    house.check().await;
}

#[tokio::test]
async fn a_reply_that_the_provider_paused_is_sent_back_and_goes_on() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "trees"}});
    let provider =
        anthropic([whole(&[said("I look."), search.clone()], "pause_turn"), whole(&[said("Oaks.")], "end_turn")]);
    let log = provider.log();
    let house = House::new(provider).await;
    let turn = house.ended(house.send("which?").await.assistant_turn.id).await;
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "I look.Oaks."));
    let sent = messages(&log, 1);
    assert_eq!(sent.len(), 2, "the request ends with the reply as it stands");
    assert_eq!((&sent[1]["role"], &sent[1]["content"][1]), (&json!("assistant"), &search));
    let generations = generations::list(&house.db, house.owner, turn.id).await.unwrap();
    assert_eq!(
        generations.iter().map(|generation| generation.status).collect::<Vec<_>>(),
        [GenerationStatus::Complete; 2]
    );
    house.check().await;
}

#[tokio::test]
async fn a_provider_that_speaks_another_api_now_gets_earlier_replies_as_text() {
    let house = House::new(anthropic([whole(&[thought("s"), said("Oaks.")], "end_turn")])).await;
    let first = house.send("which?").await;
    house.ended(first.assistant_turn.id).await;
    let chat = Scripted::new("scripted", [answer([text("Yes.")])]);
    let log = chat.log();
    let house = House::open(house.dir, chat).await;
    let second = next(&house, &first, "sure?").await;
    house.ended(second.assistant_turn.id).await;
    assert_eq!(messages(&log, 0)[1], json!({"role": "assistant", "content": "Oaks."}));
    house.check().await;
}
