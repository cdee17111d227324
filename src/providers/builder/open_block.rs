//! The block of text or reasoning that is being written, and its end. Calls are kept separately: their deltas may
//! interleave, so they stay open until the reply ends (docs/reference/domain.md I6 allows that for calls only).

use std::time::Duration;

use super::BlockBuilder;
use turnleaf_domain::{BlockId, BlockState, Content, Event, reasoning_title};

/// The block that is being written.
pub(super) enum OpenBlock {
    Nothing,
    /// `corrected` is the text of the block if the provider corrected what deltas emitted.
    Text {
        id: BlockId,
        corrected: Option<String>,
    },
    Thinking {
        id: BlockId,
        text: String,
        is_corrected: bool,
        /// A title that the text does not show, and the length of the text before it.
        title: Option<(usize, String)>,
        redacted: Option<String>,
        since: Option<Duration>,
    },
}

/// A block that has ended. Its provider may still correct its text.
pub(super) struct FinishedBlock {
    pub id: BlockId,
    pub state: BlockState,
    /// `None` for text.
    reasoning: Option<FinishedReasoning>,
}

/// What the end of reasoning has beside its text.
struct FinishedReasoning {
    title: Option<(usize, String)>,
    duration_ms: Option<u64>,
    /// The provider hides a part of it, so the text alone is not its content.
    is_sealed: bool,
}

impl FinishedBlock {
    /// Returns the content with another text; `None` if the text cannot be replaced.
    pub(super) fn content(&self, text: String, has_headings: bool) -> Option<Content> {
        let Some(FinishedReasoning { title, duration_ms, is_sealed }) = &self.reasoning else {
            return Some(Content::text(&text));
        };
        let title = title_of(&text, title.clone(), has_headings);
        let content =
            Content::Thinking { thinking: text, signature: None, redacted: None, title, duration_ms: *duration_ms };
        (!is_sealed).then_some(content)
    }
}

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
        self.finished.push(FinishedBlock { id: block_id, state, reasoning });
        out.push(Event::BlockEnd { block_id, state, content });
    }
}

/// Returns the title of reasoning: the last heading of its text, or the title that came after it beside the text.
fn title_of(text: &str, beside: Option<(usize, String)>, has_headings: bool) -> Option<String> {
    let heading = reasoning_title::last_heading(text, true).filter(|_| has_headings);
    match (heading, beside) {
        (Some((at, _)), Some((before, title))) if before > at => Some(title),
        (None, title) => title.map(|(_, title)| title),
        (Some((_, heading)), _) => Some(heading.to_owned()),
    }
}
