//! The permission for all tools of a server: over the API, as a form, in the real gate, and given with an approval.

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::TurnId;
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf_providers::scripted::ScriptedAnswer;
use turnleaf_tools::toolbox::GateDecision;

use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};
use crate::tool_call_support::{is_waiting_for_approval, pending_approvals, statuses, tool_call_answer};
use crate::tools_api::{api_with_tools, call_of_list, put, store_offered_tools, tool};

const PATH: &str = "/api/tool-servers/notes/policy";

/// Returns the permission of a tool and who set it.
async fn policy_of(api: &TestApi, name: &str) -> (String, String) {
    let (_, tools) = api.call("GET", "/api/tools", None).await;
    let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let word = |key: &str| tool[key].as_str().unwrap().to_owned();
    (word("policy"), word("policy_set_by"))
}

fn pair(policy: &str, set_by: &str) -> (String, String) {
    (policy.into(), set_by.into())
}

/// Starts a reply in a chat with all tools of the server, which calls these.
async fn reply_calling(api: &TestApi) -> TurnId {
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({ "tools": { "on": ["notes/*"] } }))).await;
    let path = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
    let (_, started) = api.call("POST", &path, Some(json!({ "text": "hi" }))).await;
    started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()
}

fn two_calls() -> [ScriptedAnswer; 2] {
    [tool_call_answer([], &[("notes__add", "{}"), ("notes__drop", "{}")]), streamed_answer([text_step("Done.")])]
}

async fn offer_notes(api: &TestApi) {
    store_offered_tools(api, "notes", &["add", "drop"].map(|name| tool(name, "Changes notes."))).await;
}

#[tokio::test]
async fn policy_of_server_holds_for_tools_without_own() {
    let api = api_with_tools([]).await;
    offer_notes(&api).await;
    let (status, server) = put(&api, PATH, json!({ "policy": "never" })).await;
    assert_eq!((status, &server["policy"], &server["policy_set_by"]), (StatusCode::OK, &json!("never"), &json!("you")));
    assert_eq!(policy_of(&api, "notes/add").await, pair("never", "server"));
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({ "tools": { "on": ["notes/*"] } }))).await;
    let tools = format!("/api/chats/{}/tools", chat["id"].as_str().unwrap());
    let offered = async || api.call("GET", &tools, None).await.1["offered"].as_array().unwrap().len();
    assert_eq!(offered().await, 0);

    let own = |policy: Value| json!({ "server": "notes", "tool": "add", "policy": policy });
    assert_eq!(put(&api, "/api/tool-policies", own(json!("ask"))).await.0, StatusCode::OK);
    assert_eq!((policy_of(&api, "notes/add").await, offered().await), (pair("ask", "you"), 1));
    let (status, removed) = put(&api, "/api/tool-policies", own(Value::Null)).await;
    assert_eq!((status, &removed["policy_set_by"]), (StatusCode::OK, &json!("server")), "{removed}");

    assert_eq!(put(&api, PATH, json!({ "policy": "allow" })).await.0, StatusCode::OK);
    assert_eq!(policy_of(&api, "notes/drop").await, pair("allow", "server"));
    store_offered_tools(&api, "notes", &[tool("add", "Changes notes."), tool("drop", "Drops everything.")]).await;
    assert_eq!(policy_of(&api, "notes/add").await, pair("allow", "server"));
    assert_eq!(policy_of(&api, "notes/drop").await.0, "ask", "it is not what was allowed");
    let (_, server) = put(&api, PATH, json!({ "policy": null })).await;
    assert_eq!(server["policy_set_by"], "default", "{server}");
    assert_eq!(policy_of(&api, "notes/add").await, pair("ask", "default"));

    assert_eq!(put(&api, "/api/tool-servers/gone/policy", json!({ "policy": "never" })).await.0, StatusCode::NOT_FOUND);
    for body in [json!({ "policy": "sometimes" }), json!({}), json!({ "policy": "ask", "tool": "add" })] {
        assert_eq!(put(&api, PATH, body.clone()).await.0, StatusCode::BAD_REQUEST, "{body}");
    }
}

#[tokio::test]
async fn gate_follows_policy_of_server() {
    let api = api_with_tools([streamed_answer([text_step("a")])]).await;
    store_offered_tools(&api, "notes", &[tool("list", "Lists.")]).await;
    let call = call_of_list(&api).await;
    let toolbox = api.instance.service.supervisor().toolbox().clone();
    // The configuration trusts it.
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run);
    put(&api, PATH, json!({ "policy": "ask" })).await;
    assert!(matches!(toolbox.gate(&call, None).await, GateDecision::Ask(_)));
    put(&api, PATH, json!({ "policy": "never" })).await;
    assert!(matches!(toolbox.gate(&call, None).await, GateDecision::Refuse(_)));
    put(&api, PATH, json!({ "policy": "allow" })).await;
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run);
    store_offered_tools(&api, "notes", &[tool("list", "Lists, and sends it elsewhere.")]).await;
    let GateDecision::Ask(ask) = toolbox.gate(&call, None).await else { panic!("it is another one") };
    assert!(ask.note.is_some_and(|note| note.contains("changed")));
}

