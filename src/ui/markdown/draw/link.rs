//! Links, and images that are never loaded.

use std::collections::BTreeSet;

use pulldown_cmark::LinkType;

use super::code::CODE_LANGUAGE;
use super::drawing::{AUTO, BlockDrawing};
use crate::domain::blocks::preview::{PreviewKind, preview_address};
use crate::domain::text::external_links::{KnownHosts, confirmation_url};
use crate::domain::{BlockId, TurnId};
use crate::ui::markdown::html::{Attribute, Element, Html, escape, unescape};
use crate::ui::markdown::messages;
use crate::ui::markdown::part::{Markup, MarkupPart};
use crate::ui::markdown::target::LinkTarget;

/// Attributes of external links: the click reveals nothing about the chat, and the opened page cannot reach back.
const REL: (Attribute, &str) = (Attribute::Rel, "noopener noreferrer nofollow");
const NEW_TAB: (Attribute, &str) = (Attribute::Target, "_blank");

/// Writes a link whose text is its address.
pub fn write_bare_link(html: &mut Html, target: &LinkTarget, text: &str) {
    html.text_element(Element::A, &[(Attribute::Href, target.href()), REL, NEW_TAB], text);
}

/// Renders the parts of a block of a reply with the links that it has in a page: those to unknown hosts ask for
/// confirmation (`domain::text::external_links`), those of footnotes stay within the block, and code that makes
/// something leads to its preview (`domain::blocks::preview`). A reply grows at its end, so parts that were rendered
/// before are cached.
#[derive(Debug)]
pub struct ReplyLinks {
    turn: TurnId,
    block: BlockId,
    /// A page without a server has neither the confirmation page nor previews.
    has_server: bool,
    known: KnownHosts,
    rendered: Vec<RenderedPart>,
}

#[derive(Debug)]
struct RenderedPart {
    fingerprint: u64,
    part: MarkupPart,
    /// The ids of footnotes that were in no part before it.
    notes: Vec<String>,
    /// The number of its code blocks.
    codes: usize,
}

impl ReplyLinks {
    /// Creates the cache of one block.
    pub fn new(turn: TurnId, block: BlockId, has_server: bool) -> Self {
        Self { turn, block, has_server, known: KnownHosts::default(), rendered: Vec::new() }
    }

    /// Returns the parts of the reply as it is now.
    pub fn draw(&mut self, parts: &[MarkupPart], known: &KnownHosts) -> Vec<MarkupPart> {
        if self.known != *known {
            self.known = known.clone();
            self.rendered.clear();
        }
        let is_unchanged = |(known, part): &(&RenderedPart, &MarkupPart)| known.fingerprint == part.fingerprint();
        let unchanged = self.rendered.iter().zip(parts).take_while(is_unchanged).count();
        self.rendered.truncate(unchanged);
        let mut places = BTreeSet::new();
        places.extend(self.rendered.iter().flat_map(|before| &before.notes).cloned());
        let mut codes_before: usize = self.rendered.iter().map(|before| before.codes).sum();
        for part in &parts[unchanged..] {
            let fingerprint = part.fingerprint();
            let (mut part, notes) = self.with_own_notes(part.clone(), &mut places);
            let mut codes = 0;
            if self.has_server {
                part = with_confirming_links(part, known, self.turn);
                (part, codes) = self.with_preview_links(part, codes_before);
                codes_before += codes;
            }
            self.rendered.push(RenderedPart { fingerprint, part, notes, codes });
        }
        self.rendered.iter().map(|rendered| rendered.part.clone()).collect()
    }

