//! Stream frames for followers of a turn, shared by the server that writes them and the browser that reads them.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Error, Value};

use crate::encoding::json_reader::{JsonMembers, deserialize_members, from_value, unknown_variant};
use crate::id::{BlockId, TurnId};
use crate::turns::event::Event;
use crate::turns::turn::Turn;

/// One frame of a turn's event stream. SSE carries `seq` as `id: <turn>:<seq>`, NDJSON inside the object.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "nearly every frame is an event, and a frame lives for one call")]
pub enum StreamFrame {
    /// An event of the journal.
    Event {
        turn_id: TurnId,
        seq: u64,
        #[serde(flatten)]
        event: Event,
    },
    Other(StreamSignal),
}

/// A signal outside of the journal. It has no number and is not replayed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamSignal {
    /// The follower's cursor is unusable here. The snapshot replaces its whole state.
    Snapshot {
        turn: Box<Turn>,
    },
    /// The server's rendering of a finished block, if it is better than the browser's (syntax colors, formulas).
    Markup {
        block_id: BlockId,
        parts: Vec<String>,
    },
    Heartbeat {
        now: chrono::DateTime<chrono::Utc>,
    },
}

/// Parses a frame. Only events have both `turn_id` and `seq`.
fn parse_frame(mut value: Value) -> Result<StreamFrame, Error> {
    let mut take = |name| value.as_object_mut().and_then(|members| members.shift_remove(name));
    match (take("turn_id"), take("seq")) {
        (Some(turn_id), Some(seq)) => Ok(StreamFrame::Event {
            turn_id: from_value(&turn_id)?,
            seq: from_value(&seq)?,
            event: Event::try_from(value)?,
        }),
        _ => parse_signal(&JsonMembers(&value)).map(StreamFrame::Other),
    }
}

impl<'de> Deserialize<'de> for StreamFrame {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        parse_frame(Value::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn parse_signal(signal: &JsonMembers<'_>) -> Result<StreamSignal, Error> {
    Ok(match signal.tag("type")? {
        "snapshot" => StreamSignal::Snapshot { turn: signal.get("turn")? },
        "markup" => StreamSignal::Markup { block_id: signal.get("block_id")?, parts: signal.get("parts")? },
        "heartbeat" => StreamSignal::Heartbeat { now: signal.get("now")? },
        other => return Err(unknown_variant(other)),
    })
}

impl<'de> Deserialize<'de> for StreamSignal {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from, parse_signal)
    }
}

impl StreamFrame {
    /// Returns the frame's name on the wire (SSE `event:`).
    pub fn name(&self) -> &str {
        match self {
            Self::Event { event, .. } => event.name(),
            Self::Other(signal) => signal.name(),
        }
    }
}

impl StreamSignal {
    /// All names that `name` returns.
    pub const NAMES: [&str; 3] = ["snapshot", "markup", "heartbeat"];

    /// Returns the signal's name on the wire (SSE `event:`).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "snapshot",
            Self::Markup { .. } => "markup",
            Self::Heartbeat { .. } => "heartbeat",
        }
    }
}

/// Parses a follower's cursor: `<turn>:<seq>` in `Last-Event-ID`, or a bare number in `?after=`.
pub fn parse_cursor(text: &str, turn: TurnId) -> Option<u64> {
    let seq = match text.split_once(':') {
        Some((id, seq)) if id == turn.to_string() => seq,
        Some(_) => return None,
        None => text,
    };
    // `u64::from_str` would also accept a leading plus.
    if seq.is_empty() || !seq.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    seq.parse().ok()
}

/// Returns the SSE id of an event.
pub fn format_cursor(turn: TurnId, seq: u64) -> String {
    format!("{turn}:{seq}")
}

#[cfg(test)]
mod tests;
