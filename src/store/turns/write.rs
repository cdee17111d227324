//! Writes of turns. A running turn changes only through [`record_progress`] and [`finish`], both conditional on it
//! being unfinished, so that exactly one writer ends it (`docs/reference/domain.md 4.8`).

use chrono::{DateTime, Utc};
use sqlx::types::Json;
use uuid::Uuid;

use crate::chats::unread_replies;
use crate::database::db::Tx;
use crate::database::deferred_write::{ChangedRows, insert_of_rows};
use crate::database::error::StoreError;
use crate::database::rows::{UsageRow, content_text_column, inconsistent, to_bigint};
use crate::documents::attachments;
use crate::search;
use crate::turns::blocks::{self, BlockUpsert};
use turnleaf_domain::{Turn, TurnId, TurnStatus};

/// Rows of values follow.
const INSERT: &str = "INSERT INTO turns (id, chat_id, ord, depth, branch_id, exchange_id, prev_turn_id, role, status, \
    provider_used, model_used, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, \
    reasoning_tokens, cost_micros, is_cost_estimated, context_tokens, content_text, error, last_event_seq, \
    created_at, started_at, completed_at) ";
/// The number of columns of [`INSERT`].
const COLUMNS: usize = 25;

sql! {
    LIVE = "SELECT id FROM turns WHERE id = $1 AND deleted_at IS NULL";
    DELETED = "SELECT id FROM turns WHERE id = $1 AND deleted_at IS NOT NULL";
    IS_OVER = "SELECT id FROM turns WHERE id = $1 AND status = $2 AND last_event_seq = $3 AND completed_at = $4";
    PROGRESS = "UPDATE turns SET status = $2, last_event_seq = $3, provider_used = $4, model_used = $5, \
        started_at = COALESCE(started_at, $6) \
        WHERE id = $1 AND status IN ('pending', 'streaming', 'waiting_subagents')";
    /// Only replies run, so the role is rewritten: a damaged role does not keep a reply from ending.
    FINISH = "UPDATE turns SET role = 'assistant', status = $2, last_event_seq = $3, provider_used = $4, model_used = $5, \
        started_at = COALESCE(started_at, $6), completed_at = $7, error = $8, content_text = $9, input_tokens = $10, \
        output_tokens = $11, cache_read_tokens = $12, cache_write_tokens = $13, reasoning_tokens = $14, \
        cost_micros = $15, is_cost_estimated = $16, context_tokens = $17 \
        WHERE id = $1 AND status IN ('pending', 'streaming', 'waiting_subagents')";
}

/// The progress of a running turn, as of the events in the same commit.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnProgress {
    pub turn_id: TurnId,
    /// Never a terminal status: [`finish`] writes those.
    pub status: TurnStatus,
    /// The newest event in the same transaction, at which readers stop folding.
    pub last_event_seq: u64,
    pub provider_used: Option<String>,
    pub model_used: Option<String>,
    pub started_at: Option<DateTime<Utc>>,
}

/// Returns whether the turn exists and is not deleted. The transaction has locked the chat, so no deletion comes
/// between.
pub(crate) async fn is_live(tx: &mut Tx, turn: TurnId) -> Result<bool, StoreError> {
    let found: Option<Uuid> =
        in_tx!(tx, |conn| sqlx::query_scalar(LIVE).bind(turn.uuid()).fetch_optional(conn).await?);
    Ok(found.is_some())
}

/// Returns whether the turn was deleted; false if it does not exist yet. The transaction has locked the chat.
pub(crate) async fn is_deleted(tx: &mut Tx, turn: TurnId) -> Result<bool, StoreError> {
    let found: Option<Uuid> =
        in_tx!(tx, |conn| sqlx::query_scalar(DELETED).bind(turn.uuid()).fetch_optional(conn).await?);
    Ok(found.is_some())
}

/// Stores a new turn with its blocks. The caller has locked the chat by allocating the turn's position in it.
///
/// # Errors
/// `Deleted` when the turn before it was deleted meanwhile.
pub async fn insert(tx: &mut Tx, turn: &Turn) -> Result<(), StoreError> {
    insert_path(tx, &[turn]).await?;
    tx.flush().await
}

/// Works like [`insert`], as deferred writes, for a few turns, each after the one before.
pub async fn insert_path(tx: &mut Tx, turns: &[&Turn]) -> Result<(), StoreError> {
    if let Some(prev) = turns.first().and_then(|first| first.prev_turn_id)
        && !is_live(tx, prev).await?
    {
        return Err(StoreError::Deleted("the turn before"));
    }
    let texts: Vec<_> = turns.iter().map(|turn| content_text_column(&turn.content_text())).collect();
    let mut insert = tx.defer(insert_of_rows(INSERT, turns.len(), COLUMNS, ""));
    for (turn, text) in turns.iter().zip(&texts) {
        let [input, output, cache_read, cache_write, reasoning] = UsageRow::from(turn.usage).counts();
        insert = insert
            .bind(turn.id.uuid())
            .bind(turn.chat_id.uuid())
            .bind(turn.ord)
            .bind(turn.depth)
            .bind(turn.branch_id.uuid())
            .bind(turn.exchange_id.uuid())
            .bind(turn.prev_turn_id.map(TurnId::uuid))
            .bind(turn.role.as_str())
            .bind(turn.status.as_str())
            .bind(turn.provider_used.clone())
            .bind(turn.model_used.clone())
            .bind(input)
            .bind(output)
            .bind(cache_read)
            .bind(cache_write)
            .bind(reasoning)
            .bind(turn.cost.map(|cost| to_bigint(cost.micros)))
            .bind(turn.cost.map(|cost| cost.is_estimated))
            .bind(turn.context_tokens.map(to_bigint))
            .bind(text.clone())
            .bind(turn.error.clone().map(Json))
            .bind(to_bigint(turn.last_event_seq))
            .bind(turn.created_at)
            .bind(turn.started_at)
            .bind(turn.completed_at);
    }
    insert.run().await?;
    for (turn, text) in turns.iter().zip(&texts) {
        let block = |block| BlockUpsert { chat_id: turn.chat_id, turn_id: turn.id, block };
        let blocks: Vec<BlockUpsert<'_>> = turn.blocks.iter().map(block).collect();
        blocks::defer_upsert(tx, &blocks, turn.created_at).await?;
        attachments::insert_references(tx, &turn.blocks).await?;
        if !text.is_empty() {
            search::queue::put_turn(tx, turn.id).await?;
        }
    }
    Ok(())
}

