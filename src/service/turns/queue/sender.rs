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
use turnleaf_domain::{ChatId, CodedMessage, ExchangeKind, MessageCode, QueuedMessageId, TurnStatus, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_store::StoreError;
use turnleaf_store::turns::queued_messages::{self, StoredQueuedMessage};

/// The outcome of one attempt to send a due message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DueOutcome {
    Sent,
    /// It was refused, or is no longer due.
    Settled,
    /// It could not be sent for a passing reason.
    Waits,
}

/// When the due messages are looked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextRound {
    /// More is due than one round sends.
    AtOnce,
    /// After a while, or once woken: something could not be sent for a passing reason.
    Soon,
    /// When a reply has ended or a queue has changed.
    OnceWoken,
    /// When a queue has changed: nothing is queued.
    OnceQueued,
}

impl Service {
    /// Sends what is queued, now and whenever a reply has ended or a queue has changed. Never returns.
    pub async fn drive_queues(self) {
        let mut endings = self.supervisor().subscribe_endings();
        loop {
            let next = self.send_due_messages().await;
            let woken = async {
                tokio::select! {
                    _ = endings.changed() => {}
                    () = self.queue_wake().notified() => {}
                }
            };
            match next {
                NextRound::AtOnce => {}
                NextRound::Soon => {
                    let _ = tokio::time::timeout(limits::QUEUE_RETRY, woken).await;
                }
                NextRound::OnceWoken => woken.await,
                NextRound::OnceQueued => self.queue_wake().notified().await,
            }
        }
    }

    /// Sends a queued message now, before those that are queued in front of it.
    pub async fn send_queued_message(
        &self,
        owner: UserId,
        id: QueuedMessageId,
    ) -> Result<AcceptedExchange, ServiceError> {
        let queued = self.waiting_message(owner, id).await?;
        let (tried, chat) = (queued.request.clone(), queued.chat_id);
        let sent = self.dispatch_queued(owner, queued, true).await;
        let Err(error) = &sent else { return sent };
        let Some(reason) = self.record_refusal(owner, (id, chat), tried, error).await? else { return sent };
        match sent {
            Err(
                ServiceError::Forbidden { .. }
                | ServiceError::Storage(_)
                | ServiceError::BudgetExhausted(_)
                | ServiceError::Store(_),
            ) => sent,
            _ => Err(ServiceError::conflict("queued_message_refused", reason)),
        }
    }

