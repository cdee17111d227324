//! Tool results that a client supplies: it ran the tools of a reply itself and sends the results in its next turn.
//! For the provider they belong to the calls of that reply.

use turnleaf_domain::{Block, BlockId, Content, Role};
use turnleaf_providers::provider::HistoryTurn;

/// Moves client results to where adapters expect them: next to the calls of the preceding reply, if that reply is
/// sent raw. If the reply is sent as text, its results become text too. A message with nothing else is sent as these
/// results alone.
pub(super) fn attach_client_results(history: Vec<HistoryTurn>) -> Vec<HistoryTurn> {
    let mut turns: Vec<HistoryTurn> = Vec::with_capacity(history.len());
    for mut turn in history {
        if turn.role != Role::User || !turn.blocks.iter().any(is_result) {
            turns.push(turn);
            continue;
        }
        let reply = turns.last_mut().filter(|reply| reply.role == Role::Assistant && !reply.raw.is_empty());
        let calls: Vec<BlockId> = reply.as_ref().map(|reply| calls_of(reply)).unwrap_or_default();
        let is_called = |block: &Block| block.parent_block_id.is_some_and(|call| calls.contains(&call));
        let (results, others): (Vec<Block>, Vec<Block>) =
            turn.blocks.iter().cloned().partition(|block| is_result(block) && is_called(block));
        if let Some(reply) = reply {
            reply.blocks = reply.blocks.iter().cloned().chain(results).collect();
        }
        turn.blocks = others.into_iter().map(to_text_block).collect();
        if !turn.blocks.is_empty() {
            turns.push(turn);
        }
    }
    turns
}

fn is_result(block: &Block) -> bool {
    matches!(block.content, Content::ToolResult { .. })
}

fn calls_of(reply: &HistoryTurn) -> Vec<BlockId> {
    let is_call = |block: &&Block| matches!(block.content, Content::ToolUse { .. });
    reply.blocks.iter().filter(is_call).map(|block| block.id).collect()
}

fn to_text_block(block: Block) -> Block {
    let Content::ToolResult { tool_name, result, is_error, .. } = &block.content else { return block };
    let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
    let verb = if *is_error { "failed" } else { "gave" };
    Block { content: Content::text(format!("({tool_name} {verb}: {text})")), ..block }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;
    use turnleaf_domain::Turn;
    use turnleaf_domain::blocks::block::ToolStatus;
    use turnleaf_domain::fixtures;

    fn as_sent(turn: &Turn, raw: &[&'static str]) -> HistoryTurn {
        HistoryTurn {
            raw: raw.iter().map(|raw| Bytes::from_static(raw.as_bytes()).into()).collect(),
            ..HistoryTurn::new(turn.id, turn.role, turn.blocks.clone())
        }
    }

    #[test]
    fn client_results_are_placed_beside_their_calls() {
        let reply = fixtures::reply(2, [fixtures::tool_use("c", "look", json!({}), ToolStatus::HandedOver)]);
        let mut message = fixtures::user_turn(3, "and now?");
        let result = Block {
            content: fixtures::tool_result("c", "look", json!("seen")),
            parent_block_id: Some(reply.blocks[0].id),
            ..message.blocks[0].clone()
        };
        message.blocks.insert(0, result);
        let sent = attach_client_results(vec![as_sent(&reply, &["raw"]), as_sent(&message, &[])]);
        assert_eq!(sent[0].tool_result_text(0), Some(("seen".to_owned(), false)));
        assert_eq!(sent[1].user_text(), "and now?");
        let attached = attach_client_results(vec![as_sent(&reply, &[]), as_sent(&message, &[])]);
        assert_eq!(attached[1].user_text(), "(look gave: seen)\n\nand now?");
        message.blocks.truncate(1);
        let alone = attach_client_results(vec![as_sent(&reply, &["raw"]), as_sent(&message, &[])]);
        assert_eq!(alone.len(), 1, "the message had no other content");
        message.blocks[0].parent_block_id = Some(fixtures::block_id(99));
        let foreign = attach_client_results(vec![as_sent(&reply, &["raw"]), as_sent(&message, &[])]);
        assert_eq!(foreign[1].user_text(), "(look gave: seen)");
    }
}
