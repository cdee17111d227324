//! Key handling of a tree (the APG's tree view) as a pure function, so that every rule is a row of a table.

use crate::api::view::tree::{TreePage, TreeRow};
use crate::browser::case_mapping::to_lowercase;
use crate::domain::limits;

/// The action of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeKeyAction {
    /// Moves to the row at this index.
    MoveTo(usize),
    /// Opens or closes the focused row.
    Toggle,
    /// Opens this row and all its siblings.
    OpenSiblings,
    /// Shows the turn in the chat.
    Show,
    /// Loads the part of the tree that begins with this row.
    TurnPage(usize),
    /// Loads the part at an end of the tree, where the outermost row gets the focus.
    TurnToEnd(usize),
    /// No row of this part begins with the typed text, and there are others.
    NotFound,
    /// The key belongs to the tree, but there is nothing to do.
    Stay,
}

/// Parses a key that was pressed without a modifier on the row at `at`. `typed` is the recent typeahead text. None
/// for keys that are not the tree's.
pub fn tree_key_action(page: &TreePage, at: usize, key: &str, typed: &str) -> Option<TreeKeyAction> {
    let rows = &page.rows[..];
    let row = rows.get(at)?;
    let end = rows.len() - 1;
    let turn = |is_on| adjacent_page(page, is_on).map_or(TreeKeyAction::Stay, TreeKeyAction::TurnPage);
    Some(match key {
        "ArrowDown" if at == end => turn(true),
        "ArrowDown" => TreeKeyAction::MoveTo(at + 1),
        "ArrowUp" if at == 0 => turn(false),
        "ArrowUp" => TreeKeyAction::MoveTo(at - 1),
        "Home" if page.before > 0 => TreeKeyAction::TurnToEnd(0),
        "End" if page.after > 0 => {
            TreeKeyAction::TurnToEnd((page.before + rows.len() + page.after).saturating_sub(limits::TREE_ROWS))
        }
        "Home" => TreeKeyAction::MoveTo(0),
        "End" => TreeKeyAction::MoveTo(end),
        "ArrowRight" => match row.is_open {
            Some(false) => TreeKeyAction::Toggle,
            Some(true) if at < end => TreeKeyAction::MoveTo(at + 1),
            _ => TreeKeyAction::Stay,
        },
        "ArrowLeft" if row.is_open == Some(true) => TreeKeyAction::Toggle,
        "ArrowLeft" => rows[..at]
            .iter()
            .rposition(|above| above.level < row.level)
            .map_or(TreeKeyAction::Stay, TreeKeyAction::MoveTo),
        // A space within the typeahead text.
        " " if !typed.is_empty() => find(rows, at, key, typed).map_or(TreeKeyAction::Stay, TreeKeyAction::MoveTo),
        "Enter" | " " if row.folded.is_some() => TreeKeyAction::Toggle,
        "Enter" | " " => TreeKeyAction::Show,
        "*" => TreeKeyAction::OpenSiblings,
        key if key.chars().count() == 1 => match find(rows, at, key, typed) {
            Some(found) => TreeKeyAction::MoveTo(found),
            None if page.before + page.after > 0 => TreeKeyAction::NotFound,
            None => TreeKeyAction::Stay,
        },
        _ => return None,
    })
}

/// Returns the first row of the next part of the tree, or of the previous one, where there is one. The current row
/// stays in sight.
pub fn adjacent_page(page: &TreePage, is_on: bool) -> Option<usize> {
    let half_page = page.rows.len() / 2;
    match is_on {
        true => (page.after > 0).then_some(page.before + half_page),
        false => (page.before > 0).then(|| page.before.saturating_sub(half_page)),
    }
}

