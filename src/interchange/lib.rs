//! What Turnleaf takes in from other programs, and what it hands out: formats of chats, read and written.
//!
//! Pure: it reads from what it is given and writes into what it is given, and knows no database, no network and no
//! page. A reader turns one conversation after the other into a [`Conversation`], so that a file of any size is read in
//! the memory of its largest conversation; what the form cannot say, and what is broken, is told in its report.

pub mod archive;
mod big_agi;
pub mod bounds;
pub mod chat_builder;
mod chatgpt;
mod claude;
pub mod conversation;
mod export_entries;
mod fields;
pub mod formats;
pub mod git;
pub mod input;
pub mod legacy;
mod librechat;
mod llama_cpp;
pub mod markdown;
mod media;
pub mod merge_replies;
mod message_builder;
mod notes;
mod open_webui;
mod orphan_results;
mod parts;
pub mod report;
mod sink;
#[cfg(test)]
mod test_support;
mod tree;
mod unique_ids;

pub use conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
pub use formats::{ImportFormat, detect, read};
pub use input::Input;
pub use merge_replies::merge_replies;
pub use report::{ImportIssue, IssueKind, IssueLocation};
pub use sink::{ImportError, ImportSink};

/// The model's own crate, under the name that the rooms of the server know it by.
pub(crate) use turnleaf_domain as domain;
