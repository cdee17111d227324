//! What each server of tools offered last, whoever configured it: offered to models while it is down, and shown in
//! settings. All of it is text of a stranger, bounded and cleaned before it comes here.

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

/// What one server offered last.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolListing {
    pub server: String,
    pub tools: Vec<ListedTool>,
    pub listed_at: DateTime<Utc>,
}

/// Keeps what a server offers now, in the place of what it offered before. The tools go in and come out letter for
/// letter, which the type of the column on PostgreSQL would not do by itself: answers hold for the hash of a schema.
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

/// What the servers of an owner offered last, by the names of the servers.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<ToolListing>, StoreError> {
    let rows: Vec<Readable<ListingRow>> =
        with_pool!(db, |pool| sqlx::query_as(ALL).bind(owner.uuid()).fetch_all(pool).await?);
    let listing = |(owner, server, Json(tools), listed_at): ListingRow| {
        let tools = from_json(&tools, "tool_listings", "tools", owner)?;
        Ok::<_, StoreError>(ToolListing { server, tools, listed_at })
    };
    // It is asked for anew when its server is there.
    Ok(keep_decoded(keep_readable(rows, "tool_listings").into_iter().map(listing), "tool_listings"))
}

/// Forgets what a server offered.
pub async fn delete(tx: &mut Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(server).execute(conn).await?;
    });
    Ok(())
}
