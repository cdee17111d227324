//! Purge (permanent deletion): a deletion is marked first, so that it cannot be restored, then its rows are deleted
//! in batches, the deepest turns first. A crash in between leaves fewer to do. Earlier deletions below it are purged
//! too, because their parents are gone.

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::parse_word;
use turnleaf_domain::chats::deletion::DeletionKind;
use turnleaf_domain::{ChatId, DeletionId, UserId};
use turnleaf_platform::ids;

sql! {
    MARK_ONE = "UPDATE deletions SET purging_since = $3 WHERE owner_id = $1 AND id = $2 AND purging_since IS NULL";
    MARK_ALL = "UPDATE deletions SET purging_since = $2 WHERE owner_id = $1 AND purging_since IS NULL";
    MARK_OLD = "UPDATE deletions SET purging_since = $2 WHERE created_at < $1 AND purging_since IS NULL";
    /// Chats come first, because deletions inside of them are purged with them.
    MARKED = "SELECT id, chat_id, kind FROM deletions WHERE purging_since IS NOT NULL AND purging_since <= $1 \
        ORDER BY CASE WHEN kind = 'chat' THEN 0 ELSE 1 END, id";
    /// The hidden deletion of a chat whose import is in progress.
    HIDING = "INSERT INTO deletions (id, owner_id, chat_id, kind, root_id, title, turns, branches, created_at, \
        purging_since) SELECT $3, c.owner_id, c.id, 'chat', c.id, '', 0, 0, $4, $5 FROM chats c \
        WHERE c.owner_id = $1 AND c.id = $2";
    HIDE = "UPDATE chats SET deleted_at = $4, deletion_id = $3 WHERE owner_id = $1 AND id = $2";
    /// The lease of a purge that may have started cannot be renewed, because turns may be gone.
    SPARE = "UPDATE deletions SET purging_since = $2 WHERE id = $1 AND purging_since > $3";
    LAPSE = "UPDATE deletions SET purging_since = $2 WHERE id = $1";
    /// Moves the time back, so that a renewal fails by any clock.
    TAKE_UP = "UPDATE deletions SET purging_since = CASE WHEN created_at < purging_since THEN created_at \
        ELSE purging_since END WHERE id = $1 AND purging_since <= $2";
    SHOW = "UPDATE chats SET deleted_at = NULL, deletion_id = NULL WHERE id = $1 AND deletion_id = $2";
    TURNS_OF_CHAT = "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.deletion_id = $1 ORDER BY t.depth DESC, t.ord DESC";
    TURNS_OF = "WITH RECURSIVE below (id, depth) AS ( \
            SELECT t.id, t.depth FROM turns t WHERE t.deletion_id = $1 \
            UNION SELECT t.id, t.depth FROM below JOIN turns t ON t.prev_turn_id = below.id) \
        SELECT id FROM below ORDER BY depth DESC";
    HOLD = "UPDATE chats SET rev = rev WHERE id = $1";
    /// A new purge epoch invalidates cached paths of the chat.
    BEGIN_EPOCH = "UPDATE chats SET epoch = $2 WHERE id = $1";
    /// Each is followed by a list of turn ids.
    EXCHANGES_OF = "SELECT DISTINCT exchange_id FROM turns ";
    DELETIONS_OF = "SELECT DISTINCT deletion_id FROM turns ";
    BRANCHES_OF = "SELECT DISTINCT branch_id FROM turns ";
    BRANCHES_FROM = "SELECT id FROM branches ";
    DELETE_TURNS = "DELETE FROM turns ";
    /// Each is followed by a list of ids and by conditions.
    DELETE_EXCHANGES = "DELETE FROM exchanges ";
    DELETE_BRANCHES = "DELETE FROM branches ";
    DELETE_REST = "DELETE FROM branches WHERE deletion_id = $1 \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = branches.id)";
    /// A branch that still has turns of other deletions is assigned to the topmost of them.
    HAND_OVER = "UPDATE branches SET deletion_id = ( \
            SELECT t.deletion_id FROM turns t WHERE t.branch_id = branches.id ORDER BY t.depth LIMIT 1) \
        WHERE deletion_id = $1";
    /// Recounts deletions of the chat that lost rows to this purge.
    COUNT_AGAIN = "UPDATE deletions SET \
            turns = (SELECT COUNT(*) FROM turns t WHERE t.deletion_id = deletions.id), \
            branches = (SELECT COUNT(*) FROM branches b WHERE b.deletion_id = deletions.id) \
        WHERE chat_id = $1 AND id <> $2";
    DELETE_EMPTY = "DELETE FROM deletions WHERE chat_id = $1 AND id <> $2 AND kind <> 'chat' \
        AND turns = 0 AND branches = 0";
    DELETE_ROW = "DELETE FROM deletions WHERE id = $1";
    DELETE_CHAT = "DELETE FROM chats WHERE id = $1 AND deletion_id = $2";
    /// The references to blobs: blocks, by their table and, for blocks older than that table, by image content, which
    /// comes last because it scans them all; uploads; original files of documents; shares; other forms of referenced
    /// images.
    /// A new kind of reference must be added here and in fsck.
    DELETE_BLOBS = "DELETE FROM blobs WHERE sha256 IN ( \
        SELECT b.sha256 FROM blobs b WHERE b.created_at < $1 AND b.path IS NULL \
            AND NOT EXISTS (SELECT 1 FROM block_blobs r WHERE r.sha256 = b.sha256) \
            AND NOT EXISTS (SELECT 1 FROM uploads u WHERE u.sha256 = b.sha256) \
            AND NOT EXISTS (SELECT 1 FROM document_versions v WHERE v.origin = b.sha256) \
            AND NOT EXISTS (SELECT 1 FROM share_blobs s WHERE s.sha256 = b.sha256) \
            AND NOT EXISTS (SELECT 1 FROM blob_forms f WHERE f.is_in = b.sha256) \
            AND NOT EXISTS ( \
                SELECT 1 FROM turn_blocks k WHERE k.block_type = 'image' AND k.content LIKE '%' || b.sha256 || '%') \
        LIMIT $2)";
}

