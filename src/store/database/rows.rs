//! Helpers for rows of several tables: words of enums, JSON whose exact text matters, numbers that cannot be
//! negative.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::database::error::StoreError;
use turnleaf_domain::encoding::json_bounds;
use turnleaf_domain::{Usage, limits};

/// Returns the stored word of a field-less enum, which is its JSON string.
pub(crate) fn to_word<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        // Unreachable for field-less enums; the column's CHECK refuses other values.
        other => other.map(|value| value.to_string()).unwrap_or_default(),
    }
}

/// Parses a stored word.
pub(crate) fn parse_word<T: DeserializeOwned>(
    word: String,
    table: &'static str,
    column: &'static str,
    id: impl ToString,
) -> Result<T, StoreError> {
    serde_json::from_value(Value::String(word)).map_err(|error| inconsistent(table, column, id, error))
}

/// Encodes JSON whose text is preserved byte for byte. Parts beyond the nesting bound are stored as strings of their
/// JSON.
pub(crate) fn to_json<T: Serialize>(
    value: &T,
    table: &'static str,
    column: &'static str,
) -> Result<String, StoreError> {
    let text = serde_json::to_string(value).map_err(|error| inconsistent(table, column, "a new row", error))?;
    match json_bounds::bounded_text(&text, limits::JSON_TEXT_DEPTH) {
        Cow::Borrowed(_) => Ok(text),
        Cow::Owned(bounded) => Ok(bounded),
    }
}

/// Parses stored JSON.
pub(crate) fn from_json<T: DeserializeOwned>(
    text: &str,
    table: &'static str,
    column: &'static str,
    id: impl ToString,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| inconsistent(table, column, id, error))
}

/// Returns the error for an unreadable stored value.
pub(crate) fn inconsistent(
    table: &'static str,
    column: &'static str,
    id: impl ToString,
    reason: impl ToString,
) -> StoreError {
    StoreError::Inconsistent { table, column, id: id.to_string(), reason: reason.to_string() }
}

/// Checks that both databases can store a text; `label` names it in the error.
pub(crate) fn storable_text<'a>(text: &'a str, label: &'static str) -> Result<&'a str, StoreError> {
    if text.contains('\0') { Err(StoreError::Nul(label)) } else { Ok(text) }
}

/// Returns the text of a turn for its row. NUL is replaced, because PostgreSQL cannot store it and an ending must
/// never be refused for its content.
pub(crate) fn content_text_column(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}

/// The token counts of a turn or a generation as stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsageRow {
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
    cache_read_tokens: Option<i64>,
    cache_write_tokens: Option<i64>,
    reasoning_tokens: Option<i64>,
}
from_row!(UsageRow { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens });

impl From<UsageRow> for Usage {
    fn from(row: UsageRow) -> Self {
        // The CHECK constraints keep them from being negative.
        let count = |n: Option<i64>| n.map(i64::unsigned_abs);
        Self {
            input_tokens: count(row.input_tokens),
            output_tokens: count(row.output_tokens),
            cache_read_tokens: count(row.cache_read_tokens),
            cache_write_tokens: count(row.cache_write_tokens),
            reasoning_tokens: count(row.reasoning_tokens),
        }
    }
}

impl From<Usage> for UsageRow {
    fn from(usage: Usage) -> Self {
        let count = |n: Option<u64>| n.map(to_bigint);
        Self {
            input_tokens: count(usage.input_tokens),
            output_tokens: count(usage.output_tokens),
            cache_read_tokens: count(usage.cache_read_tokens),
            cache_write_tokens: count(usage.cache_write_tokens),
            reasoning_tokens: count(usage.reasoning_tokens),
        }
    }
}

/// Orders the counts like the columns, for binding.
impl UsageRow {
    pub(crate) fn counts(self) -> [Option<i64>; 5] {
        [self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens, self.reasoning_tokens]
    }
}

/// Converts a count or position from a column that a CHECK keeps at 0 or above.
pub(crate) fn to_unsigned(n: i64) -> u64 {
    n.max(0).unsigned_abs()
}

/// Converts a count or position for a BIGINT column, saturating, because larger values are beyond every row.
pub(crate) fn to_bigint(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
