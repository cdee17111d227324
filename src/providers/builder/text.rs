//! The text of a reply. A response may continue the text with which the reply began.

use super::open_block::ContinuedText;
use super::text_echo::TextEcho;
use super::{BlockBuilder, OpenBlock};
use turnleaf_domain::{Block, BlockId, BlockState, Content, Event};

impl BlockBuilder {
    /// Continues the text with which the reply began, if it is still open: the first text of the response grows it.
    pub fn with_open_text(mut self, blocks: &[Block]) -> Self {
        let is_open = |block: &&Block| block.state == BlockState::Open && matches!(block.content, Content::Text { .. });
        if let Some(Block { id, content: Content::Text { text, .. }, .. }) = blocks.iter().rfind(is_open) {
            self.open = OpenBlock::Text { id: *id, corrected: None };
            self.echo = TextEcho::of_text(text.clone());
            self.continued = Some(ContinuedText { id: *id, text: text.clone(), is_grown: false });
        }
        self
    }

    pub(super) fn text(&mut self, text: String, out: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        let text = match self.open {
            OpenBlock::Text { .. } => {
                if let Some(continued) = &mut self.continued {
                    continued.is_grown = true;
                }
                self.echo.strip(text)
            }
            _ => text,
        };
        if text.is_empty() {
            return;
        }
        let id = match &mut self.open {
            OpenBlock::Text { id, corrected } => {
                if let Some(corrected) = corrected {
                    corrected.push_str(&text);
                }
                *id
            }
            _ => {
                self.end_open(BlockState::Done, out);
                let id = self.start(Content::text(""), BlockState::Open, out);
                self.open = OpenBlock::Text { id, corrected: None };
                id
            }
        };
        out.push(Event::BlockDelta { block_id: id, text });
    }

    /// Returns true if a block that ends is one of the response: not if it only continues a text and has nothing new.
    pub(super) fn is_of_response(&self, id: BlockId) -> bool {
        !self.continued.as_ref().is_some_and(|continued| continued.id == id && !continued.is_grown)
    }

    /// Returns the corrected text of a block, with the text that the response continues there.
    pub(super) fn whole_text(&self, id: BlockId, text: String) -> String {
        match &self.continued {
            Some(continued) if continued.id == id && !text.starts_with(&continued.text) => {
                format!("{}{text}", continued.text)
            }
            _ => text,
        }
    }

    /// Appends what was held back of the text that ends.
    pub(super) fn release_held_text(&mut self, id: BlockId, out: &mut Vec<Event>) {
        let text = self.echo.take_held();
        if !text.is_empty() {
            out.push(Event::BlockDelta { block_id: id, text });
        }
    }
}
