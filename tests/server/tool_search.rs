//! More tools than providers accept: the model searches for them, what it finds is offered from its next request on, and
//! later replies and forks keep it. Over the real toolbox.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::blocks::notice::Notice;
use turnleaf::domain::{Turn, TurnId, limits};
use turnleaf_providers::scripted::{RequestLog, ScriptedAnswer, ScriptedProvider};
use turnleaf_store::tools::listings::ListedTool;

use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};
use crate::tool_call_support::{is_waiting_for_approval, results, statuses, tool_call_answer, tool_results_sent};
use crate::tools_api::{
    api_with_provider, api_with_tools, branch_offers, configured_server, put, store_offered_tools, tool,
};

/// The number of tools of the server, one of which is about calendars.
const COUNT: usize = limits::TOOLS_OFFERED + 20;

fn many_tools() -> Vec<ListedTool> {
    let mut tools: Vec<ListedTool> = (1..COUNT).map(|n| tool(&format!("t{n}"), "Does something else.")).collect();
    tools.push(tool("create_event", "Creates an event in the calendar."));
    tools
}

fn search(query: &str) -> ScriptedAnswer {
    tool_call_answer([], &[("tool_search", &json!({ "query": query, "limit": 3 }).to_string())])
}

async fn api_with_many_tools(answers: impl IntoIterator<Item = ScriptedAnswer>) -> (TestApi, Arc<RequestLog>) {
    let provider = ScriptedProvider::new("scripted", answers);
    let log = provider.log();
    let api = api_with_provider(configured_server(), provider).await;
    store_offered_tools(&api, "notes", &many_tools()).await;
    (api, log)
}

async fn create_chat(api: &TestApi) -> (String, String) {
    let on = json!({ "tools": { "on": ["calculator", "notes/*"] } });
    let (status, chat) = api.call("POST", "/api/chats", Some(on)).await;
    assert_eq!(status, StatusCode::CREATED, "{chat}");
    (chat["id"].as_str().unwrap().to_owned(), chat["branches"][0]["id"].as_str().unwrap().to_owned())
}

async fn send(api: &TestApi, chat: &str) -> TurnId {
    let path = format!("/api/chats/{chat}/turns");
    let (status, started) = api.call("POST", &path, Some(json!({ "text": "hi" }))).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()
}

