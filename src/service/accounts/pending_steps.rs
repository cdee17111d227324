//! The steps before which a session opens nothing else: a password that the command line has made is changed, and a
//! second factor is set up where one is required (`docs/adr/0096-second-factor.md`). `http` enforces them where it makes the
//! principal of a request.

use super::account_error::AccountError;
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, MessageCode, PendingStep, SecondFactorPolicy, SessionOrigin, UserId};
use turnleaf_store::accounts::sessions::ValidSession;
use turnleaf_store::accounts::users::{self, StoredAccount};
use turnleaf_store::accounts::{passkeys, second_factors};
use turnleaf_store::database::db::Tx;

impl Service {
    /// Sets of whom a second factor is required, at the start and after a reload of the configuration. Sessions follow at
    /// their next request, open connections at the next check of credentials.
    pub fn set_second_factor_policy(&self, policy: SecondFactorPolicy) {
        self.accounts().set_second_factor_policy(policy);
        self.accounts().credentials().expire_checks(None);
    }

    pub(super) fn requires_second_factor(&self, role: AccountRole) -> bool {
        self.accounts().second_factor_policy().requires_of(role)
    }

    /// Returns the step that the person of a session has to take first. A passkey and an identity provider are no
    /// passwords: the one is a second factor itself, the other decides about factors.
    pub(super) fn pending_step(&self, session: &ValidSession) -> Option<PendingStep> {
        if session.began_with != SessionOrigin::Password || !session.has_password {
            return None;
        }
        if session.has_made_password {
            return Some(PendingStep::ChangePassword);
        }
        let is_missing = self.requires_second_factor(session.role) && !session.has_second_factor;
        is_missing.then_some(PendingStep::SetUpSecondFactor)
    }

    /// Returns whether an account that asks for no code is signed in to with a passkey only: its password alone would not be
    /// the second factor that is required.
    pub(super) async fn needs_passkey(&self, account: &StoredAccount) -> Result<bool, ServiceError> {
        Ok(self.requires_second_factor(account.role) && !self.passkeys(account.id).await?.is_empty())
    }

    /// Checks that an account keeps the second factor that is required of it, after one was removed in this transaction.
    /// The account is locked.
    ///
    /// # Errors
    /// `last_second_factor`.
    pub(super) async fn check_remaining_factor(&self, tx: &mut Tx, owner: UserId) -> Result<(), AccountError> {
        let account = users::find(self.db(), owner).await?.ok_or(ServiceError::NotFound)?;
        let is_needed = account.password.is_some() && self.requires_second_factor(account.role);
        if is_needed && !second_factors::is_confirmed(tx, owner).await? && passkeys::count(tx, owner).await? == 0 {
            return Err(AccountError::conflict("last_second_factor", MessageCode::LastSecondFactor));
        }
        Ok(())
    }
}
