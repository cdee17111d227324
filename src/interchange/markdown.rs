//! Exports one path as Markdown: a file to read, quote and keep in any program.
//!
//! Text is copied verbatim; only its HTML is escaped, and a fence that it leaves open is closed after it. Reasoning
//! panels equal those on the screen, because both use `domain::blocks::segment`; they are folded, shown or omitted. The
//! file is no archive: content off the path is counted, not exported.

use std::borrow::Cow;
use std::io::{self, Write};

use chrono::{DateTime, Utc};

use crate::domain::blocks::segment::segments_by_mode;
use crate::domain::blocks::{notice, sources};
pub use crate::domain::transfer::export::ExportDetail;
use crate::domain::turns::turn::{Role, Turn, TurnStatus};
use crate::domain::{Block, Content, ImportDifference, ImportOrigin};

mod blocks;
pub(crate) mod escaping;
mod messages;
mod reply;

pub use blocks::MarkdownOptions;

/// The head and the foot of the document.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatHeading<'a> {
    pub title: &'a str,
    pub created_at: Option<DateTime<Utc>>,
    /// Empty if the chat has none.
    pub system_prompt: &'a str,
    /// Printed at the end: the origin of an import, with the differences from it.
    pub imported_from: Option<&'a ImportOrigin>,
    /// Printed at the end: what could not be read during the export.
    pub damaged: &'a [ImportDifference],
}

/// One turn of the path.
#[derive(Debug, Clone, Copy)]
pub struct ExportedTurn<'a> {
    pub turn: &'a Turn,
    /// Its reasoning is shown (`Exchange::shows_reasoning`).
    pub is_thinking_mode: bool,
    /// The number of siblings, which are not on the path.
    pub other_versions: usize,
}