    /// Sends the first message of every queue that may go. Returns when to do so again.
    async fn send_due_messages(&self) -> NextRound {
        if !self.supervisor().has_room() {
            return NextRound::Soon;
        }
        let due = match queued_messages::list_due(self.db(), limits::QUEUED_AT_ONCE).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "the queued messages could not be read");
                return NextRound::Soon;
            }
        };
        if due.is_empty() {
            // Replies of a server on which nothing is queued end without a query.
            return match queued_messages::is_any_waiting(self.db()).await {
                Ok(false) => NextRound::OnceQueued,
                Ok(true) | Err(_) => NextRound::OnceWoken,
            };
        }
        let is_rest_due = !u32::try_from(due.len()).is_ok_and(|count| count < limits::QUEUED_AT_ONCE);
        let (mut is_any_sent, mut does_any_wait) = (false, false);
        for (owner, id) in due {
            if !self.supervisor().has_room() {
                return NextRound::Soon;
            }
            match self.send_due_message(owner, id).await {
                DueOutcome::Sent => is_any_sent = true,
                DueOutcome::Settled => {}
                DueOutcome::Waits => does_any_wait = true,
            }
        }
        // Without progress, the same messages would be tried again and again.
        if is_rest_due && is_any_sent {
            NextRound::AtOnce
        } else if is_rest_due || does_any_wait {
            NextRound::Soon
        } else {
            NextRound::OnceWoken
        }
    }

    /// Sends one message by itself.
    async fn send_due_message(&self, owner: UserId, id: QueuedMessageId) -> DueOutcome {
        let queued = match self.waiting_message(owner, id).await {
            Ok(queued) => queued,
            // It was deleted, cancelled or sent meanwhile.
            Err(ServiceError::NotFound | ServiceError::Conflict { .. }) => return DueOutcome::Settled,
            Err(error) => {
                tracing::warn!(message = %id, %error, "a queued message could not be read");
                return DueOutcome::Waits;
            }
        };
        let (tried, chat) = (queued.request.clone(), queued.chat_id);
        let service = self.clone();
        // A task of its own, so that a panic does not end the sending of all messages.
        let sent = tasks::spawn(async move { service.dispatch_queued(owner, queued, false).await });
        let error = match sent.await {
            Ok(Ok(_)) => return DueOutcome::Sent,
            // It was deleted, cancelled or sent meanwhile, or the next reply has begun.
            Ok(Err(
                ServiceError::NotFound | ServiceError::Conflict { code: "turn_running" | "queued_message_sent", .. },
            )) => return DueOutcome::Settled,
            Ok(Err(error)) => error,
            Err(_) => {
                tracing::error!(message = %id, "sending a queued message panicked");
                return DueOutcome::Waits;
            }
        };
        match self.record_refusal(owner, (id, chat), tried, &error).await {
            Ok(Some(_)) => DueOutcome::Settled,
            Ok(None) => {
                tracing::info!(message = %id, %error, "a queued message has to wait");
                DueOutcome::Waits
            }
            Err(error) => {
                tracing::warn!(message = %id, %error, "the refusal of a queued message could not be saved");
                DueOutcome::Waits
            }
        }
    }

    /// Records why a message cannot be sent as it is, so that it waits for a person; not if it was edited since it was
    /// `tried`. Returns the reason, if it is one that does not pass by itself.
    async fn record_refusal(
        &self,
        owner: UserId,
        (id, chat): (QueuedMessageId, ChatId),
        tried: Option<String>,
        error: &ServiceError,
    ) -> Result<Option<CodedMessage>, StoreError> {
        let Some(reason) = lasting_refusal(error) else { return Ok(None) };
        if let Some(request) = tried {
            let mut tx = self.db().begin().await?;
            queued_messages::refuse(&mut tx, owner, id, &request, &reason).await?;
            tx.commit().await?;
            self.publish_chat(owner, chat);
        }
        Ok(Some(reason))
    }

    /// Sends a message in one transaction with its leaving of the queue. Everything about it is checked again. One that
    /// nobody has asked for just now must still be the first, behind a complete reply.
    async fn dispatch_queued(
        &self,
        owner: UserId,
        mut queued: StoredQueuedMessage,
        is_asked_for: bool,
    ) -> Result<AcceptedExchange, ServiceError> {
        let id = queued.id;
        loop {
            if !self.supervisor().has_room() {
                return Err(ServiceError::TooManyRunning);
            }
            self.check_growth(owner, 0).await?;
            let budget = self.reserve_budget(owner).await?;
            let request = QueuedRequest::read(&queued);
            // Whatever can be read before, is: all other writers wait for the transaction.
            let message = self.queued_content(owner, &request).await?;
            let mut tx = self.db().begin().await?;
            let chat = self.lock_chat(&mut tx, owner, queued.chat_id).await?;
            // It may have been edited, moved on or sent meanwhile.
            let present = self.waiting_message(owner, id).await?;
            if present != queued {
                tx.rollback().await?;
                queued = present;
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
            let fingerprint = request_hash(json!({ "queued": id }));
            let exchange = NewExchange {
                moves_queue_of: Some(queued.after_turn_id),
                sends_queued: Some(id),
                moves_reader: is_asked_for,
                budget,
                ..NewExchange::new(ids::mint(), owner, ExchangeKind::Send, request.params, fingerprint)
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
