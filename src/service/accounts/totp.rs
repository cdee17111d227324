//! Codes of authenticator apps (RFC 6238): HMAC-SHA1 over the number of the present interval of 30 seconds, six digits.

use chrono::{DateTime, Utc};
use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha1::Sha1;

use turnleaf_platform::random::random_key;

const STEP_SECONDS: i64 = 30;
/// The steps before and after the present one whose codes count, because clocks differ and people type slowly.
const TOLERATED_STEPS: i64 = 1;
const DIGITS: usize = 6;
const CODES: u32 = 1_000_000;

/// The secret that an authenticator app shares with the server, in base 32, as people type it.
#[derive(Debug)]
pub struct TotpSecret(SecretString);

impl TotpSecret {
    pub(super) fn generate() -> Self {
        Self(BASE32_NOPAD.encode(&random_key()).into())
    }

    pub(super) fn new(text: SecretString) -> Self {
        Self(text)
    }

    /// Reads a secret; one that is not in base 32 has no codes.
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the secret as text, for its owner.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    pub(super) fn text(&self) -> &SecretString {
        &self.0
    }

    /// Returns the code at this time.
    pub fn code_at(&self, at: DateTime<Utc>) -> Option<String> {
        self.code_of_step(step_at(at))
    }

    /// Returns the step whose code was typed, if it is near this time.
    pub(super) fn matching_step(&self, typed: &str, now: DateTime<Utc>) -> Option<i64> {
        let present = step_at(now);
        let mut steps = (present - TOLERATED_STEPS..=present + TOLERATED_STEPS).filter(|step| *step >= 0);
        steps.find(|step| self.code_of_step(*step).is_some_and(|code| code == typed))
    }

    fn code_of_step(&self, step: i64) -> Option<String> {
        let key = BASE32_NOPAD.decode(self.0.expose_secret().as_bytes()).ok()?;
        let mut mac = Hmac::<Sha1>::new_from_slice(&key).ok()?;
        mac.update(&step.to_be_bytes());
        let digest: [u8; 20] = mac.finalize().into_bytes().into();
        // Dynamic truncation (RFC 4226, 5.3): the last four bits say where the number begins.
        let at = usize::from(digest[19] & 0x0f);
        let number = u32::from_be_bytes([digest[at], digest[at + 1], digest[at + 2], digest[at + 3]]);
        Some(format!("{:0width$}", (number & 0x7fff_ffff) % CODES, width = DIGITS))
    }
}

fn step_at(at: DateTime<Utc>) -> i64 {
    at.timestamp().div_euclid(STEP_SECONDS)
}

/// Returns the digits of a typed code, which apps show in two groups; `None` for what is no code of an app.
pub(super) fn app_code(typed: &str) -> Option<String> {
    let code: String = typed.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
    (code.len() == DIGITS && code.bytes().all(|byte| byte.is_ascii_digit())).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of the samples: `12345678901234567890`.
    const SAMPLE: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn time(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let secret = TotpSecret::from_text(SAMPLE);
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(secret.code_at(time(seconds)).as_deref(), Some(code), "{seconds}");
        }
        assert_eq!(TotpSecret::from_text("not base 32").code_at(time(59)), None);
    }

    #[test]
    fn code_counts_one_step_before_and_after() {
        let secret = TotpSecret::from_text(SAMPLE);
        let code = secret.code_at(time(1_000_020)).unwrap();
        for (seconds, step) in [
            (999_959, None),
            (999_990, Some(33_334)),
            (1_000_020, Some(33_334)),
            (1_000_079, Some(33_334)),
            (1_000_080, None),
        ] {
            assert_eq!(secret.matching_step(&code, time(seconds)), step, "{seconds}");
        }
        assert_eq!(secret.matching_step("", time(0)), None);
    }

    #[test]
    fn secrets_are_different_and_long() {
        let (one, other) = (TotpSecret::generate(), TotpSecret::generate());
        assert_eq!((one.expose().len(), one.expose() == other.expose()), (32, false));
        assert!(one.code_at(time(0)).is_some_and(|code| code.len() == DIGITS));
    }

    #[test]
    fn code_is_read_as_apps_show_it() {
        assert_eq!(app_code(" 123 456 ").as_deref(), Some("123456"));
        assert_eq!(app_code("123-456").as_deref(), Some("123456"));
        for other in ["12345", "1234567", "12345a", "１２３４５６", ""] {
            assert_eq!(app_code(other), None, "{other}");
        }
    }
}
