//! Renders the items of a reply: reasoning blocks with their tools, tool calls, and text.

use std::io::{self, Write};

use serde_json::Value;

use super::blocks::{MarkdownOptions, write_block, write_image};
use super::{escaping, messages};
use crate::domain::Block;
use crate::domain::blocks::block::Content;
use crate::domain::blocks::segment::{ReasoningBlock, RenderedItem, Segment, is_tool_failed, thinking_text};
use crate::domain::tools::call_edit::CallEdit;
use crate::domain::tools::elicitation::Elicitation;
use crate::domain::tools::tool_output;
use crate::domain::transfer::export::ExportDetail;
use crate::domain::turns::turn::TurnStatus;

/// Inputs for rendering items.
pub struct ReplyContext<'a> {
    /// The blocks of the whole run; items contain indexes into them.
    pub blocks: &'a [Block],
    pub status: TurnStatus,
    pub options: &'a MarkdownOptions<'a>,
}

/// Returns the index of the first block of an item.
pub fn item_start(item: &RenderedItem) -> usize {
    let of = |segment: &Segment| match segment {
        Segment::Think { blocks, .. } => blocks.first().copied(),
        Segment::Tool { call, .. } => Some(*call),
        Segment::Text { block, .. } => Some(*block),
    };
    match item {
        RenderedItem::Reasoning(block) => block.members.first().and_then(of),
        RenderedItem::Reply(segment) => of(segment),
    }
    .unwrap_or_default()
}

/// Writes one item.
pub fn write_item(out: &mut impl Write, item: &RenderedItem, context: &ReplyContext<'_>) -> io::Result<()> {
    match item {
        RenderedItem::Reasoning(block) => reasoning(out, block, context),
        RenderedItem::Reply(segment) => member(out, segment, context),
    }
}

fn reasoning(out: &mut impl Write, block: &ReasoningBlock, context: &ReplyContext<'_>) -> io::Result<()> {
    let cut_off = block.was_cut_off.then_some(match context.status {
        TurnStatus::Cancelled => messages::ReasoningCutOff::Stopped,
        _ => messages::ReasoningCutOff::Broken,
    });
    let label = messages::reasoning_summary(block, cut_off);
    match context.options.reasoning {
        // Tools within reasoning have their own option.
        ExportDetail::LeftOut => {}
        ExportDetail::Full => writeln!(out, "**{}**\n", escaping::escape_inline(&label))?,
        ExportDetail::Folded => fold(out, &label)?,
    }
    if !block.has_text && context.options.reasoning != ExportDetail::LeftOut {
        writeln!(out, "*{}*\n", messages::HIDDEN_REASONING)?;
    }
    for segment in &block.members {
        member(out, segment, context)?;
    }
    if context.options.reasoning == ExportDetail::Folded { unfold(out) } else { Ok(()) }
}

