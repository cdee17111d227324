//! Calls that the provider runs itself: blocks like those of any call, with what says who ran it (`run_by`). Nobody here
//! answers them; their results come in the same response, or in the next one of a reply that was paused.

use std::time::Duration;

use serde_json::{Value, json};

use super::BlockBuilder;
use crate::pictures::without_bytes;
use turnleaf_domain::block::{RUN_BY_PROVIDER, ToolStatus};
use turnleaf_domain::tool::parse_arguments;
use turnleaf_domain::{Author, Block, BlockId, BlockState, Content, Event, limits};

/// One such call.
pub(super) struct OwnCall {
    id: String,
    name: String,
    raw: String,
    block_id: BlockId,
    since: Option<Duration>,
    /// Its block is not finished: it is one of this response.
    is_open: bool,
}

/// Those that have no result yet.
pub(super) fn unanswered(blocks: &[Block]) -> Vec<OwnCall> {
    let has_result = |call: &Block| {
        blocks
            .iter()
            .any(|block| matches!(block.content, Content::ToolResult { .. }) && block.parent_block_id == Some(call.id))
    };
    let own = blocks.iter().filter(|block| block.is_run_by_provider() && !has_result(block));
    own.filter_map(|block| match &block.content {
        Content::ToolUse { tool_use_id, tool_name, arguments_raw, .. } => Some(OwnCall {
            id: tool_use_id.clone(),
            name: tool_name.clone(),
            raw: arguments_raw.clone().unwrap_or_default(),
            block_id: block.id,
            since: None,
            is_open: false,
        }),
        _ => None,
    })
    .collect()
}

impl BlockBuilder {
    pub(super) fn own_call(&mut self, id: String, name: String, server: Option<String>, out: &mut Vec<Event>) {
        self.end_open(BlockState::Done, out);
        let content = content(&id, &name, Value::Null, None, ToolStatus::Running, None);
        let mut block = self.block(content, BlockState::Open);
        block.block_metadata = json!({"run_by": RUN_BY_PROVIDER});
        if let Some(server) = server {
            block.block_metadata["tool"] = json!({"title": name, "server": server});
        }
        self.own.push(OwnCall { id, name, raw: String::new(), block_id: block.id, since: self.last_at, is_open: true });
        out.push(Event::BlockStart { block });
    }

    pub(super) fn own_arguments(&mut self, id: &str, more: &str, out: &mut Vec<Event>) {
        if let Some(call) = self.own.iter_mut().rfind(|call| call.id == id && call.is_open)
            && !more.is_empty()
        {
            call.raw.push_str(more);
            out.push(Event::BlockDelta { block_id: call.block_id, text: more.to_owned() });
        }
    }

    /// The call is over. A result that no call is known for stands for itself.
    pub(super) fn own_result(&mut self, id: String, name: String, result: Value, is_error: bool, out: &mut Vec<Event>) {
        self.end_open(BlockState::Done, out);
        let call = self.own.iter().rposition(|call| call.id == id).map(|at| self.own.remove(at));
        if let Some(call) = &call {
            let status = if is_error { ToolStatus::Failed } else { ToolStatus::Done };
            let took = call.since.and_then(|since| Some(self.last_at?.saturating_sub(since)));
            let duration_ms = took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
            out.push(match call.is_open {
                true => Event::BlockEnd {
                    block_id: call.block_id,
                    state: BlockState::Done,
                    content: Some(call.content(status, duration_ms)),
                },
                false => Event::tool_moved(call.block_id, status, duration_ms),
            });
        }
        let (result, metadata) = within(result);
        let tool_name = call.as_ref().map_or(name, |call| call.name.clone());
        let content =
            Content::ToolResult { tool_use_id: id, tool_name, result, success: !is_error, is_error, metadata };
        let mut block = self.block(content, BlockState::Done);
        block.author = Author::Tool;
        block.parent_block_id = call.map(|call| call.block_id);
        out.push(Event::BlockStart { block });
    }

    /// Ends the blocks of calls without a result. They still run: the reply goes on, or its end says what became of them.
    pub(super) fn close_own(&mut self, state: BlockState, out: &mut Vec<Event>) {
        for call in self.own.iter_mut().filter(|call| call.is_open) {
            call.is_open = false;
            let content = Some(call.content(ToolStatus::Running, None));
            out.push(Event::BlockEnd { block_id: call.block_id, state, content });
        }
    }
}

impl OwnCall {
    fn content(&self, status: ToolStatus, duration_ms: Option<u64>) -> Content {
        let arguments = parse_arguments(&self.raw).unwrap_or_default();
        content(&self.id, &self.name, arguments, Some(self.raw.clone()), status, duration_ms)
    }
}

fn content(
    id: &str,
    name: &str,
    arguments: Value,
    raw: Option<String>,
    status: ToolStatus,
    duration_ms: Option<u64>,
) -> Content {
    Content::ToolUse {
        tool_use_id: id.to_owned(),
        tool_name: name.to_owned(),
        arguments,
        arguments_raw: raw,
        status,
        duration_ms,
    }
}

/// A result of the size that a row has; the rest of it is in the kept response.
fn within(mut result: Value) -> (Value, Value) {
    without_bytes(&mut result);
    let whole = match &result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if whole.len() <= limits::TOOL_RESULT_BYTES {
        return (result, Value::Null);
    }
    let begin = &whole[..whole.floor_char_boundary(limits::TOOL_RESULT_BYTES)];
    (Value::String(begin.to_owned()), json!({"cut": {"bytes": whole.len()}}))
}
