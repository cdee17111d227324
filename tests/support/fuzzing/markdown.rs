//! The renderer: nothing but allowed markup, for any text; the same parts however the text arrives; as many parts
//! with the server's colours and formulas as without them.

use turnleaf::domain::limits;
use turnleaf::server::markup::block_markup;
use turnleaf::ui::markdown::{MarkupPart, StreamingMarkdown, render};

#[path = "../../../src/ui/markdown/tests/allowed.rs"]
mod allowed;

use super::invariants::DamageRng;

pub fn renderer_holds(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let parts = render(&text);
    // What is remarked of a text that is too large comes on top.
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

/// Reads a part strictly; gives how many elements it has.
fn read_strictly(markup: &str) -> usize {
    allowed::parse_allowed(markup).unwrap_or_else(|why| panic!("{why}\nin {markup:?}")).elements
}

/// A page that follows a text by what it is told has changed. Pieces end between characters.
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
