//! Accounts. Until there is a sign-in, the server makes only the local owner.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::{Readable, keep_readable};
use turnleaf_domain::UserId;

sql! {
    INSERT_LOCAL_OWNER = "INSERT INTO users (id, name, is_local_owner, created_at) VALUES ($1, '', $2, $3) \
        ON CONFLICT DO NOTHING";
    LOCAL_OWNER = "SELECT id FROM users WHERE is_local_owner = $1";
    LIST = "SELECT id FROM users ORDER BY id";
}

/// Returns the owner of everything on a server without accounts; creates it with this id if there is none yet.
pub async fn ensure_local_owner(tx: &mut Tx, id: UserId, now: DateTime<Utc>) -> Result<UserId, StoreError> {
    let owner: Uuid = in_tx!(tx, |conn| {
        sqlx::query(INSERT_LOCAL_OWNER).bind(id.uuid()).bind(true).bind(now).execute(&mut *conn).await?;
        sqlx::query_scalar(LOCAL_OWNER).bind(true).fetch_one(&mut *conn).await?
    });
    Ok(owner.into())
}

/// Returns all users.
pub async fn list(db: &Db) -> Result<Vec<UserId>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> = with_pool!(db, |pool| sqlx::query_as(LIST).fetch_all(pool).await?);
    Ok(keep_readable(rows, "users").into_iter().map(|(id,)| id.into()).collect())
}
