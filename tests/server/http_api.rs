//! The HTTP API over the real router (docs/reference/api.md 3), with a scripted provider and a database file.

use std::sync::Arc;

use crate::test_server::{TestServer, delta_step, streamed_answer, text_step, thinking_step};
use axum::Router;
use axum::body::Body;
use http::{Request, Response, StatusCode};
use leptos::config::LeptosOptions;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use turnleaf::server::app::App;
use turnleaf::server::http::health::Readiness;
use turnleaf::server::http::layers::HttpConfig;
use turnleaf::server::http::request::admission::Admission;
use turnleaf::server::http::request::allowed_hosts::AllowedHosts;
use turnleaf::server::http::request::principal::Authentication;
use turnleaf::server::http::request::session_cookie::SessionCookie;
use turnleaf::server::http::response::headers::TransportSecurity;
use turnleaf::server::http::router::router;
use turnleaf::server::http::site::assets::Site;
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::{CliFlags, Config};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};

/// The secret of the proxy in front of a server.
pub const PROXY_SECRET: &str = "correct-horse-battery-staple";

pub struct TestApi {
    pub router: Router,
    /// Cancelled to make open streams end.
    pub closing: CancellationToken,
    pub instance: TestServer,
}

impl TestApi {
    pub async fn new(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        Self::with_provider(ScriptedProvider::new("scripted", answers)).await
    }

    pub async fn with_provider(provider: ScriptedProvider) -> Self {
        Self::with_server(TestServer::new(provider).await)
    }

    /// Wraps an existing server.
    pub fn with_server(instance: TestServer) -> Self {
        Self::with_config(instance, HttpConfig::default())
    }

    /// Wraps a server with this configuration; it answers to the host names of this machine.
    pub fn with_config(instance: TestServer, config: HttpConfig) -> Self {
        let authentication = Authentication::without_accounts(instance.owner);
        Self::with_ways_in(instance, HttpConfig { authentication, ..config })
    }

    /// Wraps a server without a way in, for which everybody is a stranger.
    pub fn for_strangers(instance: TestServer) -> Self {
        Self::with_ways_in(instance, HttpConfig::default())
    }

    /// Wraps a server on which people sign in.
    pub fn with_accounts(instance: TestServer) -> Self {
        let cookie = SessionCookie::new(TransportSecurity::default());
        let authentication = Authentication::with_accounts(instance.service.clone(), cookie);
        Self::with_ways_in(instance, HttpConfig { authentication, ..HttpConfig::default() })
    }

    /// Wraps a server behind a proxy at 10.0.0.1, which names people.
    pub fn behind_proxy(instance: TestServer, creates_accounts: bool) -> Self {
        let environment: Environment = [
            ("TURNLEAF_AUTH", "proxy"),
            ("TURNLEAF_TRUSTED_PROXIES", "10.0.0.1"),
            ("TURNLEAF_PROXY_SECRET", PROXY_SECRET),
            ("TURNLEAF_PROXY_USER_HEADER", "Remote-User"),
            ("TURNLEAF_PROXY_GROUPS_HEADER", "Remote-Groups"),
        ]
        .into_iter()
        .collect();
        let admission = Admission::new(&Config::load(&CliFlags::default(), &environment).unwrap().security);
        let authentication = Authentication::behind_proxy(instance.service.clone(), creates_accounts);
        Self::with_ways_in(instance, HttpConfig { authentication, admission, ..HttpConfig::default() })
    }

    fn with_ways_in(instance: TestServer, config: HttpConfig) -> Self {
        let token = CancellationToken::new();
        let options = LeptosOptions::builder().output_name("turnleaf").build();
        let closing = token.clone();
        let app =
            App::new(instance.service.clone(), options, TransportSecurity::default(), token.clone(), closing.clone());
        let readiness = Readiness::new(token, Arc::new(|| Box::pin(async { Ok(()) })));
        let security = Config::load(&CliFlags::default(), &Environment::default()).unwrap().security;
        let hosts = AllowedHosts::new(&security, [[127, 0, 0, 1].into()]);
        let router = router(&app, &Arc::new(Site::open(None)), readiness, &HttpConfig { hosts, ..config });
        Self { router, closing, instance }
    }

