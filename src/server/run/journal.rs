//! The journal's writer: one task that stores what all running turns do, many turns to a transaction (reliability.md 1.3
//! rule 4). Growth waits as long as `limits::COMMIT_EVERY` says; whatever changes what exists is committed at once, and its run waits
//! for that before it shows anything.

mod health;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use self::health::{JournalHealth, WaitingBatch};
use super::live::{Line, Live};
use crate::domain::repair::ProviderState;
use crate::domain::{Block, BlockId, ChatId, Failure, FailureKind, GenerationId, Turn, TurnId, limits};
use crate::server::platform::clock::Clock;
use crate::server::platform::tasks::{self, Task};
use crate::server::store::blobs::{self, BlobOf};
use crate::server::store::generations::raw::{self, Chunk};
use crate::server::store::turn_blocks::BlockOf;
use crate::server::store::turn_events::EventRow;
use crate::server::store::turns::Progress;
use crate::server::store::{Db, StoreError, branches, generations, turn_blocks, turn_events, turns};
use crate::server::tools::toolbox::NewBlob;

/// Batches that may wait for the writer. A full channel slows the runs, not the memory.
const WAITING_BATCHES: usize = 1024;
/// How long a busy database is tried again before the turns involved fail: longer than a restart or a failover takes.
pub(super) const TRY_FOR: std::time::Duration = std::time::Duration::from_secs(90);

/// What one step of one run stores, in one transaction.
#[derive(Default)]
pub struct Batch {
    pub lines: Vec<Line>,
    /// Blocks that are new or changed, whole.
    pub blocks: Vec<Block>,
    /// Bytes of the provider that led here, with their offset in the response.
    pub raw: Vec<(GenerationId, u64, Bytes)>,
    /// Bytes of results, with the blocks that name them.
    pub blobs: Vec<(BlockId, NewBlob)>,
    pub progress: Option<Progress>,
    pub generation: Option<generations::NewGeneration>,
    pub generation_end: Option<generations::GenerationEnd>,
    /// The turn as it ended.
    pub ending: Option<Turn>,
    /// What the branch of a turn that ended keeps for its provider from then on, where that changes.
    pub provider_state: Option<ProviderState>,
}

struct Entry {
    live: Arc<Live>,
    turn_id: TurnId,
    chat_id: ChatId,
    batch: Batch,
    /// There for batches that must be stored before their run goes on.
    done: Option<oneshot::Sender<Result<(), Unstored>>>,
    /// Gone with the entry, when it is answered.
    _waiting: WaitingBatch,
}

/// Why a batch is not in the journal.
#[derive(Debug, Clone)]
pub struct Unstored {
    pub failure: Failure,
    /// Another writer owns this turn: its numbers are taken, or the database is.
    pub is_taken: bool,
}

/// A handle on the writer.
#[derive(Clone)]
pub struct Journal(mpsc::Sender<Entry>, JournalHealth);

impl Journal {
    /// Starts the writer. It ends when the last handle is dropped and everything is stored.
    pub fn start(db: Db, clock: Arc<dyn Clock>) -> (Self, Task<()>) {
        let (sender, receiver) = mpsc::channel(WAITING_BATCHES);
        (Self(sender, JournalHealth::default()), tasks::spawn(write(db, clock, receiver)))
    }

    /// How long the oldest batch has waited that is not stored yet.
    pub fn delay(&self) -> std::time::Duration {
        self.1.delay()
    }

    /// Stores the batch and returns once it is on the disk.
    pub async fn commit(&self, live: &Arc<Live>, batch: Batch) -> Result<(), Unstored> {
        let gone = |failure| Unstored { failure, is_taken: false };
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
        let entry = Entry { live: live.clone(), turn_id, chat_id, batch, done, _waiting: self.1.begin() };
        self.0.send(entry).await.map_err(|_| gone())
    }
}

