//! Tool calls of a turn against their results: whoever asks again gets a request that every provider takes.

use super::finding::{Finding, finding};
use turnleaf_domain::block::ToolStatus;
use turnleaf_domain::waiting::open_pause;
use turnleaf_domain::{Block, Content, Turn, TurnStatus};

/// Looks at the calls of a turn, over or not.
pub(super) fn of_turn(turn: &Turn, findings: &mut Vec<Finding>) {
    let is_over = turn.status.is_terminal();
    for block in &turn.blocks {
        if let Content::ToolUse { status, .. } = &block.content
            && let Some((invariant, what)) = wrong(*status, results(turn, block), is_over)
        {
            findings.push(finding(invariant, "turn_blocks", block.id, what));
        }
        if open_pause(block).is_some() && turn.status != TurnStatus::WaitingSubagents {
            findings.push(finding("I6", "turn_blocks", block.id, "it pauses a turn that does not wait"));
        }
    }
}

fn results(turn: &Turn, call: &Block) -> usize {
    let answers =
        |block: &&Block| matches!(block.content, Content::ToolResult { .. }) && block.parent_block_id == Some(call.id);
    turn.blocks.iter().filter(answers).count()
}

/// What is wrong with a call that has so many results in its own turn.
fn wrong(status: ToolStatus, results: usize, is_over: bool) -> Option<(&'static str, &'static str)> {
    match (status, results) {
        (status, _) if is_over && status.is_open() => {
            Some(("I7", "it is a tool call that waits although its turn is over"))
        }
        (status, 0) if status.is_open() => None,
        (status, _) if status.is_open() => Some(("R6", "it is a tool call that is not over and has a result")),
        (ToolStatus::HandedOver, 0) => None,
        (ToolStatus::HandedOver, _) => Some(("R6", "it is a tool call that the client runs and has a result here")),
        (_, 1) => None,
        _ => Some(("R6", "it is a tool call that is over and has not exactly one result")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_its_result_when_it_is_over_and_not_before() {
        use ToolStatus::{
            AwaitingApproval, Cancelled, Denied, Done, Failed, HandedOver, Interrupted, Pending, Running,
        };
        for status in [Pending, AwaitingApproval, Running] {
            assert_eq!(wrong(status, 0, false), None, "{status:?}");
            assert!(wrong(status, 1, false).is_some() && wrong(status, 0, true).is_some(), "{status:?}");
        }
        for status in [Done, Failed, Cancelled, Denied, Interrupted] {
            assert_eq!(wrong(status, 1, true), None, "{status:?}");
            assert!(wrong(status, 0, false).is_some() && wrong(status, 2, true).is_some(), "{status:?}");
        }
        assert_eq!(wrong(HandedOver, 0, true), None);
        assert!(wrong(HandedOver, 1, true).is_some());
    }
}
