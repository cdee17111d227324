//! Validates a chat against docs/reference/domain.md 4.4 before anything of it is stored, because an archive may come
//! from anyone. The rules are those that `turnleaf fsck` checks in a database. Turns and generations are validated
//! one by one, and only what other parts refer to stays in memory.

use std::collections::{HashMap, HashSet};

use super::ArchivedChat;
use super::branch_order::{BranchLink, parents_first};
use super::shape::{BranchShape, CallShape, CheckedCall, ExchangeShape, TurnShape, check_source};
use crate::bounds;
use crate::domain::blocks::block::{Block, BlockState, Content, chat_seq};
use crate::domain::turns::turn::{Role, Turn, TurnStatus};
use crate::domain::{BlockId, Branch, BranchId, Chat, ChatId, Exchange, ExchangeId, GenerationId, TurnId, limits};

/// Returns the first violation with its location: `turns[3]: its parent does not come before it`.
pub fn check_chat(chat: &ArchivedChat) -> Result<(), String> {
    let mut check = ChatCheck::default();
    let at = |list: &str, number: usize| {
        let list = list.to_owned();
        move |problem: String| format!("{list}[{number}]: {problem}")
    };
    for (number, turn) in chat.turns.iter().enumerate() {
        check.check_turn(turn).map_err(at("turns", number))?;
    }
    for (number, call) in chat.generations.iter().enumerate() {
        check.check_call(&CallShape::from_generation(call)).map_err(at("generations", number))?;
    }
    for (number, exchange) in chat.exchanges.iter().enumerate() {
        check.check_exchange(exchange).map_err(at("exchanges", number))?;
    }
    for (number, of) in chat.branches.iter().enumerate() {
        check.check_branch(&of.branch).map_err(at("branches", number))?;
    }
    check_source(chat.imported_from.as_ref())?;
    let mut shown = chat.chat.clone();
    check.finish(&mut shown)?;
    let mut before = HashSet::new();
    for of in &chat.branches {
        if of.branch.parent_branch_id.is_some_and(|parent| !before.contains(&parent)) {
            return Err("branches: one comes before its parent branch, or its parent is missing".to_owned());
        }
        before.insert(of.branch.id);
    }
    let names_calls = |block: &Block| block.generation_id.is_none_or(|call| check.calls_at.contains_key(&call));
    if shown != chat.chat || !chat.turns.iter().flat_map(|turn| &turn.blocks).all(names_calls) {
        return Err("chat: a reference points to something missing".to_owned());
    }
    Ok(())
}

/// State of a chat's validation.
#[derive(Default)]
pub(super) struct ChatCheck {
    turns: Vec<TurnShape>,
    turns_at: HashMap<TurnId, usize>,
    blocks: HashSet<BlockId>,
    /// The blocks that results refer to.
    uses: HashSet<BlockId>,
    /// The generations that blocks name as their source, with the index of the turn.
    sources: Vec<(GenerationId, usize)>,
    pub calls: Vec<CheckedCall>,
    calls_at: HashMap<GenerationId, usize>,
    exchanges: Vec<ExchangeShape>,
    exchanges_at: HashMap<ExchangeId, usize>,
    branches: Vec<BranchShape>,
    branches_at: HashMap<BranchId, usize>,
}

const DUPLICATE_ID: &str = "its id is used twice";

/// Fails if the list is already full.
fn check_limit(count: usize, most: usize, list: &str) -> Result<(), String> {
    if count < most { Ok(()) } else { Err(format!("at most {most} {list}")) }
}

impl ChatCheck {
    /// Validates the next turn.
    pub fn check_turn(&mut self, turn: &Turn) -> Result<(), String> {
        check_limit(self.turns.len(), usize::try_from(limits::TURNS_PER_CHAT).unwrap_or(usize::MAX), "turns")?;
        let number = self.turns.len();
        if self.turns_at.insert(turn.id, number).is_some() {
            return Err(DUPLICATE_ID.to_owned());
        }
        if self.turns.last().map_or(0, |last| last.ord) >= turn.ord {
            return Err("its position does not follow the previous one".to_owned());
        }
        if !turn.status.is_terminal() || turn.completed_at.is_none() {
            return Err("it is unfinished".to_owned());
        }
        if turn.role != Role::Assistant && turn.status != TurnStatus::Complete {
            return Err("only a reply can fail".to_owned());
        }
        for (seq, block) in (0..).zip(&turn.blocks) {
            check_limit(self.blocks.len(), bounds::BLOCKS, "blocks")?;
            self.check_block(turn, seq, block)?;
            if let Some(call) = block.generation_id
                && self.sources.last() != Some(&(call, number))
            {
                self.sources.push((call, number));
            }
        }
        self.turns.push(TurnShape {
            id: turn.id,
            ord: turn.ord,
            depth: turn.depth,
            chat: turn.chat_id,
            branch: turn.branch_id,
            exchange: turn.exchange_id,
            prev: turn.prev_turn_id,
            role: turn.role,
        });
        Ok(())
    }

