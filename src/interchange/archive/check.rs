//! Whether a chat keeps the rules of domain.md 4.4, before anything of it is stored: an archive may have been written by
//! anybody. The same rules that `turnleaf fsck` looks for in a database.

use std::collections::{HashMap, HashSet};

use super::ArchivedChat;
use crate::domain::block::{Block, BlockState, Content, chat_seq};
use crate::domain::turn::{Role, Turn, TurnStatus};
use crate::domain::{BlockId, BranchId, ExchangeId, GenerationId, TurnId, limits};

/// The first rule that is broken, with where: `turns[3]: it hangs on a turn that is not before it`.
pub fn check(chat: &ArchivedChat) -> Result<(), String> {
    Check::new(chat)?.all()
}

struct Check<'c> {
    chat: &'c ArchivedChat,
    turns: HashMap<TurnId, &'c Turn>,
    branches: HashSet<BranchId>,
    exchanges: HashMap<ExchangeId, Option<TurnId>>,
    generations: HashMap<GenerationId, TurnId>,
}

impl<'c> Check<'c> {
    fn new(chat: &'c ArchivedChat) -> Result<Self, String> {
        if i64::try_from(chat.turns.len()).is_ok_and(|turns| turns > limits::TURNS_PER_CHAT) {
            return Err(format!("turns: at most {}", limits::TURNS_PER_CHAT));
        }
        if i64::try_from(chat.branches.len()).is_ok_and(|branches| branches > limits::BRANCHES_PER_CHAT) {
            return Err(format!("branches: at most {}", limits::BRANCHES_PER_CHAT));
        }
        if let Some(source) = &chat.imported_from {
            let lengths = source.differences.iter().flat_map(|one| [one.place.len(), one.text.len()]);
            let longest = lengths.chain([source.format.len(), source.file.len()]).max().unwrap_or_default();
            if source.differences.len() > limits::DIFFERENCES || longest > limits::DIFFERENCE_BYTES {
                let (most, bytes) = (limits::DIFFERENCES, limits::DIFFERENCE_BYTES);
                return Err(format!("imported_from: at most {most} differences of {bytes} bytes"));
            }
        }
        let turns: HashMap<_, _> = chat.turns.iter().map(|turn| (turn.id, turn)).collect();
        let branches: HashSet<_> = chat.branches.iter().map(|of| of.branch.id).collect();
        let exchanges: HashMap<_, _> =
            chat.exchanges.iter().map(|exchange| (exchange.id, exchange.user_turn_id)).collect();
        let generations: HashMap<_, _> = chat.generations.iter().map(|of| (of.id, of.turn_id)).collect();
        let twice = |list: &str, is_twice: bool| {
            if is_twice { Err(format!("{list}: an id stands there twice")) } else { Ok(()) }
        };
        twice("turns", turns.len() != chat.turns.len())?;
        twice("branches", branches.len() != chat.branches.len())?;
        twice("exchanges", exchanges.len() != chat.exchanges.len())?;
        twice("generations", generations.len() != chat.generations.len())?;
        Ok(Self { chat, turns, branches, exchanges, generations })
    }

