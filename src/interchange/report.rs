//! Import issues: what a reader left out, corrected, or could not represent.

use std::fmt;

use crate::domain::text::plural::counted;

pub use crate::domain::transfer::import_origin::ImportDifferenceKind as IssueKind;

/// Texts of issues that any file format can cause.
pub(crate) const ENDS_WITHIN: &str = "the file ends in the middle of it";
pub(crate) const NOT_JSON_BEHIND: &str = "the rest is not JSON";
pub(crate) const REPLACED: &str = "invalid bytes were replaced with U+FFFD";

pub(crate) fn damaged_from_here(reason: &str) -> String {
    format!("the file is damaged from here: {reason}")
}

/// One issue for the person who imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportIssue {
    pub kind: IssueKind,
    pub location: IssueLocation,
    /// One English sentence without the location.
    pub text: String,
}

/// Texts of conversations that are left out because there is nothing to import, or nothing more.
pub(crate) const NO_MESSAGES: &str = "it has no messages";
pub(crate) const SAME_CONVERSATION: &str = "the same conversation appears earlier in the file";

impl ImportIssue {
    /// Returns whether something is left out without any loss: an empty conversation, or a repeated one.
    pub fn is_without_loss(&self) -> bool {
        self.text == NO_MESSAGES || self.text == SAME_CONVERSATION
    }
}

/// Formats a number of messages.
pub fn message_count(count: usize) -> String {
    counted(count as u64, "message", "messages")
}

/// The location of an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueLocation {
    /// The file, or the entry of the archive.
    pub file: String,
    /// The conversation's id, or its number in the file, from 1.
    pub conversation: String,
    /// The message's id; empty if the issue concerns the whole conversation.
    pub message: String,
}

impl fmt::Display for IssueLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.file, &self.conversation, &self.message];
        let parts_shown: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        f.write_str(&parts_shown.join(" › "))
    }
}
