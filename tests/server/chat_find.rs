//! Find in one chat, over HTTP.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};

const STRANGE: &str = "0190b5b4-7c1e-7abc-8def-0123456789ab";

/// Starts a chat of one exchange. Returns the ids of the chat and the reply.
async fn chat_with_question(api: &TestApi, question: &str) -> (String, String) {
    let chat = api.create_chat().await;
    let (status, started) =
        api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": question }))).await;
    assert_eq!(status, StatusCode::CREATED);
    let turn = started["assistant_turn"]["id"].as_str().unwrap().to_owned();
    api.read_events(&turn, &[]).await;
    (chat, turn)
}

async fn page(api: &TestApi, path: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn words_are_found_on_path() {
    let api = TestApi::new([streamed_answer([text_step("Grüße an die C++-Leute: 100% <b>你好世界</b>")])]).await;
    let (chat, reply) = chat_with_question(&api, "Say hello, please.").await;
    let find = async |query: &str| api.call("GET", &format!("/api/chats/{chat}/find?{query}"), None).await;
    for query in ["q=c%2B%2B", "q=100%25", "q=%E4%BD%A0%E5%A5%BD", "q=GR%C3%9C%C3%9FE", "q=%3Cb%3E"] {
        let (status, found) = find(query).await;
        assert_eq!(status, StatusCode::OK, "{query} {found}");
        assert_eq!((&found["total"], &found["complete"]), (&json!(1), &json!(true)), "{query} {found}");
        let hit = &found["hits"][0];
        assert_eq!((&hit["turn_id"], &hit["role"], &hit["depth"]), (&json!(reply), &json!("assistant"), &json!(1)));
    }
    assert_eq!(find("q=hello").await.1["hits"][0]["excerpt"], json!(["Say ", "hello", ", please."]));
    assert_eq!(find(&format!("q=hello&leaf={reply}")).await.1["total"], 1);
    for nothing in ["q=%25%25", "q=a_b", "q=%27%20OR%201%3D1--", "q=NEAR("] {
        assert_eq!(find(nothing).await.1, json!({ "total": 0, "complete": true, "hits": [] }), "{nothing}");
    }
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn invalid_query_is_refused_by_name() {
    let api = TestApi::new([streamed_answer([text_step("x")]), streamed_answer([text_step("y")])]).await;
    let (chat, reply) = chat_with_question(&api, "hi").await;
    let (other, _) = chat_with_question(&api, "there").await;
    let long = format!("q={}", "a".repeat(257));
    for (query, field) in [
        ("", "q"),
        ("q=", "q"),
        ("q=%20", "q"),
        (long.as_str(), "q"),
        ("q=a&q=b", "q"),
        ("q=a&limit=0", "limit"),
        ("q=a&limit=1001", "limit"),
        ("q=a&limit=-1", "limit"),
        ("q=a&limit=abc", "limit"),
        ("q=a&leaf=1", "leaf"),
        ("q=a&user_id=x", "user_id"),
    ] {
        let (status, problem): (_, Value) = api.call("GET", &format!("/api/chats/{chat}/find?{query}"), None).await;
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{query} {problem}");
    }
    for path in [
        format!("/api/chats/{STRANGE}/find?q=a"),
        "/api/chats/1/find?q=a".to_owned(),
        format!("/api/chats/{chat}/find?q=a&leaf={STRANGE}"),
        format!("/api/chats/{other}/find?q=a&leaf={reply}"),
    ] {
        assert_eq!(api.call("GET", &path, None).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    let empty = api.create_chat().await;
    assert_eq!(api.call("GET", &format!("/api/chats/{empty}/find?q=a"), None).await.1["total"], 0);
}

#[tokio::test]
async fn page_without_script_links_to_turns() {
    let api = TestApi::new([streamed_answer([text_step("Leaves & <b>trees</b>")])]).await;
    let (chat, reply) = chat_with_question(&api, "What grows?").await;
    let (status, form) = page(&api, &format!("/c/{chat}/find")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(form.contains("role=\"search\"") && form.matches("<script").count() == 1, "{form}");
    let (_, found) = page(&api, &format!("/c/{chat}/find?q=%3CB%3Etrees")).await;
    assert!(found.contains("1 message found."), "{found}");
    assert!(found.contains(&format!("href=\"/c/{chat}?at={reply}#turn-{reply}\"")), "{found}");
    assert!(found.contains("Leaves &amp; <mark>&lt;b&gt;trees</mark>&lt;/b&gt;"), "{found}");
    let (status, wrong) = page(&api, &format!("/c/{chat}/find?q={}", "a".repeat(257))).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(wrong.contains("must be at most 256 characters"), "{wrong}");
    assert_eq!(page(&api, &format!("/c/{STRANGE}/find?q=a")).await.0, StatusCode::NOT_FOUND);
}
