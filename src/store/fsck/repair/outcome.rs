//! What a repair puts in the place of a value, and what it says of that.

use uuid::Uuid;

/// A value that could not be read, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueRepair {
    pub table: &'static str,
    pub column: &'static str,
    /// The key of its row.
    pub row: String,
    /// What was done; or why nothing was changed.
    pub outcome: Result<RepairedValue, String>,
}

/// A value that was moved into quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedValue {
    /// The entry of the quarantine that has its bytes.
    pub quarantine_id: Uuid,
    /// What was done, for people: `replaced by {}`.
    pub change: String,
}

/// What is written in the place of a value.
pub(super) enum ColumnChange {
    Null,
    Text(String),
    /// An expression over the row.
    Sql(String),
    /// The row goes.
    Delete,
}
