//! Import and export of chats: readers and writers of all formats.
//!
//! The crate is pure: it uses the readers and writers that it is given, and has no database, network or UI. A reader
//! streams one [`Conversation`] after the other, so that a file of any size needs only the memory of its largest
//! conversation. Everything that the model cannot represent, and everything broken, is reported as an issue.

mod ai_studio;
mod anything_llm;
pub mod archive;
mod big_agi;
pub mod bounds;
pub mod chat_builder;
mod chatgpt;
mod cherry_studio;
mod claude;
mod claude_code;
mod code_fences;
mod codex;
pub mod conversation;
mod deepseek;
mod dump_tables;
mod export_entries;
mod fields;
pub mod formats;
mod gemini_cli;
mod gemini_takeout;
pub mod git;
mod grok;
pub mod input;
mod jan;
mod known_keys;
pub mod legacy;
mod librechat;
mod llama_cpp;
mod lobehub;
pub mod markdown;
mod media;
pub mod merge_replies;
mod message_builder;
mod notes;
mod open_calls;
mod open_webui;
mod openai_messages;
mod orphan_results;
mod parts;
pub mod report;
mod session_lines;
mod silly_tavern;
mod sink;
mod table_spool;
#[cfg(test)]
mod test_support;
mod thought_tags;
mod tree;
mod unique_ids;

pub use conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
pub use formats::{ImportFormat, ReadOptions, detect, read, read_with};
pub use input::{FolderFiles, Input, InputPart};
pub use merge_replies::{merge_replies, split_replies};
pub use openai_messages::{InvalidMessageKeys, MessageKeys};
pub use report::{ImportIssue, IssueKind, IssueLocation};
pub use sink::{ImportError, ImportSink};

/// The domain crate under the module name that the server crates use.
pub(crate) use turnleaf_domain as domain;
