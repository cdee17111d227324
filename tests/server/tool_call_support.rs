//! Shared code of the tool tests: a model that calls tools, and lookups in turns and requests.

use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::{ApprovalDecision, ApprovalRequest};
use turnleaf::domain::{Block, Content, Turn, TurnId, TurnStatus};
use turnleaf_providers::scripted::{RequestLog, ScriptedAnswer, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::tools::calls::CallDecision;

use crate::test_server::{TestServer, delta_step, finish_steps};

/// Returns an answer with these first steps and then these calls, each with its raw arguments.
pub fn tool_call_answer(first: impl IntoIterator<Item = ScriptedStep>, calls: &[(&str, &str)]) -> ScriptedAnswer {
    let call = |(index, (name, arguments)): (usize, &(&str, &str))| {
        let function = json!({ "name": name, "arguments": arguments });
        json!({ "index": index, "id": format!("call-{index}-{name}"), "function": function })
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let deltas = first.into_iter().chain([delta_step(json!({ "tool_calls": calls }))]);
    ScriptedAnswer::Stream(deltas.chain(finish_steps("tool_calls")).collect())
}

/// Returns the calls of a turn in their order.
pub fn tool_use_blocks(turn: &Turn) -> Vec<&Block> {
    turn.blocks.iter().filter(|block| matches!(block.content, Content::ToolUse { .. })).collect()
}

pub fn status_of(call: &Block) -> ToolStatus {
    match &call.content {
        Content::ToolUse { status, .. } => *status,
        other => panic!("{other:?}"),
    }
}

pub fn statuses(turn: &Turn) -> Vec<ToolStatus> {
    tool_use_blocks(turn).into_iter().map(status_of).collect()
}

/// Returns the results of a turn in the order of the calls.
pub fn results(turn: &Turn) -> Vec<Value> {
    let of = |call: &Block| {
        turn.blocks.iter().find_map(|block| match &block.content {
            Content::ToolResult { result, .. } if block.parent_block_id == Some(call.id) => Some(result.clone()),
            _ => None,
        })
    };
    tool_use_blocks(turn).into_iter().map(|call| of(call).unwrap_or(Value::Null)).collect()
}

/// Returns the text of the result of a turn's last call.
pub fn last_result(turn: &Turn) -> String {
    let last = results(turn).pop().unwrap();
    last.as_str().map_or_else(|| last.to_string(), str::to_owned)
}

/// Returns one item for each message of the `n`th request: its role or, for a tool message, its content.
pub fn tool_results_sent(log: &RequestLog, n: usize) -> Vec<String> {
    let request: Value = serde_json::from_slice(&log.requests()[n]).unwrap();
    let message = |message: &Value| match message["role"].as_str().unwrap() {
        "tool" => message["content"].as_str().unwrap().to_owned(),
        role => role.to_owned(),
    };
    request["messages"].as_array().unwrap().iter().map(message).collect()
}

pub fn is_waiting_for_approval(turn: &Turn) -> bool {
    statuses(turn).contains(&ToolStatus::AwaitingApproval)
}

pub fn is_running(turn: &Turn) -> bool {
    statuses(turn).contains(&ToolStatus::Running)
}

/// Returns the calls of a turn that wait for approval, with their approval requests.
pub fn pending_approvals(turn: &Turn) -> Vec<(Block, ApprovalRequest)> {
    tool_use_blocks(turn)
        .into_iter()
        .filter_map(|call| Some((call.clone(), ApprovalRequest::from_block(call)?)))
        .collect()
}

impl TestServer {
    /// Decides the first call of a turn that waits for approval, once there is one.
    pub async fn decide(
        &self,
        id: TurnId,
        decision: ApprovalDecision,
        reason: Option<&str>,
    ) -> Result<Turn, ServiceError> {
        let turn = self.wait_until(id, is_waiting_for_approval).await;
        let (call, ask) = pending_approvals(&turn).remove(0);
        let reason = reason.map(str::to_owned);
        let answer = CallDecision { reason, ..CallDecision::new(&ask.hash, decision) };
        self.service.decide_tool_call(self.owner, Actor::default(), (id, call.id), answer).await
    }

    /// Waits until the turn has ended, and asserts that it is complete.
    pub async fn wait_until_complete(&self, id: TurnId) -> Turn {
        let turn = self.wait_until_ended(id).await;
        assert_eq!(turn.status, TurnStatus::Complete, "{turn:#?}");
        turn
    }
}
