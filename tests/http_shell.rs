//! The layers around every route, on a router of toy routes: headers, host names, cross-site requests, bodies and
//! errors.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::Html;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use turnleaf::domain::id::TurnId;
use turnleaf::domain::limits;
use turnleaf::server::http::health::{self, Readiness};
use turnleaf::server::http::layers::{self, HttpConfig};
use turnleaf::server::http::request::admission::Admission;
use turnleaf::server::http::request::allowed_hosts::AllowedHosts;
use turnleaf::server::http::request::json::ApiJson;
use turnleaf::server::http::request::path_id::{PathId, PathIds};
use turnleaf::server::http::request::query::StrictQuery;
use turnleaf::server::http::response::fallback;
use turnleaf::server::http::response::headers::{self, TransportSecurity};
use turnleaf::server::http::site::assets::{self, Site};
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::{CliFlags, Config};

const OWN_HOST: &str = "127.0.0.1:3000";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Toy {
    text: String,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    params: Option<ToyParams>,
    #[serde(default)]
    free: Option<Value>,
    #[serde(default)]
    turn_id: Option<TurnId>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToyParams {
    temperature: Option<f32>,
    max_tokens: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToyPage {
    limit: Option<u32>,
}

async fn boom() -> Html<&'static str> {
    panic!("secret words")
}

/// Builds the health routes as the route table has them.
fn router_with_readiness(readiness: Readiness) -> Router {
    Router::new()
        .route("/healthz", get(health::liveness))
        .route("/readyz", get(health::readiness))
        .with_state(readiness)
}

fn routes() -> Router {
    Router::new()
        .route("/", get(|| async { Html("<p>page</p>") }))
        .route("/boom", get(boom))
        .route("/forms/send", post(|body: String| async move { body }))
        .route("/api/echo", post(|ApiJson(toy): ApiJson<Toy>| async move { ApiJson(toy) }))
        .route("/api/maybe", post(|toy: Option<ApiJson<Toy>>| async move { ApiJson(toy.map(|ApiJson(toy)| toy)) }))
        .route("/api/nothing", post(|| async { StatusCode::NO_CONTENT }))
        .route("/api/turns/{id}", get(|PathId(id): PathId<TurnId>| async move { id.to_string() }))
        .route("/api/paths/{a}/{b}", get(|PathIds(a, b): PathIds<TurnId, TurnId>| async move { format!("{a} {b}") }))
        .route("/api/page", get(|StrictQuery(page): StrictQuery<ToyPage>| async move { ApiJson(page.limit) }))
        .route(
            "/api/fail",
            get(|| async { turnleaf::server::http::response::problem::Problem::internal("driver said: password") }),
        )
}

const ROBOTS: &str = "User-agent: *";
/// A Brotli stream of one uncompressed block (RFC 7932, 9.2).
const ROBOTS_IN_BROTLI: &[u8] = b"\x0b\x06\x80User-agent: *\x03";

fn unzipped(bytes: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes), &mut text).unwrap();
    text
}

fn site() -> (tempfile::TempDir, Arc<Site>) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("pkg/snippets")).unwrap();
    std::fs::write(dir.path().join("pkg/turnleaf.js"), "let plain;").unwrap();
    std::fs::write(dir.path().join("pkg/turnleaf.js.br"), "brotli").unwrap();
    std::fs::write(dir.path().join("pkg/turnleaf.js.gz"), "gzip").unwrap();
    std::fs::write(dir.path().join("pkg/turnleaf_bg.wasm"), "wasm").unwrap();
    std::fs::write(dir.path().join("pkg/snippets/one.js"), "1").unwrap();
    std::fs::write(dir.path().join("favicon.svg"), "<svg/>").unwrap();
    // A release stores only the compressed form of a file that compression makes smaller.
    std::fs::write(dir.path().join("robots.txt.br"), ROBOTS_IN_BROTLI).unwrap();
    let site = Arc::new(Site::open(Some(dir.path())));
    (dir, site)
}

struct Shell {
    router: Router,
    site: Arc<Site>,
    draining: CancellationToken,
    _dir: tempfile::TempDir,
}

