//! Incremental import: appends what the source has added since the last import. Existing turns are never changed, and
//! additions whose parent was deleted are left out.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::archive::{ArchivedBranch, ArchivedChat};
use crate::domain::branches::branch::Branch;
use crate::domain::turns::turn::{Role, Turn};
use crate::domain::{BlockId, BranchId, BranchOrigin, Exchange, ExchangeId, ModelLock, TurnId, limits};

/// The stored state of a chat.
#[derive(Debug, Clone, Default)]
pub struct ExistingChat {
    pub turns: HashMap<TurnId, ExistingTurn>,
    /// Deleted turns, which stay deleted.
    pub deleted: HashSet<TurnId>,
    /// Name, lock and newest turn of each branch.
    pub branches: HashMap<BranchId, (String, ModelLock, Option<TurnId>)>,
}

/// The position of a turn.
#[derive(Debug, Clone, Copy)]
pub struct ExistingTurn {
    pub prev_turn_id: Option<TurnId>,
    pub branch_id: BranchId,
    pub exchange_id: ExchangeId,
    pub depth: i64,
    pub created_at: DateTime<Utc>,
}

/// Returns the turns of a freshly built chat that are not stored yet, with their positions, and the number of turns
/// that are left out. The `ord` is assigned when they are stored.
pub fn collect_additions(
    grown: &ArchivedChat,
    existing: &ExistingChat,
    id: &dyn Fn(&str) -> Uuid,
) -> (ArchivedChat, usize) {
    let mut growth = AdditionsBuilder::new(grown, existing);
    let mut behind = 0;
    for turn in &grown.turns {
        let is_known = existing.turns.contains_key(&turn.id) || existing.deleted.contains(&turn.id);
        if !is_known && growth.add(turn, id).is_none() {
            behind += 1;
        }
    }
    let AdditionsBuilder { mut added, heads, .. } = growth;
    for of in &mut added.branches {
        of.branch.head_turn_id = heads.get(&of.branch.id).and_then(|(_, head)| *head);
    }
    let ids: HashSet<TurnId> = added.turns.iter().map(|turn| turn.id).collect();
    added.generations.extend(grown.generations.iter().filter(|call| ids.contains(&call.turn_id)).cloned());
    (added, behind)
}

struct AdditionsBuilder<'g> {
    locks: HashMap<BranchId, &'g ModelLock>,
    exchanges: HashMap<ExchangeId, &'g Exchange>,
    places: HashMap<TurnId, ExistingTurn>,
    children: HashMap<Option<TurnId>, usize>,
    names: HashSet<String>,
    heads: HashMap<BranchId, (ModelLock, Option<TurnId>)>,
    /// Existing exchanges, and those that are added.
    begun: HashSet<ExchangeId>,
    opened: HashSet<ExchangeId>,
    /// The blocks of the additions.
    blocks: HashSet<BlockId>,
    added: ArchivedChat,
}

impl<'g> AdditionsBuilder<'g> {
    fn new(grown: &'g ArchivedChat, existing: &ExistingChat) -> Self {
        let mut children: HashMap<Option<TurnId>, usize> = HashMap::new();
        for place in existing.turns.values() {
            *children.entry(place.prev_turn_id).or_default() += 1;
        }
        let empty = ArchivedChat {
            chat: grown.chat.clone(),
            imported_from: None,
            turns: Vec::new(),
            generations: Vec::new(),
            exchanges: Vec::new(),
            branches: Vec::new(),
        };
        Self {
            locks: grown.branches.iter().map(|of| (of.branch.id, &of.branch.lock)).collect(),
            exchanges: grown.exchanges.iter().map(|exchange| (exchange.id, exchange)).collect(),
            places: existing.turns.clone(),
            children,
            names: existing.branches.values().map(|(name, ..)| name.clone()).collect(),
            heads: existing.branches.iter().map(|(id, (_, lock, head))| (*id, (lock.clone(), *head))).collect(),
            begun: existing.turns.values().map(|place| place.exchange_id).collect(),
            opened: HashSet::new(),
            blocks: HashSet::new(),
            added: empty,
        }
    }

