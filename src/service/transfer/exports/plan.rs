//! Plans the tree of an exported chat. For an intact chat it is the stored tree. Where rows cannot be read, a
//! placeholder replaces each turn that has children, and ords, branches and exchanges are repaired so that an import
//! accepts them.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::damages::ExportDamages;
use turnleaf_domain::{Branch, BranchId, ExchangeId, Role, TurnId};
use turnleaf_store::transfer::archive::salvage::SalvagedTurn;

/// A turn in export order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedTurn {
    pub id: TurnId,
    pub ord: i64,
    pub prev: Option<TurnId>,
    pub branch: BranchId,
    pub exchange: ExchangeId,
    /// The role derived from the neighbours, when the row's own cannot be read.
    pub guessed_role: Option<Role>,
    pub role: Role,
    pub created_at: DateTime<Utc>,
    /// True when it has a row; otherwise a placeholder is exported.
    pub has_row: bool,
    /// True when its content may be exported; a deleted turn with children is exported without content.
    pub has_blocks: bool,
}

/// The plan of a chat.
#[derive(Debug, Default)]
pub(super) struct TreePlan {
    /// Ordered so that each turn follows its parent.
    pub turns: Vec<PlannedTurn>,
    /// True when the turns are stored in this order, so that they can be read page by page.
    pub is_stored_order: bool,
    /// Branches created for turns that do not fit on their own branch, with the original branches.
    pub moved: HashMap<BranchId, BranchId>,
}

/// A turn before its position is decided.
#[derive(Debug, Clone)]
struct UnplacedTurn {
    ord: Option<i64>,
    depth: i64,
    prev: Option<TurnId>,
    branch: Option<BranchId>,
    exchange: Option<ExchangeId>,
    role: Option<Role>,
    created_at: DateTime<Utc>,
    has_row: bool,
    has_blocks: bool,
}

/// The data about the chat from which the plan is made.
struct TreePlanner<'k> {
    candidates: HashMap<TurnId, UnplacedTurn>,
    by_place: HashMap<(BranchId, i64), TurnId>,
    branches: HashMap<BranchId, &'k Branch>,
    without_row: HashMap<TurnId, i64>,
    left_out: HashSet<TurnId>,
}

/// Plans the finished turns. `without_row` are turns known only from their blocks, with their ords.
pub(super) fn plan_tree(
    places: &[SalvagedTurn],
    without_row: &[(TurnId, i64)],
    over: &HashSet<TurnId>,
    branches: &[Branch],
    damages: &mut ExportDamages,
) -> TreePlan {
    let mut known = TreePlanner::new(places, without_row, over, branches);
    for place in places.iter().filter(|place| place.is_live && over.contains(&place.id)) {
        for (column, is_damaged) in [
            ("prev_turn_id", place.prev.is_err()),
            ("branch_id", place.branch.is_err()),
            ("exchange_id", place.exchange.is_err()),
        ] {
            if is_damaged {
                damages.note_lost("turns", place.id, format!("its {column} cannot be read"));
            }
        }
        let prev = known.prev_of(place, damages);
        if let Some(candidate) = known.candidates.get_mut(&place.id) {
            candidate.prev = prev;
        }
    }
    known.hang_leaves(damages);
    known.plan(damages)
}

impl<'k> TreePlanner<'k> {
    fn new(
        places: &[SalvagedTurn],
        without_row: &[(TurnId, i64)],
        over: &HashSet<TurnId>,
        branches: &'k [Branch],
    ) -> Self {
        let (mut candidates, mut by_place, mut left_out) = (HashMap::new(), HashMap::new(), HashSet::new());
        for place in places {
            if !place.is_live || !over.contains(&place.id) {
                left_out.insert(place.id);
                continue;
            }
            if let Ok(branch) = place.branch {
                by_place.insert((branch, place.depth), place.id);
            }
            let candidate = UnplacedTurn {
                ord: Some(place.ord).filter(|ord| *ord > 0),
                depth: place.depth,
                prev: None,
                branch: place.branch.as_ref().ok().copied(),
                exchange: place.exchange.as_ref().ok().copied(),
                role: place.role,
                created_at: place.created_at,
                has_row: true,
                has_blocks: true,
            };
            candidates.insert(place.id, candidate);
        }
        let branches = branches.iter().map(|branch| (branch.id, branch)).collect();
        Self { candidates, by_place, branches, without_row: without_row.iter().copied().collect(), left_out }
    }

    /// Returns the parent of a turn. When its row does not name one, it is the turn before it on its branch.
    fn prev_of(&mut self, place: &SalvagedTurn, damages: &mut ExportDamages) -> Option<TurnId> {
        let branch = place.branch.as_ref().ok().copied();
        match place.prev {
            Ok(None) => None,
            Ok(Some(prev)) if self.candidates.contains_key(&prev) && prev != place.id => Some(prev),
            Ok(Some(prev)) => {
                let known = self.before(branch, place.depth).filter(|known| *known != place.id);
                let prev = known.unwrap_or_else(|| self.add_missing(prev, place));
                damages.note_corrected("turns", place.id, "its parent cannot be read".into());
                Some(prev)
            }
            Err(_) => self.before(branch, place.depth).or_else(|| self.nearest(branch, place.depth)),
        }
    }

