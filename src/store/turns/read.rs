//! Reads of turns with their blocks. A finished turn is read from its rows; a running one is folded from its journal
//! up to the event in its row, so that turn and cursor are consistent.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{self, Damage, Lossy, Readable, RowReader, ok_or_log};
use crate::database::rows::{UsageRow, to_unsigned};
use crate::turns::replay::JournalReplay;
use crate::turns::span::{self, PathSpan, TurnPosition};
use crate::turns::{blocks, events};
use turnleaf_domain::branches::tree::TurnNode;
use turnleaf_domain::{Author, Block, ChatId, Cost, Failure, FailureKind, Role, Turn, TurnId, TurnStatus, UserId};

const TABLE: &str = "turns";

macro_rules! turn_columns {
    () => {
        "t.id, t.chat_id, t.ord, t.depth, t.branch_id, t.exchange_id, t.prev_turn_id, t.role, t.status, \
         t.provider_used, t.model_used, t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, \
         t.reasoning_tokens, t.cost_micros, t.is_cost_estimated, t.context_tokens, t.error, t.last_event_seq, t.created_at, t.started_at, t.completed_at"
    };
}

sql! {
    FIND = concat!("SELECT ", turn_columns!(), " FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL");
    /// The condition of a path's spans and their order follow.
    ON_PATH = concat!("SELECT ", turn_columns!(), " FROM turns t CROSS JOIN chats c ");
    /// The turns of a chat on all branches, by position.
    OF_CHAT = concat!("SELECT ", turn_columns!(), " FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.chat_id = $2 AND t.ord > $3 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        ORDER BY t.ord LIMIT $4");
    UNFINISHED = concat!("SELECT ", turn_columns!(), " FROM turns t \
        WHERE t.status IN ('pending', 'streaming', 'waiting_subagents') ORDER BY t.created_at, t.id");
    /// For the checker: any status and owner, deleted or not.
    ANY = concat!("SELECT ", turn_columns!(), " FROM turns t WHERE t.id = $1");
}

struct TurnRow {
    id: Uuid,
    chat_id: Uuid,
    ord: i64,
    depth: i64,
    branch_id: Lossy<Uuid>,
    exchange_id: Lossy<Uuid>,
    prev_turn_id: Lossy<Option<Uuid>>,
    role: Lossy<String>,
    status: Lossy<String>,
    provider_used: Lossy<Option<String>>,
    model_used: Lossy<Option<String>>,
    usage: UsageRow,
    cost_micros: Option<i64>,
    is_cost_estimated: Option<bool>,
    context_tokens: Option<i64>,
    error: Lossy<Option<Json<Failure>>>,
    last_event_seq: i64,
    created_at: Lossy<DateTime<Utc>>,
    started_at: Lossy<Option<DateTime<Utc>>>,
    completed_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(TurnRow {
    id,
    chat_id,
    ord,
    depth,
    branch_id,
    exchange_id,
    prev_turn_id,
    role,
    status,
    provider_used,
    model_used,
    usage: flatten,
    cost_micros,
    is_cost_estimated,
    context_tokens,
    error,
    last_event_seq,
    created_at,
    started_at,
    completed_at,
});

impl TurnRow {
    /// Returns the turn before it, if that can be read.
    fn prev(&self) -> Option<Uuid> {
        self.prev_turn_id.get().copied().flatten()
    }

