//! The words of the list of branches and of the drawing of the tree, beside those that the tree map says too.

use crate::domain::tree::outline::drawing::Drawn;
pub use crate::ui::words::tree::{
    BACK_TO_CHAT, BRANCHES, COMPARE, DRAWING, LABEL, NO_BRANCHES, NO_TEXT, NO_TURNS, PIN, RENAME_BRANCH, TREE_SHORT,
    UNPIN, mark, messages, role, version,
};

pub use crate::ui::words::trash::delete_others;

pub const LEAD: &str = "Every branch keeps its provider and model. Pinned ones come first.";
pub const OUTLINE: &str = "Outline";
pub const PINNED: &str = "pinned";
pub const PARTS: &str = "Parts of the list";
pub const PREVIOUS: &str = "Previous branches";
pub const NEXT: &str = "Next branches";
pub const LATEST: &str = "Latest:";
pub const EMPTY: &str = "No message of its own yet.";
pub const TOOK: &str = "Its own replies took";
pub const CALLS_NONE: &str = "Nothing was asked of its model.";
pub const ROOT: &str = "The beginning of the chat.";
pub const IMPORTED: &str = "Imported.";
pub const ZOOM: &str = "Size";
pub const HERE: &str = "Where you are";
pub const UP: &str = "From the fork before";
pub const WHOLE: &str = "From the beginning";
pub const DRAWN: &str = "Drawing of the tree";
pub const DRAWING_HINT: &str =
    "A box is a run of messages without a fork; it opens at its last one. The outline says the same in words.";

/// What a branch is locked to.
pub fn lock(provider: &str, model: &str) -> String {
    format!("{provider} · {model} · {}", crate::ui::words::LOCKED)
}

/// Why a branch exists; the turn follows as a link.
pub fn origin(origin: crate::domain::Origin) -> &'static str {
    use crate::domain::Origin;
    match origin {
        Origin::Root => ROOT,
        Origin::Import => IMPORTED,
        Origin::Edit => "Edit of",
        Origin::Regenerate => "Another reply beside",
        Origin::ModelSwitch => "Went on with another model after",
        Origin::Concurrent => "Went on at the same time after",
        Origin::Fork => "Went on in another way after",
    }
}

pub fn delete_branch(turns: usize) -> String {
    if turns == 0 { "Delete this branch".into() } else { format!("Delete this branch ({})", messages(turns)) }
}

/// Which part of the list is on the page.
pub fn part(from: usize, to: usize, of: usize) -> String {
    format!("{from}–{to} of {of}")
}

/// What its calls took.
pub fn took(tokens: Option<String>, cost: &str, calls: u64) -> String {
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    match tokens {
        Some(tokens) => format!("{TOOK} {tokens}, {cost}, in {calls}."),
        None => format!("{TOOK} {cost}, in {calls}."),
    }
}

/// A box of the drawing, for those who hear it.
pub fn run(run: &Drawn<'_>) -> String {
    let words = if run.first.words.is_empty() { NO_TEXT } else { &run.first.words };
    let mut parts = vec![format!("{}: {words}", role(run.first.node.role)), messages(run.turns)];
    parts.extend(run.version.map(|(number, count)| format!("version {number} of {count}")));
    parts.extend(mark(run.mark).map(|(_, word)| word.to_owned()));
    parts.join(", ")
}

/// The small line in a box.
pub fn small(run: &Drawn<'_>) -> String {
    let mut parts = vec![messages(run.turns)];
    parts.extend(run.version.map(version));
    parts.extend(mark(run.mark).map(|(sign, word)| format!("{sign} {word}")));
    parts.join(" · ")
}

pub fn hidden(count: usize) -> String {
    format!("+{count}")
}

pub fn draw_hidden(count: usize) -> String {
    format!("Draw the {} below", messages(count))
}

/// What the drawing holds, for those who do not see it.
pub fn drawn(runs: usize, turns: usize, ends: usize) -> String {
    let runs = if runs == 1 { "1 box".to_owned() } else { format!("{runs} boxes") };
    let ends = if ends == 1 { "1 end".to_owned() } else { format!("{ends} ends") };
    format!("{DRAWN}: {} with {ends}, in {runs}", messages(turns))
}

pub fn percent(zoom: u16) -> String {
    format!("{zoom} %")
}

pub fn title(what: &str, chat: &str) -> String {
    let chat = if chat.trim().is_empty() { crate::ui::words::UNTITLED } else { chat };
    format!("{what} · {chat}")
}
