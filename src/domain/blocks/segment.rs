//! Reasoning segmentation (`docs/reference/domain.md 4.5`): decides which blocks of a reply are shown as one
//! reasoning block, which as the reply, and which not at all. It is a view that refers to blocks by their index in
//! the slice and owns no text. `merge` joins parts across turns.
//!
//! Server and browser call the same function. It never looks ahead, so later blocks do not move earlier ones; only
//! whether the last block is open can change.

use std::collections::HashMap;

use crate::blocks::block::{Block, BlockState, Content, ToolStatus};
use crate::blocks::merge::{join_reasoning, sum_known};
use crate::id::BlockId;

/// One item to render. All `usize` are indices into the slice that `segments` was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Reasoning: one thinking block, or several with nothing visible between them, drawn as one text.
    Think { key: BlockId, blocks: Vec<usize> },
    /// A tool call and, once it is there, its result.
    Tool { key: BlockId, call: usize, result: Option<usize> },
    /// Visible content: text, an error text, an image, a reference.
    Text { key: BlockId, block: usize },
}

/// A run of reasoning and tool calls, drawn as one panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasoningBlock {
    /// The key of the first member. It is stable while the block grows.
    pub key: BlockId,
    /// `Think` and `Tool` segments in order; the first is a `Think`.
    pub members: Vec<Segment>,
    /// The number of members that are tool calls.
    pub tool_calls: usize,
    /// The number of failed calls. Stopped or denied calls did not fail.
    pub failed_tool_calls: usize,
    /// Milliseconds of reasoning and tools, as far as measured; `None` if none was measured.
    pub duration_ms: Option<u64>,
    /// The title of the newest thinking block; the page has a default.
    pub title: Option<String>,
    /// All titles in order; equal ones that follow each other count once.
    pub titles: Vec<String>,
    /// True while the last member streams or runs. The only field that can change back.
    pub is_open: bool,
    /// True if the last member was interrupted: stopped by the user, or by a lost connection or server.
    pub was_cut_off: bool,
    /// True if there is reasoning to read. Otherwise the provider hides it.
    pub has_text: bool,
}

/// One rendered item of a reply, in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderedItem {
    Reasoning(ReasoningBlock),
    Reply(Segment),
}

impl Segment {
    /// Returns the id of the segment's first block: stable while the reply streams and after a reload.
    pub fn key(&self) -> BlockId {
        match self {
            Self::Think { key, .. } | Self::Tool { key, .. } | Self::Text { key, .. } => *key,
        }
    }
}

impl RenderedItem {
    /// Returns the id of the item's first block: stable while the reply streams and after a reload.
    pub fn key(&self) -> BlockId {
        match self {
            Self::Reasoning(block) => block.key,
            Self::Reply(segment) => segment.key(),
        }
    }
}

/// Returns the text of a `Think` segment: the texts of its blocks, joined by a blank line.
pub fn thinking_text(blocks: &[Block], members: &[usize]) -> String {
    join_reasoning(members.iter().filter_map(|&at| match &blocks.get(at)?.content {
        Content::Thinking { thinking, .. } => Some(thinking.as_str()),
        _ => None,
    }))
}

/// Groups the blocks of one assistant turn, given in `seq` order.
///
/// Without thinking mode there are no reasoning blocks, and reasoning that arrived anyway is omitted; an undecided mode
/// counts as on ([`crate::turns::exchange::Exchange::shows_reasoning`]). Results are matched by their call's block id,
/// or by the provider's call id if an import has no block id. A second result of a call and a result without a call are
/// not shown.
pub fn segments(blocks: &[Block], is_thinking_mode: bool) -> Vec<RenderedItem> {
    segments_by_mode(blocks, &|_| is_thinking_mode)
}

/// Groups the blocks of several consecutive assistant turns. `is_thinking_mode` returns the mode of the turn that the
/// block at this index belongs to (`docs/reference/domain.md 4.6`).
pub fn segments_by_mode(blocks: &[Block], is_thinking_mode: &dyn Fn(usize) -> bool) -> Vec<RenderedItem> {
    let results = results_of_calls(blocks);
    let mut items = Vec::new();
    let mut state = RunState::Out;
    for (at, block) in blocks.iter().enumerate() {
        let Some(kind) = kind_of(&block.content) else { continue };
        let key = block.id;
        if kind == SegmentKind::Think && !is_thinking_mode(at) {
            continue;
        }
        let (next, joins) = match (state, kind) {
            (RunState::InThink | RunState::InTool, SegmentKind::Think) => (RunState::InThink, true),
            (RunState::InThink, SegmentKind::Tool) => (RunState::InTool, true),
            (RunState::Out, SegmentKind::Think) => (RunState::InThink, false),
            (_, SegmentKind::Tool | SegmentKind::Text) => (RunState::Out, false),
        };
        state = next;
        let segment = match kind {
            SegmentKind::Think => Segment::Think { key, blocks: vec![at] },
            SegmentKind::Tool => Segment::Tool { key, call: at, result: results.get(&at).copied() },
            SegmentKind::Text => Segment::Text { key, block: at },
        };
        match (items.last_mut(), kind) {
            (Some(RenderedItem::Reasoning(block)), _) if joins => block.add(segment),
            (_, SegmentKind::Think) => items.push(RenderedItem::Reasoning(ReasoningBlock::new(segment))),
            (_, SegmentKind::Tool | SegmentKind::Text) => items.push(RenderedItem::Reply(segment)),
        }
    }
    for item in &mut items {
        if let RenderedItem::Reasoning(reasoning) = item {
            reasoning.count(blocks);
        }
    }
    items
}

