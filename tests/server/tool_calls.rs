//! What the tests of tools have in common: a model that calls them, and what is looked for in turns and requests.

use serde_json::{Value, json};
use turnleaf::domain::approval::{Ask, Decision};
use turnleaf::domain::block::ToolStatus;
use turnleaf::domain::{Block, Content, Turn, TurnId, TurnStatus};
use turnleaf_providers::scripted::{Answer, Log, Step};
use turnleaf_service::ServiceError;

use crate::house::{House, delta, finish};

/// An answer that says something first and then makes these calls, each with its raw arguments.
pub fn calls(first: impl IntoIterator<Item = Step>, calls: &[(&str, &str)]) -> Answer {
    let call = |(index, (name, arguments)): (usize, &(&str, &str))| {
        let function = json!({ "name": name, "arguments": arguments });
        json!({ "index": index, "id": format!("call-{index}-{name}"), "function": function })
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let said = first.into_iter().chain([delta(json!({ "tool_calls": calls }))]);
    Answer::Stream(said.chain(finish("tool_calls")).collect())
}

/// The calls of a turn, in their order.
pub fn called(turn: &Turn) -> Vec<&Block> {
    turn.blocks.iter().filter(|block| matches!(block.content, Content::ToolUse { .. })).collect()
}

pub fn status_of(call: &Block) -> ToolStatus {
    match &call.content {
        Content::ToolUse { status, .. } => *status,
        other => panic!("{other:?}"),
    }
}

pub fn statuses(turn: &Turn) -> Vec<ToolStatus> {
    called(turn).into_iter().map(status_of).collect()
}

/// What the calls of a turn gave, in the order of the calls.
pub fn results(turn: &Turn) -> Vec<Value> {
    let of = |call: &Block| {
        turn.blocks.iter().find_map(|block| match &block.content {
            Content::ToolResult { result, .. } if block.parent_block_id == Some(call.id) => Some(result.clone()),
            _ => None,
        })
    };
    called(turn).into_iter().map(|call| of(call).unwrap_or(Value::Null)).collect()
}

/// The text of the result of a turn's only call, or of its last.
pub fn last_result(turn: &Turn) -> String {
    let last = results(turn).pop().unwrap();
    last.as_str().map_or_else(|| last.to_string(), str::to_owned)
}

/// What the `n`th request says, message by message: its role, or what a tool gave.
pub fn told(log: &Log, n: usize) -> Vec<String> {
    let request: Value = serde_json::from_slice(&log.requests()[n]).unwrap();
    let message = |message: &Value| match message["role"].as_str().unwrap() {
        "tool" => message["content"].as_str().unwrap().to_owned(),
        role => role.to_owned(),
    };
    request["messages"].as_array().unwrap().iter().map(message).collect()
}

pub fn asks(turn: &Turn) -> bool {
    statuses(turn).contains(&ToolStatus::AwaitingApproval)
}

pub fn runs(turn: &Turn) -> bool {
    statuses(turn).contains(&ToolStatus::Running)
}

/// The calls of a turn that ask, with what they ask.
pub fn asked(turn: &Turn) -> Vec<(Block, Ask)> {
    called(turn).into_iter().filter_map(|call| Some((call.clone(), Ask::of(call)?))).collect()
}

impl House {
    /// Answers the first call of a turn that asks, once one does.
    pub async fn decide(&self, id: TurnId, decision: Decision, reason: Option<&str>) -> Result<Turn, ServiceError> {
        let turn = self.until(id, asks).await;
        let (call, ask) = asked(&turn).remove(0);
        self.service.decide(self.owner, id, call.id, &ask.hash, decision, reason.map(str::to_owned)).await
    }

    /// The turn once it is complete.
    pub async fn complete(&self, id: TurnId) -> Turn {
        let turn = self.ended(id).await;
        assert_eq!(turn.status, TurnStatus::Complete, "{turn:#?}");
        turn
    }
}
