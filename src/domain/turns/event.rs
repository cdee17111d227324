//! Domain events of a reply. The journal stores them and the wire carries them in the same shape
//! (`docs/reference/events.md 2`), so no second format has to be kept in sync. `fold` applies them.

use chrono::{DateTime, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Error, Map, Value};

use crate::blocks::block::{Block, BlockState, Content, ToolStatus};
use crate::encoding::json_bounds;
use crate::encoding::json_reader::{JsonMembers, unknown_variant};
use crate::id::{BlockId, GenerationId};
use crate::messages::failure::Failure;
use crate::turns::turn::{RetryAttempt, TurnStatus};
use crate::usage::cost::Cost;
use crate::usage::token_counts::Usage;

/// An event of a running reply. Events are numbered from 1 without gaps within their turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The turn changed its status. The final status is in `turn_end`.
    TurnStatus {
        status: TurnStatus,
        /// The server's time of the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<DateTime<Utc>>,
    },
    /// A provider call started.
    GenerationStart { generation_id: GenerationId, step: u32, provider: String, model: String },
    /// The provider named the model that actually answers.
    ModelReturned { model: String },
    /// A call failed before any content, and will be retried.
    Attempt(RetryAttempt),
    /// A block was created. Streaming blocks start `open` and empty, others are complete.
    BlockStart { block: Block },
    /// An open block grew by text, reasoning, or raw tool arguments.
    BlockDelta { block_id: BlockId, text: String },
    /// A tool call changed its status. Of a finished block only this, [`Event::CallEdited`] and a second end with a
    /// corrected text change anything.
    BlockUpdate {
        block_id: BlockId,
        status: ToolStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// Merged into the block's metadata key by key; null removes a key.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        metadata: Value,
    },
    /// A person edited the arguments of a call before allowing it. The model's own stay in its metadata.
    CallEdited {
        block_id: BlockId,
        arguments: Value,
        /// The server's time of the edit.
        at: DateTime<Utc>,
    },
    /// A block is finished. `content` is present if it has more than the deltas: parsed arguments, a signature, a
    /// duration. A further end of a finished text or reasoning replaces its content.
    BlockEnd {
        block_id: BlockId,
        state: BlockState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
    },
    /// The usage of one generation. Replaces earlier numbers of that generation.
    Usage { generation_id: GenerationId, usage: Usage },
    /// The reply failed. `turn_end` follows.
    Error(Failure),
    /// The reply is over. The last event of every turn.
    TurnEnd {
        status: TurnStatus,
        usage: Usage,
        /// The cost of the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
        /// The server's time of the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<DateTime<Utc>>,
    },
    /// An event of a newer version. Kept and ignored.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

impl Event {
    /// The names of the events that this version knows.
    pub const NAMES: [&str; 12] = [
        "turn_status",
        "generation_start",
        "model_returned",
        "attempt",
        "block_start",
        "block_delta",
        "block_update",
        "call_edited",
        "block_end",
        "usage",
        "error",
        "turn_end",
    ];

    /// Returns an update of a tool call's status without metadata.
    pub fn tool_update(block_id: BlockId, status: ToolStatus, duration_ms: Option<u64>) -> Self {
        Self::BlockUpdate { block_id, status, duration_ms, metadata: Value::Null }
    }

    /// Limits the JSON values from outside to the bounds within which they can be stored and read back.
    pub fn enforce_bounds(&mut self) {
        match self {
            Self::BlockStart { block } => {
                block.content.enforce_bounds();
                json_bounds::enforce(&mut block.block_metadata);
            }
            Self::BlockUpdate { metadata, .. } => {
                json_bounds::enforce(metadata);
            }
            Self::CallEdited { arguments, .. } => {
                json_bounds::enforce(arguments);
            }
            Self::BlockEnd { content: Some(content), .. } => content.enforce_bounds(),
            Self::Unknown(members) => json_bounds::enforce_members(members, |_| false),
            _ => {}
        }
    }

