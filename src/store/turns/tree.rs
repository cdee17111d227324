//! The tree of a chat: siblings, bounds, and the leaf that a reader sees.

use std::collections::HashMap;

use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::{branches, chats};
use turnleaf_domain::{ChatId, TurnId, UserId, limits};

sql! {
    /// A list of turn ids and `SIBLINGS_ORDER` follow.
    SIBLINGS = "SELECT t.id, s.id FROM turns t JOIN chats c ON c.id = t.chat_id \
        JOIN turns s ON s.prev_turn_id = t.prev_turn_id ";
    /// Siblings of turns without a predecessor.
    ROOT_SIBLINGS = "SELECT t.id, s.id FROM turns t JOIN chats c ON c.id = t.chat_id \
        JOIN turns s ON s.chat_id = t.chat_id AND s.prev_turn_id IS NULL AND t.prev_turn_id IS NULL ";
    COUNT_CHILDREN = "SELECT COUNT(*) FROM turns WHERE prev_turn_id = $1 AND deleted_at IS NULL";
    COUNT_ROOTS = "SELECT COUNT(*) FROM turns WHERE chat_id = $1 AND prev_turn_id IS NULL AND deleted_at IS NULL";
    /// The position of a turn, and whether it has children.
    STANDS = "SELECT t.chat_id, t.branch_id, t.depth, EXISTS (SELECT 1 FROM turns n WHERE n.prev_turn_id = t.id \
            AND n.deleted_at IS NULL) AS is_followed FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    /// From $2 down, always to the newest child.
    NEWEST_LEAF = "WITH RECURSIVE down (id, step) AS ( \
            SELECT t.id, CAST(1 AS BIGINT) FROM turns t JOIN chats c ON c.id = t.chat_id \
            WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
            UNION ALL \
            SELECT t.id, down.step + 1 FROM down JOIN turns t ON t.id = \
                (SELECT n.id FROM turns n WHERE n.prev_turn_id = down.id AND n.deleted_at IS NULL \
                ORDER BY n.created_at DESC, n.id DESC LIMIT 1) \
            WHERE down.step < $3) \
        SELECT id FROM down ORDER BY step DESC LIMIT 1";
    /// One statement, so that the revision is consistent with the turns.
    SHAPE = "SELECT c.rev, t.id, t.prev_turn_id, t.ord FROM chats c \
        LEFT JOIN turns t ON t.chat_id = c.id AND t.deleted_at IS NULL \
        WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL ORDER BY t.ord";
    UNREAD_END = concat!("SELECT COALESCE((SELECT h.id FROM branches b JOIN turns h ON h.id = b.head_turn_id \
            WHERE b.id = c.default_branch_id AND b.deleted_at IS NULL AND h.deleted_at IS NULL), (", newest_turn_of!("c.id"),
        ")) FROM chats c WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL");
}

/// A turn as a node of the tree shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeTurn {
    pub id: TurnId,
    pub prev: Option<TurnId>,
    /// The position in the chat by creation.
    pub ord: i64,
}

/// Returns a chat's revision and all of its turns, by position. `None` if the owner has no such chat.
pub async fn tree_shape(db: &Db, owner: UserId, chat: ChatId) -> Result<Option<(i64, Vec<ShapeTurn>)>, StoreError> {
    type TreeShapeRow = (i64, Option<Uuid>, Option<Uuid>, Option<i64>);
    let rows: Vec<TreeShapeRow> =
        with_pool!(db, |pool| sqlx::query_as(SHAPE).bind(owner.uuid()).bind(chat.uuid()).fetch_all(pool).await?);
    let Some((rev, ..)) = rows.first() else { return Ok(None) };
    let turns = rows.iter().filter_map(|(_, id, prev, ord)| {
        Some(ShapeTurn { id: (*id)?.into(), prev: prev.map(TurnId::from), ord: (*ord)? })
    });
    Ok(Some((*rev, turns.collect())))
}

