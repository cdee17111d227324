//! Whether a call may run: there is such a tool and the branch offers it, its arguments fit, and somebody said yes. What a
//! server says of its tool's effects decides nothing (security.md 2.6).

use super::{NOT_AVAILABLE, Tools};
use crate::domain::approval::Policy;
use crate::domain::tool::{OfferedTool, ToolOrigin};
use crate::server::store::tool_policies::{self, StoredPolicy};
use crate::server::store::{StoreError, branches, turns};
use crate::server::tools::schema::check_arguments;
use crate::server::tools::toolbox::{Described, Gate, ToolCall};

/// Why somebody is asked again.
pub const CHANGED: &str = "Its description changed since this chat got it.";
pub const CHANGED_SINCE_ALLOWED: &str = "Its description changed since you allowed it.";

/// What counts beside the call itself.
pub(super) struct Grounds<'a> {
    pub tool: &'a Described,
    pub policies: &'a [StoredPolicy],
    /// Whoever runs this server said that the tool is safe.
    pub is_trusted: bool,
    /// The tool is another one than the branch was given.
    pub has_changed: bool,
}

impl Tools {
    /// The gate's decision.
    pub(super) async fn decide(&self, call: &ToolCall, granted: Option<&str>) -> Result<Gate, StoreError> {
        let refused = || Ok(Gate::Refuse(NOT_AVAILABLE.into()));
        let caller = &call.caller;
        let Some(on_branch) = self.on_branch(call).await? else { return refused() };
        let Some(tool) = self.find(caller.owner, &call.origin).await? else { return refused() };
        if let Err(wrong) = check_arguments(&tool.schema, &call.arguments) {
            return Ok(Gate::Refuse(wrong));
        }
        let server = call.origin.server();
        let policies = tool_policies::of(&self.0.db, caller.owner, caller.chat, server, &tool.tool).await?;
        let is_trusted = self.configured_server(server).is_some_and(|configured| configured.trusts(&tool.tool));
        let has_changed = schema_hash(&on_branch, &tool) != tool.schema_hash();
        Ok(weigh(call, granted, &Grounds { tool: &tool, policies: &policies, is_trusted, has_changed }))
    }

    /// The tool as the branch of the call offers it.
    async fn on_branch(&self, call: &ToolCall) -> Result<Option<OfferedTool>, StoreError> {
        let db = &self.0.db;
        let Some(turn) = turns::find(db, call.caller.owner, call.caller.turn).await? else { return Ok(None) };
        let frozen = branches::frozen(db, turn.branch_id).await?;
        let tools = frozen.and_then(|frozen| frozen.tools).unwrap_or_default();
        Ok(tools.into_iter().find(|tool| tool.origin.as_ref() == Some(&call.origin)))
    }
}

/// The hash of what the branch was given.
fn schema_hash(on_branch: &OfferedTool, tool: &Described) -> String {
    let given = Described {
        schema: on_branch.spec.parameters.clone(),
        description: on_branch.spec.description.clone(),
        ..tool.clone()
    };
    given.schema_hash()
}

/// What was said about a tool against a call of it: a no for ever, a yes for ever, a yes for this chat, a yes for this
/// call, and then whether it may run unasked.
pub(super) fn weigh(call: &ToolCall, granted: Option<&str>, grounds: &Grounds<'_>) -> Gate {
    let Grounds { tool, policies, is_trusted, has_changed } = grounds;
    let hash = tool.schema_hash();
    let always = policies.iter().find(|policy| policy.chat.is_none());
    let in_chat = policies.iter().find(|policy| policy.chat == Some(call.caller.chat));
    if policies.iter().any(|policy| policy.policy == Policy::Never) {
        return Gate::Refuse("the owner of this server does not allow it".into());
    }
    let allows = |policy: Option<&StoredPolicy>| policy.is_some_and(|policy| policy.policy == Policy::Allow);
    let holds = |policy: Option<&StoredPolicy>| {
        allows(policy) && policy.is_some_and(|policy| policy.schema_hash.as_ref().is_none_or(|seen| *seen == hash))
    };
    if holds(always) || holds(in_chat) {
        return Gate::Run;
    }
    let mut ask = tool.ask(call.origin.server(), &call.arguments);
    if granted == Some(ask.hash.as_str()) {
        return Gate::Run;
    }
    let is_built_in = matches!(call.origin, ToolOrigin::BuiltIn { .. });
    if always.is_none() && (*is_trusted || (tool.is_harmless && is_built_in)) {
        return Gate::Run;
    }
    ask.note = match (allows(always) || allows(in_chat), has_changed) {
        (true, _) => Some(CHANGED_SINCE_ALLOWED.to_owned()),
        (false, true) => Some(CHANGED.to_owned()),
        (false, false) => None,
    };
    Gate::Ask(ask)
}

#[cfg(test)]
mod tests;