    /// Returns the event's name on the wire (SSE `event:`).
    pub fn name(&self) -> &str {
        match self {
            Self::TurnStatus { .. } => "turn_status",
            Self::GenerationStart { .. } => "generation_start",
            Self::ModelReturned { .. } => "model_returned",
            Self::Attempt(_) => "attempt",
            Self::BlockStart { .. } => "block_start",
            Self::BlockDelta { .. } => "block_delta",
            Self::BlockUpdate { .. } => "block_update",
            Self::CallEdited { .. } => "call_edited",
            Self::BlockEnd { .. } => "block_end",
            Self::Usage { .. } => "usage",
            Self::Error(_) => "error",
            Self::TurnEnd { .. } => "turn_end",
            Self::Unknown(map) => map.get("type").and_then(Value::as_str).unwrap_or("unknown"),
        }
    }

    /// Returns true if the event has no name, or a name that this version knows with an unknown shape. It is kept
    /// like an event of a newer version, but a fold reports it as an error.
    pub fn is_malformed(&self) -> bool {
        let Self::Unknown(members) = self else { return false };
        let name = members.get("type").and_then(Value::as_str);
        name.is_none_or(|name| Self::NAMES.contains(&name))
    }

    /// Returns the block that the event creates or changes.
    pub fn block_id(&self) -> Option<BlockId> {
        match self {
            Self::BlockStart { block } => Some(block.id),
            Self::BlockDelta { block_id, .. }
            | Self::BlockUpdate { block_id, .. }
            | Self::CallEdited { block_id, .. }
            | Self::BlockEnd { block_id, .. } => Some(*block_id),
            _ => None,
        }
    }

    /// Returns true if the event may be published before it is stored. Only deltas may: all other events change what
    /// exists, and are published after their commit.
    pub fn is_delta(&self) -> bool {
        matches!(self, Self::BlockDelta { .. })
    }
}

/// Parses an event of a type and shape that this version knows.
fn parse_known_event(event: &JsonMembers<'_>) -> Result<Event, Error> {
    Ok(match event.tag("type")? {
        "turn_status" => Event::TurnStatus { status: event.get("status")?, at: event.get_or_default("at")? },
        "generation_start" => Event::GenerationStart {
            generation_id: event.get("generation_id")?,
            step: event.get("step")?,
            provider: event.get("provider")?,
            model: event.get("model")?,
        },
        "model_returned" => Event::ModelReturned { model: event.get("model")? },
        "attempt" => Event::Attempt(event.read_all()?),
        "block_start" => Event::BlockStart { block: event.get("block")? },
        "block_delta" => Event::BlockDelta { block_id: event.get("block_id")?, text: event.get("text")? },
        "block_update" => Event::BlockUpdate {
            block_id: event.get("block_id")?,
            status: event.get("status")?,
            duration_ms: event.get_or_default("duration_ms")?,
            metadata: event.get_or_default("metadata")?,
        },
        "call_edited" => Event::CallEdited {
            block_id: event.get("block_id")?,
            arguments: event.get("arguments")?,
            at: event.get("at")?,
        },
        "block_end" => Event::BlockEnd {
            block_id: event.get("block_id")?,
            state: event.get("state")?,
            content: event.get_or_default("content")?,
        },
        "usage" => Event::Usage { generation_id: event.get("generation_id")?, usage: event.get("usage")? },
        "error" => Event::Error(event.read_all()?),
        "turn_end" => Event::TurnEnd {
            status: event.get("status")?,
            usage: event.get("usage")?,
            cost: event.get_or_default("cost")?,
            at: event.get_or_default("at")?,
        },
        other => return Err(unknown_variant(other)),
    })
}

impl TryFrom<Value> for Event {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self, Error> {
        match (parse_known_event(&JsonMembers(&value)), value) {
            (Ok(event), _) => Ok(event),
            (Err(_), Value::Object(map)) => Ok(Self::Unknown(map)),
            (Err(error), _) => Err(error),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
