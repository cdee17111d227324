//! Slow and oversized bodies with every kind of extractor, over real sockets, with bounds of milliseconds.

use std::net::SocketAddr;
use std::time::Instant;

use axum::body::to_bytes;
use axum::extract::{Form, Multipart};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::server::http::accept_loop::serve;

const SHORT_LIMITS: BodyPaceLimits = BodyPaceLimits {
    grace: Duration::from_millis(300),
    window: Duration::from_millis(100),
    window_bytes: 100,
    upload_time: Duration::from_millis(1_500),
    import_time: Duration::from_secs(60),
};

/// One route for each way of reading a body.
fn routes(pace: BodyPaceLimits) -> Router {
    let multipart = |mut form: Multipart| async move {
        while let Ok(Some(field)) = form.next_field().await {
            let _ = field.bytes().await;
        }
    };
    Router::new()
        .route("/bytes", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/json", post(|Json(value): Json<Value>| async move { value.to_string() }))
        .route("/form", post(|Form(fields): Form<Vec<(String, String)>>| async move { fields.len().to_string() }))
        .route("/forms/attach", post(multipart))
        // Server functions read the body themselves.
        .route(
            "/raw",
            post(|body: Body| async move {
                to_bytes(body, usize::MAX).await.map(|all| all.len().to_string()).unwrap_or_default()
            }),
        )
        .route(
            "/api/imports",
            post(|body: Body| async move {
                to_bytes(body, usize::MAX).await.map(|all| all.len().to_string()).unwrap_or_default()
            }),
        )
        .layer(axum::extract::DefaultBodyLimit::disable())
        .layer(from_fn(answer_violation))
        .layer(from_fn_with_state(pace, guard))
}

async fn start_server(pace: BodyPaceLimits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(vec![listener], routes(pace), CancellationToken::new()));
    address
}

const KINDS: [(&str, &str); 5] = [
    ("/bytes", "text/plain"),
    ("/json", "application/json"),
    ("/form", "application/x-www-form-urlencoded"),
    ("/forms/attach", "multipart/form-data; boundary=b"),
    ("/raw", "application/json"),
];

async fn start_request(address: SocketAddr, path: &str, kind: &str, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\nConnection: close\r\n{head}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Reads the response, as far as it arrives before the connection ends.
async fn read_response(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        all.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Sends one chunk after another, with a pause, until there is a response.
async fn trickle(mut stream: TcpStream, piece: &[u8], pause: Duration) -> String {
    let mut first = [0; 1];
    loop {
        tokio::select! {
            read = stream.read(&mut first) => {
                assert_eq!(read.unwrap(), 1, "closed without an answer");
                return format!("{}{}", char::from(first[0]), read_response(&mut stream).await);
            }
            () = tokio::time::sleep(pause) => drop(stream.write_all(piece).await),
        }
    }
}

#[tokio::test]
async fn body_below_minimum_rate_is_answered_with_408_on_every_kind_of_route() {
    let address = start_server(SHORT_LIMITS).await;
    let begun = Instant::now();
    let all = KINDS.map(|(path, kind)| async move {
        let stream = start_request(address, path, kind, "Content-Length: 100000").await;
        (path, trickle(stream, b"a", Duration::from_millis(20)).await)
    });
    for (path, answer) in futures::future::join_all(all).await {
        assert!(answer.starts_with("HTTP/1.1 408"), "{path}: {answer}");
        assert!(answer.contains("\"too_slow\""), "{path}: {answer}");
    }
    assert!(begun.elapsed() >= SHORT_LIMITS.grace, "within the grace any speed will do");
}

#[tokio::test]
async fn silent_body_is_answered_with_408_after_grace() {
    let address = start_server(SHORT_LIMITS).await;
    let mut stream = start_request(address, "/raw", "text/plain", "Content-Length: 10").await;
    let answer = read_response(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn body_at_minimum_rate_may_continue_until_route_deadline() {
    let address = start_server(SHORT_LIMITS).await;
    // 2,000 bytes in 50 chunks, one every 20 ms: a second, three times the grace period.
    let mut stream = start_request(address, "/raw", "text/plain", "Content-Length: 2000").await;
    for _ in 0..50 {
        stream.write_all(&[b'a'; 40]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let answer = read_response(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("2000"), "{answer}");
    // An endless body ends with its total time; imports have another one.
    let (upload, import) = tokio::join!(
        async {
            trickle(
                start_request(address, "/raw", "text/plain", "Content-Length: 1000000").await,
                &[b'a'; 400],
                Duration::from_millis(20),
            )
            .await
        },
        async {
            let stream = start_request(address, "/api/imports", "text/plain", "Content-Length: 40000").await;
            trickle(stream, &[b'a'; 400], Duration::from_millis(20)).await
        },
    );
    assert!(upload.starts_with("HTTP/1.1 408"), "{upload}");
    assert!(import.starts_with("HTTP/1.1 200") && import.ends_with("40000"), "{import}");
}

#[tokio::test]
async fn overlong_chunked_body_is_answered_with_413_on_every_kind_of_route() {
    let address = start_server(BodyPaceLimits::default()).await;
    for (path, kind) in KINDS {
        let limit = BodyKind::from_path(path).byte_limit();
        let mut stream = start_request(address, path, kind, "Transfer-Encoding: chunked").await;
        let (mut reading, mut writing) = stream.split();
        let piece = vec![b'a'; 1 << 20];
        let write = async {
            if path == "/forms/attach" {
                let head = b"--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\n";
                let chunk = [format!("{:x}\r\n", head.len()).as_bytes(), head, b"\r\n"].concat();
                writing.write_all(&chunk).await.unwrap();
            }
            for _ in 0..=limit / piece.len() {
                let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat();
                // The server may refuse the body before all of it is sent.
                if writing.write_all(&chunk).await.is_err() {
                    return;
                }
            }
        };
        let mut all = Vec::new();
        let read = async {
            let mut piece = [0; 4096];
            while !String::from_utf8_lossy(&all).contains("\"limit\"") {
                match reading.read(&mut piece).await {
                    Ok(length @ 1..) => all.extend_from_slice(&piece[..length]),
                    _ => break,
                }
            }
        };
        tokio::join!(write, read);
        let answer = String::from_utf8_lossy(&all);
        assert!(answer.starts_with("HTTP/1.1 413"), "{path}: {answer}");
        assert!(answer.contains("\"too_large\"") && answer.contains(&format!("\"limit\":{limit}")), "{path}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn time_without_reader_is_not_counted_against_client() {
    let pieces = (0..20).map(|_| Ok::<_, std::io::Error>(Bytes::from_static(b"a")));
    let body = Body::from_stream(futures::stream::iter(pieces));
    let mut body = GuardedBody::new(body, BodyKind::Plain, SHORT_LIMITS, BodyViolation::default());
    let mut count = 0;
    while let Some(piece) = body.next().await {
        piece.unwrap();
        count += 1;
        // The handler takes a long time to store what it has read.
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert_eq!(count, 20);
}
