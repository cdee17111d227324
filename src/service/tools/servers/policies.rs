//! The approval policies of tools: read, set and revoked by their owner.

use super::view::{self, ToolServerView, ToolView};
use crate::accounts::Actor;
use crate::tools::toolbox::trust::TrustStatus;
use crate::{Service, ServiceError};
use turnleaf_domain::tools::approval::ToolApprovalPolicy;
use turnleaf_domain::tools::tool::ToolOrigin;
use turnleaf_domain::{AuditVerb, ChatId, InvalidField, MessageCode, UserId};
use turnleaf_providers::page_fetcher::parse_host;
use turnleaf_store::tools::server_policies::{self, ServerPolicy};
use turnleaf_store::tools::tool_policies::{self, StoredPolicy};
use turnleaf_store::tools::{listings, trusted_tools};
use turnleaf_tools::built_in;
use turnleaf_tools::toolbox::listing_hash;

impl Service {
    /// Returns all stored policies of tools, for all chats or for one.
    pub async fn tool_policies(&self, owner: UserId) -> Result<Vec<StoredPolicy>, ServiceError> {
        Ok(tool_policies::list(self.db(), owner).await?)
    }

    /// Revokes the policy of a tool, or of a tool and a host, in one chat: its next call asks for approval, unless it
    /// is allowed everywhere.
    pub async fn revoke_tool_answer(
        &self,
        owner: UserId,
        chat: ChatId,
        (server, tool, host): (&str, &str, Option<&str>),
    ) -> Result<(), ServiceError> {
        self.chat(owner, chat).await?;
        let mut tx = self.db().begin().await?;
        tool_policies::delete_in_chat(&mut tx, owner, chat, (server, tool, host)).await?;
        Ok(tx.commit().await?)
    }

    /// Sets the policy of a tool for all chats. `Allow` is pinned to the tool's present description; `Ask` also
    /// revokes what single chats and hosts allow; `None` removes the policy, so that the one of its server counts. A
    /// host restricts the policy to calls that reach it, for tools that are approved per host.
    ///
    /// # Errors
    /// `InvalidField` for allowing all hosts at once, for an invalid host, and for a host of a tool that is not
    /// approved per host.
    pub async fn set_tool_policy(
        &self,
        owner: UserId,
        actor: Actor,
        (server, tool, host): (&str, &str, Option<&str>),
        policy: Option<ToolApprovalPolicy>,
    ) -> Result<ToolView, ServiceError> {
        let origin = match server {
            "" => ToolOrigin::BuiltIn { tool: tool.to_owned() },
            server => ToolOrigin::Server { server: server.to_owned(), tool: tool.to_owned() },
        };
        let known = self.tools().find_tool(owner, &origin).await?.ok_or(ServiceError::NotFound)?;
        let kept = policy.unwrap_or_default();
        let host = scope_of(server, tool, host, kept)?;
        let stored = StoredPolicy {
            chat: None,
            server: server.to_owned(),
            tool: tool.to_owned(),
            host,
            policy: kept,
            schema_hash: (kept == ToolApprovalPolicy::Allow).then(|| known.schema_hash()),
        };
        let mut tx = self.db().begin().await?;
        match (policy, stored.host.as_deref()) {
            (None | Some(ToolApprovalPolicy::Ask), Some(host)) => {
                tool_policies::delete_of_host(&mut tx, owner, server, tool, host).await?
            }
            (None, None) => tool_policies::delete_of_tool(&mut tx, owner, server, tool).await?,
            (Some(ToolApprovalPolicy::Ask), None) => {
                tool_policies::put(&mut tx, owner, &stored, self.clock().now()).await?;
                tool_policies::delete_grants(&mut tx, owner, server, tool).await?;
            }
            (Some(ToolApprovalPolicy::Allow | ToolApprovalPolicy::Never), _) => {
                tool_policies::put(&mut tx, owner, &stored, self.clock().now()).await?;
            }
        }
        let target = policy_target((server, tool, stored.host.as_deref()), policy);
        self.record(&mut tx, actor, AuditVerb::SetToolPolicy, &target).await?;
        tx.commit().await?;
        let policies = tool_policies::list(self.db(), owner).await?;
        let of_servers = server_policies::list(self.db(), owner).await?;
        let seen = trusted_tools::list(self.db(), owner).await?;
        let trust = TrustStatus::from_seen(self.tools().configured_server(server).as_ref(), &known, &seen);
        let named = (!server.is_empty()).then_some(server);
        let of_server = named.and_then(|server| ServerPolicy::of_server(&of_servers, server));
        Ok(view::tool_view(named, &known, &policies, of_server, trust))
    }

