//! Challenges of passkeys that wait for their answers. They are in memory only: after a restart people begin anew.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::secrets::{NewSecret, secret_hash};
use turnleaf_domain::{UserId, limits};
use turnleaf_platform::random::{random_bytes, random_token};

/// The purpose of a ceremony (WebAuthn). An answer counts for no other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CeremonyPurpose {
    SignIn,
    /// A person who is signed in uses a passkey in place of the password.
    Confirm(UserId),
    /// A person adds a passkey with this name.
    Add {
        owner: UserId,
        name: String,
    },
}

impl CeremonyPurpose {
    /// Returns the person who is signed in.
    fn person(&self) -> Option<UserId> {
        match self {
            Self::SignIn => None,
            Self::Confirm(person) | Self::Add { owner: person, .. } => Some(*person),
        }
    }
}

/// A ceremony that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BegunCeremony {
    pub challenge: [u8; 32],
    pub purpose: CeremonyPurpose,
}

/// The begun ceremonies, by the hash of the secret that names each. The secret is in a form of the browser that began
/// it.
#[derive(Default)]
pub(super) struct BegunCeremonies(Mutex<HashMap<[u8; 32], (BegunCeremony, Instant)>>);

impl BegunCeremonies {
    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], (BegunCeremony, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a ceremony, and returns the secret that names it, and its challenge. For one too many of a person their first
    /// goes, for one too many of all the first; those of strangers go before those of people who are signed in.
    pub(super) fn begin(&self, purpose: CeremonyPurpose) -> (NewSecret, [u8; 32]) {
        let (secret, challenge, now) = (random_token(), random_bytes(), Instant::now());
        let mut all = self.lock();
        if let Some(person) = purpose.person() {
            make_room_of(&mut all, person);
        }
        if all.len() >= limits::PASSKEY_CHALLENGES {
            make_room(&mut all, now);
        }
        let until = now + limits::PASSKEY_CHALLENGE_KEPT;
        all.insert(secret_hash(&secret), (BegunCeremony { challenge, purpose }, until));
        (NewSecret::new(secret), challenge)
    }

    /// Takes the ceremony of a secret, so that there is one answer to it, right or wrong. `None` after its time.
    pub(super) fn take(&self, secret: &str) -> Option<BegunCeremony> {
        let (begun, until) = self.lock().remove(&secret_hash(secret))?;
        (until > Instant::now()).then_some(begun)
    }
}

/// Makes room for one more ceremony of a person: the first one goes.
fn make_room_of(all: &mut HashMap<[u8; 32], (BegunCeremony, Instant)>, person: UserId) {
    let own = all.iter().filter(|(_, (begun, _))| begun.purpose.person() == Some(person));
    let mut own: Vec<(Instant, [u8; 32])> = own.map(|(hash, (_, until))| (*until, *hash)).collect();
    own.sort_unstable();
    let surplus = (own.len() + 1).saturating_sub(limits::PASSKEY_CHALLENGES_PER_USER);
    for (_, hash) in &own[..surplus] {
        all.remove(hash);
    }
}

/// Removes the ceremonies whose time is over, and one more if none was.
fn make_room(all: &mut HashMap<[u8; 32], (BegunCeremony, Instant)>, now: Instant) {
    all.retain(|_, (_, until)| *until > now);
    let rank = |(begun, until): &(BegunCeremony, Instant)| (begun.purpose != CeremonyPurpose::SignIn, *until);
    if all.len() >= limits::PASSKEY_CHALLENGES
        && let Some(first) = all.iter().min_by_key(|(_, entry)| rank(entry)).map(|(hash, _)| *hash)
    {
        all.remove(&first);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use turnleaf_platform::ids;

    #[tokio::test(start_paused = true)]
    async fn challenge_counts_once_and_for_its_time() {
        let begun = BegunCeremonies::default();
        let ((one, challenge), (other, different)) =
            (begun.begin(CeremonyPurpose::SignIn), begun.begin(CeremonyPurpose::SignIn));
        assert_ne!(challenge, different);
        let expected = BegunCeremony { challenge, purpose: CeremonyPurpose::SignIn };
        assert_eq!((begun.take("00"), begun.take(one.expose())), (None, Some(expected)));
        assert_eq!(begun.take(one.expose()), None, "once");
        tokio::time::advance(limits::PASSKEY_CHALLENGE_KEPT - Duration::from_secs(1)).await;
        let (last, _) = begun.begin(CeremonyPurpose::Confirm(ids::mint()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(begun.take(other.expose()), None, "its time is over");
        assert!(begun.take(last.expose()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_do_not_end_ceremonies_of_people() {
        let begun = BegunCeremonies::default();
        let (own, _) = begun.begin(CeremonyPurpose::Confirm(ids::mint()));
        for _ in 0..limits::PASSKEY_CHALLENGES + 5 {
            begun.begin(CeremonyPurpose::SignIn);
        }
        assert_eq!(begun.lock().len(), limits::PASSKEY_CHALLENGES);
        assert!(begun.take(own.expose()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn one_person_does_not_end_ceremonies_of_others() {
        let (begun, person) = (BegunCeremonies::default(), ids::mint());
        let (stranger, _) = begun.begin(CeremonyPurpose::SignIn);
        let (other, _) = begun.begin(CeremonyPurpose::Confirm(ids::mint()));
        let mut own = Vec::new();
        for number in 0..=limits::PASSKEY_CHALLENGES_PER_USER {
            tokio::time::advance(Duration::from_millis(1)).await;
            let add = CeremonyPurpose::Add { owner: person, name: number.to_string() };
            let purpose = if number % 2 == 0 { add } else { CeremonyPurpose::Confirm(person) };
            own.push(begun.begin(purpose).0);
        }
        assert_eq!(begun.lock().len(), limits::PASSKEY_CHALLENGES_PER_USER + 2);
        assert_eq!(begun.take(own[0].expose()), None, "the first made room");
        assert!(own[1..].iter().all(|secret| begun.take(secret.expose()).is_some()));
        assert!(begun.take(stranger.expose()).is_some() && begun.take(other.expose()).is_some());
    }
}