/// The subject of the `Gone` error of an import whose lease has expired.
pub const INCOMING_CHAT: &str = "the chat that is coming in";

/// A deletion that is scheduled for purging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledPurge {
    pub id: DeletionId,
    pub chat_id: ChatId,
    pub kind: DeletionKind,
}

/// Schedules the purge of this deletion of the owner, after which it cannot be restored. Returns false if there is
/// none.
pub async fn schedule_purge(
    tx: &mut Tx,
    owner: UserId,
    deletion: DeletionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let marked = in_tx!(tx, |conn| {
        let query = sqlx::query(MARK_ONE).bind(owner.uuid()).bind(deletion.uuid()).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    Ok(marked > 0)
}

/// Schedules the purge of everything that this owner has in Trash; returns the number of deletions.
pub async fn schedule_purge_of_trash(tx: &mut Tx, owner: UserId, now: DateTime<Utc>) -> Result<u64, StoreError> {
    let marked =
        in_tx!(tx, |conn| sqlx::query(MARK_ALL).bind(owner.uuid()).bind(now).execute(conn).await?.rows_affected());
    Ok(marked)
}

/// Schedules the purge of all deletions before this moment, of all owners.
pub async fn schedule_purge_of_old(tx: &mut Tx, before: DateTime<Utc>, now: DateTime<Utc>) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(MARK_OLD).bind(before).bind(now).execute(conn).await?.rows_affected()))
}

/// Hides a chat while its import is in progress: a deletion with a purge time in the future is its lease, until it is
/// renewed or the chat is revealed.
pub async fn hide_incoming(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    deletion: DeletionId,
    (now, from): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(HIDING).bind(owner.uuid()).bind(chat.uuid()).bind(deletion.uuid());
        query.bind(now).bind(from).execute(&mut *conn).await?;
        let query = sqlx::query(HIDE).bind(owner.uuid()).bind(chat.uuid()).bind(deletion.uuid());
        query.bind(now).execute(&mut *conn).await?;
    });
    Ok(())
}

