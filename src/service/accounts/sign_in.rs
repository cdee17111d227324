//! Signing in with a password, and what people change about their own account.

use std::net::IpAddr;

use secrecy::{ExposeSecret, SecretString};

use super::account_error::AccountError;
use super::account_names::{CheckedName, name_key};
use super::attempts::AttemptedAccount;
use super::passwords::check_new_password;
use super::secrets::NewSecret;
use super::{Actor, ClientOrigin};
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, AuditVerb, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::client_network::client_network;
use turnleaf_store::users::StoredAccount;
use turnleaf_store::{StoreError, sessions, users};

/// The own account, as its person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAccount {
    /// Empty on a server without accounts.
    pub name: String,
    pub role: AccountRole,
    /// An account that an identity provider or a proxy made has none.
    pub has_password: bool,
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
        let (by_account, by_network) = (self.accounts().attempts_by_account(), self.accounts().attempts_by_network());
        by_network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        let attempted = self.attempted_account(name_key(&typed), client).await?;
        by_account.begin(&attempted).map_err(AccountError::too_many_attempts)?;
        let account = users::find_by_name(self.db(), &attempted.name).await?;
        let hash = account.as_ref().and_then(|account| account.password.as_deref());
        let is_right = password.expose_secret().len() <= max_password_bytes()
            && self.accounts().hashing().verify(password, hash).await?;
        let Some(account) = account else { return Err(wrong()) };
        let actor = Actor { address: Some(client.address), ..Actor::default() };
        if !is_right || account.disabled_at.is_some() {
            self.note_refused_sign_in(actor, account.name);
            return Err(wrong());
        }
        let mut tx = self.db().begin().await?;
        let secret = self.start_session(&mut tx, account.id, client).await?.ok_or_else(wrong)?;
        let actor = Actor { user: Some(account.id), ..actor };
        self.record(&mut tx, actor, AuditVerb::SignIn, &account.name).await?;
        tx.commit().await?;
        by_account.forget(&attempted);
        by_network.take_back(&client.network);
        Ok(secret)
    }

    /// Returns the account that a client tries to sign in to. The query is the same for a name without an account.
    async fn attempted_account(&self, name: String, client: &ClientOrigin) -> Result<AttemptedAccount, StoreError> {
        let now = self.clock().now();
        let addresses = sessions::list_addresses(self.db(), &name, now, now - limits::SESSION_IDLE).await?;
        let mut networks = addresses.iter().filter_map(|address| address.parse::<IpAddr>().ok()).map(client_network);
        let is_known = networks.any(|network| network == client.network);
        Ok(AttemptedAccount { name, known_network: is_known.then_some(client.network) })
    }

    /// Returns the account of a person.
    pub async fn own_account(&self, user: UserId) -> Result<OwnAccount, ServiceError> {
        let account = users::find(self.db(), user).await?.ok_or(ServiceError::NotFound)?;
        Ok(OwnAccount { name: account.name, role: account.role, has_password: account.password.is_some() })
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
        let by_person = self.accounts().attempts_by_person();
        by_person.begin(&user).map_err(AccountError::too_many_attempts)?;
        let is_right = current.expose_secret().len() <= max_password_bytes()
            && self.accounts().hashing().verify(current, stored.as_deref()).await?;
        if !is_right {
            self.record_refused(actor, AuditVerb::ChangePassword, &name).await?;
            return Err(InvalidField::new("current_password", MessageCode::PasswordWrong).into());
        }
        by_person.forget(&user);
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
