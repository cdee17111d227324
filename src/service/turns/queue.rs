//! Queued messages: written while a reply is generated, and sent in order once it is complete. The queue belongs to the
//! reply at the end of a path, and moves on with every reply that continues the path or replaces a failed one. After a
//! reply that was stopped or failed nothing is sent by itself. The task that sends is in [`sender`].

mod sender;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::idempotency::Created;
use crate::turns::TurnRequest;
use crate::turns::messages::{self, MessageBlock};
use crate::turns::placement::PlacementRequest;
use crate::{Service, ServiceError};
use turnleaf_domain::{
    AccountChange, ChatId, CodedMessage, InvalidField, MessageCode, ModelParams, QueuedMessageId, Role, Turn, TurnId,
    TurnStatus, UserId, limits,
};
use turnleaf_platform::{ids, tasks};
use turnleaf_store::chats::drafts;
use turnleaf_store::turns::queued_messages::{self, NewQueuedMessage, StoredQueuedMessage};
use turnleaf_store::{StoreError, branches, turns};

/// The state of a queued message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueuedMessageState {
    /// It waits for the reply and for the messages before it.
    Waiting,
    /// It could not be sent: edit it, send it again, or cancel it.
    Refused,
    Sent,
}

/// A message that is sent when a reply is complete.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct QueuedMessage {
    pub id: QueuedMessageId,
    pub chat_id: ChatId,
    /// The reply after which it is sent. It changes when the path continues before that.
    pub after_turn_id: TurnId,
    pub state: QueuedMessageState,
    /// The place in the queue, from 1; absent once it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Empty once it was sent.
    pub content: Vec<MessageBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub params: ModelParams,
    /// Why it could not be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The refusal with its code.
    #[serde(skip)]
    pub coded_refusal: Option<CodedMessage>,
    /// The message that it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// The queue at the end of a path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MessageQueue {
    pub messages: Vec<QueuedMessage>,
    /// Nothing is sent by itself: the reply was stopped or failed, or the first message was refused.
    pub is_paused: bool,
}

/// A change of a queued message. Absent parts stay.
#[derive(Debug, Clone, Default)]
pub struct QueuedMessageChange {
    pub content: Option<Vec<MessageBlock>>,
    /// Replaces the text and keeps the attachments.
    pub text: Option<String>,
    /// The new place in the queue, from 1; a place behind the end is the end.
    pub position: Option<u32>,
}

/// The stored request, with what the message needs to be sent later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct QueuedRequest {
    content: Vec<MessageBlock>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default)]
    may_branch: bool,
    #[serde(default)]
    params: ModelParams,
}

impl QueuedRequest {
    /// Reads a stored request. An unreadable one has no content, which is refused when it is sent.
    fn read(stored: &StoredQueuedMessage) -> Self {
        stored.request.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    fn to_text(&self) -> Result<String, ServiceError> {
        serde_json::to_string(self).map_err(|_| InvalidField::new("content", MessageCode::IsUnknown).into())
    }
}

impl Service {
    /// Queues a message behind `place.prev_turn_id`, or behind the end of the path below it if that has grown
    /// meanwhile. If the reply there is complete, it is sent at once.
    pub async fn queue_message(
        &self,
        owner: UserId,
        request: TurnRequest,
    ) -> Result<Created<QueuedMessage>, ServiceError> {
        request.params.validate()?;
        let after = request.place.prev_turn_id.ok_or_else(must_follow_reply)?;
        let fields = json!({
            "new": "queued_message",
            "after": after,
            "content": request.content,
            "takes_attachments": request.takes_attachments,
            "provider": request.place.provider,
            "model": request.place.model,
            "may_branch": request.place.may_branch,
            "params": request.params,
        });
        let name = request.client_request_id.clone();
        if let Some(made) = self.find_created(owner, name.as_deref(), &fields).await? {
            return self.earlier_queued_message(owner, &made).await;
        }
        let turn = turns::find(self.db(), owner, after).await?.ok_or(ServiceError::NotFound)?;
        let request = TurnRequest { chat_id: Some(turn.chat_id), ..request };
        let blocks = self.blocks_to_send(owner, &request).await?;
        self.resolve_references(owner, messages::check_blocks(blocks.clone())?, &[]).await?;
        self.check_wanted_model(owner, &turn, &request.place).await?;
        let stored = QueuedRequest {
            content: blocks,
            provider: request.place.provider,
            model: request.place.model,
            may_branch: request.place.may_branch,
            params: request.params,
        };
        let stored = stored.to_text()?;
        self.check_growth(owner, stored.len() as u64).await?;
        let (mut tx, id) = (self.db().begin().await?, ids::mint::<QueuedMessageId>());
        if let Some(made) = self.claim_request(&mut tx, owner, name.as_deref(), fields, id).await? {
            tx.rollback().await?;
            return self.earlier_queued_message(owner, &made).await;
        }
        let chat = self.lock_chat(&mut tx, owner, turn.chat_id).await?;
        let reply = self.last_reply_of_path(owner, after).await?;
        let waiting = queued_messages::list(self.db(), owner, reply).await?;
        if waiting.len() >= limits::QUEUED_MESSAGES {
            let message = MessageCode::QueueFull.with("most", limits::QUEUED_MESSAGES);
            return Err(ServiceError::conflict("queue_full", message));
        }
        let ord = waiting.last().map_or(0, |last| last.ord + 1);
        let new = NewQueuedMessage { id, chat_id: chat.id, after_turn_id: reply, ord, request: &stored };
        let now = self.clock().now();
        queued_messages::insert(&mut tx, owner, &new, now).await?;
        let clears_draft = !request.keeps_draft;
        if clears_draft {
            drafts::clear(&mut tx, owner, Some(chat.id), now).await?;
        }
        let service = self.clone();
        // Detached: a client may disconnect during the commit, and while nothing is queued only this wakes the sender.
        let commit = tasks::spawn(async move {
            let committed = tx.commit().await;
            service.queue_wake().notify_one();
            if clears_draft {
                let chat_id = Some(turn.chat_id);
                service.publish_change(owner, AccountChange::DraftChanged { chat_id, rev: None });
            }
            service.publish_chat(owner, turn.chat_id);
            committed
        });
        commit.await.map_err(|_| StoreError::Gone("the message"))??;
        self.note_growth(owner, stored.len() as u64).await;
        Ok(Created::new(self.queued_message(owner, id).await?))
    }

