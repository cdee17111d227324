//! Requests that made something, by the name that their client gave them, so that a repeated one makes nothing again.
//! What made an exchange is known from that, too, for as long as it is there.

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

/// A request as it is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// What the client called it.
    pub client_request_id: String,
    /// The hash of what it asked.
    pub hash: Vec<u8>,
    /// The id of what it makes, in the spelling of its kind.
    pub created_id: String,
}

/// Takes the request's name for what this transaction is about to make. `Some` is the request that had it before:
/// then nothing may be made. On PostgreSQL this waits for a transaction that took the same name and is not over.
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

/// What took this name, of this owner, as far as it is remembered.
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

/// Forgets what was asked before this moment, of all owners.
pub async fn delete_old(tx: &mut Tx, before: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(FORGET).bind(before).execute(conn).await?;
    });
    Ok(())
}
