//! Accounts; for now the one local owner of a single-user server.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::db::Tx;
use crate::error::StoreError;
use turnleaf_domain::UserId;

sql! {
    INSERT_LOCAL_OWNER = "INSERT INTO users (id, name, is_local_owner, created_at) VALUES ($1, '', $2, $3) \
        ON CONFLICT DO NOTHING";
    LOCAL_OWNER = "SELECT id FROM users WHERE is_local_owner = $1";
}

/// Returns the owner of everything on a server without accounts; creates it with this id if there is none yet.
pub async fn ensure_local_owner(tx: &mut Tx, id: UserId, now: DateTime<Utc>) -> Result<UserId, StoreError> {
    let owner: Uuid = in_tx!(tx, |conn| {
        sqlx::query(INSERT_LOCAL_OWNER).bind(id.uuid()).bind(true).bind(now).execute(&mut *conn).await?;
        sqlx::query_scalar(LOCAL_OWNER).bind(true).fetch_one(&mut *conn).await?
    });
    Ok(owner.into())
}
