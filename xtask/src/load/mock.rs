//! A mock model server that only simulates timing: the model's name sets the number of text pieces and their rate.
//! `mock-200-50` sends 200 pieces at 50 per second, `mock-20000-0` sends 20,000 as fast as possible, and
//! `mock-3000-0-md` sends 3,000 pieces of Markdown.

pub mod markdown;

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep_until};

use crate::stamp;

type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// The pieces sent together without a rate, as by a server that writes faster than it flushes.
const TOGETHER: u64 = 16;
const PIECES_MAX: u64 = 200_000;
/// The JSON after the text of a piece.
const AFTER: &str = "\"},\"finish_reason\":null}]}\n\n";

/// The stream that a model's name describes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StreamPlan {
    pieces: u64,
    /// Pieces per second; 0 means no limit.
    rate: f64,
    is_markdown: bool,
}

/// Returns the requested model. The rest of the body, megabytes in a long chat, is not parsed, because that would be
/// measured too.
fn model_of_request(body: &[u8]) -> Option<String> {
    let body: HashMap<&str, &RawValue> = serde_json::from_slice(body).ok()?;
    serde_json::from_str(body.get("model")?.get()).ok()
}

fn plan_of_model(model: &str) -> StreamPlan {
    let mut parts = model.rsplit("mock-").next().unwrap_or_default().split('-');
    let pieces = parts.next().and_then(|part| part.parse().ok()).unwrap_or(20).min(PIECES_MAX);
    let rate = parts.next().and_then(|part| part.parse().ok()).unwrap_or(50.0);
    StreamPlan { pieces, rate, is_markdown: parts.next() == Some("md") }
}

/// Serves on a free port until the program ends.
///
/// # Errors
/// There is no free port.
pub async fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            // A connection that its client closes is a normal ending.
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
        }
    });
    Ok(address)
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let is_list = request.uri().path().ends_with("/models");
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    if is_list {
        let list = r#"{"object":"list","data":[{"id":"mock-200-50","object":"model"}]}"#;
        return Ok(Response::new(Either::Left(Full::from(list))));
    }
    let model = model_of_request(&body).unwrap_or_default();
    let (sender, channel) = Channel::new(16);
    tokio::spawn(async move { write(sender, &model).await });
    let mut response = Response::new(Either::Right(channel));
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

/// Escapes a text for use within a JSON string.
fn json_string(text: &str) -> String {
    let text = Value::from(text).to_string();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Writes one reply; stops early if the reader disconnects.
async fn write(mut sender: Sender<Bytes>, model: &str) -> Option<()> {
    let StreamPlan { pieces, rate, is_markdown } = plan_of_model(model);
    let texts = if is_markdown { markdown::pieces(pieces as usize) } else { Vec::new() };
    let texts: Vec<String> = texts.iter().map(|text| json_string(text)).collect();
    let start = Instant::now();
    let before = format!(
        r#"data: {{"id":"mock-1","object":"chat.completion.chunk","created":1,"model":"{model}","choices":[{{"index":0,"delta":{{"content":""#
    );
    let mut piece = 0;
    while piece < pieces {
        let together = if rate > 0.0 { 1 } else { TOGETHER.min(pieces - piece) };
        if rate > 0.0 {
            sleep_until(start + Duration::from_secs_f64(piece as f64 / rate)).await;
        }
        let mut out = String::with_capacity(together as usize * 256);
        for index in piece..piece + together {
            // Writing to a string cannot fail.
            let _ = match texts.get(index as usize) {
                Some(text) => write!(out, "{before}{text}{AFTER}"),
                None => write!(out, "{before}w{index}:{} {AFTER}", stamp::now_nanos()),
            };
        }
        sender.send_data(Bytes::from(out)).await.ok()?;
        piece += together;
    }
    let end = format!(
        "data: {{\"id\":\"mock-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"{model}\",\"choices\":[{{\"index\":0,\"delta\":{{}},\
         \"finish_reason\":\"stop\"}}],\"usage\":{{\"prompt_tokens\":9,\"completion_tokens\":{pieces},\"total_tokens\":{}}}}}\n\ndata: [DONE]\n\n",
        pieces + 9
    );
    sender.send_data(Bytes::from(end)).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_name_configures_stream() {
        assert_eq!(plan_of_model("mock-200-50"), StreamPlan { pieces: 200, rate: 50.0, is_markdown: false });
        assert_eq!(plan_of_model("openai/mock-20000-0"), StreamPlan { pieces: 20_000, rate: 0.0, is_markdown: false });
        assert_eq!(plan_of_model("mock-3000-200-md"), StreamPlan { pieces: 3_000, rate: 200.0, is_markdown: true });
        assert_eq!(plan_of_model("mock-999999999-0").pieces, PIECES_MAX);
    }
}
