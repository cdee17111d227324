//! What a person says about the tool calls of a reply that is being written: whether one may run, that one is to stop,
//! that a paused reply may go on.

use crate::{Service, ServiceError};
use turnleaf_domain::approval::{Ask, Decision};
use turnleaf_domain::waiting::{WaitsFor, waits_for};
use turnleaf_domain::{Block, BlockId, Content, FailureKind, Invalid, Turn, TurnId, UserId, limits, withhold};
use turnleaf_run::hearing::{Heard, Said};
use turnleaf_store::{StoreError, turns};

impl Service {
    /// Answers what a call asks; `hash` says which question is answered. When this returns, the answer is stored.
    ///
    /// # Errors
    /// `NotFound` for a call that is not theirs, `not_asked` for one that asks nothing (any more), `approval_changed` for
    /// one that asks something else now.
    pub async fn decide(
        &self,
        owner: UserId,
        turn: TurnId,
        block: BlockId,
        hash: &str,
        decision: Decision,
        reason: Option<String>,
    ) -> Result<Turn, ServiceError> {
        if reason.as_ref().is_some_and(|reason| reason.chars().count() > limits::DENY_REASON_CHARS) {
            return Err(Invalid::new("reason", format!("at most {} characters", limits::DENY_REASON_CHARS)).into());
        }
        let turn = self.now(owner, turn).await?;
        let call = call_of(&turn, block)?;
        match Ask::of(call) {
            None => return Err(not_asked()),
            Some(ask) if ask.hash != hash => return Err(changed()),
            Some(_) => {}
        }
        self.say(owner, turn, Said::Decide { block, hash: hash.to_owned(), decision, reason }).await
    }

    /// Stops one call; the reply goes on with the others. When this returns, its end is stored.
    ///
    /// # Errors
    /// `NotFound` for a call that is not theirs, `not_asked` for one that is over.
    pub async fn stop_call(&self, owner: UserId, turn: TurnId, block: BlockId) -> Result<Turn, ServiceError> {
        let turn = self.now(owner, turn).await?;
        match &call_of(&turn, block)?.content {
            Content::ToolUse { status, .. } if status.is_open() => {}
            _ => return Err(not_asked()),
        }
        self.say(owner, turn, Said::StopCall { block }).await
    }

    /// Lets a reply go on that paused by itself.
    ///
    /// # Errors
    /// `not_asked` when it is not paused.
    pub async fn go_on(&self, owner: UserId, turn: TurnId) -> Result<Turn, ServiceError> {
        let turn = self.now(owner, turn).await?;
        if waits_for(&turn) != Some(WaitsFor::Continue) {
            return Err(not_asked());
        }
        self.say(owner, turn, Said::GoOn).await
    }

    /// The turn as it is now, with everything in it.
    async fn now(&self, owner: UserId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.supervisor().live(id).map_or(turn, |live| live.turn()))
    }

    async fn say(&self, owner: UserId, turn: Turn, said: Said) -> Result<Turn, ServiceError> {
        let id = turn.id;
        // Right after a start it may not be driven again yet.
        self.supervisor().resume_turn(turn).await?;
        let live = self.supervisor().live(id).ok_or_else(not_asked)?;
        match live.ear().say(said).await {
            Heard::Done => Ok(withhold::turn(self.now(owner, id).await?)),
            Heard::NotAsked => Err(not_asked()),
            Heard::Changed => Err(changed()),
            Heard::Failed(failure) => {
                tracing::error!(turn = %id, code = failure.kind.as_str(), "what was said about a call is not stored");
                let is_full = failure.kind == FailureKind::StorageFull;
                Err(if is_full { StoreError::Full } else { StoreError::Gone("the answer") }.into())
            }
        }
    }
}

fn call_of(turn: &Turn, block: BlockId) -> Result<&Block, ServiceError> {
    let is_call = |known: &&Block| known.id == block && matches!(known.content, Content::ToolUse { .. });
    turn.blocks.iter().find(is_call).ok_or(ServiceError::NotFound)
}

fn not_asked() -> ServiceError {
    ServiceError::conflict("not_asked", "this is not asked any more")
}

fn changed() -> ServiceError {
    ServiceError::conflict("approval_changed", "what is asked has changed; look at it again")
}
