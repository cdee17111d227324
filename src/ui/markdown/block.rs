//! Splits a text into its top-level blocks, within the bounds.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::citation::InlineCitation;
use super::draw::{self, DrawBudget, DrawRefusal};
use super::enricher::MarkupEnricher;
use super::fence::Fence;
use super::messages;
use super::part::MarkupPart;
use super::reading::Reading;

/// The condition after which more text can no longer change a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockClosing {
    /// The block is final.
    Now,
    /// The block is final once an empty line follows.
    AtEmptyLine,
    /// Only the next block ends it.
    AtNextBlock,
}

/// A top-level block and its rendering.
#[derive(Debug)]
pub struct DrawnBlock {
    pub part: MarkupPart,
    /// Its range in the text; the start is the start of a line, or the end of the previous block.
    pub range: Range<usize>,
    /// The budget that was left after it.
    pub after: DrawBudget,
    pub closing: BlockClosing,
}

/// Renders a text. A block that is nested too deeply is shown as plain text; when there are too many nodes or cells,
/// the block that exceeds the budget and everything after it become one plain text.
pub fn draw_blocks(
    text: &str,
    budget: DrawBudget,
    mut cites: &[InlineCitation],
    enrich: &dyn MarkupEnricher,
) -> Vec<DrawnBlock> {
    let mut parts = Vec::new();
    let mut left = budget;
    let mut depth = 0_usize;
    // A disclosure and the blocks in it are one part.
    let mut disclosures = 0;
    let mut start = 0;
    // The end of the previous block: two footnotes may be defined on one line.
    let mut reached = 0;
    if budget.nodes == 0 {
        return draw_rest_plain(text, budget);
    }
    let reading = Reading::new(text);
    let mut events = Vec::new();
    let mut coming = reading.events();
    loop {
        let next = coming.next();
        // The end of the text is the end of a disclosure that has none.
        let is_end = next.is_none();
        if let Some((event, range)) = next {
            if events.is_empty() {
                start = line_start(text, reached, range.start);
            }
            match &event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_html = matches!(event, Event::End(TagEnd::HtmlBlock));
            events.push((event, range));
            if depth > 0 {
                continue;
            }
            if is_html {
                disclosures = draw::open_disclosures(disclosures, &draw::last_html(&events));
            }
            if disclosures > 0 {
                continue;
            }
        }
        let Some(end) = events.last().map(|(_, range)| range.end) else { return parts };
        let before = left;
        let closing = closing(text, start, &events);
        let part = match draw::draw_block(&reading, &events, &mut left, &mut cites, enrich) {
            Ok(part) => part,
            Err(DrawRefusal::TooDeep) => {
                left = DrawBudget { nodes: before.nodes.saturating_sub(2), ..before };
                draw::draw_plain(&text[start..end], Some(messages::too_deep()))
            }
            Err(DrawRefusal::TooLarge) => {
                let none = DrawBudget { nodes: 0, cells: 0 };
                let part = draw::draw_plain(&text[start..], Some(messages::too_large()));
                parts.push(DrawnBlock {
                    part,
                    range: start..text.len(),
                    after: none,
                    closing: BlockClosing::AtNextBlock,
                });
                return parts;
            }
        };
        events.clear();
        (reached, disclosures) = (end, 0);
        parts.push(DrawnBlock { part, range: start..end, after: left, closing });
        if is_end {
            return parts;
        }
    }
}

/// Renders the rest of a message that has used up its budget.
fn draw_rest_plain(text: &str, budget: DrawBudget) -> Vec<DrawnBlock> {
    let part = draw::draw_plain(text, Some(messages::too_large()));
    vec![DrawnBlock { part, range: 0..text.len(), after: budget, closing: BlockClosing::AtNextBlock }]
}

/// Returns the start of the line, or the end of the previous block on it.
fn line_start(text: &str, reached: usize, at: usize) -> usize {
    let reached = reached.min(at);
    text[reached..at].rfind(['\n', '\r']).map_or(reached, |line_end| reached + line_end + 1)
}

fn closing(text: &str, start: usize, events: &[(Event, Range<usize>)]) -> BlockClosing {
    match events {
        [(Event::Rule, _), ..] | [(Event::Start(Tag::Heading { .. }), _), ..] => BlockClosing::Now,
        [(Event::Start(Tag::Paragraph | Tag::BlockQuote(_) | Tag::Table(_)), _), ..] => BlockClosing::AtEmptyLine,
        [(Event::Start(Tag::CodeBlock(kind)), _), .., (Event::End(TagEnd::CodeBlock), range)] if kind.is_fenced() => {
            let block = &text[start..range.end];
            let (opening, rest) = block.split_once('\n').unwrap_or((block, ""));
            let last = rest.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
            let closed = Fence::from_opening_line(opening).is_some_and(|fence| fence.is_closed_by(last));
            if closed { BlockClosing::Now } else { BlockClosing::AtNextBlock }
        }
        _ => BlockClosing::AtNextBlock,
    }
}
