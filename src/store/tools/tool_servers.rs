//! Tool servers that people connected, reached over HTTP. The values of headers are stored encrypted; the store does
//! not decrypt them. Servers that are local programs are only in the configuration file and have no row.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::{inconsistent, storable_text};
use turnleaf_domain::{ToolServerId, UserId};

sql! {
    INSERT = "INSERT INTO tool_servers (id, owner_id, slug, name, url, sealed_headers, settings, is_enabled, created_at, \
        updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    LIST = "SELECT id, owner_id, slug, name, url, sealed_headers, settings, is_enabled, created_at, updated_at \
        FROM tool_servers WHERE owner_id = $1 ORDER BY created_at, id";
    FIND = "SELECT id, owner_id, slug, name, url, sealed_headers, settings, is_enabled, created_at, updated_at \
        FROM tool_servers WHERE owner_id = $1 AND slug = $2";
    UPDATE = "UPDATE tool_servers SET name = $3, url = $4, sealed_headers = $5, settings = $6, is_enabled = $7, \
        updated_at = $8 WHERE owner_id = $1 AND id = $2";
    DELETE = "DELETE FROM tool_servers WHERE owner_id = $1 AND id = $2";
}

/// A stored tool server.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredToolServer {
    pub id: ToolServerId,
    pub owner_id: UserId,
    /// The prefix of its tool names. It never changes.
    pub slug: String,
    pub name: String,
    /// Its URL, with the credentials of its query masked.
    pub url: String,
    /// The values of its headers and its whole URL if that has a query, encrypted.
    pub sealed_headers: Option<String>,
    pub settings: ToolServerSettings,
    pub is_enabled: bool,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// Settings of a server that are not secret and need no column of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolServerSettings {
    /// Names of its headers; their values are encrypted.
    pub header_names: Vec<String>,
    /// The client that its owner registered at its authorization server; the secret is encrypted with the headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth_client_id: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub has_oauth_secret: bool,
    /// The only issuer that the secret of that client is sent to: the first one that it was used with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth_issuer: Option<String>,
    pub local_network: bool,
    /// Its limits; `None` is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_seconds: Option<u64>,
}

fn is_false(value: &bool) -> bool {
    !*value
}

struct ServerRow {
    id: Uuid,
    owner_id: Uuid,
    slug: String,
    name: String,
    url: String,
    sealed_headers: Option<Vec<u8>>,
    settings: Json<ToolServerSettings>,
    is_enabled: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}
from_row!(ServerRow { id, owner_id, slug, name, url, sealed_headers, settings, is_enabled, created_at, updated_at });

impl TryFrom<ServerRow> for StoredToolServer {
    type Error = StoreError;

    fn try_from(row: ServerRow) -> Result<Self, StoreError> {
        let sealed = row.sealed_headers.map(String::from_utf8).transpose();
        Ok(Self {
            id: row.id.into(),
            owner_id: row.owner_id.into(),
            slug: row.slug,
            name: row.name,
            url: row.url,
            sealed_headers: sealed
                .map_err(|_| inconsistent("tool_servers", "sealed_headers", row.id, "it is not text"))?,
            settings: row.settings.0,
            is_enabled: row.is_enabled,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// Stores a new server.
///
/// # Errors
/// `NotUnique` when the owner has one with this slug.
pub async fn insert(tx: &mut Tx, server: &StoredToolServer) -> Result<(), StoreError> {
    let name = storable_text(&server.name, "the name")?;
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(server.id.uuid())
            .bind(server.owner_id.uuid())
            .bind(&server.slug)
            .bind(name)
            .bind(&server.url)
            .bind(server.sealed_headers.as_ref().map(String::as_bytes))
            .bind(Json(&server.settings))
            .bind(server.is_enabled)
            .bind(server.created_at)
            .bind(server.updated_at)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns the servers of an owner, oldest first.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<StoredToolServer>, StoreError> {
    let rows: Vec<Readable<ServerRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_decoded(keep_readable(rows, "tool_servers").into_iter().map(StoredToolServer::try_from), "tool_servers"))
}

/// Returns the owner's server with this slug.
pub async fn find(db: &Db, owner: UserId, slug: &str) -> Result<Option<StoredToolServer>, StoreError> {
    let row: Option<ServerRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(slug).fetch_optional(pool).await?);
    row.map(StoredToolServer::try_from).transpose()
}

/// Updates a server, except for its slug and its creation time. Returns false if the owner has none with this id.
pub async fn update(tx: &mut Tx, server: &StoredToolServer) -> Result<bool, StoreError> {
    let name = storable_text(&server.name, "the name")?;
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(UPDATE)
            .bind(server.owner_id.uuid())
            .bind(server.id.uuid())
            .bind(name)
            .bind(&server.url)
            .bind(server.sealed_headers.as_ref().map(String::as_bytes))
            .bind(Json(&server.settings))
            .bind(server.is_enabled)
            .bind(server.updated_at);
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Deletes a server with its headers. Returns false if the owner has none with this id.
pub async fn delete(tx: &mut Tx, owner: UserId, id: ToolServerId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}
