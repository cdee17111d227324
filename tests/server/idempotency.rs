//! Idempotency keys: a repeated create request creates one thing, on both databases (docs/reference/api.md 3.5,
//! docs/reference/domain.md 4.14).

use futures::future::join_all;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::TurnId;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::databases;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

/// A create request: its path, two bodies, the pointer to the id in the response, and the list that counts the
/// results.
struct CreateRequest {
    path: String,
    body: Value,
    other: Value,
    id: &'static str,
    list: String,
}

async fn create_requests(api: &TestApi) -> Vec<CreateRequest> {
    let chat = api.create_chat().await;
    let provider = |name: &str| json!({ "name": name, "api": "openai_chat", "base_url": "http://127.0.0.1:9/v1", "local_network": true });
    vec![
        CreateRequest {
            path: "/api/chats".into(),
            body: json!({ "title": "One", "params": { "temperature": 0.5 } }),
            other: json!({ "title": "Another" }),
            id: "/id",
            list: "/api/chats?limit=200".into(),
        },
        CreateRequest {
            path: "/api/projects".into(),
            body: json!({ "name": "One", "color": "red" }),
            other: json!({ "name": "Another" }),
            id: "/id",
            list: "/api/projects".into(),
        },
        CreateRequest {
            path: format!("/api/chats/{chat}/branches"),
            body: json!({ "name": "One" }),
            other: json!({ "name": "Another" }),
            id: "/id",
            list: format!("/api/chats/{chat}/branches"),
        },
        CreateRequest {
            path: "/api/providers".into(),
            body: provider("One"),
            other: provider("Another"),
            id: "/id",
            list: "/api/providers".into(),
        },
    ]
}

fn with_client_request_id(body: &Value, name: &str) -> Value {
    let mut body = body.clone();
    body["client_request_id"] = name.into();
    body
}

async fn count(api: &TestApi, list: &str) -> usize {
    api.call("GET", list, None).await.1.as_array().unwrap().len()
}