/// Renews the lease of a hidden chat.
///
/// # Errors
/// `Gone` ([`INCOMING_CHAT`]) when it was purged, or its lease expired by `now`.
pub async fn renew_lease(
    tx: &mut Tx,
    deletion: DeletionId,
    (now, from): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    let spared = in_tx!(tx, |conn| {
        let query = sqlx::query(SPARE).bind(deletion.uuid()).bind(from).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    if spared == 0 { Err(StoreError::Gone(INCOMING_CHAT)) } else { Ok(()) }
}

/// Ends the lease of a hidden chat, so that the next purge deletes it.
pub async fn expire_lease(tx: &mut Tx, deletion: DeletionId, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| sqlx::query(LAPSE).bind(deletion.uuid()).bind(now).execute(conn).await.map(drop))?;
    Ok(())
}

/// Reveals a chat whose import is complete.
///
/// # Errors
/// `Gone` ([`INCOMING_CHAT`]) when it was purged, or its lease expired by `now`.
pub async fn reveal_incoming(
    tx: &mut Tx,
    chat: ChatId,
    deletion: DeletionId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    // The renewal locks the row, so that no purge can start with it.
    renew_lease(tx, deletion, (now, now)).await?;
    let shown = in_tx!(tx, |conn| {
        let query = sqlx::query(SHOW).bind(chat.uuid()).bind(deletion.uuid());
        let shown = query.execute(&mut *conn).await?.rows_affected();
        sqlx::query(DELETE_ROW).bind(deletion.uuid()).execute(&mut *conn).await?;
        shown
    });
    if shown == 0 { Err(StoreError::Gone(INCOMING_CHAT)) } else { Ok(()) }
}

/// Claims the deletion for purging; its lease can no longer be renewed. Returns false if it was just renewed or
/// revealed.
pub async fn claim_purge(tx: &mut Tx, of: ScheduledPurge, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let taken =
        in_tx!(tx, |conn| sqlx::query(TAKE_UP).bind(of.id.uuid()).bind(now).execute(conn).await?.rows_affected());
    Ok(taken > 0)
}

/// Returns all deletions that are due by now.
pub async fn list_due(db: &Db, now: DateTime<Utc>) -> Result<Vec<ScheduledPurge>, StoreError> {
    let rows: Vec<Readable<(Uuid, Uuid, String)>> =
        with_pool!(db, |pool| sqlx::query_as(MARKED).bind(now).fetch_all(pool).await?);
    let doomed = |(id, chat, kind)| {
        Ok::<_, StoreError>(ScheduledPurge {
            id: Uuid::into(id),
            chat_id: Uuid::into(chat),
            kind: parse_word(kind, "deletions", "kind", id)?,
        })
    };
    Ok(keep_decoded(keep_readable(rows, "deletions").into_iter().map(doomed), "deletions"))
}

/// Returns the turns to purge, children before their parents. The list is stable: nothing can be added below a
/// deleted turn, and nothing below it can be restored.
pub async fn turns_to_delete(db: &Db, of: ScheduledPurge) -> Result<Vec<Uuid>, StoreError> {
    let text = if of.kind == DeletionKind::Chat { TURNS_OF_CHAT } else { TURNS_OF };
    let turns: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(text).bind(of.id.uuid()).fetch_all(pool).await?);
    // A turn with an unreadable id is deleted with its chat.
    Ok(keep_readable(turns, "turns").into_iter().map(|(turn,)| turn).collect())
}

