//! Pages of tool servers for the results of their tools: what is served of them, to whom, and for how long.

use std::sync::Arc;

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use serde_json::json;
use turnleaf::domain::{BlockId, Turn, TurnId, UserId};
use turnleaf_platform::ids;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;
use turnleaf_tools::toolbox::NoTools;

use crate::http_api::TestApi;
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
async fn run_tools(house: &TestServer, lab: &FakeToolbox) -> (Turn, [BlockId; 2]) {
    let chat = house.chat_with_tools(&lab.offered_tools()).await;
    let turn = house.wait_until_complete(house.send_to(chat, "go").await.assistant_turn.id).await;
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
    for house in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, [call, _]) = run_tools(&house, &lab).await;
        house.check_invariants().await;
        let house = house.restart_after_kill(ScriptedProvider::new("scripted", []), Arc::new(NoTools)).await;
        let api = TestApi::with_server(house);
        let path = address(turn.id, call);
        let (status, _, document) = get(&api, &format!("{path}/document"), &[("sec-fetch-dest", "iframe")]).await;
        assert_eq!((status, document.as_str()), (StatusCode::OK, PAGE));
        let (status, told) = api.call("GET", &format!("{path}/call"), None).await;
        assert_eq!(status, StatusCode::OK, "{told}");
        assert_eq!(told["arguments"], json!({ "day": 1 }));
        assert_eq!(told["result"], json!({ "content": [], "structuredContent": { "told": "to the page" } }));
        assert_eq!((&told["tool"], &told["turn"]), (&json!("lab__show"), &json!(turn.id)));
        let (status, _, page) = get(&api, &path, &[]).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains(&format!("src=\"{path}/document\"")) && !page.contains("postMessage({}"), "{page}");
        assert!(page.contains("View from The lab"), "{page}");
        api.house.close().await;
    }
}

#[tokio::test]
async fn document_has_neither_origin_nor_network() {
    let lab = lab();
    for house in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, [call, _]) = run_tools(&house, &lab).await;
        let api = TestApi::with_server(house);
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
        api.house.close().await;
    }
}

#[tokio::test]
async fn page_is_found_only_by_its_owner_and_at_its_call() {
    let lab = lab();
    for house in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let (turn, [call, without]) = run_tools(&house, &lab).await;
        let stranger: UserId = ids::mint();
        let found = house.service.app_view(stranger, turn.id, call).await;
        assert!(matches!(found, Err(ServiceError::NotFound)), "{found:?}");
        let view = house.service.app_view(house.owner, turn.id, call).await.unwrap();
        let found = house.service.app_view_page(stranger, &view).await;
        assert!(matches!(found, Err(ServiceError::NotFound)), "{found:?}");
        let api = TestApi::with_server(house);
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
        api.house.close().await;
    }
}

#[tokio::test]
async fn model_and_exports_get_text_of_result() {
    let (lab, provider) = (lab(), provider());
    let log = provider.log();
    let registry = ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
    let house = TestServer::with_tools(registry, Arc::new(lab.clone())).await;
    let (turn, _) = run_tools(&house, &lab).await;
    assert_eq!(tool_results_sent(&log, 1)[2..], ["told to the model".to_owned(), "{}".to_owned()]);
    let text = house.service.turn_markdown(house.owner, turn.id).await.unwrap();
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