/// Returns the text of reasoning, in which titles that are not part of it are headings.
fn titled_text(all: &[Block], blocks: &[usize]) -> String {
    let title = |at: &usize| all.get(*at).and_then(Block::separate_reasoning_title);
    if !blocks.iter().any(|at| title(at).is_some()) {
        return thinking_text(all, blocks);
    }
    let text = |at: &usize| {
        let text = thinking_text(all, std::slice::from_ref(at));
        let title = title(at).filter(|_| !text.trim().is_empty());
        match title {
            Some(title) => format!("**{}**\n\n{text}", escaping::escape_inline(&title)),
            None => text,
        }
    };
    let texts: Vec<String> = blocks.iter().map(text).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

fn member(out: &mut impl Write, segment: &Segment, context: &ReplyContext<'_>) -> io::Result<()> {
    match segment {
        Segment::Think { blocks, .. } => {
            let text = titled_text(context.blocks, blocks);
            match context.options.reasoning {
                _ if text.trim().is_empty() => Ok(()),
                ExportDetail::LeftOut => Ok(()),
                ExportDetail::Folded => escaping::write_verbatim(out, &text),
                // A quote shows where the reasoning ends.
                ExportDetail::Full => escaping::write_quote(out, &text),
            }
        }
        Segment::Tool { call, result, .. } => match context.blocks.get(*call) {
            Some(call) => tool(out, call, result.and_then(|at| context.blocks.get(at)), context.options),
            None => Ok(()),
        },
        Segment::Text { block, .. } => match context.blocks.get(*block) {
            Some(block) => write_block(out, block, context.options),
            None => Ok(()),
        },
    }
}

fn tool(out: &mut impl Write, call: &Block, answer: Option<&Block>, options: &MarkdownOptions<'_>) -> io::Result<()> {
    let Content::ToolUse { tool_name, arguments, arguments_raw, status, duration_ms, .. } = &call.content else {
        return Ok(());
    };
    let mut label = format!(
        "{} · {}",
        messages::tool_label(tool_name),
        messages::tool_state(*status, is_tool_failed(call, answer))
    );
    if let Some(ms) = duration_ms.filter(|ms| *ms >= 1_000) {
        label = format!("{label} · {}", messages::seconds(ms.saturating_add(500) / 1_000));
    }
    match options.tools {
        ExportDetail::LeftOut => return Ok(()),
        ExportDetail::Full => writeln!(out, "**{}**\n", escaping::escape_inline(&label))?,
        ExportDetail::Folded => fold(out, &label)?,
    }
    let raw = arguments_raw.as_deref().filter(|raw| !raw.trim().is_empty());
    match (arguments, raw) {
        (Value::Null, None) => writeln!(out, "{}\n", messages::NO_ARGUMENTS)?,
        (Value::Null, Some(raw)) => {
            writeln!(out, "{}\n", messages::ARGUMENTS)?;
            escaping::write_code(out, "", raw)?;
        }
        (arguments, _) => {
            writeln!(out, "{}\n", messages::ARGUMENTS)?;
            json(out, arguments)?;
        }
    }
    if let Some(written) = CallEdit::arguments_in(&call.block_metadata) {
        writeln!(out, "{}\n", messages::MODEL_WROTE)?;
        json(out, written)?;
    }
    write_elicitations(out, call)?;
    write_result(out, answer, options)?;
    if options.tools == ExportDetail::Folded { unfold(out) } else { Ok(()) }
}

/// Writes the questions of the tool server during a call, with the user's answers.
fn write_elicitations(out: &mut impl Write, call: &Block) -> io::Result<()> {
    for asked in Elicitation::list(call) {
        let (server, outcome) = (&asked.request.server, messages::elicitation_outcome(asked.outcome));
        writeln!(out, "{}\n", escaping::escape_inline(&messages::elicitation(server, outcome)))?;
        escaping::write_quote(out, &asked.request.message)?;
        if let Some(page) = &asked.request.page {
            escaping::write_code(out, "", &page.url)?;
        }
        for (label, value) in asked.answers() {
            escaping::write_code(out, "", &format!("{label}: {value}"))?;
        }
    }
    Ok(())
}

/// Writes the result of a call.
pub fn write_result(out: &mut impl Write, answer: Option<&Block>, options: &MarkdownOptions<'_>) -> io::Result<()> {
    let Some(Content::ToolResult { result, success, is_error, metadata, .. }) = answer.map(|block| &block.content)
    else {
        return writeln!(out, "{}\n", messages::NO_RESULT);
    };
    writeln!(out, "{}\n", if *is_error || !success { messages::TOOL_ERROR } else { messages::RESULT })?;
    match result {
        Value::String(text) => escaping::write_code(out, "", text)?,
        other => json(out, other)?,
    }
    for shown in tool_output::result_images(metadata) {
        write_image(out, &shown.blob, &shown.mime, &shown.alt, options)?;
    }
    Ok(())
}

fn json(out: &mut impl Write, value: &Value) -> io::Result<()> {
    escaping::write_code(out, "json", &serde_json::to_string_pretty(value)?)
}

fn fold(out: &mut impl Write, label: &str) -> io::Result<()> {
    writeln!(out, "<details>\n<summary>{}</summary>\n", escaping::escape_html(label))
}

fn unfold(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "</details>\n")
}
