//! Sessions of browsers: they begin with a sign-in and end by a sign-out, by age, or by a change of the account.

use chrono::{DateTime, Utc};
use secrecy::ExposeSecret;

use super::account_error::AccountError;
use super::credential_cache::{CredentialKey, CredentialKind};
use super::secrets::{NewSecret, secret_hash};
use super::{Actor, ClientOrigin};
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, SessionId, SessionOrigin, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::random::random_token;
use turnleaf_store::accounts::sessions::{self, NewSession};
use turnleaf_store::database::db::Tx;

pub use turnleaf_store::accounts::sessions::ListedSession;

impl Service {
    /// Begins a session whose person has just entered the password or used a passkey, and returns the secret for its cookie;
    /// the former one of the browser ends. `None` if the account does not exist or is disabled. After the commit,
    /// [`Self::forget_former_session`] closes what is open with the former one.
    pub(super) async fn start_session(
        &self,
        tx: &mut Tx,
        account: UserId,
        client: &ClientOrigin,
        origin: SessionOrigin,
    ) -> Result<Option<NewSecret>, AccountError> {
        self.insert_session(tx, account, client, (origin, Some(self.clock().now()))).await
    }

    /// Works like [`Self::start_session`], for a person who authenticated at an identity provider at this time, as far as
    /// it is known.
    pub(super) async fn start_identity_session(
        &self,
        tx: &mut Tx,
        account: UserId,
        client: &ClientOrigin,
        authenticated_at: Option<DateTime<Utc>>,
    ) -> Result<Option<NewSecret>, AccountError> {
        self.insert_session(tx, account, client, (SessionOrigin::Identity, authenticated_at)).await
    }

    async fn insert_session(
        &self,
        tx: &mut Tx,
        account: UserId,
        client: &ClientOrigin,
        (origin, authenticated_at): (SessionOrigin, Option<DateTime<Utc>>),
    ) -> Result<Option<NewSecret>, AccountError> {
        let (secret, now) = (random_token(), self.clock().now());
        let agent = client.agent.as_deref().map(|agent| agent.replace('\0', ""));
        let new = NewSession {
            id: ids::mint(),
            hash: secret_hash(&secret),
            created_at: now,
            expires_at: now + limits::SESSION_KEPT,
            ip: Some(client.address.to_string()),
            agent: agent.map(|agent| agent.chars().take(limits::USER_AGENT_CHARS).collect()),
            // The clock of another server may be ahead.
            password_at: authenticated_at.map(|at| at.min(now)),
            began_with: origin,
        };
        if !sessions::insert(tx, account, &new).await? {
            return Ok(None);
        }
        if let Some(former) = &client.former_session {
            sessions::delete_by_hash(tx, &secret_hash(former.expose_secret())).await?;
        }
        sessions::delete_surplus(tx, account, limits::SESSIONS_PER_USER).await?;
        Ok(Some(NewSecret::new(secret)))
    }

    /// Gives a session another secret for its cookie, because its person has authenticated again, and returns that. The
    /// former one counts no more, and the connections that are open with it end. `None` if the session has ended meanwhile.
    pub async fn renew_session(&self, owner: UserId, session: SessionId) -> Result<Option<NewSecret>, ServiceError> {
        let secret = random_token();
        let mut tx = self.db().begin().await?;
        if !sessions::renew(&mut tx, owner, session, &secret_hash(&secret)).await? {
            return Ok(None);
        }
        tx.commit().await?;
        self.accounts().credentials().revoke_session(session);
        Ok(Some(NewSecret::new(secret)))
    }

    /// Ends the connections that are open with the former session of a browser.
    pub(super) fn forget_former_session(&self, client: &ClientOrigin) {
        if let Some(former) = &client.former_session {
            let key = CredentialKey { hash: secret_hash(former.expose_secret()), kind: CredentialKind::Session };
            self.accounts().credentials().revoke_key(key);
        }
    }

    /// Returns the sessions of an account, the last used first.
    pub async fn sessions(&self, owner: UserId) -> Result<Vec<ListedSession>, ServiceError> {
        let now = self.clock().now();
        Ok(sessions::list(self.db(), owner, now, now - limits::SESSION_IDLE).await?)
    }

    /// Ends the session of a request; without one, nothing happens.
    pub async fn end_current_session(&self, owner: UserId, actor: Actor) -> Result<(), AccountError> {
        let Some(session) = actor.session else { return Ok(()) };
        self.delete_session(owner, actor, session, AuditVerb::SignOut).await.map(drop)
    }

    /// Ends a session of an account, with its open connections.
    ///
    /// # Errors
    /// `PasswordNeeded` in a session whose password was not entered lately: whoever has found an open browser does not
    /// sign its person out elsewhere.
    pub async fn end_session(&self, owner: UserId, actor: Actor, session: SessionId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        match self.delete_session(owner, actor, session, AuditVerb::EndSession).await? {
            true => Ok(()),
            false => Err(AccountError::not_found()),
        }
    }

    async fn delete_session(
        &self,
        owner: UserId,
        actor: Actor,
        session: SessionId,
        verb: AuditVerb,
    ) -> Result<bool, AccountError> {
        let mut tx = self.db().begin().await?;
        if !sessions::delete(&mut tx, owner, session).await? {
            return Ok(false);
        }
        self.record(&mut tx, actor, verb, "").await?;
        tx.commit().await?;
        self.accounts().credentials().revoke_session(session);
        Ok(true)
    }

    /// Ends all sessions of an account except that of the request.
    ///
    /// # Errors
    /// `PasswordNeeded`, as for one session.
    pub async fn end_other_sessions(&self, owner: UserId, actor: Actor) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let mut tx = self.db().begin().await?;
        sessions::delete_others(&mut tx, owner, actor.session).await?;
        self.record(&mut tx, actor, AuditVerb::EndSessions, "").await?;
        tx.commit().await?;
        self.accounts().credentials().revoke_other_sessions(owner, actor.session);
        Ok(())
    }
}
