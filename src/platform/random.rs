//! Random tokens that nobody can guess.

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Generate, Key};

use crate::hex::hex;

/// Returns 256 random bits of the system's generator as 64 hexadecimal digits.
pub fn random_token() -> String {
    hex(Key::<XChaCha20Poly1305>::generate())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_different() {
        let (one, other) = (random_token(), random_token());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
    }
}
