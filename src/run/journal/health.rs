//! How long the journal keeps its runs waiting: the age of the oldest batch that is handed over and neither stored nor
//! refused. A writer that hangs (a disk that does not answer, a database that is locked) shows in nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The batches that wait, in the order in which they were handed over.
#[derive(Debug, Clone, Default)]
pub struct JournalHealth(Arc<Mutex<WaitingBatches>>);

#[derive(Debug, Default)]
struct WaitingBatches {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

/// One batch that waits; dropped with it.
#[derive(Debug)]
pub struct WaitingBatch {
    health: JournalHealth,
    number: u64,
}

impl JournalHealth {
    /// A batch begins to wait.
    pub fn track_batch(&self) -> WaitingBatch {
        let number = self.with(|waiting| {
            let number = waiting.next;
            waiting.next += 1;
            waiting.since.insert(number, Instant::now());
            number
        });
        WaitingBatch { health: self.clone(), number }
    }

    /// The age of the oldest batch that waits; zero where none does.
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
