//! Rules of the tree: predecessors, order, branches, exchanges, deletion.

use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::usage::storage::bytes_of_turn;

const DEEPER: &str = "SELECT id, depth FROM turns WHERE depth >= $1";

/// Excludes chats that are being purged, and incoming ones, which are hidden the same way: their turns are not
/// deleted, and the fork turns and heads of their branches are set last.
macro_rules! settled {
    ($chat:literal) => {
        concat!(
            " AND NOT EXISTS (SELECT 1 FROM chats g JOIN deletions p ON p.id = g.deletion_id WHERE g.id = ",
            $chat,
            " AND p.purging_since IS NOT NULL)"
        )
    };
}

rules! {
    PREDECESSOR: "I1", "turns", "its predecessor is missing or in another chat",
        "SELECT t.id FROM turns t LEFT JOIN turns p ON p.id = t.prev_turn_id \
         WHERE t.prev_turn_id IS NOT NULL AND (p.id IS NULL OR p.chat_id <> t.chat_id)";
    STORED_BYTES: "quota", "turns", "its stored size does not match its rows",
        concat!("SELECT t.id FROM turns t WHERE t.stored_bytes IS NOT NULL AND t.stored_bytes <> ", bytes_of_turn!());
    // Depth and order rise along every edge exactly when there is no cycle.
    DEPTH: "I1", "turns", "its depth is not its parent's depth plus one, so its parent is wrong or it is in a cycle",
        "SELECT t.id FROM turns t LEFT JOIN turns p ON p.id = t.prev_turn_id \
         WHERE t.depth <> COALESCE(p.depth + 1, CAST(0 AS BIGINT))";
    ORDER: "I1", "turns", "it was created before its predecessor",
        "SELECT t.id FROM turns t JOIN turns p ON p.id = t.prev_turn_id WHERE p.ord >= t.ord";
    ORD: "I1", "turns", "its position in the chat is not assigned yet",
        "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.ord >= c.next_ord";
    RUNNING_PREDECESSOR: "I2", "turns", "its parent is an unfinished turn",
        "SELECT t.id FROM turns t JOIN turns p ON p.id = t.prev_turn_id \
         WHERE p.status NOT IN ('complete', 'cancelled', 'error')";
    LOCK_OF_GENERATION: "I3", "generations", "it used a different provider or model than its branch is locked to",
        "SELECT g.id FROM generations g JOIN turns t ON t.id = g.turn_id JOIN branches b ON b.id = t.branch_id \
         WHERE g.provider <> b.provider OR g.model_requested <> b.model";
    LOCK_OF_TURN: "I3", "turns", "it was answered by a different provider than its branch is locked to",
        "SELECT t.id FROM turns t JOIN branches b ON b.id = t.branch_id WHERE t.provider_used <> b.provider";
    FORK: "I4", "turns", "it starts its branch at a different turn than the branch's fork point",
        concat!("SELECT t.id FROM turns t JOIN branches b ON b.id = t.branch_id LEFT JOIN turns p ON p.id = t.prev_turn_id \
         WHERE (p.id IS NULL OR p.branch_id <> t.branch_id) AND t.prev_turn_id IS DISTINCT FROM b.fork_turn_id",
         settled!("t.chat_id"));
    // Deleted turns are included, because they may be restored.
    CHAIN: "I4", "turns", "its branch has another turn at the same position",
        "SELECT t.id FROM turns t JOIN (SELECT branch_id, depth, MIN(ord) AS first FROM turns \
            GROUP BY branch_id, depth HAVING COUNT(*) > 1) d \
         ON d.branch_id = t.branch_id AND d.depth = t.depth WHERE t.ord > d.first";
    HEAD: "I4", "branches", "its head is not its last turn",
        concat!("SELECT b.id FROM branches b LEFT JOIN turns h ON h.id = b.head_turn_id \
         WHERE b.deleted_at IS NULL AND (CASE \
            WHEN EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = b.id AND t.deleted_at IS NULL) \
            THEN h.id IS NULL OR h.branch_id <> b.id OR h.deleted_at IS NOT NULL OR EXISTS \
                (SELECT 1 FROM turns t WHERE t.branch_id = b.id AND t.deleted_at IS NULL AND t.depth > h.depth) \
            ELSE h.id IS NOT NULL AND h.id IS DISTINCT FROM b.fork_turn_id END)", settled!("b.chat_id"));
    ONE_REPLY: "I8", "exchanges", "it has more than one reply",
        "SELECT e.id FROM exchanges e WHERE \
         (SELECT COUNT(*) FROM turns t WHERE t.exchange_id = e.id AND t.role = 'assistant') > 1";
    QUESTION: "I8", "turns", "it does not follow the message it replies to",
        "SELECT t.id FROM turns t JOIN exchanges e ON e.id = t.exchange_id \
         WHERE t.role = 'assistant' AND e.kind IN ('send', 'edit', 'regenerate') \
         AND t.prev_turn_id IS DISTINCT FROM e.user_turn_id";
    ALTERNATION: "R3", "turns", "it follows another message without a reply between them",
        "SELECT t.id FROM turns t JOIN turns p ON p.id = t.prev_turn_id JOIN exchanges e ON e.id = t.exchange_id \
         WHERE t.role = 'user' AND p.role = 'user' AND e.kind IN ('send', 'edit')";
    REASON: "R5", "turns", "it ended in an error without a reason",
        "SELECT t.id FROM turns t WHERE t.status = 'error' AND t.error IS NULL";
    DELETED_BRANCH: "I13", "turns", "it is not deleted, but its branch is",
        "SELECT t.id FROM turns t JOIN branches b ON b.id = t.branch_id \
         WHERE t.deleted_at IS NULL AND b.deleted_at IS NOT NULL";
    DELETED_FORK: "I13", "branches", "it is not deleted, but its chat or its fork point is",
        concat!("SELECT b.id FROM branches b JOIN chats c ON c.id = b.chat_id LEFT JOIN turns f ON f.id = b.fork_turn_id \
         WHERE b.deleted_at IS NULL AND (c.deleted_at IS NOT NULL OR f.deleted_at IS NOT NULL)", settled!("c.id"));
    DELETION_OF_TURN: "I13", "turns", "its deletion is not in Trash, or belongs to another chat",
        "SELECT t.id FROM turns t LEFT JOIN deletions d ON d.id = t.deletion_id \
         WHERE t.deletion_id IS NOT NULL AND (d.id IS NULL OR d.chat_id <> t.chat_id)";
    DELETION_OF_BRANCH: "I13", "branches", "its deletion is not in Trash, or belongs to another chat",
        "SELECT b.id FROM branches b LEFT JOIN deletions d ON d.id = b.deletion_id \
         WHERE b.deletion_id IS NOT NULL AND (d.id IS NULL OR d.chat_id <> b.chat_id)";
    DELETION_OF_CHAT: "I13", "chats", "its deletion is not in Trash, or deleted something else",
        "SELECT c.id FROM chats c LEFT JOIN deletions d ON d.id = c.deletion_id WHERE c.deletion_id IS NOT NULL \
         AND (d.id IS NULL OR d.chat_id <> c.id OR d.kind <> 'chat' OR d.owner_id <> c.owner_id)";
    // Deletions of a chat with a purge in progress are changing.
    DELETION_COUNTS: "I13", "deletions", "its recorded contents do not match",
        "SELECT d.id FROM deletions d JOIN chats c ON c.id = d.chat_id WHERE (c.owner_id <> d.owner_id \
         OR (d.kind = 'chat') <> (c.deletion_id IS NOT DISTINCT FROM d.id) \
         OR d.turns <> (SELECT COUNT(*) FROM turns t WHERE t.deletion_id = d.id) \
         OR d.branches <> (SELECT COUNT(*) FROM branches b WHERE b.deletion_id = d.id) \
         OR (d.kind <> 'chat' AND d.turns = 0 AND d.branches = 0)) \
         AND NOT EXISTS (SELECT 1 FROM deletions p WHERE p.chat_id = d.chat_id AND p.purging_since IS NOT NULL)";
    RUNNING_DELETED: "I13", "turns", "it is deleted but unfinished",
        "SELECT t.id FROM turns t WHERE t.deleted_at IS NOT NULL \
         AND t.status NOT IN ('complete', 'cancelled', 'error')";
    DELETED_ABOVE: "I13", "turns", "it is not deleted, but its parent is",
        concat!("SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id LEFT JOIN turns p ON p.id = t.prev_turn_id \
         WHERE t.deleted_at IS NULL AND (c.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL)", settled!("c.id"));
    LAST_VIEWED: "R9", "chats", "the turn last viewed is missing, deleted or in another chat",
        "SELECT c.id FROM chats c LEFT JOIN turns v ON v.id = c.last_viewed_turn_id \
         WHERE c.last_viewed_turn_id IS NOT NULL AND (v.id IS NULL OR v.chat_id <> c.id \
         OR (c.deleted_at IS NULL AND v.deleted_at IS NOT NULL))";
    ONE_REQUEST: "I14", "exchanges", "its client request id was used for another exchange",
        "SELECT e.id FROM exchanges e JOIN exchanges f \
         ON f.owner_id = e.owner_id AND f.client_request_id = e.client_request_id AND f.id <> e.id";
}

/// Returns the turns at or beyond a depth.
pub(super) async fn turns_deeper_than(db: &Db, depth: i64) -> Result<Vec<(Uuid, i64)>, StoreError> {
    Ok(with_pool!(db, |pool| sqlx::query_as(DEEPER).bind(depth).fetch_all(pool).await?))
}
