//! The cache of checked sessions and tokens, so that a request costs no query. The end of one in this process removes
//! it from the cache at once. Open connections hold a [`Revocation`] and end with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use turnleaf_domain::{AccountRole, ApiTokenId, IdentityId, PendingStep, SessionId, TokenScopes, UserId, limits};

/// The time for which a checked credential counts without another check.
const CHECK_COUNTS: Duration = limits::CREDENTIAL_RECHECK.saturating_mul(2);

/// The key of a credential: the hash of its secret, or of the name that a proxy sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CredentialKey {
    pub hash: [u8; 32],
    pub kind: CredentialKind,
}

/// The kind of credential whose hash the key contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CredentialKind {
    Session,
    Token,
    ProxyUser,
}

/// A valid credential with its account.
#[derive(Debug, Clone)]
pub struct AuthenticatedCredential {
    pub user: UserId,
    pub role: AccountRole,
    pub id: CredentialId,
    /// The step before which it opens nothing else.
    pub pending: Option<PendingStep>,
    pub revocation: Revocation,
}

/// The kind of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialId {
    Session(SessionId),
    Token {
        id: ApiTokenId,
        scopes: TokenScopes,
    },
    /// A name that a proxy vouches for.
    ProxyUser(IdentityId),
}

/// Notifies open connections when the credential that they were opened with is no longer valid. The default never does.
#[derive(Debug, Clone, Default)]
pub struct Revocation(Arc<CancellationToken>);

impl Revocation {
    /// Waits until the credential is no longer valid.
    pub async fn revoked(&self) {
        self.0.cancelled().await;
    }

