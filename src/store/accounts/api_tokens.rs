//! API tokens: the credentials of programs. Only their hashes are stored.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{parse_word, to_unsigned};
use turnleaf_domain::{AccountRole, ApiTokenId, TokenScopes, UserId};

const TABLE: &str = "api_tokens";

/// The tokens of an owner ($1) that were not ended by a change of the account.
macro_rules! tokens_of_owner {
    ($fits_and_order:literal) => {
        concat!(
            "SELECT t.id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at \
                FROM api_tokens t JOIN users u ON u.id = t.owner_id \
                WHERE t.owner_id = $1 AND t.auth_rev = u.auth_rev",
            $fits_and_order
        )
    };
}

sql! {
    INSERT = "INSERT INTO api_tokens (id, owner_id, hash, auth_rev, name, scopes, created_at, expires_at) \
        SELECT $2, u.id, $3, u.auth_rev, $4, $5, $6, $7 FROM users u WHERE u.id = $1 AND u.disabled_at IS NULL";
    /// The token of this hash ($1) if it is valid now ($2).
    FIND_VALID = "SELECT t.id, t.owner_id, u.role, t.scopes, t.expires_at, t.last_used_at \
        FROM api_tokens t JOIN users u ON u.id = t.owner_id \
        WHERE t.hash = $1 AND t.auth_rev = u.auth_rev AND u.disabled_at IS NULL AND t.expires_at > $2";
    FIND = tokens_of_owner!(" AND t.id = $2");
    LIST = tokens_of_owner!(" ORDER BY t.id DESC");
    COUNT = "SELECT COUNT(*) FROM api_tokens WHERE owner_id = $1";
    TOUCH = "UPDATE api_tokens SET last_used_at = $3 WHERE owner_id = $1 AND id = $2 \
        AND (last_used_at IS NULL OR last_used_at < $3)";
    DELETE = "DELETE FROM api_tokens WHERE owner_id = $1 AND id = $2";
    /// Those that are not valid any more, of one owner.
    DELETE_ENDED = "DELETE FROM api_tokens WHERE owner_id = $1 AND (expires_at <= $2 \
        OR auth_rev <> (SELECT u.auth_rev FROM users u WHERE u.id = $1))";
    DELETE_EXPIRED = "DELETE FROM api_tokens WHERE expires_at <= $1";
}

/// A token to store.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub id: ApiTokenId,
    /// The SHA-256 of the token.
    pub hash: [u8; 32],
    pub name: String,
    pub scopes: TokenScopes,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

/// A token that is valid, with its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidToken {
    pub id: ApiTokenId,
    pub owner: UserId,
    pub role: AccountRole,
    pub scopes: TokenScopes,
    pub expires_at: DateTime<Utc>,
    pub last_used_at: Option<DateTime<Utc>>,
}

type ValidTokenRow = (Uuid, Uuid, String, String, DateTime<Utc>, Lossy<Option<DateTime<Utc>>>);

/// A token as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedToken {
    pub id: ApiTokenId,
    pub name: String,
    pub scopes: TokenScopes,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    /// The last request with it, to a few minutes.
    pub last_used_at: Option<DateTime<Utc>>,
}

struct TokenRow {
    id: Uuid,
    name: Lossy<String>,
    scopes: Lossy<String>,
    created_at: Lossy<DateTime<Utc>>,
    expires_at: Lossy<DateTime<Utc>>,
    last_used_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(TokenRow { id, name, scopes, created_at, expires_at, last_used_at });

impl From<TokenRow> for ListedToken {
    fn from(row: TokenRow) -> Self {
        let id = row.id;
        Self {
            id: id.into(),
            name: row.name.unwrap_or_default(TABLE, "name", id),
            scopes: TokenScopes::from_words(&row.scopes.unwrap_or_default(TABLE, "scopes", id)),
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", id),
            expires_at: row.expires_at.unwrap_or_default(TABLE, "expires_at", id),
            last_used_at: row.last_used_at.unwrap_or_default(TABLE, "last_used_at", id),
        }
    }
}

/// Stores a token of an account, with the present number of its changes. Returns false if the account does not exist
/// or is disabled.
pub async fn insert(tx: &mut Tx, owner: UserId, new: &NewToken) -> Result<bool, StoreError> {
    let made = in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(owner.uuid())
            .bind(new.id.uuid())
            .bind(new.hash.as_slice())
            .bind(new.name.as_str())
            .bind(new.scopes.to_words())
            .bind(new.created_at)
            .bind(new.expires_at)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(made > 0)
}

/// Returns the token with this hash if it is valid: it has not expired, and its account is enabled and was not signed
/// out.
pub async fn find_valid(db: &Db, hash: &[u8; 32], now: DateTime<Utc>) -> Result<Option<ValidToken>, StoreError> {
    let row: Option<ValidTokenRow> = with_pool!(db, |pool| {
        sqlx::query_as(FIND_VALID).bind(hash.as_slice()).bind(now).fetch_optional(pool).await?
    });
    row.map(|(id, owner, role, scopes, expires_at, last_used_at)| {
        let role = parse_word(role, "users", "role", owner)?;
        let last_used_at = last_used_at.unwrap_or_default(TABLE, "last_used_at", id);
        let scopes = TokenScopes::from_words(&scopes);
        Ok(ValidToken { id: id.into(), owner: owner.into(), role, scopes, expires_at, last_used_at })
    })
    .transpose()
}

/// Returns a token of an account. It may have expired.
pub async fn find(db: &Db, owner: UserId, id: ApiTokenId) -> Result<Option<ListedToken>, StoreError> {
    let row: Option<TokenRow> =
        with_pool!(db, |pool| { sqlx::query_as(FIND).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await? });
    Ok(row.map(ListedToken::from))
}

/// Returns the tokens of an account, the newest first, with those that have expired.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<ListedToken>, StoreError> {
    let rows: Vec<Readable<TokenRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedToken::from).collect())
}

/// Counts the tokens of an account.
pub async fn count(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(owner.uuid()).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Records that a token was used.
pub async fn touch(tx: &mut Tx, owner: UserId, id: ApiTokenId, used_at: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(TOUCH).bind(owner.uuid()).bind(id.uuid()).bind(used_at).execute(conn).await?;
    });
    Ok(())
}

/// Deletes a token of an account. Returns false if there is no such token.
pub async fn delete(tx: &mut Tx, owner: UserId, id: ApiTokenId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}

/// Deletes the tokens of an account that have expired or were ended by a change of the account.
pub async fn delete_ended(tx: &mut Tx, owner: UserId, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_ENDED).bind(owner.uuid()).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the tokens of all accounts that expired before this time.
pub async fn delete_expired(tx: &mut Tx, before: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_EXPIRED).bind(before).execute(conn).await?;
    });
    Ok(())
}