/// Records the progress of a running turn. Returns false if the turn is finished already; then the caller lost the
/// race and stops.
pub async fn record_progress(tx: &mut Tx, progress: &TurnProgress) -> Result<bool, StoreError> {
    let changed = defer_progress(tx, progress).await?;
    Ok(tx.rows_affected(changed).await? > 0)
}

/// Works like [`record_progress`], as a deferred write that changes one row unless the turn is finished already.
pub async fn defer_progress(tx: &mut Tx, progress: &TurnProgress) -> Result<ChangedRows, StoreError> {
    if progress.status.is_terminal() {
        return Err(inconsistent("turns", "status", progress.turn_id, "a turn ends by `finish`"));
    }
    let update = tx.defer(PROGRESS).bind(progress.turn_id.uuid()).bind(progress.status.as_str());
    let update = update.bind(to_bigint(progress.last_event_seq)).bind(progress.provider_used.clone());
    update.bind(progress.model_used.clone()).bind(progress.started_at).run().await
}

/// Checks that a turn has an ending.
pub(super) fn check_ended(turn: &Turn) -> Result<(), StoreError> {
    if turn.status.is_terminal() && turn.completed_at.is_some() {
        return Ok(());
    }
    Err(inconsistent("turns", "status", turn.id, "only a turn at its end can be finished"))
}

/// Ends a turn with the values of `turn`: status, usage, cost, error, text, newest event, times. Its blocks are
/// stored by [`blocks::upsert`] in the same transaction. Returns false if it had another ending already: the
/// first one wins. Idempotent: repeating the same ending succeeds, because the acknowledgement of an earlier commit
/// may have been lost.
///
/// # Errors
/// `Inconsistent` when `turn` is not at its end.
pub async fn finish(tx: &mut Tx, turn: &Turn) -> Result<bool, StoreError> {
    let ended = defer_finish(tx, &[turn]).await?;
    match ended.first() {
        Some(ended) => is_finished(tx, turn, *ended).await,
        None => Ok(false),
    }
}

/// Works like [`finish`], as deferred writes for several turns; [`is_finished`] returns the outcome of each.
///
/// # Errors
/// As of [`finish`].
pub async fn defer_finish(tx: &mut Tx, turns: &[&Turn]) -> Result<Vec<ChangedRows>, StoreError> {
    // Each kind of write by itself: SQLite runs repeated ones together.
    for turn in turns {
        check_ended(turn)?;
        // A stopped reply counts as read: the person was looking at it.
        if turn.status != TurnStatus::Cancelled {
            unread_replies::defer_put(tx, turn.id).await?;
        }
    }
    let mut ended = Vec::with_capacity(turns.len());
    for turn in turns {
        ended.push(defer_end(tx, turn).await?);
    }
    for turn in turns {
        search::queue::put_turn(tx, turn.id).await?;
    }
    Ok(ended)
}

/// Writes the ending of a running turn.
async fn defer_end(tx: &mut Tx, turn: &Turn) -> Result<ChangedRows, StoreError> {
    let [input, output, cache_read, cache_write, reasoning] = UsageRow::from(turn.usage).counts();
    let update = tx.defer(FINISH).bind(turn.id.uuid()).bind(turn.status.as_str());
    let update = update.bind(to_bigint(turn.last_event_seq));
    let update = update.bind(turn.provider_used.clone()).bind(turn.model_used.clone());
    let update = update.bind(turn.started_at).bind(turn.completed_at).bind(turn.error.clone().map(Json));
    let update = update.bind(content_text_column(&turn.content_text()));
    let update = update.bind(input).bind(output).bind(cache_read).bind(cache_write).bind(reasoning);
    let update = update.bind(turn.cost.map(|cost| to_bigint(cost.micros)));
    let update = update.bind(turn.cost.map(|cost| cost.is_estimated));
    update.bind(turn.context_tokens.map(to_bigint)).run().await
}

/// Returns whether the turn has the ending that [`defer_finish`] wrote, now or before.
pub async fn is_finished(tx: &mut Tx, turn: &Turn, ended: ChangedRows) -> Result<bool, StoreError> {
    if tx.rows_affected(ended).await? > 0 {
        return Ok(true);
    }
    let same: Option<Uuid> = in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(IS_OVER).bind(turn.id.uuid()).bind(turn.status.as_str());
        query.bind(to_bigint(turn.last_event_seq)).bind(turn.completed_at).fetch_optional(conn).await?
    });
    Ok(same.is_some())
}
