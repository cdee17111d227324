//! Outcomes of a repair: the replacement of a value, and its description.

use uuid::Uuid;

/// An unreadable value and the outcome of its repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueRepair {
    pub table: &'static str,
    pub column: &'static str,
    /// The key of its row.
    pub row: String,
    /// The change, or the reason why nothing was changed.
    pub outcome: Result<RepairedValue, String>,
}

/// A value that was moved into quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedValue {
    /// The quarantine entry with its bytes.
    pub quarantine_id: Uuid,
    /// The change, for people: `replaced by {}`.
    pub change: String,
}

/// The replacement of a value.
pub(super) enum ColumnChange {
    Null,
    Text(String),
    /// An expression over the row.
    Sql(String),
    /// The row is deleted.
    Delete,
}
