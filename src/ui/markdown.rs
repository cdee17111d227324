//! Markdown renderer: text → parts, one for each top-level block of the document, the same on the server and in the
//! browser.
//!
//! No text becomes markup by itself. `pulldown_cmark` parses the text, [`draw`] chooses our own element for each
//! construct, and [`html`] is the only writer: it knows a closed list of elements and attributes and escapes
//! everything else. Raw HTML in the text is text, but for a handful of tags without attributes, for which our own
//! elements are written (`draw::html_tag`). A link goes to http, https or mailto or is no link ([`target`]); an image is
//! a card with a link and is never loaded. No sanitizer is needed, because no foreign markup gets through.
//!
//! This module also tells formulas from money, and finds emphasis in text without spaces ([`reading`]): the same for a
//! text that grows and for one that is read again.
//!
//! * [`render`]: a whole text at once; [`StreamingMarkdown`]: a text that grows.
//! * [`InlineCitation`]: a numbered mark that leads to a source of the reply.
//! * [`MarkupEnricher`]: additions of the server (code colours, math); the browser uses [`PlainEnricher`].
//! * [`view`]: the one component that puts a [`Markup`] into the page.
//!
//! Headings start at h4, because every turn of the transcript has an h3; their style follows the level in the text
//! (`md-h1` …). Scrolling boxes are a `group`, not a `region`: regions are landmarks, and landmarks must have
//! different names.

mod autolink;
mod block;
mod citation;
mod cjk;
mod code_listing;
mod draw;
mod enricher;
mod fence;
mod formula;
mod html;
mod incremental_render;
mod math;
mod messages;
mod part;
mod reading;
mod streaming;
mod target;
pub mod view;

#[cfg(test)]
pub mod tests;

pub use citation::{InlineCitation, source_id};
pub use code_listing::{CodeListing, code_listings};
pub use draw::{ReplyLinks, with_confirmation, without_buttons};
pub use enricher::{CodeClass, CodeRun, MarkupEnricher, PlainEnricher};
pub use html::{Attribute, Element, Html};
pub use math::{MathAttribute, MathElement, MathStep, MathTree};
pub use part::{Markup, MarkupPart};
pub use streaming::{PartsChange, StreamingMarkdown};
pub use target::LinkTarget;

/// Renders a whole text as the browser does: code without colours, math as its source.
pub fn render(text: &str) -> Vec<MarkupPart> {
    render_with(text, &[], &PlainEnricher)
}

/// Renders a whole text with the additions of `enrich` and with its citation marks, which are in order. Yields as
/// many parts as [`render`], in the same order.
pub fn render_with(text: &str, cites: &[InlineCitation], enrich: &dyn MarkupEnricher) -> Vec<MarkupPart> {
    block::draw_blocks(text, draw::DrawBudget::default(), cites, enrich).into_iter().map(|block| block.part).collect()
}
