//! What is left of a chat whose rows are damaged: the places of its turns as far as they can be read, the blocks of turns
//! without a readable row, and the locks of branches. An export makes a tree of it that hangs together.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::domain::block::chat_seq;
use crate::domain::{Block, BranchId, ChatId, Content, ExchangeId, Lock, Role, Turn, TurnId, UserId};
use crate::server::store::db::Db;
use crate::server::store::error::StoreError;
use crate::server::store::readable::{self, Damage, Lossy, Readable, WHOLE_ROW, moment_of, readable, unless_damaged};
use crate::server::store::{turn_blocks, turns};

sql! {
    /// Also deleted ones and those that run: what hangs on them is not damaged.
    PLACES = "SELECT t.id, t.ord, t.depth, t.prev_turn_id, t.branch_id, t.exchange_id, t.role, t.created_at, \
        t.deleted_at IS NULL FROM turns t WHERE t.chat_id = $1 ORDER BY t.ord, t.id";
    /// Blocks whose turn has no row in their chat, by the turn that they name.
    WITHOUT_TURN = "SELECT b.turn_id, MIN(b.chat_seq) FROM turn_blocks b WHERE b.chat_id = $1 \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = b.turn_id AND t.chat_id = b.chat_id) GROUP BY b.turn_id";
    LIVE = "SELECT COUNT(*) FROM turns WHERE id = $1 AND deleted_at IS NULL";
    BRANCH = "SELECT name, provider, model, label, created_at FROM branches WHERE id = $1";
    CALLED = "SELECT g.provider, g.model_requested FROM generations g JOIN turns t ON t.id = g.turn_id \
        WHERE t.branch_id = $1 ORDER BY g.id LIMIT 1";
}

/// The place of a turn in its chat, as far as its row can be read.
#[derive(Debug, Clone)]
pub struct TurnPlace {
    pub id: TurnId,
    pub ord: i64,
    pub depth: i64,
    /// The turn that it hangs on, none for a root; an error where that cannot be read.
    pub prev: Result<Option<TurnId>, String>,
    pub branch: Result<BranchId, String>,
    pub exchange: Result<ExchangeId, String>,
    /// Nothing where it cannot be read.
    pub role: Option<Role>,
    pub created_at: DateTime<Utc>,
    /// Whether it is not deleted.
    pub is_live: bool,
}

type PlaceRow =
    (Uuid, i64, i64, Lossy<Option<Uuid>>, Lossy<Uuid>, Lossy<Uuid>, Lossy<String>, Lossy<DateTime<Utc>>, bool);

/// The places of all turns of a chat, by their `ord`. The caller has found the chat by its owner.
pub async fn places(db: &Db, chat: ChatId) -> Result<Vec<TurnPlace>, StoreError> {
    let rows: Vec<Readable<PlaceRow>> =
        on!(db, |pool| sqlx::query_as(PLACES).bind(chat.uuid()).fetch_all(pool).await?);
    let place = |(id, ord, depth, prev, branch, exchange, role, created_at, is_live): PlaceRow| TurnPlace {
        id: id.into(),
        ord,
        depth,
        prev: prev.into_result().map(|prev| prev.map(TurnId::from)),
        branch: branch.into_result().map(BranchId::from),
        exchange: exchange.into_result().map(ExchangeId::from),
        role: role.into_result().ok().and_then(|word| Role::parse(&word)),
        created_at: created_at.into_result().unwrap_or_else(|_| moment_of(id)),
        is_live,
    };
    Ok(readable(rows, "turns").into_iter().map(place).collect())
}

/// The turns that blocks of a chat name and that have no row in it, with the places in the chat that their blocks have.
/// The caller has found the chat by its owner.
pub async fn without_row(db: &Db, chat: ChatId) -> Result<Vec<(TurnId, i64)>, StoreError> {
    let rows: Vec<Readable<(Uuid, i64)>> =
        on!(db, |pool| sqlx::query_as(WITHOUT_TURN).bind(chat.uuid()).fetch_all(pool).await?);
    Ok(readable(rows, "turn_blocks").into_iter().map(|(id, seq)| (id.into(), seq / chat_seq(1, 0))).collect())
}

/// A turn of this owner; nothing where it is gone or its row cannot be read.
pub async fn turn(db: &Db, owner: UserId, turn: TurnId) -> Result<Option<Turn>, StoreError> {
    Ok(unless_damaged(turns::find(db, owner, turn).await, "turns")?.flatten())
}

/// Whether a turn has a row that is not deleted, whatever else stands in it.
pub async fn is_live(db: &Db, turn: TurnId) -> Result<bool, StoreError> {
    let count: i64 = on!(db, |pool| sqlx::query_scalar(LIVE).bind(turn.uuid()).fetch_one(pool).await?);
    Ok(count > 0)
}

/// The blocks of a turn whose own row cannot be read. The caller has found its chat by its owner.
pub async fn blocks(db: &Db, turn: TurnId) -> Result<Vec<Block>, StoreError> {
    turn_blocks::of_turn(db, turn, &mut Vec::new()).await
}

/// A notice that a row of this table cannot be read, with what is known of it.
pub fn notice(table: &'static str, id: String, reason: &str, stored: Option<&str>) -> Content {
    readable::placeholder(&[Damage { table, column: WHOLE_ROW, id, reason: reason.to_owned() }], stored)
}

/// What can be read of a branch.
#[derive(Debug, Clone, Default)]
pub struct BranchRemains {
    pub name: Option<String>,
    pub label: Option<String>,
    pub lock: Option<Lock>,
    pub created_at: Option<DateTime<Utc>>,
}

type BranchRow = (Lossy<String>, Lossy<String>, Lossy<String>, Lossy<Option<String>>, Lossy<DateTime<Utc>>);

/// What is left of a branch: of its row, else its lock from a call that one of its turns made. The caller has found its
/// chat by its owner.
pub async fn branch(db: &Db, branch: BranchId) -> Result<BranchRemains, StoreError> {
    let row: Option<BranchRow> =
        on!(db, |pool| sqlx::query_as(BRANCH).bind(branch.uuid()).fetch_optional(pool).await?);
    let mut remains = BranchRemains::default();
    if let Some((name, provider, model, label, created_at)) = row {
        remains.name = name.into_result().ok();
        remains.label = label.into_result().ok().flatten();
        remains.created_at = created_at.into_result().ok();
        let lock = provider.into_result().ok().zip(model.into_result().ok());
        remains.lock = lock.map(|(provider, model)| Lock { provider, model });
    }
    if remains.lock.is_none() {
        let called: Option<Readable<(String, String)>> =
            on!(db, |pool| sqlx::query_as(CALLED).bind(branch.uuid()).fetch_optional(pool).await?);
        let called = readable(called.into_iter().collect(), "generations").pop();
        remains.lock = called.map(|(provider, model)| Lock { provider, model });
    }
    Ok(remains)
}
