//! The rows of an outline: what the reader has opened, what a filter found, and how many there are of each level.

use std::collections::HashSet;
use std::ops::Range;

use super::{TreeOutline, TurnMark, TurnSketch};
use crate::id::TurnId;

/// With so many rows in all nothing has to be closed to be found.
const OPEN_ROWS: usize = 120;
/// Fewer turns in a row are shown as they are.
const FOLD_FROM: usize = 2;

/// What the reader asks to see.
#[derive(Debug, Clone, Default)]
pub struct OutlineViewState {
    /// Rows opened and closed by hand, by their turn. A folded row is known by the first turn in it, which is never the
    /// first of a run.
    pub open: HashSet<TurnId>,
    pub shut: HashSet<TurnId>,
    /// A turn that must have a row of its own, unless something above it was closed by hand.
    pub reveal: Option<TurnId>,
    /// Only these turns and what leads to them.
    pub hits: Option<HashSet<TurnId>>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineRow<'a> {
    /// The turn it stands for; of a folded row the first of its turns.
    pub turn: &'a TurnSketch,
    /// How many turns are folded into this row.
    pub folded: Option<usize>,
    /// From 1.
    pub level: usize,
    /// Which of its siblings this is, from 1, and how many there are.
    pub place: (usize, usize),
    /// Nothing where there is nothing below.
    pub is_open: Option<bool>,
    /// Turns below that have no row because this one is closed; a folded row counts its own.
    pub hidden: usize,
    pub mark: TurnMark,
    /// Which version of its place in the chat this is, from 1, where there is more than one.
    pub version: Option<(usize, usize)>,
    pub is_on_path: bool,
    pub is_hit: bool,
    /// Whether the branch begins with this turn.
    pub is_new_branch: bool,
}

/// What stands under a row, before it is a row.
#[derive(Clone)]
enum LevelPart {
    Head(usize),
    Turn(usize),
    Fold(usize, Range<usize>),
}

impl TreeOutline {
    /// The rows that the reader sees, from the top down.
    pub fn rows(&self, wish: &OutlineViewState) -> Vec<OutlineRow<'_>> {
        let kept = wish.hits.as_ref().map(|hits| self.runs_with_hits(hits));
        let mut opened = self.revealed_turns(wish.reveal);
        // A filter shows what it finds; a small tree shows everything.
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

    /// What stands between the first turn of a run and the runs that leave it. Its last turn is where one is, or where
    /// the ways part, so it always has a row; with a filter the turns have one that it found.
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

    /// The runs in which, or below which, something was found.
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

    /// What is open so that the path that is read has rows, and the turn that is to be revealed.
    fn revealed_turns(&self, reveal: Option<TurnId>) -> HashSet<TurnId> {
        let mut opened = HashSet::new();
        for wanted in self.leaf.into_iter().chain(reveal) {
            let Some(&at) = self.tree.places.get(&wanted) else { continue };
            let first = self.run_of[at];
            opened.extend(std::iter::successors(Some(first), |&run| self.runs[run].parent).map(|run| self.head(run)));
            // A run of which the turn is the head need not be open, except for the path.
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

/// Puts the parts of one level on the pile, so that the first is taken first.
fn push_level(left: &mut Vec<(usize, (usize, usize), LevelPart)>, level: usize, parts: Vec<LevelPart>) {
    let count = parts.len();
    let numbered = parts.into_iter().enumerate().rev();
    left.extend(numbered.map(|(index, part)| (level, (index + 1, count), part)));
}

/// Which of many rows are shown at once: `limit` of them, with the one at `around` in the middle as far as there are
/// rows.
pub fn visible_window(rows: usize, around: usize, limit: usize) -> Range<usize> {
    let from = around.saturating_sub(limit / 2).min(rows.saturating_sub(limit));
    from..rows.min(from + limit)
}
