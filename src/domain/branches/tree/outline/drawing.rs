//! The layout of a drawn tree: the root at the start, a column for each fork, a lane for each leaf. It is bounded:
//! turns that do not fit are counted on their ancestor run and can be drawn from there.

use std::collections::HashMap;

use super::{TreeOutline, TurnMark, TurnSketch};
use crate::id::TurnId;

/// The most runs and columns of one drawing: what a page renders quickly and a person can survey.
pub const RUNS: usize = 1_200;
pub const COLUMNS: usize = 120;

/// A run with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnRun<'a> {
    /// Its first and last turn.
    pub first: &'a TurnSketch,
    pub last: &'a TurnSketch,
    pub turns: usize,
    pub column: usize,
    pub lane: usize,
    /// The index of its parent run in the drawing.
    pub parent: Option<usize>,
    /// The number of turns below it that are not in the drawing.
    pub hidden: usize,
    /// The most urgent mark of its turns.
    pub mark: TurnMark,
    pub version: Option<(usize, usize)>,
    pub is_on_path: bool,
}

/// A drawing of a tree or of a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeDrawing<'a> {
    /// The runs; a parent precedes its children.
    pub runs: Vec<DrawnRun<'a>>,
    pub columns: usize,
    pub lanes: usize,
    /// The first turn of the run above the drawing, if the drawing does not begin with the chat.
    pub above: Option<TurnId>,
}

impl TreeOutline {
    /// Draws the tree below the run of `top`. Without `top`, draws as much of the chat as leads to the current path.
    pub fn draw(&self, top: Option<TurnId>) -> TreeDrawing<'_> {
        let starts = self.start_runs(top);
        let depths = self.choose_runs(&starts);
        let order = self.order_runs(&starts, &depths);
        let mut drawing = TreeDrawing {
            above: starts.first().and_then(|&run| self.runs[run].parent).map(|run| self.head(run)),
            ..TreeDrawing::default()
        };
        let mut index_of = HashMap::with_capacity(order.len());
        for &run in &order {
            index_of.insert(run, drawing.runs.len());
            let turns = &self.runs[run].turns;
            let shown: Vec<usize> =
                self.runs[run].children.iter().copied().filter(|run| depths.contains_key(run)).collect();
            let unseen = self.runs[run].children.iter().filter(|run| !depths.contains_key(run));
            let lane = drawing.lanes;
            if shown.is_empty() {
                drawing.lanes += 1;
            }
            let column = depths[&run];
            drawing.columns = drawing.columns.max(column + 1);
            drawing.runs.push(DrawnRun {
                first: &self.sketches[turns[0]],
                last: &self.sketches[turns[turns.len() - 1]],
                turns: turns.len(),
                column,
                // The first child run continues straight ahead, so a run has the lane of its first leaf.
                lane,
                parent: self.runs[run].parent.and_then(|parent| index_of.get(&parent).copied()),
                hidden: unseen.map(|&run| self.runs[run].turns.len() + self.runs[run].below).sum(),
                mark: turns.iter().map(|&at| self.mark(at)).max().unwrap_or_default(),
                version: self.version(turns[0]),
                is_on_path: self.on_path[turns[0]],
            });
        }
        drawing
    }

    /// Returns the runs with which the drawing begins.
    fn start_runs(&self, top: Option<TurnId>) -> Vec<usize> {
        if let Some(&at) = top.and_then(|top| self.tree.places.get(&top)) {
            return vec![self.run_of[at]];
        }
        let path: Vec<usize> = match self.leaf {
            Some(leaf) => self.ancestors(self.run_of[self.tree.places[&leaf]]).collect(),
            None => Vec::new(),
        };
        match path.get(COLUMNS - 1) {
            Some(&run) if path.len() > COLUMNS => vec![run],
            _ => self.tree.roots.iter().map(|&at| self.run_of[at]).collect(),
        }
    }

    /// Chooses the runs that are drawn, with their columns: first those of the current path, then the nearest to the
    /// start.
    fn choose_runs(&self, starts: &[usize]) -> HashMap<usize, usize> {
        let mut depths: HashMap<usize, usize> = HashMap::new();
        let mut level: Vec<usize> = starts.to_vec();
        if let Some(&at) = self.leaf.and_then(|leaf| self.tree.places.get(&leaf)) {
            let path: Vec<usize> = self.ancestors(self.run_of[at]).collect();
            if let Some(from) = path.iter().position(|run| starts.contains(run)) {
                let path = path[..=from].iter().rev().take(COLUMNS.min(RUNS));
                depths.extend(path.enumerate().map(|(column, &run)| (run, column)));
            }
        }
        for column in 0..COLUMNS {
            for &run in &level {
                if depths.len() >= RUNS {
                    break;
                }
                depths.entry(run).or_insert(column);
            }
            let below = level.iter().filter(|run| depths.contains_key(run)).flat_map(|&run| &self.runs[run].children);
            level = below.copied().collect();
        }
        depths
    }

    /// Orders the chosen runs depth first.
    fn order_runs(&self, starts: &[usize], depths: &HashMap<usize, usize>) -> Vec<usize> {
        let mut order = Vec::with_capacity(depths.len());
        let mut left: Vec<usize> = starts.iter().rev().copied().collect();
        while let Some(run) = left.pop() {
            if depths.contains_key(&run) {
                order.push(run);
                left.extend(self.runs[run].children.iter().rev());
            }
        }
        order
    }

    /// Returns a run and its ancestors.
    fn ancestors(&self, run: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(run), |&run| self.runs[run].parent)
    }
}
