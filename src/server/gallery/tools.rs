//! Sample turns with tools: a call in every state, and the approval prompt.

use serde_json::{Value, json};

use super::turns::{streaming_turn, turn_view, user_turn};
use crate::api::view::TurnView;
use crate::domain::blocks::block::ToolStatus;
use crate::domain::messages::message_template::MessageArgs;
use crate::domain::tools::approval::{self, ApprovalNote, ApprovalRequest};
use crate::domain::tools::elicitation::{Elicitation, ElicitationOutcome, ElicitationRequest, parse_fields};
use crate::domain::tools::tool::{ToolLabel, ToolProgress};
use crate::domain::turns::user_input_wait::ReplyPauseReason;
use crate::domain::{BlockState, Content, Turn, TurnStatus, fixtures};

/// Returns the turns of the page.
pub fn turns() -> Vec<TurnView> {
    vec![
        user_turn(1, "Do everything that can be done with a tool."),
        turn_view(finished_calls(2)),
        user_turn(3, "Continue."),
        turn_view(running(4)),
        user_turn(5, "Then write it down."),
        turn_view(waiting_for_approval(6)),
        user_turn(7, "Again and again."),
        turn_view(paused(8)),
        user_turn(9, "Create the repository."),
        turn_view(asking_user(10)),
        user_turn(11, "And what is on the other server?"),
        turn_view(waiting_for_sign_in(12)),
    ]
}

fn call(id: &str, status: ToolStatus) -> Content {
    let mut call =
        fixtures::tool_use(id, "files__search", json!({ "query": "leaf", "folder": "/notes", "limit": 20 }), status);
    if let Content::ToolUse { duration_ms, .. } = &mut call {
        *duration_ms = (!status.is_open()).then_some(840);
    }
    call
}

