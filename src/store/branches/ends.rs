//! The fork points and heads of a chat's branches, and the recently used models of an owner.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use turnleaf_domain::branches::branch::ModelLock;
use turnleaf_domain::branches::lineage::{Lineage, Lineages};
use turnleaf_domain::{BranchId, ChatId, TurnId, UserId};

sql! {
    /// The last replies that did not fail, of the most recently changed chats.
    LAST_USED = "SELECT b.provider, b.model FROM chats c JOIN branches b ON b.chat_id = c.id \
        JOIN turns h ON h.id = b.head_turn_id WHERE c.owner_id = $1 AND c.deleted_at IS NULL \
        AND b.deleted_at IS NULL AND h.status <> 'error' \
        ORDER BY c.updated_at DESC, c.id DESC, h.ord DESC LIMIT $2";
    ENDS = "SELECT b.id, f.branch_id AS from_branch_id, f.depth AS from_depth, h.id AS head_id, h.depth AS head_depth, \
        b.visited_at FROM branches b JOIN chats c ON c.id = b.chat_id JOIN turns h ON h.id = b.head_turn_id \
        LEFT JOIN turns f ON f.id = b.fork_turn_id \
        WHERE c.owner_id = $1 AND b.chat_id = $2 AND b.deleted_at IS NULL AND c.deleted_at IS NULL \
        AND h.deleted_at IS NULL";
    SET_ENDS = "UPDATE branches SET fork_turn_id = $2, head_turn_id = $3 WHERE id = $1";
}

struct EndRow {
    id: Uuid,
    from_branch_id: Lossy<Option<Uuid>>,
    from_depth: Option<i64>,
    head_id: Uuid,
    head_depth: i64,
    visited_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(EndRow { id, from_branch_id, from_depth, head_id, head_depth, visited_at });

/// Returns the branches of a chat that have turns.
pub async fn lineages(db: &Db, owner: UserId, chat: ChatId) -> Result<Lineages, StoreError> {
    let rows: Vec<Readable<EndRow>> =
        with_pool!(db, |pool| sqlx::query_as(ENDS).bind(owner.uuid()).bind(chat.uuid()).fetch_all(pool).await?);
    let lineage = |row: EndRow| Lineage {
        branch_id: row.id.into(),
        from: row.from_branch_id.into_result().ok().flatten().map(BranchId::from).zip(row.from_depth),
        head: row.head_id.into(),
        head_depth: row.head_depth,
        visited_at: row.visited_at.into_result().ok().flatten(),
    };
    Ok(Lineages::new(keep_readable(rows, "branches").into_iter().map(lineage).collect()))
}

/// Returns the locks of an owner's most recent replies that did not fail, the newest first.
pub async fn last_used_locks(db: &Db, owner: UserId, most: u32) -> Result<Vec<ModelLock>, StoreError> {
    let rows: Vec<Readable<(String, String)>> = with_pool!(db, |pool| {
        sqlx::query_as(LAST_USED).bind(owner.uuid()).bind(i64::from(most)).fetch_all(pool).await?
    });
    Ok(keep_readable(rows, "branches").into_iter().map(|(provider, model)| ModelLock::new(provider, model)).collect())
}

/// Sets the fork turn and the head of a branch that was imported without them.
pub async fn set_ends(
    tx: &mut Tx,
    branch: BranchId,
    fork: Option<TurnId>,
    head: Option<TurnId>,
) -> Result<(), StoreError> {
    let (fork, head) = (fork.map(TurnId::uuid), head.map(TurnId::uuid));
    in_tx!(tx, |conn| sqlx::query(SET_ENDS).bind(branch.uuid()).bind(fork).bind(head).execute(conn).await.map(drop))?;
    Ok(())
}
