//! The identities of people at identity providers, and at a proxy that names them. Each belongs to one account, and is
//! found by issuer and subject together.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{parse_word, to_unsigned};
use turnleaf_domain::{AccountRole, IdentityId, UserId};

const TABLE: &str = "identities";

sql! {
    FIND = "SELECT i.id, i.owner_id, u.name, u.disabled_at IS NOT NULL AS is_disabled \
        FROM identities i JOIN users u ON u.id = i.owner_id WHERE i.issuer = $1 AND i.subject = $2";
    /// The identity of an owner ($1) whose account is not disabled.
    FIND_VALID = "SELECT u.role, i.last_used_at FROM identities i JOIN users u ON u.id = i.owner_id \
        WHERE i.owner_id = $1 AND i.id = $2 AND u.disabled_at IS NULL";
    INSERT = "INSERT INTO identities (id, owner_id, issuer, subject, created_at, last_used_at) \
        VALUES ($2, $1, $3, $4, $5, $5) ON CONFLICT DO NOTHING";
    RECORD_USE = "UPDATE identities SET email = $3, last_used_at = $4 WHERE owner_id = $1 AND id = $2";
    TOUCH = "UPDATE identities SET last_used_at = $3 WHERE owner_id = $1 AND id = $2 AND last_used_at < $3";
    LIST = "SELECT id, issuer, email, created_at, last_used_at FROM identities WHERE owner_id = $1 ORDER BY id";
    KEYS = "SELECT issuer, subject FROM identities WHERE owner_id = $1 AND issuer <> $2 ORDER BY id";
    COUNT = "SELECT COUNT(*) FROM identities WHERE owner_id = $1 AND issuer <> $2";
    COUNT_OF_ISSUER = "SELECT COUNT(*) FROM identities WHERE owner_id = $1 AND issuer = $2";
    DELETE = "DELETE FROM identities WHERE owner_id = $1 AND id = $2 RETURNING issuer";
    DELETE_ALL = "DELETE FROM identities WHERE owner_id = $1";
}

/// The key of an identity: its issuer, and its subject there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdentityKey<'a> {
    pub issuer: &'a str,
    pub subject: &'a str,
}

/// An identity that was found, with its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundIdentity {
    pub id: IdentityId,
    pub owner: UserId,
    /// The name of the account.
    pub name: String,
    pub is_disabled: bool,
}

/// An identity whose account is not disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidIdentity {
    /// The role of the account.
    pub role: AccountRole,
    pub last_used_at: DateTime<Utc>,
}

/// An identity as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedIdentity {
    pub id: IdentityId,
    pub issuer: String,
    /// The address from its last use, only to be shown.
    pub email: Option<String>,
    pub created_at: DateTime<Utc>,
    pub last_used_at: DateTime<Utc>,
}

struct FoundIdentityRow {
    id: Uuid,
    owner_id: Uuid,
    name: Lossy<String>,
    is_disabled: bool,
}
from_row!(FoundIdentityRow { id, owner_id, name, is_disabled });

struct IdentityRow {
    id: Uuid,
    issuer: Lossy<String>,
    email: Lossy<Option<String>>,
    created_at: Lossy<DateTime<Utc>>,
    last_used_at: Lossy<DateTime<Utc>>,
}
from_row!(IdentityRow { id, issuer, email, created_at, last_used_at });

impl From<IdentityRow> for ListedIdentity {
    fn from(row: IdentityRow) -> Self {
        let id = row.id;
        Self {
            id: id.into(),
            issuer: row.issuer.unwrap_or_default(TABLE, "issuer", id),
            email: row.email.unwrap_or_default(TABLE, "email", id),
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", id),
            last_used_at: row.last_used_at.unwrap_or_default(TABLE, "last_used_at", id),
        }
    }
}