    /// Returns a queued message, also one that was sent.
    pub async fn queued_message(&self, owner: UserId, id: QueuedMessageId) -> Result<QueuedMessage, ServiceError> {
        let stored = queued_messages::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let position = match stored.turn_id {
            Some(_) => None,
            None => {
                let queue = queued_messages::list(self.db(), owner, stored.after_turn_id).await?;
                queue.iter().position(|other| other.id == id)
            }
        };
        Ok(shown(stored, position))
    }

    /// Returns the messages that wait behind this turn, in order.
    pub async fn queued_messages(&self, owner: UserId, after: TurnId) -> Result<Vec<QueuedMessage>, ServiceError> {
        turns::find(self.db(), owner, after).await?.ok_or(ServiceError::NotFound)?;
        self.waiting_messages(owner, after).await
    }

    /// Returns the queue at the end of a path.
    pub async fn message_queue(&self, owner: UserId, leaf: TurnId) -> Result<MessageQueue, ServiceError> {
        let messages = self.waiting_messages(owner, leaf).await?;
        let Some(first) = messages.first() else { return Ok(MessageQueue::default()) };
        let reply = self.supervisor().present_turn(owner, leaf).await?;
        let is_broken_off = reply.is_some_and(|turn| matches!(turn.status, TurnStatus::Cancelled | TurnStatus::Error));
        let is_paused = is_broken_off || first.state == QueuedMessageState::Refused;
        Ok(MessageQueue { messages, is_paused })
    }

    async fn waiting_messages(&self, owner: UserId, after: TurnId) -> Result<Vec<QueuedMessage>, ServiceError> {
        let waiting = queued_messages::list(self.db(), owner, after).await?;
        Ok(waiting.into_iter().enumerate().map(|(at, stored)| shown(stored, Some(at))).collect())
    }

    /// Edits a queued message, or moves it.
    pub async fn change_queued_message(
        &self,
        owner: UserId,
        id: QueuedMessageId,
        change: QueuedMessageChange,
    ) -> Result<QueuedMessage, ServiceError> {
        if change.position == Some(0) {
            let reason = MessageCode::TooSmall.with("least", 1);
            return Err(InvalidField::new("position", reason).into());
        }
        let before = self.waiting_message(owner, id).await?;
        let old = QueuedRequest::read(&before);
        let content = match (change.content, change.text) {
            (Some(content), _) => Some(content),
            (None, Some(text)) => Some(with_text(old.content.clone(), text)),
            (None, None) => None,
        };
        let request = match content {
            Some(content) => {
                self.resolve_references(owner, messages::check_blocks(content.clone())?, &[]).await?;
                Some(QueuedRequest { content, ..old }.to_text()?)
            }
            None => None,
        };
        if let Some(request) = &request {
            self.check_growth(owner, request.len() as u64).await?;
        }
        let (mut tx, now) = (self.db().begin().await?, self.clock().now());
        self.lock_chat(&mut tx, owner, before.chat_id).await?;
        // It may have been sent meanwhile, or its queue has moved on.
        let present = self.waiting_message(owner, id).await?;
        if let Some(request) = &request
            && !queued_messages::set_request(&mut tx, owner, id, request, now).await?
        {
            return Err(ServiceError::queued_message_sent());
        }
        if let Some(position) = change.position {
            let mut queue = queued_messages::list(self.db(), owner, present.after_turn_id).await?;
            queue.retain(|other| other.id != id);
            let place = usize::try_from(position - 1).unwrap_or(usize::MAX).min(queue.len());
            queue.insert(place, present);
            for (ord, message) in (0..).zip(&queue) {
                if message.ord != ord {
                    queued_messages::set_ord(&mut tx, owner, message.id, ord, now).await?;
                }
            }
        }
        tx.commit().await?;
        self.queue_wake().notify_one();
        self.publish_chat(owner, before.chat_id);
        self.queued_message(owner, id).await
    }

