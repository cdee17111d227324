//! Settings of a person: JSON values by key.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::QueryBuilder;
use sqlx::types::Json;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::Lossy;
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
/// The owner, [`AMONG`] and a list of keys follow.
const FIND_SEVERAL: &str = "SELECT key, value FROM settings WHERE owner_id = ";
const AMONG: &str = " AND key IN (";

/// Returns one setting. Null counts as unset, and so does an unreadable value.
pub async fn find(db: &Db, owner: UserId, key: &str) -> Result<Option<Value>, StoreError> {
    let value: Option<Lossy<Json<Value>>> =
        with_pool!(db, |pool| sqlx::query_scalar(FIND).bind(owner.uuid()).bind(key).fetch_optional(pool).await?);
    Ok(value
        .map(|value| value.unwrap_or_log(TABLE, "value", owner.uuid(), Json::default).0)
        .filter(|value| !value.is_null()))
}

/// Returns several settings in the order of their keys, each as [`find`] does.
pub async fn find_several<const N: usize>(
    db: &Db,
    owner: UserId,
    keys: [&'static str; N],
) -> Result<[Option<Value>; N], StoreError> {
    let rows: Vec<(String, Lossy<Json<Value>>)> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(FIND_SEVERAL);
        query.push_bind(owner.uuid()).push(AMONG);
        let mut list = query.separated(", ");
        for key in keys {
            list.push_bind(key);
        }
        query.push(")");
        query.build_query_as().fetch_all(pool).await?
    });
    let mut values: HashMap<String, Value> = HashMap::with_capacity(N);
    for (key, value) in rows {
        values.insert(key, value.unwrap_or_log(TABLE, "value", owner.uuid(), Json::default).0);
    }
    Ok(keys.map(|key| values.remove(key).filter(|value| !value.is_null())))
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
