//! The wall clock as an injected value, so that tests can set it. Timeouts and delays use `tokio::time` instead,
//! which clock changes do not affect.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// Returns the current time in UTC in whole microseconds: PostgreSQL stores no more, and a time must read back as it
/// was written.
pub trait Clock: Send + Sync {
    fn now(&self) -> DateTime<Utc>;
}

/// The system clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}

/// A clock for tests that does not move until it is set.
#[derive(Debug)]
pub struct SettableClock {
    microseconds: AtomicI64,
}

impl SettableClock {
    /// Creates a clock at this time, truncated to microseconds.
    pub fn new(time: DateTime<Utc>) -> Self {
        Self { microseconds: AtomicI64::new(time.timestamp_micros()) }
    }

    /// Sets the clock to this time.
    pub fn set(&self, time: DateTime<Utc>) {
        self.microseconds.store(time.timestamp_micros(), Ordering::SeqCst);
    }

    /// Advances the clock; a negative step sets it back.
    pub fn advance(&self, step: TimeDelta) {
        let step = step.num_microseconds().unwrap_or(i64::MAX);
        self.microseconds.fetch_add(step, Ordering::SeqCst);
    }
}

impl Default for SettableClock {
    /// Creates a clock at the start of 2026.
    fn default() -> Self {
        Self { microseconds: AtomicI64::new(1_767_225_600_000_000) }
    }
}

impl Clock for SettableClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.microseconds.load(Ordering::SeqCst)).unwrap_or(DateTime::UNIX_EPOCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_clock_has_microsecond_precision() {
        assert_eq!(SystemClock.now().timestamp_subsec_nanos() % 1000, 0);
    }

    #[test]
    fn settable_clock_stands_still_until_moved() {
        let clock = SettableClock::default();
        let before = clock.now();
        assert_eq!(clock.now(), before);
        clock.advance(TimeDelta::hours(-1));
        assert_eq!(clock.now(), before - TimeDelta::hours(1));
        clock.set(before + TimeDelta::nanoseconds(1_500));
        assert_eq!(clock.now(), before + TimeDelta::microseconds(1));
    }
}