/// Adds the display name of the tool to each call, and further block metadata.
fn add_tool_names(turn: &mut Turn, more: impl Fn(&str) -> Option<(&'static str, Value)>) {
    for block in &mut turn.blocks {
        if let Content::ToolUse { tool_use_id, .. } = &block.content {
            block.block_metadata = json!({ ToolLabel::KEY: { "title": "Search files", "server": "Files" } });
            if let Some((key, value)) = more(tool_use_id) {
                block.block_metadata[key] = value;
            }
        }
    }
}

/// Returns a complete reply with finished calls.
fn finished_calls(ord: i64) -> Turn {
    let found =
        json!({ "files": [{ "name": "maple.md", "lines": 42 }, { "name": "oak.md", "lines": 7 }], "more": false });
    let contents = [
        Content::thinking("I look for the file first."),
        call("in-thought", ToolStatus::Done),
        fixtures::tool_result("in-thought", "files__search", found.clone()),
        Content::text("One after the other:"),
        call("done", ToolStatus::Done),
        fixtures::tool_result("done", "files__search", found),
        call("failed", ToolStatus::Failed),
        fixtures::tool_result("failed", "files__search", json!({ "error": "no such folder: /notes" })),
        Content::text("Some were not allowed, or did not end:"),
        call("denied", ToolStatus::Denied),
        fixtures::tool_result("denied", "files__search", json!({ "error": "The user declined this call." })),
        call("interrupted", ToolStatus::Interrupted),
        call("cancelled", ToolStatus::Cancelled),
        call("handed_over", ToolStatus::HandedOver),
        Content::text("That was all."),
    ];
    let mut turn = fixtures::reply(ord, contents);
    add_tool_names(&mut turn, |id| {
        (id == "denied").then(|| ("decision", json!({ "reason": "Not in my notes, please." })))
    });
    turn
}

/// Returns a running reply with calls that are being written, waiting and running.
fn running(ord: i64) -> Turn {
    let contents = [
        Content::text("Four at once:"),
        call("runs", ToolStatus::Running),
        call("counts", ToolStatus::Running),
        call("waits", ToolStatus::Pending),
        call("is-written", ToolStatus::Pending),
    ];
    let mut turn = streaming_turn(ord, contents);
    turn.status = TurnStatus::WaitingSubagents;
    let tail = ["copying a.md", "copying b.md", "copying c.md"].map(str::to_owned).to_vec();
    let progress = ToolProgress { percent: Some(30), tail, ..ToolProgress::from_line("3 of 10 · copying c.md") };
    add_tool_names(&mut turn, |id| (id == "counts").then(|| (ToolProgress::KEY, json!(progress))));
    turn
}

/// Returns a reply whose call waits for approval.
fn waiting_for_approval(ord: i64) -> Turn {
    let mut turn =
        fixtures::reply(ord, [Content::text("I would write this file:"), call("asks", ToolStatus::AwaitingApproval)]);
    (turn.status, turn.completed_at) = (TurnStatus::WaitingSubagents, None);
    let ask = request();
    add_tool_names(&mut turn, |_| Some((approval::KEY, json!(ask))));
    turn
}

fn request() -> ApprovalRequest {
    ApprovalRequest {
        server: "files".into(),
        tool: "search".into(),
        title: "Search files".into(),
        schema_hash: "0".into(),
        hash: "0".into(),
        hidden_characters: 2,
        hints: Vec::new(),
        note: None,
        note_code: None,
        note_args: MessageArgs::new(),
    }
}

/// Returns a reply whose call waits for a sign-in to its server.
fn waiting_for_sign_in(ord: i64) -> Turn {
    let mut turn =
        fixtures::reply(ord, [Content::text("I would look there:"), call("waits", ToolStatus::AwaitingApproval)]);
    (turn.status, turn.completed_at) = (TurnStatus::WaitingSubagents, None);
    let mut ask = request();
    ask.set_note(ApprovalNote::SignInNeeded, [("server".to_owned(), "Files".to_owned())].into());
    add_tool_names(&mut turn, |_| Some((approval::KEY, json!(ask))));
    turn
}

/// Returns a reply whose call waits for the user's answer to a question of its server, after another one.
fn asking_user(ord: i64) -> Turn {
    let mut turn = fixtures::reply(ord, [Content::text("I create it:"), call("questions", ToolStatus::Running)]);
    (turn.status, turn.completed_at) = (TurnStatus::WaitingSubagents, None);
    let schema = json!({ "required": ["name"], "properties": {
        "name": { "type": "string", "title": "Name", "maxLength": 100, "default": "leaf" },
        "visibility": { "type": "string", "enum": ["private", "public"], "enumNames": ["Private", "Public"],
            "default": "private" },
        "topics": { "type": "array", "title": "Topics", "items": { "type": "string", "enum": ["rust", "web", "chat"] } },
        "readme": { "type": "boolean", "title": "Add a README", "default": true },
    } });
    let request = |message: &str, fields| ElicitationRequest {
        server: "Files".into(),
        message: message.into(),
        fields,
        page: None,
    };
    let asked = |n: u64, request| Elicitation {
        id: fixtures::block_id(900 + n).uuid().into(),
        request,
        asked_at: turn.created_at,
        outcome: None,
        content: None,
        ended_at: None,
    };
    let order = ["name", "visibility", "topics", "readme"].map(str::to_owned);
    let fields = parse_fields(&schema, &order).unwrap_or_default();
    let mut before = asked(0, request("May I use your notes?", Vec::new()));
    before.outcome = Some(ElicitationOutcome::Declined);
    let asked = [before, asked(1, request("What should the repository be like?", fields))];
    add_tool_names(&mut turn, |_| Some((Elicitation::KEY, json!(asked))));
    turn
}

/// Returns a reply that paused after too many tool calls.
fn paused(ord: i64) -> Turn {
    let mut turn = fixtures::reply(ord, [Content::text("Once more."), ReplyPauseReason::Rounds.content()]);
    (turn.status, turn.completed_at) = (TurnStatus::WaitingSubagents, None);
    if let Some(last) = turn.blocks.last_mut() {
        last.state = BlockState::Open;
    }
    turn
}
