//! The journal's writer: one task that stores what all running turns do, many turns to a transaction (reliability.md 1.3
//! rule 4). Growth waits as long as `limits::COMMIT_EVERY` says; whatever changes what exists is committed at once, and its run waits
//! for that before it shows anything.

mod health;
mod writer;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use self::health::{JournalHealth, WaitingBatch};
use self::writer::Writer;
use super::live::{Line, Live};
use turnleaf_domain::repair::ProviderState;
use turnleaf_domain::{Block, BlockId, ChatId, Failure, FailureKind, GenerationId, Turn, TurnId};
use turnleaf_platform::clock::Clock;
use turnleaf_platform::tasks::{self, Task};
use turnleaf_store::blobs::{self, BlobOf};
use turnleaf_store::generations::raw::{self, Chunk};
use turnleaf_store::turn_blocks::BlockOf;
use turnleaf_store::turn_events::EventRow;
use turnleaf_store::turns::Progress;
use turnleaf_store::{Db, StoreError, branches, generations, turn_blocks, turn_events, turns};
use turnleaf_tools::toolbox::NewBlob;

/// Batches that may wait for the writer. A full channel slows the runs, not the memory.
const WAITING_BATCHES: usize = 1024;

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

impl Batch {
    /// How much it brings.
    fn bytes(&self) -> usize {
        let lines = self.lines.iter().map(|line| line.json.len());
        let raw = self.raw.iter().map(|(_, _, raw)| raw.len());
        lines.chain(raw).chain(self.blobs.iter().map(|(_, blob)| blob.bytes.len())).sum()
    }
}

struct Entry {
    /// When it was handed over.
    since: Instant,
    live: Arc<Live>,
    turn_id: TurnId,
    chat_id: ChatId,
    batch: Batch,
    /// There for batches that must be stored before their run goes on.
    done: Option<oneshot::Sender<Result<(), Unstored>>>,
    /// Gone with the entry, when it is answered; and for one that waits while others are stored.
    waiting: Option<WaitingBatch>,
}

/// Why a batch is not in the journal.
#[derive(Debug, Clone)]
pub struct Unstored {
    pub failure: Failure,
    /// Another writer owns this turn: its numbers are taken, or the database is, or it has an ending.
    pub is_taken: bool,
    /// The database takes other batches, and not this one for what it is. The same again is refused again.
    pub is_refused: bool,
}

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

/// Stores entries in one transaction, which waits for rows that others hold as long as `lock_wait` says.
async fn store(db: &Db, waiting: &[Entry], lock_wait: Duration, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    db.fence_within(&mut tx, lock_wait).await?;
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
        if let Some(progress) = &entry.batch.progress
            && !turns::progress(&mut tx, progress).await?
        {
            // Its run waits for each of them, so this is not a repeated one behind its own ending.
            return Err(StoreError::NotUnique);
        }
        if let Some(end) = &entry.batch.generation_end {
            generations::finish(&mut tx, end).await?;
        }
        let Some(ending) = &entry.batch.ending else { continue };
        if !turns::finish(&mut tx, ending).await? {
            // First terminal wins, with its events and blocks: nothing of the loser's is stored.
            tracing::warn!(turn = %entry.turn_id, "a turn ended twice");
            return Err(StoreError::NotUnique);
        }
        if let Some(state) = &entry.batch.provider_state {
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

fn gone() -> Failure {
    Failure::new(FailureKind::ServerRestarted, "")
}
