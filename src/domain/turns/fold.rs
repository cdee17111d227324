//! The only reducer: folds events into blocks. The server materializes turns with it, the browser follows with it,
//! and tests replay with it. It is total: no event can make it panic, and an impossible event is reported instead of
//! applied.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::blocks::block::{Block, BlockState, Content, LAST_BLOCK_SEQ};
use crate::id::GenerationId;
use crate::tools::call_edit::CallEdit;
use crate::turns::event::Event;
use crate::turns::turn::Turn;
use crate::usage::token_counts::Usage;

/// The result of applying an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// The turn changed and now covers `seq`.
    Changed,
    /// The turn already covered `seq`, so nothing changed (replay is idempotent).
    AlreadyCovered,
    /// Earlier events are missing, so nothing changed. The follower needs a snapshot.
    Gap,
    /// The event contradicts the turn (an unknown block, a delta after the end). It is skipped but counts as covered,
    /// so that one bad event cannot block a reply permanently.
    Impossible(&'static str),
}

/// The usage of each generation while a turn runs. A usage event replaces that of its generation; the turn shows the
/// sum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GenerationUsages(Vec<(GenerationId, Usage)>);

impl GenerationUsages {
    /// Replaces the usage of one generation.
    pub fn set(&mut self, generation: GenerationId, usage: Usage) {
        match self.0.iter_mut().find(|(id, _)| *id == generation) {
            Some(entry) => entry.1 = usage,
            None => self.0.push((generation, usage)),
        }
    }

    /// Returns the sum over all generations.
    pub fn sum(&self) -> Usage {
        self.0.iter().map(|(_, usage)| *usage).sum()
    }
}

/// Applies the event numbered `seq`.
///
/// Laws, which tests check: folding a snapshot at k and then the events after k equals folding all of them; an event
/// that the turn already covers changes nothing.
pub fn apply(turn: &mut Turn, seq: u64, event: &Event) -> ApplyOutcome {
    if seq <= turn.last_event_seq {
        return ApplyOutcome::AlreadyCovered;
    }
    // `seq` is greater than the covered number, so the subtraction cannot overflow.
    if seq - turn.last_event_seq > 1 {
        return ApplyOutcome::Gap;
    }
    turn.last_event_seq = seq;
    match apply_event(turn, event) {
        Ok(()) => ApplyOutcome::Changed,
        Err(reason) => ApplyOutcome::Impossible(reason),
    }
}

/// Folds numbered events into a turn, in order. Continues after impossible events and returns them with their
/// numbers.
pub fn fold<'a>(turn: &mut Turn, events: impl IntoIterator<Item = (u64, &'a Event)>) -> Vec<(u64, &'static str)> {
    let mut impossible = Vec::new();
    for (seq, event) in events {
        match apply(turn, seq, event) {
            ApplyOutcome::Impossible(reason) => impossible.push((seq, reason)),
            ApplyOutcome::Gap => impossible.push((seq, "events before it are missing")),
            ApplyOutcome::Changed | ApplyOutcome::AlreadyCovered => {}
        }
    }
    impossible
}

