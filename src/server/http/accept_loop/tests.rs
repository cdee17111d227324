//! Shutdown of the accept loop with connections that do not end, and the bounds on connections.

use axum::body::{Body, Bytes};
use axum::routing::get;
use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const NO_TIME: Duration = Duration::from_millis(1);

/// A route that sends one chunk and then nothing until the token is cancelled.
fn routes(end: CancellationToken) -> Router {
    let stream = move || {
        let end = end.clone();
        let first = futures::stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"first"))]);
        let last = futures::stream::once(async move {
            end.cancelled().await;
            Ok(Bytes::from_static(b"last"))
        });
        async move { Body::from_stream(first.chain(last)) }
    };
    Router::new().route("/stream", get(stream))
}

async fn bind_local() -> (TcpListener, std::net::SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Requests the stream and waits for its first chunk.
async fn follow(address: std::net::SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"first\r\n") {
        seen.push(stream.read_u8().await.unwrap());
    }
    stream
}

#[tokio::test]
async fn endless_stream_is_cut_after_drain_time() {
    let (listener, address) = bind_local().await;
    let shutdown = CancellationToken::new();
    let never = CancellationToken::new();
    let bounds = ConnectionLimits { drain: NO_TIME, ..ConnectionLimits::default() };
    let serving = tokio::spawn(serve_with_limits(vec![listener], routes(never), shutdown.clone(), bounds));
    let mut follower = follow(address).await;
    shutdown.cancel();
    serving.await.unwrap().unwrap();
    let mut rest = Vec::new();
    let _ = follower.read_to_end(&mut rest).await;
    assert!(rest.is_empty(), "a cut stream has no proper end");
    assert!(TcpStream::connect(address).await.is_err(), "nobody is accepted any more");
}

