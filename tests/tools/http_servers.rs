//! MCP servers over HTTP: the requests that they get, the responses that are accepted, and the addresses that are
//! never contacted.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State as With;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use futures::StreamExt;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::watch;
use turnleaf::domain::MessageCode;
use turnleaf_tools::mcp::{McpServerConfig, McpServerState, McpServers, McpTimeouts, McpTransport};
use turnleaf_tools::toolbox::CallOutcome;

use crate::mcp_fixtures::{
    LONG, call_tool, outcome_text, server_config, server_key, servers_with_patience, short_patience, start_call,
    wait_for_state, wait_for_status,
};

const KEY: &str = "Bearer a-key-that-nobody-may-see";

/// Serves an application on a free port.
async fn serve(app: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// The requests that a server received.
#[derive(Default)]
struct WebServerLog {
    requests: Vec<Value>,
    keys: Vec<Option<String>>,
    elsewhere: usize,
    session: usize,
}

type Shared = Arc<(Mutex<WebServerLog>, watch::Sender<usize>)>;

fn new_log() -> Shared {
    Arc::new((Mutex::default(), watch::Sender::new(0)))
}

struct WebServer {
    address: SocketAddr,
    shared: Shared,
}

impl WebServer {
    async fn start() -> Self {
        let shared = new_log();
        let address = serve(Self::app(shared.clone())).await;
        Self { address, shared }
    }

    fn app(shared: Shared) -> Router {
        Router::new()
            .route("/mcp", post(answer).fallback(|| async { StatusCode::METHOD_NOT_ALLOWED }))
            .route("/mcp/", any(|| async { (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, "/mcp")]) }))
            .route("/moved", any(|| async { (StatusCode::FOUND, [(header::LOCATION, "/elsewhere")], KEY) }))
            .route("/locked", any(|| async { (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, KEY)], KEY) }))
            .route("/page", any(|| async { ([(header::CONTENT_TYPE, "text/html")], KEY) }))
            .route("/elsewhere", any(redirect_target))
            .with_state(shared)
    }

    fn config(&self, path: &str) -> McpServerConfig {
        let url = format!("http://{}{path}", self.address).parse().unwrap();
        let headers = vec![("Authorization".to_owned(), SecretString::from(KEY))];
        server_config(McpTransport::Http { url, headers, local_network: true })
    }

    fn servers(&self, path: &str) -> McpServers {
        let servers = servers_with_patience(short_patience());
        servers.put(server_key("bad"), self.config(path));
        servers
    }

    fn methods(&self) -> Vec<String> {
        let seen = self.shared.0.lock().unwrap();
        seen.requests.iter().map(|request| request["method"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Waits for a request of this method.
    async fn wait_for_method(&self, method: &str) {
        let mut count = self.shared.1.subscribe();
        while !self.methods().iter().any(|seen| seen == method) {
            tokio::time::timeout(LONG, count.changed()).await.unwrap().unwrap();
        }
    }
}

async fn redirect_target(With(shared): With<Shared>) -> &'static str {
    shared.0.lock().unwrap().elsewhere += 1;
    KEY
}

fn json_of(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn events(pieces: Vec<String>) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], pieces.concat()).into_response()
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