    pub async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:3000");
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let response = self.send(request.body(body).unwrap()).await;
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    pub async fn create_chat(&self) -> String {
        let (status, chat) = self.call("POST", "/api/chats", Some(json!({}))).await;
        assert_eq!(status, StatusCode::CREATED);
        chat["id"].as_str().unwrap().to_owned()
    }

    /// Reads the whole event stream of a turn, to its end.
    pub async fn read_events(&self, turn: &str, headers: &[(&str, &str)]) -> (StatusCode, String) {
        let mut request = Request::builder().uri(format!("/api/turns/{turn}/events")).header("host", "127.0.0.1:3000");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.send(request.body(Body::empty()).unwrap()).await;
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }
}

fn ids(stream: &str) -> Vec<u64> {
    let after_colon = |line: &str| line.strip_prefix("id: ")?.rsplit_once(':')?.1.parse().ok();
    stream.lines().filter_map(after_colon).collect()
}

#[tokio::test]
async fn script_can_hold_conversation() {
    let api = TestApi::new([streamed_answer([thinking_step("hm"), text_step("Hel"), text_step("lo")])]).await;
    let chat = api.create_chat().await;
    let key = json!({ "text": "hi", "client_request_id": "k1" });
    let (status, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(key.clone())).await;
    assert_eq!(status, StatusCode::CREATED);
    let turn = started["assistant_turn"]["id"].as_str().unwrap().to_owned();
    assert_eq!(started["branch"]["model"], "model-a");

    let (status, stream) = api.read_events(&turn, &[]).await;
    assert_eq!(status, StatusCode::OK);
    let numbers = ids(&stream);
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert!(stream.ends_with("\n\n") && stream.contains("event: turn_end\n"));

    let last = format!("{turn}:{}", numbers.len());
    assert_eq!(api.read_events(&turn, &[("last-event-id", &last)]).await.0, StatusCode::NO_CONTENT);
    let (_, rest) = api.read_events(&turn, &[("last-event-id", &format!("{turn}:2"))]).await;
    assert_eq!(ids(&rest), numbers[2..]);

    let (_, lines) = api.read_events(&turn, &[("accept", "application/x-ndjson")]).await;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reply_text: String =
        lines.iter().filter(|l| l["type"] == "text").map(|l| l["content"].as_str().unwrap()).collect();
    assert_eq!(lines[0], json!({ "type": "thinking", "content": "hm" }));
    assert_eq!(reply_text, "Hello");

    let (status, again) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(key)).await;
    assert_eq!((status, &again["assistant_turn"]["id"]), (StatusCode::OK, &started["assistant_turn"]["id"]));
    let (status, shown) = api.call("GET", &format!("/api/turns/{turn}"), None).await;
    assert_eq!((status, &shown["status"]), (StatusCode::OK, &json!("complete")));
    let (status, generations) = api.call("GET", &format!("/api/turns/{turn}/generations"), None).await;
    assert_eq!(status, StatusCode::OK);
    let generation = generations[0]["id"].as_str().unwrap();
    let raw = Request::builder().uri(format!("/api/generations/{generation}/raw")).header("host", "localhost");
    let raw = api.send(raw.body(Body::empty()).unwrap()).await;
    assert_eq!(raw.headers()["content-security-policy"], "default-src 'none'; sandbox");
    api.instance.check_invariants().await;
}

