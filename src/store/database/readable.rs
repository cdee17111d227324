//! Reading of damaged rows: a row or a value that cannot be decoded is isolated and does not affect its neighbours.
//! Each is a [`Damage`], which readers log before they continue, and `fsck` reports.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, FromRow, Row, Type, ValueRef};
use uuid::Uuid;

use crate::database::error::StoreError;
use turnleaf_domain::blocks::notice;
use turnleaf_domain::encoding::json_bounds;
use turnleaf_domain::{Block, Content, TurnId, limits};

/// A stored value that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub table: &'static str,
    pub column: &'static str,
    /// The id of the row, as far as it is known.
    pub id: String,
    pub reason: String,
}

/// Stands for the column if a whole row is unreadable.
pub(crate) const WHOLE_ROW: &str = "whole row";

impl Damage {
    fn of_row(table: &'static str, id: impl ToString, error: &sqlx::Error) -> Self {
        let reason = match error {
            sqlx::Error::ColumnDecode { index, source } => format!("{}: {source}", index.trim_matches('"')),
            error => error.to_string(),
        };
        Self { table, column: WHOLE_ROW, id: id.to_string(), reason }
    }

    /// Describes the damage in plain words, without those of a decoder, which may quote the stored value.
    pub fn text(&self) -> String {
        match self.column {
            WHOLE_ROW => "its row cannot be read".to_owned(),
            column => format!("its {column} cannot be read"),
        }
    }
}

/// A row that is decoded in isolation: an error stays in it instead of ending the query.
pub(crate) struct Readable<T>(Result<T, sqlx::Error>);

impl<'r, R: Row, T: FromRow<'r, R>> FromRow<'r, R> for Readable<T> {
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        Ok(Self(T::from_row(row)))
    }
}

/// Returns the readable rows, in order; the others are logged and omitted.
pub(crate) fn keep_readable<T>(rows: Vec<Readable<T>>, table: &'static str) -> Vec<T> {
    let read = |Readable(row): Readable<T>| row.inspect_err(|error| log_row(table, error)).ok();
    rows.into_iter().filter_map(read).collect()
}

/// Works like [`keep_readable`], and records the others as damages; `id` describes them.
pub(crate) fn keep_readable_with_damages<T>(
    rows: Vec<Readable<T>>,
    table: &'static str,
    id: impl std::fmt::Display,
    damages: &mut Vec<Damage>,
) -> Vec<T> {
    let mut read = Vec::with_capacity(rows.len());
    for Readable(row) in rows {
        match row {
            Ok(row) => read.push(row),
            Err(error) => damages.push(Damage::of_row(table, &id, &error)),
        }
    }
    read
}

/// Works like [`keep_readable`], and returns the errors of the others.
pub(crate) fn split_readable<T>(rows: Vec<Readable<T>>) -> (Vec<T>, Vec<sqlx::Error>) {
    let (mut read, mut errors) = (Vec::with_capacity(rows.len()), Vec::new());
    for Readable(row) in rows {
        match row {
            Ok(row) => read.push(row),
            Err(error) => errors.push(error),
        }
    }
    (read, errors)
}

/// Works like [`keep_readable_with_damages`], for rows that belong to a turn.
pub(crate) fn keep_readable_of_turn<T>(
    rows: Vec<Readable<T>>,
    table: &'static str,
    turn: TurnId,
    damages: &mut Vec<Damage>,
) -> Vec<T> {
    keep_readable_with_damages(rows, table, format_args!("turn {turn}"), damages)
}

