//! Sample turns with tools: a call in every state, and what a person is asked.

use serde_json::{Value, json};

use super::turns::{asked, growing, pause, shown};
use crate::api::view::TurnView;
use crate::domain::approval::{self, Ask};
use crate::domain::block::ToolStatus;
use crate::domain::tool::{Called, ToolProgress};
use crate::domain::waiting::PauseReason;
use crate::domain::{BlockState, Content, Turn, TurnStatus, sample};

/// The turns of the page.
pub fn turns() -> Vec<TurnView> {
    vec![
        asked(1, "Do everything that can be done with a tool."),
        shown(over(2)),
        asked(3, "Go on."),
        shown(running(4)),
        asked(5, "Then write it down."),
        shown(asking(6)),
        asked(7, "Again and again."),
        shown(paused(8)),
    ]
}

fn call(id: &str, status: ToolStatus) -> Content {
    let mut call =
        sample::tool_use(id, "files__search", json!({ "query": "leaf", "folder": "/notes", "limit": 20 }), status);
    if let Content::ToolUse { duration_ms, .. } = &mut call {
        *duration_ms = (!status.is_open()).then_some(840);
    }
    call
}

/// What people call the tool of a call, and what else its block says.
fn named(turn: &mut Turn, more: impl Fn(&str) -> Option<(&'static str, Value)>) {
    for block in &mut turn.blocks {
        if let Content::ToolUse { tool_use_id, .. } = &block.content {
            block.block_metadata = json!({ Called::KEY: { "title": "Search files", "server": "Files" } });
            if let Some((key, value)) = more(tool_use_id) {
                block.block_metadata[key] = value;
            }
        }
    }
}

/// Calls that are over, in a reply that is.
fn over(ord: i64) -> Turn {
    let found =
        json!({ "files": [{ "name": "maple.md", "lines": 42 }, { "name": "oak.md", "lines": 7 }], "more": false });
    let contents = [
        Content::thinking("I look for the file first."),
        call("in-thought", ToolStatus::Done),
        sample::tool_result("in-thought", "files__search", found.clone()),
        Content::text("One after the other:"),
        call("done", ToolStatus::Done),
        sample::tool_result("done", "files__search", found),
        call("failed", ToolStatus::Failed),
        sample::tool_result("failed", "files__search", json!({ "error": "no such folder: /notes" })),
        Content::text("Some were not allowed, or did not end:"),
        call("denied", ToolStatus::Denied),
        sample::tool_result("denied", "files__search", json!({ "error": "The user declined this call." })),
        call("interrupted", ToolStatus::Interrupted),
        call("cancelled", ToolStatus::Cancelled),
        call("handed_over", ToolStatus::HandedOver),
        Content::text("That was all."),
    ];
    let mut turn = sample::reply(ord, contents);
    named(&mut turn, |id| (id == "denied").then(|| ("decision", json!({ "reason": "Not in my notes, please." }))));
    turn
}

/// Calls that are written, wait, and run.
fn running(ord: i64) -> Turn {
    let contents = [
        Content::text("Four at once:"),
        call("runs", ToolStatus::Running),
        call("counts", ToolStatus::Running),
        call("waits", ToolStatus::Pending),
        call("is-written", ToolStatus::Pending),
    ];
    let mut turn = growing(ord, contents);
    turn.status = TurnStatus::WaitingSubagents;
    let tail = ["copying a.md", "copying b.md", "copying c.md"].map(str::to_owned).to_vec();
    let progress = ToolProgress { percent: Some(30), tail, ..ToolProgress::line("3 of 10 · copying c.md") };
    named(&mut turn, |id| (id == "counts").then(|| (ToolProgress::KEY, json!(progress))));
    turn
}

/// A call that a person is asked about.
fn asking(ord: i64) -> Turn {
    let mut turn =
        sample::reply(ord, [Content::text("I would write this file:"), call("asks", ToolStatus::AwaitingApproval)]);
    (turn.status, turn.completed_at) = (TurnStatus::WaitingSubagents, None);
    let ask = Ask {
        server: "files".into(),
        tool: "search".into(),
        title: "Search files".into(),
        schema_hash: "0".into(),
        hash: "0".into(),
        hidden_characters: 2,
        note: None,
    };
    named(&mut turn, |_| Some((approval::KEY, json!(ask))));
    turn
}

/// A reply that asked for tools too often.
fn paused(ord: i64) -> Turn {
    let mut turn = sample::reply(ord, [Content::text("Once more."), pause(&PauseReason::Rounds.sentence())]);
    (turn.status, turn.completed_at) = (TurnStatus::WaitingSubagents, None);
    if let Some(last) = turn.blocks.last_mut() {
        last.state = BlockState::Open;
    }
    turn
}
