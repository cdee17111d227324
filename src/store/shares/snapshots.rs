//! Shares: snapshots of paths, which readers find by the hash of a link. A share goes with the message or reply at the end
//! of its path: while that or the chat is in Trash, the share is as if it did not exist.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_decoded, keep_readable, time_of_id};
use crate::database::rows::{from_json, parse_word, to_json, to_unsigned};
use crate::turns::generations::raw::{compress, decompress_column};
use turnleaf_domain::{Share, ShareId, SharedTurns, TurnId, UserId};

const TABLE: &str = "shares";

/// The shares `s` whose path and chat are not in Trash.
macro_rules! of_kept_paths {
    () => {
        " FROM shares s JOIN turns t ON t.id = s.leaf_id JOIN chats c ON c.id = s.chat_id \
         WHERE t.deleted_at IS NULL AND c.deleted_at IS NULL"
    };
}

/// Those that a reader with this hash ($1) may open at this time ($2); $3 is true if the reader is signed in. Those of
/// a disabled account are closed, because nobody could revoke them.
macro_rules! open_to_reader {
    () => {
        concat!(
            of_kept_paths!(),
            " AND s.hash = $1 AND s.revoked_at IS NULL AND s.expires_at > $2 AND (s.audience = 'link' OR $3) \
             AND EXISTS (SELECT 1 FROM users u WHERE u.id = s.owner_id AND u.disabled_at IS NULL)"
        )
    };
}

/// The shares of an owner ($1).
macro_rules! of_owner {
    ($fits_and_order:literal) => {
        concat!(
            "SELECT s.id, s.chat_id, s.leaf_id, s.audience, s.parts, s.created_at, s.expires_at, s.revoked_at, \
                s.last_access_at, c.title AS chat_title",
            of_kept_paths!(),
            " AND s.owner_id = $1",
            $fits_and_order
        )
    };
}

sql! {
    INSERT = "INSERT INTO shares (id, hash, owner_id, chat_id, leaf_id, audience, parts, snapshot, snapshot_sha256, \
        snapshot_bytes, created_at, expires_at, turns, turns_sha256, turns_bytes) \
        SELECT $1, $2, c.owner_id, c.id, t.id, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15 \
        FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $3 AND c.id = $4 AND t.id = $5 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    COUNT = concat!("SELECT COUNT(*)", of_kept_paths!(),
        " AND s.owner_id = $1 AND s.revoked_at IS NULL AND s.expires_at > $2");
    FIND = of_owner!(" AND s.id = $2");
    /// The valid ones come first, so that ended ones do not keep them out.
    LIST = of_owner!(" ORDER BY (s.revoked_at IS NULL AND s.expires_at > $3) DESC, s.id DESC LIMIT $2");
    REVOKE = "UPDATE shares SET revoked_at = COALESCE(revoked_at, $3) WHERE owner_id = $1 AND id = $2";
    OPEN = concat!("SELECT s.id, s.snapshot, s.snapshot_bytes, s.last_access_at, s.turns IS NOT NULL AS has_turns",
        open_to_reader!());
    OPEN_TURNS = concat!("SELECT s.id, s.owner_id, s.leaf_id, s.turns, s.turns_bytes", open_to_reader!(),
        " AND s.turns IS NOT NULL AND s.turns_bytes IS NOT NULL");
    OPEN_BLOB = concat!("SELECT o.bytes FROM share_blobs b JOIN blobs o ON o.sha256 = b.sha256 \
        WHERE b.sha256 = $4 AND o.bytes IS NOT NULL AND b.share_id = (SELECT s.id", open_to_reader!(), ")");
    NOTE_ACCESS = "UPDATE shares SET last_access_at = $2 WHERE id = $1";
    DELETE_ENDED = "DELETE FROM shares WHERE expires_at < $1 OR revoked_at < $1";
}

/// A share to store.
#[derive(Debug, Clone)]
pub struct NewStoredShare {
    pub share: Share,
    /// The sha256 of the link's token.
    pub hash: Vec<u8>,
    /// The page.
    pub snapshot: Bytes,
    /// Its turns as JSON (`SharedTurns`), for readers who continue the chat. Those of earlier versions have none.
    pub turns: Option<Bytes>,
}