async fn answer(With(shared): With<Shared>, headers: HeaderMap, body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    let session = {
        let mut seen = shared.0.lock().unwrap();
        seen.keys.push(headers.get(header::AUTHORIZATION).and_then(|key| key.to_str().ok()).map(str::to_owned));
        seen.requests.push(request.clone());
        shared.1.send_modify(|count| *count += 1);
        seen.session
    };
    let (id, params) = (&request["id"], &request["params"]);
    let known = headers.get("mcp-session-id").and_then(|known| known.to_str().ok());
    let is_first = request["method"] == "initialize";
    if !is_first && known != Some(&format!("session-{session}")) {
        let error = json!({ "code": -32000, "message": "Bad Request: No valid session ID provided" });
        let refused = |id: &Value| {
            let error = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            (StatusCode::BAD_REQUEST, json_of(&error)).into_response()
        };
        return match session {
            1 => refused(&Value::Null),
            2 => refused(&request["id"]),
            3 => StatusCode::UNAUTHORIZED.into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        };
    }
    let result = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let text_result = |words: &str| result(json!({ "content": [{ "type": "text", "text": words }] }));
    match (request["method"].as_str().unwrap_or_default(), params["name"].as_str().unwrap_or_default()) {
        ("initialize", _) => {
            let server = json!({ "protocolVersion": params["protocolVersion"], "capabilities": { "tools": {} },
                "serverInfo": { "name": "web", "version": "2" } });
            let mut response = json_of(&result(server));
            response.headers_mut().insert("mcp-session-id", format!("session-{session}").parse().unwrap());
            response
        }
        ("tools/list", _) => {
            json_of(&result(json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })))
        }
        ("tools/call", "echo") => json_of(&text_result(params["arguments"]["text"].as_str().unwrap_or_default())),
        ("tools/call", "streamed") => {
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params":
                { "progressToken": params["_meta"]["progressToken"], "progress": 1, "total": 2, "message": "half" } });
            // The rest is sent after the progress has been seen.
            let (first, rest) = (format!(": hello\n\n{}", event(&progress)), event(&text_result("streamed")));
            let mut seen = shared.1.subscribe();
            let rest = async move {
                let _ = seen.changed().await;
                Ok::<_, std::io::Error>(rest)
            };
            let body = futures::stream::once(async { Ok(first) }).chain(futures::stream::once(rest));
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
        }
        ("tools/call", "forget") => {
            shared.0.lock().unwrap().session += 1;
            json_of(&text_result("forgotten"))
        }
        ("tools/call", "large") => json_of(&text_result(&"x".repeat(17 << 20))),
        ("tools/call", "large_event") => events(vec![event(&text_result(&"x".repeat(17 << 20)))]),
        ("tools/call", "moved") => {
            let other = "http://127.0.0.2:1/elsewhere";
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, other)]).into_response()
        }
        ("tools/call", "invalid") => (StatusCode::BAD_REQUEST, "no such tool").into_response(),
        ("tools/call", "refused") => {
            let error = json!({ "code": -32602, "message": "session is required" });
            let error = json!({ "jsonrpc": "2.0", "id": null, "error": error });
            (StatusCode::BAD_REQUEST, json_of(&error)).into_response()
        }
        ("tools/call", "refused_name") => {
            let error = json!({ "error": "Missing required argument: session_name" });
            (StatusCode::BAD_REQUEST, json_of(&error)).into_response()
        }
        ("tools/call", "surrogate") => {
            let text = r#"{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"a\ud83d"}]}}"#;
            let text = text.replace("\"id\":0", &format!("\"id\":{id}"));
            match params["arguments"]["streamed"].as_bool() {
                Some(true) => events(vec![format!("data: {text}\n\n")]),
                _ => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
            }
        }
        ("tools/call", "broken") => (StatusCode::INTERNAL_SERVER_ERROR, KEY).into_response(),
        ("tools/call", "page") => ([(header::CONTENT_TYPE, "text/html")], KEY).into_response(),
        ("tools/call", "hang") => {
            let silent = futures::stream::pending::<Result<String, std::io::Error>>();
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(silent)).into_response()
        }
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

#[tokio::test]
async fn responses_as_json_or_events_are_read_and_every_request_has_key() {
    let web = WebServer::start().await;
    let servers = web.servers("/mcp");
    let outcome = call_tool(&servers, "echo", json!({ "text": "hello" })).await;
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "hello"));
    let mut running = start_call(&servers, "streamed", json!({}));
    running.progress.wait_for(Option::is_some).await.unwrap();
    let progress = running.progress.borrow().clone().map(|progress| (progress.line, progress.percent));
    assert_eq!(progress, Some(("1 of 2 · half".to_owned(), Some(50))));
    call_tool(&servers, "echo", json!({ "text": "seen" })).await;
    assert_eq!(outcome_text(&running.result.await), "streamed");
    let status = servers.status(&server_key("bad")).unwrap();
    assert_eq!(status.implementation.as_deref(), Some("web 2"));
    servers.shut_down().await;
    let keys = web.shared.0.lock().unwrap().keys.clone();
    assert!(keys.len() >= 5 && keys.iter().all(|key| key.as_deref() == Some(KEY)), "{keys:?}");
}

