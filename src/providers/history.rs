//! Text and tool results of history turns in provider-neutral form. Formatting them for an API is the task of its
//! adapter.

use serde_json::Value;

use super::provider::{AttachmentContent, HistoryTurn, InputImage};
use turnleaf_domain::blocks::derived_text::{DerivedText, content_text};
use turnleaf_domain::text::hidden_text::replace_nul;
use turnleaf_domain::tools::tool_output;
use turnleaf_domain::{Block, Content};

/// The result that is sent for a call without one, because the API would refuse the request otherwise
/// (docs/reference/providers.md 2.6, 6.6).
pub const UNANSWERED: &str = "Cancelled: this tool call has no result.";

/// A part of a user message.
#[derive(Debug, Clone)]
pub enum UserPart<'a> {
    Text(String),
    Image(&'a InputImage),
}

impl HistoryTurn {
    /// Returns the text of a turn without errors, reasoning and calls; images are replaced by their descriptions.
    pub fn plain_text(&self) -> String {
        if !self.blocks.iter().any(Block::is_image) {
            return content_text(self.blocks.iter().map(|block| &block.content));
        }
        let mut text = DerivedText::default();
        for block in self.blocks.iter() {
            match &block.content {
                Content::Text { text: words, is_error: false } => text.push(words.trim_matches('\n')),
                Content::Image { alt, .. } => text.push(&image_placeholder(alt)),
                other => text.skip(other),
            }
        }
        text.into_text()
    }

    /// Returns the text of a user turn; images are replaced by their descriptions.
    pub fn user_text(&self) -> String {
        let words = self.user_parts().into_iter().map(|part| match part {
            UserPart::Text(text) => text,
            UserPart::Image(image) => image_placeholder(&image.alt),
        });
        words.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns text and images of a user turn in order. Adjacent texts are joined, and blank ones are dropped. An
    /// image that is not among the attachments is replaced by its description.
    pub fn user_parts(&self) -> Vec<UserPart<'_>> {
        let mut parts: Vec<UserPart<'_>> = Vec::new();
        for block in self.blocks.iter() {
            let text = match (self.attached.get(&block.id), &block.content) {
                (Some(AttachmentContent::Image(image)), _) => {
                    parts.push(UserPart::Image(image));
                    continue;
                }
                (Some(AttachmentContent::Text(text)), _) => replace_nul(text.clone()),
                (_, Content::Text { text, is_error: false }) => text.clone(),
                (_, Content::Image { alt, .. }) => image_placeholder(alt),
                _ => continue,
            };
            match parts.last_mut() {
                _ if text.trim().is_empty() => {}
                Some(UserPart::Text(earlier)) => *earlier = format!("{earlier}\n\n{text}"),
                _ => parts.push(UserPart::Text(text)),
            }
        }
        parts
    }

    /// Returns the result of the call at this position, from 0, as the model gets it, and whether it is an error. The
    /// n-th call of the responses is the n-th call among the blocks that the provider did not run itself: ids may
    /// repeat, positions do not. Only an object stays an object; everything else is text.
    pub fn tool_result(&self, place: usize) -> Option<(Value, bool)> {
        let shown: Vec<&str> = self.tool_result_images(place).map(|image| image.sha256.as_str()).collect();
        match &self.tool_result_block(place)?.content {
            Content::ToolResult { result, is_error, metadata, .. } => {
                Some((tool_output::render_with_images(result, metadata, &shown), *is_error))
            }
            _ => None,
        }
    }

    /// Returns the images of that result that are sent to the model. The text of [`HistoryTurn::tool_result`] states
    /// which images are not shown.
    pub fn tool_result_images(&self, place: usize) -> impl Iterator<Item = &InputImage> {
        let shown = self.tool_result_block(place).and_then(|answer| self.attached.get(&answer.id));
        shown.into_iter().flat_map(AttachmentContent::images)
    }

    fn tool_result_block(&self, place: usize) -> Option<&Block> {
        let is_ours = |block: &&Block| matches!(block.content, Content::ToolUse { .. }) && !block.is_run_by_provider();
        let call = self.blocks.iter().filter(is_ours).nth(place)?.id;
        let is_answer = |block: &&Block| matches!(block.content, Content::ToolResult { .. });
        self.blocks.iter().filter(is_answer).find(|block| block.parent_block_id == Some(call))
    }

    /// Returns the result of the call at this position as text, as most APIs require it.
    pub fn tool_result_text(&self, place: usize) -> Option<(String, bool)> {
        let (result, is_error) = self.tool_result(place)?;
        Some((tool_output::value_to_text(result), is_error))
    }
}

fn image_placeholder(alt: &str) -> String {
    format!("[image: {alt}]")
}

#[cfg(test)]
pub(super) mod fixtures;
#[cfg(test)]
mod tests;