/// A share in the list of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedShare {
    pub share: Share,
    pub chat_title: String,
}

/// A share as a reader opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenShare {
    pub id: ShareId,
    /// The page.
    pub snapshot: Vec<u8>,
    pub last_access_at: Option<DateTime<Utc>>,
    /// True if a reader can continue the chat.
    pub has_turns: bool,
}

/// The turns of a share, for a reader who continues the chat.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSharedTurns {
    pub owner: UserId,
    /// The end of the path in the chat of the owner.
    pub leaf: TurnId,
    pub turns: SharedTurns,
    /// The size of the stored JSON.
    pub bytes: u64,
}

struct ShareRow {
    id: Uuid,
    chat_id: Uuid,
    leaf_id: Uuid,
    audience: String,
    parts: Lossy<String>,
    created_at: Lossy<DateTime<Utc>>,
    expires_at: Lossy<DateTime<Utc>>,
    revoked_at: Lossy<Option<DateTime<Utc>>>,
    last_access_at: Lossy<Option<DateTime<Utc>>>,
    chat_title: Lossy<String>,
}
from_row!(ShareRow {
    id,
    chat_id,
    leaf_id,
    audience,
    parts,
    created_at,
    expires_at,
    revoked_at,
    last_access_at,
    chat_title,
});

impl ShareRow {
    fn into_listed(self) -> Result<ListedShare, StoreError> {
        let id = self.id;
        let chat_title = self.chat_title.unwrap_or_default("chats", "title", self.chat_id);
        let at =
            |time: Lossy<DateTime<Utc>>, column: &'static str| time.unwrap_or_log(TABLE, column, id, || time_of_id(id));
        let parts = self.parts.unwrap_or_default(TABLE, "parts", id);
        let share = Share {
            id: id.into(),
            chat_id: self.chat_id.into(),
            leaf_id: self.leaf_id.into(),
            audience: parse_word(self.audience, TABLE, "audience", id)?,
            // The snapshot has the shown content, so an unreadable list of parts loses nothing.
            parts: serde_json::from_str(&parts).unwrap_or_default(),
            created_at: at(self.created_at, "created_at"),
            // One whose end is unknown has ended.
            expires_at: at(self.expires_at, "expires_at"),
            revoked_at: self.revoked_at.unwrap_or_log(TABLE, "revoked_at", id, || Some(time_of_id(id))),
            last_access_at: self.last_access_at.unwrap_or_default(TABLE, "last_access_at", id),
        };
        Ok(ListedShare { share, chat_title })
    }
}

/// Stores a share. Returns false if the owner has no such chat with such a turn.
pub async fn insert(tx: &mut Tx, owner: UserId, new: &NewStoredShare) -> Result<bool, StoreError> {
    let NewStoredShare { share, hash, snapshot, turns } = new;
    let packed = compress(snapshot)?;
    let turns = turns.as_deref().map(compress).transpose()?;
    let parts = to_json(&share.parts, TABLE, "parts")?;
    let stored = in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(share.id.uuid()).bind(&hash[..]).bind(owner.uuid());
        let query = query.bind(share.chat_id.uuid()).bind(share.leaf_id.uuid()).bind(share.audience.as_str());
        let query = query.bind(parts.as_str()).bind(&packed.bytes[..]).bind(&packed.sha256[..]).bind(packed.length);
        let query = query.bind(share.created_at).bind(share.expires_at);
        let query = query.bind(turns.as_ref().map(|turns| &turns.bytes[..]));
        let query = query.bind(turns.as_ref().map(|turns| &turns.sha256[..]));
        query.bind(turns.as_ref().map(|turns| turns.length)).execute(conn).await?.rows_affected()
    });
    Ok(stored > 0)
}

