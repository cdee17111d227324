//! Reads a chat for an export, turn by turn in the order of its plan. Unreadable parts of a turn become notices in
//! place, so that its descendants are exported, too, and the result satisfies every rule of an import.

use std::collections::{HashMap, HashSet, VecDeque};

use super::damages::ExportDamages;
use super::plan::{PlannedTurn, parents_first, plan_tree};
use super::redaction::{redact_branch, redact_turn};
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::block::chat_seq;
use turnleaf_domain::{
    Block, BlockId, BlockState, Branch, BranchId, ChatId, Content, Exchange, ExchangeId, ExchangeKind, Failure,
    FailureKind, ModelParams, Role, Turn, TurnId, TurnStatus, UNKNOWN_MODEL, UserId,
};
use turnleaf_store::branches;
use turnleaf_store::database::readable::{Damage, is_damage_note, is_placeholder};
use turnleaf_store::transfer::archive::salvage;
use turnleaf_store::turns::{self, exchanges};

/// Turns that had finished when the export began, their exchanges, and the unreadable values of both.
type FinishedTurns = (Vec<Turn>, HashMap<TurnId, Exchange>, Vec<Damage>);

/// The number of turns that are read at once; each may hold megabytes.
const TURNS_AT_ONCE: u32 = 50;
/// The state of reading a chat.
pub(super) struct ChatTree {
    pub owner: UserId,
    pub id: ChatId,
    pub branches: Vec<Branch>,
    planned: VecDeque<PlannedTurn>,
    /// All turns of the plan, for filtering data that is read separately.
    is_planned: HashSet<TurnId>,
    /// Turns of the chat that are not exported, with their parents.
    not_planned: HashMap<TurnId, Option<TurnId>>,
    over: HashSet<TurnId>,
    /// Turns read ahead, when they are stored in the order of the plan.
    page: VecDeque<Turn>,
    exchanges_of_page: HashMap<TurnId, Exchange>,
    behind: Option<i64>,
    pub written: HashMap<TurnId, WrittenTurn>,
    pub heads: HashMap<BranchId, TurnId>,
    /// Blocks whose turn ids cannot be read, by the ords of their turns.
    strays: HashMap<i64, Vec<Block>>,
    /// Tool calls that results may reference.
    uses: HashSet<BlockId>,
    exchanges: Vec<UsedExchange>,
    exchanges_at: HashMap<ExchangeId, usize>,
    pub damages: ExportDamages,
}

/// The remembered properties of a turn that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenTurn {
    pub depth: i64,
    pub role: Role,
    pub prev: Option<TurnId>,
    pub branch: BranchId,
}

/// An exchange with those of its turns that were read.
struct UsedExchange {
    exchange: Exchange,
    /// True when it replaces an exchange that cannot be read.
    is_placeholder: bool,
    message: Option<TurnId>,
    reply: Option<TurnId>,
}

/// The next turn of a chat, and whether its reasoning is shown.
pub(super) struct ReadTurn {
    pub turn: Turn,
    pub is_thinking_mode: bool,
}

