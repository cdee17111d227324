//! Trust on first use: a tool that the configuration file trusts runs unasked as long as it describes itself as it did when
//! it was first seen, or as the file pins it by its hash. A server that changes it is asked about, until a person allows the
//! tool as it is now.

use super::Tools;
use crate::domain::UserId;
use crate::server::platform::config::tool_servers::ToolServer;
use crate::server::store::trusted_tools::{self, TrustedTool};
use crate::server::store::{Db, StoreError};
use crate::server::tools::toolbox::Described;

/// What the configuration file's trust in a tool comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    Absent,
    Holds,
    /// The tool is another one than was first seen, or than the file pins.
    Changed,
}

impl Trust {
    /// Of a tool as it describes itself now, by what was seen. One that was never seen is seen now.
    pub fn of(server: Option<&ToolServer>, tool: &Described, seen: &[TrustedTool]) -> Self {
        let Some(server) = server.filter(|server| server.trusts(&tool.tool)) else { return Self::Absent };
        let first_seen = || {
            let seen = seen.iter().find(|seen| seen.server == server.id && seen.tool == tool.tool);
            seen.map(|seen| seen.schema_hash.as_str())
        };
        match server.pinned_hash(&tool.tool).or_else(first_seen) {
            Some(trusted) if trusted != tool.schema_hash() => Self::Changed,
            _ => Self::Holds,
        }
    }
}

impl Tools {
    /// What the trust in a tool comes to now, which is kept where the tool was never seen.
    pub(super) async fn trust(&self, owner: UserId, server: &str, tool: &Described) -> Result<Trust, StoreError> {
        let Some(server) = self.configured_server(server).filter(|server| server.trusts(&tool.tool)) else {
            return Ok(Trust::Absent);
        };
        pin(&self.0.db, owner, &server, std::slice::from_ref(tool)).await?;
        Ok(Trust::of(Some(&server), tool, &trusted_tools::all(&self.0.db, owner).await?))
    }
}

/// Keeps how the trusted tools among these describe themselves, where they were never seen and the file does not pin them.
pub(in crate::server::service) async fn pin(
    db: &Db,
    owner: UserId,
    server: &ToolServer,
    tools: &[Described],
) -> Result<(), StoreError> {
    let known = trusted_tools::all(db, owner).await?;
    let is_new = |tool: &&Described| {
        server.trusts(&tool.tool)
            && server.pinned_hash(&tool.tool).is_none()
            && !known.iter().any(|seen| seen.server == server.id && seen.tool == tool.tool)
    };
    let new: Vec<&Described> = tools.iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(());
    }
    let mut tx = db.begin().await?;
    for tool in new {
        let seen = TrustedTool { server: server.id.clone(), tool: tool.tool.clone(), schema_hash: tool.schema_hash() };
        trusted_tools::pin(&mut tx, owner, &seen).await?;
    }
    tx.commit().await
}
