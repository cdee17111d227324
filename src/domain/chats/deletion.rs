//! Soft deletions: everything that was deleted together carries one deletion id, can be restored together, and is
//! listed in Trash until it is purged (`docs/reference/domain.md I13`).

use serde::{Deserialize, Serialize};

use crate::id::DeletionId;
use crate::{ChatId, TurnId};

/// The kind of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeletionKind {
    /// A chat with all its contents.
    Chat,
    /// A branch: its first turn with all descendants. A branch without turns is deleted alone.
    Branch,
    /// A turn with all its descendants.
    Turn,
    /// Everything in a chat except the path to one turn and its descendants.
    Prune,
}

/// The result of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeletionSummary {
    pub deletion_id: DeletionId,
    pub chat_id: ChatId,
    pub turns: u64,
    pub branches: u64,
    /// The number of running replies that were stopped.
    pub running_stopped: u64,
    /// The leaf of the remaining path nearest to the deletion. Absent if no turn is left.
    pub leaf: Option<TurnId>,
}

/// The result of restoring a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RestoreSummary {
    pub chat_id: ChatId,
    pub turns: u64,
    pub branches: u64,
    /// The leaf of the path through the restored turns. Absent for a whole chat.
    pub leaf: Option<TurnId>,
}
