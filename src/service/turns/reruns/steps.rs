//! Steps of a rerun: a background task of the server sends a message, waits for the reply, and sends the next. Each
//! step is stored in the transaction of its exchange, so that after a crash between two steps the plan states exactly
//! which messages were sent.

use std::sync::Arc;

use serde_json::json;

use super::{advance_to, last_reply, repeatable, step_id};
use crate::idempotency::request_hash;
use crate::turns::exchanges::{AcceptedExchange, NewExchange};
use crate::turns::placement::{PlacementRequest, TurnPlacement};
use crate::usage::calling_token::{calling_token, with_calling_token};
use crate::{Service, ServiceError};
use turnleaf_domain::Turn;
use turnleaf_domain::branches::rerun::{RerunPauseReason, RerunStatus, RerunStep};
use turnleaf_domain::{
    Branch, BranchId, BranchOrigin, Chat, CodedMessage, ExchangeId, ExchangeKind, MessageCode, Rerun, RerunId, UserId,
};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_run::BudgetReservation;
use turnleaf_store::branches::reruns::{self, RerunStatusChange};
use turnleaf_store::database::db::Tx;
use turnleaf_store::{StoreError, turns};

impl Service {
    /// Settles the reruns that an earlier process left running: finished ones are marked as done, the others are
    /// paused, because no task drives them and nothing is asked automatically after a crash. Returns the number of
    /// paused ones. Call before serving, after the sweep.
    pub async fn pause_interrupted_reruns(&self) -> Result<usize, StoreError> {
        let mut waiting = 0;
        for (owner, graft) in reruns::list_running(self.db()).await? {
            let reply = match self.reply_of(owner, &graft).await {
                Ok(reply) => reply,
                Err(ServiceError::Store(error)) => return Err(error),
                Err(_) => None,
            };
            let change = match graft.next_step(reply.as_ref().map(last_reply)) {
                RerunStep::Done => RerunStatusChange::Done,
                RerunStep::Pause(reason) => RerunStatusChange::Paused(reason, None),
                _ => RerunStatusChange::Paused(RerunPauseReason::ServerRestarted, None),
            };
            waiting += usize::from(change != RerunStatusChange::Done);
            self.change_rerun_status(graft.id, RerunStatus::Running, &change).await?;
        }
        Ok(waiting)
    }

    /// Drives a rerun in a background task until it pauses or ends.
    pub(super) fn drive_rerun(&self, owner: UserId, id: RerunId) {
        let service = self.clone();
        let token = calling_token();
        tokio::spawn(async move {
            let driven = tasks::spawn({
                let service = service.clone();
                with_calling_token(token, async move { service.run_steps(owner, id).await })
            });
            let change = match driven.await {
                Ok(Ok(change)) => change,
                Ok(Err(error)) => Some(change_after_refusal(&error, service.supervisor().is_closing())),
                Err(_) => {
                    tracing::error!(graft = %id, "the task of a rerun panicked; the rerun is paused");
                    Some(RerunStatusChange::Paused(RerunPauseReason::Internal, None))
                }
            };
            if let Some(change) = change
                && let Err(error) = service.change_rerun_status(id, RerunStatus::Running, &change).await
            {
                // The next start of the server pauses it.
                tracing::warn!(graft = %id, %error, "a paused rerun could not be saved");
            }
        });
    }

