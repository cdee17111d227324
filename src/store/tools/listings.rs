//! Tool listings: the last known tools of each server, whether from the settings or the configuration. They are
//! offered to models while the server is down, and shown in settings. The text is untrusted, and is bounded and
//! cleaned before it is stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::{from_json, storable_text, to_json};
use turnleaf_domain::UserId;

sql! {
    PUT = "INSERT INTO tool_listings (owner_id, server, tools, instructions, listed_at) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (owner_id, server) DO UPDATE SET tools = excluded.tools, instructions = excluded.instructions, \
        listed_at = CASE WHEN tool_listings.tools = excluded.tools THEN tool_listings.listed_at \
        ELSE excluded.listed_at END";
    ALL = "SELECT owner_id, server, tools, instructions, offers_instructions, listed_at FROM tool_listings \
        WHERE owner_id = $1 ORDER BY server";
    SERVERS = "SELECT server FROM tool_listings WHERE owner_id = $1";
    CLEAR = "UPDATE tool_listings SET tools = $3, instructions = '', listed_at = $4 \
        WHERE owner_id = $1 AND server = $2";
    SET_OFFERS = "INSERT INTO tool_listings (owner_id, server, tools, offers_instructions, listed_at) \
        VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (owner_id, server) DO UPDATE SET offers_instructions = excluded.offers_instructions";
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed_to_views: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed_to_models: bool,
}

/// The last known tools of one server.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolListing {
    pub server: String,
    pub tools: Vec<ListedTool>,
    /// The server's instructions for the use of its tools; empty if it gives none.
    pub instructions: String,
    /// True if models are offered the instructions.
    pub offers_instructions: bool,
    /// The time of the last change of the tools: changed instructions alone do not make a server late for a branch. The
    /// epoch while the server has listed nothing.
    pub listed_at: DateTime<Utc>,
}

impl ToolListing {
    /// Stands for a listing that cannot be read. Its switch may have been off, so it counts as off.
    fn unreadable(server: String) -> Self {
        let (tools, instructions) = (Vec::new(), String::new());
        Self { server, tools, instructions, offers_instructions: false, listed_at: DateTime::UNIX_EPOCH }
    }
}

/// Replaces the listing of a server: its tools and its instructions. The tools are stored byte for byte, which the
/// column type of PostgreSQL would not do by itself, because approvals refer to the hash of a schema. `now` is the new
/// time of the listing if the tools have changed.
pub async fn put(
    tx: &mut Tx,
    owner: UserId,
    server: &str,
    (tools, instructions): (&[ListedTool], &str),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let tools = to_json(&tools, "tool_listings", "tools")?;
    let instructions = storable_text(instructions, "the instructions")?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(PUT).bind(owner.uuid()).bind(server).bind(Json(tools));
        query.bind(instructions).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Sets whether models are offered the instructions of a server, also before it has listed its tools.
pub async fn set_offers_instructions(tx: &mut Tx, owner: UserId, server: &str, offers: bool) -> Result<(), StoreError> {
    let none = no_tools()?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(SET_OFFERS).bind(owner.uuid()).bind(server).bind(Json(none));
        query.bind(offers).bind(DateTime::<Utc>::UNIX_EPOCH).execute(conn).await?;
    });
    Ok(())
}

fn no_tools() -> Result<String, StoreError> {
    to_json(&[(); 0], "tool_listings", "tools")
}

type ListingRow = (Uuid, String, Json<String>, String, bool, DateTime<Utc>);

/// Returns the listings of an owner's servers, by server name.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<ToolListing>, StoreError> {
    let rows: Vec<Readable<ListingRow>> =
        with_pool!(db, |pool| sqlx::query_as(ALL).bind(owner.uuid()).fetch_all(pool).await?);
    let listing = |(owner, server, Json(tools), instructions, offers_instructions, listed_at): ListingRow| {
        let tools = from_json(&tools, "tool_listings", "tools", owner)?;
        Ok::<_, StoreError>(ToolListing { server, tools, instructions, offers_instructions, listed_at })
    };
    // An unreadable listing is fetched again when its server is up.
    let stored = rows.len();
    let mut listings = keep_decoded(keep_readable(rows, "tool_listings").into_iter().map(listing), "tool_listings");
    if listings.len() < stored {
        let servers: Vec<Readable<(String,)>> =
            with_pool!(db, |pool| sqlx::query_as(SERVERS).bind(owner.uuid()).fetch_all(pool).await?);
        for (server,) in keep_readable(servers, "tool_listings") {
            if listings.iter().all(|known| known.server != server) {
                listings.push(ToolListing::unreadable(server));
            }
        }
        listings.sort_by(|one, other| one.server.cmp(&other.server));
    }
    Ok(listings)
}

/// Clears the listing of a server, because it has another address. The switch for its instructions stays.
pub async fn clear(tx: &mut Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    let none = no_tools()?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(CLEAR).bind(owner.uuid()).bind(server).bind(Json(none));
        query.bind(DateTime::<Utc>::UNIX_EPOCH).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the listing of a server.
pub async fn delete(tx: &mut Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(server).execute(conn).await?;
    });
    Ok(())
}
