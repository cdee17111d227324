//! Idempotency keys of create requests: a repeated request creates nothing again. Requests that created an exchange
//! are also known from that, for as long as it exists.

use chrono::{DateTime, Utc};

use crate::db::{Db, Tx};
use crate::error::StoreError;
use turnleaf_domain::UserId;

sql! {
    CLAIM = "INSERT INTO requests (owner_id, client_request_id, request_hash, made_id, created_at) \
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    FIND = "SELECT request_hash, made_id FROM requests WHERE owner_id = $1 AND client_request_id = $2";
    FORGET = "DELETE FROM requests WHERE created_at < $1";
}

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
    in_tx!(tx, |conn| {
        let claimed = sqlx::query(CLAIM)
            .bind(owner.uuid())
            .bind(&request.client_request_id)
            .bind(&request.hash)
            .bind(&request.created_id)
            .bind(now)
            .execute(&mut *conn)
            .await?
            .rows_affected();
        if claimed == 1 {
            return Ok(None);
        }
        let (hash, created_id): (Vec<u8>, String) =
            sqlx::query_as(FIND).bind(owner.uuid()).bind(&request.client_request_id).fetch_one(&mut *conn).await?;
        Ok(Some(IdempotencyRecord { client_request_id: request.client_request_id.clone(), hash, created_id }))
    })
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