/// NDJSON (docs/reference/events.md 8) holds only what the model says; reasoning arrives in pieces, each but the
/// first of a block with `append`.
#[tokio::test]
async fn ndjson_events_match_documented_format() {
    let call = delta_step(
        json!({ "tool_calls": [{ "index": 0, "id": "t", "function": { "name": "look", "arguments": "{}" } }] }),
    );
    let calls =
        [vec![thinking_step("first"), text_step("I look."), call], crate::test_server::finish_steps("tool_calls")]
            .concat();
    let provider = ScriptedProvider::new(
        "scripted",
        [ScriptedAnswer::Stream(calls), streamed_answer([thinking_step("second"), text_step("Seen.")])],
    )
    .with_tools(
        vec![turnleaf::domain::tools::tool::ToolSpec {
            name: "look".into(),
            description: String::new(),
            parameters: json!({}),
        }],
        |_, _| Some(turnleaf_providers::provider::ToolOutcome { result: json!("x"), is_error: false }),
    );
    let api = TestApi::with_provider(provider).await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn = started["assistant_turn"]["id"].as_str().unwrap();
    let (_, sse) = api.read_events(turn, &[("accept", "text/event-stream, application/x-ndjson;q=0.1")]).await;
    assert!(sse.starts_with("retry: "), "{sse}");
    let (_, lines) = api.read_events(turn, &[("accept", "application/x-ndjson, text/event-stream;q=0.1")]).await;
    assert!(lines.ends_with('\n'));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut merged: Vec<(String, String)> = Vec::new();
    for line in &lines {
        let fields = line.as_object().unwrap();
        assert!(fields.keys().all(|key| ["type", "content", "append"].contains(&key.as_str())), "{line}");
        let (kind, content) = (line["type"].as_str().unwrap(), line["content"].as_str().unwrap());
        let appends = match kind {
            "thinking" => line["append"] == true,
            // Consecutive text lines belong together without `append`.
            "text" => merged.last().is_some_and(|(last, _)| last == "text") && fields.len() == 2,
            other => panic!("{other}"),
        };
        if appends {
            merged.last_mut().unwrap().1.push_str(content);
        } else {
            merged.push((kind.into(), content.into()));
        }
    }
    let merged: Vec<(&str, &str)> = merged.iter().map(|(kind, content)| (kind.as_str(), content.as_str())).collect();
    assert_eq!(merged, [("thinking", "first"), ("text", "I look."), ("thinking", "second"), ("text", "Seen.")]);

    // A cursor after the start of a block gets only deltas of it.
    let (_, events) = api.read_events(turn, &[]).await;
    let begun = events.split("\n\n").position(|event| event.contains("\"type\":\"block_start\"")).unwrap();
    let (_, rest) = api
        .read_events(turn, &[("accept", "application/x-ndjson"), ("last-event-id", &format!("{turn}:{begun}"))])
        .await;
    assert_eq!(
        serde_json::from_str::<Value>(rest.lines().next().unwrap()).unwrap(),
        json!({ "type": "thinking", "content": "first", "append": true })
    );
}

#[tokio::test]
async fn invalid_cursor_gets_snapshot_and_no_error() {
    let api = TestApi::new([streamed_answer([text_step("x")])]).await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn = started["assistant_turn"]["id"].as_str().unwrap();
    api.read_events(turn, &[]).await;
    let of_another = "0190b5b4-7c1e-7abc-8def-0123456789ab:1";
    for cursor in ["99999999999999999999", "-1", "abc", of_another, "+3"] {
        let (status, stream) = api.read_events(turn, &[("last-event-id", cursor)]).await;
        assert_eq!(status, StatusCode::OK, "{cursor}");
        assert!(
            stream.contains("event: snapshot\n") && stream.contains("\"status\":\"complete\""),
            "{cursor}: {stream}"
        );
    }
}

