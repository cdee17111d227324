//! Pages of tool servers for the results of their tools: their content, their readers and their lifetime.

use std::sync::Arc;

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use serde_json::json;
use turnleaf::domain::id::is_imported;
use turnleaf::domain::{BlockId, ChatId, Turn, TurnId, UserId};
use turnleaf_platform::ids;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_tools::toolbox::NoTools;

use crate::http_api::TestApi;
use crate::interchange::{export_archive, import_file};
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{tool_call_answer, tool_results_sent, tool_use_blocks};
use crate::toolbox::{FakeToolbox, ToolBehavior};

const PAGE: &str = "<!doctype html><script>parent.postMessage({}, '*')</script>";

fn lab() -> FakeToolbox {
    FakeToolbox::default().with_tool("show", ToolBehavior::ReturnsView(PAGE)).with_tool("echo", ToolBehavior::Echo)
}

fn provider() -> ScriptedProvider {
    let calls = [("lab__show", r#"{"day": 1}"#), ("lab__echo", "{}")];
    ScriptedProvider::new("scripted", [tool_call_answer([], &calls), streamed_answer([text_step("Done.")])])
}

/// Runs both tools; returns the reply and the blocks of its calls.
async fn run_tools(instance: &TestServer, lab: &FakeToolbox) -> (Turn, [BlockId; 2]) {
    let chat = instance.chat_with_tools(&lab.offered_tools()).await;
    let turn = instance.wait_until_complete(instance.send_to(chat, "go").await.assistant_turn.id).await;
    let calls = tool_use_blocks(&turn);
    let ids = [calls[0].id, calls[1].id];
    (turn, ids)
}

fn address(turn: TurnId, call: BlockId) -> String {
    format!("/turns/{turn}/calls/{call}/view")
}

async fn get(api: &TestApi, path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, headers, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn page_is_served_as_stored_after_its_server_is_gone() {
    let lab = lab();
    for instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, [call, _]) = run_tools(&instance, &lab).await;
        instance.check_invariants().await;
        let instance = instance.restart_after_kill(ScriptedProvider::new("scripted", []), Arc::new(NoTools)).await;
        let api = TestApi::with_server(instance);
        let path = address(turn.id, call);
        let (status, _, document) = get(&api, &format!("{path}/document"), &[("sec-fetch-dest", "iframe")]).await;
        assert_eq!((status, document.as_str()), (StatusCode::OK, PAGE));
        let (status, told) = api.call("GET", &format!("{path}/call"), None).await;
        assert_eq!(status, StatusCode::OK, "{told}");
        assert_eq!(told["arguments"], json!({ "day": 1 }));
        assert_eq!(told["result"], json!({ "content": [], "structuredContent": { "told": "to the page" } }));
        assert_eq!((&told["tool"], &told["turn"]), (&json!("show"), &json!(turn.id)));
        let (status, _, page) = get(&api, &path, &[]).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains(&format!("src=\"{path}/document\"")) && !page.contains("postMessage({}"), "{page}");
        assert!(page.contains("View from The lab"), "{page}");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn document_has_neither_origin_nor_network() {
    let lab = lab();
    for instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, [call, _]) = run_tools(&instance, &lab).await;
        let api = TestApi::with_server(instance);
        let path = format!("{}/document", address(turn.id, call));
        // Browsers that do not say what a request is for get the document, too.
        for headers in [&[("sec-fetch-dest", "iframe")][..], &[]] {
            let (_, headers, _) = get(&api, &path, headers).await;
            let policy = headers["content-security-policy"].to_str().unwrap();
            assert!(policy.starts_with("sandbox allow-scripts; default-src 'none'; "), "{policy}");
            assert!(policy.contains("connect-src 'none'") && policy.ends_with("frame-ancestors 'self'"), "{policy}");
            assert!(!policy.contains("allow-same-origin") && !policy.contains("nonce"), "{policy}");
            for (name, value) in [
                ("content-type", "text/html; charset=utf-8"),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cache-control", "no-store"),
            ] {
                assert_eq!(headers[name], value, "{name}");
            }
            assert!(headers.get("set-cookie").is_none());
        }
        let (status, headers, _) = get(&api, &path, &[("sec-fetch-dest", "document")]).await;
        assert_eq!((status, headers["location"].to_str().unwrap()), (StatusCode::SEE_OTHER, &*address(turn.id, call)));
        // The pages around it keep it at this server.
        let (_, headers, _) = get(&api, &address(turn.id, call), &[]).await;
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("; frame-src 'self'; ") && policy.contains("frame-ancestors 'none'"), "{policy}");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn page_is_found_only_by_its_owner_and_at_its_call() {
    let lab = lab();
    for instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, [call, without]) = run_tools(&instance, &lab).await;
        let stranger: UserId = ids::mint();
        let found = instance.service.app_view(stranger, turn.id, call).await;
        assert!(matches!(found, Err(ServiceError::NotFound)), "{found:?}");
        let view = instance.service.app_view(instance.owner, turn.id, call).await.unwrap();
        let found = instance.service.app_view_page(stranger, &view).await;
        assert!(matches!(found, Err(ServiceError::NotFound)), "{found:?}");
        let api = TestApi::with_server(instance);
        let result = turn.blocks.iter().find(|block| block.parent_block_id == Some(call)).unwrap().id;
        for (turn, block) in
            [(turn.id, without), (turn.id, result), (turn.id, ids::mint()), (ids::mint::<TurnId>(), call)]
        {
            for part in ["", "/document", "/call"] {
                let (status, _, _) = get(&api, &format!("{}{part}", address(turn, block)), &[]).await;
                assert_eq!(status, StatusCode::NOT_FOUND, "{turn} {block} {part}");
            }
        }
        let (status, _) = api.call("DELETE", &format!("/api/chats/{}", turn.chat_id), None).await;
        assert!(status.is_success(), "{status}");
        let (status, _, _) = get(&api, &format!("{}/document", address(turn.id, call)), &[]).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "its chat is deleted");
        api.instance.close().await;
    }
}

