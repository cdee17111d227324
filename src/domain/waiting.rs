//! What a reply waits for that only a person can give. Such a reply is in order however long it takes: a restart leaves
//! it as it is.

use serde_json::{Map, Value, json};

use crate::block::{Block, BlockState, Content, ToolStatus};
use crate::turn::Turn;

/// The type of the block that stands where a reply paused.
pub const PAUSE: &str = "x:pause";

/// What a person has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// Whether a tool may run.
    Approval,
    /// Whether it should go on after a pause.
    Continue,
}

/// Why a reply paused by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseReason {
    /// It asked for tools as often as it may at a stretch.
    Rounds,
    /// It asked for the same again and again.
    Repeats,
}

impl PauseReason {
    fn word(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Repeats => "repeats",
        }
    }

    /// The content of the block that stands where the reply paused; `text` says why.
    pub fn content(self, text: &str) -> Content {
        let fields = json!({ "type": PAUSE, "reason": self.word(), "text": text });
        Content::Other(if let Value::Object(fields) = fields { fields } else { Map::new() })
    }
}

/// The text of an open pause.
pub fn open_pause(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Other(fields) if block.state == BlockState::Open && block.content.block_type() == PAUSE => {
            fields.get("text").and_then(Value::as_str)
        }
        _ => None,
    }
}

/// What the turn waits for; nothing when it is over or still has something to do by itself.
pub fn waits_for(turn: &Turn) -> Option<WaitsFor> {
    if turn.status.is_terminal() {
        return None;
    }
    let asks = |block: &Block| matches!(block.content, Content::ToolUse { status: ToolStatus::AwaitingApproval, .. });
    if turn.blocks.iter().any(asks) {
        return Some(WaitsFor::Approval);
    }
    turn.blocks.iter().any(|block| open_pause(block).is_some()).then_some(WaitsFor::Continue)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample;
    use crate::turn::TurnStatus;

    #[test]
    fn approvals_and_pauses_are_waited_for_until_they_are_over() {
        let call = |status| sample::tool_use("c", "look", json!({}), status);
        let waiting = |contents: Vec<Content>| {
            let mut turn = sample::reply(2, contents);
            turn.status = TurnStatus::WaitingSubagents;
            turn
        };
        assert_eq!(waits_for(&waiting(vec![call(ToolStatus::AwaitingApproval)])), Some(WaitsFor::Approval));
        assert_eq!(waits_for(&waiting(vec![call(ToolStatus::Running)])), None);
        let mut paused = waiting(vec![call(ToolStatus::Done), PauseReason::Rounds.content("25 rounds")]);
        assert_eq!(waits_for(&paused), None, "the pause is over");
        paused.blocks[1].state = BlockState::Open;
        assert_eq!(waits_for(&paused), Some(WaitsFor::Continue));
        assert_eq!(open_pause(&paused.blocks[1]), Some("25 rounds"));
        paused.status = TurnStatus::Cancelled;
        assert_eq!(waits_for(&paused), None);
    }
}
