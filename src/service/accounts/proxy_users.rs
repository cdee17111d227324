//! People whom a reverse proxy authenticates and names. A name belongs to the account that it was first used with: one of
//! that name, or a new one if the configuration allows that. A proxy makes neither owners nor administrators.

use std::net::IpAddr;

use chrono::{DateTime, Utc};
use unicode_normalization::UnicodeNormalization;

use super::Actor;
use super::account_error::AccountError;
use super::account_names::name_key;
use super::credential_cache::{AuthenticatedCredential, CredentialId, CredentialKey, CredentialKind, LoadedCredential};
use super::credentials::CHECKS;
use super::identities::PROXY_ISSUER;
use super::identity_use::IdentityUse;
use super::secrets::secret_hash;
use crate::Service;
use turnleaf_domain::{AuditVerb, IdentityId, UserId, limits};
use turnleaf_store::StoreError;
use turnleaf_store::accounts::identities::{self, IdentityKey};
use turnleaf_store::accounts::users::{self, StoredAccount};
use turnleaf_store::database::db::Tx;

/// A person as a proxy names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyUser {
    pub name: String,
    /// The person's groups. Those that are mapped make the account a member of groups here.
    pub groups: Vec<String>,
}

impl ProxyUser {
    /// Returns the key in the cache. Other groups are another key, so that they are stored once they change.
    fn key(&self) -> CredentialKey {
        let hash = secret_hash(&format!("{PROXY_ISSUER}\n{}\n{}", self.name, self.groups.join("\n")));
        CredentialKey { hash, kind: CredentialKind::ProxyUser }
    }

    /// Returns whether an account has this name, in whatever case. One that only looks like it is somebody else's.
    fn has_name_of(&self, account: &StoredAccount) -> bool {
        let folded = |name: &str| name.nfc().flat_map(char::to_lowercase).collect::<String>();
        folded(&self.name) == folded(&account.name)
    }
}

impl Service {
    /// Returns the account of a person whom a proxy names; `None` if there is none for them, or it is disabled.
    pub async fn authenticate_proxy_user(
        &self,
        named: &ProxyUser,
        creates_accounts: bool,
        address: IpAddr,
    ) -> Result<Option<AuthenticatedCredential>, AccountError> {
        let (cache, key, now) = (self.accounts().credentials(), named.key(), self.clock().now());
        let actor = Actor { address: Some(address), ..Actor::default() };
        for _ in 0..CHECKS {
            if let Some(found) = cache.find(key, now) {
                return Ok(Some(found));
            }
            let loaded = match self.load_proxy_user(named, creates_accounts, actor).await {
                // The first requests of a person come at once, and one of them makes the account.
                Err(AccountError::Wait { .. }) => continue,
                loaded => loaded?,
            };
            let Some((loaded, revision)) = loaded else { return Ok(None) };
            if let Some(found) = cache.insert(key, loaded, revision, now) {
                return Ok(Some(found));
            }
        }
        Err(StoreError::Busy("sessions are being ended".into()).into())
    }

    /// Stores the groups of a person, and returns their credential with the revision that the cache has unless something
    /// was revoked meanwhile.
    async fn load_proxy_user(
        &self,
        named: &ProxyUser,
        creates_accounts: bool,
        actor: Actor,
    ) -> Result<Option<(LoadedCredential, u64)>, AccountError> {
        let key = IdentityKey { issuer: PROXY_ISSUER, subject: &named.name };
        let cache = self.accounts().credentials();
        let mut revision = cache.revision();
        let mut tx = self.db().begin().await?;
        let mut found = identities::find(&mut tx, key).await?;
        if found.is_none() {
            self.add_proxy_user(&mut tx, named, creates_accounts, actor).await?;
            // Also if nothing was added: a concurrent request of the same person may have added the name meanwhile.
            found = identities::find(&mut tx, key).await?;
        }
        let Some(found) = found.filter(|found| !found.is_disabled) else { return Ok(None) };
        let used = IdentityUse { service: PROXY_ISSUER, issuer: PROXY_ISSUER, email: None, groups: &named.groups };
        let actor = Actor { user: Some(found.owner), ..actor };
        let has_other_groups = self.record_identity_use(&mut tx, actor, (found.owner, found.id), used).await?;
        self.commit_identity_use(tx, has_other_groups).await?;
        if has_other_groups {
            // A request with the former groups has other ones again, and stores them.
            cache.revoke_proxy_user(found.id);
            revision += 1;
        }
        let loaded = self.load_proxy_identity(found.owner, found.id, self.clock().now()).await?;
        Ok(loaded.map(|loaded| (loaded, revision)))
    }

    /// Adds a name to the account that has it, or makes an account for it, if either is allowed.
    async fn add_proxy_user(
        &self,
        tx: &mut Tx,
        named: &ProxyUser,
        creates_accounts: bool,
        actor: Actor,
    ) -> Result<(), AccountError> {
        let key = IdentityKey { issuer: PROXY_ISSUER, subject: &named.name };
        let account = users::find_by_name(self.db(), &name_key(&named.name)).await?;
        let Some(account) = account.filter(|account| named.has_name_of(account)) else {
            if creates_accounts {
                let names = std::slice::from_ref(&named.name);
                self.create_identity_account(tx, actor, key, names).await?;
            }
            return Ok(());
        };
        users::lock(tx, account.id).await?;
        // Otherwise a person who takes the name of another one would share that account with them.
        let is_taken = identities::count_of_issuer(tx, account.id, PROXY_ISSUER).await? > 0;
        if is_taken || account.disabled_at.is_some() {
            return Ok(());
        }
        if self.add_identity(tx, account.id, key).await?.is_none() {
            return Err(AccountError::busy());
        }
        let actor = Actor { user: Some(account.id), ..actor };
        Ok(self.record(tx, actor, AuditVerb::LinkIdentity, PROXY_ISSUER).await?)
    }

    /// Returns the credential of an identity, unless that was removed or its account is disabled.
    pub(super) async fn load_proxy_identity(
        &self,
        user: UserId,
        id: IdentityId,
        now: DateTime<Utc>,
    ) -> Result<Option<LoadedCredential>, StoreError> {
        let valid = identities::find_valid(self.db(), user, id).await?;
        Ok(valid.map(|valid| LoadedCredential {
            user,
            role: valid.role,
            id: CredentialId::ProxyUser(id),
            // Their factors are the proxy's.
            pending: None,
            // The proxy decides for how long.
            expires_at: now + limits::SESSION_KEPT,
            stored_use: Some(valid.last_used_at),
        }))
    }
}