    /// Returns a part whose footnotes are told apart from those of other blocks, and the ids that it adds to the
    /// `places` before it. Of several references to one note, the note leads back to the first.
    fn with_own_notes(&self, part: MarkupPart, places: &mut BTreeSet<String>) -> (MarkupPart, Vec<String>) {
        /// Only the writer writes these sequences.
        const PLACE: &str = " id=\"note";
        const LINK: &str = " href=\"#note";
        let html = part.markup().as_str();
        let mut notes: Vec<String> = Vec::new();
        if !html.contains(PLACE) {
            return (part, notes);
        }
        let block = self.block;
        let mut pieces = html.split(PLACE);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (id, after) = piece.split_once('"').unwrap_or((piece, ""));
            if places.insert(id.to_owned()) {
                notes.push(id.to_owned());
                out.push_str(&format!(" id=\"b{block}-note{piece}"));
            } else {
                out.push_str(after);
            }
        }
        let out = out.replace(LINK, &format!(" href=\"#b{block}-note"));
        (MarkupPart::new(Markup::from_writer(out)), notes)
    }

    /// Returns a part whose code leads to its previews, and the number of its code blocks; `before` are in the parts
    /// before it.
    fn with_preview_links(&self, part: MarkupPart, before: usize) -> (MarkupPart, usize) {
        /// The end of the name.
        const END: &str = "</span>";
        let mut pieces = part.markup().as_str().split(CODE_LANGUAGE);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        let (mut codes, mut has_link) = (0, false);
        for piece in pieces {
            codes += 1;
            out.push_str(CODE_LANGUAGE);
            match piece.split_once(END) {
                Some((language, rest)) if PreviewKind::from_language(language).is_some() => {
                    has_link = true;
                    let mut link = Html::default();
                    let address = preview_address(self.turn, self.block, before + codes);
                    let attributes =
                        [(Attribute::Class, "md-preview"), (Attribute::Href, &*address), (Attribute::Rel, "external")];
                    link.text_element(Element::A, &attributes, messages::preview());
                    for text in [language, END, link.finish().as_str(), rest] {
                        out.push_str(text);
                    }
                }
                _ => out.push_str(piece),
            }
        }
        (if has_link { MarkupPart::new(Markup::from_writer(out)) } else { part }, codes)
    }
}

/// Renders a text that is no block of a reply, but came from one: its links ask for confirmation.
pub fn with_confirmation(parts: Vec<MarkupPart>, turn: TurnId) -> Vec<MarkupPart> {
    let known = KnownHosts::default();
    parts.into_iter().map(|part| with_confirming_links(part, &known, turn)).collect()
}

/// Returns a part in which links to unknown hosts ask for confirmation.
fn with_confirming_links(part: MarkupPart, known: &KnownHosts, turn: TurnId) -> MarkupPart {
    /// Only the writer writes this sequence: a quote in a text is a reference.
    const WEB: &str = " href=\"http";
    let mut rest = part.markup().as_str();
    if !rest.contains(WEB) {
        return part;
    }
    let mut out = String::with_capacity(rest.len() * 2);
    while let Some((begin, end)) = rest.find(WEB).and_then(|at| {
        let begin = at + WEB.len() - "http".len();
        Some((begin, begin + rest[begin..].find('"')?))
    }) {
        out.push_str(&rest[..begin]);
        let address = unescape(&rest[begin..end]);
        match LinkTarget::parse(&address) {
            Some(target) if known.is_known(target.host(), &address) => out.push_str(&rest[begin..end]),
            _ => escape(&confirmation_url(&address, Some(turn)), &mut out),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    MarkupPart::new(Markup::from_writer(out))
}

impl BlockDrawing<'_> {
    pub(super) fn start_link(&mut self, link_type: LinkType, destination: &str, title: &str) {
        self.links += 1;
        let target = match link_type {
            LinkType::Email => LinkTarget::parse_mail(destination),
            _ => LinkTarget::parse(destination),
        };
        // The parser allows an address in angle brackets inside a link; HTML does not.
        let Some(target) = target.filter(|_| self.links == 1) else {
            self.frames.push(0);
            return;
        };
        // The title shows the full address, because the link's text can claim anything.
        let title = if title.is_empty() { target.href().to_owned() } else { format!("{title} — {}", target.href()) };
        self.html.open(Element::A, &[(Attribute::Href, target.href()), (Attribute::Title, &title), REL, NEW_TAB]);
        self.frames.push(1);
    }

    /// Renders a card that names the host, with a link that opens the image in a new tab. Loading it here would tell
    /// the host that this text is being read, and anything that the text's author put into the address.
    pub(super) fn end_image(&mut self) {
        let Some(image) = self.image.take_if(|image| image.inner == 0) else {
            if let Some(image) = &mut self.image {
                image.inner -= 1;
            }
            return;
        };
        let alt = if image.alt.trim().is_empty() { messages::image() } else { &image.alt };
        let Some(target) = image.target.filter(|_| self.links == 0) else {
            self.html.text(alt);
            return;
        };
        self.html.open(Element::Span, &[(Attribute::Class, "md-image")]);
        self.html.text_element(Element::Span, &[(Attribute::Class, "md-image-alt"), AUTO], alt);
        let attributes = [(Attribute::Href, target.href()), (Attribute::Title, target.href()), REL, NEW_TAB];
        self.html.text_element(Element::A, &attributes, &messages::open_image(target.host()));
        self.html.close();
    }
}
