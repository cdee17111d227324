//! Unread chats: those in which a reply ended that was not read since. A chat is read when one of its pages is opened,
//! or is open on screen, on any device.

use crate::{Service, ServiceError};
use turnleaf_domain::{AccountChange, ChatId, UserId, limits};
use turnleaf_store::chats::unread_replies;

impl Service {
    /// Returns the chats with unread replies.
    pub async fn unread_chats(&self, owner: UserId) -> Result<Vec<ChatId>, ServiceError> {
        Ok(unread_replies::list_chats(self.db(), owner, limits::PAGE_MAX).await?)
    }

    /// Returns whether this chat has unread replies.
    pub async fn is_chat_unread(&self, owner: UserId, chat: ChatId) -> Result<bool, ServiceError> {
        Ok(unread_replies::is_chat_unread(self.db(), owner, chat).await?)
    }

    /// Marks a chat that is on screen as read. Failures are only logged: reading continues where nothing can be stored,
    /// such as on a full disk.
    pub async fn mark_chat_read(&self, owner: UserId, chat: ChatId) {
        let marked = async {
            if self.is_chat_unread(owner, chat).await? {
                let mut tx = self.db().begin().await?;
                unread_replies::delete_of_chat(&mut tx, owner, chat).await?;
                tx.commit().await?;
                self.publish_change(owner, AccountChange::UnreadChanged);
            }
            Ok::<_, ServiceError>(())
        };
        if let Err(error) = marked.await {
            tracing::warn!(%error, "a chat could not be marked as read");
        }
    }
}
