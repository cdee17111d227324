//! Requests that made something, by the name that their client gave them, so that a repeated one makes nothing again.
//! Those that made an exchange are known from it.

use chrono::{DateTime, Utc};

use crate::domain::UserId;
use crate::server::store::db::Tx;
use crate::server::store::error::StoreError;

sql! {
    CLAIM = "INSERT INTO requests (owner_id, client_request_id, request_hash, made_id, created_at) \
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    FIND = "SELECT request_hash, made_id FROM requests WHERE owner_id = $1 AND client_request_id = $2";
    FORGET = "DELETE FROM requests WHERE created_at < $1";
}

/// A request as it is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What the client called it.
    pub client_request_id: String,
    /// The hash of what it asked.
    pub hash: Vec<u8>,
    /// The id of what it makes, in the spelling of its kind.
    pub made_id: String,
}

/// Takes the request's name for what this transaction is about to make. `Some` is the request that had it before:
/// then nothing may be made. On PostgreSQL this waits for a transaction that took the same name and is not over.
pub async fn claim(
    tx: &mut Tx,
    owner: UserId,
    request: &Request,
    now: DateTime<Utc>,
) -> Result<Option<Request>, StoreError> {
    in_tx!(tx, |conn| {
        let claimed = sqlx::query(CLAIM)
            .bind(owner.uuid())
            .bind(&request.client_request_id)
            .bind(&request.hash)
            .bind(&request.made_id)
            .bind(now)
            .execute(&mut *conn)
            .await?
            .rows_affected();
        if claimed == 1 {
            return Ok(None);
        }
        let (hash, made_id): (Vec<u8>, String) =
            sqlx::query_as(FIND).bind(owner.uuid()).bind(&request.client_request_id).fetch_one(&mut *conn).await?;
        Ok(Some(Request { client_request_id: request.client_request_id.clone(), hash, made_id }))
    })
}

/// Forgets what was asked before this moment, of all owners.
pub async fn forget(tx: &mut Tx, before: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(FORGET).bind(before).execute(conn).await?;
    });
    Ok(())
}
