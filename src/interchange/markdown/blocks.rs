//! Renders blocks outside of reasoning panels: text, errors, images, documents.

use std::io::{self, Write};

use chrono::{DateTime, Utc};

use super::{escaping, messages};
use crate::domain::documents::attachment::AttachmentCard;
use crate::domain::transfer::export::ExportDetail;
use crate::domain::{Block, Content};

/// Options of the export.
#[derive(Clone, Copy)]
pub struct MarkdownOptions<'a> {
    pub reasoning: ExportDetail,
    pub tools: ExportDetail,
    /// Returns the link of an image from its SHA-256 and its MIME type.
    pub image: &'a dyn Fn(&str, &str) -> String,
}

/// Writes a block: text, an error, an image or a document.
pub fn write_block(out: &mut impl Write, block: &Block, options: &MarkdownOptions<'_>) -> io::Result<()> {
    let card = || AttachmentCard::from_block(block).unwrap_or_default();
    match &block.content {
        Content::Text { text, is_error: true } => write_failure(out, text),
        Content::Text { text, .. } if !text.trim().is_empty() => escaping::write_verbatim(out, text),
        Content::Image { blob, mime, alt } => write_image(out, blob, mime, alt, options),
        Content::Reference { version_timestamp, .. } => document(out, &card(), *version_timestamp),
        Content::PartialReference { version_timestamp, .. } => {
            let card = card();
            document(out, &card, *version_timestamp)?;
            card.quote.as_deref().map_or(Ok(()), |quote| escaping::write_quote(out, quote))
        }
        _ => Ok(()),
    }
}

pub fn write_image(
    out: &mut impl Write,
    blob: &str,
    mime: &str,
    alt: &str,
    options: &MarkdownOptions<'_>,
) -> io::Result<()> {
    let alt = escaping::escape_inline(alt);
    let alt = if alt.is_empty() { messages::IMAGE } else { &alt };
    writeln!(out, "![{alt}]({})\n", escaping::link_target(&(options.image)(blob, mime)))
}

fn document(out: &mut impl Write, card: &AttachmentCard, version: Option<DateTime<Utc>>) -> io::Result<()> {
    write!(out, "**{}:** {}", messages::DOCUMENT, escaping::escape_inline(&card.title))?;
    if let Some((first, last)) = card.lines {
        write!(out, ", {}", messages::lines(first, last))?;
    }
    if let Some(version) = version {
        write!(out, " ({})", messages::version(&escaping::iso_time(version)))?;
    }
    writeln!(out, "\n")
}

pub fn write_failure(out: &mut impl Write, reason: &str) -> io::Result<()> {
    writeln!(out, "> **{}:** {}\n", messages::ERROR, escaping::escape_inline(reason))
}
