//! Grafts as a person deals with them: begin one, look at it, cancel it, let it go on. What it does by itself is in
//! [`steps`].

mod steps;

use serde_json::json;

use crate::once::Made;
use crate::turns::messages::Message;
use crate::turns::placement::{Leaving, Wanted, name_after};
use crate::{Service, ServiceError};
use turnleaf_domain::graft::{GraftStatus, LastReply, NextStep};
use turnleaf_domain::{
    Branch, BranchId, ChatId, Content, ExchangeId, Graft, GraftId, Invalid, Origin, Params, Role, Turn, TurnId, UserId,
    limits, withhold,
};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_store::grafts::Standing;
use turnleaf_store::{StoreError, branches, chats, exchanges, grafts, turns};

/// A path to ask again.
#[derive(Debug, Clone)]
pub struct NewGraft {
    /// The last turn that both paths share: a reply, behind which the messages are asked, or a message, which is asked
    /// first. `None` asks the whole path.
    pub from_turn_id: Option<TurnId>,
    /// The end of the path.
    pub leaf_turn_id: TurnId,
    pub provider: String,
    /// `None` is the provider's default model.
    pub model: Option<String>,
    pub params: Params,
    /// Made by the client: the same id never begins a second graft.
    pub client_request_id: Option<String>,
}

/// A graft as it stands.
#[derive(Debug, Clone)]
pub struct Grafted {
    pub graft: Graft,
    /// The branch that grows.
    pub branch: Branch,
    /// The newest reply, as of now.
    pub reply: Option<Turn>,
}

/// The messages of a path, and the turn beside which the new branch begins.
struct Plan {
    messages: Vec<TurnId>,
    beside: TurnId,
}

impl Service {
    /// Makes a branch beside a path and asks the path's first message on it; the others follow by themselves, each when
    /// the reply before it is complete.
    pub async fn start_graft(&self, owner: UserId, chat: ChatId, new: NewGraft) -> Result<Made<Grafted>, ServiceError> {
        new.params.validate()?;
        let service = self.clone();
        // A task of its own: who asked may be gone between the commit and the task that goes on with it.
        let begun = tasks::spawn(async move { service.begin_graft(owner, chat, new).await });
        begun.await.map_err(|_| StoreError::Gone("the graft"))?
    }

    /// A graft with its branch and its newest reply.
    pub async fn graft(&self, owner: UserId, id: GraftId) -> Result<Grafted, ServiceError> {
        let graft = grafts::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        self.grafted(owner, graft).await
    }

    /// The grafts of a chat, newest first.
    pub async fn grafts(&self, owner: UserId, chat: ChatId) -> Result<Vec<Graft>, ServiceError> {
        chats::find(self.db(), owner, chat).await?.ok_or(ServiceError::NotFound)?;
        Ok(grafts::list(self.db(), owner, chat, limits::GRAFTS_LISTED).await?)
    }

    /// Ends a graft, and stops the reply that it waits for. One that is over stays as it is.
    pub async fn cancel_graft(&self, owner: UserId, id: GraftId) -> Result<Grafted, ServiceError> {
        let graft = grafts::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if graft.is_over() {
            return self.grafted(owner, graft).await;
        }
        for from in [GraftStatus::Running, GraftStatus::Paused] {
            if self.stand_graft(id, from, &Standing::Cancelled).await? {
                break;
            }
        }
        let graft = grafts::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if graft.status == GraftStatus::Cancelled
            && let Some(reply) = self.reply_of(owner, &graft).await?
        {
            self.stop_turn(owner, reply.id).await?;
        }
        self.grafted(owner, graft).await
    }

    /// Lets a graft go on that waits. A message whose reply failed or was stopped is asked once more, beside that reply.
    pub async fn resume_graft(&self, owner: UserId, id: GraftId) -> Result<Grafted, ServiceError> {
        let service = self.clone();
        // As in `start_graft`.
        let resumed = tasks::spawn(async move { service.go_on_grafting(owner, id).await });
        resumed.await.map_err(|_| StoreError::Gone("the graft"))?
    }