    fn all(&self) -> Result<(), String> {
        let at = |list: &'static str, number: usize| move |what: &'static str| format!("{list}[{number}]: {what}");
        let mut heads: HashMap<BranchId, TurnId> = HashMap::new();
        let mut replies = HashSet::new();
        let mut blocks: HashMap<BlockId, &Block> = HashMap::new();
        let mut ord = 0;
        for (number, turn) in self.chat.turns.iter().enumerate() {
            let at = at("turns", number);
            if turn.ord <= ord {
                return Err(at("its place is not behind that of the one before it"));
            }
            ord = turn.ord;
            self.turn(turn, &mut heads, &mut replies).map_err(&at)?;
            for (seq, block) in (0..).zip(&turn.blocks) {
                self.block(turn, seq, block, &blocks).map_err(&at)?;
                if blocks.insert(block.id, block).is_some() {
                    return Err(at("the id of one of its blocks stands there twice"));
                }
            }
        }
        let mut before = HashSet::new();
        for (number, of) in self.chat.branches.iter().enumerate() {
            let (at, branch) = (at("branches", number), &of.branch);
            let is_there = |turn: Option<TurnId>| turn.is_none_or(|turn| self.turns.contains_key(&turn));
            if branch.chat_id != self.chat.chat.id || !is_there(branch.fork_turn_id) {
                return Err(at("it is another chat's, or leaves a turn that is not there"));
            }
            if branch.parent_branch_id.is_some_and(|parent| !before.contains(&parent)) {
                return Err(at("the branch that it leaves is not before it"));
            }
            before.insert(branch.id);
            if branch.lock.provider.is_empty() || branch.lock.model.is_empty() {
                return Err(at("it is locked to nothing"));
            }
            if branch.head_turn_id != heads.get(&branch.id).copied() {
                return Err(at("its head is not its last turn"));
            }
        }
        for (number, exchange) in self.chat.exchanges.iter().enumerate() {
            let is_user = |turn: TurnId| self.turns.get(&turn).is_some_and(|turn| turn.role == Role::User);
            let is_well = exchange.chat_id == self.chat.chat.id
                && self.branches.contains(&exchange.branch_id)
                && exchange.user_turn_id.is_none_or(is_user);
            if !is_well {
                return Err(at("exchanges", number)("its chat, branch or message is not there"));
            }
        }
        for (number, of) in self.chat.generations.iter().enumerate() {
            let at = at("generations", number);
            let turn = self.turns.get(&of.turn_id).ok_or_else(|| at("its turn is not there"))?;
            if turn.role != Role::Assistant || !matches!(of.status.as_str(), "complete" | "cancelled" | "error") {
                return Err(at("it is no call of a reply that is over"));
            }
            if !matches!(of.raw_kind.as_str(), "sse_events" | "chunks" | "stream_and_response" | "response" | "none") {
                return Err(at("its `raw_kind` is unknown"));
            }
            if of.ended_at.is_none() {
                return Err(at("it has no end"));
            }
        }
        let shown = self.chat.chat.last_viewed_turn_id.is_none_or(|turn| self.turns.contains_key(&turn));
        let default = self.chat.chat.default_branch_id.is_none_or(|branch| self.branches.contains(&branch));
        if shown && default {
            Ok(())
        } else {
            Err("chat: the turn or the branch that it shows is not there".to_owned())
        }
    }

    fn turn(
        &self,
        turn: &Turn,
        heads: &mut HashMap<BranchId, TurnId>,
        replies: &mut HashSet<ExchangeId>,
    ) -> Result<(), &'static str> {
        if turn.chat_id != self.chat.chat.id || !self.branches.contains(&turn.branch_id) {
            return Err("its chat or branch is not there");
        }
        let message = self.exchanges.get(&turn.exchange_id).ok_or("its exchange is not there")?;
        let prev = match turn.prev_turn_id {
            Some(prev) => Some(self.turns.get(&prev).ok_or("the turn that it hangs on is not there")?),
            None => None,
        };
        // By place: a clock may have been set back.
        if prev.is_some_and(|prev| prev.ord >= turn.ord) {
            return Err("it hangs on a turn that is not before it");
        }
        if turn.depth != prev.map_or(0, |prev| prev.depth + 1) {
            return Err("its depth is not one more than that of the turn that it hangs on");
        }
        if let Some(before) = heads.insert(turn.branch_id, turn.id)
            && turn.prev_turn_id != Some(before)
        {
            return Err("it does not hang on the turn before it on its branch");
        }
        if !turn.status.is_terminal() || turn.completed_at.is_none() {
            return Err("it is not over");
        }
        if turn.role != Role::Assistant {
            return if turn.status == TurnStatus::Complete { Ok(()) } else { Err("only a reply can fail") };
        }
        if !replies.insert(turn.exchange_id) {
            return Err("its exchange has another reply");
        }
        if let Some(message) = message
            && turn.prev_turn_id != Some(*message)
        {
            return Err("it does not follow the message that it answers");
        }
        Ok(())
    }

    fn block(
        &self,
        turn: &Turn,
        seq: u32,
        block: &Block,
        blocks: &HashMap<BlockId, &Block>,
    ) -> Result<(), &'static str> {
        if block.seq != seq || block.chat_seq != chat_seq(turn.ord, seq) {
            return Err("one of its blocks is not at its place");
        }
        if block.state == BlockState::Open {
            return Err("one of its blocks is not over");
        }
        if block.generation_id.is_some_and(|call| self.generations.get(&call) != Some(&turn.id)) {
            return Err("one of its blocks came from a call that is not there");
        }
        match &block.content {
            Content::ToolUse { status, .. } if status.is_open() => Err("one of its calls waits"),
            Content::ToolResult { .. } => {
                let call = block.parent_block_id.and_then(|call| blocks.get(&call));
                let is_call = call.is_some_and(|call| matches!(call.content, Content::ToolUse { .. }));
                if is_call { Ok(()) } else { Err("one of its results has no call before it") }
            }
            _ => Ok(()),
        }
    }
}
