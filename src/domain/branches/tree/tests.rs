//! Tests of a worked tree, of damaged trees, and of properties that hold for every tree.

use proptest::prelude::*;

use super::*;
use crate::fixtures::{self, turn_id};

/// Returns a node with another `ord` than its number, as in a damaged database.
fn node(n: u64, prev: Option<u64>, ord: i64) -> TurnNode {
    TurnNode { ord, ..fixtures::node(n, prev) }
}

/// Returns the worked tree, built from rows in reverse order.
fn worked() -> TurnTree {
    TurnTree::new(fixtures::nodes().into_iter().rev())
}

fn ids(numbers: &[u64]) -> Vec<TurnId> {
    numbers.iter().copied().map(turn_id).collect()
}

#[test]
fn paths_children_siblings_and_forks_are_as_drawn() {
    let tree = worked();
    assert!(tree.faults().is_empty());
    type TreeCase = (u64, &'static [u64], &'static [u64], &'static [u64]);
    let table: [TreeCase; 6] = [
        (1, &[1], &[2, 3], &[1, 10]),
        (2, &[1, 2], &[8], &[2, 3]),
        (3, &[1, 3], &[4, 6], &[2, 3]),
        (6, &[1, 3, 6], &[7], &[4, 6]),
        (7, &[1, 3, 6, 7], &[], &[7]),
        (10, &[10], &[], &[1, 10]),
    ];
    for (n, path, children, siblings) in table {
        assert_eq!(tree.path_to(turn_id(n)), ids(path), "path to {n}");
        assert_eq!(tree.children(turn_id(n)), ids(children), "children of {n}");
        assert_eq!(tree.siblings(turn_id(n)), ids(siblings), "siblings of {n}");
    }
    assert_eq!(tree.branch_points(), ids(&[1, 3]));
    assert_eq!(tree.leaves(), ids(&[5, 7, 9, 10]));
    assert_eq!(tree.roots(), ids(&[1, 10]));
    assert_eq!(tree.get(turn_id(4)).map(|node| node.ord), Some(4));
}

#[test]
fn choosing_turn_leads_to_last_visited_else_newest_leaf() {
    let tree = worked();
    let table: [(u64, &[u64], u64); 8] = [
        // Nothing was visited: the newest child at each fork.
        (1, &[], 7),
        (2, &[], 9),
        (3, &[], 7),
        (3, &[5], 5),
        // A visited turn that is not a leaf leads further down.
        (3, &[4], 5),
        // The newest visit below the turn counts; visits elsewhere do not.
        (1, &[10, 9, 5], 9),
        (3, &[9, 10], 7),
        (5, &[], 5),
    ];
    for (n, visited, leaf) in table {
        assert_eq!(tree.leaf_below(turn_id(n), &ids(visited)), Some(turn_id(leaf)), "below {n} after {visited:?}");
    }
}

#[test]
fn unknown_turn_has_no_place() {
    let tree = worked();
    let nobody = turn_id(99);
    assert_eq!(tree.get(nobody), None);
    assert!(tree.path_to(nobody).is_empty());
    assert!(tree.children(nobody).is_empty());
    assert!(tree.siblings(nobody).is_empty());
    assert_eq!(tree.leaf_below(nobody, &[]), None);
    assert_eq!(tree.leaf_below(turn_id(3), &[nobody]), Some(turn_id(7)));
}

#[test]
fn empty_chat_has_empty_tree() {
    let tree = TurnTree::new([]);
    assert!(tree.nodes().is_empty() && tree.roots().is_empty() && tree.faults().is_empty());
}

#[test]
fn cycle_is_cut_and_reported_and_every_walk_ends() {
    let tree = TurnTree::new([node(1, Some(3), 1), node(2, Some(1), 2), node(3, Some(2), 3), node(4, Some(4), 4)]);
    assert_eq!(tree.faults(), [TreeFault::ParentNotOlder(turn_id(1)), TreeFault::ParentNotOlder(turn_id(4))]);
    assert_eq!(tree.path_to(turn_id(3)), ids(&[1, 2, 3]));
    assert_eq!(tree.leaf_below(turn_id(1), &[]), Some(turn_id(3)));
    assert_eq!(tree.roots(), ids(&[1, 4]));
}

#[test]
fn missing_parents_and_duplicate_rows_are_reported() {
    let tree = TurnTree::new([node(1, None, 1), node(2, Some(77), 2), node(1, Some(2), 3), node(3, Some(2), 4)]);
    assert_eq!(tree.faults(), [TreeFault::Duplicate(turn_id(1)), TreeFault::ParentMissing(turn_id(2))]);
    assert_eq!(tree.path_to(turn_id(3)), ids(&[2, 3]));
}

#[test]
fn longest_allowed_chain_is_walked() {
    let longest = crate::limits::TURNS_PER_CHAT;
    let tree = TurnTree::new((1..=longest).map(|ord| {
        let n = ord.unsigned_abs();
        node(n, (n > 1).then(|| n - 1), ord)
    }));
    assert_eq!(tree.path_to(turn_id(longest.unsigned_abs())).len() as i64, longest);
    assert_eq!(tree.leaf_below(turn_id(1), &[]), Some(turn_id(longest.unsigned_abs())));
}

/// Generates a valid tree: each turn has an older parent or none.
fn sound() -> impl Strategy<Value = TurnTree> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..60).prop_map(|parents| {
        TurnTree::new((1_u64..).zip(parents).map(|(n, parent)| {
            let prev = parent.index(n as usize) as u64;
            node(n, (prev > 0).then_some(prev), n as i64)
        }))
    })
}

