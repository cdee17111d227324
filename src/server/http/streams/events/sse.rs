//! Server-sent events: the name of an event, its cursor as id, and its JSON as data.

use std::fmt::Write as _;

use axum::body::Bytes;

use crate::domain::TurnId;
use crate::domain::turns::frame::{StreamSignal, format_cursor};
use crate::server::http::streams::events::encoder::{EventEncoder, OutgoingEvent, write_event_json};
use crate::server::http::streams::stream_response::{DISPLACED_RETRY_MS, RETRY_MS};
use turnleaf_service::FollowerItem;

/// The length of an event without its own members.
const EVENT_BYTES: usize = 160;

pub struct SseEncoder {
    turn: TurnId,
}

impl SseEncoder {
    pub fn new(turn: TurnId) -> Self {
        Self { turn }
    }
}

impl EventEncoder for SseEncoder {
    const CONTENT_TYPE: &'static str = "text/event-stream";

    fn opening_bytes(&self) -> Option<Bytes> {
        Some(format!("retry: {RETRY_MS}\n\n").into())
    }

    fn displaced_bytes(&self) -> Option<Bytes> {
        Some(format!("retry: {DISPLACED_RETRY_MS}\n\n").into())
    }

    fn encode(&mut self, outgoing: OutgoingEvent) -> Option<Bytes> {
        // JSON contains no raw line ends, so one `data:` line always holds it.
        let text = match outgoing {
            OutgoingEvent::Followed(FollowerItem::Line(line)) => {
                let (turn, seq, name) = (self.turn, line.seq, line.name());
                let mut text = String::with_capacity(EVENT_BYTES + line.json.len());
                // Writing into a string cannot fail.
                let _ = write!(text, "id: {turn}:{seq}\nevent: {name}\ndata: ");
                write_event_json(&mut text, turn, &line);
                text.push_str("\n\n");
                text
            }
            OutgoingEvent::Followed(FollowerItem::Snapshot(turn)) => {
                let id = format_cursor(self.turn, turn.last_event_seq);
                let signal = StreamSignal::Snapshot { turn };
                format!("id: {id}\nevent: snapshot\ndata: {}\n\n", json(&signal))
            }
            OutgoingEvent::Signal(signal) => {
                let name = match signal {
                    StreamSignal::Snapshot { .. } => "snapshot",
                    StreamSignal::Markup { .. } => "markup",
                    StreamSignal::Heartbeat { .. } => "heartbeat",
                };
                format!("event: {name}\ndata: {}\n\n", json(&signal))
            }
        };
        Some(text.into())
    }
}

fn json(signal: &StreamSignal) -> String {
    serde_json::to_string(signal).unwrap_or_else(|_| "{}".into())
}
