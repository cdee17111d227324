//! Grafts: the messages of a path asked again, one after the other, on a branch with another lock. A graft is a plan that
//! is stored with every step, so that nothing is asked twice whenever the server stops. Not for doing a step: that is
//! the server's.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::exchange::ModelParams;
use crate::failure::FailureKind;
use crate::id::{BranchId, ChatId, ExchangeId, RerunId, TurnId};
use crate::turn::TurnStatus;

/// How far a graft is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RerunStatus {
    /// A message is being answered; the next one follows by itself.
    Running,
    /// Something stood in the way ([`PauseReason`]). It goes on when somebody says so.
    Paused,
    /// Every message has its reply.
    Done,
    /// Ended by a person.
    Cancelled,
}

/// Why a graft waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RerunPauseReason {
    ReplyFailed,
    ReplyStopped,
    ServerRestarted,
    /// A bound of the chat: turns, or versions of one turn.
    LimitReached,
    ModelUnavailable,
    /// Too many replies run at once.
    Busy,
    /// A message that was to be asked, the branch or the last reply is deleted.
    Gone,
    /// The message cannot be asked: `detail` says why.
    Refused,
    Internal,
}

/// A plan of messages to ask again, and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Rerun {
    pub id: RerunId,
    pub chat_id: ChatId,
    /// The branch that grows.
    pub branch_id: BranchId,
    /// The last turn that the old path and the new one share; null where the new path has a root of its own.
    pub from_turn_id: Option<TurnId>,
    /// The end of the path whose messages are asked; null once that turn is purged.
    pub leaf_turn_id: Option<TurnId>,
    /// The messages of the old path, in order.
    pub messages: Vec<TurnId>,
    /// How many of them were asked.
    pub asked: u32,
    /// The exchange of the newest of them.
    pub exchange_id: Option<ExchangeId>,
    pub status: RerunStatus,
    /// Set exactly while it is paused.
    pub reason: Option<RerunPauseReason>,
    /// The reason as a sentence, where there is more to say.
    pub detail: Option<String>,
    /// What each request asks; where it is silent, what the old exchange asked.
    pub params: ModelParams,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// How the newest reply of a graft stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastRerunReply {
    pub status: TurnStatus,
    /// Why it failed, where it did.
    pub failure: Option<FailureKind>,
}

/// What a graft does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerunStep {
    /// Ask the message at this place.
    Ask(usize),
    /// Ask the message at this place once more: its reply is no whole one.
    AskAgain(usize),
    /// The reply is still being written.
    Wait,
    Done,
    Pause(RerunPauseReason),
}

impl Rerun {
    /// What follows by itself. `reply` is the newest reply; `None` when it is gone.
    pub fn next_step(&self, reply: Option<LastRerunReply>) -> RerunStep {
        let asked = self.asked as usize;
        if asked == 0 {
            return if self.messages.is_empty() { RerunStep::Done } else { RerunStep::Ask(0) };
        }
        match reply {
            None => RerunStep::Pause(RerunPauseReason::Gone),
            Some(reply) if !reply.status.is_terminal() => RerunStep::Wait,
            Some(LastRerunReply { status: TurnStatus::Complete, .. }) if asked >= self.messages.len() => {
                RerunStep::Done
            }
            Some(LastRerunReply { status: TurnStatus::Complete, .. }) => RerunStep::Ask(asked),
            Some(LastRerunReply { status: TurnStatus::Cancelled, .. }) => {
                RerunStep::Pause(RerunPauseReason::ReplyStopped)
            }
            Some(LastRerunReply { failure: Some(FailureKind::ServerRestarted), .. }) => {
                RerunStep::Pause(RerunPauseReason::ServerRestarted)
            }
            Some(_) => RerunStep::Pause(RerunPauseReason::ReplyFailed),
        }
    }

    /// What follows when a person says that it goes on: a message without a whole reply is asked again.
    pub fn next_step_on_resume(&self, reply: Option<LastRerunReply>) -> RerunStep {
        match (self.next_step(reply), reply) {
            (RerunStep::Pause(_), Some(_)) => RerunStep::AskAgain((self.asked as usize).saturating_sub(1)),
            (next, _) => next,
        }
    }

    /// Whether nothing more comes of it.
    pub fn is_over(&self) -> bool {
        matches!(self.status, RerunStatus::Done | RerunStatus::Cancelled)
    }
}

#[cfg(test)]
mod tests;