#[tokio::test]
async fn local_network_is_reached_only_where_that_is_allowed() {
    let web = WebServer::start().await;
    let port = web.address.port();
    let public_only = "is not a public internet address";
    for (host, local_network, reason) in [
        ("127.0.0.1", false, public_only),
        ("localhost", false, public_only),
        ("[::ffff:127.0.0.1]", false, public_only),
        ("2130706433", false, public_only),
        ("169.254.169.254", false, "cloud metadata"),
        ("169.254.169.254", true, "cloud metadata"),
        ("[::ffff:a9fe:a9fe]", true, "cloud metadata"),
    ] {
        let servers = servers_with_patience(short_patience());
        let url = format!("http://{host}:{port}/mcp").parse().unwrap();
        servers.put(server_key("bad"), server_config(McpTransport::Http { url, headers: Vec::new(), local_network }));
        let status = wait_for_status(&servers, |status| status.problem.is_some()).await;
        let problem = status.problem.as_ref().unwrap().to_string();
        assert!(problem.contains(reason), "{host}: {status:?}");
        assert_eq!(call_tool(&servers, "echo", json!({})).await.outcome, CallOutcome::Unavailable);
        servers.shut_down().await;
    }
    assert_eq!(web.methods(), Vec::<String>::new());
}

#[tokio::test]
async fn redirect_is_not_followed_and_key_is_not_sent() {
    let web = WebServer::start().await;
    for (path, reason) in [
        ("/moved", "it responded with HTTP 302 Found"),
        ("/locked", "it rejected the credentials (HTTP 401)"),
        ("/page", "its response is not MCP"),
        ("/nothing", "it responded with HTTP 404 Not Found"),
    ] {
        let servers = web.servers(path);
        let status = wait_for_status(&servers, |status| status.problem.is_some()).await;
        assert_eq!(status.problem.unwrap().to_string(), reason, "{path}");
        let shown = format!("{:?}", wait_for_state(&servers, McpServerState::Failed).await);
        assert!(!shown.contains("nobody-may-see"), "{shown}");
        servers.shut_down().await;
    }
    let servers = web.servers("/mcp");
    for (tool, reason) in [("moved", "HTTP 307"), ("broken", "HTTP 500"), ("page", "not MCP"), ("invalid", "HTTP 400")]
    {
        let outcome = call_tool(&servers, tool, json!({})).await;
        assert_eq!(outcome.outcome, CallOutcome::Failed, "{tool}: {outcome:?}");
        assert!(
            outcome_text(&outcome).contains(reason) && !outcome_text(&outcome).contains("nobody-may-see"),
            "{tool}: {outcome:?}"
        );
    }
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "still there" })).await), "still there");
    servers.shut_down().await;
    assert_eq!(web.shared.0.lock().unwrap().elsewhere, 0);
    assert!(!format!("{:?}", web.config("/mcp")).contains("nobody-may-see"));
}

#[tokio::test]
async fn forgotten_session_is_reopened_transparently() {
    let web = WebServer::start().await;
    let servers = web.servers("/mcp");
    // The server refuses an unknown session with HTTP 400, without and with the id of the request, 401 and 404.
    for round in 2..=5 {
        assert_eq!(outcome_text(&call_tool(&servers, "forget", json!({})).await), "forgotten");
        let outcome = call_tool(&servers, "echo", json!({ "text": "hello again" })).await;
        assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "hello again"));
        assert_eq!(web.methods().iter().filter(|method| *method == "initialize").count(), round);
    }
    // A refusal of the arguments is no unknown session.
    for tool in ["refused", "refused_name"] {
        let outcome = call_tool(&servers, tool, json!({})).await;
        assert_eq!(outcome.outcome, CallOutcome::Failed, "{tool}: {outcome:?}");
    }
    assert_eq!(web.methods().iter().filter(|method| *method == "initialize").count(), 5);
    assert_eq!(servers.status(&server_key("bad")).unwrap().state, McpServerState::Ready);
    servers.shut_down().await;
}

