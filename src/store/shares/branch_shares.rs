//! Live shares: branches that accounts and the members of groups read while they grow. Who reads is asked of the database
//! each time, so that a change counts from the next request on. Branches in Trash are as if they were not shared.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::accounts::access_rules::NewGrant;
use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable, time_of_id};
use crate::database::rows::{to_json, to_unsigned};
use turnleaf_domain::{BranchId, BranchReaders, BranchShare, BranchShareId, ChatId, LiveParts, TurnId, UserId, limits};

const TABLE: &str = "branch_shares";

/// The shares `s` whose branch and chat are not in Trash.
macro_rules! of_kept_branches {
    () => {
        " FROM branch_shares s JOIN branches b ON b.id = s.branch_id JOIN chats c ON c.id = b.chat_id \
         WHERE b.deleted_at IS NULL AND c.deleted_at IS NULL"
    };
}

/// Those of them that have messages, if neither their owner nor the reader ($1) is disabled.
macro_rules! open_to_enabled {
    () => {
        concat!(
            of_kept_branches!(),
            " AND b.head_turn_id IS NOT NULL \
             AND EXISTS (SELECT 1 FROM users u WHERE u.id = s.owner_id AND u.disabled_at IS NULL) \
             AND EXISTS (SELECT 1 FROM users u WHERE u.id = $1 AND u.disabled_at IS NULL)"
        )
    };
}

/// True if the reader ($1) is named, or is in a named group.
macro_rules! is_read {
    () => {
        concat!(
            "s.id IN (SELECT r.share_id FROM branch_share_readers r WHERE r.user_id = $1 \
             UNION SELECT r.share_id FROM branch_share_readers r JOIN ",
            memberships!(of_account),
            " m ON m.group_id = r.group_id)"
        )
    };
}

sql! {
    INSERT = "INSERT INTO branch_shares (id, owner_id, branch_id, parts, created_at) \
        SELECT $1, c.owner_id, b.id, $4, $5 FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $2 AND b.id = $3 AND b.deleted_at IS NULL AND c.deleted_at IS NULL";
    CLEAR_READERS = "DELETE FROM branch_share_readers WHERE share_id = ( \
        SELECT s.id FROM branch_shares s WHERE s.owner_id = $1 AND s.id = $2)";
    ADD_READER = "INSERT INTO branch_share_readers (id, share_id, group_id, user_id) \
        SELECT $3, s.id, $4, $5 FROM branch_shares s WHERE s.owner_id = $1 AND s.id = $2";
    DELETE = "DELETE FROM branch_shares WHERE owner_id = $1 AND id = $2";
    COUNT = concat!("SELECT COUNT(*)", of_kept_branches!(), " AND s.owner_id = $1");
    /// All of them, or one ($2).
    LIST = concat!("SELECT s.id, b.chat_id, s.branch_id, s.parts, s.created_at, c.title AS chat_title, \
        b.name AS branch_name", of_kept_branches!(), " AND s.owner_id = $1 AND s.id = COALESCE($2, s.id) \
        ORDER BY s.id DESC LIMIT $3");
    READERS = "SELECT r.share_id, u.name, g.name FROM branch_share_readers r \
        JOIN branch_shares s ON s.id = r.share_id LEFT JOIN users u ON u.id = r.user_id \
        LEFT JOIN account_groups g ON g.id = r.group_id WHERE s.owner_id = $1 ORDER BY r.id";
    RECEIVED = concat!("SELECT s.id, s.created_at, c.title, (SELECT u.name FROM users u WHERE u.id = s.owner_id)",
        open_to_enabled!(), " AND s.owner_id <> $1 AND ", is_read!(), " ORDER BY s.id DESC LIMIT $2");
    /// Owners read their own, to see what readers see.
    OPEN = concat!("SELECT s.owner_id, b.chat_id, b.head_turn_id, s.parts", open_to_enabled!(),
        " AND s.id = $2 AND (s.owner_id = $1 OR ", is_read!(), ")");
    /// An image $4, or one of which it is another form, of the messages and replies of the path; with $5 also of its
    /// tools.
    PATH_IMAGE = concat!(up_from_leaf!(), "SELECT o.bytes FROM path CROSS JOIN turn_blocks k CROSS JOIN block_blobs r \
        CROSS JOIN blobs o WHERE k.turn_id = path.id AND k.author <> 'system' \
        AND (k.block_type = 'image' AND k.author <> 'tool' OR $5 AND k.block_type IN ('image', 'tool_result')) \
        AND r.block_id = k.id AND o.sha256 = $4 AND o.bytes IS NOT NULL AND (r.sha256 = o.sha256 OR EXISTS ( \
            SELECT 1 FROM blob_forms f WHERE f.sha256 = r.sha256 AND f.is_in = o.sha256)) LIMIT 1");
}