fn shell_with(variables: &[(&str, &str)]) -> Shell {
    let environment: Environment = variables.iter().copied().chain([("TURNLEAF_DATA_DIR", "/nowhere")]).collect();
    let security = Config::load(&CliFlags::default(), &environment).unwrap().security;
    let (dir, site) = site();
    let draining = CancellationToken::new();
    let readiness = Readiness::new(draining.clone(), Arc::new(|| Box::pin(async { Ok(()) })));
    let router = routes()
        .merge(assets::routes(&site))
        .merge(router_with_readiness(readiness))
        .route("/version", get(health::show_version).with_state(site.clone()));
    let public_url = security.public_url.as_ref();
    let config = HttpConfig {
        hosts: AllowedHosts::new(&security, [[127, 0, 0, 1].into()]),
        transport: TransportSecurity {
            is_https: public_url.is_some_and(|url| url.is_https()),
            ..TransportSecurity::default()
        },
        public_origin: public_url.map(|url| url.origin().to_owned()),
        admission: Admission::new(&security),
        ..HttpConfig::default()
    };
    let router = layers::wrap_entrance(layers::wrap_routes(fallback::add_fallbacks(router), &config), &config);
    Shell { router, site, draining, _dir: dir }
}

fn shell() -> Shell {
    shell_with(&[])
}

struct ShellResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl ShellResponse {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the problem's code, after checking that the problem document is complete.
    fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", String::from_utf8_lossy(&self.body));
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16());
        assert_eq!(problem["request_id"], self.header("x-request-id"));
        assert!(problem["title"].is_string() && problem["detail"].is_string() && problem["type"].is_string());
        problem["code"].as_str().unwrap().to_owned()
    }
}

impl Shell {
    async fn send(&self, request: Request<Body>) -> ShellResponse {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        ShellResponse {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap().into(),
        }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> ShellResponse {
        self.send(request(Method::GET, path, headers, "")).await
    }

    async fn post_json(&self, path: &str, body: impl Into<Body>) -> ShellResponse {
        self.send(request(Method::POST, path, &[("content-type", "application/json")], body)).await
    }
}

/// Builds a request to the server's own host name, unless the headers name another; an empty name sends no `Host`.
fn request(method: Method, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).body(body.into()).unwrap();
    let given = request.headers_mut();
    given.insert(header::HOST, OWN_HOST.parse().unwrap());
    for (name, value) in headers {
        let name: header::HeaderName = name.parse().unwrap();
        if name == header::HOST {
            given.remove(&name);
        }
        if !value.is_empty() {
            given.append(name, value.parse().unwrap());
        }
    }
    request
}

/// Lists one path for each kind of response, with its status.
fn every_response_kind(site: &Site) -> Vec<(Method, String, StatusCode)> {
    let pkg = site.package_dir();
    vec![
        (Method::GET, "/".into(), StatusCode::OK),
        (Method::GET, "/healthz".into(), StatusCode::OK),
        (Method::GET, "/version".into(), StatusCode::OK),
        (Method::GET, "/api/page".into(), StatusCode::OK),
        (Method::GET, "/favicon.svg".into(), StatusCode::OK),
        (Method::GET, format!("/{pkg}/turnleaf.js"), StatusCode::OK),
        (Method::GET, "/pkg/0000/turnleaf.js".into(), StatusCode::NOT_FOUND),
        (Method::GET, "/no/such/page".into(), StatusCode::NOT_FOUND),
        (Method::GET, "/api/none".into(), StatusCode::NOT_FOUND),
        (Method::GET, "/api/turns/1".into(), StatusCode::NOT_FOUND),
        (Method::POST, "/".into(), StatusCode::METHOD_NOT_ALLOWED),
        (Method::DELETE, "/api/echo".into(), StatusCode::METHOD_NOT_ALLOWED),
        (Method::POST, "/api/echo".into(), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (Method::GET, "/boom".into(), StatusCode::INTERNAL_SERVER_ERROR),
        (Method::GET, "/api/fail".into(), StatusCode::INTERNAL_SERVER_ERROR),
    ]
}

#[tokio::test]
async fn pages_and_responses_are_compressed_where_accepted() {
    let shell = shell();
    for path in ["/", "/api/page"] {
        let plain = shell.send(request(Method::GET, path, &[], "")).await;
        assert_eq!(plain.header("content-encoding"), "", "{path}");
        for (taken, given) in [("gzip", "gzip"), ("gzip, br", "gzip"), ("gzip, br, zstd", "zstd")] {
            let small = shell.send(request(Method::GET, path, &[("accept-encoding", taken)], "")).await;
            assert_eq!(small.header("content-encoding"), given, "{path}");
            assert!(small.header("vary").contains("accept-encoding"), "{path}");
            assert_eq!(small.body.starts_with(&[0x1f, 0x8b]), given == "gzip", "{path}");
            assert_ne!(plain.body, small.body, "{path}");
        }
    }
    // The response is not compressed on the fly: a file is compressed already, and a failure is short.
    let file = format!("/{}/turnleaf.js", shell.site.package_dir());
    for path in [file.as_str(), "/no/such/page", "/api/none"] {
        let answer = shell.send(request(Method::GET, path, &[("accept-encoding", "gzip, br")], "")).await;
        let encoding = answer.header("content-encoding");
        assert!(encoding.is_empty() || (path == file && encoding == "br"), "{path}: {encoding}");
    }
}

#[tokio::test]
async fn every_kind_of_response_has_security_headers() {
    let shell = shell();
    for (method, path, status) in every_response_kind(&shell.site) {
        let answer = shell.send(request(method.clone(), &path, &[], "")).await;
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
        let is_of_bundle = path.starts_with("/pkg");
        assert_eq!(answer.header("cross-origin-opener-policy") == "same-origin", !is_of_bundle, "{path}");
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
        assert!(answer.header("strict-transport-security").is_empty(), "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe-inline"), "{path}: {policy}");
        if answer.header("content-type").starts_with("text/html") {
            assert!(answer.header("permissions-policy").contains("camera=()"), "{path}");
            assert!(policy.contains("script-src 'none'") && policy.contains("form-action 'self'"), "{path}: {policy}");
        } else {
            assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'", "{path}");
        }
        let is_asset = status == StatusCode::OK && (path.starts_with("/pkg") || path.starts_with("/favicon"));
        assert_eq!(answer.header("cache-control") == "no-store", !is_asset, "{path}");
        assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{path}");
    }
}

