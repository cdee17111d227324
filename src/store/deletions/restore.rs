//! Restore: undoes exactly one deletion, and nothing that was deleted before or after it.

use uuid::Uuid;

use crate::database::db::Tx;
use crate::database::error::StoreError;
use crate::database::rows::to_unsigned;
use turnleaf_domain::{ChatId, DeletionId, UserId};

sql! {
    CHAT_OF = "SELECT chat_id FROM deletions WHERE owner_id = $1 AND id = $2";
    HOLD = "UPDATE chats SET rev = rev + 1 WHERE id = $1 RETURNING deletion_id";
    /// Of two concurrent restores, one finds the row.
    TAKE = "DELETE FROM deletions WHERE id = $1 AND purging_since IS NULL \
        RETURNING turns, branches, last_viewed_turn_id";
    /// Another deletion that has a parent of a restored row: the previous turn, the branch of a turn, or the fork
    /// turn of a branch.
    ABOVE = "SELECT p.deletion_id FROM turns t JOIN turns p ON p.id = t.prev_turn_id \
            WHERE t.deletion_id = $1 AND p.deletion_id <> $1 \
        UNION SELECT b.deletion_id FROM turns t JOIN branches b ON b.id = t.branch_id \
            WHERE t.deletion_id = $1 AND b.deletion_id <> $1 \
        UNION SELECT f.deletion_id FROM branches b JOIN turns f ON f.id = b.fork_turn_id \
            WHERE b.deletion_id = $1 AND f.deletion_id <> $1 LIMIT 1";
    SET_HEADS = "UPDATE branches SET head_turn_id = ( \
            SELECT t.id FROM turns t WHERE t.branch_id = branches.id \
            AND (t.deleted_at IS NULL OR t.deletion_id = $1) ORDER BY t.depth DESC LIMIT 1) \
        WHERE id IN (SELECT t.branch_id FROM turns t WHERE t.deletion_id = $1)";
    UNMARK_TURNS = "UPDATE turns SET deleted_at = NULL, deletion_id = NULL WHERE deletion_id = $1";
    UNMARK_BRANCHES = "UPDATE branches SET deleted_at = NULL, deletion_id = NULL WHERE deletion_id = $1";
    UNMARK_CHAT = "UPDATE chats SET deleted_at = NULL, deletion_id = NULL WHERE id = $1 AND deletion_id = $2";
    SET_LAST_VIEWED = "UPDATE chats SET last_viewed_turn_id = $2 WHERE id = $1 \
        AND EXISTS (SELECT 1 FROM turns t WHERE t.id = $2 AND t.chat_id = $1 AND t.deleted_at IS NULL)";
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// The owner has no such deletion, or it is being purged.
    Gone,
    /// A parent of what would be restored was taken by this later deletion. The caller rolls back.
    BlockedBy(DeletionId),
    Done {
        chat_id: ChatId,
        turns: u64,
        branches: u64,
    },
}

/// Restores a deletion.
pub async fn restore(tx: &mut Tx, owner: UserId, deletion: DeletionId) -> Result<RestoreOutcome, StoreError> {
    let id = deletion.uuid();
    let chat: Option<Uuid> = in_tx!(&mut *tx, |conn| {
        sqlx::query_scalar(CHAT_OF).bind(owner.uuid()).bind(id).fetch_optional(conn).await?
    });
    let Some(chat) = chat else { return Ok(RestoreOutcome::Gone) };
    in_tx!(tx, |conn| {
        let of_chat: Option<Option<Uuid>> = sqlx::query_scalar(HOLD).bind(chat).fetch_optional(&mut *conn).await?;
        let taken: Option<(i64, i64, Option<Uuid>)> = sqlx::query_as(TAKE).bind(id).fetch_optional(&mut *conn).await?;
        let (Some(of_chat), Some((turns, branches, last_viewed))) = (of_chat, taken) else {
            return Ok(RestoreOutcome::Gone);
        };
        if let Some(other) = of_chat.filter(|other| *other != id) {
            return Ok(RestoreOutcome::BlockedBy(other.into()));
        }
        let above: Option<Uuid> = sqlx::query_scalar(ABOVE).bind(id).fetch_optional(&mut *conn).await?;
        if let Some(other) = above {
            return Ok(RestoreOutcome::BlockedBy(other.into()));
        }
        sqlx::query(SET_HEADS).bind(id).execute(&mut *conn).await?;
        sqlx::query(UNMARK_TURNS).bind(id).execute(&mut *conn).await?;
        sqlx::query(UNMARK_BRANCHES).bind(id).execute(&mut *conn).await?;
        sqlx::query(UNMARK_CHAT).bind(chat).bind(id).execute(&mut *conn).await?;
        if let Some(seen) = last_viewed {
            sqlx::query(SET_LAST_VIEWED).bind(chat).bind(seen).execute(&mut *conn).await?;
        }
        Ok(RestoreOutcome::Done { chat_id: chat.into(), turns: to_unsigned(turns), branches: to_unsigned(branches) })
    })
}