/// Returns the siblings of each of these turns, themselves included, by creation. A turn of another owner is missing
/// from the map.
pub async fn siblings(db: &Db, owner: UserId, turns: &[TurnId]) -> Result<HashMap<TurnId, Vec<TurnId>>, StoreError> {
    let mut map: HashMap<TurnId, Vec<TurnId>> = HashMap::with_capacity(turns.len());
    if turns.is_empty() {
        return Ok(map);
    }
    for joined in [SIBLINGS, ROOT_SIBLINGS] {
        let rows: Vec<(Uuid, Uuid)> = with_pool!(db, |pool| {
            let mut query = QueryBuilder::new(joined);
            query.push("WHERE c.owner_id = ").push_bind(owner.uuid());
            query.push(" AND t.deleted_at IS NULL AND s.deleted_at IS NULL AND t.id IN (");
            let mut list = query.separated(", ");
            for turn in turns {
                list.push_bind(turn.uuid());
            }
            query.push(") ORDER BY s.ord");
            query.build_query_as().persistent(false).fetch_all(pool).await?
        });
        for (turn, sibling) in rows {
            map.entry(turn.into()).or_default().push(sibling.into());
        }
    }
    Ok(map)
}

/// Returns the number of children of `prev` in this chat, or of its roots, to enforce the limit on siblings. It is
/// counted inside the transaction that holds the chat's lock, so that two concurrent writers cannot both take the
/// last place.
pub async fn count_children(tx: &mut Tx, chat: ChatId, prev: Option<TurnId>) -> Result<i64, StoreError> {
    Ok(match prev {
        Some(prev) => {
            in_tx!(tx, |conn| sqlx::query_scalar(COUNT_CHILDREN).bind(prev.uuid()).fetch_one(conn).await?)
        }
        None => in_tx!(tx, |conn| sqlx::query_scalar(COUNT_ROOTS).bind(chat.uuid()).fetch_one(conn).await?),
    })
}

/// Returns the leaf to show for a turn: of those at or below it, the last visited one (`domain::branches::lineage`); if
/// the branches do not determine one, always along the newest child. `None` if the owner has no such turn.
pub async fn leaf_below(db: &Db, owner: UserId, turn: TurnId) -> Result<Option<TurnId>, StoreError> {
    let row: Option<(Uuid, Uuid, i64, bool)> =
        with_pool!(db, |pool| sqlx::query_as(STANDS).bind(owner.uuid()).bind(turn.uuid()).fetch_optional(pool).await?);
    let Some((chat, branch, depth, is_followed)) = row else { return Ok(None) };
    if !is_followed {
        return Ok(Some(turn));
    }
    let lineages = branches::lineages(db, owner, chat.into()).await?;
    let from = lineages.leaf_below(branch.into(), depth).map_or(turn, |lineage| lineage.head);
    newest_below(db, owner, from, limits::TURNS_PER_CHAT).await
}

/// Returns the turn at most `steps` below this one, always along the newest child; the turn itself if it has no
/// children. `None` if the owner has no such turn.
pub async fn newest_below(db: &Db, owner: UserId, turn: TurnId, steps: i64) -> Result<Option<TurnId>, StoreError> {
    let below: Option<Uuid> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(NEWEST_LEAF).bind(owner.uuid()).bind(turn.uuid()).bind(steps + 1);
        query.fetch_optional(pool).await?
    });
    Ok(below.map(TurnId::from))
}

/// Returns the leaf with which a chat opens: below the turn last viewed, otherwise the head of its default branch,
/// otherwise its newest turn. `None` for a chat without turns, or of another owner.
pub async fn leaf_of_chat(db: &Db, owner: UserId, chat: ChatId) -> Result<Option<TurnId>, StoreError> {
    let Some(row) = chats::find(db, owner, chat).await? else { return Ok(None) };
    if let Some(seen) = row.last_viewed_turn_id
        && let Some(leaf) = leaf_below(db, owner, seen).await?
    {
        return Ok(Some(leaf));
    }
    let end: Option<Option<Uuid>> = with_pool!(db, |pool| {
        sqlx::query_scalar(UNREAD_END).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?
    });
    Ok(end.flatten().map(TurnId::from))
}
