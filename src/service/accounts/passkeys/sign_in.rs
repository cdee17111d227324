//! The use of passkeys: to sign in, where one is password and second factor at once, and in place of the password before
//! a dangerous action.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use super::PasskeyAttempt;
use super::relying_party::RelyingParty;
use super::verification::{AssertionAnswer, ExpectedAnswer, PasskeyFault, StoredCredential, VerifiedUse};
use crate::Service;
use crate::accounts::account_error::AccountError;
use crate::accounts::begun_ceremonies::CeremonyPurpose;
use crate::accounts::secrets::NewSecret;
use crate::accounts::{Actor, ClientOrigin};
use turnleaf_domain::{AuditVerb, MessageCode, SessionOrigin, UserId, limits};
use turnleaf_platform::client_network::client_network;
use turnleaf_store::StoreError;
use turnleaf_store::accounts::passkeys::{self, FoundPasskey, PasskeyUse};
use turnleaf_store::accounts::sessions;
use turnleaf_store::database::db::Tx;

/// A request to use a passkey.
#[derive(Debug)]
pub struct BegunPasskeyUse {
    /// The secret that names the ceremony.
    pub ceremony: NewSecret,
    /// The options for `navigator.credentials.get`, with bytes in base64url.
    pub options: Value,
}

fn refused(code: MessageCode) -> AccountError {
    AccountError::conflict("passkey_refused", code)
}

impl Service {
    /// Begins the use of a passkey: by a stranger to sign in, by a person who is signed in to confirm that. It names no
    /// credentials, so that it tells nothing about accounts: the browser offers those that it has.
    ///
    /// # Errors
    /// `passkeys_unavailable`; `Wait` after too many that were not finished.
    pub fn begin_passkey_use(
        &self,
        person: Option<UserId>,
        party: Option<&RelyingParty>,
        client: &ClientOrigin,
    ) -> Result<BegunPasskeyUse, AccountError> {
        let unavailable = || AccountError::conflict("passkeys_unavailable", MessageCode::PasskeysUnavailable);
        let party = party.ok_or_else(unavailable)?;
        self.accounts().begun_by_network().begin(&client.network).map_err(AccountError::too_many_attempts)?;
        let purpose = person.map_or(CeremonyPurpose::SignIn, CeremonyPurpose::Confirm);
        let (ceremony, challenge) = self.accounts().begun_ceremonies().begin(purpose);
        let options = json!({
            "challenge": BASE64URL_NOPAD.encode(&challenge),
            "rpId": party.id(),
            "timeout": limits::PASSKEY_CHALLENGE_KEPT.as_secs() * 1_000,
            "userVerification": "required",
        });
        Ok(BegunPasskeyUse { ceremony, options })
    }

    /// Begins a session of the account of a passkey, and returns the secret for its cookie. No code is asked for: the
    /// authenticator has verified its person.
    ///
    /// # Errors
    /// `passkey_refused` with the reason; `Wait` after too many attempts.
    pub async fn sign_in_with_passkey(
        &self,
        attempt: PasskeyAttempt<'_>,
        client: &ClientOrigin,
    ) -> Result<NewSecret, AccountError> {
        let (by_network, begun) = (self.accounts().attempts_by_network(), self.accounts().begun_by_network());
        by_network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        let actor = Actor { address: Some(client.address), ..Actor::default() };
        let verb = AuditVerb::SignIn;
        let (found, used) = self.check_passkey(attempt, &CeremonyPurpose::SignIn, (actor, verb)).await?;
        let mut tx = self.db().begin().await?;
        if !self.record_passkey_use(&mut tx, &found, used).await? {
            tx.rollback().await?;
            return Err(self.refuse_copy(&found, (actor, verb)));
        }
        let secret = self.start_session(&mut tx, found.owner, client, SessionOrigin::Passkey).await?;
        let secret = secret.ok_or_else(|| refused(MessageCode::AccountDisabled))?;
        let actor = Actor { user: Some(found.owner), ..actor };
        self.record(&mut tx, actor, verb, &found.account).await?;
        self.record(&mut tx, actor, AuditVerb::UsePasskey, &found.name).await?;
        tx.commit().await?;
        self.forget_former_session(client);
        by_network.take_back(&client.network);
        begun.take_back(&client.network);
        Ok(secret)
    }

