//! Stores the tool listings and instructions of servers whenever they change, so that they are known while a server is down,
//! and after a restart before it responds.

use std::sync::{Arc, Weak};

use tokio::sync::broadcast::error::RecvError;

use super::trust::pin_trusted_tools;
use super::{ServiceToolbox, ToolboxInner, described, listed};
use turnleaf_domain::UserId;
use turnleaf_platform::clock::Clock;
use turnleaf_store::StoreError;
use turnleaf_store::tools::listings::{self, ListedTool, ToolListing};
use turnleaf_store::tools::tool_servers;
use turnleaf_tools::mcp::{McpServerKey, McpServerState};
use turnleaf_tools::toolbox::ToolDescription;

impl ServiceToolbox {
    /// Stores every listing that changes from now on, while the toolbox exists. Listings of configured servers are
    /// stored under this owner.
    pub(crate) fn store_changed_listings(&self, owner: UserId, clock: Arc<dyn Clock>) {
        let mut changed = self.0.servers.subscribe_changes();
        let bench = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                let key = match changed.recv().await {
                    Ok(key) => Some(key),
                    Err(RecvError::Lagged(_)) => None,
                    Err(RecvError::Closed) => return,
                };
                let Some(tools) = upgrade(&bench) else { return };
                if let Err(error) = tools.store_listings(owner, key, clock.as_ref()).await {
                    tracing::warn!(%error, "the tool list of a server could not be saved");
                }
            }
        });
    }

    /// Stores the listing of one server, or of all after missed notifications.
    async fn store_listings(
        &self,
        owner: UserId,
        key: Option<McpServerKey>,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        let keys = match key {
            Some(key) => vec![key],
            None => {
                let stored = tool_servers::list(&self.0.db, owner).await?;
                let configured = self.configured();
                let names = configured.iter().map(|server| server.id.clone());
                names.chain(stored.into_iter().map(|row| row.slug)).map(|name| self.server_key(owner, &name)).collect()
            }
        };
        for key in keys {
            let Some(status) = self.0.servers.status(&key).filter(|status| status.state == McpServerState::Ready)
            else {
                continue;
            };
            let owner = key.owner.unwrap_or(owner);
            let tools: Vec<ListedTool> = status.tools.iter().map(listed).collect();
            let known = listings::list(&self.0.db, owner).await?;
            if let Some(server) = self.configured_server(&key.server) {
                // A tool of the stored listing has been seen before, so it is pinned before the new listing.
                let before = known.iter().find(|listing| listing.server == key.server);
                let before: Vec<ToolDescription> =
                    before.map(|listing| listing.tools.iter().map(described).collect()).unwrap_or_default();
                pin_trusted_tools(&self.0.db, owner, &server, &before).await?;
                pin_trusted_tools(&self.0.db, owner, &server, &status.tools).await?;
            }
            let instructions = status.instructions.unwrap_or_default();
            let is_same = |listing: &ToolListing| listing.tools == tools && listing.instructions == instructions;
            if known.iter().any(|listing| listing.server == key.server && is_same(listing)) {
                continue;
            }
            let mut tx = self.0.db.begin().await?;
            listings::put(&mut tx, owner, &key.server, (&tools, &instructions), clock.now()).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

fn upgrade(bench: &Weak<ToolboxInner>) -> Option<ServiceToolbox> {
    bench.upgrade().map(ServiceToolbox)
}