    async fn go_on_grafting(&self, owner: UserId, id: GraftId) -> Result<Grafted, ServiceError> {
        let graft = grafts::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let moved = || ServiceError::conflict("graft_not_paused", "only a graft that is paused can be resumed");
        if graft.status != GraftStatus::Paused {
            return Err(moved());
        }
        let reply = self.reply_of(owner, &graft).await?;
        match graft.resumed(reply.as_ref().map(last_reply)) {
            step @ (NextStep::Ask(_) | NextStep::AskAgain(_)) => {
                self.ask(owner, &graft, step, reply).await?;
                self.drive_graft(owner, id);
            }
            NextStep::Wait => {
                if !self.stand_graft(id, GraftStatus::Paused, &Standing::Running).await? {
                    return Err(moved());
                }
                self.drive_graft(owner, id);
            }
            NextStep::Done => {
                self.stand_graft(id, GraftStatus::Paused, &Standing::Done).await?;
            }
            NextStep::Pause(_) => {
                return Err(ServiceError::conflict("graft_gone", "the last reply of this graft is deleted"));
            }
        }
        self.graft(owner, id).await
    }

    async fn begin_graft(&self, owner: UserId, chat: ChatId, new: NewGraft) -> Result<Made<Grafted>, ServiceError> {
        let asked = json!({
            "new": "graft", "chat": chat, "from": new.from_turn_id, "leaf": new.leaf_turn_id,
            "provider": new.provider, "model": new.model, "params": new.params,
        });
        let name = new.client_request_id.as_deref();
        if let Some(made) = self.was_made(owner, name, &asked).await? {
            return self.begun_before(owner, &made).await;
        }
        chats::find(self.db(), owner, chat).await?.ok_or(ServiceError::NotFound)?;
        let plan = self.plan(owner, chat, new.from_turn_id, new.leaf_turn_id).await?;
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        self.check_growth(owner, 0).await?;
        let mut tx = self.db().begin().await?;
        let id: GraftId = ids::mint();
        if let Some(made) = self.made_before(&mut tx, owner, name, asked, id).await? {
            tx.rollback().await?;
            return self.begun_before(owner, &made).await;
        }
        let chat = self.hold_chat(&mut tx, owner, chat).await?;
        let beside = turns::find(self.db(), owner, plan.beside).await?.ok_or(ServiceError::NotFound)?;
        let source = branches::find(self.db(), owner, beside.branch_id).await?.ok_or(ServiceError::NotFound)?;
        self.check_room(&mut tx, chat.id, new.from_turn_id).await?;
        let wanted = Wanted { provider: Some(new.provider), model: new.model, ..Wanted::default() };
        let lock = self.lock_from(&source, &wanted)?;
        let origin = if lock == source.lock { Origin::Fork } else { Origin::ModelSwitch };
        let first = turns::find(self.db(), owner, plan.messages[0]).await?.ok_or(ServiceError::NotFound)?;
        let name = format!("again · {}", name_after(&repeatable(&first)?.contents));
        let leaving = Leaving { id: ids::mint(), source: &source, from: new.from_turn_id, origin, lock, name };
        let branch = self.fork(&mut tx, &chat, leaving).await?;
        let now = self.clock().now();
        let graft = Graft {
            id,
            chat_id: chat.id,
            branch_id: branch.id,
            from_turn_id: new.from_turn_id,
            leaf_turn_id: Some(new.leaf_turn_id),
            messages: plan.messages,
            asked: 0,
            exchange_id: None,
            status: GraftStatus::Running,
            reason: None,
            detail: None,
            params: new.params,
            created_at: now,
            updated_at: now,
        };
        grafts::insert(&mut tx, owner, &graft).await?;
        self.ask_first(tx, owner, chat, branch, &graft).await?;
        self.drive_graft(owner, id);
        Ok(Made::now(self.graft(owner, id).await?))
    }

    /// What the same request began, as it stands now.
    async fn begun_before(&self, owner: UserId, made: &str) -> Result<Made<Grafted>, ServiceError> {
        let made = made.parse().map_err(|_| ServiceError::NotFound)?;
        Ok(Made::before(self.graft(owner, made).await?))
    }