    /// Returns the turn as far as its row can be read, and records unreadable values in `damages`.
    fn into_turn(self, blocks: Vec<Block>, damages: &mut Vec<Damage>) -> Turn {
        let mut row = RowReader { table: TABLE, id: self.id, damages };
        let prev = row.value("prev_turn_id", self.prev_turn_id).flatten();
        let role = row.value("role", self.role).and_then(|word| row.word("role", word));
        let role = role.unwrap_or(if self.depth == 0 { Role::User } else { Role::Assistant });
        let status = row.value("status", self.status).and_then(|word| row.word("status", word));
        let status = status.unwrap_or(TurnStatus::Error);
        let unknown = || Some(Json(Failure::new(FailureKind::Internal, "")));
        let error = row.value("error", self.error).unwrap_or_else(unknown).map(|Json(error)| error);
        let created_at = row.moment("created_at", self.created_at);
        let completed_at = row.value("completed_at", self.completed_at).flatten();
        Turn {
            id: self.id.into(),
            chat_id: self.chat_id.into(),
            ord: self.ord,
            depth: self.depth,
            branch_id: row.value("branch_id", self.branch_id).unwrap_or_default().into(),
            exchange_id: row.value("exchange_id", self.exchange_id).unwrap_or_default().into(),
            prev_turn_id: prev.map(TurnId::from),
            role,
            status,
            provider_used: row.value("provider_used", self.provider_used).flatten(),
            model_used: row.value("model_used", self.model_used).flatten(),
            usage: self.usage.into(),
            cost: self.cost_micros.map(|micros| Cost {
                micros: to_unsigned(micros),
                is_estimated: self.is_cost_estimated.unwrap_or(true),
            }),
            context_tokens: self.context_tokens.map(to_unsigned),
            error,
            last_event_seq: to_unsigned(self.last_event_seq),
            created_at,
            started_at: row.value("started_at", self.started_at).flatten(),
            completed_at: completed_at.or(status.is_terminal().then_some(created_at)),
            blocks,
            attempt: None,
        }
    }
}

/// Appends a notice to a turn that a part of it is missing.
fn note_damage(turn: &mut Turn, damages: &[Damage]) {
    if turn.blocks.iter().any(|block| readable::is_damage_note(block, turn.id)) {
        return;
    }
    let seq = turn.next_block_seq();
    // No block has the id of a turn; a stable id keeps pages consistent between reads.
    let id = turn.id.uuid().into();
    let content = readable::placeholder(damages, None);
    turn.blocks.push(Block::new(id, (turn.ord, seq), Author::System, content, turn.created_at));
}

/// Returns a turn of this owner, in its current state.
pub async fn find(db: &Db, owner: UserId, turn: TurnId) -> Result<Option<Turn>, StoreError> {
    find_with_damages(db, owner, turn, &mut Vec::new()).await
}

/// Works like [`find`], and records unreadable values of its blocks that have no placeholder.
pub async fn find_with_damages(
    db: &Db,
    owner: UserId,
    turn: TurnId,
    unnoticed: &mut Vec<Damage>,
) -> Result<Option<Turn>, StoreError> {
    let row: Option<TurnRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(turn.uuid()).fetch_optional(pool).await?);
    let Some(row) = row else { return Ok(None) };
    with_blocks(db, row, unnoticed).await.map(Some)
}

/// Reads the blocks of a turn and returns its current state.
async fn with_blocks(db: &Db, row: TurnRow, unnoticed: &mut Vec<Damage>) -> Result<Turn, StoreError> {
    let mut damages = Vec::new();
    let blocks = blocks::list_of_turn(db, row.id.into(), &mut damages).await?;
    readable::log_damages(&damages);
    let is_noticed = |damage: &Damage| {
        let stands_for = |block: &Block| block.id.to_string() == damage.id && readable::is_placeholder(&block.content);
        damage.column == readable::WHOLE_ROW || damage.column == "content" && blocks.iter().any(stands_for)
    };
    unnoticed.extend(damages.iter().filter(|damage| !is_noticed(damage)).cloned());
    damages.retain(|damage| damage.column == readable::WHOLE_ROW);
    current_turn(db, row, blocks, damages).await
}

/// Returns the newest `limit` turns of the path that ends at `leaf`, from root to leaf, and whether there are older
/// ones. Empty if the owner has no such turn.
///
/// # Errors
/// `BrokenPath` as [`turns_between`].
pub async fn path(db: &Db, owner: UserId, leaf: TurnId, limit: u32) -> Result<(Vec<Turn>, bool), StoreError> {
    let Some(end) = span::find_position(db, owner, leaf).await? else { return Ok((Vec::new(), false)) };
    let first = (end.depth + 1 - i64::from(limit)).max(0);
    let turns = turns_between(db, owner, &end, first, end.depth).await?;
    Ok((turns, first > 0))
}

