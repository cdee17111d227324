//! Settings of a person: JSON values by key.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::types::Json;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::Lossy;
use turnleaf_domain::UserId;

sql! {
    FIND = "SELECT value FROM settings WHERE owner_id = $1 AND key = $2";
    PUT = "INSERT INTO settings (owner_id, key, value, updated_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (owner_id, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    /// Changes no value, but locks the row until the transaction ends, and creates it if there is none.
    HOLD = "INSERT INTO settings (owner_id, key, value, updated_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (owner_id, key) DO UPDATE SET updated_at = settings.updated_at RETURNING value";
}

const TABLE: &str = "settings";

/// Returns one setting. Null counts as unset, and so does an unreadable value.
pub async fn find(db: &Db, owner: UserId, key: &str) -> Result<Option<Value>, StoreError> {
    let value: Option<Lossy<Json<Value>>> =
        with_pool!(db, |pool| sqlx::query_scalar(FIND).bind(owner.uuid()).bind(key).fetch_optional(pool).await?);
    Ok(value
        .map(|value| value.unwrap_or_log(TABLE, "value", owner.uuid(), Json::default).0)
        .filter(|value| !value.is_null()))
}

/// Sets one setting unconditionally.
pub async fn put(tx: &mut Tx, owner: UserId, key: &str, value: &Value, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(PUT).bind(owner.uuid()).bind(key).bind(Json(value)).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Locks one setting until the transaction ends, and returns it, for a read-modify-write. Null if it was never set.
pub async fn lock_for_update(tx: &mut Tx, owner: UserId, key: &str, now: DateTime<Utc>) -> Result<Value, StoreError> {
    let value: Lossy<Json<Value>> = in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(HOLD).bind(owner.uuid()).bind(key).bind(Json(Value::Null)).bind(now);
        query.fetch_one(conn).await?
    });
    Ok(value.unwrap_or_log(TABLE, "value", owner.uuid(), Json::default).0)
}
