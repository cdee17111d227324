//! Passkeys: the examples of the specification, and each answer that is not taken.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::cose_key::CoseKey;
use super::relying_party::RelyingParty;
use super::verification::{
    AssertionAnswer, ExpectedAnswer, PasskeyFault, RegistrationAnswer, StoredCredential, VerifiedCredential,
    VerifiedUse,
};
use spec_vectors::{
    CROSS_ORIGIN, EDDSA, ES256, ES256_CHALLENGE, NOT_VERIFIED, ORIGIN, PACKED, PACKED_ID, RS256, RegistrationExample,
    SignatureExample,
};
use turnleaf_domain::limits;

mod spec_vectors;

const SITE: &str = "https://chat.example";
const RP_ID: &str = "chat.example";
const CHALLENGE: [u8; 32] = [7; 32];
const USER: &[u8] = &[3; 16];
const ID: &[u8] = &[0xca, 0xfe];
/// The flags: a person who is present and verified; a credential that was made.
const VERIFIED: u8 = 0x05;
const HAS_CREDENTIAL: u8 = 0x40;
const ES256_NUMBER: i64 = -7;

fn unhex(text: &str) -> Vec<u8> {
    HEXLOWER.decode(text.as_bytes()).unwrap()
}

fn party(origin: &str) -> RelyingParty {
    RelyingParty::from_origin(origin).unwrap()
}

/// An authenticator with one credential.
struct TestAuthenticator(EcdsaKeyPair);

/// An answer before it is signed.
#[derive(Debug, Clone)]
struct UnsignedAnswer {
    client: Value,
    rp_id: &'static str,
    flags: u8,
}

impl UnsignedAnswer {
    fn new(purpose: &str) -> Self {
        let challenge = BASE64URL_NOPAD.encode(&CHALLENGE);
        let client = json!({ "type": purpose, "challenge": challenge, "origin": SITE, "crossOrigin": false });
        Self { client, rp_id: RP_ID, flags: VERIFIED }
    }

    fn with_client(&self, member: &str, value: impl Into<Value>) -> Self {
        let mut changed = self.clone();
        changed.client[member] = value.into();
        changed
    }

    fn client_data(&self) -> Vec<u8> {
        self.client.to_string().into_bytes()
    }

    /// Returns authenticator data with a count of 5.
    fn authenticator_data(&self, flags: u8, credential: &[u8]) -> Vec<u8> {
        [&Sha256::digest(self.rp_id)[..], &[self.flags | flags, 0, 0, 0, 5], credential].concat()
    }
}

impl TestAuthenticator {
    fn new() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
    }

    fn public_key(&self) -> Vec<u8> {
        let (x, y) = self.0.public_key().as_ref()[1..].split_at(32);
        [&b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"[..], x, b"\x22\x58\x20", y].concat()
    }

    fn make(&self, unsigned: &UnsignedAnswer) -> RegistrationAnswer {
        self.make_with(unsigned, &self.public_key())
    }

    fn make_with(&self, unsigned: &UnsignedAnswer, public_key: &[u8]) -> RegistrationAnswer {
        let credential = [&[0; 16][..], &[0, 2], ID, public_key].concat();
        let data = unsigned.authenticator_data(HAS_CREDENTIAL, &credential);
        let length = u8::try_from(data.len()).unwrap();
        let head = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58";
        let attestation = [&head[..], &[length], &data].concat();
        RegistrationAnswer { client_data: unsigned.client_data(), attestation }
    }

    fn sign(&self, unsigned: &UnsignedAnswer) -> AssertionAnswer {
        let (client_data, authenticator_data) = (unsigned.client_data(), unsigned.authenticator_data(0, &[]));
        let message = [&authenticator_data[..], &Sha256::digest(&client_data)[..]].concat();
        let signature = self.0.sign(&SystemRandom::new(), &message).unwrap().as_ref().to_vec();
        AssertionAnswer { id: ID.to_vec(), client_data, authenticator_data, signature, user_handle: USER.to_vec() }
    }

    /// Verifies an answer with the credential of this authenticator.
    fn verify(&self, answer: &AssertionAnswer) -> Result<VerifiedUse, PasskeyFault> {
        let (public_key, site) = (self.public_key(), party(SITE));
        let stored = StoredCredential { public_key: &public_key, algorithm: ES256_NUMBER, user_handle: USER };
        answer.verify(&stored, &ExpectedAnswer { party: &site, challenge: &CHALLENGE })
    }
}

