//! Marks that lead to sources: never in code, in a formula, in a link or in the description of an image.

use pulldown_cmark::{Event, Tag, TagEnd};
use std::ops::Range;

use super::drawing::BlockDrawing;
use crate::ui::markdown::html::{Attribute, Element};
use crate::ui::markdown::messages;

impl BlockDrawing<'_> {
    /// Draws the marks that stand before a byte of the text, or at it. Where none may stand they wait.
    pub(super) fn draw_citations_up_to(&mut self, byte: usize) {
        if self.links > 0 || self.code.is_some() || self.image.is_some() {
            return;
        }
        while let Some((cite, rest)) = self.cites.split_first().filter(|(cite, _)| cite.at <= byte) {
            self.cites = rest;
            self.html.open(Element::Sup, &[(Attribute::Class, "md-cite")]);
            let name = messages::source_name(cite.number);
            // Not the router's business: the browser goes there, and opens what it is in.
            let attributes =
                [(Attribute::Href, cite.href.as_str()), (Attribute::Rel, "external"), (Attribute::AriaLabel, &name)];
            self.html.text_element(Element::A, &attributes, &format!("[{}]", cite.number));
            self.html.close();
        }
    }

    /// The same before an event is drawn, where it is one before which running text can stand.
    pub(super) fn draw_citations_before(&mut self, event: &Event, range: &Range<usize>) {
        match event {
            // The range of an end is that of all that it ends.
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => {
                self.draw_citations_up_to(range.end);
            }
            Event::Start(Tag::List(_)) if self.block_depth > 0 => self.draw_citations_up_to(range.start),
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. })
            | Event::Code(_)
            | Event::FootnoteReference(_)
            | Event::InlineMath(_)
            | Event::SoftBreak
            | Event::HardBreak => self.draw_citations_up_to(range.start),
            _ => {}
        }
    }

    /// The first part of a piece of text that ends where a mark stands, and where that is: its bytes are those of the
    /// source where it is as long.
    pub(super) fn cut_at_citation(&self, piece: &str, range: &Range<usize>) -> Option<(usize, usize)> {
        let cite = self.cites.first().filter(|cite| cite.at < range.end)?;
        if self.links > 0 || self.code.is_some() || self.image.is_some() {
            return None;
        }
        let at = cite.at.max(range.start);
        let inside = at - range.start;
        let is_as_written = piece.len() == range.len();
        (inside == 0 || (is_as_written && piece.is_char_boundary(inside))).then_some((inside, at))
    }
}
