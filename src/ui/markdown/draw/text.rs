//! Running text and formulas.

use super::drawing::{BlockDrawing, DrawRefusal, LTR};
use super::link;
use crate::ui::markdown::autolink::{self, AutolinkPiece};
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

/// Returns whether it is the one HTML tag that is interpreted: models write it into table cells, which cannot have
/// line breaks otherwise.
pub fn is_line_break(tag: &str) -> bool {
    ["<br>", "<br/>", "<br />"].iter().any(|known| tag.eq_ignore_ascii_case(known))
}
