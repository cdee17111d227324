//! A script-like client of Turnleaf's public HTTP API (`docs/reference/api.md 3`): chats, messages, events to the end
//! of a reply.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::http;

/// The longest silence within an event stream. Heartbeats arrive every 15 s, so only a server that hangs is silent
/// longer.
const SILENCE: Duration = Duration::from_secs(45);

/// A client of one server.
pub struct PeerClient {
    pub address: SocketAddr,
}

/// A reply that has ended.
#[derive(Debug)]
pub struct EndedReply {
    pub turn: Value,
    /// The numbers of the announced attempts.
    pub attempts: Vec<u64>,
}

impl PeerClient {
    /// Creates a chat with this model and requests reasoning.
    ///
    /// # Errors
    /// The request is refused.
    pub fn create_chat(&self, provider: &str, model: &str) -> Result<String> {
        let body = json!({ "provider": provider, "model": model, "params": { "thinking": "high" } });
        Ok(text(&self.post("/api/chats", &body)?["id"]))
    }

    /// Sends a message and waits until the reply has ended.
    ///
    /// # Errors
    /// The request is refused, or the reply does not end.
    pub fn send_message(&self, chat: &str, words: &str) -> Result<EndedReply> {
        self.wait_for_end(&self.post(&format!("/api/chats/{chat}/turns"), &json!({ "text": words }))?)
    }

    /// Requests another version of a reply and waits until it has ended.
    ///
    /// # Errors
    /// Same as [`PeerClient::send_message`].
    pub fn retry_reply(&self, reply: &EndedReply) -> Result<EndedReply> {
        self.wait_for_end(&self.post(&format!("/api/turns/{}/retry", reply.id()), &json!({}))?)
    }

    /// Returns the current state of a reply.
    ///
    /// # Errors
    /// The reply does not exist.
    pub fn get_turn(&self, id: &str) -> Result<Value> {
        read(&http::get(self.address, &format!("/api/turns/{id}"), "identity")?)
    }

    fn wait_for_end(&self, started: &Value) -> Result<EndedReply> {
        let id = text(&started["assistant_turn"]["id"]);
        let stream = http::get_event_stream(self.address, &format!("/api/turns/{id}/events"), SILENCE)?.text();
        let events: Vec<Value> = stream
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|data| serde_json::from_str(data).with_context(|| format!("an event is no JSON: {data}")))
            .collect::<Result<_>>()?;
        let is_over = events.last().is_some_and(|event| event["type"] == "turn_end");
        ensure!(is_over, "the events of a reply end without its ending:\n{stream}");
        let attempts = events.iter().filter(|event| event["type"] == "attempt");
        let attempts = attempts.filter_map(|event| event["number"].as_u64()).collect();
        Ok(EndedReply { turn: self.get_turn(&id)?, attempts })
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        read(&http::post(self.address, path, body)?).with_context(|| path.to_owned())
    }
}

impl EndedReply {
    pub fn id(&self) -> String {
        text(&self.turn["id"])
    }

    /// Returns the status of the turn, or the kind of its failure.
    pub fn ending(&self) -> String {
        match &self.turn["error"]["kind"] {
            Value::String(kind) => kind.clone(),
            _ => text(&self.turn["status"]),
        }
    }

    /// Returns the types of the blocks, in order; an error text is `error`.
    pub fn blocks(&self) -> Vec<&str> {
        self.all_blocks()
            .map(|block| if is_error(block) { "error" } else { block["type"].as_str().unwrap_or("?") })
            .collect()
    }

    /// Returns the text of the blocks of this type.
    pub fn text_of_blocks(&self, kind: &str) -> String {
        self.all_blocks()
            .filter(|block| block["type"] == kind && !is_error(block))
            .map(|block| text(&block[kind]))
            .collect()
    }

    fn all_blocks(&self) -> impl Iterator<Item = &Value> {
        self.turn["blocks"].as_array().into_iter().flatten()
    }
}

fn is_error(block: &Value) -> bool {
    block["type"] == "text" && block["is_error"] == true
}

fn read(answer: &http::HttpResponse) -> Result<Value> {
    ensure!((200..300).contains(&answer.status), "answered with {}: {}", answer.status, answer.text());
    Ok(serde_json::from_slice(&answer.body)?)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
