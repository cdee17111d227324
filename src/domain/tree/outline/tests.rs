//! The outline of a worked tree as it is read, and what holds in every tree.

use std::collections::HashSet;

use proptest::prelude::*;

use super::rows::{Row, Wish, window};
use super::*;
use crate::sample::{self, turn_id, uuid};
use crate::turn::{Role, TurnStatus};

fn sketch(node: Node) -> Sketch {
    let n = node.id.uuid().as_u128() & 0xffff;
    Sketch { words: format!("words {n}"), branch: BranchId::from_uuid(uuid(1)), created_at: sample::time(0), node }
}

/// A chain of `turns` turns that hangs on `prev`, numbered from `from`.
fn chain(from: u64, turns: u64, prev: Option<u64>) -> impl Iterator<Item = Sketch> {
    (from..from + turns).map(move |n| sketch(sample::node(n, if n == from { prev } else { Some(n - 1) })))
}

/// Eight turns in a row, then three ways on: 20.., 30 (running) and 40...
fn forked() -> Vec<Sketch> {
    let mut all: Vec<Sketch> = chain(1, 8, None).chain(chain(20, 6, Some(8))).chain(chain(30, 1, Some(8))).collect();
    all.extend(chain(40, 3, Some(8)));
    for sketch in &mut all {
        if sketch.node.id == turn_id(30) {
            (sketch.node.role, sketch.node.status) = (Role::Assistant, TurnStatus::Streaming);
        }
        if sketch.node.ord >= 30 {
            sketch.branch = BranchId::from_uuid(uuid(2));
        }
    }
    all
}

/// A row in short: its level, what it stands for, whether it is open, what is hidden, and its marks.
fn line(row: &Row<'_>) -> String {
    let n = row.turn.node.ord;
    let what = row.folded.map_or_else(|| n.to_string(), |count| format!("{n}..{}", n + count as i64 - 1));
    let open = match row.is_open {
        None => "",
        Some(true) => " -",
        Some(false) => " +",
    };
    let hidden = if row.hidden > 0 { format!(" hides {}", row.hidden) } else { String::new() };
    let version = row.version.map(|(n, of)| format!(" {n}/{of}")).unwrap_or_default();
    let path = if row.is_on_path { " path" } else { "" };
    let mark = if row.mark == Mark::Plain { String::new() } else { format!(" {:?}", row.mark) };
    format!("{}{what}{open}{hidden}{version}{path}{mark}", "  ".repeat(row.level - 1))
}

fn lines(outline: &Outline, wish: &Wish) -> Vec<String> {
    outline.rows(wish).iter().map(line).collect()
}

fn ids(numbers: &[u64]) -> HashSet<TurnId> {
    numbers.iter().copied().map(turn_id).collect()
}

#[test]
fn linear_runs_are_folded_and_forks_make_levels() {
    let outline = Outline::new(forked().into_iter().rev(), Some(turn_id(42)));
    assert_eq!(
        lines(&outline, &Wish::default()),
        [
            "1 - path",
            "  2..7 + hides 6 path",
            "  8 path",
            "  20 - 1/3",
            "    21..24 + hides 4",
            "    25",
            "  30 2/3 Running",
            "  40 - 3/3 path",
            "    41 path",
            "    42 path",
        ]
    );
    assert_eq!(outline.leaves(), 3);
    let new: Vec<i64> =
        outline.rows(&Wish::default()).iter().filter(|row| row.is_new_branch).map(|row| row.turn.node.ord).collect();
    assert_eq!(new, [1, 30, 40]);
}

#[test]
fn rows_open_and_close_by_hand_and_tell_what_they_hide() {
    let outline = Outline::new(forked(), Some(turn_id(42)));
    let wish = Wish { open: ids(&[21]), shut: ids(&[40]), ..Wish::default() };
    assert_eq!(
        lines(&outline, &wish)[3..],
        [
            "  20 - 1/3",
            "    21..24 -",
            "      21",
            "      22",
            "      23",
            "      24",
            "    25",
            "  30 2/3 Running",
            "  40 + hides 2 3/3 path",
        ]
    );
    // What runs somewhere below a closed row is seen on it.
    let closed = Wish { shut: ids(&[1]), ..Wish::default() };
    assert_eq!(lines(&outline, &closed), ["1 + hides 17 path Running"]);
}

#[test]
fn a_turn_that_is_to_be_revealed_has_a_row() {
    let outline = Outline::new(forked(), Some(turn_id(42)));
    let wish = Wish { reveal: Some(turn_id(23)), ..Wish::default() };
    assert!(outline.rows(&wish).iter().any(|row| row.turn.node.id == turn_id(23) && row.folded.is_none()));
    let shut = Wish { shut: ids(&[20]), ..wish };
    assert!(outline.rows(&shut).iter().all(|row| row.turn.node.id != turn_id(23)), "closed by hand is closed");
}

