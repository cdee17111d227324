//! Tests of the outline of a worked tree, and of properties that hold for every tree.

use std::collections::HashSet;

use proptest::prelude::*;

use super::rows::{OutlineRow, OutlineViewState, visible_window};
use super::*;
use crate::fixtures::{self, turn_id, uuid};
use crate::turns::turn::{Role, TurnStatus};

fn sketch(node: TurnNode) -> TurnSketch {
    let n = node.id.uuid().as_u128() & 0xffff;
    TurnSketch {
        words: format!("words {n}"),
        branch: BranchId::from_uuid(uuid(1)),
        created_at: fixtures::time(0),
        node,
    }
}

/// Returns a chain of `turns` turns below `prev`, numbered from `from`.
fn chain(from: u64, turns: u64, prev: Option<u64>) -> impl Iterator<Item = TurnSketch> {
    (from..from + turns).map(move |n| sketch(fixtures::node(n, if n == from { prev } else { Some(n - 1) })))
}

/// Returns eight turns in a row, then three branches: 20.., 30 (running) and 40...
fn forked() -> Vec<TurnSketch> {
    let mut all: Vec<TurnSketch> =
        chain(1, 8, None).chain(chain(20, 6, Some(8))).chain(chain(30, 1, Some(8))).collect();
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

/// Formats a row: its level, its turn, whether it is open, what is hidden, and its marks.
fn line(row: &OutlineRow<'_>) -> String {
    let n = row.turn.node.ord;
    let label = row.folded.map_or_else(|| n.to_string(), |count| format!("{n}..{}", n + count as i64 - 1));
    let open = match row.is_open {
        None => "",
        Some(true) => " -",
        Some(false) => " +",
    };
    let hidden = if row.hidden > 0 { format!(" hides {}", row.hidden) } else { String::new() };
    let version = row.version.map(|(n, of)| format!(" {n}/{of}")).unwrap_or_default();
    let path = if row.is_on_path { " path" } else { "" };
    let mark = if row.mark == TurnMark::Plain { String::new() } else { format!(" {:?}", row.mark) };
    format!("{}{label}{open}{hidden}{version}{path}{mark}", "  ".repeat(row.level - 1))
}

fn lines(outline: &TreeOutline, wish: &OutlineViewState) -> Vec<String> {
    outline.rows(wish).iter().map(line).collect()
}

fn ids(numbers: &[u64]) -> HashSet<TurnId> {
    numbers.iter().copied().map(turn_id).collect()
}

#[test]
fn linear_runs_are_folded_and_forks_add_levels() {
    let outline = TreeOutline::new(forked().into_iter().rev(), Some(turn_id(42)));
    assert_eq!(
        lines(&outline, &OutlineViewState::default()),
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
    let new: Vec<i64> = outline
        .rows(&OutlineViewState::default())
        .iter()
        .filter(|row| row.is_new_branch)
        .map(|row| row.turn.node.ord)
        .collect();
    assert_eq!(new, [1, 30, 40]);
}

#[test]
fn rows_open_and_close_manually_and_count_hidden_turns() {
    let outline = TreeOutline::new(forked(), Some(turn_id(42)));
    let wish = OutlineViewState { open: ids(&[21]), shut: ids(&[40]), ..OutlineViewState::default() };
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
    // A running turn anywhere below a closed row marks that row.
    let closed = OutlineViewState { shut: ids(&[1]), ..OutlineViewState::default() };
    assert_eq!(lines(&outline, &closed), ["1 + hides 17 path Running"]);
}

#[test]
fn revealed_turn_has_row() {
    let outline = TreeOutline::new(forked(), Some(turn_id(42)));
    let wish = OutlineViewState { reveal: Some(turn_id(23)), ..OutlineViewState::default() };
    assert!(outline.rows(&wish).iter().any(|row| row.turn.node.id == turn_id(23) && row.folded.is_none()));
    let shut = OutlineViewState { shut: ids(&[20]), ..wish };
    assert!(outline.rows(&shut).iter().all(|row| row.turn.node.id != turn_id(23)), "closed by hand is closed");
}

#[test]
fn filter_keeps_hits_and_their_ancestors() {
    let outline = TreeOutline::new(forked(), Some(turn_id(42)));
    let wish = OutlineViewState { hits: Some(ids(&[4, 22])), ..OutlineViewState::default() };
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
    assert_eq!(outline.rows(&OutlineViewState { hits: Some(HashSet::new()), ..OutlineViewState::default() }), []);
}

#[test]
fn large_tree_opens_only_current_path() {
    // A chain of 300 messages with two replies each.
    let all = (1..=300_u64).flat_map(|n| [(2 * n, 2 * n - 1), (2 * n + 1, 2 * n - 1)]);
    let nodes = std::iter::once((1, None)).chain(all.map(|(n, prev)| (n, Some(prev))));
    let outline = TreeOutline::new(nodes.map(|(n, prev)| sketch(fixtures::node(n, prev))), Some(turn_id(4)));
    let lines = lines(&outline, &OutlineViewState::default());
    assert_eq!(lines[..4], ["1 - path", "  2 1/2", "  3 - 2/2 path", "    4 1/2 path"]);
    assert_eq!(lines[4..], ["    5 + hides 596 2/2"]);
}

#[test]
fn descendants_are_counted_and_leaf_follows_current_path() {
    let outline = TreeOutline::new(forked(), Some(turn_id(25)));
    let table = [(1, (17, 3), 25), (4, (14, 3), 25), (8, (10, 3), 25), (21, (4, 1), 25), (40, (2, 1), 42)];
    for (n, below, leaf) in table {
        assert_eq!(outline.count_below(turn_id(n)), below, "below {n}");
        assert_eq!(outline.leaf_below(turn_id(n)), Some(turn_id(leaf)), "leaf below {n}");
    }
    assert_eq!(outline.count_below(turn_id(99)), (0, 0));
}

#[test]
fn window_centers_its_row_where_possible() {
    let table = [((10, 5, 20), 0..10), ((100, 0, 20), 0..20), ((100, 50, 20), 40..60), ((100, 99, 20), 80..100)];
    for ((rows, around, limit), range) in table {
        assert_eq!(visible_window(rows, around, limit), range);
    }
}

#[test]
fn branches_know_their_first_and_last_turn() {
    let all = forked();
    let branches = turns_by_branch(&all);
    let (count, first, last) = branches[&BranchId::from_uuid(uuid(2))];
    assert_eq!((count, first.node.ord, last.node.ord), (4, 30, 42));
}

#[test]
fn drawing_has_column_for_each_fork_and_lane_for_each_leaf() {
    let outline = TreeOutline::new(forked(), Some(turn_id(42)));
    let drawing = outline.draw(None);
    let places: Vec<_> =
        drawing.runs.iter().map(|run| (run.first.node.ord, run.turns, run.column, run.lane, run.parent)).collect();
    assert_eq!(places, [(1, 8, 0, 0, None), (20, 6, 1, 0, Some(0)), (30, 1, 1, 1, Some(0)), (40, 3, 1, 2, Some(0))]);
    assert_eq!((drawing.columns, drawing.lanes, drawing.above), (2, 3, None));
    let part = outline.draw(Some(turn_id(41)));
    assert_eq!((part.runs.len(), part.runs[0].first.node.ord, part.above), (1, 40, Some(turn_id(1))));
}

#[test]
fn largest_allowed_tree_is_outlined_and_drawn_within_bounds() {
    // Every reply has two versions, of which the second continues: the maximum of forks and levels.
    let longest = crate::limits::TURNS_PER_CHAT.unsigned_abs();
    let nodes = (1..=longest).map(|n| fixtures::node(n, (n > 1).then(|| if n % 2 == 0 { n - 1 } else { n - 2 })));
    let outline = TreeOutline::new(nodes.map(sketch), Some(turn_id(longest)));
    assert_eq!(outline.sketches().len() as u64, longest);
    let rows = outline.rows(&OutlineViewState::default());
    assert!(rows.iter().any(|row| row.turn.node.id == turn_id(longest)), "the end of the path has a row");
    let drawing = outline.draw(None);
    assert!(drawing.runs.len() <= drawing::RUNS && drawing.columns <= drawing::COLUMNS);
    assert!(drawing.runs.iter().any(|run| run.last.node.id == turn_id(longest)), "the end of the path is drawn");
    assert!(drawing.above.is_some());
}

/// Generates a valid tree, a path in it, and manually opened and closed rows.
fn any_outline() -> impl Strategy<Value = (TreeOutline, OutlineViewState)> {
    let parents = prop::collection::vec(any::<prop::sample::Index>(), 1..80);
    let choices = prop::collection::vec(any::<prop::sample::Index>(), 8);
    (parents, choices).prop_map(|(parents, choices)| {
        let sketches = (1_u64..).zip(&parents).map(|(n, parent)| {
            // Parents are mostly near the end, because chains are what is folded.
            let index = parent.index(n as usize * 3) as u64;
            let prev = if index >= n { n - 1 } else { index };
            sketch(fixtures::node(n, (prev > 0).then_some(prev)))
        });
        let turn = |at: usize| turn_id(choices[at].index(parents.len()) as u64 + 1);
        let outline = TreeOutline::new(sketches, Some(turn(0)));
        let leaf = outline.leaf_below(turn(0));
        let outline = TreeOutline::new(outline.sketches().to_vec(), leaf);
        (
            outline,
            OutlineViewState { open: [turn(1), turn(2)].into(), shut: [turn(3)].into(), ..OutlineViewState::default() },
        )
    })
}

proptest! {
    #[test]
    fn every_turn_is_shown_or_hidden_exactly_once((outline, wish) in any_outline()) {
        let rows = outline.rows(&wish);
        let shown: Vec<TurnId> = rows.iter().filter(|row| row.folded.is_none()).map(|row| row.turn.node.id).collect();
        let hidden: usize = rows.iter().map(|row| row.hidden).sum();
        prop_assert_eq!(shown.len() + hidden, outline.sketches().len());
        prop_assert_eq!(shown.iter().collect::<HashSet<_>>().len(), shown.len());
    }

    #[test]
    fn levels_and_positions_form_tree((outline, wish) in any_outline()) {
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
    fn end_of_path_has_row_when_nothing_is_closed((outline, wish) in any_outline()) {
        let wish = OutlineViewState { shut: HashSet::new(), ..wish };
        prop_assert!(outline.rows(&wish).iter().any(|row| Some(row.turn.node.id) == outline.leaf() && row.folded.is_none()));
    }

    #[test]
    fn every_hit_has_row_and_only_hits_are_marked((outline, wish) in any_outline()) {
        let hits = wish.open.clone();
        let rows = outline.rows(&OutlineViewState { hits: Some(hits.clone()), ..OutlineViewState::default() });
        let shown: HashSet<TurnId> =
            rows.iter().filter(|row| row.is_hit).map(|row| row.turn.node.id).collect();
        prop_assert_eq!(shown, hits);
    }

    #[test]
    fn full_drawing_holds_every_turn_and_no_two_runs_overlap((outline, _) in any_outline()) {
        let drawing = outline.draw(None);
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
    fn descendant_counts_add_up((outline, _) in any_outline()) {
        for sketch in outline.sketches() {
            let id = sketch.node.id;
            let below = outline.sketches().iter().filter(|other| other.node.id != id && outline.tree.is_on_path(id, other.node.id));
            let below = below.count();
            prop_assert_eq!(outline.count_below(id).0, below);
            let ancestors = outline.sketches().iter().filter(|other| outline.tree.is_on_path(other.node.id, id)).count();
            prop_assert_eq!(outline.count_others(id), outline.sketches().len() - ancestors - below);
        }
    }
}
