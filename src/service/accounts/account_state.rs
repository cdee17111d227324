//! The state of signing in that is not stored: the cache of credentials, the limits on attempts, the sign-ins that wait
//! for a code, the challenges of passkeys, the open setup, the public address, and what is configured: the identity providers,
//! and of whom a second factor is required.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::attempts::{AttemptLimiter, AttemptedAccount};
use super::begun_ceremonies::BegunCeremonies;
use super::begun_sign_ins::BegunSignIns;
use super::credential_cache::CredentialCache;
use super::passwords::PasswordHashing;
use super::setup_state::SetupState;
use super::withheld_secrets::WithheldSecrets;
use turnleaf_domain::{SecondFactorPolicy, UserId, limits};
use turnleaf_platform::config::identity_providers::IdentityProviderConfig;

/// The state of signing in. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Accounts(Arc<AccountsState>);

struct AccountsState {
    credentials: CredentialCache,
    hashing: PasswordHashing,
    by_account: AttemptLimiter<AttemptedAccount>,
    by_person: AttemptLimiter<UserId>,
    by_code: AttemptLimiter<AttemptedAccount>,
    by_network: AttemptLimiter<IpAddr>,
    begun: BegunSignIns,
    ceremonies: BegunCeremonies,
    begun_by_network: AttemptLimiter<IpAddr>,
    setup: SetupState,
    withheld: WithheldSecrets,
    public_origin: OnceLock<String>,
    identity_providers: Mutex<Arc<[IdentityProviderConfig]>>,
    second_factor: Mutex<SecondFactorPolicy>,
    has_proxy_users: AtomicBool,
}

impl Default for Accounts {
    fn default() -> Self {
        Self(Arc::new(AccountsState {
            credentials: CredentialCache::default(),
            hashing: PasswordHashing::default(),
            by_account: AttemptLimiter::new(limits::ATTEMPTS_PER_ACCOUNT),
            by_person: AttemptLimiter::new(limits::ATTEMPTS_PER_ACCOUNT),
            by_code: AttemptLimiter::with_longest_wait(limits::ATTEMPTS_PER_ACCOUNT, limits::CODE_WAIT_MOST),
            by_network: AttemptLimiter::new(limits::ATTEMPTS_PER_NETWORK),
            begun: BegunSignIns::default(),
            ceremonies: BegunCeremonies::default(),
            begun_by_network: AttemptLimiter::new(limits::IDENTITY_SIGN_INS_PER_NETWORK),
            setup: SetupState::default(),
            withheld: WithheldSecrets::default(),
            public_origin: OnceLock::new(),
            identity_providers: Mutex::default(),
            second_factor: Mutex::default(),
            has_proxy_users: AtomicBool::default(),
        }))
    }
}

impl Accounts {
    pub(super) fn credentials(&self) -> &CredentialCache {
        &self.0.credentials
    }

    pub(super) fn hashing(&self) -> &PasswordHashing {
        &self.0.hashing
    }

    /// Returns the attempts to sign in to each account.
    pub(super) fn attempts_by_account(&self) -> &AttemptLimiter<AttemptedAccount> {
        &self.0.by_account
    }

    /// Returns the attempts to enter the own password of each person who is signed in.
    pub(super) fn attempts_by_person(&self) -> &AttemptLimiter<UserId> {
        &self.0.by_person
    }

    /// Returns the attempts to enter the code of a second factor.
    pub(super) fn attempts_by_code(&self) -> &AttemptLimiter<AttemptedAccount> {
        &self.0.by_code
    }

    pub(super) fn attempts_by_network(&self) -> &AttemptLimiter<IpAddr> {
        &self.0.by_network
    }

    /// Returns the sign-ins that wait for codes.
    pub(super) fn begun_sign_ins(&self) -> &BegunSignIns {
        &self.0.begun
    }

    /// Returns the challenges of passkeys that wait for their answers.
    pub(super) fn begun_ceremonies(&self) -> &BegunCeremonies {
        &self.0.ceremonies
    }

    /// Returns the sign-ins at identity providers, and the uses of passkeys, that were begun and not finished in each
    /// network. They guess nothing, so there may be more of them.
    pub(super) fn begun_by_network(&self) -> &AttemptLimiter<IpAddr> {
        &self.0.begun_by_network
    }

    pub(super) fn setup(&self) -> &SetupState {
        &self.0.setup
    }

    /// Returns the secrets of forms that wait for the password.
    pub(super) fn withheld_secrets(&self) -> &WithheldSecrets {
        &self.0.withheld
    }

    /// Returns the configured public address, which stays for as long as the server runs.
    pub(super) fn public_origin(&self) -> Option<&str> {
        self.0.public_origin.get().map(String::as_str)
    }

    pub(super) fn set_public_origin(&self, origin: &str) {
        let _ = self.0.public_origin.set(origin.to_owned());
    }

    /// Returns the configured identity providers, which a reload of the configuration replaces.
    pub(super) fn identity_providers(&self) -> Arc<[IdentityProviderConfig]> {
        self.0.identity_providers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_identity_providers(&self, providers: Vec<IdentityProviderConfig>) {
        *self.0.identity_providers.lock().unwrap_or_else(PoisonError::into_inner) = providers.into();
    }

    /// Returns of whom a second factor is required, which a reload of the configuration changes.
    pub(super) fn second_factor_policy(&self) -> SecondFactorPolicy {
        *self.0.second_factor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_second_factor_policy(&self, policy: SecondFactorPolicy) {
        *self.0.second_factor.lock().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    /// Returns whether a proxy names people, which stays for as long as the server runs.
    pub(super) fn has_proxy_users(&self) -> bool {
        self.0.has_proxy_users.load(Ordering::Relaxed)
    }

    pub(super) fn note_proxy_users(&self) {
        self.0.has_proxy_users.store(true, Ordering::Relaxed);
    }
}
