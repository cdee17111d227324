//! Passkeys (WebAuthn): credentials of authenticators that sign in without a password (`docs/adr/0102-passkeys.md`). This
//! file has the passkeys of the own account, [`sign_in`] has their use.
//!
//! In reading order: [`relying_party`], [`cbor`], [`cose_key`], [`authenticator_data`] and [`verification`], which are
//! pure, then this file and [`sign_in`].

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use super::Actor;
use super::account_error::AccountError;
use super::begun_ceremonies::CeremonyPurpose;
use super::secrets::NewSecret;
use crate::{Service, ServiceError};
use cose_key::CoseAlgorithm;
use relying_party::RelyingParty;
use turnleaf_domain::accounts::account::check_passkey_name;
use turnleaf_domain::{AuditVerb, MessageCode, PasskeyId, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_store::accounts::passkeys::{self, NewPasskey};
use turnleaf_store::accounts::users;
use verification::{ExpectedAnswer, RegistrationAnswer, VerifiedCredential};

pub use turnleaf_store::accounts::passkeys::ListedPasskey;

pub mod authenticator_data;
pub mod cbor;
pub mod cose_key;
pub mod relying_party;
pub mod sign_in;
pub mod verification;

/// The name of the server in browsers.
const SITE_NAME: &str = "Turnleaf";

/// An answer that a browser sends with the form of a ceremony.
#[derive(Debug, Clone, Copy)]
pub struct PasskeyAttempt<'a> {
    /// The secret that names the ceremony.
    pub ceremony: &'a str,
    /// The answer of the browser, as JSON.
    pub answer: &'a str,
    /// The relying party at the address of the request.
    pub party: Option<&'a RelyingParty>,
}

/// A passkey that is being made.
#[derive(Debug)]
pub struct BegunPasskey {
    pub name: String,
    /// The secret that names the ceremony.
    pub ceremony: NewSecret,
    /// The options for `navigator.credentials.create`, with bytes in base64url.
    pub options: Value,
}

fn not_added() -> AccountError {
    AccountError::conflict("passkey_not_added", MessageCode::PasskeyNotAdded)
}

fn unavailable() -> AccountError {
    AccountError::conflict("passkeys_unavailable", MessageCode::PasskeysUnavailable)
}

fn too_many() -> AccountError {
    AccountError::conflict("too_many_passkeys", MessageCode::TooMany.with("most", limits::PASSKEYS_PER_USER))
}

fn check_count(count: u64) -> Result<(), AccountError> {
    if count < limits::PASSKEYS_PER_USER { Ok(()) } else { Err(too_many()) }
}

impl Service {
    /// Sets the configured public address, at the start.
    pub fn set_public_origin(&self, origin: &str) {
        self.accounts().set_public_origin(origin);
    }

    /// Returns the relying party of passkeys at the address of a request: that of the public address, or this machine.
    /// `None` where browsers offer no passkeys.
    pub fn relying_party(&self, host: Option<&str>) -> Option<RelyingParty> {
        match self.accounts().public_origin() {
            Some(origin) => RelyingParty::from_origin(origin),
            None => host.and_then(RelyingParty::from_host),
        }
    }

    /// Returns the passkeys of an account.
    pub async fn passkeys(&self, owner: UserId) -> Result<Vec<ListedPasskey>, ServiceError> {
        Ok(passkeys::list(self.db(), owner).await?)
    }

