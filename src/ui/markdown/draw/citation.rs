//! Citation marks: never in code, in a formula, in a link or in the description of an image.

use pulldown_cmark::{Event, Tag, TagEnd};
use std::ops::Range;

use super::drawing::BlockDrawing;
use crate::ui::markdown::html::{Attribute, Element};
use crate::ui::markdown::messages;

impl BlockDrawing<'_> {
    /// Renders the marks up to a byte of the text. Where none may stand, they wait.
    pub(super) fn draw_citations_up_to(&mut self, byte: usize) {
        if self.links > 0 || self.code.is_some() || self.image.is_some() {
            return;
        }
        while let Some((cite, rest)) = self.cites.split_first().filter(|(cite, _)| cite.at <= byte) {
            self.cites = rest;
            self.html.open(Element::Sup, &[(Attribute::Class, "md-cite")]);
            let name = messages::source_name(cite.number);
            // `external` bypasses the router: the browser navigates to the source and opens the disclosure that
            // contains it.
            let attributes =
                [(Attribute::Href, cite.href.as_str()), (Attribute::Rel, "external"), (Attribute::AriaLabel, &name)];
            self.html.text_element(Element::A, &attributes, &format!("[{}]", cite.number));
            self.html.close();
        }
    }

    /// Renders the marks before an event, where running text can stand before it.
    pub(super) fn draw_citations_before(&mut self, event: &Event, range: &Range<usize>) {
        match event {
            // The range of an end event is that of the whole element.
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => {
                self.draw_citations_up_to(range.end);
            }
            Event::Start(Tag::List(_)) if self.block_depth > 0 => self.draw_citations_up_to(range.start),
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. })
            | Event::Code(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak => self.draw_citations_up_to(range.start),
            _ => {}
        }
    }

    /// Returns the length of the first part of a piece of text that ends at a mark, and the mark's byte in the
    /// source; offsets agree where the piece is as long as its source.
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