fn verify_made(answer: &RegistrationAnswer) -> Result<VerifiedCredential, PasskeyFault> {
    let site = party(SITE);
    answer.verify(&ExpectedAnswer { party: &site, challenge: &CHALLENGE })
}

/// Returns answers that are wrong, with their faults.
fn wrong_answers(purpose: &str, other_purpose: &str) -> Vec<(UnsignedAnswer, PasskeyFault)> {
    let good = UnsignedAnswer::new(purpose);
    let padded = format!("{}=", BASE64URL_NOPAD.encode(&CHALLENGE));
    let flags = |flags| UnsignedAnswer { flags, ..good.clone() };
    vec![
        (good.with_client("type", other_purpose), PasskeyFault::Purpose),
        (good.with_client("type", ""), PasskeyFault::Purpose),
        (good.with_client("challenge", BASE64URL_NOPAD.encode(&[8; 32])), PasskeyFault::Challenge),
        (good.with_client("challenge", padded), PasskeyFault::Challenge),
        (good.with_client("challenge", ""), PasskeyFault::Challenge),
        (good.with_client("origin", "http://chat.example"), PasskeyFault::Origin),
        (good.with_client("origin", "https://chat.example:8443"), PasskeyFault::Origin),
        (good.with_client("origin", "https://chat.example.evil.example"), PasskeyFault::Origin),
        (good.with_client("origin", "https://a.chat.example"), PasskeyFault::Origin),
        (good.with_client("crossOrigin", true), PasskeyFault::CrossOrigin),
        (good.with_client("topOrigin", SITE), PasskeyFault::CrossOrigin),
        (good.with_client("origin", 7), PasskeyFault::Malformed),
        (UnsignedAnswer { client: json!([]), ..good.clone() }, PasskeyFault::Malformed),
        (UnsignedAnswer { rp_id: "evil.example", ..good.clone() }, PasskeyFault::RelyingParty),
        (flags(0), PasskeyFault::UserNotPresent),
        (flags(0x04), PasskeyFault::UserNotPresent),
        (flags(0x01), PasskeyFault::UserNotVerified),
        // Backed up, and not to be backed up.
        (flags(VERIFIED | 0x10), PasskeyFault::BackupState),
    ]
}

#[test]
fn signatures_of_all_algorithms_are_verified() {
    let examples: [SignatureExample; 3] = [ES256, EDDSA, RS256];
    let keys = examples.each_ref().map(|example| unhex(example.public_key));
    for (at, example) in examples.iter().enumerate() {
        let client_hash = Sha256::digest(example.client_data);
        let message = [&unhex(example.authenticator_data)[..], &client_hash[..]].concat();
        let signature = unhex(example.signature);
        for (other, key) in keys.iter().enumerate() {
            let is_verified = CoseKey::parse(key).unwrap().verify(&message, &signature);
            assert_eq!(is_verified, at == other, "{at} {other}");
        }
        let key = CoseKey::parse(&keys[at]).unwrap();
        for byte in [0, message.len() - 1] {
            let mut changed = message.clone();
            changed[byte] ^= 1;
            assert!(!key.verify(&changed, &signature), "{at} {byte}");
        }
        for byte in [0, signature.len() / 2, signature.len() - 1] {
            let mut changed = signature.clone();
            changed[byte] ^= 1;
            assert!(!key.verify(&message, &changed), "{at} {byte}");
        }
        for changed in [&signature[1..], &signature[..signature.len() - 1], &[]] {
            assert!(!key.verify(&message, changed), "{at}");
        }
    }
}

#[test]
fn example_of_specification_is_made_and_used() {
    let (site, challenge) = (party(ORIGIN), unhex(PACKED.challenge));
    let answer = RegistrationAnswer {
        client_data: PACKED.client_data.as_bytes().to_vec(),
        attestation: unhex(PACKED.attestation),
    };
    let made = answer.verify(&ExpectedAnswer { party: &site, challenge: &challenge }).unwrap();
    let expected = VerifiedCredential {
        id: unhex(PACKED_ID),
        public_key: unhex(ES256.public_key),
        algorithm: ES256_NUMBER,
        sign_count: 0,
        is_backed_up: false,
    };
    assert_eq!(made, expected);
    let answer = AssertionAnswer {
        id: made.id,
        client_data: ES256.client_data.as_bytes().to_vec(),
        authenticator_data: unhex(ES256.authenticator_data),
        signature: unhex(ES256.signature),
        user_handle: USER.to_vec(),
    };
    let stored = StoredCredential { public_key: &made.public_key, algorithm: ES256_NUMBER, user_handle: USER };
    let challenge = unhex(ES256_CHALLENGE);
    let used = answer.verify(&stored, &ExpectedAnswer { party: &site, challenge: &challenge });
    assert_eq!(used, Ok(VerifiedUse { sign_count: 0, is_backed_up: false }));
}

