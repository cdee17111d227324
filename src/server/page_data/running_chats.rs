//! Data of chats besides their turns: running and unread replies, replies that wait for a person, and numbers of
//! enabled tools.

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::PolledStatus;
use crate::domain::{Branch, ChatId, UserId};

impl PageService {
    /// Returns the viewer's chats with a running reply, each with whether the reply waits for the viewer.
    pub async fn running_chats(&self, viewer: UserId) -> Result<Vec<(ChatId, bool)>, ApiError> {
        let mut running = self.0.supervisor().running_chats(viewer);
        let existing = self.0.existing_chats(viewer, running.keys().copied()).await.map_err(self.api_error())?;
        running.retain(|chat, _| existing.contains(chat));
        Ok(running.into_iter().collect())
    }

    /// Returns the viewer's unread chats, after marking the one that is on screen as read.
    async fn unread_chats(&self, viewer: UserId, showing: Option<ChatId>) -> Result<Vec<ChatId>, ApiError> {
        let mut unread = self.0.unread_chats(viewer).await.map_err(self.api_error())?;
        if let Some(showing) = showing.filter(|showing| unread.contains(showing)) {
            self.0.mark_chat_read(viewer, showing).await;
            unread.retain(|chat| *chat != showing);
        }
        Ok(unread)
    }

    /// Returns the status that every open page polls. `showing` is the chat that is on screen, `build` the name of the
    /// server's build.
    pub async fn status(
        &self,
        viewer: UserId,
        showing: Option<ChatId>,
        build: String,
    ) -> Result<PolledStatus, ApiError> {
        let running = self.running_chats(viewer).await?;
        let unread = self.unread_chats(viewer, showing).await?;
        let waiting = running.iter().filter(|(_, waits)| *waits).count();
        let imports = self.0.count_new_imports(viewer).await.map_err(self.api_error())?;
        Ok(PolledStatus {
            notifications: waiting + unread.len() + imports,
            running,
            unread,
            models_rev: self.models_rev(viewer),
            draft_rev: self.new_draft_rev(viewer).await?,
            build,
        })
    }

    /// Marks a chat whose reply ended on screen as read.
    pub async fn mark_chat_read(&self, viewer: UserId, chat: ChatId) {
        self.0.mark_chat_read(viewer, chat).await;
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
