//! Turns: send, edit, stop, retry.

mod continuations;
pub mod exchanges;
pub mod generations;
pub mod membership;
pub mod messages;
mod model_access;
pub mod placement;
pub mod queue;
pub mod references;
pub mod reruns;
pub mod tool_results;
pub mod versions;

use serde_json::json;

use self::exchanges::{NewChatOpening, NewExchange, derived_title};
use self::messages::MessageBlock;
use self::placement::{BranchFork, PlacementRequest, TurnPlacement, branch_name_after};
use self::tool_results::keep_tool_results;
use crate::chats::FirstExchange;
use crate::idempotency::{check_request_id, request_hash};
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::client_redaction;
use turnleaf_domain::{
    Branch, BranchOrigin, Chat, ChatId, ExchangeKind, InvalidField, MessageCode, ModelParams, Role, Turn, TurnId,
    TurnStatus, UserId,
};
use turnleaf_platform::ids;
use turnleaf_store::database::db::Tx;
use turnleaf_store::turns::exchanges::KnownRequest;
use turnleaf_store::{branches, chats, turns};

pub use self::exchanges::AcceptedExchange;

/// A message to send.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// `None` creates a new chat.
    pub chat_id: Option<ChatId>,
    pub content: Vec<MessageBlock>,
    pub place: PlacementRequest,
    pub params: ModelParams,
    /// True when the attachments of the chat's draft are sent before the content; for an edit, those of the old
    /// message.
    pub takes_attachments: bool,
    /// The idempotency key, chosen by the client: one id never sends twice.
    pub client_request_id: Option<String>,
    /// True when the message is unrelated to the chat's draft, which stays.
    pub keeps_draft: bool,
}

/// Another reply to the same message.
#[derive(Debug, Default)]
struct AnotherReply {
    place: PlacementRequest,
    params: ModelParams,
    /// The text with which the reply begins, for its model to continue.
    begins_with: Option<String>,
    client_request_id: Option<String>,
}

impl TurnRequest {
    /// Returns the hash by which a repeated request is recognized.
    fn fingerprint(&self) -> Vec<u8> {
        let mut fingerprinted = json!({
            "chat": self.chat_id,
            "content": self.content,
            "takes_attachments": self.takes_attachments,
            "prev": self.place.prev_turn_id,
            "branch": self.place.branch_id,
            "provider": self.place.provider,
            "model": self.place.model,
            "may_branch": self.place.may_branch,
            "params": self.params,
        });
        if self.place.starts_root {
            // Absent otherwise, so that the keys of messages from before this member still match.
            fingerprinted["root"] = true.into();
        }
        request_hash(fingerprinted)
    }
}

impl Service {
    /// Stores a message with its pending reply in one transaction, then starts the run of the reply.
    pub async fn start_turn(&self, owner: UserId, request: TurnRequest) -> Result<AcceptedExchange, ServiceError> {
        request.params.validate()?;
        check_request_id(request.client_request_id.as_deref())?;
        let fingerprint = request.fingerprint();
        // A repeated request gets its first result even when it could not be built again: its draft is empty by now.
        let message = self.message_to_send(owner, &request).await;
        let growth = self.check_growth(owner, 0).await;
        let budget = self.reserve_budget(owner).await;
        // All other writers wait for this transaction, therefore everything that can be read before it is read here.
        let plan = match request.chat_id {
            Some(_) => None,
            None => Some(self.plan_next_chat(owner, &request.place).await),
        };
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        let (mut tx, id, name) = (self.db().begin().await?, ids::mint(), request.client_request_id.as_deref());
        if let Some(earlier) = self.claim_exchange(&mut tx, owner, name, &fingerprint, id).await? {
            tx.rollback().await?;
            return self.repeated_exchange(owner, earlier).await;
        }
        let message = message?;
        growth?;
        let budget = budget?;
        let (chat, place, opening) = match (request.chat_id, plan) {
            (Some(id), _) => {
                let chat = self.lock_chat(&mut tx, owner, id).await?;
                let mut place = self.place_user_turn(&mut tx, &chat, &request.place, &message.contents).await?;
                let opening = place.frozen.take().map(|frozen| NewChatOpening { frozen, reply: None });
                (chat, place, opening)
            }
            (None, plan) => {
                let plan = plan.ok_or(ServiceError::NotFound)??;
                let plan = self.take_next_chat(&mut tx, owner, &request.place, plan).await?;
                let reply = ids::mint();
                let opening = NewChatOpening { frozen: plan.frozen.clone(), reply: Some(reply) };
                let first = FirstExchange { derived_title: derived_title(&message), reply: Some(reply) };
                let (chat, place) = self.insert_new_chat(&mut tx, ids::mint(), plan, first).await?;
                (chat, place, Some(opening))
            }
        };
        let exchange = NewExchange {
            sends_draft_of: (!request.keeps_draft).then_some(request.chat_id),
            moves_queue_of: place.parent.as_ref().map(|parent| parent.id),
            request_id: request.client_request_id,
            opening,
            budget,
            ..NewExchange::new(id, owner, ExchangeKind::Send, request.params, fingerprint)
        };
        let chat = self.name_chat(&mut tx, owner, chat, &message).await?;
        let user_turn = self.insert_user_turn(&mut tx, &chat, &place, message, exchange.id).await?;
        self.check_unanswered(&mut tx, &user_turn).await?;
        self.commit_exchange(tx, chat, place.branch, user_turn, exchange).await
    }

