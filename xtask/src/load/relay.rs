//! A relay that does the minimum that any server between a browser and a model must do: parse the stream, decode the
//! JSON, keep the text, write its own event. It stores nothing. Turnleaf's cost is reported as a ratio to it.

use std::convert::Infallible;
use std::net::SocketAddr;

use anyhow::Result;
use bytes::{Bytes, BytesMut};
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::client::LoopbackClient;

type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// Serves until the process is ended; its address is the first line on stdout.
///
/// # Errors
/// There is no free port.
pub async fn run_relay(upstream: SocketAddr) -> Result<()> {
    println!("{}", start_relay(upstream).await?);
    std::future::pending().await
}

/// Serves on a free port until the program ends.
///
/// # Errors
/// There is no free port.
pub async fn start_relay(upstream: SocketAddr) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(accept(listener, upstream));
    Ok(address)
}

async fn accept(listener: TcpListener, upstream: SocketAddr) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let service = service_fn(move |request| async move {
            let answer = relay(request, upstream).await;
            Ok::<_, Infallible>(answer.unwrap_or_else(|error| {
                let mut refused = Response::new(Either::Left(Full::from(error.to_string())));
                *refused.status_mut() = hyper::StatusCode::BAD_GATEWAY;
                refused
            }))
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn relay(request: Request<Incoming>, upstream: SocketAddr) -> Result<Response<Body>> {
    let path = request.uri().path().to_owned();
    let body: Value = serde_json::from_slice(&request.into_body().collect().await?.to_bytes())?;
    let mut client = LoopbackClient::connect(upstream).await?;
    let incoming = client.send(Method::POST, &path, Some(&body)).await?.into_body();
    let (sender, channel) = Channel::new(64);
    tokio::spawn(async move {
        copy(incoming, sender).await;
        drop(client);
    });
    let mut response = Response::new(Either::Right(channel));
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

async fn copy(mut incoming: Incoming, mut sender: Sender<Bytes>) -> Option<()> {
    let (mut rest, mut text, mut seq) = (BytesMut::new(), String::new(), 0u64);
    while let Some(Ok(frame)) = incoming.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        rest.extend_from_slice(&bytes);
        let mut out = BytesMut::new();
        while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
            let event = rest.split_to(end + 2);
            if let Some(piece) = event[..end].strip_prefix(b"data: ").and_then(piece_of) {
                seq += 1;
                text.push_str(&piece);
                let event = serde_json::json!({ "t": piece });
                out.extend_from_slice(format!("id: {seq}\ndata: {event}\n\n").as_bytes());
            }
        }
        if !out.is_empty() {
            sender.send_data(out.freeze()).await.ok()?;
        }
    }
    let end = format!("event: end\ndata: {}\n\n", text.len());
    sender.send_data(Bytes::from(end)).await.ok()
}

fn piece_of(json: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(json).ok()?;
    Some(event["choices"][0]["delta"]["content"].as_str()?.to_owned())
}
