//! Import and export of chats: readers and writers of all formats.
//!
//! The crate is pure: it uses the readers and writers that it is given, and has no database, network or UI. A reader
//! streams one [`Conversation`] after the other, so that a file of any size needs only the memory of its largest
//! conversation. Everything that the model cannot represent, and everything broken, is reported as an issue.

pub mod archive;
pub mod bounds;
pub mod chat_builder;
pub mod conversation;
pub mod formats;
pub mod git;
pub mod input;
pub mod legacy;
pub mod markdown;
pub mod merge_replies;
mod programs;
mod reading;
pub mod report;
mod sink;
#[cfg(test)]
mod test_support;

pub use conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
pub use formats::{ImportFormat, ReadOptions, detect, read, read_with};
pub use input::{FolderFiles, Input, InputPart};
pub use merge_replies::{merge_replies, split_replies};
pub use programs::openai_messages::{InvalidMessageKeys, MessageKeys};
pub use report::{ImportIssue, IssueKind, IssueLocation};
pub use sink::{ImportError, ImportSink};

/// The domain crate under the module name that the server crates use.
pub(crate) use turnleaf_domain as domain;
