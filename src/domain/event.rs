//! Events: the facts that make a reply, as the journal stores them and as the wire carries them (domain.md 4.10). One
//! shape for both, so there is no second format to keep in step. Not for applying them: that is `fold`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::block::{Block, BlockState, Content, ToolStatus};
use crate::cost::Cost;
use crate::failure::Failure;
use crate::id::{BlockId, GenerationId};
use crate::turn::{Attempt, TurnStatus};
use crate::usage::Usage;

/// A fact about a running reply. Numbered from 1 without gaps within its turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The turn moved to another state. Its last move is in `TurnEnd`.
    TurnStatus {
        status: TurnStatus,
        /// When, by the server's clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<DateTime<Utc>>,
    },
    /// A provider call began.
    GenerationStart { generation_id: GenerationId, step: u32, provider: String, model: String },
    /// The provider named the model that really answers.
    ModelReturned { model: String },
    /// Before any content: the call failed and will be tried again.
    Attempt(Attempt),
    /// A block exists. Streaming blocks start `open` and empty, others come whole.
    BlockStart { block: Block },
    /// An open block grew: text, reasoning, or raw tool arguments.
    BlockDelta { block_id: BlockId, text: String },
    /// A tool call moved on; nothing else of a finished block ever changes (domain.md I6).
    BlockUpdate {
        block_id: BlockId,
        status: ToolStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// A block is finished. `content` is there where it says more than the deltas did: parsed arguments, a signature,
    /// a duration.
    BlockEnd {
        block_id: BlockId,
        state: BlockState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
    },
    /// What one generation cost, replacing what was said of it before.
    Usage { generation_id: GenerationId, usage: Usage },
    /// The reply failed; a `TurnEnd` follows.
    Error(Failure),
    /// The reply is over. The last event of every turn.
    TurnEnd {
        status: TurnStatus,
        usage: Usage,
        /// As [`Turn::cost`](crate::Turn).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
        /// When, by the server's clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<DateTime<Utc>>,
    },
    /// An event of a newer version: kept, ignored.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

impl Event {
    /// The names of the events that this version knows.
    pub const NAMES: [&str; 11] = [
        "turn_status",
        "generation_start",
        "model_returned",
        "attempt",
        "block_start",
        "block_delta",
        "block_update",
        "block_end",
        "usage",
        "error",
        "turn_end",
    ];

    /// The event's name on the wire (SSE `event:`).
    pub fn name(&self) -> &str {
        match self {
            Self::TurnStatus { .. } => "turn_status",
            Self::GenerationStart { .. } => "generation_start",
            Self::ModelReturned { .. } => "model_returned",
            Self::Attempt(_) => "attempt",
            Self::BlockStart { .. } => "block_start",
            Self::BlockDelta { .. } => "block_delta",
            Self::BlockUpdate { .. } => "block_update",
            Self::BlockEnd { .. } => "block_end",
            Self::Usage { .. } => "usage",
            Self::Error(_) => "error",
            Self::TurnEnd { .. } => "turn_end",
            Self::Unknown(map) => map.get("type").and_then(Value::as_str).unwrap_or("unknown"),
        }
    }

    /// Whether the event has a name that this version knows but a shape that it does not. It is kept like an event of
    /// a newer version, but a fold says that something is wrong.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Self::Unknown(_)) && Self::NAMES.contains(&self.name())
    }

    /// Whether the event may be shown before it is stored. Only growth may: everything else changes what exists, and
    /// what exists is published after its commit (reliability.md 1.3 rule 5).
    pub fn is_growth(&self) -> bool {
        matches!(self, Self::BlockDelta { .. })
    }
}

#[cfg(test)]
mod tests;
