//! Salvage of a chat with damaged rows: the positions of its turns as far as they are readable, the blocks of turns
//! without a readable row, and the locks of branches. An export builds a consistent tree from it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::{
    self, Damage, Lossy, Readable, RowReader, WHOLE_ROW, keep_readable, keep_readable_with_damages, ok_or_log,
};
use crate::turns::blocks::{self, BlockRow};
use crate::turns::{self};
use turnleaf_domain::blocks::block::chat_seq;
use turnleaf_domain::{Block, BranchId, ChatId, Content, ExchangeId, ModelLock, Role, Turn, TurnId, UserId};

sql! {
    /// Deleted and running turns are included, because their children are not damaged.
    PLACES = "SELECT t.id, t.ord, t.depth, t.prev_turn_id, t.branch_id, t.exchange_id, t.role, t.created_at, \
        t.deleted_at IS NULL FROM turns t WHERE t.chat_id = $1 ORDER BY t.ord, t.id";
    /// Blocks whose turn has no row in their chat, grouped by the turn id they contain.
    WITHOUT_TURN = "SELECT b.turn_id, MIN(b.chat_seq) FROM turn_blocks b WHERE b.chat_id = $1 \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = b.turn_id AND t.chat_id = b.chat_id) GROUP BY b.turn_id";
    /// True if one of the newest turns of a chat has no earlier parent, or lacks its branch or its exchange.
    BROKEN_TURN = "SELECT EXISTS (SELECT 1 FROM (SELECT t.id, t.ord, t.depth, t.prev_turn_id, t.branch_id, \
            t.exchange_id, t.role, t.deleted_at FROM turns t WHERE t.chat_id = $1 ORDER BY t.ord DESC LIMIT $2) n \
        LEFT JOIN turns p ON p.id = n.prev_turn_id AND p.chat_id = $1 AND p.deleted_at IS NULL \
        WHERE n.deleted_at IS NULL AND (n.ord <= 0 OR n.role NOT IN ('user', 'assistant', 'system') \
        OR n.depth <> COALESCE(p.depth, -1) + 1 OR (n.prev_turn_id IS NOT NULL AND p.id IS NULL) OR p.ord >= n.ord \
        OR NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = n.branch_id AND b.chat_id = $1 AND b.deleted_at IS NULL) \
        OR NOT EXISTS (SELECT 1 FROM exchanges e WHERE e.id = n.exchange_id AND e.chat_id = $1)))";
    /// True if one of the newest blocks of a chat has no turn.
    STRAY_BLOCK = "SELECT EXISTS (SELECT 1 FROM (SELECT b.turn_id FROM turn_blocks b WHERE b.chat_id = $1 \
            ORDER BY b.chat_seq DESC LIMIT $2) n \
        WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = n.turn_id AND t.chat_id = $1))";
    /// Blocks without a turn row, with their own id in place of the turn id, which may be unreadable.
    STRAYS = "SELECT b.turn_id AS named_turn, b.id, b.id AS turn_id, b.seq, b.chat_seq, b.author, b.state, b.content, \
        b.parent_block_id, b.generation_id, b.metadata, b.created_at FROM turn_blocks b WHERE b.chat_id = $1 \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = b.turn_id AND t.chat_id = b.chat_id) ORDER BY b.chat_seq";
    LIVE = "SELECT COUNT(*) FROM turns WHERE id = $1 AND deleted_at IS NULL";
    BRANCH = "SELECT name, provider, model, label, created_at FROM branches WHERE id = $1";
    CALLED = "SELECT g.provider, g.model_requested FROM generations g JOIN turns t ON t.id = g.turn_id \
        WHERE t.branch_id = $1 ORDER BY g.id LIMIT 1";
}

