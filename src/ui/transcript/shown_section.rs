//! A section of reasoning as it is shown: equal values look the same, so that older sections are not rendered again
//! while the newest one grows.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use crate::domain::blocks::reasoning_title::ReasoningPart;
use crate::domain::{Block, BlockState, Content};

/// A section as it is shown. Sections of the same value look the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownSection {
    pub title: String,
    /// The bytes of its text in the block.
    pub range: Range<usize>,
    fingerprint: u64,
    /// True if its text may still grow.
    pub is_open: bool,
}

/// Returns the sections of a block of reasoning.
pub fn shown_sections(block: &Block) -> Vec<ShownSection> {
    let Content::Thinking { thinking, .. } = &block.content else { return Vec::new() };
    let parts = block.reasoning_parts();
    let last = parts.len().saturating_sub(1);
    let shown = |(at, part): (usize, ReasoningPart)| {
        let mut hasher = DefaultHasher::new();
        thinking.get(part.text.clone()).hash(&mut hasher);
        ShownSection {
            title: part.title.unwrap_or_default(),
            range: part.text,
            fingerprint: hasher.finish(),
            is_open: block.state == BlockState::Open && at == last,
        }
    };
    parts.into_iter().enumerate().map(shown).collect()
}
