//! Live shares: a branch that accounts and groups of the same server read while it grows.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::share::SharedParts;
use crate::blocks::block::{BlockState, Content};
use crate::id::{BranchId, BranchShareId, ChatId};
use crate::turns::turn::{Turn, TurnStatus};

/// The parts of a live share besides its messages and replies. All of them are left out unless they are chosen when the
/// share is created. The system prompt is none of them, because it is a setting of the chat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LiveParts {
    /// The reasoning of the models.
    pub reasoning: bool,
    /// Tool calls with their arguments and results.
    pub tools: bool,
    /// The names and the quoted lines of attached documents.
    pub documents: bool,
}

impl From<LiveParts> for SharedParts {
    fn from(LiveParts { reasoning, tools, documents }: LiveParts) -> Self {
        Self { reasoning, tools, system_prompt: false, documents }
    }
}

/// The names of the accounts and of the groups that read a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BranchReaders {
    /// Names of accounts.
    pub accounts: Vec<String>,
    /// Names of groups. Whoever is in the group at the time reads the branch.
    pub groups: Vec<String>,
}

/// A live share as its owner sees it. Its page is `/shared/branches/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct BranchShare {
    pub id: BranchShareId,
    pub chat_id: ChatId,
    /// The branch that is shared, up to its newest message or reply.
    pub branch_id: BranchId,
    /// Title of the chat.
    pub chat_title: String,
    /// Name of the branch.
    pub branch_name: String,
    pub parts: LiveParts,
    pub readers: BranchReaders,
    pub created_at: DateTime<Utc>,
}

/// Returns a reply that runs as far as it is written, as if it had ended there. A tool call is left out until it has
/// ended, because only the owner decides about it.
pub fn written_part(mut turn: Turn) -> Turn {
    turn.status = TurnStatus::Complete;
    turn.blocks.retain(|block| !matches!(&block.content, Content::ToolUse { status, .. } if status.is_open()));
    for block in turn.blocks.iter_mut().filter(|block| block.state == BlockState::Open) {
        block.state = BlockState::Done;
    }
    turn
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::blocks::block::ToolStatus;
    use crate::fixtures;

    #[test]
    fn running_reply_has_what_is_written_and_no_call_that_waits() {
        let mut reply = fixtures::reply(
            1,
            [
                fixtures::tool_use("a", "look", json!({}), ToolStatus::Done),
                fixtures::tool_result("a", "look", json!("seen")),
                fixtures::tool_use("b", "look", json!({}), ToolStatus::AwaitingApproval),
                Content::text("half a sen"),
            ],
        );
        reply.status = TurnStatus::Streaming;
        reply.blocks[3].state = BlockState::Open;
        let written = written_part(reply);
        let kinds: Vec<&str> = written.blocks.iter().map(|block| block.content.block_type()).collect();
        assert_eq!(kinds, ["tool_use", "tool_result", "text"]);
        assert_eq!(written.status, TurnStatus::Complete);
        assert!(written.blocks.iter().all(|block| block.state != BlockState::Open));
    }

    #[test]
    fn live_share_has_no_system_prompt() {
        assert_eq!(SharedParts::from(LiveParts::default()), SharedParts::default());
        let all = SharedParts::from(LiveParts { reasoning: true, tools: true, documents: true });
        assert_eq!(all, SharedParts { reasoning: true, tools: true, system_prompt: false, documents: true });
        assert!(serde_json::from_value::<LiveParts>(json!({ "system_prompt": true })).is_err());
    }
}
