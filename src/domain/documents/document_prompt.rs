//! Documents in prompts and in Markdown exports. Rendering is deterministic, because providers cache requests by
//! their prefix.

use chrono::{DateTime, SecondsFormat, Utc};

use crate::blocks::block::{Block, Content};
use crate::documents::attachment::AttachmentCard;

/// Renders a document version, or lines of it, for a model. Closing tags in the text are neutralized, so that the
/// text cannot end the element.
pub fn render_document(
    id: &str,
    title: &str,
    version: Option<DateTime<Utc>>,
    lines: Option<(u64, u64)>,
    text: &str,
) -> String {
    let version = version.map(|version| format!(" version=\"{}\"", format_version(version))).unwrap_or_default();
    let lines = lines.map(|(first, last)| format!(" lines=\"{first}-{last}\"")).unwrap_or_default();
    let (id, title, text) = (escape_attribute(id), escape_attribute(title), neutralize_closing_tags(text));
    format!("<document id=\"{id}\" title=\"{title}\"{version}{lines}>\n{text}\n</document>")
}

/// Renders the line that replaces a deleted document for a model.
pub fn render_deleted_document(id: &str, title: &str) -> String {
    let (id, title) = (escape_attribute(id), escape_attribute(title));
    format!("<document id=\"{id}\" title=\"{title}\">This document was deleted.</document>")
}

/// Formats a version timestamp for URLs and requests: microseconds, UTC.
pub fn format_version(version: DateTime<Utc>) -> String {
    version.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Returns the URL of a version, or of lines of it.
pub fn document_url(id: &str, version: Option<DateTime<Utc>>, lines: Option<(u64, u64)>) -> String {
    let version = version.map(|version| format!("version={}", format_version(version)));
    // The server reads the query to highlight the lines; the browser uses the fragment to scroll to them.
    let (marked, target) = match lines {
        Some((first, last)) if first == last => (Some(format!("lines={first}-{last}")), format!("#L{first}")),
        Some((first, last)) => (Some(format!("lines={first}-{last}")), format!("#L{first}-L{last}")),
        None => (None, String::new()),
    };
    let query: Vec<String> = version.into_iter().chain(marked).collect();
    let question = if query.is_empty() { "" } else { "?" };
    format!("/documents/{id}{question}{}{target}", query.join("&"))
}

/// Renders a message or a reply as Markdown: texts unchanged, selections as quotes with their source, documents and
/// images as links. `selected` returns the full text of a selection; without it, the beginning in the card is quoted.
pub fn blocks_to_markdown(blocks: &[Block], selected: impl Fn(&Block) -> Option<String>) -> String {
    let pieces = blocks.iter().filter_map(|block| {
        let card = AttachmentCard::from_block(block).unwrap_or_default();
        match &block.content {
            Content::Text { text, is_error: false } => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            Content::Image { blob, alt, .. } => Some(format!("![{}](/api/blobs/{blob})", link_label(alt))),
            Content::Reference { ref_id, version_timestamp, .. } => {
                Some(format!("[{}]({})", link_label(&card.title), document_url(ref_id, *version_timestamp, None)))
            }
            Content::PartialReference { ref_id, version_timestamp, .. } => {
                let text = selected(block).or_else(|| card.quote.clone()).unwrap_or_default();
                let quote: Vec<String> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
                let lines = match card.lines {
                    Some((first, last)) if first == last => format!(", line {first}"),
                    Some((first, last)) => format!(", lines {first}-{last}"),
                    None => String::new(),
                };
                let source = document_url(ref_id, *version_timestamp, card.lines);
                Some(format!("{}\n>\n> — [{}{lines}]({source})", quote.join("\n"), link_label(&card.title)))
            }
            _ => None,
        }
    });
    pieces.collect::<Vec<_>>().join("\n\n")
}

fn escape_attribute(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    escaped.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

const END: &str = "</document";

/// Neutralizes every closing tag of the `<document>` element in a text.
fn neutralize_closing_tags(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut safe = String::with_capacity(text.len());
    let mut at = 0;
    for (found, _) in lower.match_indices(END) {
        safe.push_str(&text[at..found]);
        safe.push_str("<\\/");
        at = found + "</".len();
    }
    safe.push_str(&text[at..]);
    safe
}

/// Escapes a text for use as the label of a Markdown link.
fn link_label(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::documents::attachment::CARD_KEY;
    use crate::fixtures;

    fn version() -> DateTime<Utc> {
        "2026-11-22T07:00:00.5Z".parse().unwrap()
    }

    #[test]
    fn document_is_wrapped_and_cannot_close_its_wrapper() {
        let text =
            render_document("d1", "A \"b\" <c>\n&", Some(version()), Some((10, 42)), "x </Document> y\n</document >");
        assert_eq!(
            text,
            "<document id=\"d1\" title=\"A &quot;b&quot; &lt;c&gt; &amp;\" version=\"2026-11-22T07:00:00.500000Z\" \
             lines=\"10-42\">\nx <\\/Document> y\n<\\/document >\n</document>"
        );
        assert_eq!(text.to_lowercase().matches("</document").count(), 1);
        assert_eq!(render_deleted_document("d1", "T").lines().count(), 1);
        // A lowercase letter that is longer than its capital shifts no offsets.
        assert!(render_document("d", "t", None, None, "İ</DOCUMENT>").contains("İ<\\/DOCUMENT>"));
    }

    #[test]
    fn message_with_quote_names_its_source() {
        let mut quote = fixtures::block(
            1,
            0,
            Content::PartialReference {
                ref_id: "d1".into(),
                ref_type: "document".into(),
                version_timestamp: Some(version()),
                selection_start: 0,
                selection_end: 7,
            },
        );
        quote.block_metadata =
            json!({ CARD_KEY: { "title": "spec [1].md", "lines": [1, 2], "quote": "one", "tokens": 2 } });
        let image =
            fixtures::block(1, 1, Content::Image { blob: "ab".into(), mime: "image/png".into(), alt: "A".into() });
        let text = fixtures::block(1, 2, Content::text("What is it?"));
        let blocks = [quote, image, text];
        assert_eq!(
            blocks_to_markdown(&blocks, |_| Some("one\n\ntwo".into())),
            "> one\n>\n> two\n>\n> — [spec \\[1\\].md, lines 1-2]\
             (/documents/d1?version=2026-11-22T07:00:00.500000Z&lines=1-2#L1-L2)\n\n![A](/api/blobs/ab)\n\nWhat is it?"
        );
        assert!(blocks_to_markdown(&blocks, |_| None).starts_with("> one\n>\n> — "));
    }
}
