//! Simple turns and blocks for the request tests of every API.

use bytes::Bytes;
use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::provider::HistoryTurn;
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::{Author, Block, BlockId, Content, Role, TurnId};

pub fn block(id: u128, content: Content, parent: Option<u128>) -> Block {
    let block_id = |id| BlockId::from_uuid(Uuid::from_u128(id));
    let block = Block::new(block_id(id), (0, 0), Author::Assistant, content, DateTime::UNIX_EPOCH);
    Block { parent_block_id: parent.map(block_id), ..block }
}

/// Returns a turn with these blocks and raw responses.
pub fn turn(role: Role, blocks: Vec<Block>, raw: &[String]) -> HistoryTurn {
    let raw = raw.iter().map(|raw| Bytes::copy_from_slice(raw.as_bytes()).into()).collect();
    HistoryTurn { raw, ..HistoryTurn::new(TurnId::from_uuid(Uuid::nil()), role, blocks) }
}

/// Returns a call whose id does not match any response.
pub fn tool_use_block(id: u128) -> Block {
    let content = Content::ToolUse {
        tool_use_id: "any".into(),
        tool_name: "f".into(),
        arguments: json!({}),
        arguments_raw: None,
        status: ToolStatus::Done,
        duration_ms: None,
    };
    block(id, content, None)
}

/// Returns the result of the call with this block id.
pub fn result_block(id: u128, call: u128, result: Value, is_error: bool) -> Block {
    let content = Content::ToolResult {
        tool_use_id: "any".into(),
        tool_name: "f".into(),
        result,
        success: !is_error,
        is_error,
        metadata: Value::Null,
    };
    block(id, content, Some(call))
}
