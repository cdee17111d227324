//! The branches of a chat in the order in which they can be stored: each behind the one that it leaves.

use std::collections::{HashMap, VecDeque};

use crate::domain::BranchId;

/// A branch, by its number in the list that it came in, and the one that it leaves, if that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BranchLink {
    pub number: usize,
    pub parent: Option<BranchId>,
}

/// All of them; or with one of those that leave each other in a circle.
pub(super) struct BranchOrder {
    pub all: Vec<BranchLink>,
    pub cycle: Option<usize>,
}

/// Puts branches behind those that they leave, which are among them.
pub(super) fn parents_first(branches: impl Iterator<Item = (BranchId, Option<BranchId>)>) -> BranchOrder {
    let mut all = Vec::new();
    let mut waiting: HashMap<BranchId, Vec<(BranchId, usize)>> = HashMap::new();
    let mut ready = VecDeque::new();
    for (number, (id, parent)) in branches.enumerate() {
        match parent {
            Some(parent) => waiting.entry(parent).or_default().push((id, number)),
            None => ready.push_back((id, BranchLink { number, parent })),
        }
    }
    while let Some((id, leaving)) = ready.pop_front() {
        let behind = waiting.remove(&id).unwrap_or_default().into_iter();
        ready.extend(behind.map(|(of, number)| (of, BranchLink { number, parent: Some(id) })));
        all.push(leaving);
    }
    let circle = waiting.into_values().flatten().map(|(_, number)| number).min();
    BranchOrder { all, cycle: circle }
}
