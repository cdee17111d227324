//! Citation marks: numbered marks in a text that lead to the sources listed below it. They are not part of the text:
//! no text can create one, and no mark changes how the text is parsed.

use crate::domain::blocks::sources::ReplySources;
use crate::domain::{BlockId, TurnId};

/// One mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineCitation {
    /// The byte offset in the text before which it is shown.
    pub at: usize,
    /// The number of the source, from 1.
    pub number: usize,
    /// The link to an element of the same page.
    pub href: String,
}

/// Returns the id of a source's entry below a reply; `number` from 1.
pub fn source_id(turn: TurnId, number: usize) -> String {
    format!("source-{turn}-{number}")
}

impl InlineCitation {
    /// Returns the marks of one block's text, in order. A mark beyond the text is placed at its end.
    pub fn marks_in_block(sources: &ReplySources, turn: TurnId, block: BlockId, text: &str) -> Vec<Self> {
        // They arrive in order but for a few.
        let mut marks: Vec<(usize, usize)> = Vec::new();
        for mark in &sources.marks {
            let place = (mark.at, mark.source);
            if mark.block_id == block
                && (1..=sources.list.len()).contains(&mark.source)
                && let Err(at) = marks.binary_search(&place)
            {
                marks.insert(at, place);
            }
        }
        let mut places = text.char_indices().map(|(byte, _)| byte).enumerate();
        let mut reached = places.next();
        let cite = |(scalar, number): (usize, usize)| {
            while reached.is_some_and(|(count, _)| count < scalar) {
                reached = places.next();
            }
            let byte = reached.map_or(text.len(), |(_, byte)| byte);
            // A mark after a space or a line end belongs to the sentence before it.
            Self { at: text[..byte].trim_end().len(), number, href: format!("#{}", source_id(turn, number)) }
        };
        marks.into_iter().map(cite).collect()
    }
}
