//! Deleting the own account. It cannot be signed in to from the first moment on; its data follows as when everything is
//! deleted, and its row last. An interrupted deletion is completed by housekeeping.

use super::Actor;
use super::account_error::AccountError;
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, AuditVerb, MessageCode, UserId};
use turnleaf_platform::tasks;
use turnleaf_store::accounts::{invites, sessions, users};
use turnleaf_store::providers;
use turnleaf_store::tools::tool_servers;
use turnleaf_store::usage::ledger;

impl Service {
    /// Deletes the own account with everything that belongs to it. Its sessions, tokens, open connections, invitations
    /// and shared links end at once. The audit log keeps the id of the account, and no name.
    ///
    /// # Errors
    /// `password_needed`; `owner_account` for the owner, without whom nobody could administer the server;
    /// `import_running` and `deletion_running` as of [`Self::delete_everything`]. Nothing is deleted then.
    pub async fn delete_own_account(&self, account: UserId, actor: Actor) -> Result<(), AccountError> {
        let found = users::find(self.db(), account).await?.ok_or(ServiceError::NotFound)?;
        if found.role == AccountRole::Owner {
            return Err(AccountError::conflict("owner_account", MessageCode::NotOnOwner));
        }
        self.require_recent_password(actor).await?;
        // The import slot: while it is held, no import can start.
        let slot = self.deletion_slot(account)?;
        let mut tx = self.db().begin().await?;
        if !users::start_deletion(&mut tx, account, self.clock().now()).await? {
            return Err(AccountError::not_found());
        }
        sessions::delete_others(&mut tx, account, None).await?;
        invites::delete_open_of_maker(&mut tx, account).await?;
        self.record(&mut tx, actor, AuditVerb::DeleteAccount, "").await?;
        tx.commit().await?;
        self.accounts().credentials().revoke_account(account);
        self.silence_account(account).await;
        let service = self.clone();
        let deleting = tasks::spawn(async move {
            let _slot = slot;
            service.finish_account_deletion(account).await
        });
        // The person is gone, so that a failure is not theirs to repeat.
        match deleting.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%account, %error, "an account is deleted later"),
            Err(error) => tracing::error!(%account, %error, "deleting an account broke off; it is deleted later"),
        }
        Ok(())
    }

    /// Completes the deletions of accounts that broke off.
    pub async fn finish_account_deletions(&self) -> Result<(), ServiceError> {
        for account in users::list_deleted(self.db()).await? {
            if self.is_kept_for_identities(account).await? {
                continue;
            }
            // Otherwise its deletion is running.
            let Ok(_slot) = self.deletion_slot(account) else { continue };
            if let Err(error) = self.finish_account_deletion(account).await {
                tracing::warn!(%account, %error, "an account is deleted later");
            }
        }
        Ok(())
    }

    async fn finish_account_deletion(&self, account: UserId) -> Result<(), ServiceError> {
        self.delete_all_owned(account).await?;
        self.remove_own_connections(account).await?;
        let mut tx = self.db().begin().await?;
        self.keep_for_identities(&mut tx, account).await?;
        ledger::anonymize(&mut tx, account).await?;
        users::delete(&mut tx, account).await?;
        Ok(tx.commit().await?)
    }

    /// Ends the connections to the account's own providers, tool servers and search engine, with their keys.
    async fn remove_own_connections(&self, account: UserId) -> Result<(), ServiceError> {
        for row in providers::list(self.db(), account).await? {
            ignore_locked(self.drop_provider(account, None, &row.slug).await)?;
        }
        for row in tool_servers::list(self.db(), account).await? {
            ignore_locked(self.drop_tool_server(account, None, &row.slug).await)?;
        }
        ignore_locked(self.drop_web_search(account, None).await)?;
        self.supervisor().registry().set_default(account, None);
        Ok(())
    }
}

/// Ignores the refusal to remove a connection that the configuration hides: it is not in use, and its row goes with the
/// account.
fn ignore_locked(removed: Result<(), ServiceError>) -> Result<(), ServiceError> {
    match removed {
        Err(ServiceError::Conflict { .. }) => Ok(()),
        removed => removed,
    }
}
