//! Signing in with a password, and what people change about their own account.

use secrecy::{ExposeSecret, SecretString};

use super::account_error::AccountError;
use super::account_names::{CheckedName, name_key};
use super::passwords::check_new_password;
use super::secrets::NewSecret;
use super::{Actor, ClientOrigin};
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, AuditVerb, InvalidField, MessageCode, UserId, limits};
use turnleaf_store::users::StoredAccount;
use turnleaf_store::{StoreError, sessions, users};

/// The own account, as its person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAccount {
    /// Empty on a server without accounts.
    pub name: String,
    pub role: AccountRole,
}

impl Service {
    /// Begins a session and returns the secret for its cookie. Answer and time are the same for a wrong password, an
    /// unknown name and a disabled account.
    pub async fn sign_in(
        &self,
        name: &str,
        password: &SecretString,
        client: &ClientOrigin,
    ) -> Result<NewSecret, AccountError> {
        let wrong = || AccountError::from(InvalidField::new("password", MessageCode::WrongNameOrPassword));
        // Longer ones belong to no account, and neither do those with NUL, which PostgreSQL refuses.
        let typed: String = name.chars().filter(|c| *c != '\0').take(limits::ACCOUNT_NAME_CHARS + 1).collect();
        let key = name_key(&typed);
        let (by_account, by_network) = (self.accounts().attempts_by_account(), self.accounts().attempts_by_network());
        by_network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        by_account.begin(&key).map_err(AccountError::too_many_attempts)?;
        let account = users::find_by_name(self.db(), &key).await?;
        let hash = account.as_ref().and_then(|account| account.password.as_deref());
        let is_right = password.expose_secret().len() <= max_password_bytes()
            && self.accounts().hashing().verify(password, hash).await?;
        let Some(account) = account else { return Err(wrong()) };
        let actor = Actor { address: Some(client.address), ..Actor::default() };
        if !is_right || account.disabled_at.is_some() {
            self.record_refused(actor, AuditVerb::SignIn, &account.name).await?;
            return Err(wrong());
        }
        let mut tx = self.db().begin().await?;
        let secret = self.start_session(&mut tx, account.id, client).await?.ok_or_else(wrong)?;
        let actor = Actor { user: Some(account.id), ..actor };
        self.record(&mut tx, actor, AuditVerb::SignIn, &account.name).await?;
        tx.commit().await?;
        by_account.forget(&key);
        by_network.take_back(&client.network);
        Ok(secret)
    }

    /// Returns the account of a person.
    pub async fn own_account(&self, user: UserId) -> Result<OwnAccount, ServiceError> {
        let account = users::find(self.db(), user).await?.ok_or(ServiceError::NotFound)?;
        Ok(OwnAccount { name: account.name, role: account.role })
    }

    /// Changes the name of the own account.
    pub async fn change_own_name(&self, user: UserId, actor: Actor, name: &str) -> Result<(), AccountError> {
        let name = CheckedName::new(name)?;
        let mut tx = self.db().begin().await?;
        match users::rename(&mut tx, user, name.names()).await {
            Ok(true) => {}
            Ok(false) => return Err(AccountError::not_found()),
            Err(StoreError::NotUnique) => return Err(AccountError::name_taken()),
            Err(error) => return Err(error.into()),
        }
        self.record(&mut tx, actor, AuditVerb::ChangeName, &name.name).await?;
        Ok(tx.commit().await?)
    }

    /// Changes the own password. All sessions and tokens of the account end; the secret for the cookie of a new session
    /// is returned. The current password is asked for, because the browser may be somebody else's by now.
    pub async fn change_own_password(
        &self,
        user: UserId,
        actor: Actor,
        (current, new): (&SecretString, &SecretString),
        client: &ClientOrigin,
    ) -> Result<NewSecret, AccountError> {
        let account = users::find(self.db(), user).await?.ok_or(ServiceError::NotFound)?;
        let StoredAccount { name, password: stored, .. } = account;
        let key = name_key(&name);
        let by_account = self.accounts().attempts_by_account();
        by_account.begin(&key).map_err(AccountError::too_many_attempts)?;
        let is_right = current.expose_secret().len() <= max_password_bytes()
            && self.accounts().hashing().verify(current, stored.as_deref()).await?;
        if !is_right {
            self.record_refused(actor, AuditVerb::ChangePassword, &name).await?;
            return Err(InvalidField::new("current_password", MessageCode::PasswordWrong).into());
        }
        by_account.forget(&key);
        check_new_password("password", new, &name)?;
        let hash = self.accounts().hashing().hash(new).await?;
        let mut tx = self.db().begin().await?;
        users::set_password(&mut tx, user, &hash).await?;
        sessions::delete_others(&mut tx, user, None).await?;
        let secret = self.start_session(&mut tx, user, client).await?.ok_or_else(AccountError::not_found)?;
        self.record(&mut tx, actor, AuditVerb::ChangePassword, &name).await?;
        tx.commit().await?;
        self.accounts().credentials().revoke_account(user);
        Ok(secret)
    }
}

/// Returns the bound on the bytes of a password that is compared: a longer one is nobody's. A character has four at most.
fn max_password_bytes() -> usize {
    limits::PASSWORD_CHARS.end() * 4
}
