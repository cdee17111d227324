//! Disabled accounts: they call neither models nor tools. Replies that run are stopped, and queued messages wait for their
//! person, who sends them once the account is enabled again.

use crate::{Service, ServiceError};
use turnleaf_domain::{UserId, limits};
use turnleaf_store::accounts::users;

impl Service {
    /// Lets calls follow the disabling of an account, which is stored, and stops its replies. A failure does not undo the
    /// disabling: [`Self::watch_credentials`] repeats both.
    pub(super) async fn silence_account(&self, account: UserId) {
        self.follow_rights().await;
        self.stop_replies(account).await;
    }

    /// Lets calls follow a change of accounts that is stored.
    pub(super) async fn follow_rights(&self) {
        if let Err(error) = self.load_rights().await {
            tracing::warn!(%error, "the rights of accounts could not be read; they are read again soon");
        }
    }

    /// Stops the replies of accounts that the command line has disabled.
    pub(super) async fn stop_replies_of_disabled_accounts(&self) -> Result<(), ServiceError> {
        for account in users::list_disabled(self.db()).await? {
            self.stop_replies(account).await;
        }
        Ok(())
    }

    /// Stops the replies of an account, also those that wait for its person.
    async fn stop_replies(&self, account: UserId) {
        for live in self.supervisor().live_turns_of(account) {
            let turn = live.with_turn(|turn| turn.id);
            match tokio::time::timeout(limits::STOP_TIME, self.stop_turn(account, turn)).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(%account, %turn, %error, "a reply could not be stopped"),
                Err(_) => tracing::warn!(%account, %turn, "a reply could not be stopped in time"),
            }
        }
    }
}
