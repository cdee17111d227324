//! What the tree map shows: rows that are ready to be drawn, and the card of the turn that is looked at.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::tree::outline::TurnMark;
use crate::domain::{Branch, ChatId, Role, TurnId};

/// What of a chat's tree is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreePageQuery {
    pub chat_id: ChatId,
    /// A turn of the path that is read; without it the path that the chat opens with.
    pub at: Option<TurnId>,
    /// The turn that is looked at.
    pub on: Option<TurnId>,
    /// Rows opened and closed by hand.
    pub open: Vec<TurnId>,
    pub shut: Vec<TurnId>,
    /// Only turns that say these words, and the way to them.
    pub words: String,
    /// The first row, where not all of them fit.
    pub from: Option<usize>,
}

impl TreePageQuery {
    /// The tree as it opens; `at` is a turn of the path that is read.
    pub fn new(chat_id: ChatId, at: Option<TurnId>) -> Self {
        Self { chat_id, at, on: None, open: Vec::new(), shut: Vec::new(), words: String::new(), from: None }
    }
}

/// A part of a chat's tree in rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TreePage {
    pub title: String,
    pub rows: Vec<TreeRow>,
    /// Rows that are not among `rows`, before and after them.
    pub before: usize,
    pub after: usize,
    pub turns: usize,
    pub leaves: usize,
    /// How many turns a filter found.
    pub hits: Option<usize>,
    /// The end of the path that is read.
    pub leaf: Option<TurnId>,
    pub card: Option<TreeCard>,
}

/// One row. Fields that say nothing do not travel.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TreeRow {
    /// The turn it stands for; of folded turns the first one.
    pub turn: TurnId,
    pub role: Role,
    /// Its first words; empty for a turn without text, and for folded ones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// From 1.
    pub level: usize,
    /// Which of its siblings this is, from 1, and of how many.
    pub place: (usize, usize),
    /// How many turns are folded into this row.
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
    /// The model, where it is another one than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_on_path: bool,
    /// Whether the path that is read ends here.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_leaf: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_hit: bool,
}

/// A turn that is looked at in the tree, and what can be done with it.
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
    /// The branch's model as people call it.
    pub model: String,
    /// Turns below it, and how many ends they have.
    pub below: usize,
    pub ends: usize,
    /// Turns that are neither below it nor on the way to it.
    pub others: usize,
    /// Where choosing it leads.
    pub leaf: TurnId,
    /// The end of the path that is read, when that is another one.
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
