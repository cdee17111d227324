//! What the checker finds, and how a read that fails becomes a finding.

use crate::error::StoreError;
use crate::readable::{Readable, split_readable};

/// One invariant that does not hold somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsckFinding {
    /// `I1` to `I14` are domain.md 4.4's, `C19` its 4.2's, `R1` to `R15` reliability.md 1.4.2's, `storage` is the
    /// database's own check, `search` the index of the search, `quota` the bytes that were counted.
    pub invariant: &'static str,
    pub table: &'static str,
    /// Of the row at which it was found.
    pub id: String,
    /// What is wrong with it, as a sentence.
    pub problem: String,
}

impl FsckFinding {
    /// Whether it is a stored value that cannot be read, which [`super::repair`] takes up.
    pub fn is_unreadable_value(&self) -> bool {
        self.invariant == "storage" && !self.table.is_empty() && self.problem.contains(UNREADABLE)
    }
}

/// What is said of a value that cannot be read, behind its column.
pub(super) const UNREADABLE: &str = "cannot be read";

pub(super) fn finding(
    invariant: &'static str,
    table: &'static str,
    id: impl ToString,
    what: impl Into<String>,
) -> FsckFinding {
    FsckFinding { invariant, table, id: id.to_string(), problem: what.into() }
}

/// The ids of rows. One that cannot be read is among the values that are looked at by themselves ([`super::values`]).
pub(super) fn readable_ids<T>(rows: Vec<Readable<(T,)>>) -> Vec<T> {
    split_readable(rows).0.into_iter().map(|(name,)| name).collect()
}

/// A stored value that cannot be read is a finding, every other failure ends the check.
pub(super) fn note_unreadable<T>(
    read: Result<T, StoreError>,
    findings: &mut Vec<FsckFinding>,
) -> Result<Option<T>, StoreError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::Inconsistent { table, column, id, reason }) => {
            findings.push(finding("storage", table, id, format!("its {column} {UNREADABLE}: {reason}")));
            Ok(None)
        }
        Err(other) => Err(other),
    }
}
