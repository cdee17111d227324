//! Tool results that a client sends in a message: each belongs to a handed-over call of the reply before, and a call
//! is answered once.

use std::collections::HashSet;

use crate::turns::messages::UserMessage;
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::{Block, BlockId, Content, MessageCode, Turn};
use turnleaf_store::database::db::Tx;
use turnleaf_store::turns::blocks;

/// Binds every result of a message to its call, and copies the name of the tool.
///
/// # Errors
/// `NotFound` when the reply before the message has no such call, `already_answered` when the call has its result.
pub(crate) fn bind_results(parent: Option<&Turn>, message: &mut Turn) -> Result<(), ServiceError> {
    let mut answered: HashSet<BlockId> = HashSet::new();
    for block in &mut message.blocks {
        let Content::ToolResult { tool_use_id, tool_name, .. } = &mut block.content else { continue };
        let calls = parent.map_or(&[][..], |parent| &parent.blocks);
        let of_id = calls.iter().filter_map(|call| match &call.content {
            Content::ToolUse { tool_use_id: id, tool_name, status, .. } if id == tool_use_id => {
                Some((call.id, tool_name, *status))
            }
            _ => None,
        });
        // Call ids may repeat: the first open call with the id is taken.
        let mut of_id = of_id.peekable();
        if of_id.peek().is_none() {
            return Err(ServiceError::NotFound);
        }
        let open = of_id.find(|(id, _, status)| *status == ToolStatus::HandedOver && !answered.contains(id));
        let Some((call, name, _)) = open else { return Err(already_answered(tool_use_id)) };
        answered.insert(call);
        tool_name.clone_from(name);
        block.parent_block_id = Some(call);
    }
    Ok(())
}

/// Adds the tool results of the old message to an edit that brings none.
pub(crate) fn keep_tool_results(old: &Turn, message: UserMessage) -> UserMessage {
    let is_result = |content: &Content| matches!(content, Content::ToolResult { .. });
    if message.contents.iter().any(is_result) {
        return message;
    }
    let kept: Vec<Block> = old.blocks.iter().filter(|block| is_result(&block.content)).cloned().collect();
    UserMessage::from_blocks(&kept).concat(message)
}

impl Service {
    /// Refuses a message with a result for a call that another message has answered. The chat must be locked.
    pub(crate) async fn check_unanswered(&self, tx: &mut Tx, message: &Turn) -> Result<(), ServiceError> {
        for block in &message.blocks {
            let Content::ToolResult { tool_use_id, .. } = &block.content else { continue };
            let Some(call) = block.parent_block_id else { continue };
            if blocks::count_results(tx, call).await? > 0 {
                return Err(already_answered(tool_use_id));
            }
        }
        Ok(())
    }
}

fn already_answered(tool_use_id: &str) -> ServiceError {
    let id: String = tool_use_id.chars().take(100).collect();
    ServiceError::conflict("already_answered", MessageCode::ToolCallAnswered.with("id", id))
}
