//! The present state of a chat, polled by pages that show it already.

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::{PolledChat, RunningReply};
use crate::domain::text::excerpt::first_words;
use crate::domain::{ChatId, TurnId, UserId};

/// The number of characters of a message whose reply runs on another path of the chat.
const ALSO_CHARS: usize = 40;

impl PageService {
    pub async fn chat_glance(
        &self,
        viewer: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
        (draft_rev, queue_rev): (i64, Option<u64>),
    ) -> Result<PolledChat, ApiError> {
        let is_on_path = leaf.is_some();
        let (chat, leaf) = self.0.chat_with_leaf(viewer, id, leaf).await.map_err(self.api_error())?;
        // The revision is checked first, because a draft may be long and is rarely newer.
        let is_newer = self.0.draft_rev(viewer, Some(id)).await.map_err(self.api_error())? > draft_rev;
        let draft = if is_newer { self.0.draft(viewer, Some(id)).await.map_err(self.api_error())? } else { None };
        let draft = match draft {
            Some(draft) => Some(self.draft_view(viewer, Some(draft)).await?),
            None => None,
        };
        let queue = match (queue_rev, leaf) {
            (Some(rev), Some(leaf)) => Some(self.queue_view(viewer, leaf).await?).filter(|queue| queue.rev != rev),
            _ => None,
        };
        // A page that follows no reply counts all running ones.
        let running = self.running_elsewhere(id, leaf.filter(|_| is_on_path)).len();
        let leaves = self.0.leaf_count(viewer, id).await.map_err(self.api_error())?;
        let models_rev = self.models_rev(viewer);
        Ok(PolledChat { rev: chat.rev, running, title: chat.title, leaf, leaves, draft, queue, models_rev })
    }

    /// Returns the revision of the new chat's draft.
    pub async fn new_draft_rev(&self, viewer: UserId) -> Result<i64, ApiError> {
        self.0.draft_rev(viewer, None).await.map_err(self.api_error())
    }

    /// Returns a hash that changes whenever the selectable models or the default change. It is stable across
    /// restarts.
    pub fn models_rev(&self, viewer: UserId) -> u64 {
        self.0.supervisor().registry().models_fingerprint(viewer)
    }

    /// Returns the running replies on other paths. A page follows the reply of its own path, and only needs to know
    /// when the others begin and end.
    fn running_elsewhere(&self, id: ChatId, leaf: Option<TurnId>) -> Vec<TurnId> {
        self.0.supervisor().running_turns_in(id).into_iter().filter(|turn| Some(*turn) != leaf).collect()
    }

    /// Returns the running replies on other paths with their names.
    pub(super) async fn also_running(&self, viewer: UserId, id: ChatId, leaf: Option<TurnId>) -> Vec<RunningReply> {
        let mut all = Vec::new();
        for turn_id in self.running_elsewhere(id, leaf) {
            // A reply that is being deleted is skipped.
            let Ok(reply) = self.0.turn(viewer, turn_id).await else { continue };
            let message = match reply.prev_turn_id {
                Some(message) => self.0.turn(viewer, message).await.ok(),
                None => None,
            };
            let words = message.map(|message| first_words(&message.content_text(), ALSO_CHARS)).unwrap_or_default();
            all.push(RunningReply { turn_id, model: reply.model_used, words });
        }
        all
    }
}
