//! User input that a reply waits for: approvals, pauses and questions of tool servers. Such a reply may wait any time.
//! A restart leaves approvals and pauses unchanged.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::blocks::block::{Block, BlockState, Content, ToolStatus};
use crate::id::BlockId;
use crate::limits;
use crate::messages::message_template::{MessageArgs, fill_template, message_args, recognize_sentence};
use crate::messages::old_sentences;
use crate::tools::call_edit::CallEdit;
use crate::tools::elicitation::Elicitation;
use crate::tools::tool::canonical_arguments;
use crate::turns::turn::Turn;

/// The type of the block at which a reply paused.
pub const PAUSE: &str = "x:pause";

/// The kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserInputKind {
    /// The approval of a tool call.
    Approval,
    /// The decision to continue after a pause.
    Continue,
    /// The answer to a question of a tool server during a call.
    Elicitation,
}

impl UserInputKind {
    /// Returns true if the input is still awaited after a restart of the server. A question of a tool server is not,
    /// because its call ends with the process.
    pub fn outlasts_process(self) -> bool {
        self != Self::Elicitation
    }
}

/// The reason for an automatic pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyPauseReason {
    /// The reply reached the maximum number of tool rounds.
    Rounds,
    /// The reply repeated the same call.
    Repeats,
}

impl ReplyPauseReason {
    fn word(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Repeats => "repeats",
        }
    }

    /// Returns the template of the English sentence.
    pub fn template(self) -> &'static str {
        match self {
            Self::Rounds => "Paused after {rounds} rounds of tool calls.",
            Self::Repeats => "Paused because the model repeated the same call.",
        }
    }

    /// Returns the content of the pause block: the reason with its argument, and the English sentence.
    pub fn content(self) -> Content {
        let args = message_args([(ROUNDS, limits::TOOL_ROUNDS.to_string())]);
        let text = fill_template(self.template(), &args).unwrap_or_default();
        let mut fields = Map::from_iter([("type".to_owned(), PAUSE.into()), ("reason".to_owned(), self.word().into())]);
        if self == Self::Rounds {
            fields.insert(ROUNDS.to_owned(), limits::TOOL_ROUNDS.into());
        }
        fields.insert("text".to_owned(), text.into());
        Content::Other(fields)
    }

    /// Returns the reason of an open pause with the arguments of its sentence. A pause of an older version has its
    /// number of rounds only in its text. `None` if the reason or the number is unknown; then the text is shown.
    pub fn of_open_pause(block: &Block) -> Option<(Self, MessageArgs)> {
        let (Content::Other(fields), Some(text)) = (&block.content, open_pause_text(block)) else { return None };
        let reason = fields.get("reason").and_then(Value::as_str)?;
        match [Self::Rounds, Self::Repeats].into_iter().find(|known| known.word() == reason)? {
            Self::Repeats => Some((Self::Repeats, MessageArgs::new())),
            Self::Rounds => match fields.get(ROUNDS).and_then(Value::as_u64) {
                Some(rounds) => Some((Self::Rounds, message_args([(ROUNDS, rounds.to_string())]))),
                None => recognize_sentence([(Self::Rounds, old_sentences::PAUSE_AFTER_ROUNDS)], text),
            },
        }
    }
}

/// The field with the number of rounds of calls before the pause, and the argument of its sentence.
const ROUNDS: &str = "rounds";

/// Returns the stored English text of an open pause.
pub fn open_pause_text(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Other(fields) if block.state == BlockState::Open && block.content.block_type() == PAUSE => {
            fields.get("text").and_then(Value::as_str)
        }
        _ => None,
    }
}

/// Returns true if the block is a pause, open or not.
pub fn is_pause(block: &Block) -> bool {
    matches!(&block.content, Content::Other(_)) && block.content.block_type() == PAUSE
}

/// One tool call: name and arguments.
type CallText<'a> = (&'a str, String);