impl Service {
    /// Plans a chat with its finished turns.
    pub(super) async fn plan_chat_tree(
        &self,
        owner: UserId,
        id: ChatId,
        over: &HashSet<TurnId>,
    ) -> Result<ChatTree, ServiceError> {
        let (mut damages, mut unread) = (ExportDamages::default(), Vec::new());
        let mut listed = branches::list_with_damages(self.db(), owner, id, &mut unread).await?;
        let places = salvage::list_turns(self.db(), id, &mut unread).await?;
        let without_row = salvage::turns_without_row(self.db(), id, &mut unread).await?;
        let has_strays = unread.iter().any(|damage| damage.column == "turn_id");
        let strays = if has_strays { salvage::stray_blocks(self.db(), id, &mut unread).await? } else { HashMap::new() };
        damages.note_unreadable(unread);
        let plan = plan_tree(&places, &without_row, over, &listed, &mut damages);
        let mut known: HashSet<BranchId> = listed.iter().map(|branch| branch.id).collect();
        let mut branch_of: HashMap<TurnId, BranchId> = HashMap::with_capacity(plan.turns.len());
        for turn in &plan.turns {
            branch_of.insert(turn.id, turn.branch);
            if known.insert(turn.branch) {
                let of = plan.moved.get(&turn.branch).copied();
                if of.is_none() {
                    damages.note_lost("branches", turn.branch, "its row cannot be read".into());
                }
                let original = listed.iter().find(|branch| Some(branch.id) == of).cloned();
                let parent = turn.prev.and_then(|prev| branch_of.get(&prev)).copied();
                listed.push(Branch { parent_branch_id: parent, ..self.placeholder_branch(id, turn, original).await? });
            }
        }
        let keys = self.supervisor().registry().known_keys();
        for branch in &mut listed {
            redact_branch(&keys, branch);
            for word in [&mut branch.lock.provider, &mut branch.lock.model] {
                if word.is_empty() {
                    *word = UNKNOWN_MODEL.to_owned();
                    damages.note_corrected("branches", branch.id, "its provider or model cannot be read".into());
                }
            }
        }
        let is_planned: HashSet<TurnId> = plan.turns.iter().map(|turn| turn.id).collect();
        let others = places.iter().filter(|place| !is_planned.contains(&place.id));
        Ok(ChatTree {
            owner,
            id,
            branches: listed,
            not_planned: others.map(|place| (place.id, place.prev.ok().flatten())).collect(),
            is_planned,
            behind: plan.is_stored_order.then_some(0),
            planned: plan.turns.into(),
            over: over.clone(),
            page: VecDeque::new(),
            exchanges_of_page: HashMap::new(),
            written: HashMap::new(),
            heads: HashMap::new(),
            strays,
            uses: HashSet::new(),
            exchanges: Vec::new(),
            exchanges_at: HashMap::new(),
            damages,
        })
    }

    /// Returns the next turn; `None` after the last. A turn that was deleted in between is skipped with its
    /// descendants.
    pub(super) async fn next_export_turn(&self, tree: &mut ChatTree) -> Result<Option<ReadTurn>, ServiceError> {
        while let Some(planned) = tree.planned.pop_front() {
            if planned.prev.is_some_and(|prev| !tree.written.contains_key(&prev)) {
                continue;
            }
            let mut turn = match self.stored_turn(tree, &planned).await? {
                Some(turn) => turn,
                None if planned.has_row && !salvage::is_live(self.db(), planned.id).await? => continue,
                None => self.placeholder_turn(tree, &planned).await?,
            };
            if let Some(strays) = tree.strays.remove(&turn.ord) {
                let keys = self.supervisor().registry().known_keys();
                turn.blocks.extend(strays);
                turn.blocks.sort_by_key(|block| (is_damage_note(block, turn.id), block.seq));
                turn = redact_turn(&keys, turn);
            }
            tree.fit_to_plan(&mut turn, &planned);
            let stored = match tree.exchanges_at.get(&turn.exchange_id) {
                Some(_) => None,
                None => tree.exchanges_of_page.remove(&turn.id).filter(|stored| stored.id == turn.exchange_id),
            };
            let is_thinking_mode = tree.add_to_exchange(&turn, stored);
            return Ok(Some(ReadTurn { turn, is_thinking_mode }));
        }
        Ok(None)
    }

    /// Returns a turn whose row can be read.
    async fn stored_turn(&self, tree: &mut ChatTree, planned: &PlannedTurn) -> Result<Option<Turn>, ServiceError> {
        if !planned.has_row {
            return Ok(None);
        }
        while let Some(behind) = &mut tree.behind {
            while tree.page.front().is_some_and(|turn| !tree.is_planned.contains(&turn.id)) {
                tree.page.pop_front();
            }
            match tree.page.front() {
                Some(next) if next.id == planned.id => return Ok(tree.page.pop_front()),
                Some(_) => break,
                None => {}
            }
            match self.finished_turns(tree.owner, tree.id, &tree.over, behind).await? {
                None => tree.behind = None,
                Some((page, exchanges, unread)) => {
                    tree.page = page.into();
                    tree.exchanges_of_page = exchanges;
                    tree.damages.note_unreadable(unread);
                }
            }
        }
        let mut unread = Vec::new();
        let found = salvage::turn(self.db(), tree.owner, planned.id, &mut unread).await?;
        let exchanges =
            exchanges::list_by_turns_with_damages(self.db(), tree.owner, &[planned.id], &mut unread).await?;
        let Some(turn) = found else { return Ok(None) };
        tree.damages.note_unreadable(unread);
        tree.exchanges_of_page.extend(exchanges);
        Ok(Some(redact_turn(&self.supervisor().registry().known_keys(), turn)))
    }

