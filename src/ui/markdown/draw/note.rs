//! Footnotes: a raised name where one is asked for, and the same in front of its words, which stay where they were written.
//! It is the name that the text gives, so that what is drawn already does not change with what is still to come.

use super::drawing::{Draw, Refused};
use crate::ui::markdown::html::{Attribute, Element};

impl Draw<'_> {
    pub(super) fn note(&mut self, name: &str) {
        if self.image.is_some() {
            return self.literal(name);
        }
        self.raised(name);
    }

    pub(super) fn start_note(&mut self, name: &str) -> Result<(), Refused> {
        // It is three elements.
        self.spend(2)?;
        self.html.open(Element::Div, &[(Attribute::Class, "md-footnote")]);
        self.raised(name);
        self.html.open(Element::Div, &[]);
        self.frames.push(2);
        Ok(())
    }

    /// In brackets: behind a number it is no power, also for those who listen.
    fn raised(&mut self, name: &str) {
        self.html.open(Element::Sup, &[(Attribute::Class, "md-note")]);
        for piece in ["[", name, "]"] {
            self.html.text(piece);
        }
        self.html.close();
    }
}