    /// Sets the policy of a server for its tools without one of their own, in all chats. `Allow` holds for the tools
    /// that the server lists now, as they describe themselves now; with `shown`, the hash of the tools that a person
    /// saw, only for those. `None` removes the policy.
    ///
    /// # Errors
    /// `NotFound` for a server that does not exist or is disabled; `InvalidField` if it lists other tools than those
    /// shown.
    pub async fn set_server_policy(
        &self,
        owner: UserId,
        actor: Actor,
        (server, shown): (&str, Option<&str>),
        policy: Option<ToolApprovalPolicy>,
    ) -> Result<ToolServerView, ServiceError> {
        if !self.tools().has_server(owner, server).await? {
            return Err(ServiceError::NotFound);
        }
        let mut tx = self.db().begin().await?;
        match policy {
            Some(policy) => {
                let listings = self.tools().listings(owner).await?;
                let tools = self.tools().server_tools(owner, server, &listings);
                let is_allowed = policy == ToolApprovalPolicy::Allow;
                if is_allowed && shown.is_some_and(|shown| shown != listing_hash(&tools)) {
                    return Err(InvalidField::new("confirm", MessageCode::ToolsChanged).into());
                }
                let seen = tools.iter().filter(|_| is_allowed).map(|tool| (tool.tool.clone(), tool.schema_hash()));
                let stored = ServerPolicy { server: server.to_owned(), policy, seen: seen.collect() };
                server_policies::put(&mut tx, owner, &stored, self.clock().now()).await?;
            }
            None => server_policies::delete(&mut tx, owner, server).await?,
        }
        self.record(&mut tx, actor, AuditVerb::SetToolPolicy, &policy_target((server, "*", None), policy)).await?;
        tx.commit().await?;
        self.tool_server(owner, server).await
    }

    /// Sets whether models are offered the instructions of a server, in branches that begin from now on.
    ///
    /// # Errors
    /// `NotFound` for a server that does not exist.
    pub async fn set_offers_instructions(
        &self,
        owner: UserId,
        actor: Actor,
        (server, offers): (&str, bool),
    ) -> Result<ToolServerView, ServiceError> {
        if !self.tools().has_server(owner, server).await? {
            return Err(ServiceError::NotFound);
        }
        let mut tx = self.db().begin().await?;
        listings::set_offers_instructions(&mut tx, owner, server, offers).await?;
        let target = format!("{server}: instructions {}", if offers { "on" } else { "off" });
        self.record(&mut tx, actor, AuditVerb::ChangeToolServer, &target).await?;
        tx.commit().await?;
        self.tool_server(owner, server).await
    }

    /// Allows a server, as [`Self::set_server_policy`] does, and returns the policy that this replaces.
    pub(in crate::tools) async fn allow_server(
        &self,
        owner: UserId,
        actor: Actor,
        (server, shown): (&str, Option<&str>),
    ) -> Result<Option<ServerPolicy>, ServiceError> {
        let policies = server_policies::list(self.db(), owner).await?;
        let before = policies.into_iter().find(|policy| policy.server == server);
        self.set_server_policy(owner, actor, (server, shown), Some(ToolApprovalPolicy::Allow)).await?;
        Ok(before)
    }

    /// Restores the policy of a server, because the answer that replaced it was refused.
    pub(in crate::tools) async fn restore_server_policy(
        &self,
        owner: UserId,
        actor: Actor,
        (server, before): (&str, Option<ServerPolicy>),
    ) -> Result<(), ServiceError> {
        let target = policy_target((server, "*", None), before.as_ref().map(|policy| policy.policy));
        let mut tx = self.db().begin().await?;
        match before {
            Some(policy) => server_policies::put(&mut tx, owner, &policy, self.clock().now()).await?,
            None => server_policies::delete(&mut tx, owner, server).await?,
        }
        self.record(&mut tx, actor, AuditVerb::SetToolPolicy, &target).await?;
        Ok(tx.commit().await?)
    }

    /// Adds an entry about a tool that a person has allowed everywhere by the answer to a call, which its run stores.
    pub(in crate::tools) async fn record_allowed_tool(
        &self,
        actor: Actor,
        (server, tool, host): (&str, &str, Option<&str>),
    ) -> Result<(), ServiceError> {
        let target = policy_target((server, tool, host), Some(ToolApprovalPolicy::Allow));
        let mut tx = self.db().begin().await?;
        self.record(&mut tx, actor, AuditVerb::SetToolPolicy, &target).await?;
        Ok(tx.commit().await?)
    }
}

/// Returns the target of the entry about a policy: the tool, or all tools of a server, with the host, and what is set.
fn policy_target((server, tool, host): (&str, &str, Option<&str>), policy: Option<ToolApprovalPolicy>) -> String {
    let policy = match policy {
        Some(ToolApprovalPolicy::Ask) => "ask",
        Some(ToolApprovalPolicy::Allow) => "allow",
        Some(ToolApprovalPolicy::Never) => "never",
        None => "default",
    };
    let tool = if server.is_empty() { tool.to_owned() } else { format!("{server}/{tool}") };
    match host {
        Some(host) => format!("{tool} {host}: {policy}"),
        None => format!("{tool}: {policy}"),
    }
}

/// Returns the host of a policy in canonical form.
fn scope_of(
    server: &str,
    tool: &str,
    host: Option<&str>,
    policy: ToolApprovalPolicy,
) -> Result<Option<String>, InvalidField> {
    let by_host = server.is_empty() && built_in::is_approved_per_host(tool);
    match host.map(str::trim) {
        None if by_host && policy == ToolApprovalPolicy::Allow => {
            Err(InvalidField::new("host", MessageCode::IsRequired))
        }
        None => Ok(None),
        Some(_) if !by_host => Err(InvalidField::new("host", MessageCode::HostOnly)),
        // A stored row can be revoked even if its host is invalid.
        Some(host) if policy == ToolApprovalPolicy::Ask => {
            Ok(Some(parse_host(host).unwrap_or_else(|| host.to_owned())))
        }
        Some(host) => {
            let named = parse_host(host).ok_or_else(|| InvalidField::new("host", MessageCode::NotAHost))?;
            Ok(Some(named))
        }
    }
}
