//! Arguments that a person edits before allowing a call: what runs, what is stored, what the model is told, and what
//! exports show. Every test with a reply ends with the invariant checker.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf::domain::{Content, Event, Turn, TurnId, limits};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::accounts::Actor;
use turnleaf_service::tools::calls::CallDecision;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{
    is_waiting_for_approval, pending_approvals, results, statuses, tool_call_answer, tool_results_sent, tool_use_blocks,
};
use crate::toolbox::{FakeToolbox, ToolBehavior};
use crate::tools_api::{api_with_tools, store_offered_tools, tool};

const NOTE: &str = r#"[The user edited this call. Its arguments are: {"a":2}]"#;

fn provider(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

fn writing() -> [ScriptedAnswer; 3] {
    [
        tool_call_answer([text_step("I write.")], &[("lab__write", r#"{"a": 1}"#)]),
        streamed_answer([text_step("Written.")]),
        streamed_answer([text_step("Yes.")]),
    ]
}

/// Allows the waiting call of a turn with other arguments.
async fn allow_edited(instance: &TestServer, id: TurnId, arguments: Value) {
    let (call, ask) = pending_approvals(&instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    let answer = CallDecision { arguments: Some(arguments), ..CallDecision::new(&ask.hash, ApprovalDecision::Allow) };
    instance.service.decide_tool_call(instance.owner, Actor::default(), (id, call.id), answer).await.unwrap();
}

/// Returns the present arguments of the first call of a turn, and those that the model wrote.
fn arguments(turn: &Turn) -> (Value, Value) {
    let call = tool_use_blocks(turn)[0];
    let Content::ToolUse { arguments, .. } = &call.content else { panic!("{call:?}") };
    (arguments.clone(), call.block_metadata["edited"]["arguments"].clone())
}

#[tokio::test]
async fn edited_call_runs_and_model_is_told_beside_its_own_call() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let shared = provider([]);
    let log = shared.log();
    let of = || {
        writing().into_iter().for_each(|answer| shared.push_answer(answer));
        shared.clone()
    };
    // All databases share one provider.
    for (n, instance) in
        TestServer::on_every_database_with_tools(of, || Arc::new(lab.clone())).await.into_iter().enumerate()
    {
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        allow_edited(&instance, id, json!({ "a": 2 })).await;
        let turn = instance.wait_until_complete(id).await;
        assert_eq!((statuses(&turn), results(&turn)), (vec![ToolStatus::Done], vec![json!({ "a": 2 })]));
        assert_eq!(arguments(&turn), (json!({ "a": 2 }), json!({ "a": 1 })));
        let stored = instance.service.turn(instance.owner, id).await.unwrap();
        assert_eq!(arguments(&stored), (json!({ "a": 2 }), json!({ "a": 1 })));
        let events = instance.follow_events(id, 0).await;
        let edits = events.iter().filter(|(_, event)| matches!(event, Event::CallEdited { .. })).count();
        assert_eq!(edits, 1);

        // The model's turn stays as it wrote it, also in later replies; the result tells what ran.
        instance.wait_until_complete(instance.send_to(chat, "and?").await.assistant_turn.id).await;
        for (request, at) in [(1, 2), (2, 2)] {
            let sent = &tool_results_sent(&log, 3 * n + request)[at];
            assert_eq!(*sent, format!("{{\"a\":2}}\n\n{NOTE}"));
            let body: Value = serde_json::from_slice(&log.requests()[3 * n + request]).unwrap();
            assert_eq!(body["messages"][at - 1]["tool_calls"][0]["function"]["arguments"], r#"{"a": 1}"#);
        }
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn edit_survives_restart_before_call_runs() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let calls = || [tool_call_answer([], &[("lab__write", r#"{"a":1}"#), ("lab__write", r#"{"a":5}"#)])];
    for instance in TestServer::on_every_database_with_tools(|| provider(calls()), || Arc::new(lab.clone())).await {
        let before = lab.run_count("write");
        // The first call is allowed and never begins, and the second one still asks.
        lab.hold_allowed_calls(true);
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(id, |turn| pending_approvals(turn).len() == 2).await;
        allow_edited(&instance, id, json!({ "a": 2 })).await;
        lab.hold_allowed_calls(false);
        let next = provider([streamed_answer([text_step("Done.")])]);
        let log = next.log();
        let instance = instance.restart_after_kill(next, Arc::new(lab.clone())).await;
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(arguments(&turn), (json!({ "a": 2 }), json!({ "a": 1 })));
        assert_eq!(results(&turn), [json!({ "a": 2 }), json!({ "a": 5 })]);
        assert_eq!(lab.run_count("write"), before + 2);
        assert!(tool_results_sent(&log, 0).iter().any(|text| text.contains(NOTE)));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn exports_show_both_versions() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let registry = turnleaf_providers::registry::ProviderRegistry::from_providers(vec![(
        Arc::new(provider(writing())),
        vec!["model-a".into()],
    )]);
    let instance = TestServer::with_tools(registry, Arc::new(lab.clone())).await;
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let id = instance.send_to(chat, "go").await.assistant_turn.id;
    allow_edited(&instance, id, json!({ "a": "edited" })).await;
    instance.wait_until_complete(id).await;
    instance.check_invariants().await;
    let api = TestApi::with_server(instance);
    let body = async |format: &str| {
        let request = http::Request::builder()
            .uri(format!("/api/chats/{chat}/export?format={format}&tools=full"))
            .header("host", "127.0.0.1:3000")
            .body(axum::body::Body::empty())
            .unwrap();
        let response = api.send(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let markdown = body("markdown").await;
    let (edited, written) = markdown.split_once("The model wrote:").unwrap();
    assert!(edited.contains("\"a\": \"edited\"") && written.contains("\"a\": 1"), "{markdown}");
    let html = body("html").await;
    assert!(html.contains("Edited by you. The model wrote:"), "{html}");
    let (_, turn) = api.call("GET", &format!("/api/turns/{id}"), None).await;
    let call = turn["blocks"].as_array().unwrap().iter().find(|block| block["type"] == "tool_use").unwrap();
    assert_eq!(
        (&call["arguments"]["a"], &call["block_metadata"]["edited"]["arguments"]["a"]),
        (&json!("edited"), &json!(1))
    );
}

/// Returns a reply that waits for the approval of a call of `notes/add`, with the path of the call.
async fn waiting_call(api: &TestApi) -> (TurnId, String, String) {
    store_offered_tools(api, "notes", &[tool("add", "Adds.")]).await;
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({ "tools": { "on": ["notes/*"] } }))).await;
    let path = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
    let (_, started) = api.call("POST", &path, Some(json!({ "text": "hi" }))).await;
    let id: TurnId = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
    let (call, ask) = pending_approvals(&api.instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    (id, format!("{}", call.id), ask.hash)
}

fn note_calls() -> [ScriptedAnswer; 2] {
    [tool_call_answer([], &[("notes__add", r#"{"path": "/a"}"#)]), streamed_answer([text_step("Done.")])]
}

#[tokio::test]
async fn wrong_edit_is_refused_at_its_place() {
    let api = api_with_tools(note_calls()).await;
    let (id, block, hash) = waiting_call(&api).await;
    let path = format!("/api/turns/{id}/calls/{block}");
    let post = async |decision: &str, arguments: Value| {
        let body = json!({ "decision": decision, "hash": hash, "arguments": arguments });
        let (status, problem) = api.call("POST", &path, Some(body)).await;
        (status.as_u16(), problem["errors"].clone(), problem)
    };
    for (decision, arguments, field) in [
        ("allow", json!({ "path": 1 }), "arguments/path"),
        ("allow", json!(["/a"]), "arguments"),
        ("allow", json!({ "path": "x".repeat(limits::TOOL_ARGS_BYTES) }), "arguments"),
        ("deny", json!({ "path": "/b" }), "arguments"),
    ] {
        let (status, _, problem) = post(decision, arguments).await;
        assert!(problem.to_string().contains(&format!("\"{field}\"")), "{field}: {problem}");
        assert!((400..=422).contains(&status), "{status} {problem}");
    }
    let waiting = api.instance.service.turn(api.instance.owner, id).await.unwrap();
    assert!(is_waiting_for_approval(&waiting) && arguments(&waiting).1.is_null());
    // The arguments of the model are no edit.
    assert_eq!(post("allow", json!({ "path": "/a" })).await.0, 200);
    let turn = api.instance.wait_until_complete(id).await;
    assert_eq!(arguments(&turn), (json!({ "path": "/a" }), Value::Null));
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn page_edits_call_without_script_and_keeps_what_was_typed() {
    let api = api_with_tools(note_calls()).await;
    let (id, block, hash) = waiting_call(&api).await;
    let page = api.get_page(&format!("/turns/{id}/calls/{block}")).await;
    assert!(page.contains("&quot;path&quot;: &quot;/a&quot;") || page.contains("\"path\": \"/a\""), "{page}");
    let turn_id = id.to_string();
    let fields = |typed: &'static str| {
        [
            ("turn", turn_id.as_str()),
            ("block", block.as_str()),
            ("hash", hash.as_str()),
            ("page", "1"),
            ("decision", "allow"),
            ("arguments", typed),
        ]
    };
    for (typed, reason) in
        [("{ \"path\":\n", "line 2"), ("{ \"path\": 1 }", "arguments/path"), ("[]", "must be an object")]
    {
        let (status, page) = api.post_form("/forms/call", &fields(typed)).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
        assert!(page.contains(reason) && page.contains("Nothing was run. Correct the arguments."), "{reason}: {page}");
    }
    let (status, to) = api.post_form("/forms/call", &fields("{ \"path\": \"/b\", }")).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert!(to.contains(&format!("at={id}")), "{to}");
    let turn = api.instance.wait_until_complete(id).await;
    assert_eq!(arguments(&turn), (json!({ "path": "/b" }), json!({ "path": "/a" })));
    // The page of an answered call leads back to the reply.
    let request = http::Request::builder().uri(format!("/turns/{id}/calls/{block}")).header("host", "127.0.0.1:3000");
    let answered = api.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(answered.status(), StatusCode::SEE_OTHER);
    api.instance.check_invariants().await;
}
