//! Two schemas of chat databases from before turns and blocks, and what becomes of their rows. Pure: whoever calls
//! brings the rows, one conversation after the other, and knows the database.
//!
//! `Messages` keeps conversations, messages, tool calls and reasoning in four tables, side by side, with or without a
//! table of turns. `Actions` keeps sessions and messages, and what tools did hangs on a message. Neither has branches.
//! Names of tables and columns are known in any case, with and without underscores, in singular and plural.

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

/// A schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LegacySchema {
    /// Conversations, ChatMessage, ToolCall, ThinkBlock, and perhaps ConversationTurn.
    Messages,
    /// `chat_sessions`, `messages`, `agent_actions`.
    Actions,
}

/// What a row of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LegacyRowKind {
    Conversation,
    /// A question and its reply as one, with the mode that was asked for.
    Turn,
    Message,
    Call,
    Thought,
}

impl LegacyRowKind {
    /// All of them: in this order the rows of a conversation are read.
    pub const ALL: [Self; 5] = [Self::Conversation, Self::Turn, Self::Message, Self::Call, Self::Thought];

    /// The kind of this number in `ALL`.
    pub fn from_number(number: i64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number)).copied()
    }

    /// Its place in `ALL`.
    pub fn number(self) -> usize {
        self as usize
    }

    /// How a row of it is called in findings.
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

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LegacyField {
    Id,
    /// The conversation that the row is in.
    Conversation,
    Turn,
    Message,
    Role,
    /// A title, or the name of a tool.
    Name,
    /// What was said; of a conversation its system prompt.
    Text,
    Arguments,
    Result,
    Status,
    /// Of a turn whether it thinks, of a message whether it is a failure, of a call whether it went well.
    Flag,
    Metadata,
    Model,
    /// The order of what has the same time.
    Order,
    CreatedAt,
    UpdatedAt,
}

impl LegacyField {
    /// All of them, in the order of a row's values.
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

    /// Whether it names a row.
    pub fn is_id(self) -> bool {
        matches!(self, Self::Id | Self::Conversation | Self::Turn | Self::Message)
    }
}
