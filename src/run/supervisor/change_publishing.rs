//! Publishing what runs change of an account.

use super::Supervisor;
use crate::change_feed::ChangeFeed;
use turnleaf_domain::{AccountChange, ChatId, UserId};

impl Supervisor {
    /// Returns the feed that changes are told to after their commit.
    pub fn changes(&self) -> &ChangeFeed {
        &self.0.changes
    }

    /// Publishes that a reply in this chat has begun.
    pub(super) fn publish_reply_started(&self, owner: UserId, chat_id: ChatId) {
        let changes = [AccountChange::ChatChanged { chat_id }, AccountChange::ChatListChanged];
        self.changes().publish_all(owner, changes);
    }

    /// Publishes that a reply in this chat has ended. It is unread then.
    pub fn publish_reply_ended(&self, owner: UserId, chat_id: ChatId) {
        self.publish_reply_started(owner, chat_id);
        self.changes().publish(owner, AccountChange::UnreadChanged);
    }

    /// Publishes that a reply in this chat waits for a person, or no longer does.
    pub(crate) fn publish_reply_wait(&self, owner: UserId, chat_id: ChatId) {
        self.publish_reply_started(owner, chat_id);
        self.changes().publish(owner, AccountChange::NotificationsChanged);
    }
}
