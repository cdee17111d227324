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

pub use self::batch::{EventLine, JournalBatch};
pub use self::entry::CommitError;
use self::entry::{JournalEntry, WAITING_BATCHES};
use self::health::JournalHealth;
use self::writer::JournalWriter;
use super::live_turns::LiveTurn;
use turnleaf_domain::{Failure, FailureKind};
use turnleaf_platform::clock::Clock;
use turnleaf_platform::tasks::{self, Task};
use turnleaf_store::Db;

/// A handle on the writer.
#[derive(Clone)]
pub struct Journal(mpsc::Sender<JournalEntry>, JournalHealth);

impl Journal {
    /// Starts the writer, which tries a busy database again for as long as `patience` says. It ends when the last handle
    /// is dropped and everything is stored.
    pub fn start(db: Db, clock: Arc<dyn Clock>, patience: Duration) -> (Self, Task<()>) {
        let (sender, receiver) = mpsc::channel(WAITING_BATCHES);
        let writer = JournalWriter::new(db, clock, receiver, patience);
        (Self(sender, JournalHealth::default()), tasks::spawn(writer.run()))
    }

    /// How long the oldest batch has waited that is not stored yet.
    pub fn delay(&self) -> Duration {
        self.1.delay()
    }

    /// Stores the batch and returns once it is on the disk.
    pub async fn commit(&self, live: &Arc<LiveTurn>, batch: JournalBatch) -> Result<(), CommitError> {
        let gone = |failure| CommitError { failure, is_taken: false, is_refused: false };
        let (done, stored) = oneshot::channel();
        self.send(live, batch, Some(done)).await.map_err(gone)?;
        stored.await.unwrap_or_else(|_| Err(gone(self::journal_closed())))
    }

    /// Hands growth over; it is stored within 100 ms. A failure reaches the run as an interrupt.
    pub async fn append(&self, live: &Arc<LiveTurn>, batch: JournalBatch) -> Result<(), Failure> {
        self.send(live, batch, None).await
    }

    async fn send(
        &self,
        live: &Arc<LiveTurn>,
        batch: JournalBatch,
        done: Option<oneshot::Sender<Result<(), CommitError>>>,
    ) -> Result<(), Failure> {
        let (turn_id, chat_id) = live.with_turn(|turn| (turn.id, turn.chat_id));
        let (since, waiting) = (Instant::now(), Some(self.1.track_batch()));
        let entry = JournalEntry { since, live: live.clone(), turn_id, chat_id, batch, done, waiting };
        self.0.send(entry).await.map_err(|_| journal_closed())
    }
}

fn journal_closed() -> Failure {
    Failure::new(FailureKind::ServerRestarted, "")
}