    /// Returns the next finished turns of a chat by ord, with their exchanges; `None` after the last. Running replies
    /// are skipped, because their final content is unknown.
    async fn finished_turns(
        &self,
        owner: UserId,
        id: ChatId,
        over: &HashSet<TurnId>,
        behind: &mut i64,
    ) -> Result<Option<FinishedTurns>, ServiceError> {
        let (mut unread, part) = (Vec::new(), (*behind, TURNS_AT_ONCE));
        let page = turns::list_of_chat_with_damages(self.db(), owner, id, part, &mut unread).await?;
        let Some(last) = page.last() else { return Ok(None) };
        *behind = last.ord;
        let keys = self.supervisor().registry().known_keys();
        let page: Vec<Turn> =
            page.into_iter().filter(|turn| over.contains(&turn.id)).map(|turn| redact_turn(&keys, turn)).collect();
        let ids: Vec<TurnId> = page.iter().map(|turn| turn.id).collect();
        let exchanges = exchanges::list_by_turns_with_damages(self.db(), owner, &ids, &mut unread).await?;
        Ok(Some((page, exchanges, unread)))
    }
}

impl ChatTree {
    /// Fits a turn to its planned position, and orders its blocks as an import requires. An intact turn is not
    /// changed.
    fn fit_to_plan(&mut self, turn: &mut Turn, planned: &PlannedTurn) {
        let above = planned.prev.and_then(|prev| self.written.get(&prev));
        turn.chat_id = self.id;
        turn.ord = planned.ord;
        let depth = above.map_or(0, |above| above.depth + 1);
        if planned.has_row && turn.depth != depth {
            self.damages.note_corrected("turns", turn.id, "its depth is not its parent's depth plus one".into());
        }
        turn.depth = depth;
        turn.prev_turn_id = planned.prev;
        turn.branch_id = planned.branch;
        turn.exchange_id = planned.exchange;
        if let Some(role) = planned.guessed_role {
            turn.role = role;
            self.damages.note_corrected(
                "turns",
                turn.id,
                format!("its role cannot be read and was set to {}", role.as_str()),
            );
        }
        if turn.role != Role::Assistant && turn.status != TurnStatus::Complete {
            (turn.status, turn.error) = (TurnStatus::Complete, None);
        }
        if turn.status == TurnStatus::Error && turn.error.is_none() {
            turn.error = Some(Failure::new(FailureKind::Internal, ""));
        }
        turn.completed_at = turn.completed_at.or(Some(turn.created_at));
        for (seq, block) in (0..).zip(&mut turn.blocks) {
            (block.seq, block.chat_seq) = (seq, chat_seq(turn.ord, seq));
            if block.state == BlockState::Open {
                block.state = BlockState::Aborted;
            }
            if let Content::ToolUse { status, .. } = &mut block.content {
                if status.is_open() {
                    *status = turnleaf_domain::blocks::block::ToolStatus::Interrupted;
                }
                self.uses.insert(block.id);
            }
            let has_call = block.parent_block_id.is_some_and(|call| self.uses.contains(&call));
            if matches!(block.content, Content::ToolResult { .. }) && !has_call {
                let stored = serde_json::to_string(&block.content).ok();
                // The tool call of this result cannot be read.
                block.content = salvage::unreadable_row_notice("turn_blocks", block.id.to_string(), stored.as_deref());
                block.parent_block_id = None;
            }
            if is_placeholder(&block.content) && block.id.uuid() != turn.id.uuid() {
                self.damages.note_lost("turn_blocks", block.id, format!("a part of turn {} cannot be read", turn.id));
            } else if is_placeholder(&block.content) && planned.has_row {
                self.damages.note_lost("turns", turn.id, "a part of it cannot be read".into());
            }
        }
        self.heads.insert(turn.branch_id, turn.id);
        let (depth, role, prev, branch) = (turn.depth, turn.role, turn.prev_turn_id, turn.branch_id);
        self.written.insert(turn.id, WrittenTurn { depth, role, prev, branch });
    }

