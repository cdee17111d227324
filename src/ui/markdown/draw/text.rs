//! Running text and formulas.

use super::drawing::{Draw, LTR, Refused};
use super::link;
use crate::ui::markdown::autolink::{self, Piece};
use crate::ui::markdown::html::{Attribute, Element};
use crate::ui::markdown::words;

/// A formula on a line of its own that is written in so many bytes fits on the narrowest screen. A longer one may be a
/// box that scrolls, which keys must reach; short ones would only be in their way.
const NEVER_SCROLLS: usize = 24;

impl Draw<'_> {
    /// Text that is nothing but text.
    pub(super) fn literal(&mut self, text: &str) {
        match (&mut self.code, &mut self.image) {
            (Some((_, code)), _) => code.push_str(text),
            (None, Some(image)) => image.alt.push_str(text),
            (None, None) => self.html.text(text),
        }
    }

    /// Running text, in which addresses become links.
    pub(super) fn run(&mut self, text: &str) -> Result<(), Refused> {
        if text.is_empty() {
            return Ok(());
        }
        self.spend(1)?;
        if self.links > 0 || self.code.is_some() || self.image.is_some() {
            self.literal(text);
            return Ok(());
        }
        for piece in autolink::pieces(text) {
            match piece {
                Piece::Text(text) => self.html.text(text),
                Piece::Link(text, target) => {
                    self.spend(1)?;
                    link::written_out(&mut self.html, &target, text);
                }
            }
        }
        Ok(())
    }

    pub(super) fn math(&mut self, source: &str, display: bool) -> Result<(), Refused> {
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
                        (Attribute::AriaLabel, words::formula()),
                    ]);
                }
                self.html.open(Element::Span, &attributes);
                self.html.formula(&tree);
                self.html.close();
            }
            None => self.html.leaf(Element::Code, &[(Attribute::Class, class), LTR], source),
        }
        Ok(())
    }
}

/// The one tag that means something: models write it into cells of tables, which cannot have line breaks otherwise.
pub fn is_line_break(tag: &str) -> bool {
    ["<br>", "<br/>", "<br />"].iter().any(|known| tag.eq_ignore_ascii_case(known))
}