/// Returns the names of the tools in the `n`th request.
fn tools_sent(log: &RequestLog, n: usize) -> Vec<String> {
    let request: Value = serde_json::from_slice(&log.requests()[n]).unwrap();
    let tools = request["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

fn notices(turn: &Turn) -> usize {
    turn.blocks.iter().filter(|block| Notice::from_block(block) == Some(Notice::ToolsSearched)).count()
}

#[tokio::test]
async fn found_tools_are_offered_from_next_request_on_and_kept() {
    let call = tool_call_answer([], &[("notes__create_event", "{}")]);
    let (api, log) =
        api_with_many_tools([search("create calendar event"), call, streamed_answer([text_step("Done.")])]).await;
    put(&api, "/api/tool-policies", json!({ "server": "notes", "tool": "create_event", "policy": "allow" })).await;
    let (chat, branch) = create_chat(&api).await;
    assert_eq!(branch_offers(&api, &branch).await, ["calculator", "tool_search"]);
    let first = send(&api, &chat).await;
    let turn = api.instance.wait_until_complete(first).await;
    // The search runs without asking. The server does not run here, so the call of its tool fails.
    assert_eq!(statuses(&turn), [ToolStatus::Done, ToolStatus::Failed]);
    let found = &results(&turn)[0];
    assert_eq!(found["found"][0]["name"], "notes__create_event", "{found}");
    assert_eq!((&found["searched"], notices(&turn)), (&json!(COUNT), 1));
    assert_eq!(tools_sent(&log, 0), ["calculator", "tool_search"]);
    let with_found = ["calculator", "tool_search", "notes__create_event"];
    assert_eq!(tools_sent(&log, 1), with_found);
    assert_eq!(tools_sent(&log, 2), with_found);
    let (_, generations) = api.call("GET", &format!("/api/turns/{first}/generations"), None).await;
    let manifests = generations.to_string();
    assert!(manifests.contains("\"found_tools\":[\"notes__create_event\"]"), "{manifests}");
    assert!(api.get_page(&format!("/turns/{first}/sent")).await.contains("notes__create_event"));
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn later_reply_and_fork_offer_what_was_found_before() {
    let done = || streamed_answer([text_step("Done.")]);
    let (api, log) = api_with_many_tools([search("calendar"), done(), done(), done()]).await;
    let (chat, branch) = create_chat(&api).await;
    api.instance.wait_until_complete(send(&api, &chat).await).await;
    let second = send(&api, &chat).await;
    let turn = api.instance.wait_until_complete(second).await;
    assert_eq!(notices(&turn), 0, "it was announced before");
    let with_found = ["calculator", "tool_search", "notes__create_event"];
    assert_eq!(tools_sent(&log, 2), with_found);
    assert_eq!(branch_offers(&api, &branch).await, with_found);
    let (_, again) = api.call("POST", &format!("/api/turns/{second}/retry"), None).await;
    assert_eq!(branch_offers(&api, again["branch"]["id"].as_str().unwrap()).await, with_found);
    api.instance.wait_until_complete(again["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()).await;
    assert_eq!(tools_sent(&log, 3), with_found);
    // The branch takes the present choice anew, without what was found.
    api.call("POST", &format!("/api/branches/{branch}/tools"), None).await;
    assert_eq!(branch_offers(&api, &branch).await, ["calculator", "tool_search"]);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn found_tool_asks_like_any_other() {
    let call = tool_call_answer([], &[("notes__create_event", "{}")]);
    let (api, _) = api_with_many_tools([search("calendar"), call]).await;
    let (chat, _) = create_chat(&api).await;
    let id = send(&api, &chat).await;
    api.instance.wait_until(id, is_waiting_for_approval).await;
    api.instance.service.stop_turn(api.instance.owner, id).await.unwrap();
}

#[tokio::test]
async fn tool_that_was_not_found_cannot_be_called() {
    let call = tool_call_answer([], &[("notes__t1", "{}"), ("tool_search", r#"{"query":"zebra"}"#)]);
    let (api, log) = api_with_many_tools([call, streamed_answer([text_step("Well.")])]).await;
    let (chat, branch) = create_chat(&api).await;
    let turn = api.instance.wait_until_complete(send(&api, &chat).await).await;
    assert_eq!(statuses(&turn), [ToolStatus::Failed, ToolStatus::Done]);
    assert_eq!(results(&turn)[1]["found"], json!([]));
    assert_eq!(branch_offers(&api, &branch).await, ["calculator", "tool_search"]);
    assert!(tool_results_sent(&log, 1).iter().any(|text| text.contains("Try other words")));
}

#[tokio::test]
async fn selection_names_searched_tools_and_forbidden_search_cuts() {
    let api = api_with_tools([]).await;
    store_offered_tools(&api, "notes", &many_tools()).await;
    let (chat, _) = create_chat(&api).await;
    let selection = async || api.call("GET", &format!("/api/chats/{chat}/tools"), None).await.1;
    let tools = selection().await;
    assert_eq!((tools["searched"].as_array().unwrap().len(), &tools["searched"][0]), (COUNT, &json!("notes/t1")));
    assert_eq!((&tools["left_out"], tools["offered"].as_array().unwrap().len()), (&json!([]), 2));
    let page = api.get_page(&format!("/c/{chat}/tools")).await;
    assert!(page.contains(&format!("The model finds {COUNT} of them with a tool search.")), "{page}");
    let never = json!({ "tool": "tool_search", "policy": "never" });
    assert_eq!(put(&api, "/api/tool-policies", never).await.0, StatusCode::OK);
    let tools = selection().await;
    assert_eq!((&tools["searched"], tools["offered"].as_array().unwrap().len()), (&json!([]), limits::TOOLS_OFFERED));
    assert_eq!(tools["left_out"][0]["code"], "too_many_tools");
}

#[tokio::test]
async fn server_that_lists_many_tools_late_is_searched() {
    let done = || streamed_answer([text_step("Done.")]);
    let provider = ScriptedProvider::new("scripted", [done(), done()]);
    let api = api_with_provider(configured_server(), provider).await;
    let (chat, branch) = create_chat(&api).await;
    api.instance.wait_until_complete(send(&api, &chat).await).await;
    assert_eq!(branch_offers(&api, &branch).await, ["calculator"]);
    store_offered_tools(&api, "notes", &many_tools()).await;
    let turn = api.instance.wait_until_complete(send(&api, &chat).await).await;
    assert_eq!(branch_offers(&api, &branch).await, ["calculator", "tool_search"]);
    assert_eq!(notices(&turn), 1);
}
