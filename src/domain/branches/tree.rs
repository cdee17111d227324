//! The tree of a chat's turns, built from parent links: positions, siblings, and the leaf that a selection leads to.
//! The tree has no texts.
//!
//! The tree is total on damaged rows: an edge to a missing turn, or to one that is not older, is cut and reported.
//! Every walk therefore ends, and the turns below a cut stay reachable from a new root.

pub mod outline;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::id::TurnId;
use crate::turns::turn::{Role, TurnStatus};

pub mod compact_tree;

/// The position of one turn in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TurnNode {
    pub id: TurnId,
    #[serde(rename = "prev_turn_id")]
    pub prev: Option<TurnId>,
    /// The position in the chat by creation. A child's is greater than its parent's.
    pub ord: i64,
    pub role: Role,
    pub status: TurnStatus,
}

/// A fault in the rows of a tree.
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
    /// The turns by `ord`.
    nodes: Vec<TurnNode>,
    places: HashMap<TurnId, usize>,
    /// The parents, after the cuts.
    parents: Vec<Option<usize>>,
    /// The children by `ord`, like all lists of turns here.
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

    /// Returns the index of a node's parent, unless the edge has to be cut.
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

    /// Returns the cut edges and dropped rows; empty for a valid chat.
    pub fn faults(&self) -> &[TreeFault] {
        &self.faults
    }

    /// Returns all turns, by creation.
    pub fn nodes(&self) -> &[TurnNode] {
        &self.nodes
    }

    /// Returns a turn's node.
    pub fn get(&self, id: TurnId) -> Option<&TurnNode> {
        self.places.get(&id).map(|&at| &self.nodes[at])
    }

    /// Returns the turns without a parent, by creation.
    pub fn roots(&self) -> Vec<TurnId> {
        self.ids(&self.roots)
    }

    /// Returns the children of a turn, by creation; empty for an unknown turn.
    pub fn children(&self, id: TurnId) -> Vec<TurnId> {
        self.places.get(&id).map(|&at| self.ids(&self.children[at])).unwrap_or_default()
    }

    /// Returns the versions of a turn, itself included, by creation; empty for an unknown turn. Roots are siblings.
    pub fn siblings(&self, id: TurnId) -> Vec<TurnId> {
        let Some(&at) = self.places.get(&id) else { return Vec::new() };
        self.ids(self.parents[at].map_or(&self.roots, |parent| &self.children[parent]))
    }

    /// Returns the turns with more than one child, by creation.
    pub fn branch_points(&self) -> Vec<TurnId> {
        (0..self.nodes.len()).filter(|&at| self.children[at].len() > 1).map(|at| self.nodes[at].id).collect()
    }

    /// Returns the turns without children, by creation.
    pub fn leaves(&self) -> Vec<TurnId> {
        (0..self.nodes.len()).filter(|&at| self.children[at].is_empty()).map(|at| self.nodes[at].id).collect()
    }

    /// Returns the path from the root to this turn, inclusive; empty for an unknown turn.
    pub fn path_to(&self, id: TurnId) -> Vec<TurnId> {
        let mut path: Vec<TurnId> = self.ancestors_of(id).map(|at| self.nodes[at].id).collect();
        path.reverse();
        path
    }

    /// Returns true if `ancestor` is on the path to `id`, which includes `id` itself.
    pub fn is_on_path(&self, ancestor: TurnId, id: TurnId) -> bool {
        self.places.get(&ancestor).is_some_and(|&ancestor| self.ancestors_of(id).any(|at| at == ancestor))
    }

    /// Returns the leaf that selecting a turn leads to. `visited` are recently viewed turns, newest first; the first
    /// of them below the turn determines the path. From there on, and if there is none, the newest child is taken at
    /// each fork (`docs/reference/domain.md 4.9`).
    pub fn leaf_below(&self, id: TurnId, visited: &[TurnId]) -> Option<TurnId> {
        let chosen = visited.iter().copied().find(|&seen| self.is_on_path(id, seen)).unwrap_or(id);
        let mut at = *self.places.get(&chosen)?;
        while let Some(&newest) = self.children[at].last() {
            at = newest;
        }
        Some(self.nodes[at].id)
    }

    /// Returns the indices from a turn up to its root. The walk ends, because a kept parent always precedes its
    /// child.
    fn ancestors_of(&self, id: TurnId) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.places.get(&id).copied(), |&at| self.parents[at])
    }

    fn ids(&self, places: &[usize]) -> Vec<TurnId> {
        places.iter().map(|&at| self.nodes[at].id).collect()
    }
}

#[cfg(test)]
mod tests;
