//! Footnotes: a raised name at the reference, and the same in front of the note, which stays where it was written.
//! The name is the one in the text, so that rendered parts do not change with later text.

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
        // A footnote is three elements; one is counted already.
        self.spend(2)?;
        self.html.open(Element::Div, &[(Attribute::Class, "md-footnote")]);
        self.raised_name(name);
        self.html.open(Element::Div, &[]);
        self.frames.push(2);
        Ok(())
    }

    /// Writes the raised name in brackets: behind a number it must not read as a power, also when spoken.
    fn raised_name(&mut self, name: &str) {
        self.html.open(Element::Sup, &[(Attribute::Class, "md-note")]);
        for piece in ["[", name, "]"] {
            self.html.text(piece);
        }
        self.html.close();
    }
}
