//! Deleting for ever: first a deletion is marked, so that it cannot come back, then its rows go in batches, the deepest
//! turns first. A crash in between leaves fewer to do. What an earlier deletion took below it goes with it: there is
//! nothing left to hang it on.

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::{Readable, keep_decoded, keep_readable};
use crate::rows::parse_word;
use turnleaf_domain::deletion::DeletionKind;
use turnleaf_domain::{ChatId, DeletionId, UserId};
use turnleaf_platform::ids;

sql! {
    MARK_ONE = "UPDATE deletions SET purging_since = $3 WHERE owner_id = $1 AND id = $2 AND purging_since IS NULL";
    MARK_ALL = "UPDATE deletions SET purging_since = $2 WHERE owner_id = $1 AND purging_since IS NULL";
    MARK_OLD = "UPDATE deletions SET purging_since = $2 WHERE created_at < $1 AND purging_since IS NULL";
    /// Chats first: what was deleted in them goes with them.
    MARKED = "SELECT id, chat_id, kind FROM deletions WHERE purging_since IS NOT NULL AND purging_since <= $1 \
        ORDER BY CASE WHEN kind = 'chat' THEN 0 ELSE 1 END, id";
    /// Of a chat that is coming in.
    HIDING = "INSERT INTO deletions (id, owner_id, chat_id, kind, root_id, title, turns, branches, created_at, \
        purging_since) SELECT $3, c.owner_id, c.id, 'chat', c.id, '', 0, 0, $4, $5 FROM chats c \
        WHERE c.owner_id = $1 AND c.id = $2";
    HIDE = "UPDATE chats SET deleted_at = $4, deletion_id = $3 WHERE owner_id = $1 AND id = $2";
    /// What a purge may have begun with is not spared any more: it may have lost turns.
    SPARE = "UPDATE deletions SET purging_since = $2 WHERE id = $1 AND purging_since > $3";
    LAPSE = "UPDATE deletions SET purging_since = $2 WHERE id = $1";
    /// Back to before whatever clock somebody spares it by.
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
    /// What is kept in memory of the chat is of another one from here on.
    BEGIN_EPOCH = "UPDATE chats SET epoch = $2 WHERE id = $1";
    /// Each followed by a list of turn ids.
    EXCHANGES_OF = "SELECT DISTINCT exchange_id FROM turns ";
    DELETIONS_OF = "SELECT DISTINCT deletion_id FROM turns ";
    BRANCHES_OF = "SELECT DISTINCT branch_id FROM turns ";
    BRANCHES_FROM = "SELECT id FROM branches ";
    DELETE_TURNS = "DELETE FROM turns ";
    /// Each followed by a list of ids, and then by the name of the condition.
    DELETE_EXCHANGES = "DELETE FROM exchanges ";
    DELETE_BRANCHES = "DELETE FROM branches ";
    DELETE_REST = "DELETE FROM branches WHERE deletion_id = $1 \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = branches.id)";
    /// A branch that still has turns of other deletions goes over to the topmost of them.
    HAND_OVER = "UPDATE branches SET deletion_id = ( \
            SELECT t.deletion_id FROM turns t WHERE t.branch_id = branches.id ORDER BY t.depth LIMIT 1) \
        WHERE deletion_id = $1";
    /// Deletions of the chat that lost something to this one.
    COUNT_AGAIN = "UPDATE deletions SET \
            turns = (SELECT COUNT(*) FROM turns t WHERE t.deletion_id = deletions.id), \
            branches = (SELECT COUNT(*) FROM branches b WHERE b.deletion_id = deletions.id) \
        WHERE chat_id = $1 AND id <> $2";
    DELETE_EMPTY = "DELETE FROM deletions WHERE chat_id = $1 AND id <> $2 AND kind <> 'chat' \
        AND turns = 0 AND branches = 0";
    DELETE_ROW = "DELETE FROM deletions WHERE id = $1";
    DELETE_CHAT = "DELETE FROM chats WHERE id = $1 AND deletion_id = $2";
    /// What names blobs: blocks, in the table for that and, where they are older than it, as images, which is asked last
    /// because it reads them all; uploads; files that documents were made of; other forms of an image that is named. Whoever adds another way to name one adds it here and to the checker.
    DELETE_BLOBS = "DELETE FROM blobs WHERE sha256 IN ( \
        SELECT b.sha256 FROM blobs b WHERE b.created_at < $1 AND b.path IS NULL \
            AND NOT EXISTS (SELECT 1 FROM block_blobs r WHERE r.sha256 = b.sha256) \
            AND NOT EXISTS (SELECT 1 FROM uploads u WHERE u.sha256 = b.sha256) \
            AND NOT EXISTS (SELECT 1 FROM document_versions v WHERE v.origin = b.sha256) \
            AND NOT EXISTS (SELECT 1 FROM blob_forms f WHERE f.is_in = b.sha256) \
            AND NOT EXISTS ( \
                SELECT 1 FROM turn_blocks k WHERE k.block_type = 'image' AND k.content LIKE '%' || b.sha256 || '%') \
        LIMIT $2)";
}

