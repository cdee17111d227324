//! Questions of tool servers to the user during a call: stored, answered, refused, stopped, expired. Every test ends
//! with the invariant checker.

use std::sync::Arc;

use http::{Request, StatusCode};
use serde_json::{Map, Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::elicitation::{
    Elicitation, ElicitationAnswer, ElicitationOutcome, ElicitationPage, ElicitationRequest, parse_fields,
};
use turnleaf::domain::turns::user_input_wait::{UserInputKind, pending_user_input};
use turnleaf::domain::{BlockId, Turn, TurnId, TurnStatus};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::ServiceError;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{results, statuses, tool_call_answer, tool_results_sent, tool_use_blocks};
use crate::toolbox::{FakeToolbox, ToolBehavior};

fn form() -> ElicitationRequest {
    let schema = json!({ "required": ["city"], "properties": {
        "city": { "type": "string", "title": "The city" }, "days": { "type": "integer", "minimum": 1 },
    } });
    let fields = parse_fields(&schema, &["city".into(), "days".into()]).unwrap();
    ElicitationRequest { server: "The lab".into(), message: "Where to?".into(), fields, page: None }
}

fn page() -> ElicitationRequest {
    let page = ElicitationPage {
        url: "https://auth.example/start?x=1".into(),
        host: "auth.example".into(),
        elicitation_id: "e-1".into(),
    };
    ElicitationRequest { fields: Vec::new(), page: Some(page), ..form() }
}

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

fn asking_steps() -> [ScriptedAnswer; 2] {
    [tool_call_answer([], &[("lab__ask", "{}")]), streamed_answer([text_step("Done.")])]
}

fn is_asking(turn: &Turn) -> bool {
    pending_user_input(turn) == Some(UserInputKind::Elicitation)
}

fn asked(turn: &Turn) -> (BlockId, Elicitation) {
    let call = tool_use_blocks(turn)[0];
    (call.id, Elicitation::list(call).pop().unwrap())
}

fn content(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// Starts a reply whose tool asks the user.
async fn start_asking(instance: &TestServer, lab: &FakeToolbox) -> (TurnId, BlockId, Elicitation) {
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    let (block, question) = asked(&instance.wait_until(id, is_asking).await);
    (id, block, question)
}

#[tokio::test]
async fn question_is_stored_and_its_checked_answer_reaches_tool() {
    let lab = FakeToolbox::default().with_tool("ask", ToolBehavior::Asks(form()));
    for instance in
        TestServer::on_every_database_with_tools(|| provider(asking_steps()), || Arc::new(lab.clone())).await
    {
        let (id, block, question) = start_asking(&instance, &lab).await;
        let stored = instance.service.turn(instance.owner, id).await.unwrap();
        assert_eq!((statuses(&stored), asked(&stored).1.request), (vec![ToolStatus::Running], form()));
        assert_eq!(instance.service.supervisor().running_count(), 0, "it waits for a person");
        instance.check_invariants().await;
        let answer = |answer| instance.service.answer_elicitation(instance.owner, (id, block), question.id, answer);
        for (given, field) in [
            (json!({}), "content/city"),
            (json!({ "city": "Bergen", "days": 0 }), "content/days"),
            (json!({ "city": "Bergen", "x": 1 }), "content/x"),
        ] {
            let refused = answer(ElicitationAnswer::Accept(content(given))).await;
            assert!(matches!(refused, Err(ServiceError::Invalid(invalid)) if invalid.field == field), "{field}");
        }
        let stranger = turnleaf_platform::ids::mint();
        let decline = ElicitationAnswer::Decline;
        let foreign = instance.service.answer_elicitation(stranger, (id, block), question.id, decline.clone()).await;
        assert!(matches!(foreign, Err(ServiceError::NotFound)));
        let other = turnleaf_platform::ids::mint();
        let other = instance.service.answer_elicitation(instance.owner, (id, block), other, decline.clone()).await;
        assert!(matches!(other, Err(ServiceError::Conflict { code: "not_asked", .. })));
        answer(ElicitationAnswer::Accept(content(json!({ "city": "Bergen", "days": 3.0 })))).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        let given = json!({ "city": "Bergen", "days": 3 });
        assert_eq!(results(&turn), std::slice::from_ref(&given));
        let ended = asked(&instance.service.turn(instance.owner, id).await.unwrap()).1;
        assert_eq!(
            (ended.outcome, ended.content.map(Value::Object)),
            (Some(ElicitationOutcome::Accepted), Some(given))
        );
        assert!(matches!(answer(decline).await, Err(ServiceError::Conflict { code: "not_asked", .. })));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn model_is_not_told_what_user_declined() {
    let lab = FakeToolbox::default().with_tool("ask", ToolBehavior::Asks(page()));
    let scripted = provider(asking_steps());
    let log = scripted.log();
    let registry = turnleaf_providers::registry::ProviderRegistry::from_providers(vec![(
        Arc::new(scripted),
        vec!["model-a".into()],
    )]);
    let instance = TestServer::with_tools(registry, Arc::new(lab.clone())).await;
    let (id, block, question) = start_asking(&instance, &lab).await;
    let with_content = ElicitationAnswer::Accept(content(json!({ "city": "x" })));
    let refused = instance.service.answer_elicitation(instance.owner, (id, block), question.id, with_content).await;
    assert!(matches!(refused, Err(ServiceError::Invalid(invalid)) if invalid.field == "content"));
    let decline = ElicitationAnswer::Decline;
    instance.service.answer_elicitation(instance.owner, (id, block), question.id, decline).await.unwrap();
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(asked(&turn).1.outcome, Some(ElicitationOutcome::Declined));
    let sent = tool_results_sent(&log, 1);
    assert!(sent.last().is_some_and(|text| text.contains("declined")), "{sent:?}");
    assert!(sent.iter().all(|text| !text.contains("auth.example")), "{sent:?}");
    instance.check_invariants().await;
}

#[tokio::test]
async fn page_that_must_be_opened_first_is_kept_with_its_call_and_nothing_waits() {
    let lab = FakeToolbox::default().with_tool("ask", ToolBehavior::RequiresPage(page()));
    for instance in
        TestServer::on_every_database_with_tools(|| provider(asking_steps()), || Arc::new(lab.clone())).await
    {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        let turn = instance.wait_until_complete(id).await;
        assert_eq!((statuses(&turn), pending_user_input(&turn)), (vec![ToolStatus::Failed], None));
        let (block, told) = asked(&turn);
        assert_eq!((told.outcome, told.request), (Some(ElicitationOutcome::Required), page()));
        assert_eq!(Elicitation::required_pages(tool_use_blocks(&turn)[0]), Vec::from_iter(page().page));
        let late =
            instance.service.answer_elicitation(instance.owner, (id, block), told.id, ElicitationAnswer::Decline);
        assert!(matches!(late.await, Err(ServiceError::Conflict { code: "not_asked", .. })));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn stop_cancels_question_and_leaves_it_expired() {
    let lab = FakeToolbox::default().with_tool("ask", ToolBehavior::Asks(form()));
    for instance in
        TestServer::on_every_database_with_tools(|| provider(asking_steps()), || Arc::new(lab.clone())).await
    {
        let (id, block, question) = start_asking(&instance, &lab).await;
        let turn = instance.service.stop_turn(instance.owner, id).await.unwrap();
        assert_eq!((turn.status, statuses(&turn)), (TurnStatus::Cancelled, vec![ToolStatus::Cancelled]));
        assert_eq!((asked(&turn).1.outcome, pending_user_input(&turn)), (None, None));
        let late =
            instance.service.answer_elicitation(instance.owner, (id, block), question.id, ElicitationAnswer::Decline);
        assert!(matches!(late.await, Err(ServiceError::Conflict { code: "not_asked", .. })));
        assert_eq!(asked(&instance.service.turn(instance.owner, id).await.unwrap()).1.outcome, None);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn one_of_two_answers_at_once_counts() {
    let lab = FakeToolbox::default().with_tool("ask", ToolBehavior::Asks(form()));
    for instance in
        TestServer::on_every_database_with_tools(|| provider(asking_steps()), || Arc::new(lab.clone())).await
    {
        let (id, block, question) = start_asking(&instance, &lab).await;
        let answer = |answer| instance.service.answer_elicitation(instance.owner, (id, block), question.id, answer);
        let city = |city: &str| ElicitationAnswer::Accept(content(json!({ "city": city })));
        let (one, other) = tokio::join!(answer(city("Bergen")), answer(city("Oslo")));
        let (accepted, refused) = match (one.is_ok(), other) {
            (true, refused) => ("Bergen", refused),
            (false, other) => ("Oslo", other.and(one)),
        };
        assert!(matches!(refused, Err(ServiceError::Conflict { code: "not_asked", .. })));
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(results(&turn), [json!({ "city": accepted })]);
        let ended = asked(&instance.service.turn(instance.owner, id).await.unwrap()).1;
        assert_eq!(ended.content.map(Value::Object), Some(json!({ "city": accepted })));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn question_expires_with_restart() {
    let lab = FakeToolbox::default().with_tool("ask", ToolBehavior::Asks(form()));
    for instance in
        TestServer::on_every_database_with_tools(|| provider(asking_steps()), || Arc::new(lab.clone())).await
    {
        let (id, block, question) = start_asking(&instance, &lab).await;
        let instance = instance.restart_after_kill(provider([]), Arc::new(lab.clone())).await;
        let turn = instance.service.turn(instance.owner, id).await.unwrap();
        assert_eq!((turn.status, asked(&turn).1), (TurnStatus::Error, question.clone()));
        let late =
            instance.service.answer_elicitation(instance.owner, (id, block), question.id, ElicitationAnswer::Cancel);
        assert!(matches!(late.await, Err(ServiceError::Conflict { code: "not_asked", .. })));
        instance.check_invariants().await;
        instance.close().await;
    }
}

async fn submit(api: &TestApi, fields: &str) -> (StatusCode, String) {
    submit_to(api, "/forms/elicitation", fields).await
}

/// Sends a form and returns the status and the page.
async fn submit_to(api: &TestApi, path: &str, fields: &str) -> (StatusCode, String) {
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(axum::body::Body::from(fields.to_owned()))
        .unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

#[tokio::test]
async fn form_and_api_answer_and_exports_show_answers() {
    let lab = FakeToolbox::default().with_tool("ask", ToolBehavior::Asks(form()));
    let steps = asking_steps().into_iter().chain(asking_steps());
    let registry = turnleaf_providers::registry::ProviderRegistry::from_providers(vec![(
        Arc::new(provider(steps)),
        vec!["model-a".into()],
    )]);
    let api = TestApi::with_server(TestServer::with_tools(registry, Arc::new(lab.clone())).await);
    let instance = &api.instance;
    let (id, block, question) = start_asking(instance, &lab).await;
    let form = format!("turn={id}&block={block}&question={}", question.id);
    // Without script, the page keeps what was typed; with it, the problem names the field by its label.
    let (status, html) = submit(&api, &format!("{form}&action=accept&field0=Bergen&field1=x")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html.contains("value=\"Bergen\"") && html.contains("must be a number"), "{html}");
    let (status, problem) = submit(&api, &format!("{form}&action=accept&field0=&stay=1")).await;
    assert!(status.is_client_error() && problem.contains("The city"), "{problem}");
    let (status, _) = submit(&api, &format!("{form}&action=accept&field0=Bergen&field1=4&stay=1")).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let turn = instance.wait_until_complete(id).await;
    assert_eq!(results(&turn), [json!({ "city": "Bergen", "days": 4 })]);

    let (id, block, question) = start_asking(instance, &lab).await;
    let path = format!("/api/turns/{id}/calls/{block}/answer");
    let body =
        |action: &str, content: Value| json!({ "elicitation_id": question.id, "action": action, "content": content });
    let (status, _) = api.call("POST", &path, Some(body("decline", json!({ "city": "x" })))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, problem) = api.call("POST", &path, Some(body("accept", json!({ "city": 3 })))).await;
    assert_eq!((status, &problem["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("content/city")));
    let (status, _) = api.call("POST", &path, Some(body("accept", json!({ "city": "Oslo" })))).await;
    assert_eq!(status, StatusCode::OK);
    let chat = instance.wait_until_complete(id).await.chat_id;
    for (format, expected) in [("markdown", "The city: Oslo"), ("html", "Oslo")] {
        let request = Request::builder()
            .uri(format!("/api/chats/{chat}/export?format={format}&tools=full"))
            .header("host", "127.0.0.1:3000")
            .body(axum::body::Body::empty())
            .unwrap();
        let response = api.send(request).await;
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("Where to?") && text.contains(expected), "{format}: {text}");
    }
    instance.check_invariants().await;
}

/// Requests the page of a resource of a server that does not exist, with this origin of the request.
async fn resource_page(api: &TestApi, method: &str, site: Option<&str>) -> (StatusCode, String) {
    let fields = "server=nobody&uri=note%3A7";
    let (path, body) = match method {
        "GET" => (format!("/insert/view?{fields}"), String::new()),
        _ => ("/forms/insert/view".to_owned(), fields.to_owned()),
    };
    let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:3000");
    if let Some(site) = site {
        request = request.header("sec-fetch-site", site);
    }
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let response = api.send(request.body(axum::body::Body::from(body)).unwrap()).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

#[tokio::test]
async fn resource_is_read_only_by_own_link_or_button() {
    let provider = ScriptedProvider::new("scripted", []);
    let registry = turnleaf_providers::registry::ProviderRegistry::from_providers(vec![(
        Arc::new(provider),
        vec!["model-a".into()],
    )]);
    let api = TestApi::with_server(TestServer::with_tools(registry, Arc::new(FakeToolbox::default())).await);
    // Reading fails because there is no such server, and only then.
    for (method, site, expected) in [
        ("GET", None, StatusCode::OK),
        ("GET", Some("cross-site"), StatusCode::OK),
        ("GET", Some("same-site"), StatusCode::OK),
        ("GET", Some("none"), StatusCode::OK),
        ("GET", Some("same-origin"), StatusCode::NOT_FOUND),
        ("POST", Some("same-origin"), StatusCode::NOT_FOUND),
        ("POST", Some("cross-site"), StatusCode::FORBIDDEN),
    ] {
        let (status, html) = resource_page(&api, method, site).await;
        assert_eq!(status, expected, "{method} {site:?}: {html}");
        assert_eq!(html.contains("formaction=\"/forms/insert/view\""), expected == StatusCode::OK, "{method} {site:?}");
    }
}

#[tokio::test]
async fn suggestions_are_asked_for_one_known_subject() {
    let provider = ScriptedProvider::new("scripted", []);
    let registry = turnleaf_providers::registry::ProviderRegistry::from_providers(vec![(
        Arc::new(provider),
        vec!["model-a".into()],
    )]);
    let api = TestApi::with_server(TestServer::with_tools(registry, Arc::new(FakeToolbox::default())).await);
    for (body, status, field) in [
        (json!({ "prompt": "review", "argument": "style" }), StatusCode::NOT_FOUND, Value::Null),
        (json!({ "template": "a:{b}", "argument": "b" }), StatusCode::NOT_FOUND, Value::Null),
        (json!({ "argument": "style" }), StatusCode::UNPROCESSABLE_ENTITY, json!("prompt")),
        (
            json!({ "prompt": "review", "template": "a:{b}", "argument": "b" }),
            StatusCode::UNPROCESSABLE_ENTITY,
            json!("template"),
        ),
        (
            json!({ "prompt": "review", "argument": "style", "arguments": { "n": 1 } }),
            StatusCode::UNPROCESSABLE_ENTITY,
            json!("arguments/n"),
        ),
    ] {
        let (found, problem) = api.call("POST", "/api/tool-servers/nobody/suggestions", Some(body.clone())).await;
        assert_eq!((found, &problem["field"]), (status, &field), "{body}: {problem}");
    }
}

#[tokio::test]
async fn questions_before_prompt_are_answered_one_by_one() {
    let provider = ScriptedProvider::new("scripted", []);
    let registry = turnleaf_providers::registry::ProviderRegistry::from_providers(vec![(
        Arc::new(provider),
        vec!["model-a".into()],
    )]);
    let api = TestApi::with_server(TestServer::with_tools(registry, Arc::new(FakeToolbox::default())).await);
    let open =
        json!({ "questions": [{ "key": "a", "request": form() }, { "key": "b", "request": page() }], "state": "s" });
    let pending = |given: Value| {
        let pending = json!({ "chat": null, "server": "nobody", "prompt": "plan", "arguments": {}, "open": open,
            "given": given });
        turnleaf::domain::encoding::url_encoding::encode(&pending.to_string())
    };
    let first = pending(json!([]));
    let (status, html) =
        submit_to(&api, "/forms/insert/answer", &format!("pending={first}&action=accept&field0=&field1=x")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html.contains("Question 1 of 2") && html.contains("aria-invalid"), "{html}");
    let answer = "action=accept&field0=Bergen&field1=4";
    let (status, html) = submit_to(&api, "/forms/insert/answer", &format!("pending={first}&{answer}")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(html.contains("Question 2 of 2") && html.contains("/leave?to=https%3A%2F%2Fauth.example"), "{html}");
    assert!(html.contains("&quot;days&quot;:4") && !html.contains("name=\"turn\""), "{html}");
    // Only now the server is asked, and there is none.
    let given = json!([{ "key": "a", "action": "accept", "content": { "city": "Bergen" } }]);
    let last = pending(given);
    for (fields, expected) in [
        (format!("pending={last}&action=decline"), StatusCode::NOT_FOUND),
        ("pending=x&action=accept".to_owned(), StatusCode::NOT_FOUND),
    ] {
        let (status, html) = submit_to(&api, "/forms/insert/answer", &fields).await;
        assert_eq!(status, expected, "{fields}: {html}");
    }
    for (answers, status, field) in [
        (json!([{ "key": "a", "action": "decline" }]), StatusCode::NOT_FOUND, Value::Null),
        (
            json!([{ "key": "a", "action": "decline", "content": {} }]),
            StatusCode::UNPROCESSABLE_ENTITY,
            json!("answers/0/content"),
        ),
        (
            json!(vec![json!({ "key": "a", "action": "cancel" }); 17]),
            StatusCode::UNPROCESSABLE_ENTITY,
            json!("answers"),
        ),
    ] {
        let body = json!({ "name": "plan", "answers": answers, "state": "s" });
        let (found, problem) = api.call("POST", "/api/tool-servers/nobody/prompts", Some(body)).await;
        assert_eq!((found, &problem["field"]), (status, &field), "{problem}");
    }
}
