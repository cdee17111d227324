//! The branches of a chat by where they fork and end, from which the leaf below a turn is found. Its size is the
//! number of branches, however long they are. [`crate::branches::tree`] handles single turns.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::id::{BranchId, TurnId};

/// A branch that has turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    pub branch_id: BranchId,
    /// The branch that it leaves, and the depth of the last shared turn. `None` if it begins at a root.
    pub from: Option<(BranchId, i64)>,
    /// Its last turn.
    pub head: TurnId,
    pub head_depth: i64,
    /// When its leaf was last shown or extended.
    pub visited_at: Option<DateTime<Utc>>,
}

/// All branches of a chat.
#[derive(Debug, Clone, Default)]
pub struct Lineages {
    rows: Vec<Lineage>,
    places: HashMap<BranchId, usize>,
    leaving: HashMap<BranchId, Vec<usize>>,
}

impl Lineages {
    pub fn new(rows: Vec<Lineage>) -> Self {
        let places = rows.iter().enumerate().map(|(at, row)| (row.branch_id, at)).collect();
        let mut leaving: HashMap<BranchId, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            if let Some((from, _)) = row.from {
                leaving.entry(from).or_default().push(at);
            }
        }
        Self { rows, places, leaving }
    }

    /// Returns the most recently visited leaf at or below the turn of this branch at this depth, else the newest
    /// leaf. Returns `None` if the branch has no such turn.
    pub fn leaf_below(&self, branch: BranchId, depth: i64) -> Option<&Lineage> {
        let mut found: Option<&Lineage> = None;
        let mut seen = HashSet::from([branch]);
        let mut open = vec![(branch, depth)];
        while let Some((branch, depth)) = open.pop() {
            let Some(row) = self.places.get(&branch).map(|&at| &self.rows[at]) else { continue };
            let mut is_leaf = row.head_depth >= depth;
            for &at in self.leaving.get(&branch).map_or(&[][..], Vec::as_slice) {
                let other = &self.rows[at];
                let left_at = other.from.map_or(0, |(_, depth)| depth);
                is_leaf &= left_at != row.head_depth;
                // A damaged chat may have a cycle.
                if left_at >= depth && seen.insert(other.branch_id) {
                    open.push((other.branch_id, left_at + 1));
                }
            }
            let order = |row: &Lineage| (row.visited_at, row.head);
            if is_leaf && found.is_none_or(|best| order(best) < order(row)) {
                found = Some(row);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{time, turn_id, uuid};

    fn branch_id(n: u64) -> BranchId {
        BranchId::from_uuid(uuid(n))
    }

    fn row(n: u64, from: Option<(u64, i64)>, head_depth: i64, visited: Option<i64>) -> Lineage {
        Lineage {
            branch_id: branch_id(n),
            from: from.map(|(from, depth)| (branch_id(from), depth)),
            head: turn_id(n),
            head_depth,
            visited_at: visited.map(time),
        }
    }

    fn leaf(rows: &[Lineage], branch: u64, depth: i64) -> Option<TurnId> {
        Lineages::new(rows.to_vec()).leaf_below(branch_id(branch), depth).map(|row| row.head)
    }

    #[test]
    fn last_visited_leaf_is_chosen() {
        // 1: 0..=5, 2 leaves it behind 1, 3 leaves 2 behind 3, 4 leaves 1 behind 3.
        let rows = [
            row(1, None, 5, Some(1)),
            row(2, Some((1, 1)), 5, Some(9)),
            row(3, Some((2, 3)), 7, Some(3)),
            row(4, Some((1, 3)), 5, Some(2)),
        ];
        assert_eq!(leaf(&rows, 1, 0), Some(turn_id(2)));
        assert_eq!(leaf(&rows, 1, 2), Some(turn_id(4)), "2 has left by then");
        assert_eq!(leaf(&rows, 1, 4), Some(turn_id(1)));
        assert_eq!(leaf(&rows, 3, 4), Some(turn_id(3)));
        assert_eq!(leaf(&rows, 4, 6), None, "there is no such turn");
        assert_eq!(leaf(&rows, 9, 0), None);
    }

    #[test]
    fn followed_end_is_no_leaf() {
        let rows = [row(1, None, 1, Some(9)), row(2, Some((1, 1)), 3, Some(1))];
        assert_eq!(leaf(&rows, 1, 1), Some(turn_id(2)));
    }

    #[test]
    fn newest_of_unvisited_leaves_is_chosen() {
        let rows = [row(1, None, 1, None), row(2, Some((1, 0)), 3, None), row(3, Some((1, 0)), 3, None)];
        assert_eq!(leaf(&rows, 1, 0), Some(turn_id(3)));
    }

    #[test]
    fn cycle_terminates() {
        let rows = [row(1, Some((2, 1)), 5, None), row(2, Some((1, 1)), 6, None)];
        assert_eq!(leaf(&rows, 1, 0), Some(turn_id(2)));
    }
}
