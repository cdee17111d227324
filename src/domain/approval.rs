//! Approval requests for tool calls (`docs/adr/0029-approvals-are-events.md`). The request is part of the call's
//! block, so it survives a restart of the process; a decision names the hash of the exact request that it answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::block::{Block, Content, ToolStatus};

/// The key of the approval request in a block's metadata.
pub const KEY: &str = "approval";

/// A request to a person to approve one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ApprovalRequest {
    /// The server's id. Empty for tools that Turnleaf runs itself.
    pub server: String,
    pub tool: String,
    /// The tool's display name.
    pub title: String,
    /// The hash of the tool's schema, so that a lasting permission does not apply to a tool with another schema.
    pub schema_hash: String,
    /// The hash of server, tool, schema and arguments. A decision names it.
    pub hash: String,
    /// The number of invisible characters in the arguments.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden_characters: u32,
    /// The reason why approval is requested again, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ApprovalRequest {
    /// Returns the request of a call that awaits approval, and `None` for every other block.
    pub fn from_block(block: &Block) -> Option<Self> {
        let waits = matches!(block.content, Content::ToolUse { status: ToolStatus::AwaitingApproval, .. });
        if waits { serde_json::from_value(block.block_metadata.get(KEY)?.clone()).ok() } else { None }
    }

    /// Returns the metadata change that adds this request to its block.
    pub fn as_metadata(&self) -> Value {
        json!({ KEY: self })
    }
}

/// A person's decision on a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// Allow this call only.
    Allow,
    /// Allow this tool in this chat, as long as its schema does not change.
    AllowInChat,
    /// Allow this tool in every chat, as long as its schema does not change.
    Always,
    Deny,
}

impl ApprovalDecision {
    pub fn allows(self) -> bool {
        self != Self::Deny
    }
}

/// The standing permission of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolApprovalPolicy {
    #[default]
    Ask,
    Allow,
    Never,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn call_has_request_only_while_awaiting_approval() {
        let ask = ApprovalRequest {
            server: "files".into(),
            tool: "write".into(),
            title: "Write".into(),
            schema_hash: "s".into(),
            hash: "h".into(),
            hidden_characters: 3,
            note: None,
        };
        let call = fixtures::tool_use("c", "files__write", json!({}), ToolStatus::AwaitingApproval);
        let mut block = fixtures::block(2, 0, call);
        assert_eq!(ApprovalRequest::from_block(&block), None, "nothing is written down");
        block.block_metadata = ask.as_metadata();
        assert_eq!(ApprovalRequest::from_block(&block), Some(ask));
        block.content = fixtures::tool_use("c", "files__write", json!({}), ToolStatus::Running);
        assert_eq!(ApprovalRequest::from_block(&block), None, "it was answered");
    }
}
