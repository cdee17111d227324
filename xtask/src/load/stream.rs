//! Following of replies from the request to the end, one or many at once.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::{sleep_until, timeout};

use crate::client::LoopbackClient;
use crate::stamp::{self, StampScanner};

/// The time limit of a reply.
const LIMIT: Duration = Duration::from_secs(120);

/// The source of a reply.
#[derive(Debug, Clone)]
pub enum ReplySource {
    /// A model server, or a relay.
    Model(SocketAddr),
    /// Turnleaf, in an existing chat, or in one that is created as part of the measurement.
    Turnleaf { address: SocketAddr, chat: Option<String> },
}

/// The timing of one reply.
#[derive(Default)]
pub struct ReplyTiming {
    /// Nanoseconds from the first request to the first piece; 0 if there was none.
    pub first_after: u64,
    first_at: u64,
    last_at: u64,
    last_sent: u64,
    /// Nanoseconds from the model server's last piece to the end of the stream; 0 if there was none.
    pub ended_after: u64,
    pub pieces: u64,
    /// The bytes of the text of the pieces.
    pub text_bytes: u64,
    /// Microseconds from sending to receiving, for every piece.
    latencies: Vec<u32>,
    /// The id of Turnleaf's turn.
    pub turn: Option<String>,
    /// All received bytes.
    pub bytes: Vec<u8>,
    pub failure: Option<String>,
}

/// Creates a chat for a model and returns its id.
///
/// # Errors
/// Turnleaf refuses the request.
pub async fn make_chat(client: &mut LoopbackClient, model: &str) -> Result<String> {
    let body = json!({ "title": "bench", "provider": "openai", "model": model });
    let chat = client.json(Method::POST, "/api/chats", Some(&body)).await?;
    let id = chat["id"].as_str().or_else(|| chat["chat"]["id"].as_str());
    Ok(id.context("a new chat has no id")?.to_owned())
}

/// Sends a message and returns the id of the reply's turn.
///
/// # Errors
/// Turnleaf refuses the request.
pub async fn send_message(client: &mut LoopbackClient, chat: &str, model: &str) -> Result<String> {
    let body = json!({ "text": "Count.", "provider": "openai", "model": model });
    let made = client.json(Method::POST, &format!("/api/chats/{chat}/turns"), Some(&body)).await?;
    Ok(made["assistant_turn"]["id"].as_str().context("a new exchange has no assistant_turn.id")?.to_owned())
}

/// Follows one reply to its end. A failure is part of the result.
pub async fn follow_reply(source: ReplySource, model: String) -> ReplyTiming {
    let mut reply = ReplyTiming::default();
    let failure = match timeout(LIMIT, read(source, &model, &mut reply)).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{error:#}")),
        Err(_) => Some("took too long".to_owned()),
    };
    reply.failure = failure;
    reply
}

async fn read(source: ReplySource, model: &str, reply: &mut ReplyTiming) -> Result<()> {
    let start = stamp::now_nanos();
    let (client, body) = open(source, model, &mut reply.turn).await?;
    let read = read_stream(body, start, reply).await;
    // The connection must live as long as its body.
    drop(client);
    read
}

async fn open(source: ReplySource, model: &str, turn: &mut Option<String>) -> Result<(LoopbackClient, Incoming)> {
    match source {
        ReplySource::Model(address) => {
            let mut client = LoopbackClient::connect(address).await?;
            let body = json!({ "model": model, "stream": true, "messages": [{ "role": "user", "content": "Count." }] });
            let answer = client.send(Method::POST, "/v1/chat/completions", Some(&body)).await?;
            Ok((client, answer.into_body()))
        }
        ReplySource::Turnleaf { address, chat } => {
            let mut client = LoopbackClient::connect(address).await?;
            let chat = match chat {
                Some(chat) => chat,
                None => make_chat(&mut client, model).await?,
            };
            let id = send_message(&mut client, &chat, model).await?;
            let answer = client.send(Method::GET, &format!("/api/turns/{id}/events"), None).await?;
            *turn = Some(id);
            Ok((client, answer.into_body()))
        }
    }
}

async fn read_stream(mut body: Incoming, start: u64, reply: &mut ReplyTiming) -> Result<()> {
    let mut scanner = StampScanner::default();
    while let Some(frame) = body.frame().await {
        let Ok(bytes) = frame?.into_data() else { continue };
        let now = stamp::now_nanos();
        scanner.feed(&bytes, |stamp| {
            if reply.first_at == 0 {
                reply.first_at = now;
                reply.first_after = now.saturating_sub(start);
            }
            reply.pieces += 1;
            reply.text_bytes += stamp.text_bytes();
            reply.last_sent = stamp.sent;
            reply.latencies.push(u32::try_from(now.saturating_sub(stamp.sent) / 1000).unwrap_or(u32::MAX));
        });
        reply.last_at = now;
        reply.bytes.extend_from_slice(&bytes);
    }
    if reply.pieces > 0 {
        reply.ended_after = stamp::now_nanos().saturating_sub(reply.last_sent);
    }
    Ok(())
}