async fn write(db: Db, clock: Arc<dyn Clock>, mut entries: mpsc::Receiver<Entry>) {
    let mut waiting: Vec<Entry> = Vec::new();
    let mut bytes = 0;
    let mut deadline: Option<Instant> = None;
    loop {
        let entry = tokio::select! {
            biased;
            entry = entries.recv() => entry,
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                flush(&db, &*clock, &mut waiting).await;
                (bytes, deadline) = (0, None);
                continue;
            }
        };
        let Some(entry) = entry else {
            flush(&db, &*clock, &mut waiting).await;
            return;
        };
        let mut urgent = take(entry, &mut waiting, &mut bytes);
        // Whatever else has arrived joins the same commit.
        while let Ok(entry) = entries.try_recv() {
            urgent |= take(entry, &mut waiting, &mut bytes);
        }
        // The clock is asked here too: as long as batches keep coming, the wait for it above never gets its turn.
        let is_due = deadline.is_some_and(|deadline| deadline <= Instant::now());
        if urgent || is_due || bytes >= limits::COMMIT_BYTES {
            flush(&db, &*clock, &mut waiting).await;
            (bytes, deadline) = (0, None);
        } else if deadline.is_none() {
            deadline = Some(Instant::now() + limits::COMMIT_EVERY);
        }
    }
}

fn take(entry: Entry, waiting: &mut Vec<Entry>, bytes: &mut usize) -> bool {
    *bytes += entry.batch.lines.iter().map(|line| line.json.len()).sum::<usize>();
    *bytes += entry.batch.raw.iter().map(|(_, _, raw)| raw.len()).sum::<usize>();
    *bytes += entry.batch.blobs.iter().map(|(_, blob)| blob.bytes.len()).sum::<usize>();
    let urgent = entry.done.is_some();
    waiting.push(entry);
    urgent
}

async fn flush(db: &Db, clock: &dyn Clock, waiting: &mut Vec<Entry>) {
    if waiting.is_empty() {
        return;
    }
    let together = store_patiently(db, clock, waiting).await;
    let is_of_one = |error: &StoreError| !matches!(error, StoreError::Full | StoreError::InUse) && !error.is_busy();
    if together.as_ref().is_err_and(is_of_one) && waiting.len() > 1 {
        // One of them cannot be stored. The others must not pay for it.
        for entry in waiting.drain(..) {
            let alone = store_patiently(db, clock, std::slice::from_ref(&entry)).await;
            answer(entry, alone.as_ref().map(drop));
        }
    } else {
        for entry in waiting.drain(..) {
            answer(entry, together.as_ref().map(drop));
        }
    }
}

/// Stores, and tries a busy database again for a while. An attempt that failed may have been stored all the same, because
/// its acknowledgement can be lost: everything in it is idempotent.
async fn store_patiently(db: &Db, clock: &dyn Clock, waiting: &[Entry]) -> Result<(), StoreError> {
    let started = Instant::now();
    let mut pause = std::time::Duration::from_millis(50);
    loop {
        match attempt(db, waiting, clock.now()).await {
            Err(error) if error.is_busy() && started.elapsed() < TRY_FOR => {
                tracing::warn!(%error, "the journal waits for the database");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(std::time::Duration::from_secs(2));
            }
            Err(error) => {
                tracing::error!(%error, batches = waiting.len(), "the journal could not be written");
                return Err(error);
            }
            Ok(()) => return Ok(()),
        }
    }
}

/// Tells a run what became of its batch.
fn answer(entry: Entry, outcome: Result<(), &StoreError>) {
    if outcome.is_ok()
        && let Some(last) = entry.batch.lines.last()
        && entry.done.is_none()
    {
        entry.live.committed(last.seq);
    }
    let outcome =
        outcome.map_err(|error| Unstored { failure: failure_of(error), is_taken: is_of_another_writer(error) });
    match (entry.done, outcome) {
        // A run that stopped waiting needs no answer.
        (Some(done), outcome) => drop(done.send(outcome)),
        (None, Ok(())) => {}
        (None, Err(unstored)) => {
            entry.live.give_back(entry.batch);
            entry.live.interrupt(super::live::Interrupt::Failed(unstored.failure));
        }
    }
}

fn is_of_another_writer(error: &StoreError) -> bool {
    matches!(error, StoreError::NotUnique | StoreError::InUse)
}