    /// Takes the steps in a loop. Returns the final status; `None` when another task has stored one already.
    async fn run_steps(&self, owner: UserId, id: RerunId) -> Result<Option<RerunStatusChange>, ServiceError> {
        loop {
            let Some(graft) = reruns::find(self.db(), owner, id).await? else {
                return Ok(Some(RerunStatusChange::Paused(RerunPauseReason::Gone, None)));
            };
            if graft.status != RerunStatus::Running {
                return Ok(None);
            }
            let reply = self.reply_of(owner, &graft).await?;
            match graft.next_step(reply.as_ref().map(last_reply)) {
                RerunStep::Wait => {
                    let Some(reply) = reply else { return Err(ServiceError::NotFound) };
                    match self.supervisor().live_turn(reply.id) {
                        Some(live) => live.wait_until_ended().await,
                        // The reply may have ended in between; otherwise nothing will ever end it.
                        None => {
                            let now = turns::find(self.db(), owner, reply.id).await?;
                            if now.is_some_and(|turn| !turn.status.is_terminal()) {
                                return Ok(Some(RerunStatusChange::Paused(RerunPauseReason::Internal, None)));
                            }
                        }
                    }
                }
                step @ (RerunStep::Ask(_) | RerunStep::AskAgain(_)) => {
                    match self.ask_message(owner, &graft, step, reply).await {
                        // Another task was faster; the next iteration reads its result.
                        Err(ServiceError::Conflict { code: "graft_moved", .. }) => {}
                        result => drop(result?),
                    }
                }
                RerunStep::Done => return Ok(Some(RerunStatusChange::Done)),
                RerunStep::Pause(reason) => {
                    let failure = reply.and_then(|turn| turn.error).map(|error| CodedMessage::uncoded(error.message));
                    return Ok(Some(RerunStatusChange::Paused(reason, failure)));
                }
            }
        }
    }

    /// Asks the first message, on the branch that the same transaction created.
    pub(super) async fn ask_first_message(
        &self,
        mut tx: Tx,
        chat: Chat,
        branch: Branch,
        graft: &Rerun,
        (owner, budget): (UserId, Option<Arc<BudgetReservation>>),
    ) -> Result<AcceptedExchange, ServiceError> {
        let source = self.message(owner, graft, 0).await?;
        let message = repeatable(&source)?;
        // The shared turn is this message itself, so it gets another reply, not a copy.
        let is_shared = graft.from_turn_id == Some(source.id);
        let of = self.exchange_of(owner, graft, RerunStep::Ask(0), &source, is_shared).await?;
        let of = NewExchange { budget, ..of };
        let user_turn = if is_shared {
            source
        } else {
            let parent = match graft.from_turn_id {
                Some(id) => Some(turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?),
                None => None,
            };
            if parent.as_ref().is_some_and(|parent| !parent.status.is_terminal()) {
                return Err(ServiceError::earlier_reply_running());
            }
            let place = TurnPlacement { parent, branch: branch.clone(), ord: None, frozen: None };
            self.insert_user_turn(&mut tx, &chat, &place, message, of.id).await?
        };
        self.record_step(&mut tx, graft, RerunStep::Ask(0), (of.id, branch.id)).await?;
        self.commit_exchange(tx, chat, branch, user_turn, of).await
    }

    /// Asks a later message after the reply of the one before, or asks a message without a complete reply again.
    pub(super) async fn ask_message(
        &self,
        owner: UserId,
        graft: &Rerun,
        step: RerunStep,
        reply: Option<Turn>,
    ) -> Result<AcceptedExchange, ServiceError> {
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        self.check_growth(owner, 0).await?;
        let budget = self.reserve_budget(owner).await?;
        let (RerunStep::Ask(n) | RerunStep::AskAgain(n), Some(reply)) = (step, reply) else {
            return Err(ServiceError::NotFound);
        };
        let source = self.message(owner, graft, n).await?;
        let message = repeatable(&source)?;
        let mut tx = self.db().begin().await?;
        let chat = self.lock_chat(&mut tx, owner, graft.chat_id).await?;
        let is_again = matches!(step, RerunStep::AskAgain(_));
        let of = NewExchange { budget, ..self.exchange_of(owner, graft, step, &source, is_again).await? };
        if is_again {
            let user_id = reply.prev_turn_id.ok_or(ServiceError::NotFound)?;
            let user_turn = turns::find(self.db(), owner, user_id).await?.ok_or(ServiceError::NotFound)?;
            let name = self.version_name(&mut tx, "retry", &user_turn).await?;
            let leaving = (Some(user_id), BranchOrigin::Regenerate, name);
            let branch = self.sibling_branch(&mut tx, &chat, &reply, &PlacementRequest::default(), leaving).await?;
            self.record_step(&mut tx, graft, step, (of.id, branch.id)).await?;
            return self.commit_exchange(tx, chat, branch, user_turn, of).await;
        }
        // The message follows the reply; if the branch was continued there in between, it gets a branch of its own.
        let wanted = PlacementRequest {
            prev_turn_id: Some(reply.id),
            branch_id: Some(graft.branch_id),
            ..PlacementRequest::default()
        };
        let place = self.place_user_turn(&mut tx, &chat, &wanted, &message.contents).await?;
        let user_turn = self.insert_user_turn(&mut tx, &chat, &place, message, of.id).await?;
        self.record_step(&mut tx, graft, step, (of.id, place.branch.id)).await?;
        self.commit_exchange(tx, chat, place.branch, user_turn, of).await
    }

