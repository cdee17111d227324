//! Two readings of running text that the parser lacks: formulas in `\(…\)` and `\[…\]`, as many models write them,
//! and addresses that become links.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

/// A formula between two events of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formula {
    /// The events that have its opening and its closing bracket as their first character.
    pub open: usize,
    pub close: usize,
    pub display: bool,
}

/// Returns the formulas among the events of one block, in order, not overlapping.
///
/// To the parser `\(` is an escaped bracket: a text event that starts with `(` right behind a backslash. A pair
/// counts when both brackets are in the same paragraph and at the same depth of emphasis; whatever the parser made of
/// the source between them is dropped. In a quote a formula must be on one line, because the source contains the
/// quote's marks.
pub fn formulas(text: &str, events: &[(Event, Range<usize>)]) -> Vec<Formula> {
    let mut formulas = Vec::new();
    // Only this block's source is searched; otherwise a text of many blocks would be searched many times.
    let source = events.first().zip(events.last()).map_or("", |((_, first), (_, last))| &text[first.start..last.end]);
    if !source.contains("\\(") && !source.contains("\\[") {
        return formulas;
    }
    let mut quotes = 0_usize;
    let mut depth = 0_usize;
    // The latest opening bracket: its event, its kind, and its depth.
    let mut open: Option<(usize, bool, usize)> = None;
    for (at, (event, range)) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough) => depth += 1,
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {
                depth = depth.saturating_sub(1);
                open = open.filter(|(_, _, level)| *level <= depth);
            }
            Event::Start(tag) => {
                quotes += usize::from(matches!(tag, Tag::BlockQuote(_)));
                open = None;
            }
            Event::End(tag) => {
                quotes -= usize::from(matches!(tag, TagEnd::BlockQuote(_))).min(quotes);
                open = None;
            }
            Event::SoftBreak | Event::HardBreak if quotes > 0 => open = None,
            Event::Text(_) => match escaped_bracket(text, range) {
                Some(b'(') => open = Some((at, false, depth)),
                Some(b'[') => open = Some((at, true, depth)),
                Some(bracket) => {
                    if let Some((first, display, _)) =
                        open.filter(|(_, display, level)| *level == depth && *display == (bracket == b']'))
                    {
                        formulas.push(Formula { open: first, close: at, display });
                        open = None;
                    }
                }
                None => {}
            },
            _ => {}
        }
    }
    formulas
}

/// Returns the bracket that this text event starts with, if a backslash precedes it.
fn escaped_bracket(text: &str, range: &Range<usize>) -> Option<u8> {
    let bytes = text.as_bytes();
    let bracket = *bytes.get(range.start).filter(|byte| matches!(byte, b'(' | b')' | b'[' | b']'))?;
    // An escaped backslash starts a text event of its own, so this event would start with it.
    (range.start > 0 && bytes[range.start - 1] == b'\\').then_some(bracket)
}
