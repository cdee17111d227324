//! A path as groups: what a person said, and what was answered to it as one timeline (seed 000, `GetMessageGroups`).
//! Replies with no user turn between them are one group, and reasoning that follows reasoning in it is one piece, by the
//! rule of `merge`; which turns and blocks went into what is said beside it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::block::{Block, BlockState, Content, ToolStatus};
use crate::content_block::ContentBlock;
use crate::id::{BlockId, ExchangeId, TurnId};
use crate::merge::{Part, Reasoning, merge};
use crate::segment::{Item, Segment, segments_where};
use crate::turn::{Role, Turn, TurnStatus};

/// One group of a path.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Group {
    UserMessageGroup {
        exchange_id: ExchangeId,
        user_message: Said,
    },
    SystemMessageGroup {
        exchange_id: ExchangeId,
        system_message: Said,
    },
    AssistantMessageGroup {
        /// Of the first turn: the group's id.
        exchange_id: ExchangeId,
        /// The turns that it is made of, in order.
        turn_ids: Vec<TurnId>,
        /// Of the newest turn.
        status: TurnStatus,
        /// Whether any of the turns was asked for in thinking mode.
        is_thinking_mode: bool,
        /// What is shown of it, in order.
        items: Vec<TimelineItem>,
        /// Which of the items are a reasoning block and which the reply, by their places in `items`.
        segments: Vec<Placed>,
    },
}

/// What a person or the system said.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Said {
    pub turn_id: TurnId,
    /// All of its text.
    pub content: String,
    pub blocks: Vec<ContentBlock>,
    pub created_at: DateTime<Utc>,
}

/// One thing of the timeline.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TimelineItem {
    /// Of the block; of the first one where several were merged.
    pub id: BlockId,
    pub turn_id: TurnId,
    pub created_at: DateTime<Utc>,
    #[serde(flatten)]
    pub what: What,
}

/// What a thing of the timeline is.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    Think {
        /// Empty where the provider hides it.
        text: String,
        /// Null means the client's own word ("Thinking…").
        title: Option<String>,
        streaming: bool,
        /// Of the newest block, and of all of them; milliseconds.
        duration: Option<u64>,
        total_duration: Option<u64>,
        /// The blocks that were merged into it, in order.
        merged_ids: Vec<String>,
    },
    Tool {
        tool_name: String,
        arguments: Value,
        status: ToolStatus,
        /// Null as long as there is none.
        result: Option<ToolAnswer>,
    },
    Text {
        text: String,
        is_error: bool,
        streaming: bool,
    },
    /// An image or a reference.
    Other {
        block: ContentBlock,
    },
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ToolAnswer {
    pub id: BlockId,
    pub result: Value,
    pub success: bool,
}

/// Where items belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Placed {
    ReasoningBlock { items: Vec<usize>, tool_calls: usize, title: Option<String>, duration: Option<u64> },
    Reply { item: usize },
}

/// Whether a turn goes into the group of the one before it.
pub fn joins(before: Role, role: Role) -> bool {
    before == Role::Assistant && role == Role::Assistant
}

/// The groups of a path. `is_thinking_mode` says of a turn what its exchange says.
pub fn groups(mut path: Vec<Turn>, is_thinking_mode: impl Fn(TurnId) -> bool) -> Vec<Group> {
    let runs = path.chunk_by_mut(|before, turn| joins(before.role, turn.role));
    runs.filter_map(|run| match run {
        [said] if said.role == Role::User => {
            Some(Group::UserMessageGroup { exchange_id: said.exchange_id, user_message: Said::from(&*said) })
        }
        [said] if said.role == Role::System => {
            Some(Group::SystemMessageGroup { exchange_id: said.exchange_id, system_message: Said::from(&*said) })
        }
        run => replies(run, &is_thinking_mode),
    })
    .collect()
}

impl From<&Turn> for Said {
    fn from(turn: &Turn) -> Self {
        Self {
            turn_id: turn.id,
            content: turn.content_text(),
            blocks: turn.blocks.iter().map(|block| ContentBlock::new(turn.chat_id, turn.id, block)).collect(),
            created_at: turn.created_at,
        }
    }
}