    /// Creates another reply to the same message: a sibling on a branch of its own, with another model if one is
    /// named. When all replies of the message are deleted, it becomes the reply.
    pub async fn retry_turn(
        &self,
        owner: UserId,
        id: TurnId,
        place: PlacementRequest,
        params: ModelParams,
        client_request_id: Option<String>,
    ) -> Result<AcceptedExchange, ServiceError> {
        self.answer_again(owner, id, AnotherReply { place, params, begins_with: None, client_request_id }).await
    }

    async fn answer_again(
        &self,
        owner: UserId,
        id: TurnId,
        again: AnotherReply,
    ) -> Result<AcceptedExchange, ServiceError> {
        let AnotherReply { place, params, begins_with, client_request_id } = again;
        params.validate()?;
        check_request_id(client_request_id.as_deref())?;
        let named = (&place.provider, &place.model);
        let mut fingerprinted = json!({ "retry": id, "named": named, "params": params });
        if begins_with.is_some() {
            // Absent otherwise, so that the keys of retries from before this member still match.
            fingerprinted["continues"] = true.into();
        }
        let fingerprint = request_hash(fingerprinted);
        let growth = self.check_growth(owner, 0).await;
        let budget = self.reserve_budget(owner).await;
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        let (mut tx, exchange) = (self.db().begin().await?, ids::mint());
        let name = client_request_id.as_deref();
        if let Some(earlier) = self.claim_exchange(&mut tx, owner, name, &fingerprint, exchange).await? {
            tx.rollback().await?;
            return self.repeated_exchange(owner, earlier).await;
        }
        growth?;
        let budget = budget?;
        let (chat, old) = self.lock_chat_of_turn(&mut tx, owner, id).await?;
        let user_turn = match (old.role, old.prev_turn_id) {
            (Role::Assistant, Some(id)) => turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?,
            (Role::Assistant, None) => {
                return Err(ServiceError::answers_no_message());
            }
            (Role::User, _) if turns::count_children(&mut tx, chat.id, Some(old.id)).await? == 0 => old.clone(),
            _ => {
                return Err(InvalidField::new("turn", MessageCode::NotRetryable).into());
            }
        };
        let word = if begins_with.is_some() { "continue" } else { "retry" };
        let name = self.version_name(&mut tx, word, &user_turn).await?;
        let leaving = (Some(user_turn.id), BranchOrigin::Regenerate, name);
        let branch = self.sibling_branch(&mut tx, &chat, &old, &place, leaving).await?;
        let exchange = NewExchange {
            base: self.exchange_params(owner, &old).await?,
            // A reply that did not become complete is replaced, and what was queued behind it waits for the new one.
            moves_queue_of: matches!(old.status, TurnStatus::Cancelled | TurnStatus::Error).then_some(old.id),
            request_id: client_request_id,
            begins_with,
            budget,
            ..NewExchange::new(exchange, owner, ExchangeKind::Regenerate, params, fingerprint)
        };
        self.commit_exchange(tx, chat, branch, user_turn, exchange).await
    }

    /// Edits a message: creates a sibling with the new content on a branch of its own, and a reply. The old message
    /// stays. Editing a reply creates a version written by a person, without a request to the provider.
    pub async fn edit_turn(
        &self,
        owner: UserId,
        id: TurnId,
        edit: TurnRequest,
    ) -> Result<AcceptedExchange, ServiceError> {
        edit.params.validate()?;
        check_request_id(edit.client_request_id.as_deref())?;
        let named = (&edit.place.provider, &edit.place.model);
        let fingerprint = request_hash(json!({
            "edit": id,
            "content": edit.content,
            "takes_attachments": edit.takes_attachments,
            "named": named,
            "params": edit.params,
        }));
        let message = self.edited_message(owner, id, &edit).await;
        let growth = self.check_growth(owner, 0).await;
        let budget = self.reserve_budget(owner).await;
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        let (mut tx, exchange) = (self.db().begin().await?, ids::mint());
        let name = edit.client_request_id.as_deref();
        if let Some(earlier) = self.claim_exchange(&mut tx, owner, name, &fingerprint, exchange).await? {
            tx.rollback().await?;
            return self.repeated_exchange(owner, earlier).await;
        }
        let message = message?;
        growth?;
        let (chat, old) = self.lock_chat_of_turn(&mut tx, owner, id).await?;
        match old.role {
            Role::User => {}
            Role::Assistant => {
                let edit = TurnRequest { content: Vec::new(), ..edit };
                return self.edit_reply(tx, (chat, old), edit, message, (exchange, fingerprint)).await;
            }
            Role::System => return Err(InvalidField::new("turn", MessageCode::NotEditable).into()),
        }
        // A reply that a person writes costs nothing.
        let budget = budget?;
        let message = keep_tool_results(&old, message);
        let leaving = (old.prev_turn_id, BranchOrigin::Edit, branch_name_after(&message.contents));
        let branch = self.sibling_branch(&mut tx, &chat, &old, &edit.place, leaving).await?;
        let parent = match old.prev_turn_id {
            Some(parent) => Some(turns::find(self.db(), owner, parent).await?.ok_or(ServiceError::NotFound)?),
            None => None,
        };
        let exchange = NewExchange {
            base: self.exchange_params(owner, &old).await?,
            request_id: edit.client_request_id,
            budget,
            ..NewExchange::new(exchange, owner, ExchangeKind::Edit, edit.params, fingerprint)
        };
        let place = TurnPlacement { parent, branch, ord: None, frozen: None };
        let user_turn = self.insert_user_turn(&mut tx, &chat, &place, message, exchange.id).await?;
        self.commit_exchange(tx, chat, place.branch, user_turn, exchange).await
    }

