//! The words of the tree map.

use crate::api::view::tree::{TreeCard, TreeRow};
use crate::domain::Role;
use crate::domain::tree::outline::Mark;

pub const TREE: &str = "Tree of the chat";
pub const TREE_SHORT: &str = "Tree";
pub const LOADING: &str = "Loading the tree…";
pub const CLOSE_TREE: &str = "Close the tree";
pub const BACK_TO_CHAT: &str = "Back to the chat";
pub const BRANCHES: &str = "Branches";
pub const DRAWING: &str = "Drawing";
pub const FILTER: &str = "Only turns that say";
pub const APPLY: &str = "Find";
pub const CLEAR: &str = "All turns";
pub const NO_TURNS: &str = "There are no messages yet.";
pub const NO_BRANCHES: &str = "No branches yet. Edit a message or try again to make one.";
pub const EARLIER: &str = "Earlier rows";
pub const LATER: &str = "Later rows";
pub const FAILED: &str = "Could not load the tree.";
pub const SELECTED: &str = "Selected turn";
pub const SHOW: &str = "Open";
pub const COMPARE: &str = "Compare with current";
pub const COPY: &str = "Copy to new chat";
pub const RENAME_BRANCH: &str = "Name";
pub const LABEL: &str = "Label";
pub const PIN: &str = "Pin";
pub const UNPIN: &str = "Unpin";
pub const SAVED: &str = "Saved.";
pub const OPEN_ROW: &str = "Show what is below";
pub const SHUT_ROW: &str = "Hide what is below";
pub const MORE: &str = "What can be done with this turn";
pub const NO_TEXT: &str = "(no text)";
pub const NOT_IN_SIGHT: &str = "No row on screen begins with this. The filter looks through the whole tree.";
pub const HERE: &str = "you are here";

pub fn role(role: Role) -> &'static str {
    match role {
        Role::User => "You",
        Role::Assistant => "Reply",
        Role::System => "System",
    }
}

/// The state of a turn with its sign; nothing for a complete one.
pub fn mark(mark: Mark) -> Option<(&'static str, &'static str)> {
    match mark {
        Mark::Plain => None,
        Mark::Stopped => Some(("■", "stopped")),
        Mark::Failed => Some(("!", "failed")),
        Mark::Running => Some(("●", "being written")),
    }
}

pub fn messages(count: usize) -> String {
    if count == 1 { "1 message".into() } else { format!("{count} messages") }
}

/// How many turns a closed row hides.
pub fn more(count: usize) -> String {
    format!("+{count}")
}

pub fn version((number, count): (usize, usize)) -> String {
    format!("{number}/{count}")
}

/// All that a row says, for those who hear it: first what is to be seen (WCAG 2.5.3), then the same in words.
pub fn row(row: &TreeRow) -> String {
    if let Some(count) = row.folded {
        return messages(count);
    }
    let words = if row.words.is_empty() { NO_TEXT } else { &row.words };
    let mut seen = vec![format!("{}: {words}", role(row.role))];
    seen.extend(row.version.map(version));
    seen.extend(mark(row.mark).map(|(sign, word)| format!("{sign} {word}")));
    seen.extend(row.model.clone());
    seen.extend(row.label.clone());
    if row.hidden > 0 {
        seen.push(more(row.hidden));
    }
    let mut parts = vec![seen.join(" ")];
    if let Some((number, count)) = row.version {
        parts.push(format!("version {number} of {count}"));
    }
    parts.extend(row.model.as_ref().map(|model| format!("switched to {model}")));
    if row.hidden > 0 {
        parts.push(format!("{} below", messages(row.hidden)));
    }
    if row.is_leaf {
        parts.push(HERE.into());
    }
    parts.join(", ")
}

/// The tree button of the header.
pub fn ends(leaves: u64) -> String {
    if leaves == 1 { "Tree, 1 end".into() } else { format!("Tree, {leaves} ends") }
}

/// What there is in all, and how much of it was found.
pub fn summary(turns: usize, leaves: usize, hits: Option<usize>) -> String {
    let ends = if leaves == 1 { "1 end".into() } else { format!("{leaves} ends") };
    match hits {
        None => format!("{}, {ends}", messages(turns)),
        Some(0) => format!("Nothing in {} says this.", messages(turns)),
        Some(hits) => format!("Found {hits} of {}", messages(turns)),
    }
}

/// Where a turn stands, on its card.
pub fn below(card: &TreeCard) -> String {
    match (card.below, card.ends) {
        (0, _) => "Nothing follows.".into(),
        (below, 1) => format!("{} below.", messages(below)),
        (below, ends) => format!("{} below, with {ends} ends.", messages(below)),
    }
}

/// The branch of a turn, with its lock.
pub fn branch(card: &TreeCard) -> String {
    format!("Branch {} · {} · {}", card.branch.name, card.model, crate::ui::words::LOCKED)
}

pub fn document_title(title: &str) -> String {
    let title = if title.is_empty() { crate::ui::words::UNTITLED } else { title };
    format!("{TREE_SHORT} · {title} · {}", crate::ui::words::PRODUCT)
}