#[tokio::test]
async fn invalid_requests_are_refused_by_field() {
    let api = TestApi::new([]).await;
    let chat = api.create_chat().await;
    let path = format!("/api/chats/{chat}/turns");
    let strange = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    for (body, status, code, field) in [
        (json!({ "text": " \n\u{200b}" }), 422, "empty_message", "content"),
        (json!({}), 400, "invalid", "content"),
        (json!({ "text": "a", "content": [] }), 400, "invalid", "text"),
        (json!({ "text": 123 }), 400, "invalid", "text"),
        (json!({ "text": "a", "user_id": "x" }), 400, "invalid", "user_id"),
        (json!({ "text": "a", "params": { "temperature": -1 } }), 400, "invalid", "params.temperature"),
        (json!({ "text": "a", "params": { "temperature": "0.5" } }), 400, "invalid", "params.temperature"),
        (json!({ "text": "a", "params": { "max_tokens": 0 } }), 400, "invalid", "params.max_tokens"),
        (json!({ "text": "a", "prev_turn_id": "1" }), 400, "invalid", "prev_turn_id"),
    ] {
        let (was, problem) = api.call("POST", &path, Some(body.clone())).await;
        assert_eq!((was.as_u16(), problem["code"].as_str()), (status, Some(code)), "{body} {problem}");
        assert_eq!(problem["field"], field, "{body}");
        assert!(problem["request_id"].is_string());
    }
    let unknown = json!({ "text": "a", "prev_turn_id": strange });
    assert_eq!(api.call("POST", &path, Some(unknown)).await.0, StatusCode::NOT_FOUND);
    let long = "a".repeat((1 << 20) + 1);
    assert_eq!(api.call("POST", &path, Some(json!({ "text": long }))).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let locked = json!({ "text": "a", "model": "model-b" });
    let (status, problem) = api.call("POST", &path, Some(locked)).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("branch_locked")));
    assert_eq!(problem["fork"]["model"], "model-b");
    for id in ["1", "../../etc/passwd", strange, &strange.to_uppercase()] {
        assert_eq!(api.call("GET", &format!("/api/turns/{id}"), None).await.0, StatusCode::NOT_FOUND, "{id}");
    }
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn deleted_chat_is_restored_unchanged() {
    let api = TestApi::new([streamed_answer([text_step("x")])]).await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn = started["assistant_turn"]["id"].as_str().unwrap();
    api.read_events(turn, &[]).await;
    let path = format!("/api/chats/{chat}");
    assert_eq!(api.call("DELETE", &path, None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(api.call("GET", &path, None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(api.call("GET", &format!("/api/turns/{turn}"), None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(api.call("POST", &format!("{path}/restore"), None).await.0, StatusCode::OK);
    assert_eq!(api.call("GET", &format!("/api/turns/{turn}"), None).await.0, StatusCode::OK);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn forms_work_without_script() {
    let api = TestApi::new([streamed_answer([text_step("from a form")])]).await;
    let form = |path: &str, body: &str| {
        Request::builder()
            .method("POST")
            .uri(path)
            .header("host", "127.0.0.1:3000")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Body::from(body.to_owned()))
            .unwrap()
    };
    let sent = api.send(form("/forms/send", "text=hi+there&client_request_id=f1&thinking=off")).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let to = sent.headers()["location"].to_str().unwrap().to_owned();
    assert!(to.starts_with("/c/") && to.ends_with("#latest"), "{to}");
    let again = api.send(form("/forms/send", "text=hi+there&client_request_id=f1&thinking=off")).await;
    assert_eq!(again.headers()["location"].to_str().unwrap(), to, "a second click sends nothing twice");
    let turn = to.split("at=").nth(1).unwrap().trim_end_matches("#latest").to_owned();
    api.read_events(&turn, &[]).await;
    let page = Request::builder().uri(to.trim_end_matches("#latest")).header("host", "127.0.0.1:3000");
    let page = api.send(page.body(Body::empty()).unwrap()).await;
    let html = axum::body::to_bytes(page.into_body(), usize::MAX).await.unwrap();
    let html = String::from_utf8(html.to_vec()).unwrap();
    assert!(html.contains("from a form") && html.contains("hi there"));
    let empty = api.send(form("/forms/send", "text=+&client_request_id=f2")).await;
    assert_eq!(empty.headers()["location"], "/?error=invalid");
    let theme = api.send(form("/forms/preferences", "theme=dark&next=//canary.test")).await;
    assert_eq!(theme.headers()["location"], "/");
    assert!(theme.headers()["set-cookie"].to_str().unwrap().starts_with("turnleaf_theme=dark;"));
}

#[tokio::test]
async fn reasoning_signatures_are_not_sent_to_clients() {
    const PROOF: &str = "EqQBCkYIBxgCKkD";
    let detail = |part: Value| delta_step(json!({ "reasoning_details": [part] }));
    let api = TestApi::new([streamed_answer([
        detail(json!({ "type": "reasoning.text", "text": "hm", "index": 0 })),
        detail(json!({ "type": "reasoning.text", "signature": PROOF, "index": 0 })),
        text_step("So."),
    ])])
    .await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn = started["assistant_turn"]["id"].as_str().unwrap().to_owned();
    let (_, stream) = api.read_events(&turn, &[]).await;
    let (_, lines) = api.read_events(&turn, &[("accept", "application/x-ndjson")]).await;
    let (_, snapshot) = api.read_events(&turn, &[("last-event-id", "nonsense")]).await;
    let ask = async |query: &str, accept: &str, cursor: &str| {
        let request = Request::builder()
            .uri(format!("/api/turns/{turn}/events?{query}"))
            .header("host", "127.0.0.1:3000")
            .header("accept", accept)
            .header("last-event-id", cursor);
        let response = api.send(request.body(Body::empty()).unwrap()).await;
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    };
    // Signatures are lines of NDJSON if they are asked for, and never events of SSE.
    for cursor in ["", "nonsense"] {
        let (_, lines) = ask("signatures=1", "application/x-ndjson", cursor).await;
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let expected = json!([
            { "type": "thinking", "content": "hm" },
            { "type": "thinking_signature", "content": PROOF },
            { "type": "text", "content": "So." },
        ]);
        assert_eq!(json!(lines), expected, "{cursor}");
        for query in ["signatures=0", "signatures=false"] {
            assert!(!ask(query, "application/x-ndjson", cursor).await.1.contains(PROOF), "{query}");
        }
        assert!(!ask("signatures=1", "text/event-stream", cursor).await.1.contains(PROOF));
    }
    assert_eq!(ask("signatures=yes", "application/x-ndjson", "").await.0, StatusCode::BAD_REQUEST);
    let (_, whole) = api.call("GET", &format!("/api/turns/{turn}"), None).await;
    let kinds: Vec<&str> =
        whole["blocks"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "thinking_signature", "text"], "each block has its place");
    let numbers = ids(&stream);
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    for seen in [&stream, &lines, &snapshot, &whole.to_string()] {
        assert!(!seen.contains(PROOF), "{seen}");
    }
    let stored = turnleaf_store::turns::find(&api.instance.db, api.instance.owner, turn.parse().unwrap());
    let stored = serde_json::to_string(&stored.await.unwrap().unwrap()).unwrap();
    assert!(stored.contains(PROOF), "what goes back to the provider is kept: {stored}");
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn features_name_content_blocks_and_socket_protocol() {
    let api = TestApi::new([]).await;
    let (status, features) = api.call("GET", "/api/features", None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(features, json!({ "features": { "content_blocks": true }, "socket_protocols": ["turnleaf.v1"] }));
}

#[tokio::test]
async fn null_parent_makes_new_root_and_absent_one_continues() {
    let api = TestApi::new(["a", "b", "c", "d"].map(|word| streamed_answer([text_step(word)]))).await;
    let chat = api.create_chat().await;
    let path = format!("/api/chats/{chat}/turns");
    let send = async |body: Value| {
        let (status, sent) = api.call("POST", &path, Some(body)).await;
        assert!(status.is_success(), "{status} {sent}");
        api.instance.wait_until_ended(sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()).await;
        sent
    };
    // In an empty chat there is nothing to leave: the first branch begins.
    let first = send(json!({ "text": "1", "prev_turn_id": null })).await;
    let (_, details) = api.call("GET", &format!("/api/chats/{chat}"), None).await;
    assert_eq!(details["branches"].as_array().unwrap().len(), 1, "{details}");
    let second = send(json!({ "text": "2" })).await;
    assert_eq!(second["user_turn"]["prev_turn_id"], first["assistant_turn"]["id"], "absent: the end of the branch");
    assert_eq!(second["branch"]["id"], first["branch"]["id"]);

    let body = json!({ "text": "3", "prev_turn_id": null, "model": "model-b", "client_request_id": "root" });
    let root = send(body.clone()).await;
    assert_eq!(root["user_turn"]["prev_turn_id"], Value::Null, "{root}");
    assert_eq!(root["user_turn"]["depth"], 0);
    assert_ne!(root["branch"]["id"], first["branch"]["id"], "a branch of its own");
    assert_eq!((&root["branch"]["model"], &root["branch"]["fork_turn_id"]), (&json!("model-b"), &Value::Null));
    let id = first["user_turn"]["id"].as_str().unwrap();
    let (_, versions) = api.call("GET", &format!("/api/turns/{id}/siblings"), None).await;
    assert_eq!(versions["siblings"], json!([id, root["user_turn"]["id"]]));

    assert_eq!(send(body.clone()).await["user_turn"]["id"], root["user_turn"]["id"], "the same again sends nothing");
    let mut other = body;
    other.as_object_mut().unwrap().remove("prev_turn_id");
    let (status, refused) = api.call("POST", &path, Some(other)).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("idempotency_mismatch")), "{refused}");
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn branch_is_created_from_reference_and_inherits_its_lock() {
    let api = TestApi::new(["a", "b"].map(|word| streamed_answer([text_step(word)]))).await;
    let chat = api.create_chat().await;
    let branches = format!("/api/chats/{chat}/branches");
    let send = async |body: Value| {
        let (status, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(body)).await;
        assert!(status.is_success(), "{status} {sent}");
        api.instance.wait_until_ended(sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()).await;
        sent
    };
    let create = async |body: Value| api.call("POST", &branches, Some(body)).await;
    let first = send(json!({ "text": "1" })).await;
    let (main, reply) = (&first["branch"]["name"], &first["assistant_turn"]["id"]);
    let (status, other) = create(json!({ "name": "other", "fromRef": main, "model": "model-b" })).await;
    assert_eq!((status, &other["fork_turn_id"]), (StatusCode::CREATED, reply), "{other}");
    assert_eq!(other["parent_branch_id"], first["branch"]["id"]);
    // A branch without turns has the end of its fork, and its own lock.
    let (status, third) = create(json!({ "name": "third", "fromRef": "other" })).await;
    assert_eq!((status, &third["fork_turn_id"]), (StatusCode::CREATED, reply), "{third}");
    assert_eq!((&third["model"], &third["parent_branch_id"]), (&json!("model-b"), &other["id"]));
    // The end moves with the branch; ids of branches and turns are references, too.
    let second = send(json!({ "text": "2", "branch_id": first["branch"]["id"] })).await;
    for (reference, end) in [
        (main, &second["assistant_turn"]["id"]),
        (&first["branch"]["id"], &second["assistant_turn"]["id"]),
        (reply, reply),
        (&second["user_turn"]["id"], reply),
    ] {
        let (status, branch) = create(json!({ "fromRef": reference })).await;
        assert_eq!((status, &branch["fork_turn_id"]), (StatusCode::CREATED, end), "{branch}");
        assert_eq!(branch["model"], first["branch"]["model"], "inherited");
    }
    let body = json!({ "fromRef": "main", "client_request_id": "once" });
    let (_, once) = create(body.clone()).await;
    let (status, again) = create(body).await;
    assert_eq!((status, &again["id"]), (StatusCode::OK, &once["id"]));

    for (body, status) in [
        (json!({ "fromRef": "nobody" }), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({ "fromRef": "" }), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({ "fromRef": "0190b5b4-7c1e-7abc-8def-0123456789ab" }), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({ "fromRef": "main", "from_turn_id": reply }), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({ "fromRef": 1 }), StatusCode::BAD_REQUEST),
    ] {
        let (answered, refused) = create(body.clone()).await;
        assert_eq!((answered, &refused["field"]), (status, &json!("fromRef")), "{body}: {refused}");
    }
    let (_, renamed) = api
        .call("PATCH", &format!("/api/branches/{}", third["id"].as_str().unwrap()), Some(json!({ "name": "other" })))
        .await;
    assert_eq!(renamed["name"], "other", "{renamed}");
    let (status, refused) = create(json!({ "fromRef": "other" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "two branches have this name: {refused}");
    api.instance.check_invariants().await;
}
