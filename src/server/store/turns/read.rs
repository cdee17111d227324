//! Reading turns with their blocks. A turn that is over is its rows; one that runs is the fold of its journal up to the
//! event its row names, so that turn and cursor always belong together.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::types::Json;
use uuid::Uuid;

use crate::domain::{Block, Cost, Failure, Role, Turn, TurnId, TurnStatus, Usage, UserId, fold};
use crate::server::store::db::Db;
use crate::server::store::error::StoreError;
use crate::server::store::rows::{UsageRow, inconsistent, place};
use crate::server::store::turn_blocks::{self, BlockRow};
use crate::server::store::turn_events;

macro_rules! turn_columns {
    () => {
        "t.id, t.chat_id, t.ord, t.depth, t.branch_id, t.exchange_id, t.prev_turn_id, t.role, t.status, \
         t.provider_used, t.model_used, t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, \
         t.reasoning_tokens, t.cost_micros, t.is_cost_estimated, t.context_tokens, t.error, t.last_event_seq, t.created_at, t.started_at, t.completed_at"
    };
}

/// From a leaf ($2) of this owner ($1) towards the root, at most $3 turns.
macro_rules! path_upwards {
    () => {
        "WITH RECURSIVE path (id, prev_turn_id, step) AS ( \
            SELECT t.id, t.prev_turn_id, CAST(1 AS BIGINT) FROM turns t JOIN chats c ON c.id = t.chat_id \
            WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
            UNION ALL \
            SELECT t.id, t.prev_turn_id, path.step + 1 FROM path JOIN turns t ON t.id = path.prev_turn_id \
            WHERE path.step < $3) "
    };
}

sql! {
    FIND = concat!("SELECT ", turn_columns!(), " FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL");
    PATH = concat!(path_upwards!(), "SELECT ", turn_columns!(), " FROM path JOIN turns t ON t.id = path.id \
        ORDER BY path.step DESC");
    PATH_BLOCKS = concat!(path_upwards!(), "SELECT b.id, b.turn_id, b.seq, b.chat_seq, b.author, b.state, b.content, \
        b.parent_block_id, b.generation_id, b.metadata, b.created_at \
        FROM path JOIN turn_blocks b ON b.turn_id = path.id ORDER BY path.step DESC, b.seq");
    UNFINISHED = concat!("SELECT ", turn_columns!(), " FROM turns t \
        WHERE t.status IN ('pending', 'streaming', 'waiting_subagents') ORDER BY t.created_at, t.id");
    /// For the checker: whatever state, whoever's, deleted or not.
    ANY = concat!("SELECT ", turn_columns!(), " FROM turns t WHERE t.id = $1");
}

#[derive(sqlx::FromRow)]
struct TurnRow {
    id: Uuid,
    chat_id: Uuid,
    ord: i64,
    depth: i64,
    branch_id: Uuid,
    exchange_id: Uuid,
    prev_turn_id: Option<Uuid>,
    role: String,
    status: String,
    provider_used: Option<String>,
    model_used: Option<String>,
    #[sqlx(flatten)]
    usage: UsageRow,
    cost_micros: Option<i64>,
    is_cost_estimated: Option<bool>,
    context_tokens: Option<i64>,
    error: Option<Json<Failure>>,
    last_event_seq: i64,
    created_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    completed_at: Option<DateTime<Utc>>,
}

impl TurnRow {
    fn into_turn(self, blocks: Vec<Block>) -> Result<Turn, StoreError> {
        let role = Role::parse(&self.role).ok_or_else(|| inconsistent("turns", "role", self.id, &self.role))?;
        let status =
            TurnStatus::parse(&self.status).ok_or_else(|| inconsistent("turns", "status", self.id, &self.status))?;
        Ok(Turn {
            id: self.id.into(),
            chat_id: self.chat_id.into(),
            ord: self.ord,
            depth: self.depth,
            branch_id: self.branch_id.into(),
            exchange_id: self.exchange_id.into(),
            prev_turn_id: self.prev_turn_id.map(TurnId::from),
            role,
            status,
            provider_used: self.provider_used,
            model_used: self.model_used,
            usage: self.usage.into(),
            cost: self
                .cost_micros
                .map(|micros| Cost { micros: place(micros), is_estimated: self.is_cost_estimated.unwrap_or(true) }),
            context_tokens: self.context_tokens.map(place),
            error: self.error.map(|Json(error)| error),
            last_event_seq: place(self.last_event_seq),
            created_at: self.created_at,
            started_at: self.started_at,
            completed_at: self.completed_at,
            blocks,
            attempt: None,
        })
    }
}

