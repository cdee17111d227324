//! The instructions of tool servers that a branch offers (docs/adr/0072-server-instructions.md): those of the servers
//! whose tools it offers or can find, unless they are switched off.

use std::collections::{BTreeMap, BTreeSet};

use super::ServiceToolbox;
use turnleaf_domain::UserId;
use turnleaf_domain::tools::server_instructions::{ServerInstructions, fit_instructions};
use turnleaf_domain::tools::tool::{OfferedTool, PROVIDER, ToolChoice, ToolOrigin};
use turnleaf_store::tools::listings::ToolListing;
use turnleaf_tools::mcp::McpServerState;
use turnleaf_tools::tool_search;

impl ServiceToolbox {
    /// Returns the instructions for a branch that offers these tools, by server id. If they cannot be read, there are
    /// none.
    pub(crate) async fn instructions(
        &self,
        owner: UserId,
        choice: &ToolChoice,
        offered: &[OfferedTool],
    ) -> Vec<ServerInstructions> {
        let names = server_names(choice, offered);
        if names.is_empty() {
            return Vec::new();
        }
        let listings = match self.listings(owner).await {
            Ok(listings) => listings,
            Err(error) => {
                tracing::error!(%error, "the instructions of tool servers could not be read; none are offered");
                return Vec::new();
            }
        };
        fit_instructions(names.into_iter().filter_map(|(server, name)| {
            let (text, is_offered) = self.known_instructions(owner, &server, &listings);
            is_offered.then_some(ServerInstructions { server, name, text })
        }))
    }

    /// Returns the instructions that a server gives now, or gave last, and whether models are offered them.
    pub(crate) fn known_instructions(&self, owner: UserId, server: &str, listings: &[ToolListing]) -> (String, bool) {
        let listing = listings.iter().find(|listing| listing.server == server);
        let status = self.0.servers.status(&self.server_key(owner, server));
        let text = match status {
            Some(status) if status.state == McpServerState::Ready => status.instructions.unwrap_or_default(),
            _ => listing.map(|listing| listing.instructions.clone()).unwrap_or_default(),
        };
        (text, listing.is_none_or(|listing| listing.offers_instructions))
    }
}

/// Returns the servers of the offered tools, and those whose tools the model can search for, with their display names.
fn server_names(choice: &ToolChoice, offered: &[OfferedTool]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for tool in offered {
        if let Some(ToolOrigin::Server { server, .. }) = &tool.origin {
            let name = tool.label().and_then(|label| label.server).unwrap_or_else(|| server.clone());
            names.insert(server.clone(), name);
        }
    }
    if offered.iter().any(tool_search::is_search) {
        let chosen: BTreeSet<&str> = choice.on.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
        for server in chosen.into_iter().filter(|server| *server != PROVIDER) {
            names.entry(server.to_owned()).or_insert_with(|| server.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_tools::toolbox::ToolDescription;

    fn tool(name: &str) -> ToolDescription {
        ToolDescription::new(name, "", json!({ "type": "object" }))
    }

    #[test]
    fn servers_of_offered_tools_and_of_search_are_named() {
        let on = ["files/*", "maps/route", "provider/web_search", "calculator"].map(str::to_owned).into();
        let choice = ToolChoice { on, client: Vec::new() };
        let mut offered =
            vec![tool("calculator").to_offered_tool(None), tool("read").to_offered_tool(Some(("files", "Files")))];
        let names = |offered: &[OfferedTool]| server_names(&choice, offered).into_iter().collect::<Vec<_>>();
        assert_eq!(names(&offered), [("files".to_owned(), "Files".to_owned())]);
        offered.push(tool_search::describe(&[]).to_offered_tool(None));
        assert_eq!(names(&offered).len(), 2, "the tools of maps can be found");
        assert!(names(&[]).is_empty());
    }
}
