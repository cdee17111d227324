//! Paths as what they are made of: the turns of a branch are one chain (domain.md I4), so a path is a few stretches of
//! branches, and a part of it is a range of an index however deep it lies. Reading the turns in it is `read`'s.

use sqlx::{Database, Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use turnleaf_domain::{BranchId, ChatId, TurnId, UserId};

sql! {
    SPOT = "SELECT t.id, t.chat_id, t.branch_id, t.depth FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    SPOT_BY_ORD = "SELECT t.id, t.chat_id, t.branch_id, t.depth FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.chat_id = $2 AND t.ord = $3 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    /// From a turn ($2) of this owner ($1) through the branches that its path comes from, until depth $3 is reached. It
    /// ends on damaged rows too, because it only goes towards the root.
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

/// How many stretches one statement names: SQLite nests an `OR` for each.
const SPANS_AT_ONCE: usize = 64;

/// Where a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnPosition {
    pub id: TurnId,
    pub chat_id: ChatId,
    pub branch_id: BranchId,
    /// Distance from the root, which has 0.
    pub depth: i64,
}

/// Turns of one branch that follow each other on a path, by their depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct PathSpan {
    branch_id: Uuid,
    #[sqlx(rename = "first_depth")]
    pub first: i64,
    #[sqlx(rename = "last_depth")]
    pub last: i64,
}

impl PathSpan {
    /// Whether a turn is in it.
    pub fn contains(&self, spot: &TurnPosition) -> bool {
        self.branch_id == spot.branch_id.uuid() && (self.first..=self.last).contains(&spot.depth)
    }
}

/// Where a turn of this owner is.
pub async fn find_position(db: &Db, owner: UserId, turn: TurnId) -> Result<Option<TurnPosition>, StoreError> {
    let row: Option<(Uuid, Uuid, Uuid, i64)> =
        with_pool!(db, |pool| sqlx::query_as(SPOT).bind(owner.uuid()).bind(turn.uuid()).fetch_optional(pool).await?);
    Ok(row.map(into_position))
}

/// Where the turn with this place in its chat is.
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

/// What the path to `end` is made of between two depths, root side first; nothing when the owner has no such turn.
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

/// Spans in the portions in which statements name them.
pub(crate) fn span_portions(spans: &[PathSpan]) -> impl Iterator<Item = &[PathSpan]> {
    spans.chunks(SPANS_AT_ONCE)
}

/// Adds the condition that a turn `t` is of the chat `c`, and that is the owner's, not deleted, and in one of these spans.
/// They are joined by `CROSS`, which says to SQLite where to begin: with the turns. For many spans it begins by itself with
/// all chats of the owner.
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
