//! The sessions and tokens that requests present: each is looked up once and cached then. The command line works beside
//! the server, so all that are in use are compared with the database at an interval, too.

use chrono::{DateTime, Utc};

use super::credential_cache::{AuthenticatedCredential, CredentialId, CredentialKey, CredentialKind, LoadedCredential};
use super::secrets::secret_hash;
use crate::{Service, ServiceError};
use turnleaf_domain::accounts::account::API_TOKEN_PREFIX;
use turnleaf_domain::limits;
use turnleaf_store::StoreError;
use turnleaf_store::accounts::{api_tokens, identities, sessions};

/// The longest secret that is looked up; ours are shorter.
const SECRET_BYTES: usize = 128;
/// The checks of one request that may find that something was revoked meanwhile.
pub(super) const CHECKS: usize = 8;

/// The credential that a request presents: the value of a cookie, or a token.
pub struct PresentedCredential {
    key: CredentialKey,
}

impl PresentedCredential {
    /// Returns what the cookie of a session has; `None` if that is not the value of any.
    pub fn session(secret: &str) -> Option<Self> {
        let key = CredentialKey { hash: secret_hash(secret), kind: CredentialKind::Session };
        (secret.len() <= SECRET_BYTES).then_some(Self { key })
    }

    /// Returns an API token; `None` if the text is none.
    pub fn token(secret: &str) -> Option<Self> {
        let key = CredentialKey { hash: secret_hash(secret), kind: CredentialKind::Token };
        (secret.len() <= SECRET_BYTES && secret.starts_with(API_TOKEN_PREFIX)).then_some(Self { key })
    }
}

impl Service {
    /// Returns the account of a credential; `None` if it is not valid.
    pub async fn authenticate(
        &self,
        presented: &PresentedCredential,
    ) -> Result<Option<AuthenticatedCredential>, ServiceError> {
        let (cache, key, now) = (self.accounts().credentials(), presented.key, self.clock().now());
        for _ in 0..CHECKS {
            if let Some(found) = cache.find(key, now) {
                return Ok(Some(found));
            }
            let revision = cache.revision();
            let Some(loaded) = self.load_credential(key, now).await? else { return Ok(None) };
            if let Some(found) = cache.insert(key, loaded, revision, now) {
                return Ok(Some(found));
            }
        }
        Err(StoreError::Busy("sessions are being ended".into()).into())
    }

    async fn load_credential(
        &self,
        CredentialKey { hash, kind }: CredentialKey,
        now: DateTime<Utc>,
    ) -> Result<Option<LoadedCredential>, StoreError> {
        if kind == CredentialKind::Token {
            let token = api_tokens::find_valid(self.db(), &hash, now).await?;
            return Ok(token.map(|token| LoadedCredential {
                user: token.owner,
                role: token.role,
                id: CredentialId::Token { id: token.id, scopes: token.scopes },
                // Steps are those of people. A session with one makes no tokens, and a reset of the password ends them.
                pending: None,
                expires_at: token.expires_at,
                stored_use: token.last_used_at,
            }));
        }
        let session = sessions::find_valid(self.db(), &hash, now, now - limits::SESSION_IDLE).await?;
        Ok(session.map(|session| LoadedCredential {
            user: session.owner,
            role: session.role,
            id: CredentialId::Session(session.id),
            pending: self.pending_step(&session),
            expires_at: session.expires_at,
            stored_use: Some(session.seen_at),
        }))
    }

    /// Compares the credentials in use with the database, ends those that are not valid any more, and stores the times
    /// of their last use.
    pub async fn recheck_credentials(&self) -> Result<(), ServiceError> {
        let (cache, now) = (self.accounts().credentials(), self.clock().now());
        let mut used = Vec::new();
        for (key, user, id) in cache.credentials_in_use(now) {
            let revision = cache.revision();
            let loaded = match id {
                CredentialId::ProxyUser(identity) => self.load_proxy_identity(user, identity, now).await?,
                CredentialId::Session(_) | CredentialId::Token { .. } => self.load_credential(key, now).await?,
            };
            match loaded {
                Some(loaded) => used.extend(cache.confirm(key, loaded, revision)),
                None => cache.revoke_key(key),
            }
        }
        if used.is_empty() {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        for (user, credential, used_at) in used {
            match credential {
                CredentialId::Session(id) => sessions::touch(&mut tx, user, id, used_at).await?,
                CredentialId::Token { id, .. } => api_tokens::touch(&mut tx, user, id, used_at).await?,
                CredentialId::ProxyUser(id) => identities::touch(&mut tx, user, id, used_at).await?,
            }
        }
        Ok(tx.commit().await?)
    }

    /// Compares the credentials in use, and the rights of accounts, with the database at an interval, for as long as the
    /// server runs.
    pub async fn watch_credentials(&self) {
        loop {
            tokio::time::sleep(limits::CREDENTIAL_RECHECK).await;
            if let Err(error) = self.recheck_credentials().await {
                tracing::warn!(%error, "sessions could not be checked; they are checked again soon");
            }
            self.follow_rights().await;
            if let Err(error) = self.stop_replies_of_disabled_accounts().await {
                tracing::warn!(%error, "the disabled accounts could not be read; they are read again soon");
            }
            if let Err(error) = self.recheck_setup().await {
                tracing::warn!(%error, "whether the server is set up could not be checked");
            }
        }
    }
}
