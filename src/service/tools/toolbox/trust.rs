//! Trust on first use: a tool that the configuration file trusts runs without approval as long as its description is
//! the one first seen, or the one that the file pins by hash. After a change it needs approval until a person allows
//! the present description.

use super::ServiceToolbox;
use turnleaf_domain::UserId;
use turnleaf_platform::config::tool_servers::ToolServerConfig;
use turnleaf_store::tools::trusted_tools::{self, TrustedTool};
use turnleaf_store::{Db, StoreError};
use turnleaf_tools::toolbox::ToolDescription;

/// The state of the configuration file's trust in a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustStatus {
    Absent,
    Holds,
    /// The description differs from the one first seen, or from the one that the file pins.
    Changed,
}

impl TrustStatus {
    /// Determines the trust in a tool's present description from the descriptions that were seen. A tool that was
    /// never seen is trusted on first use.
    pub fn from_seen(server: Option<&ToolServerConfig>, tool: &ToolDescription, seen: &[TrustedTool]) -> Self {
        let Some(server) = server.filter(|server| server.trusts(&tool.tool)) else { return Self::Absent };
        let first_seen = || {
            let seen = seen.iter().find(|seen| seen.server == server.id && seen.tool == tool.tool);
            seen.map(|seen| seen.schema_hash.as_str())
        };
        match server.pinned_hash(&tool.tool).or_else(first_seen) {
            Some(trusted) if trusted != tool.schema_hash() => Self::Changed,
            None if !is_trusted_at_first_sight(server, &tool.tool, seen) => Self::Changed,
            _ => Self::Holds,
        }
    }
}

/// Trust on first use, for a tool without a pin: it holds when the file names the tool, or its server has no pins
/// yet. Nobody has reviewed a tool that a server adds later under `*`, and an unreadable pin may belong to this tool.
fn is_trusted_at_first_sight(server: &ToolServerConfig, tool: &str, seen: &[TrustedTool]) -> bool {
    if seen.iter().any(|seen| seen.is_of_unknown_tool(&server.id)) {
        return false;
    }
    server.trusted_tools.iter().any(|trusted| trusted.name == tool) || seen.iter().all(|seen| seen.server != server.id)
}

impl ServiceToolbox {
    /// Returns the trust in a tool, and pins its description when it was never seen.
    pub(super) async fn trust_status(
        &self,
        owner: UserId,
        server: &str,
        tool: &ToolDescription,
    ) -> Result<TrustStatus, StoreError> {
        let configured = self.configured_server(server).filter(|_| self.may_use_configured(owner, server));
        let Some(server) = configured.filter(|server| server.trusts(&tool.tool)) else {
            return Ok(TrustStatus::Absent);
        };
        // All listed tools are pinned together, because a pin of one tool ends trust on first use for the others.
        let listings = self.listings(owner).await?;
        let mut tools = self.server_tools(owner, &server.id, &listings);
        if !tools.iter().any(|listed| listed.tool == tool.tool) {
            tools.push(tool.clone());
        }
        pin_trusted_tools(&self.0.db, owner, &server, &tools).await?;
        Ok(TrustStatus::from_seen(Some(&server), tool, &trusted_tools::list(&self.0.db, owner).await?))
    }
}

/// Pins the descriptions of trusted tools that were never seen and that the file does not pin.
pub(crate) async fn pin_trusted_tools(
    db: &Db,
    owner: UserId,
    server: &ToolServerConfig,
    tools: &[ToolDescription],
) -> Result<(), StoreError> {
    let known = trusted_tools::list(db, owner).await?;
    let is_new = |tool: &&ToolDescription| {
        server.trusts(&tool.tool)
            && server.pinned_hash(&tool.tool).is_none()
            && is_trusted_at_first_sight(server, &tool.tool, &known)
            && !known.iter().any(|seen| seen.server == server.id && seen.tool == tool.tool)
    };
    let new: Vec<&ToolDescription> = tools.iter().filter(is_new).collect();
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use turnleaf_platform::config::tool_servers::ToolServerTransport;

    fn described(tool: &str) -> ToolDescription {
        ToolDescription::new(tool, "Reads.", json!({ "type": "object" }))
    }

    #[test]
    fn tool_of_second_listing_is_trusted_only_where_file_names_it() {
        let server = |trusted: &[&str]| ToolServerConfig {
            id: "files".into(),
            name: "Files".into(),
            reach: ToolServerTransport::Program { argv: Vec::new(), env: BTreeMap::new(), folder: None },
            start: None,
            idle: None,
            total: None,
            trusted_tools: trusted.iter().map(|&name| name.into()).collect(),
        };
        let (first, second) = (described("read"), described("send"));
        let pin =
            |server: &str| TrustedTool { server: server.into(), tool: "read".into(), schema_hash: first.schema_hash() };
        let unreadable =
            |server: &str, tool: &str| TrustedTool { server: server.into(), tool: tool.into(), ..pin(server) };
        for (trusted, seen, tool, expected) in [
            (&["*"][..], vec![], &first, TrustStatus::Holds),
            (&["*"], vec![pin("files")], &first, TrustStatus::Holds),
            (&["*"], vec![pin("files")], &second, TrustStatus::Changed),
            (&["*"], vec![pin("other")], &second, TrustStatus::Holds),
            (&["read", "send"], vec![pin("files")], &second, TrustStatus::Holds),
            (&["read"], vec![pin("files")], &second, TrustStatus::Absent),
            // A damaged pin may belong to this tool, unless the tool has a pin of its own or the damaged pin is
            // another server's.
            (&["read"], vec![TrustedTool { schema_hash: String::new(), ..pin("files") }], &first, TrustStatus::Changed),
            (&["read"], vec![unreadable("files", "")], &first, TrustStatus::Changed),
            (&["read"], vec![unreadable("", "read")], &first, TrustStatus::Changed),
            (&["read"], vec![unreadable("", ""), pin("files")], &first, TrustStatus::Holds),
            (&["read"], vec![unreadable("other", "")], &first, TrustStatus::Holds),
        ] {
            assert_eq!(
                TrustStatus::from_seen(Some(&server(trusted)), tool, &seen),
                expected,
                "{trusted:?} {seen:?} {}",
                tool.tool
            );
        }
    }
}
