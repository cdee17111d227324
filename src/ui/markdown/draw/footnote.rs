//! Footnotes: a raised name at the reference, which leads to the note, and the same in front of the note, which leads
//! back. The note stays where it was written. The name is the one in the text, so that rendered parts do not change
//! with later text; the links of a page with several texts are told apart in [`super::link`].

use super::drawing::{BlockDrawing, DrawRefusal};
use crate::ui::markdown::html::{Attribute, Element};
use crate::ui::markdown::messages;

impl BlockDrawing<'_> {
    pub(super) fn footnote_reference(&mut self, name: &str) -> Result<(), DrawRefusal> {
        if self.image.is_some() {
            self.literal_text(name);
            return Ok(());
        }
        self.spend(1)?;
        let label = messages::footnote(name);
        let place = id_name(name);
        self.raised_name(
            name,
            &[
                (Attribute::Id, &format!("noted-{place}")),
                (Attribute::Href, &format!("#note-{place}")),
                IN_PAGE,
                (Attribute::AriaLabel, &label),
            ],
        );
        Ok(())
    }

    pub(super) fn start_footnote(&mut self, name: &str) -> Result<(), DrawRefusal> {
        // A footnote is four elements; one is counted already.
        self.spend(3)?;
        let label = messages::footnote_back(name);
        let place = id_name(name);
        let id = format!("note-{place}");
        self.html.open(Element::Div, &[(Attribute::Class, "md-footnote"), (Attribute::Id, &id)]);
        self.raised_name(
            name,
            &[(Attribute::Href, &format!("#noted-{place}")), IN_PAGE, (Attribute::AriaLabel, &label)],
        );
        self.html.open(Element::Div, &[]);
        self.frames.push(2);
        Ok(())
    }

    /// Writes the raised name in brackets: behind a number it must not read as a power, also when spoken. In a link it
    /// is no link.
    fn raised_name(&mut self, name: &str, link: &[(Attribute, &str)]) {
        let text = format!("[{name}]");
        self.html.open(Element::Sup, &[(Attribute::Class, "md-note")]);
        if self.links > 0 {
            self.html.text(&text);
        } else {
            self.html.text_element(Element::A, link, &text);
        }
        self.html.close();
    }
}

/// The router would look for a page.
const IN_PAGE: (Attribute, &str) = (Attribute::Rel, "external");

/// Returns a footnote's name as part of an id and of an address. Names that differ in case are the same.
fn id_name(name: &str) -> String {
    let mut id = String::with_capacity(name.len());
    for byte in name.to_ascii_lowercase().bytes() {
        if byte.is_ascii_alphanumeric() {
            id.push(char::from(byte));
        } else {
            id.push_str(&format!(".{byte:x}"));
        }
    }
    id
}