/// Returns the value, or none if it is damaged, which is recorded.
///
/// # Errors
/// All others than [`StoreError::Inconsistent`].
pub(crate) fn ok_or_note<T>(read: Result<T, StoreError>, damages: &mut Vec<Damage>) -> Result<Option<T>, StoreError> {
    match read {
        Err(StoreError::Inconsistent { table, column, id, reason }) => {
            damages.push(Damage { table, column, id, reason });
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Works like [`keep_readable`], for rows whose values were decoded one by one.
pub(crate) fn keep_decoded<T, E: std::fmt::Display>(
    rows: impl IntoIterator<Item = Result<T, E>>,
    table: &'static str,
) -> Vec<T> {
    rows.into_iter().filter_map(|row| row.inspect_err(|error| log_row(table, error)).ok()).collect()
}

/// Returns the value, or none if it is damaged, which is logged.
///
/// # Errors
/// All others than [`StoreError::Inconsistent`].
pub(crate) fn ok_or_log<T>(read: Result<T, StoreError>, table: &'static str) -> Result<Option<T>, StoreError> {
    match read {
        Err(error @ StoreError::Inconsistent { .. }) => {
            log_row(table, &error);
            Ok(None)
        }
        read => read.map(Some),
    }
}

fn log_row(table: &'static str, error: &dyn std::fmt::Display) {
    let error = without_quotes(&error.to_string());
    tracing::error!(table, error, "a row cannot be read and is left out; `turnleaf fsck` names it");
}

/// Removes quotes from the message of a decoder: they may be stored text, which must not be logged.
fn without_quotes(reason: &str) -> String {
    let cut = |text: String, quote: char| match (text.find(quote), text.rfind(quote)) {
        (Some(first), Some(last)) if first < last => format!("{}{quote}…{}", &text[..first], &text[last..]),
        _ => text,
    };
    cut(cut(reason.to_owned(), '"'), '`')
}

/// A column that is decoded in isolation.
#[derive(Debug)]
pub(crate) struct Lossy<T>(Result<T, String>);

impl<T> Lossy<T> {
    /// Returns the value, or the reason why it cannot be read.
    pub(crate) fn into_result(self) -> Result<T, String> {
        self.0
    }

    /// Returns the value, if it can be read.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().ok()
    }

    /// Returns the value, or the default of its type, which is logged.
    pub(crate) fn unwrap_or_default(self, table: &'static str, column: &'static str, id: Uuid) -> T
    where
        T: Default,
    {
        self.unwrap_or_log(table, column, id, T::default)
    }

    /// Returns the value, or a replacement, which is logged.
    pub(crate) fn unwrap_or_log(
        self,
        table: &'static str,
        column: &'static str,
        id: Uuid,
        other: impl FnOnce() -> T,
    ) -> T {
        self.0.unwrap_or_else(|reason| {
            log_damages(&[Damage { table, column, id: id.to_string(), reason }]);
            other()
        })
    }
}

/// The default serves columns that a statement leaves out.
impl<T: Default> Default for Lossy<T> {
    fn default() -> Self {
        Self(Ok(T::default()))
    }
}

impl<'r, DB: Database, T: Decode<'r, DB> + Type<DB>> Decode<'r, DB> for Lossy<T> {
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        if !value.is_null() && !T::compatible(&value.type_info()) {
            return Ok(Self(Err("it is of another type than its column".to_owned())));
        }
        Ok(Self(T::decode(value).map_err(|error| error.to_string())))
    }
}

impl<DB: Database, T: Type<DB>> Type<DB> for Lossy<T> {
    fn type_info() -> DB::TypeInfo {
        T::type_info()
    }

    /// Decoding checks the type instead, so that a value of another type is isolated, too.
    fn compatible(_: &DB::TypeInfo) -> bool {
        true
    }
}

/// Text of which all valid parts are read: U+FFFD replaces other bytes, as in a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SalvagedText {
    text: String,
    is_damaged: bool,
}

impl<'r, DB: Database> Decode<'r, DB> for SalvagedText
where
    Vec<u8>: Decode<'r, DB>,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(match String::from_utf8(Vec::decode(value)?) {
            Ok(text) => Self { text, is_damaged: false },
            Err(error) => {
                let text = String::from_utf8_lossy(error.as_bytes()).replace('\0', "");
                Self { text, is_damaged: true }
            }
        })
    }
}

impl<DB: Database> Type<DB> for SalvagedText
where
    String: Type<DB>,
{
    fn type_info() -> DB::TypeInfo {
        String::type_info()
    }

    fn compatible(of: &DB::TypeInfo) -> bool {
        String::compatible(of)
    }
}

/// Reads the values of one row and records those that cannot be read.
pub(crate) struct RowReader<'d> {
    pub table: &'static str,
    pub id: Uuid,
    pub damages: &'d mut Vec<Damage>,
}

impl RowReader<'_> {
    /// Records that a value cannot be read.
    pub(crate) fn note(&mut self, column: &'static str, reason: impl ToString) {
        let (table, id) = (self.table, self.id.to_string());
        self.damages.push(Damage { table, column, id, reason: reason.to_string() });
    }

    /// Returns the value of a column, if it can be read.
    pub(crate) fn value<T>(&mut self, column: &'static str, value: Lossy<T>) -> Option<T> {
        value.0.inspect_err(|reason| self.note(column, reason)).ok()
    }

    /// Returns the text of a column with its invalid bytes replaced, which is recorded.
    pub(crate) fn text(&mut self, column: &'static str, value: SalvagedText) -> String {
        if value.is_damaged {
            self.note(column, "some of its bytes are not text");
        }
        value.text
    }

    /// Parses the stored word of a field-less enum.
    pub(crate) fn word<T: DeserializeOwned>(&mut self, column: &'static str, word: String) -> Option<T> {
        serde_json::from_value(Value::String(word)).inspect_err(|error| self.note(column, error)).ok()
    }

    /// Parses JSON of a column. JSON beyond the nesting bound is read with its deep parts as strings, which is
    /// recorded.
    pub(crate) fn json<T: DeserializeOwned>(&mut self, column: &'static str, text: &str) -> Option<T> {
        let bounded = json_bounds::bounded_text(text, limits::JSON_TEXT_DEPTH);
        if let Cow::Owned(_) = bounded {
            // Some of it could be read here, but not inside a response or an archive.
            self.note(column, "it is nested deeper than readers go");
        }
        serde_json::from_str(&bounded).inspect_err(|error| self.note(column, error)).ok()
    }

    /// Returns a time; if it cannot be read, the one in the row's id, which is derived from it.
    pub(crate) fn moment(&mut self, column: &'static str, at: Lossy<DateTime<Utc>>) -> DateTime<Utc> {
        self.value(column, at).unwrap_or_else(|| time_of_id(self.id))
    }
}

