//! Gate of tool calls: the tool exists and the branch offers it, the arguments match its schema, and a person or the
//! configuration allows it. The effects that a server claims decide nothing (docs/reference/security.md 2.6).

use super::exposure::Exposure;
use super::grants::{is_forbidden, is_granted};
use super::trust::TrustStatus;
use super::{NOT_AVAILABLE, ServiceToolbox};
use turnleaf_domain::tools::approval::{ApprovalNote, ToolApprovalPolicy};
use turnleaf_domain::tools::tool::{OfferedTool, ToolOrigin};
use turnleaf_store::tools::server_policies::{self, ServerPolicy};
use turnleaf_store::tools::tool_policies::{self, StoredPolicy};
use turnleaf_store::{StoreError, branches, turns};
use turnleaf_tools::built_in;
use turnleaf_tools::schema::check_arguments;
use turnleaf_tools::toolbox::{GateDecision, ToolCall, ToolDescription};

/// The context of a gate decision besides the call itself.
pub(super) struct GateContext<'a> {
    pub tool: &'a ToolDescription,
    pub policies: &'a [StoredPolicy],
    /// The policy for all tools of the server.
    pub of_server: Option<&'a ServerPolicy>,
    /// The configuration's trust in the tool.
    pub trust: TrustStatus,
    /// True when the tool differs from the one that the branch was given.
    pub has_changed: bool,
    /// The host that the call reaches, for a tool that is approved per host.
    pub host: Option<&'a str>,
    pub exposure: &'a Exposure,
}

impl ServiceToolbox {
    /// Returns the gate's decision about a call.
    pub(super) async fn gate_decision(
        &self,
        call: &ToolCall,
        granted: Option<&str>,
    ) -> Result<GateDecision, StoreError> {
        let refused = || Ok(GateDecision::Refuse(NOT_AVAILABLE.into()));
        let caller = &call.caller;
        let on_branch = self.branch_tools(call).await?;
        let Some(tool) = self.find_tool(caller.owner, &call.origin).await? else { return refused() };
        let Some(on_branch) = find_offer(call, &tool, on_branch) else { return refused() };
        if let Err(wrong) = check_arguments(&tool.schema, &call.arguments) {
            return Ok(GateDecision::Refuse(wrong));
        }
        let host = match call.host() {
            Ok(host) => host,
            Err(reason) => return Ok(GateDecision::Refuse(reason)),
        };
        let server = call.origin.server();
        let is_guarded = server.is_empty()
            && (host.is_some() || built_in::reads_chats(&tool.tool) || built_in::sends_queries(&tool.tool));
        let exposure = if is_guarded { self.exposure(caller).await? } else { Exposure::default() };
        let policies = tool_policies::list_for_tool(&self.0.db, caller.owner, caller.chat, server, &tool.tool).await?;
        let of_servers =
            if server.is_empty() { Vec::new() } else { server_policies::list(&self.0.db, caller.owner).await? };
        let of_server = ServerPolicy::of_server(&of_servers, server);
        let trust = self.trust_status(caller.owner, server, &tool).await?;
        let has_changed = schema_hash(&on_branch, &tool) != tool.schema_hash();
        let (host, exposure) = (host.as_deref(), &exposure);
        let decision = evaluate_gate(
            call,
            granted,
            &GateContext { tool: &tool, policies: &policies, of_server, trust, has_changed, host, exposure },
        );
        if decision == GateDecision::Run && !server.is_empty() {
            let request = tool.approval_request(server, &call.arguments, host);
            if let Some(request) = self.sign_in_request(call, request) {
                return Ok(GateDecision::Ask(request));
            }
        }
        Ok(decision)
    }

    /// Returns the tools that the branch of the call offers.
    async fn branch_tools(&self, call: &ToolCall) -> Result<Vec<OfferedTool>, StoreError> {
        let db = &self.0.db;
        let Some(turn) = turns::find(db, call.caller.owner, call.caller.turn).await? else { return Ok(Vec::new()) };
        let frozen = branches::frozen(db, turn.branch_id).await?;
        Ok(frozen.and_then(|frozen| frozen.tools).unwrap_or_default())
    }
}

