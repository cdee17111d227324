//! The encoder of a stream, and the events that it encodes.

use std::fmt::Write as _;

use axum::body::Bytes;

use crate::domain::TurnId;
use crate::domain::turns::frame::StreamSignal;
use turnleaf_service::{EventLine, FollowerItem};

/// An event for a client, before it is encoded.
pub enum OutgoingEvent {
    Followed(FollowerItem),
    Signal(StreamSignal),
}

/// Encodes the events of one connection.
pub trait EventEncoder: Send {
    const CONTENT_TYPE: &'static str;
    fn opening_bytes(&self) -> Option<Bytes>;
    /// Returns the last bytes of a stream that is displaced, because its client opened too many others.
    fn displaced_bytes(&self) -> Option<Bytes>;
    fn encode(&mut self, outgoing: OutgoingEvent) -> Option<Bytes>;
}

/// Writes an event with its turn and number, as one JSON object.
pub fn write_event_json(json: &mut String, turn: TurnId, line: &EventLine) {
    let fields = line.json.strip_prefix('{').unwrap_or("}");
    // Writing into a string cannot fail.
    let _ = write!(json, r#"{{"turn_id":"{turn}","seq":{},{fields}"#, line.seq);
}