    /// Which messages are asked, and beside which turn.
    async fn plan(
        &self,
        owner: UserId,
        chat: ChatId,
        from: Option<TurnId>,
        leaf: TurnId,
    ) -> Result<Plan, ServiceError> {
        let path = self.lineage_in(owner, chat, "leaf_turn_id", leaf).await?;
        let (first, asked_first) = match from {
            None => (0, None),
            Some(from) => match path.iter().position(|turn| turn.id == from) {
                Some(at) => (at + 1, (path[at].role == Role::User).then_some(from)),
                None => {
                    turns::find(self.db(), owner, from).await?.ok_or(ServiceError::NotFound)?;
                    return Err(Invalid::new("from_turn_id", "this turn is not on the path").into());
                }
            },
        };
        let behind = path[first..].iter().filter(|turn| turn.role == Role::User).map(|turn| turn.id);
        let messages: Vec<TurnId> = asked_first.into_iter().chain(behind).collect();
        if messages.is_empty() {
            return Err(Invalid::new("leaf_turn_id", "no message of this path is left to ask").into());
        }
        if messages.len() > limits::GRAFT_MESSAGES {
            let message = format!("a graft asks at most {} messages; this path has more", limits::GRAFT_MESSAGES);
            return Err(ServiceError::conflict("graft_too_long", message));
        }
        let beside = path.get(first).map_or(leaf, |turn| turn.id);
        Ok(Plan { messages, beside })
    }

    async fn grafted(&self, owner: UserId, graft: Graft) -> Result<Grafted, ServiceError> {
        let branch = branches::find(self.db(), owner, graft.branch_id).await?.ok_or(ServiceError::NotFound)?;
        let reply = self.reply_of(owner, &graft).await?.map(withhold::turn);
        Ok(Grafted { graft, branch, reply })
    }

    /// The newest reply of a graft as the database or, while it runs, its run has it.
    async fn reply_of(&self, owner: UserId, graft: &Graft) -> Result<Option<Turn>, ServiceError> {
        let Some(exchange) = graft.exchange_id else { return Ok(None) };
        let Some(id) = exchanges::reply(self.db(), owner, exchange).await? else { return Ok(None) };
        Ok(turns::find(self.db(), owner, id).await?.map(|turn| self.as_running(turn)))
    }

    /// Brings a graft from one status to another; false when it has another one by now.
    async fn stand_graft(&self, id: GraftId, from: GraftStatus, to: &Standing) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        let changed = grafts::set_status(&mut tx, id, from, to, self.clock().now()).await?;
        tx.commit().await?;
        Ok(changed)
    }
}

/// What of a message can be said again: all of it, unless a tool of the client answered in it, because that answer
/// belongs to a call that the new path does not have.
fn repeatable(message: &Turn) -> Result<Message, ServiceError> {
    let answers_call = |content: &Content| matches!(content, Content::ToolResult { .. });
    if message.blocks.iter().any(|block| answers_call(&block.content)) {
        let reason = "a message of this path holds the result of a tool, which cannot be asked again";
        return Err(Invalid::new("leaf_turn_id", reason).into());
    }
    Ok(Message { copy_of: Some(message.id), ..Message::of(&message.blocks) })
}

fn last_reply(turn: &Turn) -> LastReply {
    LastReply { status: turn.status, failure: turn.error.as_ref().map(|error| error.kind) }
}

/// The request id of a step's exchange, which makes it the only one.
fn step_id(graft: &Graft, step: NextStep) -> String {
    let before = graft.exchange_id.map(|id| id.to_string()).unwrap_or_default();
    match step {
        NextStep::AskAgain(n) => format!("graft-{}-{n}-{before}", graft.id),
        _ => format!("graft-{}-{}", graft.id, graft.asked),
    }
}

/// The branch that a step stands on, for the record of it.
fn advance_to(graft: &Graft, step: NextStep, exchange_id: ExchangeId, branch_id: BranchId) -> grafts::Advance {
    let asked = match step {
        NextStep::Ask(n) => u32::try_from(n + 1).unwrap_or(u32::MAX),
        _ => graft.asked,
    };
    grafts::Advance { asked, exchange_id, branch_id }
}
