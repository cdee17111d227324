//! Instructions of tool servers: frozen with the tools of a branch, sent after the system prompt, listed in the manifest,
//! switched off in Settings. Over the real toolbox.

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::scripted::{RequestLog, ScriptedProvider};
use turnleaf_store::tools::listings;

use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};
use crate::tools_api::{api_with_provider, configured_server, put, tool};

const TEXT: &str = "List before you write.";

/// Stores what the server offered last; it does not run in this test.
async fn store_instructions(api: &TestApi, text: &str) {
    let mut tx = api.instance.db.begin().await.unwrap();
    let tools = [tool("list", "Lists notes.")];
    listings::put(&mut tx, api.instance.owner, "notes", (&tools, text), SystemClock.now()).await.unwrap();
    tx.commit().await.unwrap();
}

async fn create_chat(api: &TestApi) -> String {
    let body = json!({ "system_prompt": "Be brief.", "tools": { "on": ["notes/*"] } });
    let (status, chat) = api.call("POST", "/api/chats", Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{chat}");
    chat["id"].as_str().unwrap().to_owned()
}

/// Sends a message and returns the reply's id once it is complete.
async fn send(api: &TestApi, chat: &str) -> String {
    let (status, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    let turn = started["assistant_turn"]["id"].as_str().unwrap().to_owned();
    api.instance.wait_until_complete(turn.parse().unwrap()).await;
    turn
}

fn system_prompt(log: &RequestLog, n: usize) -> String {
    let request: Value = serde_json::from_slice(&log.requests()[n]).unwrap();
    let first = &request["messages"][0];
    assert_eq!(first["role"], "system");
    first["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn instructions_are_frozen_listed_and_switched_off() {
    let answers = (0..4).map(|_| streamed_answer([text_step("Yes.")]));
    let provider = ScriptedProvider::new("scripted", answers);
    let log = provider.log();
    let api = api_with_provider(configured_server(), provider).await;
    store_instructions(&api, TEXT).await;
    let chat = create_chat(&api).await;
    let turn = send(&api, &chat).await;
    let sent = system_prompt(&log, 0);
    assert!(sent.starts_with("Be brief.\n\n") && sent.contains("<tool_server id=\"notes\">\nList before"), "{sent}");
    let (_, generations) = api.call("GET", &format!("/api/turns/{turn}/generations"), None).await;
    let manifest = generations.to_string();
    assert!(manifest.contains("\"server_instructions\":[{") && manifest.contains("\"server\":\"notes\""), "{manifest}");

    // The server says something else, and is switched off: the branch keeps what it began with.
    store_instructions(&api, "Delete everything.").await;
    let (status, server) = put(&api, "/api/tool-servers/notes/instructions", json!({ "offered": false })).await;
    assert_eq!((status, &server["offers_instructions"]), (StatusCode::OK, &json!(false)), "{server}");
    send(&api, &chat).await;
    assert_eq!(system_prompt(&log, 1), sent, "the prefix stays the same byte for byte");
    let other = create_chat(&api).await;
    send(&api, &other).await;
    assert_eq!(system_prompt(&log, 2), "Be brief.");
    let (status, _) = put(&api, "/api/tool-servers/nobody/instructions", json!({ "offered": false })).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    api.instance.check_invariants().await;
}
