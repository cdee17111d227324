//! The second factor: an authenticator app whose codes a sign-in needs after the password, and recovery codes for whoever
//! loses it (`docs/adr/0096-second-factor.md`).

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Actor;
use super::account_error::AccountError;
use super::secrets::{CODE_DIGITS, NewSecret, code_digits, new_code, secret_hash};
use super::totp::{TotpSecret, app_code};
use crate::{Service, ServiceError};
use turnleaf_domain::encoding::url_encoding;
use turnleaf_domain::{AuditVerb, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::sealing::SecretBinding;
use turnleaf_store::StoreError;
use turnleaf_store::accounts::second_factors::{self, StoredSecondFactor};
use turnleaf_store::accounts::users;
use turnleaf_store::database::db::Tx;

/// The name of the server in authenticator apps.
const ISSUER: &str = "Turnleaf";

/// The second factor of an account, as its person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondFactorState {
    pub confirmed_at: DateTime<Utc>,
    /// The recovery codes that were not used.
    pub recovery_codes: u64,
}

/// A second factor that is being set up. It counts once a code was entered.
#[derive(Debug)]
pub struct SecondFactorSetup {
    pub secret: TotpSecret,
    /// The address that authenticator apps open.
    pub uri: String,
}

/// A code as it is compared.
pub(super) enum EnteredCode {
    /// The code of an app, with its step.
    App(i64),
    /// The hash of a recovery code.
    Recovery([u8; 32]),
}

impl Service {
    /// Returns the second factor that counts for an account.
    pub async fn second_factor(&self, owner: UserId) -> Result<Option<SecondFactorState>, ServiceError> {
        let stored = second_factors::find(self.db(), owner).await?;
        let Some(confirmed_at) = stored.and_then(|stored| stored.confirmed_at) else { return Ok(None) };
        let recovery_codes = second_factors::count_codes(self.db(), owner).await?;
        Ok(Some(SecondFactorState { confirmed_at, recovery_codes }))
    }

    /// Makes the secret of a second factor.
    ///
    /// # Errors
    /// `password_needed`; `second_factor_on` where there is one already.
    pub async fn begin_second_factor(&self, owner: UserId, actor: Actor) -> Result<SecondFactorSetup, AccountError> {
        self.require_recent_password(actor).await?;
        let secret = TotpSecret::generate();
        let sealed = self.sealer().keyring().seal(binding(owner), secret.text());
        let mut tx = self.db().begin().await?;
        if !second_factors::begin(&mut tx, owner, &sealed, self.clock().now()).await? {
            return Err(AccountError::conflict("second_factor_on", MessageCode::SecondFactorOn));
        }
        tx.commit().await?;
        Ok(self.setup_of(owner, secret).await?)
    }

    /// Returns the second factor that is being set up, to show it again. The password is needed, because whoever sees the
    /// secret has its codes.
    pub async fn begun_second_factor(
        &self,
        owner: UserId,
        actor: Actor,
    ) -> Result<Option<SecondFactorSetup>, AccountError> {
        self.require_recent_password(actor).await?;
        let stored = second_factors::find(self.db(), owner).await?;
        let begun = stored.filter(|stored| stored.confirmed_at.is_none());
        match begun.and_then(|begun| self.open_second_factor(owner, &begun)) {
            Some(secret) => Ok(Some(self.setup_of(owner, secret).await?)),
            None => Ok(None),
        }
    }

    async fn setup_of(&self, owner: UserId, secret: TotpSecret) -> Result<SecondFactorSetup, ServiceError> {
        let account = users::find(self.db(), owner).await?.ok_or(ServiceError::NotFound)?;
        let (name, text) = (url_encoding::encode(&account.name), secret.expose());
        let uri = format!("otpauth://totp/{ISSUER}:{name}?secret={text}&issuer={ISSUER}");
        Ok(SecondFactorSetup { uri, secret })
    }

    /// Makes the second factor count, after a code of the app was entered. Returns the recovery codes, which are not
    /// stored.
    ///
    /// # Errors
    /// `password_needed`; the field `code` is invalid for a wrong code; `second_factor_not_begun`.
    pub async fn confirm_second_factor(
        &self,
        owner: UserId,
        actor: Actor,
        typed: &str,
    ) -> Result<Vec<NewSecret>, AccountError> {
        let not_begun = || AccountError::conflict("second_factor_not_begun", MessageCode::SecondFactorNotBegun);
        self.require_recent_password(actor).await?;
        let stored = second_factors::find(self.db(), owner).await?;
        let begun = stored.filter(|stored| stored.confirmed_at.is_none()).ok_or_else(not_begun)?;
        let now = self.clock().now();
        let step = app_code(typed)
            .and_then(|code| self.open_second_factor(owner, &begun)?.matching_step(&code, now))
            .ok_or_else(wrong_code)?;
        let mut tx = self.db().begin().await?;
        if !second_factors::confirm(&mut tx, owner, &begun.sealed, step, now).await? {
            return Err(not_begun());
        }
        let codes = self.replace_recovery_codes(&mut tx, owner).await?;
        self.record(&mut tx, actor, AuditVerb::EnableSecondFactor, "").await?;
        tx.commit().await?;
        self.accounts().credentials().expire_checks(Some(owner));
        Ok(codes)
    }

