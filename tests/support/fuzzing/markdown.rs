//! Fuzz targets of the Markdown renderer: it emits only allowed markup for any text, streamed text gives the same
//! parts as whole text, and highlighting and formulas on the server do not change the number of parts.

use turnleaf::domain::limits;
use turnleaf::server::markup::block_markup;
use turnleaf::ui::markdown::{MarkupPart, StreamingMarkdown, render};

#[path = "../../../src/ui/markdown/tests/allowed.rs"]
mod allowed;

use super::invariants::DamageRng;

pub fn renderer_holds(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let parts = render(&text);
    // The notice about a text that is too large comes in addition to the bound.
    let elements: usize = parts.iter().map(|part| read_strictly(part.markup().as_str())).sum();
    assert!(elements <= 2 * limits::MARKDOWN_NODES, "{elements} elements");
    assert_eq!(streamed(&text, &DamageRng::from_bytes(input).random_pieces(input)), parts, "in pieces");
    if let Some(richer) = block_markup(&text) {
        assert_eq!(richer.len(), parts.len(), "with colours and formulas");
        for part in &richer {
            read_strictly(part);
        }
    }
}

/// Parses a part strictly and returns its number of elements.
fn read_strictly(markup: &str) -> usize {
    allowed::parse_allowed(markup).unwrap_or_else(|reason| panic!("{reason}\nin {markup:?}")).elements
}

/// Simulates a page that applies the streamed changes of a text. Pieces end between characters.
fn streamed(text: &str, pieces: &[&[u8]]) -> Vec<MarkupPart> {
    let mut streaming = StreamingMarkdown::default();
    let mut page = Vec::new();
    let (mut shown, mut reached) = (0, 0);
    for piece in pieces {
        reached += piece.len();
        let end = text.floor_char_boundary(reached);
        streaming.push(&text[shown..end.max(shown)]).apply(&mut page);
        assert_eq!(page, streaming.parts());
        for part in &page {
            read_strictly(part.markup().as_str());
        }
        shown = end.max(shown);
    }
    streaming.push(&text[shown..]).apply(&mut page);
    streaming.finish().apply(&mut page);
    page
}