/// What is gone where a chat that was coming in is not spared any more.
pub const INCOMING_CHAT: &str = "the chat that is coming in";

/// A deletion that is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledPurge {
    pub id: DeletionId,
    pub chat_id: ChatId,
    pub kind: DeletionKind,
}

/// From here on this deletion of the owner's cannot come back. False when there is none.
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

/// The same for everything that this owner has in Trash; gives how many deletions that is.
pub async fn schedule_purge_of_trash(tx: &mut Tx, owner: UserId, now: DateTime<Utc>) -> Result<u64, StoreError> {
    let marked =
        in_tx!(tx, |conn| sqlx::query(MARK_ALL).bind(owner.uuid()).bind(now).execute(conn).await?.rows_affected());
    Ok(marked)
}

/// The same for what anybody deleted before this moment.
pub async fn schedule_purge_of_old(tx: &mut Tx, before: DateTime<Utc>, now: DateTime<Utc>) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(MARK_OLD).bind(before).bind(now).execute(conn).await?.rows_affected()))
}

/// Hides a chat that is coming in: it stands there as one that is to go for ever from a moment on, unless it is spared
/// until later or shown before.
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

/// Says from when on what is hidden goes for ever.
///
/// # Errors
/// `Gone` ([`INCOMING_CHAT`]) when it has gone, or was to go by `now`.
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

/// What is hidden goes for ever from now on, if it has not gone.
pub async fn expire_lease(tx: &mut Tx, deletion: DeletionId, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| sqlx::query(LAPSE).bind(deletion.uuid()).bind(now).execute(conn).await.map(drop))?;
    Ok(())
}

/// Shows a chat that is all there.
///
/// # Errors
/// `Gone` ([`INCOMING_CHAT`]) when it has gone, or was to go by `now`.
pub async fn reveal_incoming(
    tx: &mut Tx,
    chat: ChatId,
    deletion: DeletionId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    // It holds the row, so that no purge begins with it any more.
    renew_lease(tx, deletion, (now, now)).await?;
    let shown = in_tx!(tx, |conn| {
        let query = sqlx::query(SHOW).bind(chat.uuid()).bind(deletion.uuid());
        let shown = query.execute(&mut *conn).await?.rows_affected();
        sqlx::query(DELETE_ROW).bind(deletion.uuid()).execute(&mut *conn).await?;
        shown
    });
    if shown == 0 { Err(StoreError::Gone(INCOMING_CHAT)) } else { Ok(()) }
}

/// From here on nobody spares or shows it. False when somebody has just done so.
pub async fn claim_purge(tx: &mut Tx, of: ScheduledPurge, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let taken =
        in_tx!(tx, |conn| sqlx::query(TAKE_UP).bind(of.id.uuid()).bind(now).execute(conn).await?.rows_affected());
    Ok(taken > 0)
}

/// Everything that is to go by now.
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

/// The turns that go with it, children before their parents. None of them changes any more: nothing can be added below
/// a deleted turn, and nothing below it can come back.
pub async fn turns_to_delete(db: &Db, of: ScheduledPurge) -> Result<Vec<Uuid>, StoreError> {
    let text = if of.kind == DeletionKind::Chat { TURNS_OF_CHAT } else { TURNS_OF };
    let turns: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(text).bind(of.id.uuid()).fetch_all(pool).await?);
    // One whose id cannot be read goes with its chat.
    Ok(keep_readable(turns, "turns").into_iter().map(|(turn,)| turn).collect())
}

/// Deletes some of these turns with their blocks, calls, journals, and the exchanges and branches that they were the
/// last turns of.
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
        // Never one that is not deleted, whatever the list says. Those of a chat that was coming in go with it.
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

/// Deletes what is left of it when its turns are gone: its last branches, the chat, its row in Trash.
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

/// Deletes blobs older than `before` that nothing names, at most `limit`; gives how many. One whose bytes are in a file
/// of its own is left to whoever keeps the file.
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
