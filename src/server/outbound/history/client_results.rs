//! Results of tools that a client runs. They come in a message of its own, one turn behind their calls; every API wants
//! them right behind the calls.

use std::collections::HashMap;

use crate::domain::{Block, BlockId, Content, Role};
use crate::server::outbound::provider::HistoryTurn;

/// Moves the results that messages hold to the calls that they answer; a message of nothing else is gone then. Where a
/// reply goes back in words alone its calls do not go back, and its results are told in words too.
pub fn bring_home(history: &mut Vec<HistoryTurn>) {
    let mut calls: HashMap<BlockId, usize> = HashMap::new();
    let mut emptied = Vec::new();
    for at in 0..history.len() {
        if history[at].role != Role::User {
            let of_turn = history[at].blocks.iter().filter(|block| is_call(block)).map(|block| (block.id, at));
            calls.extend(of_turn.collect::<Vec<_>>());
            continue;
        }
        if !history[at].blocks.iter().any(is_result) {
            continue;
        }
        let mut left = Vec::new();
        for block in std::mem::take(&mut history[at].blocks) {
            let of = block.parent_block_id.filter(|_| is_result(&block)).and_then(|call| calls.get(&call));
            match of {
                Some(turn) if !history[*turn].raw.is_empty() => history[*turn].blocks.push(block),
                _ => left.push(told(block)),
            }
        }
        if left.is_empty() {
            emptied.push(at);
        }
        history[at].blocks = left;
    }
    for at in emptied.into_iter().rev() {
        history.remove(at);
    }
}

fn is_call(block: &Block) -> bool {
    matches!(block.content, Content::ToolUse { .. })
}

fn is_result(block: &Block) -> bool {
    matches!(block.content, Content::ToolResult { .. })
}

/// A result in words.
fn told(block: Block) -> Block {
    let Content::ToolResult { tool_name, result, is_error, .. } = &block.content else { return block };
    let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
    let what = if *is_error { "failed with" } else { "gave" };
    Block { content: Content::text(format!("The tool {tool_name} {what}:\n{text}")), ..block }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::server::outbound::history::sample::{block, result_block, turn, use_block};

    fn shape(history: &[HistoryTurn]) -> Vec<(Role, Vec<&str>)> {
        let kinds =
            |turn: &'_ HistoryTurn| turn.blocks.iter().map(|block| block.content.block_type().to_owned()).collect();
        let kinds: Vec<Vec<String>> = history.iter().map(kinds).collect();
        let known = |kind: &String| match kind.as_str() {
            "tool_use" => "call",
            "tool_result" => "result",
            _ => "text",
        };
        history.iter().zip(&kinds).map(|(turn, kinds)| (turn.role, kinds.iter().map(known).collect())).collect()
    }

    #[test]
    fn results_go_to_their_calls_and_a_message_of_nothing_else_is_gone() {
        let raw = ["bytes".to_owned()];
        let calls = vec![use_block(2), use_block(3)];
        let mut history = vec![
            turn(Role::User, vec![block(1, Content::text("Go"), None)], &[]),
            turn(Role::Assistant, calls.clone(), &raw),
            turn(Role::User, vec![result_block(4, 3, json!("b"), false), result_block(5, 2, json!("a"), false)], &[]),
            turn(Role::Assistant, vec![block(6, Content::text("Well"), None)], &raw),
        ];
        bring_home(&mut history);
        let expected = vec![
            (Role::User, vec!["text"]),
            (Role::Assistant, vec!["call", "call", "result", "result"]),
            (Role::Assistant, vec!["text"]),
        ];
        assert_eq!(shape(&history), expected);
        assert_eq!(history[1].result_text(0).map(|(text, _)| text).as_deref(), Some("a"));

        let with_words = vec![result_block(4, 2, json!("a"), false), block(7, Content::text("and now?"), None)];
        let mut history = vec![turn(Role::Assistant, calls, &raw), turn(Role::User, with_words, &[])];
        bring_home(&mut history);
        assert_eq!(shape(&history)[1], (Role::User, vec!["text"]));
    }

    #[test]
    fn without_its_call_a_result_is_told_in_words() {
        let mut history = vec![
            turn(Role::Assistant, vec![use_block(2)], &[]),
            turn(Role::User, vec![result_block(4, 2, json!({ "a": 1 }), true)], &[]),
        ];
        bring_home(&mut history);
        assert_eq!(history[1].plain_text(), "The tool f failed with:\n{\"a\":1}");
    }
}
