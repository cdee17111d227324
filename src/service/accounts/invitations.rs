//! Invitations: an administrator makes one, and whoever has its code makes an account with the role in it, once.

use secrecy::SecretString;

use super::account_error::AccountError;
use super::account_names::CheckedName;
use super::passwords::check_new_password;
use super::secrets::{NewSecret, secret_hash};
use super::{Actor, ClientOrigin};
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, AuditVerb, InvalidField, InviteId, MessageCode, SessionOrigin, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::random::random_token;
use turnleaf_store::accounts::invites::{self, NewInvite};
use turnleaf_store::accounts::users;

pub use turnleaf_store::accounts::invites::OpenInvite;

impl Service {
    /// Makes an invitation and returns its code, which is not stored.
    ///
    /// # Errors
    /// `password_needed`; `Forbidden` if the actor is no administrator any more.
    pub async fn create_invite(&self, actor: Actor, role: AccountRole) -> Result<NewSecret, AccountError> {
        if !AccountRole::GIVEN.contains(&role) {
            return Err(InvalidField::new("role", MessageCode::IsUnknown).into());
        }
        self.require_recent_password(actor).await?;
        let (code, now) = (random_token(), self.clock().now());
        let new = NewInvite {
            id: ids::mint(),
            hash: secret_hash(&code),
            role,
            made_by: actor.user,
            created_at: now,
            expires_at: now + limits::INVITE_KEPT,
        };
        let mut tx = self.db().begin().await?;
        // The rights of the request may have ended since.
        if let Some(user) = actor.user
            && !users::hold_administrator(&mut tx, user).await?
        {
            return Err(AccountError::Forbidden);
        }
        if invites::count_open(&mut tx, now).await? >= u64::from(limits::INVITES) {
            let message = MessageCode::TooMany.with("most", limits::INVITES);
            return Err(AccountError::conflict("too_many_invites", message));
        }
        invites::insert(&mut tx, &new).await?;
        self.record(&mut tx, actor, AuditVerb::Invite, role.as_str()).await?;
        tx.commit().await?;
        Ok(NewSecret::new(code))
    }

    /// Returns the invitations that can be accepted, the newest first.
    pub async fn open_invites(&self) -> Result<Vec<OpenInvite>, ServiceError> {
        Ok(invites::list_open(self.db(), self.clock().now(), limits::INVITES).await?)
    }

    /// Revokes an invitation that was not accepted.
    pub async fn revoke_invite(&self, actor: Actor, id: InviteId) -> Result<(), AccountError> {
        let mut tx = self.db().begin().await?;
        if !invites::delete_open(&mut tx, id).await? {
            return Err(AccountError::not_found());
        }
        self.record(&mut tx, actor, AuditVerb::RevokeInvite, "").await?;
        Ok(tx.commit().await?)
    }

    /// Returns the invitation with this code if it can be accepted.
    pub async fn find_invite(&self, code: &str) -> Result<Option<OpenInvite>, ServiceError> {
        Ok(invites::find_open(self.db(), &secret_hash(code), self.clock().now()).await?)
    }

    /// Makes an account with the role of an invitation, and begins its first session. Returns the secret for the
    /// cookie.
    ///
    /// # Errors
    /// `invite_unusable` if the invitation has expired or was accepted.
    pub async fn accept_invite(
        &self,
        code: &str,
        name: &str,
        password: &SecretString,
        client: &ClientOrigin,
    ) -> Result<NewSecret, AccountError> {
        let unusable = || AccountError::conflict("invite_unusable", MessageCode::InviteUnusable);
        let by_network = self.accounts().attempts_by_network();
        by_network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        self.find_invite(code).await?.ok_or_else(unusable)?;
        by_network.take_back(&client.network);
        let name = CheckedName::new(name)?;
        check_new_password("password", password, &name.name)?;
        let hash = self.accounts().hashing().hash(password).await?;
        let (account, now): (UserId, _) = (ids::mint(), self.clock().now());
        let mut tx = self.db().begin().await?;
        let accepted = invites::accept(&mut tx, &secret_hash(code), account, now).await?;
        let role = accepted.ok_or_else(unusable)?;
        if !users::insert(&mut tx, account, name.names(), role, Some(&hash), now).await? {
            return Err(AccountError::name_taken());
        }
        let secret = self.start_session(&mut tx, account, client, SessionOrigin::Password).await?;
        let secret = secret.ok_or_else(AccountError::not_found)?;
        let actor = Actor { user: Some(account), address: Some(client.address), ..Actor::default() };
        self.record(&mut tx, actor, AuditVerb::AcceptInvite, &name.name).await?;
        tx.commit().await?;
        self.forget_former_session(client);
        Ok(secret)
    }
}
