//! Verification of the answers of passkeys (WebAuthn Level 3, 7.1 and 7.2). Pure: the caller has the challenge and the
//! stored credential. Statements of attestation are not evaluated, because no model of authenticator is preferred.

use data_encoding::BASE64URL_NOPAD;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

use super::authenticator_data::AuthenticatorData;
use super::cbor::CborItem;
use super::cose_key::CoseKey;
use super::relying_party::RelyingParty;
use turnleaf_domain::limits;

/// The answer to the request to make a passkey.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistrationAnswer {
    #[serde(deserialize_with = "base64url")]
    pub client_data: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    pub attestation: Vec<u8>,
}

/// The answer to the request to use a passkey.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssertionAnswer {
    /// The id of the credential.
    #[serde(deserialize_with = "base64url")]
    pub id: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    pub client_data: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    pub authenticator_data: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    pub signature: Vec<u8>,
    /// The account for which the authenticator keeps the credential.
    #[serde(deserialize_with = "base64url")]
    pub user_handle: Vec<u8>,
}

/// The expected values of an answer.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedAnswer<'a> {
    pub party: &'a RelyingParty,
    pub challenge: &'a [u8],
}

/// A credential as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct StoredCredential<'a> {
    pub public_key: &'a [u8],
    pub algorithm: i64,
    /// The account that it belongs to.
    pub user_handle: &'a [u8],
}

/// A credential that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedCredential {
    pub id: Vec<u8>,
    pub public_key: Vec<u8>,
    pub algorithm: i64,
    pub sign_count: u32,
    pub is_backed_up: bool,
}

/// The state of the authenticator at a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedUse {
    pub sign_count: u32,
    pub is_backed_up: bool,
}

/// The reason why an answer is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasskeyFault {
    Malformed,
    Purpose,
    Challenge,
    Origin,
    CrossOrigin,
    RelyingParty,
    UserNotPresent,
    UserNotVerified,
    BackupState,
    Algorithm,
    UserHandle,
    Signature,
}

impl PasskeyFault {
    /// Returns its code, for the log.
    pub fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed_answer",
            Self::Purpose => "wrong_type",
            Self::Challenge => "wrong_challenge",
            Self::Origin => "wrong_origin",
            Self::CrossOrigin => "framed_by_other_origin",
            Self::RelyingParty => "wrong_relying_party",
            Self::UserNotPresent => "user_not_present",
            Self::UserNotVerified => "user_not_verified",
            Self::BackupState => "wrong_backup_state",
            Self::Algorithm => "wrong_algorithm",
            Self::UserHandle => "wrong_user_handle",
            Self::Signature => "wrong_signature",
        }
    }
}

/// The client data (WebAuthn, 5.8.1), which the browser writes. Further members may follow in the future.
#[derive(Deserialize)]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(rename = "crossOrigin", default)]
    is_cross_origin: bool,
    #[serde(rename = "topOrigin")]
    top_origin: Option<String>,
}

fn base64url<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(text)?;
    BASE64URL_NOPAD.decode(text.as_bytes()).map_err(D::Error::custom)
}

fn read_answer<T: DeserializeOwned>(json: &str) -> Result<T, PasskeyFault> {
    if json.len() > limits::PASSKEY_ANSWER_BYTES {
        return Err(PasskeyFault::Malformed);
    }
    serde_json::from_str(json).map_err(|_| PasskeyFault::Malformed)
}

impl RegistrationAnswer {
    /// Reads the JSON that the script of the page sends.
    pub fn from_json(json: &str) -> Result<Self, PasskeyFault> {
        read_answer(json)
    }