/// Returns the turns between two depths, inclusive, of the path that ends at `end`, from root to leaf. Empty if the
/// end was deleted meanwhile.
///
/// # Errors
/// `BrokenPath` when the turns there are not connected: a cycle or a gap, which this code never writes.
pub async fn turns_between(
    db: &Db,
    owner: UserId,
    end: &TurnPosition,
    first: i64,
    last: i64,
) -> Result<Vec<Turn>, StoreError> {
    let mut seen = db.snapshot().await?;
    let (rows, spans) = rows_between(&mut seen, owner, end, first, last).await?;
    let mut by_turn: HashMap<TurnId, Vec<Block>> = HashMap::with_capacity(rows.len());
    for (turn, block) in blocks::list_on_path(&mut seen, owner, &spans).await? {
        by_turn.entry(turn).or_default().push(block);
    }
    // The snapshot ends before further reads, which need a connection of their own.
    seen.commit().await?;
    let mut turns = Vec::with_capacity(rows.len());
    for row in rows {
        let blocks = by_turn.remove(&row.id.into()).unwrap_or_default();
        turns.push(current_turn(db, row, blocks, Vec::new()).await?);
    }
    Ok(turns)
}

/// Returns the turns of a chat after this position, at most `limit`, on all branches.
pub async fn list_of_chat(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    behind: i64,
    limit: u32,
) -> Result<Vec<Turn>, StoreError> {
    list_of_chat_with_damages(db, owner, chat, (behind, limit), &mut Vec::new()).await
}

/// Works like [`list_of_chat`], and records unreadable values of the blocks that have no placeholder.
pub async fn list_of_chat_with_damages(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    (behind, limit): (i64, u32),
    unnoticed: &mut Vec<Damage>,
) -> Result<Vec<Turn>, StoreError> {
    let rows: Vec<Readable<TurnRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(OF_CHAT).bind(owner.uuid()).bind(chat.uuid());
        query.bind(behind).bind(i64::from(limit)).fetch_all(pool).await?
    });
    let mut turns = Vec::with_capacity(rows.len());
    for row in readable::keep_readable(rows, TABLE) {
        turns.push(with_blocks(db, row, unnoticed).await?);
    }
    Ok(turns)
}

/// Works like [`turns_between`], but returns only the tree nodes of the turns.
pub async fn nodes_between(
    db: &Db,
    owner: UserId,
    end: &TurnPosition,
    first: i64,
    last: i64,
) -> Result<Vec<TurnNode>, StoreError> {
    let mut seen = db.snapshot().await?;
    let (rows, _) = rows_between(&mut seen, owner, end, first, last).await?;
    seen.commit().await?;
    let node = |row: TurnRow| {
        let turn = row.into_turn(Vec::new(), &mut Vec::new());
        TurnNode { id: turn.id, prev: turn.prev_turn_id, ord: turn.ord, role: turn.role, status: turn.status }
    };
    Ok(rows.into_iter().map(node).collect())
}

async fn rows_between(
    tx: &mut Tx,
    owner: UserId,
    end: &TurnPosition,
    first: i64,
    last: i64,
) -> Result<(Vec<TurnRow>, Vec<PathSpan>), StoreError> {
    if first > last {
        return Ok(Default::default());
    }
    let spans = span::path_spans(tx, owner, end.id, first, last).await?;
    if spans.is_empty() {
        return Ok(Default::default());
    }
    let mut rows: Vec<TurnRow> = Vec::new();
    for portion in span::span_portions(&spans) {
        let found: Vec<Readable<TurnRow>> = in_tx!(&mut *tx, |conn| {
            let mut query = QueryBuilder::new(ON_PATH);
            span::push_span_condition(&mut query, owner, portion);
            query.push(" ORDER BY t.depth");
            query.build_query_as().persistent(portion.len() == 1).fetch_all(conn).await?
        });
        rows.extend(readable::keep_readable(found, TABLE));
    }
    let expected = (last == end.depth).then(|| end.id.uuid());
    let chain = chain(rows, expected, first, last).ok_or(StoreError::BrokenPath(end.id))?;
    Ok((chain, spans))
}

