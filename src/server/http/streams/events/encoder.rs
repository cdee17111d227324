//! How one connection is encoded, and what it is sent.

use axum::body::Bytes;

use crate::domain::TurnId;
use crate::domain::frame::StreamSignal;
use turnleaf_service::{EventLine, FollowerItem};

/// What a follower is sent, before it is encoded.
pub enum OutgoingEvent {
    Followed(FollowerItem),
    Signal(StreamSignal),
}

/// How one connection is encoded.
pub trait EventEncoder: Send {
    const CONTENT_TYPE: &'static str;
    fn opening_bytes(&self) -> Option<Bytes>;
    /// The last bytes for a client that has to close this stream, because it opened too many others.
    fn displaced_bytes(&self) -> Option<Bytes>;
    fn encode(&mut self, outgoing: OutgoingEvent) -> Option<Bytes>;
}

/// An event with its turn and number, as one JSON object.
pub fn event_json(turn: TurnId, line: &EventLine) -> String {
    let fields = line.json.strip_prefix('{').unwrap_or("}");
    format!(r#"{{"turn_id":"{turn}","seq":{},{fields}"#, line.seq)
}
