//! Puts the cards of a Grok response where its text shows them: `<grok:render card_id="…">…</grok:render>`.

use std::collections::HashMap;

use serde_json::Value;

use super::assets::ExportedAssets;
use super::sources::FoundSources;
use crate::bounds;
use crate::conversation::{FileBytes, ImportedMessage, PieceBody};
use crate::domain::blocks::sources::is_web_url;
use crate::markdown::escaping::link_target;
use crate::reading::code_fences::CodeFences;
use crate::reading::fields::{as_id, first_text, list, text};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

const OPENING: &str = "<grok:render";
const CLOSING: &str = "</grok:render>";
const LINE_ENDS: [char; 2] = ['\r', '\n'];

/// The cards of a response by their ids.
pub(super) struct Cards<'a> {
    cards: Vec<(String, Value)>,
    places: HashMap<String, usize>,
    is_shown: Vec<bool>,
    assets: &'a ExportedAssets,
}

impl<'a> Cards<'a> {
    /// Reads the cards, which are JSON within strings.
    pub(super) fn new(response: &Value, assets: &'a ExportedAssets) -> Self {
        let card = |card: &Value| match card {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        };
        let all = list(response, "card_attachments_json").iter().filter_map(card);
        let cards: Vec<(String, Value)> =
            all.map(|card| (card.get("id").and_then(as_id).unwrap_or_default(), card)).collect();
        let places = cards.iter().enumerate().map(|(at, (id, _))| (id.clone(), at)).collect();
        Self { is_shown: vec![false; cards.len()], cards, places, assets }
    }

    /// Adds a text with its cards, and then the pictures that the text does not place.
    pub(super) fn add_text(
        &mut self,
        message: &mut ImportedMessage,
        text: &str,
        sources: &mut FoundSources,
        notes: &mut ConversationNotes,
    ) {
        let before = message.pieces.len();
        let mut written = String::with_capacity(text.len());
        let mut fences = CodeFences::new(text);
        let mut closings = Closings { text, next: text.find(CLOSING) };
        let (mut from, mut at) = (0, 0);
        while let Some(start) = text[at..].find(OPENING).map(|found| at + found) {
            if let Some(end) = fences.end_at(start) {
                at = end;
                continue;
            }
            let tag = render_tag(&text[start..]);
            let tag = tag.and_then(|(id, length, is_whole)| {
                let end = start + length;
                Some((id, if is_whole { end } else { closings.end_after(end)? }))
            });
            let Some((id, end)) = tag else {
                at = start + OPENING.len();
                continue;
            };
            written.push_str(&text[from..start]);
            (from, at) = (end, end);
            match self.places.get(id).copied() {
                Some(place) => self.show(place, message, &mut written, sources, notes),
                None => notes.add(IssueKind::Lost, &message.source_id, WIDGETS),
            }
        }
        written.push_str(&text[from..]);
        // A picture between two texts separates them like a paragraph.
        let is_split = message.pieces.len() > before;
        message.add_text(if is_split { written.trim_start_matches(LINE_ENDS) } else { &written });
        for place in 0..self.cards.len() {
            if !self.is_shown[place] {
                let mut nothing = String::new();
                self.show(place, message, &mut nothing, sources, notes);
            }
        }
    }

