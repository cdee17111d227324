//! Settings of a person: JSON values by name.

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
    /// Changes nothing of what is set, but holds the row until the transaction ends, and makes it where there is none.
    HOLD = "INSERT INTO settings (owner_id, key, value, updated_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (owner_id, key) DO UPDATE SET updated_at = settings.updated_at RETURNING value";
}

const TABLE: &str = "settings";

/// One setting. Null, which stands for one that cannot be read, too, is none.
pub async fn find(db: &Db, owner: UserId, key: &str) -> Result<Option<Value>, StoreError> {
    let value: Option<Lossy<Json<Value>>> =
        with_pool!(db, |pool| sqlx::query_scalar(FIND).bind(owner.uuid()).bind(key).fetch_optional(pool).await?);
    Ok(value
        .map(|value| value.unwrap_or_log(TABLE, "value", owner.uuid(), Json::default).0)
        .filter(|value| !value.is_null()))
}

/// Sets one setting, whatever it was.
pub async fn put(tx: &mut Tx, owner: UserId, key: &str, value: &Value, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(PUT).bind(owner.uuid()).bind(key).bind(Json(value)).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Holds one setting until the transaction ends, and gives it: whoever changes a part of it holds it before reading. Null
/// where it was never set.
pub async fn lock_for_update(tx: &mut Tx, owner: UserId, key: &str, now: DateTime<Utc>) -> Result<Value, StoreError> {
    let value: Lossy<Json<Value>> = in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(HOLD).bind(owner.uuid()).bind(key).bind(Json(Value::Null)).bind(now);
        query.fetch_one(conn).await?
    });
    Ok(value.unwrap_or_log(TABLE, "value", owner.uuid(), Json::default).0)
}