/// Checks that the first call of the last reply in a chat has the page and its result; returns the reply.
async fn assert_page_is_in(instance: &TestServer, chat: ChatId) -> TurnId {
    let path = instance.service.path(instance.owner, chat, None, 10).await.unwrap();
    let turn = path.turns.last().unwrap();
    let call = tool_use_blocks(turn)[0].id;
    let view = instance.service.app_view(instance.owner, turn.id, call).await.unwrap();
    assert_eq!(instance.service.app_view_page(instance.owner, &view).await.unwrap(), PAGE);
    let told = instance.service.app_view_answer(instance.owner, &view).await.unwrap();
    assert_eq!(told["structuredContent"], json!({ "told": "to the page" }));
    turn.id
}

#[tokio::test]
async fn page_goes_with_copies_and_archives_of_its_chat() {
    let lab = lab();
    for instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, _) = run_tools(&instance, &lab).await;
        let archive = export_archive(&instance, ExportScope::Everything).await;
        let copied = instance.service.copy_chat(instance.owner, turn.chat_id, turn.id, None).await.unwrap().value;
        let api = TestApi::with_server(instance);
        let (status, _) = api.call("DELETE", &format!("/api/chats/{}", turn.chat_id), None).await;
        assert!(status.is_success(), "{status}");
        assert!(!is_imported(assert_page_is_in(&api.instance, copied.chat.id).await.uuid()));
        for target in TestServer::on_every_database_with_tools(provider, || Arc::new(NoTools)).await {
            let report = import_file(&target, "all.json", &archive, false).await;
            assert_eq!((report.imported, report.lost), (1, 0), "{report:?}");
            let reply = assert_page_is_in(&target, report.chats[0].id.unwrap()).await;
            assert!(is_imported(reply.uuid()), "its page is closed at first");
            target.check_invariants().await;
            target.close().await;
        }
        api.instance.close().await;
    }
}

