//! Lasting policies of a tool: permanently allowed or forbidden.

use turnleaf_domain::ChatId;
use turnleaf_domain::tools::approval::ToolApprovalPolicy;
use turnleaf_store::tools::tool_policies::StoredPolicy;

/// Returns true when a stored policy allows the tool for this host (`None` for a tool without hosts): in this chat or
/// in all, for the schema that was seen, and only when no policy forbids it. Allowing every host does not count.
pub(super) fn is_granted(policies: &[StoredPolicy], chat: ChatId, host: Option<&str>, hash: &str) -> bool {
    let is_allowed = |policy: &StoredPolicy| {
        policy.policy == ToolApprovalPolicy::Allow
            && policy.host.as_deref() == host
            && policy.chat.is_none_or(|of| of == chat)
            && policy.schema_hash.as_ref().is_none_or(|seen| *seen == hash)
    };
    !is_forbidden(policies, host) && policies.iter().any(is_allowed)
}

/// Returns true when a policy forbids the tool or the host.
pub(super) fn is_forbidden(policies: &[StoredPolicy], host: Option<&str>) -> bool {
    let counts = |policy: &StoredPolicy| policy.host.is_none() || policy.host.as_deref() == host;
    policies.iter().any(|policy| policy.policy == ToolApprovalPolicy::Never && counts(policy))
}