#[tokio::test]
async fn request_with_idempotency_key_creates_one_resource_on_both_databases() {
    for fresh in databases::test_databases().await {
        let api = TestApi::with_server(
            TestServer::with_database(fresh.db.clone(), ScriptedProvider::new("scripted", [])).await,
        );
        for creating in create_requests(&api).await {
            let before = count(&api, &creating.list).await;
            let body = with_client_request_id(&creating.body, &format!("{} 1", creating.path));
            // Fifty identical requests run concurrently.
            let answers = join_all((0..50).map(|_| api.call("POST", &creating.path, Some(body.clone())))).await;
            let made = answers.iter().filter(|(status, _)| *status == StatusCode::CREATED).count();
            let again = answers.iter().filter(|(status, _)| *status == StatusCode::OK).count();
            assert_eq!((made, again), (1, 49), "{}: {answers:?}", creating.path);
            let id = answers[0].1.pointer(creating.id).unwrap();
            assert!(answers.iter().all(|(_, answer)| answer.pointer(creating.id) == Some(id)), "{}", creating.path);
            assert_eq!(count(&api, &creating.list).await, before + 1, "{}", creating.path);

            let other = with_client_request_id(&creating.other, &format!("{} 1", creating.path));
            let (status, problem) = api.call("POST", &creating.path, Some(other)).await;
            assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("idempotency_mismatch")));
            assert_eq!(count(&api, &creating.list).await, before + 1, "{}", creating.path);

            // Without a key, every request creates one.
            for _ in 0..2 {
                assert_eq!(api.call("POST", &creating.path, Some(creating.other.clone())).await.0, StatusCode::CREATED);
            }
            assert_eq!(count(&api, &creating.list).await, before + 3, "{}", creating.path);
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn idempotency_key_belongs_to_one_request_across_endpoints() {
    for instance in TestServer::on_every_database(|| {
        ScriptedProvider::new("scripted", (0..4).map(|_| streamed_answer([text_step("so")])))
    })
    .await
    {
        let api = TestApi::with_server(instance);
        let chat = api.create_chat().await;
        let turns = format!("/api/chats/{chat}/turns");
        let message = |name: &str| json!({ "text": "hi", "client_request_id": name });
        let mismatch = (StatusCode::CONFLICT, json!("idempotency_mismatch"));
        let post = async |path: &str, body: Value| {
            let (status, answer) = api.call("POST", path, Some(body)).await;
            (status, answer["code"].clone(), answer)
        };
        let made = post("/api/chats", with_client_request_id(&json!({ "title": "One" }), "a")).await;
        assert_eq!(made.0, StatusCode::CREATED);
        let (status, code, _) = post(&turns, message("a")).await;
        assert_eq!((status, code), mismatch);

        let (status, _, started) = post(&turns, message("b")).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        let reply: TurnId = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
        api.instance.wait_until_ended(reply).await;
        let again = format!("/api/turns/{reply}/retry");
        for (path, body) in [
            ("/api/chats", with_client_request_id(&json!({}), "b")),
            (format!("/api/chats/{chat}/branches").as_str(), with_client_request_id(&json!({}), "b")),
            (format!("/api/chats/{chat}/copies").as_str(), with_client_request_id(&json!({ "turn_id": reply }), "b")),
            (again.as_str(), with_client_request_id(&json!({}), "b")),
            (again.as_str(), with_client_request_id(&json!({}), "a")),
        ] {
            let (status, code, answer) = post(path, body).await;
            assert_eq!((status, code), mismatch, "{path} {answer}");
        }
        assert_eq!(post(&turns, message("b")).await.0, StatusCode::OK);

        // Keys of other requests expire after a day, but the key of a turn is kept with it.
        api.instance.sql("DELETE FROM requests").await;
        assert_eq!(post(&turns, message("b")).await.0, StatusCode::OK);
        let (status, code, _) = post("/api/chats", with_client_request_id(&json!({}), "b")).await;
        assert_eq!((status, code), mismatch);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn concurrent_requests_with_one_key_are_one_or_refused() {
    for instance in TestServer::on_every_database(|| {
        ScriptedProvider::new("scripted", (0..8).map(|_| streamed_answer([text_step("so")])))
    })
    .await
    {
        let api = TestApi::with_server(instance);
        let chat = api.create_chat().await;
        for round in 0..8 {
            let name = format!("round {round}");
            let turns = format!("/api/chats/{chat}/turns");
            let message = json!({ "text": "hi", "client_request_id": name });
            let make = with_client_request_id(&json!({ "title": "One" }), &name);
            let (sent, made) =
                tokio::join!(api.call("POST", &turns, Some(message)), api.call("POST", "/api/chats", Some(make)));
            let mut both = [sent.0, made.0];
            both.sort();
            assert_eq!(both, [StatusCode::CREATED, StatusCode::CONFLICT], "{sent:?} {made:?}");
            if let Some(reply) = sent.1.pointer("/assistant_turn/id").and_then(Value::as_str) {
                api.instance.wait_until_ended(reply.parse().unwrap()).await;
            }
        }
        api.instance.close().await;
    }
}

#[tokio::test]
async fn idempotency_key_header_equals_body_field() {
    let api = TestApi::new([]).await;
    for creating in create_requests(&api).await {
        let send = |key: &'static str, body: Value| {
            let request = http::Request::builder().method("POST").uri(&creating.path).header("host", "127.0.0.1:3000");
            let request = request.header("content-type", "application/json").header("idempotency-key", key);
            api.send(request.body(axum::body::Body::from(body.to_string())).unwrap())
        };
        let key = Box::leak(format!("{} header", creating.path).into_boxed_str());
        assert_eq!(send(key, creating.body.clone()).await.status(), StatusCode::CREATED, "{}", creating.path);
        assert_eq!(send(key, creating.body.clone()).await.status(), StatusCode::OK, "{}", creating.path);
        assert_eq!(
            send(key, with_client_request_id(&creating.body, key)).await.status(),
            StatusCode::OK,
            "{}",
            creating.path
        );
        assert_eq!(send(key, creating.other.clone()).await.status(), StatusCode::CONFLICT, "{}", creating.path);
        let two_names = send(key, with_client_request_id(&creating.body, "x")).await.status();
        assert_eq!(two_names, StatusCode::UNPROCESSABLE_ENTITY, "{}", creating.path);
        assert_eq!(send("", creating.body.clone()).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }
}

#[tokio::test]
async fn failed_request_may_be_repeated_with_its_key() {
    let api = TestApi::new([]).await;
    let wrong = json!({ "title": "A", "model": "m", "provider": "nobody", "client_request_id": "k" });
    assert_eq!(api.call("POST", "/api/chats", Some(wrong)).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let right = json!({ "title": "A", "client_request_id": "k" });
    assert_eq!(api.call("POST", "/api/chats", Some(right)).await.0, StatusCode::CREATED);
}
