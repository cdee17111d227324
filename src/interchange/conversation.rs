//! A conversation as another program tells it: a tree of messages, before it has ids, branches and exchanges of ours.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::block::Author;
use crate::domain::turn::Role;
use crate::domain::usage::Usage;

/// A tree of messages with what its source says of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The id in its source; one made of its content where the source gives none, so that the same file read again names
    /// it the same.
    pub source_id: String,
    /// As the source has it: not trimmed, not cut.
    pub title: String,
    /// What every path of the source begins with as its system message; empty when there is none or when paths differ
    /// (then the messages themselves stay, with the role `system`).
    pub system_prompt: String,
    pub created_at: Option<DateTime<Utc>>,
    pub updated_at: Option<DateTime<Utc>>,
    /// The model of the replies that name none, where the source says it of the whole conversation.
    pub model: Option<String>,
    /// A parent stands before its children; children of one parent stand in the order of their making.
    pub messages: Vec<ImportedMessage>,
    /// The message that was shown last at the end of its path, an index of `messages`.
    pub current: Option<usize>,
    pub is_pinned: bool,
    pub is_archived: bool,
}

impl Conversation {
    /// About the bytes that it takes when it is stored, with the files that it brings along.
    pub fn byte_count(&self) -> u64 {
        self.byte_count_where(&|_| true)
    }

    /// The same of the messages with these ids.
    pub fn byte_count_where(&self, is_wanted: &dyn Fn(&str) -> bool) -> u64 {
        let wanted = self.messages.iter().filter(|message| is_wanted(&message.source_id));
        wanted.flat_map(|message| &message.pieces).map(|piece| piece.body.text_bytes() + piece.body.file_bytes()).sum()
    }

    /// The same without files.
    pub fn text_byte_count(&self) -> u64 {
        self.messages.iter().flat_map(|message| &message.pieces).map(|piece| piece.body.text_bytes()).sum()
    }
}

/// One message as the source keeps it. A reply that the source keeps as several messages (reasoning, a call, its answer,
/// text) stays several here: joining them is one rule for all sources, and it is not the reader's.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedMessage {
    pub source_id: String,
    /// An index of `Conversation::messages`, smaller than the message's own.
    pub parent: Option<usize>,
    pub role: Role,
    /// Our name of the provider's API (`openai`, `anthropic`, `google`, …) where the source tells it, as it is.
    pub provider: Option<String>,
    /// The model's name as the source gives it of this very message.
    pub model: Option<String>,
    pub created_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub ending: MessageEnding,
    /// In the order in which they were said.
    pub pieces: Vec<MessagePiece>,
    pub usage: Usage,
    /// Whether the reply was asked to think, where the source keeps that; else it is inferred.
    pub is_thinking_mode: Option<bool>,
}

/// How a message ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MessageEnding {
    #[default]
    Complete,
    /// Somebody stopped it; what was there is kept.
    Cancelled,
    /// What the source says of the failure.
    Failed(String),
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePiece {
    pub author: Author,
    pub created_at: Option<DateTime<Utc>>,
    pub body: PieceBody,
}

/// What a piece holds.
#[derive(Debug, Clone, PartialEq)]
pub enum PieceBody {
    /// Markdown, as it was written.
    Text(String),
    Thinking {
        text: String,
        title: Option<String>,
        /// How long it took, in milliseconds, where the source says so.
        duration_ms: Option<u64>,
    },
    /// A tool's call. `id` joins it to its answer, within the conversation.
    ToolCall {
        id: String,
        name: String,
        /// Null when they are not JSON.
        arguments: Value,
        /// As the model wrote them, where the source has that.
        arguments_raw: Option<String>,
    },
    /// What a call brought. `metadata` is what its source keeps beside the result, else null.
    ToolResult { id: String, name: String, result: Value, success: bool, metadata: Value },
    /// A picture whose bytes the source brings along under this name, or within itself.
    Picture { file: MessageFile, alt: String },
    /// A file that came with the message.
    Attachment { file: MessageFile },
    /// Where an answer found what it says: web pages and documents.
    Sources(Vec<ImportedSource>),
}

impl PieceBody {
    /// The bytes of what it says.
    fn text_bytes(&self) -> u64 {
        let bytes = match self {
            // A text stands in its block and in the plain text of its turn.
            Self::Text(text) => 2 * text.len(),
            Self::Thinking { text, .. } => text.len(),
            Self::ToolCall { arguments, arguments_raw, .. } => {
                arguments_raw.as_ref().map_or_else(|| arguments.to_string().len(), String::len)
            }
            Self::ToolResult { result, .. } => result.as_str().map_or_else(|| result.to_string().len(), str::len),
            Self::Sources(sources) => {
                sources.iter().map(|source| source.title.len() + source.url.len() + source.snippet.len()).sum()
            }
            Self::Picture { .. } | Self::Attachment { .. } => 0,
        };
        bytes as u64
    }

    /// The bytes of the file that it brings along.
    fn file_bytes(&self) -> u64 {
        match self {
            Self::Picture { file, .. } | Self::Attachment { file } => match &file.bytes {
                FileBytes::Inline(bytes) => bytes.len() as u64,
                FileBytes::TextOnly(text) => text.len() as u64,
                FileBytes::Entry(_) | FileBytes::Absent(_) => 0,
            },
            _ => 0,
        }
    }
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageFile {
    /// As it was named to the user.
    pub name: String,
    /// Empty when the source does not say.
    pub mime: String,
    pub bytes: FileBytes,
}

/// Where a file's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileBytes {
    /// An entry of the archive, by its full name in it.
    Entry(String),
    /// Within the message itself (a data URL, decoded), or read: several messages may share them.
    Inline(Arc<[u8]>),
    /// The text that the source took out of the file; the file itself did not come along.
    TextOnly(String),
    /// Not in the source; where it says the file was (an address, an id): told in the report, never fetched.
    Absent(String),
}

/// A page or a document that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedSource {
    pub title: String,
    /// Empty for what has no address.
    pub url: String,
    /// The words of it that the answer rests on.
    pub snippet: String,
    /// The cited stretch of the text piece before, in Unicode scalar values, where the source says so.
    pub cited_range: Option<(u64, u64)>,
}