#[tokio::test]
async fn page_calls_tools_of_its_server_that_need_no_approval() {
    let lab = lab().with_asking_tool("delete", ToolBehavior::Echo).with_tool("break", ToolBehavior::Fails);
    for instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, [call, without]) = run_tools(&instance, &lab).await;
        let before = (lab.run_count("echo"), lab.run_count("delete"));
        let api = TestApi::with_server(instance);
        let path = format!("{}/call", address(turn.id, call));
        let body = |name: &str| json!({ "name": name, "arguments": { "n": 1 } });
        let (status, answer) = api.call("POST", &path, Some(body("echo"))).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!((&answer["structuredContent"], &answer["isError"]), (&json!({ "n": 1 }), &json!(false)));
        let (status, answer) = api.call("POST", &path, Some(body("break"))).await;
        assert_eq!((status, &answer["isError"]), (StatusCode::OK, &json!(true)), "{answer}");
        assert_eq!(answer["content"][0]["text"], "it broke");
        for refused in ["delete", "no_such_tool", "client_tool"] {
            let (status, answer) = api.call("POST", &path, Some(body(refused))).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{refused}: {answer}");
        }
        let elsewhere = format!("{}/call", address(turn.id, without));
        assert_eq!(api.call("POST", &elsewhere, Some(body("echo"))).await.0, StatusCode::NOT_FOUND);
        assert_eq!((lab.run_count("echo"), lab.run_count("delete")), (before.0 + 1, before.1));
        let stored = api.instance.service.view_calls(api.instance.owner, call).await.unwrap();
        let stored = stored.iter().map(|call| (call.tool.as_str(), call.end.as_ref().map(|end| end.result.as_str())));
        assert_eq!(stored.collect::<Vec<_>>(), [("echo", Some(r#"{"n":1}"#)), ("break", Some("it broke"))]);
        let (_, _, page) = get(&api, &address(turn.id, call), &[]).await;
        assert!(page.contains("Requests from this view") && page.contains("it broke"), "{page}");
        assert_eq!(api.instance.service.view_calls(ids::mint(), call).await.unwrap(), []);
        // Calls of a page are no part of the chat.
        assert_eq!(api.instance.wait_until_complete(turn.id).await.blocks.len(), turn.blocks.len());
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn page_of_imported_chat_calls_no_tools() {
    let lab = lab();
    let instance = TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await.remove(0);
    run_tools(&instance, &lab).await;
    let archive = export_archive(&instance, ExportScope::Everything).await;
    let target = TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await.remove(0);
    let report = import_file(&target, "all.json", &archive, false).await;
    let path = target.service.path(target.owner, report.chats[0].id.unwrap(), None, 10).await.unwrap();
    let turn = path.turns.last().unwrap();
    let place = (turn.id, tool_use_blocks(turn)[0].id);
    let called = target.service.call_tool_from_view(target.owner, place, "echo", Default::default()).await;
    assert!(matches!(called, Err(ServiceError::NotFound)), "{called:?}");
    assert_eq!(target.service.view_calls(target.owner, place.1).await.unwrap(), []);
}

#[tokio::test]
async fn model_and_exports_get_text_of_result() {
    let (lab, provider) = (lab(), provider());
    let log = provider.log();
    let registry = ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
    let instance = TestServer::with_tools(registry, Arc::new(lab.clone())).await;
    let (turn, _) = run_tools(&instance, &lab).await;
    assert_eq!(tool_results_sent(&log, 1)[2..], ["told to the model".to_owned(), "{}".to_owned()]);
    let text = instance.service.turn_markdown(instance.owner, turn.id).await.unwrap();
    assert!(!text.contains("postMessage") && !text.contains("told to the page"), "{text}");
}

#[tokio::test]
async fn script_behind_frames_is_served_to_pages() {
    let api = TestApi::new([]).await;
    let (status, headers, script) = get(&api, "/frame-host.js", &[]).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers["content-type"], "text/javascript; charset=utf-8");
    assert!(script.contains("export function begin("));
    let (_, _, page) = get(&api, "/settings/appearance", &[]).await;
    assert!(page.contains("import(\"/frame-host.js\")"), "{page}");
}

#[tokio::test]
async fn page_of_stopped_call_is_told_that_it_was_stopped() {
    let lab = FakeToolbox::default().with_tool("show", ToolBehavior::HangsWithView(PAGE));
    let calls = || {
        let steps = [tool_call_answer([], &[("lab__show", "{}")]), streamed_answer([text_step("Done.")])];
        ScriptedProvider::new("scripted", steps)
    };
    for instance in TestServer::on_every_database_with_tools(calls, || Arc::new(lab.clone())).await {
        let before = lab.run_count("show");
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let id = instance.send_to(chat, "go").await.assistant_turn.id;
        lab.wait_for_runs("show", before + 1).await;
        let call = tool_use_blocks(&instance.service.turn(instance.owner, id).await.unwrap())[0].id;
        instance.service.stop_tool_call(instance.owner, id, call).await.unwrap();
        instance.wait_until_complete(id).await;
        instance.check_invariants().await;
        let api = TestApi::with_server(instance);
        let path = address(id, call);
        let (status, told) = api.call("GET", &format!("{path}/call"), None).await;
        assert_eq!((status, told.get("result")), (StatusCode::OK, None), "{told}");
        let (status, _, document) = get(&api, &format!("{path}/document"), &[]).await;
        assert_eq!((status, document.as_str()), (StatusCode::OK, PAGE));
        // The server of this call is none that could be asked for a resource.
        let read = |uri: &str| Some(json!({ "uri": uri }));
        let (status, _) = api.call("POST", &format!("{path}/resource"), read("note:1")).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let (status, problem) = api.call("POST", &format!("{path}/resource"), read("a\nb")).await;
        assert_eq!((status, &problem["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("uri")), "{problem}");
        api.instance.close().await;
    }
}
