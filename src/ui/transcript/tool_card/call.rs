//! A call with its result, and the view model of its card.

use serde_json::Value;

use crate::domain::blocks::block::ToolStatus;
use crate::domain::blocks::segment::is_tool_failed;
use crate::domain::tools::elicitation::Elicitation;
use crate::domain::tools::tool::ToolProgress;
use crate::domain::tools::tool_output::AppView;
use crate::domain::{Block, BlockId, BlockState, Content, FailureKind};
use crate::ui::messages::transcript as words;
use crate::ui::state::TurnState;

/// A call and its result.
#[derive(Clone, PartialEq)]
pub struct ShownCall {
    pub call: Block,
    pub result: Option<Block>,
    was_restarted: bool,
    /// Its place among the calls that wait to run, from 1, and their number.
    place: Option<(usize, usize)>,
}

/// The content of the header.
#[derive(Clone, PartialEq, Eq)]
pub struct CardSummary {
    pub status_text: String,
    pub icon: &'static str,
    /// The state for the style and for tests.
    pub status: &'static str,
}

impl ShownCall {
    /// Returns the call with its result, as `domain::blocks::segment` pairs them. Tracks changes of both.
    pub fn find(turn: &TurnState, block: BlockId) -> Option<Self> {
        let call = turn.with_block(block, |block, _| block.clone())?;
        turn.with(|view| {
            let result = view.turn.blocks.iter().find(|result| match (&result.content, &call.content) {
                (Content::ToolResult { tool_use_id, .. }, Content::ToolUse { tool_use_id: call_id, .. }) => {
                    result.parent_block_id.map_or(tool_use_id == call_id, |parent| parent == call.id)
                }
                _ => false,
            });
            let error = view.turn.error.as_ref();
            let was_restarted = error.is_some_and(|error| error.kind == FailureKind::ServerRestarted);
            let waiting = || view.turn.blocks.iter().filter(|block| is_waiting(block));
            let place = waiting().position(|block| block.id == call.id).map(|at| (at + 1, waiting().count()));
            Some(Self { result: result.cloned(), was_restarted, place, call })
        })
    }

    pub fn summary(&self) -> CardSummary {
        let failed = self.has_failed();
        let word = words::tool_state(&self.call, self.result.as_ref(), failed, self.was_restarted, self.place);
        let (icon, status) = match self.status() {
            Some(ToolStatus::Interrupted) => ("stop", "interrupted"),
            Some(ToolStatus::Denied) => ("denied", "denied"),
            _ if self.call.state == BlockState::Open => ("tool", "writing"),
            _ if self.call.state == BlockState::Aborted => ("stop", "cancelled"),
            Some(ToolStatus::Pending) => ("clock", "pending"),
            Some(ToolStatus::AwaitingApproval) => ("alert", "awaiting_approval"),
            Some(ToolStatus::Running) if Elicitation::find_open(&self.call).is_some() => ("alert", "asking"),
            Some(ToolStatus::Running) => ("tool", "running"),
            Some(ToolStatus::Cancelled) => ("stop", "cancelled"),
            Some(ToolStatus::HandedOver) => ("external", "handed_over"),
            _ if failed => ("close", "failed"),
            _ => ("check", "done"),
        };
        CardSummary { status_text: word, icon, status }
    }

    /// Returns the display name of the tool, and of its server where it has one.
    pub fn name(&self) -> (String, Option<String>) {
        words::tool_name(&self.call)
    }

    pub fn is_by_provider(&self) -> bool {
        self.call.block_metadata.get("run_by").and_then(Value::as_str) == Some("provider")
    }

    /// Returns the progress: the server's message, and a percentage where that is known.
    pub fn progress(&self) -> Option<(String, Option<u64>)> {
        let progress = self.call.block_metadata.get(ToolProgress::KEY).filter(|_| self.is_running())?;
        Some((progress.get("line")?.as_str()?.to_owned(), progress.get("percent").and_then(Value::as_u64)))
    }

    /// Returns the server's last log lines of the running call.
    pub fn log_tail(&self) -> Vec<&str> {
        let tail = self.call.block_metadata.get(ToolProgress::KEY).filter(|_| self.is_running());
        let lines = tail.and_then(|progress| progress.get("tail")?.as_array()).into_iter().flatten();
        lines.filter_map(Value::as_str).collect()
    }

    /// Returns the reason that a person gave for declining.
    pub fn decline_reason(&self) -> Option<String> {
        let reason = self.call.block_metadata.get("decision")?.get("reason")?.as_str()?;
        (self.status() == Some(ToolStatus::Denied) && !reason.trim().is_empty()).then(|| reason.to_owned())
    }

    /// Returns whether its server gave a page for the result; none for a tool without one.
    pub fn has_view(&self) -> Option<bool> {
        match self.result.as_ref().map(|block| &block.content) {
            Some(Content::ToolResult { metadata, .. }) => AppView::find(metadata).map(|view| view.page.is_some()),
            _ => None,
        }
    }

    pub fn has_failed(&self) -> bool {
        is_tool_failed(&self.call, self.result.as_ref())
    }

    pub fn is_open(&self) -> bool {
        self.call.state == BlockState::Open || self.status().is_some_and(ToolStatus::is_open)
    }

    pub fn is_running(&self) -> bool {
        self.call.state == BlockState::Done && self.status() == Some(ToolStatus::Running)
    }

    /// Returns the running time, where the state does not include it.
    pub fn duration_ms(&self) -> Option<u64> {
        match &self.call.content {
            Content::ToolUse { duration_ms, .. } if !self.is_open() && !self.timed_out() => *duration_ms,
            _ => None,
        }
    }

    fn timed_out(&self) -> bool {
        match self.result.as_ref().map(|block| &block.content) {
            Some(Content::ToolResult { metadata, .. }) => metadata.get("timed_out").is_some() && self.has_failed(),
            _ => false,
        }
    }

    fn status(&self) -> Option<ToolStatus> {
        tool_status(&self.call)
    }
}

/// Returns the status of a call; none for other blocks.
pub fn tool_status(block: &Block) -> Option<ToolStatus> {
    match &block.content {
        Content::ToolUse { status, .. } => Some(*status),
        _ => None,
    }
}

/// Returns whether a call is complete and has not started.
fn is_waiting(block: &Block) -> bool {
    block.state == BlockState::Done && tool_status(block) == Some(ToolStatus::Pending)
}