#[tokio::test]
async fn redirect_within_origin_is_followed_and_lone_surrogates_are_repaired() {
    let web = WebServer::start().await;
    let servers = web.servers("/mcp/");
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "hello" })).await), "hello");
    for streamed in [false, true] {
        let outcome = call_tool(&servers, "surrogate", json!({ "streamed": streamed })).await;
        assert_eq!(outcome_text(&outcome), "a\u{fffd}", "{streamed}");
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn oversized_responses_are_omitted() {
    let web = WebServer::start().await;
    let servers = servers_with_patience(short_patience());
    let config = McpServerConfig { idle: Some(Duration::from_secs(5)), ..web.config("/mcp") };
    servers.put(server_key("bad"), config);
    let outcome = call_tool(&servers, "large", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Failed);
    assert_eq!(outcome_text(&outcome), "the response is larger than 16 MiB and was dropped");
    let outcome = call_tool(&servers, "large_event", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Failed);
    assert_eq!(outcome_text(&outcome), "the response is larger than 16 MiB and was dropped");
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "still there" })).await), "still there");
    servers.shut_down().await;
}

#[tokio::test]
async fn silence_cancels_call_and_server_stays() {
    let web = WebServer::start().await;
    let servers = servers_with_patience(short_patience());
    servers.put(server_key("bad"), McpServerConfig { idle: Some(Duration::from_millis(300)), ..web.config("/mcp") });
    let outcome = call_tool(&servers, "hang", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::TimedOut, "{outcome:?}");
    web.wait_for_method("notifications/cancelled").await;
    assert_eq!(servers.status(&server_key("bad")).unwrap().state, McpServerState::Ready);
    servers.shut_down().await;
}

#[tokio::test]
async fn abandoned_call_is_cancelled() {
    let web = WebServer::start().await;
    let servers = web.servers("/mcp");
    let running = start_call(&servers, "hang", json!({}));
    web.wait_for_method("tools/call").await;
    drop(running);
    web.wait_for_method("notifications/cancelled").await;
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "still there" })).await), "still there");
    servers.shut_down().await;
}

#[tokio::test]
async fn missing_server_is_unavailable_until_reachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let servers = servers_with_patience(McpTimeouts { backoff: (LONG, LONG), ..short_patience() });
    let url = format!("http://{address}/mcp").parse().unwrap();
    servers.put(server_key("bad"), server_config(McpTransport::Http { url, headers: Vec::new(), local_network: true }));
    let status = wait_for_state(&servers, McpServerState::Failed).await;
    assert_eq!(status.problem.unwrap().code, MessageCode::NoListener);
    let outcome = call_tool(&servers, "echo", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Unavailable);
    assert!(outcome_text(&outcome).contains("no server is listening there"), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn failed_server_is_woken_without_its_pause() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let servers = servers_with_patience(McpTimeouts { backoff: (10 * LONG, 10 * LONG), ..short_patience() });
    let url = format!("http://{address}/mcp").parse().unwrap();
    servers.put(server_key("bad"), server_config(McpTransport::Http { url, headers: Vec::new(), local_network: true }));
    wait_for_state(&servers, McpServerState::Failed).await;
    let wake = || servers.wake([server_key("bad"), server_key("unknown")], 10 * LONG);
    // One that fails again is not waited for.
    tokio::time::timeout(LONG, wake()).await.unwrap();
    assert_eq!(servers.status(&server_key("bad")).unwrap().state, McpServerState::Failed);
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    tokio::spawn(async move { axum::serve(listener, WebServer::app(new_log())).await });
    tokio::time::timeout(LONG, wake()).await.unwrap();
    assert_eq!(servers.status(&server_key("bad")).unwrap().state, McpServerState::Ready);
    servers.shut_down().await;
}