/// Returns the identity with its account, which may be disabled.
pub async fn find(tx: &mut Tx, key: IdentityKey<'_>) -> Result<Option<FoundIdentity>, StoreError> {
    let row: Option<FoundIdentityRow> =
        in_tx!(tx, |conn| sqlx::query_as(FIND).bind(key.issuer).bind(key.subject).fetch_optional(conn).await?);
    Ok(row.map(|row| FoundIdentity {
        id: row.id.into(),
        owner: row.owner_id.into(),
        name: row.name.unwrap_or_default("users", "name", row.owner_id),
        is_disabled: row.is_disabled,
    }))
}

/// Returns an identity of an account, unless it was removed or the account is disabled.
pub async fn find_valid(db: &Db, owner: UserId, id: IdentityId) -> Result<Option<ValidIdentity>, StoreError> {
    let row: Option<(String, DateTime<Utc>)> = with_pool!(db, |pool| {
        sqlx::query_as(FIND_VALID).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await?
    });
    row.map(|(role, last_used_at)| Ok(ValidIdentity { role: parse_word(role, "users", "role", owner)?, last_used_at }))
        .transpose()
}

/// Adds an identity to an account. Returns false if it belongs to an account already.
pub async fn insert(
    tx: &mut Tx,
    owner: UserId,
    (id, key): (IdentityId, IdentityKey<'_>),
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let made = in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(owner.uuid()).bind(id.uuid()).bind(key.issuer).bind(key.subject);
        query.bind(now).execute(conn).await?.rows_affected()
    });
    Ok(made > 0)
}

/// Stores the address of an identity and the time from its present use. Its row stays locked until the transaction ends.
pub async fn record_use(
    tx: &mut Tx,
    owner: UserId,
    id: IdentityId,
    email: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(RECORD_USE).bind(owner.uuid()).bind(id.uuid()).bind(email);
        query.bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Keeps the time of the last use.
pub async fn touch(tx: &mut Tx, owner: UserId, id: IdentityId, used_at: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(TOUCH).bind(owner.uuid()).bind(id.uuid()).bind(used_at).execute(conn).await?;
    });
    Ok(())
}

/// Returns the identities of an account in the order in which they were added.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<ListedIdentity>, StoreError> {
    let rows: Vec<Readable<IdentityRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedIdentity::from).collect())
}

/// Returns the issuers and subjects of the identities of an account that are not of this issuer.
pub async fn keys(tx: &mut Tx, owner: UserId, issuer: &str) -> Result<Vec<(String, String)>, StoreError> {
    let rows: Vec<Readable<(String, String)>> =
        in_tx!(tx, |conn| sqlx::query_as(KEYS).bind(owner.uuid()).bind(issuer).fetch_all(conn).await?);
    Ok(keep_readable(rows, TABLE))
}

/// Counts the identities of an account that are not of this issuer.
pub async fn count_of_others(tx: &mut Tx, owner: UserId, issuer: &str) -> Result<u64, StoreError> {
    count(tx, COUNT, owner, issuer).await
}

/// Counts the identities of an account that are of this issuer.
pub async fn count_of_issuer(tx: &mut Tx, owner: UserId, issuer: &str) -> Result<u64, StoreError> {
    count(tx, COUNT_OF_ISSUER, owner, issuer).await
}

async fn count(tx: &mut Tx, text: &'static str, owner: UserId, issuer: &str) -> Result<u64, StoreError> {
    let count: i64 =
        in_tx!(tx, |conn| sqlx::query_scalar(text).bind(owner.uuid()).bind(issuer).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Removes an identity from an account, and returns its issuer; `None` if there is no such identity.
pub async fn delete(tx: &mut Tx, owner: UserId, id: IdentityId) -> Result<Option<String>, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_scalar(DELETE).bind(owner.uuid()).bind(id.uuid()).fetch_optional(conn).await?))
}

/// Removes all identities from an account.
pub async fn delete_all(tx: &mut Tx, owner: UserId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_ALL).bind(owner.uuid()).execute(conn).await?;
    });
    Ok(())
}