/// Returns the connected turns among rows ordered by depth, one per depth; `expected` is the last of them, if it is
/// known. `None` if one is missing or has another parent.
fn chain(rows: Vec<TurnRow>, expected: Option<Uuid>, first: i64, last: i64) -> Option<Vec<TurnRow>> {
    let mut chain: Vec<TurnRow> = Vec::with_capacity(rows.len());
    let mut expected = expected;
    for row in rows.into_iter().rev() {
        if chain.last().is_some_and(|above| above.depth == row.depth) || expected.is_some_and(|id| id != row.id) {
            continue;
        }
        expected = row.prev();
        chain.push(row);
        if expected.is_none() {
            break;
        }
    }
    chain.reverse();
    let is_whole = chain.iter().map(|row| row.depth).eq(first..=last);
    let is_rooted = first > 0 || chain.first().is_some_and(|row| row.prev().is_none());
    (is_whole && is_rooted).then_some(chain)
}

/// Returns every unfinished turn, of all owners, oldest first, for the sweep at the start.
pub async fn list_unfinished(db: &Db) -> Result<Vec<Turn>, StoreError> {
    let rows: Vec<Readable<TurnRow>> = with_pool!(db, |pool| sqlx::query_as(UNFINISHED).fetch_all(pool).await?);
    let mut turns = Vec::with_capacity(rows.len());
    for row in readable::keep_readable(rows, TABLE) {
        // An unreadable turn must not keep the others from ending, nor the server from starting.
        turns.extend(ok_or_log(current_turn(db, row, Vec::new(), Vec::new()).await, TABLE)?);
    }
    Ok(turns)
}

/// Returns a turn as its rows have it, for the checker, and records unreadable values.
pub(crate) async fn find_any(db: &Db, turn: TurnId, damages: &mut Vec<Damage>) -> Result<Option<Turn>, StoreError> {
    let row: Option<TurnRow> =
        with_pool!(db, |pool| sqlx::query_as(ANY).bind(turn.uuid()).fetch_optional(pool).await?);
    let Some(row) = row else { return Ok(None) };
    let blocks = blocks::list_of_turn(db, turn, damages).await?;
    Ok(Some(row.into_turn(blocks, damages)))
}

/// Returns the current state of a turn. `missing` are the known losses among its blocks.
async fn current_turn(db: &Db, row: TurnRow, blocks: Vec<Block>, missing: Vec<Damage>) -> Result<Turn, StoreError> {
    let mut damages = missing;
    let mut turn = row.into_turn(blocks, &mut damages);
    if !turn.status.is_terminal() {
        turn = replay_running(db, turn, &mut damages).await?;
    }
    if !damages.is_empty() {
        readable::log_damages(&damages);
        note_damage(&mut turn, &damages);
    }
    Ok(turn)
}

/// Returns a running turn as folded from its journal, merged with its rows if the journal is damaged.
async fn replay_running(db: &Db, mut turn: Turn, damages: &mut Vec<Damage>) -> Result<Turn, StoreError> {
    // The whole journal is read, because deltas are stored without an update of the turn's row.
    let events = events::parse_up_to(db, turn.id, i64::MAX.unsigned_abs(), damages).await?;
    let replay = JournalReplay::new(&turn, &events);
    if replay.is_whole() {
        return Ok(replay.into_turn());
    }
    turn.blocks = blocks::list_of_turn(db, turn.id, damages).await?;
    Ok(JournalReplay::new(&turn, &events).into_merged_turn(damages))
}
