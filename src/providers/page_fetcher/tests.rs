//! Tests of the guard, against a local server that represents the internet.

use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response as Answer};
use axum::routing::get;

use super::*;

const PUBLIC: [u8; 4] = [93, 184, 216, 34];

/// Allows redirects to every host, or to none.
struct FixedRedirectPolicy(bool);

impl RedirectPolicy for FixedRedirectPolicy {
    fn may_reach<'a>(&'a self, _: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(self.0))
    }
}

/// Returns these addresses in sequence for any name; the last ones repeat.
struct FakeResolver {
    server: SocketAddr,
    answers: Mutex<Vec<Vec<SocketAddr>>>,
}

impl NameResolver for FakeResolver {
    fn lookup_addresses(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Box::pin(async move { Ok(answer) })
    }

    fn route(&self, _: SocketAddr) -> SocketAddr {
        self.server
    }
}

fn at(ip: impl Into<std::net::IpAddr>) -> SocketAddr {
    SocketAddr::new(ip.into(), 0)
}

/// Starts a server; returns a fetcher that finds it under every name, and the number of requests for its secret.
async fn internet(answers: Vec<Vec<SocketAddr>>) -> (Fetcher, Arc<AtomicUsize>, SocketAddr) {
    let hits = Arc::new(AtomicUsize::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let seen = hits.clone();
    let to = move |path: String| {
        let place = match path.as_str() {
            "secret" => format!("http://127.0.0.1:{}/secret", server.port()),
            "secret80" => "http://127.0.0.1/secret".into(),
            "file" => "file:///etc/passwd".into(),
            "user" => "http://a:b@public.test/page".into(),
            "loop" => "/to/loop".into(),
            "three" => "/to/two".into(),
            "two" => "//public.test/to/one".into(),
            "other" => "http://other.test/page?q=1".into(),
            other => format!("/{}", other.replace("one", "page")),
        };
        (StatusCode::FOUND, [("location", place), ("set-cookie", "a=b".into())])
    };
    let endless = || Body::from_stream(futures::stream::repeat(Ok::<_, Infallible>(vec![b'x'; 64 << 10])));
    let silent = || Body::from_stream(futures::stream::pending::<Result<Bytes, Infallible>>());
    let kind = |kind: &'static str, body: Body| -> Answer { ([("content-type", kind)], body).into_response() };
    let app = Router::new()
        .route("/secret", get(move || async move { seen.fetch_add(1, Ordering::SeqCst).to_string() }))
        .route("/to/{place}", get(move |Path(place): Path<String>| async move { to(place) }))
        .route(
            "/page",
            get(move |headers: axum::http::HeaderMap| async move {
                let odd = ["cookie", "authorization", "referer"].iter().any(|name| headers.contains_key(*name));
                kind("Text/HTML; charset=utf-8", if odd { "odd".into() } else { "<p>Hi</p>".into() })
            }),
        )
        .route("/endless", get(move || async move { kind("text/plain", endless()) }))
        .route("/silent", get(move || async move { kind("text/plain", silent()) }))
        .route("/image", get(move || async move { kind("image/png", "x".into()) }))
        .route("/packed", get(|| async { ([("content-encoding", "gzip")], "x") }))
        .route("/gone", get(|| async { StatusCode::GONE }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let names = FakeResolver { server, answers: Mutex::new(answers) };
    (Fetcher::new(Arc::new(names)), hits, server)
}

#[tokio::test]
async fn non_public_addresses_are_refused_before_anything_is_sent() {
    let (fetcher, hits, _) = internet(vec![vec![at(PUBLIC)]]).await;
    for address in [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://localhost./",
        "http://a.localhost/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://[fe80::1]/",
        "http://example.com@127.0.0.1/",
        "http://user:word@example.com/",
        "http://@example.com/",
        "file:///etc/passwd",
        "ftp://example.com/x",
        "gopher://127.0.0.1:6379/",
        "data:text/html,x",
        "http://example.com:6379/",
        "https://example.com:8443/",
    ] {
        let refused = fetcher.get(address, &FixedRedirectPolicy(true)).await.unwrap_err();
        assert!(matches!(refused, FetchError::Blocked(_)), "{address}: {refused}");
        assert!(refused.to_string().starts_with("blocked_address"), "{refused}");
    }
    for address in ["", "example.com", "http://", "http://a b/", " http://example.com/", "http:\\\\example.com", "//x"]
    {
        assert!(fetcher.get(address, &FixedRedirectPolicy(true)).await.is_err(), "{address:?}");
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn page_is_fetched_over_few_redirects() {
    let (fetcher, hits, _) = internet(vec![vec![at(PUBLIC)]]).await;
    for address in ["http://public.test/page#top", "http://public.test/to/one", "http://public.test/to/three"] {
        let page = fetcher.get(address, &FixedRedirectPolicy(true)).await.unwrap();
        assert_eq!(page.url, "http://public.test/page", "{address}");
        assert_eq!((page.content_type.as_str(), &page.body[..], page.is_cut), ("text/html", &b"<p>Hi</p>"[..], false));
    }
    for (place, code) in [("secret", true), ("secret80", true), ("file", true), ("user", true), ("loop", false)] {
        let refused =
            fetcher.get(&format!("http://public.test/to/{place}"), &FixedRedirectPolicy(true)).await.unwrap_err();
        assert_eq!(matches!(refused, FetchError::Blocked(_)), code, "{place}: {refused}");
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn name_is_checked_when_connecting() {
    let private = || vec![at([127, 0, 0, 1])];
    for (case, answers) in [
        ("this machine", vec![private()]),
        ("an IPv4 address in an IPv6 one", vec![vec![at(std::net::Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0x7f00, 1))]]),
        ("both", vec![vec![at(PUBLIC), at([10, 0, 0, 1])]]),
        ("nothing", vec![vec![]]),
    ] {
        let (fetcher, hits, _) = internet(answers).await;
        let refused = fetcher.get("http://rebound.test/secret", &FixedRedirectPolicy(true)).await.unwrap_err();
        assert!(case == "nothing" || matches!(refused, FetchError::Blocked(_)), "{case}: {refused}");
        assert_eq!(hits.load(Ordering::SeqCst), 0, "{case}");
    }
    // DNS rebinding: the name is public at first and local afterwards, so the check must be that of the connection.
    let (fetcher, hits, _) = internet(vec![vec![at(PUBLIC)], private()]).await;
    let first = fetcher.get("http://rebound.test/to/one", &FixedRedirectPolicy(true)).await;
    let next = Fetcher::new(fetcher.names.clone()).get("http://rebound.test/secret", &FixedRedirectPolicy(true)).await;
    assert!(first.is_ok() || matches!(first, Err(FetchError::Blocked(_))), "{first:?}");
    assert!(matches!(next, Err(FetchError::Blocked(_))), "{next:?}");
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn endless_page_is_cut_and_binary_page_is_refused() {
    let (fetcher, ..) = internet(vec![vec![at(PUBLIC)]]).await;
    let page = fetcher.get("http://public.test/endless", &FixedRedirectPolicy(true)).await.unwrap();
    assert_eq!((page.body.len(), page.is_cut), (limits::FETCH_BYTES, true));
    for (place, word) in [("image", "image/png"), ("packed", "gzip"), ("gone", "410"), ("nowhere", "404")] {
        let refused = fetcher
            .get(&format!("http://public.test/{place}"), &FixedRedirectPolicy(true))
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains(word), "{place}: {refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn silent_server_times_out() {
    let (fetcher, ..) = internet(vec![vec![at(PUBLIC)]]).await;
    let refused = fetcher.get("http://public.test/silent", &FixedRedirectPolicy(true)).await.unwrap_err().to_string();
    assert!(refused.contains("longer than 20 seconds") || refused.contains("no response"), "{refused}");
}

#[tokio::test]
async fn redirect_to_other_host_is_followed_only_if_allowed() {
    let (fetcher, _, _) = internet(vec![vec![at(PUBLIC)]]).await;
    let address = "http://public.test/to/other";
    assert_eq!(fetcher.get(address, &FixedRedirectPolicy(true)).await.unwrap().url, "http://other.test/page?q=1");
    let refused = fetcher.get(address, &FixedRedirectPolicy(false)).await.unwrap_err();
    assert_eq!(
        refused,
        FetchError::OtherHost { url: "http://other.test/page?q=1".into(), host: "other.test".into() },
        "{refused}"
    );
    assert!(
        fetcher.get("http://PUBLIC.test/to/one", &FixedRedirectPolicy(false)).await.is_ok(),
        "it stays on its host"
    );
}

#[test]
fn host_of_address_has_one_form() {
    for (address, expected) in [
        ("https://Example.com/a?b#c", "example.com"),
        ("http://example.com./", "example.com"),
        ("http://example.com:80/", "example.com"),
        ("https://b\u{fc}cher.example/", "xn--bcher-kva.example"),
        ("https://8.8.8.8/", "8.8.8.8"),
        ("https://0x8.8.8.8/", "8.8.8.8"),
    ] {
        assert_eq!(host_of(address).as_deref(), Ok(expected), "{address}");
    }
    for address in ["http://example.com@evil.test/", "http://127.0.0.1/", "ftp://example.com/", "example.com"] {
        assert!(host_of(address).is_err(), "{address}");
    }
    for (text, expected) in [
        ("Example.com", Some("example.com")),
        ("b\u{fc}cher.example", Some("xn--bcher-kva.example")),
        ("example.com/a", None),
        ("a@example.com", None),
        ("localhost", None),
        ("127.0.0.1", None),
        ("", None),
    ] {
        assert_eq!(parse_host(text).as_deref(), expected, "{text}");
    }
}