    /// Counts a passkey of the actor as the password that was entered in this session.
    ///
    /// # Errors
    /// `passkey_refused` with the reason; `Wait` after too many attempts, which are those of the password.
    pub async fn confirm_with_passkey(&self, actor: Actor, attempt: PasskeyAttempt<'_>) -> Result<(), AccountError> {
        let (Some(user), Some(session)) = (actor.user, actor.session) else { return Ok(()) };
        let by_person = self.accounts().attempts_by_person();
        by_person.begin(&user).map_err(AccountError::too_many_attempts)?;
        let verb = AuditVerb::ConfirmPassword;
        let (found, used) = self.check_passkey(attempt, &CeremonyPurpose::Confirm(user), (actor, verb)).await?;
        if found.owner != user {
            self.note_refused(actor, verb, found.account);
            return Err(refused(MessageCode::PasskeyUnusable));
        }
        let mut tx = self.db().begin().await?;
        if !self.record_passkey_use(&mut tx, &found, used).await? {
            tx.rollback().await?;
            return Err(self.refuse_copy(&found, (actor, verb)));
        }
        sessions::note_password(&mut tx, user, session, self.clock().now()).await?;
        self.record(&mut tx, actor, AuditVerb::UsePasskey, &found.name).await?;
        tx.commit().await?;
        by_person.forget(&user);
        if let Some(address) = actor.address {
            self.accounts().begun_by_network().take_back(&client_network(address));
        }
        Ok(())
    }

    /// Verifies an answer, and returns the passkey with the state of its authenticator. The ceremony ends with it.
    async fn check_passkey(
        &self,
        attempt: PasskeyAttempt<'_>,
        purpose: &CeremonyPurpose,
        (actor, verb): (Actor, AuditVerb),
    ) -> Result<(FoundPasskey, VerifiedUse), AccountError> {
        let begun = self.accounts().begun_ceremonies().take(attempt.ceremony);
        let begun = begun.filter(|begun| begun.purpose == *purpose);
        let (Some(begun), Some(party)) = (begun, attempt.party) else {
            return Err(refused(MessageCode::SignInExpired));
        };
        let answer = AssertionAnswer::from_json(attempt.answer).map_err(log_fault)?;
        let Some(found) = passkeys::find(self.db(), &answer.id).await? else {
            return Err(refused(MessageCode::PasskeyUnusable));
        };
        let owner = found.owner.uuid();
        let (public_key, algorithm) = (&found.public_key, found.algorithm);
        let stored = StoredCredential { public_key, algorithm, user_handle: owner.as_bytes() };
        let expected = ExpectedAnswer { party, challenge: &begun.challenge };
        let error = match answer.verify(&stored, &expected) {
            Ok(used) if !found.is_disabled => return Ok((found, used)),
            Ok(_) => refused(MessageCode::AccountDisabled),
            Err(fault) => log_fault(fault),
        };
        self.note_refused(actor, verb, found.account);
        Err(error)
    }

    async fn record_passkey_use(
        &self,
        tx: &mut Tx,
        found: &FoundPasskey,
        used: VerifiedUse,
    ) -> Result<bool, StoreError> {
        let VerifiedUse { sign_count, is_backed_up } = used;
        let used = PasskeyUse { sign_count, is_backed_up, at: self.clock().now() };
        passkeys::record_use(tx, found.owner, found.id, used).await
    }

    /// Refuses an authenticator that has not counted on: another one may have a copy of its key.
    fn refuse_copy(&self, found: &FoundPasskey, (actor, verb): (Actor, AuditVerb)) -> AccountError {
        tracing::warn!(account = %found.owner, "a passkey was refused, because its authenticator may have been copied");
        self.note_refused(actor, verb, found.account.clone());
        refused(MessageCode::PasskeyUnusable)
    }
}

/// Logs why an answer was not taken, which its sender is not told.
fn log_fault(fault: PasskeyFault) -> AccountError {
    tracing::warn!(code = fault.code(), "a passkey was refused");
    refused(MessageCode::PasskeyUnusable)
}