#[derive(Clone, Copy)]
enum RunState {
    Out,
    InThink,
    InTool,
}

#[derive(Clone, Copy, PartialEq)]
enum SegmentKind {
    Think,
    Tool,
    Text,
}

/// Returns the kind of segment that a block forms, if any.
fn kind_of(content: &Content) -> Option<SegmentKind> {
    match content {
        // Reasoning without text counts too: the provider reasoned but hides the text.
        Content::Thinking { .. } => Some(SegmentKind::Think),
        Content::ToolUse { .. } => Some(SegmentKind::Tool),
        Content::Text { text, is_error } => (*is_error || !text.trim().is_empty()).then_some(SegmentKind::Text),
        Content::Image { .. } | Content::Reference { .. } | Content::PartialReference { .. } => Some(SegmentKind::Text),
        Content::ToolResult { .. } | Content::ThinkingSignature { .. } | Content::Other(_) => None,
    }
}

/// Maps the index of each call to that of its result. Only earlier calls are matched and the first result wins, so
/// that a later event changes no pair.
fn results_of_calls(blocks: &[Block]) -> HashMap<usize, usize> {
    let mut by_block: HashMap<BlockId, usize> = HashMap::new();
    let mut by_call_id: HashMap<&str, usize> = HashMap::new();
    let mut results = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        match &block.content {
            Content::ToolUse { tool_use_id, .. } => {
                by_block.insert(block.id, at);
                by_call_id.insert(tool_use_id, at);
            }
            Content::ToolResult { tool_use_id, .. } => {
                let call = match block.parent_block_id {
                    Some(parent) => by_block.get(&parent),
                    None => by_call_id.get(tool_use_id.as_str()),
                };
                if let Some(call) = call {
                    results.entry(*call).or_insert(at);
                }
            }
            _ => {}
        }
    }
    results
}

impl ReasoningBlock {
    fn new(first: Segment) -> Self {
        Self {
            key: first.key(),
            members: vec![first],
            tool_calls: 0,
            failed_tool_calls: 0,
            duration_ms: None,
            title: None,
            titles: Vec::new(),
            is_open: false,
            was_cut_off: false,
            has_text: false,
        }
    }

    fn add(&mut self, segment: Segment) {
        match (self.members.last_mut(), segment) {
            (Some(Segment::Think { blocks, .. }), Segment::Think { blocks: more, .. }) => blocks.extend(more),
            (_, segment) => self.members.push(segment),
        }
    }

    /// Computes the fields that the panel's label shows.
    fn count(&mut self, all: &[Block]) {
        for member in &self.members {
            match member {
                Segment::Think { blocks, .. } => {
                    for block in blocks.iter().filter_map(|&at| all.get(at)) {
                        let Content::Thinking { thinking, duration_ms, .. } = &block.content else { continue };
                        self.duration_ms = sum_known([self.duration_ms, *duration_ms]);
                        self.title = block.reasoning_title();
                        self.titles.extend(block.reasoning_titles());
                        self.has_text |= !thinking.trim().is_empty();
                        self.is_open = block.state == BlockState::Open;
                        self.was_cut_off = was_cut_off(block);
                    }
                }
                Segment::Tool { call, result, .. } => {
                    let Some(block) = all.get(*call) else { continue };
                    let Content::ToolUse { status, duration_ms, .. } = &block.content else { continue };
                    let result = result.and_then(|at| all.get(at));
                    self.tool_calls += 1;
                    self.failed_tool_calls += usize::from(is_tool_failed(block, result));
                    self.duration_ms = sum_known([self.duration_ms, *duration_ms]);
                    self.is_open = block.state == BlockState::Open || status.is_open();
                    self.was_cut_off =
                        was_cut_off(block) || matches!(status, ToolStatus::Cancelled | ToolStatus::Interrupted);
                }
                Segment::Text { .. } => {}
            }
        }
        self.titles.dedup();
    }
}

/// Returns true if a tool call failed, by its status or its result.
pub fn is_tool_failed(call: &Block, result: Option<&Block>) -> bool {
    let status = match &call.content {
        Content::ToolUse { status, .. } => *status,
        _ => return false,
    };
    let is_marked_failed = result.is_some_and(
        |result| matches!(result.content, Content::ToolResult { success, is_error, .. } if is_error || !success),
    );
    status == ToolStatus::Failed || (status == ToolStatus::Done && is_marked_failed)
}

fn was_cut_off(block: &Block) -> bool {
    matches!(block.state, BlockState::Aborted | BlockState::Failed)
}

#[cfg(test)]
mod tests;
