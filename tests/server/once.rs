//! Requests that a client names make one thing (contract.md 3; badinputs.md S-ID-13, 14, 17), on both databases.

use futures::future::join_all;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::TurnId;
use turnleaf_providers::scripted::Scripted;

use crate::databases;
use crate::house::{House, answer, text};
use crate::http_api::Api;

/// A request that makes something, where, and how many there are.
struct Creating {
    path: String,
    body: Value,
    other: Value,
    id: &'static str,
    list: String,
}

async fn everything(api: &Api) -> Vec<Creating> {
    let chat = api.chat().await;
    let provider = |name: &str| json!({ "name": name, "api": "openai_chat", "base_url": "http://127.0.0.1:9/v1", "local_network": true });
    vec![
        Creating {
            path: "/api/chats".into(),
            body: json!({ "title": "One", "params": { "temperature": 0.5 } }),
            other: json!({ "title": "Another" }),
            id: "/id",
            list: "/api/chats?limit=200".into(),
        },
        Creating {
            path: format!("/api/chats/{chat}/branches"),
            body: json!({ "name": "One" }),
            other: json!({ "name": "Another" }),
            id: "/id",
            list: format!("/api/chats/{chat}/branches"),
        },
        Creating {
            path: "/api/providers".into(),
            body: provider("One"),
            other: provider("Another"),
            id: "/id",
            list: "/api/providers".into(),
        },
    ]
}

fn named(body: &Value, name: &str) -> Value {
    let mut body = body.clone();
    body["client_request_id"] = name.into();
    body
}

async fn count(api: &Api, list: &str) -> usize {
    api.call("GET", list, None).await.1.as_array().unwrap().len()
}

