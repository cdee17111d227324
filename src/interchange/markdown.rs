//! The Markdown export of one path: a file that people read, quote and keep, in any program.
//!
//! What was said stands there as it was written; only what a text leaves open (a fence, a comment) is closed behind it.
//! Reasoning blocks are those of the screen, by the same function (`domain::segment`), folded, shown or left out. It is
//! no archive: what a path does not show is counted, not kept.

use std::borrow::Cow;
use std::io::{self, Write};

use chrono::{DateTime, Utc};

pub use crate::domain::export::Part;
use crate::domain::segment::segments_where;
use crate::domain::turn::{Role, Turn, TurnStatus};
use crate::domain::{Block, Content, Difference, ImportedFrom, notice, sources};

mod blocks;
mod pieces;
mod reply;
mod words;

pub use blocks::Options;

/// What stands above everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatHeading<'a> {
    pub title: &'a str,
    pub created_at: Option<DateTime<Utc>>,
    /// Empty where the chat has none.
    pub system_prompt: &'a str,
    /// Said below everything: what the source had that is not here.
    pub imported_from: Option<&'a ImportedFrom>,
    /// Said below everything: what could not be read when it was exported.
    pub damaged: &'a [Difference],
}

/// One turn of the path.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub turn: &'a Turn,
    /// What its exchange says.
    pub is_thinking_mode: bool,
    /// How many siblings it has: they are not on the path.
    pub other_versions: usize,
}