#[tokio::test]
async fn stream_that_ends_within_drain_time_is_sent_completely() {
    let (listener, address) = bind_local().await;
    let shutdown = CancellationToken::new();
    let router = routes(shutdown.clone());
    let serving = tokio::spawn(serve(vec![listener], router, shutdown.clone()));
    let mut follower = follow(address).await;
    shutdown.cancel();
    let mut rest = Vec::new();
    follower.read_to_end(&mut rest).await.unwrap();
    assert!(String::from_utf8(rest).unwrap().ends_with("last\r\n0\r\n\r\n"));
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn every_listener_is_served() {
    let (one, one_address) = bind_local().await;
    let (other, other_address) = bind_local().await;
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(serve(vec![one, other], routes(shutdown.clone()), shutdown.clone()));
    let _followers = (follow(one_address).await, follow(other_address).await);
    shutdown.cancel();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn mutation_completes_after_client_disconnect_and_read_is_dropped() {
    let (listener, address) = bind_local().await;
    let (shutdown, open) = (CancellationToken::new(), CancellationToken::new());
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let work = {
        let open = open.clone();
        move |method: http::Method| {
            let (open, ends) = (open.clone(), EndReporter(sender.clone(), format!("{method} dropped")));
            async move {
                ends.report(format!("{method} begins"));
                open.cancelled().await;
                ends.end_with(format!("{method} done"));
            }
        }
    };
    let router = Router::new().route("/", get(work.clone()).post(work));
    let serving = tokio::spawn(serve(vec![listener], router, shutdown.clone()));
    for method in ["POST", "GET"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(receiver.recv().await.unwrap(), format!("{method} begins"));
    }
    // Both clients have disconnected. The GET is dropped with its connection; the shutdown waits for the POST.
    assert_eq!(receiver.recv().await.unwrap(), "GET dropped");
    shutdown.cancel();
    open.cancel();
    serving.await.unwrap().unwrap();
    assert_eq!(receiver.try_recv().unwrap(), "POST done");
}

#[tokio::test]
async fn connections_of_one_address_are_limited_and_ended_one_frees_slot() {
    let (listener, address) = bind_local().await;
    let bounds = ConnectionLimits { local: 2, ..ConnectionLimits::default() };
    let never = CancellationToken::new();
    tokio::spawn(serve_with_limits(vec![listener], routes(never.clone()), CancellationToken::new(), bounds));
    let (first, _second) = (follow(address).await, follow(address).await);
    let mut third = TcpStream::connect(address).await.unwrap();
    let mut answer = String::new();
    third.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 429"), "{answer}");
    drop(first);
    // The server needs a moment to notice the disconnect.
    loop {
        let mut again = TcpStream::connect(address).await.unwrap();
        let _ = again.write_all(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let mut head = [0; 12];
        if again.read_exact(&mut head).await.is_ok() && &head == b"HTTP/1.1 200" {
            break;
        }
    }
}

#[tokio::test]
async fn connections_of_trusted_proxy_are_not_limited() {
    let (listener, address) = bind_local().await;
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let bounds = ConnectionLimits { local: 1, per_address: 1, proxies, ..ConnectionLimits::default() };
    tokio::spawn(serve_with_limits(vec![listener], routes(CancellationToken::new()), CancellationToken::new(), bounds));
    let _followers = (follow(address).await, follow(address).await, follow(address).await);
}

#[tokio::test]
async fn client_that_reads_nothing_is_disconnected_and_its_resources_are_released() {
    let (listener, address) = bind_local().await;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    // An endless body that counts the bytes produced for the client.
    let endless = move || {
        let ends = EndReporter(sender.clone(), "dropped".into());
        let pieces = futures::stream::unfold((ends, 0_usize), |(ends, sent)| async move {
            ends.report(sent.to_string());
            let piece = Bytes::from_static(&[b'a'; 64 << 10]);
            Some((Ok::<_, io::Error>(piece), (ends, sent + (64 << 10))))
        });
        async move { Body::from_stream(pieces) }
    };
    let router = Router::new().route("/", get(endless));
    let bounds = ConnectionLimits { write_time: Duration::from_millis(200), ..ConnectionLimits::default() };
    tokio::spawn(serve_with_limits(vec![listener], router, CancellationToken::new(), bounds));
    let mut deaf = TcpStream::connect(address).await.unwrap();
    deaf.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut made = 0;
    loop {
        match receiver.recv().await.unwrap().as_str() {
            "dropped" => break,
            sent => made = sent.parse().unwrap(),
        }
    }
    // The server produces what the kernel buffers take, and at most one buffer of its own beyond that.
    assert!(made < 16 << 20, "{made} bytes were made for a client that reads nothing");
    drop(deaf);
}

#[tokio::test]
async fn download_may_be_paused_for_longer_than_page() {
    let (listener, address) = bind_local().await;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    const LENGTH: usize = 32 << 20;
    let file = move |uri: http::Uri| {
        let ends = EndReporter(sender.clone(), format!("{} dropped", uri.path()));
        let pieces = futures::stream::unfold((ends, 0), |(ends, sent)| async move {
            if sent == LENGTH {
                ends.end_with("all sent".into());
                return None;
            }
            Some((Ok::<_, io::Error>(Bytes::from_static(&[b'a'; 64 << 10])), (ends, sent + (64 << 10))))
        });
        let kind = if uri.path() == "/file" { "attachment; filename=a" } else { "inline" };
        async move { ([(http::header::CONTENT_DISPOSITION, kind)], Body::from_stream(pieces)) }
    };
    let router = Router::new().route("/file", get(file.clone())).route("/page", get(file));
    let (write_time, download_write_time) = (Duration::from_millis(100), Duration::from_secs(600));
    let bounds = ConnectionLimits { write_time, download_write_time, ..ConnectionLimits::default() };
    tokio::spawn(serve_with_limits(vec![listener], router, CancellationToken::new(), bounds));
    let mut paused = Vec::new();
    for path in ["/file", "/page"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        paused.push(stream);
    }
    // The page is aborted; the file, which has waited for longer, continues where it was.
    assert_eq!(receiver.recv().await.unwrap(), "/page dropped");
    let mut all = Vec::new();
    paused[0].read_to_end(&mut all).await.unwrap();
    assert!(all.len() > LENGTH, "{}", all.len());
    assert_eq!(receiver.recv().await.unwrap(), "all sent");
}

#[tokio::test]
async fn slow_reader_is_served_completely() {
    let (listener, address) = bind_local().await;
    let whole = vec![b'a'; 8 << 20];
    let router = Router::new().route("/", get(move || async move { whole.clone() }));
    let bounds = ConnectionLimits { write_time: Duration::from_secs(1), ..ConnectionLimits::default() };
    tokio::spawn(serve_with_limits(vec![listener], router, CancellationToken::new(), bounds));
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut all = 0;
    let mut piece = vec![0; 512 << 10];
    while let Ok(length @ 1..) = slow.read(&mut piece).await {
        all += length;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(all > 8 << 20, "{all}");
}

/// Reports how a body or a handler ended.
struct EndReporter(tokio::sync::mpsc::UnboundedSender<String>, String);

impl EndReporter {
    fn end_with(mut self, ending: String) {
        self.1 = ending;
    }

    fn report(&self, event: String) {
        let _ = self.0.send(event);
    }
}

impl Drop for EndReporter {
    fn drop(&mut self) {
        let end = std::mem::take(&mut self.1);
        self.report(end);
    }
}