#[tokio::test]
async fn page_has_nonce_of_its_own_rendering() {
    use leptos::nonce::use_nonce;
    use leptos::prelude::*;

    // This call also starts the executor that rendering needs.
    leptos_axum::generate_route_list(|| ());
    let page = || {
        leptos_axum::render_app_async_with_context(
            || headers::allow_nonce(TransportSecurity::default()),
            || view! { <html><body><script nonce=use_nonce()>"0"</script></body></html> },
        )
    };
    let security = Config::load(&CliFlags::default(), &Environment::default()).unwrap().security;
    let config = HttpConfig { hosts: AllowedHosts::new(&security, []), ..HttpConfig::default() };
    let router = layers::wrap_entrance(layers::wrap_routes(Router::new().route("/", get(page())), &config), &config);
    let mut nonces = Vec::new();
    for _ in 0..2 {
        let response = router.clone().oneshot(request(Method::GET, "/", &[], "")).await.unwrap();
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        let html = String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap();
        let nonce = html.split("nonce=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert!(nonce.len() >= 20, "{html}");
        let script = format!("script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval';");
        assert!(policy.contains(&script), "{policy}");
        assert!(policy.contains(&format!("style-src 'self' 'nonce-{nonce}';")), "{policy}");
        nonces.push(nonce);
    }
    assert_ne!(nonces[0], nonces[1], "a nonce is never used twice");
}

#[tokio::test]
async fn hsts_is_sent_behind_tls() {
    let shell = shell_with(&[("TURNLEAF_PUBLIC_URL", "https://chat.example")]);
    let answer = shell.get("/", &[("host", "chat.example")]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.header("strict-transport-security").starts_with("max-age="));
    assert!(answer.header("content-security-policy").ends_with("upgrade-insecure-requests"));
}

#[tokio::test]
async fn foreign_host_names_are_refused_on_every_route() {
    let shell = shell();
    for (method, path, _) in every_response_kind(&shell.site) {
        let answer = shell.send(request(method, &path, &[("host", "evil.example")], "")).await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{path}");
        assert_eq!(answer.problem(), "unknown_host");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn only_allowed_host_names_are_answered() {
    let shell = shell_with(&[
        ("TURNLEAF_ALLOWED_HOSTS", "Desk.lan, box.example:8443"),
        ("TURNLEAF_PUBLIC_URL", "https://chat.example"),
    ]);
    let own =
        ["localhost", "localhost:3000", "LOCALHOST:3000", "127.0.0.1:3000", "127.0.0.1:41234", "[::1]:3000", "[::1]"];
    for host in own.into_iter().chain(["desk.lan", "desk.lan:3000", "box.example:8443", "chat.example"]) {
        assert_eq!(shell.get("/", &[("host", host)]).await.status, StatusCode::OK, "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:3000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost.",
        "localhost@evil.example",
        "evil@localhost",
        "box.example",
        "box.example:1",
        "0.0.0.0:3000",
        "127.0.0.2",
        "[::]:3000",
        "::1",
        "2130706433",
        "localhost:",
        "localhost:x",
        "localhost:99999",
        "localhost, evil.example",
        "",
    ] {
        assert_eq!(shell.get("/", &[("host", host)]).await.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    let twice = shell.get("/", &[("host", "localhost"), ("Host", "")]).await;
    assert_eq!(twice.status, StatusCode::MISDIRECTED_REQUEST);
    let whole = shell.get("http://evil.example/", &[]).await;
    assert_eq!(whole.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn duplicate_host_header_is_refused() {
    let shell = shell();
    let mut request = request(Method::GET, "/", &[], "");
    request.headers_mut().append(header::HOST, "evil.example".parse().unwrap());
    assert_eq!(shell.send(request).await.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn mutations_require_same_origin_or_non_browser_client() {
    let refused: &[&[(&str, &str)]] = &[
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "null"), ("sec-fetch-site", "cross-site")],
        &[("origin", "http://127.0.0.1:3000"), ("sec-fetch-site", "cross-site")],
        &[("origin", "http://127.0.0.1:4000")],
        &[("origin", "http://127.0.0.1:3000.evil.example")],
        &[("origin", "not an origin")],
    ];
    let accepted: &[&[(&str, &str)]] = &[
        &[],
        &[("origin", "http://127.0.0.1:3000")],
        &[("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "none")],
        // Browsers send this for a plain form of a page that hides its origin.
        &[("sec-fetch-site", "same-origin"), ("origin", "null")],
    ];
    let shell = shell();
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        for path in ["/forms/send", "/api/nothing", "/api/none"] {
            for headers in refused {
                let answer = shell.send(request(method.clone(), path, headers, "")).await;
                assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path} {headers:?}");
                assert_eq!(answer.problem(), "cross_site");
            }
            for headers in accepted {
                let answer = shell.send(request(method.clone(), path, headers, "")).await;
                assert_ne!(answer.status, StatusCode::FORBIDDEN, "{method} {path} {headers:?}");
            }
        }
    }
    for headers in refused {
        assert_eq!(shell.get("/", headers).await.status, StatusCode::OK, "reading is no change: {headers:?}");
    }
}

#[tokio::test]
async fn public_url_is_same_origin() {
    let shell = shell_with(&[("TURNLEAF_PUBLIC_URL", "https://chat.example")]);
    for (origin, status) in [
        ("https://chat.example", StatusCode::NO_CONTENT),
        ("http://chat.example", StatusCode::FORBIDDEN),
        ("https://chat.example:8443", StatusCode::FORBIDDEN),
    ] {
        let answer = shell.send(request(Method::POST, "/api/nothing", &[("origin", origin)], "")).await;
        assert_eq!(answer.status, status, "{origin}");
    }
}

const PROXY_SECRET: &str = "correct-horse-battery-staple";

/// Sets the peer address of a request.
fn from_peer(peer: &str, mut request: Request<Body>) -> Request<Body> {
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 4711)));
    request
}

#[tokio::test]
async fn behind_proxy_only_proxy_with_its_secret_is_answered_on_every_route() {
    let shell = shell_with(&[
        ("TURNLEAF_AUTH", "proxy"),
        ("TURNLEAF_PUBLIC_URL", "https://chat.example"),
        ("TURNLEAF_TRUSTED_PROXIES", "10.0.0.0/8"),
        ("TURNLEAF_PROXY_SECRET", PROXY_SECRET),
    ]);
    let secret = ("x-turnleaf-proxy-secret", PROXY_SECRET);
    for (method, path, status) in every_response_kind(&shell.site) {
        for host in ["chat.example", "127.0.0.1:3000"] {
            for (peer, headers) in [
                ("10.0.0.1", vec![]),
                ("10.0.0.1", vec![("x-turnleaf-proxy-secret", "wrong")]),
                ("127.0.0.1", vec![secret]),
                ("203.0.113.7", vec![secret]),
                ("203.0.113.7", vec![secret, ("x-forwarded-for", "10.0.0.1")]),
            ] {
                let headers = [&headers[..], &[("host", host)]].concat();
                let answer = shell.send(from_peer(peer, request(method.clone(), &path, &headers, ""))).await;
                if path == "/healthz" && peer == "127.0.0.1" {
                    assert_eq!(answer.status, StatusCode::OK, "a health check of this machine");
                    continue;
                }
                assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path} from {peer} {headers:?}");
                assert_eq!(answer.problem(), "proxy_required");
                assert_eq!(answer.header("x-content-type-options"), "nosniff");
            }
            let headers = [secret, ("host", host)];
            let answer = shell.send(from_peer("10.0.0.1", request(method.clone(), &path, &headers, ""))).await;
            assert_eq!(answer.status, status, "{method} {path}");
        }
    }
    // A request without a known peer is refused too.
    let unplaced = shell.get("/", &[secret, ("host", "chat.example")]).await;
    assert_eq!(unplaced.problem(), "proxy_required");
}

#[tokio::test]
async fn cors_preflight_is_refused() {
    let headers = [
        ("origin", "https://evil.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type, x-anything"),
    ];
    for path in ["/", "/api/echo", "/api/none", "/forms/send"] {
        let answer = shell().send(request(Method::OPTIONS, path, &headers, "")).await;
        assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{path}");
        assert!(answer.status.is_client_error(), "{path}");
    }
}

#[tokio::test]
async fn large_body_is_refused_on_every_route() {
    let shell = shell();
    let large = vec![b' '; 3 << 20];
    for path in ["/api/echo", "/api/nothing", "/forms/send", "/api/maybe"] {
        let length = large.len().to_string();
        let headers = [("content-type", "application/json"), ("content-length", length.as_str())];
        let answer = shell.send(request(Method::POST, path, &headers, large.clone())).await;
        assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        assert_eq!(answer.problem(), "too_large");
        assert_eq!(answer.json()["limit"], limits::BODY_BYTES);
    }
    let without_length = shell.post_json("/api/echo", large).await;
    assert_eq!(without_length.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(without_length.problem(), "too_large");
}

#[tokio::test]
async fn body_with_wrong_shape_is_refused_with_its_field() {
    let nested = format!(r#"{{"text":"a","free":{}1{}}}"#, "[".repeat(64), "]".repeat(64));
    let rows: &[(&str, &str)] = &[
        (&nested, ""),
        (&"[".repeat(10_000), ""),
        (r#"{"role":"user","role":"assistant","text":"a"}"#, "role"),
        (r#"{"text":"a","free":{"x":1,"x":2}}"#, "x"),
        (r#"{"text":"a","user_id":"b"}"#, "user_id"),
        (r#"{"text":"a","status":"complete"}"#, "status"),
        (r#"{"text":"a","is_admin":true}"#, "is_admin"),
        (r#"{"text":"a","params":{"created_at":1}}"#, "params.created_at"),
        (r#"{"text":123}"#, "text"),
        ("null", ""),
        ("[]", ""),
        ("", ""),
        ("{}", "text"),
        (r#"{"text":"#, ""),
        (r#"{"text":"a"} x"#, ""),
        (r#"{"text":"a","params":{"temperature":"0.5"}}"#, "params.temperature"),
        (r#"{"text":"a","params":{"temperature":1e400}}"#, ""),
        (r#"{"text":"a","params":{"temperature":NaN}}"#, ""),
        (r#"{"text":"a","params":{"max_tokens":-1}}"#, "params.max_tokens"),
        (r#"{"text":"a","params":{"max_tokens":1.5}}"#, "params.max_tokens"),
        (r#"{"text":"a","params":{"max_tokens":9007199254740993}}"#, "params.max_tokens"),
        (r#"{"text":"\ud800"}"#, ""),
        (r#"{"text":"a","turn_id":"1"}"#, "turn_id"),
        (r#"{"text":"a","turn_id":"0190B5B4-7C1E-7ABC-8DEF-0123456789AB"}"#, "turn_id"),
    ];
    let shell = shell();
    for (body, field) in rows {
        let answer = shell.post_json("/api/echo", body.to_string()).await;
        let shown: String = body.chars().take(60).collect();
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{shown}");
        assert_eq!(answer.problem(), "invalid", "{shown}");
        // A text that is no JSON has no field that could be named.
        assert_eq!(answer.json().get("field").and_then(Value::as_str).unwrap_or_default(), *field, "{shown}");
        assert!(answer.body.len() < 1000, "{shown}");
    }
    let not_utf8 = shell.post_json("/api/echo", vec![0x7b, 0x22, 0x74, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d]).await;
    assert_eq!((not_utf8.status, not_utf8.problem().as_str()), (StatusCode::BAD_REQUEST, "invalid_utf8"));
}

#[tokio::test]
async fn body_of_another_type_or_encoding_is_refused() {
    let shell = shell();
    let good = r#"{"text":"a"}"#;
    for headers in [
        &[] as &[(&str, &str)],
        &[("content-type", "text/plain")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/jsonp")],
        &[("content-type", "application/json; charset=latin1")],
        &[("content-type", "application/json"), ("content-encoding", "gzip")],
        &[("content-type", "application/json"), ("content-encoding", "identity, br")],
    ] {
        for path in ["/api/echo", "/api/maybe"] {
            let answer = shell.send(request(Method::POST, path, headers, good)).await;
            assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path} {headers:?}");
            assert_eq!(answer.problem(), "unsupported_media_type");
        }
    }
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON;Charset=\"UTF-8\""] {
        let answer = shell.send(request(Method::POST, "/api/echo", &[("content-type", kind)], good)).await;
        assert_eq!(answer.status, StatusCode::OK, "{kind}");
        assert_eq!(answer.json()["text"], "a");
    }
}

#[tokio::test]
async fn optional_body_may_be_absent_but_not_invalid() {
    let shell = shell();
    let none = shell.send(request(Method::POST, "/api/maybe", &[], "")).await;
    assert_eq!((none.status, none.body.as_slice()), (StatusCode::OK, b"null".as_slice()));
    assert_eq!(shell.post_json("/api/maybe", r#"{"text":"a"}"#).await.json()["text"], "a");
    assert_eq!(shell.post_json("/api/maybe", "").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn large_header_is_refused() {
    let shell = shell();
    let long = "a".repeat(64 << 10);
    let cookie = format!("a={}", "b".repeat(16 << 10));
    for headers in [[("x-long", long.as_str())], [("cookie", cookie.as_str())]] {
        let answer = shell.get("/", &headers).await;
        assert_eq!(answer.status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        assert_eq!(answer.problem(), "header_too_large");
    }
    // A very long `Accept-Language` is accepted, because it is only a preference.
    let language = "a".repeat(16 << 10);
    assert_eq!(shell.get("/", &[("accept-language", &language)]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn path_accepts_ids_in_one_spelling_only() {
    let shell = shell();
    let good = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    assert_eq!(shell.get(&format!("/api/turns/{good}"), &[]).await.body, good.as_bytes());
    assert_eq!(shell.get(&format!("/api/paths/{good}/{good}"), &[]).await.status, StatusCode::OK);
    for bad in [
        "1",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "%ff",
        "0190b5b4-7c1e-7abc-8def-0123456789a",
        "0190b5b4-7c1e-7abc-8def-0123456789abc",
        "0190b5b4-7c1e-7abc-8def-0123456789ag",
        "0190B5B4-7C1E-7ABC-8DEF-0123456789AB",
        "%7B0190b5b4-7c1e-7abc-8def-0123456789ab%7D",
        "urn:uuid:0190b5b4-7c1e-7abc-8def-0123456789ab",
        "0190b5b47c1e7abc8def0123456789ab",
    ] {
        for path in
            [format!("/api/turns/{bad}"), format!("/api/paths/{good}/{bad}"), format!("/api/paths/{bad}/{good}")]
        {
            let answer = shell.get(&path, &[]).await;
            assert_eq!((answer.status, answer.problem().as_str()), (StatusCode::NOT_FOUND, "not_found"), "{path}");
        }
    }
}

#[tokio::test]
async fn query_is_read_as_strictly_as_body() {
    let shell = shell();
    assert_eq!(shell.get("/api/page?limit=5", &[]).await.body, b"5");
    for (query, field) in [
        ("limit=-1", "limit"),
        ("limit=abc", "limit"),
        ("limit=", "limit"),
        ("limit=1&limit=2", "limit"),
        ("other=1", "other"),
    ] {
        let answer = shell.get(&format!("/api/page?{query}"), &[]).await;
        assert_eq!((answer.status, answer.problem().as_str()), (StatusCode::BAD_REQUEST, "invalid"), "{query}");
        assert_eq!(answer.json().get("field").and_then(Value::as_str).unwrap_or_default(), field, "{query}");
    }
}

#[tokio::test]
async fn errors_do_not_expose_internal_details() {
    let shell = shell();
    for path in ["/boom", "/api/fail"] {
        let answer = shell.get(path, &[("x-request-id", "from-outside")]).await;
        assert_eq!(answer.problem(), "internal");
        assert_eq!(answer.json()["request_id"], "from-outside");
        let text = String::from_utf8(answer.body).unwrap();
        assert!(!text.contains("secret") && !text.contains("password"), "{text}");
    }
    assert_eq!(shell.get("/", &[]).await.status, StatusCode::OK, "the server lives on");
}

/// Collects the log as one text.
#[derive(Clone, Default)]
struct LogBuffer(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn panic_is_logged_with_location_and_without_message() {
    let logged = LogBuffer::default();
    let writer = logged.clone();
    let lines = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    let shell = shell();
    let answer = {
        let _subscriber = tracing::subscriber::set_default(lines);
        turnleaf_platform::telemetry::install_panic_logger();
        let answer = shell.get("/boom", &[("x-request-id", "from-outside")]).await;
        drop(std::panic::take_hook());
        answer
    };
    assert_eq!(answer.problem(), "internal");
    let text = String::from_utf8(logged.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("tests/http_shell.rs:") && text.contains("from-outside"), "{text}");
    assert!(!text.contains("secret words"), "{text}");
}

#[tokio::test]
async fn only_plain_request_id_is_adopted() {
    let shell = shell();
    assert_eq!(shell.get("/", &[("x-request-id", "a-b_c.1")]).await.header("x-request-id"), "a-b_c.1");
    let long = "a".repeat(65);
    for odd in ["a b", "a;b", "<script>", long.as_str()] {
        let answer = shell.get("/", &[("x-request-id", odd)]).await;
        assert_eq!(answer.header("x-request-id").len(), 36, "{odd}");
    }
}

#[tokio::test]
async fn not_found_is_problem_in_api_and_page_elsewhere() {
    let shell = shell();
    assert_eq!(shell.get("/api/none", &[]).await.problem(), "not_found");
    assert_eq!(shell.get("/api", &[]).await.problem(), "not_found");
    assert!(shell.get("/apis", &[]).await.header("content-type").starts_with("text/html"));
    let wrong_method = shell.send(request(Method::PUT, "/api/echo", &[], "")).await;
    assert_eq!(wrong_method.problem(), "method_not_allowed");
    assert_eq!(wrong_method.header("allow"), "POST");
}

#[tokio::test]
async fn assets_are_immutable_under_their_build_and_precompressed() {
    let shell = shell();
    let path = format!("/{}/turnleaf.js", shell.site.package_dir());
    for (accepted, encoding, body) in
        [("gzip, br", "br", "brotli"), ("gzip", "gzip", "gzip"), ("", "", "let plain;"), ("br;q=0", "", "let plain;")]
    {
        let answer = shell.get(&path, &[("accept-encoding", accepted)]).await;
        assert_eq!(answer.header("content-encoding"), encoding);
        assert_eq!(answer.body, body.as_bytes());
        assert_eq!(answer.header("content-type"), "text/javascript; charset=utf-8");
        assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(answer.header("vary"), "accept-encoding");
    }
    let wasm = shell.get(&format!("/{}/turnleaf_bg.wasm", shell.site.package_dir()), &[]).await;
    assert_eq!(wasm.header("content-type"), "application/wasm");
    assert_eq!(shell.get(&format!("/{}/snippets/one.js", shell.site.package_dir()), &[]).await.status, StatusCode::OK);
    let outside = shell.get(&format!("/{}/%2e%2e/favicon.svg", shell.site.package_dir()), &[]).await;
    assert_eq!(outside.status, StatusCode::NOT_FOUND);

    let icon = shell.get("/favicon.svg", &[]).await;
    assert_eq!(icon.header("cache-control"), "no-cache");
    let again = shell.get("/favicon.svg", &[("if-none-match", icon.header("etag"))]).await;
    assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
}

#[tokio::test]
async fn brotli_file_is_reencoded_for_clients_without_brotli() {
    let shell = shell();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    type BodyReader<'a> = &'a dyn Fn(&[u8]) -> String;
    let cases: [(&str, &str, BodyReader<'_>); 3] = [
        ("br, gzip", "br", &|bytes| if bytes == ROBOTS_IN_BROTLI { ROBOTS.into() } else { text(bytes) }),
        ("gzip", "gzip", &unzipped),
        ("", "", &text),
    ];
    let mut tags = std::collections::BTreeSet::new();
    for (accepted, encoding, read) in cases {
        let answer = shell.get("/robots.txt", &[("accept-encoding", accepted)]).await;
        assert_eq!((answer.status, answer.header("content-encoding")), (StatusCode::OK, encoding));
        assert_eq!(read(&answer.body), ROBOTS);
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
        tags.insert(answer.header("etag").to_owned());
    }
    assert_eq!(tags.len(), 1, "{tags:?}");
    let known = tags.first().unwrap();
    assert_eq!(shell.get("/robots.txt", &[("if-none-match", known)]).await.status, StatusCode::NOT_MODIFIED);
    assert_eq!(shell.site.root_files(), ["favicon.svg", "robots.txt"]);
}

#[test]
fn name_of_build_follows_its_files() {
    let (dir, site) = site();
    assert_eq!(Site::open(Some(dir.path())).build(), site.build());
    std::fs::write(dir.path().join("pkg/turnleaf.js"), "let other;").unwrap();
    assert_ne!(Site::open(Some(dir.path())).build(), site.build());
}

#[tokio::test]
async fn late_journal_makes_server_unready() {
    let answers = async |delay: Duration| {
        let check: health::DatabaseProbe = Arc::new(|| Box::pin(async { Ok(()) }));
        let readiness = Readiness::new(CancellationToken::new(), check).with_journal(Arc::new(move || delay));
        let router = router_with_readiness(readiness);
        let status = async |path: &str| {
            let answer = router.clone().oneshot(request(Method::GET, path, &[], "")).await.unwrap();
            let status = answer.status();
            let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            (status, serde_json::from_slice::<Value>(&body).unwrap()["component"].clone())
        };
        (status("/readyz").await, status("/healthz").await)
    };
    let (fine, broken) = ((StatusCode::OK, Value::Null), (StatusCode::SERVICE_UNAVAILABLE, Value::from("journal")));
    let moment = Duration::from_millis(1);
    assert_eq!(answers(Duration::ZERO).await, (fine.clone(), fine.clone()));
    assert_eq!(answers(limits::JOURNAL_LATE - moment).await, (fine.clone(), fine.clone()));
    assert_eq!(answers(limits::JOURNAL_LATE).await, (broken.clone(), fine.clone()));
    assert_eq!(answers(limits::JOURNAL_STUCK - moment).await, (broken.clone(), fine));
    assert_eq!(answers(limits::JOURNAL_STUCK).await, (broken.clone(), broken));
}

#[tokio::test]
async fn full_disk_is_reported_while_server_stays_ready() {
    for (has_free_disk, degraded) in [(true, Value::Null), (false, json!(["disk_space_low"]))] {
        let check: health::DatabaseProbe = Arc::new(|| Box::pin(async { Ok(()) }));
        let readiness = Readiness::new(CancellationToken::new(), check)
            .with_disk(Arc::new(move || Box::pin(async move { has_free_disk })));
        let router = router_with_readiness(readiness);
        let answer = router.oneshot(request(Method::GET, "/readyz", &[], "")).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let body: Value = serde_json::from_slice(&to_bytes(answer.into_body(), usize::MAX).await.unwrap()).unwrap();
        assert_eq!(body["status"], "ready");
        let codes =
            body["degraded"].as_array().map_or(Value::Null, |all| all.iter().map(|one| one["code"].clone()).collect());
        assert_eq!(codes, degraded, "{body}");
    }
}

#[tokio::test]
async fn draining_server_is_alive_but_not_ready() {
    let shell = shell();
    assert_eq!(shell.get("/readyz", &[]).await.json()["status"], "ready");
    shell.draining.cancel();
    let answer = shell.get("/readyz", &[]).await;
    assert_eq!((answer.status, answer.problem().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "unavailable"));
    assert_eq!(answer.header("retry-after"), "5");
    assert_eq!(shell.get("/healthz", &[]).await.status, StatusCode::OK);
    assert_eq!(shell.get("/version", &[]).await.json()["version"], env!("CARGO_PKG_VERSION"));
}
