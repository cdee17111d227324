//! Replies that their user edited. The page writes the edited text into `content` and the one before into
//! `originalContent`; `output` keeps what the model wrote, also in a copy that was saved with other words
//! (`src/lib/components/chat/Messages.svelte`, `editMessage`).

use super::details::{TextSegment, split_all_details, split_details};
use crate::conversation::{MessagePiece, PieceBody};

/// Returns whether a text shows what the output says. The program renders the one from the other, with other white
/// space and with elements for reasoning and calls.
pub(super) fn is_rendered_from(text: &str, output: &[PieceBody]) -> bool {
    let said = bare_words(output);
    [split_details(text), split_all_details(text)].into_iter().any(|segments| {
        let texts = segments.into_iter().filter_map(|segment| match segment {
            TextSegment::Text(text) => Some(text),
            TextSegment::Details(_) => None,
        });
        bare(texts) == said
    })
}

/// Puts other words into the texts of a reply.
pub(super) fn with_words(output: &[PieceBody], words: Vec<PieceBody>) -> Vec<PieceBody> {
    let is_text = |body: &PieceBody| matches!(body, PieceBody::Text(_));
    let count = |bodies: &[PieceBody]| bodies.iter().filter(|body| is_text(body)).count();
    if count(output) == count(&words) {
        let mut texts = words.into_iter().filter(is_text);
        let place = |body: &PieceBody| if is_text(body) { texts.next() } else { Some(body.clone()) };
        return output.iter().filter_map(place).collect();
    }
    // The edited text has the reasoning and the calls where its user left them.
    if words.iter().any(|body| !is_text(body)) {
        return words;
    }
    output.iter().filter(|body| !is_text(body)).cloned().chain(words).collect()
}

/// Returns the texts without white space.
pub(super) fn bare_words(bodies: &[PieceBody]) -> String {
    bare(bodies.iter().filter_map(text_of))
}

/// Returns what a reply says, to find another reply that says the same.
pub(super) fn words_of(pieces: &[MessagePiece]) -> String {
    bare(pieces.iter().filter_map(|piece| text_of(&piece.body)))
}

fn text_of(body: &PieceBody) -> Option<&str> {
    match body {
        PieceBody::Text(text) => Some(text),
        _ => None,
    }
}

fn bare<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
}
