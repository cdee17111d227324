//! How a chat stands at this moment, for pages that show it already.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{PageService, api_error};
use crate::api::error::ApiError;
use crate::api::view::{PolledChat, RunningReply};
use crate::domain::excerpt::first_words;
use crate::domain::{ChatId, TurnId, UserId};

/// Characters of the message whose reply is being written elsewhere in the chat.
const ALSO_CHARS: usize = 40;

impl PageService {
    pub async fn chat_glance(
        &self,
        viewer: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
        draft_rev: i64,
    ) -> Result<PolledChat, ApiError> {
        let is_on_path = leaf.is_some();
        let (chat, leaf) = self.0.chat_with_leaf(viewer, id, leaf).await.map_err(api_error)?;
        // Nearly always there is nothing newer, and a draft may be long.
        let is_newer = self.0.draft_rev(viewer, Some(id)).await.map_err(api_error)? > draft_rev;
        let draft = if is_newer { self.0.draft(viewer, Some(id)).await.map_err(api_error)? } else { None };
        let draft = match draft {
            Some(draft) => Some(self.draft_view(viewer, Some(draft)).await?),
            None => None,
        };
        // A page that follows no reply is told of every one.
        let running = self.running_elsewhere(id, leaf.filter(|_| is_on_path)).len();
        let leaves = self.0.leaf_count(viewer, id).await.map_err(api_error)?;
        Ok(PolledChat { rev: chat.rev, running, title: chat.title, leaf, leaves, draft, models_rev: self.models_rev() })
    }

    /// Which draft of the new chat is the newest.
    pub async fn new_draft_rev(&self, viewer: UserId) -> Result<i64, ApiError> {
        self.0.draft_rev(viewer, None).await.map_err(api_error)
    }

    /// Another number whenever other models can be chosen, or another is the default, after a restart too.
    pub fn models_rev(&self) -> u64 {
        let registry = self.0.supervisor().registry();
        let mut hasher = DefaultHasher::new();
        registry.known_endpoints().len().hash(&mut hasher);
        for models in [registry.models(), registry.models_with_hidden()] {
            // What crosses to the page is what tells them apart there.
            serde_json::to_string(&models).unwrap_or_default().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// A reply on the page's own path is followed; of the others the page is to know when they begin and end.
    fn running_elsewhere(&self, id: ChatId, leaf: Option<TurnId>) -> Vec<TurnId> {
        self.0.supervisor().running_turns_in(id).into_iter().filter(|turn| Some(*turn) != leaf).collect()
    }

    /// The same with what each is called.
    pub(super) async fn also_running(&self, viewer: UserId, id: ChatId, leaf: Option<TurnId>) -> Vec<RunningReply> {
        let mut all = Vec::new();
        for turn_id in self.running_elsewhere(id, leaf) {
            // Deleted at this moment: it is stopped.
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
