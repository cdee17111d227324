//! What a key does in a tree (the APG's tree view): pure, so that every rule is a line of a table.

use crate::api::view::tree::{TreePage, TreeRow};
use crate::browser::letters::lower;
use crate::domain::limits;

/// What a key asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the row at this place.
    To(usize),
    /// Opens or closes the row that has the focus.
    Toggle,
    /// Opens this row and all its siblings.
    OpenSiblings,
    /// Shows the turn in the chat.
    Show,
    /// To the part of the tree that begins with this row.
    Turn(usize),
    /// The same for the part at an end of the tree, where the outermost row gets the focus.
    End(usize),
    /// No row of this part begins with what was typed, and there are others.
    Unfound,
    /// The key is the tree's, but there is nothing to do.
    Stay,
}

/// Reads a key that was pressed without a modifier on the row at `at`. `typed` are the letters typed shortly before.
/// Nothing for keys that are not the tree's.
pub fn step(page: &TreePage, at: usize, key: &str, typed: &str) -> Option<Step> {
    let rows = &page.rows[..];
    let row = rows.get(at)?;
    let end = rows.len() - 1;
    let turn = |is_on| turned(page, is_on).map_or(Step::Stay, Step::Turn);
    Some(match key {
        "ArrowDown" if at == end => turn(true),
        "ArrowDown" => Step::To(at + 1),
        "ArrowUp" if at == 0 => turn(false),
        "ArrowUp" => Step::To(at - 1),
        "Home" if page.before > 0 => Step::End(0),
        "End" if page.after > 0 => Step::End((page.before + rows.len() + page.after).saturating_sub(limits::TREE_ROWS)),
        "Home" => Step::To(0),
        "End" => Step::To(end),
        "ArrowRight" => match row.is_open {
            Some(false) => Step::Toggle,
            Some(true) if at < end => Step::To(at + 1),
            _ => Step::Stay,
        },
        "ArrowLeft" if row.is_open == Some(true) => Step::Toggle,
        "ArrowLeft" => rows[..at].iter().rposition(|above| above.level < row.level).map_or(Step::Stay, Step::To),
        // A space between two words that are typed.
        " " if !typed.is_empty() => find(rows, at, key, typed).map_or(Step::Stay, Step::To),
        "Enter" | " " if row.folded.is_some() => Step::Toggle,
        "Enter" | " " => Step::Show,
        "*" => Step::OpenSiblings,
        key if key.chars().count() == 1 => match find(rows, at, key, typed) {
            Some(found) => Step::To(found),
            None if page.before + page.after > 0 => Step::Unfound,
            None => Step::Stay,
        },
        _ => return None,
    })
}

/// The first row of the next part of the tree, or of the one before, where there is one. The row that one comes from
/// stays in sight.
pub fn turned(page: &TreePage, is_on: bool) -> Option<usize> {
    let half = page.rows.len() / 2;
    match is_on {
        true => (page.after > 0).then_some(page.before + half),
        false => (page.before > 0).then(|| page.before.saturating_sub(half)),
    }
}

/// The next row whose words begin with what was typed; a letter that is typed again and again goes from one to the next.
fn find(rows: &[TreeRow], at: usize, key: &str, typed: &str) -> Option<usize> {
    let all = lower(&format!("{typed}{key}"));
    let is_repeated = all.chars().all(|c| all.starts_with(c));
    let wanted = if is_repeated { lower(key) } else { all };
    // A longer word may go on where one is; a single letter moves.
    let from = if is_repeated { at + 1 } else { at };
    (from..rows.len()).chain(0..from.min(rows.len())).find(|&at| lower(&rows[at].words).starts_with(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Role;
    use crate::domain::sample::turn_id;
    use crate::domain::tree::outline::Mark;

    /// `a`, below it `b` (closed) and `bee` (open), below that a folded row; then `c`.
    fn page() -> TreePage {
        let row = |n: u64, words: &str, level: usize, is_open: Option<bool>| TreeRow {
            turn: turn_id(n),
            role: Role::User,
            words: words.into(),
            level,
            place: (1, 1),
            folded: words.is_empty().then_some(4),
            is_open,
            hidden: 0,
            mark: Mark::Plain,
            version: None,
            label: None,
            model: None,
            is_on_path: false,
            is_leaf: false,
            is_hit: false,
        };
        let rows = vec![
            row(1, "Apple", 1, Some(true)),
            row(2, "banana", 2, Some(false)),
            row(3, "Bee", 2, Some(true)),
            row(4, "", 3, Some(false)),
            row(5, "cherry", 1, None),
        ];
        TreePage { rows, ..TreePage::default() }
    }

    #[test]
    fn keys_walk_the_tree() {
        let page = page();
        let table = [
            (0, "ArrowDown", Some(Step::To(1))),
            (4, "ArrowDown", Some(Step::Stay)),
            (0, "ArrowUp", Some(Step::Stay)),
            (3, "ArrowUp", Some(Step::To(2))),
            (3, "Home", Some(Step::To(0))),
            (0, "End", Some(Step::To(4))),
            (0, "ArrowRight", Some(Step::To(1))),
            (1, "ArrowRight", Some(Step::Toggle)),
            (4, "ArrowRight", Some(Step::Stay)),
            (2, "ArrowLeft", Some(Step::Toggle)),
            (1, "ArrowLeft", Some(Step::To(0))),
            (3, "ArrowLeft", Some(Step::To(2))),
            (4, "ArrowLeft", Some(Step::Stay)),
            (1, "Enter", Some(Step::Show)),
            (3, "Enter", Some(Step::Toggle)),
            (3, " ", Some(Step::Toggle)),
            (1, "*", Some(Step::OpenSiblings)),
            (1, "Tab", None),
            (1, "F6", None),
        ];
        for (at, key, expected) in table {
            assert_eq!(step(&page, at, key, ""), expected, "{key} on {at}");
        }
        assert_eq!(step(&TreePage::default(), 0, "Home", ""), None);
    }

    #[test]
    fn keys_lead_on_to_the_rows_that_are_not_there() {
        let page = TreePage { before: 7, after: 500, ..page() };
        let table = [
            (4, "ArrowDown", Step::Turn(9)),
            (0, "ArrowUp", Step::Turn(5)),
            (3, "Home", Step::End(0)),
            (3, "End", Step::End(112)),
            (0, "x", Step::Unfound),
            (0, "c", Step::To(4)),
        ];
        for (at, key, expected) in table {
            assert_eq!(step(&page, at, key, ""), Some(expected), "{key} on {at}");
        }
    }

    #[test]
    fn letters_find_words() {
        let page = page();
        let table = [
            (0, "b", "", Step::To(1)),
            (1, "b", "", Step::To(2)),
            (1, "b", "b", Step::To(2)),
            (2, "b", "", Step::To(1)),
            (1, "e", "b", Step::To(2)),
            (0, "C", "", Step::To(4)),
            (4, "a", "", Step::To(0)),
            (0, " ", "banana", Step::Stay),
            (0, "x", "", Step::Stay),
        ];
        for (at, key, typed, expected) in table {
            assert_eq!(step(&page, at, key, typed), Some(expected), "{typed}{key} on {at}");
        }
    }
}