/// Returns the next row whose text begins with the typed one; a repeated letter moves from one to the next.
fn find(rows: &[TreeRow], at: usize, key: &str, typed: &str) -> Option<usize> {
    let all = to_lowercase(&format!("{typed}{key}"));
    let is_repeated = all.chars().all(|c| all.starts_with(c));
    let wanted = if is_repeated { to_lowercase(key) } else { all };
    // A longer text may match the current row; a single letter moves on.
    let from = if is_repeated { at + 1 } else { at };
    (from..rows.len()).chain(0..from.min(rows.len())).find(|&at| to_lowercase(&rows[at].words).starts_with(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Role;
    use crate::domain::branches::tree::outline::TurnMark;
    use crate::domain::fixtures::turn_id;

    /// `a`, below it `b` (closed) and `bee` (open), below that a collapsed row; then `c`.
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
            mark: TurnMark::Plain,
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
    fn keys_move_through_tree() {
        let page = page();
        let table = [
            (0, "ArrowDown", Some(TreeKeyAction::MoveTo(1))),
            (4, "ArrowDown", Some(TreeKeyAction::Stay)),
            (0, "ArrowUp", Some(TreeKeyAction::Stay)),
            (3, "ArrowUp", Some(TreeKeyAction::MoveTo(2))),
            (3, "Home", Some(TreeKeyAction::MoveTo(0))),
            (0, "End", Some(TreeKeyAction::MoveTo(4))),
            (0, "ArrowRight", Some(TreeKeyAction::MoveTo(1))),
            (1, "ArrowRight", Some(TreeKeyAction::Toggle)),
            (4, "ArrowRight", Some(TreeKeyAction::Stay)),
            (2, "ArrowLeft", Some(TreeKeyAction::Toggle)),
            (1, "ArrowLeft", Some(TreeKeyAction::MoveTo(0))),
            (3, "ArrowLeft", Some(TreeKeyAction::MoveTo(2))),
            (4, "ArrowLeft", Some(TreeKeyAction::Stay)),
            (1, "Enter", Some(TreeKeyAction::Show)),
            (3, "Enter", Some(TreeKeyAction::Toggle)),
            (3, " ", Some(TreeKeyAction::Toggle)),
            (1, "*", Some(TreeKeyAction::OpenSiblings)),
            (1, "Tab", None),
            (1, "F6", None),
        ];
        for (at, key, expected) in table {
            assert_eq!(tree_key_action(&page, at, key, ""), expected, "{key} on {at}");
        }
        assert_eq!(tree_key_action(&TreePage::default(), 0, "Home", ""), None);
    }

    #[test]
    fn keys_lead_to_rows_not_loaded() {
        let page = TreePage { before: 7, after: 500, ..page() };
        let table = [
            (4, "ArrowDown", TreeKeyAction::TurnPage(9)),
            (0, "ArrowUp", TreeKeyAction::TurnPage(5)),
            (3, "Home", TreeKeyAction::TurnToEnd(0)),
            (3, "End", TreeKeyAction::TurnToEnd(112)),
            (0, "x", TreeKeyAction::NotFound),
            (0, "c", TreeKeyAction::MoveTo(4)),
        ];
        for (at, key, expected) in table {
            assert_eq!(tree_key_action(&page, at, key, ""), Some(expected), "{key} on {at}");
        }
    }

    #[test]
    fn letters_find_rows() {
        let page = page();
        let table = [
            (0, "b", "", TreeKeyAction::MoveTo(1)),
            (1, "b", "", TreeKeyAction::MoveTo(2)),
            (1, "b", "b", TreeKeyAction::MoveTo(2)),
            (2, "b", "", TreeKeyAction::MoveTo(1)),
            (1, "e", "b", TreeKeyAction::MoveTo(2)),
            (0, "C", "", TreeKeyAction::MoveTo(4)),
            (4, "a", "", TreeKeyAction::MoveTo(0)),
            (0, " ", "banana", TreeKeyAction::Stay),
            (0, "x", "", TreeKeyAction::Stay),
        ];
        for (at, key, typed, expected) in table {
            assert_eq!(tree_key_action(&page, at, key, typed), Some(expected), "{typed}{key} on {at}");
        }
    }
}
