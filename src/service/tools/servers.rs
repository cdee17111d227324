//! Tool servers: list, connect, change, remove, restart, and the approval policies of their tools. A stored change
//! takes effect at once; servers of the configuration file are listed but cannot be changed here.

mod draft;
mod headers;
pub mod imports;
mod policies;
mod restarts;
pub mod sign_in;
mod view;

use std::time::Duration;

use crate::accounts::Actor;
use crate::configuration_audit::configuration_changes;
use crate::idempotency::Created;
use crate::providers::connection_facts::ConnectionFacts;
use crate::tools::toolbox::trust::{TrustStatus, pin_trusted_tools};
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, InvalidField, MessageCode, ToolServerId, UserId, limits};
use turnleaf_platform::config::tool_servers::ToolServerConfig;
use turnleaf_platform::{base_url, ids};
use turnleaf_store::StoreError;
use turnleaf_store::accounts::users;
use turnleaf_store::tools::server_policies::{self, ServerPolicy};
use turnleaf_store::tools::tool_servers::{self, StoredToolServer};
use turnleaf_store::tools::{listings, tool_policies, tool_sign_ins, trusted_tools};
use turnleaf_tools::built_in;
use turnleaf_tools::mcp::{McpServerConfig, McpServerKey, McpTransport};

pub use draft::{NewToolServer, ToolServerChange};
pub use turnleaf_store::tools::tool_policies::StoredPolicy;
pub use view::{ServerSignIn, ToolServerStatus, ToolServerView, ToolView};

/// A changed server, with notices for its owner.
#[derive(Debug)]
pub struct ChangedToolServer {
    pub server: ToolServerView,
    /// Sentences, such as that the headers were cleared.
    pub notices: Vec<String>,
}

impl Service {
    /// Starts the configured servers, which this owner keeps, and the stored ones of all accounts in the background
    /// when the server starts, and stores their tool listings.
    pub async fn load_tools(&self, owner: UserId) -> Result<(), ServiceError> {
        self.tools().keep_configured_for(owner);
        self.tools().store_changed_listings(owner, self.clock().clone());
        self.tools().start_configured();
        self.supervisor().registry().remember_credentials(self.tools().configured_credentials());
        for user in users::list(self.db()).await? {
            self.load_own_tools(user).await?;
        }
        Ok(())
    }

    /// Starts the stored servers of an account in the background.
    async fn load_own_tools(&self, owner: UserId) -> Result<(), ServiceError> {
        self.load_web_search(owner).await?;
        for row in tool_servers::list(self.db(), owner).await? {
            if self.tools().configured_server(&row.slug).is_some() {
                tracing::warn!(server = row.slug, "the configuration sets a tool server that is stored too; it counts");
                continue;
            }
            if let Err(error) = self.publish_tool_server(&row) {
                tracing::warn!(server = row.slug, %error, "a stored tool server could not be started");
            }
        }
        Ok(())
    }

