//! Pages that tools have for their results (MCP Apps).

use serde_json::{Value, json};
use tokio::time::timeout;
use turnleaf::domain::tools::tool_output::AppView;
use turnleaf_tools::toolbox::{CallOutcome, CallResult};

use crate::mcp_fixtures::{LONG, call_tool, misbehaving_servers, outcome_text, server_key, start_call};

/// Returns a blob of a result.
fn blob<'a>(outcome: &'a CallResult, sha256: Option<&str>) -> &'a [u8] {
    let found = outcome.blobs.iter().find(|blob| Some(blob.sha256.as_str()) == sha256);
    &found.expect("the blob is there").bytes
}

#[tokio::test]
async fn pages_are_listed_with_tools_and_their_own_tools_are_kept_from_models() {
    let servers = misbehaving_servers("pages");
    let tools = servers.tools(&server_key("bad")).await.expect("it is configured");
    let view = |name: &str| tools.iter().find(|tool| tool.tool == name).map(|tool| tool.view.as_deref());
    assert_eq!(view("show_page"), Some(Some("ui://bad/page")));
    assert_eq!(view("show_old"), Some(Some("ui://bad/page")));
    assert_eq!(view("echo"), Some(None));
    let kept = |name: &str| tools.iter().find(|tool| tool.tool == name).map(|tool| tool.is_closed_to_models);
    assert_eq!((kept("refresh"), kept("show_page"), kept("nobodys")), (Some(true), Some(false), None));
    let closed = |name: &str| tools.iter().find(|tool| tool.tool == name).map(|tool| tool.is_closed_to_views);
    assert_eq!((closed("show_page"), closed("guarded")), (Some(false), Some(true)));
    let status = servers.status(&server_key("bad")).expect("it is configured");
    assert!(status.log.contains("`nobodys` is neither for models nor for pages"), "{}", status.log);
    assert!(status.unusable.is_empty(), "{:?}", status.unusable);
    servers.shut_down().await;
}

#[tokio::test]
async fn page_is_read_once_for_each_result() {
    let servers = misbehaving_servers("pages");
    for (tool, page) in [("show_page", "<p>page 1"), ("show_old", "<p>page 2")] {
        let outcome = call_tool(&servers, tool, json!({})).await;
        assert_eq!(outcome.outcome, CallOutcome::Done);
        assert!(outcome_text(&outcome).starts_with("Sunny."), "{outcome:?}");
        let metadata = Value::Object(outcome.metadata.clone());
        let view = AppView::find(&metadata).expect("it has a page");
        assert_eq!((view.uri, blob(&outcome, view.page)), ("ui://bad/page", page.as_bytes()));
        assert_eq!(view.tool, Some(tool));
        let answer: Value = serde_json::from_slice(blob(&outcome, view.answer)).expect("it is JSON");
        assert_eq!(answer["content"], json!([{ "type": "text", "text": "Sunny." }]));
        assert_eq!(answer["_meta"], json!({ "at": "noon" }));
        let declared = &answer["structuredContent"]["declared"]["io.modelcontextprotocol/ui"];
        assert_eq!(declared, &json!({ "mimeTypes": ["text/html;profile=mcp-app"] }));
    }
    let without = call_tool(&servers, "echo", json!({ "text": "x" })).await;
    assert!(without.metadata.get(AppView::KEY).is_none() && without.blobs.is_empty(), "{without:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn page_within_result_is_its_view_and_not_told_to_model() {
    let servers = misbehaving_servers("pages");
    let outcome = call_tool(&servers, "show_embedded", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Done);
    assert_eq!(outcome_text(&outcome), "Sunny.\n\n[The user is shown a page of the server: ui://bad/own]");
    let metadata = Value::Object(outcome.metadata.clone());
    let view = AppView::find(&metadata).expect("it has a page");
    assert_eq!(
        (view.uri, view.tool, blob(&outcome, view.page)),
        ("ui://bad/own", Some("show_embedded"), &b"<p>own"[..])
    );
    let answer: Value = serde_json::from_slice(blob(&outcome, view.answer)).expect("it is JSON");
    assert_eq!(answer["content"][0]["text"], "Sunny.");
    servers.shut_down().await;
}

#[tokio::test]
async fn result_stays_where_server_gives_no_page() {
    let servers = misbehaving_servers("pages");
    let failed = call_tool(&servers, "show_page", json!({ "fails": true })).await;
    assert_eq!(failed.outcome, CallOutcome::Failed);
    assert!(failed.metadata.get(AppView::KEY).is_none(), "{failed:?}");
    for page in ["missing", "plain", "exit"] {
        let outcome = call_tool(&servers, &format!("show_{page}"), json!({})).await;
        assert_eq!(outcome.outcome, CallOutcome::Done, "{outcome:?}");
        assert!(outcome_text(&outcome).starts_with("Sunny."), "{outcome:?}");
        let named = json!({ "uri": format!("ui://bad/{page}"), "tool": format!("show_{page}") });
        assert_eq!(outcome.metadata[AppView::KEY], named);
        assert!(outcome.blobs.is_empty(), "{outcome:?}");
        let status = servers.status(&server_key("bad")).expect("it is configured");
        assert!(
            status.log.contains(&format!("(the page `ui://bad/{page}` of a tool is not shown: ")),
            "{}",
            status.log
        );
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn page_of_slow_call_is_there_before_its_end() {
    let servers = misbehaving_servers("pages");
    call_tool(&servers, "echo", json!({ "text": "up" })).await;
    let mut call = start_call(&servers, "show_late", json!({}));
    let mut view = call.view.take().expect("it may have a page");
    let read = timeout(LONG, view.wait_for(Option::is_some)).await.expect("in time").expect("the call runs").clone();
    let read = read.expect("it was read");
    assert_eq!((read.tool.as_str(), read.page.as_deref()), ("show_late", Some(&b"<p>page 1"[..])));
    drop(call);
    servers.shut_down().await;
}

#[tokio::test]
async fn page_that_server_refuses_while_call_runs_is_read_after_its_end() {
    let servers = misbehaving_servers("pages");
    let outcome = call_tool(&servers, "show_second", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Done, "{outcome:?}");
    let metadata = Value::Object(outcome.metadata.clone());
    let view = AppView::find(&metadata).expect("it has a page");
    assert_eq!(blob(&outcome, view.page), b"<p>page 2");
    servers.shut_down().await;
}

#[tokio::test]
async fn page_reads_resources_of_its_server() {
    let servers = misbehaving_servers("pages");
    call_tool(&servers, "echo", json!({ "text": "up" })).await;
    let key = server_key("bad");
    let read = servers.read_resource_for_view(&key, "ui://bad/plain").await.expect("it is there");
    assert_eq!(read["contents"][0]["text"], "<p>page 1");
    let missing = servers.read_resource_for_view(&key, "ui://bad/none").await.expect_err("it is not there");
    assert!(missing.to_string().contains("no such page"), "{missing}");
    servers.shut_down().await;
}
