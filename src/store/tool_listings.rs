//! Tool listings: the last known tools of each server, whether from the settings or the configuration. They are
//! offered to models while the server is down, and shown in settings. The text is untrusted, and is bounded and
//! cleaned before it is stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::{Readable, keep_decoded, keep_readable};
use crate::rows::{from_json, to_json};
use turnleaf_domain::UserId;

sql! {
    PUT = "INSERT INTO tool_listings (owner_id, server, tools, listed_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (owner_id, server) DO UPDATE SET tools = excluded.tools, listed_at = excluded.listed_at";
    ALL = "SELECT owner_id, server, tools, listed_at FROM tool_listings WHERE owner_id = $1 ORDER BY server";
    DELETE = "DELETE FROM tool_listings WHERE owner_id = $1 AND server = $2";
}

/// A tool as its server described it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedTool {
    pub tool: String,
    pub title: String,
    pub description: String,
    pub schema: Value,
    #[serde(default)]
    pub hints: Vec<String>,
}

/// The last known tools of one server.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolListing {
    pub server: String,
    pub tools: Vec<ListedTool>,
    pub listed_at: DateTime<Utc>,
}

/// Replaces the listing of a server. The tools are stored byte for byte, which the column type of PostgreSQL would
/// not do by itself, because approvals refer to the hash of a schema.
pub async fn put(
    tx: &mut Tx,
    owner: UserId,
    server: &str,
    tools: &[ListedTool],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let tools = to_json(&tools, "tool_listings", "tools")?;
    in_tx!(tx, |conn| {
        sqlx::query(PUT).bind(owner.uuid()).bind(server).bind(Json(tools)).bind(now).execute(conn).await?;
    });
    Ok(())
}

type ListingRow = (Uuid, String, Json<String>, DateTime<Utc>);

/// Returns the listings of an owner's servers, by server name.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<ToolListing>, StoreError> {
    let rows: Vec<Readable<ListingRow>> =
        with_pool!(db, |pool| sqlx::query_as(ALL).bind(owner.uuid()).fetch_all(pool).await?);
    let listing = |(owner, server, Json(tools), listed_at): ListingRow| {
        let tools = from_json(&tools, "tool_listings", "tools", owner)?;
        Ok::<_, StoreError>(ToolListing { server, tools, listed_at })
    };
    // An unreadable listing is fetched again when its server is up.
    Ok(keep_decoded(keep_readable(rows, "tool_listings").into_iter().map(listing), "tool_listings"))
}

/// Deletes the listing of a server.
pub async fn delete(tx: &mut Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(server).execute(conn).await?;
    });
    Ok(())
}