/// A turn of this owner, as it is now.
pub async fn find(db: &Db, owner: UserId, turn: TurnId) -> Result<Option<Turn>, StoreError> {
    let row: Option<TurnRow> =
        on!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(turn.uuid()).fetch_optional(pool).await?);
    let Some(row) = row else { return Ok(None) };
    let blocks = turn_blocks::of_turn(db, turn).await?;
    as_it_is(db, row.into_turn(blocks)?).await.map(Some)
}

/// The newest `limit` turns of the path that ends at `leaf`, in the order root to leaf, and whether there are older
/// ones. Empty when the owner has no such turn.
pub async fn path(db: &Db, owner: UserId, leaf: TurnId, limit: u32) -> Result<(Vec<Turn>, bool), StoreError> {
    // One more than asked for tells whether there are more.
    let steps = i64::from(limit) + 1;
    let (mut rows, blocks): (Vec<TurnRow>, Vec<BlockRow>) = on!(db, |pool| {
        let turns = sqlx::query_as(PATH).bind(owner.uuid()).bind(leaf.uuid()).bind(steps).fetch_all(pool).await?;
        let blocks = sqlx::query_as(PATH_BLOCKS)
            .bind(owner.uuid())
            .bind(leaf.uuid())
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?;
        (turns, blocks)
    });
    let has_more = rows.len() > limit as usize;
    if has_more {
        rows.remove(0);
    }
    let mut by_turn: HashMap<Uuid, Vec<Block>> = HashMap::with_capacity(rows.len());
    for row in blocks {
        by_turn.entry(row.turn_id).or_default().push(row.into_block()?);
    }
    let mut turns = Vec::with_capacity(rows.len());
    for row in rows {
        let blocks = by_turn.remove(&row.id).unwrap_or_default();
        turns.push(as_it_is(db, row.into_turn(blocks)?).await?);
    }
    Ok((turns, has_more))
}

/// Every turn that is not over, of all owners, oldest first: what the sweep at the start has to end.
pub async fn unfinished(db: &Db) -> Result<Vec<Turn>, StoreError> {
    let rows: Vec<TurnRow> = on!(db, |pool| sqlx::query_as(UNFINISHED).fetch_all(pool).await?);
    let mut turns = Vec::with_capacity(rows.len());
    for row in rows {
        turns.push(as_it_is(db, row.into_turn(Vec::new())?).await?);
    }
    Ok(turns)
}

/// A turn as its rows say, for the checker.
pub(in crate::server::store) async fn any(db: &Db, turn: TurnId) -> Result<Option<Turn>, StoreError> {
    let row: Option<TurnRow> = on!(db, |pool| sqlx::query_as(ANY).bind(turn.uuid()).fetch_optional(pool).await?);
    let Some(row) = row else { return Ok(None) };
    let blocks = turn_blocks::of_turn(db, turn).await?;
    row.into_turn(blocks).map(Some)
}

/// The turn as it was before its first event: what its journal is folded into.
pub(in crate::server::store) fn before_events(turn: &Turn) -> Turn {
    Turn {
        status: TurnStatus::Pending,
        provider_used: None,
        model_used: None,
        usage: Usage::default(),
        cost: None,
        context_tokens: None,
        error: None,
        last_event_seq: 0,
        blocks: Vec::new(),
        attempt: None,
        ..turn.clone()
    }
}

async fn as_it_is(db: &Db, turn: Turn) -> Result<Turn, StoreError> {
    if turn.status.is_terminal() {
        return Ok(turn);
    }
    // All of the journal: growth is stored without touching the turn's row.
    let events = turn_events::up_to(db, turn.id, i64::MAX.unsigned_abs()).await?;
    let mut folded = before_events(&turn);
    // What is impossible in a journal is fsck's to report; a reader shows what there is.
    let _ = fold::fold(&mut folded, events.iter().map(|(seq, event)| (*seq, event)));
    Ok(folded)
}