#[tokio::test]
async fn form_sets_and_removes_policy_of_server() {
    let api = api_with_tools([]).await;
    offer_notes(&api).await;
    let form = async |policy| api.post_form("/forms/tools/server-policy", &[("id", "notes"), ("policy", policy)]).await;
    let saved = (StatusCode::SEE_OTHER, "/settings/tools?done=saved&id=notes".to_owned());
    assert_eq!(form("never").await, saved);
    assert_eq!(policy_of(&api, "notes/add").await, pair("never", "server"));
    let page = api.get_page("/settings/tools").await;
    assert!(page.contains("<option value=\"never\" selected"), "{page}");
    assert_eq!(form("default").await, saved);
    assert_eq!(policy_of(&api, "notes/add").await, pair("ask", "default"));
    assert_eq!(form("often").await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn approval_of_whole_server_answers_its_other_calls_too() {
    let api = api_with_tools(two_calls()).await;
    offer_notes(&api).await;
    let id = reply_calling(&api).await;
    let both = |turn: &turnleaf::domain::Turn| pending_approvals(turn).len() == 2;
    let (call, ask) = pending_approvals(&api.instance.wait_until(id, both).await).remove(0);
    let path = format!("/api/turns/{id}/calls/{}", call.id);
    let body = json!({ "decision": "allow_server", "hash": ask.hash });
    let (status, answered) = api.call("POST", &path, Some(body)).await;
    assert_eq!(status, StatusCode::OK, "{answered}");
    let turn = api.instance.wait_until_complete(id).await;
    // The server does not run here, so both calls fail, but neither asks.
    assert_eq!(statuses(&turn), [ToolStatus::Failed, ToolStatus::Failed]);
    let decisions: Vec<&Value> =
        turn.blocks.iter().map(|block| &block.block_metadata["decision"]["decision"]).collect();
    assert!(decisions.contains(&&json!("allow_server")), "{decisions:?}");
    assert_eq!(policy_of(&api, "notes/drop").await, pair("allow", "server"));
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn form_allows_whole_server_only_with_confirmation() {
    let api = api_with_tools(two_calls()).await;
    offer_notes(&api).await;
    let id = reply_calling(&api).await;
    let (call, ask) = pending_approvals(&api.instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    let (turn, block) = (id.to_string(), call.id.to_string());
    let page = api.get_page(&format!("/turns/{id}/calls/{}", call.id)).await;
    assert!(page.contains("id=\"all\"") && page.contains("value=\"allow_server\""), "{page}");
    let fields = [
        ("turn", turn.as_str()),
        ("block", block.as_str()),
        ("hash", ask.hash.as_str()),
        ("page", "1"),
        ("decision", "allow_server"),
    ];
    let (status, page) = api.post_form("/forms/call", &fields).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("Nothing was allowed. Confirm that you trust the server."), "{page}");
    assert_eq!(policy_of(&api, "notes/add").await, pair("ask", "default"));
    // Without the page, the form of the reply is refused just so.
    assert_eq!(api.post_form("/forms/call", &fields[..3]).await.0, StatusCode::BAD_REQUEST);
    let other = [&fields[..], &[("confirm", "1"), ("shown_tools", "0")]].concat();
    let (status, changed) = api.post_form("/forms/call", &other).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(changed.contains("have changed; review them again"), "{changed}");
    assert_eq!(policy_of(&api, "notes/add").await, pair("ask", "default"));
    let (_, shown) = changed.split_once("name=\"shown_tools\" value=\"").unwrap();
    let shown = shown.split_once('"').unwrap().0;
    let confirmed = [&fields[..], &[("confirm", "1"), ("shown_tools", shown)]].concat();
    assert_eq!(api.post_form("/forms/call", &confirmed).await.0, StatusCode::SEE_OTHER);
    api.instance.wait_until_complete(id).await;
    assert_eq!(policy_of(&api, "notes/add").await, pair("allow", "server"));
}

#[tokio::test]
async fn built_in_tool_has_no_server_to_allow() {
    let call = tool_call_answer([], &[("fetch_page", r#"{"url":"https://page.example/"}"#)]);
    let api = api_with_tools([call, streamed_answer([text_step("Done.")])]).await;
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({ "tools": { "on": ["fetch_page"] } }))).await;
    let path = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
    let (_, started) = api.call("POST", &path, Some(json!({ "text": "hi" }))).await;
    let id: TurnId = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
    let (call, ask) = pending_approvals(&api.instance.wait_until(id, is_waiting_for_approval).await).remove(0);
    let body = json!({ "decision": "allow_server", "hash": ask.hash });
    let (status, refused) = api.call("POST", &format!("/api/turns/{id}/calls/{}", call.id), Some(body)).await;
    assert_eq!((status.as_u16(), &refused["code"]), (422, &json!("invalid")), "{refused}");
    assert!(!api.get_page(&format!("/turns/{id}/calls/{}", call.id)).await.contains("allow_server"));
    api.instance.decide(id, ApprovalDecision::Deny, None).await.unwrap();
    api.instance.wait_until_complete(id).await;
}
