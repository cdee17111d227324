//! Reruns ("grafts" in the API): start, show, cancel, resume. The steps of the background task are in [`steps`].

mod steps;

use serde_json::json;

use crate::idempotency::Created;
use crate::turns::messages::UserMessage;
use crate::turns::placement::{BranchFork, PlacementRequest, branch_name_after};
use crate::usage::calling_token::{calling_token, with_calling_token};
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::client_redaction;
use turnleaf_domain::branches::rerun::{LastRerunReply, RerunStatus, RerunStep};
use turnleaf_domain::{
    Branch, BranchId, BranchOrigin, ChatId, Content, ExchangeId, InvalidField, MessageCode, ModelParams, Rerun,
    RerunId, Role, Turn, TurnId, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_store::branches::reruns::{self, RerunStatusChange};
use turnleaf_store::branches::{self};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{StoreError, chats};

/// A path to rerun.
#[derive(Debug, Clone)]
pub struct NewRerun {
    /// The last turn that both paths share: a reply, after which the messages are asked, or a message, which is asked
    /// first. `None` reruns the whole path.
    pub from_turn_id: Option<TurnId>,
    /// The end of the path.
    pub leaf_turn_id: TurnId,
    pub provider: String,
    /// `None` is the provider's default model.
    pub model: Option<String>,
    pub params: ModelParams,
    /// The idempotency key, chosen by the client: one id never starts a second rerun.
    pub client_request_id: Option<String>,
}

/// The present state of a rerun.
#[derive(Debug, Clone)]
pub struct RerunState {
    pub graft: Rerun,
    /// The branch that grows.
    pub branch: Branch,
    /// The newest reply, in its present state.
    pub reply: Option<Turn>,
}

/// The messages of a path, and the turn beside which the new branch begins.
struct Plan {
    messages: Vec<TurnId>,
    sibling: TurnId,
}

impl Service {
    /// Creates a branch beside a path and asks the path's first message on it; a background task asks each further
    /// message once the reply before it is complete.
    pub async fn start_rerun(
        &self,
        owner: UserId,
        chat: ChatId,
        new: NewRerun,
    ) -> Result<Created<RerunState>, ServiceError> {
        new.params.validate()?;
        let service = self.clone();
        // The task is detached: the client may disconnect between the commit and the start of the background task.
        let creating = async move { service.create_rerun(owner, chat, new).await };
        let begun = tasks::spawn(with_calling_token(calling_token(), creating));
        begun.await.map_err(|_| StoreError::Gone("the graft"))?
    }

    /// Returns a rerun with its branch and its newest reply.
    pub async fn rerun(&self, owner: UserId, id: RerunId) -> Result<RerunState, ServiceError> {
        let graft = reruns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        self.rerun_state(owner, graft).await
    }

    /// Returns the reruns of a chat, newest first.
    pub async fn reruns(&self, owner: UserId, chat: ChatId) -> Result<Vec<Rerun>, ServiceError> {
        chats::find(self.db(), owner, chat).await?.ok_or(ServiceError::NotFound)?;
        Ok(reruns::list(self.db(), owner, chat, limits::RERUNS_LISTED).await?)
    }

    /// Cancels a rerun, and stops the reply that it waits for. A rerun that has ended is not changed.
    pub async fn cancel_rerun(&self, owner: UserId, id: RerunId) -> Result<RerunState, ServiceError> {
        let graft = reruns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if graft.is_over() {
            return self.rerun_state(owner, graft).await;
        }
        for from in [RerunStatus::Running, RerunStatus::Paused] {
            if self.change_rerun_status(id, from, &RerunStatusChange::Cancelled).await? {
                break;
            }
        }
        let graft = reruns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if graft.status == RerunStatus::Cancelled
            && let Some(reply) = self.reply_of(owner, &graft).await?
        {
            self.stop_turn(owner, reply.id).await?;
        }
        self.rerun_state(owner, graft).await
    }

    /// Resumes a paused rerun. A message whose reply failed or was stopped is asked again, beside that reply.
    pub async fn resume_rerun(&self, owner: UserId, id: RerunId) -> Result<RerunState, ServiceError> {
        let service = self.clone();
        // Detached for the same reason as in `start_rerun`.
        let resuming = async move { service.continue_rerun(owner, id).await };
        let resumed = tasks::spawn(with_calling_token(calling_token(), resuming));
        resumed.await.map_err(|_| StoreError::Gone("the graft"))?
    }

    async fn continue_rerun(&self, owner: UserId, id: RerunId) -> Result<RerunState, ServiceError> {
        let graft = reruns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let moved = || ServiceError::conflict("graft_not_paused", MessageCode::RerunNotPaused);
        if graft.status != RerunStatus::Paused {
            return Err(moved());
        }
        let reply = self.reply_of(owner, &graft).await?;
        match graft.next_step_on_resume(reply.as_ref().map(last_reply)) {
            step @ (RerunStep::Ask(_) | RerunStep::AskAgain(_)) => {
                self.ask_message(owner, &graft, step, reply).await?;
                self.drive_rerun(owner, id);
            }
            RerunStep::Wait => {
                if !self.change_rerun_status(id, RerunStatus::Paused, &RerunStatusChange::Running).await? {
                    return Err(moved());
                }
                self.drive_rerun(owner, id);
            }
            RerunStep::Done => {
                self.change_rerun_status(id, RerunStatus::Paused, &RerunStatusChange::Done).await?;
            }
            RerunStep::Pause(_) => {
                return Err(ServiceError::conflict("graft_gone", MessageCode::RerunReplyGone));
            }
        }
        self.rerun(owner, id).await
    }

    async fn create_rerun(
        &self,
        owner: UserId,
        chat: ChatId,
        new: NewRerun,
    ) -> Result<Created<RerunState>, ServiceError> {
        let request = json!({
            "new": "graft", "chat": chat, "from": new.from_turn_id, "leaf": new.leaf_turn_id,
            "provider": new.provider, "model": new.model, "params": new.params,
        });
        let name = new.client_request_id.as_deref();
        if let Some(made) = self.find_created(owner, name, &request).await? {
            return self.earlier_rerun(owner, &made).await;
        }
        chats::find(self.db(), owner, chat).await?.ok_or(ServiceError::NotFound)?;
        let plan = self.plan(owner, chat, new.from_turn_id, new.leaf_turn_id).await?;
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        self.check_growth(owner, 0).await?;
        let budget = self.reserve_budget(owner).await?;
        let mut tx = self.db().begin().await?;
        let id: RerunId = ids::mint();
        if let Some(made) = self.claim_request(&mut tx, owner, name, request, id).await? {
            tx.rollback().await?;
            return self.earlier_rerun(owner, &made).await;
        }
        let chat = self.lock_chat(&mut tx, owner, chat).await?;
        let sibling = turns::find(self.db(), owner, plan.sibling).await?.ok_or(ServiceError::NotFound)?;
        let source = branches::find(self.db(), owner, sibling.branch_id).await?.ok_or(ServiceError::NotFound)?;
        self.check_sibling_room(&mut tx, chat.id, new.from_turn_id).await?;
        let wanted = PlacementRequest { provider: Some(new.provider), model: new.model, ..PlacementRequest::default() };
        let lock = self.fork_lock(owner, &source, &wanted)?;
        let origin = if lock == source.lock { BranchOrigin::Fork } else { BranchOrigin::ModelSwitch };
        let first = turns::find(self.db(), owner, plan.messages[0]).await?.ok_or(ServiceError::NotFound)?;
        let name = format!("again · {}", branch_name_after(&repeatable(&first)?.contents));
        let leaving = BranchFork { id: ids::mint(), source: &source, from: new.from_turn_id, origin, lock, name };
        let branch = self.fork_branch(&mut tx, &chat, leaving).await?;
        let now = self.clock().now();
        let graft = Rerun {
            id,
            chat_id: chat.id,
            branch_id: branch.id,
            from_turn_id: new.from_turn_id,
            leaf_turn_id: Some(new.leaf_turn_id),
            messages: plan.messages,
            asked: 0,
            exchange_id: None,
            status: RerunStatus::Running,
            reason: None,
            detail: None,
            detail_code: None,
            detail_args: Default::default(),
            params: new.params,
            created_at: now,
            updated_at: now,
        };
        reruns::insert(&mut tx, owner, &graft).await?;
        self.ask_first_message(tx, chat, branch, &graft, (owner, budget)).await?;
        self.drive_rerun(owner, id);
        Ok(Created::new(self.rerun(owner, id).await?))
    }

    /// Returns the rerun that an earlier request with the same idempotency key started, in its present state.
    async fn earlier_rerun(&self, owner: UserId, made: &str) -> Result<Created<RerunState>, ServiceError> {
        let made = made.parse().map_err(|_| ServiceError::NotFound)?;
        Ok(Created::existing(self.rerun(owner, made).await?))
    }

    /// Plans which messages are asked, and beside which turn.
    async fn plan(
        &self,
        owner: UserId,
        chat: ChatId,
        from: Option<TurnId>,
        leaf: TurnId,
    ) -> Result<Plan, ServiceError> {
        let path = self.lineage_in_chat(owner, chat, "leaf_turn_id", leaf).await?;
        let (first, first_message) = match from {
            None => (0, None),
            Some(from) => match path.iter().position(|turn| turn.id == from) {
                Some(at) => (at + 1, (path[at].role == Role::User).then_some(from)),
                None => {
                    turns::find(self.db(), owner, from).await?.ok_or(ServiceError::NotFound)?;
                    return Err(InvalidField::new("from_turn_id", MessageCode::NotOnPath).into());
                }
            },
        };
        let behind = path[first..].iter().filter(|turn| turn.role == Role::User).map(|turn| turn.id);
        let messages: Vec<TurnId> = first_message.into_iter().chain(behind).collect();
        if messages.is_empty() {
            return Err(InvalidField::new("leaf_turn_id", MessageCode::NothingToRerun).into());
        }
        if messages.len() > limits::RERUN_MESSAGES {
            let message = MessageCode::RerunTooLong.with("most", limits::RERUN_MESSAGES);
            return Err(ServiceError::conflict("graft_too_long", message));
        }
        let sibling = path.get(first).map_or(leaf, |turn| turn.id);
        Ok(Plan { messages, sibling })
    }

    async fn rerun_state(&self, owner: UserId, graft: Rerun) -> Result<RerunState, ServiceError> {
        let branch = branches::find(self.db(), owner, graft.branch_id).await?.ok_or(ServiceError::NotFound)?;
        let reply = self.reply_of(owner, &graft).await?.map(client_redaction::redact_turn);
        Ok(RerunState { graft, branch, reply })
    }

    /// Returns the newest reply of a rerun, with its live state while it runs.
    async fn reply_of(&self, owner: UserId, graft: &Rerun) -> Result<Option<Turn>, ServiceError> {
        let Some(exchange) = graft.exchange_id else { return Ok(None) };
        let Some(id) = exchanges::find_reply(self.db(), owner, exchange).await? else { return Ok(None) };
        Ok(turns::find(self.db(), owner, id).await?.map(|turn| self.latest_turn(turn)))
    }

    /// Changes the status of a rerun; returns false when it has another status by now (compare and set).
    async fn change_rerun_status(
        &self,
        id: RerunId,
        from: RerunStatus,
        to: &RerunStatusChange,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        let changed = reruns::set_status(&mut tx, id, from, to, self.clock().now()).await?;
        tx.commit().await?;
        Ok(changed)
    }
}

/// Returns the content of a message to ask again. A message with the result of a client tool cannot be repeated,
/// because the result belongs to a call that the new path does not have.
fn repeatable(message: &Turn) -> Result<UserMessage, ServiceError> {
    let answers_call = |content: &Content| matches!(content, Content::ToolResult { .. });
    if message.blocks.iter().any(|block| answers_call(&block.content)) {
        return Err(InvalidField::new("leaf_turn_id", MessageCode::NotRepeatable).into());
    }
    Ok(UserMessage { copy_of: Some(message.id), ..UserMessage::from_blocks(&message.blocks) })
}

fn last_reply(turn: &Turn) -> LastRerunReply {
    LastRerunReply { status: turn.status, failure: turn.error.as_ref().map(|error| error.kind) }
}

/// Returns the idempotency key of a step's exchange, which guarantees that the step happens once.
fn step_id(graft: &Rerun, step: RerunStep) -> String {
    let before = graft.exchange_id.map(|id| id.to_string()).unwrap_or_default();
    match step {
        RerunStep::AskAgain(n) => format!("graft-{}-{n}-{before}", graft.id),
        _ => format!("graft-{}-{}", graft.id, graft.asked),
    }
}

/// Returns the record of a step, with the branch of its exchange.
fn advance_to(graft: &Rerun, step: RerunStep, exchange_id: ExchangeId, branch_id: BranchId) -> reruns::RerunAdvance {
    let count = match step {
        RerunStep::Ask(n) => u32::try_from(n + 1).unwrap_or(u32::MAX),
        _ => graft.asked,
    };
    reruns::RerunAdvance { asked: count, exchange_id, branch_id }
}
