//! The kinds of columns, and how a stored value is read as what its column holds.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use turnleaf_domain::{Event, json_bounds, limits};

/// What a column holds.
#[derive(Clone, Copy)]
pub enum ColumnContent {
    Id,
    Time,
    Text,
    /// A word of an enum; the check reads it as that.
    Word(TextCheck),
    /// JSON whose text is kept as it is.
    JsonText(TextCheck),
    /// JSON that PostgreSQL stores as JSONB.
    Json(TextCheck),
}

/// Reads a text as what it should be; gives why it is not.
type TextCheck = fn(&str) -> Result<(), String>;

/// What takes the place of a value that cannot be read.
#[derive(Debug, Clone, Copy)]
pub enum Replacement {
    /// The value stays: nothing could take its place without changing what else is stored.
    Keep,
    Null,
    /// The moment in the row's id, or the beginning of time.
    Moment,
    /// The text with a mark for every byte that is none.
    Lossy,
    Text(&'static str),
    /// An expression over the row.
    Sql(&'static str),
    /// A notice that a part of the reply is damaged.
    Notice,
    /// The whole row goes into quarantine: without this value it belongs to nothing.
    Row,
    /// The journal of a turn that is over goes into quarantine: its blocks have all that it said.
    Journal,
}

/// A column whose value may be unreadable.
pub struct CheckedColumn {
    pub name: &'static str,
    pub content: ColumnContent,
    pub replacement: Replacement,
}

/// JSON within the bounds that can be read as `T`.
fn check_json<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    if let Cow::Owned(_) = json_bounds::bounded_text(text, limits::JSON_TEXT_DEPTH) {
        return Err("it is nested deeper than readers go".into());
    }
    serde_json::from_str::<T>(text).map(drop).map_err(|error| error.to_string())
}

/// An event in the shape of its type. Types of a newer version are not judged.
fn check_event(text: &str) -> Result<(), String> {
    check_json::<Event>(text)?;
    let is_malformed = serde_json::from_str::<Event>(text).is_ok_and(|event| event.is_malformed());
    if is_malformed { Err("it has not the shape of its type".into()) } else { Ok(()) }
}

/// JSON as [`reads`] has it, in a string of JSON, which keeps the letters of the text in a column of JSONB.
fn check_json_in_string<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    check_json::<T>(&serde_json::from_str::<String>(text).map_err(|error| error.to_string())?)
}

fn check_word<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    serde_json::from_value::<T>(Value::String(text.to_owned())).map(drop).map_err(|error| error.to_string())
}

pub(super) const fn id(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::Id, replacement: instead }
}

pub(super) const fn time(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::Time, replacement: instead }
}

pub(super) const fn text(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::Text, replacement: instead }
}

pub(super) const fn word<T: DeserializeOwned>(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::Word(check_word::<T>), replacement: instead }
}

pub(super) const fn json<T: DeserializeOwned>(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::Json(check_json::<T>), replacement: instead }
}

pub(super) const fn json_in_string<T: DeserializeOwned>(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::Json(check_json_in_string::<T>), replacement: instead }
}

pub(super) const fn json_text<T: DeserializeOwned>(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::JsonText(check_json::<T>), replacement: instead }
}

pub(super) const fn event(name: &'static str, instead: Replacement) -> CheckedColumn {
    CheckedColumn { name, content: ColumnContent::JsonText(check_event), replacement: instead }
}