/// Deletes some of these turns with their blocks, generations and journals, and the exchanges and branches that have
/// no other turns.
pub async fn delete_turns(tx: &mut Tx, of: ScheduledPurge, turns: &[Uuid]) -> Result<(), StoreError> {
    if turns.is_empty() {
        return Ok(());
    }
    in_tx!(tx, |conn| {
        sqlx::query(BEGIN_EPOCH).bind(of.chat_id.uuid()).bind(ids::mint::<Uuid>()).execute(&mut *conn).await?;
        let mut query = query_with_ids(EXCHANGES_OF, "id", turns);
        let exchanges: Vec<Uuid> = query.build_query_scalar().persistent(false).fetch_all(&mut *conn).await?;
        let mut query = query_with_ids(BRANCHES_OF, "id", turns);
        let mut branches: Vec<Uuid> = query.build_query_scalar().persistent(false).fetch_all(&mut *conn).await?;
        let mut query = query_with_ids(BRANCHES_FROM, "fork_turn_id", turns);
        branches.extend(query.build_query_scalar::<Uuid>().persistent(false).fetch_all(&mut *conn).await?);
        let mut query = query_with_ids(DELETE_TURNS, "id", turns);
        // Turns that are not deleted are never purged, whatever the list contains. Those of a hidden chat are purged
        // with it.
        query.push(
            " AND (deletion_id IS NOT NULL OR EXISTS ( \
            SELECT 1 FROM chats c WHERE c.id = turns.chat_id AND c.deletion_id = ",
        );
        query.push_bind(of.id.uuid()).push("))");
        query.build().persistent(false).execute(&mut *conn).await?;
        let mut query = query_with_ids(DELETE_EXCHANGES, "id", &exchanges);
        query.push(" AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.exchange_id = exchanges.id)");
        query.build().persistent(false).execute(&mut *conn).await?;
        if !branches.is_empty() {
            let mut query = query_with_ids(DELETE_BRANCHES, "id", &branches);
            query.push(
                " AND deleted_at IS NOT NULL AND NOT EXISTS ( \
                SELECT 1 FROM turns t WHERE t.branch_id = branches.id)",
            );
            query.build().persistent(false).execute(&mut *conn).await?;
        }
    });
    Ok(())
}

/// Finishes a purge after its turns are gone: deletes its last branches, the chat, and its row in Trash.
pub async fn finish(tx: &mut Tx, of: ScheduledPurge) -> Result<(), StoreError> {
    let (id, chat) = (of.id.uuid(), of.chat_id.uuid());
    in_tx!(tx, |conn| {
        sqlx::query(HOLD).bind(chat).execute(&mut *conn).await?;
        if of.kind == DeletionKind::Chat {
            sqlx::query(DELETE_CHAT).bind(chat).bind(id).execute(&mut *conn).await?;
        } else {
            sqlx::query(DELETE_REST).bind(id).execute(&mut *conn).await?;
            sqlx::query(HAND_OVER).bind(id).execute(&mut *conn).await?;
            sqlx::query(COUNT_AGAIN).bind(chat).bind(id).execute(&mut *conn).await?;
            sqlx::query(DELETE_EMPTY).bind(chat).bind(id).execute(&mut *conn).await?;
        }
        sqlx::query(DELETE_ROW).bind(id).execute(&mut *conn).await?;
    });
    Ok(())
}

/// Deletes unreferenced blobs older than `before`, at most `limit`; returns their number. A blob in a file of its own
/// is left to the owner of the file.
pub async fn delete_blobs(tx: &mut Tx, before: DateTime<Utc>, limit: u32) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| {
        sqlx::query(DELETE_BLOBS).bind(before).bind(i64::from(limit)).execute(conn).await?.rows_affected()
    }))
}

fn query_with_ids<DB: sqlx::Database>(beginning: &str, column: &str, ids: &[Uuid]) -> QueryBuilder<DB>
where
    Uuid: for<'q> sqlx::Encode<'q, DB> + sqlx::Type<DB>,
{
    let mut query = QueryBuilder::new(beginning);
    query.push("WHERE ").push(column).push(" IN (");
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(*id);
    }
    query.push(")");
    query
}
