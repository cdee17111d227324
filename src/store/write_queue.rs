//! The queue of write transactions (admission in front of the pool). A pool serves its waiters in order; therefore only
//! the first of the other writers waits at the pool, so that the journal never queues behind all of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Error, Sqlite, SqlitePool};
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use crate::error::StoreError;

/// The queue before a pool of writers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WriteQueue {
    first: Arc<Semaphore>,
    patience: Duration,
    /// The handover of SQLite's writer.
    pub(crate) handover: Handover,
}

impl WriteQueue {
    /// Returns an empty queue, in which nobody waits longer than `patience`. At most `width` transactions wait at the
    /// pool.
    pub fn new(width: usize, patience: Duration) -> Self {
        Self { first: Arc::new(Semaphore::new(width)), patience, handover: Handover::default() }
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

/// Passes a connection of SQLite from one transaction to the next that waits. A pool tests each connection that it gets
/// back, in a task and with a hop to the connection's thread, before the next may have it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handover(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// In the order in which they get the connection.
    senders: VecDeque<oneshot::Sender<PoolConnection<Sqlite>>>,
    /// The number of times that the connection was passed on since its pool had it.
    passed: u32,
}

/// The number of times that a connection is passed on before its pool gets it, where others than transactions wait.
const PASSED_AT_MOST: u32 = 16;

impl Handover {
    /// Returns a connection of the pool, or the one that a transaction gives away; urgent callers come first.
    ///
    /// # Errors
    /// As of the pool.
    pub(crate) async fn acquire(&self, pool: &SqlitePool, is_urgent: bool) -> Result<PoolConnection<Sqlite>, Error> {
        if let Some(connection) = pool.try_acquire() {
            return Ok(connection);
        }
        let (sender, handed) = oneshot::channel();
        self.with_waiting(|waiting| {
            if is_urgent {
                waiting.senders.push_front(sender);
            } else {
                waiting.senders.push_back(sender);
            }
        });
        tokio::select! {
            biased;
            Ok(connection) = handed => Ok(connection),
            connection = pool.acquire() => connection,
        }
    }

    /// Gives a connection without a transaction to the first that still waits, else to its pool.
    pub(crate) fn give(&self, mut connection: PoolConnection<Sqlite>) {
        while let Some(first) = self.with_waiting(Waiting::take_next) {
            match first.send(connection) {
                Ok(()) => return,
                // It has stopped waiting, or has a connection of the pool.
                Err(returned) => connection = returned,
            }
        }
    }

    fn with_waiting<T>(&self, act: impl FnOnce(&mut Waiting) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Waiting {
    /// Takes the next that gets the connection, unless it is the turn of the pool.
    fn take_next(&mut self) -> Option<oneshot::Sender<PoolConnection<Sqlite>>> {
        self.senders.retain(|sender| !sender.is_closed());
        let next = if self.passed < PASSED_AT_MOST { self.senders.pop_front() } else { None };
        self.passed = if next.is_some() { self.passed + 1 } else { 0 };
        next
    }
}
