//! Reruns ("grafts" in the API): the messages of a path are asked again, one after the other, on a branch with
//! another lock. A rerun is a stored plan that is updated with every step, so that nothing is asked twice after a
//! server restart (`docs/adr/0022-reruns-and-comparison.md`). The server executes the steps.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{BranchId, ChatId, ExchangeId, RerunId, TurnId};
use crate::messages::coded_message::CodedMessage;
use crate::messages::failure::FailureKind;
use crate::turns::exchange::ModelParams;
use crate::turns::turn::TurnStatus;

/// The status of a rerun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RerunStatus {
    /// A message is being answered. The next one follows automatically.
    Running,
    /// The rerun stopped for a [`RerunPauseReason`] and continues on request.
    Paused,
    /// Every message has its reply.
    Done,
    /// A person cancelled the rerun.
    Cancelled,
}

/// The reason why a rerun is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RerunPauseReason {
    ReplyFailed,
    ReplyStopped,
    ServerRestarted,
    /// The chat reached its bound on turns, or a turn its bound on versions.
    LimitReached,
    ModelUnavailable,
    /// Too many replies are running.
    Busy,
    /// A message to ask, the branch, or the last reply was deleted.
    Gone,
    /// The message cannot be asked; `detail` explains why.
    Refused,
    Internal,
}

/// A plan to ask messages again, with its progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Rerun {
    pub id: RerunId,
    pub chat_id: ChatId,
    /// The branch that receives the new turns.
    pub branch_id: BranchId,
    /// The last turn that the old and the new path share. Null if the new path has its own root.
    pub from_turn_id: Option<TurnId>,
    /// The leaf of the path whose messages are asked. Null once that turn is purged.
    pub leaf_turn_id: Option<TurnId>,
    /// The messages of the old path, in order.
    pub messages: Vec<TurnId>,
    /// The number of messages asked so far.
    pub asked: u32,
    /// The exchange of the newest message asked.
    pub exchange_id: Option<ExchangeId>,
    pub status: RerunStatus,
    /// Set only while the rerun is paused.
    pub reason: Option<RerunPauseReason>,
    /// A sentence with details of the reason, if there are any: the English text of `detail_code`.
    pub detail: Option<String>,
    /// The code of the details. Failures of a reply have none; the reply has their code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail_code: Option<String>,
    /// The arguments of the details.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub detail_args: BTreeMap<String, String>,
    /// The parameters of each request. Missing ones are taken from the original exchange.
    pub params: ModelParams,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// The state of a rerun's newest reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastRerunReply {
    pub status: TurnStatus,
    /// The kind of its failure, if it failed.
    pub failure: Option<FailureKind>,
}

/// The next step of a rerun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerunStep {
    /// Ask the message at this index.
    Ask(usize),
    /// Ask the message at this index again, because its reply is incomplete.
    AskAgain(usize),
    /// The reply is still being generated.
    Wait,
    Done,
    Pause(RerunPauseReason),
}

impl Rerun {
    /// Returns the details of the reason with their code.
    pub fn detail_message(&self) -> Option<CodedMessage> {
        let detail = self.detail.as_ref()?;
        Some(CodedMessage::from_parts(self.detail_code.as_deref(), &self.detail_args, detail))
    }

    /// Returns the step that follows automatically. `reply` is the newest reply, or `None` if it no longer exists.
    pub fn next_step(&self, reply: Option<LastRerunReply>) -> RerunStep {
        let count = self.asked as usize;
        if count == 0 {
            return if self.messages.is_empty() { RerunStep::Done } else { RerunStep::Ask(0) };
        }
        match reply {
            None => RerunStep::Pause(RerunPauseReason::Gone),
            Some(reply) if !reply.status.is_terminal() => RerunStep::Wait,
            Some(LastRerunReply { status: TurnStatus::Complete, .. }) if count >= self.messages.len() => {
                RerunStep::Done
            }
            Some(LastRerunReply { status: TurnStatus::Complete, .. }) => RerunStep::Ask(count),
            Some(LastRerunReply { status: TurnStatus::Cancelled, .. }) => {
                RerunStep::Pause(RerunPauseReason::ReplyStopped)
            }
            Some(LastRerunReply { failure: Some(FailureKind::ServerRestarted), .. }) => {
                RerunStep::Pause(RerunPauseReason::ServerRestarted)
            }
            Some(_) => RerunStep::Pause(RerunPauseReason::ReplyFailed),
        }
    }

    /// Returns the step that follows when a person resumes the rerun: a message without a complete reply is asked
    /// again.
    pub fn next_step_on_resume(&self, reply: Option<LastRerunReply>) -> RerunStep {
        match (self.next_step(reply), reply) {
            (RerunStep::Pause(_), Some(_)) => RerunStep::AskAgain((self.asked as usize).saturating_sub(1)),
            (next, _) => next,
        }
    }

    /// Returns true if the rerun has ended.
    pub fn is_over(&self) -> bool {
        matches!(self.status, RerunStatus::Done | RerunStatus::Cancelled)
    }
}

#[cfg(test)]
mod tests;
