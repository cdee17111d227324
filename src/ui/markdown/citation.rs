//! Numbered marks in a text that lead to the sources listed under it. They are no part of the text: nothing that is
//! written in it can make one, and none of them changes how the text is read.

use crate::domain::sources::ReplySources;
use crate::domain::{BlockId, TurnId};

/// One mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineCitation {
    /// The byte of the text that it stands before.
    pub at: usize,
    /// From 1.
    pub number: usize,
    /// Where it leads: a place on the same page.
    pub href: String,
}

/// The id of a source's entry under a reply; `number` from 1.
pub fn source_id(turn: TurnId, number: usize) -> String {
    format!("source-{turn}-{number}")
}

impl InlineCitation {
    /// The marks of one block's text, in order. One that points beyond the text stands at its end.
    pub fn marks_in_block(sources: &ReplySources, turn: TurnId, block: BlockId, text: &str) -> Vec<Self> {
        let mut marks: Vec<(usize, usize)> = sources
            .marks
            .iter()
            .filter(|mark| mark.block_id == block && (1..=sources.list.len()).contains(&mark.source))
            .map(|mark| (mark.at, mark.source))
            .collect();
        marks.sort_unstable();
        marks.dedup();
        let mut places = text.char_indices().map(|(byte, _)| byte).enumerate();
        let mut reached = places.next();
        let cite = |(scalar, number): (usize, usize)| {
            while reached.is_some_and(|(count, _)| count < scalar) {
                reached = places.next();
            }
            let byte = reached.map_or(text.len(), |(_, byte)| byte);
            // What a space or a line end divides from its sentence belongs to the sentence.
            Self { at: text[..byte].trim_end().len(), number, href: format!("#{}", source_id(turn, number)) }
        };
        marks.into_iter().map(cite).collect()
    }
}