    /// Shows a card: a citation as a link in the text, a picture as a piece between two texts, once.
    fn show(
        &mut self,
        place: usize,
        message: &mut ImportedMessage,
        written: &mut String,
        sources: &mut FoundSources,
        notes: &mut ConversationNotes,
    ) {
        let was_shown = std::mem::replace(&mut self.is_shown[place], true);
        let card = &self.cards[place].1;
        let kind = first_text(card, &["cardType", "type"]).unwrap_or_default();
        let url = text(card, "url").filter(|url| is_web_url(url));
        if let Some(url) = url.filter(|_| kind.contains("citation")) {
            sources.add(url, text(card, "title").unwrap_or_default(), "");
            // Only a citation within a text is a link there; the others are sources.
            if !written.is_empty() && url.len() > bounds::CITED_URL_BYTES {
                notes.add(IssueKind::Lost, &message.source_id, "a link with a very long address is only a source");
            } else if !written.is_empty() {
                written.push_str(&format!("[{}]({})", host(url), link_target(url)));
            }
            return;
        }
        let picture = ["image_chunk", "image"].iter().find_map(|name| card.get(name)).unwrap_or(&Value::Null);
        let address = first_text(picture, &["imageUuid", "imageUrl", "original", "thumbnail", "url"]);
        let Some(address) = address else {
            notes.add(IssueKind::Lost, &message.source_id, WIDGETS);
            return;
        };
        if was_shown {
            notes.add(IssueKind::Lost, &message.source_id, "a picture that a text shows again is shown once");
            return;
        }
        let named = first_text(picture, &["imageUrl", "original", "thumbnail", "url"]).unwrap_or(address);
        let mut file = self.assets.picture(named);
        let of_id = self.assets.picture(address).bytes;
        if matches!(of_id, FileBytes::Entry(_)) {
            file.bytes = of_id;
        }
        let words = text(card, "caption").or_else(|| first_text(picture, &["imageTitle", "description", "title"]));
        let words = words.or_else(|| text(card, "prompt")).unwrap_or_default();
        let alt: String = words.chars().take(bounds::PICTURE_WORDS).collect();
        if alt.len() < words.len() {
            notes.add(IssueKind::Lost, &message.source_id, "a long description of a picture was cut");
        }
        if let Some(page) = text(picture, "link").filter(|url| is_web_url(url)) {
            sources.add(page, text(picture, "title").unwrap_or_default(), "");
        }
        message.add_text(std::mem::take(written).trim_matches(LINE_ENDS));
        message.add_piece(PieceBody::Picture { file, alt });
    }
}

const WIDGETS: &str = "widgets in the text (a map, an image list) are not imported";

/// The closing tags of a text, found while its opening tags are read.
struct Closings<'t> {
    text: &'t str,
    next: Option<usize>,
}

impl Closings<'_> {
    /// Returns the end of the first closing tag at or after a position. Positions must not decrease.
    fn end_after(&mut self, position: usize) -> Option<usize> {
        while let Some(next) = self.next.filter(|next| *next < position) {
            let from = next + CLOSING.len();
            self.next = self.text[from..].find(CLOSING).map(|found| from + found);
        }
        self.next.map(|next| next + CLOSING.len())
    }
}

/// The length of an opening tag with its attributes, in bytes.
const TAG_BYTES: usize = 1_000;

/// Reads an opening tag at the beginning of a text; returns the id of its card, its length, and whether it closes
/// itself.
fn render_tag(text: &str) -> Option<(&str, usize, bool)> {
    let end = text.bytes().take(TAG_BYTES).position(|byte| byte == b'>')?;
    let opening = &text[..end];
    let value = opening.split_once("card_id=")?.1;
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let id = value[1..].split(quote).next()?;
    Some((id, end + 1, opening.ends_with('/')))
}

/// Returns the host of a web address, for the text of a link.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    if host.is_empty() || host.contains(['[', ']', '\\', '`', '*', '<']) { "link" } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_tags_are_read() {
        let table = [
            (r#"<grok:render card_id="a1" type="x"><argument>1</argument></grok:render>"#, Some(("a1", 35, false))),
            (r#"<grok:render card_id='a1'/> b"#, Some(("a1", 27, true))),
            (r#"<grok:render type="x"></grok:render>"#, None),
            (r#"<grok:render card_id=a></grok:render>"#, None),
            (r#"<grok:render card_id="a1""#, None),
            ("<grok:render", None),
        ];
        for (text, expected) in table {
            assert_eq!(render_tag(text), expected, "{text}");
        }
    }

    #[test]
    fn closing_tag_is_first_after_position() {
        let text = format!("{CLOSING}ab{CLOSING}c");
        let mut closings = Closings { text: &text, next: text.find(CLOSING) };
        assert_eq!([0, 1, 16, 17].map(|at| closings.end_after(at)), [Some(14), Some(30), Some(30), None]);
    }

    #[test]
    fn link_text_is_host() {
        let table = [
            ("https://www.example.org/a?b", "example.org"),
            ("http://user@example.org", "example.org"),
            ("https://[::1]/", "link"),
        ];
        for (url, expected) in table {
            assert_eq!(host(url), expected);
        }
    }
}