#[test]
fn a_filter_leaves_what_it_found_and_the_way_to_it() {
    let outline = Outline::new(forked(), Some(turn_id(42)));
    let wish = Wish { hits: Some(ids(&[4, 22])), ..Wish::default() };
    assert_eq!(
        lines(&outline, &wish),
        [
            "1 - path",
            "  2..3 + hides 2 path",
            "  4 path",
            "  5..8 + hides 4 path",
            "  20 - 1/3",
            "    21",
            "    22",
            "    23..25 + hides 3",
        ]
    );
    assert_eq!(outline.rows(&Wish { hits: Some(HashSet::new()), ..Wish::default() }), []);
}

#[test]
fn a_large_tree_opens_only_the_path() {
    // A chain of 300 messages, each of which was tried twice.
    let all = (1..=300_u64).flat_map(|n| [(2 * n, 2 * n - 1), (2 * n + 1, 2 * n - 1)]);
    let nodes = std::iter::once((1, None)).chain(all.map(|(n, prev)| (n, Some(prev))));
    let outline = Outline::new(nodes.map(|(n, prev)| sketch(sample::node(n, prev))), Some(turn_id(4)));
    let lines = lines(&outline, &Wish::default());
    assert_eq!(lines[..4], ["1 - path", "  2 1/2", "  3 - 2/2 path", "    4 1/2 path"]);
    assert_eq!(lines[4..], ["    5 + hides 596 2/2"]);
}

#[test]
fn what_is_below_a_turn_is_counted_and_leads_along_the_path_that_is_read() {
    let outline = Outline::new(forked(), Some(turn_id(25)));
    let table = [(1, (17, 3), 25), (4, (14, 3), 25), (8, (10, 3), 25), (21, (4, 1), 25), (40, (2, 1), 42)];
    for (n, below, leaf) in table {
        assert_eq!(outline.below(turn_id(n)), below, "below {n}");
        assert_eq!(outline.leaf_below(turn_id(n)), Some(turn_id(leaf)), "leaf below {n}");
    }
    assert_eq!(outline.below(turn_id(99)), (0, 0));
}

#[test]
fn a_window_keeps_its_row_in_the_middle_as_far_as_there_are_rows() {
    let table = [((10, 5, 20), 0..10), ((100, 0, 20), 0..20), ((100, 50, 20), 40..60), ((100, 99, 20), 80..100)];
    for ((rows, around, limit), range) in table {
        assert_eq!(window(rows, around, limit), range);
    }
}

#[test]
fn branches_know_their_first_and_their_last_turn() {
    let all = forked();
    let branches = by_branch(&all);
    let (count, first, last) = branches[&BranchId::from_uuid(uuid(2))];
    assert_eq!((count, first.node.ord, last.node.ord), (4, 30, 42));
}

#[test]
fn a_drawing_has_a_column_for_each_fork_and_a_lane_for_each_end() {
    let outline = Outline::new(forked(), Some(turn_id(42)));
    let drawing = outline.drawing(None);
    let places: Vec<_> =
        drawing.runs.iter().map(|run| (run.first.node.ord, run.turns, run.column, run.lane, run.parent)).collect();
    assert_eq!(places, [(1, 8, 0, 0, None), (20, 6, 1, 0, Some(0)), (30, 1, 1, 1, Some(0)), (40, 3, 1, 2, Some(0))]);
    assert_eq!((drawing.columns, drawing.lanes, drawing.above), (2, 3, None));
    let part = outline.drawing(Some(turn_id(41)));
    assert_eq!((part.runs.len(), part.runs[0].first.node.ord, part.above), (1, 40, Some(turn_id(1))));
}

#[test]
fn a_tree_as_large_as_a_chat_may_be_is_outlined_and_drawn_within_bounds() {
    // Every reply tried twice, going on with the second: as many forks and levels as there can be.
    let longest = crate::limits::TURNS_PER_CHAT.unsigned_abs();
    let nodes = (1..=longest).map(|n| sample::node(n, (n > 1).then(|| if n % 2 == 0 { n - 1 } else { n - 2 })));
    let outline = Outline::new(nodes.map(sketch), Some(turn_id(longest)));
    assert_eq!(outline.sketches().len() as u64, longest);
    let rows = outline.rows(&Wish::default());
    assert!(rows.iter().any(|row| row.turn.node.id == turn_id(longest)), "the end of the path has a row");
    let drawing = outline.drawing(None);
    assert!(drawing.runs.len() <= drawing::RUNS && drawing.columns <= drawing::COLUMNS);
    assert!(drawing.runs.iter().any(|run| run.last.node.id == turn_id(longest)), "the end of the path is drawn");
    assert!(drawing.above.is_some());
}

