//! Footnotes: a raised name where one is asked for, and the same in front of its words, which stay where they were written.
//! It is the name that the text gives, so that what is drawn already does not change with what is still to come.

use super::drawing::{BlockDrawing, DrawRefusal};
use crate::ui::markdown::html::{Attribute, Element};

impl BlockDrawing<'_> {
    pub(super) fn footnote_reference(&mut self, name: &str) {
        if self.image.is_some() {
            return self.literal_text(name);
        }
        self.raised_name(name);
    }

    pub(super) fn start_footnote(&mut self, name: &str) -> Result<(), DrawRefusal> {
        // It is three elements.
        self.spend(2)?;
        self.html.open(Element::Div, &[(Attribute::Class, "md-footnote")]);
        self.raised_name(name);
        self.html.open(Element::Div, &[]);
        self.frames.push(2);
        Ok(())
    }

    /// In brackets: behind a number it is no power, also for those who listen.
    fn raised_name(&mut self, name: &str) {
        self.html.open(Element::Sup, &[(Attribute::Class, "md-note")]);
        for piece in ["[", name, "]"] {
            self.html.text(piece);
        }
        self.html.close();
    }
}