/// Stands for a value that cannot be read; the log has the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// The position of a turn in its chat, as far as its row can be read.
#[derive(Debug, Clone)]
pub struct SalvagedTurn {
    pub id: TurnId,
    pub ord: i64,
    pub depth: i64,
    /// The parent turn, none for a root; an error if it cannot be read.
    pub prev: Result<Option<TurnId>, Unreadable>,
    pub branch: Result<BranchId, Unreadable>,
    pub exchange: Result<ExchangeId, Unreadable>,
    /// None if it cannot be read.
    pub role: Option<Role>,
    pub created_at: DateTime<Utc>,
    /// True if the turn is not deleted.
    pub is_live: bool,
}

type SalvagedTurnRow =
    (Uuid, i64, i64, Lossy<Option<Uuid>>, Lossy<Uuid>, Lossy<Uuid>, Lossy<String>, Lossy<DateTime<Utc>>, bool);

/// Returns the positions of all turns of a chat, by `ord`. Rows without a readable id are recorded; other unreadable
/// values are marked in place. The caller has found the chat by its owner.
pub async fn list_turns(db: &Db, chat: ChatId, damages: &mut Vec<Damage>) -> Result<Vec<SalvagedTurn>, StoreError> {
    let rows: Vec<Readable<SalvagedTurnRow>> =
        with_pool!(db, |pool| sqlx::query_as(PLACES).bind(chat.uuid()).fetch_all(pool).await?);
    let rows = keep_readable_with_damages(rows, "turns", format_args!("of chat {chat}"), damages);
    let mut of_values = Vec::new();
    let mut place = |(id, ord, depth, prev, branch, exchange, role, created_at, is_live): SalvagedTurnRow| {
        let mut row = RowReader { table: "turns", id, damages: &mut of_values };
        SalvagedTurn {
            id: id.into(),
            ord,
            depth,
            prev: row.value("prev_turn_id", prev).map(|prev| prev.map(TurnId::from)).ok_or(Unreadable),
            branch: row.value("branch_id", branch).map(BranchId::from).ok_or(Unreadable),
            exchange: row.value("exchange_id", exchange).map(ExchangeId::from).ok_or(Unreadable),
            role: row.value("role", role).and_then(|word| Role::parse(&word)),
            created_at: row.moment("created_at", created_at),
            is_live,
        }
    };
    let places = rows.into_iter().map(&mut place).collect();
    readable::log_damages(&of_values);
    Ok(places)
}

/// Returns the turn ids that blocks of a chat contain and that have no row in it, with the position in the chat.
/// Blocks with an unreadable turn id are recorded. The caller has found the chat by its owner.
pub async fn turns_without_row(
    db: &Db,
    chat: ChatId,
    damages: &mut Vec<Damage>,
) -> Result<Vec<(TurnId, i64)>, StoreError> {
    let rows: Vec<(Lossy<Uuid>, i64)> =
        with_pool!(db, |pool| sqlx::query_as(WITHOUT_TURN).bind(chat.uuid()).fetch_all(pool).await?);
    let mut turns = Vec::with_capacity(rows.len());
    for (id, seq) in rows {
        let ord = seq / chat_seq(1, 0);
        match id.into_result() {
            Ok(id) => turns.push((id.into(), ord)),
            Err(reason) => damages.push(Damage {
                table: "turn_blocks",
                column: "turn_id",
                id: format!("of turn {ord} of chat {chat}"),
                reason,
            }),
        }
    }
    Ok(turns)
}

struct StrayRow {
    named_turn: Lossy<Uuid>,
    block: BlockRow,
}
from_row!(StrayRow { named_turn, block: flatten });

/// Returns the blocks of a chat with an unreadable turn id, by the position of their turn in the chat. The caller has
/// found the chat by its owner.
pub async fn stray_blocks(
    db: &Db,
    chat: ChatId,
    damages: &mut Vec<Damage>,
) -> Result<HashMap<i64, Vec<Block>>, StoreError> {
    let rows: Vec<Readable<StrayRow>> =
        with_pool!(db, |pool| sqlx::query_as(STRAYS).bind(chat.uuid()).fetch_all(pool).await?);
    let mut strays: HashMap<i64, Vec<Block>> = HashMap::new();
    for row in keep_readable(rows, "turn_blocks") {
        if row.named_turn.get().is_none() {
            let block = row.block.into_block(damages);
            strays.entry(block.chat_seq / chat_seq(1, 0)).or_default().push(block);
        }
    }
    Ok(strays)
}

