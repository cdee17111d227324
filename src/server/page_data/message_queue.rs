//! The messages queued behind a path.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::{ComposedMessage, QueueView, QueuedMessageView};
use crate::domain::{TurnId, UserId};
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::locale::with_locale;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::queue::QueuedMessage;

impl PageService {
    /// Queues a message behind the reply that it names; returns the queue.
    pub async fn queue_message(&self, viewer: UserId, message: ComposedMessage) -> Result<QueueView, ApiError> {
        let request = self.turn_request(viewer, message).await?;
        let queued = self.0.queue_message(viewer, request).await.map_err(self.api_error())?;
        self.queue_view(viewer, queued.value.after_turn_id).await
    }

    /// Returns the queue behind the last turn of a path.
    pub(super) async fn queue_view(&self, viewer: UserId, leaf: TurnId) -> Result<QueueView, ApiError> {
        let queue = self.0.message_queue(viewer, leaf).await.map_err(self.api_error())?;
        if queue.messages.is_empty() {
            return Ok(QueueView::default());
        }
        let messages: Vec<_> = queue.messages.into_iter().map(|message| self.queued_message_view(message)).collect();
        let revs: Vec<_> = messages.iter().map(|message| (message.id, message.rev)).collect();
        Ok(QueueView { rev: hash_of(&(queue.is_paused, revs)).max(1), messages, is_paused: queue.is_paused })
    }

    fn queued_message_view(&self, message: QueuedMessage) -> QueuedMessageView {
        let mut texts: Vec<String> = Vec::new();
        let mut attached = 0_u64;
        for block in message.content {
            match block {
                MessageBlock::Text { text } => texts.push(text),
                _ => attached += 1,
            }
        }
        let refusal = message.coded_refusal.map(|reason| with_locale(self.1, || coded_sentence(&reason)));
        let text = texts.join("\n\n");
        let rev = hash_of(&(&text, attached, &refusal));
        QueuedMessageView { id: message.id, rev, text, attached, refusal }
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
