//! Spans of a path: the turns of a branch are one chain (`docs/reference/domain.md I4`), so a path is a few ranges of
//! branches, and a part of it is an index range at any depth. `read` reads the turns in it.

use sqlx::{Database, Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use turnleaf_domain::{BranchId, ChatId, TurnId, UserId};

sql! {
    SPOT = "SELECT t.id, t.chat_id, t.branch_id, t.depth FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    SPOT_BY_ORD = "SELECT t.id, t.chat_id, t.branch_id, t.depth FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.chat_id = $2 AND t.ord = $3 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    /// From a turn ($2) of this owner ($1) through the branches of its path, until depth $3 is reached. The recursion
    /// ends even on damaged rows, because the depth always decreases.
    SPANS = "WITH RECURSIVE span (branch_id, first_depth, last_depth, fork_turn_id) AS ( \
            SELECT t.branch_id, COALESCE(f.depth + 1, CAST(0 AS BIGINT)), t.depth, b.fork_turn_id \
            FROM turns t JOIN chats c ON c.id = t.chat_id JOIN branches b ON b.id = t.branch_id \
            LEFT JOIN turns f ON f.id = b.fork_turn_id \
            WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
            UNION ALL \
            SELECT t.branch_id, COALESCE(f.depth + 1, CAST(0 AS BIGINT)), t.depth, b.fork_turn_id \
            FROM span JOIN turns t ON t.id = span.fork_turn_id JOIN branches b ON b.id = t.branch_id \
            LEFT JOIN turns f ON f.id = b.fork_turn_id \
            WHERE span.first_depth > $3 AND t.depth < span.last_depth) \
        SELECT branch_id, first_depth, last_depth FROM span";
}

/// The number of spans per statement, because SQLite nests an `OR` for each.
const SPANS_AT_ONCE: usize = 64;

/// The position of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnPosition {
    pub id: TurnId,
    pub chat_id: ChatId,
    pub branch_id: BranchId,
    /// The distance from the root, which has 0.
    pub depth: i64,
}

/// Consecutive turns of one branch on a path, as a range of depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathSpan {
    branch_id: Uuid,
    pub first: i64,
    pub last: i64,
}
from_row!(PathSpan { branch_id, first: "first_depth", last: "last_depth" });

impl PathSpan {
    /// Returns whether a turn is in it.
    pub fn contains(&self, spot: &TurnPosition) -> bool {
        self.branch_id == spot.branch_id.uuid() && (self.first..=self.last).contains(&spot.depth)
    }
}

/// Returns the position of a turn of this owner.
pub async fn find_position(db: &Db, owner: UserId, turn: TurnId) -> Result<Option<TurnPosition>, StoreError> {
    let row: Option<(Uuid, Uuid, Uuid, i64)> =
        with_pool!(db, |pool| sqlx::query_as(SPOT).bind(owner.uuid()).bind(turn.uuid()).fetch_optional(pool).await?);
    Ok(row.map(into_position))
}

/// Returns the position of the turn with this `ord` in its chat.
pub async fn find_position_by_ord(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    ord: i64,
) -> Result<Option<TurnPosition>, StoreError> {
    let row: Option<(Uuid, Uuid, Uuid, i64)> = with_pool!(db, |pool| {
        sqlx::query_as(SPOT_BY_ORD).bind(owner.uuid()).bind(chat.uuid()).bind(ord).fetch_optional(pool).await?
    });
    Ok(row.map(into_position))
}

fn into_position((id, chat_id, branch_id, depth): (Uuid, Uuid, Uuid, i64)) -> TurnPosition {
    TurnPosition { id: id.into(), chat_id: chat_id.into(), branch_id: branch_id.into(), depth }
}

/// Returns the spans of the path to `end` between two depths, from the root on; empty if the owner has no such turn.
pub async fn path_spans(
    tx: &mut Tx,
    owner: UserId,
    end: TurnId,
    first: i64,
    last: i64,
) -> Result<Vec<PathSpan>, StoreError> {
    let mut spans: Vec<PathSpan> = in_tx!(tx, |conn| {
        sqlx::query_as(SPANS).bind(owner.uuid()).bind(end.uuid()).bind(first).fetch_all(conn).await?
    });
    for span in &mut spans {
        span.first = span.first.max(first);
        span.last = span.last.min(last);
    }
    spans.retain(|span| span.first <= span.last);
    spans.reverse();
    Ok(spans)
}

/// Splits spans into the portions of single statements.
pub(crate) fn span_portions(spans: &[PathSpan]) -> impl Iterator<Item = &[PathSpan]> {
    spans.chunks(SPANS_AT_ONCE)
}

/// Adds the condition that a turn `t` belongs to the chat `c` of the owner, is not deleted, and is in one of these
/// spans. The tables are joined by `CROSS`, which makes SQLite start with the turns; for many spans it would
/// otherwise start with all chats of the owner.
pub(crate) fn push_span_condition<DB: Database>(query: &mut QueryBuilder<DB>, owner: UserId, spans: &[PathSpan])
where
    Uuid: for<'q> Encode<'q, DB> + Type<DB>,
    i64: for<'q> Encode<'q, DB> + Type<DB>,
{
    query.push("WHERE c.id = t.chat_id AND c.owner_id = ").push_bind(owner.uuid());
    query.push(" AND c.deleted_at IS NULL AND t.deleted_at IS NULL AND (");
    for (at, span) in spans.iter().enumerate() {
        query.push(if at == 0 { "(t.branch_id = " } else { " OR (t.branch_id = " }).push_bind(span.branch_id);
        query.push(" AND t.depth >= ").push_bind(span.first);
        query.push(" AND t.depth <= ").push_bind(span.last).push(")");
    }
    query.push(")");
}
