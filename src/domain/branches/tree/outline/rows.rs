//! The rows of an outline: which are open, which match a filter, and their position in each level.

use std::collections::HashSet;
use std::ops::Range;

use super::{TreeOutline, TurnMark, TurnSketch};
use crate::id::TurnId;

/// A tree with at most this many rows is shown fully open.
const OPEN_ROWS: usize = 120;
/// Shorter chains are not folded.
const FOLD_FROM: usize = 2;

/// The view state of the reader.
#[derive(Debug, Clone, Default)]
pub struct OutlineViewState {
    /// Rows that were opened and closed manually, by their turn. A folded row is identified by its first turn, which
    /// is never the first of a run.
    pub open: HashSet<TurnId>,
    pub shut: HashSet<TurnId>,
    /// A turn that needs a row of its own, unless an ancestor was closed manually.
    pub reveal: Option<TurnId>,
    /// If set, only these turns and their ancestors are shown.
    pub hits: Option<HashSet<TurnId>>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineRow<'a> {
    /// The turn of the row; for a folded row, its first turn.
    pub turn: &'a TurnSketch,
    /// The number of turns folded into this row.
    pub folded: Option<usize>,
    /// The level, from 1.
    pub level: usize,
    /// Its number among its siblings, from 1, and their count.
    pub place: (usize, usize),
    /// `None` if there is nothing below.
    pub is_open: Option<bool>,
    /// The number of hidden turns below, because the row is closed; a folded row counts its own.
    pub hidden: usize,
    pub mark: TurnMark,
    /// Its version number, from 1, and the number of versions, if there are several.
    pub version: Option<(usize, usize)>,
    pub is_on_path: bool,
    pub is_hit: bool,
    /// True if a branch begins with this turn.
    pub is_new_branch: bool,
}

/// A future row below another row.
#[derive(Clone)]
enum LevelPart {
    Head(usize),
    Turn(usize),
    Fold(usize, Range<usize>),
}

