//! The common import model: a conversation as its source describes it, a tree of messages without Turnleaf's ids,
//! branches and exchanges.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::domain::usage::token_counts::Usage;

/// A tree of messages with the metadata of its source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The id in its source, or a hash of the content if there is none, so that importing the same file again yields
    /// the same id.
    pub source_id: String,
    /// The title of the source, neither trimmed nor truncated.
    pub title: String,
    /// The system message that starts every path of the source. Empty if there is none or if paths differ; the
    /// messages with the role `system` then stay.
    pub system_prompt: String,
    pub created_at: Option<DateTime<Utc>>,
    pub updated_at: Option<DateTime<Utc>>,
    /// The model of replies that name none, if the source names one for the whole conversation.
    pub model: Option<String>,
    /// A parent precedes its children; siblings are in the order of their creation.
    pub messages: Vec<ImportedMessage>,
    /// The last displayed leaf, as an index of `messages`.
    pub current: Option<usize>,
    pub is_pinned: bool,
    pub is_archived: bool,
}

impl Conversation {
    /// Returns the approximate stored size in bytes, including files.
    pub fn byte_count(&self) -> u64 {
        self.byte_count_where(&|_| true)
    }

    /// Like [`Self::byte_count`], limited to the messages whose ids are wanted.
    pub fn byte_count_where(&self, is_wanted: &dyn Fn(&str) -> bool) -> u64 {
        let wanted = self.messages.iter().filter(|message| is_wanted(&message.source_id));
        wanted.flat_map(|message| &message.pieces).map(|piece| piece.body.text_bytes() + piece.body.file_bytes()).sum()
    }

    /// Like [`Self::byte_count`], without files.
    pub fn text_byte_count(&self) -> u64 {
        self.messages.iter().flat_map(|message| &message.pieces).map(|piece| piece.body.text_bytes()).sum()
    }
}

/// One message as its source stores it. A reply that the source stores as several messages (reasoning, a call, its
/// result, text) is still several here; `merge_replies` merges them for all sources.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedMessage {
    pub source_id: String,
    /// An index of `Conversation::messages`, smaller than that of the message itself.
    pub parent: Option<usize>,
    pub role: Role,
    /// Turnleaf's name of the provider's API (`openai`, `anthropic`, `google`, …) if the source names it, else the
    /// name in the source.
    pub provider: Option<String>,
    /// The model that the source names for this message.
    pub model: Option<String>,
    pub created_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub ending: MessageEnding,
    /// In the order of the message.
    pub pieces: Vec<MessagePiece>,
    pub usage: Usage,
    /// True if thinking mode was requested. `None` if the source does not record it; it is inferred then.
    pub is_thinking_mode: Option<bool>,
    /// The messages of the source that were merged into this one; empty if it is one message there, too.
    pub parts: Vec<MergedPart>,
}

/// A message of the source that is part of a merged reply, without its pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedPart {
    pub source_id: String,
    /// The number of its pieces in the reply.
    pub pieces: usize,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub created_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub ending: MessageEnding,
    pub usage: Usage,
    pub is_thinking_mode: Option<bool>,
}

impl ImportedMessage {
    /// Returns whether two messages have the same content, whatever their times and positions.
    pub(crate) fn says_same_as(&self, other: &Self) -> bool {
        self.role == other.role
            && self.ending == other.ending
            && self.pieces.len() == other.pieces.len()
            && self.pieces.iter().zip(&other.pieces).all(|(one, other)| one.body == other.body)
    }
}

/// The ending of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MessageEnding {
    #[default]
    Complete,
    /// The user stopped it; the partial content is kept.
    Cancelled,
    /// The source's error message.
    Failed(String),
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePiece {
    pub author: Author,
    pub created_at: Option<DateTime<Utc>>,
    pub body: PieceBody,
}

/// The content of a piece.
#[derive(Debug, Clone, PartialEq)]
pub enum PieceBody {
    /// Markdown as it was written.
    Text(String),
    Thinking {
        text: String,
        title: Option<String>,
        /// Duration in milliseconds, if the source records it.
        duration_ms: Option<u64>,
    },
    /// A tool call. `id` connects it to its result within the conversation.
    ToolCall {
        id: String,
        name: String,
        /// Null if they are not JSON.
        arguments: Value,
        /// The arguments as the model wrote them, if the source has them.
        arguments_raw: Option<String>,
    },
    /// The result of a tool call. `metadata` is the source's metadata of the result, else null.
    ToolResult { id: String, name: String, result: Value, success: bool, metadata: Value },
    /// An image whose bytes are an entry of the source or inline.
    Picture { file: MessageFile, alt: String },
    /// A file that is attached to the message.
    Attachment { file: MessageFile },
    /// Web pages and documents that a reply cites.
    Sources(Vec<ImportedSource>),
}

impl PieceBody {
    /// Returns the size of the text in bytes.
    fn text_bytes(&self) -> u64 {
        let bytes = match self {
            // Text is stored twice: in its block and in the plain text of its turn.
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

    /// Returns the size of the attached file in bytes.
    fn file_bytes(&self) -> u64 {
        match self {
            Self::Picture { file, .. } | Self::Attachment { file } => match &file.bytes {
                FileBytes::Inline(bytes) | FileBytes::InlineWithText(bytes, _) => bytes.len() as u64,
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
    /// The name that the user saw.
    pub name: String,
    /// Empty if the source does not name it.
    pub mime: String,
    pub bytes: FileBytes,
}

impl MessageFile {
    /// Returns whether the source has the file, or text from it.
    pub fn has_content(&self) -> bool {
        !matches!(self.bytes, FileBytes::Absent(_))
    }
}

/// The location of a file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileBytes {
    /// An entry of the archive, by its full name.
    Entry(String),
    /// Bytes from the message itself (a decoded data URL) or already read; several messages may share them.
    Inline(Arc<[u8]>),
    /// Bytes from the message, and the text that the source extracted from them. The text is used if the file cannot
    /// be read here.
    InlineWithText(Arc<[u8]>, String),
    /// The text that the source extracted from the file, without the file itself.
    TextOnly(String),
    /// Not in the source. The address or id of the file is reported but never fetched.
    Absent(String),
}

/// A page or a document that a reply cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedSource {
    pub title: String,
    /// Empty if it has no address.
    pub url: String,
    /// The cited passage of the source.
    pub snippet: String,
    /// The cited range of the preceding text piece, in Unicode scalar values, if the source records it.
    pub cited_range: Option<(u64, u64)>,
}