    /// Makes new recovery codes in place of those that are left, and returns them.
    pub async fn renew_recovery_codes(&self, owner: UserId, actor: Actor) -> Result<Vec<NewSecret>, AccountError> {
        self.require_recent_password(actor).await?;
        if self.second_factor(owner).await?.is_none() {
            return Err(AccountError::conflict("second_factor_off", MessageCode::SecondFactorOff));
        }
        let mut tx = self.db().begin().await?;
        let codes = self.replace_recovery_codes(&mut tx, owner).await?;
        self.record(&mut tx, actor, AuditVerb::RenewRecoveryCodes, "").await?;
        tx.commit().await?;
        Ok(codes)
    }

    async fn replace_recovery_codes(&self, tx: &mut Tx, owner: UserId) -> Result<Vec<NewSecret>, StoreError> {
        let codes: Vec<String> = (0..limits::RECOVERY_CODES).map(|_| new_code()).collect();
        let hashes: Vec<(Uuid, [u8; 32])> =
            codes.iter().map(|code| (ids::mint(), secret_hash(&code_digits(code)))).collect();
        second_factors::replace_codes(tx, owner, &hashes, self.clock().now()).await?;
        Ok(codes.into_iter().map(NewSecret::new).collect())
    }

    /// Takes the second factor off the own account, with the recovery codes.
    ///
    /// # Errors
    /// `password_needed`; `second_factor_off`; `last_second_factor` where one is required.
    pub async fn remove_second_factor(&self, owner: UserId, actor: Actor) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let mut tx = self.db().begin().await?;
        // Otherwise the last two would be removed at the same time.
        users::lock(&mut tx, owner).await?;
        if !second_factors::delete(&mut tx, owner).await? {
            return Err(AccountError::conflict("second_factor_off", MessageCode::SecondFactorOff));
        }
        self.check_remaining_factor(&mut tx, owner).await?;
        self.record(&mut tx, actor, AuditVerb::RemoveSecondFactor, "").await?;
        Ok(tx.commit().await?)
    }

    /// Returns whether a sign-in to an account needs a code.
    pub(super) async fn needs_code(&self, account: UserId) -> Result<bool, StoreError> {
        let stored = second_factors::find(self.db(), account).await?;
        Ok(stored.is_some_and(|stored| stored.confirmed_at.is_some()))
    }

    /// Reads a code that was typed at a sign-in; `None` for a wrong one.
    pub(super) async fn read_code(&self, account: UserId, typed: &str) -> Result<Option<EnteredCode>, StoreError> {
        let stored = second_factors::find(self.db(), account).await?;
        let Some(stored) = stored.filter(|stored| stored.confirmed_at.is_some()) else { return Ok(None) };
        if let Some(code) = app_code(typed) {
            let secret = self.open_second_factor(account, &stored);
            let step = secret.and_then(|secret| secret.matching_step(&code, self.clock().now()));
            return Ok(step.map(EnteredCode::App));
        }
        let digits = code_digits(typed);
        Ok((digits.len() == CODE_DIGITS).then(|| EnteredCode::Recovery(secret_hash(&digits))))
    }

    /// Uses a code up. Returns false if it was used before, or is none of the account.
    pub(super) async fn use_code(&self, tx: &mut Tx, account: UserId, code: &EnteredCode) -> Result<bool, StoreError> {
        match code {
            EnteredCode::App(step) => second_factors::use_step(tx, account, *step).await,
            EnteredCode::Recovery(hash) => second_factors::use_code(tx, account, hash).await,
        }
    }

    /// Decrypts a secret. Recovery codes help where that fails.
    fn open_second_factor(&self, owner: UserId, stored: &StoredSecondFactor) -> Option<TotpSecret> {
        match self.sealer().keyring().unseal(binding(owner), &stored.sealed) {
            Ok(secret) => Some(TotpSecret::new(secret)),
            Err(error) => {
                tracing::warn!(%error, account = %owner, "the secret of a second factor cannot be decrypted");
                None
            }
        }
    }
}

fn wrong_code() -> AccountError {
    InvalidField::new("code", MessageCode::SignInCodeWrong).into()
}

fn binding(owner: UserId) -> SecretBinding<'static> {
    SecretBinding { table: "second_factors", column: "sealed_secret", row: owner.uuid(), bound_to: ISSUER }
}
