//! Checks tool calls of a turn against their results, because providers refuse a request with unmatched ones.

use super::finding::{FsckFinding, finding};
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::turns::user_input_wait::open_pause_text;
use turnleaf_domain::{Block, Content, Turn, TurnStatus};

/// Checks the calls of a turn, finished or not.
pub(super) fn check_turn(turn: &Turn, findings: &mut Vec<FsckFinding>) {
    let is_over = turn.status.is_terminal();
    for block in &turn.blocks {
        if let Content::ToolUse { status, .. } = &block.content
            && let Some((invariant, problem)) = call_problem(*status, count_results(turn, block), is_over)
        {
            findings.push(finding(invariant, "turn_blocks", block.id, problem));
        }
        if open_pause_text(block).is_some() && turn.status != TurnStatus::WaitingSubagents {
            findings.push(finding("I6", "turn_blocks", block.id, "it pauses a turn that is not waiting"));
        }
    }
}

fn count_results(turn: &Turn, call: &Block) -> usize {
    let answers =
        |block: &&Block| matches!(block.content, Content::ToolResult { .. }) && block.parent_block_id == Some(call.id);
    turn.blocks.iter().filter(answers).count()
}

/// Returns the problem of a call with this number of results in its own turn.
fn call_problem(status: ToolStatus, results: usize, is_over: bool) -> Option<(&'static str, &'static str)> {
    match (status, results) {
        (status, _) if is_over && status.is_open() => Some(("I7", "it is a waiting tool call in a finished turn")),
        (status, 0) if status.is_open() => None,
        (status, _) if status.is_open() => Some(("R6", "it is an unfinished tool call with a result")),
        (ToolStatus::HandedOver, 0) => None,
        (ToolStatus::HandedOver, _) => Some(("R6", "it is a client-run tool call with a result in the same turn")),
        (_, 1) => None,
        _ => Some(("R6", "it is a finished tool call without exactly one result")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_has_result_only_once_it_is_over() {
        use ToolStatus::{
            AwaitingApproval, Cancelled, Denied, Done, Failed, HandedOver, Interrupted, Pending, Running,
        };
        for status in [Pending, AwaitingApproval, Running] {
            assert_eq!(call_problem(status, 0, false), None, "{status:?}");
            assert!(call_problem(status, 1, false).is_some() && call_problem(status, 0, true).is_some(), "{status:?}");
        }
        for status in [Done, Failed, Cancelled, Denied, Interrupted] {
            assert_eq!(call_problem(status, 1, true), None, "{status:?}");
            assert!(call_problem(status, 0, false).is_some() && call_problem(status, 2, true).is_some(), "{status:?}");
        }
        assert_eq!(call_problem(HandedOver, 0, true), None);
        assert!(call_problem(HandedOver, 1, true).is_some());
    }
}