fn replies(run: &mut [Turn], is_thinking_mode: &dyn Fn(TurnId) -> bool) -> Option<Group> {
    let modes: Vec<bool> = run.iter().map(|turn| is_thinking_mode(turn.id)).collect();
    let (mut blocks, mut of): (Vec<Block>, Vec<usize>) = Default::default();
    for (at, turn) in run.iter_mut().enumerate() {
        of.extend(turn.blocks.iter().map(|_| at));
        blocks.append(&mut turn.blocks);
    }
    let (first, last) = (run.first()?, run.last()?);
    let shown = segments_where(&blocks, &|at| modes[of[at]]);
    let (mut items, mut segments) = (Vec::new(), Vec::new());
    let thoughts = thoughts(&blocks, &shown);
    let item = |segment: &Segment| {
        let at = place(segment);
        let (block, turn) = (&blocks[at], &run[of[at]]);
        TimelineItem {
            id: segment.key(),
            turn_id: turn.id,
            created_at: block.created_at,
            what: what(segment, turn, &blocks, &thoughts),
        }
    };
    for shown in &shown {
        match shown {
            Item::Reply(segment) => {
                segments.push(Placed::Reply { item: items.len() });
                items.push(item(segment));
            }
            Item::Reasoning(reasoning) => {
                segments.push(Placed::ReasoningBlock {
                    items: (items.len()..items.len() + reasoning.members.len()).collect(),
                    tool_calls: reasoning.tool_calls,
                    title: reasoning.title.clone(),
                    duration: reasoning.duration_ms,
                });
                items.extend(reasoning.members.iter().map(item));
            }
        }
    }
    Some(Group::AssistantMessageGroup {
        exchange_id: first.exchange_id,
        turn_ids: run.iter().map(|turn| turn.id).collect(),
        status: last.status,
        is_thinking_mode: modes.contains(&true),
        items,
        segments,
    })
}

/// The place of a segment's first block.
fn place(segment: &Segment) -> usize {
    match segment {
        Segment::Think { blocks, .. } => blocks.first().copied().unwrap_or_default(),
        Segment::Tool { call, .. } => *call,
        Segment::Text { block, .. } => *block,
    }
}

/// The merged reasoning by the id of its first block: the rule of `merge` over everything that is shown, one part for
/// each block.
fn thoughts(blocks: &[Block], shown: &[Item]) -> HashMap<String, Part> {
    let segments = shown.iter().flat_map(|item| match item {
        Item::Reasoning(reasoning) => reasoning.members.iter().collect(),
        Item::Reply(segment) => vec![segment],
    });
    let parts = segments.flat_map(|segment| match segment {
        Segment::Think { blocks: places, .. } => places.iter().map(|&at| part(&blocks[at])).collect(),
        other => vec![part(&blocks[place(other)])],
    });
    let merged = merge(parts.collect());
    merged.into_iter().filter(|part| part.reasoning.is_some()).map(|part| (part.id.clone(), part)).collect()
}

fn part(block: &Block) -> Part {
    let reasoning = match &block.content {
        Content::Thinking { thinking, title, duration_ms, .. } => Some(Reasoning {
            content: thinking.clone(),
            title: title.clone(),
            streaming: block.state == BlockState::Open,
            duration: *duration_ms,
            total_duration: None,
        }),
        _ => None,
    };
    Part { id: block.id.to_string(), reasoning, ..Part::default() }
}

fn what(segment: &Segment, turn: &Turn, blocks: &[Block], thoughts: &HashMap<String, Part>) -> What {
    let block = &blocks[place(segment)];
    match (segment, &block.content) {
        (Segment::Think { key, .. }, _) => {
            let part = thoughts.get(&key.to_string()).cloned().unwrap_or_default();
            let said = part.reasoning.unwrap_or_default();
            What::Think {
                text: said.content,
                title: said.title,
                streaming: said.streaming,
                duration: said.duration,
                total_duration: said.total_duration,
                merged_ids: part.merged_ids,
            }
        }
        (Segment::Tool { result, .. }, Content::ToolUse { tool_name, arguments, status, .. }) => What::Tool {
            tool_name: tool_name.clone(),
            arguments: arguments.clone(),
            status: *status,
            result: result.and_then(|at| answer(&blocks[at])),
        },
        (_, Content::Text { text, is_error }) => {
            What::Text { text: text.clone(), is_error: *is_error, streaming: block.state == BlockState::Open }
        }
        _ => What::Other { block: ContentBlock::new(turn.chat_id, turn.id, block) },
    }
}

fn answer(block: &Block) -> Option<ToolAnswer> {
    match &block.content {
        Content::ToolResult { result, success, .. } => {
            Some(ToolAnswer { id: block.id, result: result.clone(), success: *success })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
