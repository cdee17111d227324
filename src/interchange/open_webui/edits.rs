//! Replies that their user edited. The page writes the edited text into `content` and the one before into
//! `originalContent`; `output` keeps what the model wrote, also in a copy that was saved with other words
//! (`src/lib/components/chat/Messages.svelte`, `editMessage`).

use serde_json::Value;

use super::content::ContentReader;
use super::details::{TextSegment, split_all_details, split_details};
use crate::conversation::{MessagePiece, PieceBody};
use crate::domain::turn::Role;
use crate::fields;
use crate::notes::ConversationNotes;
use crate::report::{IssueKind, IssueLocation};

/// The content of a message as it is shown, and its earlier wordings.
pub(super) struct Wording {
    pub words: Vec<PieceBody>,
    pub output: Option<Vec<PieceBody>>,
    pub original: Option<Vec<PieceBody>>,
}

/// Reads a message. Its user's words win; reasoning and calls of the model stay with them.
pub(super) fn wording(reader: &mut ContentReader<'_, '_>, message: &Value, role: Role) -> Wording {
    let items = fields::list(message, "output");
    let output = if role == Role::Assistant && !items.is_empty() { reader.items(items) } else { Vec::new() };
    // If nothing could be read from the output, the text is used.
    let (words, output) = match message.get("content") {
        _ if output.is_empty() => (reader.content(message, role), None),
        Some(Value::String(text)) if !text.trim().is_empty() && !is_rendered_from(text, &output) => {
            let text = quietly(reader.id, |reader| reader.split_text(text));
            (with_words(&output, text), Some(output))
        }
        _ => (output, None),
    };
    let original = fields::text(message, "originalContent").filter(|_| role == Role::Assistant);
    let original = original.map(|text| quietly(reader.id, |reader| reader.split_text(text))).filter(|original| {
        let said = bare_words(original);
        let is_known = |bodies: &Vec<PieceBody>| bare_words(bodies) == said;
        !said.is_empty() && !is_known(&words) && !output.as_ref().is_some_and(is_known)
    });
    if output.is_some() || original.is_some() {
        let text = "it was edited in the source: the earlier words are imported as another version";
        reader.notes.add(IssueKind::PutRight, reader.id, text);
    }
    Wording { words, output, original }
}

/// Reads without notes, because the same content is reported elsewhere.
fn quietly<T>(id: &str, read: impl FnOnce(&mut ContentReader<'_, '_>) -> T) -> T {
    read(&mut ContentReader { id, notes: &mut ConversationNotes::new(IssueLocation::default()) })
}

/// Returns whether a text shows what the output says. The program renders the one from the other, with other white
/// space and with elements for reasoning and calls.
fn is_rendered_from(text: &str, output: &[PieceBody]) -> bool {
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
fn with_words(output: &[PieceBody], words: Vec<PieceBody>) -> Vec<PieceBody> {
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
fn bare_words(bodies: &[PieceBody]) -> String {
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
