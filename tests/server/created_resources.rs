//! A created resource exists: no operation under its id answers 404, in any state of the resource.

use http::StatusCode;
use serde_json::{Value, json};

use crate::bad_imports::{conversation, mapping_node};
use crate::http_api::TestApi;
use crate::interchange::import_file;
use crate::samples::test_servers;
use crate::test_server::{streamed_answer, text_step};

fn chat() -> Value {
    let question = mapping_node("q", None, "user", "Why?");
    json!([conversation("one", &[question, mapping_node("a", Some("q"), "assistant", "So.")])])
}

/// Waits for the end of an import, and of its undo or restoring.
async fn wait_for_end(api: &TestApi, address: &str) {
    loop {
        let (_, job) = api.call("GET", address, None).await;
        if job["is_over"] == true && job["reversal"]["is_over"] != false {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn import_in_any_state_exists_for_every_operation() {
    for instance in test_servers().await {
        let api = TestApi::with_server(instance);
        let unreadable = json!("no chats");
        let uploads = [
            ("?dry_run=true&preview=false", chat()),
            ("?dry_run=true", unreadable.clone()),
            ("?preview=true", chat()),
            ("?preview=true", unreadable.clone()),
            ("", chat()),
            ("", unreadable),
        ];
        for (query, body) in uploads {
            // Operations of a running import, of an ended one, and of one that earlier operations changed.
            for waits in [false, true] {
                let (status, started) = api.call("POST", &format!("/api/imports{query}"), Some(body.clone())).await;
                assert_eq!(status, StatusCode::ACCEPTED, "{query}: {started}");
                let address = format!("/api/imports/{}", started["id"].as_str().unwrap());
                if waits {
                    wait_for_end(&api, &address).await;
                }
                for action in ["undo", "restore", "start", "stop", "undo", "start", "restore"] {
                    let (status, answer) = api.call("POST", &format!("{address}/{action}"), None).await;
                    assert_ne!(status, StatusCode::NOT_FOUND, "{query} {body} {action}: {answer}");
                    if !status.is_success() {
                        assert_eq!(status, StatusCode::CONFLICT, "{query} {body} {action}: {answer}");
                    }
                }
                assert_eq!(api.call("GET", &address, None).await.0, StatusCode::OK);
                // An import that the start of a preview began holds the slot of its owner.
                let (_, all) = api.call("GET", "/api/imports", None).await;
                for job in all.as_array().unwrap() {
                    wait_for_end(&api, &format!("/api/imports/{}", job["id"].as_str().unwrap())).await;
                }
                wait_for_end(&api, &address).await;
                assert_eq!(api.call("DELETE", &address, None).await.0, StatusCode::NO_CONTENT, "{query} {body}");
            }
        }
        api.instance.close().await;
    }
}

#[tokio::test]
async fn dry_run_is_refused_its_undo_and_its_restoring_with_reasons() {
    for instance in test_servers().await {
        let api = TestApi::with_server(instance);
        for query in ["?dry_run=true", "?preview=true"] {
            let (_, started) = api.call("POST", &format!("/api/imports{query}"), Some(chat())).await;
            let address = format!("/api/imports/{}", started["id"].as_str().unwrap());
            wait_for_end(&api, &address).await;
            for (action, code) in [("undo", "import_created_nothing"), ("restore", "import_not_undone")] {
                let (status, problem) = api.call("POST", &format!("{address}/{action}"), None).await;
                assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!(code)), "{problem}");
            }
        }
        api.instance.close().await;
    }
}

#[tokio::test]
async fn import_of_earlier_process_is_no_preview() {
    for instance in test_servers().await {
        let report = import_file(&instance, "chats.json", &serde_json::to_vec(&chat()).unwrap(), false).await;
        assert_eq!(report.imported, 1);
        let api = TestApi::with_server(instance);
        let (_, all) = api.call("GET", "/api/imports", None).await;
        let id = all[0]["id"].as_str().unwrap();
        let (status, problem) = api.call("POST", &format!("/api/imports/{id}/start"), None).await;
        assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("not_a_preview")), "{problem}");
        let (status, _) = api.call("POST", &format!("/api/imports/{id}/stop"), None).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        api.instance.close().await;
    }
}

