//! Re-authentication: what is dangerous needs a password that was entered lately in the session, because the browser may
//! be somebody else's by now. Only people at a browser are asked; the command line is where the database is within reach
//! anyway, and a server without accounts has no passwords.

use secrecy::{ExposeSecret, SecretString};

use super::Actor;
use super::account_error::AccountError;
use super::passwords::max_password_bytes;
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, InvalidField, MessageCode, limits};
use turnleaf_store::accounts::sessions;
use turnleaf_store::accounts::users::{self, StoredAccount};

impl Service {
    /// Returns whether the actor may do what needs a password that was entered lately.
    pub async fn has_recent_password(&self, actor: Actor) -> Result<bool, ServiceError> {
        let (Some(user), Some(session)) = (actor.user, actor.session) else { return Ok(true) };
        let entered = sessions::password_at(self.db(), user, session).await?;
        let now = self.clock().now();
        Ok(entered.is_some_and(|entered| now - entered < limits::PASSWORD_COUNTS_FOR))
    }

    /// Refuses an actor whose password was not entered lately.
    ///
    /// # Errors
    /// `password_needed`.
    pub(crate) async fn require_recent_password(&self, actor: Actor) -> Result<(), ServiceError> {
        if self.has_recent_password(actor).await? { Ok(()) } else { Err(ServiceError::password_needed()) }
    }

    /// Checks the password of the actor, and counts it as entered in this session.
    ///
    /// # Errors
    /// The field `confirm_password` is invalid for a wrong password; `Wait` after too many.
    pub async fn confirm_password(&self, actor: Actor, password: &SecretString) -> Result<(), AccountError> {
        let (Some(user), Some(session)) = (actor.user, actor.session) else { return Ok(()) };
        let account = users::find(self.db(), user).await?.ok_or(ServiceError::NotFound)?;
        self.check_own_password(actor, &account, ("confirm_password", password), AuditVerb::ConfirmPassword).await?;
        let mut tx = self.db().begin().await?;
        sessions::note_password(&mut tx, user, session, self.clock().now()).await?;
        Ok(tx.commit().await?)
    }

    /// Checks the own password of a person who is signed in. The attempts are those of the person, whatever the name is
    /// by now.
    pub(super) async fn check_own_password(
        &self,
        actor: Actor,
        account: &StoredAccount,
        (field, password): (&str, &SecretString),
        verb: AuditVerb,
    ) -> Result<(), AccountError> {
        let by_person = self.accounts().attempts_by_person();
        by_person.begin(&account.id).map_err(AccountError::too_many_attempts)?;
        let is_right = password.expose_secret().len() <= max_password_bytes()
            && self.accounts().hashing().verify(password, account.password.as_deref()).await?;
        if !is_right {
            self.record_refused(actor, verb, &account.name).await?;
            return Err(InvalidField::new(field, MessageCode::PasswordWrong).into());
        }
        if account.has_expired_password(self.clock().now()) {
            self.record_refused(actor, verb, &account.name).await?;
            return Err(InvalidField::new(field, MessageCode::PasswordExpired).into());
        }
        by_person.forget(&account.id);
        Ok(())
    }

    /// Keeps the secrets of a form whose person has to enter the password, and returns their name. Nothing is asked of
    /// an actor without a session.
    pub fn withhold_secrets(&self, actor: Actor, fields: Vec<(String, String)>) -> Option<String> {
        let of = actor.user.zip(actor.session)?;
        Some(self.accounts().withheld_secrets().withhold(of, fields))
    }

    /// Returns the secrets of this name once; `None` if they are not kept any more.
    pub fn take_withheld_secrets(&self, actor: Actor, name: &str) -> Option<Vec<(String, String)>> {
        self.accounts().withheld_secrets().take(actor.session?, name)
    }
}
