//! The journal's writer: one task that stores what all running turns do, many turns to a transaction (reliability.md 1.3
//! rule 4). Growth waits as long as `limits::COMMIT_EVERY` says; whatever changes what exists is committed at once, and its run waits
//! for that before it shows anything.

pub(crate) mod batch;
mod entry;
mod health;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

pub use self::batch::{Batch, Line};
pub use self::entry::Unstored;
use self::entry::{Entry, WAITING_BATCHES};
use self::health::JournalHealth;
use self::writer::Writer;
use super::live::Live;
use turnleaf_domain::{Failure, FailureKind};
use turnleaf_platform::clock::Clock;
use turnleaf_platform::tasks::{self, Task};
use turnleaf_store::Db;

/// A handle on the writer.
#[derive(Clone)]
pub struct Journal(mpsc::Sender<Entry>, JournalHealth);

impl Journal {
    /// Starts the writer, which tries a busy database again for as long as `patience` says. It ends when the last handle
    /// is dropped and everything is stored.
    pub fn start(db: Db, clock: Arc<dyn Clock>, patience: Duration) -> (Self, Task<()>) {
        let (sender, receiver) = mpsc::channel(WAITING_BATCHES);
        let writer = Writer::new(db, clock, receiver, patience);
        (Self(sender, JournalHealth::default()), tasks::spawn(writer.run()))
    }

    /// How long the oldest batch has waited that is not stored yet.
    pub fn delay(&self) -> Duration {
        self.1.delay()
    }

    /// Stores the batch and returns once it is on the disk.
    pub async fn commit(&self, live: &Arc<Live>, batch: Batch) -> Result<(), Unstored> {
        let gone = |failure| Unstored { failure, is_taken: false, is_refused: false };
        let (done, stored) = oneshot::channel();
        self.send(live, batch, Some(done)).await.map_err(gone)?;
        stored.await.unwrap_or_else(|_| Err(gone(self::gone())))
    }

    /// Hands growth over; it is stored within 100 ms. A failure reaches the run as an interrupt.
    pub async fn append(&self, live: &Arc<Live>, batch: Batch) -> Result<(), Failure> {
        self.send(live, batch, None).await
    }

    async fn send(
        &self,
        live: &Arc<Live>,
        batch: Batch,
        done: Option<oneshot::Sender<Result<(), Unstored>>>,
    ) -> Result<(), Failure> {
        let (turn_id, chat_id) = live.with_turn(|turn| (turn.id, turn.chat_id));
        let (since, waiting) = (Instant::now(), Some(self.1.begin()));
        let entry = Entry { since, live: live.clone(), turn_id, chat_id, batch, done, waiting };
        self.0.send(entry).await.map_err(|_| gone())
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::ServerRestarted, "")
}