/// Serves the transport of the protocol version 2024-11-05: a stream of events, and a place for messages. Messages to the
/// address of the stream are refused.
async fn start_event_stream_server(refuse: fn() -> Response) -> SocketAddr {
    let (answers, received) = tokio::sync::mpsc::unbounded_channel::<Value>();
    let received = Arc::new(tokio::sync::Mutex::new(received));
    let stream = move || async move {
        let endpoint = "event: endpoint\ndata: /messages?session=1\n\n".to_owned();
        let answers = futures::stream::unfold(received.lock_owned().await, |mut received| async move {
            let answer = received.recv().await?;
            Some((Ok::<_, std::io::Error>(event(&answer)), received))
        });
        let body = futures::stream::once(async { Ok(endpoint) }).chain(answers);
        ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
    };
    let take = move |body: String| async move {
        let request: Value = serde_json::from_str(&body).unwrap();
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({ "protocolVersion": "2024-11-05", "capabilities": { "tools": {} },
                "serverInfo": { "name": "events", "version": "1" } }),
            "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
            "tools/call" => json!({ "content": [{ "type": "text", "text": "by the stream" }] }),
            _ => return StatusCode::ACCEPTED,
        };
        answers.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).unwrap();
        StatusCode::ACCEPTED
    };
    let app = Router::new()
        .route("/sse", axum::routing::get(stream).post(move || async move { refuse() }))
        .route("/messages", post(take));
    serve(app).await
}

#[tokio::test]
async fn server_of_earlier_transport_is_reached_by_event_stream() {
    let refusals: [fn() -> Response; 4] = [
        || StatusCode::METHOD_NOT_ALLOWED.into_response(),
        || StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response(),
        || (StatusCode::BAD_REQUEST, "no session").into_response(),
        || {
            let error = json!({ "code": -32000, "message": "Bad Request: Missing sessionId" });
            (StatusCode::BAD_REQUEST, json_of(&json!({ "jsonrpc": "2.0", "id": null, "error": error }))).into_response()
        },
    ];
    for refuse in refusals {
        let address = start_event_stream_server(refuse).await;
        let servers = servers_with_patience(short_patience());
        let url = format!("http://{address}/sse").parse().unwrap();
        let transport = McpTransport::Http { url, headers: Vec::new(), local_network: true };
        servers.put(server_key("bad"), server_config(transport));
        let outcome = call_tool(&servers, "echo", json!({})).await;
        assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "by the stream"));
        servers.shut_down().await;
    }
}

