//! Deletions: what was deleted together, can come back together, and is listed in Trash until it is purged (domain.md
//! I13). Everything that a deletion took carries its id.

use serde::{Deserialize, Serialize};

use crate::id::DeletionId;
use crate::{ChatId, TurnId};

/// What a person deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeletionKind {
    /// A chat with everything in it.
    Chat,
    /// A branch: its first turn with everything below. A branch without turns goes alone.
    Branch,
    /// A turn with everything below it.
    Turn,
    /// Everything in a chat but the path to one turn and what is below it.
    Prune,
}

/// What a deletion took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeletionSummary {
    pub deletion_id: DeletionId,
    pub chat_id: ChatId,
    pub turns: u64,
    pub branches: u64,
    /// How many replies were stopped for it.
    pub running_stopped: u64,
    /// The end of the path that is nearest to what was deleted; nothing where no turn is left.
    pub leaf: Option<TurnId>,
}

/// What a restored deletion brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RestoreSummary {
    pub chat_id: ChatId,
    pub turns: u64,
    pub branches: u64,
    /// The end of the path through what came back; nothing for a whole chat.
    pub leaf: Option<TurnId>,
}
