//! Messages from WebSocket clients, and their rate limit.

use serde::Deserialize;
use tokio::time::Instant;

use crate::domain::{ModelParams, limits};
use crate::server::http::request::json;
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::messages::MessageBlock;

/// A message from a client.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SocketClientMessage {
    /// A message to the model, at the end of the path that the connection follows.
    Message {
        content: SocketMessageContent,
        provider: Option<String>,
        model: Option<String>,
        #[serde(default)]
        params: ModelParams,
        client_request_id: Option<String>,
    },
    /// Stops the reply.
    Cancel {},
}

/// A text, or blocks.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`content` must be a string or a list of blocks")]
pub enum SocketMessageContent {
    Text(String),
    Blocks(Vec<MessageBlock>),
}

impl From<SocketMessageContent> for Vec<MessageBlock> {
    fn from(content: SocketMessageContent) -> Self {
        match content {
            SocketMessageContent::Text(text) => vec![MessageBlock::Text { text }],
            SocketMessageContent::Blocks(blocks) => blocks,
        }
    }
}

/// Parses a message as strictly as a body.
pub fn parse_client_message(text: &str) -> Result<SocketClientMessage, Problem> {
    json::parse(text.as_bytes())
}

/// Token bucket for the messages of a client: a burst, then a number per second.
#[derive(Debug)]
pub struct MessageRateLimit {
    left: f64,
    at: Instant,
}

impl MessageRateLimit {
    pub fn new() -> Self {
        Self { left: limits::SOCKET_BURST, at: Instant::now() }
    }

    /// Takes a token; false if none is left.
    pub fn try_take(&mut self) -> bool {
        let now = Instant::now();
        let grown = self.left + (now - self.at).as_secs_f64() * limits::SOCKET_MESSAGES_A_SECOND;
        self.at = now;
        self.left = grown.min(limits::SOCKET_BURST);
        let is_allowed = self.left >= 1.0;
        if is_allowed {
            self.left -= 1.0;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn burst_is_allowed_and_then_few_messages_per_second() {
        let mut allowance = MessageRateLimit::new();
        let taken = (0..1000).take_while(|_| allowance.try_take()).count();
        assert_eq!(taken as f64, limits::SOCKET_BURST);
        tokio::time::advance(Duration::from_secs(1)).await;
        let taken = (0..1000).take_while(|_| allowance.try_take()).count();
        assert_eq!(taken as f64, limits::SOCKET_MESSAGES_A_SECOND);
        tokio::time::advance(Duration::from_secs(3600)).await;
        let taken = (0..1000).take_while(|_| allowance.try_take()).count();
        assert_eq!(taken as f64, limits::SOCKET_BURST, "what was not used does not pile up");
    }

    #[test]
    fn messages_are_read_as_strictly_as_bodies() {
        for good in [
            r#"{"type":"message","content":"hi"}"#,
            r#"{"type":"message","content":[{"type":"text","text":"hi"}],"params":{"temperature":0.5}}"#,
            r#"{"type":"cancel"}"#,
        ] {
            assert!(parse_client_message(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "hello",
            "[]",
            "null",
            "{}",
            r#"{"type":"subscribe"}"#,
            r#"{"type":"message"}"#,
            r#"{"type":"message","content":1}"#,
            r#"{"type":"message","content":"hi","colour":"red"}"#,
            r#"{"type":"message","content":"hi","content":"ho"}"#,
            r#"{"type":"cancel","turn_id":"x"}"#,
        ] {
            assert!(parse_client_message(bad).is_err(), "{bad}");
        }
    }
}
