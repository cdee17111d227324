//! Invitations: each makes one account with the role in it. Only their hashes are stored.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable, ok_or_log};
use crate::database::rows::{parse_word, to_unsigned};
use turnleaf_domain::{AccountRole, InviteId, UserId};

const TABLE: &str = "invites";

/// Invitations that are open now ($1), with the account that made them.
macro_rules! open_invites {
    ($fits_and_order:literal) => {
        concat!(
            "SELECT i.id, i.role, i.made_by, u.name AS made_by_name, i.created_at, i.expires_at \
                FROM invites i LEFT JOIN users u ON u.id = i.made_by \
                WHERE i.used_at IS NULL AND i.expires_at > $1",
            $fits_and_order
        )
    };
}

sql! {
    INSERT = "INSERT INTO invites (id, hash, role, made_by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)";
    FIND_OPEN = open_invites!(" AND i.hash = $2");
    LIST_OPEN = open_invites!(" ORDER BY i.id DESC LIMIT $2");
    COUNT_OPEN = "SELECT COUNT(*) FROM invites WHERE used_at IS NULL AND expires_at > $1";
    /// One of several concurrent uses changes the row.
    USE = "UPDATE invites SET used_at = $2, used_by = $3 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2 \
        RETURNING role";
    DELETE_OPEN = "DELETE FROM invites WHERE id = $1 AND used_at IS NULL";
    DELETE_OPEN_OF_MAKER = "DELETE FROM invites WHERE made_by = $1 AND used_at IS NULL";
    DELETE_EXPIRED = "DELETE FROM invites WHERE expires_at <= $1";
}

/// An invitation to store.
#[derive(Debug, Clone)]
pub struct NewInvite {
    pub id: InviteId,
    /// The SHA-256 of the code in its address.
    pub hash: [u8; 32],
    pub role: AccountRole,
    /// `None` for the command line.
    pub made_by: Option<UserId>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

/// An invitation that can be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenInvite {
    pub id: InviteId,
    pub role: AccountRole,
    pub made_by: Option<UserId>,
    pub made_by_name: Option<String>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

struct InviteRow {
    id: Uuid,
    role: String,
    made_by: Lossy<Option<Uuid>>,
    made_by_name: Lossy<Option<String>>,
    created_at: Lossy<DateTime<Utc>>,
    expires_at: Lossy<DateTime<Utc>>,
}
from_row!(InviteRow { id, role, made_by, made_by_name, created_at, expires_at });

impl TryFrom<InviteRow> for OpenInvite {
    type Error = StoreError;

    fn try_from(row: InviteRow) -> Result<Self, StoreError> {
        let id = row.id;
        Ok(Self {
            id: id.into(),
            role: parse_word(row.role, TABLE, "role", id)?,
            made_by: row.made_by.unwrap_or_default(TABLE, "made_by", id).map(UserId::from),
            made_by_name: row.made_by_name.unwrap_or_default("users", "name", id),
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", id),
            expires_at: row.expires_at.unwrap_or_default(TABLE, "expires_at", id),
        })
    }
}

/// Stores an invitation.
pub async fn insert(tx: &mut Tx, new: &NewInvite) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(new.id.uuid())
            .bind(new.hash.as_slice())
            .bind(new.role.as_str())
            .bind(new.made_by.map(UserId::uuid))
            .bind(new.created_at)
            .bind(new.expires_at)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns the invitation with this hash if it can be accepted now.
pub async fn find_open(db: &Db, hash: &[u8; 32], now: DateTime<Utc>) -> Result<Option<OpenInvite>, StoreError> {
    let row: Option<InviteRow> = with_pool!(db, |pool| {
        sqlx::query_as(FIND_OPEN).bind(now).bind(hash.as_slice()).fetch_optional(pool).await?
    });
    row.map(OpenInvite::try_from).transpose()
}

/// Returns the invitations that can be accepted now, the newest first.
pub async fn list_open(db: &Db, now: DateTime<Utc>, limit: u32) -> Result<Vec<OpenInvite>, StoreError> {
    let rows: Vec<Readable<InviteRow>> =
        with_pool!(db, |pool| { sqlx::query_as(LIST_OPEN).bind(now).bind(i64::from(limit)).fetch_all(pool).await? });
    let rows = keep_readable(rows, TABLE).into_iter();
    rows.filter_map(|row| ok_or_log(OpenInvite::try_from(row), TABLE).transpose()).collect()
}

/// Counts the invitations that can be accepted now.
pub async fn count_open(tx: &mut Tx, now: DateTime<Utc>) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT_OPEN).bind(now).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Uses the invitation with this hash for an account, and returns the role of it; `None` if it cannot be accepted.
pub async fn accept(
    tx: &mut Tx,
    hash: &[u8; 32],
    account: UserId,
    now: DateTime<Utc>,
) -> Result<Option<AccountRole>, StoreError> {
    let role: Option<String> = in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(USE).bind(hash.as_slice()).bind(now).bind(account.uuid());
        query.fetch_optional(conn).await?
    });
    role.map(|role| parse_word(role, TABLE, "role", account)).transpose()
}

/// Deletes an invitation that was not accepted. Returns false if there is no such invitation.
pub async fn delete_open(tx: &mut Tx, id: InviteId) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(DELETE_OPEN).bind(id.uuid()).execute(conn).await?.rows_affected()) > 0)
}

/// Deletes the invitations of an account that were not accepted.
pub async fn delete_open_of_maker(tx: &mut Tx, maker: UserId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_OPEN_OF_MAKER).bind(maker.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the invitations that expired before this time, accepted or not.
pub async fn delete_expired(tx: &mut Tx, before: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_EXPIRED).bind(before).execute(conn).await?;
    });
    Ok(())
}
