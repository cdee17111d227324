//! Sign-ins to tool servers: the tokens of a person for a server, the clients at authorization servers, and the
//! sign-ins that have begun. Everything secret is stored encrypted; the store does not decrypt it. All rows go with
//! their server.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_readable};
use crate::database::rows::inconsistent;
use turnleaf_domain::{ToolServerId, ToolSignInId, UserId};

sql! {
    FIND_TOKENS = "SELECT server_id, sealed_tokens, version FROM tool_tokens WHERE owner_id = $1 AND server_id = $2";
    LIST_TOKENS = "SELECT server_id FROM tool_tokens WHERE owner_id = $1 ORDER BY server_id";
    PUT_TOKENS = "INSERT INTO tool_tokens (owner_id, server_id, sealed_tokens, version, updated_at) \
        VALUES ($1, $2, $3, 1, $4) ON CONFLICT (server_id) DO UPDATE SET sealed_tokens = excluded.sealed_tokens, \
        version = tool_tokens.version + 1, updated_at = excluded.updated_at \
        WHERE tool_tokens.owner_id = excluded.owner_id RETURNING version";
    RENEW_TOKENS = "UPDATE tool_tokens SET sealed_tokens = $4, version = version + 1, updated_at = $5 \
        WHERE owner_id = $1 AND server_id = $2 AND version = $3";
    DELETE_TOKENS = "DELETE FROM tool_tokens WHERE owner_id = $1 AND server_id = $2";
    DELETE_VERSION = "DELETE FROM tool_tokens WHERE owner_id = $1 AND server_id = $2 AND version = $3";
    FIND_CLIENT = "SELECT sealed_client FROM oauth_clients WHERE owner_id = $1 AND server_id = $2 AND issuer = $3";
    PUT_CLIENT = "INSERT INTO oauth_clients (owner_id, server_id, issuer, sealed_client, created_at) \
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (server_id, issuer) DO UPDATE \
        SET sealed_client = excluded.sealed_client, created_at = excluded.created_at \
        WHERE oauth_clients.owner_id = excluded.owner_id";
    DELETE_CLIENT = "DELETE FROM oauth_clients WHERE owner_id = $1 AND server_id = $2 AND issuer = $3";
    DELETE_CLIENTS = "DELETE FROM oauth_clients WHERE owner_id = $1 AND server_id = $2";
    /// A sign-in that begins replaces the earlier one of its server.
    BEGIN = "INSERT INTO tool_sign_ins (owner_id, server_id, id, state_hash, sealed_request, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (server_id) DO UPDATE SET id = excluded.id, \
        state_hash = excluded.state_hash, sealed_request = excluded.sealed_request, expires_at = excluded.expires_at \
        WHERE tool_sign_ins.owner_id = excluded.owner_id";
    IS_BEGUN = "SELECT id FROM tool_sign_ins WHERE owner_id = $1 AND server_id = $2";
    FIND = "SELECT id, server_id, state_hash, sealed_request, expires_at FROM tool_sign_ins \
        WHERE owner_id = $1 AND id = $2 AND expires_at > $3";
    TAKE = "DELETE FROM tool_sign_ins WHERE owner_id = $1 AND state_hash = $2 \
        RETURNING id, server_id, state_hash, sealed_request, expires_at";
    DELETE_BEGUN = "DELETE FROM tool_sign_ins WHERE owner_id = $1 AND server_id = $2";
    DELETE_EXPIRED = "DELETE FROM tool_sign_ins WHERE expires_at <= $1";
    DELETE_ALL_TOKENS = "DELETE FROM tool_tokens WHERE owner_id = $1";
    DELETE_ALL_CLIENTS = "DELETE FROM oauth_clients WHERE owner_id = $1";
    DELETE_ALL_BEGUN = "DELETE FROM tool_sign_ins WHERE owner_id = $1";
}

/// The tokens of a person for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTokens {
    pub server: ToolServerId,
    /// The tokens, encrypted.
    pub sealed: String,
    /// Rises with each change, for the compare-and-swap of [`renew_tokens`].
    pub version: i64,
}

/// A sign-in that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSignIn {
    pub id: ToolSignInId,
    pub server: ToolServerId,
    /// The hash of the state that names it in its answer.
    pub state_hash: String,
    /// The request, encrypted.
    pub sealed: String,
    pub expires_at: DateTime<Utc>,
}

type SignInRow = (Uuid, Uuid, String, Vec<u8>, DateTime<Utc>);

fn read_sign_in((id, server, state_hash, sealed, expires_at): SignInRow) -> Result<StoredSignIn, StoreError> {
    let sealed = sealed_text(sealed, "tool_sign_ins", "sealed_request", id)?;
    Ok(StoredSignIn { id: id.into(), server: server.into(), state_hash, sealed, expires_at })
}

fn sealed_text(bytes: Vec<u8>, table: &'static str, column: &'static str, id: Uuid) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|_| inconsistent(table, column, id, "it is not text"))
}

/// Returns the tokens for a server, if its owner has signed in.
pub async fn find_tokens(db: &Db, owner: UserId, server: ToolServerId) -> Result<Option<StoredTokens>, StoreError> {
    let row: Option<(Uuid, Vec<u8>, i64)> = with_pool!(db, |pool| {
        sqlx::query_as(FIND_TOKENS).bind(owner.uuid()).bind(server.uuid()).fetch_optional(pool).await?
    });
    row.map(|(server, sealed, version)| {
        let sealed = sealed_text(sealed, "tool_tokens", "sealed_tokens", server)?;
        Ok(StoredTokens { server: server.into(), sealed, version })
    })
    .transpose()
}

