//! Questions of a real server program during a call, and its instructions.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use turnleaf::domain::tools::elicitation::{ElicitationAction, ElicitationAnswer, KeyedAnswer};
use turnleaf_tools::mcp::McpServerState;
use turnleaf_tools::mcp::prompt::{PromptAnswer, PromptRequest};
use turnleaf_tools::question::{QuestionEvent, ToolQuestion};
use turnleaf_tools::toolbox::{CallOutcome, RunningCall};

use crate::mcp_fixtures::{
    LONG, call_tool, impatient_servers, misbehaving_servers, outcome_text, server_key, start_call, wait_for_state,
};

/// Returns the arguments of a call during which the server asks.
fn asking(params: Value) -> Value {
    json!({ "method": "elicitation/create", "params": params })
}

fn city_form() -> Value {
    let schema = json!({ "type": "object", "required": ["city"],
        "properties": { "city": { "type": "string" }, "again": { "type": "boolean" } } });
    json!({ "message": "Where \u{1b}[1mto?", "requestedSchema": schema })
}

async fn next_event(call: &mut RunningCall) -> QuestionEvent {
    let questions = call.questions.as_mut().expect("it can ask");
    let next = async {
        tokio::select! {
            event = questions.events.recv() => event.expect("the call runs"),
            ended = &mut call.result => panic!("it ended: {ended:?}"),
        }
    };
    timeout(LONG, next).await.expect("it asks")
}

pub async fn next_question(call: &mut RunningCall) -> ToolQuestion {
    match next_event(call).await {
        QuestionEvent::Asked(question) => question,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answer_of_user_reaches_server() {
    let servers = misbehaving_servers("good");
    for (answer, expected) in [
        (
            ElicitationAnswer::Accept(Map::from_iter([("city".to_owned(), json!("Bergen"))])),
            r#""action":"accept","content":{"city":"Bergen"}"#,
        ),
        (ElicitationAnswer::Decline, r#""action":"decline""#),
        (ElicitationAnswer::Cancel, r#""action":"cancel""#),
    ] {
        let mut call = start_call(&servers, "ask_client", asking(city_form()));
        let ToolQuestion { request, answer: sender, .. } = next_question(&mut call).await;
        assert_eq!((request.server.as_str(), request.message.as_str()), ("Test", "Where to?"));
        let names: Vec<&str> = request.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["city", "again"], "in the order of the server");
        sender.send(answer).unwrap();
        let outcome = timeout(LONG, call.result).await.unwrap();
        assert!(outcome_text(&outcome).replace(' ', "").contains(expected), "{outcome:?}");
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn time_of_open_question_counts_for_no_limit() {
    let short = Duration::from_millis(1500);
    let servers = impatient_servers("good", short, 2 * short);
    // The server starts within its own limit.
    call_tool(&servers, "echo", json!({ "text": "up" })).await;
    let mut call = start_call(&servers, "ask_client", asking(city_form()));
    let question = next_question(&mut call).await;
    let waited = timeout(3 * short, &mut call.result).await;
    assert!(waited.is_err(), "the call still waits: {waited:?}");
    question.answer.send(ElicitationAnswer::Decline).unwrap();
    assert_eq!(timeout(LONG, call.result).await.unwrap().outcome, CallOutcome::Done);
    servers.shut_down().await;
}

#[tokio::test]
async fn forms_that_cannot_be_shown_are_refused() {
    let servers = misbehaving_servers("good");
    for (params, reason) in [
        (json!({ "mode": "url", "message": "x", "url": "javascript:alert(1)", "elicitationId": "1" }), "-32602"),
        (
            json!({ "message": "x", "requestedSchema": { "type": "object", "properties": { "a": { "type": "object" } } } }),
            "error",
        ),
    ] {
        let outcome = call_tool(&servers, "ask_client", asking(params.clone())).await;
        assert!(outcome_text(&outcome).contains(reason), "{params}: {outcome:?}");
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn end_of_page_is_reported_to_its_question() {
    let servers = misbehaving_servers("good");
    let page =
        json!({ "mode": "url", "message": "Sign in.", "url": "https://auth.example/start", "elicitationId": "e-1" });
    let mut call = start_call(&servers, "ask_client", asking(page));
    let question = next_question(&mut call).await;
    let page = question.request.page.expect("a page");
    assert_eq!((page.host.as_str(), page.url.as_str()), ("auth.example", "https://auth.example/start"));
    // The server reports the end through another call, which never answers.
    let _reporting = start_call(&servers, "complete_page", json!({ "id": "e-1" }));
    assert!(matches!(next_event(&mut call).await, QuestionEvent::Completed(id) if id == "e-1"));
    question.answer.send(ElicitationAnswer::Accept(Map::new())).unwrap();
    let outcome = timeout(LONG, call.result).await.unwrap();
    assert!(outcome_text(&outcome).contains("accept"), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn call_that_needs_page_first_ends_at_once_and_runs_when_it_is_called_again() {
    let servers = misbehaving_servers("good");
    let mut call = start_call(&servers, "sign_in", json!({}));
    let mut questions = call.questions.take().expect("it can tell");
    let outcome = timeout(LONG, call.result).await.expect("nothing waits for the user");
    assert_eq!(outcome.outcome, CallOutcome::Failed);
    let words = outcome_text(&outcome);
    assert!(words.contains("The user must open: https://auth.example/start (Sign in.)"), "{words}");
    let Ok(QuestionEvent::Required(request)) = questions.events.try_recv() else { panic!("it is told") };
    assert_eq!(request.page.map(|page| page.host).as_deref(), Some("auth.example"));
    assert_eq!(outcome_text(&call_tool(&servers, "sign_in", json!({})).await), "signed in");
    servers.shut_down().await;
}

#[tokio::test]
async fn instructions_are_sanitized() {
    let servers = misbehaving_servers("instructs");
    let status = wait_for_state(&servers, McpServerState::Ready).await;
    assert_eq!(status.instructions.as_deref(), Some("Call echo first.\u{202e}"));
    servers.shut_down().await;
}

#[tokio::test]
async fn prompt_is_given_after_answers_of_user() {
    let servers = misbehaving_servers("good");
    call_tool(&servers, "echo", json!({ "text": "up" })).await;
    let key = server_key("bad");
    let request = PromptRequest { name: "review".into(), ..PromptRequest::default() };
    let PromptAnswer::Asks(open) = servers.prompt(&key, request.clone()).await.unwrap() else { panic!("it asks") };
    assert_eq!((open.questions.len(), open.state.as_deref()), (1, Some("s1")));
    let question = &open.questions[0];
    assert_eq!((question.key.as_str(), question.request.message.as_str()), ("length", "How many days?"));
    let content = json!({ "days": 3 }).as_object().cloned();
    let answer = KeyedAnswer { key: "length".into(), action: ElicitationAction::Accept, content };
    let answered = PromptRequest { answers: vec![answer], state: open.state, ..request };
    let given = servers.prompt(&key, answered).await.unwrap();
    let text = r#""s1" {"action":"accept","content":{"days":3}}"#;
    assert_eq!(given, PromptAnswer::Text(text.into()));
    servers.shut_down().await;
}