    /// Adds a turn at its position; `None` if it has none.
    fn add(&mut self, turn: &Turn, id: &dyn Fn(&str) -> Uuid) -> Option<()> {
        let above = match turn.prev_turn_id {
            Some(above) => Some((above, *self.places.get(&above)?)),
            None => None,
        };
        let siblings = self.children.get(&turn.prev_turn_id).copied().unwrap_or_default();
        let is_full = |count: usize, most: i64| usize::try_from(most).is_ok_and(|most| count >= most);
        if is_full(self.places.len(), limits::TURNS_PER_CHAT) || is_full(siblings, limits::SIBLINGS) {
            return None;
        }
        // A result for a call of an existing reply is too late, because that call is finished.
        let own: HashSet<BlockId> = turn.blocks.iter().map(|block| block.id).collect();
        let mut answered = turn.blocks.iter().filter_map(|block| block.parent_block_id);
        if answered.any(|call| !own.contains(&call) && !self.blocks.contains(&call)) {
            return None;
        }
        let lock = *self.locks.get(&turn.branch_id)?;
        let exchange = *self.exchanges.get(&turn.exchange_id)?;
        let is_head = |(above, place): &(TurnId, ExistingTurn)| {
            self.heads.get(&place.branch_id).is_some_and(|(of, head)| of == lock && *head == Some(*above))
        };
        let goes_on = above.filter(is_head);
        if goes_on.is_none() && is_full(self.heads.len(), limits::BRANCHES_PER_CHAT) {
            return None;
        }
        self.children.insert(turn.prev_turn_id, siblings + 1);
        let mut turn = turn.clone();
        turn.depth = above.map_or(0, |(_, place)| place.depth + 1);
        let floor = above.map_or(turn.created_at, |(_, place)| place.created_at.max(turn.created_at));
        turn.created_at = floor;
        turn.started_at = turn.started_at.map(|at| at.max(floor));
        turn.completed_at = turn.completed_at.map(|at| at.max(floor));
        turn.blocks.iter_mut().for_each(|block| block.created_at = block.created_at.max(floor));
        turn.branch_id = match goes_on {
            Some((_, place)) => place.branch_id,
            None => self.start_branch(&turn, above.map(|(_, place)| place.branch_id), lock, id),
        };
        self.heads.insert(turn.branch_id, (lock.clone(), Some(turn.id)));
        let is_reply = turn.role == Role::Assistant;
        // The exchange of an existing question stays unchanged: mode, branch and reply.
        if is_reply && self.begun.contains(&turn.exchange_id) {
            turn.exchange_id = id(&format!("exchange of {}", turn.id)).into();
        }
        if self.opened.insert(turn.exchange_id) {
            let (id, branch_id) = (turn.exchange_id, turn.branch_id);
            self.added.exchanges.push(Exchange { id, branch_id, created_at: floor, ..exchange.clone() });
        }
        self.blocks.extend(own);
        let Turn { prev_turn_id, branch_id, exchange_id, depth, created_at, .. } = turn;
        self.places.insert(turn.id, ExistingTurn { prev_turn_id, branch_id, exchange_id, depth, created_at });
        self.added.turns.push(turn);
        Some(())
    }

    fn start_branch(
        &mut self,
        turn: &Turn,
        parent_branch_id: Option<BranchId>,
        lock: &ModelLock,
        id: &dyn Fn(&str) -> Uuid,
    ) -> BranchId {
        let mut number = self.names.len() + 1;
        let mut name = format!("branch {number}");
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("branch {number}");
        }
        let id = BranchId::from(id(&format!("branch at {}", turn.id)));
        let branch = Branch {
            parent_branch_id,
            fork_turn_id: turn.prev_turn_id,
            origin: BranchOrigin::Import,
            ..Branch::new(id, turn.chat_id, name, lock.clone(), turn.created_at)
        };
        let system_prompt = self.added.chat.system_prompt.clone();
        let server_instructions = Vec::new();
        let tools = Some(Vec::new());
        self.added.branches.push(ArchivedBranch { branch, system_prompt, tools, server_instructions });
        id
    }
}
