//! The answers of authenticators: CBOR, public keys and authenticator data.

use turnleaf_service::accounts::passkeys::authenticator_data::AuthenticatorData;
use turnleaf_service::accounts::passkeys::cbor::CborItem;
use turnleaf_service::accounts::passkeys::cose_key::{CoseAlgorithm, CoseKey};

/// Asserts that no bytes break the readers, that an item is delimited by itself, and that a key which is read belongs to
/// an algorithm and made no other signature.
pub fn answer_holds(bytes: &[u8]) {
    if let Some((item, behind)) = CborItem::read(bytes) {
        let read = &bytes[..bytes.len() - behind.len()];
        assert!(bytes.ends_with(behind));
        assert_eq!(CborItem::read(read), Some((item, &b""[..])));
        assert_eq!(CborItem::read(&read[..read.len() - 1]), None);
    }
    if let Some(key) = CoseKey::parse(bytes) {
        assert!(CoseAlgorithm::ALL.contains(&key.algorithm()));
        assert!(!key.verify(b"message", bytes));
    }
    if let Some(credential) = AuthenticatorData::parse(bytes).and_then(|data| data.credential) {
        assert!(credential.id.len() + credential.public_key.len() < bytes.len());
        assert!(CborItem::read(credential.public_key).is_some_and(|(_, behind)| behind.is_empty()));
    }
}
