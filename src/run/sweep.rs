//! The sweep at start (crash recovery): every turn and request for a title that an earlier process left running ends as
//! `server_restarted`, with the partial blocks and raw bytes of turns kept. A turn that waits for a person stays; its
//! running calls are interrupted.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;

use super::ending::{TurnEnding, TurnSpending, closing_events, interruption_events};
use turnleaf_domain::blocks::block::chat_seq;
use turnleaf_domain::turns::fold;
use turnleaf_domain::turns::user_input_wait::outlasts_process;
use turnleaf_domain::{Block, BlockId, Event, Failure, FailureKind, Turn, Usage, limits};
use turnleaf_platform::clock::Clock;
use turnleaf_platform::ids;
use turnleaf_store::chats::title_requests;
use turnleaf_store::database::readable::{is_damage_note, is_placeholder};
use turnleaf_store::shares::snapshots;
use turnleaf_store::turns::blocks::{self, BlockUpsert, StoredBlockPosition};
use turnleaf_store::turns::events::{self, EventRow};
use turnleaf_store::turns::generations::{self, GenerationEnd, GenerationStatus, raw};
use turnleaf_store::turns::{self, TurnProgress};
use turnleaf_store::usage::{ledger, spending, storage};
use turnleaf_store::{Db, StoreError, Tx, idempotency_keys, search};

/// Ends what an earlier process left running: the requests for titles, and the turns that do not wait for a person, whose
/// number it returns.
pub async fn sweep_unfinished(db: &Db, clock: &Arc<dyn Clock>) -> Result<usize, StoreError> {
    match end_title_requests(db, clock).await {
        // Another process has the database, and will end them.
        Ok(()) | Err(StoreError::InUse) => {}
        Err(error) => return Err(error),
    }
    end_unfinished_turns(db, clock).await
}

/// Each turn is a transaction of its own, so that a crash in the middle only leaves fewer to do.
async fn end_unfinished_turns(db: &Db, clock: &Arc<dyn Clock>) -> Result<usize, StoreError> {
    let unfinished = turns::list_unfinished(db).await?;
    let mut ended = 0;
    for turn in &unfinished {
        let waits = outlasts_process(turn);
        let done = match waits {
            true => interrupt(db, clock, turn.clone()).await,
            false => end_turn(db, clock, turn.clone(), &restart_ending()).await,
        };
        match done {
            Ok(()) => ended += usize::from(!waits),
            // A damaged, unavailable or full database prevents the start; one turn that cannot be ended does not.
            Err(error) if error.is_damaged() || error.is_busy() || matches!(error, StoreError::Full) => {
                return Err(error);
            }
            Err(error) => tracing::error!(turn = %turn.id, %error, "a turn of an earlier process could not be ended"),
        }
    }
    Ok(ended)
}

/// A damaged row that refuses its end stays.
async fn end_title_requests(db: &Db, clock: &Arc<dyn Clock>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    db.fence(&mut tx).await?;
    tx.savepoint().await?;
    let failure = Failure::new(FailureKind::ServerRestarted, "");
    let ended = title_requests::interrupt_running(&mut tx, &failure, clock.now()).await;
    keep_or_undo(&mut tx, ended).await?;
    tx.commit().await
}

/// Returns the ending of a turn whose process is gone.
fn restart_ending() -> TurnEnding {
    TurnEnding::Failed(Failure::new(FailureKind::ServerRestarted, ""))
}