/// Returns the text that the events of a followed reply add up to.
pub fn text_of_events(bytes: &[u8]) -> String {
    let lines = String::from_utf8_lossy(bytes);
    let events =
        lines.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data:")?.trim()).ok());
    events.filter(|event| event["type"] == "block_delta").filter_map(|e| Some(e["text"].as_str()?.to_owned())).collect()
}

/// The timing of many replies together.
pub struct ReplySample {
    firsts: Vec<u32>,
    latencies: Vec<u32>,
    pub pieces: u64,
    /// The bytes of the shown text.
    pub text_bytes: u64,
    /// Seconds from the first piece of any reply to the last of any.
    pub span: f64,
    pub failures: Vec<String>,
}

impl ReplySample {
    pub fn from_replies(replies: Vec<ReplyTiming>) -> Self {
        let mut sample =
            Self { firsts: vec![], latencies: vec![], pieces: 0, text_bytes: 0, span: 0.0, failures: vec![] };
        let (mut first, mut last) = (u64::MAX, 0);
        for reply in replies {
            if reply.pieces > 0 {
                sample.firsts.push(u32::try_from(reply.first_after / 1000).unwrap_or(u32::MAX));
                first = first.min(reply.first_at);
                last = last.max(reply.last_at);
            }
            sample.pieces += reply.pieces;
            sample.text_bytes += reply.text_bytes;
            sample.latencies.extend(reply.latencies);
            sample.failures.extend(reply.failure);
        }
        sample.span = last.saturating_sub(first) as f64 / 1e9;
        sample.firsts.sort_unstable();
        sample.latencies.sort_unstable();
        sample
    }

    /// Returns a quantile of the time to the first piece in milliseconds.
    pub fn first_piece_latency(&self, quantile: f64) -> f64 {
        quantile_of(&self.firsts, quantile)
    }

    /// Returns a quantile of the latency of pieces in milliseconds.
    pub fn piece_latency(&self, quantile: f64) -> f64 {
        quantile_of(&self.latencies, quantile)
    }

    /// Returns the pieces per second of all replies together.
    pub fn pieces_per_second(&self) -> f64 {
        self.pieces as f64 / self.span
    }
}

/// Returns a quantile of sorted microseconds in milliseconds; NaN if there are none.
fn quantile_of(sorted: &[u32], quantile: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * quantile).round() as usize).map_or(f64::NAN, |us| f64::from(*us) / 1000.0)
}

/// Follows `count` replies whose starts are spread evenly over `ramp`.
pub async fn follow_many(source: &ReplySource, model: &str, count: u32, ramp: Duration) -> ReplySample {
    let start = tokio::time::Instant::now();
    let mut tasks = Vec::new();
    for index in 0..count {
        sleep_until(start + ramp * index / count).await;
        tasks.push(tokio::spawn(follow_reply(source.clone(), model.to_owned())));
    }
    let mut replies = Vec::new();
    for task in tasks {
        replies.push(
            task.await.unwrap_or_else(|_| ReplyTiming { failure: Some("lost".to_owned()), ..ReplyTiming::default() }),
        );
    }
    ReplySample::from_replies(replies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_of_empty_sample_is_nan() {
        assert!(quantile_of(&[], 0.5).is_nan());
        assert_eq!(quantile_of(&[1000, 2000, 3000], 0.5), 2.0);
        assert_eq!(quantile_of(&[1000, 2000, 3000], 1.0), 3.0);
    }

    #[tokio::test]
    async fn reply_is_complete_directly_and_through_relay() {
        let model_server = crate::mock::start().await.unwrap();
        let relay = crate::relay::start_relay(model_server).await.unwrap();
        for address in [model_server, relay] {
            for model in ["mock-40-400", "mock-4000-0"] {
                let reply = follow_reply(ReplySource::Model(address), model.to_owned()).await;
                assert_eq!(reply.failure, None);
                let indexes: Vec<u64> =
                    stamp::stamps(&String::from_utf8_lossy(&reply.bytes)).iter().map(|s| s.index).collect();
                assert_eq!(indexes.len() as u64, reply.pieces);
                assert!(indexes.iter().copied().eq(0..reply.pieces), "{model}: {indexes:?}");
            }
        }
    }

    #[test]
    fn event_text_is_concatenation_of_deltas() {
        let events = "event: block_delta\ndata: {\"type\":\"block_delta\",\"text\":\"a\"}\n\n: beat\n\ndata: {\"type\":\"turn_end\"}\n\n\
                      data: {\"type\":\"block_delta\",\"text\":\"b\"}\n\n";
        assert_eq!(text_of_events(events.as_bytes()), "ab");
    }
}
