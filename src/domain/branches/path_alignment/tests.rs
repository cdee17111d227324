//! Tests of alignment, by a table and by properties.

use proptest::prelude::*;

use super::*;

/// Parses roles: `u` is a message, `a` a reply, `s` a system turn.
fn roles(path: &str) -> Vec<Role> {
    path.chars()
        .map(|c| match c {
            'u' => Role::User,
            'a' => Role::Assistant,
            _ => Role::System,
        })
        .collect()
}

/// Formats the pairs as `left|right`, each side as its letters.
fn pairs(left: &str, right: &str) -> Vec<String> {
    let pairs = align(&roles(left), &roles(right));
    pairs.into_iter().map(|pair| format!("{}|{}", &left[pair.left], &right[pair.right])).collect()
}

#[test]
fn exchanges_are_aligned_by_position() {
    for (left, right, expected) in [
        ("", "", vec![]),
        ("ua", "ua", vec!["ua|ua"]),
        ("uaua", "ua", vec!["ua|ua", "ua|"]),
        ("", "uaua", vec!["|ua", "|ua"]),
        // Two replies to one message.
        ("aua", "auaua", vec!["a|a", "ua|ua", "|ua"]),
        // Only one path continues with a reply to the shared message.
        ("aua", "ua", vec!["a|", "ua|ua"]),
        ("ua", "aua", vec!["|a", "ua|ua"]),
        // A reply that continues over several turns, a message without a reply, a system turn.
        ("uaaa", "ua", vec!["uaaa|ua"]),
        ("uua", "ua", vec!["u|ua", "ua|"]),
        ("usa", "s", vec!["|s", "usa|"]),
        ("u", "u", vec!["u|u"]),
    ] {
        assert_eq!(pairs(left, right), expected, "{left} {right}");
    }
}

#[test]
fn shared_prefix_ends_where_paths_diverge() {
    let id = |n: u128| TurnId::from_uuid(uuid::Uuid::from_u128(n));
    let path = |ids: &[u128]| ids.iter().map(|n| id(*n)).collect::<Vec<_>>();
    for (left, right, count) in [
        (&[1, 2, 3][..], &[1, 2, 4, 5][..], 2),
        (&[1], &[1, 2, 3], 1),
        (&[1, 2], &[7, 2], 0),
        (&[], &[1], 0),
        (&[1, 2], &[1, 2], 2),
    ] {
        assert_eq!(shared_prefix_length(&path(left), &path(right)), count, "{left:?} {right:?}");
    }
}

proptest! {
    #[test]
    fn every_turn_is_in_one_pair_and_in_order(left in "[uas]{0,30}", right in "[uas]{0,30}") {
        let aligned = align(&roles(&left), &roles(&right));
        for (side, text) in [
            (aligned.iter().map(|pair| pair.left.clone()).collect::<Vec<_>>(), &left),
            (aligned.iter().map(|pair| pair.right.clone()).collect(), &right),
        ] {
            let turns: Vec<usize> = side.into_iter().flatten().collect();
            prop_assert_eq!(turns, (0..text.len()).collect::<Vec<_>>());
        }
        prop_assert!(aligned.iter().all(|pair| !(pair.left.is_empty() && pair.right.is_empty())));
        // A message always begins a row.
        for pair in &aligned {
            for (text, turns) in [(&left, &pair.left), (&right, &pair.right)] {
                prop_assert!(!text[turns.clone()].chars().skip(1).any(|c| c == 'u'));
            }
        }
    }

    #[test]
    fn sides_can_be_swapped(left in "[ua]{0,20}", right in "[ua]{0,20}") {
        let swapped: Vec<AlignedPair> = align(&roles(&right), &roles(&left))
            .into_iter()
            .map(|pair| AlignedPair { left: pair.right, right: pair.left })
            .collect();
        prop_assert_eq!(align(&roles(&left), &roles(&right)), swapped);
    }
}
