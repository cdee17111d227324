//! Encryption of stored secrets with XChaCha20-Poly1305 under a key outside of the database
//! (`docs/adr/0026-encrypted-api-keys.md`). A ciphertext is bound to its table, column, row and use, so it cannot be
//! decrypted after it was moved to another row or its row was changed. Passwords of people are hashed instead.

use crate::hex::hex;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use chacha20poly1305::aead::{Aead, Generate, Key, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The key file in the data directory, used if the configuration names no key.
pub const KEY_FILE: &str = "secret.key";
const VERSION: &str = "v1";

/// The location and use that a ciphertext is bound to.
#[derive(Debug, Clone, Copy)]
pub struct SecretBinding<'a> {
    pub table: &'a str,
    pub column: &'a str,
    pub row: Uuid,
    /// The use of the secret, such as the URL that it is sent to.
    pub bound_to: &'a str,
}

impl SecretBinding<'_> {
    /// Returns the associated data. The URL comes last, so that no two bindings are equal.
    fn associated_data(&self) -> Vec<u8> {
        format!("turnleaf\n{}\n{}\n{}\n{}", self.table, self.column, self.row, self.bound_to).into_bytes()
    }
}

/// The reason why a secret cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// The secret was encrypted with a key that the server does not have.
    #[error("it was encrypted with a different key")]
    OtherKey,
    /// The ciphertext, its row or its binding was changed.
    #[error("it belongs to another row or address, or was modified")]
    Changed,
}

/// The encryption keys. `Debug` shows only their ids.
pub struct Keyring {
    /// The first key encrypts; all keys decrypt.
    keys: Vec<SealingKey>,
}

struct SealingKey {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}

impl Keyring {
    /// Opens the configured key, if any, and the key file of the data directory. Without a configured key the file is
    /// created at the first start, readable by its owner only. With one, an existing file still decrypts older
    /// secrets.
    ///
    /// # Errors
    /// The file cannot be read or created.
    pub fn open(configured: Option<&SecretString>, data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(KEY_FILE);
        let stored = match fs::read_to_string(&path) {
            Ok(text) if !text.trim().is_empty() => Some(SecretString::from(text.trim())),
            Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} is empty", path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && configured.is_some() => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(create_key_file(&path)?),
            Err(error) => return Err(error),
        };
        let secrets = configured.into_iter().chain(stored.as_ref());
        Ok(Self { keys: secrets.map(SealingKey::from_secret).collect() })
    }

    /// Creates a keyring with one key, for tests.
    pub fn from_secret(secret: &SecretString) -> Self {
        Self { keys: vec![SealingKey::from_secret(secret)] }
    }

    /// Encrypts a secret for its binding: `v1:<key>:<nonce>:<ciphertext>`, the last two in hexadecimal.
    pub fn seal(&self, place: SecretBinding<'_>, secret: &SecretString) -> String {
        let nonce = XNonce::generate();
        let (msg, aad) = (secret.expose_secret().as_bytes(), &place.associated_data()[..]);
        let sealed = self.keys.first().and_then(|key| {
            let sealed = key.cipher.encrypt(&nonce, Payload { msg, aad }).ok()?;
            Some(format!("{VERSION}:{}:{}:{}", key.id, hex(nonce), hex(&sealed)))
        });
        // Neither failure occurs: a keyring has a key, and only secrets of 256 GiB are refused.
        sealed.unwrap_or_default()
    }

    /// Decrypts a secret for its binding.
    ///
    /// # Errors
    /// The secret was encrypted with another key, or for another binding.
    pub fn unseal(&self, place: SecretBinding<'_>, sealed: &str) -> Result<SecretString, UnsealError> {
        let mut parts = sealed.split(':');
        let (Some(VERSION), Some(id), Some(nonce), Some(text), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(UnsealError::Changed);
        };
        let key = self.keys.iter().find(|key| key.id == id).ok_or(UnsealError::OtherKey)?;
        let nonce = unhex(nonce).and_then(|nonce| XNonce::try_from(&nonce[..]).ok()).ok_or(UnsealError::Changed)?;
        let msg = unhex(text).ok_or(UnsealError::Changed)?;
        let opened = key.cipher.decrypt(&nonce, Payload { msg: &msg, aad: &place.associated_data() });
        let opened = opened.map_err(|_| UnsealError::Changed)?;
        String::from_utf8(opened).map(SecretString::from).map_err(|_| UnsealError::Changed)
    }
}

