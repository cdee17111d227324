//! The tree of a chat's turns, from its skeleton: who hangs on whom. Answers where one is, what else there is beside
//! it and where a click leads. Not for the turns' text.
//!
//! Total on damaged rows: an edge to a missing turn or to one that is not older is cut and reported, so every walk
//! ends, and what hangs below the cut stays reachable as a root.

pub mod outline;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::id::TurnId;
use crate::turn::{Role, TurnStatus};

pub mod compact_tree;

/// One turn's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TurnNode {
    pub id: TurnId,
    #[serde(rename = "prev_turn_id")]
    pub prev: Option<TurnId>,
    /// Place in the chat by creation; a child's is greater than its parent's (domain.md I1).
    pub ord: i64,
    pub role: Role,
    pub status: TurnStatus,
}

/// What is wrong with a row of the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeFault {
    /// Its parent is not in the chat.
    ParentMissing(TurnId),
    /// Its parent was not created before it; every cycle has such an edge.
    ParentNotOlder(TurnId),
    /// Another row has the same id; the one with the smaller `ord` is kept.
    Duplicate(TurnId),
}

/// A forest of turns: several roots are allowed.
#[derive(Debug, Clone, Default)]
pub struct TurnTree {
    /// By `ord`.
    nodes: Vec<TurnNode>,
    places: HashMap<TurnId, usize>,
    /// After the cuts.
    parents: Vec<Option<usize>>,
    /// By `ord`, as all lists of turns here.
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
    faults: Vec<TreeFault>,
}

impl TurnTree {
    /// Builds the tree from rows in any order.
    pub fn new(rows: impl IntoIterator<Item = TurnNode>) -> Self {
        let mut rows: Vec<TurnNode> = rows.into_iter().collect();
        rows.sort_by_key(|node| (node.ord, node.id));
        let mut tree = Self::default();
        for node in rows {
            if tree.places.contains_key(&node.id) {
                tree.faults.push(TreeFault::Duplicate(node.id));
                continue;
            }
            tree.places.insert(node.id, tree.nodes.len());
            tree.nodes.push(node);
        }
        tree.children = vec![Vec::new(); tree.nodes.len()];
        for at in 0..tree.nodes.len() {
            let parent = tree.parent_of(at);
            tree.parents.push(parent);
            match parent {
                Some(parent) => tree.children[parent].push(at),
                None => tree.roots.push(at),
            }
        }
        tree
    }

    /// The place of a node's parent, unless the edge has to be cut.
    fn parent_of(&mut self, at: usize) -> Option<usize> {
        let node = &self.nodes[at];
        let Some(&parent) = self.places.get(&node.prev?) else {
            self.faults.push(TreeFault::ParentMissing(node.id));
            return None;
        };
        if self.nodes[parent].ord >= node.ord {
            self.faults.push(TreeFault::ParentNotOlder(node.id));
            return None;
        }
        Some(parent)
    }

    /// What was cut or dropped; empty for a sound chat.
    pub fn faults(&self) -> &[TreeFault] {
        &self.faults
    }

    /// All turns, by creation.
    pub fn nodes(&self) -> &[TurnNode] {
        &self.nodes
    }

    /// A turn's row.
    pub fn get(&self, id: TurnId) -> Option<&TurnNode> {
        self.places.get(&id).map(|&at| &self.nodes[at])
    }

    /// The turns without a parent, by creation.
    pub fn roots(&self) -> Vec<TurnId> {
        self.ids(&self.roots)
    }

    /// The turns that continue this one, by creation; none for an unknown turn.
    pub fn children(&self, id: TurnId) -> Vec<TurnId> {
        self.places.get(&id).map(|&at| self.ids(&self.children[at])).unwrap_or_default()
    }

    /// The versions at this turn's place, itself included, by creation; none for an unknown turn. Roots are each
    /// other's siblings.
    pub fn siblings(&self, id: TurnId) -> Vec<TurnId> {
        let Some(&at) = self.places.get(&id) else { return Vec::new() };
        self.ids(self.parents[at].map_or(&self.roots, |parent| &self.children[parent]))
    }

    /// The turns that more than one turn continues, by creation.
    pub fn branch_points(&self) -> Vec<TurnId> {
        (0..self.nodes.len()).filter(|&at| self.children[at].len() > 1).map(|at| self.nodes[at].id).collect()
    }

    /// The turns that nothing continues, by creation.
    pub fn leaves(&self) -> Vec<TurnId> {
        (0..self.nodes.len()).filter(|&at| self.children[at].is_empty()).map(|at| self.nodes[at].id).collect()
    }

    /// From the root to this turn, both included; empty for an unknown turn.
    pub fn path_to(&self, id: TurnId) -> Vec<TurnId> {
        let mut path: Vec<TurnId> = self.ancestors_of(id).map(|at| self.nodes[at].id).collect();
        path.reverse();
        path
    }

    /// Whether `ancestor` is on the path to `id`, which includes `id` itself.
    pub fn is_on_path(&self, ancestor: TurnId, id: TurnId) -> bool {
        self.places.get(&ancestor).is_some_and(|&ancestor| self.ancestors_of(id).any(|at| at == ancestor))
    }

    /// Where choosing a turn leads: to the end of the path below it. `visited` are the turns the reader looked at,
    /// newest first; the first of them that lies below says which way. From there on, and where none does, the newest
    /// child is taken at each fork (domain.md 4.9).
    pub fn leaf_below(&self, id: TurnId, visited: &[TurnId]) -> Option<TurnId> {
        let chosen = visited.iter().copied().find(|&seen| self.is_on_path(id, seen)).unwrap_or(id);
        let mut at = *self.places.get(&chosen)?;
        while let Some(&newest) = self.children[at].last() {
            at = newest;
        }
        Some(self.nodes[at].id)
    }

    /// The places from a turn up to its root. Ends, because a kept parent always stands before its child.
    fn ancestors_of(&self, id: TurnId) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.places.get(&id).copied(), |&at| self.parents[at])
    }

    fn ids(&self, places: &[usize]) -> Vec<TurnId> {
        places.iter().map(|&at| self.nodes[at].id).collect()
    }
}

#[cfg(test)]
mod tests;