/// Returns the operations below this path that need no body, by the description of the API: deletions come last. Streams
/// are left out.
async fn operations_below(api: &TestApi, prefix: &str) -> Vec<(String, String)> {
    let (_, document) = api.call("GET", "/api/openapi.json", None).await;
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        if !path.starts_with(prefix) || path.ends_with("/ws") || path.ends_with("/events") || path.contains("{block}") {
            continue;
        }
        for method in ["get", "post", "put", "patch", "delete"] {
            if item[method].is_object() && item[method]["requestBody"]["required"] != true {
                found.push((method.to_uppercase(), path.clone()));
            }
        }
    }
    found.sort_by_key(|(method, _)| method == "DELETE");
    found
}

#[tokio::test]
async fn created_resource_exists_for_every_operation_without_body() {
    let api = TestApi::new((0..4).map(|_| streamed_answer([text_step("Hello")]))).await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let id_of = |name: &str| started[name]["id"].as_str().unwrap().to_owned();
    let (question, reply, branch) = (id_of("user_turn"), id_of("assistant_turn"), id_of("branch"));
    api.read_events(&reply, &[]).await;
    let (_, document) = api.call("POST", "/api/documents", Some(json!({ "title": "Plan", "content": "x" }))).await;
    let document = document["id"].as_str().unwrap().to_owned();
    let server = json!({ "name": "Notes", "url": "https://notes.example/mcp", "is_enabled": false });
    let (status, server) = api.call("POST", "/api/tool-servers", Some(server)).await;
    assert_eq!(status, StatusCode::CREATED, "{server}");
    let server = server["id"].as_str().unwrap().to_owned();
    // The resources that contain others are deleted last.
    let table = [
        ("/api/tool-servers/{id}", &server, 3),
        ("/api/documents/{id}", &document, 4),
        ("/api/turns/{id}", &reply, 6),
        ("/api/turns/{id}", &question, 6),
        ("/api/branches/{id}", &branch, 3),
        ("/api/chats/{id}", &chat, 10),
    ];
    for (prefix, id, least) in table {
        let operations = operations_below(&api, prefix).await;
        assert!(operations.len() >= least, "{prefix}: {operations:?}");
        for (method, path) in operations {
            // A later row needs the resource that this one would delete.
            if method == "DELETE" && (prefix.contains("turns") || prefix.contains("branches")) {
                continue;
            }
            let address = path.replace("{id}", id).replace("{turn}", &reply);
            let (status, answer) = api.call(&method, &address, None).await;
            assert_ne!(status, StatusCode::NOT_FOUND, "{method} {path}: {answer}");
            assert!(!status.is_server_error(), "{method} {path}: {answer}");
        }
    }
}

#[tokio::test]
async fn restoring_what_is_not_in_trash_and_using_disabled_server_are_conflicts() {
    let api = TestApi::new([]).await;
    let chat = api.create_chat().await;
    let (_, document) = api.call("POST", "/api/documents", Some(json!({ "title": "Plan", "content": "x" }))).await;
    let document = document["id"].as_str().unwrap();
    let server = json!({ "name": "Notes", "url": "https://notes.example/mcp", "is_enabled": false });
    let (_, server) = api.call("POST", "/api/tool-servers", Some(server)).await;
    let server = server["id"].as_str().unwrap();
    let table = [
        ("POST", format!("/api/chats/{chat}/restore"), None, "not_in_trash"),
        ("POST", format!("/api/documents/{document}/restore"), None, "not_in_trash"),
        ("DELETE", format!("/api/documents/{document}?forever=true"), None, "not_in_trash"),
        ("POST", format!("/api/tool-servers/{server}/prompts"), Some(json!({ "name": "x" })), "server_off"),
        ("GET", format!("/api/tool-servers/{server}/catalog"), None, "server_off"),
    ];
    for (method, path, body, code) in table {
        let (status, problem) = api.call(method, &path, body).await;
        assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!(code)), "{method} {path}: {problem}");
    }
}
