//! The change feed of accounts (`run::change_feed`): following it, and publishing what use cases change, after the
//! commit.

use crate::Service;
use turnleaf_domain::{AccountChange, ChatId, UserId};
use turnleaf_run::change_feed::ChangeFollower;

impl Service {
    /// Follows the changes of an account after a number, if those since are known, else from now on.
    pub fn follow_changes(&self, owner: UserId, after: Option<u64>) -> ChangeFollower {
        let models = self.supervisor().registry().models_fingerprint(owner);
        self.supervisor().changes().follow(owner, after, models)
    }

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
