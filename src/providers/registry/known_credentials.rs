//! The credentials that are redacted from responses and exports.

use std::collections::{HashMap, VecDeque};

use secrecy::{ExposeSecret, SecretString};

use crate::redaction::SecretSet;
use turnleaf_domain::{ToolServerId, limits};

/// All credentials since the start, including those of removed endpoints, because their stored output may still be
/// read.
#[derive(Default)]
pub(super) struct KnownCredentials {
    /// Those that people enter.
    entered: Vec<SecretString>,
    /// Those of sign-ins, which change every hour without anybody: of each tool server the newest ones.
    issued: HashMap<ToolServerId, VecDeque<SecretString>>,
}

impl KnownCredentials {
    /// Adds credentials that stay known.
    pub(super) fn add(&mut self, credentials: impl IntoIterator<Item = SecretString>) {
        for credential in credentials {
            // Every reload adds the same ones again.
            if !self.entered.iter().any(|known| is_same(known, &credential)) {
                self.entered.push(credential);
            }
        }
    }

    /// Adds credentials of a sign-in, before which the oldest ones of the same server are forgotten.
    pub(super) fn add_issued(&mut self, server: ToolServerId, credentials: impl IntoIterator<Item = SecretString>) {
        let known = self.issued.entry(server).or_default();
        for credential in credentials {
            // One that stays in use, such as the secret of a client, is the newest again.
            known.retain(|known| !is_same(known, &credential));
            known.push_back(credential);
        }
        let superfluous = known.len().saturating_sub(limits::SIGN_IN_TOKENS_KNOWN);
        known.drain(..superfluous);
    }

    pub(super) fn to_set(&self) -> SecretSet {
        SecretSet::new(self.entered.iter().chain(self.issued.values().flatten()).cloned())
    }
}

impl FromIterator<SecretString> for KnownCredentials {
    fn from_iter<T: IntoIterator<Item = SecretString>>(credentials: T) -> Self {
        let mut known = Self::default();
        known.add(credentials);
        known
    }
}

fn is_same(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(number: usize) -> [SecretString; 3] {
        [format!("access-token-{number:04}"), format!("refresh-token-{number:04}"), "client-secret-0".to_owned()]
            .map(SecretString::from)
    }

    #[test]
    fn rotated_tokens_are_bounded_and_newest_stay_known() {
        let [server, other] = [ToolServerId::from_uuid(uuid(1)), ToolServerId::from_uuid(uuid(2))];
        let mut known = KnownCredentials::from_iter(["entered-by-hand".to_owned().into()]);
        known.add_issued(other, ["token-of-other-server".to_owned().into()]);
        for number in 0..1000 {
            known.add_issued(server, rotation(number));
        }
        assert_eq!(known.issued[&server].len(), limits::SIGN_IN_TOKENS_KNOWN);
        let text = "entered-by-hand token-of-other-server client-secret-0 access-token-0999 refresh-token-0999 \
            access-token-0998 access-token-0001";
        let clean = known.to_set().redact_known(text.to_owned());
        for (word, is_known) in text.split(' ').zip([true, true, true, true, true, true, false]) {
            assert_eq!(clean.contains(word), !is_known, "{word} in {clean}");
        }
    }

    #[test]
    fn same_credentials_are_kept_once() {
        let server = ToolServerId::from_uuid(uuid(1));
        let mut known = KnownCredentials::default();
        for _ in 0..3 {
            known.add(rotation(1));
            known.add_issued(server, rotation(1));
        }
        assert_eq!((known.entered.len(), known.issued[&server].len()), (3, 3));
    }

    fn uuid(number: u128) -> uuid::Uuid {
        uuid::Uuid::from_u128(number)
    }
}
