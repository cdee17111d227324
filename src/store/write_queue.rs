//! The queue of write transactions (admission in front of the pool). A pool serves its waiters in order; therefore only
//! the first of the other writers waits at the pool, so that the journal never queues behind all of them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::StoreError;

/// The queue before a pool of writers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WriteQueue {
    first: Arc<Semaphore>,
    patience: Duration,
}

impl WriteQueue {
    /// Returns an empty queue, in which nobody waits longer than `patience`. At most `width` transactions wait at the
    /// pool.
    pub fn new(width: usize, patience: Duration) -> Self {
        Self { first: Arc::new(Semaphore::new(width)), patience }
    }

    /// Waits until this transaction is the next that waits at the pool; it is until the permit is dropped.
    ///
    /// # Errors
    /// `Busy` when that takes too long.
    pub(crate) async fn wait(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        let busy = || StoreError::Busy("too many transactions wait".into());
        let permit = tokio::time::timeout(self.patience, self.first.acquire()).await;
        permit.map_err(|_| busy())?.map_err(|_| busy())
    }
}
