//! Sessions of browsers that are signed in. Of the secret in the cookie only the hash is stored.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{parse_word, to_word};
use turnleaf_domain::{AccountRole, SessionId, SessionOrigin, UserId};

const TABLE: &str = "sessions";

sql! {
    INSERT = "INSERT INTO sessions (id, owner_id, hash, auth_rev, created_at, seen_at, expires_at, ip, agent, \
        password_at, began_with) \
        SELECT $2, u.id, $3, u.auth_rev, $4, $4, $5, $6, $7, $8, $9 FROM users u \
        WHERE u.id = $1 AND u.disabled_at IS NULL";
    /// The session of this hash ($1) if it is valid now ($2) and was used since ($3).
    FIND_VALID = "SELECT s.id, s.owner_id, u.role, s.seen_at, s.expires_at, s.began_with, \
        u.password IS NOT NULL AS has_password, u.password_expires_at IS NOT NULL AS has_made_password, \
        EXISTS (SELECT 1 FROM second_factors f WHERE f.owner_id = u.id AND f.confirmed_at IS NOT NULL) \
        OR EXISTS (SELECT 1 FROM passkeys p WHERE p.owner_id = u.id) AS has_second_factor \
        FROM sessions s JOIN users u ON u.id = s.owner_id \
        WHERE s.hash = $1 AND s.auth_rev = u.auth_rev AND u.disabled_at IS NULL AND s.expires_at > $2 \
        AND s.seen_at > $3";
    LIST = "SELECT s.id, s.created_at, s.seen_at, s.expires_at, s.ip, s.agent \
        FROM sessions s JOIN users u ON u.id = s.owner_id \
        WHERE s.owner_id = $1 AND s.auth_rev = u.auth_rev AND s.expires_at > $2 AND s.seen_at > $3 \
        ORDER BY s.seen_at DESC, s.id DESC";
    /// The addresses at which the valid sessions of the account with this name ($1) began.
    LIST_ADDRESSES = "SELECT s.ip FROM sessions s JOIN users u ON u.id = s.owner_id \
        WHERE u.name_key = $1 AND u.disabled_at IS NULL AND s.auth_rev = u.auth_rev AND s.expires_at > $2 \
        AND s.seen_at > $3 AND s.ip IS NOT NULL";
    TOUCH = "UPDATE sessions SET seen_at = $3 WHERE owner_id = $1 AND id = $2 AND seen_at < $3";
    PASSWORD_AT = "SELECT password_at FROM sessions WHERE owner_id = $1 AND id = $2";
    NOTE_PASSWORD = "UPDATE sessions SET password_at = $3 WHERE owner_id = $1 AND id = $2";
    RENEW = "UPDATE sessions SET hash = $3 WHERE owner_id = $1 AND id = $2";
    DELETE = "DELETE FROM sessions WHERE owner_id = $1 AND id = $2";
    /// Whoever has the secret of this hash has the session.
    DELETE_BY_HASH = "DELETE FROM sessions WHERE hash = $1";
    DELETE_OTHERS = "DELETE FROM sessions WHERE owner_id = $1 AND id <> $2";
    DELETE_ALL = "DELETE FROM sessions WHERE owner_id = $1";
    /// Those of an owner that were used least recently, beyond so many ($2).
    DELETE_SURPLUS = "DELETE FROM sessions WHERE owner_id = $1 AND id NOT IN \
        (SELECT k.id FROM sessions k WHERE k.owner_id = $1 ORDER BY k.seen_at DESC, k.id DESC LIMIT $2)";
    DELETE_EXPIRED = "DELETE FROM sessions WHERE expires_at <= $1 OR seen_at <= $2";
}

/// A session to store.
#[derive(Debug, Clone)]
pub struct NewSession {
    pub id: SessionId,
    /// The SHA-256 of the secret in the cookie.
    pub hash: [u8; 32],
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub ip: Option<String>,
    pub agent: Option<String>,
    /// The time at which the password was entered, or its person authenticated at an identity provider, if that is known.
    pub password_at: Option<DateTime<Utc>>,
    pub began_with: SessionOrigin,
}