/// Stores within the time that the database has for it. A dead connection would never say that it is dead.
async fn attempt(db: &Db, waiting: &[Entry], now: DateTime<Utc>) -> Result<(), StoreError> {
    let Some(limit) = db.attempt_limit() else { return store(db, waiting, now).await };
    let stored = tokio::time::timeout(limit, store(db, waiting, now)).await;
    stored.unwrap_or_else(|_| Err(StoreError::Busy("it did not answer in time".into())))
}

async fn store(db: &Db, waiting: &[Entry], now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    db.fence(&mut tx).await?;
    for entry in waiting {
        if let Some(generation) = &entry.batch.generation {
            generations::insert(&mut tx, generation).await?;
        }
    }
    let events: Vec<EventRow<'_>> = waiting
        .iter()
        .flat_map(|entry| {
            entry.batch.lines.iter().map(|line| EventRow { turn_id: entry.turn_id, seq: line.seq, event: &line.json })
        })
        .collect();
    turn_events::append(&mut tx, &events).await?;
    let blocks: Vec<BlockOf<'_>> = waiting
        .iter()
        .flat_map(|entry| {
            entry.batch.blocks.iter().map(|block| BlockOf { chat_id: entry.chat_id, turn_id: entry.turn_id, block })
        })
        .collect();
    if !blocks.is_empty() {
        turn_blocks::upsert(&mut tx, &blocks, now).await?;
    }
    let named: Vec<BlobOf<'_>> = waiting.iter().flat_map(|entry| &entry.batch.blobs).map(blob_of).collect();
    blobs::put(&mut tx, &named, now).await?;
    let raw = joined(waiting.iter().flat_map(|entry| &entry.batch.raw));
    let chunks: Vec<Chunk<'_>> = raw
        .iter()
        .map(|(generation_id, offset, bytes)| Chunk { generation_id: *generation_id, offset: *offset, bytes })
        .collect();
    if !chunks.is_empty() {
        raw::append_chunks(&mut tx, &chunks).await?;
    }
    for entry in waiting {
        if let Some(progress) = &entry.batch.progress {
            turns::progress(&mut tx, progress).await?;
        }
        if let Some(end) = &entry.batch.generation_end {
            generations::finish(&mut tx, end).await?;
        }
        let Some(ending) = &entry.batch.ending else { continue };
        if !turns::finish(&mut tx, ending).await? {
            // First terminal wins; the loser's events were written for nothing, but the state stays the winner's.
            tracing::warn!(turn = %entry.turn_id, "a turn ended twice");
        } else if let Some(state) = &entry.batch.provider_state {
            branches::set_provider_state(&mut tx, ending.branch_id, state).await?;
        }
    }
    tx.commit_repeatable().await
}

fn blob_of((block, blob): &(BlockId, NewBlob)) -> BlobOf<'_> {
    BlobOf { block: *block, sha256: &blob.sha256, mime: &blob.mime, bytes: &blob.bytes }
}

/// One piece a response out of what came of each since the last commit: a row costs more than its bytes.
fn joined<'a>(raw: impl Iterator<Item = &'a (GenerationId, u64, Bytes)>) -> Vec<(GenerationId, u64, Vec<u8>)> {
    let mut pieces: Vec<(GenerationId, u64, Vec<u8>)> = Vec::new();
    let mut places: HashMap<GenerationId, usize> = HashMap::new();
    for (generation, offset, bytes) in raw {
        match places.get(generation).and_then(|place| pieces.get_mut(*place)) {
            Some((_, start, piece)) if *start + piece.len() as u64 == *offset => piece.extend_from_slice(bytes),
            _ => {
                places.insert(*generation, pieces.len());
                pieces.push((*generation, *offset, bytes.to_vec()));
            }
        }
    }
    pieces
}

fn failure_of(error: &StoreError) -> Failure {
    let kind = if matches!(error, StoreError::Full) { FailureKind::StorageFull } else { FailureKind::Internal };
    Failure::new(kind, "")
}

fn gone() -> Failure {
    Failure::new(FailureKind::ServerRestarted, "")
}