    /// Begins to make a passkey for the own account. One without a password gets none, so that whoever leaves its
    /// identity provider does not come back.
    ///
    /// # Errors
    /// The field `name` is invalid; `PasswordNeeded`; `passkeys_unavailable`; `too_many_passkeys`.
    pub async fn begin_passkey(
        &self,
        owner: UserId,
        actor: Actor,
        name: &str,
        party: Option<&RelyingParty>,
    ) -> Result<BegunPasskey, AccountError> {
        let name = check_passkey_name(name)?;
        self.require_recent_password(actor).await?;
        let account = users::find(self.db(), owner).await?.ok_or(ServiceError::NotFound)?;
        let party = party.filter(|_| account.password.is_some()).ok_or_else(unavailable)?;
        let known = passkeys::credential_ids(self.db(), owner).await?;
        check_count(known.len() as u64)?;
        let purpose = CeremonyPurpose::Add { owner, name: name.clone() };
        let (ceremony, challenge) = self.accounts().begun_ceremonies().begin(purpose);
        let credential = |id: &Vec<u8>| json!({ "type": "public-key", "id": BASE64URL_NOPAD.encode(id) });
        let known: Vec<Value> = known.iter().map(credential).collect();
        let algorithms = CoseAlgorithm::ALL.map(|one| json!({ "type": "public-key", "alg": one.number() }));
        let options = json!({
            "rp": { "id": party.id(), "name": SITE_NAME },
            "user": {
                "id": BASE64URL_NOPAD.encode(owner.uuid().as_bytes()),
                "name": account.name,
                "displayName": account.name,
            },
            "challenge": BASE64URL_NOPAD.encode(&challenge),
            "pubKeyCredParams": algorithms,
            "timeout": limits::PASSKEY_CHALLENGE_KEPT.as_secs() * 1_000,
            "excludeCredentials": known,
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": true,
                "userVerification": "required",
            },
            "attestation": "none",
        });
        Ok(BegunPasskey { name, ceremony, options })
    }

    /// Adds the passkey that a browser has made to the own account.
    ///
    /// # Errors
    /// `PasswordNeeded`; `passkey_not_added` for an answer that is not taken, and for a credential that belongs to an
    /// account; `too_many_passkeys`.
    pub async fn add_passkey(
        &self,
        owner: UserId,
        actor: Actor,
        attempt: PasskeyAttempt<'_>,
    ) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let Some((name, made)) = self.verify_made(owner, attempt) else {
            self.record_refused(actor, AuditVerb::AddPasskey, "").await?;
            return Err(not_added());
        };
        let new = NewPasskey {
            id: ids::mint(),
            credential_id: made.id,
            name,
            public_key: made.public_key,
            algorithm: made.algorithm,
            sign_count: made.sign_count,
            is_backed_up: made.is_backed_up,
            created_at: self.clock().now(),
        };
        let mut tx = self.db().begin().await?;
        if !users::lock(&mut tx, owner).await? {
            return Err(AccountError::not_found());
        }
        check_count(passkeys::count(&mut tx, owner).await?)?;
        if !passkeys::insert(&mut tx, owner, &new).await? {
            tx.rollback().await?;
            self.record_refused(actor, AuditVerb::AddPasskey, &new.name).await?;
            return Err(not_added());
        }
        self.record(&mut tx, actor, AuditVerb::AddPasskey, &new.name).await?;
        tx.commit().await?;
        self.accounts().credentials().expire_checks(Some(owner));
        Ok(())
    }

    /// Verifies the answer to a begun ceremony, and returns the name that was chosen, and the credential.
    fn verify_made(&self, owner: UserId, attempt: PasskeyAttempt<'_>) -> Option<(String, VerifiedCredential)> {
        let begun = self.accounts().begun_ceremonies().take(attempt.ceremony)?;
        let party = attempt.party?;
        let CeremonyPurpose::Add { owner: of, name } = begun.purpose else { return None };
        if of != owner {
            return None;
        }
        let expected = ExpectedAnswer { party, challenge: &begun.challenge };
        let verified = RegistrationAnswer::from_json(attempt.answer).and_then(|answer| answer.verify(&expected));
        let verified = verified.inspect_err(|fault| {
            tracing::warn!(account = %owner, code = fault.code(), "a passkey was not added");
        });
        Some((name, verified.ok()?))
    }

    /// Removes a passkey from the own account, which has its password still.
    ///
    /// # Errors
    /// `PasswordNeeded`; `NotFound`; `last_second_factor` where one is required.
    pub async fn remove_passkey(&self, owner: UserId, actor: Actor, id: PasskeyId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let mut tx = self.db().begin().await?;
        users::lock(&mut tx, owner).await?;
        let name = passkeys::delete(&mut tx, owner, id).await?.ok_or_else(AccountError::not_found)?;
        self.check_remaining_factor(&mut tx, owner).await?;
        self.record(&mut tx, actor, AuditVerb::RemovePasskey, &name).await?;
        Ok(tx.commit().await?)
    }
}

#[cfg(test)]
mod tests;
