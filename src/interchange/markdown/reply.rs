//! What a reply is made of: reasoning blocks with the tools in them, tools, and what was said.

use std::io::{self, Write};

use serde_json::Value;

use super::blocks::{Options, image, visible};
use super::{pieces, words};
use crate::domain::block::Content;
use crate::domain::export::Part;
use crate::domain::segment::{Item, ReasoningBlock, Segment, thinking_text, tool_failed};
use crate::domain::turn::TurnStatus;
use crate::domain::{Block, told};

/// What items are drawn of.
pub struct Drawn<'a> {
    /// Of the whole run: the places in items are of these.
    pub blocks: &'a [Block],
    pub status: TurnStatus,
    pub options: &'a Options<'a>,
}

/// Where an item begins.
pub fn place(item: &Item) -> usize {
    let of = |segment: &Segment| match segment {
        Segment::Think { blocks, .. } => blocks.first().copied(),
        Segment::Tool { call, .. } => Some(*call),
        Segment::Text { block, .. } => Some(*block),
    };
    match item {
        Item::Reasoning(block) => block.members.first().and_then(of),
        Item::Reply(segment) => of(segment),
    }
    .unwrap_or_default()
}

/// One item.
pub fn item(out: &mut impl Write, item: &Item, drawn: &Drawn<'_>) -> io::Result<()> {
    match item {
        Item::Reasoning(block) => reasoning(out, block, drawn),
        Item::Reply(segment) => member(out, segment, drawn),
    }
}

fn reasoning(out: &mut impl Write, block: &ReasoningBlock, drawn: &Drawn<'_>) -> io::Result<()> {
    let cut_off = block.was_cut_off.then_some(match drawn.status {
        TurnStatus::Cancelled => words::CutOff::Stopped,
        _ => words::CutOff::Broken,
    });
    let (calls, failed) = (block.tool_calls, block.failed_tool_calls);
    let label = words::thought(block.duration_ms, calls, failed, !block.has_text, cut_off);
    match drawn.options.reasoning {
        // The tools in it are asked for by themselves.
        Part::LeftOut => {}
        Part::Full => writeln!(out, "**{}**\n", pieces::inline(&label))?,
        Part::Folded => fold(out, &label)?,
    }
    if !block.has_text && drawn.options.reasoning != Part::LeftOut {
        writeln!(out, "*{}*\n", words::HIDDEN_REASONING)?;
    }
    for segment in &block.members {
        member(out, segment, drawn)?;
    }
    if drawn.options.reasoning == Part::Folded { unfold(out) } else { Ok(()) }
}

fn member(out: &mut impl Write, segment: &Segment, drawn: &Drawn<'_>) -> io::Result<()> {
    match segment {
        Segment::Think { blocks, .. } => {
            let text = thinking_text(drawn.blocks, blocks);
            match drawn.options.reasoning {
                _ if text.trim().is_empty() => Ok(()),
                Part::LeftOut => Ok(()),
                Part::Folded => pieces::verbatim(out, &text),
                // So that it is seen where the reasoning ends.
                Part::Full => pieces::quoted(out, &text),
            }
        }
        Segment::Tool { call, result, .. } => match drawn.blocks.get(*call) {
            Some(call) => tool(out, call, result.and_then(|at| drawn.blocks.get(at)), drawn.options),
            None => Ok(()),
        },
        Segment::Text { block, .. } => match drawn.blocks.get(*block) {
            Some(block) => visible(out, block, drawn.options),
            None => Ok(()),
        },
    }
}

fn tool(out: &mut impl Write, call: &Block, answer: Option<&Block>, options: &Options<'_>) -> io::Result<()> {
    let Content::ToolUse { tool_name, arguments, arguments_raw, status, duration_ms, .. } = &call.content else {
        return Ok(());
    };
    let mut label = format!("{} · {}", words::tool(tool_name), words::tool_state(*status, tool_failed(call, answer)));
    if let Some(ms) = duration_ms.filter(|ms| *ms >= 1_000) {
        label = format!("{label} · {}", words::seconds(ms.saturating_add(500) / 1_000));
    }
    match options.tools {
        Part::LeftOut => return Ok(()),
        Part::Full => writeln!(out, "**{}**\n", pieces::inline(&label))?,
        Part::Folded => fold(out, &label)?,
    }
    let raw = arguments_raw.as_deref().filter(|raw| !raw.trim().is_empty());
    match (arguments, raw) {
        (Value::Null, None) => writeln!(out, "{}\n", words::NO_ARGUMENTS)?,
        (Value::Null, Some(raw)) => {
            writeln!(out, "{}\n", words::ARGUMENTS)?;
            pieces::code(out, "", raw)?;
        }
        (arguments, _) => {
            writeln!(out, "{}\n", words::ARGUMENTS)?;
            json(out, arguments)?;
        }
    }
    result(out, answer, options)?;
    if options.tools == Part::Folded { unfold(out) } else { Ok(()) }
}

/// What a call brought.
pub fn result(out: &mut impl Write, answer: Option<&Block>, options: &Options<'_>) -> io::Result<()> {
    let Some(Content::ToolResult { result, success, is_error, metadata, .. }) = answer.map(|block| &block.content)
    else {
        return writeln!(out, "{}\n", words::NO_RESULT);
    };
    writeln!(out, "{}\n", if *is_error || !success { words::TOOL_ERROR } else { words::RESULT })?;
    match result {
        Value::String(text) => pieces::code(out, "", text)?,
        other => json(out, other)?,
    }
    for shown in told::images(metadata) {
        image(out, &shown.blob, &shown.mime, &shown.alt, options)?;
    }
    Ok(())
}

fn json(out: &mut impl Write, value: &Value) -> io::Result<()> {
    pieces::code(out, "json", &serde_json::to_string_pretty(value)?)
}

fn fold(out: &mut impl Write, label: &str) -> io::Result<()> {
    writeln!(out, "<details>\n<summary>{}</summary>\n", pieces::html(label))
}

fn unfold(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "</details>\n")
}