/// Returns the called tool as the branch offers it. One that its server keeps for its own views is offered to no model: a
/// view may call it on a branch that offers another tool of the server.
fn find_offer(call: &ToolCall, tool: &ToolDescription, on_branch: Vec<OfferedTool>) -> Option<OfferedTool> {
    if !tool.is_closed_to_models {
        return on_branch.into_iter().find(|known| known.origin.as_ref() == Some(&call.origin));
    }
    let server = call.origin.server();
    let is_of_server = |known: &OfferedTool| known.origin.as_ref().is_some_and(|origin| origin.server() == server);
    let may_call = call.is_from_view && on_branch.iter().any(is_of_server);
    may_call.then(|| tool.to_offered_tool(Some((server, server))))
}

/// Returns the hash of the tool that the branch was given.
fn schema_hash(on_branch: &OfferedTool, tool: &ToolDescription) -> String {
    let given = ToolDescription {
        schema: on_branch.spec.parameters.clone(),
        description: on_branch.spec.description.clone(),
        ..tool.clone()
    };
    given.schema_hash()
}

/// Evaluates the policies of a tool for a call, in this order: never, always allowed, allowed in this chat, allowed
/// with all tools of its server, allowed for this call, and then whether it may run without approval. The policy of the
/// server counts only for tools without a policy for all chats; its "never" also ends what was allowed in single chats.
pub(super) fn evaluate_gate(call: &ToolCall, granted: Option<&str>, grounds: &GateContext<'_>) -> GateDecision {
    let GateContext { tool, policies, of_server, trust, has_changed, host, exposure } = grounds;
    let (chat, hash) = (call.caller.chat, tool.schema_hash());
    let of_server = of_server.filter(|_| policies.iter().all(|policy| policy.chat.is_some()));
    let of_server_is = |policy| of_server.is_some_and(|of_server| of_server.policy == policy);
    if is_forbidden(policies, *host) || of_server_is(ToolApprovalPolicy::Never) {
        return GateDecision::Refuse("This tool is disabled on this server.".into());
    }
    let is_allowed_with_server = of_server.is_some_and(|of_server| of_server.allows(&tool.tool, &hash));
    if is_granted(policies, chat, *host, &hash) || is_allowed_with_server {
        return GateDecision::Run;
    }
    let mut ask = tool.approval_request(call.origin.server(), &call.arguments, *host);
    if granted == Some(ask.hash.as_str()) {
        return GateDecision::Run;
    }
    let is_built_in = matches!(call.origin, ToolOrigin::BuiltIn { .. });
    let is_exposed = is_built_in && exposure.is_untrusted;
    let is_harmless = tool.is_harmless && is_built_in && !(is_exposed && built_in::reads_chats(&tool.tool));
    let of_call = || policies.iter().filter(|policy| policy.host.as_deref() == *host);
    let is_unset = of_call().all(|policy| policy.chat.is_some()) && !of_server_is(ToolApprovalPolicy::Ask);
    if is_unset && (*trust == TrustStatus::Holds || is_harmless) {
        return GateDecision::Run;
    }
    let was_allowed = of_server_is(ToolApprovalPolicy::Allow)
        && of_server.is_some_and(|of| of.seen.contains_key(&tool.tool))
        || of_call()
            .any(|policy| policy.policy == ToolApprovalPolicy::Allow && policy.chat.is_none_or(|of| of == chat));
    let note = match (was_allowed, has_changed, host) {
        (true, ..) => Some(ApprovalNote::ChangedSinceAllowed),
        (false, ..) if *trust == TrustStatus::Changed => Some(ApprovalNote::ChangedSinceTrusted),
        (false, true, _) => Some(ApprovalNote::DescriptionChanged),
        (false, false, Some(host)) if is_exposed && !exposure.named_hosts.contains(*host) => {
            Some(ApprovalNote::UnnamedHost)
        }
        // The exposure is only known for tools that read chats or send queries.
        (false, false, None) if is_exposed => Some(ApprovalNote::UntrustedText),
        (false, false, _) => None,
    };
    if let Some(note) = note {
        let host = host.filter(|_| note == ApprovalNote::UnnamedHost);
        ask.set_note(note, host.map(|host| ("host".to_owned(), host.to_owned())).into_iter().collect());
    }
    GateDecision::Ask(ask)
}

#[cfg(test)]
mod tests;
