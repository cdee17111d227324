//! Alerts: a quote that begins with `[!NOTE]` or another of GitHub's five names, which is written above it.

use pulldown_cmark::BlockQuoteKind;

use super::drawing::{BlockDrawing, DrawRefusal};
use crate::ui::markdown::html::{Attribute, Element};
use crate::ui::markdown::messages;

impl BlockDrawing<'_> {
    pub(super) fn start_alert(&mut self, kind: BlockQuoteKind) -> Result<(), DrawRefusal> {
        // Its name is an element, too.
        self.spend(1)?;
        let (class, name) = match kind {
            BlockQuoteKind::Note => ("md-alert", messages::note()),
            BlockQuoteKind::Tip => ("md-alert md-tip", messages::tip()),
            BlockQuoteKind::Important => ("md-alert md-important", messages::important()),
            BlockQuoteKind::Warning => ("md-alert md-warning", messages::warning()),
            BlockQuoteKind::Caution => ("md-alert md-caution", messages::caution()),
        };
        self.open(&[(Element::Div, &[(Attribute::Class, class)])]);
        self.html.text_element(Element::P, &[(Attribute::Class, "md-alert-name")], name);
        Ok(())
    }
}
