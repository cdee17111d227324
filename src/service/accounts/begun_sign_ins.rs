//! Sign-ins whose password was right and that wait for the code of the second factor. They are in memory only: after a
//! restart people enter their password again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::attempts::AttemptedAccount;
use super::secrets::{NewSecret, secret_hash};
use turnleaf_domain::{UserId, limits};
use turnleaf_platform::random::random_token;

/// A sign-in that waits for a code.
#[derive(Debug, Clone)]
pub(super) struct BegunSignIn {
    pub account: UserId,
    /// The number of changes of the account when the password was right. After a further one it begins anew.
    pub auth_rev: i64,
    pub attempted: AttemptedAccount,
}

/// The sign-ins that wait for codes, by the hash of the secret that names each.
#[derive(Default)]
pub(super) struct BegunSignIns(Mutex<HashMap<[u8; 32], (BegunSignIn, Instant)>>);

impl BegunSignIns {
    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], (BegunSignIn, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a sign-in and returns the secret that names it. The one that began first goes for one too many.
    pub(super) fn begin(&self, begun: BegunSignIn) -> NewSecret {
        let (secret, now) = (random_token(), Instant::now());
        let mut all = self.lock();
        all.retain(|_, (_, until)| *until > now);
        if all.len() >= limits::SIGN_INS_BEGUN
            && let Some(first) = all.iter().min_by_key(|(_, (_, until))| *until).map(|(hash, _)| *hash)
        {
            all.remove(&first);
        }
        all.insert(secret_hash(&secret), (begun, now + limits::SIGN_IN_CODE_WAIT));
        NewSecret::new(secret)
    }

    /// Returns the sign-in of a secret, while it waits.
    pub(super) fn find(&self, secret: &str) -> Option<BegunSignIn> {
        let all = self.lock();
        let (begun, until) = all.get(&secret_hash(secret))?;
        (*until > Instant::now()).then(|| begun.clone())
    }

    /// Forgets a sign-in that is done.
    pub(super) fn finish(&self, secret: &str) {
        self.lock().remove(&secret_hash(secret));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use turnleaf_platform::ids;

    fn sample() -> BegunSignIn {
        let attempted = AttemptedAccount { name: "ann".into(), known_network: None };
        BegunSignIn { account: ids::mint(), auth_rev: 1, attempted }
    }

    #[tokio::test(start_paused = true)]
    async fn sign_in_waits_for_its_time_and_ends_once() {
        let begun = BegunSignIns::default();
        let (one, other) = (begun.begin(sample()), begun.begin(sample()));
        assert!(begun.find(one.expose()).is_some() && begun.find("00").is_none());
        begun.finish(one.expose());
        assert!(begun.find(one.expose()).is_none());
        tokio::time::advance(limits::SIGN_IN_CODE_WAIT - Duration::from_secs(1)).await;
        assert!(begun.find(other.expose()).is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(begun.find(other.expose()).is_none());
        begun.begin(sample());
        assert_eq!(begun.lock().len(), 1, "the others have gone");
    }
}
