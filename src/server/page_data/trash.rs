//! Deletes and restores parts of a chat, for pages.

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::ChatPage;
use crate::domain::{BranchId, ChatId, DeletionId, DeletionSummary, RestoreSummary, TurnId, UserId};
use turnleaf_service::ServiceError;

impl PageService {
    pub async fn delete_turn(&self, viewer: UserId, id: TurnId) -> Result<DeletionSummary, ApiError> {
        self.0.delete_turn(viewer, id).await.map_err(self.api_error())
    }

    pub async fn delete_branch(&self, viewer: UserId, id: BranchId) -> Result<DeletionSummary, ApiError> {
        self.0.delete_branch(viewer, id).await.map_err(self.api_error())
    }

    pub async fn prune_chat(&self, viewer: UserId, chat: ChatId, keep: TurnId) -> Result<DeletionSummary, ApiError> {
        self.0.prune_others(viewer, chat, keep).await.map_err(self.api_error())
    }

    pub async fn restore_deletion(&self, viewer: UserId, id: DeletionId) -> Result<RestoreSummary, ApiError> {
        self.0.restore_deletion(viewer, id).await.map_err(self.api_error())
    }

    /// Adds a restorable deletion of its chat to the page, so that it can offer to undo.
    pub async fn add_deletion(&self, viewer: UserId, mut page: ChatPage, id: DeletionId) -> Result<ChatPage, ApiError> {
        let deletion = match self.0.deletion(viewer, id).await {
            Err(ServiceError::NotFound) => return Ok(page),
            deletion => deletion.map_err(self.api_error())?,
        };
        let is_of_it = page.chat.as_ref().is_some_and(|chat| chat.id == deletion.chat_id);
        page.deleted = is_of_it.then_some((id, deletion.turns));
        Ok(page)
    }

    pub async fn count_below(&self, viewer: UserId, id: TurnId) -> Result<u64, ApiError> {
        self.0.count_turns_below(viewer, id).await.map_err(self.api_error())
    }
}
