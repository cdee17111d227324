//! `cargo xtask passwords RANKING`: hashes the most common passwords that fit the rules into the source of the service, which
//! refuses them. The ranking has one password a line, the most common first. Four bytes of a hash tell as much as the
//! password, and nobody reads there what people have chosen.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::step::print_note;
use crate::workspace;

/// The number of passwords that OWASP ASVS 5.0 (6.2.4) asks for.
const PASSWORDS: usize = 3_000;
/// The fewest characters of a password (`PASSWORD_CHARS` in `src/domain/limits/accounts.rs`).
const FEWEST_CHARS: usize = 12;

/// Writes the hashes of the first passwords of a ranking.
///
/// # Errors
/// The ranking cannot be read or has too few passwords, or the file cannot be written.
pub fn run(ranking: &Path) -> Result<()> {
    let bytes = fs::read(ranking).with_context(|| ranking.display().to_string())?;
    let hashes = hashes_of_first(&String::from_utf8_lossy(&bytes), PASSWORDS)?;
    print_note(&format!("the hashes of {PASSWORDS} passwords have {} bytes", hashes.len()));
    fs::write(embedded_file(), hashes)?;
    Ok(())
}

fn embedded_file() -> PathBuf {
    workspace::root().join("src/service/accounts/common_password_hashes.bin")
}

/// Returns the sorted hashes of the first `most` different passwords that fit the rules.
fn hashes_of_first(ranking: &str, most: usize) -> Result<Vec<u8>> {
    let mut chosen: BTreeSet<String> = BTreeSet::new();
    for line in ranking.lines() {
        // Case does not count, and other characters have several forms.
        if line.is_ascii() && line.len() >= FEWEST_CHARS && chosen.len() < most {
            chosen.insert(line.to_ascii_lowercase());
        }
    }
    let hash = |password: &String| -> [u8; 4] {
        let digest = Sha256::digest(password);
        [digest[0], digest[1], digest[2], digest[3]]
    };
    let hashes: BTreeSet<[u8; 4]> = chosen.iter().map(hash).collect();
    ensure!(hashes.len() == most, "the ranking has only {} passwords that fit the rules", hashes.len());
    Ok(hashes.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_passwords_that_fit_are_hashed() {
        let ranking = "short\nUnbelievable\nunbelievable\r\nunbelieváble\nsonyericsson\nfinalfantasy\n";
        let hash = |password: &str| Sha256::digest(password)[..4].to_vec();
        let mut expected = [hash("unbelievable"), hash("sonyericsson")];
        expected.sort();
        assert_eq!(hashes_of_first(ranking, 2).unwrap(), expected.concat());
        assert!(hashes_of_first(ranking, 4).is_err());
    }

    #[test]
    fn embedded_hashes_are_sorted() {
        let embedded = fs::read(embedded_file()).unwrap();
        let hashes: Vec<&[u8]> = embedded.chunks(4).collect();
        assert_eq!((hashes.len(), embedded.len()), (PASSWORDS, 4 * PASSWORDS));
        assert!(hashes.is_sorted_by(|one, next| one < next));
    }
}
