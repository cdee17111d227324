//! Reads the tables of a database dump into a spool: lists within an object, whose rows refer to each other.

use serde_json::Value;

use crate::input::Input;
use crate::reading::table_spool::TableSpool;
use crate::report::{self, ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// A table of a dump.
#[derive(Clone, Copy)]
pub(crate) struct DumpTable {
    pub(crate) name: &'static str,
    /// Returns the key by which a row is found.
    pub(crate) key: fn(&Value) -> Option<String>,
}

/// Reads the tables that are lists in the object `root` of a part. Damage is reported once and ends only the table
/// that it is in.
///
/// # Errors
/// The part is damaged before any row, or a bound is exceeded.
pub(crate) fn read_tables(
    input: &mut Input,
    part: usize,
    root: &str,
    tables: &[DumpTable],
    taker: &mut dyn ImportSink,
) -> Result<TableSpool, ImportError> {
    let mut spool = TableSpool::new(taker)?;
    let mut damage = None;
    let mut count = 0;
    for table in tables {
        let DumpTable { name, key } = *table;
        let read = input.for_each_listed(part, &[root, name], taker, &mut |row, location, taker| match key(&row) {
            Some(key) => spool.add(name, key, &row),
            None => {
                let text = format!("a row of {name} has no id");
                report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location, text })
            }
        });
        match read {
            Ok(rows) => count += rows,
            Err(ImportError::Damaged(reason)) => damage = damage.or(Some(reason)),
            Err(other) => return Err(other),
        }
    }
    match damage {
        Some(reason) if count == 0 => Err(ImportError::Damaged(reason)),
        Some(reason) => {
            let file = input.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
            let location = IssueLocation { file, ..IssueLocation::default() };
            let text = report::damaged_from_here(&reason);
            report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location, text })?;
            Ok(spool)
        }
        None => Ok(spool),
    }
}
