//! The blocks that are drawn by themselves: texts, errors, images, documents.

use std::io::{self, Write};

use chrono::{DateTime, Utc};

use super::{pieces, words};
use crate::domain::attachment::Card;
use crate::domain::export::Part;
use crate::domain::{Block, Content};

/// How a path is written.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub reasoning: Part,
    pub tools: Part,
    /// The file of an image, from its sha256 and its MIME type, as it is linked.
    pub image: &'a dyn Fn(&str, &str) -> String,
}

/// A block that is drawn by itself: text, an error, an image, a document.
pub fn visible(out: &mut impl Write, block: &Block, options: &Options<'_>) -> io::Result<()> {
    let card = || Card::of(block).unwrap_or_default();
    match &block.content {
        Content::Text { text, is_error: true } => failed(out, text),
        Content::Text { text, .. } if !text.trim().is_empty() => pieces::verbatim(out, text),
        Content::Image { blob, mime, alt } => image(out, blob, mime, alt, options),
        Content::Reference { version_timestamp, .. } => document(out, &card(), *version_timestamp),
        Content::PartialReference { version_timestamp, .. } => {
            let card = card();
            document(out, &card, *version_timestamp)?;
            card.quote.as_deref().map_or(Ok(()), |quote| pieces::quoted(out, quote))
        }
        _ => Ok(()),
    }
}

pub fn image(out: &mut impl Write, blob: &str, mime: &str, alt: &str, options: &Options<'_>) -> io::Result<()> {
    let alt = pieces::inline(alt);
    let alt = if alt.is_empty() { words::IMAGE } else { &alt };
    writeln!(out, "![{alt}]({})\n", pieces::target(&(options.image)(blob, mime)))
}

fn document(out: &mut impl Write, card: &Card, version: Option<DateTime<Utc>>) -> io::Result<()> {
    write!(out, "**{}:** {}", words::DOCUMENT, pieces::inline(&card.title))?;
    if let Some((first, last)) = card.lines {
        write!(out, ", {}", words::lines(first, last))?;
    }
    if let Some(version) = version {
        write!(out, " ({})", words::version(&pieces::iso(version)))?;
    }
    writeln!(out, "\n")
}

pub fn failed(out: &mut impl Write, why: &str) -> io::Result<()> {
    writeln!(out, "> **{}:** {}\n", words::ERROR, pieces::inline(why))
}
