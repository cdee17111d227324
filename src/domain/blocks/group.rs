//! Message groups: a path as user messages and reply timelines. Adjacent replies without a user turn between them
//! form one group, and adjacent reasoning within it is merged by the rule of `merge`. Each merged item lists its
//! source blocks.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::blocks::block::{Block, BlockState, Content, ToolStatus};
use crate::blocks::content_block::ContentBlock;
use crate::blocks::merge::{MessagePart, PartReasoning, merge_parts};
use crate::blocks::segment::{RenderedItem, Segment, segments_by_mode};
use crate::id::{BlockId, ExchangeId, TurnId};
use crate::turns::turn::{Role, Turn, TurnStatus};

/// A group of a path.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageGroup {
    UserMessageGroup {
        exchange_id: ExchangeId,
        user_message: GroupMessage,
    },
    SystemMessageGroup {
        exchange_id: ExchangeId,
        system_message: GroupMessage,
    },
    AssistantMessageGroup {
        /// The exchange of the first turn. It is the group's id.
        exchange_id: ExchangeId,
        /// The turns of the group, in order.
        turn_ids: Vec<TurnId>,
        /// The status of the newest turn.
        status: TurnStatus,
        /// True if any turn was requested in thinking mode.
        is_thinking_mode: bool,
        /// The visible items, in order.
        items: Vec<TimelineItem>,
        /// The grouping of the items into reasoning blocks and replies, by index into `items`.
        segments: Vec<TimelineSegment>,
    },
}

/// A message of a person or of the system.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct GroupMessage {
    pub turn_id: TurnId,
    /// The full text.
    pub content: String,
    pub blocks: Vec<ContentBlock>,
    pub created_at: DateTime<Utc>,
}

/// One item of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TimelineItem {
    /// The id of the block. For merged blocks, the id of the first.
    pub id: BlockId,
    pub turn_id: TurnId,
    pub created_at: DateTime<Utc>,
    #[serde(flatten)]
    pub kind: TimelineItemKind,
}

/// The kind of a timeline item.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TimelineItemKind {
    Think {
        /// Empty if the provider hides the reasoning.
        text: String,
        /// Null means the client's own default ("Thinking…").
        title: Option<String>,
        streaming: bool,
        /// The duration of the newest block, and of all merged blocks, in milliseconds.
        duration: Option<u64>,
        total_duration: Option<u64>,
        /// The ids of the merged blocks, in order.
        merged_ids: Vec<String>,
    },
    Tool {
        tool_name: String,
        arguments: Value,
        status: ToolStatus,
        /// Null until the tool has answered.
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

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ToolAnswer {
    pub id: BlockId,
    pub result: Value,
    pub success: bool,
}

/// The reasoning block or reply that items belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TimelineSegment {
    ReasoningBlock {
        items: Vec<usize>,
        tool_calls: usize,
        /// The title of the newest reasoning.
        title: Option<String>,
        /// All titles in order.
        titles: Vec<String>,
        duration: Option<u64>,
    },
    Reply {
        item: usize,
    },
}

/// Returns true if a turn joins the group of the turn before it.
pub fn joins_previous_group(before: Role, role: Role) -> bool {
    before == Role::Assistant && role == Role::Assistant
}

/// Builds the groups of a path. `is_thinking_mode` returns the thinking mode of a turn's exchange.
pub fn message_groups(mut path: Vec<Turn>, is_thinking_mode: impl Fn(TurnId) -> bool) -> Vec<MessageGroup> {
    let runs = path.chunk_by_mut(|before, turn| joins_previous_group(before.role, turn.role));
    runs.filter_map(|run| match run {
        [message] if message.role == Role::User => Some(MessageGroup::UserMessageGroup {
            exchange_id: message.exchange_id,
            user_message: GroupMessage::from(&*message),
        }),
        [message] if message.role == Role::System => Some(MessageGroup::SystemMessageGroup {
            exchange_id: message.exchange_id,
            system_message: GroupMessage::from(&*message),
        }),
        run => reply_group(run, &is_thinking_mode),
    })
    .collect()
}

impl From<&Turn> for GroupMessage {
    fn from(turn: &Turn) -> Self {
        Self {
            turn_id: turn.id,
            content: turn.content_text(),
            blocks: turn.blocks.iter().map(|block| ContentBlock::new(turn.chat_id, turn.id, block)).collect(),
            created_at: turn.created_at,
        }
    }
}