    /// Adds a turn to its exchange, and returns whether that is in thinking mode.
    fn add_to_exchange(&mut self, turn: &Turn, stored: Option<Exchange>) -> bool {
        let at = match self.exchanges_at.get(&turn.exchange_id) {
            Some(at) => *at,
            None => {
                let is_placeholder = stored.is_none();
                let exchange = stored.unwrap_or_else(|| {
                    self.damages.note_lost("exchanges", turn.exchange_id, "its row cannot be read".into());
                    Exchange {
                        id: turn.exchange_id,
                        chat_id: turn.chat_id,
                        branch_id: turn.branch_id,
                        user_turn_id: None,
                        kind: ExchangeKind::Send,
                        is_thinking_mode: false,
                        params: ModelParams::default(),
                        not_sent: Vec::new(),
                        client_request_id: None,
                        created_at: turn.created_at,
                    }
                });
                let used = UsedExchange { exchange, is_placeholder, message: None, reply: None };
                self.exchanges_at.insert(turn.exchange_id, self.exchanges.len());
                self.exchanges.push(used);
                self.exchanges.len() - 1
            }
        };
        let used = &mut self.exchanges[at];
        match turn.role {
            Role::Assistant => used.reply = Some(turn.id),
            _ => used.message = used.message.or(Some(turn.id)),
        }
        used.exchange.shows_reasoning()
    }

    /// Returns the exchanges of the turns that were read.
    pub fn take_exchanges(&mut self) -> Vec<Exchange> {
        let listed: HashSet<BranchId> = self.branches.iter().map(|branch| branch.id).collect();
        let used = std::mem::take(&mut self.exchanges);
        used.into_iter().map(|used| self.exchange_of(used, &listed)).collect()
    }

    fn exchange_of(&self, used: UsedExchange, listed: &HashSet<BranchId>) -> Exchange {
        let UsedExchange { mut exchange, is_placeholder, message, reply } = used;
        let is_message = |turn: &TurnId| self.written.get(turn).is_some_and(|turn| turn.role == Role::User);
        let answered = reply.and_then(|reply| self.written.get(&reply)).and_then(|reply| reply.prev).filter(is_message);
        let stored = exchange.user_turn_id.filter(is_message);
        exchange.user_turn_id = match (is_placeholder, reply) {
            (true, None) => message,
            (true, Some(_)) => answered,
            (false, Some(_)) if stored.is_some() && stored != answered => answered,
            // An unreadable message was still answered, so the reply's parent is taken instead.
            (false, Some(_)) if stored.is_none() && exchange.user_turn_id.is_some() => answered,
            (false, _) => stored,
        };
        if is_placeholder && message.is_none() {
            exchange.kind =
                if exchange.user_turn_id.is_some() { ExchangeKind::Regenerate } else { ExchangeKind::Continue };
        }
        if !listed.contains(&exchange.branch_id) {
            let turn_branch = reply.or(message).and_then(|turn| self.branch_of(turn));
            exchange.branch_id = turn_branch.unwrap_or(exchange.branch_id);
        }
        Exchange { client_request_id: None, chat_id: self.id, ..exchange }
    }

    fn branch_of(&self, turn: TurnId) -> Option<BranchId> {
        self.written.get(&turn).map(|written| written.branch)
    }

    /// Returns the branches of the turns that were read, each with its last read turn as head. Branches whose fork
    /// turn was not read are dropped.
    pub fn take_branches(&mut self) -> Vec<Branch> {
        let mut first: HashMap<BranchId, Option<TurnId>> = HashMap::new();
        for turn in self.written.values() {
            let begins =
                turn.prev.and_then(|prev| self.written.get(&prev)).is_none_or(|prev| prev.branch != turn.branch);
            if begins {
                first.insert(turn.branch, turn.prev);
            }
        }
        let mut branches = std::mem::take(&mut self.branches);
        branches.retain_mut(|branch| {
            if let Some(fork) = first.get(&branch.id) {
                branch.fork_turn_id = *fork;
            }
            branch.head_turn_id = self.heads.get(&branch.id).copied();
            branch.fork_turn_id.is_none_or(|fork| self.written.contains_key(&fork))
        });
        let known: HashSet<BranchId> = branches.iter().map(|branch| branch.id).collect();
        for branch in &mut branches {
            branch.parent_branch_id = branch.parent_branch_id.filter(|parent| known.contains(parent));
        }
        parents_first(branches)
    }

    /// Returns the turn that the chat shows, or its nearest finished ancestor.
    pub fn shown_turn(&self, mut shown: Option<TurnId>) -> Option<TurnId> {
        for _ in 0..=self.not_planned.len() {
            match shown {
                Some(turn) if !self.is_planned.contains(&turn) => {
                    shown = self.not_planned.get(&turn).copied().flatten()
                }
                known => return known,
            }
        }
        None
    }
}
