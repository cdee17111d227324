//! The outline of a chat's tree: linear chains are collapsed into one row, and only forks add levels. It is built
//! from a sketch of every turn and yields rows and positions; rendering belongs to its callers.
//!
//! A run is a chain of turns from a root or a fork to the next fork or to a leaf. Its first turn is a row; below it
//! are the rest of the run, folded if long, and the runs that leave its last turn.

pub mod drawing;
pub mod rows;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{TurnNode, TurnTree};
use crate::id::{BranchId, TurnId};
use crate::turns::turn::TurnStatus;

/// The most characters of a turn's first words.
pub const WORDS_CHARS: usize = 60;
/// The facts about one turn that the outline uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSketch {
    pub node: TurnNode,
    pub branch: BranchId,
    /// One line; see [`crate::text::excerpt::first_words`].
    pub words: String,
    pub created_at: DateTime<Utc>,
}

/// The notable status of a turn or of hidden turns; the more urgent is the greater.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnMark {
    #[default]
    Plain,
    Stopped,
    Failed,
    Running,
}

impl TurnMark {
    pub fn from_status(status: TurnStatus) -> Self {
        match status {
            TurnStatus::Complete => Self::Plain,
            TurnStatus::Cancelled => Self::Stopped,
            TurnStatus::Error => Self::Failed,
            TurnStatus::Pending | TurnStatus::Streaming | TurnStatus::WaitingSubagents => Self::Running,
        }
    }
}

#[derive(Debug, Default)]
struct OutlineRun {
    /// The indices of its turns; never empty.
    turns: Vec<usize>,
    parent: Option<usize>,
    children: Vec<usize>,
    /// The number of turns in the runs below.
    below: usize,
    /// True if a turn in it or below it is being generated.
    is_running: bool,
}

/// The tree of a chat with the current path.
#[derive(Debug, Default)]
pub struct TreeOutline {
    tree: TurnTree,
    /// The sketches by index.
    sketches: Vec<TurnSketch>,
    /// The runs; a parent precedes its children.
    runs: Vec<OutlineRun>,
    run_of: Vec<usize>,
    on_path: Vec<bool>,
    leaf: Option<TurnId>,
}

impl TreeOutline {
    /// Builds the outline from sketches in any order; `leaf` is the end of the current path.
    pub fn new(sketches: impl IntoIterator<Item = TurnSketch>, leaf: Option<TurnId>) -> Self {
        let mut given: Vec<TurnSketch> = sketches.into_iter().collect();
        given.sort_by_key(|sketch| (sketch.node.ord, sketch.node.id));
        let tree = TurnTree::new(given.iter().map(|sketch| sketch.node.clone()));
        let mut seen = HashSet::new();
        given.retain(|sketch| seen.insert(sketch.node.id));
        let mut outline = Self { sketches: given, on_path: vec![false; tree.nodes.len()], tree, ..Self::default() };
        outline.find_runs();
        outline.count_runs();
        outline.leaf = leaf.filter(|leaf| outline.tree.places.contains_key(leaf));
        if let Some(leaf) = outline.leaf {
            for at in outline.tree.ancestors_of(leaf).collect::<Vec<_>>() {
                outline.on_path[at] = true;
            }
        }
        outline
    }

    fn find_runs(&mut self) {
        for at in 0..self.tree.nodes.len() {
            let parent = self.tree.parents[at];
            let run = match parent {
                Some(parent) if self.tree.children[parent].len() == 1 => self.run_of[parent],
                parent => {
                    let parent = parent.map(|parent| self.run_of[parent]);
                    let run = self.runs.len();
                    self.runs.push(OutlineRun { parent, ..OutlineRun::default() });
                    if let Some(parent) = parent {
                        self.runs[parent].children.push(run);
                    }
                    run
                }
            };
            self.runs[run].turns.push(at);
            self.run_of.push(run);
        }
    }

    fn count_runs(&mut self) {
        for run in (0..self.runs.len()).rev() {
            self.runs[run].is_running |= self.runs[run].turns.iter().any(|&at| self.mark(at) == TurnMark::Running);
            if let Some(parent) = self.runs[run].parent {
                self.runs[parent].below += self.runs[run].turns.len() + self.runs[run].below;
                self.runs[parent].is_running |= self.runs[run].is_running;
            }
        }
    }

