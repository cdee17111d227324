//! A client of the HTTP API: the requests of an honest script, and a follower that records when it was shown which
//! text.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The time after which an honest request counts as lost.
const REQUEST: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct ChatClient {
    base: String,
    http: reqwest::Client,
}

/// A response: the status and the JSON, or `null` where the body is no JSON.
pub type JsonResponse = Result<(u16, Value), reqwest::Error>;

impl ChatClient {
    pub fn new(address: SocketAddr) -> Self {
        // An error only means that the process has installed the provider before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().retry(reqwest::retry::never()).build().unwrap();
        Self { base: format!("http://{address}"), http }
    }

    pub async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> JsonResponse {
        let method = method.parse().unwrap();
        let mut request = self.http.request(method, format!("{}{path}", self.base)).timeout(REQUEST);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
    }

    pub async fn get(&self, path: &str) -> JsonResponse {
        self.call("GET", path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> JsonResponse {
        self.call("POST", path, Some(body)).await
    }

    /// Creates a chat with this provider. Returns its id.
    pub async fn create_chat(&self, provider: &str) -> String {
        let (status, chat) = self.post("/api/chats", &json!({ "provider": provider, "model": "m" })).await.unwrap();
        assert_eq!(status, 201, "{chat}");
        chat["id"].as_str().unwrap().to_owned()
    }

    /// Sends a message, below the given turn if there is one.
    pub async fn send_message(&self, chat: &str, message: &OutgoingMessage) -> JsonResponse {
        let mut body = json!({ "text": message.text, "client_request_id": message.key });
        if let Some(previous) = &message.previous {
            body["prev_turn_id"] = json!(previous);
        }
        self.post(&format!("/api/chats/{chat}/turns"), &body).await
    }

    /// Sends a message that must be accepted. Returns the id of the reply.
    pub async fn send_and_get_reply_id(&self, chat: &str, message: &OutgoingMessage) -> String {
        let (status, started) = self.send_message(chat, message).await.unwrap();
        assert!(matches!(status, 200 | 201), "{status} {started}");
        started["assistant_turn"]["id"].as_str().unwrap().to_owned()
    }

    pub async fn get_turn(&self, id: &str) -> JsonResponse {
        self.get(&format!("/api/turns/{id}")).await
    }

    /// Waits until the turn has ended. Returns its last state, also when the time is up.
    pub async fn wait_until_ended(&self, id: &str, within: Duration) -> Value {
        let until = Instant::now() + within;
        let mut turn = Value::Null;
        loop {
            if let Ok((200, read)) = self.get_turn(id).await {
                turn = read;
                if is_over(&turn) {
                    return turn;
                }
            }
            if Instant::now() >= until {
                return turn;
            }
            // The stream ends with the turn. If the stream breaks, the client waits for a moment and asks again.
            let followed = tokio::time::timeout_at(until, self.follow_reply(id).wait_for_end()).await;
            if !followed.is_ok_and(|shown| shown.is_over) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// Follows a reply in its own task.
    pub fn follow_reply(&self, id: &str) -> ReplyFollower {
        let shown = Arc::new(Mutex::new(FollowedReply::default()));
        let request = self.http.get(format!("{}/api/turns/{id}/events", self.base));
        let writes = shown.clone();
        let task = tokio::spawn(async move {
            let Ok(answer) = request.send().await else { return };
            let mut body = answer.bytes_stream();
            let mut waiting = Vec::new();
            while let Some(Ok(bytes)) = body.next().await {
                waiting.extend_from_slice(&bytes);
                while let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = waiting.drain(..=end).collect();
                    let event = line.strip_prefix(b"data: ").and_then(|event| serde_json::from_slice(event).ok());
                    if let Some(event) = event {
                        writes.lock().unwrap_or_else(PoisonError::into_inner).record_event(&event);
                    }
                }
            }
        });
        ReplyFollower { shown, task }
    }
}

/// A message to send.
#[derive(Debug, Clone)]
pub struct OutgoingMessage {
    pub text: String,
    pub key: String,
    pub previous: Option<String>,
}

impl OutgoingMessage {
    pub fn new(text: &str, previous: Option<String>) -> Self {
        let key = turnleaf_platform::ids::mint::<uuid::Uuid>().to_string();
        Self { text: text.into(), key, previous }
    }
}

/// The recorded events of a followed reply.
#[derive(Debug, Default, Clone)]
pub struct FollowedReply {
    pub text: String,
    /// The length of the text after each event.
    growth: Vec<(Instant, usize)>,
    pub events: Vec<Value>,
    pub is_over: bool,
}

impl FollowedReply {
    fn record_event(&mut self, event: &Value) {
        match event["type"].as_str() {
            Some("block_delta") => self.text.push_str(event["text"].as_str().unwrap_or_default()),
            Some("block_start") if is_reply_text(&event["block"]) => {
                self.text.push_str(event["block"]["text"].as_str().unwrap_or_default());
            }
            Some("turn_end") => self.is_over = true,
            _ => {}
        }
        self.growth.push((Instant::now(), self.text.len()));
        if event["type"] != "block_delta" {
            self.events.push(event.clone());
        }
    }

    /// Returns the text that had been shown by this time.
    pub fn text_shown_by(&self, time: Instant) -> &str {
        let length = self.growth.iter().take_while(|(at, _)| *at <= time).last().map_or(0, |(_, length)| *length);
        &self.text[..length]
    }

    /// Returns the age, at this time, of the event that extended the text beyond this length.
    pub fn age_of(&self, length: usize, time: Instant) -> Duration {
        let passed = self.growth.iter().find(|(_, grown)| *grown > length);
        passed.map_or(Duration::ZERO, |(at, _)| time.saturating_duration_since(*at))
    }
}

pub struct ReplyFollower {
    shown: Arc<Mutex<FollowedReply>>,
    task: JoinHandle<()>,
}

impl ReplyFollower {
    /// Returns the record so far.
    pub fn snapshot(&self) -> FollowedReply {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the record after the stream has ended.
    pub async fn wait_for_end(mut self) -> FollowedReply {
        let _ = (&mut self.task).await;
        self.snapshot()
    }
}

impl Drop for ReplyFollower {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub fn is_over(turn: &Value) -> bool {
    matches!(turn["status"].as_str(), Some("complete" | "cancelled" | "error"))
}

fn is_reply_text(block: &Value) -> bool {
    block["type"] == "text" && block["is_error"] != true && block["author"] != "system"
}

/// Returns the model's text in a turn.
pub fn text_of(turn: &Value) -> String {
    let blocks = turn["blocks"].as_array().into_iter().flatten().filter(|block| is_reply_text(block));
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

/// Returns the failure code of a turn, or an empty string.
pub fn failure_code_of(turn: &Value) -> &str {
    turn["error"]["kind"].as_str().unwrap_or_default()
}
