//! How the tools that the configuration file trusts described themselves when they were first seen.

use crate::domain::UserId;
use crate::server::store::db::{Db, Tx};
use crate::server::store::error::StoreError;
use crate::server::store::readable::{Lossy, Readable, readable};
use crate::server::store::rows::plain;

sql! {
    PIN = "INSERT INTO trusted_tools (owner_id, server, tool, schema_hash) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (owner_id, server, tool) DO NOTHING";
    ALL = "SELECT server, tool, schema_hash FROM trusted_tools WHERE owner_id = $1 ORDER BY server, tool";
}

/// A tool with the hash of its schema and description when it was first seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedTool {
    pub server: String,
    pub tool: String,
    pub schema_hash: String,
}

/// Keeps how a tool describes itself, unless it was seen before.
pub async fn pin(tx: &mut Tx, owner: UserId, seen: &TrustedTool) -> Result<(), StoreError> {
    let tool = plain(&seen.tool, "the tool")?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(PIN).bind(owner.uuid()).bind(seen.server.as_str()).bind(tool);
        query.bind(seen.schema_hash.as_str()).execute(conn).await?;
    });
    Ok(())
}

/// All that were seen.
pub async fn all(db: &Db, owner: UserId) -> Result<Vec<TrustedTool>, StoreError> {
    let rows: Vec<Readable<(String, String, Lossy<String>)>> =
        on!(db, |pool| sqlx::query_as(ALL).bind(owner.uuid()).fetch_all(pool).await?);
    // No tool has an empty hash: one whose own cannot be read is asked about.
    let tool = |(server, tool, hash): (String, String, Lossy<String>)| {
        let schema_hash = hash.into_result().unwrap_or_default();
        TrustedTool { server, tool, schema_hash }
    };
    Ok(readable(rows, "trusted_tools").into_iter().map(tool).collect())
}
