//! What every API reads out of a turn of the history in the same way: its words, and the results of its calls. Not for
//! how any of them writes it.

use serde_json::Value;

use super::provider::{HistoryTurn, Shown, ShownImage};
use crate::domain::turn::content_text;
use crate::domain::{Block, Content, told};

/// The result of a call that nobody answered: without one the request would be refused (reliability.md 1.3 rule 8,
/// providers.md 6.6).
pub const UNANSWERED: &str = "Cancelled: this tool call has no result.";

/// A piece of what a person said.
#[derive(Debug, Clone)]
pub enum UserPart<'a> {
    Text(String),
    Image(&'a ShownImage),
}

impl HistoryTurn {
    /// Its text without errors, reasoning and calls.
    pub fn plain_text(&self) -> String {
        content_text(self.blocks.iter().map(|block| &block.content))
    }

    /// What a person said; an image is told by its words.
    pub fn user_text(&self) -> String {
        let mut text = self.plain_text();
        for block in &self.blocks {
            if let Content::Image { alt, .. } = &block.content {
                text.push_str(&format!("\n\n[image: {alt}]"));
            }
        }
        text
    }

    /// What a person said and showed, in its order: texts that follow each other are one. What is not among the
    /// attachments is told by its words.
    pub fn user_parts(&self) -> Vec<UserPart<'_>> {
        let mut parts: Vec<UserPart<'_>> = Vec::new();
        for block in &self.blocks {
            let text = match (self.attached.get(&block.id), &block.content) {
                (Some(Shown::Image(image)), _) => {
                    parts.push(UserPart::Image(image));
                    continue;
                }
                (Some(Shown::Text(text)), _) => text.clone(),
                (None, Content::Text { text, is_error: false }) => text.clone(),
                (None, Content::Image { alt, .. }) => format!("[image: {alt}]"),
                _ => continue,
            };
            match parts.last_mut() {
                Some(UserPart::Text(said)) => *said = format!("{said}\n\n{text}"),
                _ => parts.push(UserPart::Text(text)),
            }
        }
        parts
    }

    /// What the model is told of the call at this place, from 0, and whether it is an error. The n-th call of the
    /// responses is the n-th call among the blocks that the provider did not run itself: ids may repeat, places do not.
    /// Only an object is given as one; everything else is a text.
    pub fn result_of(&self, place: usize) -> Option<(Value, bool)> {
        let is_ours = |block: &&Block| matches!(block.content, Content::ToolUse { .. }) && !block.is_run_by_provider();
        let call = self.blocks.iter().filter(is_ours).nth(place)?.id;
        self.blocks.iter().find_map(|block| match &block.content {
            Content::ToolResult { result, is_error, metadata, .. } if block.parent_block_id == Some(call) => {
                Some((told::value(result, metadata), *is_error))
            }
            _ => None,
        })
    }

    /// The same as text, as most APIs want it.
    pub fn result_text(&self, place: usize) -> Option<(String, bool)> {
        let (result, is_error) = self.result_of(place)?;
        Some((told::text(result), is_error))
    }
}

#[cfg(test)]
pub(super) mod sample;
#[cfg(test)]
mod tests;
