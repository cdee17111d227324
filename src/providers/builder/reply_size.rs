//! The size of a response and its limits. The builder measures it, so that a live reply and `turnleaf replay` end at the
//! same place (docs/reference/providers.md 2.2).

use crate::provider::DecodedItem;
use turnleaf_domain::{FailureKind, limits};

/// The size of one response so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplySize {
    bytes: u64,
    longest_arguments: usize,
}

impl ReplySize {
    /// Returns the bytes of text, reasoning and arguments.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// Returns the failure of a response that is too large.
    pub fn exceeded_limit(self) -> Option<FailureKind> {
        if self.longest_arguments > limits::TOOL_ARGS_BYTES {
            Some(FailureKind::LimitToolArgs)
        } else if self.bytes > limits::REPLY_TEXT_BYTES as u64 {
            Some(FailureKind::LimitOutput)
        } else {
            None
        }
    }

    pub(super) fn note(&mut self, item: &DecodedItem) {
        if let DecodedItem::Text(text)
        | DecodedItem::Thinking(text)
        | DecodedItem::TextReplaced(text)
        | DecodedItem::ThinkingReplaced(text)
        | DecodedItem::FinishedReplaced { text, .. }
        | DecodedItem::ToolArguments { text, .. }
        | DecodedItem::ToolArgumentsReplaced { text, .. }
        | DecodedItem::ProviderToolArguments { text, .. } = item
        {
            self.bytes += text.len() as u64;
        }
    }

    /// Notes the length of the arguments of a call.
    pub(super) fn note_arguments(&mut self, length: usize) {
        self.longest_arguments = self.longest_arguments.max(length);
    }
}