/// A branch that somebody shares with an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedBranch {
    pub id: BranchShareId,
    pub chat_title: String,
    pub owner_name: String,
    pub created_at: DateTime<Utc>,
}

/// A live share as a reader opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBranchShare {
    pub owner: UserId,
    pub chat_id: ChatId,
    /// The newest message or reply of the branch.
    pub head: TurnId,
    pub parts: LiveParts,
}

struct BranchShareRow {
    id: Uuid,
    chat_id: Uuid,
    branch_id: Uuid,
    parts: Lossy<String>,
    created_at: Lossy<DateTime<Utc>>,
    chat_title: Lossy<String>,
    branch_name: Lossy<String>,
}
from_row!(BranchShareRow { id, chat_id, branch_id, parts, created_at, chat_title, branch_name });

impl From<BranchShareRow> for BranchShare {
    fn from(row: BranchShareRow) -> Self {
        let id = row.id;
        Self {
            id: id.into(),
            chat_id: row.chat_id.into(),
            branch_id: row.branch_id.into(),
            chat_title: row.chat_title.unwrap_or_default("chats", "title", row.chat_id),
            branch_name: row.branch_name.unwrap_or_default("branches", "name", row.branch_id),
            parts: read_parts(row.parts, id),
            readers: BranchReaders::default(),
            created_at: row.created_at.unwrap_or_log(TABLE, "created_at", id, || time_of_id(id)),
        }
    }
}

/// Parts that cannot be read are not shown.
fn read_parts(parts: Lossy<String>, id: Uuid) -> LiveParts {
    serde_json::from_str(&parts.unwrap_or_default(TABLE, "parts", id)).unwrap_or_default()
}

/// Stores a share without readers. Returns false if the owner has no such branch.
pub async fn insert(
    tx: &mut Tx,
    owner: UserId,
    (id, branch): (BranchShareId, BranchId),
    parts: LiveParts,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let parts = to_json(&parts, TABLE, "parts")?;
    let stored = in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(id.uuid()).bind(owner.uuid()).bind(branch.uuid());
        query.bind(parts.as_str()).bind(now).execute(conn).await?.rows_affected()
    });
    Ok(stored > 0)
}

/// Replaces the readers of a share. Returns false if the owner has no such share, or if there are no readers.
pub async fn set_readers(
    tx: &mut Tx,
    owner: UserId,
    share: BranchShareId,
    readers: &[NewGrant],
) -> Result<bool, StoreError> {
    let mut stored = 0;
    in_tx!(tx, |conn| {
        sqlx::query(CLEAR_READERS).bind(owner.uuid()).bind(share.uuid()).execute(&mut *conn).await?;
        for reader in readers {
            let (id, group, user) = match reader {
                NewGrant::Group(id, group) => (*id, Some(group.uuid()), None),
                NewGrant::Account(id, user) => (*id, None, Some(user.uuid())),
            };
            let query = sqlx::query(ADD_READER).bind(owner.uuid()).bind(share.uuid()).bind(id);
            stored += query.bind(group).bind(user).execute(&mut *conn).await?.rows_affected();
        }
    });
    Ok(stored > 0)
}

