//! The block of text or reasoning that is being written, and those that have ended. Calls are kept separately: their
//! deltas may interleave, so they stay open until the reply ends (docs/reference/domain.md I6 allows that for calls only).

use std::time::Duration;

use turnleaf_domain::blocks::reasoning_title;
use turnleaf_domain::{BlockId, BlockState, Content};

/// A text with which the reply began.
pub(super) struct ContinuedText {
    pub id: BlockId,
    pub text: String,
    /// The response has text for it.
    pub is_grown: bool,
}

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
    pub reasoning: Option<FinishedReasoning>,
}

/// The parts of the end of reasoning beside its text.
pub(super) struct FinishedReasoning {
    pub title: Option<(usize, String)>,
    pub duration_ms: Option<u64>,
    /// The provider hides a part of it, so the text alone is not its content.
    pub is_sealed: bool,
}

impl FinishedBlock {
    /// Returns the content with another text; `None` if the text cannot be replaced.
    pub fn content(&self, text: String, has_headings: bool) -> Option<Content> {
        let Some(FinishedReasoning { title, duration_ms, is_sealed }) = &self.reasoning else {
            return Some(Content::text(&text));
        };
        let title = title_of(&text, title.clone(), has_headings);
        let content =
            Content::Thinking { thinking: text, signature: None, redacted: None, title, duration_ms: *duration_ms };
        (!is_sealed).then_some(content)
    }
}

/// Returns the title of reasoning: the last heading of its text, or the title that came after it beside the text.
pub(super) fn title_of(text: &str, beside: Option<(usize, String)>, has_headings: bool) -> Option<String> {
    let heading = reasoning_title::last_heading(text, true).filter(|_| has_headings);
    match (heading, beside) {
        (Some((at, _)), Some((before, title))) if before > at => Some(title),
        (None, title) => title.map(|(_, title)| title),
        (Some((_, heading)), _) => Some(heading.to_owned()),
    }
}
