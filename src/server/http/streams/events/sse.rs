//! Server-sent events: the event's name, its cursor as id, its JSON as data.

use axum::body::Bytes;

use crate::domain::TurnId;
use crate::domain::frame::{Signal, cursor};
use crate::server::http::streams::events::encoder::{Encoder, Outgoing, framed};
use turnleaf_service::Followed;

/// How soon a browser comes back after a lost connection, in milliseconds.
const RETRY_MS: u32 = 500;
/// How soon one comes back whose client follows too much: at once, it would only displace another stream of its own.
const DISPLACED_RETRY_MS: u32 = 30_000;

pub struct Sse {
    turn: TurnId,
}

impl Sse {
    pub fn of(turn: TurnId) -> Self {
        Self { turn }
    }
}

impl Encoder for Sse {
    const CONTENT_TYPE: &'static str = "text/event-stream";

    fn opening(&self) -> Option<Bytes> {
        Some(format!("retry: {RETRY_MS}\n\n").into())
    }

    fn displaced(&self) -> Option<Bytes> {
        Some(format!("retry: {DISPLACED_RETRY_MS}\n\n").into())
    }

    fn encode(&mut self, outgoing: Outgoing) -> Option<Bytes> {
        // JSON has no raw line ends, so one `data:` line always holds it.
        let text = match outgoing {
            Outgoing::Followed(Followed::Line(line)) => {
                let id = cursor(self.turn, line.seq);
                format!("id: {id}\nevent: {}\ndata: {}\n\n", line.name(), framed(self.turn, &line))
            }
            Outgoing::Followed(Followed::Snapshot(turn)) => {
                let id = cursor(self.turn, turn.last_event_seq);
                let signal = Signal::Snapshot { turn };
                format!("id: {id}\nevent: snapshot\ndata: {}\n\n", json(&signal))
            }
            Outgoing::Signal(signal) => {
                let name = match signal {
                    Signal::Snapshot { .. } => "snapshot",
                    Signal::Markup { .. } => "markup",
                    Signal::Heartbeat { .. } => "heartbeat",
                };
                format!("event: {name}\ndata: {}\n\n", json(&signal))
            }
        };
        Some(text.into())
    }
}

fn json(signal: &Signal) -> String {
    serde_json::to_string(signal).unwrap_or_else(|_| "{}".into())
}