#[tokio::test]
async fn a_named_request_makes_one_thing_on_both_databases() {
    for fresh in databases::fresh().await {
        let api = Api::over(House::upon(fresh.db.clone(), Scripted::new("scripted", [])).await);
        for creating in everything(&api).await {
            let before = count(&api, &creating.list).await;
            let body = named(&creating.body, &format!("{} 1", creating.path));
            // Fifty at the same moment.
            let answers = join_all((0..50).map(|_| api.call("POST", &creating.path, Some(body.clone())))).await;
            let made = answers.iter().filter(|(status, _)| *status == StatusCode::CREATED).count();
            let again = answers.iter().filter(|(status, _)| *status == StatusCode::OK).count();
            assert_eq!((made, again), (1, 49), "{}: {answers:?}", creating.path);
            let id = answers[0].1.pointer(creating.id).unwrap();
            assert!(answers.iter().all(|(_, answer)| answer.pointer(creating.id) == Some(id)), "{}", creating.path);
            assert_eq!(count(&api, &creating.list).await, before + 1, "{}", creating.path);

            let other = named(&creating.other, &format!("{} 1", creating.path));
            let (status, problem) = api.call("POST", &creating.path, Some(other)).await;
            assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("idempotency_mismatch")));
            assert_eq!(count(&api, &creating.list).await, before + 1, "{}", creating.path);

            // Without a name every request makes one.
            for _ in 0..2 {
                assert_eq!(api.call("POST", &creating.path, Some(creating.other.clone())).await.0, StatusCode::CREATED);
            }
            assert_eq!(count(&api, &creating.list).await, before + 3, "{}", creating.path);
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn a_name_means_one_request_whatever_it_makes() {
    for house in House::everywhere(|| Scripted::new("scripted", (0..4).map(|_| answer([text("so")])))).await {
        let api = Api::over(house);
        let chat = api.chat().await;
        let turns = format!("/api/chats/{chat}/turns");
        let say = |name: &str| json!({ "text": "hi", "client_request_id": name });
        let mismatch = (StatusCode::CONFLICT, json!("idempotency_mismatch"));
        let post = async |path: &str, body: Value| {
            let (status, answer) = api.call("POST", path, Some(body)).await;
            (status, answer["code"].clone(), answer)
        };
        let made = post("/api/chats", named(&json!({ "title": "One" }), "a")).await;
        assert_eq!(made.0, StatusCode::CREATED);
        let (status, code, _) = post(&turns, say("a")).await;
        assert_eq!((status, code), mismatch);

        let (status, _, started) = post(&turns, say("b")).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        let reply: TurnId = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
        api.house.ended(reply).await;
        let again = format!("/api/turns/{reply}/retry");
        for (path, body) in [
            ("/api/chats", named(&json!({}), "b")),
            (format!("/api/chats/{chat}/branches").as_str(), named(&json!({}), "b")),
            (format!("/api/chats/{chat}/copies").as_str(), named(&json!({ "turn_id": reply }), "b")),
            (again.as_str(), named(&json!({}), "b")),
            (again.as_str(), named(&json!({}), "a")),
        ] {
            let (status, code, answer) = post(path, body).await;
            assert_eq!((status, code), mismatch, "{path} {answer}");
        }
        assert_eq!(post(&turns, say("b")).await.0, StatusCode::OK);

        // What is remembered for a day is forgotten, what made a turn is not.
        api.house.sql("DELETE FROM requests").await;
        assert_eq!(post(&turns, say("b")).await.0, StatusCode::OK);
        let (status, code, _) = post("/api/chats", named(&json!({}), "b")).await;
        assert_eq!((status, code), mismatch);
        api.house.check().await;
        api.house.close().await;
    }
}

#[tokio::test]
async fn two_requests_of_one_name_at_once_are_one_or_a_mistake() {
    for house in House::everywhere(|| Scripted::new("scripted", (0..8).map(|_| answer([text("so")])))).await {
        let api = Api::over(house);
        let chat = api.chat().await;
        for round in 0..8 {
            let name = format!("round {round}");
            let turns = format!("/api/chats/{chat}/turns");
            let say = json!({ "text": "hi", "client_request_id": name });
            let make = named(&json!({ "title": "One" }), &name);
            let (said, made) =
                tokio::join!(api.call("POST", &turns, Some(say)), api.call("POST", "/api/chats", Some(make)));
            let mut both = [said.0, made.0];
            both.sort();
            assert_eq!(both, [StatusCode::CREATED, StatusCode::CONFLICT], "{said:?} {made:?}");
            if let Some(reply) = said.1.pointer("/assistant_turn/id").and_then(Value::as_str) {
                api.house.ended(reply.parse().unwrap()).await;
            }
        }
        api.house.close().await;
    }
}

#[tokio::test]
async fn the_header_names_a_request_as_the_body_does() {
    let api = Api::new([]).await;
    for creating in everything(&api).await {
        let send = |key: &'static str, body: Value| {
            let request = http::Request::builder().method("POST").uri(&creating.path).header("host", "127.0.0.1:3000");
            let request = request.header("content-type", "application/json").header("idempotency-key", key);
            api.send(request.body(axum::body::Body::from(body.to_string())).unwrap())
        };
        let key = Box::leak(format!("{} header", creating.path).into_boxed_str());
        assert_eq!(send(key, creating.body.clone()).await.status(), StatusCode::CREATED, "{}", creating.path);
        assert_eq!(send(key, creating.body.clone()).await.status(), StatusCode::OK, "{}", creating.path);
        assert_eq!(send(key, named(&creating.body, key)).await.status(), StatusCode::OK, "{}", creating.path);
        assert_eq!(send(key, creating.other.clone()).await.status(), StatusCode::CONFLICT, "{}", creating.path);
        let two_names = send(key, named(&creating.body, "x")).await.status();
        assert_eq!(two_names, StatusCode::UNPROCESSABLE_ENTITY, "{}", creating.path);
        assert_eq!(send("", creating.body.clone()).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }
}

#[tokio::test]
async fn a_request_that_failed_may_be_made_again_under_its_name() {
    let api = Api::new([]).await;
    let wrong = json!({ "title": "A", "model": "m", "provider": "nobody", "client_request_id": "k" });
    assert_eq!(api.call("POST", "/api/chats", Some(wrong)).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let right = json!({ "title": "A", "client_request_id": "k" });
    assert_eq!(api.call("POST", "/api/chats", Some(right)).await.0, StatusCode::CREATED);
}
