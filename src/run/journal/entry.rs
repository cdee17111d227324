//! Journal entries, and the transaction that stores those of many turns.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::batch::JournalBatch;
use super::health::WaitingBatch;
use crate::live_turns::LiveTurn;
use turnleaf_domain::{BlockId, ChatId, Failure, GenerationId, Turn, TurnId};
use turnleaf_store::documents::blobs::{self, NewBlockBlob};
use turnleaf_store::turns::blocks::{self, BlockUpsert};
use turnleaf_store::turns::events::{self, EventRow, JoinedEvents};
use turnleaf_store::turns::generations::raw::{self, RawChunk};
use turnleaf_store::turns::generations::{self, GenerationEnd, NewGeneration};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, StoreError, Tx, branches};
use turnleaf_tools::toolbox::NewBlob;

/// Capacity of the channel to the writer. Backpressure: a full channel slows the runs instead of using memory.
pub(super) const WAITING_BATCHES: usize = 1024;

/// A batch in the queue of the writer.
pub(super) struct JournalEntry {
    /// The time at which it was queued.
    pub since: Instant,
    pub live: Arc<LiveTurn>,
    pub turn_id: TurnId,
    pub chat_id: ChatId,
    pub batch: JournalBatch,
    /// True for deltas that the live turn still holds. They are collected when the entry is stored, so that the deltas
    /// of one commit are one entry.
    pub has_deltas: bool,
    /// Deltas and raw bytes that an earlier entry of the turn could not store, and that are stored with its ending.
    pub returned: JournalBatch,
    /// Present for batches that must be stored before their run continues.
    pub done: Option<oneshot::Sender<Result<(), CommitError>>>,
    /// Counts the entry in the journal's health; removed when it is answered, or deferred while others are stored.
    pub waiting: Option<WaitingBatch>,
}

impl JournalEntry {
    /// Returns whether a run waits for the entry, so that it must not wait for the deadline of deltas.
    pub fn is_urgent(&self) -> bool {
        self.done.is_some() || (self.has_deltas && self.live.is_ahead_of_journal())
    }

    /// Moves the deltas that the live turn holds into the batch. A repeated attempt stores the same ones. An ending also
    /// takes what could not be stored since it was queued: nothing is stored after it.
    pub fn collect_deltas(&mut self) {
        if std::mem::take(&mut self.has_deltas) {
            self.batch.lines.extend(self.live.take_unqueued());
        }
        if self.batch.ending.is_some() {
            for batch in self.live.take_returned_batches() {
                self.returned.lines.extend(batch.lines);
                self.returned.raw.extend(batch.raw);
            }
        }
    }

    /// Gives back what [`Self::collect_deltas`] took for an ending that is not stored, so that its next attempt has it.
    pub fn give_back(&mut self) {
        let returned = std::mem::take(&mut self.returned);
        if !(returned.lines.is_empty() && returned.raw.is_empty()) {
            self.live.return_batch(returned);
        }
    }
}

/// The reason why a batch was not stored.
#[derive(Debug, Clone)]
pub struct CommitError {
    pub failure: Failure,
    /// Another writer owns this turn: its event numbers or the database are taken, or the turn already has an ending.
    pub is_taken: bool,
    /// The database accepts other batches but refuses this one for its content; repeating it is pointless.
    pub is_refused: bool,
}

/// Stores entries in one transaction, which waits at most `lock_wait` for row locks of others. All entries are written
/// before any outcome is looked at, so that SQLite takes them in few scripts.
pub(super) async fn store_entries(
    db: &Db,
    waiting: &[JournalEntry],
    lock_wait: Duration,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let mut tx = db.begin_urgent().await?;
    db.fence_with_lock_timeout(&mut tx, lock_wait).await?;
    let calls: Vec<&NewGeneration> = waiting.iter().filter_map(|entry| entry.batch.generation.as_ref()).collect();
    let inserted_calls = generations::defer_insert(&mut tx, &calls).await?;
    let is_ending = |entry: &&JournalEntry| entry.batch.ending.is_some();
    let mut events: Vec<EventRow<'_>> = waiting.iter().filter(|entry| !is_ending(entry)).flat_map(event_rows).collect();
    // Deltas are joined if they are adjacent, and neighbouring rows cost fewer pages.
    events.sort_by_key(|event| (event.turn_id, event.seq));
    let events = events::join(events);
    // An ending may have events that came back from an attempt whose outcome is unknown. Row by row, they can only
    // repeat what is stored.
    let endings = waiting.iter().filter(is_ending).flat_map(event_rows);
    let events: Vec<EventRow<'_>> = events.iter().map(JoinedEvents::row).chain(endings).collect();
    let inserted_events = events::defer_append(&mut tx, &events).await?;
    let blocks: Vec<BlockUpsert<'_>> = waiting
        .iter()
        .flat_map(|entry| {
            entry.batch.blocks.iter().map(|block| BlockUpsert { chat_id: entry.chat_id, turn_id: entry.turn_id, block })
        })
        .collect();
    blocks::defer_upsert(&mut tx, &blocks, now).await?;
    let named: Vec<NewBlockBlob<'_>> = waiting.iter().flat_map(|entry| &entry.batch.blobs).map(blob_of).collect();
    blobs::put(&mut tx, &named, now).await?;
    let raw = raw_pieces(waiting);
    let chunks: Vec<RawChunk<'_>> = raw
        .iter()
        .map(|(generation_id, offset, bytes)| RawChunk { generation_id: *generation_id, offset: *offset, bytes })
        .collect();
    let inserted_chunks = raw::defer_append_chunks(&mut tx, &chunks).await?;
    store_progress(&mut tx, waiting).await?;
    generations::check_inserted(&mut tx, &calls, &inserted_calls).await?;
    events::complete_append(&mut tx, &events, &inserted_events).await?;
    raw::complete_append_chunks(&mut tx, &chunks, &inserted_chunks).await?;
    tx.commit_idempotent().await
}