/// Returns the servers that the owner has signed in to.
pub async fn list_signed_in(db: &Db, owner: UserId) -> Result<Vec<ToolServerId>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(LIST_TOKENS).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, "tool_tokens").into_iter().map(|(server,)| server.into()).collect())
}

/// Stores the tokens of a sign-in, replacing earlier ones, and returns their version.
pub async fn put_tokens(
    tx: &mut Tx,
    owner: UserId,
    server: ToolServerId,
    sealed: &str,
    now: DateTime<Utc>,
) -> Result<i64, StoreError> {
    Ok(in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(PUT_TOKENS).bind(owner.uuid()).bind(server.uuid()).bind(sealed.as_bytes());
        query.bind(now).fetch_one(conn).await?
    }))
}

/// Replaces renewed tokens if they still have this version; returns whether they had.
pub async fn renew_tokens(
    tx: &mut Tx,
    owner: UserId,
    renewed: &StoredTokens,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(RENEW_TOKENS).bind(owner.uuid()).bind(renewed.server.uuid()).bind(renewed.version);
        query.bind(renewed.sealed.as_bytes()).bind(now).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Deletes tokens that were refused, if they still have this version; returns whether they had.
pub async fn delete_tokens_of_version(
    tx: &mut Tx,
    owner: UserId,
    server: ToolServerId,
    version: i64,
) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        let query = sqlx::query(DELETE_VERSION).bind(owner.uuid()).bind(server.uuid()).bind(version);
        query.execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}

/// Returns the encrypted client of a server at an issuer.
pub async fn find_client(
    db: &Db,
    owner: UserId,
    server: ToolServerId,
    issuer: &str,
) -> Result<Option<String>, StoreError> {
    let sealed: Option<Vec<u8>> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(FIND_CLIENT).bind(owner.uuid()).bind(server.uuid()).bind(issuer);
        query.fetch_optional(pool).await?
    });
    sealed.map(|sealed| sealed_text(sealed, "oauth_clients", "sealed_client", server.uuid())).transpose()
}

/// Stores the client of a server at an issuer, replacing an earlier one.
pub async fn put_client(
    tx: &mut Tx,
    owner: UserId,
    server: ToolServerId,
    (issuer, sealed): (&str, &str),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(PUT_CLIENT).bind(owner.uuid()).bind(server.uuid()).bind(issuer);
        query.bind(sealed.as_bytes()).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the client of a server at an issuer.
pub async fn delete_client(tx: &mut Tx, owner: UserId, server: ToolServerId, issuer: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_CLIENT).bind(owner.uuid()).bind(server.uuid()).bind(issuer).execute(conn).await?;
    });
    Ok(())
}

/// Begins a sign-in, and forgets the earlier one to the same server.
pub async fn begin(tx: &mut Tx, owner: UserId, begun: &StoredSignIn) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(BEGIN).bind(owner.uuid()).bind(begun.server.uuid()).bind(begun.id.uuid());
        let query = query.bind(begun.state_hash.as_str()).bind(begun.sealed.as_bytes()).bind(begun.expires_at);
        query.execute(conn).await?;
    });
    Ok(())
}

/// Returns whether a sign-in to a server has begun and was not answered.
pub async fn is_begun(db: &Db, owner: UserId, server: ToolServerId) -> Result<bool, StoreError> {
    let id: Option<Uuid> = with_pool!(db, |pool| {
        sqlx::query_scalar(IS_BEGUN).bind(owner.uuid()).bind(server.uuid()).fetch_optional(pool).await?
    });
    Ok(id.is_some())
}

/// Returns a sign-in that has begun and not expired at `now`.
pub async fn find(
    db: &Db,
    owner: UserId,
    id: ToolSignInId,
    now: DateTime<Utc>,
) -> Result<Option<StoredSignIn>, StoreError> {
    let row: Option<SignInRow> = with_pool!(db, |pool| {
        sqlx::query_as(FIND).bind(owner.uuid()).bind(id.uuid()).bind(now).fetch_optional(pool).await?
    });
    row.map(read_sign_in).transpose()
}

/// Deletes the sign-in with this state and returns it, so that each answer is used once. It may have expired.
pub async fn take(tx: &mut Tx, owner: UserId, state_hash: &str) -> Result<Option<StoredSignIn>, StoreError> {
    let row: Option<SignInRow> =
        in_tx!(tx, |conn| sqlx::query_as(TAKE).bind(owner.uuid()).bind(state_hash).fetch_optional(conn).await?);
    row.map(read_sign_in).transpose()
}

/// Deletes the sign-ins of all owners that have expired at `now`.
pub async fn delete_expired(tx: &mut Tx, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_EXPIRED).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the tokens, the clients and the begun sign-in of a server.
pub async fn delete_of_server(tx: &mut Tx, owner: UserId, server: ToolServerId) -> Result<(), StoreError> {
    for text in [DELETE_TOKENS, DELETE_CLIENTS, DELETE_BEGUN] {
        in_tx!(&mut *tx, |conn| {
            sqlx::query(text).bind(owner.uuid()).bind(server.uuid()).execute(conn).await?;
        });
    }
    Ok(())
}

/// Deletes the tokens, the clients and the begun sign-ins of an owner.
pub async fn delete_of_owner(tx: &mut Tx, owner: UserId) -> Result<(), StoreError> {
    for text in [DELETE_ALL_TOKENS, DELETE_ALL_CLIENTS, DELETE_ALL_BEGUN] {
        in_tx!(&mut *tx, |conn| {
            sqlx::query(text).bind(owner.uuid()).execute(conn).await?;
        });
    }
    Ok(())
}
