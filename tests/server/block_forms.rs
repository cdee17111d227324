//! The forms of turns in responses: blocks of the unified message model, which requests accept as well, with
//! `form=seed` (docs/reference/domain.md C3), and nodes with `form=node`.

use http::StatusCode;
use serde_json::{Value, json};

use crate::http_api::TestApi;
use crate::test_server::{TestServer, delta_step, streamed_answer, text_step, thinking_step};
use turnleaf_providers::scripted::ScriptedProvider;

async fn api_with_chat() -> (TestApi, String) {
    let answers = [streamed_answer([text_step("Hi!")]), streamed_answer([text_step("Hi again!")])];
    let api = TestApi::new(answers).await;
    let (status, chat) = api.call("POST", "/api/chats", Some(json!({}))).await;
    assert_eq!(status, StatusCode::CREATED, "{chat}");
    (api, chat["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn message_is_sent_and_read_in_seed_form() {
    let (api, chat) = api_with_chat().await;
    let body = json!({ "content": [{ "block_type": "user_text", "content": { "text": "Hello!" } }] });
    let (status, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{sent}");
    let id = sent["user_turn"]["id"].as_str().unwrap();
    let (_, native) = api.call("GET", &format!("/api/turns/{id}"), None).await;
    assert_eq!((&native["blocks"][0]["type"], &native["blocks"][0]["text"]), (&json!("text"), &json!("Hello!")));

    let (status, seed) = api.call("GET", &format!("/api/turns/{id}?form=seed"), None).await;
    assert_eq!(status, StatusCode::OK, "{seed}");
    let block = &seed["blocks"][0];
    assert_eq!((&block["block_type"], &block["content"]), (&json!("user_text"), &json!({ "text": "Hello!" })));
    let without_blocks = |turn: &Value| {
        let mut turn = turn.clone();
        turn["blocks"] = Value::Null;
        turn
    };
    assert_eq!(without_blocks(&seed), without_blocks(&native), "only the blocks differ");

    // A block that was read can be sent back.
    let again = json!({ "content": [block] });
    let (status, edited) = api.call("POST", &format!("/api/turns/{id}/edit"), Some(again)).await;
    assert_eq!(status, StatusCode::CREATED, "{edited}");
    assert_eq!(edited["user_turn"]["blocks"][0]["text"], "Hello!");
}

#[tokio::test]
async fn path_has_same_blocks_in_both_forms() {
    let (api, chat) = api_with_chat().await;
    let path = format!("/api/chats/{chat}/turns");
    let (status, _) = api.call("POST", &path, Some(json!({ "text": "Hello!" }))).await;
    assert_eq!(status, StatusCode::CREATED);
    let (_, seed) = api.call("GET", &format!("{path}?form=seed"), None).await;
    let (_, native) = api.call("GET", &format!("{path}?form=native"), None).await;
    let ids = |page: &Value| -> Vec<Value> {
        // The reply may still grow between the two requests.
        let turns = page["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] == "user");
        turns.flat_map(|turn| turn["blocks"].as_array().unwrap()).map(|block| block["id"].clone()).collect()
    };
    assert!(!ids(&seed).is_empty() && ids(&seed) == ids(&native), "{seed} {native}");
    assert!(
        seed["turns"][0]["blocks"][0]["content"].is_object() && native["turns"][0]["blocks"][0]["content"].is_null()
    );
    let (status, refused) = api.call("GET", &format!("{path}?form=other"), None).await;
    assert_eq!((status, &refused["field"]), (StatusCode::BAD_REQUEST, &json!("form")), "{refused}");
}

#[tokio::test]
async fn unknown_member_of_block_is_refused_with_its_name() {
    let (api, chat) = api_with_chat().await;
    let block = json!({ "block_type": "user_text", "content": { "text": "Hello!", "colour": "red" } });
    let path = format!("/api/chats/{chat}/turns");
    let (status, refused) = api.call("POST", &path, Some(json!({ "content": [block] }))).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(refused["detail"].as_str().unwrap().contains("colour"), "{refused}");
}

#[tokio::test]
async fn node_form_has_projections_of_turn() {
    const PROOF: &str = "EqQBCkYIBxgCKkD";
    let signature = json!({ "reasoning_details": [{ "type": "reasoning.text", "signature": PROOF, "index": 0 }] });
    let steps = [thinking_step("hm"), delta_step(signature), text_step("One."), text_step(" Two.")];
    let api = TestApi::new([streamed_answer(steps)]).await;
    let chat = api.create_chat().await;
    let (_, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "Hello!" }))).await;
    let id = sent["assistant_turn"]["id"].as_str().unwrap();
    api.instance.wait_until_ended(id.parse().unwrap()).await;

    let (_, native) = api.call("GET", &format!("/api/turns/{id}"), None).await;
    let (status, node) = api.call("GET", &format!("/api/turns/{id}?form=node"), None).await;
    assert_eq!(status, StatusCode::OK, "{node}");
    assert_eq!(node["content"], "One. Two.");
    let kinds: Vec<&str> =
        node["contentBlocks"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.last(), Some(&"text"), "{node}");
    assert!(kinds.contains(&"thinking") && node["contentBlocks"][0]["thinking"] == "hm", "{node}");
    assert_eq!(node["modelUsed"], native["model_used"]);
    assert!(node["modelUsed"].is_string());
    assert_eq!(node["createdOnBranch"], sent["branch"]["id"]);
    let raw = node["rawResponse"].as_array().unwrap();
    let streamed: String = raw.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(streamed, "One. Two.", "the chunks of the provider, in order: {node}");
    assert!(!node["contentBlocks"].to_string().contains(PROOF), "signatures are withheld as in other forms");
    assert_eq!((&node["id"], &node["blocks"]), (&native["id"], &Value::Null));
    assert_eq!(node["rawResponseOmitted"], Value::Null);

    let (_, page) = api.call("GET", &format!("/api/chats/{chat}/turns?form=node"), None).await;
    assert_eq!(page["turns"][1], node);
    let question = &page["turns"][0];
    assert_eq!((&question["content"], &question["rawResponse"]), (&json!("Hello!"), &Value::Null), "{question}");
    assert_eq!(question["contentBlocks"], json!([{ "type": "text", "text": "Hello!" }]));
    assert_eq!(question["modelUsed"], Value::Null);
}

#[tokio::test]
async fn node_form_without_kept_response_has_null() {
    let provider = ScriptedProvider::new("scripted", [streamed_answer([text_step("Hi!")])]);
    let api = TestApi::with_server(TestServer::without_raw(provider).await);
    let chat = api.create_chat().await;
    let (_, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "Hello!" }))).await;
    let id = sent["assistant_turn"]["id"].as_str().unwrap();
    api.instance.wait_until_ended(id.parse().unwrap()).await;
    let (_, node) = api.call("GET", &format!("/api/turns/{id}?form=node"), None).await;
    assert_eq!((&node["content"], &node["rawResponse"]), (&json!("Hi!"), &Value::Null), "{node}");
    assert!(node.as_object().unwrap().contains_key("rawResponse"));
}