fn apply_event(turn: &mut Turn, event: &Event) -> Result<(), &'static str> {
    if turn.status.is_terminal() {
        return Err("the turn is over");
    }
    match event {
        Event::TurnStatus { status, at } => {
            if status.is_terminal() || !(turn.status == *status || turn.status.can_become(*status)) {
                return Err("no such move");
            }
            turn.status = *status;
            turn.started_at = turn.started_at.or(*at);
        }
        Event::GenerationStart { provider, model, .. } => {
            turn.attempt = None;
            turn.provider_used = Some(provider.clone());
            turn.model_used = Some(model.clone());
        }
        Event::ModelReturned { model } => turn.model_used = Some(model.clone()),
        Event::Attempt(attempt) => turn.attempt = Some(attempt.clone()),
        Event::BlockStart { block } => append_block(turn, block)?,
        Event::BlockDelta { block_id, text } => {
            let block = turn.block_mut(*block_id).ok_or("no such block")?;
            if block.state != BlockState::Open {
                return Err("the block is finished");
            }
            block.content.streaming_text_mut().ok_or("the block does not grow")?.push_str(text);
        }
        Event::BlockUpdate { block_id, status, duration_ms, metadata } => {
            let block = turn.block_mut(*block_id).ok_or("no such block")?;
            let Content::ToolUse { status: old, duration_ms: took, .. } = &mut block.content else {
                return Err("only tool calls are updated");
            };
            *old = *status;
            if duration_ms.is_some() {
                *took = *duration_ms;
            }
            merge_metadata(&mut block.block_metadata, metadata);
        }
        Event::CallEdited { block_id, arguments, at } => {
            edit_call(turn.block_mut(*block_id).ok_or("no such block")?, arguments, *at)?;
        }
        Event::BlockEnd { block_id, state, content } => {
            let block = turn.block_mut(*block_id).ok_or("no such block")?;
            if *state == BlockState::Open {
                return Err("an end must end");
            }
            if block.state != BlockState::Open && !is_correction(block, *state, content.as_ref()) {
                return Err("the block is finished");
            }
            if let Some(content) = content {
                if content.block_type() != block.content.block_type() {
                    return Err("a block keeps its type");
                }
                block.content = content.clone();
            }
            block.state = *state;
        }
        Event::Usage { usage, .. } => turn.context_tokens = usage.context_tokens().or(turn.context_tokens),
        Event::Error(failure) => turn.error = Some(failure.clone()),
        Event::TurnEnd { status, usage, cost, at } => {
            if !status.is_terminal() {
                return Err("an end must end");
            }
            turn.status = *status;
            turn.usage = *usage;
            turn.cost = *cost;
            turn.completed_at = *at;
            turn.attempt = None;
        }
        Event::Unknown(_) if event.is_malformed() => return Err("not the shape of its type"),
        Event::Unknown(_) => {}
    }
    Ok(())
}

/// Returns true if the end of a finished block corrects its text: providers may send the right text of a block after
/// they have begun the next one.
fn is_correction(block: &Block, state: BlockState, content: Option<&Content>) -> bool {
    let is_text = matches!(block.content, Content::Text { is_error: false, .. } | Content::Thinking { .. });
    block.state == state && is_text && content.is_some()
}

/// Replaces the arguments of a call. Those of the model stay in its metadata, however often a person edits the call.
fn edit_call(block: &mut Block, arguments: &Value, at: DateTime<Utc>) -> Result<(), &'static str> {
    let Content::ToolUse { arguments: current, .. } = &mut block.content else {
        return Err("only tool calls are edited");
    };
    if block.state == BlockState::Open {
        return Err("the call is still being written");
    }
    let replaced = std::mem::replace(current, arguments.clone());
    if CallEdit::from_block(block).is_none() {
        merge_metadata(&mut block.block_metadata, &CallEdit { arguments: replaced, at }.as_metadata());
    }
    Ok(())
}

/// Merges metadata key by key.
fn merge_metadata(into: &mut Value, changes: &Value) {
    let Value::Object(changes) = changes else { return };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    if let Value::Object(all) = into {
        all.extend(changes.iter().map(|(key, value)| (key.clone(), value.clone())));
        all.retain(|_, value| !value.is_null());
        if all.is_empty() {
            *into = Value::Null;
        }
    }
}

fn append_block(turn: &mut Turn, block: &Block) -> Result<(), &'static str> {
    // Positions may have gaps: in a damaged turn that continues, new blocks come after the remaining ones.
    if turn.blocks.last().is_some_and(|last| block.seq <= last.seq && last.seq < LAST_BLOCK_SEQ) {
        return Err("blocks are appended in order");
    }
    turn.attempt = None;
    turn.blocks.push(block.clone());
    Ok(())
}

#[cfg(test)]
mod tests;
