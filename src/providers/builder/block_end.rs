//! The end of the open block of text or reasoning, with what its deltas did not have.

use super::BlockBuilder;
use super::open_block::{FinishedBlock, FinishedReasoning, OpenBlock, title_of};
use turnleaf_domain::{BlockState, Content, Event};

impl BlockBuilder {
    /// Ends the open block, if any.
    pub(super) fn end_open(&mut self, state: BlockState, out: &mut Vec<Event>) {
        let (block_id, content, reasoning) = match std::mem::replace(&mut self.open, OpenBlock::Nothing) {
            OpenBlock::Nothing => return,
            OpenBlock::Text { id, corrected } => {
                self.release_held_text(id, out);
                (id, corrected.map(|text| Content::text(&text)), None)
            }
            OpenBlock::Thinking { id, text, is_corrected, title, redacted, since } => {
                let duration = since.and_then(|since| Some(self.last_at?.saturating_sub(since)));
                let duration_ms = duration.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
                let reasoning = FinishedReasoning { title: title.clone(), duration_ms, is_sealed: redacted.is_some() };
                let title = title_of(&text, title, self.has_headings);
                let content = (duration_ms.is_some() || redacted.is_some() || is_corrected || title.is_some())
                    .then_some(Content::Thinking { thinking: text, signature: None, redacted, title, duration_ms });
                (id, content, Some(reasoning))
            }
        };
        if self.is_of_response(block_id) {
            self.finished.push(FinishedBlock { id: block_id, state, reasoning });
        }
        out.push(Event::BlockEnd { block_id, state, content });
    }
}
