//! Streaming Markdown: of a text that grows while it is shown, only the unstable tail is parsed again.
//!
//! Text before `stable` is final. A block becomes final when the next one has begun, or an empty line or its own end
//! closes it; this is decided on complete lines only. Two rules bound the work on one long block: an open code fence
//! is read line by line without the parser ([`super::fence`]), and any other long tail is parsed again only when it
//! has grown by a sixteenth, with the newer text shown plainly below it until then. So the number of parsed bytes is
//! a constant times the number of received bytes.

use super::block::{self, BlockClosing, DrawnBlock};
use super::draw::{self, DrawBudget};
use super::enricher::PlainEnricher;
use super::fence::OpenFence;
use super::part::MarkupPart;

/// A tail up to this many bytes is parsed again at every change: it takes a fraction of a frame.
const SHORT_TAIL: usize = 8 << 10;
/// A longer tail is parsed again when it has grown by this fraction.
const GROWTH: usize = 16;

/// A delta: the parts from `from_index` on are replaced by these.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartsChange {
    pub from_index: usize,
    pub parts: Vec<MarkupPart>,
}

impl PartsChange {
    /// Applies the delta to a copy of the parts.
    pub fn apply(&self, parts: &mut Vec<MarkupPart>) {
        parts.truncate(self.from_index);
        parts.extend_from_slice(&self.parts);
    }
}

/// The parts of a growing text, rendered as in the browser.
#[derive(Debug, Default)]
pub struct StreamingMarkdown {
    text: String,
    parts: Vec<MarkupPart>,
    /// Everything before this byte is final, as are the first `stable_parts` parts, which left `budget`.
    stable: usize,
    stable_parts: usize,
    budget: DrawBudget,
    /// The complete lines before this byte have been searched for final blocks.
    settled: usize,
    /// The text up to here has been parsed; the rest is plain for now. The parts before `parsed_parts` show it.
    parsed: usize,
    parsed_parts: usize,
    fence: Option<OpenFence>,
    work: u64,
}

impl StreamingMarkdown {
    /// Starts with an initial text.
    pub fn new(text: &str) -> Self {
        let mut streaming = Self::default();
        streaming.push(text);
        streaming
    }

    /// Returns all parts as they are now.
    pub fn parts(&self) -> &[MarkupPart] {
        &self.parts
    }

    /// Returns all the text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns how many bytes have been parsed in total, some of them more than once.
    pub fn parsed_bytes(&self) -> u64 {
        self.work
    }

    /// Appends text.
    pub fn push(&mut self, more: &str) -> PartsChange {
        self.text.push_str(more);
        let from = self.stable_parts;
        let fresh = self.draw_tail(more.len());
        self.replace(from, fresh)
    }

    /// Completes the text and renders it once as a whole: a definition of a link or a footnote can be used before it
    /// is written, and that of a footnote applies only in the stretch that is parsed together with it.
    pub fn finish(&mut self) -> PartsChange {
        self.work += self.text.len() as u64;
        let whole = block::draw_blocks(&self.text, DrawBudget::default(), &[], &PlainEnricher)
            .into_iter()
            .map(|block| block.part)
            .collect();
        self.replace(0, whole)
    }

    /// Renders the parts behind the final ones.
    fn draw_tail(&mut self, added: usize) -> Vec<MarkupPart> {
        let tail = &self.text[self.stable..];
        let must_parse = match self.fence.as_mut() {
            Some(fence) => {
                self.work += added as u64;
                if fence.read_new_lines(tail).is_continue() {
                    return vec![fence.part(tail)];
                }
                true
            }
            None => tail.len() <= SHORT_TAIL || (self.text.len() - self.parsed) * GROWTH >= tail.len(),
        };
        if !must_parse {
            let mut parts = self.parts[self.stable_parts..self.parsed_parts].to_vec();
            parts.push(draw::draw_plain(&self.text[self.parsed..], None));
            return parts;
        }
        let mut parts = self.stabilize();
        let known = self.stable_parts;
        self.stable_parts += parts.len();
        let tail = &self.text[self.stable..];
        self.work += tail.len() as u64;
        self.parsed = self.text.len();
        self.fence = OpenFence::new(tail);
        match &self.fence {
            Some(fence) => parts.push(fence.part(tail)),
            None => parts
                .extend(block::draw_blocks(tail, self.budget, &[], &PlainEnricher).into_iter().map(|block| block.part)),
        }
        self.parsed_parts = known + parts.len();
        parts
    }

    /// Advances `stable` over the blocks that have become final, and returns their parts.
    fn stabilize(&mut self) -> Vec<MarkupPart> {
        let complete = self.text[self.stable..].rfind('\n').map_or(self.stable, |at| self.stable + at + 1);
        if complete <= self.settled {
            return Vec::new();
        }
        self.settled = complete;
        let lines = &self.text[self.stable..complete];
        self.work += lines.len() as u64;
        let mut parts = block::draw_blocks(lines, self.budget, &[], &PlainEnricher);
        let open = parts.pop_if(|last| !is_closed(last, lines));
        let Some(reached) = open.as_ref().map(|open| open.range.start).or(parts.last().map(|last| last.range.end))
        else {
            return Vec::new();
        };
        if let Some(last) = parts.last() {
            self.budget = last.after;
            self.stable += reached;
            self.stable += empty_lines(&self.text[self.stable..complete]);
        }
        parts.into_iter().map(|block| block.part).collect()
    }

    /// Replaces all parts from `from` on by `fresh`, and returns which of them have changed.
    fn replace(&mut self, from: usize, fresh: Vec<MarkupPart>) -> PartsChange {
        let same = self.parts[from..].iter().zip(&fresh).take_while(|(old, new)| old == new).count();
        let from_index = from + same;
        self.parts.truncate(from_index);
        self.parts.extend(fresh.into_iter().skip(same));
        PartsChange { from_index, parts: self.parts[from_index..].to_vec() }
    }
}

/// Returns whether the last block of these complete lines is final.
fn is_closed(last: &DrawnBlock, lines: &str) -> bool {
    match last.closing {
        BlockClosing::Now => true,
        BlockClosing::AtEmptyLine => {
            let end = lines.trim_end_matches([' ', '\t', '\r', '\n']).len();
            lines[end..].matches('\n').count() >= 2
        }
        BlockClosing::AtNextBlock => false,
    }
}

/// Returns how many bytes of complete empty lines a text starts with.
fn empty_lines(text: &str) -> usize {
    let is_empty = |line: &&str| line.ends_with('\n') && line.trim_matches([' ', '\t', '\r', '\n']).is_empty();
    text.split_inclusive('\n').take_while(is_empty).map(str::len).sum()
}
