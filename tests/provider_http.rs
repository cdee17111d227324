//! Providers over real sockets: what goes out, what comes back when a server misbehaves, and that letting go closes.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use turnleaf::domain::branch::ContextPolicy;
use turnleaf::domain::branch::Lock;
use turnleaf::domain::provider::Reasoning;
use turnleaf::domain::settle::settle;
use turnleaf::domain::{Failure, FailureKind, Params, Thinking};
use turnleaf_platform::endpoint::{Api, Endpoint};
use turnleaf_providers::Registry;
use turnleaf_providers::demo::Demo;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::openai_chat::ChatEndpoint;
use turnleaf_providers::openai_responses::ResponsesEndpoint;
use turnleaf_providers::provider::{ChatRequest, Provider, Refused, Reply};
use turnleaf_providers::registry::State;

#[path = "support/fakeprov.rs"]
mod fakeprov;

use fakeprov::{FakeProvider, Verb};

const KEY: &str = "the-secret-key-of-this-test";
/// Nothing here takes long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn endpoint(id: &str, base_url: String) -> Endpoint {
    Endpoint {
        id: id.into(),
        name: "Fake".into(),
        api: Api::OpenaiChat,
        dialect: String::new(),
        base_url,
        api_key: Some(KEY.into()),
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..Endpoint::default()
    }
}

async fn send(server: &FakeProvider) -> Result<Reply, Refused> {
    let provider = ChatEndpoint::new(&endpoint("fake", server.base_url()), HttpClient::default());
    tokio::time::timeout(PATIENCE, provider.send("m", "{\"a\":1}".into())).await.unwrap()
}

