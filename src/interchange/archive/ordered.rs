//! A chat of an archive in the order in which it can be stored: a branch behind the one that it leaves. What only points
//! somewhere points at nothing when that is not in the archive: a chat is not lost for it.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{ArchivedBranch, ArchivedChat};
use crate::domain::{BranchId, GenerationId, TurnId};

/// Puts the branches in their order, and takes away what points at something that is not there. A branch may have left
/// one that was deleted, and a chat may have changed while it was written.
pub(super) fn ordered(mut chat: ArchivedChat) -> ArchivedChat {
    let listed: HashSet<BranchId> = chat.branches.iter().map(|of| of.branch.id).collect();
    for of in &mut chat.branches {
        of.branch.parent_branch_id = of.branch.parent_branch_id.filter(|parent| listed.contains(parent));
    }
    chat.branches = parents_first(chat.branches);
    let calls: HashSet<GenerationId> = chat.generations.iter().map(|of| of.id).collect();
    for block in chat.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        block.generation_id = block.generation_id.filter(|call| calls.contains(call));
    }
    let branch_of: HashMap<TurnId, BranchId> = chat.turns.iter().map(|turn| (turn.id, turn.branch_id)).collect();
    let row = &mut chat.chat;
    if row.last_viewed_turn_id.is_some_and(|turn| !branch_of.contains_key(&turn)) {
        row.last_viewed_turn_id = chat.turns.last().map(|turn| turn.id);
    }
    if row.default_branch_id.is_some_and(|branch| !listed.contains(&branch)) {
        let shown = row.last_viewed_turn_id.and_then(|turn| branch_of.get(&turn)).copied();
        row.default_branch_id = shown.or(chat.branches.first().map(|of| of.branch.id));
    }
    chat
}

/// Those that leave each other in a circle stand at the end, where [`super::check`] finds them.
fn parents_first(branches: Vec<ArchivedBranch>) -> Vec<ArchivedBranch> {
    let mut sorted = Vec::with_capacity(branches.len());
    let mut waiting: HashMap<BranchId, Vec<ArchivedBranch>> = HashMap::new();
    let mut ready = VecDeque::new();
    for of in branches {
        match of.branch.parent_branch_id {
            Some(parent) => waiting.entry(parent).or_default().push(of),
            None => ready.push_back(of),
        }
    }
    while let Some(of) = ready.pop_front() {
        ready.extend(waiting.remove(&of.branch.id).unwrap_or_default());
        sorted.push(of);
    }
    sorted.extend(waiting.into_values().flatten());
    sorted
}