    /// Records a step of the rerun, in the transaction that stores the step's exchange.
    async fn record_step(
        &self,
        tx: &mut Tx,
        graft: &Rerun,
        step: RerunStep,
        (exchange, branch): (ExchangeId, BranchId),
    ) -> Result<(), ServiceError> {
        let to = advance_to(graft, step, exchange, branch);
        if !reruns::advance(tx, graft, to, self.clock().now()).await? {
            return Err(ServiceError::conflict("graft_moved", MessageCode::RerunChanged));
        }
        Ok(())
    }

    async fn message(&self, owner: UserId, graft: &Rerun, n: usize) -> Result<Turn, ServiceError> {
        let id = graft.messages.get(n).ok_or(ServiceError::NotFound)?;
        turns::find(self.db(), owner, *id).await?.ok_or(ServiceError::NotFound)
    }

    async fn exchange_of(
        &self,
        owner: UserId,
        graft: &Rerun,
        step: RerunStep,
        source: &Turn,
        is_reply_only: bool,
    ) -> Result<NewExchange, ServiceError> {
        let request_id = step_id(graft, step);
        let fingerprint = request_hash(json!({ "graft": graft.id, "step": request_id }));
        let kind = if is_reply_only { ExchangeKind::Regenerate } else { ExchangeKind::Send };
        Ok(NewExchange {
            base: self.exchange_params(owner, source).await?,
            moves_reader: false,
            request_id: Some(request_id),
            ..NewExchange::new(ids::mint(), owner, kind, graft.params.clone(), fingerprint)
        })
    }
}

/// Maps the refusal of a step to the status of the rerun.
fn change_after_refusal(error: &ServiceError, is_closing: bool) -> RerunStatusChange {
    let reason = match error {
        _ if is_closing => RerunPauseReason::ServerRestarted,
        ServiceError::NotFound => RerunPauseReason::Gone,
        ServiceError::TooManyRunning => RerunPauseReason::Busy,
        ServiceError::Conflict { code: "too_many_siblings" | "too_many_turns" | "too_many_branches", .. } => {
            RerunPauseReason::LimitReached
        }
        ServiceError::Conflict { code: "model_unavailable", .. } | ServiceError::Forbidden { .. } => {
            RerunPauseReason::ModelUnavailable
        }
        ServiceError::Conflict { .. }
        | ServiceError::Invalid(_)
        | ServiceError::TooLarge { .. }
        | ServiceError::Unfit { .. }
        | ServiceError::BudgetExhausted(_)
        | ServiceError::Storage(_) => RerunPauseReason::Refused,
        ServiceError::Store(error) => {
            tracing::error!(%error, "a step of a rerun could not be saved");
            RerunPauseReason::Internal
        }
    };
    let detail = match error {
        ServiceError::Conflict { message, .. } | ServiceError::Forbidden { message, .. } => Some(message.clone()),
        ServiceError::Invalid(invalid) => Some(invalid.reason.clone()),
        ServiceError::Storage(refusal) => Some((*refusal).into()),
        ServiceError::BudgetExhausted(budget) => Some(budget.refusal()),
        _ => None,
    };
    RerunStatusChange::Paused(reason, detail)
}
