//! The stored form of secrets that the server has made.

use sha2::{Digest, Sha256};

/// Returns what is stored of a secret that was made with [`turnleaf_platform::random::random_token`]. A slow hash would
/// add nothing, because nobody can try 2^256 of them.
pub(super) fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}
