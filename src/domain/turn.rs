//! Turns: the nodes of the tree, and the lifecycle of a reply (domain.md 4.8).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::block::{Author, Block, Content, LAST_BLOCK_SEQ};
use crate::cost::Cost;
use crate::failure::Failure;
use crate::id::{BranchId, ChatId, ExchangeId, TurnId};
use crate::usage::Usage;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    System,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// Stored; the provider has not been heard of yet.
    Pending,
    /// The model is writing.
    Streaming,
    /// Tools run, or an approval is awaited.
    WaitingSubagents,
    Complete,
    Cancelled,
    Error,
}

/// What can happen to a running turn: the columns of the table in domain.md 4.8.
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

    /// Whether nothing more can happen to the turn.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Cancelled | Self::Error)
    }

    /// Where a move leads, or `None` where domain.md 4.8 forbids it.
    pub fn apply(self, what: TurnTransition) -> Option<Self> {
        use TurnTransition::{Cancel, Fail, Finish, LlmStart, ToolDetected, ToolsReady};
        match (self, what) {
            (Self::Pending, LlmStart) | (Self::WaitingSubagents, ToolsReady) => Some(Self::Streaming),
            (Self::Streaming, ToolDetected) => Some(Self::WaitingSubagents),
            (Self::Streaming | Self::WaitingSubagents, Finish) => Some(Self::Complete),
            (Self::Pending | Self::Streaming | Self::WaitingSubagents, Cancel) => Some(Self::Cancelled),
            (Self::Pending | Self::Streaming | Self::WaitingSubagents, Fail) => Some(Self::Error),
            _ => None,
        }
    }

    /// Whether one move leads from here to `next`.
    pub fn can_become(self, next: Self) -> bool {
        use TurnTransition::{Cancel, Fail, Finish, LlmStart, ToolDetected, ToolsReady};
        [LlmStart, ToolDetected, ToolsReady, Finish, Cancel, Fail].into_iter().any(|m| self.apply(m) == Some(next))
    }

    /// The word in the database, on the wire and on the page.
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

    /// Reads `as_str` back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl Role {
    /// The word in the database, on the wire and on the page.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }

    /// Reads `as_str` back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::System].into_iter().find(|role| role.as_str() == word)
    }
}

/// One node of the tree with its blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Turn {
    pub id: TurnId,
    pub chat_id: ChatId,
    /// Place in the chat by creation, from 1; never reused.
    pub ord: i64,
    /// Distance from the root, which has 0.
    pub depth: i64,
    pub branch_id: BranchId,
    pub exchange_id: ExchangeId,
    pub prev_turn_id: Option<TurnId>,
    pub role: Role,
    pub status: TurnStatus,
    /// The provider that answered; null for user turns and before the answer starts.
    pub provider_used: Option<String>,
    /// The model as the provider names it; null as above.
    pub model_used: Option<String>,
    /// Sum over the turn's generations (domain.md I11).
    pub usage: Usage,
    /// What all of the turn's generations cost together; null as long as it runs and where any of them is unknown.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// How much of the model's context its newest generation filled: not the sum, which counts the same prompt once a
    /// step (domain.md I11).
    #[serde(default)]
    pub context_tokens: Option<u64>,
    pub error: Option<Failure>,
    /// The newest event that `blocks` covers; 0 when there is none.
    pub last_event_seq: u64,
    pub created_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub blocks: Vec<Block>,
    /// A retry that is under way, before the first content; not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<RetryAttempt>,
}

/// An automatic retry, shown while it waits ("Attempt 2 of 3").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RetryAttempt {
    /// The attempt that comes next, from 2.
    pub number: u32,
    pub of: u32,
    /// How long it waits first, in milliseconds.
    pub wait_ms: u64,
    pub reason: Failure,
}

impl Turn {
    /// The concatenation of the non-error text blocks: what a search finds and another model is told (domain.md I10).
    pub fn content_text(&self) -> String {
        content_text(self.blocks.iter().map(|block| &block.content))
    }

    /// Whether it is a reply that a person wrote: a version of the model's in other words.
    pub fn is_edited(&self) -> bool {
        self.role == Role::Assistant && self.blocks.iter().any(|block| block.author == Author::User)
    }

    /// The place of the next block: behind all that there are, also where some are missing.
    pub fn next_block_seq(&self) -> u32 {
        self.blocks.iter().map(|block| block.seq).filter(|seq| *seq < LAST_BLOCK_SEQ).max().map_or(0, |last| last + 1)
    }

    /// The block with this place in the turn.
    pub fn block_mut(&mut self, id: crate::BlockId) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|block| block.id == id)
    }
}

/// The derived text of a list of blocks (domain.md I10): the text blocks that are not errors, in order, with nothing
/// between them; a provider may cut one sentence into several blocks to hang citations on them.
pub fn content_text<'a>(contents: impl IntoIterator<Item = &'a Content>) -> String {
    contents
        .into_iter()
        .filter_map(|content| match content {
            Content::Text { text, is_error: false } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
