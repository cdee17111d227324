//! Turns: the nodes of the tree, and the lifecycle of a reply (`docs/reference/domain.md 4.8`).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::blocks::block::{Author, Block, LAST_BLOCK_SEQ};
use crate::id::{BranchId, ChatId, ExchangeId, TurnId};
use crate::messages::failure::Failure;
use crate::usage::cost::Cost;
use crate::usage::token_counts::Usage;

/// The author role of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    System,
}

/// The status of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// Stored; the provider has not responded yet.
    Pending,
    /// The model is generating.
    Streaming,
    /// Tools are running, or an approval is pending.
    WaitingSubagents,
    Complete,
    Cancelled,
    Error,
}

/// The transitions of a running turn: the columns of the table in `docs/reference/domain.md 4.8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnTransition {
    LlmStart,
    ToolDetected,
    ToolsReady,
    Finish,
    Cancel,
    Fail,
}

impl TurnStatus {
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Streaming, Self::WaitingSubagents, Self::Complete, Self::Cancelled, Self::Error];

    /// Returns true if the status is final.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Cancelled | Self::Error)
    }

    /// Returns the status after a transition, or `None` if `docs/reference/domain.md 4.8` forbids it.
    pub fn apply(self, transition: TurnTransition) -> Option<Self> {
        use TurnTransition::{Cancel, Fail, Finish, LlmStart, ToolDetected, ToolsReady};
        match (self, transition) {
            (Self::Pending, LlmStart) | (Self::WaitingSubagents, ToolsReady) => Some(Self::Streaming),
            (Self::Streaming, ToolDetected) => Some(Self::WaitingSubagents),
            (Self::Streaming | Self::WaitingSubagents, Finish) => Some(Self::Complete),
            (Self::Pending | Self::Streaming | Self::WaitingSubagents, Cancel) => Some(Self::Cancelled),
            (Self::Pending | Self::Streaming | Self::WaitingSubagents, Fail) => Some(Self::Error),
            _ => None,
        }
    }

    /// Returns true if one transition leads from here to `next`.
    pub fn can_become(self, next: Self) -> bool {
        use TurnTransition::{Cancel, Fail, Finish, LlmStart, ToolDetected, ToolsReady};
        [LlmStart, ToolDetected, ToolsReady, Finish, Cancel, Fail].into_iter().any(|m| self.apply(m) == Some(next))
    }

    /// Returns the name in the database, on the wire and on the page.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Streaming => "streaming",
            Self::WaitingSubagents => "waiting_subagents",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
            Self::Error => "error",
        }
    }

    /// Parses the name that `as_str` returns.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl Role {
    /// Returns the name in the database, on the wire and on the page.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }

    /// Parses the name that `as_str` returns.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::System].into_iter().find(|role| role.as_str() == word)
    }
}

/// One node of the tree with its blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Turn {
    pub id: TurnId,
    pub chat_id: ChatId,
    /// The position in the chat by creation, from 1. Never reused.
    pub ord: i64,
    /// The distance from the root, which has 0.
    pub depth: i64,
    pub branch_id: BranchId,
    pub exchange_id: ExchangeId,
    pub prev_turn_id: Option<TurnId>,
    pub role: Role,
    pub status: TurnStatus,
    /// The provider that answered. Null for user turns and before the reply starts.
    pub provider_used: Option<String>,
    /// The model as the provider names it. Null like `provider_used`.
    pub model_used: Option<String>,
    /// The sum over the turn's generations.
    pub usage: Usage,
    /// The total cost of the turn's generations. Null while it runs and if any of them is unknown.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// The context size of its newest generation. Not the sum, which would count the same prompt once per step.
    #[serde(default)]
    pub context_tokens: Option<u64>,
    pub error: Option<Failure>,
    /// The newest event that `blocks` covers; 0 if there is none.
    pub last_event_seq: u64,
    pub created_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub blocks: Vec<Block>,
    /// A pending retry before the first content. Not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<RetryAttempt>,
}

/// The location of a turn: its chat, its place in the tree, and the rows that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLocation {
    pub chat_id: ChatId,
    pub ord: i64,
    pub depth: i64,
    pub branch_id: BranchId,
    pub exchange_id: ExchangeId,
    pub prev_turn_id: Option<TurnId>,
}

/// An automatic retry, shown while it waits ("Attempt 2 of 3").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RetryAttempt {
    /// The number of the next attempt, from 2.
    pub number: u32,
    pub of: u32,
    /// The wait before it, in milliseconds.
    pub wait_ms: u64,
    pub reason: Failure,
}

impl Turn {
    /// Creates a pending turn without blocks.
    pub fn new(id: TurnId, location: TurnLocation, role: Role, created_at: DateTime<Utc>) -> Self {
        let TurnLocation { chat_id, ord, depth, branch_id, exchange_id, prev_turn_id } = location;
        Self {
            id,
            chat_id,
            ord,
            depth,
            branch_id,
            exchange_id,
            prev_turn_id,
            role,
            status: TurnStatus::Pending,
            provider_used: None,
            model_used: None,
            usage: Usage::default(),
            cost: None,
            context_tokens: None,
            error: None,
            last_event_seq: 0,
            created_at,
            started_at: None,
            completed_at: None,
            blocks: Vec::new(),
            attempt: None,
        }
    }

    /// Returns the text blocks without errors as paragraphs, which search and other models use
    /// (`docs/reference/domain.md I10`).
    pub fn content_text(&self) -> String {
        crate::blocks::derived_text::content_text(self.blocks.iter().map(|block| &block.content))
    }

    /// Returns true if a person edited the reply.
    pub fn is_edited(&self) -> bool {
        self.role == Role::Assistant && self.blocks.iter().any(|block| block.author == Author::User)
    }

    /// Returns the position of the next block: after all others, even if some are missing.
    pub fn next_block_seq(&self) -> u32 {
        self.blocks.iter().map(|block| block.seq).filter(|seq| *seq < LAST_BLOCK_SEQ).max().map_or(0, |last| last + 1)
    }

    /// Returns the block with this id.
    pub fn block_mut(&mut self, id: crate::BlockId) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|block| block.id == id)
    }
}

#[cfg(test)]
mod tests;
