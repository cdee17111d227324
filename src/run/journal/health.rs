//! Journal health: the age of the oldest batch that is queued and neither stored nor refused. Nothing else reveals a
//! hanging writer (an unresponsive disk, a locked database).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The waiting batches, in the order in which they were queued.
#[derive(Debug, Clone, Default)]
pub struct JournalHealth(Arc<Mutex<WaitingBatches>>);

#[derive(Debug, Default)]
struct WaitingBatches {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

/// A guard for one waiting batch; dropping it ends the wait.
#[derive(Debug)]
pub struct WaitingBatch {
    health: JournalHealth,
    number: u64,
}

impl JournalHealth {
    /// Starts tracking a batch.
    pub fn track_batch(&self) -> WaitingBatch {
        let number = self.with(|waiting| {
            let number = waiting.next;
            waiting.next += 1;
            waiting.since.insert(number, Instant::now());
            number
        });
        WaitingBatch { health: self.clone(), number }
    }

    /// Returns the age of the oldest waiting batch; zero if none waits.
    pub fn delay(&self) -> Duration {
        self.with(|waiting| waiting.since.first_key_value().map_or(Duration::ZERO, |(_, since)| since.elapsed()))
    }

    fn with<T>(&self, act: impl FnOnce(&mut WaitingBatches) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for WaitingBatch {
    fn drop(&mut self) {
        self.health.with(|waiting| waiting.since.remove(&self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn delay_is_age_of_oldest_waiting_batch() {
        let health = JournalHealth::default();
        let second = Duration::from_secs(1);
        assert_eq!(health.delay(), Duration::ZERO);
        let oldest = health.track_batch();
        tokio::time::advance(second).await;
        let newer = health.track_batch();
        tokio::time::advance(second).await;
        assert_eq!(health.delay(), 2 * second);
        drop(oldest);
        assert_eq!(health.delay(), second);
        drop(newer);
        assert_eq!(health.delay(), Duration::ZERO);
    }
}
