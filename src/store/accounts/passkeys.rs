//! Passkeys: the public keys with which people sign in, by the ids of their credentials. Nothing of them is secret.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::to_unsigned;
use turnleaf_domain::{PasskeyId, UserId};

const TABLE: &str = "passkeys";

sql! {
    INSERT = "INSERT INTO passkeys (id, owner_id, credential_id, name, public_key, algorithm, sign_count, is_backed_up, \
        created_at) VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
    FIND = "SELECT p.id, p.owner_id, p.name, p.public_key, p.algorithm, u.name AS account, \
        u.disabled_at IS NOT NULL AS is_disabled \
        FROM passkeys p JOIN users u ON u.id = p.owner_id WHERE p.credential_id = $1";
    /// Not with a count ($3) that is not above the last one: the authenticator may have been copied. One that does not
    /// count always sends 0; a 0 after a count would end the comparison for good.
    RECORD_USE = "UPDATE passkeys SET sign_count = $3, is_backed_up = $4, last_used_at = $5 \
        WHERE owner_id = $1 AND id = $2 AND (sign_count < $3 OR (sign_count = 0 AND $3 = 0))";
    LIST = "SELECT id, name, is_backed_up, created_at, last_used_at FROM passkeys WHERE owner_id = $1 ORDER BY id";
    CREDENTIAL_IDS = "SELECT credential_id FROM passkeys WHERE owner_id = $1 ORDER BY id";
    COUNT = "SELECT COUNT(*) FROM passkeys WHERE owner_id = $1";
    DELETE = "DELETE FROM passkeys WHERE owner_id = $1 AND id = $2 RETURNING name";
    DELETE_ALL = "DELETE FROM passkeys WHERE owner_id = $1";
}

/// A passkey to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPasskey {
    pub id: PasskeyId,
    /// The id by which its authenticator knows it.
    pub credential_id: Vec<u8>,
    pub name: String,
    /// The public key as COSE, and the number of its algorithm.
    pub public_key: Vec<u8>,
    pub algorithm: i64,
    pub sign_count: u32,
    pub is_backed_up: bool,
    pub created_at: DateTime<Utc>,
}

/// A passkey that was found, with its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPasskey {
    pub id: PasskeyId,
    pub owner: UserId,
    pub name: String,
    pub public_key: Vec<u8>,
    pub algorithm: i64,
    /// The name of the account.
    pub account: String,
    pub is_disabled: bool,
}

/// The state of an authenticator at a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasskeyUse {
    pub sign_count: u32,
    pub is_backed_up: bool,
    pub at: DateTime<Utc>,
}

/// A passkey as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPasskey {
    pub id: PasskeyId,
    pub name: String,
    /// True if it is copied to other devices of its person.
    pub is_backed_up: bool,
    pub created_at: DateTime<Utc>,
    pub last_used_at: Option<DateTime<Utc>>,
}

struct FoundPasskeyRow {
    id: Uuid,
    owner_id: Uuid,
    name: Lossy<String>,
    public_key: Vec<u8>,
    algorithm: i64,
    account: Lossy<String>,
    is_disabled: bool,
}
from_row!(FoundPasskeyRow { id, owner_id, name, public_key, algorithm, account, is_disabled });

struct PasskeyRow {
    id: Uuid,
    name: Lossy<String>,
    is_backed_up: Lossy<bool>,
    created_at: Lossy<DateTime<Utc>>,
    last_used_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(PasskeyRow { id, name, is_backed_up, created_at, last_used_at });

impl From<PasskeyRow> for ListedPasskey {
    fn from(row: PasskeyRow) -> Self {
        let id = row.id;
        Self {
            id: id.into(),
            name: row.name.unwrap_or_default(TABLE, "name", id),
            is_backed_up: row.is_backed_up.unwrap_or_default(TABLE, "is_backed_up", id),
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", id),
            last_used_at: row.last_used_at.unwrap_or_default(TABLE, "last_used_at", id),
        }
    }
}

/// Adds a passkey to an account. Returns false if its credential belongs to an account already.
pub async fn insert(tx: &mut Tx, owner: UserId, new: &NewPasskey) -> Result<bool, StoreError> {
    let made = in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(owner.uuid())
            .bind(new.id.uuid())
            .bind(new.credential_id.as_slice())
            .bind(new.name.as_str())
            .bind(new.public_key.as_slice())
            .bind(new.algorithm)
            .bind(i64::from(new.sign_count))
            .bind(new.is_backed_up)
            .bind(new.created_at)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(made > 0)
}

/// Returns the passkey of a credential with its account, which may be disabled.
pub async fn find(db: &Db, credential_id: &[u8]) -> Result<Option<FoundPasskey>, StoreError> {
    let row: Option<FoundPasskeyRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(credential_id).fetch_optional(pool).await?);
    Ok(row.map(|row| FoundPasskey {
        id: row.id.into(),
        owner: row.owner_id.into(),
        name: row.name.unwrap_or_default(TABLE, "name", row.id),
        public_key: row.public_key,
        algorithm: row.algorithm,
        account: row.account.unwrap_or_default("users", "name", row.owner_id),
        is_disabled: row.is_disabled,
    }))
}

/// Records a use. Returns false if the passkey was removed, or its count is not above the last one.
pub async fn record_use(tx: &mut Tx, owner: UserId, id: PasskeyId, used: PasskeyUse) -> Result<bool, StoreError> {
    let recorded = in_tx!(tx, |conn| {
        let query = sqlx::query(RECORD_USE).bind(owner.uuid()).bind(id.uuid()).bind(i64::from(used.sign_count));
        query.bind(used.is_backed_up).bind(used.at).execute(conn).await?.rows_affected()
    });
    Ok(recorded > 0)
}

/// Returns the passkeys of an account in the order in which they were added.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<ListedPasskey>, StoreError> {
    let rows: Vec<Readable<PasskeyRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedPasskey::from).collect())
}

/// Returns the ids of the credentials of an account.
pub async fn credential_ids(db: &Db, owner: UserId) -> Result<Vec<Vec<u8>>, StoreError> {
    let rows: Vec<Readable<(Vec<u8>,)>> =
        with_pool!(db, |pool| sqlx::query_as(CREDENTIAL_IDS).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(|(id,)| id).collect())
}

/// Counts the passkeys of an account.
pub async fn count(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(owner.uuid()).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Removes a passkey from an account, and returns its name; `None` if there is no such passkey.
pub async fn delete(tx: &mut Tx, owner: UserId, id: PasskeyId) -> Result<Option<String>, StoreError> {
    let row: Option<(Lossy<String>,)> =
        in_tx!(tx, |conn| sqlx::query_as(DELETE).bind(owner.uuid()).bind(id.uuid()).fetch_optional(conn).await?);
    Ok(row.map(|(name,)| name.unwrap_or_default(TABLE, "name", id.uuid())))
}

/// Removes all passkeys from an account.
pub async fn delete_all(tx: &mut Tx, owner: UserId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_ALL).bind(owner.uuid()).execute(conn).await?;
    });
    Ok(())
}