/// Returns the creation time of an id (UUIDv7); the epoch for others.
pub(crate) fn time_of_id(id: Uuid) -> DateTime<Utc> {
    let made = id.get_timestamp().map(|made| made.to_unix());
    made.and_then(|(seconds, nanos)| DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)).unwrap_or_default()
}

/// The code of the notice that replaces unreadable content.
const DAMAGED: &str = "damaged";
/// The number of bytes of an unreadable value that its notice contains.
const SHOWN_BYTES: usize = 64 << 10;

/// Returns a placeholder for unreadable content, with the stored value as far as it is text.
pub(crate) fn placeholder(damages: &[Damage], stored: Option<&str>) -> Content {
    let mut fields = Map::new();
    let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    set("type", notice::TYPE.into());
    set("kind", DAMAGED.into());
    set("text", "A part of this message is damaged in the database and cannot be shown.".into());
    let columns = damages
        .iter()
        .map(|damage| serde_json::json!({ "table": damage.table, "column": damage.column, "id": damage.id }));
    set("damages", columns.collect());
    if let Some(stored) = stored {
        set("stored", stored[..stored.floor_char_boundary(SHOWN_BYTES)].into());
        set("stored_bytes", stored.len().into());
    }
    Content::Other(fields)
}

/// Returns whether content is a placeholder for an unreadable value. Placeholders are displayed, but never written
/// over the value.
pub fn is_placeholder(content: &Content) -> bool {
    match content {
        Content::Other(fields) => notice::is_notice(content) && fields.get("kind").is_some_and(|kind| kind == DAMAGED),
        _ => false,
    }
}

/// Returns whether a block is the notice at the end of a turn that a part is missing. The sweep stores it with the
/// turn's end, so that later blocks follow it.
pub fn is_damage_note(block: &Block, turn: TurnId) -> bool {
    block.id.uuid() == turn.uuid()
}

/// Logs damages.
pub fn log_damages(damages: &[Damage]) {
    for Damage { table, column, id, reason } in damages {
        let reason = without_quotes(reason);
        tracing::error!(table, column, id, reason, "a stored value cannot be read; `turnleaf fsck` names it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_deep_json_is_read_and_noted() {
        let mut damages = Vec::new();
        let mut reader = RowReader { table: "turn_blocks", id: Uuid::nil(), damages: &mut damages };
        let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
        assert!(reader.json::<Value>("content", &deep).is_some());
        assert_eq!(reader.json::<Value>("content", "{}"), Some(serde_json::json!({})));
        assert_eq!(reader.json::<Value>("content", "no JSON"), None);
        assert_eq!(damages.len(), 2);
        assert_eq!(damages[1].column, "content");
    }

    #[test]
    fn placeholder_names_damage_and_keeps_text() {
        let damage =
            Damage { table: "turn_blocks", column: "content", id: "1".into(), reason: "expected value".into() };
        let content = placeholder(&[damage], Some(&"é".repeat(SHOWN_BYTES)));
        assert!(is_placeholder(&content));
        let json = serde_json::to_value(&content).unwrap();
        assert_eq!(json["damages"][0]["column"], "content");
        assert_eq!(json["stored"].as_str().map(str::len), Some(SHOWN_BYTES));
        assert_eq!(json["stored_bytes"], 2 * SHOWN_BYTES);
        assert!(!is_placeholder(&notice::Notice::ResentWhole.content()));
    }

    #[test]
    fn decoder_error_is_logged_without_stored_text() {
        for (reason, logged) in [
            (
                r#"invalid type: string "my \"secret\"", expected a map at line 1"#,
                r#"invalid type: string "…", expected a map at line 1"#,
            ),
            ("unknown variant `secret`, expected `send` or `edit`", "unknown variant `…`"),
            ("invalid utf-8 sequence of 1 bytes from index 3", "invalid utf-8 sequence of 1 bytes from index 3"),
        ] {
            assert_eq!(without_quotes(reason), logged);
        }
    }

    #[test]
    fn creation_time_is_read_from_id() {
        let id: Uuid = "0190b5b4-7c1e-7abc-8def-0123456789ab".parse().unwrap();
        assert_eq!(time_of_id(id).timestamp(), 0x0190_b5b4_7c1e / 1000);
        assert_eq!(time_of_id(Uuid::nil()), DateTime::<Utc>::UNIX_EPOCH);
    }
}