/// Any sound tree, a path in it, and what the reader did by hand.
fn read() -> impl Strategy<Value = (Outline, Wish)> {
    let parents = prop::collection::vec(any::<prop::sample::Index>(), 1..80);
    let choices = prop::collection::vec(any::<prop::sample::Index>(), 8);
    (parents, choices).prop_map(|(parents, choices)| {
        let sketches = (1_u64..).zip(&parents).map(|(n, parent)| {
            // Near the end more often than not: chains are what is folded.
            let index = parent.index(n as usize * 3) as u64;
            let prev = if index >= n { n - 1 } else { index };
            sketch(sample::node(n, (prev > 0).then_some(prev)))
        });
        let turn = |at: usize| turn_id(choices[at].index(parents.len()) as u64 + 1);
        let outline = Outline::new(sketches, Some(turn(0)));
        let leaf = outline.leaf_below(turn(0));
        let outline = Outline::new(outline.sketches().to_vec(), leaf);
        (outline, Wish { open: [turn(1), turn(2)].into(), shut: [turn(3)].into(), ..Wish::default() })
    })
}

proptest! {
    #[test]
    fn every_turn_is_shown_or_hidden_exactly_once((outline, wish) in read()) {
        let rows = outline.rows(&wish);
        let shown: Vec<TurnId> = rows.iter().filter(|row| row.folded.is_none()).map(|row| row.turn.node.id).collect();
        let hidden: usize = rows.iter().map(|row| row.hidden).sum();
        prop_assert_eq!(shown.len() + hidden, outline.sketches().len());
        prop_assert_eq!(shown.iter().collect::<HashSet<_>>().len(), shown.len());
    }

    #[test]
    fn levels_and_places_are_those_of_a_tree((outline, wish) in read()) {
        let rows = outline.rows(&wish);
        let mut expected: Vec<usize> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let before = at.checked_sub(1).map_or(0, |before| rows[before].level);
            prop_assert!(row.level <= before + 1);
            prop_assert!(row.level <= before || at == 0 || rows[at - 1].is_open == Some(true));
            expected.truncate(row.level);
            if expected.len() < row.level {
                expected.push(0);
            }
            expected[row.level - 1] += 1;
            prop_assert_eq!(row.place.0, expected[row.level - 1]);
            prop_assert!(row.place.0 <= row.place.1);
            let next = rows.get(at + 1).map_or(0, |next| next.level);
            prop_assert_eq!(row.is_open == Some(true), next > row.level);
        }
    }

    #[test]
    fn with_nothing_closed_the_end_of_the_path_has_a_row((outline, wish) in read()) {
        let wish = Wish { shut: HashSet::new(), ..wish };
        prop_assert!(outline.rows(&wish).iter().any(|row| Some(row.turn.node.id) == outline.leaf() && row.folded.is_none()));
    }

    #[test]
    fn a_turn_that_was_found_has_a_row_and_so_does_what_it_hangs_on((outline, wish) in read()) {
        let hits = wish.open.clone();
        let rows = outline.rows(&Wish { hits: Some(hits.clone()), ..Wish::default() });
        let shown: HashSet<TurnId> =
            rows.iter().filter(|row| row.is_hit).map(|row| row.turn.node.id).collect();
        prop_assert_eq!(shown, hits);
    }

    #[test]
    fn a_whole_drawing_holds_every_turn_and_no_two_runs_share_a_place((outline, _) in read()) {
        let drawing = outline.drawing(None);
        prop_assert_eq!(drawing.runs.iter().map(|run| run.turns).sum::<usize>(), outline.sketches().len());
        prop_assert!(drawing.runs.iter().all(|run| run.hidden == 0 && run.lane < drawing.lanes && run.column < drawing.columns));
        let places: HashSet<_> = drawing.runs.iter().map(|run| (run.column, run.lane)).collect();
        prop_assert_eq!(places.len(), drawing.runs.len());
        for run in &drawing.runs {
            if let Some(parent) = run.parent {
                prop_assert_eq!(drawing.runs[parent].column + 1, run.column);
                prop_assert!(drawing.runs[parent].lane <= run.lane);
            }
        }
    }

    #[test]
    fn what_is_below_adds_up((outline, _) in read()) {
        for sketch in outline.sketches() {
            let id = sketch.node.id;
            let below = outline.sketches().iter().filter(|other| other.node.id != id && outline.tree.is_on_path(id, other.node.id));
            let below = below.count();
            prop_assert_eq!(outline.below(id).0, below);
            let way = outline.sketches().iter().filter(|other| outline.tree.is_on_path(other.node.id, id)).count();
            prop_assert_eq!(outline.others(id), outline.sketches().len() - way - below);
        }
    }
}
