//! Trusted tools (trust on first use): the descriptions of tools that the configuration file trusts, as first seen.

use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::storable_text;
use turnleaf_domain::UserId;

sql! {
    PIN = "INSERT INTO trusted_tools (owner_id, server, tool, schema_hash) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (owner_id, server, tool) DO NOTHING";
    ALL = "SELECT server, tool, schema_hash FROM trusted_tools WHERE owner_id = $1 ORDER BY server, tool";
}

/// A tool with the hash of its schema and description when it was first seen. Unreadable values are empty, which
/// matches no server, tool or hash (fail closed): a damaged row trusts nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedTool {
    pub server: String,
    pub tool: String,
    pub schema_hash: String,
}

impl TrustedTool {
    /// Returns whether its names are unreadable, so that it may be any tool of this server.
    pub fn is_of_unknown_tool(&self, server: &str) -> bool {
        self.server.is_empty() || (self.server == server && self.tool.is_empty())
    }
}

struct TrustedToolRow {
    server: Lossy<String>,
    tool: Lossy<String>,
    schema_hash: Lossy<String>,
}
from_row!(TrustedToolRow { server, tool, schema_hash });

/// Pins the description of a tool, unless it was seen before.
pub async fn pin(tx: &mut Tx, owner: UserId, seen: &TrustedTool) -> Result<(), StoreError> {
    let tool = storable_text(&seen.tool, "the tool")?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(PIN).bind(owner.uuid()).bind(seen.server.as_str()).bind(tool);
        query.bind(seen.schema_hash.as_str()).execute(conn).await?;
    });
    Ok(())
}

/// Returns all pinned tools.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<TrustedTool>, StoreError> {
    let rows: Vec<Readable<TrustedToolRow>> =
        with_pool!(db, |pool| sqlx::query_as(ALL).bind(owner.uuid()).fetch_all(pool).await?);
    let read = |column, value: Lossy<String>| value.unwrap_or_default("trusted_tools", column, Uuid::nil());
    let tool = |row: TrustedToolRow| TrustedTool {
        server: read("server", row.server),
        tool: read("tool", row.tool),
        schema_hash: read("schema_hash", row.schema_hash),
    };
    Ok(keep_readable(rows, "trusted_tools").into_iter().map(tool).collect())
}
