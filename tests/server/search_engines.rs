//! The requests to search engines over real sockets, and how responses that are slow, too large or no results end.

use std::time::Duration;

use serde_json::{Value, json};
use turnleaf::domain::{MessageCode, limits};
use turnleaf_platform::search_engine::{SearchEngine, SearchEngineKind};
use turnleaf_providers::http_client::HttpClient;
use turnleaf_tools::built_in::web_search::{FoundPage, Recency, WebQuery, search};

use crate::fakeprov::{FakeProvider, ServerStep};

const KEY: &str = "canary-search-key-0123456789";

pub fn engine_at(kind: SearchEngineKind, server: &FakeProvider) -> SearchEngine {
    SearchEngine {
        kind,
        base_url: server.base_url(),
        api_key: kind.needs_key().then(|| KEY.into()),
        local_network: true,
        set_by: None,
    }
}

/// Returns the steps of a response with this body.
pub fn response(status: u16, body: impl Into<Vec<u8>>) -> Vec<ServerStep> {
    vec![ServerStep::Status(status), ServerStep::Bytes(body.into()), ServerStep::Fin]
}

fn query(text: &str) -> WebQuery {
    WebQuery { text: text.into(), most: 5, since: Some(Recency::Week) }
}

/// Returns the code of the error that a search at this server ends with.
async fn error_code(kind: SearchEngineKind, server: &FakeProvider) -> MessageCode {
    search(&HttpClient::default(), &engine_at(kind, server), &query("leaves")).await.unwrap_err().code
}

fn one_result() -> Value {
    json!({ "type": "search", "web": { "results": [{ "url": "https://a.example/", "title": "A" }] },
        "results": [{ "url": "https://a.example/", "title": "A" }] })
}

#[tokio::test]
async fn each_engine_is_asked_in_its_own_form() {
    let request_to = |kind: SearchEngineKind| async move {
        let server = FakeProvider::start(vec![response(200, one_result().to_string())]).await;
        let engine = engine_at(kind, &server);
        let found = search(&HttpClient::default(), &engine, &query("red & green leaves")).await.unwrap();
        assert_eq!(found.iter().map(|page: &FoundPage| page.title.as_str()).collect::<Vec<_>>(), ["A"], "{kind:?}");
        server.requests().remove(0)
    };
    let searxng = request_to(SearchEngineKind::Searxng).await;
    assert_eq!(searxng.path, "/v1/search?q=red+%26+green+leaves&format=json&time_range=week");
    let brave = request_to(SearchEngineKind::Brave).await;
    let expected =
        "/v1/res/v1/web/search?q=red+%26+green+leaves&count=5&result_filter=web&text_decorations=false&freshness=pw";
    assert_eq!(brave.path, expected);
    assert!(brave.headers.contains(&("x-subscription-token".into(), KEY.into())), "{:?}", brave.headers);
    let tavily = request_to(SearchEngineKind::Tavily).await;
    assert_eq!((tavily.method.as_str(), tavily.path.as_str()), ("POST", "/v1/search"));
    assert!(tavily.headers.contains(&("authorization".into(), format!("Bearer {KEY}"))), "{:?}", tavily.headers);
    let body: Value = serde_json::from_slice(&tavily.body).unwrap();
    let expected = json!({ "query": "red & green leaves", "max_results": 5, "search_depth": "basic", "include_answer": false,
        "include_raw_content": false, "include_images": false, "time_range": "week" });
    assert_eq!(body, expected);
    for request in [&searxng, &brave] {
        assert_eq!((request.method.as_str(), request.body.len()), ("GET", 0));
    }
    assert!(!searxng.headers.iter().any(|(_, value)| value.contains(KEY)), "SearXNG gets no key");
}

#[tokio::test]
async fn malformed_responses_end_with_their_cause() {
    let deep = format!(r#"{{"results":{}"#, "[".repeat(10_000));
    for (body, expected) in [
        ("<html>Welcome</html>".to_owned(), MessageCode::SearchNotResults),
        (String::new(), MessageCode::SearchNotResults),
        (r#"{"results":[{"url":"https://a.ex"#.to_owned(), MessageCode::SearchNotResults),
        (deep, MessageCode::SearchNotResults),
        ("[]".to_owned(), MessageCode::SearchNotResults),
    ] {
        let server = FakeProvider::start(vec![response(200, body)]).await;
        assert_eq!(error_code(SearchEngineKind::Searxng, &server).await, expected);
    }
    let packed = vec![
        ServerStep::Status(200),
        ServerStep::Header("content-encoding", "gzip".into()),
        ServerStep::Bytes(one_result().to_string().into()),
        ServerStep::Fin,
    ];
    let server = FakeProvider::start(vec![packed]).await;
    assert_eq!(error_code(SearchEngineKind::Tavily, &server).await, MessageCode::SearchNotResults);
    let server = FakeProvider::start(vec![response(403, "Forbidden")]).await;
    assert_eq!(error_code(SearchEngineKind::Searxng, &server).await, MessageCode::SearchJsonDisabled);
    let moved = vec![
        ServerStep::Status(302),
        ServerStep::Header("location", "http://127.0.0.1:1/".into()),
        ServerStep::Bytes(Vec::new()),
        ServerStep::Fin,
    ];
    let server = FakeProvider::start(vec![moved]).await;
    assert_eq!(error_code(SearchEngineKind::Brave, &server).await, MessageCode::Redirected);
    assert_eq!(server.requests().len(), 1, "no redirect is followed");
}

#[tokio::test]
async fn oversized_response_is_refused() {
    let mut body = one_result().to_string().into_bytes();
    body.resize(limits::WEB_SEARCH_BYTES + 1, b' ');
    let server = FakeProvider::start(vec![response(200, body.clone())]).await;
    assert_eq!(error_code(SearchEngineKind::Searxng, &server).await, MessageCode::SearchTooLarge);
    body.truncate(limits::WEB_SEARCH_BYTES);
    let server = FakeProvider::start(vec![response(200, body)]).await;
    let engine = engine_at(SearchEngineKind::Searxng, &server);
    assert_eq!(search(&HttpClient::default(), &engine, &query("leaves")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn slow_response_ends_at_time_limit() {
    let server =
        FakeProvider::start(vec![vec![ServerStep::Status(200), ServerStep::Bytes(b"{".to_vec()), ServerStep::Stall]])
            .await;
    let engine = engine_at(SearchEngineKind::Searxng, &server);
    let searching = tokio::spawn(async move { search(&HttpClient::default(), &engine, &query("leaves")).await });
    server.wait_for_requests(1).await;
    tokio::time::pause();
    tokio::time::advance(limits::WEB_SEARCH_TIME + Duration::from_secs(1)).await;
    let error = searching.await.unwrap().unwrap_err();
    assert_eq!((error.code, error.args["seconds"].as_str()), (MessageCode::NoResponse, "20"));
}

#[tokio::test]
async fn private_address_needs_local_network() {
    let server = FakeProvider::start(vec![response(200, one_result().to_string())]).await;
    let engine = SearchEngine { local_network: false, ..engine_at(SearchEngineKind::Searxng, &server) };
    let error = search(&HttpClient::default(), &engine, &query("leaves")).await.unwrap_err();
    assert_eq!(error.code, MessageCode::NotConnected);
    let advice =
        "127.0.0.1 is not a public internet address. To allow it, turn on “Local network” for this search engine";
    assert_eq!(error.to_string(), format!("Could not connect: {advice}."));
    assert_eq!(server.requests().len(), 0);
}
