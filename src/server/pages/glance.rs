//! How a chat stands at this moment, for pages that show it already.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Pages, api_error};
use crate::api::error::ApiError;
use crate::api::view::ChatGlance;
use crate::domain::{ChatId, TurnId, UserId};

impl Pages {
    pub async fn glance(
        &self,
        viewer: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
        draft_rev: i64,
    ) -> Result<ChatGlance, ApiError> {
        let is_on_path = leaf.is_some();
        let (chat, leaf) = self.0.chat_with_leaf(viewer, id, leaf).await.map_err(api_error)?;
        let draft = self.0.draft(viewer, Some(id)).await.map_err(api_error)?.filter(|draft| draft.rev > draft_rev);
        let draft = match draft {
            Some(draft) => Some(self.draft_view(viewer, Some(draft)).await?),
            None => None,
        };
        // A page that follows no reply is told of every one.
        let running = self.running_elsewhere(id, leaf.filter(|_| is_on_path));
        let leaves = self.0.leaves(viewer, id).await.map_err(api_error)?;
        Ok(ChatGlance { rev: chat.rev, running, title: chat.title, leaf, leaves, draft, models_rev: self.models_rev() })
    }

    /// Another number whenever other models can be chosen, or another is the default, after a restart too.
    pub fn models_rev(&self) -> u64 {
        let registry = self.0.supervisor().registry();
        let mut hasher = DefaultHasher::new();
        registry.known().len().hash(&mut hasher);
        for models in [registry.models(), registry.models_with_hidden()] {
            // What crosses to the page is what tells them apart there.
            serde_json::to_string(&models).unwrap_or_default().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// A reply on the page's own path is followed; of the others the page is to know when they begin and end.
    pub(super) fn running_elsewhere(&self, id: ChatId, leaf: Option<TurnId>) -> usize {
        self.0.supervisor().running_in(id).into_iter().filter(|turn| Some(*turn) != leaf).count()
    }
}
