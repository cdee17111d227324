//! Commands for a running reply: approve or deny a tool call, stop a call, continue a paused reply.

use crate::accounts::Actor;
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::client_redaction;
use turnleaf_domain::tools::approval::{ApprovalDecision, ApprovalRequest};
use turnleaf_domain::turns::user_input_wait::{UserInputKind, pending_user_input};
use turnleaf_domain::{Block, BlockId, Content, FailureKind, InvalidField, MessageCode, Turn, TurnId, UserId, limits};
pub use turnleaf_run::mailbox::CallDecision;
use turnleaf_run::mailbox::{CommandOutcome, RunCommand};
use turnleaf_store::{StoreError, turns};
use turnleaf_tools::built_in;

impl Service {
    /// Answers the approval request of a call, whose hash identifies it. The decision is stored before this returns.
    ///
    /// # Errors
    /// `InvalidField` for edited arguments that do not fit the tool's schema, named by their JSON pointer, and for
    /// `confirm` if the tools of a server that is allowed are not those that were shown.
    /// `NotFound` for a call of another user; `not_asked` for a call without a pending request; `approval_changed`
    /// when the pending request is a different one.
    pub async fn decide_tool_call(
        &self,
        owner: UserId,
        actor: Actor,
        (turn, block): (TurnId, BlockId),
        mut answer: CallDecision,
    ) -> Result<Turn, ServiceError> {
        if answer.reason.as_ref().is_some_and(|reason| reason.chars().count() > limits::DENY_REASON_CHARS) {
            return Err(InvalidField::too_long("reason", limits::DENY_REASON_CHARS).into());
        }
        if answer.arguments.is_some() && !answer.decision.allows() {
            return Err(InvalidField::new("arguments", MessageCode::OnlyWith.with("other", "allow")).into());
        }
        let turn = self.current_turn(owner, turn).await?;
        let call = call_of(&turn, block)?;
        let ask = match ApprovalRequest::from_block(call) {
            None => return Err(no_open_request()),
            Some(ask) if ask.hash != answer.hash => return Err(changed()),
            Some(ask) => ask,
        };
        if let Some(arguments) = answer.arguments.take() {
            answer.arguments = self.checked_edit(owner, (&turn, call), &ask, arguments).await?;
        }
        let replaced = match answer.decision {
            ApprovalDecision::AllowServer if ask.server.is_empty() => {
                return Err(InvalidField::new("decision", MessageCode::NoValidDecision).into());
            }
            // The run asks the gate again about the other calls of the server, so the policy comes first.
            ApprovalDecision::AllowServer => {
                Some(self.allow_server(owner, actor, (&ask.server, answer.shown_tools.as_deref())).await?)
            }
            _ => None,
        };
        let is_lasting = answer.decision == ApprovalDecision::Always;
        let decided = self.send_command(owner, turn, RunCommand::Decide { block, answer }).await;
        if let (Err(_), Some(before)) = (&decided, replaced) {
            self.restore_server_policy(owner, actor, (&ask.server, before)).await?;
        }
        if is_lasting && decided.is_ok() {
            // The run knows the host, of which the log tells only that there is one.
            let by_host = ask.server.is_empty() && built_in::is_approved_per_host(&ask.tool);
            self.record_allowed_tool(actor, (&ask.server, &ask.tool, by_host.then_some("one host"))).await?;
        }
        decided
    }

    /// Stops one call; the reply continues with the others. The end of the call is stored before this returns.
    ///
    /// # Errors
    /// `NotFound` for a call of another user; `not_asked` for a call that has ended.
    pub async fn stop_tool_call(&self, owner: UserId, turn: TurnId, block: BlockId) -> Result<Turn, ServiceError> {
        let turn = self.current_turn(owner, turn).await?;
        match &call_of(&turn, block)?.content {
            Content::ToolUse { status, .. } if status.is_open() => {}
            _ => return Err(no_open_request()),
        }
        self.send_command(owner, turn, RunCommand::StopCall { block }).await
    }

    /// Continues a reply that paused itself.
    ///
    /// # Errors
    /// `not_asked` when it is not paused.
    pub async fn continue_paused_reply(&self, owner: UserId, turn: TurnId) -> Result<Turn, ServiceError> {
        let turn = self.current_turn(owner, turn).await?;
        if pending_user_input(&turn) != Some(UserInputKind::Continue) {
            return Err(no_open_request());
        }
        self.send_command(owner, turn, RunCommand::Continue).await
    }

    /// Returns the live state of a turn, without redaction.
    pub(super) async fn current_turn(&self, owner: UserId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.supervisor().live_turn(id).map_or(turn, |live| live.turn()))
    }

    pub(super) async fn send_command(
        &self,
        owner: UserId,
        turn: Turn,
        command: RunCommand,
    ) -> Result<Turn, ServiceError> {
        let id = turn.id;
        // Right after the server starts, no run may drive the turn yet.
        self.supervisor().resume_waiting_turn(turn).await?;
        let live = self.supervisor().live_turn(id).ok_or_else(no_open_request)?;
        match live.mailbox().send(command).await {
            CommandOutcome::Done => Ok(client_redaction::redact_turn(self.current_turn(owner, id).await?)),
            CommandOutcome::NotOpen => Err(no_open_request()),
            CommandOutcome::Changed => Err(changed()),
            CommandOutcome::Failed(failure) => {
                tracing::error!(turn = %id, code = failure.kind.as_str(), "an approval answer could not be saved");
                let is_full = failure.kind == FailureKind::StorageFull;
                Err(if is_full { StoreError::Full } else { StoreError::Gone("the answer") }.into())
            }
        }
    }
}

pub(super) fn call_of(turn: &Turn, block: BlockId) -> Result<&Block, ServiceError> {
    let is_call = |known: &&Block| known.id == block && matches!(known.content, Content::ToolUse { .. });
    turn.blocks.iter().find(is_call).ok_or(ServiceError::NotFound)
}

pub(super) fn no_open_request() -> ServiceError {
    ServiceError::conflict("not_asked", MessageCode::ApprovalClosed)
}

fn changed() -> ServiceError {
    ServiceError::conflict("approval_changed", MessageCode::ApprovalChanged)
}