/// Returns the reason to pause before a turn's newest calls, named by their blocks, may run: too many tool rounds
/// since the turn began or last paused, or a repetition of the previous calls. A round with several calls repeats the
/// one before it if it makes the same calls, in any order. Calls that the provider runs itself do not count.
pub fn required_pause(turn: &Turn, newest: &[BlockId]) -> Option<ReplyPauseReason> {
    let rounds = rounds_since(turn, since_last_pause(turn));
    let is_newest = |calls: &Vec<(BlockId, CallText<'_>)>| calls.iter().any(|(id, _)| newest.contains(id));
    let repeats = repeats_rounds(&rounds, is_newest) || repeats_one_call(&rounds, newest);
    match (rounds.len() > limits::TOOL_ROUNDS as usize, repeats) {
        (true, _) => Some(ReplyPauseReason::Rounds),
        (false, true) => Some(ReplyPauseReason::Repeats),
        (false, false) => None,
    }
}

/// Returns the calls of each round from the block at this index on.
fn rounds_since(turn: &Turn, since: usize) -> Vec<Vec<(BlockId, CallText<'_>)>> {
    let mut rounds: Vec<Vec<(BlockId, CallText<'_>)>> = Vec::new();
    let mut round = None;
    for block in &turn.blocks[since..] {
        let Content::ToolUse { tool_name, arguments, arguments_raw, .. } = &block.content else { continue };
        if block.block_metadata.get("run_by").and_then(Value::as_str) == Some("provider") {
            continue;
        }
        // The model repeats what it wrote, whatever a person made of it.
        let edit = CallEdit::from_block(block);
        let arguments = match edit.as_ref().map_or(arguments, |edit| &edit.arguments) {
            Value::Null => arguments_raw.clone().unwrap_or_default(),
            arguments => canonical_arguments(arguments),
        };
        let call = (block.id, (tool_name.as_str(), arguments));
        match rounds.last_mut().filter(|_| round == block.generation_id) {
            Some(calls) => calls.push(call),
            None => rounds.push(vec![call]),
        }
        round = block.generation_id;
    }
    rounds
}

/// Returns true if a round with newest calls makes the same calls as too many rounds directly before it.
fn repeats_rounds(
    rounds: &[Vec<(BlockId, CallText<'_>)>],
    is_newest: impl Fn(&Vec<(BlockId, CallText<'_>)>) -> bool,
) -> bool {
    let (mut before, mut same) = (BTreeSet::new(), 0);
    rounds.iter().any(|calls| {
        let set: BTreeSet<&CallText<'_>> = calls.iter().map(|(_, call)| call).collect();
        same = if set == before { same + 1 } else { 1 };
        before = set;
        same > limits::TOOL_REPEATS && is_newest(calls)
    })
}

/// Returns true if a newest call repeats too many equal calls directly before it, in its own round or in others.
fn repeats_one_call(rounds: &[Vec<(BlockId, CallText<'_>)>], newest: &[BlockId]) -> bool {
    let (mut before, mut same) = (None, 0);
    rounds.iter().flatten().any(|(id, call)| {
        same = if before == Some(call) { same + 1 } else { 1 };
        before = Some(call);
        same > limits::TOOL_REPEATS && newest.contains(id)
    })
}

/// Returns the index of the first block after the last pause. The calls that waited there count as its first round.
fn since_last_pause(turn: &Turn) -> usize {
    let Some(pause) = turn.blocks.iter().rposition(is_pause) else { return 0 };
    let is_call = |block: &Block| matches!(block.content, Content::ToolUse { .. });
    let Some(last) = turn.blocks[..pause].iter().rfind(|block| is_call(block)) else { return pause };
    turn.blocks.iter().position(|block| is_call(block) && block.generation_id == last.generation_id).unwrap_or(pause)
}

/// Returns the input that the turn waits for, or `None` if it is over or can proceed by itself.
pub fn pending_user_input(turn: &Turn) -> Option<UserInputKind> {
    if turn.status.is_terminal() {
        return None;
    }
    let awaits_approval =
        |block: &Block| matches!(block.content, Content::ToolUse { status: ToolStatus::AwaitingApproval, .. });
    if turn.blocks.iter().any(awaits_approval) {
        return Some(UserInputKind::Approval);
    }
    if turn.blocks.iter().any(|block| open_pause_text(block).is_some()) {
        return Some(UserInputKind::Continue);
    }
    turn.blocks.iter().any(|block| Elicitation::find_open(block).is_some()).then_some(UserInputKind::Elicitation)
}

/// Returns true if the turn waits for input that is still awaited after a restart of the server.
pub fn outlasts_process(turn: &Turn) -> bool {
    pending_user_input(turn).is_some_and(UserInputKind::outlasts_process)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures;
    use crate::turns::turn::TurnStatus;

    #[test]
    fn approvals_and_pauses_are_pending_until_resolved() {
        let call = |status| fixtures::tool_use("c", "look", json!({}), status);
        let waiting = |contents: Vec<Content>| {
            let mut turn = fixtures::reply(2, contents);
            turn.status = TurnStatus::WaitingSubagents;
            turn
        };
        assert_eq!(
            pending_user_input(&waiting(vec![call(ToolStatus::AwaitingApproval)])),
            Some(UserInputKind::Approval)
        );
        assert_eq!(pending_user_input(&waiting(vec![call(ToolStatus::Running)])), None);
        let mut paused = waiting(vec![call(ToolStatus::Done), ReplyPauseReason::Rounds.content()]);
        assert_eq!(pending_user_input(&paused), None, "the pause is over");
        paused.blocks[1].state = BlockState::Open;
        assert_eq!(pending_user_input(&paused), Some(UserInputKind::Continue));
        assert_eq!(open_pause_text(&paused.blocks[1]), Some("Paused after 25 rounds of tool calls."));
        paused.status = TurnStatus::Cancelled;
        assert_eq!(pending_user_input(&paused), None);
    }

    #[test]
    fn pause_is_recognized_by_its_reason_and_its_rounds() {
        let reason_of = |content: Content| {
            let mut block = fixtures::block(2, 0, content);
            block.state = BlockState::Open;
            ReplyPauseReason::of_open_pause(&block)
        };
        let stored = |fields: Value| reason_of(serde_json::from_value(fields).unwrap());
        let rounds = |count: &str| Some((ReplyPauseReason::Rounds, message_args([("rounds", count.to_owned())])));
        let repeats = Some((ReplyPauseReason::Repeats, MessageArgs::new()));
        assert_eq!(reason_of(ReplyPauseReason::Rounds.content()), rounds("25"));
        assert_eq!(reason_of(ReplyPauseReason::Repeats.content()), repeats);
        let old = "Paused because the same call was made again and again.";
        assert_eq!(stored(json!({"type": PAUSE, "reason": "repeats", "text": old})), repeats);
        let old = "Paused after asking for tools 12 times.";
        assert_eq!(stored(json!({"type": PAUSE, "reason": "rounds", "text": old})), rounds("12"));
        assert_eq!(stored(json!({"type": PAUSE, "reason": "rounds", "text": "Something else."})), None);
        assert_eq!(stored(json!({"type": PAUSE, "reason": "newer", "rounds": 3, "text": old})), None);
        let done = fixtures::block(2, 0, ReplyPauseReason::Rounds.content());
        assert_eq!(ReplyPauseReason::of_open_pause(&done), None, "the pause is over");
    }

    /// Returns a reply with one call per step, with these arguments.
    fn asking(steps: &[Value]) -> Turn {
        let call = |arguments: &Value| fixtures::tool_use("c", "look", arguments.clone(), ToolStatus::Done);
        let mut turn = fixtures::reply(2, steps.iter().map(call));
        for (n, block) in turn.blocks.iter_mut().enumerate() {
            block.generation_id = Some(fixtures::block_id(1_000 + n as u64).uuid().into());
        }
        turn
    }

    fn last(turn: &Turn) -> Vec<BlockId> {
        turn.blocks.last().map(|block| block.id).into_iter().collect()
    }

    #[test]
    fn same_call_runs_three_times_in_row_and_then_pauses() {
        let same = [json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})];
        assert_eq!(required_pause(&asking(&same[..3]), &last(&asking(&same[..3]))), None);
        let turn = asking(&same);
        assert_eq!(required_pause(&turn, &last(&turn)), Some(ReplyPauseReason::Repeats));
        assert_eq!(required_pause(&turn, &[]), None, "none of those that are to run");
        let between = asking(&[same[0].clone(), same[1].clone(), json!({}), same[2].clone(), same[3].clone()]);
        assert_eq!(required_pause(&between, &last(&between)), None);
        let mut by_provider = turn.clone();
        for block in &mut by_provider.blocks {
            block.block_metadata = json!({ "run_by": "provider" });
        }
        assert_eq!(required_pause(&by_provider, &last(&by_provider)), None);
    }

    /// Returns a reply whose steps make these calls.
    fn calling(steps: &[&[(&str, Value)]]) -> Turn {
        let calls = |step: &&[(&str, Value)]| step.iter().map(call_of).collect::<Vec<Content>>();
        let mut turn = fixtures::reply(2, steps.iter().flat_map(calls));
        let steps = steps.iter().zip(1_000_u64..).flat_map(|(step, n)| step.iter().map(move |_| n));
        for (block, n) in turn.blocks.iter_mut().zip(steps) {
            block.generation_id = Some(fixtures::block_id(n).uuid().into());
        }
        turn
    }

    fn call_of((name, arguments): &(&str, Value)) -> Content {
        fixtures::tool_use("c", name, arguments.clone(), ToolStatus::Done)
    }

    #[test]
    fn same_set_of_calls_runs_three_times_in_row_and_then_pauses() {
        let (x, y) = (("x", json!({})), ("y", json!({"n": 1})));
        let (step, turned) = ([x.clone(), y.clone()], [y.clone(), x.clone()]);
        let twice = [x.clone(), x.clone(), y.clone()];
        let other = [x.clone(), ("y", json!({"n": 2}))];
        for (steps, pause) in [
            (vec![&step[..]; 3], None),
            (vec![&step[..]; 4], Some(ReplyPauseReason::Repeats)),
            (vec![&step[..], &turned, &twice, &step], Some(ReplyPauseReason::Repeats)),
            (vec![&step[..], &step, &other, &step, &step], None),
            (vec![&step[..], &step, &step, std::slice::from_ref(&x)], None),
        ] {
            let turn = calling(&steps);
            assert_eq!(required_pause(&turn, &last(&turn)), pause, "{steps:?}");
        }
        let turn = calling(&[&step[..]; 4]);
        assert_eq!(required_pause(&turn, &[turn.blocks[6].id]), Some(ReplyPauseReason::Repeats), "any of the calls");
        assert_eq!(required_pause(&turn, &[]), None);
        let many = calling(&[&[x.clone(), x.clone(), x.clone(), x]]);
        assert_eq!(required_pause(&many, &last(&many)), Some(ReplyPauseReason::Repeats), "in one step");
    }

    #[test]
    fn rounds_count_from_last_pause() {
        let steps: Vec<Value> = (0..=limits::TOOL_ROUNDS).map(|n| json!({ "n": n })).collect();
        let most = asking(&steps[1..]);
        assert_eq!(required_pause(&most, &last(&most)), None);
        let turn = asking(&steps);
        assert_eq!(required_pause(&turn, &last(&turn)), Some(ReplyPauseReason::Rounds));
        // The call that waited is the first of the next rounds.
        for (behind, pauses) in [(limits::TOOL_ROUNDS - 1, None), (limits::TOOL_ROUNDS, Some(ReplyPauseReason::Rounds))]
        {
            let mut turn = asking(&[&steps[..], &steps[..behind as usize]].concat());
            turn.blocks.insert(steps.len(), fixtures::block(2, 99, ReplyPauseReason::Rounds.content()));
            assert_eq!(required_pause(&turn, &last(&turn)), pauses, "{behind} calls behind the pause");
        }
        let mut together = asking(&steps);
        together.blocks.iter_mut().for_each(|block| block.generation_id = None);
        assert_eq!(required_pause(&together, &last(&together)), None, "many calls of one step are one round");
    }
}