impl SealingKey {
    fn from_secret(secret: &SecretString) -> Self {
        let digest = |purpose: &str| {
            let mut digest = Sha256::new();
            digest.update(purpose);
            digest.update(secret.expose_secret());
            digest.finalize()
        };
        let mut key = Key::<XChaCha20Poly1305>::default();
        key.copy_from_slice(&digest("turnleaf sealing key\n"));
        // The id identifies the key without revealing anything about it.
        let id = hex(&digest("turnleaf sealing key's id\n")[..4]);
        Self { id, cipher: XChaCha20Poly1305::new(&key) }
    }
}

/// Creates a random key in a new file of mode 0600.
fn create_key_file(path: &Path) -> io::Result<SecretString> {
    let text = hex(Key::<XChaCha20Poly1305>::generate());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    Ok(SecretString::from(text))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place(row: u128, bound_to: &str) -> SecretBinding<'_> {
        SecretBinding { table: "providers", column: "sealed_key", row: Uuid::from_u128(row), bound_to }
    }

    #[test]
    fn sealed_text_opens_only_with_its_binding_and_unchanged() {
        let keys = Keyring::from_secret(&"one".into());
        let binding = place(1, "https://a.example/v1");
        let sealed = keys.seal(binding, &"very-secret".into());
        assert_eq!(keys.unseal(binding, &sealed).unwrap().expose_secret(), "very-secret");
        assert!(!sealed.contains("very-secret"));
        assert_ne!(sealed, keys.seal(binding, &"very-secret".into()), "the same nonce twice");
        let mut flipped = sealed.clone();
        flipped.replace_range(sealed.len() - 1.., if sealed.ends_with('0') { "1" } else { "0" });
        for (case, place, text, error) in [
            ("another row", place(2, "https://a.example/v1"), sealed.as_str(), UnsealError::Changed),
            ("another address", place(1, "https://b.example/v1"), &sealed, UnsealError::Changed),
            ("another column", SecretBinding { column: "name", ..binding }, &sealed, UnsealError::Changed),
            ("another table", SecretBinding { table: "tools", ..binding }, &sealed, UnsealError::Changed),
            ("a changed text", binding, &flipped, UnsealError::Changed),
            ("a cut text", binding, &sealed[..sealed.len() - 2], UnsealError::Changed),
            ("another version", binding, &sealed.replacen("v1", "v2", 1), UnsealError::Changed),
            ("no text", binding, "", UnsealError::Changed),
        ] {
            assert_eq!(keys.unseal(place, text).unwrap_err(), error, "{case}");
        }
        let others = Keyring::from_secret(&"two".into());
        assert_eq!(others.unseal(binding, &sealed).unwrap_err(), UnsealError::OtherKey);
    }

    #[test]
    fn key_file_is_created_once_and_private_to_owner() {
        let dir = tempfile::tempdir().unwrap();
        let binding = place(1, "https://a.example");
        let sealed = Keyring::open(None, dir.path()).unwrap().seal(binding, &"very-secret".into());
        let mode = fs::metadata(dir.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(Keyring::open(None, dir.path()).unwrap().unseal(binding, &sealed).is_ok());

        // A configured key takes precedence, and the file still decrypts older secrets.
        let configured = SecretString::from("configured");
        let both = Keyring::open(Some(&configured), dir.path()).unwrap();
        assert!(both.unseal(binding, &sealed).is_ok());
        let newer = both.seal(binding, &"newer".into());
        assert_eq!(
            Keyring::open(None, dir.path()).unwrap().unseal(binding, &newer).unwrap_err(),
            UnsealError::OtherKey
        );
        assert!(Keyring::from_secret(&configured).unseal(binding, &newer).is_ok());

        let other = tempfile::tempdir().unwrap();
        Keyring::open(Some(&configured), other.path()).unwrap();
        assert!(!other.path().join(KEY_FILE).exists(), "no key is made where one is configured");
        fs::write(other.path().join(KEY_FILE), " \n").unwrap();
        assert!(Keyring::open(None, other.path()).is_err(), "an empty file is no key");
        assert!(!format!("{both:?}").contains("configured"));
    }
}