    pub fn is_revoked(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns whether a connection or a request holds it beside the cache.
    fn is_held(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

/// A valid credential as it is stored.
pub(super) struct LoadedCredential {
    pub user: UserId,
    pub role: AccountRole,
    pub id: CredentialId,
    pub pending: Option<PendingStep>,
    pub expires_at: DateTime<Utc>,
    pub stored_use: Option<DateTime<Utc>>,
}

struct CachedCredential {
    loaded: LoadedCredential,
    used_at: DateTime<Utc>,
    /// `None` if it has to be read again, because something that it depends on has changed.
    checked: Option<Instant>,
    revocation: Revocation,
}

impl CachedCredential {
    fn authenticated(&self) -> AuthenticatedCredential {
        let LoadedCredential { user, role, id, pending, .. } = self.loaded;
        AuthenticatedCredential { user, role, id, pending, revocation: self.revocation.clone() }
    }

    /// Takes over what was read again. A step that was not pending before ends the open connections, which would go on
    /// beside it.
    fn replace(&mut self, loaded: LoadedCredential) {
        if loaded.pending.is_some() && self.loaded.pending.is_none() {
            std::mem::take(&mut self.revocation).0.cancel();
        }
        self.loaded = loaded;
        self.checked = Some(Instant::now());
    }

    /// Returns whether the last use is to be stored.
    fn is_use_due(&self) -> bool {
        let stored = self.loaded.stored_use;
        stored.is_none_or(|stored| self.used_at - stored >= limits::CREDENTIAL_USE_STORED_EVERY)
    }
}

#[derive(Default)]
struct CachedCredentials {
    by_key: HashMap<CredentialKey, CachedCredential>,
    /// Rises with each revocation and each such change. A credential that was read before may be the revoked one.
    revision: u64,
}

/// The cache of checked credentials.
#[derive(Default)]
pub(super) struct CredentialCache(Mutex<CachedCredentials>);

impl CredentialCache {
    fn lock(&self) -> MutexGuard<'_, CachedCredentials> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a credential that was checked lately, and notes the use.
    pub(super) fn find(&self, key: CredentialKey, now: DateTime<Utc>) -> Option<AuthenticatedCredential> {
        let mut cached = self.lock();
        let entry = cached.by_key.get_mut(&key)?;
        let is_checked = entry.checked.is_some_and(|checked| checked.elapsed() < CHECK_COUNTS);
        if entry.loaded.expires_at <= now || !is_checked {
            return None;
        }
        entry.used_at = now;
        Some(entry.authenticated())
    }

    pub(super) fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// Adds a credential that was read at this revision; `None` if something was revoked since.
    pub(super) fn insert(
        &self,
        key: CredentialKey,
        loaded: LoadedCredential,
        revision: u64,
        now: DateTime<Utc>,
    ) -> Option<AuthenticatedCredential> {
        let mut cached = self.lock();
        if cached.revision != revision {
            return None;
        }
        if let Some(known) = cached.by_key.get_mut(&key) {
            known.replace(loaded);
            known.used_at = now;
            return Some(known.authenticated());
        }
        cached.make_room();
        let revocation = Revocation::default();
        let entry = CachedCredential { loaded, used_at: now, checked: Some(Instant::now()), revocation };
        let authenticated = entry.authenticated();
        cached.by_key.insert(key, entry);
        Some(authenticated)
    }

    /// Forgets the credentials that were not used for long, and returns the others with their accounts.
    pub(super) fn credentials_in_use(&self, now: DateTime<Utc>) -> Vec<(CredentialKey, UserId, CredentialId)> {
        let mut cached = self.lock();
        let is_in_use =
            |entry: &CachedCredential| entry.revocation.is_held() || now - entry.used_at < limits::CREDENTIAL_CACHED;
        cached.by_key.retain(|_, entry| is_in_use(entry));
        cached.by_key.iter().map(|(key, entry)| (*key, entry.loaded.user, entry.loaded.id)).collect()
    }

    /// Notes that a credential is still valid, as it was read at this revision. Returns the account, the credential and its
    /// last use if that is to be stored.
    pub(super) fn confirm(
        &self,
        key: CredentialKey,
        loaded: LoadedCredential,
        revision: u64,
    ) -> Option<(UserId, CredentialId, DateTime<Utc>)> {
        let mut cached = self.lock();
        // A credential that was read before a change is read again at the next use.
        let is_current = cached.revision == revision;
        let entry = cached.by_key.get_mut(&key)?;
        if is_current {
            entry.replace(loaded);
        }
        entry.is_use_due().then_some((entry.loaded.user, entry.loaded.id, entry.used_at))
    }

    /// Lets the credentials of an account, or all, be read again at their next use, after something that they depend on has
    /// changed in the database or in the configuration.
    pub(super) fn expire_checks(&self, of: Option<UserId>) {
        let mut cached = self.lock();
        cached.revision += 1;
        let entries = cached.by_key.values_mut().filter(|entry| of.is_none_or(|user| entry.loaded.user == user));
        entries.for_each(|entry| entry.checked = None);
    }

    /// Ends the credentials that fit, with their open connections.
    fn revoke_where(&self, fits: impl Fn(&CredentialKey, &LoadedCredential) -> bool) {
        let mut cached = self.lock();
        cached.revision += 1;
        cached.by_key.retain(|key, entry| {
            let is_revoked = fits(key, &entry.loaded);
            if is_revoked {
                entry.revocation.0.cancel();
            }
            !is_revoked
        });
    }

    /// Ends all sessions and tokens of an account, after they were ended in the database.
    pub(super) fn revoke_account(&self, user: UserId) {
        self.revoke_where(|_, loaded| loaded.user == user);
    }

    /// Ends all sessions of an account except one.
    pub(super) fn revoke_other_sessions(&self, user: UserId, kept: Option<SessionId>) {
        let is_other = |id: CredentialId| matches!(id, CredentialId::Session(id) if Some(id) != kept);
        self.revoke_where(|_, loaded| loaded.user == user && is_other(loaded.id));
    }

    /// Ends a credential that the database no longer accepts.
    pub(super) fn revoke_key(&self, key: CredentialKey) {
        self.revoke_where(|other, _| *other == key);
    }

    pub(super) fn revoke_session(&self, session: SessionId) {
        self.revoke_where(|_, loaded| loaded.id == CredentialId::Session(session));
    }

    /// Ends what is cached for a person whom a proxy names, with whatever groups.
    pub(super) fn revoke_proxy_user(&self, identity: IdentityId) {
        self.revoke_where(|_, loaded| loaded.id == CredentialId::ProxyUser(identity));
    }

    pub(super) fn revoke_token(&self, token: ApiTokenId) {
        self.revoke_where(|_, loaded| matches!(loaded.id, CredentialId::Token { id, .. } if id == token));
    }
}

impl CachedCredentials {
    /// Keeps the number of credentials within its bound: the one that was not used for the longest time is removed,
    /// unless a connection is open with it.
    fn make_room(&mut self) {
        if self.by_key.len() < limits::CREDENTIALS_CACHED {
            return;
        }
        let free = self.by_key.iter().filter(|(_, entry)| !entry.revocation.is_held());
        if let Some(oldest) = free.min_by_key(|(_, entry)| entry.used_at).map(|(key, _)| *key) {
            self.by_key.remove(&oldest);
        }
    }
}
