//! What pages say of chats beside their turns: which are being answered, which wait for somebody, how many tools are on.

use super::{PageService, api_error};
use crate::api::error::ApiError;
use crate::domain::{Branch, ChatId, UserId};

impl PageService {
    /// The viewer's chats in which a reply runs, and whether it waits for the viewer.
    pub async fn running_chats(&self, viewer: UserId) -> Result<Vec<(ChatId, bool)>, ApiError> {
        let mut running = self.0.supervisor().running_chats(viewer);
        let there = self.0.existing_chats(viewer, running.keys().copied()).await.map_err(api_error)?;
        running.retain(|chat, _| there.contains(chat));
        Ok(running.into_iter().collect())
    }

    /// How many tools a new chat gets; nothing where that is up to what a server has.
    pub(super) async fn new_chat_tool_count(&self, viewer: UserId) -> Result<Option<usize>, ApiError> {
        let choice = self.0.next_chat_tools(viewer).await.map_err(api_error)?;
        let is_known = !choice.on.iter().any(|name| name.ends_with("/*"));
        Ok(is_known.then_some(choice.on.len()))
    }

    /// How many tools a branch offers to its model.
    pub(super) async fn branch_tool_count(&self, viewer: UserId, branch: &Branch) -> Result<Option<usize>, ApiError> {
        self.0.offered_tool_count(viewer, branch.id).await.map_err(api_error)
    }
}