/// A session that is valid, with its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidSession {
    pub id: SessionId,
    pub owner: UserId,
    pub role: AccountRole,
    pub seen_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub began_with: SessionOrigin,
    pub has_password: bool,
    /// The password was made on the command line, and its person has not changed it yet.
    pub has_made_password: bool,
    /// The account has an authenticator app or a passkey.
    pub has_second_factor: bool,
}

struct ValidSessionRow {
    id: Uuid,
    owner_id: Uuid,
    role: String,
    seen_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    began_with: String,
    has_password: bool,
    has_made_password: bool,
    has_second_factor: bool,
}
from_row!(ValidSessionRow {
    id,
    owner_id,
    role,
    seen_at,
    expires_at,
    began_with,
    has_password,
    has_made_password,
    has_second_factor
});

impl TryFrom<ValidSessionRow> for ValidSession {
    type Error = StoreError;

    /// A value that decides about access is never replaced by a guess.
    fn try_from(row: ValidSessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            owner: row.owner_id.into(),
            role: parse_word(row.role, "users", "role", row.owner_id)?,
            seen_at: row.seen_at,
            expires_at: row.expires_at,
            began_with: parse_word(row.began_with, TABLE, "began_with", row.id)?,
            has_password: row.has_password,
            has_made_password: row.has_made_password,
            has_second_factor: row.has_second_factor,
        })
    }
}

/// A session as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    pub id: SessionId,
    pub created_at: DateTime<Utc>,
    pub seen_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub ip: Option<String>,
    /// The browser's name for itself.
    pub agent: Option<String>,
}

struct SessionRow {
    id: Uuid,
    created_at: Lossy<DateTime<Utc>>,
    seen_at: Lossy<DateTime<Utc>>,
    expires_at: Lossy<DateTime<Utc>>,
    ip: Lossy<Option<String>>,
    agent: Lossy<Option<String>>,
}
from_row!(SessionRow { id, created_at, seen_at, expires_at, ip, agent });

impl From<SessionRow> for ListedSession {
    fn from(row: SessionRow) -> Self {
        let id = row.id;
        Self {
            id: id.into(),
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", id),
            seen_at: row.seen_at.unwrap_or_default(TABLE, "seen_at", id),
            expires_at: row.expires_at.unwrap_or_default(TABLE, "expires_at", id),
            ip: row.ip.unwrap_or_default(TABLE, "ip", id),
            agent: row.agent.unwrap_or_default(TABLE, "agent", id),
        }
    }
}

/// Stores a session of an account, with the present number of its changes. Returns false if the account does not
/// exist or is disabled.
pub async fn insert(tx: &mut Tx, owner: UserId, new: &NewSession) -> Result<bool, StoreError> {
    let made = in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(owner.uuid())
            .bind(new.id.uuid())
            .bind(new.hash.as_slice())
            .bind(new.created_at)
            .bind(new.expires_at)
            .bind(new.ip.as_deref())
            .bind(new.agent.as_deref())
            .bind(new.password_at)
            .bind(to_word(new.began_with))
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(made > 0)
}

/// Returns the session with this hash if it is valid: it has not expired, was used since `used_since`, and its account
/// is enabled and was not signed out.
pub async fn find_valid(
    db: &Db,
    hash: &[u8; 32],
    now: DateTime<Utc>,
    used_since: DateTime<Utc>,
) -> Result<Option<ValidSession>, StoreError> {
    let row: Option<ValidSessionRow> = with_pool!(db, |pool| {
        let query = sqlx::query_as(FIND_VALID).bind(hash.as_slice()).bind(now).bind(used_since);
        query.fetch_optional(pool).await?
    });
    row.map(ValidSession::try_from).transpose()
}

