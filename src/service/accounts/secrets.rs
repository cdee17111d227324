//! Secrets that the server makes: the values of cookies, API tokens, the codes of invitations, and those that people
//! type: the setup code and recovery codes.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use turnleaf_platform::random::random_token;

/// The digits of a code that people type, and how many of them form a group. 112 bits are what a fast hash without a salt
/// protects (OWASP ASVS 5.0, 6.5.2); the limits on attempts would need fewer.
pub(super) const CODE_DIGITS: usize = 28;
const GROUP_DIGITS: usize = 4;

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

/// Returns a new code that people type: hexadecimal digits in groups.
pub(super) fn new_code() -> String {
    let token = random_token();
    let digits = &token[..CODE_DIGITS];
    let groups: Vec<&str> = (0..CODE_DIGITS).step_by(GROUP_DIGITS).map(|at| &digits[at..at + GROUP_DIGITS]).collect();
    groups.join("-")
}

/// Returns the digits of a code, however they are written.
pub(super) fn code_digits(typed: &str) -> String {
    typed.chars().filter(char::is_ascii_hexdigit).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns what is stored of a secret that was made here. A slow hash would add nothing, because nobody can try 2^112 of
/// them.
pub(super) fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_read_however_it_is_written() {
        for typed in ["00ff-12ab", " 00FF 12AB\n", "00ff12ab", "00ff—12ab"] {
            assert_eq!(code_digits(typed), "00ff12ab", "{typed:?}");
        }
        assert_eq!(code_digits(""), "");
    }

    #[test]
    fn new_code_has_groups_of_digits() {
        let code = new_code();
        assert_eq!((code.len(), code_digits(&code).len(), code.split('-').count()), (34, CODE_DIGITS, 7), "{code}");
        assert_ne!(code, new_code());
    }
}
