//! Orders the branches of a chat for storage: each after its parent.

use std::collections::{HashMap, VecDeque};

use crate::domain::BranchId;

/// A branch by its index in the input, with its parent if that is in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BranchLink {
    pub number: usize,
    pub parent: Option<BranchId>,
}

/// The ordered branches, and one branch of a cycle if there is one.
pub(super) struct BranchOrder {
    pub all: Vec<BranchLink>,
    pub cycle: Option<usize>,
}

/// Orders branches after their parents, which must be among them.
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