async fn read(reply: Reply) -> (Vec<u8>, Option<Failure>) {
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

fn stream(body: &str) -> Vec<Verb> {
    vec![
        Verb::Status(200),
        Verb::Header("content-type", "text/event-stream".into()),
        Verb::Header("x-request-id", "r-1".into()),
        Verb::Header("set-cookie", "no=1".into()),
        Verb::Bytes(body.as_bytes().to_vec()),
        Verb::Fin,
    ]
}

#[tokio::test]
async fn a_request_carries_its_exact_body_its_key_and_asks_for_nothing_packed() {
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
async fn an_endpoint_that_refuses_to_summarise_is_not_asked_again() {
    let refusal = br#"{"error":{"message":"Your organization must be verified","param":"reasoning.summary","code":"unsupported_value"}}"#;
    let refused = vec![Verb::Status(400), Verb::Bytes(refusal.to_vec()), Verb::Fin];
    let server = FakeProvider::start(vec![refused, stream("data: x\n\n")]).await;
    let provider = ResponsesEndpoint::new(&endpoint("fake", server.base_url()), HttpClient::default());
    let asked = ChatRequest {
        model: "gpt-5-mini".into(),
        system: None,
        history: Vec::new(),
        params: Params::default(),
        thinking: Thinking::High,
        is_thinking_mode: true,
        capabilities: provider.capabilities("gpt-5-mini"),
        tools: Vec::new(),
        echoes_reasoning: false,
        policy: ContextPolicy::Exact,
        previous_response: None,
        own_tools: Vec::new(),
    };
    let first = tokio::time::timeout(PATIENCE, provider.send(&asked.model, provider.build(&asked))).await.unwrap();
    let Err(refused) = first else { panic!("it was not refused") };
    assert_eq!(refused.failure.kind, FailureKind::ProviderRefusedRequest);
    let second = tokio::time::timeout(PATIENCE, provider.send(&asked.model, provider.build(&asked))).await.unwrap();
    assert_eq!(second.unwrap().status, 200);
    let requests = server.requests();
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/responses"));
    let reasoning =
        |at: usize| serde_json::from_slice::<serde_json::Value>(&requests[at].body).unwrap()["reasoning"].clone();
    assert_eq!(reasoning(0), serde_json::json!({"effort": "high", "summary": "auto"}));
    assert_eq!(reasoning(1), serde_json::json!({"effort": "high"}));
}

#[tokio::test]
async fn bytes_come_one_by_one_as_they_are_sent() {
    let text = "data: 你好😀\r\n\r\n".as_bytes().to_vec();
    let drip = Verb::Drip(text.clone(), 1, Duration::ZERO);
    let server = FakeProvider::start(vec![vec![Verb::Status(200), drip, Verb::Fin]]).await;
    assert_eq!(read(send(&server).await.unwrap()).await, (text, None));
}

#[tokio::test]
async fn letting_go_of_the_body_closes_the_socket() {
    let script = vec![Verb::Status(200), Verb::Bytes(b"data: x\n\n".to_vec()), Verb::Stall];
    let server = FakeProvider::start(vec![script]).await;
    let mut reply = send(&server).await.unwrap();
    assert_eq!(reply.body.next().await.unwrap().unwrap(), Bytes::from_static(b"data: x\n\n"));
    let let_go = std::time::Instant::now();
    drop(reply);
    let closed = tokio::time::timeout(PATIENCE, server.until_closed(1)).await.unwrap();
    assert!(server.requests()[0].at < let_go);
    assert!(closed[0].duration_since(let_go) < Duration::from_secs(1));
}

#[tokio::test]
async fn letting_go_before_any_answer_closes_the_socket() {
    let server = FakeProvider::start(vec![vec![Verb::Stall]]).await;
    let provider = ChatEndpoint::new(&endpoint("fake", server.base_url()), HttpClient::default());
    let sending = tokio::spawn(provider.send("m", "{}".into()));
    server.until_requests(1).await;
    sending.abort();
    tokio::time::timeout(PATIENCE, server.until_closed(1)).await.unwrap();
}

#[tokio::test]
async fn a_reset_in_the_middle_is_truncation_and_keeps_what_came() {
    let drip = Verb::Drip(b"data: x\n\n".to_vec(), 9, Duration::from_millis(100));
    let server = FakeProvider::start(vec![vec![Verb::Status(200), drip, Verb::Rst]]).await;
    let (bytes, failure) = read(send(&server).await.unwrap()).await;
    assert_eq!(bytes, b"data: x\n\n");
    assert_eq!(failure.unwrap().kind, FailureKind::ProviderTruncated);
}

#[tokio::test]
async fn a_length_that_is_not_kept_is_truncation() {
    let script = vec![
        Verb::Status(200),
        Verb::Header("content-length", "100".into()),
        Verb::Bytes(b"data: x\n\n".to_vec()),
        Verb::Fin,
    ];
    let server = FakeProvider::start(vec![script]).await;
    let (_, failure) = read(send(&server).await.unwrap()).await;
    assert_eq!(failure.unwrap().kind, FailureKind::ProviderTruncated);
}

#[tokio::test]
async fn an_error_document_is_classified_kept_and_freed_of_the_key() {
    let body = format!("{{\"error\":{{\"message\":\"bad key {KEY}\",\"code\":\"invalid_api_key\"}}}}");
    let script = vec![
        Verb::Status(401),
        Verb::Header("retry-after", "7".into()),
        Verb::Header("x-should-retry", "true".into()),
        Verb::Bytes(body.into_bytes()),
        Verb::Fin,
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
    let script =
        vec![Verb::Status(307), Verb::Header("location", target.base_url()), Verb::Bytes(Vec::new()), Verb::Fin];
    let refused = send(&FakeProvider::start(vec![script]).await).await.err().unwrap();
    assert_eq!((refused.status, refused.failure.kind), (Some(307), FailureKind::ProviderRefusedRequest));
    assert!(target.requests().is_empty());
}

#[tokio::test]
async fn a_reply_packed_without_being_asked_is_a_clean_error() {
    let script = vec![
        Verb::Status(200),
        Verb::Header("content-encoding", "gzip".into()),
        Verb::Bytes(b"\x1f\x8b\x08".to_vec()),
        Verb::Fin,
    ];
    let refused = send(&FakeProvider::start(vec![script]).await).await.err().unwrap();
    assert_eq!(refused.failure.kind, FailureKind::ProviderProtocol);
}

#[tokio::test]
async fn nobody_there_names_the_host_and_not_the_key() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let provider = ChatEndpoint::new(&endpoint("fake", format!("http://{closed}/v1")), HttpClient::default());
    let refused = provider.send("m", "{}".into()).await.err().unwrap();
    assert_eq!((refused.failure.kind, refused.retries_by_itself), (FailureKind::ProviderUnreachable, true));
    let detail = refused.failure.detail.unwrap();
    assert!(detail.starts_with(&closed.to_string()) && !detail.contains(KEY), "{detail}");
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_no_reply() {
    let server = FakeProvider::start(vec![vec![Verb::Bytes(b"SSH-2.0-hello\r\n".to_vec()), Verb::Fin]]).await;
    assert_eq!(send(&server).await.err().unwrap().status, None);
}

#[tokio::test]
async fn a_refresh_asks_for_models_and_finds_local_servers() {
    let list =
        |ids: &str| vec![Verb::Status(200), Verb::Bytes(format!("{{\"data\":[{ids}]}}").into_bytes()), Verb::Fin];
    let configured = FakeProvider::start(vec![list(r#"{"id":"b"},{"id":"text-embedding-1"},{"id":"a"}"#)]).await;
    let local = FakeProvider::start(vec![list(r#"{"id":"llama"}"#)]).await;
    let empty = FakeProvider::start(vec![list("")]).await;
    let page = FakeProvider::start(vec![vec![Verb::Status(200), Verb::Bytes(b"<html>".to_vec()), Verb::Fin]]).await;
    let candidates = vec![
        endpoint("ollama", local.base_url()),
        endpoint("llamacpp", empty.base_url()),
        endpoint("lmstudio", page.base_url()),
    ];
    let alone = Registry::new(Vec::new(), None, candidates.clone(), Demo::new(0.0));
    alone.refresh().await;
    // Whatever listens on the port is told of, and used only after a person said yes.
    let llama = Lock::new("ollama", "llama");
    assert_eq!(alone.default_lock().provider, "demo");
    assert!(
        alone.find("ollama").is_none() && !alone.offers(&llama) && alone.models().iter().all(|model| model.is_demo)
    );
    alone.accept([local.base_url()]);
    assert_eq!(alone.default_lock(), llama);
    assert!(alone.find("ollama").is_some() && alone.find("llamacpp").is_none());
    let found = alone.found_locally();
    let of_found: Vec<_> = found.iter().map(|server| (server.id.as_str(), server.models.len())).collect();
    // One that has no models yet is found all the same: its owner is told how to get one.
    assert_eq!(of_found, [("ollama", 1), ("llamacpp", 0)]);
    assert_eq!(alone.models().iter().filter(|model| !model.is_demo).count(), 1);

    let mine = endpoint("mine", configured.base_url());
    let registry = Registry::new(vec![mine], None, candidates, Demo::new(0.0));
    registry.accept([local.base_url()]);
    registry.refresh().await;
    assert_eq!(registry.default_lock(), Lock::new("mine", "b"));
    let names: Vec<String> = registry.models().into_iter().map(|model| model.lock.model).take(3).collect();
    assert_eq!(names, ["b", "a", "llama"]);
    assert_eq!(configured.requests()[0].path, "/v1/models");
}

#[tokio::test]
async fn what_a_list_says_of_a_model_is_shown_and_settles_what_goes_out() {
    let said = serde_json::json!({"data": [
        {"id": "a/reasoner", "name": "A: Reasoner", "context_length": 64_000,
            "top_provider": {"max_completion_tokens": 8_000}, "supported_parameters": ["max_tokens", "reasoning"]},
        {"id": "a/plain", "supported_parameters": ["max_tokens", "temperature"]},
    ]});
    let list = vec![Verb::Status(200), Verb::Bytes(said.to_string().into_bytes()), Verb::Fin];
    let server = FakeProvider::start(vec![list]).await;
    let mut mine = endpoint("mine", server.base_url());
    mine.dialect = "openrouter".into();
    mine.default_model = Some("not/listed".into());
    let registry = Registry::new(vec![mine], None, Vec::new(), Demo::new(0.0));
    let lock = |model: &str| Lock::new("mine", model);
    assert_eq!(registry.capabilities(&lock("a/plain")).reasoning, Reasoning::Optional, "by its name");
    registry.refresh().await;
    let models = registry.models();
    let shown = |model: &str| models.iter().find(|shown| shown.lock.model == model).unwrap();
    let (reasoner, plain) = (shown("a/reasoner"), shown("a/plain"));
    assert_eq!((reasoner.name.as_str(), plain.name.as_str()), ("A: Reasoner", "a/plain"));
    assert_eq!((reasoner.context_tokens, reasoner.output_tokens), (Some(64_000), Some(8_000)));
    assert_eq!((reasoner.reasoning, plain.reasoning), (Reasoning::Optional, Reasoning::Never));
    assert_eq!((reasoner.thinking_levels.len(), plain.thinking_levels.len()), (4, 0));
    assert!(shown("not/listed").is_default);

    let asked = Params { temperature: Some(0.5), thinking: Some(Thinking::High), ..Params::default() };
    let sent = |model: &str| {
        let capabilities = registry.capabilities(&lock(model));
        let settled = settle(&asked, &Params::default(), &capabilities).unwrap();
        let request = ChatRequest {
            model: model.into(),
            system: None,
            history: Vec::new(),
            params: settled.params,
            thinking: settled.thinking,
            is_thinking_mode: settled.is_thinking_mode,
            capabilities,
            tools: Vec::new(),
            echoes_reasoning: false,
            policy: ContextPolicy::Exact,
            previous_response: None,
            own_tools: Vec::new(),
        };
        let body = registry.find("mine").unwrap().build(&request);
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        [body["temperature"].clone(), body["reasoning"].clone()]
    };
    let (null, high) = (serde_json::Value::Null, serde_json::json!({"effort": "high"}));
    assert_eq!(sent("a/reasoner"), [null.clone(), high.clone()]);
    assert_eq!(sent("a/plain"), [0.5.into(), null]);
    assert_eq!(sent("of/another"), [0.5.into(), high]);
}

#[tokio::test]
async fn a_provider_that_does_not_list_keeps_what_is_configured() {
    let server = FakeProvider::start(vec![vec![Verb::Status(500), Verb::Bytes(b"no".to_vec()), Verb::Fin]]).await;
    let mut mine = endpoint("mine", server.base_url());
    mine.default_model = Some("known".into());
    let registry = Registry::new(vec![mine], None, Vec::new(), Demo::new(0.0));
    registry.refresh().await;
    assert_eq!(registry.default_lock(), Lock::new("mine", "known"));
}

#[tokio::test]
async fn an_endpoint_of_the_open_internet_reaches_nothing_local() {
    let server = FakeProvider::start(vec![stream("data: x\n\n")]).await;
    let port = server.base_url().rsplit(':').next().unwrap().trim_end_matches("/v1").to_owned();
    let hosts = ["127.0.0.1", "localhost", "localhost.", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"];
    for host in hosts {
        let of = Endpoint { local_network: false, ..endpoint("fake", format!("http://{host}:{port}/v1")) };
        let provider = ChatEndpoint::new(&of, HttpClient::default());
        let refused = tokio::time::timeout(PATIENCE, provider.send("m", "{}".into())).await.unwrap().err().unwrap();
        assert_eq!(refused.failure.kind, FailureKind::ProviderUnreachable, "{host}");
        let detail = refused.failure.detail.unwrap();
        assert!(detail.contains("not on the open internet") && !detail.contains(KEY), "{host}: {detail}");
    }
    assert_eq!(server.requests().len(), 0);
    send(&server).await.unwrap();
    assert_eq!(server.requests().len(), 1, "one that is marked as local is reached");
}

#[tokio::test]
async fn reply_keeps_ordinary_header_values_and_loses_credentials() {
    let said = |key: &str, token: &str| format!("data: {key}, {token}, https://example.org, sk-no-key-required\n\n");
    let server = FakeProvider::start(vec![stream(&said(KEY, "9f8e7d6c5b4a3f2e"))]).await;
    let headers = [("HTTP-Referer", "https://example.org"), ("Proxy-Authorization", "Bearer 9f8e7d6c5b4a3f2e")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.into())).to_vec();
    let of = Endpoint { headers, ..endpoint("fake", server.base_url()) };
    let reply = ChatEndpoint::new(&of, HttpClient::default()).send("m", "{}".into()).await.unwrap();
    assert_eq!(String::from_utf8(read(reply).await.0).unwrap(), said("[removed]", "[removed]"));

    // Exports take out the same, and the placeholder in the place of a key is ordinary text too.
    let keyless = Endpoint { api_key: Some("sk-no-key-required".into()), ..endpoint("keyless", server.base_url()) };
    let registry = Registry::new(vec![of, keyless], None, Vec::new(), Demo::new(0.0));
    let clean = registry.without_keys(said(KEY, "9f8e7d6c5b4a3f2e").into());
    assert_eq!(clean, said("[removed]", "[removed]"));
}

#[tokio::test]
async fn extra_headers_go_out_and_are_shown_nowhere() {
    let refusal = format!("{{\"error\": \"no {KEY}, no canary-in-a-header\"}}");
    let server = FakeProvider::start(vec![vec![Verb::Status(401), Verb::Bytes(refusal.into()), Verb::Fin]]).await;
    let of = Endpoint {
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
async fn a_test_says_what_exactly_is_wrong() {
    let answer = |status: u16, body: &str| vec![Verb::Status(status), Verb::Bytes(body.as_bytes().to_vec()), Verb::Fin];
    let list = || answer(200, r#"{"data": [{"id": "a"}, {"id": "b"}]}"#);
    for (scripts, state, part) in [
        (vec![list()], State::Working, "Working · 2 models"),
        (vec![answer(401, r#"{"error": {"message": "no such key"}}"#)], State::KeyRefused, "(401): no such key."),
        (vec![answer(403, "")], State::KeyRefused, "(403)"),
        (vec![answer(404, "{}"), list()], State::WrongAddress, "(404)"),
        (vec![answer(200, "<html>")], State::WrongAddress, "not with a list of models"),
        (vec![answer(500, r#"{"error": "kaput"}"#)], State::Failing, "status 500: kaput."),
    ] {
        let server = FakeProvider::start(scripts).await;
        let root = server.base_url().trim_end_matches("/v1").to_owned();
        let registry = Registry::new(Vec::new(), None, Vec::new(), Demo::new(0.0));
        registry.put(endpoint("mine", root.clone()));
        let check = registry.check("mine").await.unwrap();
        assert!(check.state == state && check.sentence.contains(part), "{check:?}");
        let expected = part.contains("404").then(|| format!("{root}/v1"));
        assert_eq!(check.suggestion, expected, "{check:?}");
        assert_eq!(registry.known()[0].check.as_ref(), Some(&check));
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // Speaks at once, and not TLS.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        }
    });
    for (address, part) in [
        (format!("http://{closed}/v1"), "nothing listens there"),
        ("http://nowhere.invalid/v1".to_owned(), "there is no server of this name"),
        (plain, "the secure connection failed"),
    ] {
        let registry = Registry::new(Vec::new(), None, Vec::new(), Demo::new(0.0));
        registry.put(endpoint("mine", address));
        let check = registry.check("mine").await.unwrap();
        assert!(check.state == State::Unreachable && check.sentence.contains(part), "{check:?}");
    }
    assert_eq!(Registry::new(Vec::new(), None, Vec::new(), Demo::new(0.0)).check("demo").await, None);
}

#[tokio::test]
async fn a_server_without_a_list_is_tried_with_a_model_that_is_named() {
    let none = || vec![Verb::Status(404), Verb::Bytes(b"{}".to_vec()), Verb::Fin];
    let server = FakeProvider::start(vec![none(), stream("data: [DONE]\n\n")]).await;
    let registry = Registry::new(Vec::new(), None, Vec::new(), Demo::new(0.0));
    registry.put(Endpoint { models: vec!["sonar".into()], ..endpoint("mine", server.base_url()) });
    let check = registry.check("mine").await.unwrap();
    assert!(check.state == State::Working && check.sentence.contains("sonar answers"), "{check:?}");
    assert_eq!(server.requests()[1].path, "/v1/chat/completions");
}
