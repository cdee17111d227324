//! The list of chats, the position of a chat in it, and notices for people without chats.

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::{ChatListItem, ChatListView, ComposerNotice, ProjectLink};
use crate::domain::chats::chat::ChatListHeading;
use crate::domain::{ChatId, UserId, limits};
use turnleaf_service::chats::ChatChange;
use turnleaf_service::projects::NamedProject;

impl PageService {
    /// Returns the pinned and the newest chats, and the projects that were used last.
    pub async fn chat_list(&self, viewer: UserId, minutes: i32) -> Result<ChatListView, ApiError> {
        let projects = self.0.recent_projects(viewer).await.map_err(self.api_error())?;
        let link = |project: NamedProject| ProjectLink {
            id: project.id,
            name: project.name,
            color: project.color.as_str().to_owned(),
        };
        let chats = self.list_chats(viewer, None, minutes).await?;
        Ok(ChatListView { projects: projects.into_iter().map(link).collect(), chats })
    }

    /// Returns the pinned and the newest chats, or those after one of them. `minutes` is the reader's offset behind
    /// UTC.
    pub async fn list_chats(
        &self,
        viewer: UserId,
        behind: Option<ChatId>,
        minutes: i32,
    ) -> Result<Vec<ChatListItem>, ApiError> {
        let (mut pinned, chats) = match behind {
            Some(behind) => (Vec::new(), self.0.chats_after(viewer, behind, limits::LISTED_CHATS).await),
            None => {
                let pinned = self.0.pinned_chats(viewer).await.map_err(self.api_error())?;
                (pinned, self.0.newest_chats(viewer, limits::LISTED_CHATS).await)
            }
        };
        pinned.extend(chats.map_err(self.api_error())?);
        let running = self.0.supervisor().running_chats(viewer);
        let now = self.0.supervisor().clock().now();
        Ok(pinned
            .into_iter()
            .map(|chat| ChatListItem {
                id: chat.id,
                title: chat.title,
                updated_at: chat.updated_at,
                heading: match chat.pinned_at {
                    Some(_) => ChatListHeading::Pinned,
                    None => ChatListHeading::from_change_time(chat.updated_at, now, minutes),
                },
                running: chat.running,
                needs_you: running.get(&chat.id).is_some_and(|waits| *waits),
                has_draft: chat.has_draft,
                unread: chat.unread,
            })
            .collect())
    }

    pub async fn place_chat(
        &self,
        viewer: UserId,
        id: ChatId,
        pinned: Option<bool>,
        archived: Option<bool>,
        unread: Option<bool>,
    ) -> Result<(), ApiError> {
        let change = ChatChange { pinned, archived, unread, ..ChatChange::default() };
        self.0.change_chat(viewer, id, change).await.map(drop).map_err(self.api_error())
    }

    /// Returns notices about found local servers, for people who have no chat yet.
    pub(super) async fn found_server_notices(&self, viewer: UserId) -> Result<Vec<ComposerNotice>, ApiError> {
        let found = self.0.local_servers(viewer).await.map_err(self.api_error())?;
        if found.is_empty() || !self.0.list_chats(viewer, 1).await.map_err(self.api_error())?.is_empty() {
            return Ok(Vec::new());
        }
        let notices = found.into_iter().map(|server| {
            let has_models = !server.models.is_empty();
            ComposerNotice::FoundLocally { name: server.name, address: server.address, has_models }
        });
        Ok(notices.collect())
    }
}