fn event_rows(entry: &JournalEntry) -> impl Iterator<Item = EventRow<'_>> {
    let lines = entry.returned.lines.iter().chain(&entry.batch.lines);
    lines.map(|line| EventRow { turn_id: entry.turn_id, seq: line.seq, event: &line.json })
}

/// Returns the merged pieces of responses, by response and offset.
fn raw_pieces(waiting: &[JournalEntry]) -> Vec<(GenerationId, u64, Vec<u8>)> {
    // A response that is packed with its end needs no pieces.
    let ends = waiting.iter().filter_map(|entry| entry.batch.generation_end.as_ref());
    let packed: HashSet<GenerationId> = ends.filter(|end| end.has_small_body()).map(|end| end.id).collect();
    let raw = waiting.iter().flat_map(|entry| entry.returned.raw.iter().chain(&entry.batch.raw));
    let mut raw: Vec<_> = raw.filter(|(generation, ..)| !packed.contains(generation)).collect();
    raw.sort_by_key(|(generation, offset, _)| (*generation, *offset));
    merge_raw_pieces(raw.into_iter())
}

/// Stores the progress of the turns of entries, and the endings of those that have one.
async fn store_progress(tx: &mut Tx, waiting: &[JournalEntry]) -> Result<(), StoreError> {
    for entry in waiting {
        if let Some(exchange) = entry.batch.turns_thinking_on {
            exchanges::turn_thinking_on(tx, entry.live.owner(), exchange).await?;
        }
    }
    let mut progressed = Vec::new();
    for progress in waiting.iter().filter_map(|entry| entry.batch.progress.as_ref()) {
        progressed.push(turns::defer_progress(tx, progress).await?);
    }
    let ends: Vec<&GenerationEnd> = waiting.iter().filter_map(|entry| entry.batch.generation_end.as_ref()).collect();
    generations::defer_finish(tx, &ends).await?;
    let endings: Vec<&Turn> = waiting.iter().filter_map(|entry| entry.batch.ending.as_ref()).collect();
    let ended = turns::defer_finish(tx, &endings).await?;
    for JournalBatch { ending, provider_state, .. } in waiting.iter().map(|entry| &entry.batch) {
        if let (Some(ending), Some(state)) = (ending, provider_state) {
            branches::defer_provider_state(tx, ending.branch_id, state).await?;
        }
    }
    for progressed in progressed {
        if tx.rows_affected(progressed).await? == 0 {
            // The run waits for each progress write, so this is not a repeated one after its own ending.
            return Err(StoreError::NotUnique);
        }
    }
    for (ending, ended) in endings.into_iter().zip(ended) {
        if !turns::is_finished(tx, ending, ended).await? {
            // The first terminal state wins, with its events and blocks; nothing of the loser is stored.
            tracing::warn!(turn = %ending.id, "a turn ended twice");
            return Err(StoreError::NotUnique);
        }
    }
    Ok(())
}

fn blob_of((block, blob): &(BlockId, NewBlob)) -> NewBlockBlob<'_> {
    NewBlockBlob { block: *block, sha256: &blob.sha256, mime: &blob.mime, bytes: &blob.bytes }
}

/// Merges the pieces of each response since the last commit into one, because a row costs more than its bytes.
fn merge_raw_pieces<'a>(
    raw: impl Iterator<Item = &'a (GenerationId, u64, Bytes)>,
) -> Vec<(GenerationId, u64, Vec<u8>)> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::Instant;

    use super::*;
    use crate::journal::batch::EventLine;
    use turnleaf_domain::{Role, TurnStatus, fixtures};
    use turnleaf_platform::ids;

    fn entry(live: &Arc<LiveTurn>, ending: Option<Turn>) -> JournalEntry {
        let (turn_id, chat_id) = live.with_turn(|turn| (turn.id, turn.chat_id));
        JournalEntry {
            since: Instant::now(),
            live: Arc::clone(live),
            turn_id,
            chat_id,
            batch: JournalBatch { ending, ..JournalBatch::default() },
            has_deltas: false,
            returned: JournalBatch::default(),
            done: None,
            waiting: None,
        }
    }

    #[test]
    fn ending_stores_deltas_that_failed_after_it_was_queued() {
        let turn = fixtures::turn(2, Role::Assistant, TurnStatus::Streaming);
        let live = Arc::new(LiveTurn::new(ids::mint(), turn.clone()));
        let (mut delta, mut ending) = (entry(&live, None), entry(&live, Some(turn)));
        let line = EventLine { seq: 7, json: "{}".into() };
        live.return_batch(JournalBatch { lines: vec![line], ..JournalBatch::default() });
        delta.collect_deltas();
        ending.collect_deltas();
        let seqs = |entry: &JournalEntry| event_rows(entry).map(|row| row.seq).collect::<Vec<_>>();
        assert_eq!((seqs(&delta), seqs(&ending)), (vec![], vec![7]));
        // An ending that is not stored leaves them to its next attempt.
        ending.give_back();
        assert_eq!(live.take_returned_batches().len(), 1);
        assert!(seqs(&ending).is_empty());
    }
}
