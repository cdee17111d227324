//! Deleting a part of a chat and bringing it back, for pages.

use super::{Pages, api_error};
use crate::api::error::ApiError;
use crate::domain::{BranchId, ChatId, Deleted, DeletionId, Restored, TurnId, UserId};

impl Pages {
    pub async fn delete_turn(&self, viewer: UserId, id: TurnId) -> Result<Deleted, ApiError> {
        self.0.delete_turn(viewer, id).await.map_err(api_error)
    }

    pub async fn delete_branch(&self, viewer: UserId, id: BranchId) -> Result<Deleted, ApiError> {
        self.0.delete_branch(viewer, id).await.map_err(api_error)
    }

    pub async fn prune_others(&self, viewer: UserId, chat: ChatId, keep: TurnId) -> Result<Deleted, ApiError> {
        self.0.prune_others(viewer, chat, keep).await.map_err(api_error)
    }

    pub async fn restore_deletion(&self, viewer: UserId, id: DeletionId) -> Result<Restored, ApiError> {
        self.0.restore_deletion(viewer, id).await.map_err(api_error)
    }

    pub async fn count_below(&self, viewer: UserId, id: TurnId) -> Result<u64, ApiError> {
        self.0.count_below(viewer, id).await.map_err(api_error)
    }
}