#[tokio::test]
async fn list_changes_of_newest_version_are_listened_for() {
    const VERSION: &str = "2026-07-28";
    let grown = watch::Sender::new(false);
    let answer = move |headers: HeaderMap, body: String| {
        let grown = grown.clone();
        async move {
            let request: Value = serde_json::from_str(&body).unwrap();
            let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
            if request["method"] == "initialize" || version != Some(VERSION) {
                return (StatusCode::BAD_REQUEST, "Bad Request: Unsupported protocol version").into_response();
            }
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            let result = match request["method"].as_str().unwrap_or_default() {
                "server/discover" => json!({ "resultType": "complete", "ttlMs": 0, "supportedVersions": [VERSION],
                    "capabilities": { "tools": { "listChanged": true } }, "cacheScope": "private" }),
                "tools/list" if *grown.borrow() => json!({ "tools": [tool("grow"), tool("grown")] }),
                "tools/list" => json!({ "tools": [tool("grow")] }),
                "tools/call" => {
                    grown.send_replace(true);
                    json!({ "content": [] })
                }
                "subscriptions/listen" => {
                    let meta = json!({ "io.modelcontextprotocol/subscriptionId": request["id"] });
                    let notification = |method: &str, mut params: Value| {
                        params["_meta"] = meta.clone();
                        event(
                            &json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params }),
                        )
                    };
                    let accepted = json!({ "notifications": { "toolsListChanged": true } });
                    let first = notification("subscriptions/acknowledged", accepted);
                    let changed = notification("tools/list_changed", json!({}));
                    let mut seen = grown.subscribe();
                    let later = async move {
                        let _ = seen.wait_for(|grown| *grown).await;
                        Ok::<_, std::io::Error>(changed)
                    };
                    let events = futures::stream::once(async { Ok(first) }).chain(futures::stream::once(later));
                    let body = Body::from_stream(events.chain(futures::stream::pending()));
                    return ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response();
                }
                _ => return StatusCode::ACCEPTED.into_response(),
            };
            json_of(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        }
    };
    let address = serve(Router::new().route("/mcp", post(answer))).await;
    let servers = servers_with_patience(short_patience());
    let url = format!("http://{address}/mcp").parse().unwrap();
    servers.put(server_key("bad"), server_config(McpTransport::Http { url, headers: Vec::new(), local_network: true }));
    assert_eq!(call_tool(&servers, "grow", json!({})).await.outcome, CallOutcome::Done);
    wait_for_status(&servers, |status| status.tools.iter().any(|tool| tool.tool == "grown")).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn refused_version_is_followed_by_another() {
    for accepted in ["2026-07-28", "2025-03-26"] {
        let answer = move |headers: HeaderMap, body: String| async move {
            let request: Value = serde_json::from_str(&body).unwrap();
            let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
            let version = match request["method"].as_str() {
                Some("initialize") => request["params"]["protocolVersion"].as_str(),
                _ => version,
            };
            if version != Some(accepted) {
                return (StatusCode::BAD_REQUEST, "Bad Request: Unsupported protocol version").into_response();
            }
            let result = match request["method"].as_str().unwrap_or_default() {
                "initialize" if accepted < "2026" => {
                    json!({ "protocolVersion": accepted, "capabilities": { "tools": {} },
                    "serverInfo": { "name": "old", "version": "1" } })
                }
                "server/discover" if accepted > "2026" => json!({ "resultType": "complete", "ttlMs": 0,
                    "supportedVersions": [accepted], "capabilities": { "tools": {} }, "cacheScope": "private" }),
                "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
                "tools/call" => json!({ "content": [{ "type": "text", "text": accepted }] }),
                _ => return StatusCode::ACCEPTED.into_response(),
            };
            json_of(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        };
        let app = Router::new().route("/mcp", post(answer));
        let address = serve(app).await;
        let servers = servers_with_patience(short_patience());
        let url = format!("http://{address}/mcp").parse().unwrap();
        servers.put(
            server_key("bad"),
            server_config(McpTransport::Http { url, headers: Vec::new(), local_network: true }),
        );
        let outcome = call_tool(&servers, "echo", json!({})).await;
        assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, accepted));
        servers.shut_down().await;
    }
}

#[tokio::test]
async fn connection_that_was_never_ready_begins_anew_with_first_handshake() {
    // Its first `initialize` fails as if the version were refused; every fallback fails for another reason.
    let starts = Arc::new(Mutex::new(0));
    let counted = starts.clone();
    let answer = move |body: String| {
        let starts = counted.clone();
        async move {
            let request: Value = serde_json::from_str(&body).unwrap();
            let version = request["params"]["protocolVersion"].as_str();
            let result = match request["method"].as_str().unwrap_or_default() {
                "initialize" if version != Some("2025-11-25") => return StatusCode::BAD_GATEWAY.into_response(),
                "initialize" => {
                    let count = {
                        let mut starts = starts.lock().unwrap();
                        *starts += 1;
                        *starts
                    };
                    if count == 1 {
                        return (StatusCode::BAD_REQUEST, "Unsupported protocol version").into_response();
                    }
                    json!({ "protocolVersion": version, "capabilities": { "tools": {} },
                    "serverInfo": { "name": "slow", "version": "1" } })
                }
                "server/discover" => return StatusCode::BAD_GATEWAY.into_response(),
                "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
                "tools/call" => json!({ "content": [{ "type": "text", "text": "back" }] }),
                _ => return StatusCode::ACCEPTED.into_response(),
            };
            json_of(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        }
    };
    let app = Router::new().route("/mcp", post(answer));
    let address = serve(app).await;
    let servers = servers_with_patience(short_patience());
    let url = format!("http://{address}/mcp").parse().unwrap();
    servers.put(server_key("bad"), server_config(McpTransport::Http { url, headers: Vec::new(), local_network: true }));
    wait_for_state(&servers, McpServerState::Ready).await;
    let outcome = call_tool(&servers, "echo", json!({})).await;
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "back"));
    assert_eq!(*starts.lock().unwrap(), 2);
    servers.shut_down().await;
}
