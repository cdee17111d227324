//! Publishing what use cases change of an account, after the commit (`run::change_feed`).

use crate::Service;
use turnleaf_domain::{AccountChange, ChatId, UserId};

impl Service {
    /// Publishes a change.
    pub(crate) fn publish_change(&self, owner: UserId, change: AccountChange) {
        self.supervisor().changes().publish(owner, change);
    }

    /// Publishes a change of a chat that the list of chats does not show.
    pub(crate) fn publish_chat(&self, owner: UserId, chat_id: ChatId) {
        self.publish_change(owner, AccountChange::ChatChanged { chat_id });
    }

    /// Publishes a change of a chat that the list of chats shows as well.
    pub(crate) fn publish_listed_chat(&self, owner: UserId, chat_id: ChatId) {
        let changes = [AccountChange::ChatChanged { chat_id }, AccountChange::ChatListChanged];
        self.supervisor().changes().publish_all(owner, changes);
    }
}