impl TreeOutline {
    /// Returns the visible rows, from the top down.
    pub fn rows(&self, wish: &OutlineViewState) -> Vec<OutlineRow<'_>> {
        let kept = wish.hits.as_ref().map(|hits| self.runs_with_hits(hits));
        let mut opened = self.revealed_turns(wish.reveal);
        // A filter shows its hits, and a small tree shows everything.
        let is_small = || {
            let rows = |run| 1 + self.inner_parts(run, None).len();
            (0..self.runs.len()).map(rows).sum::<usize>() <= OPEN_ROWS
        };
        if wish.hits.is_some() || is_small() {
            opened.extend(self.runs.iter().map(|run| self.id(run.turns[0])));
        }
        let is_kept = |run: &usize| kept.as_ref().is_none_or(|kept| kept[*run]);
        let roots = (0..self.runs.len()).filter(|&run| self.runs[run].parent.is_none());
        let top: Vec<LevelPart> = roots.filter(is_kept).map(LevelPart::Head).collect();
        let mut rows = Vec::new();
        let mut left = Vec::new();
        push_level(&mut left, 1, top);
        while let Some((level, place, part)) = left.pop() {
            let below: Vec<LevelPart> = match &part {
                LevelPart::Head(run) => {
                    let mut below = self.inner_parts(*run, wish.hits.as_ref());
                    below.extend(self.runs[*run].children.iter().copied().filter(is_kept).map(LevelPart::Head));
                    below
                }
                LevelPart::Turn(_) => Vec::new(),
                LevelPart::Fold(run, range) => {
                    self.runs[*run].turns[range.clone()].iter().copied().map(LevelPart::Turn).collect()
                }
            };
            let id = self.id(self.first_of(&part));
            let is_open = (!below.is_empty())
                .then(|| !wish.shut.contains(&id) && (wish.open.contains(&id) || opened.contains(&id)));
            rows.push(self.row(&part, level, place, is_open, wish));
            if is_open == Some(true) {
                push_level(&mut left, level + 1, below);
            }
        }
        rows
    }

    fn row(
        &self,
        part: &LevelPart,
        level: usize,
        place: (usize, usize),
        is_open: Option<bool>,
        wish: &OutlineViewState,
    ) -> OutlineRow<'_> {
        let at = self.first_of(part);
        let is_closed = is_open == Some(false);
        let (folded, hidden, mut mark) = match part {
            LevelPart::Head(run) => {
                let run = &self.runs[*run];
                let hidden = if is_closed { run.turns.len() - 1 + run.below } else { 0 };
                (None, hidden, if is_closed && run.is_running { TurnMark::Running } else { TurnMark::Plain })
            }
            LevelPart::Turn(_) => (None, 0, TurnMark::Plain),
            LevelPart::Fold(run, range) => {
                let turns = &self.runs[*run].turns[range.clone()];
                let mark = turns.iter().map(|&at| self.mark(at)).max().unwrap_or_default();
                (Some(turns.len()), if is_closed { turns.len() } else { 0 }, mark)
            }
        };
        mark = mark.max(self.mark(at));
        let is_fold = folded.is_some();
        OutlineRow {
            turn: &self.sketches[at],
            folded,
            level,
            place,
            is_open,
            hidden,
            mark,
            version: (!is_fold).then(|| self.version(at)).flatten(),
            is_on_path: self.on_path[at],
            is_hit: !is_fold && wish.hits.as_ref().is_some_and(|hits| hits.contains(&self.id(at))),
            is_new_branch: !is_fold && self.is_new_branch(at),
        }
    }

    /// Returns the parts between the first turn of a run and the child runs. The last turn always has a row, because
    /// it is a leaf or a fork; with a filter, hits have rows.
    fn inner_parts(&self, run: usize, hits: Option<&HashSet<TurnId>>) -> Vec<LevelPart> {
        let turns = &self.runs[run].turns;
        let mut parts = Vec::new();
        let mut from = 1;
        let mut flush = |from: usize, to: usize| {
            if to - from >= FOLD_FROM {
                parts.push(LevelPart::Fold(run, from..to));
            } else {
                parts.extend(turns[from..to].iter().copied().map(LevelPart::Turn));
            }
        };
        for index in 1..turns.len() {
            let is_kept = match hits {
                Some(hits) => hits.contains(&self.id(turns[index])),
                None => index + 1 == turns.len(),
            };
            if is_kept {
                flush(from, index);
                flush(index, index + 1);
                from = index + 1;
            }
        }
        flush(from, turns.len());
        parts
    }

    /// Returns the runs that contain a hit or have one below.
    fn runs_with_hits(&self, hits: &HashSet<TurnId>) -> Vec<bool> {
        let mut kept = vec![false; self.runs.len()];
        for run in (0..self.runs.len()).rev() {
            kept[run] |= self.runs[run].turns.iter().any(|&at| hits.contains(&self.id(at)));
            if let Some(parent) = self.runs[run].parent {
                kept[parent] |= kept[run];
            }
        }
        kept
    }

    /// Returns the rows to open so that the current path and the revealed turn are visible.
    fn revealed_turns(&self, reveal: Option<TurnId>) -> HashSet<TurnId> {
        let mut opened = HashSet::new();
        for wanted in self.leaf.into_iter().chain(reveal) {
            let Some(&at) = self.tree.places.get(&wanted) else { continue };
            let first = self.run_of[at];
            opened.extend(std::iter::successors(Some(first), |&run| self.runs[run].parent).map(|run| self.head(run)));
            // The run that begins with the revealed turn need not be open, unless it is on the path.
            if Some(wanted) != self.leaf && self.head(first) == wanted && !self.on_path[at] {
                opened.remove(&wanted);
            }
            let turns = &self.runs[first].turns;
            if let Some(index) = turns.iter().position(|&turn| turn == at)
                && index > 0
                && index + 1 < turns.len()
            {
                opened.insert(self.id(turns[1]));
            }
        }
        opened
    }

    fn first_of(&self, part: &LevelPart) -> usize {
        match part {
            LevelPart::Head(run) => self.runs[*run].turns[0],
            LevelPart::Turn(at) => *at,
            LevelPart::Fold(run, range) => self.runs[*run].turns[range.start],
        }
    }
}

/// Pushes the parts of one level, so that the first is popped first.
fn push_level(left: &mut Vec<(usize, (usize, usize), LevelPart)>, level: usize, parts: Vec<LevelPart>) {
    let count = parts.len();
    let numbered = parts.into_iter().enumerate().rev();
    left.extend(numbered.map(|(index, part)| (level, (index + 1, count), part)));
}

/// Returns the visible window of the rows: `limit` of them, centered on `around` as far as possible.
pub fn visible_window(rows: usize, around: usize, limit: usize) -> Range<usize> {
    let from = around.saturating_sub(limit / 2).min(rows.saturating_sub(limit));
    from..rows.min(from + limit)
}