/// Generates arbitrary rows.
fn damaged() -> impl Strategy<Value = TurnTree> {
    prop::collection::vec((0..20_u64, prop::option::of(0..24_u64), 0..12_i64), 0..40)
        .prop_map(|rows| TurnTree::new(rows.into_iter().map(|(n, prev, ord)| node(n, prev, ord))))
}

proptest! {
    #[test]
    fn sound_tree_has_no_faults_and_its_paths_follow_parents(tree in sound()) {
        prop_assert!(tree.faults().is_empty());
        for node in tree.nodes() {
            let path = tree.path_to(node.id);
            prop_assert_eq!(path.last(), Some(&node.id));
            let parents: Vec<_> = path.iter().map(|id| tree.get(*id).unwrap().prev).collect();
            prop_assert_eq!(parents[0], None);
            prop_assert!(path.iter().zip(&parents[1..]).all(|(id, parent)| Some(*id) == *parent));
        }
    }

    #[test]
    fn every_turn_has_exactly_one_parent_even_in_damaged_tree(tree in damaged()) {
        let mut seen = tree.roots();
        for node in tree.nodes() {
            seen.extend(tree.children(node.id));
        }
        seen.sort();
        let mut all: Vec<_> = tree.nodes().iter().map(|node| node.id).collect();
        all.sort();
        prop_assert_eq!(seen, all);
    }

    #[test]
    fn leaf_below_is_leaf_and_descendant(tree in damaged(), visited in prop::collection::vec(0..20_u64, 0..3)) {
        for node in tree.nodes() {
            let leaf = tree.leaf_below(node.id, &ids(&visited)).unwrap();
            prop_assert!(tree.children(leaf).is_empty());
            prop_assert!(tree.is_on_path(node.id, leaf));
            if let Some(seen) = visited.iter().map(|n| turn_id(*n)).find(|seen| tree.is_on_path(node.id, *seen)) {
                prop_assert!(tree.is_on_path(seen, leaf));
            }
        }
    }

    #[test]
    fn siblings_share_their_siblings(tree in damaged()) {
        for node in tree.nodes() {
            let siblings = tree.siblings(node.id);
            prop_assert!(siblings.contains(&node.id));
            for sibling in &siblings {
                prop_assert_eq!(&tree.siblings(*sibling), &siblings);
            }
        }
    }
}
