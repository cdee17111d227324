//! How a turn ends: the events that close whatever is open, so that every turn reaches one terminal state, keeps what
//! was shown, and leaves no tool call without a result (reliability.md 1.3 rule 8, domain.md C11, I7).

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::block::{ToolStatus, chat_seq};
use crate::domain::{Author, Block, BlockId, BlockState, Content, Cost, Event, Failure, Turn, TurnStatus, Usage, tool};

/// Why a turn ends.
#[derive(Debug, Clone)]
pub enum Ending {
    Complete,
    Stopped,
    Failed(Failure),
}

/// What all generations of a turn took together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    pub usage: Usage,
    pub cost: Option<Cost>,
}

/// The events that end `turn`, whatever state it is in. `mint` gives new block ids.
pub fn closing(
    turn: &Turn,
    ending: &Ending,
    spent: Spent,
    now: DateTime<Utc>,
    mint: impl Fn() -> BlockId,
) -> Vec<Event> {
    let mut events = Vec::new();
    let mut results = Vec::new();
    for block in &turn.blocks {
        if block.state == BlockState::Open {
            events.push(Event::BlockEnd {
                block_id: block.id,
                state: if matches!(ending, Ending::Complete) { BlockState::Done } else { BlockState::Aborted },
                content: closed_call(&block.content),
            });
        } else if let Content::ToolUse { status, .. } = &block.content
            && status.is_open()
        {
            events.push(Event::tool_moved(block.id, ToolStatus::Cancelled, None));
        }
        if let Content::ToolUse { tool_use_id, tool_name, .. } = &block.content
            && !turn.blocks.iter().any(|other| answers(other, block.id))
        {
            results.push((block, tool_use_id, tool_name));
        }
    }
    let mut seq = turn.blocks.len() as u32;
    let mut append = |author, parent: Option<&Block>, content| {
        let block = Block {
            id: mint(),
            seq,
            chat_seq: chat_seq(turn.ord, seq),
            author,
            state: BlockState::Done,
            content,
            parent_block_id: parent.map(|block| block.id),
            generation_id: parent.and_then(|block| block.generation_id),
            block_metadata: Value::Null,
            created_at: now,
        };
        seq += 1;
        Event::BlockStart { block }
    };
    for (call, tool_use_id, tool_name) in results {
        let content = Content::ToolResult {
            tool_use_id: tool_use_id.clone(),
            tool_name: tool_name.clone(),
            result: Value::String(synthetic_result(ending).into()),
            success: false,
            is_error: true,
            metadata: Value::Null,
        };
        events.push(append(Author::Tool, Some(call), content));
    }
    let status = match ending {
        Ending::Complete => TurnStatus::Complete,
        Ending::Stopped => TurnStatus::Cancelled,
        Ending::Failed(failure) => {
            let content = Content::Text { text: failure.message.clone(), is_error: true };
            events.push(append(Author::System, None, content));
            events.push(Event::Error(failure.clone()));
            TurnStatus::Error
        }
    };
    let Spent { usage, cost } = spent;
    events.push(Event::TurnEnd { status, usage, cost, at: Some(now) });
    events
}

fn answers(block: &Block, call: BlockId) -> bool {
    matches!(block.content, Content::ToolResult { .. }) && block.parent_block_id == Some(call)
}

/// What a tool call that was cut off becomes; other blocks end as they are.
fn closed_call(content: &Content) -> Option<Content> {
    let Content::ToolUse { tool_use_id, tool_name, arguments_raw, duration_ms, .. } = content else {
        return None;
    };
    Some(Content::ToolUse {
        tool_use_id: tool_use_id.clone(),
        tool_name: tool_name.clone(),
        arguments: arguments_raw.as_deref().and_then(tool::parse_arguments).unwrap_or(Value::Null),
        arguments_raw: arguments_raw.clone(),
        status: ToolStatus::Cancelled,
        duration_ms: *duration_ms,
    })
}

/// What the model is told about a call that never got its result.
fn synthetic_result(ending: &Ending) -> &'static str {
    match ending {
        Ending::Stopped => "cancelled by the user",
        Ending::Complete | Ending::Failed(_) => "interrupted; the tool may or may not have run",
    }
}
