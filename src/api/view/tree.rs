//! View models of the tree map: rows ready to render, and the card of the selected turn.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::branches::tree::outline::TurnMark;
use crate::domain::{Branch, ChatId, Role, TurnId};

/// A request for a part of a chat's tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreePageQuery {
    pub chat_id: ChatId,
    /// A turn of the current path; if absent, of the chat's default path.
    pub at: Option<TurnId>,
    /// The selected turn.
    pub on: Option<TurnId>,
    /// The rows that were opened and closed manually.
    pub open: Vec<TurnId>,
    pub shut: Vec<TurnId>,
    /// A filter: only turns with these words and their ancestors.
    pub words: String,
    /// The first row, if not all fit.
    pub from: Option<usize>,
}

impl TreePageQuery {
    /// Returns the query for the initial tree; `at` is a turn of the current path.
    pub fn new(chat_id: ChatId, at: Option<TurnId>) -> Self {
        Self { chat_id, at, on: None, open: Vec::new(), shut: Vec::new(), words: String::new(), from: None }
    }
}

/// A part of a chat's tree as rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TreePage {
    pub title: String,
    pub rows: Vec<TreeRow>,
    /// The number of rows before and after `rows`.
    pub before: usize,
    pub after: usize,
    pub turns: usize,
    pub leaves: usize,
    /// The number of turns that match the filter.
    pub hits: Option<usize>,
    /// The end of the current path.
    pub leaf: Option<TurnId>,
    pub card: Option<TreeCard>,
}

/// One row. Default values are not serialized.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TreeRow {
    /// The turn of the row; for folded turns, the first.
    pub turn: TurnId,
    pub role: Role,
    /// Its first words; empty for a turn without text and for folded turns.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// The level, from 1.
    pub level: usize,
    /// Its number among its siblings, from 1, and their count.
    pub place: (usize, usize),
    /// The number of turns folded into this row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_open: Option<bool>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: usize,
    #[serde(default, skip_serializing_if = "is_plain")]
    pub mark: TurnMark,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<(usize, usize)>,
    /// The label of the branch that begins here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The model, if it differs from the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_on_path: bool,
    /// True if the current path ends here.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_leaf: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_hit: bool,
}

/// The selected turn of the tree, with the data for its actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeCard {
    pub chat_id: ChatId,
    pub turn: TurnId,
    pub role: Role,
    pub mark: TurnMark,
    pub created_at: DateTime<Utc>,
    /// The beginning of its text.
    pub text: String,
    pub branch: Branch,
    /// The display name of the branch's model.
    pub model: String,
    /// The number of turns below it, and of their leaves.
    pub below: usize,
    pub ends: usize,
    /// The number of turns that are neither below it nor its ancestors.
    pub others: usize,
    /// The leaf that selecting it leads to.
    pub leaf: TurnId,
    /// The end of the current path, if it differs.
    pub current: Option<TurnId>,
    pub is_on_path: bool,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

fn is_plain(mark: &TurnMark) -> bool {
    *mark == TurnMark::Plain
}
