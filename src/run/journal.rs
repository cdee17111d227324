//! The journal: a single writer task group-commits the batches of all running turns. Deltas wait up to
//! `limits::COMMIT_EVERY`; structural changes are committed at once, and their run publishes them only after the
//! commit.

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

/// A handle to the journal writer.
#[derive(Clone)]
pub struct Journal(mpsc::Sender<JournalEntry>, JournalHealth);

impl Journal {
    /// Starts the writer, which retries a busy database for `patience`. It ends when the last handle is dropped and
    /// everything is stored.
    pub fn start(db: Db, clock: Arc<dyn Clock>, patience: Duration) -> (Self, Task<()>) {
        let (sender, receiver) = mpsc::channel(WAITING_BATCHES);
        let writer = JournalWriter::new(db, clock, receiver, patience);
        (Self(sender, JournalHealth::default()), tasks::spawn(writer.run()))
    }

    /// Returns the age of the oldest batch that is not stored yet.
    pub fn delay(&self) -> Duration {
        self.1.delay()
    }

    /// Stores the batch and returns once it is committed.
    pub async fn commit(&self, live: &Arc<LiveTurn>, batch: JournalBatch) -> Result<(), CommitError> {
        let gone = |failure| CommitError { failure, is_taken: false, is_refused: false };
        let (done, stored) = oneshot::channel();
        self.send(live, batch, (false, Some(done))).await.map_err(gone)?;
        stored.await.unwrap_or_else(|_| Err(gone(self::journal_closed())))
    }

    /// Queues raw bytes. A failure reaches the run as an interrupt.
    pub async fn append(&self, live: &Arc<LiveTurn>, batch: JournalBatch) -> Result<(), Failure> {
        self.send(live, batch, (false, None)).await
    }

    /// Queues the deltas that the turn has published and the journal does not have, unless they are queued. They are
    /// stored within 100 ms, as long as the database is not slow; if it is, this waits. A failure reaches the run as an
    /// interrupt.
    pub async fn append_deltas(&self, live: &Arc<LiveTurn>) -> Result<(), Failure> {
        let must_wait = live.is_ahead_of_journal();
        // An entry that is queued already may wait for its deadline; another one is not left waiting.
        if live.begin_queueing() || must_wait {
            self.send(live, JournalBatch::default(), (true, None)).await?;
        }
        live.wait_for_journal().await;
        Ok(())
    }

    async fn send(
        &self,
        live: &Arc<LiveTurn>,
        batch: JournalBatch,
        (has_deltas, done): (bool, Option<oneshot::Sender<Result<(), CommitError>>>),
    ) -> Result<(), Failure> {
        let (turn_id, chat_id) = live.with_turn(|turn| (turn.id, turn.chat_id));
        let (since, waiting) = (Instant::now(), Some(self.1.track_batch()));
        let returned = JournalBatch::default();
        let live = live.clone();
        let entry = JournalEntry { since, live, turn_id, chat_id, batch, has_deltas, returned, done, waiting };
        self.0.send(entry).await.map_err(|_| journal_closed())
    }
}

fn journal_closed() -> Failure {
    Failure::new(FailureKind::ServerRestarted, "")
}