    /// Returns the turn directly before a depth on a branch.
    fn before(&self, branch: Option<BranchId>, depth: i64) -> Option<TurnId> {
        let branch = branch?;
        let on_it = self.by_place.get(&(branch, depth.checked_sub(1)?)).copied();
        on_it.or_else(|| {
            let fork = self.branches.get(&branch)?.fork_turn_id?;
            let is_right_before = self.candidates.get(&fork)?.depth.checked_add(1) == Some(depth);
            is_right_before.then_some(fork)
        })
    }

    /// Returns the nearest turn above a depth on a branch.
    fn nearest(&self, branch: Option<BranchId>, depth: i64) -> Option<TurnId> {
        let branch = branch?;
        let above = self.by_place.iter().filter(|((on, at), _)| *on == branch && *at < depth);
        let nearest = above.max_by_key(|((_, at), _)| *at).map(|(_, id)| *id);
        let fork = || self.branches.get(&branch).and_then(|branch| branch.fork_turn_id);
        nearest.or_else(|| fork().filter(|fork| self.candidates.contains_key(fork)))
    }

    /// Adds a placeholder for a turn without a readable row that is the parent of `child`.
    fn add_missing(&mut self, id: TurnId, child: &SalvagedTurn) -> TurnId {
        let on = child.branch.as_ref().ok().copied();
        // The parent of a branch's first turn is on the parent branch.
        let leaves = on.and_then(|on| self.branches.get(&on)).filter(|branch| branch.fork_turn_id == Some(id));
        let branch = leaves.and_then(|branch| branch.parent_branch_id).or(on);
        let depth = child.depth.saturating_sub(1);
        let prev = self.before(branch, depth).or_else(|| self.nearest(branch, depth));
        let candidate = UnplacedTurn {
            ord: self.without_row.get(&id).copied().filter(|ord| *ord > 0),
            depth,
            prev,
            branch,
            exchange: None,
            role: None,
            created_at: child.created_at,
            has_row: false,
            has_blocks: !self.left_out.contains(&id),
        };
        self.candidates.insert(id, candidate);
        id
    }

    /// Attaches turns that are known only from their blocks and have no children to the turn before them.
    fn hang_leaves(&mut self, damages: &mut ExportDamages) {
        let mut leaves: Vec<(TurnId, i64)> = self.without_row.iter().map(|(id, ord)| (*id, *ord)).collect();
        leaves.sort_unstable_by_key(|(id, ord)| (*ord, id.uuid()));
        for (id, ord) in leaves {
            if self.candidates.contains_key(&id) || self.left_out.contains(&id) {
                continue;
            }
            let head = self.branches.values().find(|branch| branch.head_turn_id == Some(id)).map(|branch| branch.id);
            let last = head.and_then(|branch| self.nearest(Some(branch), i64::MAX));
            let older = || {
                let older = self.candidates.iter().filter(|(_, of)| of.ord.is_some_and(|of| of < ord));
                older.max_by_key(|(_, of)| of.ord).map(|(id, _)| *id)
            };
            let prev = last.or_else(older);
            let above = prev.and_then(|prev| self.candidates.get(&prev));
            let candidate = UnplacedTurn {
                ord: Some(ord).filter(|ord| *ord > 0),
                depth: above.map_or(0, |above| above.depth.saturating_add(1)),
                prev,
                branch: head.or(above.and_then(|above| above.branch)),
                exchange: None,
                role: None,
                created_at: above.map_or_else(DateTime::default, |above| above.created_at),
                has_row: false,
                has_blocks: true,
            };
            self.candidates.insert(id, candidate);
            damages.note_corrected(
                "turns",
                id,
                "its row cannot be read, and its position in the chat was guessed".into(),
            );
        }
    }

    /// Returns the turn ids, each after its parent, otherwise by ord. Cycles are cut.
    fn order(&mut self, damages: &mut ExportDamages) -> Vec<TurnId> {
        let mut ids: Vec<TurnId> = self.candidates.keys().copied().collect();
        ids.sort_unstable_by_key(|id| (self.candidates[id].ord.unwrap_or(i64::MAX), id.uuid()));
        let (mut ordered, mut is_ordered) = (Vec::with_capacity(ids.len()), HashSet::with_capacity(ids.len()));
        for id in ids {
            let (mut chain, mut is_in_chain) = (Vec::new(), HashSet::new());
            let mut next = Some(id);
            while let Some(id) = next.filter(|id| !is_ordered.contains(id)) {
                if !is_in_chain.insert(id) {
                    if let Some(first) = chain.last().and_then(|last| self.candidates.get_mut(last)) {
                        first.prev = None;
                        damages.note_corrected("turns", id, "its parent was one of its own descendants".into());
                    }
                    break;
                }
                chain.push(id);
                next = self.candidates.get(&id).and_then(|of| of.prev);
            }
            is_ordered.extend(chain.iter().copied());
            ordered.extend(chain.into_iter().rev());
        }
        ordered
    }

