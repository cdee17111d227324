//! What a reader tells besides the conversations: what it left out, what it put right, what cannot be said here.

use std::fmt;

pub use crate::domain::import_origin::ImportDifferenceKind as IssueKind;

/// What a walk through a file tells, whatever program wrote it.
pub(crate) const ENDS_WITHIN: &str = "the file ends within it";
pub(crate) const NOT_JSON_BEHIND: &str = "what follows is not JSON";
pub(crate) const REPLACED: &str = "bytes that are no text in its encoding became U+FFFD";

pub(crate) fn damaged_from_here(why: &str) -> String {
    format!("the file is damaged from here on: {why}")
}

/// One thing that a person who imports should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportIssue {
    pub kind: IssueKind,
    pub location: IssueLocation,
    /// One English sentence without the place, for people.
    pub text: String,
}

/// So many messages, in words.
pub fn message_count(count: usize) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}

/// Where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueLocation {
    /// The file, or the archive's entry.
    pub file: String,
    /// The conversation's id or its number in the file, from 1.
    pub conversation: String,
    /// The message's id; empty when it is about the conversation.
    pub message: String,
}

impl fmt::Display for IssueLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.file, &self.conversation, &self.message];
        let told: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        f.write_str(&told.join(" › "))
    }
}
