//! The tool servers of the configuration file: who may use them, how they are started, and what they listed.

use std::sync::{Arc, PoisonError};

use secrecy::ExposeSecret;

use super::ServiceToolbox;
use turnleaf_domain::UserId;
use turnleaf_domain::accounts::access_rights::AccessRights;
use turnleaf_platform::config::tool_servers::{ToolServerConfig, ToolServerTransport};
use turnleaf_store::StoreError;
use turnleaf_store::tools::listings::{self, ToolListing};
use turnleaf_store::tools::tool_servers;
use turnleaf_tools::mcp::{McpServerConfig, McpServerKey, McpTransport};

impl ServiceToolbox {
    pub(crate) fn configured(&self) -> Arc<Vec<ToolServerConfig>> {
        Arc::clone(&self.0.configured.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Names the account that keeps the configured servers. They are programs with the rights of this process, so other
    /// accounts use only those that they are granted.
    pub(crate) fn keep_configured_for(&self, owner: UserId) {
        let _ = self.0.keeper.set(owner);
    }

    /// Returns whether an account keeps the configured servers, and may see how they are started and reached.
    pub(crate) fn is_keeper(&self, owner: UserId) -> bool {
        self.0.keeper.get().is_none_or(|keeper| *keeper == owner)
    }

    /// Replaces the rights of accounts to the configured servers. The next call follows them.
    pub(crate) fn set_rights(&self, rights: Arc<AccessRights>) {
        *self.0.rights.write().unwrap_or_else(PoisonError::into_inner) = rights;
    }

    /// Returns whether an account may use a configured server.
    pub(crate) fn may_use_configured(&self, owner: UserId, server: &str) -> bool {
        self.is_keeper(owner) || self.rights().may_use_tool_server(owner, server)
    }

    /// Returns whether an account may use a server: one of its own, or a configured one that it is granted. A disabled
    /// account uses none.
    pub(super) fn may_use_server(&self, owner: UserId, server: &str) -> bool {
        let is_usable = self.configured_server(server).is_none() || self.may_use_configured(owner, server);
        is_usable && !self.rights().is_disabled(owner)
    }

    fn rights(&self) -> Arc<AccessRights> {
        Arc::clone(&self.0.rights.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the configured servers that an account may use.
    pub(crate) fn configured_for(&self, owner: UserId) -> Arc<Vec<ToolServerConfig>> {
        let all = self.configured();
        if self.is_keeper(owner) {
            return all;
        }
        let granted = all.iter().filter(|server| self.may_use_configured(owner, &server.id));
        Arc::new(granted.cloned().collect())
    }

    /// Returns the listings of the servers of an account. Those of configured servers are stored for the keeper; of its
    /// own the account has only whether its models are offered the instructions.
    pub(crate) async fn listings(&self, owner: UserId) -> Result<Vec<ToolListing>, StoreError> {
        let mut own = listings::list(&self.0.db, owner).await?;
        let Some(keeper) = self.0.keeper.get().copied().filter(|keeper| *keeper != owner) else { return Ok(own) };
        let granted = self.configured_for(owner);
        if granted.is_empty() {
            return Ok(own);
        }
        for listing in listings::list(&self.0.db, keeper).await? {
            if granted.iter().all(|server| server.id != listing.server) {
                continue;
            }
            let before = own.iter().position(|known| known.server == listing.server).map(|at| own.swap_remove(at));
            let offers_instructions = before.is_none_or(|before| before.offers_instructions);
            own.push(ToolListing { offers_instructions, ..listing });
        }
        own.sort_by(|one, other| one.server.cmp(&other.server));
        Ok(own)
    }

    /// Returns the configured server with this id.
    pub(crate) fn configured_server(&self, id: &str) -> Option<ToolServerConfig> {
        self.configured().iter().find(|server| server.id == id).cloned()
    }

    /// Returns true when a server with this id exists, even if it is disabled.
    pub(crate) async fn has_server(&self, owner: UserId, id: &str) -> Result<bool, StoreError> {
        let is_configured = self.configured_server(id).is_some() && self.may_use_configured(owner, id);
        Ok(is_configured || tool_servers::find(&self.0.db, owner, id).await?.is_some())
    }

    /// Returns the key under which a server runs. A configured server has no owner.
    pub(crate) fn server_key(&self, owner: UserId, server: &str) -> McpServerKey {
        let is_configured = self.configured_server(server).is_some() && self.may_use_configured(owner, server);
        let owner = if is_configured { None } else { Some(owner) };
        McpServerKey { owner, server: server.to_owned() }
    }

    /// Starts the configured servers in the background.
    pub(crate) fn start_configured(&self) {
        for server in self.configured().iter() {
            self.0.servers.put(configured_key(server), server_config(server));
        }
    }

    /// Returns the credentials of the configured servers.
    pub(crate) fn configured_credentials(&self) -> Vec<secrecy::SecretString> {
        self.configured().iter().flat_map(|server| server_config(server).credentials()).collect()
    }

    /// Replaces the configured servers: new ones start, changed ones restart, and removed ones stop after their
    /// running calls have ended.
    pub(crate) fn set_configured(&self, configured: Vec<ToolServerConfig>) {
        let configured = Arc::new(configured);
        let before = {
            let mut present = self.0.configured.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *present, configured.clone())
        };
        for server in before.iter().filter(|old| !configured.iter().any(|new| new.id == old.id)) {
            self.0.servers.retire(&configured_key(server));
        }
        for server in configured.iter() {
            // A server whose connection is unchanged keeps running, even when its trust changed.
            if !before.iter().any(|old| old.id == server.id && old.has_same_connection(server)) {
                self.0.servers.replace(configured_key(server), server_config(server));
            }
        }
    }
}

fn configured_key(server: &ToolServerConfig) -> McpServerKey {
    McpServerKey { owner: None, server: server.id.clone() }
}

fn server_config(server: &ToolServerConfig) -> McpServerConfig {
    let transport = match &server.reach {
        ToolServerTransport::Program { argv, env, folder } => {
            let plain =
                |(name, value): (&String, &secrecy::SecretString)| (name.clone(), value.expose_secret().to_owned());
            McpTransport::Program { argv: argv.clone(), env: env.iter().map(plain).collect(), folder: folder.clone() }
        }
        ToolServerTransport::Http { url, headers } => {
            McpTransport::Http { url: url.clone(), headers: headers.clone(), local_network: true }
        }
    };
    McpServerConfig {
        name: server.name.clone(),
        transport,
        start: server.start,
        idle: server.idle,
        total: server.total,
        // A configured server is shared, so no one's tokens may be used for it.
        authorization: None,
    }
}
