//! Blocks of provider tool calls. They are marked with `run_by`, because Turnleaf does not answer them: their results
//! arrive in the same response, or in the next response of a paused reply.

use std::time::Duration;

use serde_json::{Value, json};

use crate::pictures::generated_image::strip_base64;
use turnleaf_domain::blocks::block::{RUN_BY_PROVIDER, ToolStatus};
use turnleaf_domain::tools::tool::parse_arguments;
use turnleaf_domain::{Block, BlockId, BlockState, Content, Event, limits};

/// A provider tool call without a result.
pub(super) struct PendingProviderCall {
    id: String,
    pub name: String,
    raw: String,
    pub block_id: BlockId,
    since: Option<Duration>,
    /// The block is still open, because the call is one of this response.
    is_open: bool,
}

/// The provider tool calls of a reply that have no result yet.
#[derive(Default)]
pub(super) struct PendingProviderCalls(Vec<PendingProviderCall>);

impl PendingProviderCalls {
    /// Collects the pending calls from the blocks of a reply's earlier steps.
    pub fn from_blocks(blocks: &[Block]) -> Self {
        let has_result = |call: &Block| {
            blocks.iter().any(|block| {
                matches!(block.content, Content::ToolResult { .. }) && block.parent_block_id == Some(call.id)
            })
        };
        let own = blocks.iter().filter(|block| block.is_run_by_provider() && !has_result(block));
        let own = own.filter_map(|block| match &block.content {
            Content::ToolUse { tool_use_id, tool_name, arguments_raw, .. } => Some(PendingProviderCall {
                id: tool_use_id.clone(),
                name: tool_name.clone(),
                raw: arguments_raw.clone().unwrap_or_default(),
                block_id: block.id,
                since: None,
                is_open: false,
            }),
            _ => None,
        });
        Self(own.collect())
    }

    /// Adds a call that starts with this block.
    pub fn start(&mut self, id: String, name: String, block_id: BlockId, since: Option<Duration>) {
        self.0.push(PendingProviderCall { id, name, raw: String::new(), block_id, since, is_open: true });
    }

    /// Appends to the arguments of an open call.
    pub fn append_arguments(&mut self, id: &str, more: &str) -> Option<Event> {
        let call = self.0.iter_mut().rfind(|call| call.id == id && call.is_open).filter(|_| !more.is_empty())?;
        call.raw.push_str(more);
        Some(Event::BlockDelta { block_id: call.block_id, text: more.to_owned() })
    }

    /// Removes a call that has its result; returns it with the event that ends it.
    pub fn finish(&mut self, id: &str, is_error: bool, now: Option<Duration>) -> Option<(PendingProviderCall, Event)> {
        let call = self.0.iter().rposition(|call| call.id == id).map(|at| self.0.remove(at))?;
        let status = if is_error { ToolStatus::Failed } else { ToolStatus::Done };
        let took = call.since.and_then(|since| Some(now?.saturating_sub(since)));
        let duration_ms = took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let event = match call.is_open {
            true => Event::BlockEnd {
                block_id: call.block_id,
                state: BlockState::Done,
                content: Some(call.content(status, duration_ms)),
            },
            false => Event::tool_update(call.block_id, status, duration_ms),
        };
        Some((call, event))
    }

    /// Ends the blocks of calls without a result, with status `running`: the continued reply brings the results, or
    /// the end of the turn settles the calls.
    pub fn close(&mut self, state: BlockState) -> impl Iterator<Item = Event> {
        self.0.iter_mut().filter(|call| call.is_open).map(move |call| {
            call.is_open = false;
            let content = Some(call.content(ToolStatus::Running, None));
            Event::BlockEnd { block_id: call.block_id, state, content }
        })
    }
}

impl PendingProviderCall {
    fn content(&self, status: ToolStatus, duration_ms: Option<u64>) -> Content {
        let arguments = parse_arguments(&self.raw).unwrap_or_default();
        content(&self.id, &self.name, arguments, Some(self.raw.clone()), status, duration_ms)
    }
}

/// Returns the content of a block for a call that starts.
pub(super) fn started_content(id: &str, name: &str) -> Content {
    content(id, name, Value::Null, None, ToolStatus::Running, None)
}

/// Returns the block metadata that marks a provider tool call.
pub(super) fn run_by_metadata(name: &str, server: Option<String>) -> Value {
    let mut metadata = json!({"run_by": RUN_BY_PROVIDER});
    if let Some(server) = server {
        metadata["tool"] = json!({"title": name, "server": server});
    }
    metadata
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

/// Truncates a result to the size that a row may have; the stored raw response has all of it.
pub(super) fn truncate_result(mut result: Value) -> (Value, Value) {
    strip_base64(&mut result);
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

/// Returns the content of a call that has not run.
pub(super) fn tool_use(
    tool_use_id: String,
    tool_name: String,
    arguments: Value,
    arguments_raw: Option<String>,
) -> Content {
    Content::ToolUse {
        tool_use_id,
        tool_name,
        arguments,
        arguments_raw,
        status: ToolStatus::Pending,
        duration_ms: None,
    }
}