    /// Returns the result of an earlier request with the same idempotency key: the same turns, no second reply.
    pub(super) async fn repeated_exchange(
        &self,
        owner: UserId,
        earlier: KnownRequest,
    ) -> Result<AcceptedExchange, ServiceError> {
        let exchange = earlier.exchange;
        let turn = |id: Option<TurnId>| async move {
            match id {
                Some(id) => self.turn(owner, id).await,
                None => Err(ServiceError::NotFound),
            }
        };
        Ok(AcceptedExchange {
            chat: chats::find(self.db(), owner, exchange.chat_id).await?.ok_or(ServiceError::NotFound)?,
            user_turn: turn(exchange.user_turn_id).await?,
            assistant_turn: turn(earlier.assistant_turn_id).await?,
            branch: branches::find(self.db(), owner, exchange.branch_id).await?.ok_or(ServiceError::NotFound)?,
            exchange,
            is_new: false,
        })
    }

    /// Returns a turn with its locked chat, so that the turn exists as long as the transaction.
    async fn lock_chat_of_turn(&self, tx: &mut Tx, owner: UserId, id: TurnId) -> Result<(Chat, Turn), ServiceError> {
        let found = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let chat = self.lock_chat(tx, owner, found.chat_id).await?;
        // The turn may have been deleted while another transaction held the lock.
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok((chat, turn))
    }

    /// Returns the branch for a sibling of `old` below a parent, or for a reply to `old` itself, in a locked chat.
    pub(super) async fn sibling_branch(
        &self,
        tx: &mut Tx,
        chat: &Chat,
        old: &Turn,
        wanted: &PlacementRequest,
        (parent, origin, name): (Option<TurnId>, BranchOrigin, String),
    ) -> Result<Branch, ServiceError> {
        let source = branches::find(self.db(), chat.owner_id, old.branch_id).await?.ok_or(ServiceError::NotFound)?;
        self.check_sibling_room(tx, chat.id, parent).await?;
        let lock = match (&wanted.provider, &wanted.model) {
            (None, None) => {
                self.check_lock_available(chat.owner_id, &source.lock, parent)?;
                source.lock.clone()
            }
            _ => self.fork_lock(chat.owner_id, &source, wanted)?,
        };
        let leaving = BranchFork { id: ids::mint(), source: &source, from: parent, origin, lock, name };
        Ok(self.continue_or_fork(tx, chat, leaving).await?.0)
    }

    /// Stops a reply. Its ending is stored before this returns; a reply that has ended is not changed.
    pub async fn stop_turn(&self, owner: UserId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if turn.status.is_terminal() {
            return Ok(client_redaction::redact_turn(turn));
        }
        let _ = self.supervisor().stop_turn(id).await;
        // The reply may have ended in between, or it waits for a person and no run drives it.
        let now = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if !now.status.is_terminal() {
            let ended = self.supervisor().end_orphaned_turn(now).await;
            let stopped = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
            // The reply's own ending may have come first.
            return match ended {
                _ if stopped.status.is_terminal() => {
                    self.supervisor().publish_reply_ended(owner, stopped.chat_id);
                    Ok(client_redaction::redact_turn(stopped))
                }
                Ok(()) => Err(ServiceError::conflict("not_stopped", MessageCode::NotStopped)),
                Err(error) => Err(error.into()),
            };
        }
        Ok(client_redaction::redact_turn(now))
    }

    /// Returns the present state of a turn; of a running one the live state. Redacted for clients.
    pub async fn turn(&self, owner: UserId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = self.supervisor().present_turn(owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(client_redaction::redact_turn(turn))
    }
}
