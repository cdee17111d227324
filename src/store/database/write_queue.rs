//! The queue of write transactions (admission in front of the pool). A pool serves its waiters in order; therefore only
//! the first of the other writers waits at the pool, so that the journal never queues behind all of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Error, Sqlite, SqlitePool};
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use crate::database::error::StoreError;

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

/// Passes a connection of SQLite from one user to the next that waits. A pool tests each connection that it gets back,
/// in a task and with a hop to the connection's thread, before the next may have it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handover(Arc<Mutex<Waiting>>);

type WaitingUser = oneshot::Sender<PoolConnection<Sqlite>>;

#[derive(Debug, Default)]
struct Waiting {
    /// In the order in which they get the connection.
    senders: VecDeque<WaitingUser>,
    /// The number of times that the connection was passed on since its pool had it.
    passed: u32,
    /// Connections that nobody needs are kept, because all users of the pool come here.
    keeps_idle: bool,
    idle: Vec<PoolConnection<Sqlite>>,
}

/// The number of times that a connection is passed on before its pool gets it, where others than transactions wait.
const PASSED_AT_MOST: u32 = 16;

impl Handover {
    /// Returns a handover for a pool whose users all come here: it keeps the connections that nobody needs.
    pub(crate) fn keeping_idle() -> Self {
        let waiting = Waiting { senders: VecDeque::new(), passed: 0, keeps_idle: true, idle: Vec::new() };
        Self(Arc::new(Mutex::new(waiting)))
    }

    /// Returns a connection of the pool, or one that its user gives away; urgent callers come first.
    ///
    /// # Errors
    /// As of the pool.
    pub(crate) async fn acquire(&self, pool: &SqlitePool, is_urgent: bool) -> Result<PoolConnection<Sqlite>, Error> {
        let idle = self.with_waiting(|waiting| waiting.idle.pop());
        if let Some(connection) = idle.or_else(|| pool.try_acquire()) {
            return Ok(connection);
        }
        let (sender, handed) = oneshot::channel();
        let idle = self.with_waiting(|waiting| {
            let idle = waiting.idle.pop();
            match (&idle, is_urgent) {
                (Some(_), _) => {}
                (None, true) => waiting.senders.push_front(sender),
                (None, false) => waiting.senders.push_back(sender),
            }
            idle
        });
        if let Some(connection) = idle {
            return Ok(connection);
        }
        tokio::select! {
            biased;
            Ok(connection) = handed => Ok(connection),
            connection = pool.acquire() => connection,
        }
    }

    /// Gives a connection without a transaction to the first that still waits, else to its pool, unless it is kept.
    pub(crate) fn give(&self, mut connection: PoolConnection<Sqlite>) {
        while let Some((first, given)) = self.with_waiting(|waiting| waiting.pass_on(connection)) {
            match first.send(given) {
                Ok(()) => return,
                // It has stopped waiting, or has a connection of the pool.
                Err(returned) => connection = returned,
            }
        }
    }

    /// Gives the kept connections to their pool, and from now on all that nobody waits for.
    pub(crate) fn release_idle(&self) {
        let idle = self.with_waiting(|waiting| {
            waiting.keeps_idle = false;
            std::mem::take(&mut waiting.idle)
        });
        drop(idle);
    }

    fn with_waiting<T>(&self, act: impl FnOnce(&mut Waiting) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Waiting {
    /// Returns the next user with its connection. If there is none, or if it is the turn of the pool, the connection is
    /// kept or returns to its pool.
    fn pass_on(&mut self, connection: PoolConnection<Sqlite>) -> Option<(WaitingUser, PoolConnection<Sqlite>)> {
        self.senders.retain(|sender| !sender.is_closed());
        let is_passed_on = self.keeps_idle || self.passed < PASSED_AT_MOST;
        let next = if is_passed_on { self.senders.pop_front() } else { None };
        self.passed = if next.is_some() { self.passed.saturating_add(1) } else { 0 };
        match next {
            Some(next) => Some((next, connection)),
            None if self.keeps_idle => {
                self.idle.push(connection);
                None
            }
            None => None,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Returning them to the pool needs a runtime, which may have ended; without their pool they are just closed.
        for connection in self.idle.drain(..) {
            drop(connection.detach());
        }
    }
}