fn reply_group(run: &mut [Turn], is_thinking_mode: &dyn Fn(TurnId) -> bool) -> Option<MessageGroup> {
    let modes: Vec<bool> = run.iter().map(|turn| is_thinking_mode(turn.id)).collect();
    let (mut blocks, mut of): (Vec<Block>, Vec<usize>) = Default::default();
    for (at, turn) in run.iter_mut().enumerate() {
        of.extend(turn.blocks.iter().map(|_| at));
        blocks.append(&mut turn.blocks);
    }
    let (first, last) = (run.first()?, run.last()?);
    let shown = segments_by_mode(&blocks, &|at| modes[of[at]]);
    let (mut items, mut segments) = (Vec::new(), Vec::new());
    let thoughts = merged_thoughts(&blocks, &shown);
    let item = |segment: &Segment| {
        let at = first_block_index(segment);
        let (block, turn) = (&blocks[at], &run[of[at]]);
        TimelineItem {
            id: segment.key(),
            turn_id: turn.id,
            created_at: block.created_at,
            kind: item_kind(segment, turn, &blocks, &thoughts),
        }
    };
    for shown in &shown {
        match shown {
            RenderedItem::Reply(segment) => {
                segments.push(TimelineSegment::Reply { item: items.len() });
                items.push(item(segment));
            }
            RenderedItem::Reasoning(reasoning) => {
                segments.push(TimelineSegment::ReasoningBlock {
                    items: (items.len()..items.len() + reasoning.members.len()).collect(),
                    tool_calls: reasoning.tool_calls,
                    title: reasoning.title.clone(),
                    titles: reasoning.titles.clone(),
                    duration: reasoning.duration_ms,
                });
                items.extend(reasoning.members.iter().map(item));
            }
        }
    }
    Some(MessageGroup::AssistantMessageGroup {
        exchange_id: first.exchange_id,
        turn_ids: run.iter().map(|turn| turn.id).collect(),
        status: last.status,
        is_thinking_mode: modes.contains(&true),
        items,
        segments,
    })
}

/// Returns the index of a segment's first block.
fn first_block_index(segment: &Segment) -> usize {
    match segment {
        Segment::Think { blocks, .. } => blocks.first().copied().unwrap_or_default(),
        Segment::Tool { call, .. } => *call,
        Segment::Text { block, .. } => *block,
    }
}

/// Merges all visible reasoning by the rule of `merge`, with one part per block. The map is keyed by the id of the
/// first block.
fn merged_thoughts(blocks: &[Block], shown: &[RenderedItem]) -> HashMap<String, MessagePart> {
    let segments = shown.iter().flat_map(|item| match item {
        RenderedItem::Reasoning(reasoning) => reasoning.members.iter().collect(),
        RenderedItem::Reply(segment) => vec![segment],
    });
    let parts = segments.flat_map(|segment| match segment {
        Segment::Think { blocks: places, .. } => places.iter().map(|&at| reasoning_part(&blocks[at])).collect(),
        other => vec![reasoning_part(&blocks[first_block_index(other)])],
    });
    let merged = merge_parts(parts.collect());
    merged.into_iter().filter(|part| part.reasoning.is_some()).map(|part| (part.id.clone(), part)).collect()
}

fn reasoning_part(block: &Block) -> MessagePart {
    let reasoning = match &block.content {
        Content::Thinking { thinking, duration_ms, .. } => Some(PartReasoning {
            content: thinking.clone(),
            title: block.reasoning_title(),
            streaming: block.state == BlockState::Open,
            duration: *duration_ms,
            total_duration: None,
        }),
        _ => None,
    };
    MessagePart { id: block.id.to_string(), reasoning, ..MessagePart::default() }
}

fn item_kind(
    segment: &Segment,
    turn: &Turn,
    blocks: &[Block],
    thoughts: &HashMap<String, MessagePart>,
) -> TimelineItemKind {
    let block = &blocks[first_block_index(segment)];
    match (segment, &block.content) {
        (Segment::Think { key, .. }, _) => {
            let part = thoughts.get(&key.to_string()).cloned().unwrap_or_default();
            let reasoning = part.reasoning.unwrap_or_default();
            TimelineItemKind::Think {
                text: reasoning.content,
                title: reasoning.title,
                streaming: reasoning.streaming,
                duration: reasoning.duration,
                total_duration: reasoning.total_duration,
                merged_ids: part.merged_ids,
            }
        }
        (Segment::Tool { result, .. }, Content::ToolUse { tool_name, arguments, status, .. }) => {
            TimelineItemKind::Tool {
                tool_name: tool_name.clone(),
                arguments: arguments.clone(),
                status: *status,
                result: result.and_then(|at| tool_answer(&blocks[at])),
            }
        }
        (_, Content::Text { text, is_error }) => TimelineItemKind::Text {
            text: text.clone(),
            is_error: *is_error,
            streaming: block.state == BlockState::Open,
        },
        _ => TimelineItemKind::Other { block: ContentBlock::new(turn.chat_id, turn.id, block) },
    }
}

fn tool_answer(block: &Block) -> Option<ToolAnswer> {
    match &block.content {
        Content::ToolResult { result, success, .. } => {
            Some(ToolAnswer { id: block.id, result: result.clone(), success: *success })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
