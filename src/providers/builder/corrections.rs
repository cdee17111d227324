//! Corrections of what deltas emitted: the final text of a block, the arguments of a call, the title of reasoning. No
//! event can take back a delta, so the end of the block carries the corrected content; that of a block that has ended
//! is sent again.

use std::time::Duration;

use super::{BlockBuilder, OpenBlock};
use turnleaf_domain::Event;

impl BlockBuilder {
    /// Sets the title of the open reasoning. The end of its block carries it.
    pub(super) fn set_title(&mut self, new: String) {
        if let OpenBlock::Thinking { text, title, .. } = &mut self.open {
            *title = Some((text.len(), new));
        }
    }

    /// Corrects the open text. The end of its block carries the corrected text, because deltas can only append.
    pub(super) fn replace_text(&mut self, text: String, out: &mut Vec<Event>) {
        let OpenBlock::Text { id, .. } = self.open else { return self.text(text, out) };
        let whole = self.whole_text(id, text);
        if let OpenBlock::Text { corrected, .. } = &mut self.open {
            *corrected = Some(whole);
        }
    }

    /// Corrects the open reasoning, like [`Self::replace_text`].
    pub(super) fn replace_thinking(&mut self, whole: String, at: Option<Duration>, out: &mut Vec<Event>) {
        match &mut self.open {
            OpenBlock::Thinking { text, is_corrected, .. } => {
                *text = whole;
                *is_corrected = true;
            }
            _ => self.thinking(&whole, None, at, out),
        }
    }

    /// Corrects the text of a block of text or reasoning of this response that has ended.
    pub(super) fn replace_finished(&mut self, number: usize, text: String, out: &mut Vec<Event>) {
        let Some(block) = self.finished.get(number) else { return };
        if let Some(content) = block.content(self.whole_text(block.id, text), self.has_headings) {
            out.push(Event::BlockEnd { block_id: block.id, state: block.state, content: Some(content) });
        }
    }

    /// Corrects the arguments of a call, whose block ends with the arguments as they are then.
    pub(super) fn replace_arguments(&mut self, index: u64, whole: String) {
        let at = self.indexes.iter().rposition(|known| *known == index).filter(|at| *at >= self.ended);
        if let Some(call) = at.and_then(|at| self.calls.get_mut(at)) {
            self.size.note_arguments(whole.len());
            call.raw = whole;
        }
    }
}
