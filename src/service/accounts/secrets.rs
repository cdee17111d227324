//! Secrets that the server makes: the values of cookies, API tokens, and the codes of invitations.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// A secret that was made for somebody. It is sent or shown once, and only its hash is stored.
#[derive(Debug)]
pub struct NewSecret(SecretString);

impl NewSecret {
    pub(super) fn new(secret: String) -> Self {
        Self(secret.into())
    }

    /// Returns the secret, for its owner.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Returns what is stored of a secret that was made with [`turnleaf_platform::random::random_token`]. A slow hash would
/// add nothing, because nobody can try 2^256 of them.
pub(super) fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}
