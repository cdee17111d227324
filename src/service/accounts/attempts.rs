//! Limits on attempts: each account and each network has a few at once, and then waits longer after each. An attempt
//! counts from its beginning, so that many at once are not more, and a success takes it back.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use turnleaf_domain::limits;

/// An account that somebody tries to sign in to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct AttemptedAccount {
    /// The name that was typed, as it is compared.
    pub name: String,
    /// The network of the client, if the account has a session there. Such a network has attempts of its own, so that
    /// strangers who try the name again and again do not keep its person out.
    pub known_network: Option<IpAddr>,
}

/// The attempts of every key.
#[derive(Debug)]
pub(super) struct AttemptLimiter<K> {
    /// The attempts that a key has before it waits.
    free: u32,
    /// The longest wait, after which the attempts begin anew.
    wait_most: Duration,
    counts: Mutex<HashMap<K, AttemptCount>>,
}

#[derive(Debug, Clone, Copy)]
struct AttemptCount {
    attempts: u32,
    last: Instant,
    blocked_until: Option<Instant>,
}

impl<K: Hash + Eq + Clone> AttemptLimiter<K> {
    pub(super) fn new(free: u32) -> Self {
        Self::with_longest_wait(free, limits::ATTEMPT_WAIT_MOST)
    }

    pub(super) fn with_longest_wait(free: u32, wait_most: Duration) -> Self {
        Self { free, wait_most, counts: Mutex::default() }
    }

    /// Counts an attempt, unless the key has to wait; returns for how long.
    pub(super) fn begin(&self, key: &K) -> Result<(), Duration> {
        let now = Instant::now();
        let mut counts = self.counts();
        if !counts.contains_key(key) {
            make_room(&mut counts, self.wait_most, now);
        }
        let fresh = AttemptCount { attempts: 0, last: now, blocked_until: None };
        let count = counts.entry(key.clone()).or_insert(fresh);
        if let Some(until) = count.blocked_until.filter(|until| *until > now) {
            return Err(until - now);
        }
        if count.is_forgotten(self.wait_most, now) {
            *count = fresh;
        }
        count.attempts = count.attempts.saturating_add(1);
        count.last = now;
        count.blocked_until =
            count.attempts.checked_sub(self.free).map(|beyond| now + wait_after(beyond, self.wait_most));
        Ok(())
    }

    /// Forgets the attempts of a key after a success.
    pub(super) fn forget(&self, key: &K) {
        self.counts().remove(key);
    }

    /// Takes one attempt back after a success, and keeps the others.
    pub(super) fn take_back(&self, key: &K) {
        let mut counts = self.counts();
        let Some(count) = counts.get_mut(key) else { return };
        count.attempts = count.attempts.saturating_sub(1);
        if count.attempts < self.free {
            count.blocked_until = None;
        }
        if count.attempts == 0 {
            counts.remove(key);
        }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<K, AttemptCount>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AttemptCount {
    /// Returns whether the last attempt is so long ago that the next one begins anew.
    fn is_forgotten(&self, wait_most: Duration, now: Instant) -> bool {
        now.duration_since(self.last) >= wait_most
    }
}

/// Returns the wait after so many failures beyond the free ones.
fn wait_after(beyond: u32, wait_most: Duration) -> Duration {
    let wait = limits::ATTEMPT_WAIT_FIRST.saturating_mul(1 << beyond.min(16));
    wait.min(wait_most)
}

/// Keeps the number of keys within its bound: forgotten ones go, then the one whose last attempt is the longest ago.
fn make_room<K: Hash + Eq + Clone>(counts: &mut HashMap<K, AttemptCount>, wait_most: Duration, now: Instant) {
    if counts.len() < limits::ATTEMPT_KEYS {
        return;
    }
    counts.retain(|_, count| !count.is_forgotten(wait_most, now));
    if counts.len() >= limits::ATTEMPT_KEYS
        && let Some(oldest) = counts.iter().min_by_key(|(_, count)| count.last).map(|(key, _)| key.clone())
    {
        counts.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn wait_doubles_with_each_failure_and_ends() {
        let limiter = AttemptLimiter::new(3);
        let key = "ann".to_owned();
        for _ in 0..3 {
            assert_eq!(limiter.begin(&key), Ok(()));
        }
        assert_eq!(limiter.begin(&key), Err(MINUTE), "the third failure begins the wait");
        assert_eq!(limiter.begin(&"bob".to_owned()), Ok(()), "others do not wait");
        for minutes in [1, 2, 4, 8] {
            tokio::time::advance(MINUTE * minutes - Duration::from_secs(1)).await;
            assert_eq!(limiter.begin(&key), Err(Duration::from_secs(1)), "{minutes}");
            tokio::time::advance(Duration::from_secs(1)).await;
            assert_eq!(limiter.begin(&key), Ok(()), "{minutes}");
        }
        assert_eq!(limiter.begin(&key), Err(limits::ATTEMPT_WAIT_MOST));
        tokio::time::advance(limits::ATTEMPT_WAIT_MOST).await;
        for _ in 0..3 {
            assert_eq!(limiter.begin(&key), Ok(()), "the longest wait ends it");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn day_has_few_attempts_at_codes() {
        let limiter = AttemptLimiter::with_longest_wait(limits::ATTEMPTS_PER_ACCOUNT, limits::CODE_WAIT_MOST);
        let (key, mut attempts, begun) = ("ann".to_owned(), 0, Instant::now());
        while begun.elapsed() < MINUTE * 60 * 24 * 10 {
            match limiter.begin(&key) {
                Ok(()) => attempts += 1,
                Err(wait) => tokio::time::advance(wait).await,
            }
        }
        assert!((100..250).contains(&attempts), "{attempts} in ten days, of a million codes");
    }

    #[tokio::test(start_paused = true)]
    async fn success_ends_wait_of_account_and_takes_one_attempt_of_network_back() {
        let limiter = AttemptLimiter::new(2);
        let key = 7;
        assert_eq!([limiter.begin(&key), limiter.begin(&key)], [Ok(()), Ok(())]);
        limiter.take_back(&key);
        assert_eq!(limiter.begin(&key), Ok(()));
        assert!(limiter.begin(&key).is_err(), "the failure before still counts");
        limiter.forget(&key);
        assert_eq!([limiter.begin(&key), limiter.begin(&key)], [Ok(()), Ok(())]);
        limiter.take_back(&8);
    }

    #[tokio::test(start_paused = true)]
    async fn number_of_keys_is_bounded() {
        let limiter = AttemptLimiter::new(1);
        for key in 0..limits::ATTEMPT_KEYS + 5 {
            limiter.begin(&key).unwrap();
        }
        assert_eq!(limiter.counts().len(), limits::ATTEMPT_KEYS);
    }
}
