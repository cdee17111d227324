//! A created resource exists: no operation under its id answers 404, in any state of the resource.

use http::StatusCode;
use serde_json::{Value, json};

use crate::bad_imports::{conversation, mapping_node};
use crate::http_api::TestApi;
use crate::interchange::import_file;
use crate::samples::test_servers;

fn chat() -> Value {
    let question = mapping_node("q", None, "user", "Why?");
    json!([conversation("one", &[question, mapping_node("a", Some("q"), "assistant", "So.")])])
}

async fn wait_for_end(api: &TestApi, address: &str) {
    while api.call("GET", address, None).await.1["is_over"] != true {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn import_in_any_state_exists_for_every_operation() {
    for house in test_servers().await {
        let api = TestApi::with_server(house);
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
        api.house.close().await;
    }
}

#[tokio::test]
async fn dry_run_is_refused_its_undo_and_its_restoring_with_reasons() {
    for house in test_servers().await {
        let api = TestApi::with_server(house);
        for query in ["?dry_run=true", "?preview=true"] {
            let (_, started) = api.call("POST", &format!("/api/imports{query}"), Some(chat())).await;
            let address = format!("/api/imports/{}", started["id"].as_str().unwrap());
            wait_for_end(&api, &address).await;
            for (action, code) in [("undo", "import_created_nothing"), ("restore", "import_not_undone")] {
                let (status, problem) = api.call("POST", &format!("{address}/{action}"), None).await;
                assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!(code)), "{problem}");
            }
        }
        api.house.close().await;
    }
}

#[tokio::test]
async fn import_of_earlier_process_is_no_preview() {
    for house in test_servers().await {
        let report = import_file(&house, "chats.json", &serde_json::to_vec(&chat()).unwrap(), false).await;
        assert_eq!(report.imported, 1);
        let api = TestApi::with_server(house);
        let (_, all) = api.call("GET", "/api/imports", None).await;
        let id = all[0]["id"].as_str().unwrap();
        let (status, problem) = api.call("POST", &format!("/api/imports/{id}/start"), None).await;
        assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("not_a_preview")), "{problem}");
        let (status, _) = api.call("POST", &format!("/api/imports/{id}/stop"), None).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        api.house.close().await;
    }
}
