//! A model server that is only timing: the model's name says how many pieces of text come, and how many a second.
//! `mock-200-50` sends 200 pieces at 50 a second, `mock-20000-0` sends 20,000 as fast as they are taken, and
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

/// Pieces that travel together when there is no pace, as they do from a server that writes faster than it flushes.
const TOGETHER: u64 = 16;
const PIECES_MAX: u64 = 200_000;
/// What stands behind the text of a piece.
const AFTER: &str = "\"},\"finish_reason\":null}]}\n\n";

/// What a model's name asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StreamPlan {
    pieces: u64,
    /// A second; 0 is no pace.
    rate: f64,
    is_markdown: bool,
}

/// The name of the model that is asked. The rest, of a long chat megabytes, is not taken apart: that would be measured too.
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
            // A connection that its client leaves is an ordinary ending.
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

/// A text as it stands between the quotes of JSON.
fn json_string(text: &str) -> String {
    let text = Value::from(text).to_string();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Writes one reply; ends early when the reader leaves.
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
            // Writing into a String cannot fail.
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
