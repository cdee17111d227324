//! Idempotency keys of create requests: a repeated request creates nothing again. Requests that created an exchange
//! are also known from that, for as long as it exists.

use chrono::{DateTime, Utc};

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use turnleaf_domain::UserId;

sql! {
    CLAIM = "INSERT INTO requests (owner_id, client_request_id, request_hash, made_id, created_at) \
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    /// Exchanges keep their key longer than this table.
    CLAIM_OF_EXCHANGE = "INSERT INTO requests (owner_id, client_request_id, request_hash, made_id, created_at) \
        SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS \
            (SELECT 1 FROM exchanges e WHERE e.owner_id = $1 AND e.client_request_id = $2) ON CONFLICT DO NOTHING";
    FIND = "SELECT request_hash, made_id FROM requests WHERE owner_id = $1 AND client_request_id = $2";
    FORGET = "DELETE FROM requests WHERE created_at < $1";
}

/// The attempts at a key that is taken when it is claimed and gone when it is read: [`delete_old`] forgot it between.
const CLAIM_ATTEMPTS: usize = 3;

/// A remembered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The idempotency key.
    pub client_request_id: String,
    /// The hash of the request.
    pub hash: Vec<u8>,
    /// The id of the created resource, as text.
    pub created_id: String,
}

/// Claims the idempotency key for the resource that this transaction is about to create. `Some` is the earlier
/// request with this key: then nothing may be created. On PostgreSQL this waits for an open transaction that claimed
/// the same key.
pub async fn claim(
    tx: &mut Tx,
    owner: UserId,
    request: &IdempotencyRecord,
    now: DateTime<Utc>,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    for _ in 0..CLAIM_ATTEMPTS {
        if insert(tx, CLAIM, owner, request, now).await? {
            return Ok(None);
        }
        let earlier: Option<(Vec<u8>, String)> = in_tx!(&mut *tx, |conn| {
            sqlx::query_as(FIND).bind(owner.uuid()).bind(&request.client_request_id).fetch_optional(conn).await?
        });
        if let Some((hash, created_id)) = earlier {
            let client_request_id = request.client_request_id.clone();
            return Ok(Some(IdempotencyRecord { client_request_id, hash, created_id }));
        }
    }
    Err(StoreError::Busy("an idempotency key is deleted and claimed by others all the time".into()))
}

/// Claims the idempotency key of an exchange that this transaction is about to create, if neither another request nor
/// a stored exchange has it; returns whether it does. Waits as [`claim`] does.
pub async fn claim_of_exchange(
    tx: &mut Tx,
    owner: UserId,
    request: &IdempotencyRecord,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    insert(tx, CLAIM_OF_EXCHANGE, owner, request, now).await
}

/// Returns whether the key was free.
async fn insert(
    tx: &mut Tx,
    text: &'static str,
    owner: UserId,
    request: &IdempotencyRecord,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| {
        let insert = sqlx::query(text).bind(owner.uuid()).bind(&request.client_request_id);
        let insert = insert.bind(&request.hash).bind(&request.created_id).bind(now);
        insert.execute(conn).await?.rows_affected() == 1
    }))
}

/// Returns the remembered request with this key, of this owner.
pub async fn find(db: &Db, owner: UserId, client_request_id: &str) -> Result<Option<IdempotencyRecord>, StoreError> {
    let found: Option<(Vec<u8>, String)> = with_pool!(db, |pool| {
        sqlx::query_as(FIND).bind(owner.uuid()).bind(client_request_id).fetch_optional(pool).await?
    });
    Ok(found.map(|(hash, made_id)| IdempotencyRecord {
        client_request_id: client_request_id.to_owned(),
        hash,
        created_id: made_id,
    }))
}

/// Deletes requests before this moment, of all owners.
pub async fn delete_old(tx: &mut Tx, before: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(FORGET).bind(before).execute(conn).await?;
    });
    Ok(())
}