    /// Verifies the answer (7.1), and returns the credential. The caller has to check that it belongs to nobody.
    ///
    /// # Errors
    /// The first fault.
    pub fn verify(&self, expected: &ExpectedAnswer<'_>) -> Result<VerifiedCredential, PasskeyFault> {
        check_client_data(&self.client_data, "webauthn.create", expected)?;
        let bytes = authenticator_data_of(&self.attestation).ok_or(PasskeyFault::Malformed)?;
        let data = checked_data(bytes, expected)?;
        let made = data.credential.ok_or(PasskeyFault::Malformed)?;
        if !(1..=limits::CREDENTIAL_ID_BYTES).contains(&made.id.len()) {
            return Err(PasskeyFault::Malformed);
        }
        let key = CoseKey::parse(made.public_key).ok_or(PasskeyFault::Algorithm)?;
        Ok(VerifiedCredential {
            id: made.id.to_vec(),
            public_key: made.public_key.to_vec(),
            algorithm: key.algorithm().number(),
            sign_count: data.sign_count,
            is_backed_up: data.is_backed_up(),
        })
    }
}

impl AssertionAnswer {
    /// Reads the JSON that the script of the page sends.
    pub fn from_json(json: &str) -> Result<Self, PasskeyFault> {
        read_answer(json)
    }

    /// Verifies the answer (7.2) with the credential of its id. The caller has to compare the count of signatures.
    ///
    /// # Errors
    /// The first fault.
    pub fn verify(
        &self,
        stored: &StoredCredential<'_>,
        expected: &ExpectedAnswer<'_>,
    ) -> Result<VerifiedUse, PasskeyFault> {
        if self.user_handle != stored.user_handle {
            return Err(PasskeyFault::UserHandle);
        }
        check_client_data(&self.client_data, "webauthn.get", expected)?;
        let data = checked_data(&self.authenticator_data, expected)?;
        let key = CoseKey::parse(stored.public_key).filter(|key| key.algorithm().number() == stored.algorithm);
        let key = key.ok_or(PasskeyFault::Algorithm)?;
        let message = [&self.authenticator_data[..], &Sha256::digest(&self.client_data)[..]].concat();
        if !key.verify(&message, &self.signature) {
            return Err(PasskeyFault::Signature);
        }
        Ok(VerifiedUse { sign_count: data.sign_count, is_backed_up: data.is_backed_up() })
    }
}

fn check_client_data(json: &[u8], purpose: &str, expected: &ExpectedAnswer<'_>) -> Result<(), PasskeyFault> {
    let read: ClientData = serde_json::from_slice(json).map_err(|_| PasskeyFault::Malformed)?;
    if read.r#type != purpose {
        return Err(PasskeyFault::Purpose);
    }
    if read.challenge != BASE64URL_NOPAD.encode(expected.challenge) {
        return Err(PasskeyFault::Challenge);
    }
    if read.origin != expected.party.origin() {
        return Err(PasskeyFault::Origin);
    }
    // No page of this server asks for a passkey in a frame.
    if read.is_cross_origin || read.top_origin.is_some() {
        return Err(PasskeyFault::CrossOrigin);
    }
    Ok(())
}

/// Returns the authenticator data of an attestation object (6.5). Its statement is of any kind: browsers leave that of
/// authenticators that attest themselves.
fn authenticator_data_of(attestation: &[u8]) -> Option<&[u8]> {
    let (object, []) = CborItem::read(attestation)? else { return None };
    match (object.get(&CborItem::Text("fmt"))?, object.get(&CborItem::Text("attStmt"))?) {
        (CborItem::Text(_), CborItem::Map(_)) => {}
        _ => return None,
    }
    match object.get(&CborItem::Text("authData"))? {
        CborItem::Bytes(bytes) => Some(*bytes),
        _ => None,
    }
}

/// Reads authenticator data, and checks the relying party and the flags.
fn checked_data<'a>(bytes: &'a [u8], expected: &ExpectedAnswer<'_>) -> Result<AuthenticatorData<'a>, PasskeyFault> {
    let data = AuthenticatorData::parse(bytes).ok_or(PasskeyFault::Malformed)?;
    if data.rp_id_hash != &Sha256::digest(expected.party.id())[..] {
        return Err(PasskeyFault::RelyingParty);
    }
    if !data.is_user_present() {
        return Err(PasskeyFault::UserNotPresent);
    }
    if !data.is_user_verified() {
        return Err(PasskeyFault::UserNotVerified);
    }
    if data.is_backed_up() && !data.is_backup_eligible() {
        return Err(PasskeyFault::BackupState);
    }
    Ok(data)
}