    fn plan(mut self, damages: &mut ExportDamages) -> TreePlan {
        let order = self.order(damages);
        let mut children: HashMap<TurnId, TurnId> = HashMap::new();
        for id in &order {
            if let Some(prev) = self.candidates[id].prev {
                children.entry(prev).or_insert(*id);
            }
        }
        let is_rising = order.windows(2).all(|two| self.candidates[&two[0]].ord < self.candidates[&two[1]].ord);
        let is_stored_order =
            is_rising && order.iter().all(|id| self.candidates[id].has_row && self.candidates[id].ord.is_some());
        let mut plan = TreePlan { is_stored_order, ..TreePlan::default() };
        let ords = self.ords(&order, damages);
        let (mut heads, mut replies) = (HashMap::<BranchId, TurnId>::new(), HashSet::new());
        let mut planned: HashMap<TurnId, usize> = HashMap::with_capacity(order.len());
        for (id, ord) in order.into_iter().zip(ords) {
            let of = &self.candidates[&id];
            let above = of.prev.and_then(|prev| planned.get(&prev)).map(|at| &plan.turns[*at]);
            let below = children.get(&id).and_then(|child| self.candidates.get(child));
            let guessed_role = match of.role {
                Some(_) => None,
                None => Some(other_role(below.and_then(|below| below.role).or(above.map(|above| above.role)))),
            };
            let role = of.role.or(guessed_role).unwrap_or(Role::User);
            let own = of.branch.or_else(|| below?.branch).or(above.map(|above| above.branch));
            let branch = match (own, of.prev) {
                (Some(own), _) if heads.get(&own).is_none_or(|head| Some(*head) == of.prev) => own,
                // Descendants of a turn that was moved to another branch move with it.
                (Some(own), Some(prev)) => above
                    .filter(|above| {
                        plan.moved.get(&above.branch) == Some(&own) && heads.get(&above.branch) == Some(&prev)
                    })
                    .map_or(BranchId::from(id.uuid()), |above| above.branch),
                _ => id.uuid().into(),
            };
            let exchange = of.exchange.or_else(|| match role {
                Role::Assistant => above.filter(|above| above.role == Role::User).map(|above| above.exchange),
                _ => below.filter(|below| below.role == Some(Role::Assistant)).and_then(|below| below.exchange),
            });
            let exchange = exchange.unwrap_or_else(|| id.uuid().into());
            let is_second = role == Role::Assistant && !replies.insert(exchange);
            let exchange = if is_second { id.uuid().into() } else { exchange };
            if let Some(own) = own.filter(|own| *own != branch) {
                plan.moved.insert(branch, own);
                damages.note_corrected("turns", id, "it does not fit its branch and got a new branch".into());
            }
            heads.insert(branch, id);
            planned.insert(id, plan.turns.len());
            let (prev, created_at) = (of.prev, of.created_at);
            let (has_row, has_blocks) = (of.has_row, of.has_blocks);
            plan.turns.push(PlannedTurn {
                id,
                ord,
                prev,
                branch,
                exchange,
                guessed_role,
                role,
                created_at,
                has_row,
                has_blocks,
            });
        }
        plan
    }

    /// Returns the ords of the turns in this order: their own when these rise, else new ones.
    fn ords(&self, order: &[TurnId], damages: &mut ExportDamages) -> Vec<i64> {
        let (mut last, mut ords) = (0, Vec::with_capacity(order.len()));
        for id in order {
            let of = &self.candidates[id];
            // A placeholder may take the ord right after the turn before it.
            let ord = if of.has_row { of.ord } else { of.ord.or(Some(last + 1)) };
            let Some(ord) = ord.filter(|ord| *ord > last && *ord < i64::from(u32::MAX)) else {
                damages.note_corrected(
                    "turns",
                    id,
                    "its position in the chat is damaged: messages were renumbered".into(),
                );
                return (1..).take(order.len()).collect();
            };
            ords.push(ord);
            last = ord;
        }
        ords
    }
}

fn other_role(role: Option<Role>) -> Role {
    match role {
        Some(Role::User | Role::System) => Role::Assistant,
        _ => Role::User,
    }
}

/// Orders branches so that each follows its parent; intact chats are stored that way.
pub(super) fn parents_first(branches: Vec<Branch>) -> Vec<Branch> {
    let (mut ordered, mut is_there) = (Vec::with_capacity(branches.len()), HashSet::new());
    let mut rest = branches;
    while !rest.is_empty() {
        let (before, mut later) = (rest.len(), Vec::new());
        for branch in rest {
            if branch.parent_branch_id.is_none_or(|parent| is_there.contains(&parent)) {
                is_there.insert(branch.id);
                ordered.push(branch);
            } else {
                later.push(branch);
            }
        }
        if later.len() == before {
            // The remaining branches form a cycle.
            later.iter_mut().for_each(|branch| branch.parent_branch_id = None);
        }
        rest = later;
    }
    ordered
}
