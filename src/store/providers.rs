//! Provider connections that people created in the settings. The API key is stored encrypted; the store does not
//! decrypt it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::{inconsistent, storable_text};
use turnleaf_domain::{ProviderId, UserId};

sql! {
    INSERT = "INSERT INTO providers (id, owner_id, slug, name, kind, base_url, sealed_key, settings, is_enabled, \
        created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    LIST = "SELECT id, owner_id, slug, name, kind, base_url, sealed_key, settings, is_enabled, created_at, updated_at \
        FROM providers WHERE owner_id = $1 ORDER BY created_at, id";
    FIND = "SELECT id, owner_id, slug, name, kind, base_url, sealed_key, settings, is_enabled, created_at, updated_at \
        FROM providers WHERE owner_id = $1 AND slug = $2";
    UPDATE = "UPDATE providers SET name = $3, kind = $4, base_url = $5, sealed_key = $6, settings = $7, \
        is_enabled = $8, updated_at = $9 WHERE owner_id = $1 AND id = $2";
    DELETE = "DELETE FROM providers WHERE owner_id = $1 AND id = $2";
}

/// A stored provider connection.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredProvider {
    pub id: ProviderId,
    pub owner_id: UserId,
    /// The name in locks. It never changes.
    pub slug: String,
    pub name: String,
    /// The API of the provider, by its name in configurations.
    pub kind: String,
    pub base_url: String,
    /// The API key and the values of extra headers, encrypted.
    pub sealed_key: Option<String>,
    pub settings: ProviderSettings,
    pub is_enabled: bool,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// Settings of a connection that are not secret and need no column of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderSettings {
    pub dialect: String,
    /// Models that are offered without querying the provider.
    pub models: Vec<String>,
    pub default_model: Option<String>,
    pub hidden_models: Vec<String>,
    pub local_network: bool,
    pub keeps_responses: bool,
    /// The retry policy, as far as it differs from the default.
    pub retries: Option<u32>,
    pub silence_seconds: Option<u32>,
    pub has_key: bool,
    /// The last characters of the key, by which its owner recognizes it.
    pub key_ends_in: Option<String>,
    /// Names of extra headers; their values are encrypted.
    pub header_names: Vec<String>,
}

struct ProviderRow {
    id: Uuid,
    owner_id: Uuid,
    slug: String,
    name: String,
    kind: String,
    base_url: Option<String>,
    sealed_key: Option<Vec<u8>>,
    settings: Json<ProviderSettings>,
    is_enabled: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}
from_row!(ProviderRow {
    id,
    owner_id,
    slug,
    name,
    kind,
    base_url,
    sealed_key,
    settings,
    is_enabled,
    created_at,
    updated_at,
});

impl TryFrom<ProviderRow> for StoredProvider {
    type Error = StoreError;

    fn try_from(row: ProviderRow) -> Result<Self, StoreError> {
        let sealed_key = row.sealed_key.map(String::from_utf8).transpose();
        Ok(Self {
            id: row.id.into(),
            owner_id: row.owner_id.into(),
            slug: row.slug,
            name: row.name,
            kind: row.kind,
            base_url: row.base_url.unwrap_or_default(),
            sealed_key: sealed_key.map_err(|_| inconsistent("providers", "sealed_key", row.id, "it is not text"))?,
            settings: row.settings.0,
            is_enabled: row.is_enabled,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// Stores a new connection.
///
/// # Errors
/// `NotUnique` when the owner has one with this slug.
pub async fn insert(tx: &mut Tx, provider: &StoredProvider) -> Result<(), StoreError> {
    let name = storable_text(&provider.name, "the name")?;
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(provider.id.uuid())
            .bind(provider.owner_id.uuid())
            .bind(&provider.slug)
            .bind(name)
            .bind(&provider.kind)
            .bind(&provider.base_url)
            .bind(provider.sealed_key.as_ref().map(String::as_bytes))
            .bind(Json(&provider.settings))
            .bind(provider.is_enabled)
            .bind(provider.created_at)
            .bind(provider.updated_at)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns the connections of an owner, oldest first.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<StoredProvider>, StoreError> {
    let rows: Vec<Readable<ProviderRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_decoded(keep_readable(rows, "providers").into_iter().map(StoredProvider::try_from), "providers"))
}

/// Returns the owner's connection with this slug.
pub async fn find(db: &Db, owner: UserId, slug: &str) -> Result<Option<StoredProvider>, StoreError> {
    let row: Option<ProviderRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(slug).fetch_optional(pool).await?);
    row.map(StoredProvider::try_from).transpose()
}

/// Updates a connection, except for its slug and its creation time. Returns false if the owner has none with this id.
pub async fn update(tx: &mut Tx, provider: &StoredProvider) -> Result<bool, StoreError> {
    let name = storable_text(&provider.name, "the name")?;
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(UPDATE)
            .bind(provider.owner_id.uuid())
            .bind(provider.id.uuid())
            .bind(name)
            .bind(&provider.kind)
            .bind(&provider.base_url)
            .bind(provider.sealed_key.as_ref().map(String::as_bytes))
            .bind(Json(&provider.settings))
            .bind(provider.is_enabled)
            .bind(provider.updated_at);
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Deletes a connection with its key. Returns false if the owner has none with this id.
pub async fn delete(tx: &mut Tx, owner: UserId, id: ProviderId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}
