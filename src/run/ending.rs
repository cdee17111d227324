//! The end of a turn: the events that close everything open, so that every turn reaches one terminal state, keeps
//! what was shown, and leaves no tool call without a result (`docs/reference/domain.md C11`,
//! `docs/reference/domain.md I7`).

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::tools::call_edit::CallEdit;
use turnleaf_domain::tools::tool;
use turnleaf_domain::{
    Author, Block, BlockId, BlockState, Content, Cost, Event, Failure, FailureKind, Turn, TurnStatus, Usage,
};

/// The result for the model of a call that a server restart interrupted.
pub const INTERRUPTED_RESULT: &str = "interrupted: the server restarted; the tool may or may not have run";
/// Results for the model of a call that a person stopped, one that the end of its reply cut off, and one that had not
/// started before that.
const STOPPED: &str = "cancelled by the user";
const CUT_OFF: &str = "interrupted; the tool may or may not have run";
const NEVER_BEGAN: &str = "cancelled: the reply ended before this call began; the tool was not run";

/// The reason why a turn ends.
#[derive(Debug, Clone)]
pub enum TurnEnding {
    Complete,
    Stopped,
    Failed(Failure),
}

/// Usage and cost of all generations of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TurnSpending {
    pub usage: Usage,
    pub cost: Option<Cost>,
}

/// Returns the events that end `turn`, whatever state it is in. New blocks start at `now`, are numbered from `seq`
/// on, and get their ids from `mint`. A terminal turn needs no events.
pub fn closing_events(
    turn: &Turn,
    ending: &TurnEnding,
    spent: TurnSpending,
    (now, mut seq): (DateTime<Utc>, u32),
    mint: impl Fn() -> BlockId,
) -> Vec<Event> {
    if turn.status.is_terminal() {
        return Vec::new();
    }
    let mut events = Vec::new();
    let mut results = Vec::new();
    for block in &turn.blocks {
        let call = if let Content::ToolUse { status, .. } = &block.content { Some(*status) } else { None };
        if block.state == BlockState::Open {
            events.push(Event::BlockEnd {
                block_id: block.id,
                state: if matches!(ending, TurnEnding::Complete) { BlockState::Done } else { BlockState::Aborted },
                content: closed_call(&block.content),
            });
        } else if let Some(status) = call.filter(|status| status.is_open()) {
            events.push(Event::tool_update(block.id, ended_status(status, ending), None));
        }
        // The result of a call that the client runs arrives with the client's next turn.
        if let Content::ToolUse { tool_use_id, tool_name, status, .. } = &block.content
            && *status != ToolStatus::HandedOver
            && !turn.blocks.iter().any(|other| is_result_of(other, block.id))
        {
            results.push((block, *status, tool_use_id, tool_name));
        }
    }
    for (call, status, tool_use_id, tool_name) in results {
        let content = failed_result(tool_use_id, tool_name, synthetic_result(status, ending));
        events.push(Event::BlockStart { block: result_block(turn, seq, mint(), call, content, now) });
        seq += 1;
    }
    let status = match ending {
        TurnEnding::Complete => TurnStatus::Complete,
        TurnEnding::Stopped => TurnStatus::Cancelled,
        TurnEnding::Failed(failure) => {
            events.push(Event::BlockStart { block: failure_block(turn, seq, mint(), failure, now) });
            events.push(Event::Error(failure.clone()));
            TurnStatus::Error
        }
    };
    let TurnSpending { usage, cost } = spent;
    events.push(Event::TurnEnd { status, usage, cost, at: Some(now) });
    events
}

fn is_result_of(block: &Block, call: BlockId) -> bool {
    matches!(block.content, Content::ToolResult { .. }) && block.parent_block_id == Some(call)
}

/// Returns the failure message as the last block of the reply that it ends.
fn failure_block(turn: &Turn, seq: u32, id: BlockId, failure: &Failure, now: DateTime<Utc>) -> Block {
    let content = Content::Text { text: failure.message.clone(), is_error: true };
    Block::new(id, (turn.ord, seq), Author::System, content, now)
}

/// Returns the final content of a tool call that was cut off; other blocks end unchanged.
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

/// Returns the final status of an open call: interrupted if it was running during a restart, because it may have done
/// its work.
fn ended_status(status: ToolStatus, ending: &TurnEnding) -> ToolStatus {
    if status == ToolStatus::Running && is_restart(ending) { ToolStatus::Interrupted } else { ToolStatus::Cancelled }
}

fn is_restart(ending: &TurnEnding) -> bool {
    matches!(ending, TurnEnding::Failed(failure) if failure.kind == FailureKind::ServerRestarted)
}

/// Returns the result for the model of a call that never got one.
fn synthetic_result(status: ToolStatus, ending: &TurnEnding) -> &'static str {
    match (ending, status) {
        (TurnEnding::Stopped, _) => STOPPED,
        (_, ToolStatus::Pending | ToolStatus::AwaitingApproval) => NEVER_BEGAN,
        (TurnEnding::Failed(_), ToolStatus::Running) if is_restart(ending) => INTERRUPTED_RESULT,
        (TurnEnding::Complete | TurnEnding::Failed(_), _) => CUT_OFF,
    }
}

/// Returns the events that interrupt running calls of a turn that stays alive, because it waits for a person across a
/// server restart.
pub fn interruption_events(turn: &Turn, (now, first): (DateTime<Utc>, u32), mint: impl Fn() -> BlockId) -> Vec<Event> {
    let (mut events, mut results) = (Vec::new(), Vec::new());
    for block in &turn.blocks {
        let Content::ToolUse { tool_use_id, tool_name, status: ToolStatus::Running, .. } = &block.content else {
            continue;
        };
        events.push(Event::tool_update(block.id, ToolStatus::Interrupted, None));
        let seq = first + results.len() as u32;
        let content = failed_result(tool_use_id, tool_name, INTERRUPTED_RESULT);
        results.push(Event::BlockStart { block: result_block(turn, seq, mint(), block, content, now) });
    }
    events.extend(results);
    events
}

fn failed_result(tool_use_id: &str, tool_name: &str, reason: &str) -> Content {
    Content::ToolResult {
        tool_use_id: tool_use_id.to_owned(),
        tool_name: tool_name.to_owned(),
        result: Value::String(reason.to_owned()),
        success: false,
        is_error: true,
        metadata: Value::Null,
    }
}

fn result_block(turn: &Turn, seq: u32, id: BlockId, call: &Block, mut content: Content, now: DateTime<Utc>) -> Block {
    if let Content::ToolResult { metadata, .. } = &mut content {
        let mut members = Map::new();
        CallEdit::note_in_result(call, &mut members);
        *metadata = if members.is_empty() { Value::Null } else { Value::Object(members) };
    }
    let block = Block::new(id, (turn.ord, seq), Author::Tool, content, now);
    Block { parent_block_id: Some(call.id), generation_id: call.generation_id, ..block }
}
