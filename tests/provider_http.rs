//! Provider clients over real sockets: what a request sends, how misbehaving servers are handled, and that dropping a
//! stream closes its connection.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use turnleaf::domain::branches::branch::ModelLock;
use turnleaf::domain::providers::params_resolution::resolve_params;
use turnleaf::domain::providers::provider::ReasoningSupport;
use turnleaf::domain::{Failure, FailureKind, ModelParams, Thinking, UserId};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_providers::ProviderRegistry;
use turnleaf_providers::demo::DemoProvider;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::openai_chat::ChatEndpoint;
use turnleaf_providers::openai_responses::ResponsesEndpoint;
use turnleaf_providers::provider::{ChatRequest, Provider, ProviderError, ProviderReply};
use turnleaf_providers::registry::{ProviderHealth, ProviderScope};

#[path = "support/fake_provider.rs"]
mod fakeprov;

use fakeprov::{FakeProvider, ServerStep};

const KEY: &str = "the-secret-key-of-this-test";
const USER: UserId = UserId::from_uuid(uuid::Uuid::from_u128(1));
/// A timeout that only a test that hangs can reach.
const PATIENCE: Duration = Duration::from_secs(20);

fn endpoint(id: &str, base_url: String) -> ProviderEndpoint {
    ProviderEndpoint {
        id: id.into(),
        name: "Fake".into(),
        api: ProviderApi::OpenaiChat,
        dialect: String::new(),
        base_url,
        api_key: Some(KEY.into()),
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    }
}

async fn send(server: &FakeProvider) -> Result<ProviderReply, ProviderError> {
    let provider = ChatEndpoint::new(&endpoint("fake", server.base_url()), HttpClient::default());
    tokio::time::timeout(PATIENCE, provider.send("m", "{\"a\":1}".into())).await.unwrap()
}

async fn read(reply: ProviderReply) -> (Vec<u8>, Option<Failure>) {
    let mut body = reply.body;
    let mut bytes = Vec::new();
    while let Some(piece) = tokio::time::timeout(PATIENCE, body.next()).await.unwrap() {
        match piece {
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(failure) => return (bytes, Some(failure)),
        }
    }
    (bytes, None)
}

fn stream(body: &str) -> Vec<ServerStep> {
    vec![
        ServerStep::Status(200),
        ServerStep::Header("content-type", "text/event-stream".into()),
        ServerStep::Header("x-request-id", "r-1".into()),
        ServerStep::Header("set-cookie", "no=1".into()),
        ServerStep::Bytes(body.as_bytes().to_vec()),
        ServerStep::Fin,
    ]
}