/// Writes a path, from its first turn to its last: runs of replies are drawn as one, so a part of a path must not begin
/// or end inside of one.
pub fn write(
    out: &mut impl Write,
    chat: &ChatHeading<'_>,
    path: &[Shown<'_>],
    options: &Options<'_>,
) -> io::Result<()> {
    let title = pieces::inline(chat.title);
    writeln!(out, "# {}\n", if title.is_empty() { words::UNTITLED } else { &title })?;
    if let Some(time) = chat.created_at {
        writeln!(out, "{} {}\n", words::CREATED, pieces::iso(time))?;
    }
    if !chat.system_prompt.trim().is_empty() {
        writeln!(out, "## {}\n", words::SYSTEM_PROMPT)?;
        pieces::verbatim(out, chat.system_prompt)?;
    }
    let is_reply = |shown: &Shown<'_>| shown.turn.role == Role::Assistant;
    for run in path.chunk_by(|before, shown| is_reply(before) && is_reply(shown)) {
        if run.first().is_some_and(is_reply) {
            replies(out, run, options)?;
        } else {
            for shown in run {
                write_turn(out, shown, options)?;
            }
        }
    }
    chat.imported_from.map_or(Ok(()), |source| origin(out, source))?;
    if chat.damaged.is_empty() {
        return Ok(());
    }
    writeln!(out, "---\n\n{}\n", words::DAMAGED)?;
    differences(out, chat.damaged)
}

/// Where it came from, and what of it did not come along.
fn origin(out: &mut impl Write, source: &ImportedFrom) -> io::Result<()> {
    let (file, format) = (pieces::inline(&source.file), pieces::inline(&source.format));
    writeln!(out, "---\n\n**{}:** {format}, {file}, {}\n", words::IMPORTED_FROM, pieces::iso(source.imported_at))?;
    if source.differences.is_empty() {
        return writeln!(out, "{}\n", words::NO_DIFFERENCES);
    }
    writeln!(out, "{}\n", words::DIFFERENCES)?;
    differences(out, &source.differences)
}

fn differences(out: &mut impl Write, differences: &[Difference]) -> io::Result<()> {
    for one in differences {
        write!(out, "- **{}**", words::difference(one.kind))?;
        if !one.place.is_empty() {
            write!(out, " {}", pieces::inline(&one.place))?;
        }
        writeln!(out, ": {}", pieces::inline(&one.text))?;
    }
    writeln!(out)
}

/// Writes one turn by itself, without a title.
pub fn write_turn(out: &mut impl Write, shown: &Shown<'_>, options: &Options<'_>) -> io::Result<()> {
    if shown.turn.role == Role::Assistant {
        return replies(out, std::slice::from_ref(shown), options);
    }
    heading(out, shown)?;
    said(out, &shown.turn.blocks, options)?;
    versions(out, shown)
}

/// Replies with no message between them: drawn as the one reply that they are for the reader, each item where it begins.
fn replies(out: &mut impl Write, run: &[Shown<'_>], options: &Options<'_>) -> io::Result<()> {
    let mut ends = Vec::with_capacity(run.len());
    let mut blocks: Cow<'_, [Block]> = Cow::Borrowed(&[]);
    for shown in run {
        match run {
            [_] => blocks = Cow::Borrowed(&shown.turn.blocks),
            _ => blocks.to_mut().extend_from_slice(&shown.turn.blocks),
        }
        ends.push(blocks.len());
    }
    let of = |at: usize| ends.partition_point(|end| *end <= at);
    let items = segments_where(&blocks, &|at| run.get(of(at)).is_some_and(|shown| shown.is_thinking_mode));
    let mut items = items.iter().peekable();
    for (shown, end) in run.iter().zip(&ends) {
        heading(out, shown)?;
        let mut is_empty = true;
        while let Some(item) = items.next_if(|item| reply::place(item) < *end) {
            is_empty = false;
            reply::item(out, item, &reply::Drawn { blocks: &blocks, status: shown.turn.status, options })?;
        }
        listed(out, &shown.turn.blocks)?;
        ending(out, shown.turn, is_empty)?;
        versions(out, shown)?;
    }
    Ok(())
}

/// Who, with which model, when.
fn heading(out: &mut impl Write, shown: &Shown<'_>) -> io::Result<()> {
    let turn = shown.turn;
    let who = match turn.role {
        Role::User => words::YOU,
        Role::Assistant => words::ASSISTANT,
        Role::System => words::SYSTEM,
    };
    write!(out, "## {who}")?;
    if let Some(model) = turn.model_used.as_deref().map(pieces::inline).filter(|model| !model.is_empty()) {
        write!(out, " · {model}")?;
    }
    write!(out, " · {}", pieces::iso(turn.created_at))?;
    if turn.is_edited() {
        write!(out, " · {}", words::EDITED)?;
    }
    writeln!(out, "\n")
}

/// What a person or the system said.
fn said(out: &mut impl Write, blocks: &[Block], options: &Options<'_>) -> io::Result<()> {
    for block in blocks {
        match &block.content {
            Content::ToolResult { tool_name, .. } => {
                writeln!(out, "**{}**\n", pieces::inline(&words::tool(tool_name)))?;
                reply::result(out, Some(block), options)?;
            }
            _ => blocks::visible(out, block, options)?,
        }
    }
    Ok(())
}

/// The pages that a reply rests on.
fn listed(out: &mut impl Write, blocks: &[Block]) -> io::Result<()> {
    let sources = sources::of_blocks(blocks).list;
    if sources.is_empty() {
        return Ok(());
    }
    writeln!(out, "**{}**\n", words::SOURCES)?;
    for (number, source) in (1..).zip(&sources) {
        write!(out, "{number}. [{}]({})", pieces::inline(&source.title), pieces::target(&source.url))?;
        if let Some(quote) = &source.quote {
            write!(out, " — “{}”", pieces::inline(quote))?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

/// How a reply ended, where that is not of itself.
fn ending(out: &mut impl Write, turn: &Turn, is_empty: bool) -> io::Result<()> {
    let says_why = turn.blocks.iter().any(|block| matches!(block.content, Content::Text { is_error: true, .. }));
    match (turn.status, &turn.error) {
        (TurnStatus::Error, Some(error)) => {
            if !says_why {
                blocks::failed(out, &error.message)?;
            }
            // Of an imported reply it is all that was said in its place.
            error.detail.as_deref().map_or(Ok(()), |detail| pieces::quoted(out, detail))
        }
        (TurnStatus::Error, None) => Ok(()),
        (TurnStatus::Cancelled, _) => writeln!(out, "*{}*\n", words::STOPPED),
        (TurnStatus::Complete, _) if is_empty => writeln!(out, "*{}*\n", words::EMPTY_REPLY),
        (TurnStatus::Complete, _) => match turn.blocks.iter().rev().find_map(notice::ending_of) {
            Some(early) => writeln!(out, "*{}*\n", early.sentence()),
            None => Ok(()),
        },
        _ => writeln!(out, "*{}*\n", words::STILL_WRITTEN),
    }
}

fn versions(out: &mut impl Write, shown: &Shown<'_>) -> io::Result<()> {
    match shown.other_versions {
        0 => Ok(()),
        count => writeln!(out, "*{}*\n", words::other_versions(count)),
    }
}

#[cfg(test)]
mod tests;
