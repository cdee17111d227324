//! How one connection is encoded, and what it is sent.

use axum::body::Bytes;

use crate::domain::TurnId;
use crate::domain::frame::Signal;
use turnleaf_service::{Followed, Line};

/// What a follower is sent, before it is encoded.
pub enum Outgoing {
    Followed(Followed),
    Signal(Signal),
}

/// How one connection is encoded.
pub trait Encoder: Send {
    const CONTENT_TYPE: &'static str;
    fn opening(&self) -> Option<Bytes>;
    /// The last bytes for a client that has to close this stream, because it opened too many others.
    fn displaced(&self) -> Option<Bytes>;
    fn encode(&mut self, outgoing: Outgoing) -> Option<Bytes>;
}

/// An event with its turn and number, as one JSON object.
pub fn framed(turn: TurnId, line: &Line) -> String {
    let fields = line.json.strip_prefix('{').unwrap_or("}");
    format!(r#"{{"turn_id":"{turn}","seq":{},{fields}"#, line.seq)
}
