//! Access of routes, walked over the whole table: without a principal every route that is not public answers 401 and
//! does nothing.

use axum::body::Body;
use http::{Request, Response, StatusCode};
use serde_json::Value;
use turnleaf::api::calls;
use turnleaf::api::error::ApiError;
use turnleaf::server::http::access_control::Access;
use turnleaf::server::http::router::access_table;
use turnleaf::server::http::site::assets::Site;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::http_api::TestApi;
use crate::test_server::TestServer;

const ID: &str = "0190b5b4-7c1e-7abc-8def-0123456789ab";
const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn api_for_strangers() -> TestApi {
    TestApi::for_strangers(TestServer::new(ScriptedProvider::new("scripted", [])).await)
}

/// Returns an address of a path pattern.
pub fn address(pattern: &str) -> String {
    let parts: Vec<&str> = pattern.split('/').map(|part| if part.starts_with('{') { ID } else { part }).collect();
    parts.join("/")
}

async fn send(api: &TestApi, method: &str, address: &str, headers: &[(&str, &str)], body: &str) -> Response<Body> {
    let mut request = Request::builder().method(method).uri(address).header("host", "127.0.0.1:3000");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    api.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

pub async fn text(response: Response<Body>) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts that a response is the problem for strangers, and contains nothing else.
pub async fn assert_is_refusal(response: Response<Body>, label: &str) {
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{label}");
    let headers = response.headers();
    assert_eq!(headers["content-type"], "application/problem+json", "{label}");
    assert!(!headers.contains_key("location") && !headers.contains_key("set-cookie"), "{label}: {headers:?}");
    let mut problem: Value = serde_json::from_str(&text(response).await).unwrap();
    let id = problem["request_id"].take();
    assert!(id.is_string(), "{label}");
    let expected = serde_json::json!({
        "type": "about:blank",
        "title": "Unauthorized",
        "status": 401,
        "code": "unauthenticated",
        "detail": "You are not signed in.",
        "reason_code": "unauthenticated",
        "request_id": null,
    });
    assert_eq!(problem, expected, "{label}");
}

#[tokio::test]
async fn every_route_without_principal_is_refused_unless_it_is_public() {
    let api = api_for_strangers().await;
    let table = access_table(&Site::open(None));
    let (mut public, mut refused) = (0, 0);
    for (method, pattern, access) in table.rows() {
        let label = format!("{method} {pattern}");
        let response = send(&api, method, &address(pattern), &[("content-type", "application/json")], "{}").await;
        if access == Access::Public {
            assert_ne!(response.status(), StatusCode::UNAUTHORIZED, "{label}");
            public += 1;
        } else {
            assert_is_refusal(response, &label).await;
            refused += 1;
        }
    }
    assert!(public > 5 && refused > 250, "{public} {refused}");
    let owner = api.instance.owner;
    assert!(api.instance.service.list_chats(owner, 10).await.unwrap().is_empty(), "a chat was created");
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn every_server_function_without_principal_is_refused_in_words_of_page() {
    let api = api_for_strangers().await;
    let table = access_table(&Site::open(None));
    for endpoint in calls::ENDPOINTS {
        let path = format!("{}{endpoint}", calls::PREFIX);
        let listed = table.rows().find(|(method, pattern, _)| *method == "POST" && *pattern == path);
        assert!(listed.is_some_and(|(.., access)| access != Access::Public), "{path}");
        let response = send(&api, "POST", &path, &[("content-type", "application/json")], "{}").await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        let error: ApiError = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(error, ApiError::Unauthenticated, "{path}");
    }
}

#[tokio::test]
async fn stranger_learns_nothing_from_other_methods_and_addresses() {
    let api = api_for_strangers().await;
    for (method, path) in [
        ("HEAD", "/chats"),
        ("DELETE", "/api/chats"),
        ("OPTIONS", "/api/chats"),
        ("GET", "/nothing/here"),
        ("GET", "/api/nothing"),
        ("POST", "/healthz"),
    ] {
        let response = send(&api, method, path, &[], "").await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{method} {path}");
    }
    for (method, path) in [("GET", "/healthz"), ("HEAD", "/healthz"), ("GET", "/readyz"), ("GET", "/offline")] {
        assert_eq!(send(&api, method, path, &[], "").await.status(), StatusCode::OK, "{method} {path}");
    }
    let page = text(send(&api, "GET", "/nothing/here", &[HTML], "").await).await;
    assert!(page.contains("You are not signed in.") && !page.contains("does not exist"), "{page}");
}

#[tokio::test]
async fn page_for_stranger_is_plain_and_in_language_of_reader() {
    let api = api_for_strangers().await;
    for path in ["/".to_owned(), format!("/c/{ID}"), "/settings/tools".into(), "/search?q=x".into()] {
        for (language, sentence) in [("en", "You are not signed in."), ("zh-CN", "你尚未登录。")] {
            let response = send(&api, "GET", &path, &[HTML, ("accept-language", language)], "").await;
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
            assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
            let page = text(response).await;
            assert!(page.contains(sentence) && !page.contains("<script"), "{path}: {page}");
            // No navigation: its pages are for people who are signed in.
            assert!(!page.contains("href=\"/trash\"") && !page.contains("href=\"/settings/"), "{path}: {page}");
        }
    }
    let form = "text=words+to+keep";
    let length = form.len().to_string();
    let response = send(&api, "POST", "/forms/send", &[HTML, FORM, ("content-length", &length)], form).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let page = text(response).await;
    assert!(page.contains("words to keep"), "{page}");
}

#[tokio::test]
async fn owner_of_server_without_accounts_is_asked_nothing() {
    let api = TestApi::new([]).await;
    for (_, pattern, _) in access_table(&Site::open(None)).rows().filter(|(method, ..)| *method == "GET") {
        let status = send(&api, "GET", &address(pattern), &[], "").await.status();
        let refusals = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::METHOD_NOT_ALLOWED];
        assert!(!refusals.contains(&status), "{pattern}: {status}");
    }
    assert_eq!(send(&api, "DELETE", "/api/chats", &[], "").await.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(send(&api, "GET", "/nothing/here", &[], "").await.status(), StatusCode::NOT_FOUND);
}