    /// Cancels a message that was not sent.
    pub async fn cancel_queued_message(&self, owner: UserId, id: QueuedMessageId) -> Result<(), ServiceError> {
        let queued = self.waiting_message(owner, id).await?;
        let mut tx = self.db().begin().await?;
        self.lock_chat(&mut tx, owner, queued.chat_id).await?;
        if !queued_messages::delete(&mut tx, owner, id).await? {
            // It was sent, or another request has cancelled it.
            tx.rollback().await?;
            return self.waiting_message(owner, id).await.map(drop);
        }
        tx.commit().await?;
        // The next one may be free to go.
        self.queue_wake().notify_one();
        self.publish_chat(owner, queued.chat_id);
        Ok(())
    }

    /// Returns the message that an earlier request with the same idempotency key queued, in its present state.
    async fn earlier_queued_message(&self, owner: UserId, made: &str) -> Result<Created<QueuedMessage>, ServiceError> {
        let made = made.parse().map_err(|_| ServiceError::NotFound)?;
        Ok(Created::existing(self.queued_message(owner, made).await?))
    }

    /// Returns a message that was not sent.
    async fn waiting_message(&self, owner: UserId, id: QueuedMessageId) -> Result<StoredQueuedMessage, ServiceError> {
        let stored = queued_messages::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if stored.turn_id.is_some() {
            return Err(ServiceError::queued_message_sent());
        }
        Ok(stored)
    }

    /// Returns the reply at the end of the path through a turn, in a locked chat.
    async fn last_reply_of_path(&self, owner: UserId, turn: TurnId) -> Result<TurnId, ServiceError> {
        let end = turns::leaf_below(self.db(), owner, turn).await?.ok_or(ServiceError::NotFound)?;
        let end = turns::find(self.db(), owner, end).await?.ok_or(ServiceError::NotFound)?;
        if end.role == Role::Assistant { Ok(end.id) } else { Err(must_follow_reply().into()) }
    }

    /// Checks the model that a request names, if it names one.
    async fn check_wanted_model(
        &self,
        owner: UserId,
        turn: &Turn,
        wanted: &PlacementRequest,
    ) -> Result<(), ServiceError> {
        if wanted.provider.is_none() && wanted.model.is_none() {
            return Ok(());
        }
        let source = branches::find(self.db(), owner, turn.branch_id).await?.ok_or(ServiceError::NotFound)?;
        self.fork_lock(owner, &source, wanted).map(drop)
    }
}

fn must_follow_reply() -> InvalidField {
    InvalidField::new("prev_turn_id", MessageCode::MustFollowReply)
}

/// Returns a stored message with its place in the queue, from 0.
fn shown(stored: StoredQueuedMessage, place: Option<usize>) -> QueuedMessage {
    let request = QueuedRequest::read(&stored);
    let state = match (&stored.turn_id, &stored.refusal) {
        (Some(_), _) => QueuedMessageState::Sent,
        (None, Some(_)) => QueuedMessageState::Refused,
        (None, None) => QueuedMessageState::Waiting,
    };
    QueuedMessage {
        id: stored.id,
        chat_id: stored.chat_id,
        after_turn_id: stored.after_turn_id,
        state,
        position: place.and_then(|place| u32::try_from(place + 1).ok()),
        content: request.content,
        provider: request.provider,
        model: request.model,
        params: request.params,
        refusal: stored.refusal.as_ref().map(CodedMessage::to_string),
        coded_refusal: stored.refusal,
        turn_id: stored.turn_id,
        created_at: stored.created_at,
        updated_at: stored.updated_at,
    }
}

/// Replaces the text of a message and keeps its attachments, which may be all of it.
fn with_text(mut content: Vec<MessageBlock>, text: String) -> Vec<MessageBlock> {
    content.retain(|block| !matches!(block, MessageBlock::Text { .. }));
    if content.is_empty() || !text.trim().is_empty() {
        content.push(MessageBlock::Text { text });
    }
    content
}

/// Returns why a message cannot be sent as it is; `None` for a reason that passes by itself.
fn lasting_refusal(error: &ServiceError) -> Option<CodedMessage> {
    match error {
        ServiceError::Conflict { code: "turn_running" | "queued_message_sent", .. } => None,
        ServiceError::Conflict { message, .. }
        | ServiceError::Forbidden { message, .. }
        | ServiceError::Unfit { message, .. } => Some(message.clone()),
        ServiceError::Invalid(invalid) => Some(invalid.reason.clone()),
        ServiceError::TooLarge { limit, .. } => Some(limit.clone()),
        ServiceError::Storage(refusal) => Some((*refusal).into()),
        ServiceError::BudgetExhausted(budget) => Some(budget.refusal()),
        ServiceError::Store(StoreError::Full) => Some(MessageCode::DiskFull.into()),
        ServiceError::NotFound | ServiceError::TooManyRunning | ServiceError::Store(_) => None,
    }
}
