//! Sending queued messages: a background task of the server sends the first of each queue whose reply is complete. A
//! message leaves its queue in the transaction that stores its turn, so that it is sent exactly once, however often the
//! server is killed. What can be sent follows from the stored rows alone; the task is only woken.

use serde_json::json;

use super::{QueuedRequest, lasting_refusal};
use crate::idempotency::request_hash;
use crate::turns::exchanges::{AcceptedExchange, NewExchange};
use crate::turns::messages::{self, UserMessage};
use crate::turns::placement::PlacementRequest;
use crate::{Service, ServiceError};
use turnleaf_domain::{
    CodedMessage, ExchangeKind, MessageCode, ModelParams, QueuedMessageId, TurnStatus, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_store::StoreError;
use turnleaf_store::queued_messages;

impl Service {
    /// Sends what is queued, now and whenever a reply has ended or a queue has changed. Never returns.
    pub async fn drive_queues(self) {
        let mut endings = self.supervisor().subscribe_endings();
        loop {
            let is_done = self.send_due_messages().await;
            let woken = async {
                tokio::select! {
                    _ = endings.changed() => {}
                    () = self.queue_wake().notified() => {}
                }
            };
            if is_done {
                woken.await;
            } else {
                let _ = tokio::time::timeout(limits::QUEUE_RETRY, woken).await;
            }
        }
    }

    /// Sends a queued message now, before those that are queued in front of it.
    pub async fn send_queued_message(
        &self,
        owner: UserId,
        id: QueuedMessageId,
    ) -> Result<AcceptedExchange, ServiceError> {
        let sent = self.dispatch_queued(owner, id, true).await;
        let Err(error) = &sent else { return sent };
        let Some(reason) = self.record_refusal(owner, id, error).await? else { return sent };
        match sent {
            Err(ServiceError::Storage(_) | ServiceError::Store(_)) => sent,
            _ => Err(ServiceError::conflict("queued_message_refused", reason)),
        }
    }

    /// Sends the first message of every queue that may go. Returns whether nothing is left that could be sent soon.
    async fn send_due_messages(&self) -> bool {
        let due = match queued_messages::list_due(self.db(), limits::QUEUED_AT_ONCE).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "the queued messages could not be read");
                return false;
            }
        };
        let mut is_done = u32::try_from(due.len()).is_ok_and(|count| count < limits::QUEUED_AT_ONCE);
        for (owner, id) in due {
            is_done &= self.send_due_message(owner, id).await;
        }
        is_done
    }

    /// Sends one message by itself. Returns false if it should be tried again.
    async fn send_due_message(&self, owner: UserId, id: QueuedMessageId) -> bool {
        let service = self.clone();
        // A task of its own, so that a panic does not end the sending of all messages.
        let sent = tasks::spawn(async move { service.dispatch_queued(owner, id, false).await });
        let error = match sent.await {
            Ok(Ok(_)) => return true,
            // It was deleted, cancelled or sent meanwhile, or the next reply has begun.
            Ok(Err(
                ServiceError::NotFound | ServiceError::Conflict { code: "turn_running" | "queued_message_sent", .. },
            )) => return true,
            Ok(Err(error)) => error,
            Err(_) => {
                tracing::error!(message = %id, "sending a queued message panicked");
                return false;
            }
        };
        match self.record_refusal(owner, id, &error).await {
            Ok(Some(_)) => true,
            Ok(None) => {
                tracing::info!(message = %id, %error, "a queued message has to wait");
                false
            }
            Err(error) => {
                tracing::warn!(message = %id, %error, "the refusal of a queued message could not be saved");
                false
            }
        }
    }

    /// Records why a message cannot be sent as it is, so that it waits for a person. Returns the reason, if it is one
    /// that does not pass by itself.
    async fn record_refusal(
        &self,
        owner: UserId,
        id: QueuedMessageId,
        error: &ServiceError,
    ) -> Result<Option<CodedMessage>, StoreError> {
        let Some(reason) = lasting_refusal(error) else { return Ok(None) };
        let stored = queued_messages::find(self.db(), owner, id).await?;
        if let Some(request) = stored.and_then(|stored| stored.request) {
            let mut tx = self.db().begin().await?;
            queued_messages::refuse(&mut tx, owner, id, &request, &reason).await?;
            tx.commit().await?;
        }
        Ok(Some(reason))
    }

    /// Sends a message in one transaction with its leaving of the queue. Everything about it is checked again. One that
    /// nobody has asked for just now must still be the first, behind a complete reply.
    async fn dispatch_queued(
        &self,
        owner: UserId,
        id: QueuedMessageId,
        is_asked_for: bool,
    ) -> Result<AcceptedExchange, ServiceError> {
        loop {
            let queued = self.waiting_message(owner, id).await?;
            if !self.supervisor().has_room() {
                return Err(ServiceError::TooManyRunning);
            }
            self.check_growth(owner, 0).await?;
            let request = QueuedRequest::read(&queued);
            // Whatever can be read before, is: all other writers wait for the transaction.
            let message = self.queued_content(owner, &request).await?;
            let mut tx = self.db().begin().await?;
            let chat = self.lock_chat(&mut tx, owner, queued.chat_id).await?;
            // It may have been edited, moved on or sent meanwhile.
            if self.waiting_message(owner, id).await? != queued {
                tx.rollback().await?;
                continue;
            }
            let wanted = PlacementRequest {
                prev_turn_id: Some(queued.after_turn_id),
                provider: request.provider,
                model: request.model,
                may_branch: request.may_branch,
                ..PlacementRequest::default()
            };
            let place = self.place_user_turn(&mut tx, &chat, &wanted, &message.contents).await?;
            if !is_asked_for {
                let queue = queued_messages::list(self.db(), owner, queued.after_turn_id).await?;
                let is_first = queue.first().is_some_and(|first| first.id == id && first.refusal.is_none());
                let is_answered = place.parent.as_ref().is_some_and(|reply| reply.status == TurnStatus::Complete);
                if !is_first || !is_answered {
                    tx.rollback().await?;
                    return Err(ServiceError::earlier_reply_running());
                }
            }
            let exchange = NewExchange {
                id: ids::mint(),
                owner,
                kind: ExchangeKind::Send,
                params: request.params,
                base: ModelParams::default(),
                sends_draft_of: None,
                moves_queue_of: Some(queued.after_turn_id),
                sends_queued: Some(id),
                moves_reader: is_asked_for,
                request_id: None,
                opening: None,
                fingerprint: request_hash(json!({ "queued": id })),
            };
            let user_turn = self.insert_user_turn(&mut tx, &chat, &place, message, exchange.id).await?;
            self.check_unanswered(&mut tx, &user_turn).await?;
            return self.commit_exchange(tx, chat, place.branch, user_turn, exchange).await;
        }
    }

    /// Builds the content of a message. What it names may have been deleted since it was queued.
    async fn queued_content(&self, owner: UserId, request: &QueuedRequest) -> Result<UserMessage, ServiceError> {
        let blocks = messages::check_blocks(request.content.clone())?;
        match self.resolve_references(owner, blocks, &[]).await {
            Err(ServiceError::NotFound) => Err(ServiceError::conflict("attached_gone", MessageCode::AttachedGone)),
            message => message,
        }
    }
}