#[test]
fn examples_without_verified_person_or_of_frame_are_refused() {
    let verify = |example: &RegistrationExample| {
        let answer = RegistrationAnswer {
            client_data: example.client_data.as_bytes().to_vec(),
            attestation: unhex(example.attestation),
        };
        answer.verify(&ExpectedAnswer { party: &party(ORIGIN), challenge: &unhex(example.challenge) })
    };
    assert_eq!(verify(&NOT_VERIFIED), Err(PasskeyFault::UserNotVerified));
    assert_eq!(verify(&CROSS_ORIGIN), Err(PasskeyFault::CrossOrigin));
}

#[test]
fn made_credential_has_each_value_checked() {
    let authenticator = TestAuthenticator::new();
    let good = UnsignedAnswer::new("webauthn.create");
    let made = verify_made(&authenticator.make(&good)).unwrap();
    assert_eq!((made.id.as_slice(), made.public_key.as_slice()), (ID, authenticator.public_key().as_slice()));
    assert_eq!((made.algorithm, made.sign_count, made.is_backed_up), (ES256_NUMBER, 5, false));
    let synced = UnsignedAnswer { flags: VERIFIED | 0x18, ..good.clone() };
    assert!(verify_made(&authenticator.make(&synced)).unwrap().is_backed_up);
    let newer = good.with_client("extraData", json!({ "of": ["the", "future"] }));
    assert!(verify_made(&authenticator.make(&newer)).is_ok());
    for (wrong, fault) in wrong_answers("webauthn.create", "webauthn.get") {
        assert_eq!(verify_made(&authenticator.make(&wrong)), Err(fault), "{wrong:?}");
    }
}