/// Writes a path from its first turn to its last. Consecutive replies are rendered as one, so a partial path must not
/// begin or end within such a run.
pub fn write(
    out: &mut impl Write,
    chat: &ChatHeading<'_>,
    path: &[ExportedTurn<'_>],
    options: &MarkdownOptions<'_>,
) -> io::Result<()> {
    let title = escaping::escape_inline(chat.title);
    writeln!(out, "# {}\n", if title.is_empty() { messages::UNTITLED } else { &title })?;
    if let Some(time) = chat.created_at {
        writeln!(out, "{} {}\n", messages::CREATED, escaping::iso_time(time))?;
    }
    if !chat.system_prompt.trim().is_empty() {
        writeln!(out, "## {}\n", messages::SYSTEM_PROMPT)?;
        escaping::write_verbatim(out, chat.system_prompt)?;
    }
    let is_reply = |shown: &ExportedTurn<'_>| shown.turn.role == Role::Assistant;
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
    writeln!(out, "---\n\n{}\n", messages::DAMAGED)?;
    differences(out, chat.damaged)
}

/// Writes the origin of an import and the differences from it.
fn origin(out: &mut impl Write, source: &ImportOrigin) -> io::Result<()> {
    let (file, format) = (escaping::escape_inline(&source.file), escaping::escape_inline(&source.format));
    writeln!(
        out,
        "---\n\n**{}:** {format}, {file}, {}\n",
        messages::IMPORTED_FROM,
        escaping::iso_time(source.imported_at)
    )?;
    if source.differences.is_empty() {
        return writeln!(out, "{}\n", messages::NO_DIFFERENCES);
    }
    writeln!(out, "{}\n", messages::DIFFERENCES)?;
    differences(out, &source.differences)
}

fn differences(out: &mut impl Write, differences: &[ImportDifference]) -> io::Result<()> {
    for one in differences {
        write!(out, "- **{}**", one.kind.label())?;
        if !one.place.is_empty() {
            write!(out, " {}", escaping::escape_inline(&one.place))?;
        }
        writeln!(out, ": {}", escaping::escape_inline(&one.text))?;
    }
    writeln!(out)
}

/// Writes a single turn without a title.
pub fn write_turn(out: &mut impl Write, shown: &ExportedTurn<'_>, options: &MarkdownOptions<'_>) -> io::Result<()> {
    if shown.turn.role == Role::Assistant {
        return replies(out, std::slice::from_ref(shown), options);
    }
    heading(out, shown)?;
    write_message(out, &shown.turn.blocks, options)?;
    versions(out, shown)
}

/// Writes consecutive replies as one, as readers perceive them; each heading appears where its reply begins.
fn replies(out: &mut impl Write, run: &[ExportedTurn<'_>], options: &MarkdownOptions<'_>) -> io::Result<()> {
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
    let items = segments_by_mode(&blocks, &|at| run.get(of(at)).is_some_and(|shown| shown.is_thinking_mode));
    let mut items = items.iter().peekable();
    for (shown, end) in run.iter().zip(&ends) {
        heading(out, shown)?;
        let mut is_empty = true;
        while let Some(item) = items.next_if(|item| reply::item_start(item) < *end) {
            is_empty = false;
            reply::write_item(out, item, &reply::ReplyContext { blocks: &blocks, status: shown.turn.status, options })?;
        }
        write_sources(out, &shown.turn.blocks)?;
        ending(out, shown.turn, is_empty)?;
        versions(out, shown)?;
    }
    Ok(())
}

/// Writes the role, the model and the time.
fn heading(out: &mut impl Write, shown: &ExportedTurn<'_>) -> io::Result<()> {
    let turn = shown.turn;
    let speaker = match turn.role {
        Role::User => messages::YOU,
        Role::Assistant => messages::ASSISTANT,
        Role::System => messages::SYSTEM,
    };
    write!(out, "## {speaker}")?;
    if let Some(model) = turn.model_used.as_deref().map(escaping::escape_inline).filter(|model| !model.is_empty()) {
        write!(out, " · {model}")?;
    }
    write!(out, " · {}", escaping::iso_time(turn.created_at))?;
    if turn.is_edited() {
        write!(out, " · {}", messages::EDITED)?;
    }
    writeln!(out, "\n")
}

/// Writes a user or system message.
fn write_message(out: &mut impl Write, blocks: &[Block], options: &MarkdownOptions<'_>) -> io::Result<()> {
    for block in blocks {
        match &block.content {
            Content::ToolResult { tool_name, .. } => {
                writeln!(out, "**{}**\n", escaping::escape_inline(&messages::tool_label(tool_name)))?;
                reply::write_result(out, Some(block), options)?;
            }
            _ => blocks::write_block(out, block, options)?,
        }
    }
    Ok(())
}

/// Writes the pages that a reply cites.
fn write_sources(out: &mut impl Write, blocks: &[Block]) -> io::Result<()> {
    let sources = sources::collect_sources(blocks).list;
    if sources.is_empty() {
        return Ok(());
    }
    writeln!(out, "**{}**\n", messages::SOURCES)?;
    for (number, source) in (1..).zip(&sources) {
        write!(out, "{number}. [{}]({})", escaping::escape_inline(&source.title), escaping::link_target(&source.url))?;
        if let Some(quote) = &source.quote {
            write!(out, " — “{}”", escaping::escape_inline(quote))?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

/// Writes how a reply ended, unless it completed normally.
fn ending(out: &mut impl Write, turn: &Turn, is_empty: bool) -> io::Result<()> {
    let has_error_text = turn.blocks.iter().any(|block| matches!(block.content, Content::Text { is_error: true, .. }));
    match (turn.status, &turn.error) {
        (TurnStatus::Error, Some(error)) => {
            if !has_error_text {
                blocks::write_failure(out, &error.sentence())?;
            }
            let detail = error.detail.as_deref().filter(|detail| *detail != error.message);
            detail.map_or(Ok(()), |detail| escaping::write_quote(out, detail))
        }
        (TurnStatus::Error, None) => Ok(()),
        (TurnStatus::Cancelled, _) => writeln!(out, "*{}*\n", messages::STOPPED),
        (TurnStatus::Complete, _) => match turn.blocks.iter().rev().find_map(notice::ending_sentence) {
            Some(sentence) => write_notice(out, &sentence),
            None if is_empty => writeln!(out, "*{}*\n", messages::EMPTY_REPLY),
            None => Ok(()),
        },
        _ => writeln!(out, "*{}*\n", messages::STILL_WRITTEN),
    }
}

fn write_notice(out: &mut impl Write, sentence: &str) -> io::Result<()> {
    writeln!(out, "*{}*\n", escaping::escape_inline(sentence))
}

fn versions(out: &mut impl Write, shown: &ExportedTurn<'_>) -> io::Result<()> {
    match shown.other_versions {
        0 => Ok(()),
        count => writeln!(out, "*{}*\n", messages::other_versions(count)),
    }
}

#[cfg(test)]
mod tests;
