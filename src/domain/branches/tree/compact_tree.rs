//! The compact format of a tree: positions in the chat instead of ids, and for each turn the distance to its parent
//! (`docs/reference/domain.md C17`). A thousand turns take about two thousand bytes.

use serde::{Deserialize, Serialize};

/// The value for a deleted turn.
const NOBODY: i64 = -1;

/// A chat's tree by the positions (`ord`) of its turns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CompactTree {
    /// The revision of the chat.
    pub rev: i64,
    /// The position of the first turn. Null for a chat without turns.
    pub root_ord: Option<i64>,
    /// For each position from `root_ord`: the distance to the parent's position. 0 for a root, -1 if there is no
    /// turn.
    pub prev: Vec<i64>,
}

impl CompactTree {
    /// Builds the format from pairs of position and parent position, by position.
    pub fn new(rev: i64, turns: impl IntoIterator<Item = (i64, Option<i64>)>) -> Self {
        let mut compact = Self { rev, root_ord: None, prev: Vec::new() };
        let mut next = 0;
        for (ord, prev) in turns {
            if compact.root_ord.is_none() {
                compact.root_ord = Some(ord);
                next = ord;
            }
            compact.prev.extend((next..ord).map(|_| NOBODY));
            compact.prev.push(prev.map_or(0, |prev| ord - prev));
            next = ord + 1;
        }
        compact
    }

    /// Returns the pairs that the format was built from.
    pub fn turns(&self) -> impl Iterator<Item = (i64, Option<i64>)> + '_ {
        let places = self.root_ord.unwrap_or_default()..;
        let turns = places.zip(&self.prev).filter(|(_, back)| **back != NOBODY);
        turns.map(|(ord, back)| (ord, (*back > 0).then_some(ord - back)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chain_is_ones_and_version_stores_distance_to_parent() {
        let compact = CompactTree::new(7, [(3, None), (4, Some(3)), (5, Some(4)), (8, Some(4)), (9, None)]);
        assert_eq!(serde_json::to_string(&compact).unwrap(), r#"{"rev":7,"root_ord":3,"prev":[0,1,1,-1,-1,4,0]}"#);
        assert_eq!(serde_json::to_string(&CompactTree::new(0, [])).unwrap(), r#"{"rev":0,"root_ord":null,"prev":[]}"#);
    }

    #[test]
    fn thousand_turns_take_less_than_two_and_a_half_kilobytes() {
        // Every twentieth turn is another version of the one before it.
        let turns = (1..=1000).map(|n| (n, (n > 1).then(|| if n % 20 == 0 { n - 2 } else { n - 1 })));
        assert!(serde_json::to_string(&CompactTree::new(1000, turns)).unwrap().len() <= 2_500);
    }

    proptest! {
        #[test]
        fn compact_tree_round_trips(rows in prop::collection::vec((1..4_i64, prop::option::of(1..50_i64)), 0..60)) {
            let mut ord = 0;
            let turns: Vec<(i64, Option<i64>)> = rows
                .into_iter()
                .map(|(gap, back)| {
                    ord += gap;
                    (ord, back.map(|back| ord - back).filter(|prev| *prev > 0))
                })
                .collect();
            let compact = CompactTree::new(1, turns.clone());
            prop_assert_eq!(compact.turns().collect::<Vec<_>>(), turns);
        }
    }
}
