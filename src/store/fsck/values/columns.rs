//! Column types for the checker, and how a stored value is decoded as its column's type.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use turnleaf_domain::encoding::json_bounds;
use turnleaf_domain::{Event, limits};

/// An empty failure, for a turn or a call whose own is unreadable.
pub(super) const UNKNOWN_FAILURE: &str = r#"{"kind":"internal","message":"","retryable":false}"#;

/// The content type of a column.
#[derive(Clone, Copy)]
pub enum ColumnContent {
    Id,
    Time,
    Text,
    /// A word of an enum; the check parses it.
    Word(TextCheck),
    /// JSON whose text is kept byte for byte.
    JsonText(TextCheck),
    /// JSON that PostgreSQL stores as JSONB.
    Json(TextCheck),
}

/// Parses a text as the expected type; returns the reason if that fails.
type TextCheck = fn(&str) -> Result<(), String>;

/// The replacement of an unreadable value.
#[derive(Debug, Clone, Copy)]
pub enum Replacement {
    /// The value stays: any replacement would change other stored data.
    Keep,
    Null,
    /// The time in the row's id, or the epoch.
    Moment,
    /// The text with U+FFFD for every invalid byte.
    Lossy,
    Text(&'static str),
    /// An expression over the row.
    Sql(&'static str),
    /// A notice that a part of the reply is damaged.
    Notice,
    /// The whole row is moved into quarantine: without this value it belongs to nothing.
    Row,
    /// The journal of a finished turn is moved into quarantine: its blocks have the same content.
    Journal,
}

/// A column whose value may be unreadable.
pub struct CheckedColumn {
    pub name: &'static str,
    pub content: ColumnContent,
    pub replacement: Replacement,
}

/// Checks for JSON within the nesting bound that parses as `T`.
fn check_json<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    if let Cow::Owned(_) = json_bounds::bounded_text(text, limits::JSON_TEXT_DEPTH) {
        return Err("it is nested too deeply".into());
    }
    serde_json::from_str::<T>(text).map(drop).map_err(|error| error.to_string())
}

/// Checks for an event with the shape of its type. Types of a newer version pass.
fn check_event(text: &str) -> Result<(), String> {
    check_json::<Event>(text)?;
    let is_malformed = serde_json::from_str::<Event>(text).is_ok_and(|event| event.is_malformed());
    if is_malformed { Err("it does not match its type".into()) } else { Ok(()) }
}

/// Checks like [`check_json`] for JSON inside a JSON string, which preserves the exact text in a JSONB column.
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