    /// Replaces the servers of the configuration. A stored server gives way to a configured one with the same id, and
    /// returns when that is removed.
    pub async fn reload_tools(&self, owner: UserId, configured: Vec<ToolServerConfig>) -> Result<(), ServiceError> {
        let _one_at_a_time = self.changing_providers().await;
        let rows = tool_servers::list(self.db(), owner).await?;
        let before = self.tools().configured();
        let set_before: Vec<&str> = before.iter().map(|server| server.id.as_str()).collect();
        let (old, new): (Vec<&ToolServerConfig>, Vec<&ToolServerConfig>) =
            (before.iter().collect(), configured.iter().collect());
        let verbs = [AuditVerb::AddToolServer, AuditVerb::ChangeToolServer, AuditVerb::RemoveToolServer];
        let changes = configuration_changes(verbs, (&old, &new), |one| &one.id, ToolServerConfig::is_same_as);
        self.record_configuration(changes).await;
        self.tools().set_configured(configured);
        self.supervisor().registry().remember_credentials(self.tools().configured_credentials());
        for row in rows {
            let is_set = self.tools().configured_server(&row.slug).is_some();
            let own = McpServerKey { owner: Some(owner), server: row.slug.clone() };
            match (set_before.contains(&row.slug.as_str()), is_set) {
                (false, true) => self.tools().servers().retire(&own),
                (true, false) => self.publish_tool_server(&row)?,
                // The command line may have stored servers beside this process.
                (_, false) => self.publish_changed_tool_server(&row)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns all servers with their tools: configured ones, then stored ones.
    pub async fn tool_servers(&self, owner: UserId) -> Result<Vec<ToolServerView>, ServiceError> {
        let db = self.db();
        let (rows, signed_in, listings, policies, of_servers) = tokio::try_join!(
            tool_servers::list(db, owner),
            tool_sign_ins::list_signed_in(db, owner),
            self.tools().listings(owner),
            tool_policies::list(db, owner),
            server_policies::list(db, owner)
        )?;
        let of_server = |server: &str| ServerPolicy::of_server(&of_servers, server);
        let tools = self.tools();
        let all_configured = tools.configured_for(owner);
        for server in all_configured.iter() {
            // A tool that is shown as trusted is pinned to the description that was shown.
            pin_trusted_tools(db, owner, server, &tools.server_tools(owner, &server.id, &listings)).await?;
        }
        let seen = trusted_tools::list(db, owner).await?;
        let status = |id: &str| tools.servers().status(&tools.server_key(owner, id));
        let configured = all_configured.iter().map(|server| {
            let listed = tools.server_tools(owner, &server.id, &listings);
            let of_server = of_server(&server.id);
            let views = listed.iter().map(|tool| {
                let trust = TrustStatus::from_seen(Some(server), tool, &seen);
                view::tool_view(Some(&server.id), tool, &policies, of_server, trust)
            });
            let shown = view::configured_server_view(server, status(&server.id), of_server, views.collect())
                .with_instructions(tools.known_instructions(owner, &server.id, &listings));
            if tools.is_keeper(owner) { shown } else { shown.without_connection() }
        });
        let stored = rows.iter().filter(|row| tools.configured_server(&row.slug).is_none()).map(|row| {
            let listed = tools.server_tools(owner, &row.slug, &listings);
            let of_server = of_server(&row.slug);
            let views = listed
                .iter()
                .map(|tool| view::tool_view(Some(&row.slug), tool, &policies, of_server, TrustStatus::Absent));
            let unopened = self.sealer().open_secrets(row).err();
            let shown = view::stored_server_view(row, status(&row.slug), (of_server, unopened), views.collect())
                .with_instructions(tools.known_instructions(owner, &row.slug, &listings));
            ToolServerView { sign_in: self.sign_in_view(row, status(&row.slug), &signed_in), ..shown }
        });
        Ok(configured.chain(stored).collect())
    }

    /// Returns the server with this id.
    pub async fn tool_server(&self, owner: UserId, id: &str) -> Result<ToolServerView, ServiceError> {
        self.tool_servers(owner).await?.into_iter().find(|server| server.id == id).ok_or(ServiceError::NotFound)
    }

    /// Returns why a server that is not enabled cannot be used: it is disabled, or does not exist.
    pub(crate) async fn not_enabled(&self, owner: UserId, id: &str) -> ServiceError {
        match self.tool_server(owner, id).await {
            Ok(server) => ServiceError::conflict("server_off", server.status.message()),
            Err(error) => error,
        }
    }

    /// Returns Turnleaf's built-in tools.
    pub async fn built_in_tools(&self, owner: UserId) -> Result<Vec<ToolView>, ServiceError> {
        let policies = tool_policies::list(self.db(), owner).await?;
        Ok(built_in::describe_all()
            .iter()
            .map(|tool| view::tool_view(None, tool, &policies, None, TrustStatus::Absent))
            .collect())
    }

    /// Stores a new server and starts it. Its tools can be chosen once it has listed them.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `too_many_servers`; `InvalidField`.
    pub async fn add_tool_server(
        &self,
        owner: UserId,
        actor: Actor,
        new: NewToolServer,
    ) -> Result<Created<ChangedToolServer>, ServiceError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let made = self.store_tool_server(owner, actor, new).await?;
        let (row, notices) = made.value;
        if made.is_new {
            self.publish_tool_server(&row)?;
        }
        let server = self.tool_server(owner, &row.slug).await?;
        Ok(Created { value: ChangedToolServer { server, notices }, is_new: made.is_new })
    }

    /// Stores a new server, with notices for its owner. The caller holds the lock of changes.
    pub(super) async fn store_tool_server(
        &self,
        owner: UserId,
        actor: Actor,
        new: NewToolServer,
    ) -> Result<Created<(StoredToolServer, Vec<String>)>, ServiceError> {
        let id: ToolServerId = ids::mint();
        let rows = tool_servers::list(self.db(), owner).await?;
        let mut tx = self.db().begin().await?;
        if let Some(made) =
            self.claim_request(&mut tx, owner, new.client_request_id.as_deref(), new.request_fingerprint(), id).await?
        {
            tx.rollback().await?;
            let row = rows.into_iter().find(|row| row.id.to_string() == made).ok_or(ServiceError::NotFound)?;
            return Ok(Created::existing((row, Vec::new())));
        }
        let configured = self.tools().configured();
        let configured = configured.iter().map(|server| server.id.clone());
        let taken: Vec<String> = configured.chain(rows.into_iter().map(|row| row.slug)).collect();
        if taken.len() >= limits::TOOL_SERVERS {
            let message = MessageCode::TooManyServers.with("most", limits::TOOL_SERVERS);
            return Err(ServiceError::conflict("too_many_servers", message));
        }
        let slug = new.slug(&taken)?;
        if taken.contains(&slug) {
            return Err(InvalidField::new("id", MessageCode::ToolServerExists.with("id", slug)).into());
        }
        let mut row = draft::empty_row(id, owner, slug, self.clock().now());
        new.fields.check_complete()?;
        let effects = draft::apply_change(&mut row, new.fields, self.sealer())?;
        self.check_local_network(owner, row.settings.local_network).await?;
        match tool_servers::insert(&mut tx, &row).await {
            Err(StoreError::NotUnique) => {
                return Err(InvalidField::new("id", MessageCode::ToolServerExists.with("id", row.slug)).into());
            }
            done => done?,
        }
        // Policies and listings of an earlier server with this id must not apply to the new one.
        forget(&mut tx, owner, &row.slug).await?;
        self.record(&mut tx, actor, AuditVerb::AddToolServer, &ConnectionFacts::from(&row).added()).await?;
        tx.commit().await?;
        Ok(Created::new((row, effects.notices)))
    }

    /// Changes the named fields and keeps the rest. A new address clears the headers, unless the change brings new
    /// ones, and revokes the policies of the tools.
    ///
    /// # Errors
    /// `password_needed` for an address or a secret in a session whose password was not entered lately; `server_locked`;
    /// `InvalidField`.
    pub async fn change_tool_server(
        &self,
        owner: UserId,
        actor: Actor,
        (id, change): (&str, ToolServerChange),
    ) -> Result<ChangedToolServer, ServiceError> {
        if change.touches_secrets() {
            self.require_recent_password(actor).await?;
        }
        let _one_at_a_time = self.changing_providers().await;
        let (row, notices) = self.store_tool_server_change(owner, actor, (id, change)).await?;
        self.publish_tool_server(&row)?;
        Ok(ChangedToolServer { server: self.tool_server(owner, id).await?, notices })
    }

    /// Stores a change, and returns the new row with notices for its owner. The caller holds the lock of changes.
    pub(super) async fn store_tool_server_change(
        &self,
        owner: UserId,
        actor: Actor,
        (id, change): (&str, ToolServerChange),
    ) -> Result<(StoredToolServer, Vec<String>), ServiceError> {
        let mut row = self.own_tool_server(owner, id).await?;
        let (before, given) = (ConnectionFacts::from(&row), change.given_secrets());
        let effects = draft::apply_change(&mut row, change, self.sealer())?;
        self.check_local_network(owner, row.settings.local_network).await?;
        row.updated_at = self.clock().now();
        let ends_sign_in = effects.has_new_origin || effects.has_moved && self.is_signed_in_elsewhere(&row).await;
        let mut tx = self.db().begin().await?;
        if !tool_servers::update(&mut tx, &row).await? {
            return Err(ServiceError::NotFound);
        }
        if effects.has_moved {
            revoke_policies(&mut tx, owner, id).await?;
            listings::clear(&mut tx, owner, id).await?;
        }
        if ends_sign_in {
            tool_sign_ins::delete_of_server(&mut tx, owner, row.id).await?;
        }
        if let Some(target) = ConnectionFacts::from(&row).changed(&before, &given) {
            self.record(&mut tx, actor, AuditVerb::ChangeToolServer, &target).await?;
        }
        tx.commit().await?;
        if ends_sign_in {
            self.sign_ins().forget(row.id).await;
        }
        Ok((row, effects.notices))
    }

    /// Stops a server and removes it with its headers, its sign-in and the policies of its tools.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `server_locked`.
    pub async fn remove_tool_server(&self, owner: UserId, actor: Actor, id: &str) -> Result<(), ServiceError> {
        self.require_recent_password(actor).await?;
        self.drop_tool_server(owner, Some(actor), id).await
    }

    /// Removes a server. Without an actor, which is when its account is deleted, the audit log does not name it.
    pub(crate) async fn drop_tool_server(
        &self,
        owner: UserId,
        actor: Option<Actor>,
        id: &str,
    ) -> Result<(), ServiceError> {
        let _one_at_a_time = self.changing_providers().await;
        let row = self.own_tool_server(owner, id).await?;
        let mut tx = self.db().begin().await?;
        if !tool_servers::delete(&mut tx, owner, row.id).await? {
            return Err(ServiceError::NotFound);
        }
        forget(&mut tx, owner, id).await?;
        if let Some(actor) = actor {
            self.record(&mut tx, actor, AuditVerb::RemoveToolServer, id).await?;
        }
        tx.commit().await?;
        self.sign_ins().forget(row.id).await;
        self.tools().servers().remove(&self.tools().server_key(owner, id));
        Ok(())
    }

    /// Returns a stored row that its owner may change.
    async fn own_tool_server(&self, owner: UserId, id: &str) -> Result<StoredToolServer, ServiceError> {
        if let Some(server) = self.tools().configured_server(id) {
            let message = MessageCode::ServerLocked.with("name", server.name);
            return Err(ServiceError::conflict("server_locked", message));
        }
        tool_servers::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Starts or stops a server according to its row.
    pub(super) fn publish_tool_server(&self, row: &StoredToolServer) -> Result<(), ServiceError> {
        let servers = self.tools().servers();
        let key = self.tools().server_key(row.owner_id, &row.slug);
        match self.connection_config(row)? {
            Some(config) if row.is_enabled => servers.put(key, config),
            _ => servers.remove(&key),
        }
        Ok(())
    }

    /// Connects a server with other credentials; its running calls finish first.
    fn reconnect_tool_server(&self, row: &StoredToolServer) -> Result<(), ServiceError> {
        let servers = self.tools().servers();
        let key = self.tools().server_key(row.owner_id, &row.slug);
        match self.connection_config(row)? {
            Some(config) if row.is_enabled => servers.replace(key, config),
            _ => servers.retire(&key),
        }
        Ok(())
    }

    /// Starts a server whose row another process has changed; its running calls finish first.
    fn publish_changed_tool_server(&self, row: &StoredToolServer) -> Result<(), ServiceError> {
        let servers = self.tools().servers();
        let key = self.tools().server_key(row.owner_id, &row.slug);
        match self.connection_config(row)? {
            Some(config) if row.is_enabled && !servers.has_config(&key, &config) => servers.replace(key, config),
            Some(_) if row.is_enabled => {}
            _ => servers.retire(&key),
        }
        Ok(())
    }

    /// Returns how a stored server is reached; `None` if its secrets cannot be opened.
    fn connection_config(&self, row: &StoredToolServer) -> Result<Option<McpServerConfig>, ServiceError> {
        let secrets = match self.sealer().open_secrets(row) {
            Ok(secrets) => secrets,
            Err(error) => {
                tracing::warn!(server = row.slug, %error, "stored headers cannot be opened");
                return Ok(None);
            }
        };
        let url = secrets.url.as_deref().unwrap_or(&row.url);
        let url = base_url::parse(url).map_err(|reason| InvalidField::new("url", reason))?;
        let authorization = self.server_authorization(row, &url, &secrets.headers);
        let (headers, settings) = (secrets.headers, &row.settings);
        let transport = McpTransport::Http { url, headers, local_network: settings.local_network };
        let [start, idle, total] = [settings.start_seconds, settings.idle_seconds, settings.total_seconds]
            .map(|seconds| seconds.map(Duration::from_secs));
        let config = McpServerConfig { name: row.name.clone(), transport, start, idle, total, authorization };
        // Even a disabled server may have used these credentials before, so they must be redacted.
        self.supervisor().registry().remember_credentials(config.credentials());
        Ok(Some(config))
    }
}

/// Deletes the policies and the listing of a server's tools.
async fn forget(tx: &mut turnleaf_store::Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    revoke_policies(tx, owner, server).await?;
    listings::delete(tx, owner, server).await
}

async fn revoke_policies(tx: &mut turnleaf_store::Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    tool_policies::delete_of_server(tx, owner, server).await?;
    server_policies::delete(tx, owner, server).await
}
