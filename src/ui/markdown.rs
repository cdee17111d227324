//! Markdown: text → parts, one for each block at the top of the document, the same on the server and in the browser.
//!
//! Nothing of the text becomes markup by itself. `pulldown_cmark` says what the text means, [`draw`] decides which of
//! our own elements shows it, and [`html`] is the only writer: it knows a closed list of elements and attributes and
//! escapes everything else. Raw HTML in the text is text. A link goes to http, https or mailto or is no link
//! ([`target`]); an image is a card with a link and is never loaded. There is no sanitiser because there is nothing to
//! sanitise.
//!
//! * [`render`]: a whole text at once; [`Streaming`]: a text that grows.
//! * [`InlineCitation`]: a numbered mark that leads to a source of the reply.
//! * [`MarkupEnricher`]: what the server can add (colours of code, math); the browser draws [`Plain`].
//! * [`view`]: the one component that puts a [`Markup`] into the page.
//!
//! Decided here: a heading of the text starts at h4, because every turn of the transcript has an h3; what it looks like
//! follows its level in the text (`md-h1` …). Scrolling boxes are a `group`, not a `region`: regions are landmarks, and
//! landmarks must have different names.

mod autolink;
mod block;
mod citation;
mod draw;
mod enricher;
mod fence;
mod html;
mod incremental_render;
mod inline;
mod math;
mod messages;
mod part;
mod streaming;
mod target;
pub mod view;

#[cfg(test)]
pub mod tests;

pub use citation::{InlineCitation, source_id};
pub use draw::{ConfirmingLinks, without_buttons};
pub use enricher::{CodeClass, CodeRun, MarkupEnricher, PlainEnricher};
pub use html::{Attribute, Element, Html};
pub use math::{MathAttribute, MathElement, MathStep, MathTree};
pub use part::{Markup, MarkupPart};
pub use streaming::{PartsChange, StreamingMarkdown};
pub use target::LinkTarget;

/// The parts of a whole text as the browser draws them: code without colours, math as its source.
pub fn render(text: &str) -> Vec<MarkupPart> {
    render_with(text, &[], &PlainEnricher)
}

/// The parts of a whole text with what `enrich` knows and with its numbered marks, which are in order. There are as many
/// parts as [`render`] gives, in the same order.
pub fn render_with(text: &str, cites: &[InlineCitation], enrich: &dyn MarkupEnricher) -> Vec<MarkupPart> {
    block::draw_blocks(text, draw::DrawBudget::default(), cites, enrich).into_iter().map(|block| block.part).collect()
}