/// Counts the shares of an owner that are valid now, without those whose paths are in Trash.
pub async fn count(tx: &mut Tx, owner: UserId, now: DateTime<Utc>) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(owner.uuid()).bind(now).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Returns a share of this owner.
pub async fn find(db: &Db, owner: UserId, id: ShareId) -> Result<Option<ListedShare>, StoreError> {
    let row: Option<ShareRow> =
        with_pool!(db, |pool| { sqlx::query_as(FIND).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await? });
    row.map(ShareRow::into_listed).transpose()
}

/// Returns the shares of an owner: first those that are valid now, then those that have ended, each newest first.
pub async fn list(db: &Db, owner: UserId, now: DateTime<Utc>, limit: u32) -> Result<Vec<ListedShare>, StoreError> {
    let rows: Vec<Readable<ShareRow>> = with_pool!(db, |pool| {
        sqlx::query_as(LIST).bind(owner.uuid()).bind(i64::from(limit)).bind(now).fetch_all(pool).await?
    });
    Ok(keep_decoded(keep_readable(rows, TABLE).into_iter().map(ShareRow::into_listed), TABLE))
}

/// Revokes a share; one that was revoked keeps its time. Returns false if the owner has no such share.
pub async fn revoke(tx: &mut Tx, owner: UserId, id: ShareId, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(REVOKE).bind(owner.uuid()).bind(id.uuid()).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Returns the share whose link has this hash, if the reader may open it now.
pub async fn open(
    db: &Db,
    hash: &[u8],
    now: DateTime<Utc>,
    is_signed_in: bool,
) -> Result<Option<OpenShare>, StoreError> {
    type OpenShareRow = (Uuid, Vec<u8>, i64, Lossy<Option<DateTime<Utc>>>, bool);
    let row: Option<OpenShareRow> = with_pool!(db, |pool| {
        sqlx::query_as(OPEN).bind(hash).bind(now).bind(is_signed_in).fetch_optional(pool).await?
    });
    let Some((id, packed, length, last_access_at, has_turns)) = row else { return Ok(None) };
    let snapshot = decompress_column(&packed, length, (TABLE, "snapshot", id))?;
    let last_access_at = last_access_at.unwrap_or_default(TABLE, "last_access_at", id);
    Ok(Some(OpenShare { id: id.into(), snapshot, last_access_at, has_turns }))
}

/// Returns the turns of the share whose link has this hash, if a reader who is signed in may open it now.
pub async fn open_turns(db: &Db, hash: &[u8], now: DateTime<Utc>) -> Result<Option<OpenSharedTurns>, StoreError> {
    type SharedTurnsRow = (Uuid, Uuid, Uuid, Vec<u8>, i64);
    let row: Option<SharedTurnsRow> = with_pool!(db, |pool| {
        sqlx::query_as(OPEN_TURNS).bind(hash).bind(now).bind(true).fetch_optional(pool).await?
    });
    let Some((id, owner, leaf, packed, length)) = row else { return Ok(None) };
    let json = decompress_column(&packed, length, (TABLE, "turns", id))?;
    let turns = from_json(&String::from_utf8_lossy(&json), TABLE, "turns", id)?;
    Ok(Some(OpenSharedTurns { owner: owner.into(), leaf: leaf.into(), turns, bytes: json.len() as u64 }))
}

/// Returns an image of the share whose link has this hash, if the reader may open it now.
pub async fn open_blob(
    db: &Db,
    (hash, sha256): (&[u8], &str),
    now: DateTime<Utc>,
    is_signed_in: bool,
) -> Result<Option<Bytes>, StoreError> {
    let bytes: Option<Vec<u8>> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(OPEN_BLOB).bind(hash).bind(now).bind(is_signed_in).bind(sha256);
        query.fetch_optional(pool).await?
    });
    Ok(bytes.map(Bytes::from))
}

/// Records that somebody opened a share.
pub async fn note_access(tx: &mut Tx, id: ShareId, at: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(NOTE_ACCESS).bind(id.uuid()).bind(at).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the shares of all owners that ended before this moment.
pub async fn delete_ended(tx: &mut Tx, before: DateTime<Utc>) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(DELETE_ENDED).bind(before).execute(conn).await?.rows_affected()))
}