/// Ends one turn that no process drives. A turn that has an ending by now keeps it. Parts of the ending that the
/// database refuses, because rows of the turn are damaged, are left out.
pub(super) fn end_turn<'a>(
    db: &'a Db,
    clock: &'a Arc<dyn Clock>,
    mut turn: Turn,
    ending: &'a TurnEnding,
) -> BoxFuture<'a, Result<(), StoreError>> {
    // The body is in a box, or every crate that polls it would compile it again (`docs/performance.md`).
    Box::pin(async move {
        let now = clock.now();
        let (usage, cost) = spending::turn_usage_and_cost(db, turn.id).await?;
        let cut_off = generations::list_running(db, turn.id).await?;
        let mut tx = db.begin().await?;
        db.fence(&mut tx).await?;
        let stored = blocks::stored_positions(&mut tx, &turn).await?;
        let first = move_behind_stored(&mut turn, &stored);
        let events = closing_events(&turn, ending, TurnSpending { usage, cost }, (now, first), ids::mint::<BlockId>);
        record(&mut tx, &mut turn, &events, &stored, now).await?;
        // Blocks with unreadable content keep it.
        tx.savepoint().await?;
        let closed = blocks::close_open_blocks(&mut tx, turn.id, now).await;
        keep_or_undo(&mut tx, closed).await?;
        let status = if turn.error.is_some() { GenerationStatus::Error } else { GenerationStatus::Cancelled };
        for generation in &cut_off {
            let end = GenerationEnd {
                id: generation.id,
                status,
                raw_complete: false,
                model_returned: generation.model_returned.clone(),
                stop_reason: None,
                usage: Usage::default(),
                charge: None,
                error: turn.error.clone(),
                first_token_at: generation.first_token_at,
                ended_at: now,
                estimate: None,
                body: None,
            };
            tx.savepoint().await?;
            let finished = generations::finish(&mut tx, &end).await;
            keep_or_undo(&mut tx, finished.map(drop)).await?;
        }
        tx.savepoint().await?;
        let closed = generations::close_remaining(&mut tx, turn.id, status, now).await;
        keep_or_undo(&mut tx, closed).await?;
        tx.savepoint().await?;
        let recorded = ledger::record_turn(&mut tx, turn.id).await;
        keep_or_undo(&mut tx, recorded).await?;
        tx.savepoint().await?;
        let finished = turns::finish(&mut tx, &turn).await;
        match keep_or_undo(&mut tx, finished).await? {
            Some(true) => tx.commit().await,
            Some(false) => {
                tracing::warn!(turn = %turn.id, "a turn to be ended has already ended");
                tx.rollback().await
            }
            None => {
                // Everything is stored but the turn row itself, which violates a constraint of its table.
                tx.commit().await?;
                turns::force_end(db, &turn).await.map(drop)
            }
        }
    })
}

/// Keeps the changes since the savepoint, or rolls them back if a damaged row refuses them: the end of the turn does
/// not depend on them.
async fn keep_or_undo<T>(tx: &mut Tx, change: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    let kept = tx.finish_savepoint(change, |error| !error.is_database_wide()).await?;
    Ok(kept
        .inspect_err(
            |error| tracing::error!(%error, "a damaged row of an ending turn is left unchanged; see `turnleaf fsck`"),
        )
        .ok())
}

/// Interrupts the running calls of a turn that stays alive.
async fn interrupt(db: &Db, clock: &Arc<dyn Clock>, mut turn: Turn) -> Result<(), StoreError> {
    let now = clock.now();
    let mut tx = db.begin().await?;
    db.fence(&mut tx).await?;
    let stored = blocks::stored_positions(&mut tx, &turn).await?;
    let first = move_behind_stored(&mut turn, &stored);
    let events = interruption_events(&turn, (now, first), ids::mint::<BlockId>);
    // The resumed run counts its blocks from the stored ones.
    let is_noted = turn.blocks.iter().any(|block| is_damage_note(block, turn.id));
    if events.is_empty() && !is_noted {
        return tx.rollback().await;
    }
    record(&mut tx, &mut turn, &events, &stored, now).await?;
    let progress = TurnProgress {
        turn_id: turn.id,
        status: turn.status,
        last_event_seq: turn.last_event_seq,
        provider_used: turn.provider_used.clone(),
        model_used: turn.model_used.clone(),
        started_at: turn.started_at,
    };
    if !turns::record_progress(&mut tx, &progress).await? {
        return tx.rollback().await;
    }
    tx.commit().await
}

/// Moves unstored blocks behind all rows if an unreadable row has their position. Returns the position of the next
/// block.
fn move_behind_stored(turn: &mut Turn, stored: &[StoredBlockPosition]) -> u32 {
    let mut next = turn.next_block_seq().max(first_free_place(stored));
    let ord = turn.ord;
    for block in &mut turn.blocks {
        let is_stored = stored.iter().any(|row| row.id == Some(block.id));
        let is_taken = |row: &StoredBlockPosition| [row.seq, row.seq_in_chat].contains(&Some(block.seq));
        if !is_stored && stored.iter().any(is_taken) {
            (block.seq, block.chat_seq) = (next, chat_seq(ord, next));
            next += 1;
        }
    }
    turn.blocks.sort_by_key(|block| block.seq);
    next
}

/// Returns the first position behind all rows.
fn first_free_place(stored: &[StoredBlockPosition]) -> u32 {
    stored.iter().flat_map(|row| [row.seq, row.seq_in_chat]).flatten().max().map_or(0, |last| last + 1)
}