#[test]
fn damaged_attestation_is_refused() {
    let authenticator = TestAuthenticator::new();
    let good = authenticator.make(&UnsignedAnswer::new("webauthn.create"));
    for length in 0..good.attestation.len() {
        let cut = RegistrationAnswer { attestation: good.attestation[..length].to_vec(), ..good.clone() };
        assert_eq!(verify_made(&cut), Err(PasskeyFault::Malformed), "{length}");
    }
    let longer = RegistrationAnswer { attestation: [&good.attestation[..], &[0]].concat(), ..good.clone() };
    assert_eq!(verify_made(&longer), Err(PasskeyFault::Malformed));
    // An assertion has no credential.
    let mut data = UnsignedAnswer::new("").authenticator_data(0, &[]);
    let length = u8::try_from(data.len()).unwrap();
    let mut attestation = [&b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"[..], &[length]].concat();
    attestation.append(&mut data);
    let without = RegistrationAnswer { attestation, ..good };
    assert_eq!(verify_made(&without), Err(PasskeyFault::Malformed));
}

#[test]
fn keys_of_other_algorithms_and_forms_are_refused() {
    let coordinate = "00".repeat(32);
    let es256 = format!("a5010203262001215820{coordinate}225820{coordinate}");
    assert!(CoseKey::parse(&unhex(&es256)).is_some());
    let authenticator = TestAuthenticator::new();
    for (case, key) in [
        // 03 38 22: the algorithm -35.
        ("ES384", es256.replacen("0326", "033822", 1)),
        ("ES256K", es256.replacen("0326", "03382e", 1)),
        ("EdDSA of a point", es256.replacen("0326", "0327", 1)),
        ("a point of another type", es256.replacen("0102", "0101", 1)),
        ("another curve", es256.replacen("2001", "2002", 1)),
        ("no algorithm", format!("a401022001215820{coordinate}225820{coordinate}")),
        ("no second coordinate", format!("a4010203262001215820{coordinate}")),
        ("a compressed point", format!("a5010203262001215820{coordinate}22f5")),
        ("a short coordinate", format!("a5010203262001215820{coordinate}22581f{}", "00".repeat(31))),
        ("a symmetric key", format!("a301040305205820{coordinate}")),
        ("an empty key", "a0".to_owned()),
        ("no map", "80".to_owned()),
    ] {
        let key = unhex(&key);
        assert_eq!(CoseKey::parse(&key), None, "{case}");
        let answer = authenticator.make_with(&UnsignedAnswer::new("webauthn.create"), &key);
        assert_eq!(verify_made(&answer), Err(PasskeyFault::Algorithm), "{case}");
    }
    let no_point = CoseKey::parse(&unhex(&es256)).map(|key| key.verify(b"message", &unhex(ES256.signature)));
    assert_eq!(no_point, Some(false), "the coordinates are those of no point on the curve");
}

#[test]
fn used_credential_has_each_value_checked() {
    let authenticator = TestAuthenticator::new();
    let good = UnsignedAnswer::new("webauthn.get");
    let used = authenticator.verify(&authenticator.sign(&good));
    assert_eq!(used, Ok(VerifiedUse { sign_count: 5, is_backed_up: false }));
    for (wrong, fault) in wrong_answers("webauthn.get", "webauthn.create") {
        assert_eq!(authenticator.verify(&authenticator.sign(&wrong)), Err(fault), "{wrong:?}");
    }
}

#[test]
fn changed_answers_have_no_signature() {
    let authenticator = TestAuthenticator::new();
    let good = authenticator.sign(&UnsignedAnswer::new("webauthn.get"));
    let mut count = good.clone();
    count.authenticator_data[36] = 6;
    let mut client = good.clone();
    client.client_data.push(b' ');
    let mut signature = good.clone();
    signature.signature.pop();
    let none = AssertionAnswer { signature: Vec::new(), ..good.clone() };
    for changed in [count, client, signature, none] {
        assert_eq!(authenticator.verify(&changed), Err(PasskeyFault::Signature), "{changed:?}");
    }
    let other = TestAuthenticator::new().sign(&UnsignedAnswer::new("webauthn.get"));
    assert_eq!(authenticator.verify(&other), Err(PasskeyFault::Signature));
    let mut longer = good.clone();
    longer.authenticator_data.push(0);
    assert_eq!(authenticator.verify(&longer), Err(PasskeyFault::Malformed));
    for handle in [&USER[1..], &[4; 16], &[]] {
        let foreign = AssertionAnswer { user_handle: handle.to_vec(), ..good.clone() };
        assert_eq!(authenticator.verify(&foreign), Err(PasskeyFault::UserHandle), "{handle:?}");
    }
    let (public_key, site) = (authenticator.public_key(), party(SITE));
    let stored = StoredCredential { public_key: &public_key, algorithm: -8, user_handle: USER };
    let expected = ExpectedAnswer { party: &site, challenge: &CHALLENGE };
    assert_eq!(good.verify(&stored, &expected), Err(PasskeyFault::Algorithm));
    let damaged = StoredCredential { public_key: &public_key[1..], algorithm: ES256_NUMBER, ..stored };
    assert_eq!(good.verify(&damaged, &expected), Err(PasskeyFault::Algorithm));
}

#[test]
fn answer_is_read_from_json_of_page_only() {
    let good = json!({ "client_data": "e30", "attestation": "oA" });
    let expected = RegistrationAnswer { client_data: b"{}".to_vec(), attestation: vec![0xa0] };
    assert_eq!(RegistrationAnswer::from_json(&good.to_string()), Ok(expected));
    let with = |member: &str, value: Value| {
        let mut changed = good.clone();
        changed[member] = value;
        changed.to_string()
    };
    let long = "A".repeat(limits::PASSKEY_ANSWER_BYTES);
    for wrong in [
        String::new(),
        "{}".to_owned(),
        with("more", "e30".into()),
        with("client_data", Value::Null),
        with("client_data", "e30=".into()),
        with("client_data", "e31".into()),
        with("client_data", "+/8".into()),
        with("client_data", long.into()),
    ] {
        assert_eq!(RegistrationAnswer::from_json(&wrong), Err(PasskeyFault::Malformed), "{wrong:.80}");
    }
    let used = json!({
        "id": "yv4", "client_data": "e30", "authenticator_data": "AA", "signature": "AA", "user_handle": "AwM",
    });
    let read = AssertionAnswer::from_json(&used.to_string()).unwrap();
    assert_eq!((read.id.as_slice(), read.user_handle.as_slice()), (ID, &[3, 3][..]));
    let mut without = used;
    without["user_handle"] = Value::Null;
    assert_eq!(AssertionAnswer::from_json(&without.to_string()), Err(PasskeyFault::Malformed));
}