/// Ends a share. Returns false if the owner has no such share.
pub async fn delete(tx: &mut Tx, owner: UserId, share: BranchShareId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(share.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}

/// Counts the shares of an owner, without those in Trash.
pub async fn count(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(owner.uuid()).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Returns the shares of an owner, newest first, or only this one.
pub async fn list(
    db: &Db,
    owner: UserId,
    only: Option<BranchShareId>,
    limit: u32,
) -> Result<Vec<BranchShare>, StoreError> {
    type ReaderRow = (Uuid, Lossy<Option<String>>, Lossy<Option<String>>);
    let rows: Vec<Readable<BranchShareRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(LIST).bind(owner.uuid()).bind(only.map(BranchShareId::uuid));
        query.bind(i64::from(limit)).fetch_all(pool).await?
    });
    let mut listed: Vec<BranchShare> = keep_readable(rows, TABLE).into_iter().map(BranchShare::from).collect();
    let readers: Vec<Readable<ReaderRow>> =
        with_pool!(db, |pool| sqlx::query_as(READERS).bind(owner.uuid()).fetch_all(pool).await?);
    for (share, account, group) in keep_readable(readers, "branch_share_readers") {
        let Some(share) = listed.iter_mut().find(|listed| listed.id.uuid() == share) else { continue };
        let id = share.id.uuid();
        // An account that is being deleted has no name any more.
        let account = account.unwrap_or_default("users", "name", id).filter(|name| !name.is_empty());
        share.readers.accounts.extend(account);
        share.readers.groups.extend(group.unwrap_or_default("account_groups", "name", id));
    }
    Ok(listed)
}

/// Returns the branches that others share with an account, newest first.
pub async fn received(db: &Db, reader: UserId, limit: u32) -> Result<Vec<ReceivedBranch>, StoreError> {
    type ReceivedRow = (Uuid, Lossy<DateTime<Utc>>, Lossy<String>, Lossy<String>);
    let rows: Vec<Readable<ReceivedRow>> = with_pool!(db, |pool| {
        sqlx::query_as(RECEIVED).bind(reader.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    let branch = |(id, created_at, title, owner): ReceivedRow| ReceivedBranch {
        id: id.into(),
        chat_title: title.unwrap_or_default("chats", "title", id),
        owner_name: owner.unwrap_or_default("users", "name", id),
        created_at: created_at.unwrap_or_log(TABLE, "created_at", id, || time_of_id(id)),
    };
    Ok(keep_readable(rows, TABLE).into_iter().map(branch).collect())
}

/// Returns a share that this account reads now, or that is its own.
pub async fn open(db: &Db, reader: UserId, share: BranchShareId) -> Result<Option<OpenBranchShare>, StoreError> {
    let row: Option<(Uuid, Uuid, Uuid, Lossy<String>)> = with_pool!(db, |pool| {
        sqlx::query_as(OPEN).bind(reader.uuid()).bind(share.uuid()).fetch_optional(pool).await?
    });
    Ok(row.map(|(owner, chat, head, parts)| OpenBranchShare {
        owner: owner.into(),
        chat_id: chat.into(),
        head: head.into(),
        parts: read_parts(parts, share.uuid()),
    }))
}

/// Returns an image that the path to a leaf of this owner shows, in this form; images of tools only if they are shared.
pub async fn path_image(
    db: &Db,
    owner: UserId,
    leaf: TurnId,
    sha256: &str,
    has_tools: bool,
) -> Result<Option<Bytes>, StoreError> {
    let bytes: Option<Vec<u8>> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(PATH_IMAGE).bind(owner.uuid()).bind(leaf.uuid()).bind(limits::TURNS_PER_CHAT);
        query.bind(sha256).bind(has_tools).fetch_optional(pool).await?
    });
    Ok(bytes.map(Bytes::from))
}
