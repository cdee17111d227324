//! Lasting answers about a tool: whether somebody said yes or no to it for good.

use turnleaf_domain::ChatId;
use turnleaf_domain::approval::ToolApprovalPolicy;
use turnleaf_store::tool_policies::StoredPolicy;

/// Whether a lasting yes holds for this host, or for a tool that has none: in this chat or in all of them, for the schema
/// that was seen, and only where nobody said never. A yes to every host is none.
pub(super) fn is_granted(policies: &[StoredPolicy], chat: ChatId, host: Option<&str>, hash: &str) -> bool {
    let is_allowed = |policy: &StoredPolicy| {
        policy.policy == ToolApprovalPolicy::Allow
            && policy.host.as_deref() == host
            && policy.chat.is_none_or(|of| of == chat)
            && policy.schema_hash.as_ref().is_none_or(|seen| *seen == hash)
    };
    !is_forbidden(policies, host) && policies.iter().any(is_allowed)
}

/// Whether somebody said never, of the tool or of the host.
pub(super) fn is_forbidden(policies: &[StoredPolicy], host: Option<&str>) -> bool {
    let counts = |policy: &StoredPolicy| policy.host.is_none() || policy.host.as_deref() == host;
    policies.iter().any(|policy| policy.policy == ToolApprovalPolicy::Never && counts(policy))
}
