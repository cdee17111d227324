//! What a graft does by itself: it asks a message, waits for the reply, asks the next. The task that does so belongs to
//! the server, like a run. Every step is one transaction with its exchange, so that a process that dies between two
//! steps leaves a plan that says exactly what was asked.

use serde_json::json;

use super::{advance_to, last_reply, repeatable, step_id};
use crate::once::hash;
use crate::turns::exchanges::{ExchangeOf, Started};
use crate::turns::placement::{Place, Wanted};
use crate::{Service, ServiceError};
use turnleaf_domain::Turn;
use turnleaf_domain::graft::{GraftStatus, NextStep, PauseReason};
use turnleaf_domain::{Branch, BranchId, Chat, ExchangeId, ExchangeKind, Graft, GraftId, Origin, UserId};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_store::db::Tx;
use turnleaf_store::grafts::Standing;
use turnleaf_store::{StoreError, grafts, turns};

impl Service {
    /// Settles what an earlier process left running: nobody drives it any more, so it waits for a person. Nothing is
    /// asked by itself after a crash. Gives the number of those that wait. Call before serving, after the sweep.
    pub async fn settle_grafts(&self) -> Result<usize, StoreError> {
        let mut waiting = 0;
        for (owner, graft) in grafts::running(self.db()).await? {
            let reply = match self.reply_of(owner, &graft).await {
                Ok(reply) => reply,
                Err(ServiceError::Store(error)) => return Err(error),
                Err(_) => None,
            };
            let standing = match graft.next(reply.as_ref().map(last_reply)) {
                NextStep::Done => Standing::Done,
                NextStep::Pause(reason) => Standing::Paused(reason, None),
                _ => Standing::Paused(PauseReason::ServerRestarted, None),
            };
            waiting += usize::from(standing != Standing::Done);
            self.stand_graft(graft.id, GraftStatus::Running, &standing).await?;
        }
        Ok(waiting)
    }

    /// Drives a graft in a task of its own until it waits or is over.
    pub(super) fn drive_graft(&self, owner: UserId, id: GraftId) {
        let service = self.clone();
        tokio::spawn(async move {
            let driven = tasks::spawn({
                let service = service.clone();
                async move { service.follow_graft(owner, id).await }
            });
            let standing = match driven.await {
                Ok(Ok(standing)) => standing,
                Ok(Err(error)) => Some(why_not(&error, service.supervisor().is_closing())),
                Err(_) => {
                    tracing::error!(graft = %id, "the task of a graft panicked; the graft waits");
                    Some(Standing::Paused(PauseReason::Internal, None))
                }
            };
            if let Some(standing) = standing
                && let Err(error) = service.stand_graft(id, GraftStatus::Running, &standing).await
            {
                // The next start settles it.
                tracing::warn!(graft = %id, %error, "a graft could not be stored as waiting");
            }
        });
    }

    /// Takes step after step. Gives how the graft stands now; `None` when somebody else has said so already.
    async fn follow_graft(&self, owner: UserId, id: GraftId) -> Result<Option<Standing>, ServiceError> {
        loop {
            let Some(graft) = grafts::find(self.db(), owner, id).await? else {
                return Ok(Some(Standing::Paused(PauseReason::Gone, None)));
            };
            if graft.status != GraftStatus::Running {
                return Ok(None);
            }
            let reply = self.reply_of(owner, &graft).await?;
            match graft.next(reply.as_ref().map(last_reply)) {
                NextStep::Wait => {
                    let Some(reply) = reply else { return Err(ServiceError::NotFound) };
                    match self.supervisor().live(reply.id) {
                        Some(live) => live.ended().await,
                        // It may have ended since it was looked at; otherwise nothing will ever end it.
                        None => {
                            let now = turns::find(self.db(), owner, reply.id).await?;
                            if now.is_some_and(|turn| !turn.status.is_terminal()) {
                                return Ok(Some(Standing::Paused(PauseReason::Internal, None)));
                            }
                        }
                    }
                }
                step @ (NextStep::Ask(_) | NextStep::AskAgain(_)) => {
                    match self.ask(owner, &graft, step, reply).await {
                        // Somebody was faster; the next look tells what that made of it.
                        Err(ServiceError::Conflict { code: "graft_moved", .. }) => {}
                        asked => drop(asked?),
                    }
                }
                NextStep::Done => return Ok(Some(Standing::Done)),
                NextStep::Pause(reason) => {
                    let failure = reply.and_then(|turn| turn.error).map(|error| error.message);
                    return Ok(Some(Standing::Paused(reason, failure)));
                }
            }
        }
    }

    /// Asks the first message, on the branch that was just made in the same transaction.
    pub(super) async fn ask_first(
        &self,
        mut tx: Tx,
        owner: UserId,
        chat: Chat,
        branch: Branch,
        graft: &Graft,
    ) -> Result<Started, ServiceError> {
        let source = self.message(owner, graft, 0).await?;
        let message = repeatable(&source)?;
        // The shared turn is this message itself: it gets another reply, not another message.
        let is_shared = graft.from_turn_id == Some(source.id);
        let of = self.exchange_of(owner, graft, NextStep::Ask(0), &source, is_shared).await?;
        let user_turn = if is_shared {
            source
        } else {
            let parent = match graft.from_turn_id {
                Some(id) => Some(turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?),
                None => None,
            };
            if parent.as_ref().is_some_and(|parent| !parent.status.is_terminal()) {
                return Err(ServiceError::reply_before_runs());
            }
            let place = Place { parent, branch: branch.clone() };
            self.user_turn(&mut tx, &chat, &place, message, of.id).await?
        };
        self.record_step(&mut tx, graft, NextStep::Ask(0), (of.id, branch.id)).await?;
        self.answer(tx, chat, branch, user_turn, of).await
    }

