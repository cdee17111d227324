//! Findings of the checker, and the conversion of failed reads into findings.

use crate::database::error::StoreError;
use crate::database::readable::{Readable, split_readable};

/// One violation of an invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsckFinding {
    /// The invariant: `I1` to `I14` (`docs/reference/domain.md 4.4`), `C19` (`docs/reference/domain.md C19`), `R1` to
    /// `R15` for rows and journals, `storage` for the database's own check, `search` for the search index, `quota`
    /// for the counted bytes.
    pub invariant: &'static str,
    pub table: &'static str,
    /// The id of the row with the violation.
    pub id: String,
    /// The problem, as a sentence.
    pub problem: String,
}

impl FsckFinding {
    /// Returns whether this is an unreadable stored value, which [`super::repair`] can repair.
    pub fn is_unreadable_value(&self) -> bool {
        self.invariant == "storage" && !self.table.is_empty() && self.problem.contains(UNREADABLE)
    }
}

/// The phrase for an unreadable value, after its column.
pub(super) const UNREADABLE: &str = "cannot be read";

pub(super) fn finding(
    invariant: &'static str,
    table: &'static str,
    id: impl ToString,
    problem: impl Into<String>,
) -> FsckFinding {
    FsckFinding { invariant, table, id: id.to_string(), problem: problem.into() }
}

/// Returns the readable ids of rows. Unreadable ones are found by [`super::values`].
pub(super) fn readable_ids<T>(rows: Vec<Readable<(T,)>>) -> Vec<T> {
    split_readable(rows).0.into_iter().map(|(name,)| name).collect()
}

/// Turns an unreadable stored value into a finding; every other failure ends the check.
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
