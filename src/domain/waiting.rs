//! What a reply waits for that only a person can give. Such a reply is in order however long it takes: a restart leaves
//! it as it is.

use serde_json::{Map, Value, json};

use crate::block::{Block, BlockState, Content, ToolStatus};
use crate::id::BlockId;
use crate::limits;
use crate::tool::canonical;
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

    /// Why, for people.
    pub fn sentence(self) -> String {
        match self {
            Self::Rounds => format!("Paused after asking for tools {} times.", limits::TOOL_ROUNDS),
            Self::Repeats => "Paused because the same call was made again and again.".to_owned(),
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

/// Whether the block is where a reply paused, open or not.
pub fn is_pause(block: &Block) -> bool {
    matches!(&block.content, Content::Other(_)) && block.content.block_type() == PAUSE
}

/// Whether a turn has to pause before its newest calls, named by their blocks, may run: it asked for tools too often
/// since it began or last paused, or one of them repeats the calls before it. What the provider runs itself does not
/// count.
pub fn pause_before(turn: &Turn, newest: &[BlockId]) -> Option<PauseReason> {
    let since = since_last_pause(turn);
    let (mut rounds, mut round) = (0, None);
    let (mut before, mut same) = (None, 0);
    let mut repeats = false;
    for block in &turn.blocks[since..] {
        let Content::ToolUse { tool_name, arguments, arguments_raw, .. } = &block.content else { continue };
        if block.block_metadata.get("run_by").and_then(Value::as_str) == Some("provider") {
            continue;
        }
        if rounds == 0 || round != block.generation_id {
            (rounds, round) = (rounds + 1, block.generation_id);
        }
        let said = match arguments {
            Value::Null => arguments_raw.clone().unwrap_or_default(),
            arguments => canonical(arguments),
        };
        let said = Some((tool_name.as_str(), said));
        same = if before == said { same + 1 } else { 1 };
        before = said;
        repeats |= same > limits::TOOL_REPEATS && newest.contains(&block.id);
    }
    match (rounds > limits::TOOL_ROUNDS, repeats) {
        (true, _) => Some(PauseReason::Rounds),
        (false, true) => Some(PauseReason::Repeats),
        (false, false) => None,
    }
}

/// Where the stretch begins that the last pause made new: the calls that waited there are its first.
fn since_last_pause(turn: &Turn) -> usize {
    let Some(pause) = turn.blocks.iter().rposition(is_pause) else { return 0 };
    let is_call = |block: &Block| matches!(block.content, Content::ToolUse { .. });
    let Some(last) = turn.blocks[..pause].iter().rfind(|block| is_call(block)) else { return pause };
    turn.blocks.iter().position(|block| is_call(block) && block.generation_id == last.generation_id).unwrap_or(pause)
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

    /// A reply with one call a step, each of these arguments.
    fn asking(steps: &[Value]) -> Turn {
        let call = |arguments: &Value| sample::tool_use("c", "look", arguments.clone(), ToolStatus::Done);
        let mut turn = sample::reply(2, steps.iter().map(call));
        for (n, block) in turn.blocks.iter_mut().enumerate() {
            block.generation_id = Some(sample::block_id(1_000 + n as u64).uuid().into());
        }
        turn
    }

    fn last(turn: &Turn) -> Vec<BlockId> {
        turn.blocks.last().map(|block| block.id).into_iter().collect()
    }

    #[test]
    fn the_same_call_runs_three_times_in_a_row_and_then_pauses() {
        let same = [json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})];
        assert_eq!(pause_before(&asking(&same[..3]), &last(&asking(&same[..3]))), None);
        let turn = asking(&same);
        assert_eq!(pause_before(&turn, &last(&turn)), Some(PauseReason::Repeats));
        assert_eq!(pause_before(&turn, &[]), None, "none of those that are to run");
        let between = asking(&[same[0].clone(), same[1].clone(), json!({}), same[2].clone(), same[3].clone()]);
        assert_eq!(pause_before(&between, &last(&between)), None);
        let mut by_provider = turn.clone();
        for block in &mut by_provider.blocks {
            block.block_metadata = json!({ "run_by": "provider" });
        }
        assert_eq!(pause_before(&by_provider, &last(&by_provider)), None);
    }

    #[test]
    fn rounds_count_from_the_last_pause() {
        let steps: Vec<Value> = (0..=limits::TOOL_ROUNDS).map(|n| json!({ "n": n })).collect();
        let most = asking(&steps[1..]);
        assert_eq!(pause_before(&most, &last(&most)), None);
        let turn = asking(&steps);
        assert_eq!(pause_before(&turn, &last(&turn)), Some(PauseReason::Rounds));
        // The call that waited is the first of as many again.
        for (behind, pauses) in [(limits::TOOL_ROUNDS - 1, None), (limits::TOOL_ROUNDS, Some(PauseReason::Rounds))] {
            let mut turn = asking(&[&steps[..], &steps[..behind as usize]].concat());
            turn.blocks.insert(steps.len(), sample::block(2, 99, PauseReason::Rounds.content("paused")));
            assert_eq!(pause_before(&turn, &last(&turn)), pauses, "{behind} calls behind the pause");
        }
        let mut together = asking(&steps);
        together.blocks.iter_mut().for_each(|block| block.generation_id = None);
        assert_eq!(pause_before(&together, &last(&together)), None, "many calls of one step are one round");
    }
}
