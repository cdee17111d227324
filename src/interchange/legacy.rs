//! Migrates two older schemas of chat databases without turns and blocks. The module is pure: the caller supplies the
//! rows, one conversation after the other, and knows the database.
//!
//! `Messages` keeps conversations, messages, tool calls and reasoning in four separate tables, with or without a
//! table of turns. `Actions` keeps sessions and messages, with tool actions attached to messages. Neither has
//! branches. Names of tables and columns match in any case, with and without underscores, in singular and plural.

mod backfill;
mod entry;
mod gatherer;
mod rows;
mod tables;
#[cfg(test)]
mod tests;

pub use gatherer::{ConversationGatherer, GatheredConversation};
pub use rows::{LegacyRow, RowCount};
pub use tables::{LegacyTable, SchemaMismatch, find_tables};

/// An older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LegacySchema {
    /// The tables Conversations, ChatMessage, ToolCall, ThinkBlock, and optionally ConversationTurn.
    Messages,
    /// The tables `chat_sessions`, `messages`, `agent_actions`.
    Actions,
}

/// The entity that a table stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LegacyRowKind {
    Conversation,
    /// A question and its reply, with the requested mode.
    Turn,
    Message,
    Call,
    Thought,
}

impl LegacyRowKind {
    /// All kinds in the order in which the rows of a conversation are read.
    pub const ALL: [Self; 5] = [Self::Conversation, Self::Turn, Self::Message, Self::Call, Self::Thought];

    /// Returns the kind with this index in `ALL`.
    pub fn from_number(number: i64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number)).copied()
    }

    /// Returns the index in `ALL`.
    pub fn number(self) -> usize {
        self as usize
    }

    /// Returns the name of the entity in issues.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Turn => "turn",
            Self::Message => "message",
            Self::Call => "tool call",
            Self::Thought => "think block",
        }
    }
}

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LegacyField {
    Id,
    /// The conversation of the row.
    Conversation,
    Turn,
    Message,
    Role,
    /// A title, or the name of a tool.
    Name,
    /// The text of a message; the system prompt of a conversation.
    Text,
    Arguments,
    Result,
    Status,
    /// Of a turn its thinking mode, of a message whether it is a failure, of a call whether it succeeded.
    Flag,
    Metadata,
    Model,
    /// Orders rows with equal times.
    Order,
    CreatedAt,
    UpdatedAt,
}

impl LegacyField {
    /// All fields in the order of a row's values.
    pub const ALL: [Self; 16] = [
        Self::Id,
        Self::Conversation,
        Self::Turn,
        Self::Message,
        Self::Role,
        Self::Name,
        Self::Text,
        Self::Arguments,
        Self::Result,
        Self::Status,
        Self::Flag,
        Self::Metadata,
        Self::Model,
        Self::Order,
        Self::CreatedAt,
        Self::UpdatedAt,
    ];

    /// Returns whether the field identifies a row.
    pub fn is_id(self) -> bool {
        matches!(self, Self::Id | Self::Conversation | Self::Turn | Self::Message)
    }
}