/// Stores events of a turn that no process drives, and its blocks after them. Rows of finished blocks stay unchanged
/// unless an event changes them.
async fn record(
    tx: &mut Tx,
    turn: &mut Turn,
    events: &[Event],
    stored: &[StoredBlockPosition],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let first = turn.last_event_seq + 1;
    let lines: Vec<(u64, String)> = (first..)
        .zip(events)
        .map(|(seq, event)| (seq, serde_json::to_string(event).unwrap_or_else(|_| "{}".into())))
        .collect();
    let impossible = fold::fold(turn, (first..).zip(events));
    for (seq, reason) in impossible {
        tracing::error!(turn = %turn.id, seq, reason, "the sweep wrote an invalid event");
    }
    let rows: Vec<EventRow<'_>> =
        lines.iter().map(|(seq, event)| EventRow { turn_id: turn.id, seq: *seq, event }).collect();
    events::append(tx, &rows).await?;
    // The placeholder of a damaged value must not replace it; the damage note at the end belongs to the turn.
    let is_of_turn = |block: &&Block| !is_placeholder(&block.content) || is_damage_note(block, turn.id);
    let changed = |block: &&Block| events.iter().any(|event| event.block_id() == Some(block.id));
    let is_finished = |block: &&Block| stored.iter().any(|row| row.id == Some(block.id) && row.is_finished);
    let blocks = turn.blocks.iter().filter(is_of_turn).filter(|block| changed(block) || !is_finished(block));
    let blocks: Vec<BlockUpsert<'_>> =
        blocks.map(|block| BlockUpsert { chat_id: turn.chat_id, turn_id: turn.id, block }).collect();
    let refused = store_blocks(tx, &blocks, now).await?;
    // The rows of refused blocks are damaged; copies are stored behind all others, so that no content is lost.
    let next = turn.next_block_seq().max(first_free_place(stored));
    let moved: Vec<Block> = (next..)
        .zip(refused)
        .map(|(seq, of)| Block { id: ids::mint(), seq, chat_seq: chat_seq(turn.ord, seq), ..of.block.clone() })
        .collect();
    let moved: Vec<BlockUpsert<'_>> =
        moved.iter().map(|block| BlockUpsert { chat_id: turn.chat_id, turn_id: turn.id, block }).collect();
    for of in store_blocks(tx, &moved, now).await? {
        // The damage may be in the rows that the block references.
        let block = Block { parent_block_id: None, generation_id: None, ..of.block.clone() };
        let left = store_blocks(tx, &[BlockUpsert { block: &block, ..of }], now).await?;
        if !left.is_empty() {
            tracing::error!(turn = %turn.id, "a block of an ending turn cannot be stored");
        }
    }
    Ok(())
}

/// Stores blocks; returns those that the database refuses.
async fn store_blocks<'b>(
    tx: &mut Tx,
    blocks: &[BlockUpsert<'b>],
    now: DateTime<Utc>,
) -> Result<Vec<BlockUpsert<'b>>, StoreError> {
    tx.savepoint().await?;
    let all = blocks::upsert(tx, blocks, now).await;
    if keep_or_undo(tx, all).await?.is_some() {
        return Ok(Vec::new());
    }
    let mut refused = Vec::new();
    for of in blocks {
        tx.savepoint().await?;
        let one = blocks::upsert(tx, &[*of], now).await;
        if keep_or_undo(tx, one).await?.is_none() {
            refused.push(*of);
        }
    }
    Ok(refused)
}

/// Indexes chats that are older than the search index.
pub async fn update_search_index(db: &Db) -> Result<(), StoreError> {
    while search::queue::index_batch(db).await? {}
    while search::backfill::index_batch(db).await? {}
    Ok(())
}

/// Counts the bytes of turns that ended since the last time, and of all turns after an upgrade.
pub async fn count_stored_bytes(db: &Db) -> Result<(), StoreError> {
    while storage::count_pending_turns(db).await? {}
    Ok(())
}

/// The number of turns per batch.
const TURNS_AT_A_TIME: u32 = 100;

/// Packs raw bodies that an earlier process left in pieces.
pub async fn pack_raw_bodies(db: &Db) -> Result<(), StoreError> {
    loop {
        let unpacked = raw::list_unpacked(db, TURNS_AT_A_TIME).await?;
        if unpacked.is_empty() {
            return Ok(());
        }
        for generation in unpacked {
            raw::pack(db, generation).await?;
        }
    }
}

/// Deletes the idempotency keys that are old enough.
pub async fn delete_old_requests(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    idempotency_keys::delete_old(&mut tx, now - limits::REQUESTS_KEPT).await?;
    tx.commit().await
}

/// Deletes the shares that were revoked or expired long enough ago; until then their owners see them in the list.
pub async fn delete_ended_shares(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    snapshots::delete_ended(&mut tx, now - limits::SHARE_KEPT).await?;
    tx.commit().await
}

/// Deletes the journals of turns that ended too long ago to have followers; their blocks remain.
pub async fn delete_old_journals(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let before = now - limits::JOURNAL_KEPT;
    loop {
        let mut tx = db.begin().await?;
        let deleted = events::delete_old(&mut tx, before, TURNS_AT_A_TIME).await?;
        tx.commit().await?;
        if deleted == 0 {
            return Ok(());
        }
    }
}
