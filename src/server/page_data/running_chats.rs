//! Data of chats besides their turns: running replies, replies that wait for a person, and numbers of enabled tools.

use super::PageService;
use crate::api::error::ApiError;
use crate::domain::{Branch, ChatId, UserId};

impl PageService {
    /// Returns the viewer's chats with a running reply, each with whether the reply waits for the viewer.
    pub async fn running_chats(&self, viewer: UserId) -> Result<Vec<(ChatId, bool)>, ApiError> {
        let mut running = self.0.supervisor().running_chats(viewer);
        let existing = self.0.existing_chats(viewer, running.keys().copied()).await.map_err(self.api_error())?;
        running.retain(|chat, _| existing.contains(chat));
        Ok(running.into_iter().collect())
    }

    /// Returns the number of tools of a new chat; `None` when it includes all tools of a server, whose number can
    /// change.
    pub(super) async fn new_chat_tool_count(&self, viewer: UserId) -> Result<Option<usize>, ApiError> {
        let choice = self.0.next_chat_tools(viewer).await.map_err(self.api_error())?;
        let is_known = !choice.on.iter().any(|name| name.ends_with("/*"));
        Ok(is_known.then_some(choice.on.len()))
    }

    /// Returns the number of tools that a branch offers to its model.
    pub(super) async fn branch_tool_count(&self, viewer: UserId, branch: &Branch) -> Result<Option<usize>, ApiError> {
        self.0.offered_tool_count(viewer, branch.id).await.map_err(self.api_error())
    }
}