    /// Asks a later message behind the reply of the one before, or one more time what has no whole reply.
    pub(super) async fn ask(
        &self,
        owner: UserId,
        graft: &Graft,
        step: NextStep,
        reply: Option<Turn>,
    ) -> Result<Started, ServiceError> {
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        self.check_growth(owner, 0).await?;
        let (NextStep::Ask(n) | NextStep::AskAgain(n), Some(reply)) = (step, reply) else {
            return Err(ServiceError::NotFound);
        };
        let source = self.message(owner, graft, n).await?;
        let message = repeatable(&source)?;
        let mut tx = self.db().begin().await?;
        let chat = self.hold_chat(&mut tx, owner, graft.chat_id).await?;
        let is_again = matches!(step, NextStep::AskAgain(_));
        let of = self.exchange_of(owner, graft, step, &source, is_again).await?;
        if is_again {
            let user_id = reply.prev_turn_id.ok_or(ServiceError::NotFound)?;
            let user_turn = turns::find(self.db(), owner, user_id).await?.ok_or(ServiceError::NotFound)?;
            let name = self.name_of_version(&mut tx, "retry", &user_turn).await?;
            let leaving = (Some(user_id), Origin::Regenerate, name);
            let branch = self.beside(&mut tx, &chat, &reply, &Wanted::default(), leaving).await?;
            self.record_step(&mut tx, graft, step, (of.id, branch.id)).await?;
            return self.answer(tx, chat, branch, user_turn, of).await;
        }
        // Behind the reply; where somebody has gone on from there meanwhile, on a branch of its own.
        let wanted = Wanted { prev_turn_id: Some(reply.id), branch_id: Some(graft.branch_id), ..Wanted::default() };
        let place = self.place(&mut tx, &chat, &wanted, &message.contents).await?;
        let user_turn = self.user_turn(&mut tx, &chat, &place, message, of.id).await?;
        self.record_step(&mut tx, graft, step, (of.id, place.branch.id)).await?;
        self.answer(tx, chat, place.branch, user_turn, of).await
    }

    /// Records that the graft takes this step, in the transaction that stores the step's exchange.
    async fn record_step(
        &self,
        tx: &mut Tx,
        graft: &Graft,
        step: NextStep,
        (exchange, branch): (ExchangeId, BranchId),
    ) -> Result<(), ServiceError> {
        let to = advance_to(graft, step, exchange, branch);
        if !grafts::advance(tx, graft, to, self.clock().now()).await? {
            return Err(ServiceError::conflict("graft_moved", "this graft was changed at the same moment"));
        }
        Ok(())
    }

    async fn message(&self, owner: UserId, graft: &Graft, n: usize) -> Result<Turn, ServiceError> {
        let id = graft.messages.get(n).ok_or(ServiceError::NotFound)?;
        turns::find(self.db(), owner, *id).await?.ok_or(ServiceError::NotFound)
    }

    async fn exchange_of(
        &self,
        owner: UserId,
        graft: &Graft,
        step: NextStep,
        source: &Turn,
        is_reply_only: bool,
    ) -> Result<ExchangeOf, ServiceError> {
        let request_id = step_id(graft, step);
        Ok(ExchangeOf {
            id: ids::mint(),
            owner,
            kind: if is_reply_only { ExchangeKind::Regenerate } else { ExchangeKind::Send },
            params: graft.params.clone(),
            base: self.params_of(owner, source).await?,
            sends_draft_of: None,
            moves_reader: false,
            fingerprint: hash(json!({ "graft": graft.id, "step": request_id })),
            request_id: Some(request_id),
        })
    }
}

/// How a graft stands whose next step was refused.
fn why_not(error: &ServiceError, is_closing: bool) -> Standing {
    let reason = match error {
        _ if is_closing => PauseReason::ServerRestarted,
        ServiceError::NotFound => PauseReason::Gone,
        ServiceError::TooManyRunning => PauseReason::Busy,
        ServiceError::Conflict { code: "too_many_siblings" | "too_many_turns" | "too_many_branches", .. } => {
            PauseReason::LimitReached
        }
        ServiceError::Conflict { code: "model_unavailable", .. } => PauseReason::ModelUnavailable,
        ServiceError::Conflict { .. }
        | ServiceError::Invalid(_)
        | ServiceError::TooLarge { .. }
        | ServiceError::Unfit { .. }
        | ServiceError::Storage(_) => PauseReason::Refused,
        ServiceError::Store(error) => {
            tracing::error!(%error, "a step of a graft could not be stored");
            PauseReason::Internal
        }
    };
    let detail = match error {
        ServiceError::Conflict { message, .. } => Some(message.clone()),
        ServiceError::Invalid(invalid) => Some(invalid.reason.clone()),
        ServiceError::Storage(refusal) => Some(refusal.to_string()),
        _ => None,
    };
    Standing::Paused(reason, detail)
}
