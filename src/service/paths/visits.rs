//! Where a reader is: remembered for the chat and for each branch, so that every device opens a chat where it was left
//! and every version at the end that was read last.

use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, Invalid, TurnId, UserId};
use turnleaf_store::{branches, chats, turns};

impl Service {
    /// Remembers where the reader is: at this turn, on the path that goes through it.
    pub async fn set_last_viewed(&self, owner: UserId, chat: ChatId, turn: TurnId) -> Result<(), ServiceError> {
        let known = turns::find(self.db(), owner, turn).await?.is_some_and(|turn| turn.chat_id == chat);
        if !known {
            return Err(Invalid::new("turn_id", "no such turn in this chat").into());
        }
        let leaf = match turns::leaf_below(self.db(), owner, turn).await? {
            Some(leaf) => turns::find(self.db(), owner, leaf).await?,
            None => None,
        };
        let mut tx = self.db().begin().await?;
        chats::set_last_viewed(&mut tx, owner, chat, turn).await?;
        if let Some(leaf) = leaf {
            branches::visit(&mut tx, leaf.branch_id, self.clock().now()).await?;
        }
        Ok(tx.commit().await?)
    }

    /// The same for a path that is shown. Reading goes on where it cannot be remembered, such as on a full disk.
    pub async fn shown(&self, owner: UserId, chat: ChatId, leaf: TurnId) {
        if let Err(error) = self.set_last_viewed(owner, chat, leaf).await {
            tracing::warn!(%error, "where a reader is could not be remembered");
        }
    }
}
