//! Asking a person whether a tool may run (domain.md 4.5, security.md on tools). What is asked is part of the call's
//! block, so it survives whatever happens to the process; an answer holds for exactly what was asked.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::block::{Block, Content, ToolStatus};

/// Where a block's metadata keeps what is asked.
pub const KEY: &str = "approval";

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ApprovalRequest {
    /// The server's id; empty for what Turnleaf runs itself.
    pub server: String,
    pub tool: String,
    /// The tool's name for people.
    pub title: String,
    /// Of the tool's schema, so that a lasting answer does not hold for another one.
    pub schema_hash: String,
    /// Of server, tool, schema and arguments: what an answer names.
    pub hash: String,
    /// Characters in the arguments that nobody sees.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden_characters: u32,
    /// Why it is asked again, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ApprovalRequest {
    /// What a call asks, while it waits for the answer.
    pub fn from_block(block: &Block) -> Option<Self> {
        let waits = matches!(block.content, Content::ToolUse { status: ToolStatus::AwaitingApproval, .. });
        if waits { serde_json::from_value(block.block_metadata.get(KEY)?.clone()).ok() } else { None }
    }

    /// The change of the block's metadata that asks.
    pub fn as_metadata(&self) -> Value {
        json!({ KEY: self })
    }
}

/// What a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// This call.
    Allow,
    /// This tool, as long as its schema stays, in this chat.
    AllowInChat,
    /// The same in every chat.
    Always,
    Deny,
}

impl ApprovalDecision {
    pub fn allows(self) -> bool {
        self != Self::Deny
    }
}

/// What was said about a tool once and for all.
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
