//! Frames: what travels to a follower of a turn. Shared by the server that writes them and the browser that reads them.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::id::{BlockId, TurnId};
use crate::turn::Turn;

/// One line of a turn's event stream. SSE carries `seq` as `id: <turn>:<seq>`, NDJSON inside the object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "nearly every frame is an event, and a frame lives for one call")]
pub enum Frame {
    /// A fact of the journal.
    Event {
        turn_id: TurnId,
        seq: u64,
        #[serde(flatten)]
        event: Event,
    },
    Other(Signal),
}

/// What is said outside the journal: it has no number and is not replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Signal {
    /// The follower's cursor means nothing here; this replaces all it has.
    Snapshot {
        turn: Box<Turn>,
    },
    /// The server's own rendering of a finished block, where it knows more than the browser (colours of code, math).
    Markup {
        block_id: BlockId,
        parts: Vec<String>,
    },
    Heartbeat {
        now: chrono::DateTime<chrono::Utc>,
    },
}

impl Frame {
    /// The frame's name on the wire (SSE `event:`).
    pub fn name(&self) -> &str {
        match self {
            Self::Event { event, .. } => event.name(),
            Self::Other(signal) => signal.name(),
        }
    }
}

impl Signal {
    /// All names that `name` gives.
    pub const NAMES: [&str; 3] = ["snapshot", "markup", "heartbeat"];

    /// The signal's name on the wire (SSE `event:`).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "snapshot",
            Self::Markup { .. } => "markup",
            Self::Heartbeat { .. } => "heartbeat",
        }
    }
}

/// Where a follower is: `<turn>:<seq>` in `Last-Event-ID`, or a bare number in `?after=`.
pub fn parse_cursor(text: &str, turn: TurnId) -> Option<u64> {
    let seq = match text.split_once(':') {
        Some((id, seq)) if id == turn.to_string() => seq,
        Some(_) => return None,
        None => text,
    };
    // `u64::from_str` also takes a leading plus.
    if seq.is_empty() || !seq.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    seq.parse().ok()
}

/// The SSE id of an event.
pub fn cursor(turn: TurnId, seq: u64) -> String {
    format!("{turn}:{seq}")
}

#[cfg(test)]
mod tests;
