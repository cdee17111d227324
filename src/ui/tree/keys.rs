//! What a key does in a tree (the APG's tree view): pure, so that every rule is a line of a table.

use crate::api::view::tree::TreeRow;

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
    /// To the rows that are not on screen: those before, or those after.
    Before,
    After,
    /// The key is the tree's, but there is nothing to do.
    Stay,
}

/// Reads a key that was pressed without a modifier on the row at `at`. `typed` are the letters typed shortly before.
/// Nothing for keys that are not the tree's.
pub fn step(rows: &[TreeRow], at: usize, key: &str, typed: &str) -> Option<Step> {
    let row = rows.get(at)?;
    let end = rows.len() - 1;
    Some(match key {
        "ArrowDown" if at == end => Step::After,
        "ArrowDown" => Step::To(at + 1),
        "ArrowUp" if at == 0 => Step::Before,
        "ArrowUp" => Step::To(at - 1),
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
            None => Step::Stay,
        },
        _ => return None,
    })
}

/// The next row whose words begin with what was typed; a letter that is typed again and again goes from one to the next.
fn find(rows: &[TreeRow], at: usize, key: &str, typed: &str) -> Option<usize> {
    let all = format!("{typed}{key}").to_lowercase();
    let is_repeated = all.chars().all(|c| all.starts_with(c));
    let wanted = if is_repeated { key.to_lowercase() } else { all };
    // A longer word may go on where one is; a single letter moves.
    let from = if is_repeated { at + 1 } else { at };
    (from..rows.len()).chain(0..from.min(rows.len())).find(|&at| rows[at].words.to_lowercase().starts_with(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Role;
    use crate::domain::sample::turn_id;
    use crate::domain::tree::outline::Mark;

    /// `a`, below it `b` (closed) and `bee` (open), below that a folded row; then `c`.
    fn rows() -> Vec<TreeRow> {
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
        vec![
            row(1, "Apple", 1, Some(true)),
            row(2, "banana", 2, Some(false)),
            row(3, "Bee", 2, Some(true)),
            row(4, "", 3, Some(false)),
            row(5, "cherry", 1, None),
        ]
    }

    #[test]
    fn keys_walk_the_tree() {
        let rows = rows();
        let table = [
            (0, "ArrowDown", Some(Step::To(1))),
            (4, "ArrowDown", Some(Step::After)),
            (0, "ArrowUp", Some(Step::Before)),
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
            assert_eq!(step(&rows, at, key, ""), expected, "{key} on {at}");
        }
        assert_eq!(step(&[], 0, "Home", ""), None);
    }

    #[test]
    fn letters_find_words() {
        let rows = rows();
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
            assert_eq!(step(&rows, at, key, typed), Some(expected), "{typed}{key} on {at}");
        }
    }
}
