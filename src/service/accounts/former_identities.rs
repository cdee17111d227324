//! Identities of deleted accounts. A person who deletes the account and signs in again would begin with new budgets. So an
//! account without a name keeps what was spent in the running month, and the budgets that were the account's own, for the
//! hashes of its identities. An account that gets one of these identities takes both over.

use chrono::{DateTime, Utc};

use super::secrets::secret_hash;
use crate::Service;
use turnleaf_domain::{AccountRole, BudgetKind, BudgetTarget, IdentityId, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_store::StoreError;
use turnleaf_store::accounts::identities::{self, IdentityKey};
use turnleaf_store::accounts::users::{self, AccountNames};
use turnleaf_store::database::db::Tx;
use turnleaf_store::usage::{budgets, ledger};

/// The issuer of the hashes. No identity provider has it, because it is no address.
const FORMER_ISSUER: &str = "former";

impl Service {
    /// Adds an identity to an account, with what is kept for it since an account of it was deleted. Returns `None` if it
    /// belongs to an account already.
    pub(super) async fn add_identity(
        &self,
        tx: &mut Tx,
        owner: UserId,
        key: IdentityKey<'_>,
    ) -> Result<Option<IdentityId>, StoreError> {
        let (id, now): (IdentityId, _) = (ids::mint(), self.clock().now());
        if !identities::insert(tx, owner, (id, key), now).await? {
            return Ok(None);
        }
        let hash = identity_hash(key);
        if let Some(former) = identities::find(tx, IdentityKey { issuer: FORMER_ISSUER, subject: &hash }).await? {
            identities::delete(tx, former.owner, former.id).await?;
            move_spending(tx, (former.owner, owner), now).await?;
        }
        Ok(Some(id))
    }

    /// Keeps for the identities of an account what was spent in this month and its own budgets, in the transaction that
    /// deletes it.
    pub(super) async fn keep_for_identities(&self, tx: &mut Tx, account: UserId) -> Result<(), StoreError> {
        let keys = identities::keys(tx, account, FORMER_ISSUER).await?;
        if keys.is_empty() {
            return Ok(());
        }
        let (former, now): (UserId, _) = (ids::mint(), self.clock().now());
        // Only until the next statement, which removes it.
        let name = former.to_string();
        users::insert(tx, former, AccountNames { name: &name, key: &name }, AccountRole::User, None, now).await?;
        users::start_deletion(tx, former, now).await?;
        for (issuer, subject) in &keys {
            let hash = identity_hash(IdentityKey { issuer, subject });
            let key = IdentityKey { issuer: FORMER_ISSUER, subject: &hash };
            identities::insert(tx, former, (ids::mint(), key), now).await?;
        }
        move_spending(tx, (account, former), now).await
    }

    /// Returns whether a deleted account is one that is kept for identities: for the month of the deletion, and with
    /// budgets of its own for as long as the audit log knows of it.
    pub(super) async fn is_kept_for_identities(&self, account: UserId) -> Result<bool, StoreError> {
        let identities = identities::list(self.db(), account).await?;
        let former = identities.iter().filter(|identity| identity.issuer == FORMER_ISSUER);
        let Some(deleted_at) = former.map(|identity| identity.created_at).max() else { return Ok(false) };
        let now = self.clock().now();
        if deleted_at >= BudgetKind::MonthCost.begins_at(now) {
            return Ok(true);
        }
        let stored = budgets::list_for_account(self.db(), account).await?;
        let own = BudgetTarget::Account(account);
        let has_own = stored.budgets.iter().any(|budget| budget.target == own) || stored.unreadable.contains(&own);
        Ok(has_own && now - deleted_at < limits::AUDIT_KEPT)
    }
}

/// Returns the hash of an identity, by which it is known without being named.
fn identity_hash(key: IdentityKey<'_>) -> String {
    let hash = secret_hash(&format!("{}\n{}", key.issuer, key.subject));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Moves the spending of the running month and the budgets from one account to another, which keeps the budgets that it
/// has.
async fn move_spending(tx: &mut Tx, (from, to): (UserId, UserId), now: DateTime<Utc>) -> Result<(), StoreError> {
    ledger::move_to(tx, (from, to), BudgetKind::MonthCost.begins_at(now)).await?;
    budgets::move_to(tx, (from, to)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuer_and_subject_are_told_apart() {
        let hash = |issuer, subject| identity_hash(IdentityKey { issuer, subject });
        assert_eq!(hash("https://id.example", "1"), hash("https://id.example", "1"));
        assert_eq!(hash("https://id.example", "1").len(), 64);
        assert_ne!(hash("https://id.example", "1"), hash("https://id.example", "2"));
        assert_ne!(hash("https://id.example", "1"), hash("https://id.example\n1", ""));
    }
}