#[tokio::test]
async fn request_has_exact_body_and_key_and_asks_for_no_compression() {
    let server = FakeProvider::start(vec![stream("data: x\n\n")]).await;
    let reply = send(&server).await.unwrap();
    assert_eq!(reply.status, 200);
    let names: Vec<&str> = reply.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["content-type", "x-request-id"]);
    assert_eq!(read(reply).await, (b"data: x\n\n".to_vec(), None));
    let request = &server.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(request.body, b"{\"a\":1}");
    let header = |name: &str| request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!(header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(header("accept-encoding"), Some("identity"));
    assert_eq!(header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn endpoint_that_refuses_summaries_is_not_asked_again() {
    let refusal = br#"{"error":{"message":"Your organization must be verified","param":"reasoning.summary","code":"unsupported_value"}}"#;
    let refused = vec![ServerStep::Status(400), ServerStep::Bytes(refusal.to_vec()), ServerStep::Fin];
    let server = FakeProvider::start(vec![refused, stream("data: x\n\n")]).await;
    let provider = ResponsesEndpoint::new(&endpoint("fake", server.base_url()), HttpClient::default());
    let capabilities = provider.capabilities("gpt-5-mini");
    let request = ChatRequest {
        thinking: Thinking::High,
        is_thinking_mode: true,
        ..ChatRequest::new("gpt-5-mini", Vec::new(), capabilities)
    };
    let first = tokio::time::timeout(PATIENCE, provider.send(&request.model, provider.build(&request))).await.unwrap();
    let Err(refused) = first else { panic!("it was not refused") };
    assert_eq!(refused.failure.kind, FailureKind::ProviderRefusedRequest);
    let second = tokio::time::timeout(PATIENCE, provider.send(&request.model, provider.build(&request))).await.unwrap();
    assert_eq!(second.unwrap().status, 200);
    let requests = server.requests();
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/responses"));
    let reasoning =
        |at: usize| serde_json::from_slice::<serde_json::Value>(&requests[at].body).unwrap()["reasoning"].clone();
    assert_eq!(reasoning(0), serde_json::json!({"effort": "high", "summary": "auto"}));
    assert_eq!(reasoning(1), serde_json::json!({"effort": "high"}));
}

#[tokio::test]
async fn bytes_arrive_as_they_are_sent() {
    let text = "data: 你好😀\r\n\r\n".as_bytes().to_vec();
    let drip = ServerStep::Drip(text.clone(), 1, Duration::ZERO);
    let server = FakeProvider::start(vec![vec![ServerStep::Status(200), drip, ServerStep::Fin]]).await;
    assert_eq!(read(send(&server).await.unwrap()).await, (text, None));
}

#[tokio::test]
async fn dropping_body_closes_socket() {
    let script = vec![ServerStep::Status(200), ServerStep::Bytes(b"data: x\n\n".to_vec()), ServerStep::Stall];
    let server = FakeProvider::start(vec![script]).await;
    let mut reply = send(&server).await.unwrap();
    assert_eq!(reply.body.next().await.unwrap().unwrap(), Bytes::from_static(b"data: x\n\n"));
    let let_go = std::time::Instant::now();
    drop(reply);
    let closed = tokio::time::timeout(PATIENCE, server.wait_for_closes(1)).await.unwrap();
    assert!(server.requests()[0].at < let_go);
    assert!(closed[0].duration_since(let_go) < Duration::from_secs(1));
}

#[tokio::test]
async fn dropping_request_before_response_closes_socket() {
    let server = FakeProvider::start(vec![vec![ServerStep::Stall]]).await;
    let provider = ChatEndpoint::new(&endpoint("fake", server.base_url()), HttpClient::default());
    let sending = tokio::spawn(provider.send("m", "{}".into()));
    server.wait_for_requests(1).await;
    sending.abort();
    tokio::time::timeout(PATIENCE, server.wait_for_closes(1)).await.unwrap();
}

#[tokio::test]
async fn reset_mid_stream_is_truncation_and_keeps_received_bytes() {
    let drip = ServerStep::Drip(b"data: x\n\n".to_vec(), 9, Duration::from_millis(100));
    let server = FakeProvider::start(vec![vec![ServerStep::Status(200), drip, ServerStep::Rst]]).await;
    let (bytes, failure) = read(send(&server).await.unwrap()).await;
    assert_eq!(bytes, b"data: x\n\n");
    assert_eq!(failure.unwrap().kind, FailureKind::ProviderTruncated);
}

#[tokio::test]
async fn short_body_is_truncation() {
    let script = vec![
        ServerStep::Status(200),
        ServerStep::Header("content-length", "100".into()),
        ServerStep::Bytes(b"data: x\n\n".to_vec()),
        ServerStep::Fin,
    ];
    let server = FakeProvider::start(vec![script]).await;
    let (_, failure) = read(send(&server).await.unwrap()).await;
    assert_eq!(failure.unwrap().kind, FailureKind::ProviderTruncated);
}

#[tokio::test]
async fn error_document_is_classified_kept_and_redacted() {
    let body = format!("{{\"error\":{{\"message\":\"bad key {KEY}\",\"code\":\"invalid_api_key\"}}}}");
    let script = vec![
        ServerStep::Status(401),
        ServerStep::Header("retry-after", "7".into()),
        ServerStep::Header("x-should-retry", "true".into()),
        ServerStep::Bytes(body.into_bytes()),
        ServerStep::Fin,
    ];
    let refused = send(&FakeProvider::start(vec![script]).await).await.err().unwrap();
    assert_eq!(refused.failure.kind, FailureKind::ProviderAuth);
    assert_eq!(refused.failure.retry_after_ms, Some(7_000));
    assert_eq!((refused.status, refused.retries_by_itself), (Some(401), true));
    assert!(!format!("{refused:?}").contains(KEY));
    assert!(refused.body.starts_with(b"{\"error\":{\"message\":\"bad key [removed]\""));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target = FakeProvider::start(vec![stream("data: stolen\n\n")]).await;
    let script = vec![
        ServerStep::Status(307),
        ServerStep::Header("location", target.base_url()),
        ServerStep::Bytes(Vec::new()),
        ServerStep::Fin,
    ];
    let refused = send(&FakeProvider::start(vec![script]).await).await.err().unwrap();
    assert_eq!((refused.status, refused.failure.kind), (Some(307), FailureKind::ProviderRefusedRequest));
    assert!(target.requests().is_empty());
}

#[tokio::test]
async fn unrequested_compression_is_clean_error() {
    let script = vec![
        ServerStep::Status(200),
        ServerStep::Header("content-encoding", "gzip".into()),
        ServerStep::Bytes(b"\x1f\x8b\x08".to_vec()),
        ServerStep::Fin,
    ];
    let refused = send(&FakeProvider::start(vec![script]).await).await.err().unwrap();
    assert_eq!(refused.failure.kind, FailureKind::ProviderProtocol);
}

#[tokio::test]
async fn connection_failure_names_host_and_not_key() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let provider = ChatEndpoint::new(&endpoint("fake", format!("http://{closed}/v1")), HttpClient::default());
    let refused = provider.send("m", "{}".into()).await.err().unwrap();
    assert_eq!((refused.failure.kind, refused.retries_by_itself), (FailureKind::ProviderUnreachable, true));
    let detail = refused.failure.detail.unwrap();
    assert!(detail.starts_with(&closed.to_string()) && !detail.contains(KEY), "{detail}");
}

#[tokio::test]
async fn non_http_response_is_no_reply() {
    let server =
        FakeProvider::start(vec![vec![ServerStep::Bytes(b"SSH-2.0-hello\r\n".to_vec()), ServerStep::Fin]]).await;
    assert_eq!(send(&server).await.err().unwrap().status, None);
}

#[tokio::test]
async fn refresh_lists_models_and_finds_local_servers() {
    let list = |ids: &str| {
        vec![ServerStep::Status(200), ServerStep::Bytes(format!("{{\"data\":[{ids}]}}").into_bytes()), ServerStep::Fin]
    };
    let configured = FakeProvider::start(vec![list(r#"{"id":"b"},{"id":"text-embedding-1"},{"id":"a"}"#)]).await;
    let local = FakeProvider::start(vec![list(r#"{"id":"llama"}"#)]).await;
    let empty = FakeProvider::start(vec![list("")]).await;
    let page = FakeProvider::start(vec![vec![
        ServerStep::Status(200),
        ServerStep::Bytes(b"<html>".to_vec()),
        ServerStep::Fin,
    ]])
    .await;
    let candidates = vec![
        endpoint("ollama", local.base_url()),
        endpoint("llamacpp", empty.base_url()),
        endpoint("lmstudio", page.base_url()),
    ];
    let alone = ProviderRegistry::new(Vec::new(), None, candidates.clone(), DemoProvider::new(0.0));
    alone.refresh().await;
    // A local server that was found is reported, but used only after a person has accepted it.
    let llama = ModelLock::new("ollama", "llama");
    assert_eq!(alone.default_lock(USER).provider, "demo");
    assert!(
        alone.find(USER, "ollama").is_none()
            && !alone.offers(USER, &llama)
            && alone.models(USER).iter().all(|model| model.is_demo)
    );
    alone.set_accepted_addresses(USER, [local.base_url()]);
    assert_eq!(alone.default_lock(USER), llama);
    assert!(alone.find(USER, "ollama").is_some() && alone.find(USER, "llamacpp").is_none());
    let found = alone.local_servers(USER);
    let of_found: Vec<_> = found.iter().map(|server| (server.id.as_str(), server.models.len())).collect();
    // A server without models is reported too, and its owner is shown how to install one.
    assert_eq!(of_found, [("ollama", 1), ("llamacpp", 0)]);
    assert_eq!(alone.models(USER).iter().filter(|model| !model.is_demo).count(), 1);

    let mine = endpoint("mine", configured.base_url());
    let registry = ProviderRegistry::new(vec![mine], None, candidates, DemoProvider::new(0.0));
    registry.set_accepted_addresses(USER, [local.base_url()]);
    registry.refresh().await;
    assert_eq!(registry.default_lock(USER), ModelLock::new("mine", "b"));
    let names: Vec<String> = registry.models(USER).into_iter().map(|model| model.lock.model).take(3).collect();
    assert_eq!(names, ["b", "a", "llama"]);
    assert_eq!(configured.requests()[0].path, "/v1/models");
}

#[tokio::test]
async fn listed_capabilities_are_shown_and_decide_sent_parameters() {
    let model_list = serde_json::json!({"data": [
        {"id": "a/reasoner", "name": "A: Reasoner", "context_length": 64_000,
            "top_provider": {"max_completion_tokens": 8_000}, "supported_parameters": ["max_tokens", "reasoning"]},
        {"id": "a/plain", "supported_parameters": ["max_tokens", "temperature"]},
    ]});
    let list = vec![ServerStep::Status(200), ServerStep::Bytes(model_list.to_string().into_bytes()), ServerStep::Fin];
    let server = FakeProvider::start(vec![list]).await;
    let mut mine = endpoint("mine", server.base_url());
    mine.dialect = "openrouter".into();
    mine.default_model = Some("not/listed".into());
    let registry = ProviderRegistry::new(vec![mine], None, Vec::new(), DemoProvider::new(0.0));
    let lock = |model: &str| ModelLock::new("mine", model);
    assert_eq!(registry.capabilities(USER, &lock("a/plain")).reasoning, ReasoningSupport::Optional, "by its name");
    registry.refresh().await;
    let models = registry.models(USER);
    let shown = |model: &str| models.iter().find(|shown| shown.lock.model == model).unwrap();
    let (reasoner, plain) = (shown("a/reasoner"), shown("a/plain"));
    assert_eq!((reasoner.name.as_str(), plain.name.as_str()), ("A: Reasoner", "a/plain"));
    assert_eq!((reasoner.context_tokens, reasoner.output_tokens), (Some(64_000), Some(8_000)));
    assert_eq!((reasoner.reasoning, plain.reasoning), (ReasoningSupport::Optional, ReasoningSupport::Never));
    assert_eq!((reasoner.thinking_levels.len(), plain.thinking_levels.len()), (4, 0));
    assert!(shown("not/listed").is_default);

    let params = ModelParams { temperature: Some(0.5), thinking: Some(Thinking::High), ..ModelParams::default() };
    let sent = |model: &str| {
        let capabilities = registry.capabilities(USER, &lock(model));
        let settled = resolve_params(&params, &ModelParams::default(), &capabilities).unwrap();
        let request = ChatRequest {
            params: settled.params,
            thinking: settled.thinking,
            is_thinking_mode: settled.is_thinking_mode,
            ..ChatRequest::new(model, Vec::new(), capabilities)
        };
        let body = registry.find(USER, "mine").unwrap().build(&request);
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        [body["temperature"].clone(), body["reasoning"].clone()]
    };
    let (null, high) = (serde_json::Value::Null, serde_json::json!({"effort": "high"}));
    assert_eq!(sent("a/reasoner"), [null.clone(), high.clone()]);
    assert_eq!(sent("a/plain"), [0.5.into(), null]);
    assert_eq!(sent("of/another"), [0.5.into(), high]);
}

#[tokio::test]
async fn provider_without_list_keeps_configured_models() {
    let server =
        FakeProvider::start(vec![vec![ServerStep::Status(500), ServerStep::Bytes(b"no".to_vec()), ServerStep::Fin]])
            .await;
    let mut mine = endpoint("mine", server.base_url());
    mine.default_model = Some("known".into());
    let registry = ProviderRegistry::new(vec![mine], None, Vec::new(), DemoProvider::new(0.0));
    registry.refresh().await;
    assert_eq!(registry.default_lock(USER), ModelLock::new("mine", "known"));
}

#[tokio::test]
async fn public_endpoint_cannot_reach_local_addresses() {
    let server = FakeProvider::start(vec![stream("data: x\n\n")]).await;
    let port = server.base_url().rsplit(':').next().unwrap().trim_end_matches("/v1").to_owned();
    let hosts = ["127.0.0.1", "localhost", "localhost.", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"];
    for host in hosts {
        let of = ProviderEndpoint { local_network: false, ..endpoint("fake", format!("http://{host}:{port}/v1")) };
        let provider = ChatEndpoint::new(&of, HttpClient::default());
        let refused = tokio::time::timeout(PATIENCE, provider.send("m", "{}".into())).await.unwrap().err().unwrap();
        assert_eq!(refused.failure.kind, FailureKind::ProviderUnreachable, "{host}");
        let detail = refused.failure.detail.unwrap();
        assert!(detail.contains("not a public internet address") && !detail.contains(KEY), "{host}: {detail}");
    }
    assert_eq!(server.requests().len(), 0);
    send(&server).await.unwrap();
    assert_eq!(server.requests().len(), 1, "one that is marked as local is reached");
}

#[tokio::test]
async fn reply_keeps_ordinary_header_values_and_redacts_credentials() {
    let body_with =
        |key: &str, token: &str| format!("data: {key}, {token}, https://example.org, sk-no-key-required\n\n");
    let server = FakeProvider::start(vec![stream(&body_with(KEY, "9f8e7d6c5b4a3f2e"))]).await;
    let headers = [("HTTP-Referer", "https://example.org"), ("Proxy-Authorization", "Bearer 9f8e7d6c5b4a3f2e")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.into())).to_vec();
    let of = ProviderEndpoint { headers, ..endpoint("fake", server.base_url()) };
    let reply = ChatEndpoint::new(&of, HttpClient::default()).send("m", "{}".into()).await.unwrap();
    assert_eq!(String::from_utf8(read(reply).await.0).unwrap(), body_with("[removed]", "[removed]"));

    // Exports redact the same keys; the placeholder that servers without keys take is ordinary text and stays.
    let keyless =
        ProviderEndpoint { api_key: Some("sk-no-key-required".into()), ..endpoint("keyless", server.base_url()) };
    let registry = ProviderRegistry::new(vec![of, keyless], None, Vec::new(), DemoProvider::new(0.0));
    let clean = registry.redact_keys(body_with(KEY, "9f8e7d6c5b4a3f2e").into());
    assert_eq!(clean, body_with("[removed]", "[removed]"));
}

#[tokio::test]
async fn extra_headers_are_sent_and_never_shown() {
    let refusal = format!("{{\"error\": \"no {KEY}, no canary-in-a-header\"}}");
    let server =
        FakeProvider::start(vec![vec![ServerStep::Status(401), ServerStep::Bytes(refusal.into()), ServerStep::Fin]])
            .await;
    let of = ProviderEndpoint {
        headers: vec![("x-gateway".into(), "canary-in-a-header".into())],
        ..endpoint("fake", server.base_url())
    };
    let provider = ChatEndpoint::new(&of, HttpClient::default());
    let refused = provider.send("m", "{}".into()).await.err().unwrap();
    assert!(server.requests()[0].headers.contains(&("x-gateway".into(), "canary-in-a-header".into())));
    for seen in [format!("{refused:?}"), format!("{of:?} {provider:?}")] {
        assert!(!seen.contains("canary-in-a-header") && !seen.contains(KEY), "{seen}");
    }
}

#[tokio::test]
async fn connection_test_reports_exact_problem() {
    let answer = |status: u16, body: &str| {
        vec![ServerStep::Status(status), ServerStep::Bytes(body.as_bytes().to_vec()), ServerStep::Fin]
    };
    let list = || answer(200, r#"{"data": [{"id": "a"}, {"id": "b"}]}"#);
    for (scripts, state, part) in [
        (vec![list()], ProviderHealth::Working, "Working · 2 models"),
        (
            vec![answer(401, r#"{"error": {"message": "no such key"}}"#)],
            ProviderHealth::KeyRefused,
            "(401): no such key.",
        ),
        (vec![answer(403, "")], ProviderHealth::KeyRefused, "(403)"),
        (vec![answer(404, "{}"), list()], ProviderHealth::WrongAddress, "(404)"),
        (vec![answer(200, "<html>")], ProviderHealth::WrongAddress, "not with a model list"),
        (vec![answer(500, r#"{"error": "kaput"}"#)], ProviderHealth::Failing, "status 500: kaput."),
    ] {
        let server = FakeProvider::start(scripts).await;
        let root = server.base_url().trim_end_matches("/v1").to_owned();
        let registry = ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
        registry.put(ProviderScope::User(USER), endpoint("mine", root.clone()));
        let check = registry.check(USER, "mine").await.unwrap();
        assert!(check.state == state && check.message.to_string().contains(part), "{check:?}");
        let expected = part.contains("404").then(|| format!("{root}/v1"));
        assert_eq!(check.suggestion, expected, "{check:?}");
        assert_eq!(registry.known_endpoints(USER)[0].check.as_ref(), Some(&check));
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // This server speaks at once, and does not speak TLS.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        }
    });
    for (address, part) in [
        (format!("http://{closed}/v1"), "no server is listening there"),
        ("http://nowhere.invalid/v1".to_owned(), "no server with this name was found"),
        (plain, "the secure connection failed"),
    ] {
        let registry = ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
        registry.put(ProviderScope::User(USER), endpoint("mine", address));
        let check = registry.check(USER, "mine").await.unwrap();
        assert!(check.state == ProviderHealth::Unreachable && check.message.to_string().contains(part), "{check:?}");
    }
    assert_eq!(
        ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0)).check(USER, "demo").await,
        None
    );
}

#[tokio::test]
async fn server_without_list_is_tested_with_named_model() {
    let none = || vec![ServerStep::Status(404), ServerStep::Bytes(b"{}".to_vec()), ServerStep::Fin];
    let server = FakeProvider::start(vec![none(), stream("data: [DONE]\n\n")]).await;
    let registry = ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
    registry.put(
        ProviderScope::User(USER),
        ProviderEndpoint { models: vec!["sonar".into()], ..endpoint("mine", server.base_url()) },
    );
    let check = registry.check(USER, "mine").await.unwrap();
    assert!(
        check.state == ProviderHealth::Working && check.message.to_string().contains("sonar responds"),
        "{check:?}"
    );
    assert_eq!(server.requests()[1].path, "/v1/chat/completions");
}
