//! Signing in with a password and, if the account has a second factor, its code; and what people change about their own
//! account.

use std::net::IpAddr;

use secrecy::{ExposeSecret, SecretString};

use super::account_error::AccountError;
use super::account_names::{CheckedName, name_key};
use super::attempts::AttemptedAccount;
use super::begun_sign_ins::BegunSignIn;
use super::passwords::{check_new_password, is_same_password, max_password_bytes};
use super::second_factor::EnteredCode;
use super::secrets::NewSecret;
use super::{Actor, ClientOrigin};
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, AuditVerb, InvalidField, MessageCode, SessionOrigin, UserId, limits};
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

/// The outcome of a right password.
#[derive(Debug)]
pub enum SignInStep {
    /// A session began. The secret is for its cookie.
    SignedIn(NewSecret),
    /// The code of the second factor is needed. The secret names this sign-in to [`Service::sign_in_with_code`].
    CodeNeeded(NewSecret),
}

impl Service {
    /// Begins a session, or asks for the code of the second factor. Answer and time are the same for a wrong password, an
    /// unknown name and a disabled account.
    pub async fn sign_in(
        &self,
        name: &str,
        password: &SecretString,
        client: &ClientOrigin,
    ) -> Result<SignInStep, AccountError> {
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
        // The reason is given only after the right password, so that strangers learn nothing about accounts.
        if account.has_expired_password(self.clock().now()) {
            self.note_refused_sign_in(actor, account.name);
            return Err(InvalidField::new("password", MessageCode::PasswordExpired).into());
        }
        if self.needs_code(account.id).await? {
            // The attempt of the account counts until the code was right, too.
            by_network.take_back(&client.network);
            let begun = BegunSignIn { account: account.id, auth_rev: account.auth_rev, attempted };
            return Ok(SignInStep::CodeNeeded(self.accounts().begun_sign_ins().begin(begun)));
        }
        if self.needs_passkey(&account).await? {
            self.note_refused_sign_in(actor, account.name);
            return Err(InvalidField::new("password", MessageCode::PasskeyRequired).into());
        }
        let mut tx = self.db().begin().await?;
        let secret =
            self.start_session(&mut tx, account.id, client, SessionOrigin::Password).await?.ok_or_else(wrong)?;
        let actor = Actor { user: Some(account.id), ..actor };
        self.record(&mut tx, actor, AuditVerb::SignIn, &account.name).await?;
        tx.commit().await?;
        self.forget_former_session(client);
        by_account.forget(&attempted);
        by_network.take_back(&client.network);
        Ok(SignInStep::SignedIn(secret))
    }

    /// Begins the session of a sign-in that waits for a code, and returns the secret for its cookie. A code of the app
    /// works once, as does a recovery code.
    ///
    /// # Errors
    /// The field `code` is invalid for a wrong code; `sign_in_expired` for a sign-in that does not wait any more; `Wait`
    /// after too many codes.
    pub async fn sign_in_with_code(
        &self,
        begun_secret: &str,
        typed: &str,
        client: &ClientOrigin,
    ) -> Result<NewSecret, AccountError> {
        let expired = || AccountError::conflict("sign_in_expired", MessageCode::SignInExpired);
        let state = self.accounts();
        let begun = state.begun_sign_ins().find(begun_secret).ok_or_else(expired)?;
        let account = users::find(self.db(), begun.account).await?;
        let is_unchanged =
            |account: &StoredAccount| account.auth_rev == begun.auth_rev && account.disabled_at.is_none();
        let account = account.filter(is_unchanged).ok_or_else(expired)?;
        let (by_code, by_network) = (state.attempts_by_code(), state.attempts_by_network());
        by_network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        by_code.begin(&begun.attempted).map_err(AccountError::too_many_attempts)?;
        let stranger = Actor { address: Some(client.address), ..Actor::default() };
        let code = self.read_code(account.id, typed).await?;
        let mut tx = self.db().begin().await?;
        let is_right = match &code {
            Some(code) => self.use_code(&mut tx, account.id, code).await?,
            None => false,
        };
        if !is_right {
            tx.rollback().await?;
            self.record_refused(stranger, AuditVerb::SignIn, &account.name).await?;
            return Err(InvalidField::new("code", MessageCode::SignInCodeWrong).into());
        }
        let secret = self.start_session(&mut tx, account.id, client, SessionOrigin::Password).await?;
        let secret = secret.ok_or_else(expired)?;
        let actor = Actor { user: Some(account.id), ..stranger };
        self.record(&mut tx, actor, AuditVerb::SignIn, &account.name).await?;
        if let Some(EnteredCode::Recovery(_)) = code {
            self.record(&mut tx, actor, AuditVerb::UseRecoveryCode, &account.name).await?;
        }
        tx.commit().await?;
        state.begun_sign_ins().finish(begun_secret);
        self.forget_former_session(client);
        by_code.forget(&begun.attempted);
        state.attempts_by_account().forget(&begun.attempted);
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
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn change_own_name(&self, user: UserId, actor: Actor, name: &str) -> Result<(), AccountError> {
        let name = CheckedName::new(name)?;
        self.require_recent_password(actor).await?;
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
        self.check_own_password(actor, &account, ("current_password", current), AuditVerb::ChangePassword).await?;
        let StoredAccount { name, password_expires_at, .. } = account;
        // Otherwise a password that others have seen would be the one that stays.
        if password_expires_at.is_some() && is_same_password(current, new) {
            return Err(InvalidField::new("password", MessageCode::PasswordUnchanged).into());
        }
        check_new_password("password", new, &name)?;
        let hash = self.accounts().hashing().hash(new).await?;
        let mut tx = self.db().begin().await?;
        users::set_password(&mut tx, user, &hash).await?;
        sessions::delete_others(&mut tx, user, None).await?;
        let secret = self.start_session(&mut tx, user, client, SessionOrigin::Password).await?;
        let secret = secret.ok_or_else(AccountError::not_found)?;
        self.record(&mut tx, actor, AuditVerb::ChangePassword, &name).await?;
        tx.commit().await?;
        self.accounts().credentials().revoke_account(user);
        Ok(secret)
    }
}
