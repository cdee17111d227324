//! Running text and formulas.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::Event;

use super::drawing::{BlockDrawing, DrawRefusal, LTR};
use super::link;
use crate::ui::markdown::autolink::{self, AutolinkPiece};
use crate::ui::markdown::formula::Formula;
use crate::ui::markdown::html::{Attribute, Element};
use crate::ui::markdown::messages;

/// A display formula whose source has at most this many bytes fits on the narrowest screen. A longer one may scroll,
/// so its box must be focusable; for short ones a tab stop would be in the way.
const NEVER_SCROLLS: usize = 24;

impl BlockDrawing<'_> {
    /// Writes literal text.
    pub(super) fn literal_text(&mut self, text: &str) {
        match (&mut self.code, &mut self.image) {
            (Some((_, code)), _) => code.push_str(text),
            (None, Some(image)) => image.alt.push_str(text),
            (None, None) => self.html.text(text),
        }
    }

    /// Renders the text that these events begin with, and its formulas. Returns how many events that were.
    pub(super) fn text(&mut self, events: &[(Event, Range<usize>)]) -> Result<usize, DrawRefusal> {
        let reading = self.reading;
        let source = reading.text;
        let mut run = Cow::Borrowed("");
        let mut at = 0;
        // Everything before this byte has been rendered: a formula may end inside an event.
        let mut reached = 0;
        // The parser splits text at every character that could have been syntax.
        while let Some((Event::Text(piece), range)) = events.get(at) {
            let begin = range.start.max(reached);
            let formulas = self.formulas;
            let Some((formula, later)) = formulas.split_first().filter(|(next, _)| next.span.start < range.end) else {
                let written =
                    if begin == range.start { reading.as_written(piece, range) } else { &source[begin..range.end] };
                self.join_text(&mut run, written, begin..range.end)?;
                at += 1;
                continue;
            };
            self.formulas = later;
            let Some((events_inside, formula_source)) =
                formula_source(source, formula, &events[at..]).filter(|_| formula.span.start >= begin)
            else {
                continue;
            };
            self.join_text(&mut run, &source[begin..formula.span.start], begin..formula.span.start)?;
            self.running_text(&std::mem::take(&mut run))?;
            self.draw_citations_up_to(formula.span.start);
            self.formula(&formula_source, formula.display)?;
            reached = formula.span.end;
            at += events_inside;
        }
        self.running_text(&run)?;
        Ok(at)
    }

    /// Appends a piece to a run of text that is rendered at once, because an address may stand in several pieces.
    fn join_text<'a>(
        &mut self,
        run: &mut Cow<'a, str>,
        piece: &'a str,
        mut range: Range<usize>,
    ) -> Result<(), DrawRefusal> {
        let mut piece = piece;
        while let Some((inside, cite)) = self.cut_at_citation(piece, &range) {
            join(run, &piece[..inside]);
            self.running_text(&std::mem::take(run))?;
            self.draw_citations_up_to(cite);
            (piece, range.start) = (&piece[inside..], range.start + inside);
        }
        join(run, piece);
        Ok(())
    }

    /// Writes running text, in which addresses become links.
    pub(super) fn running_text(&mut self, text: &str) -> Result<(), DrawRefusal> {
        if text.is_empty() {
            return Ok(());
        }
        self.spend(1)?;
        if self.links > 0 || self.code.is_some() || self.image.is_some() {
            self.literal_text(text);
            return Ok(());
        }
        for piece in autolink::split_at_links(text) {
            match piece {
                AutolinkPiece::Text(text) => self.html.text(text),
                AutolinkPiece::Link(text, target) => {
                    self.spend(1)?;
                    link::write_bare_link(&mut self.html, &target, text);
                }
            }
        }
        Ok(())
    }

    pub(super) fn formula(&mut self, source: &str, display: bool) -> Result<(), DrawRefusal> {
        self.spend(1)?;
        if let Some(image) = &mut self.image {
            image.alt.push_str(source);
            return Ok(());
        }
        let class = if display { "md-math md-display" } else { "md-math" };
        match self.enrich.math(source, display) {
            Some(tree) => {
                let mut attributes = vec![(Attribute::Class, class), LTR];
                if display && source.len() > NEVER_SCROLLS {
                    attributes.extend([
                        (Attribute::Tabindex, "0"),
                        (Attribute::Role, "group"),
                        (Attribute::AriaLabel, messages::formula()),
                    ]);
                }
                self.html.open(Element::Span, &attributes);
                self.html.formula(&tree);
                self.html.close();
            }
            None => self.html.text_element(Element::Code, &[(Attribute::Class, class), LTR], source),
        }
        Ok(())
    }
}

/// Returns the TeX of a formula that begins in the first event, and the number of events before the one behind it or
/// in which it ends. `None` if anything but text stands in it.
fn formula_source(text: &str, formula: &Formula, events: &[(Event, Range<usize>)]) -> Option<(usize, String)> {
    let inner = formula.inner();
    let mut source = String::with_capacity(inner.len());
    for (at, (event, range)) in events.iter().enumerate() {
        match event {
            // Between the lines of a quote stand its marks, which are not in the events.
            Event::Text(_) => {
                source.push_str(text.get(range.start.max(inner.start)..range.end.min(inner.end)).unwrap_or_default());
            }
            Event::SoftBreak | Event::HardBreak => source.push('\n'),
            _ => return None,
        }
        if range.end >= formula.span.end {
            return Some((at + usize::from(range.end == formula.span.end), source));
        }
    }
    None
}

/// Appends a piece to a run of text.
fn join<'a>(run: &mut Cow<'a, str>, piece: &'a str) {
    if run.is_empty() { *run = Cow::Borrowed(piece) } else { run.to_mut().push_str(piece) }
}

/// Returns whether it is a line break, which is interpreted like the tags of [`super::html_tag`]: models write it into
/// table cells, which cannot have line breaks otherwise.
pub fn is_line_break(tag: &str) -> bool {
    ["<br>", "<br/>", "<br />"].iter().any(|known| tag.eq_ignore_ascii_case(known))
}