/// Returns a turn of this owner; none if it is deleted or its row cannot be read. Unreadable values of its blocks
/// without a placeholder are recorded.
pub async fn turn(db: &Db, owner: UserId, turn: TurnId, damages: &mut Vec<Damage>) -> Result<Option<Turn>, StoreError> {
    Ok(ok_or_log(turns::find_with_damages(db, owner, turn, damages).await, "turns")?.flatten())
}

/// Returns whether the rows of a chat's tree contradict each other, judged by the newest `limit` turns and blocks.
/// The caller has found the chat by its owner.
pub async fn is_tree_broken(db: &Db, chat: ChatId, limit: u32) -> Result<bool, StoreError> {
    for text in [BROKEN_TURN, STRAY_BLOCK] {
        let is_broken: bool = with_pool!(db, |pool| {
            sqlx::query_scalar(text).bind(chat.uuid()).bind(i64::from(limit)).fetch_one(pool).await?
        });
        if is_broken {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a turn has a row that is not deleted, whatever its other values.
pub async fn is_live(db: &Db, turn: TurnId) -> Result<bool, StoreError> {
    let count: i64 = with_pool!(db, |pool| sqlx::query_scalar(LIVE).bind(turn.uuid()).fetch_one(pool).await?);
    Ok(count > 0)
}

/// Returns the blocks of a turn whose own row cannot be read, and records their unreadable values. The caller has
/// found its chat by its owner.
pub async fn blocks(db: &Db, turn: TurnId, damages: &mut Vec<Damage>) -> Result<Vec<Block>, StoreError> {
    blocks::list_of_turn(db, turn, damages).await
}

/// Returns a notice that a row of this table cannot be read, with what is known of it.
pub fn unreadable_row_notice(table: &'static str, id: String, stored: Option<&str>) -> Content {
    readable::placeholder(&[Damage { table, column: WHOLE_ROW, id, reason: String::new() }], stored)
}

/// The readable values of a branch.
#[derive(Debug, Clone, Default)]
pub struct SalvagedBranch {
    pub name: Option<String>,
    pub label: Option<String>,
    pub lock: Option<ModelLock>,
    pub created_at: Option<DateTime<Utc>>,
}

type SalvagedBranchRow = (Lossy<String>, Lossy<String>, Lossy<String>, Lossy<Option<String>>, Lossy<DateTime<Utc>>);

/// Salvages a branch from its row, otherwise its lock from a call of one of its turns. The caller has found its chat
/// by its owner.
pub async fn branch(db: &Db, branch: BranchId) -> Result<SalvagedBranch, StoreError> {
    let row: Option<SalvagedBranchRow> =
        with_pool!(db, |pool| sqlx::query_as(BRANCH).bind(branch.uuid()).fetch_optional(pool).await?);
    let mut remains = SalvagedBranch::default();
    if let Some((name, provider, model, label, created_at)) = row {
        remains.name = name.into_result().ok();
        remains.label = label.into_result().ok().flatten();
        remains.created_at = created_at.into_result().ok();
        let lock = provider.into_result().ok().zip(model.into_result().ok());
        remains.lock = lock.map(|(provider, model)| ModelLock { provider, model });
    }
    if remains.lock.is_none() {
        let called: Option<Readable<(String, String)>> =
            with_pool!(db, |pool| sqlx::query_as(CALLED).bind(branch.uuid()).fetch_optional(pool).await?);
        let called = keep_readable(called.into_iter().collect(), "generations").pop();
        remains.lock = called.map(|(provider, model)| ModelLock { provider, model });
    }
    Ok(remains)
}