    fn check_block(&mut self, turn: &Turn, seq: u32, block: &Block) -> Result<(), &'static str> {
        if block.seq != seq || block.chat_seq != chat_seq(turn.ord, seq) {
            return Err("one of its blocks is at the wrong position");
        }
        if block.state == BlockState::Open {
            return Err("one of its blocks is unfinished");
        }
        match &block.content {
            Content::ToolUse { status, .. } if status.is_open() => return Err("one of its tool calls is waiting"),
            Content::ToolUse { .. } => drop(self.uses.insert(block.id)),
            Content::ToolResult { .. } if !block.parent_block_id.is_some_and(|call| self.uses.contains(&call)) => {
                return Err("one of its results has no earlier tool call");
            }
            _ => {}
        }
        if self.blocks.insert(block.id) { Ok(()) } else { Err("the id of one of its blocks is used twice") }
    }

    /// Validates the next generation.
    pub fn check_call(&mut self, call: &CallShape) -> Result<(), String> {
        check_limit(self.calls.len(), bounds::CALLS, "calls")?;
        if self.calls_at.insert(call.id, self.calls.len()).is_some() {
            return Err(DUPLICATE_ID.to_owned());
        }
        if !matches!(call.status.as_str(), "complete" | "cancelled" | "error") {
            return Err("it does not belong to a finished reply".to_owned());
        }
        if !matches!(call.raw_kind.as_str(), "sse_events" | "chunks" | "stream_and_response" | "response" | "none") {
            return Err("its `raw_kind` is unknown".to_owned());
        }
        if call.ended_at.is_none() {
            return Err("it has no end time".to_owned());
        }
        let after = call.after.as_ref().map(|after| self.base_call(after.generation)).transpose()?;
        self.calls.push(CheckedCall { turn: call.turn_id, after });
        Ok(())
    }

    /// Returns the index of a delta's base. A base must be stored whole, because chains of deltas would need more and
    /// more reads.
    fn base_call(&self, call: GenerationId) -> Result<usize, &'static str> {
        let number = self.calls_at.get(&call).copied();
        let is_whole = |number: &usize| self.calls.get(*number).is_some_and(|before| before.after.is_none());
        number.filter(is_whole).ok_or("its base is missing, incomplete or comes later")
    }

    /// Validates the next exchange.
    pub fn check_exchange(&mut self, exchange: &Exchange) -> Result<(), String> {
        check_limit(self.exchanges.len(), usize::try_from(limits::TURNS_PER_CHAT).unwrap_or(usize::MAX), "exchanges")?;
        if self.exchanges_at.insert(exchange.id, self.exchanges.len()).is_some() {
            return Err(DUPLICATE_ID.to_owned());
        }
        let (chat, branch, message) = (exchange.chat_id, exchange.branch_id, exchange.user_turn_id);
        self.exchanges.push(ExchangeShape { chat, branch, message });
        Ok(())
    }

    /// Validates the next branch.
    pub fn check_branch(&mut self, branch: &Branch) -> Result<(), String> {
        check_limit(self.branches.len(), usize::try_from(limits::BRANCHES_PER_CHAT).unwrap_or(usize::MAX), "branches")?;
        if self.branches_at.insert(branch.id, self.branches.len()).is_some() {
            return Err(DUPLICATE_ID.to_owned());
        }
        self.branches.push(BranchShape {
            id: branch.id,
            chat: branch.chat_id,
            parent: branch.parent_branch_id,
            fork: branch.fork_turn_id,
            head: branch.head_turn_id,
        });
        Ok(())
    }

    /// Completes the validation; returns the storage order of the branches. Dangling references in the chat row are
    /// redirected to existing rows, so that they do not cost the chat.
    pub fn finish(&self, chat: &mut Chat) -> Result<Vec<BranchLink>, String> {
        let at =
            |list: &'static str, number: usize| move |problem: &'static str| format!("{list}[{number}]: {problem}");
        let mut heads: HashMap<BranchId, TurnId> = HashMap::new();
        let mut replies = HashSet::new();
        for (number, turn) in self.turns.iter().enumerate() {
            self.check_position(chat.id, turn, &mut heads, &mut replies).map_err(at("turns", number))?;
        }
        for &(call, turn) in &self.sources {
            // A generation that is not in the archive leaves a dangling reference, which is allowed.
            let made = self.calls_at.get(&call).map(|&number| self.calls[number].turn);
            if made.is_some_and(|made| made != self.turns[turn].id) {
                return Err(at("turns", turn)("one of its blocks came from another reply's request"));
            }
        }
        let listed = |leaves: Option<BranchId>| leaves.filter(|parent| self.branches_at.contains_key(parent));
        let order = parents_first(self.branches.iter().map(|branch| (branch.id, listed(branch.parent))));
        if let Some(number) = order.cycle {
            return Err(at("branches", number)("its parent branch does not come before it"));
        }
        for (number, branch) in self.branches.iter().enumerate() {
            let at = at("branches", number);
            if branch.chat != chat.id || !branch.fork.is_none_or(|turn| self.turns_at.contains_key(&turn)) {
                return Err(at("it belongs to another chat, or its start is missing"));
            }
            if branch.head != heads.get(&branch.id).copied() {
                return Err(at("its head is not its last turn"));
            }
        }
        for (number, exchange) in self.exchanges.iter().enumerate() {
            let is_user = |turn| self.find_turn(turn).is_some_and(|turn| turn.role == Role::User);
            let is_well = exchange.chat == chat.id
                && self.branches_at.contains_key(&exchange.branch)
                && exchange.message.is_none_or(is_user);
            if !is_well {
                return Err(at("exchanges", number)("its chat, branch or message is missing"));
            }
        }
        for (number, call) in self.calls.iter().enumerate() {
            if self.find_turn(call.turn).is_none_or(|turn| turn.role != Role::Assistant) {
                return Err(at("generations", number)("its turn is missing or not a reply"));
            }
        }
        self.repair_pointers(chat, &order.all);
        Ok(order.all)
    }

    fn repair_pointers(&self, chat: &mut Chat, order: &[BranchLink]) {
        if chat.last_viewed_turn_id.is_some_and(|turn| !self.turns_at.contains_key(&turn)) {
            chat.last_viewed_turn_id = self.turns.last().map(|turn| turn.id);
        }
        if chat.default_branch_id.is_some_and(|branch| !self.branches_at.contains_key(&branch)) {
            let shown = chat.last_viewed_turn_id.and_then(|turn| self.find_turn(turn)).map(|turn| turn.branch);
            chat.default_branch_id = shown.or(order.first().map(|first| self.branches[first.number].id));
        }
    }

    fn find_turn(&self, turn: TurnId) -> Option<&TurnShape> {
        self.turns_at.get(&turn).map(|&number| &self.turns[number])
    }

    fn check_position(
        &self,
        chat: ChatId,
        turn: &TurnShape,
        heads: &mut HashMap<BranchId, TurnId>,
        replies: &mut HashSet<ExchangeId>,
    ) -> Result<(), &'static str> {
        if turn.chat != chat || !self.branches_at.contains_key(&turn.branch) {
            return Err("its chat or branch is missing");
        }
        let exchange = self.exchanges_at.get(&turn.exchange).ok_or("its exchange is missing")?;
        let prev = match turn.prev {
            Some(prev) => Some(self.find_turn(prev).ok_or("its parent is missing")?),
            None => None,
        };
        // Position decides, not time, because a clock may have been set back.
        if prev.is_some_and(|prev| prev.ord >= turn.ord) {
            return Err("its parent does not come before it");
        }
        if turn.depth != prev.map_or(0, |prev| prev.depth + 1) {
            return Err("its depth is not its parent's depth plus one");
        }
        if let Some(before) = heads.insert(turn.branch, turn.id)
            && turn.prev != Some(before)
        {
            return Err("its parent is not the previous turn of its branch");
        }
        if turn.role != Role::Assistant {
            return Ok(());
        }
        if !replies.insert(turn.exchange) {
            return Err("its exchange already has a reply");
        }
        match self.exchanges[*exchange].message {
            Some(message) if turn.prev != Some(message) => Err("it does not follow the message it replies to"),
            _ => Ok(()),
        }
    }

    /// Returns the turns in order, the `ord` of the last, and the generations.
    pub fn into_parts(self) -> (Vec<TurnId>, i64, HashSet<GenerationId>) {
        let last = self.turns.last().map_or(0, |turn| turn.ord);
        (self.turns.into_iter().map(|turn| turn.id).collect(), last, self.calls_at.into_keys().collect())
    }
}
