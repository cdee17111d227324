//! Adds results to calls without one: a placeholder, as in a stopped native reply, unless the following message
//! contains the result (docs/reference/domain.md I7).

use std::collections::HashSet;

use serde_json::{Value, json};

use super::build_context::BuildContext;
use crate::domain::BlockId;
use crate::domain::blocks::block::{Author, Block, Content, ToolStatus};
use crate::domain::turns::turn::Turn;

/// The text of the placeholder result.
const NO_RESULT: &str = "The result of this tool call was not in the import.";
/// The earlier text of the placeholder: chats imported with it are compared with their source again.
const EARLIER_NO_RESULT: &str = "The result of this call did not come along when it was imported.";

/// Returns whether the JSON of a content is a placeholder result.
pub(super) fn is_placeholder_result(content: &Value) -> bool {
    content["type"] == "tool_result"
        && [NO_RESULT, EARLIER_NO_RESULT].iter().any(|text| content["result"]["error"] == *text)
}

/// Returns the calls that a later message answers, because a client ran them.
pub(super) fn calls_answered_by_client(turns: &[Turn]) -> HashSet<BlockId> {
    let results = turns.iter().flat_map(|turn| {
        let own: HashSet<BlockId> = turn.blocks.iter().map(|block| block.id).collect();
        let answered = turn.blocks.iter().filter_map(|block| block.parent_block_id);
        answered.filter(|call| !own.contains(call)).collect::<Vec<_>>()
    });
    results.collect()
}

/// Adds a placeholder result to each unanswered call of a reply, and marks the calls that a client answered.
pub(super) fn add_missing_results(
    turn: &mut Turn,
    handed: &HashSet<BlockId>,
    source_id: &str,
    soil: &BuildContext<'_>,
    report_issue: &mut dyn FnMut(String),
) {
    let answered: HashSet<BlockId> = turn.blocks.iter().filter_map(|block| block.parent_block_id).collect();
    let mut made = Vec::new();
    for block in &mut turn.blocks {
        let Content::ToolUse { tool_use_id, tool_name, status, .. } = &mut block.content else { continue };
        if handed.contains(&block.id) {
            *status = ToolStatus::HandedOver;
            continue;
        }
        if answered.contains(&block.id) {
            continue;
        }
        *status = ToolStatus::Cancelled;
        report_issue(format!("the tool call `{tool_name}` has no result: imported as stopped"));
        let content = Content::ToolResult {
            tool_use_id: tool_use_id.clone(),
            tool_name: tool_name.clone(),
            result: json!({ "error": NO_RESULT }),
            success: false,
            is_error: true,
            metadata: Value::Null,
        };
        made.push((block.id, block.created_at, content));
    }
    for (call, created_at, content) in made {
        let seq = u32::try_from(turn.blocks.len()).unwrap_or(u32::MAX);
        let id = (soil.id)(&format!("block {source_id} {seq}")).into();
        let created_at = turn.blocks.last().map_or(created_at, |last| last.created_at);
        let result = Block::new(id, (turn.ord, seq), Author::Tool, content, created_at);
        turn.blocks.push(Block { parent_block_id: Some(call), ..result });
    }
}