    /// Returns the end of the current path.
    pub fn leaf(&self) -> Option<TurnId> {
        self.leaf
    }

    /// Returns all turns, by creation.
    pub fn sketches(&self) -> &[TurnSketch] {
        &self.sketches
    }

    pub fn find(&self, id: TurnId) -> Option<&TurnSketch> {
        self.tree.places.get(&id).map(|&at| &self.sketches[at])
    }

    /// Returns the number of leaves.
    pub fn leaves(&self) -> usize {
        self.runs.iter().filter(|run| run.children.is_empty()).count()
    }

    /// Returns the oldest other sibling of a turn.
    pub fn first_sibling(&self, id: TurnId) -> Option<&TurnSketch> {
        let first = self.tree.siblings(id).into_iter().find(|sibling| *sibling != id)?;
        self.find(first)
    }

    /// Returns the number of turns below this one, and the number of their leaves; a leaf counts itself.
    pub fn count_below(&self, id: TurnId) -> (usize, usize) {
        let Some(&at) = self.tree.places.get(&id) else { return (0, 0) };
        let run = &self.runs[self.run_of[at]];
        let rest = run.turns.iter().rev().take_while(|&&turn| turn != at).count();
        let (mut ends, mut left) = (0, vec![self.run_of[at]]);
        while let Some(run) = left.pop() {
            ends += usize::from(self.runs[run].children.is_empty());
            left.extend(&self.runs[run].children);
        }
        (rest + run.below, ends)
    }

    /// Returns the number of turns that are neither this one, nor below it, nor its ancestors.
    pub fn count_others(&self, id: TurnId) -> usize {
        let ancestors = self.tree.ancestors_of(id).count();
        self.sketches.len() - ancestors - self.count_below(id).0
    }

    /// Returns the leaf that selecting a turn leads to, along the current path if possible; see
    /// [`TurnTree::leaf_below`].
    pub fn leaf_below(&self, id: TurnId) -> Option<TurnId> {
        self.tree.leaf_below(id, self.leaf.as_slice())
    }

    pub fn is_on_path(&self, id: TurnId) -> bool {
        self.tree.places.get(&id).is_some_and(|&at| self.on_path[at])
    }

    /// Returns true if the turn is a root or belongs to another branch than its parent.
    fn is_new_branch(&self, at: usize) -> bool {
        self.tree.parents[at].is_none_or(|parent| self.sketches[parent].branch != self.sketches[at].branch)
    }

    /// Returns the parent of a turn.
    pub fn parent(&self, id: TurnId) -> Option<&TurnSketch> {
        let &at = self.tree.places.get(&id)?;
        self.tree.parents[at].map(|parent| &self.sketches[parent])
    }

    fn version(&self, at: usize) -> Option<(usize, usize)> {
        let siblings = self.tree.parents[at].map_or(&self.tree.roots, |parent| &self.tree.children[parent]);
        let index = siblings.binary_search(&at).ok().filter(|_| siblings.len() > 1)?;
        Some((index + 1, siblings.len()))
    }

    fn head(&self, run: usize) -> TurnId {
        self.id(self.runs[run].turns[0])
    }

    fn id(&self, at: usize) -> TurnId {
        self.sketches[at].node.id
    }

    fn mark(&self, at: usize) -> TurnMark {
        TurnMark::from_status(self.sketches[at].node.status)
    }
}

/// Returns the number of turns of each branch, with the first and the last.
pub fn turns_by_branch(sketches: &[TurnSketch]) -> HashMap<BranchId, (usize, &TurnSketch, &TurnSketch)> {
    let mut branches = HashMap::new();
    for sketch in sketches {
        branches
            .entry(sketch.branch)
            .and_modify(|(count, _, last): &mut (usize, &TurnSketch, &TurnSketch)| {
                *count += 1;
                *last = sketch;
            })
            .or_insert((1, sketch, sketch));
    }
    branches
}

#[cfg(test)]
mod tests;