/// Returns the valid sessions of an account, the last used first.
pub async fn list(
    db: &Db,
    owner: UserId,
    now: DateTime<Utc>,
    used_since: DateTime<Utc>,
) -> Result<Vec<ListedSession>, StoreError> {
    let rows: Vec<Readable<SessionRow>> = with_pool!(db, |pool| {
        sqlx::query_as(LIST).bind(owner.uuid()).bind(now).bind(used_since).fetch_all(pool).await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedSession::from).collect())
}

/// Returns the addresses at which the valid sessions of an account began. The account is the one whose name is compared
/// as this key.
pub async fn list_addresses(
    db: &Db,
    key: &str,
    now: DateTime<Utc>,
    used_since: DateTime<Utc>,
) -> Result<Vec<String>, StoreError> {
    let rows: Vec<Readable<(String,)>> = with_pool!(db, |pool| {
        sqlx::query_as(LIST_ADDRESSES).bind(key).bind(now).bind(used_since).fetch_all(pool).await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(|(ip,)| ip).collect())
}

/// Records that a session was used.
pub async fn touch(tx: &mut Tx, owner: UserId, id: SessionId, used_at: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(TOUCH).bind(owner.uuid()).bind(id.uuid()).bind(used_at).execute(conn).await?;
    });
    Ok(())
}

/// Returns when the password was entered last in a session; an unreadable time counts as never.
pub async fn password_at(db: &Db, owner: UserId, id: SessionId) -> Result<Option<DateTime<Utc>>, StoreError> {
    let row: Option<(Lossy<Option<DateTime<Utc>>>,)> = with_pool!(db, |pool| {
        sqlx::query_as(PASSWORD_AT).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await?
    });
    Ok(row.and_then(|(at,)| at.unwrap_or_default(TABLE, "password_at", id.uuid())))
}

/// Records that the password was entered in a session.
pub async fn note_password(tx: &mut Tx, owner: UserId, id: SessionId, at: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(NOTE_PASSWORD).bind(owner.uuid()).bind(id.uuid()).bind(at).execute(conn).await?;
    });
    Ok(())
}

/// Gives a session the secret of another hash. Returns false if there is no such session.
pub async fn renew(tx: &mut Tx, owner: UserId, id: SessionId, hash: &[u8; 32]) -> Result<bool, StoreError> {
    let renewed = in_tx!(tx, |conn| {
        let query = sqlx::query(RENEW).bind(owner.uuid()).bind(id.uuid()).bind(hash.as_slice());
        query.execute(conn).await?.rows_affected()
    });
    Ok(renewed > 0)
}

/// Deletes the session with this hash. Returns false if there is no such session.
pub async fn delete_by_hash(tx: &mut Tx, hash: &[u8; 32]) -> Result<bool, StoreError> {
    let deleted =
        in_tx!(tx, |conn| sqlx::query(DELETE_BY_HASH).bind(hash.as_slice()).execute(conn).await?.rows_affected());
    Ok(deleted > 0)
}

/// Deletes a session of an account. Returns false if there is no such session.
pub async fn delete(tx: &mut Tx, owner: UserId, id: SessionId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}

/// Deletes all sessions of an account except one; without one, all of them. Returns their number.
pub async fn delete_others(tx: &mut Tx, owner: UserId, kept: Option<SessionId>) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| match kept {
        Some(kept) => {
            let query = sqlx::query(DELETE_OTHERS).bind(owner.uuid()).bind(kept.uuid());
            query.execute(conn).await?.rows_affected()
        }
        None => sqlx::query(DELETE_ALL).bind(owner.uuid()).execute(conn).await?.rows_affected(),
    }))
}

/// Deletes the sessions of an account that were used least recently, beyond `most`.
pub async fn delete_surplus(tx: &mut Tx, owner: UserId, most: u32) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_SURPLUS).bind(owner.uuid()).bind(i64::from(most)).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the expired sessions of all accounts, and those not used since `used_since`.
pub async fn delete_expired(tx: &mut Tx, now: DateTime<Utc>, used_since: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_EXPIRED).bind(now).bind(used_since).execute(conn).await?;
    });
    Ok(())
}
