//! Random tokens and keys that nobody can guess.

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Generate, Key};

use crate::hex::hex;

/// Returns 256 random bits of the system's generator as 64 hexadecimal digits.
pub fn random_token() -> String {
    hex(Key::<XChaCha20Poly1305>::generate())
}

/// Returns 256 random bits of the system's generator.
pub fn random_bytes() -> [u8; 32] {
    let bytes = Key::<XChaCha20Poly1305>::generate();
    let bytes: &[u8] = bytes.as_ref();
    std::array::from_fn(|at| bytes[at])
}

/// Returns 160 random bits of the system's generator, the length of a key for HMAC-SHA1.
pub fn random_key() -> [u8; 20] {
    let bytes = Key::<XChaCha20Poly1305>::generate();
    let bytes: &[u8] = bytes.as_ref();
    std::array::from_fn(|at| bytes[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_different() {
        let (one, other) = (random_token(), random_token());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
        assert_ne!(random_key(), random_key());
        assert_ne!(random_bytes(), random_bytes());
    }
}
